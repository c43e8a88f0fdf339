// server_site.h - which file of the page an address names, and who may open the WebSocket.
//
// Layer: apps. Pure functions of their input and the file system; no sockets. Tests: tests/net/site_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace talus {

struct SiteFile {
    std::filesystem::path path;
    const char* content_type = "application/octet-stream";
    bool immutable = false;  ///< its name holds a hash of its content: may be kept for ever
};

/// The file under `root` for a request target ("/", "/assets/main-3f2a.js?x"). nullopt when there is none, or
/// when the target tries to leave the root, by dots, escapes or links.
std::optional<SiteFile> find_site_file(const std::filesystem::path& root, std::string_view target);

/// Whether a page from `origin` may open the WebSocket: only one that this server served. `host` is the
/// request's Host header. A server on a loopback address also checks that the name is 127.0.0.1 or localhost
/// with its port, so that no foreign name can be pointed at it.
bool origin_allowed(std::string_view host, std::string_view origin, bool loopback, std::uint16_t port);

/// So many at once, then so many a second.
class RateLimit {
 public:
    RateLimit(double burst, double per_second) : burst_(burst), per_second_(per_second), left_(burst) {}
    bool take(double now) {
        left_ += (now - last_) * per_second_;
        left_ = left_ < burst_ ? left_ : burst_;
        last_ = now;
        if (left_ < 1) return false;
        left_ -= 1;
        return true;
    }

 private:
    double burst_, per_second_, left_, last_ = 0;
};

}  // namespace talus
