// Case 32: a group is loaded before its terrain: it is held still until the terrain is there, then goes on as
// it was.
#include "talus/level.h"
#include "talus/snapshot.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

/// Ground below y = 0, loaded from some tick on, by columns of 16.
struct LateWorld final : TerrainSource {
    BlockId stone = kAir;
    bool loaded = false;
    int loaded_below_x = 1'000'000;
    BlockId block_at(Cell c) const override { return c.y < 0 ? stone : kAir; }
    bool is_loaded(const CellBox& cells) const override { return loaded && cells.max.x < loaded_below_x; }
};

struct Case32 : testing::Test {
    LateWorld world;
    Level level{settings()};
    BlockId stone = level.table().add(blockgame_stone());
    static LevelSettings settings() {
        LevelSettings s;
        s.floor = -100;
        return s;
    }
    void SetUp() override {
        world.stone = stone;
        level.set_terrain_source(&world);
    }
    GroupId add(DVec3 at, Vec3 velocity = {}, bool asleep = false) {
        Grid grid(level.table());
        grid.set({0, 0, 0}, stone);
        grid.set({1, 0, 0}, stone);
        GroupSettings s;
        s.pose.position = at;
        s.velocity = velocity;
        s.asleep = asleep;
        return level.add_group(std::move(grid), s);
    }
    void run(int ticks) {
        for (int i = 0; i < ticks; i++) level.tick();
    }
};

TEST_F(Case32, IsHeldStillThenFalls) {
    const GroupId falling = add({0, 3, 0}, {1, 0, 0.5f});
    const GroupId resting = add({10, 0, 0}, {}, true);
    const DVec3 before = level.group(falling)->body.center_of_mass();
    run(60);
    EXPECT_EQ(level.group(falling)->body.center_of_mass(), before);
    EXPECT_EQ(level.group(resting)->pose.position.y, 0);
    EXPECT_EQ(level.stats().groups, 2u);
    // A push while it waits, or a hand that wakes it, does not move it; the push is not forgotten.
    level.group(falling)->body.add_impulse({2 * 775, 0, 0});
    level.group(resting)->body.activate();
    run(10);
    EXPECT_LT(length(level.group(falling)->body.center_of_mass() - before), 1e-6);
    EXPECT_EQ(level.group(resting)->pose.position.y, 0);
    world.loaded = true;
    run(1);
    EXPECT_NEAR(level.group(falling)->body.velocity().x, 2, 0.01);
    EXPECT_NEAR(level.group(falling)->body.velocity().z, 0.5, 0.01);
    run(80);
    EXPECT_NEAR(level.group(falling)->pose.position.y, 0, 0.02);
    EXPECT_NEAR(level.group(resting)->pose.position.y, 0, 0.02);
    EXPECT_TRUE(level.group(falling)->asleep);
}

TEST_F(Case32, StopsAtTheBorderOfWhatIsLoaded) {
    world.loaded = true;
    world.loaded_below_x = 32;
    const GroupId thrown = add({0, 2, 0}, {25, 4, 0});
    run(60);
    EXPECT_LT(level.group(thrown)->body.center_of_mass().x, 33);
    EXPECT_GT(level.group(thrown)->body.center_of_mass().y, 0);
    const DVec3 waits = level.group(thrown)->body.center_of_mass();
    run(60);
    EXPECT_EQ(level.group(thrown)->body.center_of_mass(), waits);
    world.loaded_below_x = 1'000'000;
    run(80);
    EXPECT_GT(level.group(thrown)->body.center_of_mass().x, waits.x + 2);
    EXPECT_NEAR(level.group(thrown)->pose.position.y, 0, 0.02);
}

TEST_F(Case32, ASnapshotKeepsThatItWaits) {
    const GroupId falling = add({0, 3, 0}, {1, 0, 0});
    run(10);
    LevelHost host;
    host.terrain = &world;
    const auto made = restore_snapshot(take_snapshot(level), host);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_TRUE(take_snapshot(level) == take_snapshot(**made));
    Level& copy = **made;
    for (int i = 0; i < 10; i++) {
        level.tick();
        copy.tick();
        ASSERT_EQ(level.hash(), copy.hash());
    }
    world.loaded = true;
    for (int i = 0; i < 60; i++) {
        level.tick();
        copy.tick();
        ASSERT_EQ(level.hash(), copy.hash()) << i;
    }
    EXPECT_NEAR(level.group(falling)->pose.position.y, 0, 0.02);
    EXPECT_GT(level.group(falling)->pose.position.x, 0.3);
}

TEST_F(Case32, WhatFallsOutOfTheWorldStillGoes) {
    world.loaded = true;
    world.stone = kAir;
    add({0, 3, 0});
    run(200);
    EXPECT_EQ(level.stats().groups, 0u);
}

}  // namespace
}  // namespace talus
