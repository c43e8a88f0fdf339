#include "scenes/golden.h"

#include "base/hash.h"
#include "scenes/cells.h"
#include "talus/level.h"
#include "talus/structure.h"

#include <vector>

namespace talus {

namespace {

std::uint64_t run_collapse(const CollapseScene& scene, JobSystem* jobs) {
    LevelSettings settings = collapse_scene_settings();
    settings.jobs = jobs;
    Level level(settings);
    run_collapse_scene(level, scene);
    return level.hash();
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
    for (int tick = 0; tick < 240; tick++) {
        level.tick();
        level.clear_events();
    }
    return level.hash();
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

}  // namespace

std::uint64_t GoldenScene::run(JobSystem* jobs) const {
    return collapse ? run_collapse(*collapse, jobs) : special(jobs);
}

std::span<const GoldenScene> golden_scenes() {
    static const std::vector<GoldenScene> scenes = [] {
        std::vector<GoldenScene> all;
        for (const CollapseScene& scene : collapse_scenes()) all.push_back({scene.title, &scene, nullptr});
        all.push_back({"pieces tumble into a basin", nullptr, pieces_tumble_into_a_basin});
        all.push_back({"weak building breaks by its stresses", nullptr, weak_building_breaks});
        all.push_back({"arch of dry stone stands by thrust", nullptr, dry_arch_stands});
        return all;
    }();
    return scenes;
}

}  // namespace talus
