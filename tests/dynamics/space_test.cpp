// The life of bodies: handles, shapes, sleep, queries, bad input, same bits.
#include "rigs.h"

#include "scenes/rigid_scene.h"

#include <limits>

namespace talus {
namespace {

TEST(Handles, CallsOnARemovedBodyDoNothing) {
    Rig rig;
    Body b = rig.cube({1, 2, 3});
    const BodyId id = b.id();
    EXPECT_TRUE(b.exists());
    rig.space.remove_body(b);
    EXPECT_FALSE(b.exists());
    EXPECT_EQ(rig.space.body_count(), 0u);
    b.set_velocity({1, 1, 1});
    b.add_force({1, 1, 1});
    b.add_impulse_at({1, 1, 1}, {});
    b.activate();
    b.sleep();
    b.set_shape(BodyShape::unit_cube());
    b.set_motion(MotionType::fixed);
    rig.space.remove_body(b);
    EXPECT_EQ(b.velocity(), Vec3{});
    EXPECT_EQ(b.mass(), 0);
    EXPECT_EQ(b.to_world({1, 2, 3}), (DVec3{1, 2, 3}));
    EXPECT_EQ(b.to_local({1, 2, 3}), (Vec3{1, 2, 3}));
    EXPECT_EQ(b.direction_to_world({1, 2, 3}), (Vec3{1, 2, 3}));
    EXPECT_FALSE(b.is_asleep());
    EXPECT_TRUE(b.shape().is_empty());
    rig.space.step(kTick);
    // The slot is used again; the old handle stays dead.
    Body c = rig.cube({});
    EXPECT_EQ(c.id().index, id.index);
    EXPECT_FALSE(b.exists());
    EXPECT_TRUE(rig.space.body(c.id()).exists());
}

TEST(Handles, ADefaultHandleIsDead) {
    Body b;
    EXPECT_FALSE(b.exists());
    b.add_impulse({1, 0, 0});
    EXPECT_EQ(b.mass(), 0);
}

TEST(Handles, RemovalInTheSameStepAsAddition) {
    Rig rig;
    rig.space.set_ground(0.0);
    Body keep = rig.cube({0, 0.5, 0});
    for (int i = 0; i < 50; i++) {
        Body b = rig.cube({0.2, 1.5, 0});
        if (i % 3) rig.space.step(kTick);
        rig.space.remove_body(b);
        if (i % 2) rig.space.step(kTick);
    }
    EXPECT_EQ(rig.space.body_count(), 1u);
    rig.run(1);
    EXPECT_NEAR(keep.center_of_mass().y, 0.5, 0.01);
}

TEST(Handles, FramesAndPoints) {
    ShapeBox box;
    box.box = {{2, 0, 0}, {4, 1, 1}};
    BodySettings s;
    s.pose = {{10, 20, 30}, axis_angle({0, 1, 0}, 1.57079633f)};
    s.velocity = {1, 2, 3};
    s.spin = {0, 2, 0};
    Rig rig;
    Body b = rig.space.add_body(BodyShape(std::span<const ShapeBox>(&box, 1)), s);
    EXPECT_NEAR(length(b.pose().position - DVec3{10, 20, 30}), 0, 1e-5);
    EXPECT_NEAR(length(b.local_center_of_mass() - Vec3{3, 0.5f, 0.5f}), 0, 1e-6f);
    // +x turned about y by a right angle is -z.
    EXPECT_NEAR(length(b.to_world({3, 0.5f, 0.5f}) - DVec3{10.5, 20.5, 27}), 0, 1e-5);
    EXPECT_NEAR(length(b.to_local({10.5, 20.5, 27}) - Vec3{3, 0.5f, 0.5f}), 0, 1e-5f);
    EXPECT_NEAR(length(b.velocity_at(b.center_of_mass() + DVec3{1, 0, 0}) - Vec3{1, 2, 1}), 0, 1e-5f);
    const DBox bounds = b.bounds();
    EXPECT_NEAR(bounds.min.z, 26, 1e-4);
    EXPECT_NEAR(bounds.max.z, 28, 1e-4);
}

TEST(SetShape, KeepsTheVelocityOfPointsThatStay) {
    BlockTable table;
    Grid grid(table);
    const BlockId id = table.add(blockgame_stone());
    for (int x = 0; x < 4; x++) grid.set({x, 0, 0}, id);
    Rig rig(no_gravity());
    BodySettings s;
    s.velocity = {1, 0, 0};
    s.spin = {0, 0, 2};
    Body b = rig.space.add_body(BodyShape::from_grid(grid, 1), s);
    const DVec3 point = b.to_world({0.5f, 0.5f, 0.5f});
    const Vec3 before = b.velocity_at(point);
    grid.clear({3, 0, 0});
    b.set_shape(BodyShape::from_grid(grid, 1));
    EXPECT_NEAR(b.mass(), 3 * 775, 0.01f);
    EXPECT_NEAR(b.local_center_of_mass().x, 1.5f, 1e-6f);
    EXPECT_NEAR(length(b.to_world({0.5f, 0.5f, 0.5f}) - point), 0, 1e-5);
    EXPECT_NEAR(length(b.velocity_at(point) - before), 0, 1e-5f);
}

TEST(SetShape, TakingTheSupportWakesWhatStoodOnIt) {
    BlockTable table;
    Grid grid(table);
    const BlockId id = table.add(blockgame_stone());
    for (int x = 0; x < 3; x++) grid.set({x, 0, 0}, id);
    Rig rig;
    rig.space.set_ground(0.0);
    BodySettings s;
    Body base = rig.space.add_body(BodyShape::from_grid(grid, 1), s);
    Body top = rig.box({2.5, 1.5, 0.5}, {0.4f, 0.5f, 0.4f});
    rig.run(3);
    ASSERT_TRUE(top.is_asleep());
    ASSERT_TRUE(base.is_asleep());
    grid.clear({2, 0, 0});
    base.set_shape(BodyShape::from_grid(grid, 1));
    EXPECT_FALSE(top.is_asleep());
    rig.run(2);
    EXPECT_NEAR(top.center_of_mass().y, 0.5, 0.02);
    EXPECT_NEAR(base.pose().position.y, 0, 0.02);
}

TEST(SetShape, WarmStartsByPlace) {
    // The lowest block of a column loses and regains a corner each step: it must not start to shake.
    BlockTable table;
    Grid grid(table);
    const BlockId id = table.add(blockgame_stone());
    for (int x = 0; x < 2; x++)
        for (int z = 0; z < 2; z++) grid.set({x, 0, z}, id);
    Rig rig(no_sleep());
    rig.space.set_ground(0.0);
    Body base = rig.space.add_body(BodyShape::from_grid(grid, 1), {});
    Body top = rig.box({1, 3, 1}, {1, 2, 1});
    rig.run(2);
    float fastest = 0;
    for (int i = 0; i < 60; i++) {
        if (i & 1)
            grid.set({1, 0, 1}, id);
        else
            grid.clear({1, 0, 1});
        base.set_shape(BodyShape::from_grid(grid, 1));
        rig.space.step(kTick);
        fastest = std::max(fastest, length(top.velocity()));
    }
    EXPECT_LT(fastest, 0.2f);
    EXPECT_NEAR(top.center_of_mass().y, 3, 0.02);
}

TEST(Sleep, RestsAndFeelsNoForce) {
    Rig rig;
    rig.space.set_ground(0.0);
    Body b = rig.cube({0, 0.5, 0});
    rig.run(2);
    ASSERT_TRUE(b.is_asleep());
    EXPECT_EQ(rig.space.awake_count(), 0u);
    const DVec3 at = b.center_of_mass();
    for (int i = 0; i < 60; i++) {
        b.add_force({50000, 0, 0});
        rig.space.step(kTick);
    }
    EXPECT_EQ(b.center_of_mass(), at);
    b.activate();
    b.add_force({50000, 0, 0});
    rig.space.step(kTick);
    EXPECT_GT(b.velocity().x, 0.5f);
}

TEST(Sleep, MayBeForbiddenAndAllowedAgain) {
    Rig rig;
    rig.space.set_ground(0.0);
    Body b = rig.cube({0, 0.5, 0});
    rig.run(2);
    ASSERT_TRUE(b.is_asleep());
    rig.space.set_allow_sleep(false);
    EXPECT_FALSE(b.is_asleep()) << "at once";
    rig.run(5);
    EXPECT_FALSE(b.is_asleep());
    EXPECT_EQ(rig.space.awake_count(), 1u);
    rig.space.set_allow_sleep(true);
    rig.run(2);
    EXPECT_TRUE(b.is_asleep());
}

TEST(Sleep, AnImpulseWakes) {
    Rig rig;
    rig.space.set_ground(0.0);
    Body b = rig.cube({0, 0.5, 0});
    rig.run(2);
    ASSERT_TRUE(b.is_asleep());
    b.add_impulse({0, 5000, 0});
    EXPECT_FALSE(b.is_asleep());
    rig.run(0.25f);
    EXPECT_GT(b.center_of_mass().y, 1);
}

TEST(Sleep, RemovingTheFloorDropsTheSleeper) {
    // Case 15.
    Rig rig;
    BodySettings s;
    s.motion = MotionType::fixed;
    Body floor = rig.box({0, 9.5, 0}, {3, 0.5f, 3}, s);
    Body lower = rig.cube({0, 10.5, 0});
    Body upper = rig.cube({0, 11.5, 0});
    rig.run(3);
    ASSERT_TRUE(lower.is_asleep() && upper.is_asleep());
    rig.space.remove_body(floor);
    EXPECT_FALSE(lower.is_asleep());
    const double before = lower.center_of_mass().y;
    rig.space.step(kTick);
    EXPECT_LT(lower.center_of_mass().y, before - 1e-4);
    rig.run(1);
    EXPECT_LT(upper.center_of_mass().y, 8);
}

TEST(Sleep, ShrinkingTheFloorDropsTheSleeper) {
    Rig rig;
    BodySettings s;
    s.motion = MotionType::fixed;
    Body floor = rig.box({0, 9.5, 0}, {3, 0.5f, 3}, s);
    Body b = rig.cube({2, 10.5, 0});
    rig.run(3);
    ASSERT_TRUE(b.is_asleep());
    floor.set_shape(BodyShape::box({1, 0.5f, 1}));
    rig.run(1);
    EXPECT_LT(b.center_of_mass().y, 8);
}

TEST(Sleep, BodiesAddedAsleepAreWokenWhenTheirSupportGoes) {
    Rig rig;
    BodySettings s;
    s.motion = MotionType::fixed;
    Body floor = rig.box({0, 9.5, 0}, {3, 0.5f, 3}, s);
    BodySettings asleep;
    asleep.asleep = true;
    Body b = rig.cube({0, 10.5, 0}, 1, asleep);
    rig.run(1);
    ASSERT_TRUE(b.is_asleep());
    EXPECT_EQ(b.center_of_mass().y, 10.5);
    rig.space.remove_body(floor);
    rig.run(1);
    EXPECT_LT(b.center_of_mass().y, 8);
}

TEST(Sleep, AHitWakesAndALightTouchDoesNot) {
    Rig rig;
    rig.space.set_ground(0.0);
    Body rest = rig.cube({0, 0.5, 0});
    rig.run(2);
    ASSERT_TRUE(rest.is_asleep());
    BodySettings s;
    s.velocity = {-8, 0, 0};
    rig.cube({3, 0.51, 0}, 1, s);
    rig.run(0.5f);
    EXPECT_LT(rest.center_of_mass().x, -0.2);
}

TEST(Sleep, AHeapSleepsUnderARollingPiece) {
    Rig rig;
    rig.space.set_ground(0.0);
    std::vector<Body> heap;
    for (int i = 0; i < 5; i++) heap.push_back(rig.cube({0, i + 0.5, 0}, 1));
    // A piece pushed to and fro on another stack of the same space, touching a common slab.
    Body slab = rig.box({6, 0.25, 0}, {2, 0.25f, 2});
    Body restless = rig.box({6, 0.75, 0}, {0.25f, 0.25f, 0.25f});
    for (int i = 0; i < 180; i++) {
        restless.activate();
        restless.set_velocity({i % 40 < 20 ? 1.0f : -1.0f, 0, 0});
        rig.space.step(kTick);
    }
    for (const Body& b : heap) EXPECT_TRUE(b.is_asleep());
    EXPECT_TRUE(slab.is_asleep());
    EXPECT_FALSE(restless.is_asleep());
}

TEST(Sleep, AMovingPlatformWakesItsLoad) {
    Rig rig;
    BodySettings s;
    s.motion = MotionType::kinematic;
    Body lift = rig.box({0, 0, 0}, {2, 0.5f, 2}, s);
    Body load = rig.cube({0, 1, 0});
    rig.run(2);
    ASSERT_TRUE(load.is_asleep());
    lift.set_velocity({0, 1, 0});
    rig.run(2);
    EXPECT_NEAR(load.center_of_mass().y, 3, 0.05);
}

TEST(Queries, RayAndBox) {
    BlockGround ground;
    Rig rig;
    rig.space.set_terrain(&ground.grid);
    Body a = rig.cube({0.5, 3, 0.5});
    Body b = rig.cube({5.5, 3, 0.5});
    auto hit = rig.space.cast_ray({0.5, 10, 0.5}, {0, -1, 0}, 100);
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->body, a);
    EXPECT_FALSE(hit->terrain);
    EXPECT_NEAR(hit->distance, 6.5f, 1e-4f);
    EXPECT_NEAR(hit->normal.y, 1, 1e-5f);
    hit = rig.space.cast_ray({0.5, 10, 0.5}, {0, -2, 0}, 100, a.id());
    ASSERT_TRUE(hit);
    EXPECT_TRUE(hit->terrain);
    EXPECT_FALSE(hit->body.exists());
    EXPECT_NEAR(hit->distance, 10, 1e-4f);
    EXPECT_FALSE(rig.space.cast_ray({0.5, 10, 0.5}, {0, -1, 0}, 5));
    EXPECT_FALSE(rig.space.cast_ray({0.5, 10, 0.5}, {0, 1, 0}, 500));
    EXPECT_FALSE(rig.space.cast_ray({0.5, 10, 0.5}, {0, 0, 0}, 500));
    hit = rig.space.cast_ray({-3, 3, 0.5}, {1, 0, 0}, 100, a.id());
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->body, b);
    const auto in = rig.space.bodies_in({{0, 2, 0}, {10, 4, 1}});
    ASSERT_EQ(in.size(), 2u);
    EXPECT_EQ(in[0], a);
    EXPECT_EQ(in[1], b);
    EXPECT_TRUE(rig.space.bodies_in({{0, 20, 0}, {10, 24, 1}}).empty());
}

TEST(Queries, RayAgainstTheGroundPlane) {
    Rig rig;
    rig.space.set_ground(2.0);
    const auto hit = rig.space.cast_ray({0, 5, 0}, {1, -1, 0}, 100);
    ASSERT_TRUE(hit);
    EXPECT_TRUE(hit->terrain);
    EXPECT_NEAR(hit->distance, 3 * std::sqrt(2.0f), 1e-4f);
    EXPECT_NEAR(hit->point.y, 2, 1e-5);
}

TEST(Quarantine, NotFiniteStateIsFrozenAndTheRestGoesOn) {
    // Case 22.
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    for (int way = 0; way < 7; way++) {
        Rig rig;
        rig.space.set_ground(0.0);
        Body bad = rig.cube({0, 3, 0});
        Body near = rig.cube({0.3, 4.2, 0});
        Body good = rig.cube({4, 3, 0});
        rig.run(0.1f);
        const DVec3 last = bad.center_of_mass();
        if (way == 0) bad.set_velocity({nan, 0, 0});
        if (way == 1) bad.add_force({0, inf, 0});
        if (way == 2) bad.add_torque({0, nan, 0});
        if (way == 3) bad.set_pose({{std::numeric_limits<double>::quiet_NaN(), 0, 0}, {}});
        if (way == 4) bad.add_impulse({inf, 0, 0});
        if (way == 5) bad.set_spin({nan, nan, nan});
        if (way == 6) bad.add_impulse_at({0, 0, inf}, {1, 2, 3});
        rig.space.step(kTick);
        ASSERT_EQ(rig.space.quarantined().size(), 1u) << way;
        EXPECT_EQ(rig.space.quarantined()[0], bad.id());
        EXPECT_EQ(bad.center_of_mass(), last) << way;
        EXPECT_EQ(bad.velocity(), Vec3{});
        rig.run(2);
        EXPECT_TRUE(rig.space.quarantined().empty());
        EXPECT_EQ(bad.center_of_mass(), last) << way;
        EXPECT_NEAR(good.center_of_mass().y, 0.5, 0.01);
        EXPECT_TRUE(is_finite(near.center_of_mass()));
        EXPECT_LT(length(near.velocity()), 1);
    }
}

TEST(Quarantine, HugeButFiniteIsCut) {
    Rig rig;
    rig.space.set_ground(0.0);
    Body b = rig.cube({0, 0.5, 0});
    Body wall = rig.cube({2, 0.5, 0});
    b.add_impulse({1e35f, 0, 0});
    b.set_spin({1e30f, 0, 1e30f});
    for (int i = 0; i < 60; i++) {
        rig.space.step(kTick);
        ASSERT_TRUE(is_finite(b.center_of_mass()));
        ASSERT_TRUE(is_finite(wall.center_of_mass()));
        ASSERT_LE(length(b.velocity()), 1001);
    }
}

TEST(SameBits, AgainAndAgain) {
    std::uint64_t first = 0;
    for (int run = 0; run < 2; run++) {
        BlockGround ground(10, 2);
        for (int i = 0; i < 40; i++) ground.grid.set({i * 7 % 19 - 9, 0, i * 5 % 17 - 8}, ground.stone);
        Rig rig;
        rig.space.set_terrain(&ground.grid);
        std::vector<Body> all;
        for (int i = 0; i < 60; i++) {
            BodySettings s;
            s.pose.rotation = axis_angle({float(i % 3), 1, float(i % 5)}, float(i));
            all.push_back(rig.box({i % 4 * 1.3 - 2, 3 + i * 0.6, i % 3 * 1.3 - 1.5},
                                  {0.3f + float(i % 3) * 0.2f, 0.5f, 0.4f}, s));
        }
        for (int i = 0; i < 240; i++) {
            rig.space.step(i % 2 ? kTick : 1.0f / 20);
            if (i % 30 == 29) {
                rig.space.remove_body(all[std::size_t(i / 30)]);
                ground.grid.clear({i % 7 - 3, -1, i % 5 - 2});
                rig.space.terrain_changed({{i % 7 - 3, -1, i % 5 - 2}, {i % 7 - 3, -1, i % 5 - 2}});
            }
        }
        if (run == 0)
            first = hash_of(rig.space);
        else
            EXPECT_EQ(hash_of(rig.space), first);
    }
}

TEST(Layers, UsersMayPartTheirOwn) {
    Rig rig;
    rig.space.set_ground(0.0);
    rig.space.set_layers_collide(Layer(5), Layer(6), false);
    BodySettings s;
    s.layer = Layer(5);
    Body a = rig.cube({0, 0.5, 0}, 1, s);
    s.layer = Layer(6);
    Body b = rig.cube({0.2, 3, 0}, 1, s);
    rig.run(2);
    EXPECT_NEAR(a.center_of_mass().y, 0.5, 0.01);
    EXPECT_NEAR(b.center_of_mass().y, 0.5, 0.01);
    b.set_layer(Layer::bodies);
    rig.run(1);
    EXPECT_GT(length(a.center_of_mass() - b.center_of_mass()), 0.95);
}

}  // namespace
}  // namespace talus
