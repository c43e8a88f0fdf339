#include "scenes/big_town.h"

#include "scenes/cells.h"

#include <utility>

namespace talus {

namespace {

constexpr int kLot = 28;  // metres from one building's corner to the next one's

/// A number that looks random but is always the same for what it is asked about.
std::uint32_t lot_hash(std::uint32_t lot, std::uint32_t what) {
    std::uint32_t h = lot * 0x9e3779b1u ^ (what + 1) * 0x85ebca77u;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12)) * 0x297a2d39u;
    return h ^ (h >> 15);
}
int pick(std::uint32_t lot, std::uint32_t what, int low, int high) {
    return low + int(lot_hash(lot, what) % std::uint32_t(high - low + 1));
}

struct Palette {
    BlockId stone, bricks, concrete, planks, wood, glass;
    explicit Palette(BlockTable& table) {
        auto real = [&](const char* name) { return table.add(*find_real_material(name)); };
        stone = real("stone"), bricks = real("bricks"), concrete = real("concrete");
        planks = real("planks"), wood = real("wood"), glass = real("glass");
    }
};

/// Walls with windows, a slab every fourth cell, walls inside that cut each storey into rooms.
Grid apartments(const BlockTable& table, const Palette& p, std::uint32_t lot, int w, int d, int storeys) {
    Grid g(table);
    const BlockId walls[] = {p.bricks, p.stone, p.concrete};
    const BlockId wall = walls[lot_hash(lot, 1) % 3];
    const BlockId slab = lot_hash(lot, 2) % 3 ? p.concrete : p.planks;
    const int top = storeys * 4;
    fill_walls(g, {{0, 0, 0}, {w - 1, top, d - 1}}, wall);
    for (int x = 6; x < w - 4; x += 6) fill(g, {{x, 0, 1}, {x, top, d - 2}}, wall);
    for (int z = 6; z < d - 4; z += 6) fill(g, {{1, 0, z}, {w - 2, top, z}}, wall);
    for (int s = 1; s <= storeys; s++) fill(g, {{1, s * 4, 1}, {w - 2, s * 4, d - 2}}, slab);
    for (int s = 0; s < storeys; s++) {
        const int y = s * 4 + 1;
        for (int x = 2; x < w - 2; x += 3)
            for (const int z : {0, d - 1}) fill(g, {{x, y + 1, z}, {x, y + 1, z}}, p.glass);
        for (int z = 2; z < d - 2; z += 3)
            for (const int x : {0, w - 1}) fill(g, {{x, y + 1, z}, {x, y + 1, z}}, p.glass);
        for (int x = 6; x < w - 4; x += 6) fill(g, {{x, y, 3}, {x, y + 1, 3}}, kAir);  // doors inside
        for (int z = 6; z < d - 4; z += 6) fill(g, {{3, y, z}, {3, y + 1, z}}, kAir);
    }
    fill(g, {{w / 2, 1, 0}, {w / 2, 2, 0}}, kAir);
    return g;
}

/// Floors on columns six apart, a parapet around each.
Grid columns(const BlockTable& table, const Palette& p, std::uint32_t lot, int w, int d, int storeys) {
    Grid g(table);
    const BlockId column = lot_hash(lot, 1) % 2 ? p.concrete : p.stone;
    for (int s = 1; s <= storeys; s++) {
        fill(g, {{0, s * 5, 0}, {w - 1, s * 5, d - 1}}, p.concrete);
        fill_walls(g, {{0, s * 5 + 1, 0}, {w - 1, s * 5 + 1, d - 1}}, p.bricks);
    }
    for (int z = 0; z < d; z += 5)
        for (int x = 0; x < w; x += 5) fill(g, {{x, 0, z}, {x, storeys * 5, z}}, column);
    fill_walls(g, {{0, 0, 0}, {w - 1, storeys * 5, 0}}, column);
    return g;
}

/// A hollow shaft with thick walls and wooden floors.
Grid town_tower(const BlockTable& table, const Palette& p, std::uint32_t lot, int w, int height) {
    Grid g(table);
    const BlockId wall = lot_hash(lot, 1) % 2 ? p.stone : p.bricks;
    fill_walls(g, {{0, 0, 0}, {w - 1, height, w - 1}}, wall);
    fill_walls(g, {{1, 0, 1}, {w - 2, height, w - 2}}, wall);
    for (int y = 6; y < height; y += 6) fill(g, {{2, y, 2}, {w - 3, y, w - 3}}, p.planks);
    for (int x = 0; x < w; x += 2)
        for (const int z : {0, w - 1}) g.set({x, height + 1, z}, wall);
    fill(g, {{w / 2, 1, 0}, {w / 2, 3, 1}}, kAir);
    return g;
}

/// Four wings of brick around a yard, roofs of planks.
Grid court(const BlockTable& table, const Palette& p, int w, int d, int storeys) {
    Grid g(table);
    const int top = storeys * 4, wing = 6;
    fill_walls(g, {{0, 0, 0}, {w - 1, top, d - 1}}, p.bricks);
    fill_walls(g, {{wing, 0, wing}, {w - 1 - wing, top, d - 1 - wing}}, p.stone);
    for (int s = 1; s <= storeys; s++)
        for (int k = 1; k < wing; k++)
            fill_walls(g, {{k, s * 4, k}, {w - 1 - k, s * 4, d - 1 - k}},
                       s == storeys ? p.planks : p.concrete);
    for (const int x : {wing, w - 1 - wing}) {  // walls across the corners of the wings
        fill(g, {{x, 0, 1}, {x, top, wing - 1}}, p.bricks);
        fill(g, {{x, 0, d - wing}, {x, top, d - 2}}, p.bricks);
    }
    fill(g, {{w / 2, 1, 0}, {w / 2, 3, 0}}, kAir);
    return g;
}

}  // namespace

BigTown build_big_town(Level& level, int rows) {
    const BlockTable& table = level.table();
    const Palette palette(level.table());
    BigTown town;
    for (int z = 0; z < rows; z++)
        for (int x = 0; x < rows; x++) {
            const std::uint32_t lot = std::uint32_t(z * 1009 + x);
            const int w = pick(lot, 10, 13, 19), d = pick(lot, 11, 13, 19);
            const int kind = pick(lot, 12, 0, 9);
            const Grid grid =
                kind < 5   ? apartments(table, palette, lot, w, d, pick(lot, 13, 3, 7))
                : kind < 7 ? columns(table, palette, lot, w, d, pick(lot, 13, 4, 8))
                : kind < 8 ? town_tower(table, palette, lot, pick(lot, 14, 9, 13), pick(lot, 13, 24, 46))
                           : court(table, palette, w + 3, d + 3, pick(lot, 13, 2, 5));
            const Cell at{x * kLot + 4, 0, z * kLot + 4};
            grid.for_each([&](Cell c, BlockId id) { level.set_terrain(c + at, id); });
            const CellBox box{grid.bounds().min + at, grid.bounds().max + at};
            level.mark_structure(box);
            level.clear_events();
            town.blocks += grid.block_count();
            town.buildings.push_back(box);
        }
    return town;
}

TownBlast town_blast(const BigTown& town, int number) {
    const std::uint32_t n = std::uint32_t(number);
    const CellBox& box = town.buildings[lot_hash(n, 20) % town.buildings.size()];
    // Before a facade or inside, a few metres up.
    const double along = double(lot_hash(n, 21) % 1000) / 1000, up = double(lot_hash(n, 22) % 1000) / 1000;
    const double width = box.max.x - box.min.x + 1, depth = box.max.z - box.min.z + 1;
    const double inside = lot_hash(n, 23) % 3 ? -0.5 : depth * 0.3;
    TownBlast blast;
    blast.center = {box.min.x + width * (0.2 + 0.6 * along), 0.5 + 6 * up, box.min.z + inside};
    blast.power = 4 + 4 * float(lot_hash(n, 24) % 1000) / 999;
    return blast;
}

}  // namespace talus
