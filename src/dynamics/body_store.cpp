#include "dynamics/body_store.h"

#include "mass/principal_frame.h"

namespace talus {

void BodyStore::take_slot() {
    // Not twice as much each time: slots are never given back.
    if (hot.size() == hot.capacity()) hot.reserve(hot.size() + hot.size() / 8 + 16);
    hot.emplace_back();
    way.emplace_back();
    generation.push_back(1);
    cold.add_slot();
    if (size() == 1) cold.take(0);
}

std::int32_t BodyStore::add(const BodyShape& shape, const BodySettings& s) {
    std::int32_t i;
    if (!free_.empty()) {
        i = free_.back();
        free_.pop_back();
    } else {
        i = size();
        take_slot();
    }
    BodyHot& h = hot[std::size_t(i)];
    BodyCold& c = cold.take(std::size_t(i));
    h = BodyHot{};
    c.shape = shape;
    c.motion = s.motion;
    c.density = s.density;
    h.friction = s.friction;
    h.restitution = s.restitution;
    c.linear_damping = s.linear_damping;
    c.angular_damping = s.angular_damping;
    c.rolling_resistance = s.rolling_resistance;
    c.gravity_factor = s.gravity_factor;
    c.owner = s.owner;
    c.continuous = s.continuous;
    h.exists = true;
    h.layer = std::uint8_t(s.layer) & kMostLayer;
    h.velocity = s.velocity;
    h.spin = s.spin;
    h.asleep = s.asleep && s.motion == MotionType::dynamic;
    if (h.asleep) {
        h.velocity = h.spin = {};
        with_shape.set(i);
    }
    Pose pose = s.pose;
    const BodySettings defaults;
    auto repair = [&](float& value, float otherwise) {
        if (std::isfinite(value)) return;
        bad.set(i);
        value = otherwise;
    };
    repair(c.density, defaults.density);
    repair(h.friction, defaults.friction);
    repair(h.restitution, defaults.restitution);
    h.friction = sane_friction(h.friction);
    h.restitution = sane_restitution(h.restitution);
    repair(c.linear_damping, 0);
    repair(c.angular_damping, 0);
    repair(c.rolling_resistance, 0);
    repair(c.gravity_factor, defaults.gravity_factor);
    for (int k = 0; k < 3; k++) {
        double& x = pose.position[k];
        if (std::fabs(x) <= kFarthest) continue;
        bad.set(i);
        x = x > 0 ? kFarthest : x < 0 ? -kFarthest : 0;
    }
    if (!is_finite(s.velocity) || !is_finite(s.spin)) {
        bad.set(i);
        h.velocity = h.spin = {};
    }
    refresh_mass(i);
    set_frame_pose(i, pose);
    c.sleep_position = c.rest_position = h.position;
    c.rest_rotation = c.rotation;
    alive++;
    return i;
}

void BodyStore::remove(std::int32_t i) {
    BodyHot& h = hot[std::size_t(i)];
    h.exists = false;
    h.dynamic = false;
    moving.reset(i);
    bad.reset(i);
    forced.reset(i);
    generation[std::size_t(i)]++;
    alive--;
}

void BodyStore::refresh_mass(std::int32_t i) {
    bring_shape(i);
    BodyHot& h = hot[std::size_t(i)];
    BodyCold& c = cold[std::size_t(i)];
    const BodyShape::Data& d = *c.shape.data();
    h.shape = &d;
    h.thickness = d.thickness;
    h.round = d.is_round();
    MassMoments sums = d.own;
    const double density = c.density;
    sums.mass += d.unit.mass * density;
    for (int k = 0; k < 3; k++) sums.first[k] += d.unit.first[k] * density;
    for (int k = 0; k < 6; k++) sums.second[k] += d.unit.second[k] * density;
    DVec3 center = d.reference;
    c.mass = float(sums.mass);
    if (sums.mass > 0) center = DVec3{sums.first[0], sums.first[1], sums.first[2]} / sums.mass;
    c.local_com = to_float(center);
    h.com = to_float(center - d.reference);
    h.box_center = (d.lo + d.hi) * 0.5f - h.com;
    h.box_half = (d.hi - d.lo) * 0.5f;
    const Inertia inertia = inertia_about_center(sums);
    c.inertia = {float(inertia.v[0]), float(inertia.v[1]), float(inertia.v[2]),
                 float(inertia.v[3]), float(inertia.v[4]), float(inertia.v[5])};
    const bool usable =
        c.mass > 0 && std::isfinite(c.mass) && std::isfinite(c.inertia.xx + c.inertia.yy + c.inertia.zz);
    // Beyond what a float holds, or negative. What is fixed may: it was frozen for that, or never moves.
    if (sums.mass != 0 && !usable && c.motion != MotionType::fixed) bad.set(i);
    h.dynamic = h.exists && c.motion == MotionType::dynamic && usable;
    h.inverse_mass = h.dynamic ? float(1 / sums.mass) : 0;
    c.root_moments = c.root_inverse = {};
    c.principal = {};
    c.isotropic = true;
    if (h.dynamic) {
        const PrincipalFrame frame = principal_frame(inertia);
        c.principal = frame.axes;
        float least = frame.moments.x, most = least;
        for (int k = 0; k < 3; k++) {
            c.root_moments[k] = std::sqrt(frame.moments[k]);
            c.root_inverse[k] = c.root_moments[k] > 0 ? 1 / c.root_moments[k] : 0;
            if (frame.moments[k] < least) least = frame.moments[k];
            if (frame.moments[k] > most) most = frame.moments[k];
        }
        c.isotropic = most - least <= 1e-4f * most;
    }
    // The farthest corner of any box, or of the bounds where there are too many boxes.
    float radius2 = 0;
    auto reach = [&](Vec3 r, Vec3 half) {
        const Vec3 e{std::fabs(r.x) + half.x, std::fabs(r.y) + half.y, std::fabs(r.z) + half.z};
        if (dot(e, e) > radius2) radius2 = dot(e, e);
    };
    for (const CollisionBox& b : d.solids) reach(b.center - h.com, b.half);
    if (d.bricks) reach(h.box_center, h.box_half);
    h.radius = h.round ? d.round_radius + d.round_half : std::sqrt(radius2);
    note_motion(i);
}

void BodyStore::note_motion(std::int32_t i) {
    const BodyHot& h = hot[std::size_t(i)];
    const bool led = h.exists && !h.dynamic && cold[std::size_t(i)].motion == MotionType::kinematic;
    moving.put(i, awake(i) || (led && (h.velocity != Vec3{} || h.spin != Vec3{})));
}

void BodyStore::refresh_pose(std::int32_t i) {
    BodyHot& h = hot[std::size_t(i)];
    h.rotation = to_matrix(cold[std::size_t(i)].rotation);
    const Vec3 center = h.rotation * h.box_center, half = h.box_half;
    Vec3 extent;
    for (int k = 0; k < 3; k++)
        extent[k] = std::fabs(h.rotation.m[k][0]) * half.x + std::fabs(h.rotation.m[k][1]) * half.y +
                    std::fabs(h.rotation.m[k][2]) * half.z;
    if (h.round)
        for (int k = 0; k < 3; k++)
            extent[k] = h.shape->round_radius + std::fabs(h.rotation.m[k][1]) * h.shape->round_half;
    h.lo = center - extent;
    h.hi = center + extent;
}

Pose BodyStore::frame_pose(std::int32_t i) const {
    const BodyHot& h = hot[std::size_t(i)];
    return {h.position - to_double(h.rotation * cold[std::size_t(i)].local_com),
            cold[std::size_t(i)].rotation};
}

void BodyStore::set_frame_pose(std::int32_t i, const Pose& pose) {
    BodyHot& h = hot[std::size_t(i)];
    BodyCold& c = cold[std::size_t(i)];
    const Quat& given = pose.rotation;
    const float size2 = given.x * given.x + given.y * given.y + given.z * given.z + given.w * given.w;
    const bool good = std::isfinite(size2) && size2 > 0;
    if (!good) bad.set(i);
    c.rotation = good ? normalized(given) : Quat{};
    refresh_pose(i);
    h.position = pose.position + to_double(h.rotation * c.local_com);
}

void BodyStore::wake(std::int32_t i) {
    BodyHot& h = hot[std::size_t(i)];
    BodyCold& c = cold[std::size_t(i)];
    c.quiet_time = 0;
    c.long_asleep = false;
    if (!h.asleep) return;
    h.asleep = false;
    c.rest_position = h.position;
    c.rest_rotation = c.rotation;
    h.velocity = h.spin = {};
    note_motion(i);
}

void BodyStore::fall_asleep(std::int32_t i) {
    BodyHot& h = hot[std::size_t(i)];
    h.asleep = true;
    h.velocity = h.spin = {};
    cold[std::size_t(i)].sleep_position = h.position;
    moving.reset(i);
    with_shape.set(i);
}

}  // namespace talus
