// body_store.h - the bodies of a space: what every stage of a step reads, apart from what few do.
//
// Layer: dynamics. Slot 0 is the world (terrain and ground): it never moves and has no shape.
// Frames: a shape's axes are the body's axes; `com` leads from the shape's reference to the centre of mass.
// Determinism: slots are reused last-freed first.
// Tests: tests/dynamics/
#pragma once

#include "base/bit_set.h"
#include "base/give_back.h"
#include "dynamics/shape.h"
#include "talus/space.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace talus {

/// Read by broad phase, narrow phase and solver for every body in every step.
struct alignas(64) BodyHot {
    DVec3 position;  ///< of the centre of mass, world
    Mat3 rotation;   ///< body axes to world
    Vec3 velocity, spin;
    Vec3 lo, hi;  ///< bounds in world axes, about `position`
    float inverse_mass = 0;
    float thickness = 0;  ///< of the shape
    float radius = 0;     ///< of a ball about the centre of mass that holds the shape
    Vec3 com;
    Vec3 box_center, box_half;     ///< of the shape, body axes, about `position`
    std::int32_t first_pair = -1;  ///< head of the list of pairs
    const BodyShape::Data* shape = nullptr;
    bool exists = false;
    bool dynamic = false;  ///< pushed by contacts when awake
    bool asleep = false;
    std::uint8_t layer = 0;
    bool round = false;  ///< a ball or capsule
    float friction = 0.6f, restitution = 0.15f;
};
static_assert(sizeof(BodyHot) == 3 * 64);

/// Makes the shape of a body again from what its owner knows of it: a sleeper that nothing moves beside does
/// without.
struct ShapeMaker {
    bool (*can)(void* context, BodyId) = nullptr;  ///< null: of no body
    BodyShape (*make)(void* context, BodyId) = nullptr;
    void* context = nullptr;
};

/// The rest. Only of slots in use.
struct BodyCold {
    std::int32_t slot = 0;
    MotionType motion = MotionType::dynamic;
    BodyShape shape;
    Quat rotation;
    Vec3 local_com;  ///< from the origin of the shape's frame, body axes
    float mass = 0;
    SymMat3 inertia;    ///< about the centre of mass, body axes
    Mat3 principal;     ///< body axes to principal axes: columns
    Vec3 root_moments;  ///< square roots of the principal moments
    Vec3 root_inverse;  ///< their inverses; zero when not dynamic
    bool isotropic = false;
    bool continuous = true;
    float density = 1000;
    float linear_damping = 0, angular_damping = 0, rolling_resistance = 0, gravity_factor = 1;
    void* owner = nullptr;
    Vec3 force, torque;        ///< of this step, world axes, about the centre of mass
    bool shapeless = false;    ///< ShapeMaker has its shape
    bool long_asleep = false;  ///< since State::rest_shapes() ran last

    // Contact with the world.
    DVec3 world_origin;    ///< from where the anchors on the world are counted
    DVec3 world_position;  ///< of this body when it was last collided with it

    // Sleep (sleep.h).
    float quiet_time = 0;
    DVec3 rest_position;  ///< where it was when quiet_time began
    Quat rest_rotation;
    DVec3 sleep_position;
};

/// Cold state by slot, side by side however many slots were used once. A reference is valid until a slot is
/// taken or given back.
class ColdStore {
 public:
    BodyCold& operator[](std::size_t slot) { return all_[std::size_t(at_[slot])]; }
    const BodyCold& operator[](std::size_t slot) const { return all_[std::size_t(at_[slot])]; }
    void add_slot() { at_.push_back(-1); }
    BodyCold& take(std::size_t slot) {
        assert(at_[slot] < 0);
        at_[slot] = std::int32_t(all_.size());
        if (all_.size() == all_.capacity()) all_.reserve(room_for(all_.size()));
        all_.emplace_back().slot = std::int32_t(slot);
        return all_.back();
    }
    void give_up(std::size_t slot) {
        const std::int32_t hole = std::exchange(at_[slot], -1);
        if (hole < 0) return;
        if (std::size_t(hole) + 1 < all_.size()) {
            all_[std::size_t(hole)] = std::move(all_.back());
            at_[std::size_t(all_[std::size_t(hole)].slot)] = hole;
        }
        all_.pop_back();
        if (4 * all_.capacity() <= 5 * room_for(all_.size())) return;
        std::vector<BodyCold> fit;
        fit.reserve(room_for(all_.size()));
        std::move(all_.begin(), all_.end(), std::back_inserter(fit));
        all_.swap(fit);
    }

 private:
    static std::size_t room_for(std::size_t n) { return n + n / 8 + 16; }
    std::vector<std::int32_t> at_;  // by slot, in all_; -1: none
    std::vector<BodyCold> all_;
};

class BodyStore {
 public:
    BodyStore() { take_slot(); }

    static constexpr double kFarthest = 1e9;  // m from the origin: beyond, bodies are quarantined
    static constexpr std::uint8_t kMostLayer = 15;

    std::vector<BodyHot> hot;
    ColdStore cold;
    std::vector<std::uint32_t> generation;
    /// How far any point of a body went since it was made, at most; in units of kWayUnit, exact sums.
    std::vector<std::int64_t> way;
    static constexpr float kWayUnit = 1.0f / (1 << 20);  // m
    /// Rounded up.
    static std::int64_t to_way(float metres) { return 1 + std::int64_t(metres * (1 / kWayUnit)); }

    std::int32_t size() const { return std::int32_t(hot.size()); }
    bool is(BodyId id) const {
        return id.index != 0 && id.index < hot.size() && hot[id.index].exists &&
               generation[id.index] == id.generation;
    }
    BodyId id(std::int32_t i) const {
        return i == 0 ? BodyId{} : BodyId{std::uint32_t(i), generation[std::size_t(i)]};
    }
    bool awake(std::int32_t i) const { return hot[std::size_t(i)].dynamic && !hot[std::size_t(i)].asleep; }
    bool kinematic_moving(std::int32_t i) const { return moving[i] && !hot[std::size_t(i)].dynamic; }

    // A step walks these and never all bodies, so that it costs what moves, not what rests.
    BitSet moving;  ///< awake, or kinematic with a velocity: kept by note_motion()
    BitSet bad;     ///< a state that is not finite was given: quarantined in the next step
    BitSet forced;  ///< force or torque is not zero
    /// After what tells whether it moves was changed.
    void note_motion(std::int32_t i);

    std::int32_t add(const BodyShape& shape, const BodySettings& settings);
    /// The slot is given back later by release(): pairs may still speak of it.
    void remove(std::int32_t i);
    void release(std::int32_t i) {
        cold.give_up(std::size_t(i));
        hot[std::size_t(i)].shape = nullptr;
        free_.push_back(i);
    }

    ShapeMaker shapes;
    BitSet with_shape;  ///< sleepers that may do without it: State::rest_shapes() is to look at them
    /// Call before the shape of a sleeper is looked at.
    void bring_shape(std::int32_t i) {
        BodyCold& c = cold[std::size_t(i)];
        if (!c.shapeless) return;
        c.shapeless = false;
        c.shape = shapes.make(shapes.context, id(i));
        hot[std::size_t(i)].shape = c.shape.data();
        with_shape.set(i);
    }
    /// Until then.
    void rest_shape(std::int32_t i) {
        BodyCold& c = cold[std::size_t(i)];
        c.shapeless = true;
        c.shape = BodyShape();
        hot[std::size_t(i)].shape = nullptr;
    }

    /// Mass, centre and inertia from the shape; keeps the pose of the frame.
    void refresh_mass(std::int32_t i);
    /// After the rotation changed: matrix and bounds.
    void refresh_pose(std::int32_t i);
    Pose frame_pose(std::int32_t i) const;
    void set_frame_pose(std::int32_t i, const Pose& pose);
    void wake(std::int32_t i);
    void fall_asleep(std::int32_t i);

    /// One more, empty, at the end.
    void take_slot();
    std::size_t alive = 0;
    std::vector<std::int32_t>& free_slots() { return free_; }
    const std::vector<std::int32_t>& free_slots() const { return free_; }

 private:
    std::vector<std::int32_t> free_;
};

/// Friction of a pair is a root of a product: it must not be negative, endless or no number.
constexpr float sane_friction(float friction) {
    return friction > 0 ? friction < 1e6f ? friction : 1e6f : 0.0f;
}

/// Likewise: a snapshot keeps it with each contact.
constexpr float sane_restitution(float restitution) { return sane_friction(restitution); }

/// Rows of this times angular momentum give spin in the scaled principal frame: diag(1 / sqrt I) P^T R^T.
inline Mat3 spin_frame(const BodyHot& hot, const BodyCold& cold) {
    const Mat3 axes = hot.rotation * cold.principal;
    Mat3 k;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) k.m[i][j] = cold.root_inverse[i] * axes.m[j][i];
    return k;
}

constexpr Vec3 mul_transposed(const Mat3& a, Vec3 v) {
    return {a.m[0][0] * v.x + a.m[1][0] * v.y + a.m[2][0] * v.z,
            a.m[0][1] * v.x + a.m[1][1] * v.y + a.m[2][1] * v.z,
            a.m[0][2] * v.x + a.m[1][2] * v.y + a.m[2][2] * v.z};
}
/// a^T b
constexpr Mat3 mul_transposed(const Mat3& a, const Mat3& b) {
    Mat3 r;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r.m[i][j] = a.m[0][i] * b.m[0][j] + a.m[1][i] * b.m[1][j] + a.m[2][i] * b.m[2][j];
    return r;
}

}  // namespace talus
