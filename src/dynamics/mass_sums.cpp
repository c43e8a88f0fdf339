#include "dynamics/mass_sums.h"

namespace talus {

MassSums& MassSums::operator+=(const MassSums& b) {
    mass += b.mass;
    first += b.first;
    for (int i = 0; i < 6; i++) second[i] += b.second[i];
    return *this;
}

MassSums MassSums::scaled(double factor) const {
    MassSums r = *this;
    r.mass *= factor;
    r.first *= factor;
    for (double& s : r.second) s *= factor;
    return r;
}

MassSums sums_of_box(DVec3 lo, DVec3 hi) {
    const DVec3 size = hi - lo, c = (lo + hi) * 0.5;
    MassSums r;
    r.mass = size.x * size.y * size.z;
    r.first = c * r.mass;
    r.second[0] = r.mass * (c.x * c.x + size.x * size.x / 12);
    r.second[1] = r.mass * (c.y * c.y + size.y * size.y / 12);
    r.second[2] = r.mass * (c.z * c.z + size.z * size.z / 12);
    r.second[3] = r.mass * c.x * c.y;
    r.second[4] = r.mass * c.y * c.z;
    r.second[5] = r.mass * c.z * c.x;
    return r;
}

MassSums sums_of_capsule(double r, double h) {
    constexpr double kPi = 3.14159265358979323846;
    const double cylinder = kPi * r * r * 2 * h, ball = kPi * r * r * r * (4.0 / 3);
    MassSums s;
    s.mass = cylinder + ball;
    s.second[0] = s.second[2] = cylinder * r * r / 4 + ball * r * r / 5;
    // Half balls at both ends: their middles are 3/8 of the radius farther out.
    s.second[1] = cylinder * h * h / 3 + ball * (r * r / 5 + h * r * 0.75 + h * h);
    return s;
}

MassSums sums_of_block(const BlockShape& shape, double density, DVec3 o, double cell_size) {
    const double area = cell_size * cell_size, unit = density * area * cell_size;
    const double volume = shape.volume();
    const DVec3 f = shape.first_moment() * cell_size;
    const auto s = shape.second_moment();
    MassSums r;
    r.mass = unit * volume;
    r.first = (f + o * volume) * unit;
    r.second[0] = unit * (s[0] * area + 2 * o.x * f.x + o.x * o.x * volume);
    r.second[1] = unit * (s[1] * area + 2 * o.y * f.y + o.y * o.y * volume);
    r.second[2] = unit * (s[2] * area + 2 * o.z * f.z + o.z * o.z * volume);
    r.second[3] = unit * (s[3] * area + o.x * f.y + o.y * f.x + o.x * o.y * volume);
    r.second[4] = unit * (s[4] * area + o.y * f.z + o.z * f.y + o.y * o.z * volume);
    r.second[5] = unit * (s[5] * area + o.z * f.x + o.x * f.z + o.z * o.x * volume);
    return r;
}

Inertia inertia_about_center(const MassSums& sums) {
    if (!(sums.mass > 0)) return {};
    const DVec3 c = sums.first / sums.mass;
    double s[6];
    s[0] = sums.second[0] - sums.mass * c.x * c.x;
    s[1] = sums.second[1] - sums.mass * c.y * c.y;
    s[2] = sums.second[2] - sums.mass * c.z * c.z;
    s[3] = sums.second[3] - sums.mass * c.x * c.y;
    s[4] = sums.second[4] - sums.mass * c.y * c.z;
    s[5] = sums.second[5] - sums.mass * c.z * c.x;
    return {{s[1] + s[2], s[2] + s[0], s[0] + s[1], -s[3], -s[4], -s[5]}};
}

PrincipalFrame principal_frame(const Inertia& inertia) {
    const double* v = inertia.v;
    double a[3][3] = {{v[0], v[3], v[5]}, {v[3], v[1], v[4]}, {v[5], v[4], v[2]}};
    double q[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double trace = v[0] + v[1] + v[2];
    for (int sweep = 0; sweep < 16; sweep++)
        for (int p = 0; p < 2; p++)
            for (int r = p + 1; r < 3; r++) {
                if (std::fabs(a[p][r]) <= 1e-15 * trace) continue;
                // The smaller root of t^2 + 2 theta t - 1 = 0 rotates by at most 45 degrees.
                const double theta = (a[r][r] - a[p][p]) / (2 * a[p][r]);
                const double root = std::sqrt(theta * theta + 1);
                const double t = theta >= 0 ? 1 / (theta + root) : -1 / (root - theta);
                const double c = 1 / std::sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 3; k++) {
                    const double x = a[k][p], y = a[k][r];
                    a[k][p] = c * x - s * y;
                    a[k][r] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    const double x = a[p][k], y = a[r][k];
                    a[p][k] = c * x - s * y;
                    a[r][k] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    const double x = q[k][p], y = q[k][r];
                    q[k][p] = c * x - s * y;
                    q[k][r] = s * x + c * y;
                }
            }
    PrincipalFrame frame;
    for (int i = 0; i < 3; i++) {
        frame.moments[i] = float(a[i][i]);
        for (int j = 0; j < 3; j++) frame.axes.m[i][j] = float(q[i][j]);
    }
    return frame;
}

}  // namespace talus
