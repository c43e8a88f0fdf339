// When a structural check runs, when its answer is applied, and what becomes of what falls.
#include "blocks_level.h"
#include "world/level_state.h"
#include "world/structure_check.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

bool under_check(Level& level, GroupId id) { return level.state().find(id)->check != nullptr; }

/// Its jobs run when they are waited for and not before.
struct LateJobs final : JobSystem {
    struct Job {
        Task task;
        void* context;
    };
    std::vector<Job> jobs;
    int worker_count() const override { return 1; }
    void parallel_for(std::size_t count, Task task, void* context) override {
        for (std::size_t i = 0; i < count; i++) task(context, i);
    }
    std::uint64_t start(Task task, void* context) override {
        jobs.push_back({task, context});
        return jobs.size() - 1;
    }
    void wait(std::uint64_t handle) override { jobs[handle].task(jobs[handle].context, 0); }
};

/// A gate of two posts and a beam: one post alone is not enough for it and what is left of the other.
Grid gate(BlocksLevel& b) {
    Grid g = b.grid();
    b.fill(g, {{0, 0, 0}, {0, 3, 0}}, b.stone);
    b.fill(g, {{50, 0, 0}, {50, 3, 0}}, b.stone);
    b.fill(g, {{1, 3, 0}, {49, 3, 0}}, b.stone);
    return g;
}

/// What is a quarter block below a block's foot holds it; without any support nothing is judged.
TEST(LifeCycle, ASupportIsAQuarterBlockBelow) {
    for (const double gap : {0.0, 0.2, 0.24, 0.26, 0.4}) {
        BlocksLevel b(no_gravity());
        b.fill({{-1, -1, -1}, {1, -1, 1}}, b.stone);
        const GroupId id =
            b.level.add_group(b.crane(52), {.pose = {{0, gap, 0}, {}}, .bears_load = true, .asleep = true});
        b.level.check_structure_soon(id);
        b.run(3);
        EXPECT_EQ(b.level.groups().size(), gap < 0.25 ? 2u : 1u) << gap;
    }
}

/// A check takes one tick, and one more for each 200,000 solids.
TEST(LifeCycle, ALargeGroupsAnswerComesATickLater) {
    for (const int edge : {40, 60}) {  // 64,000 and 216,000
        BlocksLevel b;
        Grid g = b.grid();
        b.fill(g, {{-edge, 0, 0}, {-1, edge - 1, edge - 1}}, b.stone);
        b.fill(g, {{0, edge - 1, 0}, {51, edge - 1, 0}}, b.stone);
        const GroupId id = b.level.add_group(std::move(g), {.bears_load = true, .asleep = true});
        b.level.check_structure_soon(id);
        b.run(edge == 40 ? 1 : 2);
        EXPECT_EQ(b.level.groups().size(), 1u) << edge;
        b.run(1);
        EXPECT_EQ(b.level.groups().size(), 2u) << edge;
    }
}

/// In no gravity, so that nothing but the rule for creeping puts it to sleep: below 0.12 m/s and 0.06 rad/s
/// for 30 ticks in a row, from 40 ticks of age on.
TEST(LifeCycle, AGroupThatCreepsFallsAsleep) {
    struct Motion {
        float speed, spin;
        bool creeps;
    };
    for (const Motion& m : {Motion{0.115f, 0, true}, Motion{0.125f, 0, false}, Motion{0, 0.055f, true},
                            Motion{0, 0.065f, false}, Motion{0.115f, 0.055f, true}}) {
        BlocksLevel b(no_gravity());
        Grid g = b.grid();
        g.set({0, 0, 0}, b.stone);
        const GroupId id =
            b.level.add_group(std::move(g), {.velocity = {m.speed, 0, 0}, .spin = {0, m.spin, 0}});
        b.run(68);
        EXPECT_FALSE(b.level.group(id)->asleep) << m.speed << " " << m.spin;
        b.run(3);
        EXPECT_EQ(b.level.group(id)->asleep, m.creeps) << m.speed << " " << m.spin;
        b.run(100);
        EXPECT_EQ(b.level.group(id)->asleep, m.creeps) << m.speed << " " << m.spin;
    }
    // A moment of more than that begins the count anew.
    BlocksLevel b(no_gravity());
    Grid g = b.grid();
    g.set({0, 0, 0}, b.stone);
    const GroupId id = b.level.add_group(std::move(g), {.velocity = {0.1f, 0, 0}});
    for (int i = 0; i < 200; i++) {
        b.level.group(id)->body.set_velocity({i % 25 == 0 ? 0.2f : 0.1f, 0, 0});
        b.run(1);
    }
    EXPECT_FALSE(b.level.group(id)->asleep);
}

TEST(LifeCycle, ARemovalAsksInTheNextTickAndTheAnswerComesAtAFixedOneWheneverTheJobIsDone) {
    std::vector<std::uint64_t> hashes[2];
    for (const bool late : {false, true}) {
        LateJobs jobs;
        LevelSettings s = flat_ground();
        if (late) s.jobs = &jobs;
        BlocksLevel b(s);
        const GroupId id = b.level.add_group(gate(b), {.bears_load = true, .asleep = true});
        b.run(3);
        EXPECT_FALSE(under_check(b.level, id)) << "nobody asked";
        ASSERT_TRUE(b.level.remove_block(id, {50, 0, 0}));
        EXPECT_FALSE(under_check(b.level, id));
        b.run(1);
        EXPECT_TRUE(under_check(b.level, id)) << "the tick after";
        EXPECT_EQ(b.sizes(), (std::vector<std::size_t>{56}));
        b.run(1);
        EXPECT_FALSE(under_check(b.level, id));
        EXPECT_EQ(b.sizes(), (std::vector<std::size_t>{4, 52}));
        EXPECT_EQ(b.blocks(id), 4u) << "what stands keeps the group";
        for (int i = 0; i < 20; i++) {
            b.run(1);
            hashes[late].push_back(b.level.hash());
        }
    }
    EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(LifeCycle, FallingAsleepAsks) {
    BlocksLevel b;
    const GroupId id = b.level.add_group(b.crane(52), {.bears_load = true});
    b.level.group(id)->body.set_motion(MotionType::kinematic);  // held, so that it does not tip over
    b.run(5);
    ASSERT_FALSE(under_check(b.level, id));
    b.level.group(id)->body.set_motion(MotionType::dynamic);
    b.level.group(id)->body.sleep();
    b.run(1);
    EXPECT_TRUE(under_check(b.level, id));
    b.run(1);
    EXPECT_EQ(b.sizes(), (std::vector<std::size_t>{4, 52}));
}

TEST(LifeCycle, APlainGroupIsNeverJudged) {
    BlocksLevel b;
    const GroupId id = b.level.add_group(gate(b), {.asleep = true});
    b.level.remove_block(id, {50, 0, 0});
    b.run(2);
    EXPECT_FALSE(under_check(b.level, id));
    EXPECT_EQ(b.level.groups().size(), 1u);
}

TEST(LifeCycle, AnAnswerForAnotherGridIsThrownAwayAndAskedForAgain) {
    BlocksLevel b;
    const GroupId id = b.level.add_group(b.crane(52), {.bears_load = true, .asleep = true});
    b.level.check_structure_soon(id);
    b.run(1);
    ASSERT_TRUE(under_check(b.level, id));
    b.level.place_block(id, {0, 4, 0}, b.stone);  // meanwhile
    b.run(1);
    EXPECT_EQ(b.level.groups().size(), 1u) << "thrown away";
    EXPECT_TRUE(under_check(b.level, id)) << "asked for again";
    b.run(1);
    EXPECT_EQ(b.sizes(), (std::vector<std::size_t>{5, 52}));
}

TEST(LifeCycle, ATiltOfMoreThan25DegreesSkipsIt) {
    for (const float limit : {25.0f, 40.0f})
        for (const float tilt : {0.0f, 24.0f, 26.0f, 45.0f, 64.0f, 66.0f, 90.0f, 156.0f, 180.0f}) {
            LevelSettings s = no_gravity();
            s.structure_max_tilt = limit;
            BlocksLevel b(s);
            const GroupId id = b.level.add_group(
                b.crane(2),
                {.pose = {{0, 50, 0}, axis_angle({0, 0, 1}, tilt * 3.14159265f / 180)}, .bears_load = true});
            b.level.check_structure_soon(id);
            b.run(1);
            // From the nearest of its six axes to the world's up.
            const float turns = tilt / 90;
            const float off = std::fabs(tilt - 90 * std::round(turns));
            EXPECT_EQ(under_check(b.level, id), off <= limit) << tilt << " of " << limit;
        }
}

TEST(LifeCycle, ALyingGroupIsJudgedByTheAxisThatIsUp) {
    // The crane on its side: what was a post along y is now along x, and the arm points up.
    for (const int reach : {40, 52}) {
        BlocksLevel b;
        const Quat on_its_back = axis_angle({0, 0, 1}, 1.5707963f);  // x -> y
        Grid g = b.grid();
        // Its foot is at x = 0, its arm hangs in the air along y: after the turn along -x.
        b.fill(g, {{0, 0, 0}, {3, 0, 0}}, b.stone);
        b.fill(g, {{3, 1, 0}, {3, reach, 0}}, b.stone);
        const GroupId id = b.level.add_group(
            std::move(g), {.pose = {{0, 0, 0}, on_its_back}, .bears_load = true, .asleep = true});
        b.level.check_structure_soon(id);
        b.run(2);
        EXPECT_EQ(b.level.groups().size(), reach == 40 ? 1u : 2u);
    }
}

TEST(LifeCycle, SoManySolidsAreNotJudged) {
    for (const int most : {55, 56}) {
        LevelSettings s = flat_ground();
        s.structure_max_solids = most;
        BlocksLevel b(s);
        const GroupId id = b.level.add_group(b.crane(52), {.bears_load = true, .asleep = true});  // 56 solids
        b.level.check_structure_soon(id);
        b.run(2);
        EXPECT_EQ(b.level.groups().size(), most == 56 ? 2u : 1u);
        s.structure_max_solids = 1000;  // a switch: it may be turned up
        b.level.change_settings(s);
        b.level.check_structure_soon(id);
        b.run(2);
        EXPECT_EQ(b.level.groups().size(), 2u);
    }
}

TEST(LifeCycle, EachGroupHasAModeOfItsOwn) {
    BlocksLevel b;
    // An arm of 18 breaks by its edge stress in physical mode and holds by the load rule.
    const GroupId load = b.level.add_group(b.crane(18), {.bears_load = true, .asleep = true});
    const GroupId physical = b.level.add_group(b.crane(18), {.pose = {{0, 0, 30}, {}},
                                                             .bears_load = true,
                                                             .asleep = true,
                                                             .structure_mode = StructureMode::physical});
    for (int round = 0; round < 2; round++) {
        b.level.check_structure_soon(load);
        b.level.check_structure_soon(physical);
        b.run(2);
        EXPECT_EQ(b.blocks(load) == 22u, round == 0);
        EXPECT_LT(b.blocks(physical), 22u);
        b.level.set_structure_mode(load, StructureMode::physical);
    }
}

TEST(LifeCycle, AGroupThatFallsAsAWholeIsWokenAndStaysOneGroup) {
    BlocksLevel b;
    // Dry stone: an arm of 12 on a post turns about its foot.
    LevelSettings s = b.level.settings();
    s.structure.no_tension = true;
    s.structure.mode = StructureMode::physical;
    b.level.change_settings(s);
    Grid g = b.grid();
    g.set({0, 0, 0}, b.stone);
    b.fill(g, {{0, 1, 0}, {12, 1, 0}}, b.stone);
    const GroupId id = b.level.add_group(std::move(g), {.bears_load = true, .asleep = true});
    b.run(3);
    ASSERT_TRUE(b.level.group(id)->asleep) << "nobody asked";
    b.level.check_structure_soon(id);
    b.run(2);
    ASSERT_TRUE(b.level.exists(id));
    EXPECT_FALSE(b.level.group(id)->asleep);
}

TEST(LifeCycle, APartThatFallsHasTheMotionOfItsPlace) {
    LevelSettings s = no_gravity();
    BlocksLevel b(s);
    b.fill({{-1, -1, -1}, {1, -1, 1}}, b.bedrock);
    GroupSettings at;
    at.bears_load = true;
    at.velocity = {0.2f, 0, -0.3f};
    at.spin = {0, 0.5f, 0};
    const GroupId id = b.level.add_group(b.crane(52), at);
    b.level.check_structure_soon(id);
    b.run(1);
    const Body whole = b.level.group(id)->body;
    const DVec3 about = whole.center_of_mass();
    const Vec3 v = whole.velocity(), spin = whole.spin();
    b.run(1);
    ASSERT_EQ(b.level.groups().size(), 2u);
    for (GroupId g : b.level.groups()) {
        if (g == id) continue;
        const Body part = b.level.group(g)->body;
        EXPECT_EQ(b.blocks(g), 52u);
        // The part was made at the start of the tick, at the place it has now but for one step.
        const DVec3 r = part.center_of_mass() - to_double(part.velocity()) / 20.0 - about;
        const Vec3 expected = v + cross(spin, to_float(r));
        EXPECT_NEAR(length(part.velocity() - expected), 0, 0.02f * length(expected));
        EXPECT_NEAR(length(part.spin() - spin), 0, 0.02f);
    }
}

TEST(LifeCycle, WhatBrokeOffIsSlipperyForFortyTicks) {
    BlocksLevel b;
    const GroupId id = b.level.add_group(b.crane(52), {.bears_load = true, .asleep = true});
    const float own = b.level.group(id)->body.friction();
    b.level.check_structure_soon(id);
    b.run(2);
    ASSERT_EQ(b.level.groups().size(), 2u);
    const GroupId part = b.level.groups()[0] == id ? b.level.groups()[1] : b.level.groups()[0];
    int ticks = 0;
    for (; b.level.group(part)->body.friction() == 0.05f && ticks < 100; ticks++) b.run(1);
    EXPECT_EQ(ticks, 40);
    EXPECT_EQ(b.level.group(part)->body.friction(), own);
    EXPECT_NEAR(own, 0.6f, 1e-6f);
    EXPECT_EQ(b.level.group(id)->body.friction(), own) << "what stayed never was";
    // What was mined off is not.
    const GroupId mined = b.level.add_group(b.crane(9), {.pose = {{0, 0, 40}, {}}, .asleep = true});
    b.level.remove_block(mined, {5, 3, 0}, Cause::mined);
    b.run(1);
    for (GroupId g : b.level.groups()) {
        if (b.blocks(g) == 4) {
            EXPECT_EQ(b.level.group(g)->body.friction(), own);
        }
    }
}

TEST(LifeCycle, TheRestIsNotWeighedAgain) {
    BlocksLevel b;
    const GroupId id = b.level.add_group(b.crane(52), {.bears_load = true, .asleep = true});
    b.level.check_structure_soon(id);
    b.run(2);
    ASSERT_EQ(b.level.groups().size(), 2u);
    b.run(1);
    EXPECT_FALSE(under_check(b.level, id));
}

TEST(LifeCycle, BlocksBrokenByAHitSplitTheGroupAndAskForACheck) {
    LevelSettings s = no_gravity();
    BlocksLevel b(s);
    b.fill({{10, -3, -3}, {10, 3, 3}}, b.bedrock);
    // A bar whose last block is weak: it goes, and the one before it with what hangs there stays.
    const BlockId weak = b.stone_of(0.2f, "weak");
    Grid g = b.grid();
    b.fill(g, {{0, 0, 0}, {3, 0, 0}}, b.stone);
    g.set({4, 0, 0}, weak);
    const GroupId id = b.level.add_group(
        std::move(g), {.pose = {{4, 0, 0}, {}}, .velocity = {12, 0, 0}, .bears_load = true});
    b.level.clear_events();
    for (int i = 0; i < 8 && b.blocks(id) == 5; i++) b.run(1);
    EXPECT_EQ(b.blocks(id), 4u);
    EXPECT_FALSE(b.level.group(id)->grid->has({4, 0, 0}));
    EXPECT_TRUE(under_check(b.level, id)) << "in the same tick";
    ASSERT_EQ(b.events(LevelEvent::Kind::block_destroyed).size(), 1u);
    EXPECT_EQ(b.events(LevelEvent::Kind::block_destroyed)[0].cause, Cause::impact);
    EXPECT_TRUE(b.events(LevelEvent::Kind::drop).empty());
}

}  // namespace
}  // namespace talus
