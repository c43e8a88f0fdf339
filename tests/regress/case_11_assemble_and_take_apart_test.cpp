// Case 11: a box with torches and signs on it is assembled and taken apart in every orientation: of blocks
// and drops none is lost and none doubled.
#include "tests/world/blocks_level.h"

#include "talus/turn.h"

#include <cmath>
#include <map>
#include <string>

namespace talus {
namespace {

/// Name without its state: what is counted.
std::string kind(const Level& level, BlockId id) {
    const std::string& name = level.table()[id].name;
    return name.substr(0, name.find('['));
}
using Count = std::map<std::string, int>;
Count counted(const Level& level, const Grid& grid) {
    Count out;
    grid.for_each([&](Cell, BlockId id) { out[kind(level, id)]++; });
    return out;
}
Count plus(Count a, const Count& b) {
    for (const auto& [name, n] : b) a[name] += n;
    return a;
}

struct Box11 : BlocksLevel {
    BlockId planks;
    Box11() : BlocksLevel(no_gravity()) { planks = level.table().add(*find_real_material("planks")); }
    BlockId light(const std::string& name) {
        Material m = blockgame_stone();
        m.solid = false;
        m.density = 0;
        return level.table().add(BlockType{name, m, BlockShape()});
    }
    /// A hollow box of 5 x 4 x 6 with something on every side, at y = 40.
    static constexpr CellBox kWhere{{-20, 20, -20}, {30, 70, 30}};
    void build() {
        fill({{0, 40, 0}, {4, 43, 5}}, planks);
        fill({{1, 41, 1}, {3, 42, 4}}, kAir);
        level.set_terrain({2, 41, 0}, kAir);  // a door, so that the sides differ
        level.set_terrain({5, 41, 2}, light("wall_torch[facing=east]"));
        level.set_terrain({-1, 42, 3}, light("wall_torch[facing=west]"));
        level.set_terrain({2, 42, -1}, light("wall_sign[facing=north]"));
        level.set_terrain({3, 41, 6}, light("wall_sign[facing=south]"));
        level.set_terrain({1, 44, 1}, light("torch"));
        level.set_terrain({3, 44, 4}, light("sign[rotation=5]"));
        level.set_terrain({2, 42, 2}, light("lantern[hanging=true]"));  // inside, from the ceiling
        level.set_terrain({2, 39, 2}, light("lantern[hanging=true]"));  // below
        level.set_terrain({1, 41, 3}, light("carpet"));                 // inside, on the floor
    }
};

TEST(Regress, Case11ABoxWithTorchesAndSignsInEveryOrientation) {
    const float right = 1.5707963f;
    int turns = 0, upright = 0;
    for (int a = 0; a < 4; a++)
        for (int side = 0; side < 6; side++) {
            SCOPED_TRACE(testing::Message() << a << ' ' << side);
            Box11 b;
            b.build();
            const Count all = counted(b.level, b.level.terrain());
            const std::size_t blocks = b.level.terrain().block_count();
            const GroupId id = b.level.assemble({0, 40, 0}, Box11::kWhere, 1000);
            ASSERT_TRUE(b.level.exists(id));
            EXPECT_TRUE(b.level.terrain().empty());
            EXPECT_EQ(counted(b.level, *b.level.group(id)->grid), all);
            EXPECT_EQ(b.level.stats().drops, 0u);

            const Quat tip = side < 4 ? axis_angle({1, 0, 0}, right * float(side))
                                      : axis_angle({0, 0, 1}, side == 4 ? right : -right);
            const Quat q = normalized(axis_angle({0, 1, 0}, right * float(a)) * tip);
            Body body = b.level.group(id)->body;
            body.set_pose({{100, 60, 100}, q});
            // Into the lattice: a corner of its frame on whole cells.
            body.set_pose({{std::round(body.pose().position.x), 60, std::round(body.pose().position.z)}, q});
            b.run(1);
            ASSERT_EQ(b.level.groups().size(), 1u);
            b.level.clear_events();
            const SettleReport strict = b.level.settle(id);
            SettleReport report = strict;
            if (strict.refusal != SettleRefusal::none) {
                EXPECT_EQ(strict.refusal, SettleRefusal::cannot_turn);
                EXPECT_NE(side, 0) << "upright, everything can be turned";
                EXPECT_EQ(counted(b.level, *b.level.group(id)->grid), all) << "untouched";
                report = b.level.settle(id, {.drop_the_rest = true});
            } else {
                upright++;
            }
            turns++;
            EXPECT_EQ(report.refusal, SettleRefusal::none);
            EXPECT_FALSE(b.level.exists(id));
            EXPECT_EQ(report.placed + report.dropped, blocks);
            EXPECT_EQ(report.left, 0u);
            Count drops;
            for (const LevelEvent& e : b.events(LevelEvent::Kind::drop)) drops[kind(b.level, e.block)]++;
            EXPECT_EQ(plus(counted(b.level, b.level.terrain()), drops), all);
            EXPECT_EQ(b.level.terrain().block_count(), report.placed);
            EXPECT_EQ(b.level.stats().drops, report.dropped);
            b.run(2);
            EXPECT_TRUE(b.level.groups().empty());

            // Once more from there: what hangs goes with the box it hangs on.
            Cell first{};
            b.level.terrain().for_each([&](Cell c, BlockId block) {
                if (block == b.planks) first = c;
            });
            const Count now = counted(b.level, b.level.terrain());
            const GroupId again = b.level.assemble(first, {{-200, 0, -200}, {300, 200, 300}}, 1000);
            ASSERT_TRUE(b.level.exists(again));
            EXPECT_EQ(counted(b.level, *b.level.group(again)->grid), now);
            EXPECT_TRUE(b.level.terrain().empty());
            EXPECT_EQ(b.level.settle(again).placed, report.placed);
            EXPECT_EQ(counted(b.level, b.level.terrain()), now);
        }
    EXPECT_EQ(turns, 24);
    EXPECT_EQ(upright, 4);
}

TEST(Regress, Case11AFourthTurnBringsEveryStateBack) {
    Box11 b;
    b.build();
    std::map<Cell, std::string> before, after;
    b.level.terrain().for_each([&](Cell c, BlockId id) { before[c] = b.level.table()[id].name; });
    for (int i = 0; i < 4; i++) {
        Cell first{};
        b.level.terrain().for_each([&](Cell c, BlockId block) {
            if (block == b.planks) first = c;
        });
        const GroupId id = b.level.assemble(first, Box11::kWhere, 1000);
        ASSERT_TRUE(b.level.exists(id));
        // A quarter turn about the middle of cell (2, *, 2).
        Body body = b.level.group(id)->body;
        const Pose pose = body.pose();
        const Quat turn = axis_angle({0, 1, 0}, 1.5707963f);
        const DVec3 about{2.5, 0, 2.5};
        body.set_pose(
            {about + to_double(rotate(turn, to_float(pose.position - about))), turn * pose.rotation});
        ASSERT_EQ(b.level.settle(id).refusal, SettleRefusal::none);
    }
    b.level.terrain().for_each([&](Cell c, BlockId id) { after[c] = b.level.table()[id].name; });
    EXPECT_EQ(before, after);
}

TEST(Regress, Case11WhatHangsOnSomethingElseStays) {
    Box11 b;
    b.fill({{0, 0, 0}, {0, 2, 0}}, b.planks);
    b.fill({{2, 0, 0}, {2, 2, 0}}, b.stone);                             // another wall, a cell away
    b.level.set_terrain({1, 1, 0}, b.light("wall_torch[facing=west]"));  // fixed to the stone
    b.level.set_terrain({1, 2, 0}, b.light("wall_torch[facing=east]"));  // fixed to the planks
    const GroupId id = b.level.assemble({0, 0, 0}, {{-5, -5, -5}, {9, 9, 9}}, 100);
    EXPECT_EQ(b.blocks(id), 4u);
    EXPECT_TRUE(b.level.terrain().has({1, 1, 0}));
    EXPECT_FALSE(b.level.terrain().has({1, 2, 0}));
}

TEST(Regress, Case11SomethingInTheWayDropsWhatIsThereAndNothingElse) {
    for (const bool drop : {false, true}) {
        Box11 b;
        b.build();
        const Count all = counted(b.level, b.level.terrain());
        const GroupId id = b.level.assemble({0, 40, 0}, Box11::kWhere, 1000);
        b.fill({{0, 40, 0}, {1, 40, 5}}, b.stone);  // where part of its floor was
        b.level.clear_events();
        const SettleReport report = b.level.settle(id, {.drop_the_rest = drop});
        if (!drop) {
            EXPECT_EQ(report.refusal, SettleRefusal::taken);
            EXPECT_EQ(counted(b.level, *b.level.group(id)->grid), all);
            continue;
        }
        EXPECT_EQ(report.dropped, 12u);
        Count expected = all;
        expected["planks"] -= 12;
        expected[kind(b.level, b.stone)] += 12;
        EXPECT_EQ(counted(b.level, b.level.terrain()), expected);
        EXPECT_EQ(b.events(LevelEvent::Kind::drop).size(), 12u);
    }
}

}  // namespace
}  // namespace talus
