#include "talus/math.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

TEST(Math, SineAndCosineAgreeWithTheLibrary) {
    for (double a = -1000; a < 1000; a += 0.37) {
        const SinCos sc = sin_cos(a);
        EXPECT_NEAR(sc.sin, std::sin(a), 1e-12) << a;
        EXPECT_NEAR(sc.cos, std::cos(a), 1e-12) << a;
    }
}

TEST(Math, RotationTurnsRightHanded) {
    const Vec3 v = rotate(axis_angle({0, 0, 3}, 1.57079633f), {1, 0, 0});
    EXPECT_NEAR(v.x, 0, 1e-6);
    EXPECT_NEAR(v.y, 1, 1e-6);
    const Quat a = axis_angle({1, 2, 3}, 0.7f), b = axis_angle({-2, 0, 1}, 1.9f);
    const Vec3 p{0.3f, -4, 2};
    const Vec3 both = rotate(a * b, p), one_by_one = rotate(a, rotate(b, p));
    for (int k = 0; k < 3; k++) EXPECT_NEAR(both[k], one_by_one[k], 2e-6);
    const Vec3 back = unrotate(a, rotate(a, p));
    for (int k = 0; k < 3; k++) EXPECT_NEAR(back[k], p[k], 2e-6);
}

}  // namespace
}  // namespace talus
