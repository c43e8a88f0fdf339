#include "io/format/inflate.h"

#include "io/format/fail.h"

#include <zlib.h>

#include <algorithm>
#include <string>

namespace talus {

namespace {

constexpr int kDetectHeader = 15 + 32;  // largest window, gzip or zlib header
constexpr int kGzipHeader = 15 + 16;
constexpr std::size_t kInflateStep = 1u << 20;

/// zlib counts input in 32 bits: hand it over in parts.
void feed(z_stream& stream, std::span<const std::uint8_t> bytes, std::size_t& fed) {
    if (stream.avail_in > 0) return;
    const std::size_t part = std::min<std::size_t>(bytes.size() - fed, 1u << 30);
    stream.next_in = const_cast<Bytef*>(bytes.data() + fed);
    stream.avail_in = uInt(part);
    fed += part;
}

}  // namespace

bool looks_deflated(std::span<const std::uint8_t> bytes) {
    if (bytes.size() < 2) return false;
    if (bytes[0] == 0x1f && bytes[1] == 0x8b) return true;
    return (bytes[0] & 0x0f) == 8 && bytes[0] >> 4 <= 7 && (bytes[0] * 256 + bytes[1]) % 31 == 0;
}

Result<std::vector<std::uint8_t>> inflate_all(std::span<const std::uint8_t> bytes, std::string_view where,
                                              std::size_t limit) {
    z_stream stream{};
    if (inflateInit2(&stream, kDetectHeader) != Z_OK)
        return fail(ErrorCode::unreadable, where, "no memory to decompress");
    std::vector<std::uint8_t> out;
    std::size_t fed = 0, used = 0;
    int status = Z_OK;
    while (status == Z_OK) {
        feed(stream, bytes, fed);
        // Half as much again each time, and never past the limit: no more than 1.5 times what the data holds.
        if (used == out.size())
            out.resize(std::min(limit + 1, std::max(kInflateStep, out.size() + out.size() / 2)));
        if (used > limit) break;
        const std::size_t room = std::min<std::size_t>(out.size() - used, 1u << 30);
        stream.next_out = out.data() + used;
        stream.avail_out = uInt(room);
        status = inflate(&stream, Z_NO_FLUSH);
        used += room - stream.avail_out;
    }
    const std::size_t at = fed - stream.avail_in;
    const std::string reason = stream.msg ? stream.msg : "";
    inflateEnd(&stream);
    if (used > limit)
        return fail(ErrorCode::too_large, where,
                    "unpacks to more than the limit of " + std::to_string(limit) + " bytes");
    if (status == Z_BUF_ERROR)
        return fail(ErrorCode::truncated, where,
                    "compressed data ends too early, at byte " + std::to_string(at) +
                        " of the file: its end marker is missing");
    if (status == Z_MEM_ERROR) return fail(ErrorCode::unreadable, where, "no memory to decompress");
    if (status != Z_STREAM_END)
        return fail(ErrorCode::corrupt, where,
                    "compressed data is damaged before byte " + std::to_string(at) + " of the file" +
                        (reason.empty() ? "" : " (" + reason + ")"));
    out.resize(used);
    return out;
}

Result<std::vector<std::uint8_t>> gzip_all(std::span<const std::uint8_t> bytes) {
    z_stream stream{};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipHeader, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return Error{ErrorCode::unreadable, "no memory to compress"};
    std::vector<std::uint8_t> out;
    std::size_t fed = 0;
    int status = Z_OK;
    while (status == Z_OK) {
        feed(stream, bytes, fed);
        const std::size_t used = out.size();
        out.resize(used + kInflateStep);
        stream.next_out = out.data() + used;
        stream.avail_out = uInt(kInflateStep);
        status = deflate(&stream, fed == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
        out.resize(out.size() - stream.avail_out);
    }
    deflateEnd(&stream);
    if (status != Z_STREAM_END) return Error{ErrorCode::unreadable, "cannot compress"};
    return out;
}

}  // namespace talus
