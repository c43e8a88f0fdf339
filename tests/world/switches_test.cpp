// The switches of destruction: off, caps, limits, protected regions, a budget.
#include "blocks_level.h"
#include "talus/snapshot.h"
#include "world/level_state.h"
#include "world/structure_check.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace talus {
namespace {

TEST(Switches, WithCollapseOffNothingFallsAndWhatWasWantedIsLookedAtWhenItIsOnAgain) {
    LevelSettings s = flat_ground();
    s.collapse = false;
    BlocksLevel b(s);
    b.fill({{0, 0, 20}, {0, 9, 20}}, b.stone);
    b.level.mark_structure(CellBox{{0, 0, 20}, {0, 9, 20}});
    const GroupId id = b.level.add_group(b.crane(52), {.bears_load = true, .asleep = true});
    b.level.set_terrain({0, 0, 20}, kAir);
    b.level.check_structure_soon(id);
    b.run(20);
    EXPECT_EQ(b.sizes(), (std::vector<std::size_t>{56}));
    EXPECT_EQ(b.level.terrain().block_count(), 9u);
    s.collapse = true;
    b.level.change_settings(s);
    b.run(2);
    EXPECT_EQ(b.sizes(), (std::vector<std::size_t>{4, 9, 52}));
    EXPECT_TRUE(b.level.terrain().empty());
    EXPECT_EQ(b.level.stats().destroyed, 1u) << "the one taken away by script";
}

TEST(Switches, AnAnswerOnItsWayWaitsWhileCollapseIsOff) {
    BlocksLevel b;
    LevelSettings s = b.level.settings();
    const GroupId id = b.level.add_group(b.crane(52), {.bears_load = true, .asleep = true});
    b.fill({{0, 1, 20}, {0, 5, 20}}, b.stone);
    b.level.check_structure_soon(b.level.mark_structure(CellBox{{0, 0, 20}, {0, 9, 20}}));
    b.level.check_structure_soon(id);
    b.run(1);
    s.collapse = false;
    b.level.change_settings(s);
    b.run(9);
    EXPECT_EQ(b.level.groups().size(), 1u);
    s.collapse = true;
    b.level.change_settings(s);
    b.run(3);
    EXPECT_EQ(b.sizes(), (std::vector<std::size_t>{4, 5, 52}));
}

TEST(Switches, GravityAndGroundChangeWhileItRuns) {
    BlocksLevel b;
    Grid g = b.grid();
    g.set({0, 0, 0}, b.stone);
    const GroupId id = b.level.add_group(std::move(g), {});
    b.run(40);
    ASSERT_TRUE(b.level.group(id)->asleep);
    LevelSettings s = b.level.settings();
    s.gravity = {0, 2, 0};
    s.cell_size = 0.5f;  // stays what it is
    s.seed = 99;
    b.level.change_settings(s);
    EXPECT_EQ(b.level.settings().cell_size, 1);
    EXPECT_EQ(b.level.settings().seed, 1u);
    b.run(10);
    EXPECT_NEAR(b.level.group(id)->body.velocity().y, 1, 0.05f);
    s.gravity = {0, -9.81f, 0};
    s.ground = -20;
    b.level.change_settings(s);
    b.run(30);
    EXPECT_LT(b.level.group(id)->pose.position.y, -1);
}

TEST(Switches, NumbersThatMakeNoSenseChangeNothingAndASnapshotGoesOnToWork) {
    static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    static constexpr double kInfinite = std::numeric_limits<double>::infinity();
    BlocksLevel b;
    const LevelSettings good = b.level.settings();
    const auto refused = [&](auto&& spoil) {
        LevelSettings s = good;
        s.impact_speed = 3;
        spoil(s);
        b.level.change_settings(s);
        return b.level.settings().impact_speed == good.impact_speed;
    };
    EXPECT_TRUE(refused([](LevelSettings& s) { s.gravity.y = kNan; }));
    EXPECT_TRUE(refused([](LevelSettings& s) { s.ticks_per_second = 0; }));
    EXPECT_TRUE(refused([](LevelSettings& s) { s.work_per_tick = -1; }));
    EXPECT_TRUE(refused([](LevelSettings& s) { s.ground = kInfinite; }));
    EXPECT_TRUE(refused([](LevelSettings& s) { s.structure.tolerance = -kInfinite; }));
    EXPECT_FALSE(refused([](LevelSettings&) {}));
    EXPECT_EQ(b.level.protect({{0, double(kNan), 0}, {1, 1, 1}}), 0u);
    EXPECT_EQ(b.level.protect({{0, 2, 0}, {1, 1, 1}}), 0u);
    const std::uint32_t all =
        b.level.protect({{-kInfinite, -kInfinite, -kInfinite}, {kInfinite, 5, kInfinite}});
    EXPECT_NE(all, 0u);
    b.level.set_terrain({0, 2, 0}, b.stone);
    EXPECT_FALSE(b.level.break_terrain({0, 2, 0}, Cause::mined));
    Grid g = b.grid();
    g.set({0, 0, 0}, b.stone);
    const GroupId id = b.level.add_group(std::move(g), {.pose = {{9, 0, 9}, {}}, .asleep = true});
    EXPECT_EQ(b.level.settle(id, {.max_tilt = kNan}).refusal, SettleRefusal::tilted);
    EXPECT_EQ(b.level.settle(id, {.max_offset = kNan}).refusal, SettleRefusal::tilted);
    auto again = restore_snapshot(take_snapshot(b.level));
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_FALSE((*again)->break_terrain({0, 2, 0}, Cause::mined));
    (*again)->unprotect(all);
    EXPECT_TRUE((*again)->break_terrain({0, 2, 0}, Cause::mined));
}

/// Five posts of 2, 3, 4, 5, 6 stones in the air over a sixth that stands.
StructureId five_posts(BlocksLevel& b) {
    for (int i = 0; i < 5; i++) b.fill({{3 * i, 1, 0}, {3 * i, 2 + i, 0}}, b.stone);
    b.level.set_terrain({20, 0, 0}, b.stone);
    return b.level.mark_structure(CellBox{{0, 0, 0}, {20, 9, 0}});
}

TEST(Switches, ACapOnPiecesAndWhatIsBeyondIt) {
    for (const BeyondCap beyond : {BeyondCap::crumble, BeyondCap::stay}) {
        LevelSettings s = flat_ground();
        s.collapse_max_pieces = 2;
        s.beyond_cap = beyond;
        BlocksLevel b(s);
        const StructureId id = five_posts(b);
        b.level.check_structure_soon(id);
        b.run(2);
        EXPECT_EQ(b.sizes(), (std::vector<std::size_t>{5, 6})) << "the largest";
        const bool stays = beyond == BeyondCap::stay;
        EXPECT_EQ(b.level.terrain().block_count(), stays ? 1u + 2 + 3 + 4 : 1u);
        EXPECT_EQ(b.level.stats().destroyed, stays ? 0u : 9u);
        EXPECT_EQ(b.all_blocks(), 21u);
        for (const LevelEvent& e : b.events(LevelEvent::Kind::block_destroyed))
            EXPECT_EQ(e.cause, Cause::collapse);
        EXPECT_EQ(b.events(LevelEvent::Kind::block_destroyed).size(), stays ? 0u : 9u);
        EXPECT_TRUE(b.events(LevelEvent::Kind::drop).empty());
        if (!stays) continue;
        b.level.check_structure_soon(id);  // what stayed is judged again when asked
        b.run(2);
        EXPECT_EQ(b.level.groups().size(), 4u);
    }
}

TEST(Switches, ACapOnBlocks) {
    LevelSettings s = flat_ground();
    s.collapse_max_blocks = 11;
    s.beyond_cap = BeyondCap::stay;
    BlocksLevel b(s);
    b.level.check_structure_soon(five_posts(b));
    b.run(2);
    EXPECT_EQ(b.sizes(), (std::vector<std::size_t>{5, 6}));
    EXPECT_EQ(b.level.terrain().block_count(), 10u);
    s.collapse_max_blocks = 4;  // smaller than the largest that is left: the next that fits
    b.level.change_settings(s);
    b.level.check_structure_soon(b.level.structures()[0]);
    b.run(2);
    EXPECT_EQ(b.sizes(), (std::vector<std::size_t>{4, 5, 6}));
}

/// A post with four arms, each too long; on top of the highest hangs more, by a diagonal.
TEST(Switches, CapsHoldForGroupsToo) {
    for (const BeyondCap beyond : {BeyondCap::crumble, BeyondCap::stay})
        for (const int most : {0, 1, 3}) {
            LevelSettings s = flat_ground();
            s.collapse_max_pieces = most;
            s.beyond_cap = beyond;
            BlocksLevel b(s);
            Grid g = b.grid();
            b.fill(g, {{0, 0, 0}, {0, 12, 0}}, b.stone);
            for (int i = 0; i < 4; i++) b.fill(g, {{1, 3 + 3 * i, 0}, {53 + i, 3 + 3 * i, 0}}, b.stone);
            g.set({54, 4, 1}, b.stone);  // over an edge: held by nothing the solver knows
            const std::size_t all = g.block_count();
            const GroupId id = b.level.add_group(std::move(g), {.bears_load = true, .asleep = true});
            b.level.check_structure_soon(id);
            b.run(3);
            const std::size_t pieces = b.level.groups().size() - 1;
            if (most == 0) {
                EXPECT_GE(pieces, 4u);
            } else {
                EXPECT_EQ(pieces, std::size_t(most));
            }
            EXPECT_EQ(b.all_blocks(), all);
            if (most > 0 && beyond == BeyondCap::stay) {
                EXPECT_GT(b.blocks(id), 13u);
            } else {
                EXPECT_EQ(b.blocks(id), 13u);
            }
            for (GroupId other : b.level.groups()) {
                const Group& group = *b.level.state().find(other);
                EXPECT_TRUE(find_loose_parts(group.grid, group.joins).empty()) << "every group is connected";
            }
        }
}

TEST(Switches, SoManyPiecesOfDebrisAndNoMore) {
    LevelSettings s = flat_ground();
    s.debris_max_groups = 3;
    s.debris_ticks = 0;  // never by age
    BlocksLevel b(s);
    std::vector<GroupId> ids;
    for (int i = 0; i < 8; i++) {
        Grid g = b.grid();
        g.set({0, 0, 0}, b.stone);
        ids.push_back(b.level.add_group(std::move(g), {.pose = {{3.0 * i, i == 7 ? 9.0 : 0, 0}, {}}}));
        if (i > 0) b.level.set_debris(ids.back(), 1000);
    }
    b.level.clear_events();
    b.run(300);
    EXPECT_EQ(b.level.groups().size(), 4u);
    EXPECT_TRUE(b.level.exists(ids[0])) << "is no debris";
    EXPECT_TRUE(b.level.exists(ids[7])) << "fell asleep last";
    EXPECT_EQ(b.events(LevelEvent::Kind::debris_gone).size(), 4u);
    EXPECT_EQ(b.events(LevelEvent::Kind::debris_gone)[0].value, 1);
    EXPECT_TRUE(b.events(LevelEvent::Kind::drop).empty());
    EXPECT_EQ(b.all_blocks(), 8u);
}

TEST(Switches, DebrisLivesAsLongAsItIsSet) {
    LevelSettings s = flat_ground();
    s.debris_ticks = 60;
    BlocksLevel b(s);
    const auto block = [&](double x) {
        Grid g = b.grid();
        b.fill(g, {{0, 0, 0}, {0, 8, 0}}, b.stone);  // too big for debris by itself
        return b.level.add_group(std::move(g), {.pose = {{x, 0, 0}, {}}, .asleep = true});
    };
    const GroupId plain = block(0), set = block(9), off = block(18), awake = block(27);
    b.level.set_debris(set, 30);
    b.level.set_debris(off, 30);
    b.level.set_debris(off, 0);
    b.level.set_debris(awake, 60);
    int ticks = 0;
    for (; b.level.exists(set) && ticks < 200; ticks++) {
        if (ticks % 10 == 5) b.level.group(awake)->body.activate();
        b.run(1);
    }
    EXPECT_EQ(ticks, 31) << "30 ticks asleep, and gone in the next";
    for (int i = 0; i < 100; i++) {
        if (i % 10 == 5) b.level.group(awake)->body.activate();
        b.run(1);
    }
    EXPECT_TRUE(b.level.exists(plain));
    EXPECT_TRUE(b.level.exists(off));
    EXPECT_TRUE(b.level.exists(awake));
}

TEST(Debris, PiecesOfAtMostThreeBlocksBrokenOffByForceCrumbleWhen1200TicksAsleep) {
    BlocksLevel b;
    const auto bar = [&](double z) {
        Grid g = b.grid();
        b.fill(g, {{0, 0, 0}, {18, 0, 0}}, b.stone);
        for (const int x : {10, 14}) g.set({x, 0, 0}, b.glass);
        return b.level.add_group(std::move(g), {.pose = {{0, 0, z}, {}}, .bears_load = true, .asleep = true});
    };
    const GroupId blasted = bar(0), mined = bar(20), carved = bar(40), burnt = bar(60);
    for (const int x : {10, 14}) {
        EXPECT_EQ(b.level.blast({x + 0.5, 0.5, 0.5}, 0.5f), 1u);
        EXPECT_TRUE(b.level.remove_block(mined, {x, 0, 0}, Cause::mined));
        EXPECT_EQ(b.level.carve_sphere({x + 0.5, 0.5, 40.5}, 0.1), 1u);
        EXPECT_TRUE(b.level.remove_block(burnt, {x, 0, 0}, Cause::fire));
    }
    b.run(1);
    ASSERT_EQ(b.level.groups().size(), 12u);
    std::vector<GroupId> debris;
    for (GroupId id : b.level.groups())
        if (b.level.group(id)->is_debris) debris.push_back(id);
    ASSERT_EQ(debris.size(), 1u) << "of the blasted bar, the piece of three";
    EXPECT_EQ(b.blocks(debris[0]), 3u);
    for (int i = 0; i < 200 && !b.level.group(debris[0])->asleep; i++) b.run(1);
    ASSERT_TRUE(b.level.group(debris[0])->asleep);
    b.level.clear_events();
    int ticks = 0;
    for (; b.level.exists(debris[0]) && ticks < 1300; ticks++) b.run(1);
    EXPECT_EQ(ticks, 1201) << "1,200 asleep, and gone in the next";
    EXPECT_EQ(b.level.groups().size(), 11u);
    EXPECT_TRUE(b.level.exists(blasted) && b.level.exists(carved));
    EXPECT_EQ(b.events(LevelEvent::Kind::debris_gone).size(), 1u);
    EXPECT_TRUE(b.events(LevelEvent::Kind::drop).empty());
}

struct Protected : testing::Test {
    BlocksLevel b;
    std::uint32_t number = b.level.protect({{-0.5, -1, -5}, {3, 20, 5}});  // cells 0 to 2 along x
};

TEST_F(Protected, NothingButAScriptBreaksIt) {
    b.fill({{0, 0, 0}, {5, 2, 0}}, b.stone);
    EXPECT_FALSE(b.level.break_terrain({1, 1, 0}, Cause::mined));
    EXPECT_TRUE(b.level.break_terrain({4, 1, 0}, Cause::mined));
    b.level.set_terrain({4, 1, 0}, b.stone);
    EXPECT_EQ(b.level.carve({{0, 0, 0}, {6, 3, 1}}), 9u);
    b.fill({{3, 0, 0}, {5, 2, 0}}, b.stone);
    b.level.blast({2.5, 3.5, 0.5}, 6);
    for (int x = 0; x < 3; x++)
        for (int y = 0; y < 3; y++) EXPECT_TRUE(b.level.terrain().has({x, y, 0}));
    EXPECT_FALSE(b.level.terrain().has({3, 2, 0}));
    EXPECT_TRUE(b.level.break_terrain({1, 1, 0}, Cause::script));
    EXPECT_EQ(b.level.physicify({1, 0, 0}), GroupId{});
    EXPECT_EQ(b.level.assemble({1, 0, 0}, {{0, 0, 0}, {9, 9, 9}}, 100), GroupId{});
    b.level.unprotect(number);
    EXPECT_TRUE(b.level.exists(b.level.physicify({1, 0, 0})));
    EXPECT_TRUE(b.level.break_terrain({0, 1, 0}, Cause::mined));
}

TEST_F(Protected, GroupsAreSafeInIt) {
    Grid g = b.grid();
    b.fill(g, {{0, 0, 0}, {5, 0, 0}}, b.stone);
    const GroupId id = b.level.add_group(std::move(g), {.bears_load = true, .asleep = true});
    EXPECT_FALSE(b.level.remove_block(id, {1, 0, 0}, Cause::mined));
    EXPECT_FALSE(b.level.remove_block(id, {1, 0, 0}, Cause::fire));
    EXPECT_EQ(b.level.carve({{0, 0, 0}, {6, 1, 1}}), 3u);
    b.level.blast({1.5, 1.5, 0.5}, 5);
    EXPECT_EQ(b.blocks(id), 3u);
    EXPECT_TRUE(b.level.remove_block(id, {1, 0, 0}, Cause::script));
}

TEST_F(Protected, HitsWearNothingInIt) {
    LevelSettings s = b.level.settings();
    s.gravity = {};
    s.ground.reset();
    b.level.change_settings(s);
    b.fill({{2, -2, -2}, {2, 2, 2}}, b.stone);
    b.level.mark_structure(CellBox{{2, -2, -2}, {2, 2, 2}});
    Grid g = b.grid();
    b.fill(g, {{0, 0, 0}, {1, 0, 0}}, b.stone);
    const GroupId id = b.level.add_group(
        std::move(g), {.pose = {{5, 0, 0}, {}}, .velocity = {-12, 0, 0}, .bears_load = true});
    b.run(8);
    EXPECT_EQ(b.level.wear_of({2, 0, 0}), 0);
    EXPECT_GT(b.level.wear_of(id, {0, 0, 0}), 0) << "the hitter is outside";
}

TEST_F(Protected, ACollapseLeavesItAndWhatStandsOnIt) {
    b.fill({{0, 1, 0}, {0, 5, 0}}, b.stone);  // in the air, in the region
    b.fill({{6, 1, 0}, {6, 5, 0}}, b.stone);  // in the air, outside
    b.level.check_structure_soon(b.level.mark_structure(CellBox{{0, 0, 0}, {9, 9, 0}}));
    b.run(2);
    EXPECT_EQ(b.sizes(), (std::vector<std::size_t>{5}));
    EXPECT_EQ(b.level.terrain().block_count(), 5u);
    b.level.unprotect(number);  // nobody need ask: what it held up is looked at
    b.run(2);
    EXPECT_EQ(b.sizes(), (std::vector<std::size_t>{5, 5}));
    EXPECT_TRUE(b.level.terrain().empty());
}

TEST_F(Protected, AGroupThatIsHeldInItIsJudgedWhenItIsNot) {
    b.level.unprotect(number);
    const std::uint32_t end = b.level.protect({{50, 0, -2}, {60, 9, 3}});
    const GroupId id = b.level.add_group(b.crane(56), {.bears_load = true, .asleep = true});
    b.level.check_structure_soon(id);
    b.run(3);
    EXPECT_EQ(b.sizes(), (std::vector<std::size_t>{60})) << "held at both ends";
    b.level.unprotect(end);  // nobody need ask
    b.run(3);
    EXPECT_GT(b.level.groups().size(), 1u);
}

TEST_F(Protected, DebrisDoesNotCrumbleInIt) {
    const auto block = [&](double x) {
        Grid g = b.grid();
        g.set({0, 0, 0}, b.stone);
        const GroupId id = b.level.add_group(std::move(g), {.pose = {{x, 0, 0}, {}}, .asleep = true});
        b.level.set_debris(id, 10);
        return id;
    };
    const GroupId inside = block(1), outside = block(7);
    LevelSettings s = b.level.settings();
    s.debris_max_groups = 0;
    b.level.change_settings(s);
    b.run(20);
    EXPECT_TRUE(b.level.exists(inside));
    EXPECT_FALSE(b.level.exists(outside));
    b.level.unprotect(number);
    b.run(2);
    EXPECT_FALSE(b.level.exists(inside));
}

// --- the budget

/// n posts without a foot, each a structure.
void posts_in_the_air(BlocksLevel& b, int n, int height) {
    for (int i = 0; i < n; i++) {
        const CellBox box{{4 * i, 1, 0}, {4 * i, height, 0}};
        b.fill(box, b.stone);
        b.level.check_structure_soon(b.level.mark_structure(box));
    }
}
int checks_under_way(const Level& level) {
    int n = 0;
    for (const auto& slot : level.state().structure_slots) n += slot && slot->check;
    for (const auto& slot : level.state().slots) n += slot && slot->check;
    return n;
}

TEST(Budget, TheRestIsCarriedOverAndNothingIsLost) {
    // Each check copies 10 blocks, each answer sets 10 moving.
    std::map<int, int> ticks;
    for (const int budget : {0, 10, 25, 100}) {
        LevelSettings s = flat_ground();
        s.work_per_tick = budget;
        BlocksLevel b(s);
        posts_in_the_air(b, 12, 10);
        int tick = 0, most = 0;
        for (; tick < 200 && !b.level.structures().empty(); tick++) {
            const std::size_t before = b.level.groups().size();
            const int under_way = checks_under_way(b.level);
            b.run(1);
            const int fell = int(b.level.groups().size() - before);
            const int began = checks_under_way(b.level) - (under_way - fell);
            most = std::max(most, 10 * (fell + began));
        }
        EXPECT_EQ(b.sizes(), std::vector<std::size_t>(12, 10)) << budget;
        EXPECT_TRUE(b.level.terrain().empty());
        ticks[budget] = tick;
        if (budget > 0) {
            EXPECT_LT(most, budget + 10) << "what goes over is the last of its tick";
        } else {
            EXPECT_EQ(most, 120);
        }
    }
    EXPECT_EQ(ticks[0], 2);
    EXPECT_EQ(ticks[10], 24);  // 12 checks and 12 answers, one a tick
    EXPECT_LE(ticks[25], 12);
    EXPECT_LE(ticks[100], 5);
}

TEST(Budget, NobodyTakesAllOfIt) {
    // The first group asks in every tick, and takes the whole budget when it is served.
    LevelSettings s = flat_ground();
    s.work_per_tick = 10;
    BlocksLevel b(s);
    const GroupId busy = b.level.add_group(b.crane(40), {.bears_load = true, .asleep = true});
    const GroupId other =
        b.level.add_group(b.crane(52), {.pose = {{0, 0, 9}, {}}, .bears_load = true, .asleep = true});
    b.fill({{0, 1, 20}, {0, 5, 20}}, b.stone);
    b.level.check_structure_soon(b.level.mark_structure(CellBox{{0, 1, 20}, {0, 5, 20}}));
    b.level.check_structure_soon(other);
    int ticks = 0;
    for (; ticks < 60 && !(b.level.structures().empty() && b.blocks(other) == 4); ticks++) {
        b.level.check_structure_soon(busy);
        b.run(1);
    }
    EXPECT_LT(ticks, 20);
    EXPECT_EQ(b.blocks(busy), 44u);
}

TEST(Budget, GroupsAndStructuresEndAsWithoutIt) {
    std::vector<std::size_t> sizes[2];
    std::size_t terrain[2], destroyed[2];
    for (const int budget : {0, 30}) {
        LevelSettings s = no_gravity();  // no hits: the end is that of the checks alone
        s.work_per_tick = budget;
        BlocksLevel b(s);
        b.fill({{-90, -1, -90}, {90, -1, 90}}, b.bedrock);
        for (int i = 0; i < 5; i++) {
            b.level.check_structure_soon(b.level.add_group(
                b.crane(50 + i), {.pose = {{0, 0, 8.0 * i}, {}}, .bears_load = true, .asleep = true}));
            b.fill({{-4 * i - 4, 2 + i, 0}, {-4 * i - 4, 8, 0}}, b.stone);
            b.level.check_structure_soon(
                b.level.mark_structure(CellBox{{-4 * i - 4, 0, 0}, {-4 * i - 4, 8, 0}}));
        }
        b.run(120);
        sizes[budget > 0] = b.sizes();
        terrain[budget > 0] = b.level.terrain().block_count();
        destroyed[budget > 0] = std::size_t(b.level.stats().destroyed);
    }
    EXPECT_EQ(sizes[0], sizes[1]);
    EXPECT_EQ(terrain[0], terrain[1]);
    EXPECT_EQ(destroyed[0], destroyed[1]);
    EXPECT_EQ(sizes[0].size(), 5u + (1 + 2 + 3) + 5);  // each stone over 51 breaks a bond
}

}  // namespace
}  // namespace talus
