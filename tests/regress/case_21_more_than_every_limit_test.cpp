// Case 21: 8,000 cubes in a heap and every configured limit exceeded: memory grows or work is shed, an error
// is reported where something is refused, and nothing is under the floor.
#include "talus/level.h"
#include "tests/dynamics/rigs.h"
#include "tests/log_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace talus {
namespace {

TEST(Case21, EightThousandCubesInAHeap) {
    LogLines log;
    LevelSettings settings;
    settings.ground = 0;
    settings.log = &log;
    // All below what the heap needs.
    settings.debris_max_groups = 100;
    settings.debris_ticks = 2;
    settings.collapse_max_pieces = 1;
    settings.collapse_max_blocks = 1;
    settings.structure_max_solids = 1;
    settings.work_per_tick = 1;
    Level level(settings);
    const BlockId stone = level.table().add(blockgame_stone());
    std::uint64_t seed = 5;
    auto unit = [&] { return double(seed = mix64(seed + 1)) / 18446744073709551616.0 - 0.5; };
    for (int i = 0; i < 8000; i++) {
        Grid grid(level.table());
        grid.set({0, 0, 0}, stone);
        GroupSettings s;
        s.bears_load = true;
        s.pose.position = {i % 20 * 1.02 + 0.3 * unit(), i / 400 * 1.05 + 0.1,
                           i / 20 % 20 * 1.02 + 0.3 * unit()};
        ASSERT_NE(level.add_group(std::move(grid), s).index, 0u);
    }
    std::size_t most_contacts = 0;
    for (int tick = 0; tick < 30; tick++) {
        level.tick();
        level.clear_events();
        ASSERT_EQ(level.groups().size(), 8000u);  // none of them came off anything: no debris
        most_contacts = std::max(most_contacts, level.space().contacts().size());
        EXPECT_TRUE(level.space().quarantined().empty());
        for (const GroupId id : level.groups()) {
            const Body body = level.group(id)->body;
            ASSERT_GT(body.bounds().min.y, -0.1) << tick;
            ASSERT_LT(body.bounds().max.y, 40) << tick;
        }
    }
    EXPECT_GT(most_contacts, 8000u);
}

TEST(Case21, WhatIsRefusedIsReported) {
    LogLines log;
    LevelSettings settings;
    settings.ground = 0;
    settings.log = &log;
    Level level(settings);
    const BlockId stone = level.table().add(blockgame_stone());
    // Speeds, spins and forces beyond what a step can follow are cut.
    Grid grid(level.table());
    grid.set({0, 0, 0}, stone);
    const GroupId id = level.add_group(std::move(grid), {.pose = {{0, 5, 0}, {}}});
    level.group(id)->body.set_velocity({5000, 0, 0});
    level.tick();
    EXPECT_LE(length(level.group(id)->body.velocity()), 1001);
    EXPECT_TRUE(log.has("slowed")) << (log.lines.empty() ? "nothing" : log.lines[0]);
    level.group(id)->body.set_velocity({});
    level.tick();
    const std::size_t said = log.lines.size();
    level.group(id)->body.add_force({1e12f, 0, 0});
    level.tick();
    EXPECT_EQ(log.lines.size(), said + 1);
    // A tool too large for smooth ground.
    level.set_smooth_terrain(nullptr, stone);
    level.dig({0, 0, 0}, 1000);
    EXPECT_TRUE(log.has("too large"));
    // A place out of the world's reach.
    level.group(id)->body.set_pose({{1e12, 0, 0}, {}});
    level.tick();
    EXPECT_TRUE(log.has("frozen"));
}

}  // namespace
}  // namespace talus
