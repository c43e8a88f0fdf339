// build_files.h - makes small files of the formats, good and bad, for tests. Independent of src/: written
// from the format descriptions, so that a mistake in a reader is not mirrored here.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace talus::files {

using Bytes = std::vector<std::uint8_t>;

inline void append(Bytes& out, std::string_view text) { out.insert(out.end(), text.begin(), text.end()); }
inline void append(Bytes& out, const Bytes& more) { out.insert(out.end(), more.begin(), more.end()); }

inline void le32(Bytes& out, std::int64_t v) {
    for (int i = 0; i < 4; i++) out.push_back(std::uint8_t(std::uint64_t(v) >> (8 * i)));
}
inline void be(Bytes& out, std::int64_t v, int width) {
    for (int i = width - 1; i >= 0; i--) out.push_back(std::uint8_t(std::uint64_t(v) >> (8 * i)));
}

inline Bytes gzip(const Bytes& data, int level = 6) {
    z_stream s{};
    if (deflateInit2(&s, level, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("zlib");
    Bytes out(deflateBound(&s, uLong(data.size())) + 32);
    s.next_in = const_cast<Bytef*>(data.data());
    s.avail_in = uInt(data.size());
    s.next_out = out.data();
    s.avail_out = uInt(out.size());
    if (deflate(&s, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("zlib");
    out.resize(s.total_out);
    deflateEnd(&s);
    return out;
}

/// A gzip file that unpacks to `head` and then `megabytes` MiB of zeros, made without packing them all: the
/// same packed piece again and again. It ends without checksum; nobody should ever get that far.
inline Bytes gzip_bomb(const Bytes& head, int megabytes) {
    z_stream s{};
    if (deflateInit2(&s, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY) != Z_OK) throw std::runtime_error("zlib");
    auto packed = [&](const Bytes& data) {
        Bytes out(data.size() + 1000);
        s.next_in = const_cast<Bytef*>(data.data());
        s.avail_in = uInt(data.size());
        s.next_out = out.data();
        s.avail_out = uInt(out.size());
        if (deflate(&s, Z_FULL_FLUSH) != Z_OK) throw std::runtime_error("zlib");
        // erase(), for g++ 12 with sanitizers warns about resize()
        out.erase(out.end() - std::ptrdiff_t(s.avail_out), out.end());
        return out;
    };
    Bytes out = packed(head);
    const Bytes piece = packed(Bytes(1 << 20));
    for (int i = 0; i < megabytes; i++) append(out, piece);
    deflateEnd(&s);
    return out;
}

// ---- NBT -------------------------------------------------------------------------------------------------

enum : std::uint8_t {
    kEnd = 0,
    kByte = 1,
    kShort = 2,
    kInt = 3,
    kByteArray = 7,
    kString = 8,
    kList = 9,
    kCompound = 10
};

struct Nbt {
    Bytes bytes;
    Nbt& tag(std::uint8_t type, std::string_view name) {
        bytes.push_back(type);
        be(bytes, std::int64_t(name.size()), 2);
        append(bytes, name);
        return *this;
    }
    Nbt& compound(std::string_view name) { return tag(kCompound, name); }
    Nbt& end() {
        bytes.push_back(kEnd);
        return *this;
    }
    Nbt& int16(std::string_view name, std::int64_t v) {
        tag(kShort, name);
        be(bytes, v, 2);
        return *this;
    }
    Nbt& int32(std::string_view name, std::int64_t v) {
        tag(kInt, name);
        be(bytes, v, 4);
        return *this;
    }
    Nbt& byte_array(std::string_view name, const Bytes& v) {
        return byte_array(name, v, std::int64_t(v.size()));
    }
    Nbt& byte_array(std::string_view name, const Bytes& v, std::int64_t claimed) {
        tag(kByteArray, name);
        be(bytes, claimed, 4);
        append(bytes, v);
        return *this;
    }
    Nbt& string(std::string_view name, std::string_view v) {
        tag(kString, name);
        be(bytes, std::int64_t(v.size()), 2);
        append(bytes, v);
        return *this;
    }
};

inline void varint(Bytes& out, std::uint32_t v) {
    for (; v >= 0x80; v >>= 7) out.push_back(std::uint8_t(v | 0x80));
    out.push_back(std::uint8_t(v));
}

struct Schem {
    int version = 2;  ///< 0: version 1 without its tag
    int width = 1, height = 1, length = 1;
    std::vector<std::string> palette;
    std::vector<std::uint32_t> cells;  ///< x fastest, then z, then y

    Bytes data() const {
        Bytes out;
        for (const std::uint32_t c : cells) varint(out, c);
        return out;
    }
    Bytes nbt() const {
        Nbt out;
        if (version == 3) out.compound("");
        out.compound("Schematic");
        if (version > 0) out.int32("Version", version);
        out.int16("Width", width).int16("Height", height).int16("Length", length);
        if (version == 3) out.compound("Blocks");
        if (version != 3) out.int32("PaletteMax", std::int64_t(palette.size()));
        out.compound("Palette");
        for (std::size_t i = 0; i < palette.size(); i++) out.int32(palette[i], std::int64_t(i));
        out.end();
        out.byte_array(version == 3 ? "Data" : "BlockData", data());
        if (version == 3) out.end();
        out.end();
        if (version == 3) out.end();
        return out.bytes;
    }
    Bytes file() const { return gzip(nbt()); }
};

/// A schematic of one name in every cell.
inline Schem full_schem(int width, int height, int length, const std::string& name = "minecraft:stone") {
    Schem s;
    s.width = width;
    s.height = height;
    s.length = length;
    s.palette = {"minecraft:air", name};
    s.cells.assign(std::size_t(width) * std::size_t(height) * std::size_t(length), 1);
    return s;
}

// ---- .vox ------------------------------------------------------------------------------------------------

struct Voxel {
    int x, y, z, index;
};
using Dict = std::vector<std::pair<std::string, std::string>>;

struct Vox {
    Bytes chunks;
    Vox& chunk(std::string_view id, const Bytes& content) {
        return chunk(id, content, std::int64_t(content.size()));
    }
    Vox& chunk(std::string_view id, const Bytes& content, std::int64_t claimed) {
        append(chunks, id);
        le32(chunks, claimed);
        le32(chunks, 0);
        append(chunks, content);
        return *this;
    }
    Vox& size(std::int64_t x, std::int64_t y, std::int64_t z) {
        Bytes c;
        le32(c, x);
        le32(c, y);
        le32(c, z);
        return chunk("SIZE", c);
    }
    Vox& voxels(const std::vector<Voxel>& list) { return voxels(list, std::int64_t(list.size())); }
    Vox& voxels(const std::vector<Voxel>& list, std::int64_t claimed) {
        Bytes c;
        le32(c, claimed);
        for (const Voxel& v : list)
            for (const int k : {v.x, v.y, v.z, v.index}) c.push_back(std::uint8_t(k));
        return chunk("XYZI", c);
    }
    static void dict(Bytes& out, const Dict& d) {
        le32(out, std::int64_t(d.size()));
        for (const auto& [k, v] : d) {
            le32(out, std::int64_t(k.size()));
            append(out, k);
            le32(out, std::int64_t(v.size()));
            append(out, v);
        }
    }
    Vox& transform(int id, int child, const Dict& frame = {}, const Dict& attributes = {}, int layer = -1) {
        return transform_frames(id, child, {frame}, attributes, layer);
    }
    Vox& transform_frames(int id, int child, const std::vector<Dict>& frames, const Dict& attributes = {},
                          int layer = -1) {
        Bytes c;
        le32(c, id);
        dict(c, attributes);
        le32(c, child);
        le32(c, -1);
        le32(c, layer);
        le32(c, std::int64_t(frames.size()));
        for (const Dict& frame : frames) dict(c, frame);
        return chunk("nTRN", c);
    }
    Vox& group(int id, const std::vector<int>& children) {
        Bytes c;
        le32(c, id);
        dict(c, {});
        le32(c, std::int64_t(children.size()));
        for (const int child : children) le32(c, child);
        return chunk("nGRP", c);
    }
    Vox& shape(int id, int model) {
        Bytes c;
        le32(c, id);
        dict(c, {});
        le32(c, 1);
        le32(c, model);
        dict(c, {});
        return chunk("nSHP", c);
    }
    Vox& layer(int id, const Dict& attributes) {
        Bytes c;
        le32(c, id);
        dict(c, attributes);
        le32(c, -1);
        return chunk("LAYR", c);
    }
    Vox& material(int index, const Dict& attributes) {
        Bytes c;
        le32(c, index);
        dict(c, attributes);
        return chunk("MATL", c);
    }
    Bytes file() const { return file(std::int64_t(chunks.size())); }
    Bytes file(std::int64_t claimed) const {
        Bytes out;
        append(out, "VOX ");
        le32(out, 150);
        append(out, "MAIN");
        le32(out, 0);
        le32(out, claimed);
        append(out, chunks);
        return out;
    }
};

// ---- places ----------------------------------------------------------------------------------------------

inline Bytes read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(in), {});
}
inline void write(const std::filesystem::path& path, const Bytes& bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
}

#ifdef TALUS_SOURCE_DIR
/// The folder of real files and scenes: TALUS_SHARED, else "shared" beside the project. May not exist.
inline std::filesystem::path shared_folder() {
    if (const char* given = std::getenv("TALUS_SHARED")) return given;
    return std::filesystem::path(TALUS_SOURCE_DIR) / ".." / "shared";
}
#endif

}  // namespace talus::files

/// Skips the test, naming the file, when a shared file is not there.
#define TALUS_NEEDS_SHARED(variable, name)                                         \
    const std::filesystem::path variable = talus::files::shared_folder() / (name); \
    if (!std::filesystem::exists(variable)) GTEST_SKIP() << "needs " << variable
