// Rays, swept balls and overlaps: what a host asks between steps.
#include "dynamics/round_contact.h"
#include "dynamics/smooth_contact.h"
#include "dynamics/state.h"
#include "math/cell_box.h"

#include <algorithm>

namespace talus {

namespace {

constexpr float kNoHit = 1e30f;
constexpr int kCastSteps = 64;         // of a swept ball against one body
constexpr float kCastTouch = 1e-3f;    // m: a swept ball this near has arrived
constexpr double kMostCells = 2e9;     // beyond, there is no terrain
constexpr float kFarthest = 1e10f;     // m: beyond, there is nothing at all
constexpr float kTouchingGap = 0.01f;  // m: contacts this near count as touching

/// Where a ray enters a box: distance along the unit direction and the axis of the face; kNoHit: misses.
float enter_box(Vec3 origin, Vec3 direction, Vec3 center, Vec3 half, int& axis) {
    float first = 0, last = kNoHit;
    axis = -1;
    for (int k = 0; k < 3; k++) {
        const float o = origin[k] - center[k];
        if (direction[k] == 0) {
            if (std::fabs(o) > half[k]) return kNoHit;
            continue;
        }
        float a = (-half[k] - o) / direction[k], b = (half[k] - o) / direction[k];
        if (a > b) {
            const float t = a;
            a = b;
            b = t;
        }
        if (a > first) {
            first = a;
            axis = k;
        }
        if (b < last) last = b;
    }
    return first <= last ? first : kNoHit;
}

/// Where a ray enters a ball; 0 when it starts inside.
float enter_ball(Vec3 origin, Vec3 direction, Vec3 center, float radius) {
    const Vec3 o = origin - center;
    const float b = dot(o, direction), c = dot(o, o) - radius * radius;
    if (c <= 0) return 0;
    const Vec3 off = o - direction * b;
    const float left = radius * radius - dot(off, off);
    return b < 0 && left >= 0 ? -b - std::sqrt(left) : kNoHit;
}

/// Where a ray enters a capsule along y, and the way out there.
float enter_core(Vec3 origin, Vec3 direction, const RoundCore& core, Vec3& out) {
    float best = kNoHit;
    auto take = [&](float t, Vec3 center) {
        if (t >= best) return;
        best = t;
        out = normalized(origin + direction * t - center);
    };
    take(enter_ball(origin, direction, core.from, core.radius), core.from);
    if (core.from == core.to) return best;
    take(enter_ball(origin, direction, core.to, core.radius), core.to);
    // The round side: a circle seen from above.
    const Vec3 o = origin - core.from;
    const float a = direction.x * direction.x + direction.z * direction.z,
                b = o.x * direction.x + o.z * direction.z,
                c = o.x * o.x + o.z * o.z - core.radius * core.radius;
    const float rest = b * b - a * c;
    const float t = c <= 0 ? 0 : a > 0 && rest >= 0 && b < 0 ? (-b - std::sqrt(rest)) / a : kNoHit;
    if (t < kNoHit) {
        const float y = (origin + direction * t).y;
        if (y >= core.from.y && y <= core.to.y) take(t, {core.from.x, y, core.from.z});
    }
    return best;
}

/// A place as a body's shape sees it: about its reference, in its axes.
Vec3 seen_from(const BodyHot& h, DVec3 world) {
    return mul_transposed(h.rotation, to_float(world - h.position)) + h.com;
}

/// Distance of a ball's middle from the shape, and the way out; negative inside.
/// @param reach  boxes farther than this need not be looked at
float distance_to(const BodyShape::Data& shape, Vec3 p, float reach, Vec3& out) {
    if (shape.is_round()) {
        Vec3 on_a, on_b;
        const RoundCore core = core_of(shape);
        const float d = distance_of_cores({p, p, 0}, core, on_a, on_b);
        out = d > 0 ? (on_a - on_b) / d : Vec3{0, 1, 0};
        return d - core.radius;
    }
    float best = kNoHit;
    const Vec3 around{reach, reach, reach};
    shape.each_solid_near(p - around, p + around, [&](const CollisionBox& box) {
        Vec3 n;
        const float d = distance_to_box({p, p, 0}, box.center, box.half, n);
        if (d >= best) return;
        best = d;
        out = n;
    });
    return best;
}

/// Do two boxes overlap, the second turned and moved?
bool boxes_overlap(const SharedAxes& axes, Vec3 between, Vec3 half_a, Vec3 half_b) {
    Vec3 unused;
    return axes.best_axis(between, half_a, half_b, unused) <= 0;
}

/// The nearest hit so far.
struct Nearest {
    SpaceHit hit;
    bool found = false;
    bool beats(float t) const { return t <= hit.distance && (!found || t < hit.distance); }
    void take(float t, Vec3 normal, Body body = {}) {
        found = true;
        hit.distance = t;
        hit.normal = normal;
        hit.body = body;
        hit.terrain = !body.space();
    }
};

/// Along a direction of any length; zero for one that is not finite or has none.
Vec3 unit(Vec3 direction) {
    const DVec3 d = normalized(to_double(direction));
    return is_finite(d) ? to_float(d) : Vec3{};
}

/// From `o` (about a body's reference) a ray need not be followed farther: it is past the body, or has hit.
float way_past(const BodyHot& h, Vec3 o, const Nearest& best) {
    const float past = length(o - h.com) + h.radius;
    return best.hit.distance < past ? best.hit.distance : past;
}

/// f(index, hot) for the bodies whose ball a ball of this radius passes on its way.
template <class F>
void each_on_the_way(Space::State& s, DVec3 origin, Vec3 d, float radius, BodyId ignore,
                     const Nearest& nearest, F&& f) {
    for (const std::int32_t i : s.broad.near_way(s.bodies, origin, d, nearest.hit.distance, radius)) {
        const BodyHot& h = s.bodies.hot[std::size_t(i)];
        if ((h.shape && !h.shape->has_solids()) || s.bodies.id(i) == ignore) continue;
        const Vec3 to = to_float(h.position - origin);
        const float along = dot(to, d), reach = h.radius + radius;
        if (along < -reach || along > nearest.hit.distance + reach) continue;
        const Vec3 off = to - d * along;
        if (dot(off, off) > reach * reach) continue;
        s.bodies.bring_shape(i);
        f(i, h);
    }
}

/// The blocks of the world, without the ground plane.
WorldSolids blocks_of(const WorldSolids& world) {
    WorldSolids blocks;
    blocks.grid = world.grid;
    blocks.cell_size = world.cell_size;
    return blocks;
}

/// f(patch) for the blocks of one brick, in its own frame.
template <class F>
void with_brick(const WorldSolids& blocks, const Brick& brick, TerrainPatch& patch, F&& f) {
    const Cell o = brick.origin();
    const double size = double(blocks.cell_size);
    patch.gather(blocks, DVec3{o.x * size, o.y * size, o.z * size}, o, {o, o + Cell{7, 7, 7}}, false, {}, {});
    f(patch);
}

/// Gathers the blocks around a box of the world; f(patch) for each tile, or for each brick where those are
/// fewer: no box is too large. `patch.origin` is its frame.
template <class F>
void each_patch(const WorldSolids& world, DVec3 lo, DVec3 hi, F&& f) {
    if (!world.grid || world.grid->empty()) return;
    const double size = double(world.cell_size), most = kMostCells * size;
    const DVec3 edge{most, most, most};
    lo = max(lo, -edge);
    hi = min(hi, edge);
    double tiles = 1;
    for (int k = 0; k < 3; k++) {
        if (!(lo[k] <= most) || !(hi[k] >= -most)) return;
        tiles *= 1 + (hi[k] - lo[k]) / (size * TerrainPatch::kMostCells);
    }
    const Cell first = to_cell(lo / size), last = to_cell(hi / size), home = to_cell((lo + hi) * 0.5 / size);
    const WorldSolids blocks = blocks_of(world);
    TerrainPatch patch;
    if (tiles > double(world.grid->bricks().size())) {
        for (const Brick* brick : world.grid->bricks()) {
            const Cell o = brick->origin();
            if (o.x > last.x || o.y > last.y || o.z > last.z || o.x + 7 < first.x || o.y + 7 < first.y ||
                o.z + 7 < first.z)
                continue;
            with_brick(blocks, *brick, patch, f);
        }
        return;
    }
    const DVec3 origin{home.x * size, home.y * size, home.z * size};
    each_tile(blocks, first, last, [&](const CellBox& cells) {
        patch.gather(blocks, origin, home, cells, false, {}, {});
        f(patch);
    });
}

/// How far a ball goes until `gap(s, out)` (its distance from something convex, s metres on) is used up.
/// Along a line that distance is convex too: a step by its slope never goes too far, and once it grows it
/// only grows. kNoHit when it arrives nowhere within `most`.
template <class Gap>
float advance_ball(float most, Vec3 direction, Gap&& gap, Vec3& out) {
    float s = 0;
    for (int n = 0; n < kCastSteps; n++) {
        const float g = gap(s, out), closing = -dot(direction, out);
        if (g <= 0) return s;
        if (!(closing > 0)) return kNoHit;
        if (g <= kCastTouch) return s;
        s += g / closing;
        if (!(s <= most)) return kNoHit;
    }
    return s;
}

/// A swept ball against blocks: in pieces of the way, so that a long cast gathers little at once, or brick by
/// brick where those are fewer.
void cast_at_blocks(const WorldSolids& world, DVec3 origin, float radius, Vec3 d, Nearest& best) {
    if (!world.grid || world.grid->empty()) return;
    // From `from` on, for `most`.
    auto cast_in = [&](const TerrainPatch& patch, float from, float most) {
        const Vec3 start = to_float(origin + to_double(d) * double(from) - patch.origin);
        for (const CollisionBox& box : patch.solids) {
            Vec3 out;
            const float t = advance_ball(
                most, d,
                [&](float at, Vec3& way) {
                    const Vec3 p = start + d * at;
                    return distance_to_box({p, p, 0}, box.center, box.half, way) - radius;
                },
                out);
            if (best.beats(from + t)) best.take(from + t, out);
        }
    };
    const float piece = 16 * world.cell_size;
    const std::span<const Brick* const> bricks = world.grid->bricks();
    if (best.hit.distance / piece <= float(bricks.size())) {
        const double e = double(radius);
        bool any = false;
        for (float from = 0; from <= best.hit.distance && !any; from += piece) {
            const float most = from + piece < best.hit.distance ? piece : best.hit.distance - from;
            const DVec3 a = origin + to_double(d) * double(from), b = a + to_double(d) * double(most);
            const float before = best.hit.distance;
            each_patch(world, min(a, b) - DVec3{e, e, e}, max(a, b) + DVec3{e, e, e},
                       [&](const TerrainPatch& patch) { cast_in(patch, from, most); });
            any = best.hit.distance < before;
        }
        return;
    }
    const WorldSolids blocks = blocks_of(world);
    TerrainPatch patch;
    for (const Brick* brick : bricks) {
        const Cell o = brick->origin();
        const double size = double(world.cell_size);
        const Vec3 middle = to_float(DVec3{o.x + 4.0, o.y + 4.0, o.z + 4.0} * size - origin);
        const float half = 4 * world.cell_size + radius + 1e-6f * length(middle);
        int axis;
        const float from = enter_box({}, d, middle, {half, half, half}, axis);
        if (from > best.hit.distance) continue;
        with_brick(blocks, *brick, patch,
                   [&](const TerrainPatch& p) { cast_in(p, from, best.hit.distance - from); });
    }
}

}  // namespace

std::optional<SpaceHit> Space::cast_ray(DVec3 origin, Vec3 direction, float max_distance,
                                        BodyId ignore) const {
    State& s = *state_;
    const Vec3 d = unit(direction);
    if (!is_finite(origin) || d == Vec3{} || !(max_distance >= 0)) return std::nullopt;
    Nearest best;
    best.hit.distance = max_distance < kFarthest ? max_distance : kFarthest;
    if (s.world.grid) {
        if (const auto hit = talus::cast_ray(*s.world.grid, s.world.cell_size, origin, d, max_distance, true))
            best.take(hit->distance, {float(hit->normal.x), float(hit->normal.y), float(hit->normal.z)});
    }
    if (s.world.has_ground) {
        const double above = origin.y - s.world.ground;
        const float t = above <= 0 ? 0.0f : d.y < 0 ? float(above / -double(d.y)) : kNoHit;
        if (best.beats(t)) best.take(t, above <= 0 ? Vec3{} : Vec3{0, 1, 0});
    }
    if (s.world.smooth) {
        Vec3 out;
        const float t = march_to(*s.world.smooth, origin, d, best.hit.distance, 0, s.world.cell_size, out);
        if (best.beats(t)) best.take(t, out);
    }
    each_on_the_way(s, origin, d, 0, ignore, best, [&](std::int32_t i, const BodyHot& h) {
        const Vec3 o = seen_from(h, origin), v = mul_transposed(h.rotation, d);
        const Body body(const_cast<Space*>(this), s.bodies.id(i));
        if (h.round) {
            Vec3 out;
            const float t = enter_core(o, v, core_of(*h.shape), out);
            if (best.beats(t)) best.take(t, h.rotation * out, body);
            return;
        }
        auto test = [&](const CollisionBox& box) {
            int axis;
            const float t = enter_box(o, v, box.center, box.half, axis);
            if (!best.beats(t)) return;
            Vec3 n;
            if (axis >= 0) n[axis] = v[axis] > 0 ? -1.0f : 1.0f;
            best.take(t, h.rotation * n, body);
        };
        const Vec3 end = o + v * way_past(h, o, best);
        h.shape->each_solid_near(min(o, end), max(o, end), test);
    });
    if (!best.found) return std::nullopt;
    best.hit.point = origin + to_double(d) * double(best.hit.distance);
    return best.hit;
}

std::optional<SpaceHit> Space::cast_sphere(DVec3 origin, float radius, Vec3 direction, float max_distance,
                                           BodyId ignore) const {
    State& s = *state_;
    if (radius == 0) return cast_ray(origin, direction, max_distance, ignore);
    const Vec3 d = unit(direction);
    if (!is_finite(origin) || d == Vec3{} || !(max_distance >= 0) || !(radius > 0) || !std::isfinite(radius))
        return std::nullopt;
    Nearest best;
    best.hit.distance = max_distance < kFarthest ? max_distance : kFarthest;
    if (s.world.has_ground) {
        const double above = origin.y - double(radius) - s.world.ground;
        const float t = above <= 0 ? 0.0f : d.y < 0 ? float(above / -double(d.y)) : kNoHit;
        if (best.beats(t)) best.take(t, {0, 1, 0});
    }
    cast_at_blocks(s.world, origin, radius, d, best);
    if (s.world.smooth) {
        Vec3 out;
        const float t =
            march_to(*s.world.smooth, origin, d, best.hit.distance, radius, s.world.cell_size, out);
        if (best.beats(t)) best.take(t, out);
    }
    each_on_the_way(s, origin, d, radius, ignore, best, [&](std::int32_t i, const BodyHot& h) {
        const Vec3 o = seen_from(h, origin), v = mul_transposed(h.rotation, d);
        const Body body(const_cast<Space*>(this), s.bodies.id(i));
        auto try_part = [&](auto&& distance) {
            Vec3 out;
            const float t = advance_ball(
                best.hit.distance, v, [&](float at, Vec3& way) { return distance(o + v * at, way) - radius; },
                out);
            if (best.beats(t)) best.take(t, h.rotation * out, body);
        };
        if (h.round) {
            try_part([&](Vec3 p, Vec3& way) { return distance_to(*h.shape, p, kNoHit, way); });
            return;
        }
        const Vec3 end = o + v * way_past(h, o, best), grow{radius, radius, radius};
        h.shape->each_solid_near(min(o, end) - grow, max(o, end) + grow, [&](const CollisionBox& box) {
            int axis;
            if (enter_box(o, v, box.center, box.half + grow, axis) > best.hit.distance) return;
            try_part([&](Vec3 p, Vec3& way) {
                return distance_to_box({p, p, 0}, box.center, box.half, way);
            });
        });
    });
    if (!best.found) return std::nullopt;
    // The point touched, not the ball's middle.
    best.hit.point =
        origin + to_double(d) * double(best.hit.distance) - to_double(best.hit.normal) * double(radius);
    return best.hit;
}

std::vector<Body> Space::bodies_in(const DBox& box) const {
    State& s = *state_;
    std::vector<Body> out;
    for (const std::int32_t i : s.broad.near_box(s.bodies, box)) {
        const BodyHot& h = s.bodies.hot[std::size_t(i)];
        if (overlaps(box, {h.position + to_double(h.lo), h.position + to_double(h.hi)}))
            out.push_back(Body(const_cast<Space*>(this), s.bodies.id(i)));
    }
    return out;
}

Overlaps Space::overlap_sphere(DVec3 center, float radius) const {
    Overlaps out;
    if (!is_finite(center) || !(radius >= 0)) return out;
    radius = radius < kFarthest ? radius : kFarthest;
    State& s = *state_;
    const double e = double(radius);
    const DBox around{center - DVec3{e, e, e}, center + DVec3{e, e, e}};
    out.terrain = s.world.has_ground && around.min.y <= s.world.ground;
    each_patch(s.world, around.min, around.max, [&](const TerrainPatch& patch) {
        if (out.terrain) return;
        const Vec3 p = to_float(center - patch.origin);
        if (patch.solid_at(p)) out.terrain = true;
        for (const CollisionBox& box : patch.solids) {
            Vec3 way;
            if (distance_to_box({p, p, 0}, box.center, box.half, way) <= radius) out.terrain = true;
        }
    });
    if (s.world.smooth && !out.terrain)
        out.terrain = s.world.smooth->surface_near(center, radius).has_value();
    for (const Body& body : bodies_in(around)) {
        s.bodies.bring_shape(std::int32_t(body.id().index));
        const BodyHot& h = s.bodies.hot[body.id().index];
        Vec3 way;
        if (distance_to(*h.shape, seen_from(h, center), radius, way) <= radius) out.bodies.push_back(body);
    }
    return out;
}

Overlaps Space::overlap_box(const Pose& pose, Vec3 half) const {
    Overlaps out;
    const Quat q = normalized(pose.rotation);
    if (!is_finite(pose.position) || std::isnan(half.x + half.y + half.z) ||
        !std::isfinite(q.x + q.y + q.z + q.w))
        return out;
    State& s = *state_;
    half = min(max(half, Vec3{}), {kFarthest, kFarthest, kFarthest});
    const Mat3 r = to_matrix(q);
    Vec3 extent;
    for (int k = 0; k < 3; k++)
        extent[k] =
            std::fabs(r.m[k][0]) * half.x + std::fabs(r.m[k][1]) * half.y + std::fabs(r.m[k][2]) * half.z;
    const DBox around{pose.position - to_double(extent), pose.position + to_double(extent)};
    const SharedAxes world_axes(r);
    out.terrain = s.world.has_ground && around.min.y <= s.world.ground;
    each_patch(s.world, around.min, around.max, [&](const TerrainPatch& patch) {
        if (out.terrain) return;
        const Vec3 p = to_float(pose.position - patch.origin);
        if (patch.solid_at(p)) out.terrain = true;
        for (const CollisionBox& box : patch.solids)
            if (boxes_overlap(world_axes, p - box.center, box.half, half)) out.terrain = true;
    });
    if (s.world.smooth && !out.terrain)
        out.terrain = smooth_in_box(*s.world.smooth, {pose.position, q}, half, s.world.cell_size);
    for (const Body& body : bodies_in(around)) {
        s.bodies.bring_shape(std::int32_t(body.id().index));
        const BodyHot& h = s.bodies.hot[body.id().index];
        const Vec3 p = seen_from(h, pose.position);
        const Mat3 turn = mul_transposed(h.rotation, r);
        bool hit = false;
        if (h.round) {
            Vec3 way;
            const Mat3 back = transposed(turn);
            const RoundCore core = moved(core_of(*h.shape), back, -(back * p));
            hit = distance_to_box(core, {}, half, way) <= core.radius;
        } else {
            const SharedAxes axes(turn);
            Vec3 reach;
            for (int k = 0; k < 3; k++)
                reach[k] = std::fabs(turn.m[k][0]) * half.x + std::fabs(turn.m[k][1]) * half.y +
                           std::fabs(turn.m[k][2]) * half.z;
            h.shape->each_solid_near(p - reach, p + reach, [&](const CollisionBox& box) {
                hit = hit || boxes_overlap(axes, p - box.center, box.half, half);
            });
        }
        if (hit) out.bodies.push_back(body);
    }
    return out;
}

Overlaps Body::touching() const {
    Overlaps out;
    if (!exists()) return out;
    const Space::State& s = space_->state();
    const auto index = std::int32_t(id_.index);
    for (std::int32_t i = s.bodies.hot[std::size_t(index)].first_pair; i >= 0;) {
        const Pair& p = s.pairs.pairs[std::size_t(i)];
        const int side = p.a == index ? 0 : 1;
        const std::int32_t other = side == 0 ? p.b : p.a;
        i = p.next[side];
        bool near = false;
        for (std::int32_t m = p.first; m >= 0; m = s.pairs.manifolds[std::size_t(m)].next) {
            const Manifold& q = s.pairs.manifolds[std::size_t(m)];
            for (int k = 0; k < q.count; k++) near = near || q.points[k].separation <= kTouchingGap;
        }
        if (!near) continue;
        if (other == 0)
            out.terrain = true;
        else
            out.bodies.push_back(Body(space_, s.bodies.id(other)));
    }
    std::sort(out.bodies.begin(), out.bodies.end(),
              [](const Body& a, const Body& b) { return a.id().index < b.id().index; });
    return out;
}

}  // namespace talus
