// Motion with known answers.
#include "rigs.h"

namespace talus {
namespace {

TEST(Motion, FreeFallIsExact) {
    for (const float dt : {1.0f / 60, 1.0f / 20}) {
        Rig rig;
        Body b = rig.cube({0, 100, 0});
        rig.run(2, dt);
        EXPECT_NEAR(b.center_of_mass().y, 100 - 0.5 * 9.81 * 4, 1e-3) << dt;
        EXPECT_NEAR(b.velocity().y, -9.81 * 2, 1e-3) << dt;
    }
}

TEST(Motion, ThrownBodyFollowsTheParabola) {
    Rig rig;
    BodySettings s;
    s.velocity = {3, 8, -2};
    Body b = rig.cube({0, 50, 0}, 1, s);
    rig.run(1.5f);
    EXPECT_NEAR(b.center_of_mass().x, 4.5, 1e-3);
    EXPECT_NEAR(b.center_of_mass().y, 50 + 12 - 0.5 * 9.81 * 2.25, 1e-3);
    EXPECT_NEAR(b.center_of_mass().z, -3, 1e-3);
}

TEST(Motion, ForceLastsOneStepWhateverItsLength) {
    for (const float dt : {1.0f / 60, 1.0f / 20, 1.0f / 240}) {
        Rig rig(no_gravity());
        Body b = rig.cube({});
        b.add_force({2000, 0, 0});
        rig.space.step(dt);
        rig.space.step(dt);
        EXPECT_NEAR(b.velocity().x, 2 * dt, 1e-6f);
    }
}

TEST(Motion, ForceAtAPointTurns) {
    Rig rig(no_gravity());
    Body b = rig.cube({5, 6, 7});
    b.add_force_at({0, 0, 600}, {5.5, 6, 7});
    rig.space.step(kTick);
    // Torque -300 about y, inertia of a unit cube of 1000 kg is 1000 / 6.
    EXPECT_NEAR(b.spin().y, -300 / (1000.0f / 6) * kTick, 1e-5f);
    EXPECT_NEAR(b.velocity().z, 0.6f * kTick, 1e-6f);
}

TEST(Motion, ImpulseAtAPoint) {
    Rig rig(no_gravity());
    Body b = rig.box({}, {1, 0.5f, 0.25f});
    const float m = b.mass();
    b.add_impulse_at({0, m, 0}, {1, 0, 0});
    EXPECT_NEAR(b.velocity().y, 1, 1e-5f);
    EXPECT_NEAR(b.spin().z, m / b.inertia().zz, 1e-4f);
}

/// A body that tumbles freely keeps its energy and angular momentum.
void tumble(Vec3 spin, float dt) {
    Rig rig(no_gravity());
    BodySettings s;
    s.spin = spin;
    Body b = rig.box({}, {1, 0.6f, 0.2f}, s);
    const double e0 = kinetic_energy(b);
    const Vec3 l0 = angular_momentum(b);
    double worst_energy = 0, worst_momentum = 0;
    for (int i = 0; i < int(60 / dt); i++) {
        rig.space.step(dt);
        worst_energy = std::max(worst_energy, std::fabs(kinetic_energy(b) / e0 - 1));
        worst_momentum = std::max(worst_momentum, double(length(angular_momentum(b) - l0) / length(l0)));
    }
    EXPECT_LT(worst_energy, 1e-3);
    EXPECT_LT(worst_momentum, 1e-3);
}

TEST(Motion, TumblingKeepsEnergyAndMomentum) { tumble({1, 2, 3}, kTick); }
TEST(Motion, TumblingAboutTheUnstableAxis) { tumble({0.001f, 5, 0}, kTick); }
TEST(Motion, TumblingFast) { tumble({8, 12, -7}, kTick); }
TEST(Motion, TumblingInTicks) { tumble({1, 2, 3}, 1.0f / 20); }

TEST(Motion, TheUnstableAxisFlips) {
    Rig rig(no_gravity());
    BodySettings s;
    s.spin = {0.05f, 5, 0};
    Body b = rig.box({}, {1, 0.6f, 0.2f}, s);
    float least = 1, most = -1;
    for (int i = 0; i < 60 * 20; i++) {
        rig.space.step(kTick);
        const float along = b.direction_to_world({0, 1, 0}).y;
        least = std::min(least, along);
        most = std::max(most, along);
    }
    EXPECT_LT(least, -0.9f);
    EXPECT_GT(most, 0.9f);
}

TEST(Motion, StableAxesStay) {
    for (const Vec3 axis : {Vec3{1, 0, 0}, Vec3{0, 0, 1}}) {
        Rig rig(no_gravity());
        BodySettings s;
        s.spin = axis * 5.0f + Vec3{0, 0.05f, 0};
        Body b = rig.box({}, {1, 0.6f, 0.2f}, s);
        for (int i = 0; i < 60 * 20; i++) {
            rig.space.step(kTick);
            ASSERT_GT(dot(b.direction_to_world(axis), axis), 0.99f);
        }
    }
}

TEST(Motion, DampingTakesItsShare) {
    Rig rig(no_gravity());
    BodySettings s;
    s.velocity = {10, 0, 0};
    s.spin = {0, 4, 0};
    s.linear_damping = 0.5f;
    s.angular_damping = 1;
    Body b = rig.cube({}, 1, s);
    rig.run(1);
    EXPECT_NEAR(b.velocity().x, 10 * std::exp(-0.5), 0.02);
    EXPECT_NEAR(b.spin().y, 4 * std::exp(-1.0), 0.02);
}

TEST(Motion, GravityFactor) {
    Rig rig;
    BodySettings s;
    s.gravity_factor = 0;
    Body a = rig.cube({0, 10, 0}, 1, s);
    s.gravity_factor = -1;
    Body b = rig.cube({5, 10, 0}, 1, s);
    rig.run(1);
    EXPECT_EQ(a.center_of_mass().y, 10);
    EXPECT_NEAR(b.center_of_mass().y, 10 + 0.5 * 9.81, 1e-3);
}

TEST(Motion, KinematicBodiesMoveAndCarry) {
    Rig rig;
    BodySettings s;
    s.motion = MotionType::kinematic;
    s.velocity = {1, 0, 0};
    Body belt = rig.box({0, 0, 0}, {3, 0.5f, 3}, s);
    Body load = rig.cube({0, 1, 0});
    rig.run(2);
    EXPECT_NEAR(belt.center_of_mass().x, 2, 1e-3);
    EXPECT_NEAR(load.center_of_mass().x, 2, 0.15);
    EXPECT_NEAR(load.velocity().x, 1, 0.05);
    EXPECT_NEAR(load.center_of_mass().y, 1, 0.02);
}

TEST(Motion, ATurningPlatformCarriesRound) {
    Rig rig;
    BodySettings s;
    s.motion = MotionType::kinematic;
    s.spin = {0, 0.5f, 0};
    rig.box({0, 0, 0}, {4, 0.5f, 4}, s);
    Body load = rig.cube({2, 1, 0});
    rig.run(2);
    // After 2 s the place under it has turned by one radian.
    const DVec3 at = load.center_of_mass();
    EXPECT_NEAR(std::atan2(-at.z, at.x), 1.0, 0.1);
    EXPECT_NEAR(std::hypot(at.x, at.z), 2, 0.1);
}

TEST(Motion, PausedSpacesStandStill) {
    Rig rig;
    Body b = rig.cube({0, 10, 0});
    rig.space.set_paused(true);
    rig.run(1);
    EXPECT_EQ(b.center_of_mass().y, 10);
    rig.space.set_paused(false);
    rig.run(1);
    EXPECT_LT(b.center_of_mass().y, 6);
}

}  // namespace
}  // namespace talus
