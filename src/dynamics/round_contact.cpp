#include "dynamics/round_contact.h"

namespace talus {

namespace {

/// A point of a box near a point of the core, in the boxes' frame.
struct RoundPoint {
    Vec3 on_box, out;  // `out` is unit, from the box to the core
    float separation;
    float friction;  // of the box
};

constexpr float kInset = 0.02f;       // how far beside a border places are looked up
constexpr float kAlong = 1e-3f;       // of the normal along an axis: less does not lead out there
constexpr float kTouching = 1e-6f;    // m: nearer cores count as inside
constexpr float kSameSpot = 1e-3f;    // of a core's length: nearer places on it are one
constexpr int kFirstRoundKey = 1000;  // keys of contact points: no two round ones are alike

/// Nearest point of a box, relative to its centre.
Vec3 clamped(Vec3 p, Vec3 half) {
    for (int k = 0; k < 3; k++) p[k] = p[k] > half[k] ? half[k] : p[k] < -half[k] ? -half[k] : p[k];
    return p;
}
float squared_distance(Vec3 p, Vec3 half) {
    const Vec3 d = p - clamped(p, half);
    return dot(d, d);
}

/// Places on a core worth looking at, in ascending order: its ends, where it crosses the planes of faces, and
/// where it is nearest to the box.
struct Places {
    float t[10];
    int count = 0;
    int nearest = 0;
};
Places places_of(const RoundCore& core, Vec3 center, Vec3 half) {
    Places p;
    p.t[p.count++] = 0;
    const Vec3 a = core.from - center, d = core.to - core.from;
    if (d == Vec3{}) return p;
    for (int k = 0; k < 3; k++)
        for (const float side : {-1.0f, 1.0f}) {
            if (d[k] == 0) continue;
            const float t = (side * half[k] - a[k]) / d[k];
            if (t > 0 && t < 1) p.t[p.count++] = t;
        }
    p.t[p.count++] = 1;
    for (int i = 1; i < p.count; i++)  // few: by insertion
        for (int j = i; j > 0 && p.t[j] < p.t[j - 1]; j--) {
            const float t = p.t[j];
            p.t[j] = p.t[j - 1];
            p.t[j - 1] = t;
        }
    // Between two places the squared distance is one parabola.
    float best_t = 0, best = 1e30f;
    for (int i = 0; i < p.count; i++) {
        const float t0 = p.t[i], f0 = squared_distance(a + d * t0, half);
        if (f0 < best) {
            best = f0;
            best_t = t0;
        }
        if (i + 1 == p.count) break;
        const float t1 = p.t[i + 1], f1 = squared_distance(a + d * t1, half);
        const float tm = 0.5f * (t0 + t1), fm = squared_distance(a + d * tm, half);
        const float curve = f0 + f1 - 2 * fm;
        if (!(curve > 0)) continue;
        const float t = tm + 0.25f * (t1 - t0) * (f0 - f1) / curve;
        if (t <= t0 || t >= t1) continue;
        const float f = squared_distance(a + d * t, half);
        if (f < best) {
            best = f;
            best_t = t;
        }
    }
    int at = 0;
    while (at < p.count && p.t[at] < best_t - kSameSpot) at++;
    if (at == p.count || p.t[at] > best_t + kSameSpot) {
        for (int i = p.count; i > at; i--) p.t[i] = p.t[i - 1];
        p.t[at] = best_t;
        p.count++;
    }
    p.nearest = at;
    return p;
}

/// The point of a box nearest to p, if it is a way out of the whole set.
template <class Solid>
bool nearest_way_out(Vec3 p, const BoxSet<Solid>& set, std::size_t index, Vec3& on_box, Vec3& out,
                     float& distance) {
    const CollisionBox& box = set.boxes[index];
    const Vec3 r = p - box.center, q = clamped(r, box.half), d = r - q;
    Vec3 inside;  // q, pulled inside
    for (int k = 0; k < 3; k++) {
        const float limit = box.half[k] - (box.half[k] > 2 * kInset ? kInset : 0.5f * box.half[k]);
        inside[k] = box.center[k] + (q[k] > limit ? limit : q[k] < -limit ? -limit : q[k]);
    }
    auto open = [&](int k, bool up) {
        if (set.lone) return true;
        if (box.cover & face_bit(k, up)) return false;
        Vec3 beyond = inside;
        beyond[k] = box.center[k] + (up ? box.half[k] + kInset : -box.half[k] - kInset);
        return !set.solid->solid_at(beyond);
    };
    distance = length(d);
    if (distance > kTouching) {
        out = d / distance;
        for (int k = 0; k < 3; k++)
            if (std::fabs(out[k]) > kAlong && !open(k, out[k] > 0)) return false;
        on_box = q + box.center;
        return true;
    }
    // Inside: by the nearest face that is open.
    float least = 1e30f;
    for (int k = 0; k < 3; k++)
        for (const bool up : {false, true}) {
            const float depth = box.half[k] - (up ? r[k] : -r[k]);
            if (depth >= least || !open(k, up)) continue;
            least = depth;
            out = {};
            out[k] = up ? 1.0f : -1.0f;
            on_box = p;
            on_box[k] = box.center[k] + out[k] * box.half[k];
        }
    distance = -least;
    return least < 1e30f;
}

/// f(point) for each nearer than margin.
/// @return a lower bound of the distance when nothing is nearer than margin, else negative
template <class Solid, class F>
float round_against_boxes(const RoundCore& core, const BoxSet<Solid>& set, float margin, F&& f) {
    const Vec3 reach{core.radius, core.radius, core.radius};
    const Vec3 lo = min(core.from, core.to) - reach, hi = max(core.from, core.to) + reach;
    float nearest = 1e9f;
    for (std::size_t i = 0; i < set.boxes.size(); i++) {
        if (!set.groups.empty() && i % BoxGroup::kSize == 0) {
            const BoxGroup& g = set.groups[i / BoxGroup::kSize];
            const float apart = gap_between(g.lo, g.hi, (lo + hi) * 0.5f, (hi - lo) * 0.5f);
            if (apart > margin) {
                nearest = apart < nearest ? apart : nearest;
                i += BoxGroup::kSize - 1;
                continue;
            }
        }
        const CollisionBox& box = set.boxes[i];
        const float gap = gap_between(lo, hi, box.center, box.half);
        if (gap > margin) {
            nearest = gap < nearest ? gap : nearest;
            continue;
        }
        const Places places = places_of(core, box.center, box.half);
        for (int k = 0; k < places.count; k++) {
            RoundPoint p;
            const Vec3 c = core.at(places.t[k]);
            float distance;
            if (!nearest_way_out(c, set, i, p.on_box, p.out, distance)) {
                if (k == places.nearest) nearest = -1;  // near, whether it pushes or not
                continue;
            }
            p.separation = distance - core.radius;
            p.friction = box.friction;
            if (p.separation > margin) {
                if (p.separation < nearest) nearest = p.separation;
                continue;
            }
            nearest = -1;
            f(p);
        }
    }
    return nearest;
}

}  // namespace

RoundCore core_of(const BodyShape::Data& shape) {
    const Vec3 end{0, shape.round_half, 0}, middle = (shape.lo + shape.hi) * 0.5f;
    return {middle - end, middle + end, shape.round_radius};
}

RoundCore moved(const RoundCore& core, const Mat3& turn, Vec3 offset) {
    return {turn * core.from + offset, turn * core.to + offset, core.radius};
}

float distance_to_box(const RoundCore& core, Vec3 center, Vec3 half, Vec3& out) {
    const Places places = places_of(core, center, half);
    const Vec3 r = core.at(places.t[places.nearest]) - center, d = r - clamped(r, half);
    const float distance = length(d);
    if (distance > kTouching) {
        out = d / distance;
        return distance;
    }
    float least = 1e30f;
    for (int k = 0; k < 3; k++) {
        const float depth = half[k] - std::fabs(r[k]);
        if (depth >= least) continue;
        least = depth;
        out = {};
        out[k] = r[k] > 0 ? 1.0f : -1.0f;
    }
    return -least;
}

/// Source: C. Ericson, Real-Time Collision Detection (2005), 5.1.9.
float distance_of_cores(const RoundCore& a, const RoundCore& b, Vec3& on_a, Vec3& on_b) {
    const Vec3 da = a.to - a.from, db = b.to - b.from, r = a.from - b.from;
    const float aa = dot(da, da), bb = dot(db, db), rb = dot(db, r), ra = dot(da, r);
    auto unit = [](float t) { return t < 0 ? 0.0f : t > 1 ? 1.0f : t; };
    float s = 0, t = 0;
    if (aa > 0 && bb > 0) {
        const float ab = dot(da, db), det = aa * bb - ab * ab;
        s = det > 1e-6f * aa * bb ? unit((ab * rb - ra * bb) / det) : 0.5f;
        t = unit((ab * s + rb) / bb);
        s = unit((ab * t - ra) / aa);
    } else if (aa > 0) {
        s = unit(-ra / aa);
    } else if (bb > 0) {
        t = unit(rb / bb);
    }
    on_a = a.at(s);
    on_b = b.at(t);
    return length(on_a - on_b);
}

namespace {

/// Two round bodies, both in a's frame.
float collide_cores(const RoundCore& a, const RoundCore& b, float margin, std::vector<ContactPoint>& out) {
    float nearest = 1e9f;
    auto add = [&](Vec3 pa, Vec3 pb) {
        const Vec3 d = pb - pa;
        const float distance = length(d), separation = distance - a.radius - b.radius;
        if (separation > margin) {
            if (nearest >= 0 && separation < nearest) nearest = separation;
            return;
        }
        nearest = -1;
        // One in the other's very middle: up, rather than nowhere.
        const Vec3 n = distance > kTouching ? d / distance : Vec3{0, 1, 0};
        out.push_back({pa + n * a.radius, pb - n * b.radius, n, separation,
                       kFirstRoundKey + std::int32_t(out.size()), -1, -1});
    };
    Vec3 pa, pb;
    distance_of_cores(a, b, pa, pb);
    add(pa, pb);
    if (a.from == a.to || b.from == b.to) return nearest;
    // Side by side they rest on two points.
    const Vec3 da = normalized(a.to - a.from), db = normalized(b.to - b.from), c = cross(da, db);
    if (dot(c, c) > 0.01f) return nearest;
    for (const Vec3 end : {a.from, a.to}) {
        distance_of_cores({end, end, 0}, b, pa, pb);
        add(pa, pb);
    }
    for (const Vec3 end : {b.from, b.to}) {
        distance_of_cores(a, {end, end, 0}, pa, pb);
        add(pa, pb);
    }
    return nearest;
}

/// Every part of a shape of boxes near a core in its frame. f(point), about the shape's reference.
template <class F>
float round_against_shape(const RoundCore& core, const BodyShape::Data& d, float margin, F&& f) {
    if (!d.bricks) {
        const PartSolid solid{&d};
        return round_against_boxes(core, BoxSet<PartSolid>{d.solids, &solid, d.only_box(), d.groups}, margin,
                                   f);
    }
    const Vec3 reach{core.radius, core.radius, core.radius};
    const Vec3 lo = min(core.from, core.to) - reach, hi = max(core.from, core.to) + reach;
    float nearest = 1e9f;
    auto apart = [&](Vec3 from, Vec3 to) {
        const float gap = gap_between(from, to, (lo + hi) * 0.5f, (hi - lo) * 0.5f);
        if (gap <= margin) return false;
        if (gap < nearest) nearest = gap;
        return true;
    };
    d.bricks->visit(d.reference, apart, [&](const BrickTree::Brick& brick, Vec3 origin) {
        const PartSolid solid{&brick.part, &*d.bricks, &brick};
        const RoundCore local{core.from - origin, core.to - origin, core.radius};
        const float found =
            round_against_boxes(local, BoxSet<PartSolid>{brick.part.solids, &solid, false, brick.part.groups},
                                margin, [&](RoundPoint p) {
                                    p.on_box += origin;
                                    f(p);
                                });
        if (found < nearest) nearest = found;
    });
    return nearest;
}

/// A core of a against boxes of b. @param against  against(core in b's frame, f)
template <class Against>
float collide_core(const RoundCore& core_in_a, const Mat3& turn, Vec3 offset, std::vector<ContactPoint>& out,
                   Against&& against) {
    // In the boxes' frame, where they are aligned.
    const Mat3 back = transposed(turn);
    const RoundCore core = moved(core_in_a, back, -(back * offset));
    return against(core, [&](const RoundPoint& p) {
        const Vec3 normal = -(turn * p.out), on_b = turn * p.on_box + offset;
        out.push_back({on_b - normal * p.separation, on_b, normal, p.separation,
                       kFirstRoundKey + std::int32_t(out.size()), -1, p.friction});
    });
}

}  // namespace

float collide_round(const BodyShape::Data& a, const BodyShape::Data& b, const Mat3& turn, Vec3 offset,
                    float margin, std::vector<ContactPoint>& out) {
    if (a.is_round() && b.is_round())
        return collide_cores(core_of(a), moved(core_of(b), turn, offset), margin, out);
    if (a.is_round())
        return collide_core(core_of(a), turn, offset, out, [&](const RoundCore& core, auto&& f) {
            return round_against_shape(core, b, margin, f);
        });
    return round_against_shape(moved(core_of(b), turn, offset), a, margin, [&](const RoundPoint& p) {
        out.push_back({p.on_box, p.on_box + p.out * p.separation, p.out, p.separation,
                       kFirstRoundKey + std::int32_t(out.size()), p.friction, -1});
    });
}

float collide_round(const BodyShape::Data& a, const TerrainPatch& b, const Mat3& turn, Vec3 offset,
                    float margin, std::vector<ContactPoint>& out) {
    return collide_core(core_of(a), turn, offset, out, [&](const RoundCore& core, auto&& f) {
        return round_against_boxes(core, BoxSet<TerrainPatch>{b.solids, &b, false}, margin, f);
    });
}

void realign_manifolds(std::vector<Manifold>& manifolds, std::int32_t first, const Mat3& old_turn,
                       const Mat3& turn, Vec3 offset) {
    const Mat3 change = turn * transposed(old_turn);
    for (; first >= 0; first = manifolds[std::size_t(first)].next) {
        Manifold& m = manifolds[std::size_t(first)];
        m.normal = change * m.normal;
        m.tangent = change * m.tangent;
        for (int k = 0; k < m.count; k++) m.points[k].on_a = turn * m.points[k].on_b + offset;
    }
}

}  // namespace talus
