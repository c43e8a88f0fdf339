// Nothing passes a wall one cell thick: against terrain and bodies, slow to very fast, turning or not.
#include "rigs.h"

namespace talus {
namespace {

struct Shot {
    float speed, size, spin;
};
class TunnelTest : public testing::TestWithParam<Shot> {};

bool reported(const Space& space, const Body& b, float& speed) {
    bool any = false;
    for (const Contact& c : space.contacts())
        if (c.a == b.id() || c.b == b.id()) {
            any = true;
            speed = std::max(speed, c.approach_speed);
        }
    return any;
}

TEST_P(TunnelTest, StopsAtTerrain) {
    const Shot shot = GetParam();
    for (const float dt : {1.0f / 60, 1.0f / 20})
        for (const Vec3 aim : {Vec3{1, 0, 0}, Vec3{0.8f, 0.1f, 0.59f}}) {
            BlockTable table;
            Grid grid(table);
            const BlockId id = table.add(Material{});
            for (int y = -30; y < 30; y++)
                for (int z = -30; z < 30; z++) grid.set({10, y, z}, id);
            Rig rig(no_gravity());
            rig.space.set_terrain(&grid);
            BodySettings s;
            s.velocity = aim * shot.speed;
            s.spin = {0, shot.spin, 0.5f * shot.spin};
            s.pose.rotation = axis_angle({1, 1, 0}, 0.4f);
            Body b = rig.cube({0.3, 0.1, 0.2}, shot.size, s);
            bool hit = false;
            float speed = 0;
            for (int i = 0; i < 120; i++) {
                rig.space.step(dt);
                hit |= reported(rig.space, b, speed);
                ASSERT_LT(b.center_of_mass().x, 10.3) << i;
            }
            EXPECT_TRUE(hit);
            EXPECT_GT(speed, 0.9f * shot.speed * aim.x);
        }
}

TEST_P(TunnelTest, StopsAtABody) {
    const Shot shot = GetParam();
    for (const float dt : {1.0f / 60, 1.0f / 20}) {
        Rig rig(no_gravity());
        BodySettings s;
        s.motion = MotionType::fixed;
        rig.box({10, 0, 0}, {0.5f, 10, 10}, s);
        s.motion = MotionType::dynamic;
        s.velocity = {shot.speed, 0, 0};
        s.spin = {0, shot.spin, 0.5f * shot.spin};
        Body b = rig.cube({0.3, 0.1, 0.2}, shot.size, s);
        bool hit = false;
        float speed = 0;
        for (int i = 0; i < 120; i++) {
            rig.space.step(dt);
            hit |= reported(rig.space, b, speed);
            ASSERT_LT(b.center_of_mass().x, 10) << i;
        }
        EXPECT_TRUE(hit);
        EXPECT_GT(speed, 0.9f * shot.speed);
    }
}

TEST_P(TunnelTest, TwoMeetHeadOn) {
    const Shot shot = GetParam();
    Rig rig(no_gravity());
    BodySettings s;
    s.velocity = {shot.speed, 0, 0};
    Body a = rig.cube({-10, 0, 0}, shot.size, s);
    s.velocity = {-shot.speed, 0, 0};
    Body b = rig.cube({10, 0.01, 0}, shot.size, s);
    for (int i = 0; i < 120; i++) {
        rig.space.step(kTick);
        ASSERT_LT(a.center_of_mass().x, b.center_of_mass().x) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Shots, TunnelTest,
                         testing::Values(Shot{20, 1, 0}, Shot{50, 1, 0}, Shot{50, 0.3f, 10}, Shot{200, 1, 0},
                                         Shot{200, 0.2f, 15}, Shot{200, 0.1f, 0}, Shot{700, 0.5f, 5}));

TEST(Tunnel, FastSlidingAlongAFloorIsNotHeldUp) {
    BlockGround ground(150, 1);
    Rig rig(no_sleep());
    rig.space.set_terrain(&ground.grid);
    BodySettings s;
    s.friction = 0;
    s.velocity = {60, 0, 0};
    Body b = rig.cube({-140, 0.5, 0.3}, 1, s);
    rig.run(4);
    EXPECT_NEAR(b.center_of_mass().x, 100, 1.5);
    EXPECT_NEAR(b.velocity().x, 60, 0.1);
}

TEST(Tunnel, AFallFromHighLandsOnAThinPlate) {
    Rig rig;
    BodySettings s;
    s.motion = MotionType::fixed;
    s.restitution = 0;
    rig.box({0, 0, 0}, {5, 0.03f, 5}, s);
    s.motion = MotionType::dynamic;
    Body b = rig.box({0, 600, 0}, {0.1f, 0.03f, 0.1f}, s);
    rig.run(14);
    EXPECT_NEAR(b.center_of_mass().y, 0.06, 0.03);
}

TEST(Tunnel, AFastBodyHitsALightFreeOne) {
    Rig rig(no_gravity());
    BodySettings s;
    s.restitution = 0;
    s.velocity = {150, 0, 0};
    s.density = 5000;
    Body a = rig.cube({-10, 0, 0}, 1, s);
    s.velocity = {};
    s.density = 500;
    Body b = rig.cube({0, 0, 0}, 0.5f, s);
    rig.run(0.5f);
    EXPECT_GT(b.center_of_mass().x, a.center_of_mass().x);
    const double momentum =
        double(a.mass()) * double(a.velocity().x) + double(b.mass()) * double(b.velocity().x);
    EXPECT_NEAR(momentum, 5000 * 150, 750);
}

}  // namespace
}  // namespace talus
