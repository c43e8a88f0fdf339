#include "talus/grid.h"

#include <limits>

namespace talus {

namespace {

/// Entry distance of a ray into a box, by slabs. @return infinity when it misses
float enter_box(DVec3 o, DVec3 d, DVec3 lo, DVec3 hi, int& axis) {
    double t0 = 0, t1 = std::numeric_limits<double>::infinity();
    axis = -1;
    for (int k = 0; k < 3; k++) {
        if (d[k] == 0) {
            if (o[k] < lo[k] || o[k] > hi[k]) return std::numeric_limits<float>::infinity();
            continue;
        }
        double a = (lo[k] - o[k]) / d[k], b = (hi[k] - o[k]) / d[k];
        if (a > b) std::swap(a, b);
        if (a > t0) {
            t0 = a;
            axis = k;
        }
        if (b < t1) t1 = b;
    }
    return t0 <= t1 ? float(t0) : std::numeric_limits<float>::infinity();
}

constexpr int kFewCells = 256;  // walked before it is worth to look how far the grid goes

/// Where a ray leaves a box for good; negative when it never is in it.
double leave_box(DVec3 o, DVec3 d, const CellBox& box) {
    const DVec3 lo{double(box.min.x), double(box.min.y), double(box.min.z)};
    const DVec3 hi{box.max.x + 1.0, box.max.y + 1.0, box.max.z + 1.0};
    double end = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 3; k++) {
        if (d[k] == 0 && (o[k] < lo[k] || o[k] > hi[k])) return -1;
        if (d[k] == 0) continue;
        const double t = ((d[k] > 0 ? hi[k] : lo[k]) - o[k]) / d[k];
        end = t < end ? t : end;
    }
    return end;
}

}  // namespace

std::optional<RayHit> cast_ray(const Grid& grid, float cell_size, DVec3 origin, Vec3 direction,
                               float max_distance, bool solids_only) {
    // In units of cells from here on. A. Woo and J. Amanatides, A Fast Voxel Traversal Algorithm (1987).
    const double size = cell_size;
    const DVec3 o = origin / size;
    const DVec3 d = normalized(to_double(direction));
    if (!is_finite(o) || !is_finite(d) || d == DVec3{}) return std::nullopt;
    const double reach = double(max_distance) / size;
    int cell[3], step[3];
    double next[3], delta[3];
    for (int k = 0; k < 3; k++) {
        const double f = std::floor(o[k]);
        if (f < -2e9 || f > 2e9) return std::nullopt;
        cell[k] = int(f);
        step[k] = d[k] > 0 ? 1 : -1;
        delta[k] = d[k] != 0 ? std::fabs(1 / d[k]) : std::numeric_limits<double>::infinity();
        next[k] = d[k] > 0 ? (f + 1 - o[k]) * delta[k] : d[k] < 0 ? (o[k] - f) * delta[k] : delta[k];
    }
    double last = reach;
    int walked = 0;
    for (double t = 0; t <= last;) {
        if (++walked == kFewCells) {
            const double end = grid.empty() ? -1 : leave_box(o, d, grid.bounds());
            last = end < last ? end : last;
        }
        const Cell c{cell[0], cell[1], cell[2]};
        const BlockId id = grid.get(c);
        if (id != kAir && (!solids_only || grid.table().flags(id).solid)) {
            float best = std::numeric_limits<float>::infinity();
            int best_axis = -1;
            const DVec3 base{double(c.x), double(c.y), double(c.z)};
            static constexpr Box kCell{{0, 0, 0}, {1, 1, 1}};
            auto boxes = grid.table()[id].shape.boxes();
            if (boxes.empty()) boxes = {&kCell, 1};  // a plant has no boxes: its cell stands for it
            for (const Box& b : boxes) {
                int axis;
                const float at = enter_box(o, d, base + to_double(b.min), base + to_double(b.max), axis);
                if (at < best) {
                    best = at;
                    best_axis = axis;
                }
            }
            if (double(best) <= reach) {
                RayHit hit{c, {}, best * cell_size};
                if (best_axis == 0) hit.normal.x = -step[0];
                if (best_axis == 1) hit.normal.y = -step[1];
                if (best_axis == 2) hit.normal.z = -step[2];
                return hit;
            }
        }
        const int k = next[0] <= next[1] ? (next[0] <= next[2] ? 0 : 2) : (next[1] <= next[2] ? 1 : 2);
        t = next[k];
        next[k] += delta[k];
        cell[k] += step[k];
    }
    return std::nullopt;
}

}  // namespace talus
