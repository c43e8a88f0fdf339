#include "talus/math.h"

namespace talus {

SinCos sin_cos(double angle) {
    // Reduction to [-pi/4, pi/4] in two parts of pi/2 (Cody and Waite), then Taylor polynomials, whose
    // first omitted terms there are below 1e-15.
    constexpr double kTwoOverPi = 0.63661977236758134308;
    constexpr double kHalfPiHigh = 1.57079632673412561417;
    constexpr double kHalfPiLow = 6.07710050650619224932e-11;
    const double q = angle * kTwoOverPi;
    const auto n = static_cast<std::int64_t>(q < 0 ? q - 0.5 : q + 0.5);
    const double r = (angle - double(n) * kHalfPiHigh) - double(n) * kHalfPiLow;
    const double r2 = r * r;
    const double s =
        r * (1 + r2 * (-1.0 / 6 +
                       r2 * (1.0 / 120 +
                             r2 * (-1.0 / 5040 + r2 * (1.0 / 362880 + r2 * (-1.0 / 39916800 +
                                                                            r2 * (1.0 / 6227020800.0 -
                                                                                  r2 / 1307674368000.0)))))));
    const double c =
        1 + r2 * (-0.5 + r2 * (1.0 / 24 +
                               r2 * (-1.0 / 720 + r2 * (1.0 / 40320 +
                                                        r2 * (-1.0 / 3628800 + r2 * (1.0 / 479001600 -
                                                                                     r2 / 87178291200.0))))));
    switch (n & 3) {
        case 0:
            return {s, c};
        case 1:
            return {c, -s};
        case 2:
            return {-s, -c};
        default:
            return {-c, s};
    }
}

Quat axis_angle(Vec3 axis, float angle) {
    const SinCos h = sin_cos(0.5 * double(angle));
    const Vec3 n = normalized(axis);
    const float s = float(h.sin);
    return normalized(Quat{n.x * s, n.y * s, n.z * s, float(h.cos)});
}

}  // namespace talus
