// physical_failure.h - what a face bears, and the thrusts a dry joint can pass on.
//
// Layer: structure (internal). Stress in Pa over a square face of area A = 1 and modulus W = 1/6 (cells):
//
//     tension, compression   N/A +- (|M1| + |M2|)/W at the worst corner
//     shear, torsion         V/A and T/0.208, each against cohesion + friction x pressure
//
// A dry joint holds when its thrust stays inside the face and inside the cone of friction:
//
//     N <= 0, |M1| <= |N|/2, |M2| <= |N|/2, |V| <= mu |N|, |T| <= mu |N|/3
//
// (a third of an edge: the mean arm of friction on a pressed square is 0.38), and when what is left of the
// face, 1 - 2 e along the edge nearer to it, is not crushed. Less than a hundredth of the face counts as one.
// Source: Heyman, The Stone Skeleton (1966); Timoshenko and Goodier, art. 109 (0.208).
// Tests: tests/structure/physical_failure_test.cpp
#pragma once

#include "structure/physical_lattice.h"

#include <cmath>

namespace talus::physical {

struct Strain {
    double share = 0;  // of the limit
    FailureKind kind = FailureKind::none;
};

/// A limit of nothing would make a share of nothing infinite.
constexpr double kLeastLimit = 1;  // Pa

inline StructureLimits weaker(const StructureLimits& a, const StructureLimits& b) {
    const auto least = [](double x, double y) { return x < y ? x : y; };
    return {least(a.tension, b.tension), least(a.compression, b.compression), least(a.cohesion, b.cohesion),
            least(a.friction, b.friction)};
}

/// `stress`: the six forces of a bond in Pa (moments over the edge), tension positive.
inline Strain strain_of(const StructureLimits& limits, const Local6& stress, bool dry) {
    const auto& s = stress.v;
    Strain worst;
    const auto consider = [&](double share, FailureKind kind) {
        if (share > worst.share) worst = {share, kind};
    };
    const auto at_least = [](double x) { return x > kLeastLimit ? x : kLeastLimit; };
    const double pressure = s[0] < 0 ? -s[0] : 0, shear = std::sqrt(s[1] * s[1] + s[2] * s[2]);
    const double twist = std::fabs(s[3]), m1 = std::fabs(s[4]), m2 = std::fabs(s[5]);
    if (dry) {
        const double bend = m1 > m2 ? m1 : m2;
        const double bears = at_least(pressure);
        consider(2 * bend / bears, FailureKind::tension);
        consider(s[0] / kLeastLimit, FailureKind::tension);
        const double left = 1 - 2 * bend / bears;
        consider(pressure / (left > 0.01 ? left : 0.01) / at_least(limits.compression),
                 FailureKind::compression);
        const double grip = at_least(limits.friction * pressure);
        consider(shear / grip, FailureKind::shear);
        consider(3 * twist / grip, FailureKind::torsion);
        return worst;
    }
    const double bend = 6 * (m1 + m2), grip = at_least(limits.cohesion + limits.friction * pressure);
    consider((s[0] + bend) / at_least(limits.tension), FailureKind::tension);
    consider((bend - s[0]) / at_least(limits.compression), FailureKind::compression);
    consider(shear / grip, FailureKind::shear);
    consider(twist / 0.208 / grip, FailureKind::torsion);
    return worst;
}

struct ShareBounds {
    double least, most;
};

/// What strain_of() can say, without dry joints, when the true stresses differ from these by d with the sum
/// of (d / spread)^2 at most 1.
inline ShareBounds share_bounds(const StructureLimits& limits, const Local6& stress, const Local6& spread) {
    const auto& s = stress.v;
    const auto& d = spread.v;
    ShareBounds out{0, 0};
    const auto consider = [&](double size, double off, double least_limit, double most_limit) {
        const auto at_least = [](double x) { return x > kLeastLimit ? x : kLeastLimit; };
        const double low = (size - off) / at_least(most_limit), high = (size + off) / at_least(least_limit);
        out.least = low > out.least ? low : out.least;
        out.most = high > out.most ? high : out.most;
    };
    const double bend = 6 * (std::fabs(s[4]) + std::fabs(s[5]));
    const double edge = std::sqrt(d[0] * d[0] + 36 * (d[4] * d[4] + d[5] * d[5]));
    consider(s[0] + bend, edge, limits.tension, limits.tension);
    consider(bend - s[0], edge, limits.compression, limits.compression);
    const double pressure = -s[0];
    const auto grip = [&](double p) { return limits.cohesion + limits.friction * (p > 0 ? p : 0); };
    const double least_grip = grip(pressure - d[0]), most_grip = grip(pressure + d[0]);
    const double across = d[1] > d[2] ? d[1] : d[2];
    consider(std::sqrt(s[1] * s[1] + s[2] * s[2]), across, least_grip, most_grip);
    consider(std::fabs(s[3]) / 0.208, d[3] / 0.208, least_grip, most_grip);
    return out;
}

/// The nearest force that a dry joint can pass on, "near" as the springs of the bond weigh it.
inline Local6 nearest_thrust(const Local6& f, double friction) {
    // In units where the metric is plain, each bound reads |v| <= slope n. The sum of squares is convex in n.
    static const double root[6] = {std::sqrt(kAxial), std::sqrt(kShear), std::sqrt(kShear),
                                   std::sqrt(kTwist), std::sqrt(kBend),  std::sqrt(kBend)};
    double g[6];
    for (int i = 0; i < 6; i++) g[i] = f.v[i] / root[i];
    const double size[4] = {std::fabs(g[4]), std::fabs(g[5]), std::sqrt(g[1] * g[1] + g[2] * g[2]),
                            std::fabs(g[3])};
    const double slope[4] = {0.5 * root[0] / root[4], 0.5 * root[0] / root[5], friction * root[0] / root[1],
                             friction / 3 * root[0] / root[3]};
    double n = -g[0];
    // The bounds that bind are those with size > slope n: start with none, add until it stays so.
    bool bind[4] = {};
    for (bool again = true; again;) {
        again = false;
        double top = -g[0], bottom = 1;
        for (int i = 0; i < 4; i++)
            if (bind[i]) {
                top += slope[i] * size[i];
                bottom += slope[i] * slope[i];
            }
        n = top / bottom;
        // The one that is broken most, in n; adding a bound raises n, so none ever has to leave if they are
        // taken in this order.
        int worst = -1;
        double most = n;
        for (int i = 0; i < 4; i++) {
            const double needs = slope[i] > 0 ? size[i] / slope[i] : size[i] > 0 ? 1e300 : 0;
            if (!bind[i] && needs > most) {
                worst = i;
                most = needs;
            }
        }
        if (worst >= 0) bind[worst] = again = true;
    }
    Local6 out{};
    if (!(n > 0)) return out;
    const auto cut = [&](int i) { return size[i] > slope[i] * n ? slope[i] * n / size[i] : 1.0; };
    const double shear = cut(2);
    out.v[0] = -n * root[0];
    out.v[1] = g[1] * shear * root[1];
    out.v[2] = g[2] * shear * root[2];
    out.v[3] = g[3] * cut(3) * root[3];
    out.v[4] = g[4] * cut(0) * root[4];
    out.v[5] = g[5] * cut(1) * root[5];
    return out;
}

}  // namespace talus::physical
