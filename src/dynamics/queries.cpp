#include "dynamics/state.h"

namespace talus {

namespace {

/// Where a ray enters a box: share of d, and the axis of the face; negative: misses.
float enter_solid(Vec3 origin, Vec3 direction, const CollisionBox& box, int& axis) {
    float first = 0, last = 1e30f;
    axis = -1;
    for (int k = 0; k < 3; k++) {
        const float o = origin[k] - box.center[k];
        if (direction[k] == 0) {
            if (std::fabs(o) > box.half[k]) return -1;
            continue;
        }
        float a = (-box.half[k] - o) / direction[k], b = (box.half[k] - o) / direction[k];
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
    return first <= last ? first : -1;
}

}  // namespace

std::optional<SpaceHit> Space::cast_ray(DVec3 origin, Vec3 direction, float max_distance,
                                        BodyId ignore) const {
    const State& s = *state_;
    if (!is_finite(origin) || !is_finite(direction) || direction == Vec3{} || !(max_distance >= 0))
        return std::nullopt;
    const Vec3 d = normalized(direction);
    SpaceHit best;
    best.distance = max_distance;
    bool found = false;
    if (s.world.grid) {
        if (const auto hit =
                talus::cast_ray(*s.world.grid, s.world.cell_size, origin, d, max_distance, true)) {
            found = true;
            best.terrain = true;
            best.distance = hit->distance;
            best.normal = {float(hit->normal.x), float(hit->normal.y), float(hit->normal.z)};
        }
    }
    if (s.world.has_ground) {
        const double above = origin.y - s.world.ground;
        const float t = above <= 0 ? 0.0f : d.y < 0 ? float(above / -double(d.y)) : -1.0f;
        if (t >= 0 && t <= best.distance && (!found || t < best.distance)) {
            found = true;
            best.terrain = true;
            best.distance = t;
            best.normal = above <= 0 ? Vec3{} : Vec3{0, 1, 0};
        }
    }
    for (std::int32_t i = 1; i < s.bodies.size(); i++) {
        const BodyHot& h = s.bodies.hot[std::size_t(i)];
        if (!h.exists || s.bodies.id(i) == ignore) continue;
        // Against the ball first.
        const Vec3 to = to_float(h.position - origin);
        const float along = dot(to, d), reach = best.distance + h.radius;
        if (along < -h.radius || along > reach) continue;
        const Vec3 off = to - d * along;
        if (dot(off, off) > h.radius * h.radius) continue;
        const Vec3 o = h.com - mul_transposed(h.rotation, to), v = mul_transposed(h.rotation, d);
        for (const CollisionBox& box : h.shape->solids) {
            int axis;
            const float t = enter_solid(o, v, box, axis);
            if (t < 0 || t > best.distance || (found && t >= best.distance)) continue;
            found = true;
            best.terrain = false;
            best.distance = t;
            best.body = Body(const_cast<Space*>(this), s.bodies.id(i));
            Vec3 n;
            if (axis >= 0) n[axis] = v[axis] > 0 ? -1.0f : 1.0f;
            best.normal = h.rotation * n;
        }
    }
    if (!found) return std::nullopt;
    if (best.terrain) best.body = {};
    best.point = origin + to_double(d) * double(best.distance);
    return best;
}

std::vector<Body> Space::bodies_in(const DBox& box) const {
    const State& s = *state_;
    std::vector<Body> out;
    for (std::int32_t i = 1; i < s.bodies.size(); i++) {
        const BodyHot& h = s.bodies.hot[std::size_t(i)];
        if (h.exists && overlaps(box, {h.position + to_double(h.lo), h.position + to_double(h.hi)}))
            out.push_back(Body(const_cast<Space*>(this), s.bodies.id(i)));
    }
    return out;
}

}  // namespace talus
