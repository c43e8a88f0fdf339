#include "talus/level.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace talus {
namespace {

void fill(Grid& grid, CellBox box, BlockId id) {
    for (int y = box.min.y; y <= box.max.y; y++)
        for (int z = box.min.z; z <= box.max.z; z++)
            for (int x = box.min.x; x <= box.max.x; x++) grid.set({x, y, z}, id);
}

LevelSettings flat() {
    LevelSettings s;
    s.ground = 0;
    return s;
}

std::size_t blocks_of(const Level& level, GroupId id) { return level.group(id)->grid->block_count(); }

struct Momentum {
    double mass = 0;
    DVec3 linear, angular;  // about the world's origin
};
Momentum momentum_of(const Level& level) {
    Momentum out;
    for (GroupId id : level.groups()) {
        const Body body = level.group(id)->body;
        const double m = body.mass();
        const DVec3 v = to_double(body.velocity());
        out.mass += m;
        out.linear += v * m;
        // L = r x m v + R I R^T w
        const Vec3 spin_local = body.direction_to_local(body.spin());
        out.angular += cross(body.center_of_mass(), v * m) +
                       to_double(body.direction_to_world(body.inertia() * spin_local));
    }
    return out;
}

TEST(Level, AGroupFallsLandsAndSleeps) {
    Level level(flat());
    const BlockId stone = level.table().add(blockgame_stone());
    Grid g(level.table());
    fill(g, {{0, 0, 0}, {1, 1, 1}}, stone);
    const GroupId id = level.add_group(std::move(g), {.pose = {{0, 10, 0}, {}}});
    for (int i = 0; i < 10; i++) level.tick();
    const double fallen = 10 - level.group(id)->pose.position.y;
    EXPECT_NEAR(fallen, 0.5 * 9.81 * 0.5 * 0.5,
                0.08);  // half a second of free fall, to the integrator's step
    for (int i = 0; i < 120; i++) level.tick();
    EXPECT_NEAR(level.group(id)->pose.position.y, 0, 0.02);
    EXPECT_TRUE(level.group(id)->asleep);
    EXPECT_EQ(level.stats().awake, 0u);
}

TEST(Level, SplitConservesMomentum) {
    LevelSettings s;
    s.gravity = {0, 0, 0};
    Level level(s);
    const BlockId stone = level.table().add(blockgame_stone());
    Grid g(level.table());
    fill(g, {{0, 0, 0}, {3, 2, 2}}, stone);
    fill(g, {{5, 0, 0}, {7, 0, 4}}, stone);
    g.set({4, 0, 0}, stone);
    const GroupId id = level.add_group(std::move(g), {.pose = {{3, 5, -2}, axis_angle({1, 2, 3}, 0.8f)},
                                                      .velocity = {2, -1, 0.5f},
                                                      .spin = {0.7f, 1.3f, -0.4f}});
    const Momentum whole = momentum_of(level);
    // The block that goes takes its own momentum along: it moves with the rigid body.
    const Body body = level.group(id)->body;
    const DVec3 at = body.to_world({4.5f, 0.5f, 0.5f});
    const DVec3 v = to_double(body.velocity_at(at));
    const Vec3 spin_local = body.direction_to_local(body.spin());
    const DVec3 own = to_double(body.direction_to_world(spin_local * (775.0f / 6)));
    ASSERT_TRUE(level.remove_block(id, {4, 0, 0}));
    // Pieces are made at the start of the tick; the step of a weightless tick changes no momentum.
    level.tick();
    ASSERT_EQ(level.groups().size(), 2u);
    const Momentum after = momentum_of(level);
    EXPECT_NEAR(after.mass, whole.mass - 775, 1e-2);
    for (int k = 0; k < 3; k++) {
        EXPECT_NEAR(after.linear[k], whole.linear[k] - 775 * v[k], 1e-3 * length(whole.linear)) << k;
        EXPECT_NEAR(after.angular[k], whole.angular[k] - 775 * cross(at, v)[k] - own[k],
                    1e-3 * length(whole.angular))
            << k;
    }
}

TEST(Level, APartThatComesOffKeepsItsBlocksAndPlace) {
    Level level(flat());
    const BlockId stone = level.table().add(blockgame_stone());
    Grid g(level.table());
    fill(g, {{0, 0, 0}, {8, 0, 0}}, stone);
    const GroupId id = level.add_group(std::move(g), {.pose = {{0, 0, 0}, {}}, .asleep = true});
    level.remove_block(id, {3, 0, 0});
    level.tick();
    ASSERT_EQ(level.groups().size(), 2u);
    EXPECT_EQ(blocks_of(level, id), 5u);  // the biggest keeps the group
    const GroupId other = level.groups()[0] == id ? level.groups()[1] : level.groups()[0];
    EXPECT_EQ(blocks_of(level, other), 3u);
    EXPECT_NEAR(level.group(other)->pose.position.x, 0, 1e-3);
    EXPECT_EQ(level.stats().destroyed, 1u);
}

TEST(Level, CarveCountsAndTouchesOnlyCentresInside) {
    Level level(flat());
    const BlockId stone = level.table().add(blockgame_stone());
    Grid g(level.table());
    fill(g, {{0, 0, 0}, {9, 9, 9}}, stone);
    const GroupId id = level.add_group(std::move(g), {.asleep = true});
    EXPECT_EQ(level.carve({{0, 0, 0}, {1.4, 9, 1.6}}), 1u * 9 * 2);
    EXPECT_EQ(blocks_of(level, id), 1000u - 18);
    EXPECT_EQ(level.carve_sphere({5.5, 5.5, 5.5}, 1), 7u);
    EXPECT_EQ(level.carve_capsule({8.5, 0.5, 8.5}, {8.5, 9.5, 8.5}, 0.2), 10u);
    EXPECT_EQ(level.carve({{100, 0, 0}, {120, 9, 9}}), 0u);
    level.tick();
    EXPECT_EQ(level.stats().blocks + level.stats().destroyed, 1000u);
}

TEST(Level, AnOverlongArmComesOffAtAFixedTick) {
    for (const int reach : {51, 52}) {
        Level level(flat());
        const BlockId stone = level.table().add(blockgame_stone());
        Grid g(level.table());
        fill(g, {{0, 0, 0}, {0, 3, 0}}, stone);
        fill(g, {{1, 3, 0}, {reach, 3, 0}}, stone);
        const GroupId id = level.add_group(std::move(g), {.bears_load = true, .asleep = true});
        level.check_structure_soon(id);
        level.tick();  // asked
        EXPECT_EQ(level.groups().size(), 1u);
        level.tick();  // applied
        EXPECT_EQ(level.groups().size(), reach == 51 ? 1u : 2u) << reach;
        if (reach == 52) {
            EXPECT_EQ(blocks_of(level, id), 4u);
        }  // the column stands and keeps the group
    }
}

TEST(Level, BlastBreaksTheSameWayAfterAQuarterTurn) {
    std::size_t destroyed[2];
    std::vector<std::size_t> sizes[2];
    for (const int turn : {0, 1}) {
        Level level{LevelSettings{.gravity = {0, 0, 0}}};
        const BlockId stone = level.table().add(blockgame_stone());
        Grid g(level.table());
        fill(g, {{-4, -4, -4}, {4, 4, 4}}, stone);
        fill(g, {{-2, -2, -2}, {2, 2, 2}}, kAir);
        // A quarter turn about y exactly in floats: (0, sqrt(1/2), 0, sqrt(1/2)).
        const float h = std::sqrt(0.5f);
        GroupSettings at{.bears_load = true, .asleep = true};
        // Cells are centred on integers plus a half: turn about the grid's own middle (0.5, 0.5, 0.5).
        if (turn) {
            at.pose.rotation = {0, h, 0, h};
            at.pose.position = {0, 0, 1};
        }
        level.add_group(std::move(g), at);
        destroyed[turn] = turn ? level.blast({0.5, 0.5, -6}, 6) : level.blast({7, 0.5, 0.5}, 6);
        level.tick();
        for (GroupId id : level.groups()) sizes[turn].push_back(blocks_of(level, id));
        std::sort(sizes[turn].begin(), sizes[turn].end());
    }
    EXPECT_GT(destroyed[0], 5u);
    EXPECT_EQ(destroyed[0], destroyed[1]);
    EXPECT_EQ(sizes[0], sizes[1]);
}

TEST(Level, BlastIsStoppedByWhatStandsBetween) {
    Level level(flat());
    const BlockId glass = level.table().add(*find_real_material("glass"));
    Material rock = blockgame_stone();
    rock.name = "bedrock";
    rock.hardness = -1;
    const BlockId bedrock = level.table().add(rock);
    Grid window(level.table());
    window.set({0, 1, 0}, glass);
    const GroupId pane = level.add_group(std::move(window), {.pose = {{3, 0, 0}, {}}, .asleep = true});
    for (int y = 0; y < 12; y++)
        for (int z = -12; z < 12; z++) level.set_terrain({1, y, z}, bedrock);
    level.blast({-0.5, 1.5, 0.5}, 4);
    EXPECT_TRUE(level.exists(pane));
    EXPECT_EQ(level.terrain().block_count(), 12u * 24);
    level.blast({2.5, 1.5, 0.5}, 4);
    EXPECT_FALSE(level.exists(pane));
}

TEST(Level, TwoBlastsThatEachFellJustShortBreakABlockTogether) {
    // Stone needs (6 + 0.3) * 0.3 = 1.89 of energy. A blast 0.3 m away (one step) arrives with power - 0.225.
    LevelSettings s;
    s.gravity = {0, 0, 0};
    Level level(s);
    const BlockId stone = level.table().add(blockgame_stone());
    Grid g(level.table());
    fill(g, {{0, 0, 0}, {1, 0, 0}}, stone);
    const GroupId id = level.add_group(std::move(g), {.bears_load = true, .asleep = true});
    const float power = 1.89f * 0.99f + 0.225f;
    EXPECT_EQ(level.blast({-0.2, 0.5, 0.5}, power), 0u);
    EXPECT_NEAR(level.wear_of(id, {0, 0, 0}), 0.495f, 0.01f);
    level.group(id)->body.set_velocity({0, 0, 0});
    level.group(id)->body.set_spin({0, 0, 0});
    EXPECT_EQ(level.blast({-0.2, 0.5, 0.5}, power), 1u);
    EXPECT_EQ(blocks_of(level, id), 1u);
}

TEST(Level, TheSameTwoGroupsWhateverTookTheJoiningBlock) {  // case 2
    std::vector<std::vector<Cell>> seen;
    for (int way = 0; way < 5; way++) {
        LevelSettings s;
        s.gravity = {0, 0, 0};
        Level level(s);
        const BlockId stone = level.table().add(blockgame_stone());
        const BlockId glass = level.table().add(*find_real_material("glass"));
        Grid g(level.table());
        fill(g, {{0, 0, 0}, {2, 2, 2}}, stone);
        fill(g, {{4, 0, 0}, {5, 2, 2}}, stone);
        g.set({3, 1, 1}, glass);
        const GroupId id = level.add_group(std::move(g), {.bears_load = true, .asleep = true});
        const Cell joint{3, 1, 1};
        if (way == 0) level.remove_block(id, joint, Cause::mined);
        if (way == 1) level.remove_block(id, joint, Cause::fire);
        if (way == 2) level.carve({{3, 1, 1}, {4, 2, 2}});
        if (way == 3) {
            EXPECT_EQ(level.blast({3.5, 1.5, 1.5}, 0.5f), 1u);
        }
        if (way == 4) {
            EXPECT_FALSE(level.wear_down(id, joint, 0.5f));
            EXPECT_TRUE(level.wear_down(id, joint, 0.5f));
            level.remove_block(id, joint, Cause::impact);
        }
        level.tick();
        ASSERT_EQ(level.groups().size(), 2u) << way;
        std::vector<Cell> cells;
        for (GroupId group : level.groups())
            level.group(group)->grid->for_each([&](Cell c, BlockId) { cells.push_back(c); });
        seen.push_back(cells);
        EXPECT_EQ(seen[0], cells) << way;
    }
}

TEST(Level, SmallDebrisCrumblesWhenLongAsleep) {
    LevelSettings s = flat();
    s.debris_ticks = 50;
    Level level(s);
    const BlockId stone = level.table().add(blockgame_stone());
    const BlockId glass = level.table().add(*find_real_material("glass"));
    Grid g(level.table());
    fill(g, {{0, 0, 0}, {9, 0, 0}}, stone);
    g.set({10, 0, 0}, glass);
    fill(g, {{11, 0, 0}, {12, 0, 0}}, stone);
    level.add_group(std::move(g), {.bears_load = true, .asleep = true});
    level.blast({10.5, 0.5, 0.5}, 0.5f);
    level.tick();
    EXPECT_EQ(level.groups().size(), 2u);
    int ticks = 0;
    while (level.groups().size() == 2 && ticks < 400) {
        level.tick();
        ticks++;
    }
    EXPECT_EQ(level.groups().size(), 1u);
    EXPECT_GE(ticks, 50);
    EXPECT_EQ(level.stats().blocks, 10u);
    EXPECT_EQ(level.stats().destroyed, 3u);
}

TEST(Level, WhatFallsOutOfTheWorldIsGone) {
    Level level;
    const BlockId stone = level.table().add(blockgame_stone());
    Grid g(level.table());
    g.set({0, 0, 0}, stone);
    const GroupId id = level.add_group(std::move(g), {.pose = {{0, -50, 0}, {}}});
    for (int i = 0; i < 60; i++) level.tick();
    EXPECT_FALSE(level.exists(id));
    EXPECT_EQ(level.stats().fallen_out, 1u);
    EXPECT_FALSE(level.group(id));
    EXPECT_FALSE(level.remove_block(id, {0, 0, 0}));
}

TEST(Level, TakingTheTerrainAwayWakesWhatSleptOnIt) {
    Level level;
    const BlockId stone = level.table().add(blockgame_stone());
    for (int x = -2; x < 3; x++)
        for (int z = -2; z < 3; z++) level.set_terrain({x, 0, z}, stone);
    Grid g(level.table());
    g.set({0, 0, 0}, stone);
    const GroupId id = level.add_group(std::move(g), {.pose = {{0, 1, 0}, {}}});
    for (int i = 0; i < 60; i++) level.tick();
    ASSERT_TRUE(level.group(id)->asleep);
    level.carve({{-3, 0, -3}, {3, 1, 3}});
    level.tick();
    EXPECT_LT(level.group(id)->body.velocity().y, -0.3f);
}

TEST(Level, AHostsOwnBodiesMayHitGroups) {
    Level level(flat());
    const BlockId stone = level.table().add(blockgame_stone());
    Grid g(level.table());
    fill(g, {{0, 0, 0}, {3, 3, 3}}, stone);
    const GroupId id = level.add_group(std::move(g), {.bears_load = true, .asleep = true});
    int mine = 0;  // the owner pointer is the host's
    BodySettings ball;
    ball.pose.position = {-3, 2, 2};
    ball.velocity = {20, 0, 0};
    ball.density = 5000;
    ball.owner = &mine;
    const Body body = level.space().add_body(BodyShape::unit_cube(), ball);
    for (int i = 0; i < 20; i++) level.tick();
    level.check_structure_soon(id);
    level.tick();
    EXPECT_EQ(body.owner(), &mine);
    EXPECT_LT(body.velocity().x, 10);
    EXPECT_TRUE(level.exists(id));
}

TEST(Level, RayFindsTheNearestOfGroupsTerrainAndGround) {
    Level level(flat());
    const BlockId stone = level.table().add(blockgame_stone());
    level.set_terrain({5, 0, 0}, stone);
    Grid g(level.table());
    g.set({0, 0, 0}, stone);
    const float h = std::sqrt(0.5f);
    const GroupId id = level.add_group(std::move(g), {.pose = {{3, 0, 1}, {0, h, 0, h}}, .asleep = true});
    auto hit = level.cast_ray({0, 0.5, 0.5}, {1, 0, 0}, 100);
    ASSERT_TRUE(hit && hit->group);
    EXPECT_EQ(*hit->group, id);
    EXPECT_NEAR(hit->distance, 3, 1e-5);
    level.remove_group(id);
    hit = level.cast_ray({0, 0.5, 0.5}, {1, 0, 0}, 100);
    ASSERT_TRUE(hit);
    EXPECT_FALSE(hit->group);
    EXPECT_EQ(hit->cell, (Cell{5, 0, 0}));
    hit = level.cast_ray({0, 3, 0}, {0, -1, 0}, 100);
    ASSERT_TRUE(hit);
    EXPECT_TRUE(hit->ground);
    EXPECT_NEAR(hit->distance, 3, 1e-6);
}

TEST(Level, AGroupKeepsWithinTheLimitsOfAGrid) {
    Level level;
    const BlockId stone = level.table().add(blockgame_stone());
    Grid wide(level.table());
    for (const Cell c : {Cell{0, 0, 0}, {2000, 2000, 2000}}) wide.set(c, stone);
    EXPECT_EQ(level.add_group(std::move(wide), {}), GroupId{});
    Grid far(level.table());
    far.set({kMaxGroupCell, 0, 0}, stone);
    EXPECT_EQ(level.add_group(std::move(far), {}), GroupId{});
    Grid one(level.table());
    one.set({0, 0, 0}, stone);
    const GroupId id = level.add_group(std::move(one), {});
    EXPECT_FALSE(level.place_block(id, {kMaxGroupCell, 0, 0}, stone));
    EXPECT_FALSE(level.place_block(id, {2000, 2000, 2000}, stone));
    EXPECT_FALSE(level.place_block(id, {INT32_MIN, INT32_MAX, 0}, stone));
    EXPECT_TRUE(level.place_block(id, {0, 0, 3}, stone));
    level.tick();
    EXPECT_EQ(level.stats().blocks, 2u);
}

}  // namespace
}  // namespace talus
