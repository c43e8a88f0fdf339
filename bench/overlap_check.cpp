#include "overlap_check.h"

#include <cmath>
#include <cstdint>
#include <unordered_map>

namespace talus::bench {

namespace {

struct Oriented {
    double c[3];
    double axes[3][3];  // [axis][component]
    double half[3];
};

/// Overlap depth along the best of 15 axes; negative or zero: apart.
double depth(const Oriented& a, const Oriented& b) {
    double best = 1e9;
    const double d[3] = {b.c[0] - a.c[0], b.c[1] - a.c[1], b.c[2] - a.c[2]};
    auto test = [&](double x, double y, double z) {
        const double l = std::sqrt(x * x + y * y + z * z);
        if (l < 1e-3) return true;
        x /= l, y /= l, z /= l;
        double reach = 0;
        for (int k = 0; k < 3; k++) {
            reach += a.half[k] * std::fabs(a.axes[k][0] * x + a.axes[k][1] * y + a.axes[k][2] * z);
            reach += b.half[k] * std::fabs(b.axes[k][0] * x + b.axes[k][1] * y + b.axes[k][2] * z);
        }
        const double s = reach - std::fabs(d[0] * x + d[1] * y + d[2] * z);
        if (s < best) best = s;
        return s > 0;
    };
    for (int k = 0; k < 3; k++) {
        if (!test(a.axes[k][0], a.axes[k][1], a.axes[k][2])) return best;
        if (!test(b.axes[k][0], b.axes[k][1], b.axes[k][2])) return best;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double *p = a.axes[i], *q = b.axes[j];
            if (!test(p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]))
                return best;
        }
    return best;
}

std::uint64_t place_key(long x, long y, long z) {
    return std::uint64_t(x + (1 << 20)) << 42 | std::uint64_t(y + (1 << 20)) << 21 |
           std::uint64_t(z + (1 << 20));
}

}  // namespace

OverlapReport check_overlaps(const scenes::RigidScene& scene, const std::vector<PiecePose>& poses) {
    OverlapReport report;
    struct Placed {
        Oriented box;
        std::size_t piece;
    };
    std::vector<Placed> cubes;
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> near;
    for (std::size_t i = 0; i < poses.size(); i++) {
        const PiecePose& p = poses[i];
        const double x = p.q[0], y = p.q[1], z = p.q[2], w = p.q[3];
        const double r[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                                {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                                {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
        bool lost =
            !(std::fabs(p.center.x) < 1e5 && std::fabs(p.center.y) < 1e5 && std::fabs(p.center.z) < 1e5);
        if (!lost && scene.flat) lost = p.center.y < scene.ground;
        if (!lost && !scene.flat)
            lost = p.center.y < scene.bottom || p.center.x < scene.origin_x || p.center.z < scene.origin_z ||
                   p.center.x > scene.origin_x + scene.columns_x ||
                   p.center.z > scene.origin_z + scene.columns_z;
        if (lost) {
            report.below_floor++;
            continue;
        }
        const DVec3 middle = scene.pieces[i].local_center();
        for (const Cell c : scene.pieces[i].cubes) {
            const double l[3] = {c.x + 0.5 - middle.x, c.y + 0.5 - middle.y, c.z + 0.5 - middle.z};
            Placed cube{};
            cube.piece = i;
            Oriented& b = cube.box;
            for (int k = 0; k < 3; k++) {
                b.c[k] = (k == 0   ? p.center.x
                          : k == 1 ? p.center.y
                                   : p.center.z) +
                         r[k][0] * l[0] + r[k][1] * l[1] + r[k][2] * l[2];
                b.half[k] = 0.5;
                for (int j = 0; j < 3; j++) b.axes[k][j] = r[j][k];
            }
            if (scene.flat) {
                const double reach = 0.5 * (std::fabs(r[1][0]) + std::fabs(r[1][1]) + std::fabs(r[1][2]));
                report.terrain = std::fmax(report.terrain, scene.ground - (b.c[1] - reach));
            } else {
                const int x0 = int(std::floor(b.c[0])) - scene.origin_x,
                          z0 = int(std::floor(b.c[2])) - scene.origin_z;
                for (int zz = z0 - 1; zz <= z0 + 1; zz++)
                    for (int xx = x0 - 1; xx <= x0 + 1; xx++) {
                        if (xx < 0 || zz < 0 || xx >= scene.columns_x || zz >= scene.columns_z) continue;
                        const double top = scene.tops[std::size_t(zz * scene.columns_x + xx)];
                        if (b.c[1] - 0.9 > top) continue;
                        Oriented column{};
                        column.c[0] = xx + scene.origin_x + 0.5;
                        column.c[1] = (top + scene.bottom) * 0.5;
                        column.c[2] = zz + scene.origin_z + 0.5;
                        column.half[0] = column.half[2] = 0.5;
                        column.half[1] = (top - scene.bottom) * 0.5;
                        for (int k = 0; k < 3; k++) column.axes[k][k] = 1;
                        report.terrain = std::fmax(report.terrain, depth(b, column));
                    }
            }
            near[place_key(std::lround(std::floor(b.c[0])), std::lround(std::floor(b.c[1])),
                           std::lround(std::floor(b.c[2])))]
                .push_back(cubes.size());
            cubes.push_back(cube);
        }
    }
    for (std::size_t i = 0; i < cubes.size(); i++) {
        const Oriented& a = cubes[i].box;
        const long x = std::lround(std::floor(a.c[0])), y = std::lround(std::floor(a.c[1])),
                   z = std::lround(std::floor(a.c[2]));
        for (long dx = -2; dx <= 2; dx++)
            for (long dy = -2; dy <= 2; dy++)
                for (long dz = -2; dz <= 2; dz++) {
                    const auto found = near.find(place_key(x + dx, y + dy, z + dz));
                    if (found == near.end()) continue;
                    for (const std::size_t j : found->second) {
                        if (j <= i || cubes[j].piece == cubes[i].piece) continue;
                        const Oriented& b = cubes[j].box;
                        const double ex = a.c[0] - b.c[0], ey = a.c[1] - b.c[1], ez = a.c[2] - b.c[2];
                        if (ex * ex + ey * ey + ez * ez > 3) continue;
                        report.pair = std::fmax(report.pair, depth(a, b));
                    }
                }
    }
    return report;
}

}  // namespace talus::bench
