// Impact damage with its numbers: (speed - 7) / 6 x clamp(mass / 2500, 0.5, 4) / strength.
#include "talus/level.h"

#include <gtest/gtest.h>

#include <set>

namespace talus {
namespace {

struct Impact : testing::Test {
    static LevelSettings weightless() {
        LevelSettings s;
        s.gravity = {0, 0, 0};
        return s;
    }
    Level level{weightless()};

    /// Strength 1, of the given density.
    BlockId block(float density, const char* name) {
        Material m = blockgame_stone();
        m.density = density;
        m.name = name;
        return level.table().add(m);
    }
    /// A bar of n blocks along x, the last one at x - 1, flying towards +x.
    GroupId bar(int n, BlockId id, double x, float speed, bool bears_load = true) {
        Grid g(level.table());
        for (int i = 0; i < n; i++) g.set({i, 0, 0}, id);
        return level.add_group(
            std::move(g), {.pose = {{x - n, 0, 0}, {}}, .velocity = {speed, 0, 0}, .bears_load = bears_load});
    }
    void wall() {
        for (int y = -3; y < 4; y++)
            for (int z = -3; z < 4; z++) level.set_terrain({10, y, z}, block(775, "wall"));
    }
    float worn(GroupId id, Cell cell) { return level.wear_of(id, cell); }
    void run(int ticks) {
        for (int i = 0; i < ticks; i++) level.tick();
    }
};

TEST_F(Impact, EightMetresASecondAnd2500KilogramsWearASixth) {
    wall();
    const GroupId id = bar(2, block(1250, "heavy"), 9, 8);
    run(8);
    EXPECT_NEAR(worn(id, {1, 0, 0}), 1.0f / 6, 0.005f);
    EXPECT_EQ(worn(id, {0, 0, 0}), 0);
}

TEST_F(Impact, MassCountsBetweenAHalfAndFour) {
    wall();
    const GroupId light = bar(2, block(10, "light"), 9, 8);
    run(8);
    EXPECT_NEAR(worn(light, {1, 0, 0}), 0.5f / 6, 0.003f);
    level.remove_group(light);
    const GroupId heavy = bar(2, block(50'000, "lead"), 9, 8);
    run(8);
    EXPECT_NEAR(worn(heavy, {1, 0, 0}), 4.0f / 6, 0.02f);
}

TEST_F(Impact, SlowHitsLoneBlocksAndPlainGroupsWearNothing) {
    wall();
    const GroupId slow = bar(2, block(1250, "a"), 9, 6.9f);
    run(8);
    EXPECT_EQ(worn(slow, {1, 0, 0}), 0);
    level.remove_group(slow);
    const GroupId lone = bar(1, block(2500, "b"), 9, 12);
    run(8);
    EXPECT_EQ(worn(lone, {0, 0, 0}), 0);
    level.remove_group(lone);
    const GroupId plain = bar(2, block(1250, "c"), 9, 12, false);
    run(8);
    EXPECT_EQ(worn(plain, {1, 0, 0}), 0);
}

TEST_F(Impact, BothSidesAreWornAndWornThroughBlocksGo) {
    // 13 m/s and 2,500 kg: exactly worn through. The other side is heavy and at rest: it weighs in by its own
    // mass.
    const BlockId id = block(1250, "heavy");
    const GroupId hitter = bar(2, id, 9, 13.2f);
    Grid g(level.table());
    for (int x = 0; x < 8; x++) g.set({x, 0, 0}, id);
    const GroupId target = level.add_group(std::move(g), {.pose = {{10, 0, 0}, {}}, .bears_load = true});
    run(10);
    EXPECT_FALSE(level.group(hitter)->grid->has({1, 0, 0}));
    EXPECT_FALSE(level.group(target)->grid->has({0, 0, 0}));
    EXPECT_EQ(level.stats().destroyed, 2u);
    EXPECT_EQ(level.stats().blocks, 8u);
}

/// A bar meets seven others at once, a block of it each.
TEST_F(Impact, ABarThatHitsSevenIsWornInFourBlocks) {
    const BlockId id = block(1250, "heavy");
    Grid g(level.table());
    for (int z = 0; z < 13; z++) g.set({0, 0, z}, id);
    const GroupId hitter =
        level.add_group(std::move(g), {.pose = {{8, 0, 0}, {}}, .velocity = {8, 0, 0}, .bears_load = true});
    for (int z = 0; z < 13; z += 2) {
        Grid rod(level.table());
        for (int x = 0; x < 3; x++) rod.set({x, 0, 0}, id);
        level.add_group(std::move(rod), {.pose = {{10, 0, double(z)}, {}}});
    }
    int ticks = 0, blocks = 0;
    for (; blocks == 0 && ticks < 20; ticks++) {
        level.tick();
        blocks = 0;
        for (int z = 0; z < 13; z++) blocks += worn(hitter, {0, 0, z}) > 0;
    }
    std::set<std::uint32_t> others;  // were there more than four to choose from?
    for (const LevelEvent& e : level.events())
        if (e.kind == LevelEvent::Kind::impact) others.insert(std::uint32_t(e.point.z));
    EXPECT_EQ(others.size(), 7u);
    EXPECT_EQ(blocks, 4);
}

TEST_F(Impact, AtMostFourBlocksAGroupATick) {
    wall();
    // Seven separate feet meet the wall at once.
    const BlockId id = block(1250, "heavy");
    Grid g(level.table());
    for (int y = -3; y < 4; y++) {
        g.set({0, y, 0}, id);
        if (y % 2) g.set({1, y, 0}, id);
    }
    for (int z = -3; z < 4; z += 2) {
        g.set({0, 0, z}, id);
        g.set({1, 0, z}, id);
    }
    const GroupId feet =
        level.add_group(std::move(g), {.pose = {{7, 0, 0}, {}}, .velocity = {8, 0, 0}, .bears_load = true});
    run(4);
    int blocks = 0;
    level.group(feet)->grid->for_each([&](Cell c, BlockId) { blocks += level.wear_of(feet, c) > 0; });
    EXPECT_GE(blocks, 1);
    EXPECT_LE(blocks, 4);
}

}  // namespace
}  // namespace talus
