// Small pieces that came off by force crumble when they have slept long enough, whatever stirs them.
#include "blocks_level.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace talus {
namespace {

LevelSettings flat() {
    LevelSettings s;
    s.ground = 0;
    return s;
}

// A row of blocks that nearly touch, each to go a little later than the one before it, which wakes it.
/// Beyond the limit those that lie longest go first.
TEST(Debris, BeyondTheLimitTheLongestAsleepGoesFirst) {
    LevelSettings s = flat_ground();
    s.debris_ticks = 0;
    BlocksLevel b(s);
    std::vector<GroupId> ids;
    for (int i = 0; i < 4; i++) {
        Grid g = b.grid();
        g.set({0, 0, 0}, b.stone);
        ids.push_back(b.level.add_group(std::move(g), {.pose = {{3.0 * i, 0, 0}, {}}, .asleep = true}));
        b.level.set_debris(ids.back(), 1000);
    }
    const int awake_for[] = {20, 0, 40, 10};
    for (int tick = 0; tick < 60; tick++) {
        for (std::size_t i = 0; i < 4; i++)
            if (tick < awake_for[i]) b.level.group(ids[i])->body.activate();
        b.run(1);
    }
    for (const std::size_t next : {1u, 3u, 0u, 2u}) {
        s.debris_max_groups = int(b.level.groups().size()) - 1;
        if (s.debris_max_groups == 0) break;  // 0: no limit
        b.level.change_settings(s);
        b.run(2);
        EXPECT_FALSE(b.level.exists(ids[next])) << next;
        EXPECT_EQ(b.level.groups().size(), std::size_t(s.debris_max_groups));
    }
}

TEST(Debris, WhatCrumblesDoesNotMakeItsNeighboursWaitAnew) {
    Level level(flat());
    const BlockId stone = level.table().add(blockgame_stone());
    std::vector<GroupId> row;
    for (int i = 0; i < 8; i++) {
        Grid g(level.table());
        g.set({0, 0, 0}, stone);
        row.push_back(level.add_group(std::move(g), {.pose = {{i * 1.02, 0, 0}, {}}}));
        level.set_debris(row.back(), 100 + 40 * i);
    }
    int woken = 0;
    std::vector<int> slept(row.size());
    for (int tick = 1; tick <= 600 && !level.groups().empty(); tick++) {
        level.tick();
        for (std::size_t i = 0; i < row.size(); i++) {
            if (!level.exists(row[i])) continue;
            if (level.group(row[i])->asleep)
                slept[i]++;
            else if (slept[i] > 0)
                woken++;
        }
    }
    EXPECT_TRUE(level.groups().empty());
    EXPECT_GT(woken, 0) << "nothing was woken by what crumbled: the scene shows nothing";
    for (int i = 0; i < 8; i++) {  // seen after a tick: each time it falls asleep is one more
        EXPECT_GE(slept[std::size_t(i)], 100 + 40 * i) << i;
        EXPECT_LE(slept[std::size_t(i)], 104 + 40 * i) << i;
    }
}

TEST(Debris, WhatMovesInBetweenWaitsAnew) {
    Level level(flat());
    const BlockId stone = level.table().add(blockgame_stone());
    Grid g(level.table());
    g.set({0, 0, 0}, stone);
    const GroupId id = level.add_group(std::move(g), {});
    level.set_debris(id, 100);
    for (int i = 0; i < 90; i++) level.tick();
    ASSERT_TRUE(level.group(id)->asleep);
    level.group(id)->body.activate();
    level.group(id)->body.set_velocity({2, 0, 0});
    int ticks = 0;
    for (; level.exists(id) && ticks < 400; ticks++) level.tick();
    EXPECT_GE(ticks, 100);
    EXPECT_LT(ticks, 200);
}

// A wall's end breaks off by a blast in one piece of seven; a second blast leaves two blocks of it.
TEST(Debris, WhatForceMadeSmallIsDebrisWhatAMinerMadeSmallIsNot) {
    for (const bool mined : {false, true}) {
        LevelSettings s = flat();
        s.debris_ticks = 50;
        Level level(s);
        const BlockId stone = level.table().add(blockgame_stone());
        const BlockId glass = level.table().add(*find_real_material("glass"));
        Grid g(level.table());
        for (int x = 0; x < 20; x++) g.set({x, 0, 0}, x == 10 || x == 17 ? glass : stone);
        level.add_group(std::move(g), {.bears_load = true, .asleep = true});
        level.blast({10.5, 0.5, 0.5}, 0.5f);
        for (int i = 0; i < 60; i++) level.tick();
        std::vector<GroupId> groups = level.groups();
        ASSERT_EQ(groups.size(), 2u);
        const GroupId piece = groups[1];
        ASSERT_EQ(level.group(piece)->grid->block_count(), 9u);
        EXPECT_FALSE(level.group(piece)->is_debris);
        std::vector<Cell> cells;
        level.group(piece)->grid->for_each([&](Cell c, BlockId) { cells.push_back(c); });
        std::sort(cells.begin(), cells.end(), [](Cell a, Cell b) { return a.x < b.x; });
        for (std::size_t i = 2; i < cells.size(); i++)
            level.remove_block(piece, cells[i], mined ? Cause::mined : Cause::impact);
        for (int i = 0; i < 200; i++) level.tick();
        EXPECT_EQ(level.exists(piece), mined);
    }
}

}  // namespace
}  // namespace talus
