#include "scenes/collapse_scene.h"

#include "scenes/big_town.h"
#include "scenes/cells.h"

#include <string>
#include <vector>

namespace talus {

namespace {

BlockId real(Level& level, const char* name) { return level.table().add(*find_real_material(name)); }

BlockId coloured(Level& level, const char* real_name, const char* name, std::uint32_t color) {
    Material material = *find_real_material(real_name);
    material.name = name;
    material.color = color;
    return level.table().add(material);
}

/// A build that stands on the ground as a group.
GroupId stand(Level& level, Grid grid, DVec3 at = {}) {
    GroupSettings settings;
    settings.pose.position = at;
    settings.bears_load = true;
    settings.asleep = true;
    return level.add_group(std::move(grid), settings);
}

/// A build that stands as terrain which bears load in place.
void mark(Level& level, const Grid& grid, Cell at = {}) {
    grid.for_each([&](Cell cell, BlockId id) { level.set_terrain(cell + at, id); });
    const CellBox box = grid.bounds();
    level.mark_structure({box.min + at, box.max + at});
}

/// Takes away the block at this place of the world.
void cut(Level& level, DVec3 at) {
    const DVec3 r{0.45, 0.45, 0.45};
    level.carve({at - r, at + r});
}

// --- A tower of brick falls over like a tree: the charge lies inside, close to one wall.
void build_tower(Level& level) {
    const BlockId brick = real(level, "bricks"), stone = real(level, "stone");
    const BlockId wood = real(level, "planks");
    Grid g(level.table());
    fill_walls(g, {{0, 0, 0}, {6, 29, 6}}, brick);
    for (const int x : {0, 6})
        for (const int z : {0, 6}) fill(g, {{x, 0, z}, {x, 29, z}}, stone);
    for (int y = 6; y < 30; y += 6) {
        fill_walls(g, {{0, y, 0}, {6, y, 6}}, stone);
        fill(g, {{1, y, 1}, {5, y, 5}}, wood);
        for (const int x : {0, 6}) fill(g, {{x, y - 3, 3}, {x, y - 2, 3}}, kAir);
        for (const int z : {0, 6}) fill(g, {{3, y - 3, z}, {3, y - 2, z}}, kAir);
    }
    fill_walls(g, {{-1, 28, -1}, {7, 29, 7}}, stone);
    for (int k = 0; k < 7; k += 2)
        for (const int side : {-1, 7}) g.set({side, 30, k}, stone), g.set({k, 30, side}, stone);
    stand(level, std::move(g));
}
void act_tower(Level& level, int) { level.blast({1.5, 1.5, 3.5}, 6); }

// --- A balcony along a facade loses its hold block by block, until the rest is too little.
constexpr int kBalconyLength = 14;
void build_balcony(Level& level) {
    const BlockId wall = coloured(level, "concrete", "facade", 0xd8cdb4), slab = real(level, "concrete");
    const BlockId glass = real(level, "glass");
    Grid g(level.table());
    fill_walls(g, {{0, 0, 0}, {kBalconyLength + 3, 15, 6}}, wall);
    for (int y = 0; y <= 15; y += 5) fill(g, {{0, y, 0}, {kBalconyLength + 3, y, 6}}, slab);
    for (int y = 1; y < 15; y += 5)
        for (int x = 2; x < kBalconyLength + 2; x += 3) fill(g, {{x, y + 1, 6}, {x + 1, y + 2, 6}}, glass);
    fill(g, {{2, 10, 7}, {kBalconyLength + 1, 10, 10}}, slab);
    for (int x = 2; x <= kBalconyLength + 1; x++) g.set({x, 11, 10}, glass);
    mark(level, g);
}
void act_balcony(Level& level, int tick) {
    if (tick % 4 == 0) cut(level, {2.5 + tick / 4, 10.5, 7.5});
}

// --- The top floor drops onto the one below, and so on down. Each hangs by four brackets that carry little
// more than its weight: a corner knocked out is one too many.
constexpr int kStoreys = 5, kStorey = 8, kFloorX = 8, kFloorZ = 7;  // metres
void build_floors(Level& level) {
    const BlockId pillar = real(level, "concrete"), floor = real(level, "stone");
    Grid g(level.table());
    for (const int x : {-2, kFloorX + 1})
        for (const int z : {0, kFloorZ - 1}) fill(g, {{x, 0, z}, {x, kStoreys * kStorey + 1, z}}, pillar);
    for (int y = kStorey; y <= kStoreys * kStorey; y += kStorey) {
        fill(g, {{0, y, 0}, {kFloorX - 1, y, kFloorZ - 1}}, floor);
        for (const int x : {-1, kFloorX})
            for (const int z : {0, kFloorZ - 1}) g.set({x, y, z}, floor);
    }
    mark(level, g);
}
void act_floors(Level& level, int tick) {
    cut(level, {tick & 1 ? kFloorX + 0.5 : -0.5, kStoreys * kStorey + 0.5, tick & 2 ? kFloorZ - 0.5 : 0.5});
}

// --- A bridge over a valley, cut beside its western bank.
void build_bridge(Level& level) {
    const BlockId rock = coloured(level, "stone", "rock", 0x77736c),
                  grass = coloured(level, "earth", "grass", 0x6f9a4a);
    const BlockId stone = coloured(level, "stone", "bridge stone", 0xc0b596);
    for (int z = -6; z < 10; z++)
        for (int x = -10; x < 30; x++) {
            const int depth = x < 0 || x > 19 ? 0 : 10 - (x < 3 ? 3 - x : x > 16 ? x - 16 : 0) * 2;
            const int top = 12 - depth;
            for (int y = 0; y < top; y++)
                level.set_terrain({x, y, z}, y == top - 1 && depth == 0 ? grass : rock);
        }
    Grid g(level.table());
    fill(g, {{-4, 12, 0}, {23, 12, 3}}, stone);
    for (int x = -4; x <= 23; x += 3)
        for (const int z : {0, 3}) g.set({x, 13, z}, stone);
    mark(level, g);
}
void act_bridge(Level& level, int) { level.carve({{2, 12, 0}, {3, 14, 4}}); }

// --- Narrow houses in a row: the first falls against the next, and so on.
constexpr int kHouses = 6, kHouseDepth = 4, kHouseGap = 4;
void build_houses(Level& level) {
    static constexpr std::uint32_t kColors[] = {0xa8553f, 0xd9b26a, 0x7f93a6, 0xc98f7a, 0x9aa77c, 0xe0d6c0};
    const BlockId wood = real(level, "planks"), glass = real(level, "glass");
    for (int i = 0; i < kHouses; i++) {
        const BlockId wall =
            coloured(level, "bricks", ("house " + std::to_string(i + 1)).c_str(), kColors[i]);
        Grid g(level.table());
        const int w = kHouseDepth - 1, h = 17, d = 4;
        fill_walls(g, {{0, 0, 0}, {w, h, d}}, wall);
        for (int y = 4; y <= h; y += 4) fill(g, {{1, y, 1}, {w - 1, y, d - 1}}, wood);
        fill(g, {{0, h + 1, 0}, {w, h + 1, d}}, wall);
        for (int y = 5; y < h; y += 4)
            for (int z = 1; z < d; z += 2)
                for (const int x : {0, w}) g.set({x, y + 1, z}, glass);
        stand(level, std::move(g), {double(i * (kHouseDepth + kHouseGap)), 0, 0});
    }
}
void act_houses(Level& level, int) { level.carve({{1, 0, 0}, {kHouseDepth, 2, 5}}); }

// --- A ship of terrain hangs over a stair of rock; assembled into a group, it tumbles down.
constexpr Cell kShip{-1, 24, -9};
void build_ship(Level& level) {
    const BlockId rock = coloured(level, "stone", "rock", 0x77736c);
    for (int step = 0; step < 5; step++)
        for (int x = step * 4 - 8; x < step * 4 - 4; x++)
            for (int z = -14; z < 14; z++)
                for (int y = 0; y < 20 - step * 4; y++) level.set_terrain({x, y, z}, rock);
    const BlockId hull = coloured(level, "wood", "hull", 0x6b4a2e), deck = real(level, "planks");
    const BlockId sail = coloured(level, "leaves", "sail", 0xf0ead8), mast = real(level, "wood");
    Grid g(level.table());
    for (int z = 0; z < 19; z++) {
        const int taper = z < 4 ? 3 - z : z > 15 ? z - 15 : 0;
        for (int y = 0; y < 5; y++) {
            const int half = (y == 0 ? 1 : y == 1 ? 2 : 3) - taper;
            if (half < 0) continue;
            for (int x = -half; x <= half; x++) {
                const bool shell = y == 0 || x == -half || x == half || z == 0 || z == 18;
                if (shell || y == 3) g.set({x, y, z}, shell ? hull : deck);
            }
        }
    }
    fill(g, {{0, 0, 9}, {0, 14, 9}}, mast);
    fill(g, {{-3, 7, 10}, {3, 12, 10}}, sail);
    g.for_each([&](Cell cell, BlockId id) { level.set_terrain(cell + kShip, id); });
}
void act_ship(Level& level, int) {
    const CellBox air{{-9, 21, -12}, {9, 45, 12}};  // above the rock
    GroupId ship{};
    for (int y = 0; y < 15 && !level.exists(ship); y++)  // from its mast
        ship = level.assemble(kShip + Cell{0, y, 9}, air, 5000);
    if (!level.exists(ship)) return;
    Body body = level.group(ship)->body;
    body.set_velocity({2, 0, 0});
    body.set_spin({0.2f, 0.2f, -0.8f});
}

// --- A water tower whose front legs one blast only wears: the second, just like it, breaks them.
void build_water_tower(Level& level) {
    const BlockId steel = real(level, "steel"), planks = real(level, "planks");
    const BlockId roof = coloured(level, "slate", "roof slate", 0x565a66);
    Grid g(level.table());
    for (const int x : {0, 6})
        for (const int z : {0, 6}) fill(g, {{x, 0, z}, {x, 11, z}}, steel);
    for (const int y : {7, 12}) fill_walls(g, {{0, y, 0}, {6, y, 6}}, steel);
    fill(g, {{0, 12, 0}, {6, 12, 6}}, steel);
    fill_walls(g, {{0, 13, 0}, {6, 17, 6}}, planks);
    for (int k = 0; k < 4; k++) fill(g, {{k, 18 + k, k}, {6 - k, 18 + k, 6 - k}}, roof);
    stand(level, std::move(g));
}
// Both legs are 2.5 m away: at its step of 2.7 m a ray has 1.875 of the 1.89 that steel takes.
void act_water_tower(Level& level, int tick) {
    if (tick == 0 || tick == 40) level.blast({3.5, 2.5, 0.5}, 3.9f);
}

// --- A small town under a hundred charges.
constexpr int kTownRows = 3, kTownBlasts = 100;  // one a tick
void build_town(Level& level) { build_big_town(level, kTownRows); }
void act_town(Level& level, int tick) {
    static const std::vector<TownBlast> blasts = [] {
        Level alike(collapse_scene_settings());
        const BigTown town = build_big_town(alike, kTownRows);
        std::vector<TownBlast> all;
        for (int i = 0; i < kTownBlasts; i++) all.push_back(town_blast(town, i));
        return all;
    }();
    const TownBlast& blast = blasts[std::size_t(tick)];
    level.blast(blast.center, blast.power);
}

constexpr CollapseScene kScenes[] = {
    {"tower", "tower blasted at the base", "Blast the foot", 1, 260, build_tower, act_tower},
    {"balcony", "balcony mined away", "Mine it away", 4 * kBalconyLength, 160, build_balcony, act_balcony},
    {"floors", "floor onto floor", "Cut the top floor loose", 4, 220, build_floors, act_floors},
    {"bridge", "bridge cut", "Cut it", 1, 160, build_bridge, act_bridge},
    {"houses", "chain reaction of houses", "Undermine the first", 1, 240, build_houses, act_houses},
    {"ship", "tumbling assembled ship", "Let it go", 1, 200, build_ship, act_ship},
    {"wear", "wear by two blasts", "Blast twice", 41, 160, build_water_tower, act_water_tower},
    {"town", "town under 100 blasts", "100 blasts", kTownBlasts, 200, build_town, act_town},
};

}  // namespace

std::span<const CollapseScene> collapse_scenes() { return kScenes; }

const CollapseScene* find_collapse_scene(std::string_view name) {
    for (const CollapseScene& scene : kScenes)
        if (name == scene.name) return &scene;
    return nullptr;
}

void run_collapse_scene(Level& level, const CollapseScene& scene) {
    scene.build(level);
    for (int tick = 0; tick < scene.ticks; tick++) {
        if (tick < scene.action_ticks) scene.act(level, tick);
        level.tick();
        level.clear_events();
    }
}

LevelSettings collapse_scene_settings() {
    LevelSettings settings;
    settings.ground = 0;
    return settings;
}

}  // namespace talus
