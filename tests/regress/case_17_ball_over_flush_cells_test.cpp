// Case 17: a small ball (r = 0.1 m) rolls at 5 m/s over flush cells: no vertical speed, no deflection. More
// kinds of ground and directions: tests/dynamics/round_test.cpp.
#include "tests/dynamics/rigs.h"

namespace talus {
namespace {

TEST(Case17, ASmallBallRollsOverFlushCells) {
    for (const float dt : {1.0f / 60, 1.0f / 20})
        for (const bool body : {false, true})
            for (const Vec3 d : {Vec3{1, 0, 0}, Vec3{0.8f, 0, 0.6f}, Vec3{-0.6f, 0, 0.8f}}) {
                BlockGround ground(28, 1);
                Rig rig;
                if (body) {
                    BodySettings fixed;
                    fixed.motion = MotionType::fixed;
                    rig.space.add_body(BodyShape::from_grid(ground.grid, 1), fixed);
                } else {
                    rig.space.set_terrain(&ground.grid);
                }
                BodySettings s;
                s.pose.position = DVec3{0.31, 0.1, 0.27} - to_double(d) * 20;
                s.velocity = d * 5.0f;
                s.spin = cross(Vec3{0, 1, 0}, d) * 50.0f;
                const DVec3 from = s.pose.position;
                Body ball = rig.space.add_body(BodyShape::sphere(0.1f), s);
                float up = 0, first_up = 0;
                const int steps = int(8 / dt);
                for (int i = 0; i < steps; i++) {
                    rig.space.step(dt);
                    const float v = std::fabs(ball.velocity().y);
                    if (float(i) * dt < 0.1f)  // its weight is taken on
                        first_up = std::max(first_up, v);
                    else
                        up = std::max(up, v);
                }
                EXPECT_LT(first_up, 0.02f) << dt << body << d.x;
                EXPECT_LT(up, 1e-3f) << dt << body << d.x;
                const DVec3 straight = from + to_double(d) * (5.0 * double(float(steps) * dt));
                const DVec3 off = ball.center_of_mass() - straight;
                const DVec3 side = off - to_double(d) * dot(off, to_double(d));
                EXPECT_LT(length(side), 2e-3) << dt << body << d.x;          // over 40 m
                EXPECT_NEAR(dot(off, to_double(d)), 0, 0.02) << dt << body;  // no speed is lost
            }
}

}  // namespace
}  // namespace talus
