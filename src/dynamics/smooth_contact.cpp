#include "dynamics/smooth_contact.h"

#include "dynamics/round_contact.h"

#include <algorithm>

namespace talus {

namespace {

constexpr int kFirstSmoothKey = 100000;  // no two points are alike: each has its own normal
constexpr float kNudge = 0.01f;          // m: how far beside a corner places are looked up
constexpr float kTrust = 0.5f;           // of a field's distance: gradients are not exact
constexpr int kMostParts = 4096;         // of one edge
constexpr int kBisections = 24;

/// f(p) for each point of the lattice on a box's surface, z and x within y.
template <class F>
void each_on_box(const CollisionBox& box, float spacing, F&& f) {
    int n[3];
    for (int k = 0; k < 3; k++) {
        const float parts = std::ceil(2 * box.half[k] / spacing - 1e-3f);
        n[k] = parts < 1 ? 1 : parts > kMostParts ? kMostParts : int(parts);
    }
    const Vec3 lo = box.center - box.half;
    auto at = [&](int k, int i) { return lo[k] + 2 * box.half[k] * float(i) / float(n[k]); };
    for (int y = 0; y <= n[1]; y++)
        for (int z = 0; z <= n[2]; z++) {
            const bool side = y == 0 || y == n[1] || z == 0 || z == n[2];
            for (int x = 0; x <= n[0]; x += side ? 1 : n[0]) f(Vec3{at(0, x), at(1, y), at(2, z)});
        }
}

bool on_outside(const BodyShape::Data& shape, Vec3 p) {
    if (shape.only_box()) return true;
    for (int i = 0; i < 8; i++) {
        const Vec3 q = p + Vec3{i & 1 ? kNudge : -kNudge, i & 2 ? kNudge : -kNudge, i & 4 ? kNudge : -kNudge};
        if (!shape.solid_at(q)) return true;
    }
    return false;
}

float spacing_of(const BodyShape::Data& shape, float cell_size) {
    return shape.cell_size > 0 ? shape.cell_size : cell_size;
}

}  // namespace

float collide_smooth(const SmoothGround& ground, const BodyHot& a, float cell_size, float margin,
                     float around, std::vector<ContactPoint>& out) {
    const BodyShape::Data& shape = *a.shape;
    auto any_within = [&](DVec3 middle, Vec3 half, float beyond) {
        const DVec3 r = to_double(half + Vec3{beyond, beyond, beyond});
        return ground.any_in({middle - r, middle + r});
    };
    const DVec3 middle = a.position + to_double((a.lo + a.hi) * 0.5f);
    if (!any_within(middle, (a.hi - a.lo) * 0.5f, around)) return around;
    float nearest = around;
    auto place = [&](Vec3 p) { return a.position + to_double(a.rotation * (p - a.com)); };
    auto touch = [&](Vec3 p, float radius, float friction) {
        const auto near = ground.surface_near(place(p), radius + around);
        if (!near) return;
        const float separation = near->distance - radius;
        if (separation > margin) {
            if (kTrust * separation < nearest) nearest = kTrust * separation;
            return;
        }
        if (radius == 0 && !on_outside(shape, p)) return;
        nearest = -1;
        const Vec3 normal = mul_transposed(a.rotation, -near->outward);
        const Vec3 on_a = p + normal * radius;
        out.push_back({on_a, on_a + normal * separation, normal, separation,
                       kFirstSmoothKey + std::int32_t(out.size()), friction, -1});
    };
    if (a.round) {
        const RoundCore core = core_of(shape);
        const float core_length = length(core.to - core.from);
        const int parts = core_length > 0 ? 1 + int(core_length / cell_size) : 0;
        for (int k = 0; k <= parts; k++)
            touch(parts ? core.at(float(k) / float(parts)) : core.from, core.radius,
                  shape.solids[0].friction);
        return nearest;
    }
    const float spacing = spacing_of(shape, cell_size);
    shape.each_solid_near(shape.lo, shape.hi, [&](const CollisionBox& box) {
        if (!shape.only_box() && !any_within(place(box.center), extent_of(a.rotation, box.half), around))
            return;
        each_on_box(box, spacing, [&](Vec3 p) { touch(p, 0, box.friction); });
    });
    return nearest;
}

std::vector<Vec3> surface_points(const BodyShape::Data& shape, float cell_size) {
    std::vector<Vec3> points;
    if (shape.is_round()) return points;
    shape.each_solid_near(shape.lo, shape.hi, [&](const CollisionBox& box) {
        each_on_box(box, spacing_of(shape, cell_size), [&](Vec3 p) {
            if (on_outside(shape, p)) points.push_back(p);
        });
    });
    std::sort(points.begin(), points.end(), [](Vec3 a, Vec3 b) {
        if (a.y != b.y) return a.y < b.y;
        return a.z != b.z ? a.z < b.z : a.x < b.x;
    });
    points.erase(std::unique(points.begin(), points.end()), points.end());
    return points;
}

bool smooth_in_box(const SmoothGround& ground, const Pose& pose, Vec3 half, float cell_size) {
    const DVec3 r = to_double(extent_of(to_matrix(pose.rotation), half));
    if (!ground.any_in({pose.position - r, pose.position + r})) return false;
    bool found = false;
    auto look = [&](Vec3 p) {
        if (found) return;
        const auto near = ground.surface_near(to_world(pose, p), 0);
        found = near && near->distance <= 0;
    };
    // From the middle outwards, in shells no farther apart than the cells.
    float widest = half.x > half.y ? half.x : half.y;
    widest = widest > half.z ? widest : half.z;
    const int shells = 1 + int(widest / cell_size < 64 ? widest / cell_size : 64);
    look({});
    for (int k = 1; k <= shells && !found; k++)
        each_on_box({{}, half * (float(k) / float(shells))}, cell_size, look);
    return found;
}

float march_to(const SmoothGround& ground, DVec3 origin, Vec3 d, float most, float radius, float cell_size,
               Vec3& out) {
    const float longest = 0.5f * cell_size;
    // How far the ball is from the surface at t; above `longest` where it is farther.
    auto gap = [&](float t) {
        const auto near = ground.surface_near(origin + to_double(d) * double(t), radius + 2 * longest);
        if (!near) return 2 * longest;
        out = near->outward;
        return near->distance - radius;
    };
    float t = 0;
    if (gap(0) <= 0) return 0;
    for (;;) {
        const float next = t + longest < most ? t + longest : most;
        if (gap(next) <= 0) {
            float lo = t, hi = next;
            for (int k = 0; k < kBisections; k++) {
                const float middle = 0.5f * (lo + hi);
                (gap(middle) <= 0 ? hi : lo) = middle;
            }
            gap(hi);
            return hi;
        }
        if (!(next < most)) return 1e30f;
        t = next;
    }
}

}  // namespace talus
