// Terrain that bears load in place.
#include "talus/level.h"

#include <gtest/gtest.h>

#include <map>

namespace talus {
namespace {

struct Structures : testing::Test {
    static LevelSettings flat() {
        LevelSettings s;
        s.ground = 0;
        return s;
    }
    Level level{flat()};
    BlockId stone = level.table().add(blockgame_stone());

    void fill(CellBox box, BlockId id) {
        for (int y = box.min.y; y <= box.max.y; y++)
            for (int z = box.min.z; z <= box.max.z; z++)
                for (int x = box.min.x; x <= box.max.x; x++) level.set_terrain({x, y, z}, id);
    }
    void run(int ticks) {
        for (int i = 0; i < ticks; i++) level.tick();
    }
    /// A post 4 high at the cell, with an arm of `reach` stones along x from its top.
    void crane(Cell at, int reach) {
        fill({at, at + Cell{0, 3, 0}}, stone);
        if (reach > 0) fill({at + Cell{1, 3, 0}, at + Cell{reach, 3, 0}}, stone);
    }
    std::size_t all_blocks() const {
        return level.stats().blocks + level.terrain().block_count() + level.stats().destroyed;
    }
};

TEST_F(Structures, AnOverlongArmFallsAndThePostStays) {
    for (const int reach : {51, 52}) {
        Level one(flat());
        const BlockId id = one.table().add(blockgame_stone());
        for (int y = 0; y < 4; y++) one.set_terrain({0, y, 0}, id);
        for (int x = 1; x <= reach; x++) one.set_terrain({x, 3, 0}, id);
        const StructureId s = one.mark_structure(CellBox{{0, 0, 0}, {99, 9, 0}});
        one.tick();
        EXPECT_EQ(one.groups().size(), 0u) << "a mark alone asks for nothing";
        EXPECT_FALSE(one.structure(s)->waits_for_check);
        one.check_structure_soon(s);
        one.tick();
        EXPECT_EQ(one.groups().size(), 0u) << "asked for, not yet answered";
        one.tick();
        EXPECT_EQ(one.groups().size(), reach == 51 ? 0u : 1u) << reach;
        EXPECT_EQ(one.terrain().block_count(), reach == 51 ? 55u : 4u);
        EXPECT_EQ(one.structure(s)->grid->block_count(), one.terrain().block_count());
        EXPECT_EQ(one.stats().destroyed, 0u);
    }
}

TEST_F(Structures, RemovedBlocksAskWhateverTookThem) {
    using Way = void (*)(Level&, Cell);
    const Way ways[] = {
        [](Level& l, Cell c) { l.set_terrain(c, kAir); },
        [](Level& l, Cell c) {
            l.carve({{double(c.x), double(c.y), double(c.z)}, {c.x + 1.0, c.y + 1.0, c.z + 1.0}});
        },
        [](Level& l, Cell c) {
            l.blast({c.x + 0.5, c.y + 0.5, c.z + 0.5}, 1.9f);
        },
        [](Level& l, Cell c) {
            EXPECT_FALSE(l.wear_down(c, 0.6f));
            EXPECT_NEAR(l.wear_of(c), 0.6f, 1e-6f);
            if (l.wear_down(c, 0.6f)) l.set_terrain(c, kAir);
        },
    };
    for (const Way way : ways) {
        Level one(flat());
        const BlockId id = one.table().add(blockgame_stone());
        for (int y = 0; y < 6; y++) one.set_terrain({5, y, 5}, id);
        one.mark_structure(CellBox{{0, 0, 0}, {9, 9, 9}});
        way(one, {5, 2, 5});
        EXPECT_EQ(one.terrain().block_count(), 5u);
        one.tick();
        one.tick();
        ASSERT_EQ(one.groups().size(), 1u);
        EXPECT_EQ(one.stats().blocks, 3u);
        EXPECT_EQ(one.terrain().block_count(), 2u) << "what stands on the ground stays terrain";
        EXPECT_TRUE(one.group(one.groups()[0])->bears_load);
        EXPECT_FALSE(one.group(one.groups()[0])->asleep);
    }
}

TEST_F(Structures, WhatFallsIsWhereItWasFarFromTheWorldsZero) {
    Level one;
    const BlockId id = one.table().add(blockgame_stone());
    const Cell at{3'000'001, -7, -2'000'003};
    one.set_terrain(at, id);  // not marked: what it stands on
    for (int y = 1; y < 6; y++) one.set_terrain(at + Cell{0, y, 0}, id);
    const StructureId s = one.mark_structure(CellBox{at + Cell{-2, 1, -2}, at + Cell{2, 9, 2}});
    ASSERT_EQ(one.structure(s)->grid->block_count(), 5u);
    one.set_terrain(at + Cell{0, 3, 0}, kAir);
    one.tick();
    ASSERT_EQ(one.groups().size(), 0u);
    one.tick();
    ASSERT_EQ(one.groups().size(), 1u);
    const auto view = *one.group(one.groups()[0]);
    const DVec3 center = view.body.center_of_mass();
    EXPECT_NEAR(center.x, at.x + 0.5, 1e-6);
    EXPECT_NEAR(center.y, at.y + 5, 0.02);
    EXPECT_NEAR(center.z, at.z + 0.5, 1e-6);
    EXPECT_EQ(one.terrain().block_count(), 3u);
}

TEST_F(Structures, TakingAwayWhatItStandsOnBringsItAllDown) {
    fill({{0, 0, 0}, {0, 0, 0}}, stone);
    fill({{0, 1, 0}, {2, 3, 0}}, stone);
    const StructureId s = level.mark_structure(CellBox{{0, 1, 0}, {2, 3, 0}});
    level.check_structure_soon(s);
    run(3);
    ASSERT_EQ(level.groups().size(), 0u);
    level.set_terrain({0, 0, 0}, kAir);
    run(2);
    ASSERT_EQ(level.groups().size(), 1u);
    EXPECT_EQ(level.stats().blocks, 9u);
    EXPECT_TRUE(level.terrain().empty());
    EXPECT_FALSE(level.structure(s)) << "nothing is left of it";
    EXPECT_EQ(level.stats().structures, 0u);
}

TEST_F(Structures, OneStandsOnAnotherAndFallsAfterIt) {
    fill({{0, 0, 0}, {0, 2, 0}}, stone);
    fill({{0, 3, 0}, {0, 5, 0}}, stone);
    level.mark_structure(CellBox{{0, 0, 0}, {0, 2, 0}});
    level.mark_structure(CellBox{{0, 3, 0}, {0, 5, 0}});
    level.set_terrain({0, 0, 0}, kAir);
    run(5);
    EXPECT_TRUE(level.terrain().empty());
    EXPECT_EQ(level.groups().size(), 2u);
    EXPECT_EQ(level.stats().blocks, 5u);
}

TEST_F(Structures, TorchesGoWithTheWallTheyHangOn) {
    Material t = blockgame_stone();
    t.name = "torch";
    t.solid = false;
    t.density = 0;
    const BlockId torch = level.table().add(t);
    fill({{0, 0, 0}, {0, 5, 0}}, stone);
    level.set_terrain({1, 5, 0}, torch);
    level.set_terrain({1, 0, 0}, torch);
    level.mark_structure(CellBox{{0, 0, 0}, {3, 9, 0}});
    level.set_terrain({0, 2, 0}, kAir);
    run(2);
    ASSERT_EQ(level.groups().size(), 1u);
    EXPECT_EQ(level.stats().blocks, 4u);
    EXPECT_EQ(level.terrain().get({1, 0, 0}), torch);
    EXPECT_EQ(level.terrain().get({1, 5, 0}), kAir);
}

TEST_F(Structures, ABlockPutOntoOneBelongsToItAndAMarkTakesOnlyWhatIsFree) {
    crane({0, 0, 0}, 0);
    const StructureId a = level.mark_structure(CellBox{{0, 0, 0}, {9, 9, 9}});
    level.set_terrain({1, 3, 0}, stone);
    EXPECT_EQ(level.structure_at({1, 3, 0}), a);
    level.set_terrain({5, 0, 0}, stone);
    EXPECT_FALSE(level.structure_at({5, 0, 0}));
    const StructureId b = level.mark_structure(CellBox{{0, 0, 0}, {9, 9, 9}});
    ASSERT_TRUE(level.structure(b));
    EXPECT_EQ(level.structure(b)->grid->block_count(), 1u);
    EXPECT_EQ(level.mark_structure(CellBox{{0, 0, 0}, {9, 9, 9}}), StructureId{});
    level.set_terrain({20, 0, 0}, stone);
    EXPECT_EQ(level.add_to_structure(b, {{20, 0, 0}, {20, 5, 0}}), 1u);
    level.unmark_structure(a);
    EXPECT_FALSE(level.structure_at({0, 0, 0}));
    EXPECT_EQ(level.structures(), std::vector<StructureId>{b});
    level.set_terrain({0, 0, 0}, kAir);
    run(3);
    EXPECT_TRUE(level.groups().empty()) << "plain terrain hangs in the air";
}

TEST_F(Structures, AConnectedBuildIsMarkedWithoutTheGround) {
    fill({{-5, 0, -5}, {5, 0, 5}}, stone);  // the ground, of blocks
    crane({0, 1, 0}, 3);
    level.set_terrain({1, 2, 1}, stone);  // by an edge of the post's
    const CellBox above{{-50, 1, -50}, {50, 50, 50}};
    EXPECT_EQ(level.mark_connected({0, 1, 0}, above, 7), StructureId{}) << "over the limit";
    EXPECT_EQ(level.mark_connected({0, 9, 0}, above, 100), StructureId{}) << "air";
    const StructureId s = level.mark_connected({0, 1, 0}, above, 8);
    ASSERT_TRUE(level.structure(s));
    EXPECT_EQ(level.structure(s)->grid->block_count(), 8u);
    EXPECT_FALSE(level.structure_at({0, 0, 0}));
}

TEST_F(Structures, HitsWearThemFourBlocksATickAtMost) {
    level.space().set_ground(std::nullopt);
    LevelSettings s;
    s.gravity = {0, 0, 0};
    Level one(s);
    Material m = blockgame_stone();
    m.density = 1250;
    const BlockId heavy = one.table().add(m);
    for (int y = -3; y < 4; y++)
        for (int z = -3; z < 4; z++) one.set_terrain({10, y, z}, heavy);
    one.set_terrain({10, -4, 0}, heavy);
    const StructureId wall = one.mark_structure(CellBox{{10, -3, -3}, {10, 3, 3}});
    Grid g(one.table());
    g.set({0, 0, 0}, heavy);
    g.set({1, 0, 0}, heavy);
    const GroupId bar =
        one.add_group(std::move(g), {.pose = {{7, 0, 0}, {}}, .velocity = {8, 0, 0}, .bears_load = true});
    for (int i = 0; i < 8; i++) one.tick();
    EXPECT_NEAR(one.wear_of({10, 0, 0}), 1.0f / 6, 0.005f);
    EXPECT_NEAR(one.wear_of(bar, {1, 0, 0}), 1.0f / 6, 0.005f);
    EXPECT_EQ(one.wear_of({10, 1, 0}), 0);
    one.remove_group(bar);
    Grid h(one.table());
    h.set({0, 0, 0}, heavy);
    h.set({1, 0, 0}, heavy);
    one.add_group(std::move(h), {.pose = {{7, 0, 0}, {}}, .velocity = {13.2f, 0, 0}, .bears_load = true});
    for (int i = 0; i < 8; i++) one.tick();
    EXPECT_FALSE(one.terrain().has({10, 0, 0})) << "worn through";
    ASSERT_TRUE(one.structure(wall));
    EXPECT_EQ(one.structure(wall)->grid->block_count(), 48u);
}

TEST_F(Structures, BlastsThatFallShortWearThemAndOnlyThem) {
    level.set_terrain({0, 0, 0}, stone);
    level.set_terrain({0, 0, 5}, stone);
    level.mark_structure(CellBox{{0, 0, 0}, {0, 0, 0}});
    const float power = 1.89f * 0.99f + 0.225f;
    EXPECT_EQ(level.blast({-0.2, 0.5, 0.5}, power), 0u);
    EXPECT_EQ(level.blast({-0.2, 0.5, 5.5}, power), 0u);
    EXPECT_NEAR(level.wear_of({0, 0, 0}), 0.495f, 0.01f);
    EXPECT_EQ(level.wear_of({0, 0, 5}), 0);
    EXPECT_EQ(level.blast({-0.2, 0.5, 0.5}, power), 1u);
    EXPECT_EQ(level.blast({-0.2, 0.5, 5.5}, power), 0u);
}

TEST_F(Structures, TheModeIsEachStructuresOwn) {
    // An arm of 18 breaks by its edge stress in physical mode and holds by the load rule.
    crane({0, 0, 0}, 18);
    crane({0, 0, 10}, 18);
    level.mark_structure(CellBox{{0, 0, 0}, {30, 9, 0}});
    const StructureId physical =
        level.mark_structure(CellBox{{0, 0, 10}, {30, 9, 10}}, MarkSettings{StructureMode::physical, {}});
    for (StructureId s : level.structures()) level.check_structure_soon(s);
    run(2);
    ASSERT_GE(level.groups().size(), 1u);
    EXPECT_TRUE(level.terrain().has({18, 3, 0}));
    EXPECT_FALSE(level.terrain().has({18, 3, 10}));
    EXPECT_EQ(level.structure(physical)->mode, StructureMode::physical);
    EXPECT_EQ(all_blocks(), 44u);
}

TEST_F(Structures, AnAnswerForBlocksThatAreNoMoreIsThrownAway) {
    crane({0, 0, 0}, 60);
    const StructureId s = level.mark_structure(CellBox{{0, 0, 0}, {99, 9, 0}});
    level.check_structure_soon(s);
    run(1);
    level.set_terrain({30, 3, 0}, kAir);  // meanwhile
    run(1);
    EXPECT_TRUE(level.groups().empty());
    EXPECT_TRUE(level.structure(s)->waits_for_check);
    run(1);
    ASSERT_EQ(level.groups().size(), 1u) << "asked for again: the far end falls, 29 hold";
    EXPECT_EQ(level.stats().blocks, 30u);
}

TEST_F(Structures, UnbreakableBlocksStayGround) {
    Material rock = blockgame_stone();
    rock.name = "bedrock";
    rock.hardness = -1;
    const BlockId bedrock = level.table().add(rock);
    fill({{0, 0, 0}, {3, 0, 0}}, bedrock);
    fill({{0, 1, 0}, {0, 3, 0}}, stone);
    const StructureId s = level.mark_structure(CellBox{{0, 0, 0}, {9, 9, 0}});
    EXPECT_EQ(level.structure(s)->grid->block_count(), 3u);
    level.check_structure_soon(s);
    run(2);
    EXPECT_TRUE(level.groups().empty());
}

/// A host's world: a map of cells.
struct HostTerrain : TerrainSource {
    std::map<Cell, BlockId> blocks;
    bool refuses = false;
    BlockId block_at(Cell c) const override {
        const auto it = blocks.find(c);
        return it == blocks.end() ? kAir : it->second;
    }
    bool is_loaded(const CellBox& box) const override { return box.min.y >= 0; }
    bool set_block(Cell c, BlockId id) override {
        if (!refuses) blocks[c] = id;
        return !refuses;
    }
};

TEST(HostStructures, AreJudgedWhereNoBodyIsNearAndFollowTheHostsChanges) {
    Level level;
    const BlockId stone = level.table().add(blockgame_stone());
    for (const bool told : {true, false}) {
        HostTerrain host;
        for (int y = 0; y < 6; y++) host.blocks[{4, y, 4}] = stone;
        level.set_terrain_source(&host);
        const StructureId s = level.mark_structure(CellBox{{0, 0, 0}, {9, 9, 9}});
        ASSERT_TRUE(level.structure(s));
        level.check_structure_soon(s);
        for (int i = 0; i < 3; i++) level.tick();
        EXPECT_EQ(level.groups().size(), 0u) << "what is not loaded holds";
        host.blocks[{4, 1, 4}] = kAir;  // the host's own doing
        if (told) level.terrain_changed({{4, 1, 4}, {4, 1, 4}});
        for (int i = 0; i < 4; i++) level.tick();
        ASSERT_EQ(level.groups().size(), 1u) << told;
        EXPECT_EQ(level.stats().blocks, 4u);
        EXPECT_EQ(host.block_at({4, 5, 4}), kAir);
        EXPECT_EQ(host.block_at({4, 0, 4}), stone);
        level.remove_group(level.groups()[0]);
        level.unmark_structure(s);
        level.set_terrain_source(nullptr);
    }
}

TEST(HostStructures, AHostThatRefusesKeepsItsBlocksAndNoneIsDoubled) {
    Level level;
    const BlockId stone = level.table().add(blockgame_stone());
    HostTerrain host;
    for (int y = 2; y < 6; y++) host.blocks[{4, y, 4}] = stone;
    level.set_terrain_source(&host);
    const StructureId s = level.mark_structure(CellBox{{0, 0, 0}, {9, 9, 9}});
    host.refuses = true;
    level.check_structure_soon(s);
    for (int i = 0; i < 3; i++) level.tick();
    EXPECT_EQ(level.groups().size(), 0u);
    EXPECT_EQ(host.block_at({4, 4, 4}), stone);
    level.set_terrain_source(nullptr);
}

}  // namespace
}  // namespace talus
