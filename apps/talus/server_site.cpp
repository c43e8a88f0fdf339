#include "server_site.h"

#include <array>
#include <utility>

namespace talus {

namespace {

constexpr std::array<std::pair<std::string_view, const char*>, 16> kTypes{{
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".json", "application/json"},
    {".map", "application/json"},
    {".txt", "text/plain; charset=utf-8"},
    {".wasm", "application/wasm"},
    {".png", "image/png"},
    {".jpg", "image/jpeg"},
    {".webp", "image/webp"},
    {".svg", "image/svg+xml"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".ogg", "audio/ogg"},
    {".webmanifest", "application/manifest+json"},
}};

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::optional<std::string> unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); i++) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
        const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
        if (low < 0) return std::nullopt;
        out += char(high * 16 + low);
        i += 2;
    }
    return out;
}

}  // namespace

std::optional<SiteFile> find_site_file(const std::filesystem::path& root, std::string_view target) {
    namespace fs = std::filesystem;
    target = target.substr(0, target.find_first_of("?#"));
    if (target.empty() || target[0] != '/' || target.size() > 1024) return std::nullopt;
    const auto path = unescaped(target);
    if (!path) return std::nullopt;
    fs::path file = root;
    for (std::size_t at = 0; at < path->size();) {
        const std::size_t end = std::min(path->find('/', at), path->size());
        const std::string part = path->substr(at, end - at);
        at = end + 1;
        if (part.empty()) continue;
        if (part[0] == '.') return std::nullopt;  // "..", and hidden files
        for (const char c : part)
            if (static_cast<unsigned char>(c) < 32 || c == '\\' || c == ':') return std::nullopt;
        file /= part;
    }
    std::error_code error;
    if (fs::is_directory(file, error)) file /= "index.html";
    const fs::path real = fs::canonical(file, error);
    if (error) return std::nullopt;
    const fs::path real_root = fs::canonical(root, error);
    if (error || !fs::is_regular_file(real, error)) return std::nullopt;
    const auto [end, unused] = std::mismatch(real_root.begin(), real_root.end(), real.begin(), real.end());
    if (end != real_root.end()) return std::nullopt;

    SiteFile found{real};
    const std::string extension = real.extension().string();
    for (const auto& [name, type] : kTypes)
        if (extension == name) found.content_type = type;
    found.immutable = path->starts_with("/assets/");
    return found;
}

bool origin_allowed(std::string_view host, std::string_view origin, bool loopback, std::uint16_t port) {
    if (host.empty() || origin.empty()) return false;
    std::string_view from = origin;
    if (from.starts_with("http://"))
        from.remove_prefix(7);
    else if (from.starts_with("https://"))
        from.remove_prefix(8);
    else
        return false;
    if (from != host) return false;
    if (!loopback) return true;
    std::string suffix(1, ':');
    suffix += std::to_string(port);
    for (const std::string_view name : {"127.0.0.1", "localhost", "[::1]"})
        if (host == std::string(name) + suffix || (port == 80 && host == name)) return true;
    return false;
}

}  // namespace talus
