// build_level.h - levels and files for the tests of saves.
#pragma once

#include "talus/level.h"
#include "talus/store.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace talus {

inline std::vector<char> read_bytes(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_bytes(const std::string& path, const std::vector<char>& bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
}

inline void fill(Grid& grid, CellBox box, BlockId id) {
    for (int y = box.min.y; y <= box.max.y; y++)
        for (int z = box.min.z; z <= box.max.z; z++)
            for (int x = box.min.x; x <= box.max.x; x++) grid.set({x, y, z}, id);
}

/// Terrain, with two structures; a tower that bears load, a falling tilted slab, stairs asleep; then a blast,
/// and some ticks.
inline std::unique_ptr<Level> busy_level(int ticks = 30) {
    LevelSettings settings;
    settings.ground = -3;
    settings.seed = 0xfedcba9876543210u;
    auto level = std::make_unique<Level>(settings);
    const BlockId stone = level->table().add(blockgame_stone());
    const BlockId glass = level->table().add(*find_real_material("glass"));
    const Box halves[2] = {{{0, 0, 0}, {1, 0.5f, 1}}, {{0, 0.5f, 0.5f}, {1, 1, 1}}};
    const BlockId stairs = level->table().add(BlockType{"stairs", blockgame_stone(), BlockShape(halves)});
    for (int x = -20; x <= 20; x++)
        for (int z = -20; z <= 20; z++) level->set_terrain({x, -1, z}, (x + z) % 3 ? stone : glass);
    for (int y = 0; y < 9; y++) level->set_terrain({-18, y, 18}, y == 8 ? glass : stone);
    for (int x = -17; x < -12; x++) level->set_terrain({x, 8, 18}, stone);
    level->unmark_structure(level->mark_structure(CellBox{{-20, -1, -20}, {-19, -1, -20}}));
    level->set_structure_mode(level->mark_connected({-18, 4, 18}, {{-20, 0, 10}, {0, 20, 20}}, 100),
                              StructureMode::physical);
    for (int i = 0; i < 3; i++) level->mark_structure(CellBox{{3 * i, -1, 20}, {3 * i + 1, -1, 20}});
    level->unmark_structure(*level->structure_at({0, -1, 20}));
    level->unmark_structure(*level->structure_at({6, -1, 20}));
    Grid tower(level->table());
    fill(tower, {{0, 0, 0}, {4, 14, 4}}, stone);
    fill(tower, {{1, 1, 1}, {3, 13, 3}}, kAir);
    fill(tower, {{5, 2, 2}, {12, 2, 2}}, stone);  // an arm, shot off
    const GroupId id = level->add_group(std::move(tower), {.bears_load = true});
    level->remove_block(id, {0, 5, 0});  // cuts the diagonal between its neighbours
    Grid slab(level->table());
    fill(slab, {{0, 0, 0}, {5, 0, 5}}, glass);
    level->add_group(std::move(slab),
                     {.pose = {{9, 12, 3}, normalized(Quat{0.2f, 0.1f, -0.3f, 0.9f})}, .spin = {1, 2, 3}});
    Grid steps(level->table());
    fill(steps, {{0, 0, 0}, {3, 0, 0}}, stairs);
    level->add_group(std::move(steps), {.pose = {{-9, 0, 4}, {}}, .asleep = true});
    std::vector<GroupId> gone;
    for (int i = 0; i < 3; i++) {
        Grid one(level->table());
        one.set({0, 0, 0}, stone);
        gone.push_back(level->add_group(std::move(one), {.pose = {{-15, 5.0 + 3 * i, 0}, {}}}));
    }
    for (GroupId g : gone) level->remove_group(g);
    level->blast({6.5, 2.5, 2.5}, 3);
    for (int i = 0; i < ticks; i++) level->tick();
    level->unprotect(level->protect({{0, -50, 0}, {1, -49, 1}}));
    level->protect({{0, -40, 0}, {1, -39, 1}});
    level->check_structure_soon(*level->structure_at({3, -1, 20}));  // asked for, not answered
    return level;
}

}  // namespace talus
