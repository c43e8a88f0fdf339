// Every hook of a host's own kind of groups.
#include "blocks_level.h"
#include "talus/snapshot.h"
#include "tests/log_lines.h"
#include "world/level_state.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace talus {
namespace {

struct OwnType : GroupType {
    std::map<std::string, int> calls;
    float strength = 0;  ///< 0: the usual
    bool bears = true, own_dust = true, settles = true, no_drops = true;
    bool slippery = false;
    float wear = -1;  ///< -1: the usual
    std::vector<std::string> order;
    std::vector<std::size_t> pieces;

    std::string_view name() const override { return "own"; }
    bool bears_load(const GroupView&) const override { return bears; }
    float bond_strength(const GroupView& view, Cell cell, float usual) const override {
        EXPECT_TRUE(view.grid->is_solid(cell));
        EXPECT_EQ(usual, 1);
        return strength;
    }
    void new_piece(const GroupView& from, const Grid& blocks, PieceSettings& piece) override {
        EXPECT_EQ(piece.group.type, "own");
        EXPECT_TRUE(from.type == this);
        pieces.push_back(blocks.block_count());
        piece.slippery = slippery;
        piece.is_debris = true;
        piece.group.spin = {0, 1, 0};
    }
    bool on_bonds_broken(Level& level, const GroupView& view, std::span<const Bond> bonds) override {
        calls["bonds"] += int(bonds.size());
        LevelEvent dust{.kind = LevelEvent::Kind::custom, .group = view.id, .cell = bonds[0].first};
        level.emit(dust);
        return own_dust;
    }
    float blast_wear(const GroupView&, Cell, float share, float usual) const override {
        EXPECT_NEAR(usual, 0.5f * share, 1e-6f);
        return wear < 0 ? usual : wear;
    }
    void on_pose(Level& level, GroupId group, const Pose& pose) override {
        EXPECT_EQ(level.group(group)->pose.position, pose.position);
        calls["pose"]++;
        order.emplace_back("pose");
    }
    void on_awake(Level&, GroupId) override {
        calls["awake"]++;
        order.emplace_back("awake");
    }
    void on_settle(Level&, GroupId) override {
        calls["settle"]++;
        order.emplace_back("settle");
    }
    void on_end_tick(Level&, GroupId) override {
        calls["end"]++;
        order.emplace_back("end");
    }
    bool may_settle(Level&, GroupId) override { return settles; }
    bool no_solids_left(Level&, GroupId) override {
        calls["no solids"]++;
        return no_drops;
    }
};

struct Types : testing::Test {
    BlocksLevel b;
    OwnType own;
    Types() { b.level.add_group_type(own); }
    GroupId crane(int reach, double z = 0) {
        return b.level.add_group(b.crane(reach), {.pose = {{0, 0, z}, {}}, .asleep = true, .type = "own"});
    }
};

TEST_F(Types, TickHooksComeInOrderAndAwakeOnlyWhileAwake) {
    const GroupId id = crane(3);
    EXPECT_EQ(b.level.group(id)->type, &own);
    b.run(1);
    EXPECT_EQ(own.order, (std::vector<std::string>{"pose", "settle", "end"}));
    own.order.clear();
    b.level.group(id)->body.activate();
    b.run(1);
    EXPECT_EQ(own.order, (std::vector<std::string>{"pose", "awake", "settle", "end"}));
    b.run(8);
    EXPECT_EQ(own.calls["pose"], 10);
    EXPECT_EQ(own.calls["end"], 10);
}

TEST_F(Types, ItsStrengthAndWhetherItBearsDecideACollapse) {
    // An arm of 26 stands by the usual strength of 1, not by a half.
    const GroupId id = crane(28);
    b.level.check_structure_soon(id);
    b.run(3);
    EXPECT_EQ(b.level.groups().size(), 1u);
    own.strength = 0.5f;
    own.bears = false;
    b.level.remove_block(id, {28, 3, 0}, Cause::mined);
    b.run(3);
    EXPECT_EQ(b.level.groups().size(), 1u) << "bears no load: nobody asks";
    own.bears = true;
    b.level.remove_block(id, {27, 3, 0}, Cause::mined);
    b.run(2);
    EXPECT_EQ(b.sizes(), (std::vector<std::size_t>{4, 26}));
    EXPECT_EQ(own.pieces, (std::vector<std::size_t>{26}));
    EXPECT_GT(own.calls["bonds"], 0);
}

TEST_F(Types, APieceIsWhatItsTypeMakesOfIt) {
    const GroupId id = crane(52);
    b.level.check_structure_soon(id);
    b.run(2);
    ASSERT_EQ(b.level.groups().size(), 2u);
    for (GroupId g : b.level.groups()) {
        if (g == id) continue;
        const auto view = *b.level.group(g);
        EXPECT_EQ(view.type, &own);
        EXPECT_TRUE(view.is_debris) << "52 blocks, but it says so";
        EXPECT_NEAR(view.body.friction(), 0.6f, 1e-6f) << "not slippery";
        EXPECT_GT(view.body.spin().y, 0.5f);
    }
}

TEST_F(Types, OwnDustTakesThePlaceOfTheUsual) {
    for (const bool mine : {true, false}) {
        own.own_dust = mine;
        const GroupId id = crane(52, mine ? 0 : 20);
        b.level.check_structure_soon(id);
        b.level.clear_events();
        b.run(2);
        EXPECT_EQ(b.events(LevelEvent::Kind::custom).size(), 1u);
        EXPECT_EQ(b.events(LevelEvent::Kind::bonds_broken).size(), 1u);
        EXPECT_EQ(b.events(LevelEvent::Kind::dust).empty(), mine);
        EXPECT_EQ(b.events(LevelEvent::Kind::sound).empty(), mine);
    }
}

TEST_F(Types, ItsWearByBlasts) {
    LevelSettings s = b.level.settings();
    s.gravity = {};
    b.level.change_settings(s);
    const float power = 1.89f * 0.6f + 0.45f;
    for (const float wear : {-1.0f, 0.0f, 0.25f, 1.0f}) {
        own.wear = wear;
        Grid g = b.grid();
        b.fill(g, {{0, 0, 0}, {1, 0, 0}}, b.stone);
        const GroupId id =
            b.level.add_group(std::move(g), {.pose = {{0, 30, 0}, {}}, .asleep = true, .type = "own"});
        EXPECT_EQ(b.level.blast({-0.55, 30.5, 0.5}, power), wear == 1 ? 1u : 0u);
        if (wear < 1) {
            EXPECT_NEAR(b.level.wear_of(id, {0, 0, 0}), wear < 0 ? 0.3f : wear, 0.01f);
        }
        b.level.remove_group(id);
    }
}

TEST_F(Types, ItMayRefuseToSettleAndDealWithTheLastSolid) {
    const GroupId id = crane(3);
    own.settles = false;
    EXPECT_EQ(b.level.settle(id).refusal, SettleRefusal::refused);
    own.settles = true;
    EXPECT_EQ(b.level.settle(id).placed, 7u);
    for (const bool dealt : {true, false}) {
        own.no_drops = dealt;
        own.calls.clear();
        Grid g = b.grid();
        g.set({0, 0, 0}, b.stone);
        g.set({0, 1, 0}, b.torch);
        const GroupId lamp = b.level.add_group(std::move(g), {.pose = {{0, 0, 9}, {}}, .type = "own"});
        b.level.clear_events();
        b.level.remove_block(lamp, {0, 0, 0}, Cause::fire);
        b.run(1);
        EXPECT_FALSE(b.level.exists(lamp));
        EXPECT_EQ(own.calls["no solids"], 1);
        EXPECT_EQ(b.events(LevelEvent::Kind::drop).size(), dealt ? 0u : 1u);
    }
}

TEST_F(Types, AStructureHasATypeTooAndWhatFallsOffItHasIt) {
    for (int x = 0; x <= 26; x++) b.level.set_terrain({x, 3, 0}, b.stone);
    b.fill({{0, 0, 0}, {0, 2, 0}}, b.stone);
    own.strength = 0.5f;
    own.own_dust = false;
    b.level.check_structure_soon(b.level.mark_structure(CellBox{{0, 0, 0}, {26, 3, 0}}, {.type = "own"}));
    b.run(2);
    ASSERT_EQ(b.level.groups().size(), 1u);
    EXPECT_EQ(b.level.group(b.level.groups()[0])->type, &own);
    EXPECT_EQ(own.pieces, (std::vector<std::size_t>{26}));
}

TEST_F(Types, WhatIsLiftedOutOfAStructureIsOfItsTypeAndMode) {
    b.fill({{0, 0, 0}, {0, 3, 0}}, b.stone);
    b.level.mark_structure(CellBox{{0, 0, 0}, {0, 3, 0}}, {.mode = StructureMode::physical, .type = "own"});
    for (const bool one : {true, false}) {
        const GroupId id =
            one ? b.level.physicify({0, 3, 0}) : b.level.assemble({0, 0, 0}, {{-9, 0, -9}, {9, 2, 9}}, 9);
        ASSERT_TRUE(b.level.exists(id));
        EXPECT_EQ(b.level.group(id)->type, &own);
        EXPECT_EQ(b.level.state().find(id)->mode, StructureMode::physical);
    }
    b.level.set_terrain({20, 0, 0}, b.stone);
    EXPECT_EQ(b.level.group(b.level.physicify({20, 0, 0}))->type, nullptr) << "plain terrain";
}

TEST(UnknownTypes, AreToldOnceKeptByNameAndKnownOnceAdded) {
    LogLines log;
    LevelSettings s = flat_ground();
    s.log = &log;
    BlocksLevel b(s);
    std::vector<GroupId> ids;
    for (int i = 0; i < 3; i++)
        ids.push_back(b.level.add_group(b.crane(3), {.pose = {{0, 0, 9.0 * i}, {}}, .type = "own"}));
    ASSERT_EQ(log.lines.size(), 1u);
    EXPECT_NE(log.lines[0].find("\"own\""), std::string::npos);
    EXPECT_EQ(b.level.group(ids[0])->type, nullptr);
    b.run(3);
    OwnType own;
    GroupType* const types[] = {&own};
    LevelHost host;
    host.types = types;
    auto again = restore_snapshot(take_snapshot(b.level), host);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ((*again)->group(ids[1])->type, &own) << "its name was kept";
    b.level.add_group_type(own);
    EXPECT_EQ(b.level.group(ids[2])->type, &own);
}

// A hook may do anything to the level: remove its group, others, blocks.
struct Wild final : GroupType {
    int what = 0;
    std::string_view name() const override { return "wild"; }
    bool bears_load(const GroupView&) const override { return true; }
    static void remove_all(Level& level) {
        for (GroupId id : level.groups()) level.remove_group(id);
        for (StructureId id : level.structures()) level.unmark_structure(id);
    }
    static void thin_out(Level& level) {
        for (GroupId id : level.groups()) {
            std::vector<Cell> cells;
            level.group(id)->grid->for_each([&](Cell c, BlockId) { cells.push_back(c); });
            for (std::size_t i = 0; i < cells.size(); i += 2) level.remove_block(id, cells[i], Cause::script);
        }
        std::vector<Cell> cells;
        level.terrain().for_each([&](Cell c, BlockId) { cells.push_back(c); });
        for (std::size_t i = 0; i < cells.size(); i += 2) level.set_terrain(cells[i], kAir);
    }
    void act(Level& level) const {
        if (what % 2 == 0) remove_all(level);
        if (what % 2 == 1) thin_out(level);
    }
    bool on_bonds_broken(Level& level, const GroupView&, std::span<const Bond>) override {
        if (what / 2 == 0) act(level);
        return false;
    }
    void on_pose(Level& level, GroupId, const Pose&) override {
        if (what / 2 == 1) act(level);
    }
    void on_awake(Level& level, GroupId) override {
        if (what / 2 == 2) act(level);
    }
    void on_settle(Level& level, GroupId) override {
        if (what / 2 == 3) act(level);
    }
    void on_end_tick(Level& level, GroupId) override {
        if (what / 2 == 4) act(level);
    }
    bool may_settle(Level& level, GroupId) override {
        if (what / 2 == 5) act(level);
        return true;
    }
    bool no_solids_left(Level& level, GroupId) override {
        if (what / 2 == 6) act(level);
        return false;
    }
};

TEST(WildTypes, AHookMayChangeAnything) {
    for (int what = 0; what < 14; what++) {
        SCOPED_TRACE(what);
        BlocksLevel b;
        Wild wild;
        wild.what = what;
        b.level.add_group_type(wild);
        std::vector<GroupId> ids;
        for (int i = 0; i < 4; i++)
            ids.push_back(b.level.add_group(
                b.crane(55), {.pose = {{0, 0, 3.0 * i}, {}}, .asleep = i % 2 == 0, .type = "wild"}));
        for (int i = 0; i < 2; i++) {
            Grid lamp = b.grid();
            lamp.set({0, 0, 0}, b.glass);
            lamp.set({0, 1, 0}, b.torch);
            ids.push_back(
                b.level.add_group(std::move(lamp), {.pose = {{-3, 0, 3.0 * i}, {}}, .type = "wild"}));
        }
        for (int i = 0; i < 3; i++) {
            b.fill({{-9, 1, 5 * i}, {-9, 6, 5 * i}}, b.stone);
            b.level.check_structure_soon(
                b.level.mark_structure(CellBox{{-9, 1, 5 * i}, {-9, 6, 5 * i}}, {.type = "wild"}));
        }
        for (GroupId id : ids) b.level.check_structure_soon(id);
        b.run(3);
        b.level.blast({-2.5, 0.5, 1.5}, 3);  // leaves lamps without a solid
        b.level.carve({{-4, 0, -1}, {-2, 1, 9}});
        for (GroupId id : b.level.groups())
            b.level.settle(id, {.max_tilt = 40, .max_offset = 1, .drop_the_rest = true});
        b.run(30);
        for (GroupId id : b.level.groups()) {
            const Group& group = *b.level.state().find(id);
            EXPECT_GT(group.grid.solid_count(), 0u);
        }
        for (StructureId id : b.level.structures())
            b.level.structure(id)->grid->for_each(
                [&](Cell c, BlockId block) { EXPECT_EQ(b.level.terrain().get(c), block); });
    }
}

}  // namespace
}  // namespace talus
