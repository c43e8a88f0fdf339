#include "io/format/fail.h"
#include "io/format/filler.h"
#include "io/format/inflate.h"
#include "io/format/nbt.h"
#include "talus/formats.h"

#include <map>
#include <new>
#include <optional>

namespace talus {

namespace {

/// Palette numbers run from 0; writers that leave gaps exist, but not of this size.
constexpr std::int64_t kMaxPaletteNumber = (1 << 20) - 1;
/// Of the block names write_schem() writes: those of Minecraft 1.21.1.
constexpr int kDataVersion = 3955;

/// What the tags say, before it is checked against each other.
struct RawSchematic {
    std::optional<std::int64_t> version, width, height, length;
    std::vector<std::pair<std::string_view, std::int64_t>> palette;
    bool has_palette = false, has_data = false, nested = false;
    std::span<const std::uint8_t> data;
    std::size_t data_offset = 0;  ///< of its first byte in the unpacked data
    std::string_view other;       ///< a format that is not ours, by a tag only that has
};

void read_palette(NbtReader& in, RawSchematic& raw) {
    if (raw.has_palette) return in.fail_here(ErrorCode::corrupt, "is there twice");
    raw.has_palette = true;
    NbtTag tag;
    while (in.next(tag)) {
        const std::int64_t number = in.integer(tag);
        if (number < 0 || number > kMaxPaletteNumber)
            return in.fail_here(ErrorCode::bad_value,
                                "palette number " + std::to_string(number) + " is out of range");
        raw.palette.emplace_back(tag.name, number);
    }
}

void read_data(NbtReader& in, const NbtTag& tag, RawSchematic& raw) {
    if (raw.has_data) return in.fail_here(ErrorCode::corrupt, "is there twice");
    raw.has_data = true;
    raw.data = in.byte_array(tag);
    raw.data_offset = in.offset() - raw.data.size();
}

/// Version 3 keeps palette and data in a compound "Blocks".
void read_blocks(NbtReader& in, RawSchematic& raw) {
    raw.nested = true;
    NbtTag tag;
    while (in.next(tag)) {
        if (tag.name == "Palette" && in.enter(tag))
            read_palette(in, raw);
        else if (tag.name == "Data")
            read_data(in, tag, raw);
        else
            in.skip(tag);
    }
}

void read_schematic(NbtReader& in, RawSchematic& raw, bool root) {
    NbtTag tag;
    while (in.next(tag)) {
        const std::string_view name = tag.name;
        if (name == "Version") {
            raw.version = in.integer(tag);
        } else if (name == "Width") {
            raw.width = in.integer(tag);
        } else if (name == "Height") {
            raw.height = in.integer(tag);
        } else if (name == "Length") {
            raw.length = in.integer(tag);
        } else if (name == "Palette" && tag.type == NbtType::compound) {
            if (in.enter(tag)) read_palette(in, raw);
        } else if (name == "BlockData") {
            read_data(in, tag, raw);
        } else if (name == "Blocks" && tag.type == NbtType::compound) {
            if (in.enter(tag)) read_blocks(in, raw);
        } else if (name == "Schematic" && root && tag.type == NbtType::compound) {
            if (in.enter(tag)) read_schematic(in, raw, false);
        } else {
            if (name == "Materials" && tag.type == NbtType::string) raw.other = "an MCEdit .schematic";
            if (name == "Regions" && tag.type == NbtType::compound) raw.other = "a Litematica schematic";
            if (name == "blocks" && tag.type == NbtType::list) raw.other = "a structure block file";
            in.skip(tag);
        }
    }
}

/// One axis: shorts are unsigned in this format, whatever NBT says.
Result<int> edge_of(const std::optional<std::int64_t>& value, const char* name, std::string_view where) {
    if (!value) return fail(ErrorCode::corrupt, where, std::string("tag \"") + name + "\" is missing");
    std::int64_t edge = *value;
    if (edge < 0 && edge >= -32768) edge += 65536;
    if (edge < 0 || edge > kMaxModelEdge)
        return fail(ErrorCode::too_large, where,
                    std::string("tag \"") + name + "\" is " + std::to_string(edge) + ", the limit is " +
                        std::to_string(kMaxModelEdge));
    if (edge == 0) return fail(ErrorCode::bad_value, where, std::string("tag \"") + name + "\" is 0");
    return int(edge);
}

struct PaletteEntry {
    bool used = false;
    BlockId id = kAir;
    std::size_t* unknown = nullptr;  ///< counts its cells
};

Result<Model> build(const RawSchematic& raw, std::string_view where, const BlockCatalog& catalog) {
    const std::int64_t version = raw.version ? *raw.version : raw.nested ? 3 : 1;
    if (version < 1 || version > 3)
        return fail(ErrorCode::unsupported, where,
                    "schematic version " + std::to_string(version) + "; 1, 2 and 3 are read");
    const auto width = edge_of(raw.width, "Width", where);
    if (!width) return width.error();
    const auto height = edge_of(raw.height, "Height", where);
    if (!height) return height.error();
    const auto length = edge_of(raw.length, "Length", where);
    if (!length) return length.error();
    const std::string prefix = raw.nested ? "tag \"Blocks/" : "tag \"";
    const char* data_name = raw.nested ? "Data" : "BlockData";
    if (!raw.has_palette) return fail(ErrorCode::corrupt, where, prefix + "Palette\" is missing");
    if (!raw.has_data) return fail(ErrorCode::corrupt, where, prefix + data_name + "\" is missing");

    const std::uint64_t volume = std::uint64_t(*width) * std::uint64_t(*height) * std::uint64_t(*length);
    const std::string size_text =
        std::to_string(*width) + " x " + std::to_string(*height) + " x " + std::to_string(*length);
    if (volume > kMaxModelCells)
        return fail(
            ErrorCode::too_large, where,
            "a size of " + size_text + " is over the limit of " + std::to_string(kMaxModelCells) + " cells");
    if (volume > raw.data.size())  // each cell takes at least a byte
        return fail(ErrorCode::corrupt, where,
                    prefix + data_name + "\" has " + std::to_string(raw.data.size()) +
                        " bytes, too few for " + size_text + " = " + std::to_string(volume) + " cells");

    Model model;
    model.format = "schem " + std::to_string(version);
    model.size = {*width, *height, *length};
    model.palette = int(raw.palette.size());
    std::int64_t largest = -1;
    for (const auto& [name, number] : raw.palette) largest = number > largest ? number : largest;
    std::vector<PaletteEntry> palette(std::size_t(largest + 1));
    std::map<std::string, std::size_t> unknown;
    for (const auto& [name, number] : raw.palette) {
        PaletteEntry& entry = palette[std::size_t(number)];
        if (entry.used)
            return fail(ErrorCode::corrupt, where,
                        prefix + "Palette\" gives the number " + std::to_string(number) + " twice, to " +
                            in_quotes(name) + " too");
        entry.used = true;
        const BlockCatalog::Found found = catalog.find(name);
        if (found.air) continue;
        entry.id = model.table->add(found.type);
        if (entry.id == kAir)
            return fail(
                ErrorCode::too_large, where,
                prefix + "Palette\" has more than " + std::to_string(kMaxBlockTypes) + " block types");
        if (!found.known) entry.unknown = &unknown[std::string(name.substr(0, name.find('[')))];
    }

    GridFiller fill(model.grid);
    const std::uint8_t* at = raw.data.data();
    const std::uint8_t* const end = at + raw.data.size();
    auto bad_cell = [&](ErrorCode code, int x, int y, int z, std::string what) {
        return fail(code, where,
                    prefix + data_name + "\": " + what + " for cell " + std::to_string(x) + "," +
                        std::to_string(y) + "," + std::to_string(z) + ", before byte " +
                        std::to_string(raw.data_offset + std::size_t(at - raw.data.data())) +
                        " of the unpacked data");
    };
    for (int y = 0; y < *height; y++)
        for (int z = 0; z < *length; z++)
            for (int x = 0; x < *width; x++) {
                std::uint64_t number = 0;
                int shift = 0;
                for (;;) {
                    if (at == end) return bad_cell(ErrorCode::truncated, x, y, z, "no bytes are left");
                    const std::uint8_t byte = *at++;
                    number |= std::uint64_t(byte & 0x7f) << shift;
                    if (byte < 0x80) break;
                    shift += 7;
                    if (shift > 28) return bad_cell(ErrorCode::corrupt, x, y, z, "a number has no end");
                }
                if (number >= palette.size() || !palette[number].used)
                    return bad_cell(ErrorCode::corrupt, x, y, z,
                                    "number " + std::to_string(number) + " is not in the palette,");
                const PaletteEntry& entry = palette[number];
                if (entry.id == kAir) continue;
                if (!fill.set({x, y, z}, entry.id))
                    return bad_cell(
                        ErrorCode::too_large, x, y, z,
                        "the grid is over the limit of " + std::to_string(kMaxModelBytes) + " bytes");
                if (entry.unknown) ++*entry.unknown;
            }
    if (at != end)
        return fail(ErrorCode::corrupt, where,
                    prefix + data_name + "\" has " + std::to_string(end - at) + " bytes more than the " +
                        std::to_string(volume) + " cells of " + size_text + " take");
    for (auto& [name, count] : unknown)
        if (count > 0) model.unknown_blocks.emplace(name, count);
    return model;
}

}  // namespace

Result<Model> parse_schem(std::span<const std::uint8_t> bytes, std::string_view where,
                          const BlockCatalog& catalog) try {
    std::vector<std::uint8_t> unpacked;
    if (looks_deflated(bytes)) {
        auto inflated = inflate_all(bytes, where, kMaxInflatedBytes);
        if (!inflated) return inflated.error();
        unpacked = std::move(*inflated);
        bytes = unpacked;
    }
    NbtReader in(bytes, where);
    NbtTag root;
    RawSchematic raw;
    if (in.begin(root)) read_schematic(in, raw, true);
    if (in.failed()) return in.error();
    if (!raw.has_palette && !raw.has_data && !raw.nested) {
        if (!raw.other.empty())
            return fail(ErrorCode::unsupported, where,
                        "this is " + std::string(raw.other) + "; Sponge .schem is read");
        return fail(ErrorCode::bad_format, where,
                    "NBT data, but not a Sponge schematic: no palette, no blocks");
    }
    return build(raw, where, catalog);
} catch (const std::bad_alloc&) {
    return fail(ErrorCode::too_large, where, "out of memory");
}

Result<std::vector<std::uint8_t>> write_schem(const Grid& grid) try {
    const CellBox box = grid.bounds();
    if (box.empty()) return Error{ErrorCode::bad_value, "there are no blocks to write"};
    const std::int64_t edge[3] = {std::int64_t(box.max.x) - box.min.x + 1,
                                  std::int64_t(box.max.y) - box.min.y + 1,
                                  std::int64_t(box.max.z) - box.min.z + 1};
    for (const std::int64_t e : edge)
        if (e > kMaxModelEdge)
            return Error{ErrorCode::too_large, "the blocks span " + std::to_string(e) +
                                                   " cells on an axis, over " +
                                                   std::to_string(kMaxModelEdge)};
    if (edge[0] * edge[1] > std::int64_t(kMaxModelCells) / edge[2])
        return Error{ErrorCode::too_large, "the blocks span a box of " + std::to_string(edge[0]) + " x " +
                                               std::to_string(edge[1]) + " x " + std::to_string(edge[2]) +
                                               " cells, over " + std::to_string(kMaxModelCells)};

    // Types that differ in more than their name (a colour, say) share a palette entry: only names are
    // written.
    constexpr std::uint32_t kNone = UINT32_MAX;
    std::vector<std::uint32_t> number_of(grid.table().size(), kNone);
    std::map<std::string, std::uint32_t> number_of_name{{"minecraft:air", 0}};
    number_of[kAir] = 0;
    std::vector<std::string> names{"minecraft:air"};
    std::vector<std::uint8_t> data;
    data.reserve(std::size_t(edge[0] * edge[1] * edge[2]));
    for (int y = box.min.y; y <= box.max.y; y++)
        for (int z = box.min.z; z <= box.max.z; z++)
            for (int x = box.min.x; x <= box.max.x; x++) {
                const BlockId id = grid.get({x, y, z});
                std::uint32_t& number = number_of[id];
                if (number == kNone) {
                    std::string name = grid.table()[id].name;
                    if (name.substr(0, name.find('[')).find(':') == std::string::npos)
                        name = "minecraft:" + name;
                    if (name.size() > 65535) return Error{ErrorCode::bad_value, "a block name is too long"};
                    const auto [it, added] = number_of_name.emplace(name, std::uint32_t(names.size()));
                    if (added) names.push_back(name);
                    number = it->second;
                }
                std::uint32_t rest = number;
                for (; rest >= 0x80; rest >>= 7) data.push_back(std::uint8_t(rest | 0x80));
                data.push_back(std::uint8_t(rest));
            }

    NbtWriter out;
    out.compound("Schematic");
    out.int32("Version", 2);
    out.int32("DataVersion", kDataVersion);
    out.int16("Width", std::int16_t(edge[0]));
    out.int16("Height", std::int16_t(edge[1]));
    out.int16("Length", std::int16_t(edge[2]));
    out.int32("PaletteMax", std::int32_t(names.size()));
    out.compound("Palette");
    for (std::size_t i = 0; i < names.size(); i++) out.int32(names[i], std::int32_t(i));
    out.end();
    out.byte_array("BlockData", data);
    out.end();
    return gzip_all(out.bytes());
} catch (const std::bad_alloc&) {
    return Error{ErrorCode::too_large, "out of memory"};
}

}  // namespace talus
