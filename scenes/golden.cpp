#include "scenes/golden.h"

#include "base/hash.h"
#include "talus/level.h"
#include "talus/structure.h"

#include <vector>

namespace talus {

namespace {

LevelSettings on_flat_ground(JobSystem* jobs) {
    LevelSettings s;
    s.ground = 0;
    s.jobs = jobs;
    return s;
}

void fill(Grid& grid, CellBox box, BlockId id) {
    for (int y = box.min.y; y <= box.max.y; y++)
        for (int z = box.min.z; z <= box.max.z; z++)
            for (int x = box.min.x; x <= box.max.x; x++) grid.set({x, y, z}, id);
}

/// A house of walls, two floors and a roof, with a door and windows.
Grid house(Level& level, int w, int h, int d) {
    const BlockId wall = level.table().add(blockgame_stone());
    const BlockId wood = level.table().add(*find_real_material("planks"));
    Grid g(level.table());
    fill(g, {{0, 0, 0}, {w - 1, h - 1, d - 1}}, wall);
    for (int y = 1; y < h - 1; y++)
        if (y % 4 != 3) fill(g, {{1, y, 1}, {w - 2, y, d - 2}}, kAir);
    for (int y = 3; y < h - 1; y += 4) fill(g, {{1, y, 1}, {w - 2, y, d - 2}}, wood);
    fill(g, {{w / 2, 1, 0}, {w / 2, 2, 0}}, kAir);
    for (int y = 1; y + 2 < h; y += 4)
        for (int x = 2; x < w - 2; x += 3) fill(g, {{x, y, d - 1}, {x, y + 1, d - 1}}, kAir);
    return g;
}

std::uint64_t run(Level& level, int ticks) {
    for (int i = 0; i < ticks; i++) {
        level.tick();
        level.clear_events();
    }
    return level.hash();
}

std::uint64_t tower_blasted_at_the_base(JobSystem* jobs) {
    Level level(on_flat_ground(jobs));
    const BlockId stone = level.table().add(blockgame_stone());
    Grid g(level.table());
    fill(g, {{0, 0, 0}, {4, 19, 4}}, stone);
    fill(g, {{1, 0, 1}, {3, 19, 3}}, kAir);
    level.add_group(std::move(g), {.bears_load = true, .asleep = true});
    level.blast({-0.5, 1.5, 2.5}, 6);
    return run(level, 160);
}

std::uint64_t balcony_mined_away(JobSystem* jobs) {
    Level level(on_flat_ground(jobs));
    const BlockId stone = level.table().add(blockgame_stone());
    Grid g(level.table());
    fill(g, {{0, 0, 0}, {1, 9, 5}}, stone);
    fill(g, {{2, 8, 0}, {50, 8, 5}}, stone);
    const GroupId id = level.add_group(std::move(g), {.bears_load = true, .asleep = true});
    for (int z = 0; z < 5; z++) level.remove_block(id, {2, 8, z});
    return run(level, 140);
}

std::uint64_t house_under_two_blasts(JobSystem* jobs) {
    Level level(on_flat_ground(jobs));
    level.add_group(house(level, 11, 12, 9), {.bears_load = true, .asleep = true});
    run(level, 5);
    level.blast({-0.5, 1.5, 4.5}, 5);
    run(level, 60);
    level.blast({5.5, 2.5, -0.5}, 5);
    return run(level, 120);
}

std::uint64_t bridge_cut_over_a_valley(JobSystem* jobs) {
    LevelSettings s;
    s.jobs = jobs;
    s.floor = -20;
    Level level(s);
    const BlockId stone = level.table().add(blockgame_stone());
    for (int x = -6; x < 36; x++)
        for (int z = -4; z < 8; z++) {
            const int top = x < 4 || x > 25 ? 8 : 1 + (x + z) % 2;
            for (int y = 0; y < top; y++) level.set_terrain({x, y, z}, stone);
        }
    Grid g(level.table());
    fill(g, {{0, 8, 0}, {29, 8, 3}}, stone);
    level.add_group(std::move(g), {.bears_load = true, .asleep = true});
    run(level, 3);
    level.carve({{14, 8, 0}, {15, 9, 4}});
    return run(level, 160);
}

std::uint64_t pieces_tumble_into_a_basin(JobSystem* jobs) {
    LevelSettings s;
    s.jobs = jobs;
    Level level(s);
    const BlockId stone = level.table().add(blockgame_stone());
    const Box half{{0, 0, 0}, {1, 0.5f, 1}};
    const BlockId slab = level.table().add(BlockType{"slab", blockgame_stone(), BlockShape({&half, 1})});
    for (int x = -8; x < 8; x++)
        for (int z = -8; z < 8; z++) {
            const int top = x == -8 || x == 7 || z == -8 || z == 7 ? 8 : 1 + (x * x + z * z) / 40;
            for (int y = 0; y < top; y++) level.set_terrain({x, y, z}, stone);
        }
    for (int i = 0; i < 40; i++) {
        Grid g(level.table());
        fill(g, {{0, 0, 0}, {i % 3, i % 2, (i / 2) % 3}}, i % 5 == 4 ? slab : stone);
        if (i % 4 == 1) g.set({0, 2, 0}, stone);
        GroupSettings at;
        at.pose.position = {double(i % 4) * 3 - 5, 8 + 3.0 * (i / 4), double((i * 7) % 4) * 3 - 5};
        at.pose.rotation = axis_angle({1, float(i % 5), float(i % 3)}, 0.37f * float(i));
        at.spin = {0.1f * float(i % 7), -0.3f, 0.2f * float(i % 4)};
        level.add_group(std::move(g), at);
    }
    return run(level, 240);
}

std::uint64_t hash_of(const StructureSolver& solver, const StructureReport& report) {
    BitHash hash;
    hash.add(std::uint64_t(report.verdict));
    hash.add(std::uint64_t(report.falling()));
    hash.add(std::uint64_t(report.broken_bonds.size()));
    hash.add(std::uint64_t(report.all_iterations));
    hash.add(report.max_utilisation);
    for (const BondForce& f : solver.balance().bonds)
        for (int a = 0; a < 3; a++) {
            hash.add(f.force[a]);
            hash.add(f.moment[a]);
        }
    return hash.value();
}

/// Physical mode: two materials, limits low enough for a good part to come down.
std::uint64_t weak_building_breaks(JobSystem* jobs) {
    const int n = 22;
    std::vector<StructureBlock> blocks;
    for (int y = 0; y < n; y++)
        for (int z = 0; z < n; z++)
            for (int x = 0; x < n; x++)
                if (x == 0 || z == 0 || x == n - 1 || z == n - 1 || y % 4 == 3 || (x % 8 == 0 && z % 8 == 0))
                    blocks.push_back({{x, y, z},
                                      y % 4 == 3 ? 400.0 : 775.0,
                                      1,
                                      y == 0,
                                      std::uint16_t(y % 4 == 3 ? 1 : 0)});
    const StructureMaterial materials[] = {{50e9, {}}, {11e9, {14e6, 21e6, 4e6, 0.6}}};
    StructureSolver solver(StructureMode::physical);
    solver.set_jobs(jobs);
    solver.set_materials(materials);
    solver.set_blocks(blocks);
    StructureSettings settings;
    settings.limit_factor = 0.03;
    const StructureReport report = solver.solve(settings);
    return hash_of(solver, report);
}

/// Physical mode without tension: a flat arch two thick between abutments of dry stone.
std::uint64_t dry_arch_stands(JobSystem* jobs) {
    std::vector<StructureBlock> blocks;
    for (int y = 0; y < 5; y++)
        for (int k = 1; k <= 6; k++)
            for (const int x : {-k, 5 + k}) blocks.push_back({{x, y, 0}, 775, 1, y == 0});
    for (int y = 3; y < 5; y++)
        for (int x = 0; x < 6; x++) blocks.push_back({{x, y, 0}, 775, 1, false});
    StructureSolver solver(StructureMode::physical);
    solver.set_jobs(jobs);
    solver.set_blocks(blocks);
    StructureSettings settings;
    settings.no_tension = true;
    const StructureReport report = solver.solve(settings);
    return hash_of(solver, report);
}

constexpr GoldenScene kScenes[] = {
    {"tower blasted at the base", tower_blasted_at_the_base},
    {"balcony mined away", balcony_mined_away},
    {"house under two blasts", house_under_two_blasts},
    {"bridge cut over a valley", bridge_cut_over_a_valley},
    {"pieces tumble into a basin", pieces_tumble_into_a_basin},
    {"weak building breaks by its stresses", weak_building_breaks},
    {"arch of dry stone stands by thrust", dry_arch_stands},
};

}  // namespace

std::span<const GoldenScene> golden_scenes() { return kScenes; }

}  // namespace talus
