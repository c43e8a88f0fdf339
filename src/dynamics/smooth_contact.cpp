#include "dynamics/smooth_contact.h"

#include "dynamics/round_contact.h"

#include <algorithm>

namespace talus {

namespace {

constexpr int kFirstSmoothKey = 100000;  // no two points are alike: each has its own normal
constexpr float kNudge = 0.01f;          // m: how far beside a corner places are looked up
constexpr float kTrust = 0.5f;           // of a field's distance: gradients are not exact
constexpr float kBuried = 0.25f;         // m: a body with a point this deep leaves by one way
constexpr float kFullPush = 0.08f;       // m: what is as deep is pushed out about as fast as any
constexpr float kMud = 1;                // friction of what is deeper than that: it does not sink meanwhile
constexpr float kLongestWay = 24;        // cells
constexpr int kMostParts = 4096;         // of one edge
constexpr int kBisections = 24;
constexpr int kMostMarched = 1 << 16;  // looks of march_to()
constexpr float kMostPlaces = 64;      // of an edge, of smooth_in_box()

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

/// How far a ball at `from` must go along a way until it is free; `most`: no shorter way than that.
float length_of_way(const SmoothGround& ground, DVec3 from, Vec3 way, float radius, float cell_size,
                    float most) {
    for (float t = 0; t < most;) {
        const auto near = ground.surface_near(from + to_double(way * t), radius);
        const float gap = near ? radius - near->distance : 0;
        if (!(gap > 0)) return t;
        const float step = kTrust * gap;
        t += step > 0.25f * cell_size ? step : 0.25f * cell_size;
    }
    return most;
}

/// The shortest way out: up, the way out of the point nearest to the surface, level and slanting ones.
Vec3 way_out(const SmoothGround& ground, const BodyHot& a, Vec3 nearest_out, float cell_size) {
    constexpr float k = 0.70710678f, h = 0.5f;
    const Vec3 ways[] = {{0, 1, 0}, nearest_out, {1, 0, 0},  {-1, 0, 0},  {0, 0, 1},  {0, 0, -1},
                         {k, 0, k}, {k, 0, -k},  {-k, 0, k}, {-k, 0, -k}, {k, k, 0},  {-k, k, 0},
                         {0, k, k}, {0, k, -k},  {h, k, h},  {h, k, -h},  {-h, k, h}, {-h, k, -h}};
    const float radius = 0.5f * a.thickness;
    float shortest = kLongestWay * cell_size;
    Vec3 best = nearest_out;
    for (const Vec3 way : ways) {
        const float t = length_of_way(ground, a.position, way, radius, cell_size, shortest);
        if (!(t < shortest)) continue;
        shortest = t;
        best = way;
    }
    return best;
}

/// Deep in the ground the ways out of a body's points lead apart, and what is pushed along all of them at
/// once is thrown about. All its deep points go one way instead; those near the surface hold it as ever.
/// Rejected: the mean of their ways, which cancels in the middle of a mound; each point pushing with its
/// share along the way, which lets it fall through where they lead apart.
void leave_together(const SmoothGround& ground, const BodyHot& a, float cell_size,
                    std::vector<ContactPoint>& out, std::size_t first) {
    std::size_t least = out.size();
    float deepest = 0;
    for (std::size_t i = first; i < out.size(); i++) {
        const float s = out[i].separation;
        deepest = s < deepest ? s : deepest;
        if (s < 0 && (least == out.size() || s > out[least].separation)) least = i;
    }
    if (deepest > -kBuried) return;
    const Vec3 way = way_out(ground, a, a.rotation * -out[least].normal, cell_size);
    const Vec3 normal = -mul_transposed(a.rotation, way);
    for (std::size_t i = first; i < out.size(); i++) {
        ContactPoint& p = out[i];
        if (p.separation > -kFullPush) continue;
        p.normal = normal;
        p.separation = -kFullPush;
        p.on_b = p.on_a + p.normal * p.separation;
        p.friction_a = kMud;
    }
}

float spacing_of(const BodyShape::Data& shape, float cell_size) {
    return shape.cell_size > 0 ? shape.cell_size : cell_size;
}

}  // namespace

float collide_smooth(const SmoothGround& ground, const BodyHot& a, float cell_size, float margin,
                     float around, std::vector<ContactPoint>& out) {
    const BodyShape::Data& shape = *a.shape;
    const std::size_t first = out.size();
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
    leave_together(ground, a, cell_size, out, first);
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
    const float apart = 2 * widest / kMostPlaces > cell_size ? 2 * widest / kMostPlaces : cell_size;
    const int shells = 1 + int(widest / apart);
    look({});
    for (int k = 1; k <= shells && !found; k++)
        each_on_box({{}, half * (float(k) / float(shells))}, apart, look);
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
    for (int looks = 0; looks < kMostMarched; looks++) {
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
        if (!(next < most)) break;
        t = next;
    }
    return 1e30f;
}

}  // namespace talus
