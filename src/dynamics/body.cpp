#include "dynamics/archive.h"
#include "dynamics/state.h"

#include <algorithm>

namespace talus {

namespace {

/// The state behind a handle; null when the body is gone.
struct Access {
    Space::State* state = nullptr;
    std::int32_t index = 0;
    BodyHot* hot = nullptr;
    BodyCold* cold = nullptr;
    explicit operator bool() const { return state != nullptr; }
};

Access access_body(const Body& body) {
    if (!body.space()) return {};
    Space::State& s = body.space()->state();
    if (!s.bodies.is(body.id())) return {};
    const auto i = body.id().index;
    return {&s, std::int32_t(i), &s.bodies.hot[i], &s.bodies.cold[i]};
}

CallLog* log_of(const Body& body) { return body.space() ? body.space()->state().calls : nullptr; }

/// False, and the body is quarantined in the next step, when a value is not finite: the body keeps what it
/// had.
template <class... F>
bool accept(const Access& b, F... values) {
    const bool good = (std::isfinite(values) && ...);
    if (!good) b.state->bodies.bad.set(b.index);
    return good;
}
bool accept(const Access& b, Vec3 v) { return accept(b, v.x, v.y, v.z); }
bool accept(const Access& b, Vec3 v, DVec3 at) { return accept(b, v.x, v.y, v.z, at.x, at.y, at.z); }

void push(const Access& b, Vec3 force, Vec3 torque) {
    b.cold->force += force;
    b.cold->torque += torque;
    b.state->bodies.forced.set(b.index);
}

/// Handles do not change what they point to; reading is const.
Vec3 inverse_inertia_times(const BodyHot& hot, const BodyCold& cold, Vec3 v) {
    const Mat3 k = spin_frame(hot, cold);
    return mul_transposed(k, k * v);
}

}  // namespace

bool Body::exists() const { return bool(access_body(*this)); }

Pose Body::pose() const {
    const Access b = access_body(*this);
    return b ? b.state->bodies.frame_pose(b.index) : Pose{};
}

void Body::set_pose(const Pose& pose) {
    const Recorded call(log_of(*this), Call::body_set_pose, id_, pose);
    const Access b = access_body(*this);
    if (!b) return;
    const Quat& q = pose.rotation;
    const double far = std::fabs(pose.position.x) + std::fabs(pose.position.y) + std::fabs(pose.position.z);
    const float size2 = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    if (!(far <= BodyStore::kFarthest) || !std::isfinite(size2) || !(size2 > 0)) {
        b.state->bodies.bad.set(b.index);
        return;
    }
    b.state->wake_neighbours(b.index);
    b.state->bodies.set_frame_pose(b.index, pose);
    b.state->wake(b.index);
    b.cold->rest_position = b.cold->sleep_position = b.hot->position;
    b.cold->rest_rotation = b.cold->rotation;
    b.state->refresh_contacts(b.index);
}

DVec3 Body::center_of_mass() const {
    const Access b = access_body(*this);
    return b ? b.hot->position : DVec3{};
}
Vec3 Body::local_center_of_mass() const {
    const Access b = access_body(*this);
    return b ? b.cold->local_com : Vec3{};
}
DVec3 Body::to_world(Vec3 local) const {
    const Access b = access_body(*this);
    return b ? b.hot->position + to_double(b.hot->rotation * (local - b.cold->local_com)) : to_double(local);
}
Vec3 Body::to_local(DVec3 world) const {
    const Access b = access_body(*this);
    if (!b) return to_float(world);
    return mul_transposed(b.hot->rotation, to_float(world - b.hot->position)) + b.cold->local_com;
}
Vec3 Body::direction_to_world(Vec3 local) const {
    const Access b = access_body(*this);
    return b ? b.hot->rotation * local : local;
}
Vec3 Body::direction_to_local(Vec3 world) const {
    const Access b = access_body(*this);
    return b ? mul_transposed(b.hot->rotation, world) : world;
}

Vec3 Body::velocity() const {
    const Access b = access_body(*this);
    return b ? b.hot->velocity : Vec3{};
}
void Body::set_velocity(Vec3 velocity) {
    const Recorded call(log_of(*this), Call::body_set_velocity, id_, velocity);
    const Access b = access_body(*this);
    if (!b || b.cold->motion == MotionType::fixed) return;
    if (!accept(b, velocity)) return;
    b.state->wake(b.index);
    b.hot->velocity = velocity;
    b.state->bodies.note_motion(b.index);
}
Vec3 Body::spin() const {
    const Access b = access_body(*this);
    return b ? b.hot->spin : Vec3{};
}
void Body::set_spin(Vec3 spin) {
    const Recorded call(log_of(*this), Call::body_set_spin, id_, spin);
    const Access b = access_body(*this);
    if (!b || b.cold->motion == MotionType::fixed) return;
    if (!accept(b, spin)) return;
    b.state->wake(b.index);
    b.hot->spin = spin;
    b.state->bodies.note_motion(b.index);
}
Vec3 Body::velocity_at(DVec3 point) const {
    const Access b = access_body(*this);
    return b ? b.hot->velocity + cross(b.hot->spin, to_float(point - b.hot->position)) : Vec3{};
}

void Body::add_force(Vec3 force) {
    const Recorded call(log_of(*this), Call::body_add_force, id_, force);
    const Access b = access_body(*this);
    if (b && b.state->bodies.awake(b.index) && accept(b, force)) push(b, force, {});
}
void Body::add_force_at(Vec3 force, DVec3 point) {
    const Recorded call(log_of(*this), Call::body_add_force_at, id_, force, point);
    const Access b = access_body(*this);
    if (!b || !b.state->bodies.awake(b.index) || !accept(b, force, point)) return;
    push(b, force, cross(to_float(point - b.hot->position), force));
}
void Body::add_torque(Vec3 torque) {
    const Recorded call(log_of(*this), Call::body_add_torque, id_, torque);
    const Access b = access_body(*this);
    if (b && b.state->bodies.awake(b.index) && accept(b, torque)) push(b, {}, torque);
}
void Body::add_impulse(Vec3 impulse) {
    const Recorded call(log_of(*this), Call::body_add_impulse, id_, impulse);
    const Access b = access_body(*this);
    if (!b || !b.hot->dynamic || !accept(b, impulse)) return;
    b.state->wake(b.index);
    b.hot->velocity += impulse * b.hot->inverse_mass;
}
void Body::add_impulse_at(Vec3 impulse, DVec3 point) {
    const Recorded call(log_of(*this), Call::body_add_impulse_at, id_, impulse, point);
    const Access b = access_body(*this);
    if (!b || !b.hot->dynamic || !accept(b, impulse, point)) return;
    b.state->wake(b.index);
    b.hot->velocity += impulse * b.hot->inverse_mass;
    b.hot->spin += inverse_inertia_times(*b.hot, *b.cold, cross(to_float(point - b.hot->position), impulse));
}

float Body::mass() const {
    const Access b = access_body(*this);
    return b ? b.cold->mass : 0;
}
SymMat3 Body::inertia() const {
    const Access b = access_body(*this);
    return b ? b.cold->inertia : SymMat3{};
}
DBox Body::bounds() const {
    const Access b = access_body(*this);
    if (!b) return {};
    return {b.hot->position + to_double(b.hot->lo), b.hot->position + to_double(b.hot->hi)};
}
float Body::friction() const {
    const Access b = access_body(*this);
    return b ? b.hot->friction : 0;
}
void Body::set_friction(float friction) {
    const Recorded call(log_of(*this), Call::body_set_friction, id_, friction);
    const Access b = access_body(*this);
    if (!b || friction == b.hot->friction || !accept(b, friction)) return;
    b.hot->friction = sane_friction(friction);
    b.state->refresh_contacts(b.index);
}
float Body::restitution() const {
    const Access b = access_body(*this);
    return b ? b.hot->restitution : 0;
}
void Body::set_restitution(float restitution) {
    const Recorded call(log_of(*this), Call::body_set_restitution, id_, restitution);
    const Access b = access_body(*this);
    if (!b || restitution == b.hot->restitution || !accept(b, restitution)) return;
    b.hot->restitution = sane_restitution(restitution);
    b.state->refresh_contacts(b.index);
}
float Body::gravity_factor() const {
    const Access b = access_body(*this);
    return b ? b.cold->gravity_factor : 0;
}
void Body::set_gravity_factor(float factor) {
    const Recorded call(log_of(*this), Call::body_set_gravity, id_, factor);
    const Access b = access_body(*this);
    if (!b || factor == b.cold->gravity_factor || !accept(b, factor)) return;
    b.state->wake(b.index);
    b.cold->gravity_factor = factor;
}
Layer Body::layer() const {
    const Access b = access_body(*this);
    return b ? Layer(b.hot->layer) : Layer::terrain;
}
void Body::set_layer(Layer layer) {
    const Recorded call(log_of(*this), Call::body_set_layer, id_, layer);
    const Access b = access_body(*this);
    layer = Layer(std::uint8_t(layer) & BodyStore::kMostLayer);
    if (!b || b.hot->layer == std::uint8_t(layer)) return;
    b.state->wake(b.index);
    b.state->wake_neighbours(b.index);
    b.hot->layer = std::uint8_t(layer);
    b.state->make_pairs_anew(b.index);
}
MotionType Body::motion() const {
    const Access b = access_body(*this);
    return b ? b.cold->motion : MotionType::fixed;
}
void Body::set_motion(MotionType motion) {
    const Recorded call(log_of(*this), Call::body_set_motion, id_, motion);
    const Access b = access_body(*this);
    if (!b || b.cold->motion == motion) return;
    const Pose pose = b.state->bodies.frame_pose(b.index);
    b.state->wake(b.index);
    b.state->wake_neighbours(b.index);
    b.cold->motion = motion;
    if (motion == MotionType::fixed) b.hot->velocity = b.hot->spin = {};
    b.state->bodies.refresh_mass(b.index);
    b.state->bodies.set_frame_pose(b.index, pose);
    b.state->make_pairs_anew(b.index);
}
void* Body::owner() const {
    const Access b = access_body(*this);
    return b ? b.cold->owner : nullptr;
}
void Body::set_owner(void* owner) {
    if (const Access b = access_body(*this)) b.cold->owner = owner;
}

bool Body::continuous() const {
    const Access b = access_body(*this);
    return b && b.cold->continuous;
}
void Body::set_continuous(bool continuous) {
    const Recorded call(log_of(*this), Call::body_set_continuous, id_, continuous);
    if (const Access b = access_body(*this)) b.cold->continuous = continuous;
}
float Body::linear_damping() const {
    const Access b = access_body(*this);
    return b ? b.cold->linear_damping : 0;
}
float Body::angular_damping() const {
    const Access b = access_body(*this);
    return b ? b.cold->angular_damping : 0;
}
float Body::rolling_resistance() const {
    const Access b = access_body(*this);
    return b ? b.cold->rolling_resistance : 0;
}
void Body::set_damping(float linear, float angular, float rolling_resistance) {
    const Recorded call(log_of(*this), Call::body_set_damping, id_, linear, angular, rolling_resistance);
    const Access b = access_body(*this);
    if (!b || !accept(b, linear, angular, rolling_resistance)) return;
    b.cold->linear_damping = linear;
    b.cold->angular_damping = angular;
    b.cold->rolling_resistance = rolling_resistance;
}

bool Body::is_asleep() const {
    const Access b = access_body(*this);
    return b && b.hot->asleep;
}
void Body::activate() {
    const Recorded call(log_of(*this), Call::body_activate, id_);
    if (const Access b = access_body(*this)) b.state->wake(b.index);
}
void Body::sleep() {
    const Recorded call(log_of(*this), Call::body_sleep, id_);
    const Access b = access_body(*this);
    if (!b || !b.hot->dynamic) return;
    b.state->bodies.fall_asleep(b.index);
    b.cold->force = b.cold->torque = {};
    // What it carries and what carries it now is what may change later.
    b.state->each_pair(b.index, [&](std::int32_t, Pair& p, std::int32_t) {
        if (!p.touching) return;
        p.load = 0;
        for (std::int32_t m = p.first; m >= 0; m = b.state->pairs.manifolds[std::size_t(m)].next)
            p.load += b.state->pairs.manifolds[std::size_t(m)].total_impulse / b.state->last_dt;
    });
}

const BodyShape& Body::shape() const {
    static const BodyShape nothing;
    const Access b = access_body(*this);
    if (b) b.state->bodies.bring_shape(b.index);
    return b ? b.cold->shape : nothing;
}

namespace {

/// Follows a change of the shape by `change`: mass, pose of the frame, contacts, velocity of what stays.
template <class F>
void reshape(const Access& b, F&& change) {
    Space::State& s = *b.state;
    s.wake(b.index);
    const Pose pose = s.bodies.frame_pose(b.index);
    const Vec3 old_com = b.cold->local_com;
    const bool was_dynamic = b.hot->dynamic;
    change(b.cold->shape);
    s.bodies.refresh_mass(b.index);
    s.bodies.set_frame_pose(b.index, pose);
    const Vec3 shift = b.cold->local_com - old_com;
    b.hot->velocity += cross(b.hot->spin, b.hot->rotation * shift);
    b.cold->rest_position = b.cold->sleep_position = b.hot->position;
    if (was_dynamic != b.hot->dynamic) {
        s.make_pairs_anew(b.index);
    }
    // Anchors are counted from the centre of mass: moved along, old contacts warm start the new ones.
    s.each_pair(b.index, [&](std::int32_t, Pair& p, std::int32_t) {
        for (std::int32_t m = p.first; m >= 0; m = s.pairs.manifolds[std::size_t(m)].next)
            for (Manifold::Point& point : s.pairs.manifolds[std::size_t(m)].points)
                (p.a == b.index ? point.on_a : point.on_b) =
                    (p.a == b.index ? point.on_a : point.on_b) - shift;
    });
    s.refresh_contacts(b.index);
}

}  // namespace

void Body::set_shape(const BodyShape& shape) {
    const Recorded call(log_of(*this), Call::body_set_shape, id_, shape);
    const Access b = access_body(*this);
    if (!b) return;
    b.state->wake_neighbours(b.index);
    reshape(b, [&](BodyShape& old) { old = shape; });
}

void Body::change_blocks(const BlockTable& table, std::span<const BlockChange> changes) {
    const Recorded call(log_of(*this), Call::body_change_blocks, id_,
                        std::vector<BlockChange>(changes.begin(), changes.end()));
    const Access b = access_body(*this);
    if (!b || changes.empty()) return;
    const auto size = double(b.cold->shape.data()->cell_size);
    Cell lo = changes[0].cell, hi = lo;
    for (const BlockChange& c : changes) {
        lo = {std::min(lo.x, c.cell.x), std::min(lo.y, c.cell.y), std::min(lo.z, c.cell.z)};
        hi = {std::max(hi.x, c.cell.x), std::max(hi.y, c.cell.y), std::max(hi.z, c.cell.z)};
    }
    const DVec3 from{lo.x * size, lo.y * size, lo.z * size};
    const DVec3 to{(hi.x + 1.0) * size, (hi.y + 1.0) * size, (hi.z + 1.0) * size};
    b.state->wake_near(b.index, to_float((from + to) * 0.5 - to_double(b.cold->local_com)),
                       to_float((to - from) * 0.5));
    reshape(b, [&](BodyShape& shape) { shape.change_blocks(table, changes); });
}

}  // namespace talus
