#include "grid/archive.h"

namespace talus {

void archive(ByteWriter& a, const BlockType& type) {
    a(type.name);
    each_property(type.material, [&](const char*, const auto& v, double, double) { a(v); });
    const std::span<const Box> boxes = type.shape.boxes();
    a.size(boxes.size());
    for (const Box& b : boxes) a(b);
}

void archive(ByteReader& a, BlockType& type) {
    auto short_name = [&](const std::string& name) {
        if (name.size() > kMaxTypeName) a.fail(ErrorCode::too_large, "a name is too long");
    };
    a(type.name);
    short_name(type.name);
    each_property(type.material, [&](const char* name, auto& v, double lowest, double highest) {
        a.limited(name, v, lowest, highest);
    });
    short_name(type.material.name);
    const std::size_t n = a.size(24);
    if (n > kMaxTypeBoxes) return a.fail(ErrorCode::too_large, "a shape of too many boxes");
    std::vector<Box> boxes(n);
    for (Box& b : boxes) {
        a(b);
        for (int k = 0; k < 3; k++)
            a.check(b.min[k] >= 0 && b.min[k] < b.max[k] && b.max[k] <= 1, "a box is not inside its cell");
    }
    if (a.ok()) type.shape = BlockShape(boxes);
}

void write_types(ByteWriter& a, const BlockTable& table, std::size_t first) {
    a.size(table.size() - first);
    for (std::size_t i = first; i < table.size(); i++) a(table[BlockId(i)]);
}

void read_types(ByteReader& a, BlockTable& table) {
    const std::size_t n = a.size();
    for (std::size_t i = 0; i < n && a.ok(); i++) {
        BlockType type;
        a(type);
        if (!a.ok()) return;
        const std::size_t next = table.size();
        if (table.add(type) != next) a.check(false, "a block type is there twice, or one too many");
    }
}

void write_grid(ByteWriter& a, const Grid& grid) {
    const auto bricks = grid.bricks();
    a.size(bricks.size());
    for (const Brick* brick : bricks) {
        a(brick->coord);
        for (const std::uint64_t word : brick->any) a(word);
        for (int i = 0; i < 512; i++)
            if (bit_at(brick->any, i)) a(brick->ids[i]);
    }
}

void read_grid(ByteReader& a, Grid& grid, std::int32_t limit) {
    const std::size_t n = a.size(12 + 64 + 2);
    const std::size_t types = grid.table().size();
    Cell last;
    for (std::size_t i = 0; i < n && a.ok(); i++) {
        Brick place;
        a(place.coord);
        for (int v : {place.coord.x, place.coord.y, place.coord.z})
            a.check(v >= -(limit / kBrickEdge) && v < limit / kBrickEdge, "a brick is out of range");
        a.check(i == 0 || last < place.coord, "bricks out of order");
        last = place.coord;
        std::uint64_t all = 0;
        for (std::uint64_t& word : place.any) {
            a(word);
            all |= word;
        }
        a.check(all != 0, "a brick is empty");
        for (int k = 0; k < 512 && a.ok(); k++) {
            if (!bit_at(place.any, k)) continue;
            const auto id = a.get<BlockId>();
            a.check(id != kAir && id < types, "there is no such block type");
            if (a.ok()) grid.set(cell_in_brick(place, k), id);
        }
    }
}

}  // namespace talus
