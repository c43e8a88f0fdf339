// Balls and capsules: mass, resting, rolling, hits, sweeps, rays.
#include "rigs.h"

namespace talus {
namespace {

struct RoundRig : Rig {
    using Rig::Rig;
    Body ball(DVec3 at, float radius, BodySettings b = {}) {
        b.pose.position = at;
        return space.add_body(BodyShape::sphere(radius), b);
    }
    Body capsule(DVec3 at, float radius, float half, BodySettings b = {}) {
        b.pose.position = at;
        return space.add_body(BodyShape::capsule(radius, half), b);
    }
};

/// Integrals over the solid by midpoint sums: an answer of its own.
void sum_capsule(double r, double h, double& volume, double& xx, double& yy) {
    volume = xx = yy = 0;
    constexpr int n = 160;
    const double top = h + r, d = 2 * top / n, e = 2 * r / n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) {
                const double y = -top + (i + 0.5) * d, x = -r + (j + 0.5) * e, z = -r + (k + 0.5) * e;
                const double past = std::fabs(y) > h ? std::fabs(y) - h : 0;
                if (x * x + z * z + past * past > r * r) continue;
                const double v = d * e * e;
                volume += v;
                xx += v * x * x;
                yy += v * y * y;
            }
}

TEST(Round, MassVolumeAndInertia) {
    RoundRig rig(no_gravity());
    BodySettings s;
    s.density = 500;
    Body ball = rig.ball({1, 2, 3}, 0.5f, s);
    EXPECT_NEAR(ball.mass(), 500 * 4.0 / 3 * kPi * 0.125, 1e-3);
    EXPECT_NEAR(ball.inertia().xx, 0.4 * double(ball.mass()) * 0.25, 1e-3);
    EXPECT_NEAR(ball.inertia().yy, ball.inertia().xx, 1e-4);
    EXPECT_EQ(ball.center_of_mass(), (DVec3{1, 2, 3}));
    double volume, xx, yy;
    sum_capsule(0.3, 0.6, volume, xx, yy);
    const BodyShape shape = BodyShape::capsule(0.3f, 0.6f);
    EXPECT_NEAR(shape.volume(), volume, 1e-3 * volume);
    EXPECT_NEAR(shape.mass(500), 500 * volume, 0.5 * volume);
    Body capsule = rig.capsule({}, 0.3f, 0.6f, s);
    EXPECT_NEAR(capsule.inertia().yy, 500 * 2 * xx, 2e-3 * 500 * 2 * xx);
    EXPECT_NEAR(capsule.inertia().xx, 500 * (xx + yy), 2e-3 * 500 * (xx + yy));
    EXPECT_NEAR(capsule.inertia().zz, capsule.inertia().xx, 1e-4f);
    EXPECT_FALSE(shape.is_empty());
    EXPECT_EQ(shape.box_count(), 0u);
    EXPECT_FLOAT_EQ(shape.radius(), 0.3f);
    EXPECT_FLOAT_EQ(shape.half_length(), 0.6f);
    EXPECT_TRUE(BodyShape::sphere(0).is_empty());
    EXPECT_TRUE(BodyShape::sphere(std::nanf("")).is_empty());
    EXPECT_TRUE(BodyShape::capsule(1, INFINITY).is_empty());
}

TEST(Round, BoundsAreExactWhateverTheAttitude) {
    RoundRig rig(no_gravity());
    BodySettings s;
    s.pose.rotation = axis_angle({1, 2, 0.5f}, 0.7f);
    Body ball = rig.ball({0, 5, 0}, 0.5f, s);
    EXPECT_NEAR(ball.bounds().min.y, 4.5, 1e-6);
    EXPECT_NEAR(ball.bounds().max.x, 0.5, 1e-6);
    s.pose.rotation = axis_angle({0, 0, 1}, float(kPi / 2));
    Body lying = rig.capsule({0, 0, 0}, 0.25f, 1, s);
    EXPECT_NEAR(lying.bounds().max.x, 1.25, 1e-5);
    EXPECT_NEAR(lying.bounds().max.y, 0.25, 1e-5);
}

/// Flush blocks of every kind: full cubes, half slabs on top of each other's level, two heights of boxes.
struct MixedGround {
    BlockTable table;
    Grid grid{table};
    MixedGround() {
        BlockType type;
        type.material.friction = 0.6f;
        const BlockId cube = table.add(type);
        const Box halves[2] = {{{0, 0, 0}, {0.5f, 1, 1}}, {{0.5f, 0.25f, 0}, {1, 1, 1}}};
        type.name = "two";
        type.shape = BlockShape(halves);
        const BlockId two = table.add(type);
        const Box upper[1] = {{{0, 0.5f, 0}, {1, 1, 1}}};
        type.name = "upper";
        type.shape = BlockShape(upper);
        const BlockId slab = table.add(type);
        for (int z = -20; z < 20; z++)
            for (int x = -20; x < 20; x++) {
                const int kind = (x * 7 + z * 13 + 1000) % 5;
                grid.set({x, -1, z}, kind == 0 ? two : kind == 1 ? slab : cube);
            }
    }
};

/// Case 17.
void roll(Space& space, Vec3 direction, float radius, double height) {
    BodySettings s;
    const Vec3 d = normalized(direction);
    const float speed = 5;
    const DVec3 from = DVec3{0.3, height + double(radius), 0.37} - to_double(d) * 12;
    s.pose.position = from;
    s.velocity = d * speed;
    s.spin = cross(Vec3{0, 1, 0}, d) * (speed / radius);
    Body ball = space.add_body(BodyShape::sphere(radius), s);
    float most_up = 0;
    for (int i = 0; i < 60 * 4; i++) {
        space.step(kTick);
        if (i >= 5) most_up = std::max(most_up, std::fabs(ball.velocity().y));  // its weight is taken on
    }
    const DVec3 end = ball.center_of_mass(), straight = from + to_double(d) * (5.0 * 4);
    EXPECT_LT(most_up, 2e-3f) << d.x << " " << d.z << " r " << radius;
    EXPECT_NEAR(length(end - straight), 0, 5e-3) << d.x << " " << d.z << " r " << radius;
    EXPECT_NEAR(end.y, from.y, 1e-3);
    EXPECT_NEAR(length(ball.velocity() - d * speed), 0, 1e-3f);
    space.remove_body(ball);
}

TEST(Round, ABallRollsOverFlushCellsWithoutABump) {
    MixedGround mixed;
    BlockGround plain(20);
    for (const Vec3 d : {Vec3{1, 0, 0}, Vec3{0, 0, -1}, Vec3{1, 0, 1}, Vec3{3, 0, -1}, Vec3{-2, 0, 0.1f}})
        for (const float radius : {0.1f, 0.5f}) {
            RoundRig rig;
            rig.space.set_terrain(&plain.grid);
            roll(rig.space, d, radius, 0);
            rig.space.set_terrain(&mixed.grid);
            roll(rig.space, d, radius, 0);
            rig.space.set_terrain(nullptr);
            rig.space.set_ground(0.0);
            roll(rig.space, d, radius, 0);
        }
}

TEST(Round, ABallRollsOverABodyOfManyCells) {
    MixedGround mixed;
    RoundRig rig;
    BodySettings fixed;
    fixed.motion = MotionType::fixed;
    rig.space.add_body(BodyShape::from_grid(mixed.grid, 1), fixed);
    roll(rig.space, {1, 0, 0.2f}, 0.1f, 0);
    roll(rig.space, {-1, 0, 1}, 0.4f, 0);
}

/// From sliding to rolling: 5/7 of the speed, whatever the friction.
TEST(Round, ASlidingBallRollsAtFiveSevenths) {
    RoundRig rig;
    rig.space.set_ground(0.0);
    BodySettings s;
    s.velocity = {7, 0, 0};
    s.friction = 0.3f;
    Body ball = rig.ball({0, 0.5, 0}, 0.5f, s);
    rig.run(3);
    EXPECT_NEAR(ball.velocity().x, 5, 0.02);
    EXPECT_NEAR(ball.spin().z, -10, 0.04);
}

/// Down a slope without slipping: 5/7 g sin.
TEST(Round, ABallRollsDownASlope) {
    SpaceSettings ss;
    const float tilt = 0.2f;
    ss.gravity = {kG * std::sin(tilt), -kG * std::cos(tilt), 0};
    RoundRig rig(ss);
    rig.space.set_ground(0.0);
    Body ball = rig.ball({0, 0.3, 0}, 0.3f);
    rig.run(2);
    const double a = 5.0 / 7 * double(kG * std::sin(tilt));
    EXPECT_NEAR(ball.velocity().x, a * 2, 0.01 * a * 2);
    EXPECT_NEAR(ball.center_of_mass().x, 0.5 * a * 4, 0.01 * 0.5 * a * 4);
}

TEST(Round, RollingResistanceStopsABallAndItSleeps) {
    RoundRig rig;
    rig.space.set_ground(0.0);
    BodySettings s;
    s.velocity = {3, 0, 0};
    s.rolling_resistance = 2;
    Body ball = rig.ball({0, 0.25, 0}, 0.25f, s);
    rig.run(1);
    const float after_one = ball.velocity().x;
    EXPECT_LT(after_one, 2.1f);
    rig.run(11);
    EXPECT_TRUE(ball.is_asleep());
    EXPECT_NEAR(ball.center_of_mass().y, 0.25, 0.005);
    // In the air nothing is lost.
    RoundRig free(no_gravity());
    s.velocity = {};
    s.spin = {0, 5, 0};
    Body spinning = free.ball({}, 0.25f, s);
    free.run(2);
    EXPECT_NEAR(spinning.spin().y, 5, 1e-4);
}

TEST(Round, ACapsuleLiesStandsAndRolls) {
    BlockGround ground;
    RoundRig rig;
    rig.space.set_terrain(&ground.grid);
    BodySettings s;
    Body standing = rig.capsule({0.5, 0.901, 0.5}, 0.3f, 0.6f, s);
    s.pose.rotation = axis_angle({0, 0, 1}, float(kPi / 2));
    Body lying = rig.capsule({4, 0.35, 0.3}, 0.3f, 0.6f, s);
    s.velocity = {0, 0, 2};
    s.spin = {2 / 0.3f, 0, 0};
    Body rolling = rig.capsule({-4, 0.3, -6}, 0.3f, 0.6f, s);
    rig.run(1);
    EXPECT_NEAR(standing.center_of_mass().y, 0.9, 0.005);
    EXPECT_NEAR(standing.direction_to_world({0, 1, 0}).y, 1, 1e-4);
    EXPECT_NEAR(lying.center_of_mass().y, 0.3, 0.005);
    EXPECT_NEAR(lying.direction_to_world({0, 1, 0}).y, 0, 2e-3);
    rig.run(2);
    EXPECT_TRUE(lying.is_asleep());
    EXPECT_NEAR(rolling.velocity().z, 2, 0.01);
    EXPECT_NEAR(rolling.center_of_mass().z, 0, 0.03);
    EXPECT_NEAR(rolling.center_of_mass().x, -4, 2e-3);
    EXPECT_NEAR(rolling.center_of_mass().y, 0.3, 2e-3);
}

/// A log across two walls, then across one beam narrower than itself.
TEST(Round, ACapsuleRestsWhereItsCoreIsInTheMiddle) {
    RoundRig rig;
    BodySettings fixed;
    fixed.motion = MotionType::fixed;
    rig.box({0, -0.5, 0}, {0.4f, 0.5f, 2}, fixed);
    BodySettings s;
    s.pose.rotation = axis_angle({0, 0, 1}, float(kPi / 2));
    Body log = rig.capsule({0.1, 0.25, 0}, 0.2f, 1.5f, s);
    rig.run(3);
    EXPECT_NEAR(log.center_of_mass().y, 0.2, 0.01);
    EXPECT_NEAR(log.direction_to_world({0, 1, 0}).y, 0, 5e-3);
    EXPECT_TRUE(log.is_asleep());
}

TEST(Round, BallsAndCapsulesHitEachOther) {
    RoundRig rig(no_gravity());
    BodySettings s;
    s.restitution = 1;
    s.friction = 0;
    s.velocity = {4, 0, 0};
    Body a = rig.ball({-2, 0, 0}, 0.5f, s);
    s.velocity = {};
    Body b = rig.ball({0, 0, 0}, 0.5f, s);
    rig.run(1);
    EXPECT_NEAR(a.velocity().x, 0, 0.02);
    EXPECT_NEAR(b.velocity().x, 4, 0.02);
    // A glancing hit: the push is along the line of centres, 30 degrees off.
    s.velocity = {4, 0, 0};
    Body c = rig.ball({-2, 10.5, 0}, 0.5f, s);
    s.velocity = {};
    Body d = rig.ball({0, 10, 0}, 0.5f, s);
    rig.run(1);
    EXPECT_NEAR(d.velocity().x, 4 * 0.75, 0.1);
    EXPECT_NEAR(d.velocity().y, -4 * 0.4330, 0.1);
    EXPECT_NEAR(c.velocity().x + d.velocity().x, 4, 1e-3);
    EXPECT_NEAR(c.velocity().y + d.velocity().y, 0, 1e-3);
}

TEST(Round, CapsulesLieOnEachOther) {
    RoundRig rig;
    rig.space.set_ground(0.0);
    BodySettings s;
    s.pose.rotation = axis_angle({0, 0, 1}, float(kPi / 2));
    rig.capsule({0, 0.3, -0.31}, 0.3f, 1, s);
    rig.capsule({0, 0.3, 0.31}, 0.3f, 1, s);
    BodySettings fixed = s;
    fixed.motion = MotionType::fixed;
    rig.capsule({0, 0.3, -0.92}, 0.3f, 1, fixed);
    rig.capsule({0, 0.3, 0.92}, 0.3f, 1, fixed);
    Body top = rig.capsule({0.1, 0.85, 0}, 0.3f, 1, s);
    rig.run(4);
    EXPECT_NEAR(top.center_of_mass().y, 0.3 + std::sqrt(0.36 - 0.31 * 0.31), 0.03);
    EXPECT_NEAR(top.direction_to_world({0, 1, 0}).y, 0, 0.01);
}

TEST(Round, ABallRestsInACorner) {
    BlockGround ground;
    ground.grid.set({1, 0, 0}, ground.stone);
    ground.grid.set({0, 0, 1}, ground.stone);
    RoundRig rig;
    rig.space.set_terrain(&ground.grid);
    BodySettings s;
    s.velocity = {2, 0, 2};
    s.restitution = 0;
    s.rolling_resistance = 2;
    Body ball = rig.ball({0.4, 0.3, 0.4}, 0.3f, s);
    rig.run(4);
    // Its spin climbs the walls a little, so it rolls back a little.
    EXPECT_NEAR(ball.center_of_mass().x, 0.65, 0.055);
    EXPECT_NEAR(ball.center_of_mass().z, 0.65, 0.055);
    EXPECT_NEAR(ball.center_of_mass().y, 0.3, 0.005);
    EXPECT_TRUE(ball.is_asleep());
}

TEST(Round, DeepInsideABallLeavesByTheNearestFreeFace) {
    BlockGround ground(6, 4);
    RoundRig rig;
    rig.space.set_terrain(&ground.grid);
    Body ball = rig.ball({0.5, -0.4, 0.5}, 0.2f);
    rig.run(2);
    EXPECT_NEAR(ball.center_of_mass().y, 0.2, 0.01);
}

/// Case 20 with a ball and a capsule.
TEST(Round, FastOnesDoNotPassAWall) {
    BlockTable table;
    Grid wall(table);
    const BlockId stone = table.add(Material{});
    for (int z = -5; z < 5; z++)
        for (int y = -5; y < 5; y++) wall.set({10, y, z}, stone);
    for (const float speed : {30.0f, 97.0f, 200.0f, 400.0f})
        for (const float radius : {0.1f, 0.4f, 1.5f})
            for (const bool capsule : {false, true}) {
                RoundRig rig(no_gravity());
                rig.space.set_terrain(&wall);
                BodySettings s;
                s.velocity = {speed, 0.1f * speed, 0};
                s.pose.rotation = axis_angle({1, 1, 0}, 1);
                Body b = capsule ? rig.capsule({-3, -1, 0.2}, radius, radius, s)
                                 : rig.ball({-3, -1, 0.2}, radius, s);
                bool hit = false;
                for (int i = 0; i < 60; i++) {
                    rig.space.step(kTick);
                    for (const Contact& c : rig.space.contacts())
                        hit = hit || (c.with_terrain && c.approach_speed > 0.9f * speed);
                }
                EXPECT_LT(b.center_of_mass().x, 10) << speed << " " << radius << capsule;
                EXPECT_TRUE(hit) << speed << " " << radius << capsule;
            }
}

TEST(Round, FastOnesHitBodiesAndEachOther) {
    for (const bool target_round : {false, true}) {
        RoundRig rig(no_gravity());
        BodySettings s;
        Body target = target_round ? rig.ball({20, 0, 0}, 0.3f, s) : rig.box({20, 0, 0}, {0.05f, 1, 1}, s);
        s.velocity = {200, 0, 0};
        Body ball = rig.ball({0.7, 0, 0}, 0.1f, s);
        const float before = ball.mass() * 200;
        rig.run(0.5f);
        EXPECT_GT(target.velocity().x, 0.5f);
        EXPECT_LT(ball.center_of_mass().x, target.center_of_mass().x);
        EXPECT_NEAR(ball.mass() * ball.velocity().x + target.mass() * target.velocity().x, before,
                    1e-3f * before);
    }
}

TEST(Round, ABallRestsOnAGridPiece) {
    RoundRig rig;
    rig.space.set_ground(0.0);
    BlockTable table;
    Grid grid(table);
    const BlockId stone = table.add(Material{});
    for (int x = 0; x < 3; x++)
        for (int z = 0; z < 3; z++) grid.set({x, 0, z}, stone);
    Body piece = rig.space.add_body(BodyShape::from_grid(grid, 1), {});
    BodySettings s;
    s.rolling_resistance = 1;
    Body ball = rig.ball({1.5, 3, 1.5}, 0.4f, s);
    rig.run(4);
    EXPECT_NEAR(ball.center_of_mass().y, 1.4, 0.02);
    EXPECT_NEAR(piece.center_of_mass().y, 0.5, 0.02);
    EXPECT_TRUE(ball.is_asleep());
}

TEST(Round, RaysMeetBallsAndCapsules) {
    RoundRig rig(no_gravity());
    Body ball = rig.ball({5, 0, 0}, 1);
    BodySettings s;
    s.pose.rotation = axis_angle({0, 0, 1}, float(kPi / 2));
    Body capsule = rig.capsule({0, 10, 0}, 0.5f, 2, s);
    auto hit = rig.space.cast_ray({0, 0.6, 0}, {1, 0, 0}, 100);
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->body, ball);
    EXPECT_NEAR(hit->distance, 4.2, 1e-5);
    EXPECT_NEAR(length(hit->normal - Vec3{-0.8f, 0.6f, 0}), 0, 1e-5);
    EXPECT_FALSE(rig.space.cast_ray({0, 1.01, 0}, {1, 0, 0}, 100));
    EXPECT_FALSE(rig.space.cast_ray({0, 0.8, 0.8}, {1, 0, 0}, 100));  // the box around it has that corner
    hit = rig.space.cast_ray({1.9, 15, 0}, {0, -1, 0}, 100);
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->body, capsule);
    EXPECT_NEAR(hit->distance, 4.5, 1e-5);
    hit = rig.space.cast_ray({10, 10, 0.3}, {-1, 0, 0}, 100);
    ASSERT_TRUE(hit);
    EXPECT_NEAR(hit->distance, 10 - 2 - 0.4, 1e-5);
    hit = rig.space.cast_ray({5, 0.2, 0}, {1, 0, 0}, 100);  // from inside
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->distance, 0);
}

}  // namespace
}  // namespace talus
