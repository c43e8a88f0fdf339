// Contacts with known answers: friction, bounces, hits, stacks.
#include "rigs.h"

#include "scenes/rigid_scene.h"

namespace talus {
namespace {

class SlideTest : public testing::TestWithParam<float> {};

TEST_P(SlideTest, StopsAfterVSquaredOverTwoMuG) {
    const float mu = GetParam();
    Rig rig(no_sleep());
    rig.space.set_ground(0.0, mu);
    BodySettings s;
    s.friction = mu;
    s.velocity = {4, 0, 0};
    Body b = rig.box({0, 0.25, 0}, {0.5f, 0.25f, 0.5f}, s);
    rig.run(4 / (mu * kG) + 1);
    const float expected = 16 / (2 * mu * kG);
    EXPECT_NEAR(b.center_of_mass().x, expected, 0.01f * expected + 0.005f);
    EXPECT_LT(length(b.velocity()), 0.01f);
}
INSTANTIATE_TEST_SUITE_P(Friction, SlideTest, testing::Values(0.05f, 0.1f, 0.3f, 0.6f));

TEST(Contact, SlowSlideStopsWhereItShould) {
    Rig rig(no_sleep());
    rig.space.set_ground(0.0, 0.05f);
    BodySettings s;
    s.friction = 0.05f;
    s.velocity = {0.4f, 0, 0};
    Body b = rig.box({0, 0.25, 0}, {0.5f, 0.25f, 0.5f}, s);
    rig.run(3);
    const float expected = 0.16f / (2 * 0.05f * kG);
    EXPECT_NEAR(b.center_of_mass().x, expected, 0.02f * expected);
}

/// A flat box on a fixed plank at an angle. @return how far it went in 3 s
double slide_on_slope(float mu, float angle) {
    Rig rig(no_sleep());
    BodySettings plank;
    plank.motion = MotionType::fixed;
    plank.friction = mu;
    plank.pose.rotation = axis_angle({0, 0, 1}, -angle);
    const Vec3 up = rotate(plank.pose.rotation, {0, 1, 0});
    rig.box({0, 0, 0}, {20, 0.5f, 3}, plank);
    BodySettings s;
    s.friction = mu;
    s.pose.rotation = plank.pose.rotation;
    const DVec3 at = to_double(up * 0.75f);
    Body b = rig.box(at, {0.5f, 0.25f, 0.5f}, s);
    rig.run(3);
    return length(b.center_of_mass() - at);
}

TEST(Contact, SlopeJustUnderAndOverTheFrictionAngle) {
    const float mu = 0.5f, angle = std::atan(mu);
    EXPECT_LT(slide_on_slope(mu, angle * 0.97f), 0.01);
    // a = g (sin - mu cos), s = a t^2 / 2
    const float over = angle * 1.05f;
    const double expected = 0.5 * 9.81 * double(std::sin(over) - mu * std::cos(over)) * 9;
    EXPECT_NEAR(slide_on_slope(mu, over), expected, 0.05 * expected);
}

TEST(Contact, BounceHeightIsRestitutionSquared) {
    for (const float e : {0.0f, 0.3f, 0.5f, 0.8f}) {
        Rig rig(no_sleep());
        rig.space.set_ground(0.0);
        BodySettings s;
        s.restitution = e;
        Body b = rig.cube({0, 4.5, 0}, 1, s);
        bool hit = false;
        double top = 0;
        for (int i = 0; i < 240; i++) {
            rig.space.step(kTick);
            if (!rig.space.contacts().empty()) {
                if (hit && e > 0) break;  // the second landing
                hit = true;
            } else if (hit) {
                top = std::max(top, b.center_of_mass().y - 0.5);
            }
        }
        // The speed is right at the ground; where the bounce begins is known to within one step's motion.
        EXPECT_NEAR(top, 4 * double(e * e), 0.12) << e;
    }
}

TEST(Contact, SlowLandingsDoNotBounce) {
    Rig rig(no_sleep());
    rig.space.set_ground(0.0);
    BodySettings s;
    s.restitution = 0.9f;
    Body b = rig.cube({0, 0.6, 0}, 1, s);  // lands at 1.4 m/s
    double top = 0;
    for (int i = 0; i < 60; i++) {
        rig.space.step(kTick);
        if (i > 12) top = std::max(top, b.center_of_mass().y);
    }
    EXPECT_LT(top, 0.51);
}

TEST(Contact, InelasticHitOfTwo) {
    for (const Vec3 along : {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, -1, 0}, Vec3{0, 0, 1}}) {
        Rig rig(no_gravity());
        BodySettings s;
        s.restitution = 0;
        s.velocity = along * 6.0f;
        Body a = rig.cube(to_double(along * -2.0f), 1, s);
        s.velocity = {};
        s.density = 3000;
        Body b = rig.cube({}, 1, s);
        rig.run(1.0f);
        // Common velocity 6 * 1000 / 4000.
        EXPECT_NEAR(dot(a.velocity(), along), 1.5f, 0.01f);
        EXPECT_NEAR(dot(b.velocity(), along), 1.5f, 0.01f);
    }
}

TEST(Contact, VerticalHitUnderGravityKeepsMomentum) {
    // Both fall freely; the upper one catches up.
    Rig rig;
    BodySettings s;
    s.restitution = 0;
    s.velocity = {0, -5, 0};
    Body a = rig.cube({0, 203, 0}, 1, s);
    s.velocity = {};
    Body b = rig.cube({0, 200, 0}, 1, s);
    rig.run(1);
    const double momentum =
        double(a.mass()) * double(a.velocity().y) + double(b.mass()) * double(b.velocity().y);
    EXPECT_NEAR(momentum, 1000 * -5 + 2000 * -9.81, 25);
}

TEST(Contact, ElasticHitOfTwo) {
    Rig rig(no_gravity());
    BodySettings s;
    s.restitution = 1;
    s.velocity = {4, 0, 0};
    Body a = rig.cube({-2, 0, 0}, 1, s);
    s.velocity = {};
    Body b = rig.cube({}, 1, s);
    rig.run(1);
    EXPECT_NEAR(a.velocity().x, 0, 0.02f);
    EXPECT_NEAR(b.velocity().x, 4, 0.02f);
}

TEST(Contact, ManyHitsKeepMomentum) {
    Rig rig(no_gravity());
    std::vector<Body> all;
    std::uint64_t seed = 7;
    auto unit = [&] { return float(double(seed = mix64(seed + 1)) / 18446744073709551616.0) * 2 - 1; };
    for (int i = 0; i < 27; i++) {
        BodySettings s;
        s.pose.rotation = axis_angle({unit(), unit(), unit()}, unit() * 3);
        s.velocity = Vec3{unit(), unit(), unit()} * 3.0f -
                     Vec3{float(i % 3 - 1), float(i / 3 % 3 - 1), float(i / 9 - 1)} * 2.0f;
        s.spin = Vec3{unit(), unit(), unit()} * 3.0f;
        all.push_back(rig.box({2.2 * (i % 3), 2.2 * (i / 3 % 3), 2.2 * (i / 9)}, {0.8f, 0.5f, 0.6f}, s));
    }
    auto momentum = [&] {
        DVec3 p, l;
        for (const Body& b : all) {
            const DVec3 q = to_double(b.velocity()) * double(b.mass());
            p += q;
            l += cross(b.center_of_mass(), q) + to_double(angular_momentum(b));
        }
        return std::pair{p, l};
    };
    double scale = 0, energy0 = 0, energy1 = 0;
    for (const Body& b : all) {
        scale += double(b.mass()) * double(length(b.velocity()));
        energy0 += kinetic_energy(b);
    }
    const auto before = momentum();
    rig.run(3);
    const auto after = momentum();
    for (const Body& b : all) energy1 += kinetic_energy(b);
    EXPECT_LT(length(after.first - before.first) / scale, 1e-3);
    // Places of action are fixed over a step while bodies slide along each other.
    EXPECT_LT(length(after.second - before.second) / (scale * 3), 4e-3);
    EXPECT_LT(energy1, energy0);
}

TEST(Contact, TiltedDropGainsNoEnergy) {
    // Case 43: contacts on one edge. What its contacts say they pushed is what its momentum changed by.
    for (const float tilt : {0.05f, 0.2f, 0.5f, 0.78f}) {
        Rig rig(no_sleep());
        rig.space.set_ground(0.0);
        BodySettings s;
        s.pose.rotation = axis_angle({0.3f, 0.1f, 1}, tilt);
        Body b = rig.box({0, 4, 0}, {1, 0.5f, 0.7f}, s);
        const double start = energy(b);
        double last = start, gain = 0, pushed = 0, imbalance = 0;
        for (int i = 0; i < 300; i++) {
            rig.space.step(kTick);
            for (const Contact& c : rig.space.contacts()) pushed -= double(c.impulse) * double(c.normal.y);
            const double m = double(b.mass()), weight = m * 9.81 * double(kTick) * (i + 1);
            imbalance = std::max(imbalance, std::fabs(m * double(b.velocity().y) - (pushed - weight)));
            gain = std::max(gain, energy(b) - last);
            last = energy(b);
        }
        EXPECT_LT(gain / start, 1e-3) << tilt;
        // Against the momentum of its fall.
        EXPECT_LT(imbalance / (double(b.mass()) * std::sqrt(2 * 9.81 * 3)), 1e-3) << tilt;
        EXPECT_LT(kinetic_energy(b), 1e-3 * start) << tilt;
        EXPECT_NEAR(b.bounds().min.y, 0, 0.02) << tilt;
    }
}

class ColumnTest : public testing::TestWithParam<int> {};

TEST_P(ColumnTest, StandsForAMinute) {
    const int n = GetParam();
    for (const bool sleep : {true, false}) {
        SpaceSettings settings;
        settings.allow_sleep = sleep;
        scenes::PlacedScene scene = scenes::place(scenes::column_scene(n), settings);
        for (int i = 0; i < 3600; i++) scene.space->step(kTick);
        const Body top = scene.body_of.back();
        const DVec3 at = top.center_of_mass();
        EXPECT_LT(n - 0.5 - at.y, 0.01 * n) << sleep;
        EXPECT_LT(std::hypot(at.x, at.z), 0.015) << sleep;
        EXPECT_GT(top.direction_to_world({0, 1, 0}).y, 0.9999f) << sleep;
        EXPECT_EQ(top.is_asleep(), sleep);
    }
}
INSTANTIATE_TEST_SUITE_P(Heights, ColumnTest, testing::Values(10, 30, 60));

TEST(Contact, StackOfTenStandsInTicks) {
    scenes::PlacedScene scene = scenes::place(scenes::column_scene(10), no_sleep());
    for (int i = 0; i < 20 * 20; i++) scene.space->step(1.0f / 20);
    const DVec3 at = scene.body_of.back().center_of_mass();
    EXPECT_NEAR(at.y, 9.5, 0.02);
    EXPECT_NEAR(std::hypot(at.x, at.z), 0, 0.01);
}

TEST(Contact, EventsTellSpeedImpulseAndBeginning) {
    Rig rig(no_sleep());
    rig.space.set_ground(0.0);
    BodySettings s;
    s.restitution = 0;
    Body b = rig.cube({0, 5.5, 0}, 1, s);
    bool began = false;
    float impulse = 0, speed = 0;
    for (int i = 0; i < 25; i++) {
        rig.space.step(1.0f / 20);
        for (const Contact& c : rig.space.contacts()) {
            if (c.began) {
                EXPECT_FALSE(began) << "begins once";
                began = true;
                speed = c.approach_speed;
                EXPECT_TRUE(c.with_terrain);
                EXPECT_EQ(c.a, b.id());
                EXPECT_NEAR(c.normal.y, -1, 1e-4f);
                EXPECT_NEAR(c.point.y, 0, 0.05);
            }
            if (c.approach_speed > 1) impulse += c.impulse;
        }
    }
    ASSERT_TRUE(began);
    EXPECT_NEAR(speed, std::sqrt(2 * kG * 5), 0.35f);
    EXPECT_NEAR(impulse, 1000 * std::sqrt(2 * kG * 5), 900);
}

TEST(Contact, OnlyBallastWeighs) {
    ShapeBox boxes[2];
    boxes[0].box = {{-0.5f, -0.5f, -0.5f}, {0.5f, 0.5f, 0.5f}};
    boxes[1].box = {{-0.5f, 2, -0.5f}, {0.5f, 3, 0.5f}};
    boxes[1].collides = false;
    Rig rig;
    rig.space.set_ground(0.0);
    BodySettings s;
    s.pose.position = {0, 0.5, 0};
    s.pose.rotation = axis_angle({1, 0, 0}, 3.14159265f);  // upside down: the ballast hangs below the ground
    Body b = rig.space.add_body(BodyShape(boxes), s);
    EXPECT_NEAR(b.mass(), 2000, 0.1f);
    EXPECT_NEAR(b.local_center_of_mass().y, 1.25f, 1e-5f);
    rig.run(2);
    EXPECT_NEAR(b.pose().position.y, 0.5, 0.02);
}

}  // namespace
}  // namespace talus
