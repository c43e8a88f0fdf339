// Terrain that becomes a group, and back.
#include "blocks_level.h"

#include "talus/turn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace talus {
namespace {

constexpr CellBox kAbove{{-50, 1, -50}, {50, 60, 50}};

TEST(Physicify, OneBlockBecomesAGroupWhereItIs) {
    BlocksLevel b;
    b.fill({{3, 1, -4}, {5, 1, -4}}, b.stone);
    b.level.clear_events();
    const GroupId id = b.level.physicify({4, 1, -4});
    ASSERT_TRUE(b.level.exists(id));
    EXPECT_FALSE(b.level.terrain().has({4, 1, -4}));
    const auto view = *b.level.group(id);
    EXPECT_EQ(view.grid->block_count(), 1u);
    EXPECT_TRUE(view.bears_load);
    EXPECT_FALSE(view.asleep);
    EXPECT_NEAR(length(view.body.center_of_mass() - DVec3{4.5, 1.5, -3.5}), 0, 1e-6);
    EXPECT_EQ(b.events(LevelEvent::Kind::group_added).size(), 1u);
    EXPECT_TRUE(b.events(LevelEvent::Kind::block_destroyed).empty()) << "it moved";
    b.run(20);
    EXPECT_NEAR(b.level.group(id)->body.center_of_mass().y, 0.5, 0.03);
    EXPECT_EQ(b.all_blocks(), 3u);
    for (const Cell c : {Cell{4, 1, -4}, Cell{0, 9, 0}}) EXPECT_EQ(b.level.physicify(c), GroupId{}) << "air";
    b.level.set_terrain({0, 0, 0}, b.bedrock);
    EXPECT_EQ(b.level.physicify({0, 0, 0}), GroupId{}) << "unbreakable";
    b.level.set_terrain({0, 1, 0}, b.torch);
    EXPECT_EQ(b.level.physicify({0, 1, 0}), GroupId{}) << "no solid: it could not move as a body";
    EXPECT_TRUE(b.level.terrain().has({0, 1, 0}));
}

TEST(Physicify, ABlockOfAStructureTakesItsWearAlongAndTheRestIsJudged) {
    BlocksLevel b;
    b.fill({{0, 0, 0}, {0, 5, 0}}, b.stone);
    b.level.mark_structure(CellBox{{0, 0, 0}, {0, 5, 0}});
    b.level.wear_down({0, 2, 0}, 0.4f);
    const GroupId id = b.level.physicify({0, 2, 0});
    const Cell at = b.level.group(id)->grid->bounds().min;
    EXPECT_NEAR(b.level.wear_of(id, at), 0.4f, 1e-6f);
    b.run(2);
    EXPECT_EQ(b.sizes(), (std::vector<std::size_t>{1, 3}));
    EXPECT_EQ(b.level.terrain().block_count(), 2u);
}

TEST(Assemble, TakesTheConnectedBuildWithinItsBoxAndLimit) {
    BlocksLevel b;
    b.fill({{-9, 0, -9}, {9, 0, 9}}, b.stone);  // the ground
    b.fill({{0, 1, 0}, {2, 3, 0}}, b.stone);
    b.level.set_terrain({3, 4, 1}, b.stone);   // by a corner
    b.level.set_terrain({-1, 2, 0}, b.torch);  // hangs on it
    b.level.set_terrain({1, 4, 0}, b.torch);
    b.level.set_terrain({6, 1, 0}, b.stone);  // not joined
    b.level.set_terrain({6, 2, 0}, b.torch);
    const std::size_t before = b.level.terrain().block_count();
    EXPECT_EQ(b.level.assemble({0, 1, 0}, kAbove, 11), GroupId{}) << "12 with what hangs";
    for (const std::size_t too_few : {0u, 1u, 9u})
        EXPECT_EQ(b.level.assemble({0, 1, 0}, kAbove, too_few), GroupId{}) << "10 solids, and what hangs";
    EXPECT_EQ(b.level.assemble({6, 1, 0}, kAbove, 0), GroupId{});
    EXPECT_EQ(b.level.assemble({0, 9, 0}, kAbove, 99), GroupId{}) << "air";
    EXPECT_EQ(b.level.assemble({0, 0, 0}, kAbove, 999), GroupId{}) << "outside of the box";
    EXPECT_EQ(b.level.assemble({-1, 2, 0}, kAbove, 999), GroupId{}) << "begins at a solid";
    EXPECT_EQ(b.level.terrain().block_count(), before) << "nothing was touched";
    const GroupId id = b.level.assemble({0, 1, 0}, kAbove, 12);
    ASSERT_TRUE(b.level.exists(id));
    EXPECT_EQ(b.blocks(id), 12u);
    EXPECT_EQ(b.level.terrain().block_count(), before - 12);
    EXPECT_TRUE(b.level.terrain().has({6, 2, 0}));
    EXPECT_TRUE(b.level.group(id)->bears_load);
    const GroupId plain = b.level.assemble({6, 1, 0}, kAbove, 12, false);
    EXPECT_FALSE(b.level.group(plain)->bears_load);
    EXPECT_EQ(b.blocks(plain), 2u);
    b.run(10);
    EXPECT_EQ(b.level.groups().size(), 2u) << "a build by a corner holds";
    EXPECT_EQ(b.all_blocks(), before);
}

TEST(Assemble, AnUnbreakableBlockStaysAndDoesNotJoin) {
    BlocksLevel b;
    b.fill({{0, 1, 0}, {2, 1, 0}}, b.stone);
    b.level.set_terrain({3, 1, 0}, b.bedrock);
    b.fill({{4, 1, 0}, {6, 1, 0}}, b.stone);
    const GroupId id = b.level.assemble({0, 1, 0}, kAbove, 99);
    EXPECT_EQ(b.blocks(id), 3u);
    EXPECT_EQ(b.level.terrain().block_count(), 4u);
}

TEST(Settle, AGroupAtRestIsTerrainAgain) {
    BlocksLevel b;
    b.fill({{0, 0, 0}, {3, 2, 1}}, b.stone);
    b.level.set_terrain({1, 3, 0}, b.torch);
    b.level.set_terrain({2, 3, 0}, b.glass);
    std::map<Cell, BlockId> before;
    b.level.terrain().for_each([&](Cell c, BlockId id) { before[c] = id; });
    const GroupId id = b.level.assemble({0, 0, 0}, {{-9, 0, -9}, {9, 9, 9}}, 99);
    ASSERT_TRUE(b.level.exists(id));
    EXPECT_TRUE(b.level.terrain().empty());
    b.run(60);
    ASSERT_TRUE(b.level.group(id)->asleep);
    b.level.clear_events();
    const SettleReport report = b.level.settle(id);
    EXPECT_EQ(report.refusal, SettleRefusal::none);
    EXPECT_EQ(report.placed, before.size());
    EXPECT_EQ(report.dropped + report.left, 0u);
    EXPECT_FALSE(b.level.exists(id));
    std::map<Cell, BlockId> after;
    b.level.terrain().for_each([&](Cell c, BlockId block) { after[c] = block; });
    EXPECT_EQ(before, after);
    EXPECT_TRUE(b.events(LevelEvent::Kind::block_destroyed).empty());
    EXPECT_EQ(b.level.stats().destroyed, 0u);
}

TEST(Settle, SaysWhyItDoesNot) {
    BlocksLevel b(no_gravity());
    const auto slab = [&](Pose pose, Vec3 velocity = {}) {
        Grid g = b.grid();
        b.fill(g, {{0, 0, 0}, {2, 0, 2}}, b.stone);
        return b.level.add_group(std::move(g), {.pose = pose, .velocity = velocity});
    };
    EXPECT_EQ(b.level.settle({7, 7}).refusal, SettleRefusal::no_group);
    EXPECT_EQ(b.level.settle(slab({{0, 10, 0}, {}}, {0.3f, 0, 0})).refusal, SettleRefusal::moving);
    const float degree = 3.14159265f / 180;
    EXPECT_EQ(b.level.settle(slab({{0, 20, 0}, axis_angle({0, 0, 1}, 3 * degree)})).refusal,
              SettleRefusal::tilted);
    EXPECT_EQ(b.level.settle(slab({{0.3, 30, 0}, {}})).refusal, SettleRefusal::tilted) << "between two cells";
    EXPECT_EQ(b.level.settle(slab({{0.05, 40, 0}, axis_angle({0, 0, 1}, 1 * degree)})).refusal,
              SettleRefusal::none);
    b.level.set_terrain({1, 50, 1}, b.glass);
    const GroupId in_the_way = slab({{0, 50, 0}, {}});
    EXPECT_EQ(b.level.settle(in_the_way).refusal, SettleRefusal::taken);
    EXPECT_EQ(b.blocks(in_the_way), 9u);
    const SettleReport rest = b.level.settle(in_the_way, {.drop_the_rest = true});
    EXPECT_EQ(rest.refusal, SettleRefusal::none);
    EXPECT_EQ(rest.placed, 8u);
    EXPECT_EQ(rest.dropped, 1u);
    EXPECT_EQ(b.events(LevelEvent::Kind::drop).size(), 1u);
    EXPECT_EQ(b.level.terrain().get({1, 50, 1}), b.glass);
    EXPECT_FALSE(b.level.exists(in_the_way));
}

TEST(Settle, KeepsWearInAStructureAndJoinsIt) {
    BlocksLevel b(no_gravity());
    b.fill({{0, 0, 0}, {0, 3, 0}}, b.stone);
    const StructureId id = b.level.mark_structure(CellBox{{0, 0, 0}, {0, 3, 0}});
    Grid g = b.grid();
    b.fill(g, {{0, 0, 0}, {1, 0, 0}}, b.stone);
    const GroupId group = b.level.add_group(std::move(g), {.pose = {{1, 2, 0}, {}}, .bears_load = true});
    b.level.wear_down(group, {1, 0, 0}, 0.3f);
    EXPECT_EQ(b.level.settle(group).placed, 2u);
    EXPECT_EQ(b.level.structure_at({2, 2, 0}), id);
    EXPECT_NEAR(b.level.wear_of({2, 2, 0}), 0.3f, 1e-6f);
}

TEST(Settle, TurnsBlocksThatHaveAStateAndRefusesThoseThatCannotLieSo) {
    BlocksLevel b(no_gravity());
    Material wood = *find_real_material("planks");
    const Box half{{0, 0, 0}, {1, 1, 0.5f}};
    const BlockId stairs = b.level.table().add({"stairs[facing=north]", wood, BlockShape({&half, 1})});
    const BlockId log = b.level.table().add({"log[axis=x]", wood, BlockShape()});
    const float right = 1.5707963f;
    const auto block = [&](BlockId id, Quat q) {
        Grid g = b.grid();
        g.set({0, 0, 0}, id);
        g.set({0, 1, 0}, b.stone);
        // Turned about its own middle, at cell (0, 20, 0).
        const Vec3 middle{0.5f, 0.5f, 0.5f};
        return b.level.add_group(std::move(g),
                                 {.pose = {DVec3{0.5, 20.5, 0.5} - to_double(rotate(q, middle)), q}});
    };
    EXPECT_EQ(b.level.settle(block(stairs, axis_angle({0, 1, 0}, right))).placed, 2u);
    // A quarter turn about +y takes north (-z) to west (-x).
    EXPECT_EQ(b.level.table()[b.level.terrain().get({0, 20, 0})].name, "stairs[facing=west]");
    const Box& turned_box = b.level.table()[b.level.terrain().get({0, 20, 0})].shape.boxes()[0];
    EXPECT_EQ(turned_box.max.x, 0.5f);
    b.level.carve({{-5, 15, -5}, {5, 25, 5}});
    EXPECT_EQ(b.level.settle(block(stairs, axis_angle({1, 0, 0}, right))).refusal,
              SettleRefusal::cannot_turn);
    EXPECT_EQ(b.level.settle(block(log, axis_angle({0, 0, 1}, right))).placed, 2u);
    EXPECT_EQ(b.level.table()[b.level.terrain().get({0, 20, 0})].name, "log[axis=y]");
}

/// Keeps one cell to itself.
struct Stubborn : TerrainSource {
    std::map<Cell, BlockId> blocks;
    Cell mine{1, 0, 0};
    BlockId block_at(Cell c) const override {
        const auto it = blocks.find(c);
        return it == blocks.end() ? kAir : it->second;
    }
    bool is_loaded(const CellBox& box) const override { return box.max.x < 40; }
    bool set_block(Cell c, BlockId id) override {
        if (c == mine) return false;
        blocks[c] = id;
        return true;
    }
};

TEST(Settle, WhatAHostRefusesStaysAGroup) {
    BlocksLevel b(no_gravity());
    Stubborn host;
    b.level.set_terrain_source(&host);
    Grid g = b.grid();
    b.fill(g, {{0, 0, 0}, {2, 0, 0}}, b.stone);
    const GroupId id = b.level.add_group(std::move(g), {});
    const SettleReport report = b.level.settle(id);
    EXPECT_EQ(report.placed, 2u);
    EXPECT_EQ(report.left, 1u);
    EXPECT_EQ(b.blocks(id), 1u);
    EXPECT_EQ(host.block_at({0, 0, 0}), b.stone);
    EXPECT_EQ(host.block_at({1, 0, 0}), kAir);
    b.run(2);
    EXPECT_EQ(b.level.stats().blocks, 1u);
    // And what is not loaded is taken.
    Grid far = b.grid();
    far.set({0, 0, 0}, b.stone);
    EXPECT_EQ(b.level.settle(b.level.add_group(std::move(far), {.pose = {{50, 0, 0}, {}}})).refusal,
              SettleRefusal::taken);
    // Assembling a build of which the host keeps one block leaves that one.
    host.blocks[{1, 0, 0}] = b.stone;
    const GroupId again = b.level.assemble({0, 0, 0}, {{-5, -5, -5}, {5, 5, 5}}, 10);
    EXPECT_EQ(b.blocks(again), 2u);
    EXPECT_EQ(host.block_at({1, 0, 0}), b.stone);
    b.level.set_terrain_source(nullptr);
}

}  // namespace
}  // namespace talus
