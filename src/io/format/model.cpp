#include "io/format/fail.h"
#include "io/format/file.h"
#include "io/format/inflate.h"
#include "talus/formats.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace talus {

Result<std::vector<std::uint8_t>> read_file(const std::string& path, std::size_t limit) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) {
        const ErrorCode code =
            errno == ENOENT || errno == ENOTDIR ? ErrorCode::not_found : ErrorCode::unreadable;
        return fail(code, path, std::strerror(errno));
    }
    // Read until the end instead of asking for the size: a pipe has none, and a file may grow.
    std::vector<std::uint8_t> bytes;
    constexpr std::size_t kStep = 1u << 20;
    for (;;) {
        const std::size_t used = bytes.size();
        bytes.resize(used + kStep);
        const std::size_t got = std::fread(bytes.data() + used, 1, kStep, file.get());
        bytes.resize(used + got);
        if (bytes.size() > limit)
            return fail(ErrorCode::too_large, path,
                        "larger than the limit of " + std::to_string(limit) + " bytes");
        if (got < kStep) break;
    }
    if (std::ferror(file.get())) return fail(ErrorCode::unreadable, path, std::strerror(errno));
    return bytes;
}

Result<Model> parse_model(std::span<const std::uint8_t> bytes, std::string_view where,
                          const BlockCatalog& catalog) {
    if (bytes.empty()) return fail(ErrorCode::truncated, where, "the file is empty");
    if (bytes.size() >= 4 && std::memcmp(bytes.data(), "VOX ", 4) == 0)
        return parse_vox(bytes, where, catalog);
    constexpr std::uint8_t kCompoundTag = 10;
    if (looks_deflated(bytes) || bytes[0] == kCompoundTag) return parse_schem(bytes, where, catalog);
    return fail(ErrorCode::bad_format, where,
                "neither a MagicaVoxel .vox nor a Sponge .schem: begins with neither \"VOX \" nor gzip data");
}

Result<Model> read_model(const std::string& path, const BlockCatalog& catalog) try {
    const auto bytes = read_file(path, kMaxFileBytes);
    if (!bytes) return bytes.error();
    return parse_model(*bytes, path, catalog);
} catch (const std::bad_alloc&) {
    return fail(ErrorCode::too_large, path, "out of memory");
}

}  // namespace talus
