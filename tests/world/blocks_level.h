// blocks_level.h - a level with a few block types, for tests.
#pragma once

#include "talus/group_type.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace talus {

inline LevelSettings flat_ground() {
    LevelSettings s;
    s.ground = 0;
    return s;
}
inline LevelSettings no_gravity() {
    LevelSettings s;
    s.gravity = {};
    s.floor = -1e6;
    return s;
}

struct BlocksLevel {
    Level level;
    BlockId stone, glass, torch, bedrock;

    explicit BlocksLevel(const LevelSettings& settings = flat_ground()) : level(settings) {
        BlockTable& table = level.table();
        stone = table.add(blockgame_stone());
        glass = table.add(*find_real_material("glass"));
        Material m = blockgame_stone();
        m.name = "torch";
        m.solid = false;
        m.density = 0;
        torch = table.add(m);
        m = blockgame_stone();
        m.name = "bedrock";
        m.hardness = -1;
        bedrock = table.add(m);
    }

    /// Stone of this strength (hardness / 1.5).
    BlockId stone_of(float strength, const char* name) {
        Material m = blockgame_stone();
        m.hardness = 1.5f * strength;
        m.name = name;
        return level.table().add(m);
    }
    Grid grid() { return Grid(level.table()); }
    static void fill(Grid& grid, const CellBox& box, BlockId id) {
        for (int y = box.min.y; y <= box.max.y; y++)
            for (int z = box.min.z; z <= box.max.z; z++)
                for (int x = box.min.x; x <= box.max.x; x++) grid.set({x, y, z}, id);
    }
    void fill(const CellBox& box, BlockId id) {
        for (int y = box.min.y; y <= box.max.y; y++)
            for (int z = box.min.z; z <= box.max.z; z++)
                for (int x = box.min.x; x <= box.max.x; x++) level.set_terrain({x, y, z}, id);
    }
    /// A post 4 high with an arm of stones along x from its top: an arm of over 51 is too long.
    Grid crane(int reach) {
        Grid g = grid();
        fill(g, {{0, 0, 0}, {0, 3, 0}}, stone);
        fill(g, {{1, 3, 0}, {reach, 3, 0}}, stone);
        return g;
    }
    void run(int ticks) {
        for (int i = 0; i < ticks; i++) level.tick();
    }
    std::size_t blocks(GroupId id) const {
        const auto view = level.group(id);
        return view ? view->grid->block_count() : 0;
    }
    /// Of every group, sorted.
    std::vector<std::size_t> sizes() const {
        std::vector<std::size_t> out;
        for (GroupId id : level.groups()) out.push_back(blocks(id));
        std::sort(out.begin(), out.end());
        return out;
    }
    std::vector<LevelEvent> events(LevelEvent::Kind kind) const {
        std::vector<LevelEvent> out;
        for (const LevelEvent& e : level.events())
            if (e.kind == kind) out.push_back(e);
        return out;
    }
    /// World, groups and what was destroyed (of which drops are a part).
    std::size_t all_blocks() const {
        const LevelStats s = level.stats();
        return s.blocks + level.terrain().block_count() + std::size_t(s.destroyed);
    }
};

}  // namespace talus
