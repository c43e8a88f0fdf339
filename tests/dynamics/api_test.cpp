// The interface as the specification words it: handles, layers, the filter of pairs, queries, touching lists.
#include "rigs.h"

#include <limits>

namespace talus {
namespace {

/// Every call of a handle, on one whose body is gone.
void call_everything(Body b) {
    b.set_pose({{1, 2, 3}, {}});
    b.set_velocity({1, 0, 0});
    b.set_spin({1, 0, 0});
    b.add_force({1, 0, 0});
    b.add_force_at({1, 0, 0}, {1, 1, 1});
    b.add_torque({1, 0, 0});
    b.add_impulse({1, 0, 0});
    b.add_impulse_at({1, 0, 0}, {1, 1, 1});
    b.set_friction(1);
    b.set_restitution(1);
    b.set_gravity_factor(2);
    b.set_layer(Layer(5));
    b.set_motion(MotionType::kinematic);
    b.set_owner(&b);
    b.set_continuous(true);
    b.set_damping(1, 1, 1);
    b.activate();
    b.sleep();
    b.set_shape(BodyShape::unit_cube());
    EXPECT_FALSE(b.exists());
    EXPECT_EQ(b.pose(), Pose{});
    EXPECT_EQ(b.center_of_mass(), DVec3{});
    EXPECT_EQ(b.local_center_of_mass(), Vec3{});
    EXPECT_EQ(b.to_world({1, 2, 3}), (DVec3{1, 2, 3}));
    EXPECT_EQ(b.to_local({1, 2, 3}), (Vec3{1, 2, 3}));
    EXPECT_EQ(b.direction_to_world({1, 2, 3}), (Vec3{1, 2, 3}));
    EXPECT_EQ(b.direction_to_local({1, 2, 3}), (Vec3{1, 2, 3}));
    EXPECT_EQ(b.velocity(), Vec3{});
    EXPECT_EQ(b.spin(), Vec3{});
    EXPECT_EQ(b.velocity_at({1, 2, 3}), Vec3{});
    EXPECT_EQ(b.mass(), 0);
    EXPECT_EQ(b.inertia(), SymMat3{});
    EXPECT_EQ(b.bounds().min, DVec3{});
    EXPECT_EQ(b.bounds().max, DVec3{});
    EXPECT_EQ(b.friction(), 0);
    EXPECT_EQ(b.restitution(), 0);
    EXPECT_EQ(b.gravity_factor(), 0);
    EXPECT_EQ(b.layer(), Layer::terrain);
    EXPECT_EQ(b.motion(), MotionType::fixed);
    EXPECT_EQ(b.owner(), nullptr);
    EXPECT_FALSE(b.continuous());
    EXPECT_EQ(b.linear_damping(), 0);
    EXPECT_EQ(b.angular_damping(), 0);
    EXPECT_EQ(b.rolling_resistance(), 0);
    EXPECT_FALSE(b.is_asleep());
    EXPECT_TRUE(b.shape().is_empty());
    const Overlaps touching = b.touching();
    EXPECT_TRUE(touching.bodies.empty());
    EXPECT_FALSE(touching.terrain);
}

TEST(Api, EveryCallOnADeadHandleDoesNothing) {
    Rig rig;
    rig.space.set_ground(0.0);
    call_everything(Body());
    call_everything(rig.space.body({7, 3}));
    call_everything(rig.space.body({0, 0}));
    call_everything(rig.space.body({0, 1}));
    Body neighbour = rig.cube({0, 0.5, 0});
    Body b = rig.cube({0, 1.5, 0});
    rig.run(1);
    rig.space.remove_body(b);
    call_everything(b);
    rig.space.remove_body(b);
    rig.space.ask_again(b);
    rig.space.step(kTick);
    call_everything(b);
    // Its slot is another's now: the old handle does nothing to it.
    Body c = rig.cube({0, 5, 0});
    ASSERT_EQ(c.id().index, b.id().index);
    const Pose pose = c.pose();
    call_everything(b);
    EXPECT_EQ(c.pose(), pose);
    EXPECT_EQ(c.velocity(), Vec3{});
    EXPECT_EQ(c.friction(), 0.6f);
    EXPECT_EQ(c.layer(), Layer::bodies);
    EXPECT_EQ(c.motion(), MotionType::dynamic);
    EXPECT_EQ(rig.space.body_count(), 2u);
    EXPECT_NEAR(neighbour.center_of_mass().y, 0.5, 0.01);
    // A handle of one space is nothing to another.
    Rig other;
    other.space.remove_body(c);
    EXPECT_TRUE(c.exists());
}

TEST(Api, SettingsAreReadBack) {
    Rig rig(no_gravity());
    BodySettings s;
    int me = 0;
    s.pose = {{1, 2, 3}, axis_angle({0, 1, 0}, 0.5f)};
    s.velocity = {1, 2, 3};
    s.spin = {0.1f, 0.2f, 0.3f};
    s.density = 200;
    s.friction = 0.3f;
    s.restitution = 0.4f;
    s.linear_damping = 0.1f;
    s.angular_damping = 0.2f;
    s.rolling_resistance = 0.3f;
    s.gravity_factor = 0.5f;
    s.layer = Layer(7);
    s.continuous = false;
    s.owner = &me;
    Body b = rig.space.add_body(BodyShape::unit_cube(), s);
    EXPECT_EQ(b.pose().position, s.pose.position);
    EXPECT_EQ(b.velocity(), s.velocity);
    EXPECT_EQ(b.spin(), s.spin);
    EXPECT_FLOAT_EQ(b.mass(), 200);
    EXPECT_EQ(b.friction(), 0.3f);
    EXPECT_EQ(b.restitution(), 0.4f);
    EXPECT_EQ(b.linear_damping(), 0.1f);
    EXPECT_EQ(b.angular_damping(), 0.2f);
    EXPECT_EQ(b.rolling_resistance(), 0.3f);
    EXPECT_EQ(b.gravity_factor(), 0.5f);
    EXPECT_EQ(b.layer(), Layer(7));
    EXPECT_FALSE(b.continuous());
    EXPECT_EQ(b.owner(), &me);
    b.set_damping(0, 0, 0);
    b.set_continuous(true);
    EXPECT_EQ(b.linear_damping() + b.angular_damping() + b.rolling_resistance(), 0);
    EXPECT_TRUE(b.continuous());
    s.asleep = true;
    EXPECT_TRUE(rig.space.add_body(BodyShape::unit_cube(), s).is_asleep());
}

TEST(Api, BallastWeighsAndDoesNotCollide) {
    Rig rig;
    rig.space.set_ground(0.0);
    // A light box with a heavy one hanging out below it: lands on the light one.
    ShapeBox boxes[2];
    boxes[0].box = {{-0.5f, -0.5f, -0.5f}, {0.5f, 0.5f, 0.5f}};
    boxes[0].density = 10;
    boxes[1].box = {{-0.25f, -2, -0.25f}, {0.25f, -1, 0.25f}};
    boxes[1].density = 4000;
    boxes[1].collides = false;
    const BodyShape shape{std::span<const ShapeBox>(boxes)};
    EXPECT_EQ(shape.box_count(), 2u);
    EXPECT_NEAR(shape.volume(), 1.25, 1e-6);
    EXPECT_NEAR(shape.mass(77), 10 + 1000, 1e-3);
    BodySettings s;
    s.pose.position = {0, 1, 0};
    Body b = rig.space.add_body(shape, s);
    EXPECT_NEAR(b.local_center_of_mass().y, -1.5 * 1000 / 1010, 1e-4);
    rig.run(2);
    EXPECT_NEAR(b.pose().position.y, 0.5, 0.01);
    b.set_pose({{0, 5, 0}, {}});
    EXPECT_FALSE(rig.space.cast_ray({5, 3.5, 0}, {-1, 0, 0}, 10));
    EXPECT_TRUE(rig.space.cast_ray({5, 5, 0}, {-1, 0, 0}, 10));
}

TEST(Api, ContactsOfBodiesThatAreGoneNameDeadHandles) {
    Rig rig(no_sleep());
    rig.space.set_ground(0.0);
    Body low = rig.cube({0, 0.5, 0}), high = rig.cube({0, 1.5, 0});
    rig.run(0.5f);
    ASSERT_FALSE(rig.space.contacts().empty());
    rig.space.remove_body(low);
    Body other = rig.cube({9, 3, 0});
    int dead = 0;
    for (const Contact& c : rig.space.contacts()) {
        for (const BodyId id : {c.a, c.b}) {
            if (id == low.id()) dead += !rig.space.body(id).exists();
            EXPECT_NE(id, other.id());
        }
        rig.space.body(c.a).add_impulse({1, 0, 0});
    }
    EXPECT_GT(dead, 0);
    rig.space.step(kTick);
    for (const Contact& c : rig.space.contacts()) {
        EXPECT_TRUE(rig.space.body(c.a).exists());
        EXPECT_EQ(rig.space.body(c.b).exists(), !c.with_terrain);
    }
    EXPECT_TRUE(high.exists());
}

TEST(Api, CopiesOfAShapeAreShared) {
    const Box half{{0, 0, 0}, {1, 0.5f, 1}};
    ShapeBox box;
    box.box = half;
    BodyShape shape{std::span<const ShapeBox>(&box, 1)};
    EXPECT_FALSE(shape.is_shared());
    {
        const BodyShape copy = shape;  // NOLINT: a copy is what is looked at
        EXPECT_TRUE(shape.is_shared());
        EXPECT_EQ(copy.volume(), shape.volume());
    }
    EXPECT_FALSE(shape.is_shared());
}

TEST(Layers, UsersMakeTheirOwnTable) {
    Rig rig;
    rig.space.set_ground(0.0);
    const Layer ghosts = Layer(4), walkers = Layer(5);
    rig.space.set_layers_collide(ghosts, Layer::bodies, false);
    rig.space.set_layers_collide(ghosts, ghosts, false);
    rig.space.set_layers_collide(walkers, Layer::terrain, false);
    BodySettings s;
    Body solid = rig.cube({0, 0.5, 0});
    s.layer = ghosts;
    Body ghost = rig.cube({0, 3, 0}, 1, s);
    Body other_ghost = rig.cube({0.1, 5, 0}, 1, s);
    s.layer = walkers;
    Body walker = rig.cube({6, 0.5, 0}, 1, s);
    rig.run(1.5f);
    EXPECT_NEAR(ghost.center_of_mass().y, 0.5, 0.01);
    EXPECT_NEAR(other_ghost.center_of_mass().y, 0.5, 0.01);
    EXPECT_NEAR(solid.center_of_mass().y, 0.5, 0.01);
    EXPECT_LT(walker.center_of_mass().y, -5);
    // Solid again: pushed out of each other.
    rig.space.set_layers_collide(ghosts, Layer::bodies, true);
    rig.run(3);
    EXPECT_GT(length(ghost.center_of_mass() - solid.center_of_mass()), 0.9);
}

TEST(Layers, FixedBodiesOfSoftTerrainLetFallersThrough) {
    Rig rig;
    BodySettings s;
    s.motion = MotionType::fixed;
    s.layer = Layer::soft_terrain;
    rig.box({0, 0, 0}, {3, 0.2f, 3}, s);
    BodySettings log;
    log.layer = Layer::falling_through_soft;
    Body felled = rig.cube({-1, 1, 0}, 0.5f, log);
    Body landing = rig.cube({1, 1, 0}, 0.5f);
    rig.run(1.5f);
    EXPECT_LT(felled.center_of_mass().y, -3);
    EXPECT_NEAR(landing.center_of_mass().y, 0.45, 0.01);
}

struct OwnersFilter : ContactFilter {
    std::vector<std::pair<BodyId, BodyId>> asked;
    bool allow = false;
    bool may_touch(Body a, Body b) override {
        asked.push_back({a.id(), b.id()});
        return allow || a.owner() == nullptr || a.owner() != b.owner();
    }
};

TEST(Filter, VetoesAPairAndIsAskedOnce) {
    Rig rig(no_sleep());
    rig.space.set_ground(0.0);
    OwnersFilter filter;
    rig.space.set_contact_filter(&filter);
    int team = 0;
    BodySettings s;
    s.owner = &team;
    Body low = rig.cube({0, 0.5, 0}, 1, s);
    Body friendly = rig.cube({0, 2, 0}, 1, s);
    s.owner = nullptr;
    Body stranger = rig.cube({0.2, 4, 0}, 1, s);
    rig.run(2);
    EXPECT_NEAR(friendly.center_of_mass().y, 0.5, 0.01);  // fell through `low` onto the ground
    EXPECT_NEAR(stranger.center_of_mass().y, 1.5, 0.02);
    EXPECT_EQ(filter.asked.size(), 3u);
    EXPECT_TRUE(low.touching().terrain);
    ASSERT_EQ(low.touching().bodies.size(), 1u);
    EXPECT_EQ(low.touching().bodies[0], stranger);
    // They part, and come near again: asked again.
    friendly.set_pose({{20, 0.5, 0}, {}});
    rig.run(0.2f);
    friendly.set_pose({{0, 6, 0}, {}});
    stranger.set_pose({{-20, 0.5, 0}, {}});
    rig.run(2);
    EXPECT_EQ(filter.asked.size(), 4u);
    EXPECT_NEAR(friendly.center_of_mass().y, 0.5, 0.01);
    // The answer changes when said so.
    filter.allow = true;
    rig.run(0.5f);
    EXPECT_NEAR(friendly.center_of_mass().y, 0.5, 0.01);
    rig.space.ask_again(low);
    rig.run(3);
    EXPECT_EQ(filter.asked.size(), 5u);
    EXPECT_GT(length(friendly.center_of_mass() - low.center_of_mass()), 0.9);
    rig.space.set_contact_filter(nullptr);
    rig.run(0.5f);
    EXPECT_EQ(filter.asked.size(), 5u);
}

TEST(Filter, AFastVetoedBodyPasses) {
    Rig rig(no_gravity());
    OwnersFilter filter;
    rig.space.set_contact_filter(&filter);
    int team = 0;
    BodySettings s;
    s.owner = &team;
    rig.box({10, 0, 0}, {0.1f, 2, 2}, s);
    s.velocity = {200, 0, 0};
    Body bullet = rig.cube({0, 0, 0}, 0.2f, s);
    rig.run(0.2f);
    EXPECT_NEAR(bullet.center_of_mass().x, 40, 0.1);
}

TEST(Filter, SeesPairsInTheSameOrderEveryRun) {
    std::vector<std::pair<BodyId, BodyId>> first;
    for (int run = 0; run < 2; run++) {
        Rig rig;
        rig.space.set_ground(0.0);
        OwnersFilter filter;
        rig.space.set_contact_filter(&filter);
        for (int i = 0; i < 60; i++) rig.cube({0.3 * (i % 5), 1 + i * 0.7, 0.2 * (i % 7)}, 0.6f);
        rig.run(2);
        EXPECT_GT(filter.asked.size(), 60u);
        if (run == 0)
            first = filter.asked;
        else
            EXPECT_EQ(first, filter.asked);
    }
}

TEST(Queries, TouchingListsWhatSleepsOnWhat) {
    Rig rig;
    rig.space.set_ground(0.0);
    Body a = rig.cube({0, 0.5, 0}), b = rig.cube({0, 1.5, 0}), c = rig.cube({3, 0.5, 0});
    rig.run(3);
    ASSERT_TRUE(a.is_asleep());
    EXPECT_TRUE(a.touching().terrain);
    ASSERT_EQ(a.touching().bodies.size(), 1u);
    EXPECT_EQ(a.touching().bodies[0], b);
    EXPECT_FALSE(b.touching().terrain);
    ASSERT_EQ(b.touching().bodies.size(), 1u);
    EXPECT_TRUE(c.touching().bodies.empty());
    rig.space.remove_body(b);
    EXPECT_TRUE(a.touching().bodies.empty());
}

TEST(Queries, TouchingIsNearerThanACentimetre) {
    for (const double gap : {0.002, 0.008, 0.013, 0.05}) {
        Rig rig(no_gravity());
        rig.space.set_ground(0.0);
        Body low = rig.cube({0, 0.5 + gap, 0}), high = rig.cube({0, 1.5 + 2 * gap, 0});
        rig.space.step(kTick);
        EXPECT_EQ(low.touching().terrain, gap < 0.01) << gap;
        EXPECT_EQ(low.touching().bodies.size(), gap < 0.01 ? 1u : 0u) << gap;
        EXPECT_EQ(high.touching().bodies.size(), gap < 0.01 ? 1u : 0u) << gap;
    }
}

TEST(Queries, OverlapsAreOfShapesNotOfBounds) {
    BlockGround ground;
    Rig rig(no_gravity());
    rig.space.set_terrain(&ground.grid);
    BodySettings s;
    s.pose.rotation = axis_angle({0, 0, 1}, 0.78539816f);
    Body tilted = rig.cube({0, 5, 0}, 2, s);
    s.pose = {{6, 5, 0}, {}};
    Body ball = rig.space.add_body(BodyShape::sphere(1), s);
    // In the corner of the bounds, outside the shape.
    EXPECT_TRUE(rig.space.overlap_sphere({1.2, 6.2, 0}, 0.1f).bodies.empty());
    EXPECT_EQ(rig.space.overlap_sphere({0.6, 5.6, 0}, 0.1f).bodies, std::vector<Body>{tilted});
    EXPECT_EQ(rig.space.overlap_sphere({1.2, 6.2, 0}, 0.75f).bodies, std::vector<Body>{tilted});
    EXPECT_TRUE(rig.space.overlap_sphere({6.8, 5.8, 0}, 0.1f).bodies.empty());
    EXPECT_EQ(rig.space.overlap_sphere({6.7, 5.7, 0}, 0.1f).bodies, std::vector<Body>{ball});
    EXPECT_FALSE(rig.space.overlap_sphere({0, 1.1, 0}, 1).terrain);
    EXPECT_TRUE(rig.space.overlap_sphere({0, 0.9, 0}, 1).terrain);
    EXPECT_TRUE(rig.space.overlap_sphere({0.5, -1.5, 0.5}, 0.1f).terrain);  // deep inside
    EXPECT_FALSE(rig.space.overlap_sphere({0, -5, 0}, 1).terrain);          // under it all

    const auto in_box = [&](DVec3 at, Vec3 half, float turn = 0) {
        return rig.space.overlap_box({at, axis_angle({0, 0, 1}, turn)}, half);
    };
    EXPECT_TRUE(in_box({1.25, 6.25, 0}, {0.4f, 0.4f, 0.4f}, 0.78539816f).bodies.empty());
    EXPECT_EQ(in_box({1.25, 6.25, 0}, {0.6f, 0.6f, 0.6f}).bodies, std::vector<Body>{tilted});
    EXPECT_EQ(in_box({3, 5, 0}, {2.5f, 0.1f, 0.1f}).bodies, (std::vector<Body>{tilted, ball}));
    EXPECT_TRUE(in_box({6.9, 5.9, 0}, {0.1f, 0.1f, 0.1f}).bodies.empty());
    EXPECT_TRUE(in_box({0, 0.4, 0}, {0.1f, 0.5f, 0.1f}).terrain);
    EXPECT_FALSE(in_box({0, 0.6, 0}, {0.1f, 0.5f, 0.1f}).terrain);
    EXPECT_TRUE(in_box({0, 0.6, 0}, {0.5f, 0.5f, 0.1f}, 0.78539816f).terrain);
    EXPECT_TRUE(in_box({0.5, -1.5, 0.5}, {0.1f, 0.1f, 0.1f}).terrain);
    rig.space.set_terrain(nullptr);
    rig.space.set_ground(-3.0);
    EXPECT_FALSE(in_box({0, -2, 0}, {1, 0.9f, 1}).terrain);
    EXPECT_TRUE(in_box({0, -2, 0}, {1, 1.1f, 1}).terrain);
    EXPECT_TRUE(in_box({0, -900, 0}, {1, 1, 1}).terrain);
    const float bad = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(rig.space.overlap_sphere({0, 0, 0}, bad).bodies.empty());
    EXPECT_TRUE(in_box({double(bad), 0, 0}, {1, 1, 1}).bodies.empty());
}

TEST(Queries, ASweptBallStopsWhereItFirstTouches) {
    BlockGround ground;
    Rig rig(no_gravity());
    rig.space.set_terrain(&ground.grid);
    Body cube = rig.cube({10, 3, 0}, 2);
    BodySettings s;
    s.pose.rotation = axis_angle({0, 0, 1}, 0.78539816f);
    Body tilted = rig.cube({0, 10, 0}, 2, s);
    auto hit = rig.space.cast_sphere({0, 3, 0}, 0.5f, {1, 0, 0}, 100);
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->body, cube);
    EXPECT_NEAR(hit->distance, 8.5, 2e-3);
    EXPECT_NEAR(hit->point.x, 9, 2e-3);
    EXPECT_NEAR(hit->normal.x, -1, 1e-4);
    EXPECT_FALSE(rig.space.cast_sphere({0, 3, 0}, 0.5f, {1, 0, 0}, 8.4f));
    // Past an edge by a hair, and onto it by a hair.
    EXPECT_FALSE(rig.space.cast_sphere({0, 4.51, 0}, 0.5f, {1, 0, 0}, 100));
    hit = rig.space.cast_sphere({0, 4.4, 0}, 0.5f, {1, 0, 0}, 100);
    ASSERT_TRUE(hit);
    EXPECT_NEAR(hit->distance, 9 - 0.3, 5e-3);
    // Onto the upper edge of the tilted one.
    hit = rig.space.cast_sphere({0, 20, 0}, 0.25f, {0, -1, 0}, 100);
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->body, tilted);
    EXPECT_NEAR(hit->distance, 10 - std::sqrt(2.0) - 0.25, 2e-3);
    // Far down onto the ground, missing the bodies.
    hit = rig.space.cast_sphere({-5, 90, 5}, 1, {0, -1, 0}, 200);
    ASSERT_TRUE(hit);
    EXPECT_TRUE(hit->terrain);
    EXPECT_NEAR(hit->distance, 89, 2e-3);
    // Already touching.
    hit = rig.space.cast_sphere({10, 4.3, 0}, 0.5f, {1, 0, 0}, 5);
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->distance, 0);
    EXPECT_FALSE(rig.space.cast_sphere({0, 3, 0}, 0.5f, {1, 0, 0}, 100, cube.id()));
    EXPECT_FALSE(rig.space.cast_sphere({0, 3, 0}, -1, {1, 0, 0}, 100));
}

/// Against many rays: a thin swept ball finds what a ray finds.
TEST(Queries, AThinSweptBallAgreesWithARay) {
    BlockGround ground;
    ground.grid.set({2, 0, 3}, ground.stone);
    ground.grid.set({2, 1, 3}, ground.stone);
    Rig rig(no_gravity());
    rig.space.set_terrain(&ground.grid);
    for (int i = 0; i < 20; i++) {
        BodySettings s;
        s.pose.rotation = axis_angle({float(i % 3), 1, float(i % 5)}, float(i));
        rig.cube({i % 4 * 3.0 - 5, 2.0 + i % 3 * 2, i / 4 * 2.5 - 5}, 0.8f, s);
    }
    int hits = 0;
    for (int i = 0; i < 300; i++) {
        const SinCos around = sin_cos(i * 0.7), up = sin_cos(i * 0.31);
        const DVec3 from{around.cos * 9, 5 + 3 * up.sin, around.sin * 9};
        const DVec3 to{up.cos * 3, 1 + around.sin, up.sin * 3};
        const Vec3 d = to_float(to - from);
        const auto ray = rig.space.cast_ray(from, d, 40);
        const auto ball = rig.space.cast_sphere(from, 0.002f, d, 40);
        if (!ray) continue;
        ASSERT_TRUE(ball);
        hits++;
        EXPECT_LT(ball->distance, ray->distance + 0.01f);
        if (ball->body == ray->body) {
            EXPECT_NEAR(ball->distance, ray->distance, 0.05f);
        }
    }
    EXPECT_GT(hits, 200);
}

}  // namespace
}  // namespace talus
