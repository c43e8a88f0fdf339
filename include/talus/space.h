// space.h - rigid bodies made of boxes, blocks, balls and capsules: the physics world.
//
// Layer: dynamics. SI units, right-handed, +Y up. World positions are double, all else float.
// A Space is used from one thread; with a JobSystem it spreads a step over several, same bits.
// Determinism: the same calls give the same bits for any number of threads, compiler or build.
// Tests: tests/dynamics/
#pragma once

#include "talus/grid.h"
#include "talus/jobs.h"
#include "talus/math.h"
#include "talus/terrain.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace talus {

/// One box of a shape, in the body's frame, metres.
struct ShapeBox {
    Box box;
    float density = -1;    ///< kg/m^3; negative: the body's
    bool collides = true;  ///< false: only weighs (ballast)
    float friction = -1;   ///< negative: the body's (boxes from_grid: always the body's)
};

/// A block of a grid was changed.
struct BlockChange {
    Cell cell;
    BlockId was = kAir, now = kAir;
};

/// What a body is made of: axis-aligned boxes in its frame, given one by one or taken from a grid of blocks;
/// or one ball or capsule.
/// Boxes thinner than 0.06 m on an axis are padded to that, about their middle. Boxes that share a whole
/// face (and density, friction) merge, so that nothing catches on inner seams. Cheap to copy; a copy never
/// changes with the other.
class BodyShape {
 public:
    BodyShape();  ///< empty
    explicit BodyShape(std::span<const ShapeBox> boxes);
    static BodyShape unit_cube();  ///< [-0.5, 0.5]^3
    static BodyShape box(Vec3 half_extents);
    /// A ball about the frame's origin. Empty unless the radius is above 0 and finite, likewise a capsule.
    static BodyShape sphere(float radius);
    /// The ball swept along y from -half_length to half_length: a player, a log. Its height is
    /// 2 (half_length + radius).
    static BodyShape capsule(float radius, float half_length);
    /// The solids of a grid; frame = the grid's, so cell (0,0,0) is [0, cell_size]^3. Mass comes from every
    /// block.
    static BodyShape from_grid(const Grid& grid, float cell_size);
    /// Blocks of the grid it was made from changed. Costs O(brick) a block, however big the grid, and ends in
    /// the same bits as a shape made anew from it. The first change of a shape that has copies copies it.
    /// Pre (assert): made by from_grid; `was` is what was there; ids are of `table`, the grid's.
    void change_blocks(const BlockTable& table, std::span<const BlockChange> changes);

    bool is_empty() const;
    std::size_t box_count() const;  ///< 0 for a ball or capsule
    std::vector<ShapeBox> boxes() const;
    float radius() const;       ///< of a ball or capsule; else 0
    float half_length() const;  ///< of a capsule's straight part; else 0
    double volume() const;      ///< of all boxes, ballast too, m^3
    double mass(float default_density) const;
    /// Of the solid blocks of from_grid, by volume: what a body made of them should have. `otherwise` when
    /// there are none.
    float mean_friction(float otherwise) const;

    /// Are there copies of it?
    bool is_shared() const { return data_.use_count() > 1; }

    struct Data;
    const Data* data() const { return data_.get(); }

 private:
    std::shared_ptr<Data> data_;
};

/// Built-in layers; 4 to 15 are the user's (Space::set_layers_collide). Of larger numbers the last four bits
/// count.
enum class Layer : std::uint8_t { terrain = 0, soft_terrain = 1, bodies = 2, falling_through_soft = 3 };

enum class MotionType : std::uint8_t { dynamic, kinematic, fixed };

struct BodySettings {
    Pose pose;
    Vec3 velocity;          ///< of the centre of mass, m/s
    Vec3 spin;              ///< rad/s, world axes
    float density = 1000;   ///< for boxes without their own, kg/m^3
    float friction = 0.6f;  ///< for boxes without their own
    float restitution = 0.15f;
    float linear_damping = 0;  ///< share of the velocity lost a second
    float angular_damping = 0;
    float rolling_resistance = 0;  ///< share of the spin lost a second while touching
    float gravity_factor = 1;
    Layer layer = Layer::bodies;
    MotionType motion = MotionType::dynamic;
    bool asleep = false;
    bool continuous = true;  ///< swept against tunnelling when fast
    void* owner = nullptr;
};

struct BodyId {
    std::uint32_t index = 0, generation = 0;
    friend constexpr bool operator==(BodyId, BodyId) = default;
};

class Space;
struct Overlaps;

/// A handle. After the body is destroyed every call is a no-op and reads give zero or the input unchanged;
/// a default-made handle likewise. The handle must not outlive its Space.
class Body {
 public:
    Body() = default;
    Body(Space* space, BodyId id) : space_(space), id_(id) {}

    BodyId id() const { return id_; }
    bool exists() const;
    Space* space() const { return space_; }
    friend bool operator==(const Body&, const Body&) = default;

    Pose pose() const;                ///< position = origin of the shape's frame
    void set_pose(const Pose& pose);  ///< wakes it and its neighbours
    DVec3 center_of_mass() const;     ///< world
    Vec3 local_center_of_mass() const;
    DVec3 to_world(Vec3 local) const;
    Vec3 to_local(DVec3 world) const;
    Vec3 direction_to_world(Vec3 local) const;
    Vec3 direction_to_local(Vec3 world) const;

    Vec3 velocity() const;             ///< of the centre of mass, m/s, world axes
    void set_velocity(Vec3 velocity);  ///< wakes; a fixed body keeps none
    Vec3 spin() const;                 ///< rad/s, world axes
    void set_spin(Vec3 spin);          ///< likewise
    Vec3 velocity_at(DVec3 world_point) const;

    /// Last exactly one Space::step; ignored while asleep. N, N m. Numbers not finite: quarantine.
    void add_force(Vec3 force);
    void add_force_at(Vec3 force, DVec3 world_point);
    void add_torque(Vec3 torque);
    /// Acts at once and wakes. N s.
    void add_impulse(Vec3 impulse);
    void add_impulse_at(Vec3 impulse, DVec3 world_point);

    float mass() const;       ///< kg
    SymMat3 inertia() const;  ///< about the centre of mass, body axes
    DBox bounds() const;      ///< world
    float friction() const;
    void set_friction(float friction);  ///< of boxes without their own
    float restitution() const;
    void set_restitution(float restitution);
    float gravity_factor() const;
    void set_gravity_factor(float factor);  ///< wakes
    Layer layer() const;
    void set_layer(Layer layer);  ///< wakes it and its neighbours
    MotionType motion() const;
    void set_motion(MotionType motion);  ///< likewise; lets a quarantined body go
    void* owner() const;
    void set_owner(void* owner);

    bool continuous() const;
    void set_continuous(bool continuous);
    float linear_damping() const;
    float angular_damping() const;
    float rolling_resistance() const;
    /// Shares lost a second; see BodySettings.
    void set_damping(float linear, float angular, float rolling_resistance = 0);

    /// What it rests on, leans on or hits now (contacts nearer than 1 cm), in id order; also while asleep.
    Overlaps touching() const;

    bool is_asleep() const;
    void activate();
    void sleep();  ///< at once, wherever it is; dynamic bodies only

    const BodyShape& shape() const;
    /// A new shape in the same frame (blocks added or removed). Velocity is kept at every point that stays:
    /// the centre of mass gets the velocity the old body had there. Wakes this body and what touches it.
    void set_shape(const BodyShape& shape);
    /// The same for blocks that were removed, placed or swapped, see BodyShape::change_blocks. Wakes this
    /// body and what is near those blocks.
    void change_blocks(const BlockTable& table, std::span<const BlockChange> changes);

 private:
    Space* space_ = nullptr;
    BodyId id_;
};

/// Something that touched in the last step.
struct Contact {
    BodyId a, b;  ///< b has index 0, generation 0 for terrain
    DVec3 point;
    Vec3 normal;               ///< unit, from a towards b
    float impulse = 0;         ///< along the normal over the step, N s
    float approach_speed = 0;  ///< along the normal before the step, m/s; >= 0
    bool began = false;        ///< the pair did not touch in the step before
    bool with_terrain = false;
};

struct SpaceHit {
    Body body;  ///< exists() is false for terrain
    bool terrain = false;
    DVec3 point;
    Vec3 normal;
    float distance = 0;
};

/// What a shape meets.
struct Overlaps {
    std::vector<Body> bodies;  ///< in id order
    bool terrain = false;      ///< blocks, ground or smooth ground
};

/// May veto pairs of bodies: derive from it, give it to Space::set_contact_filter.
/// Asked once for a pair when its bodies first come near each other (their bounds, fattened by the motion
/// ahead, overlap), in a fixed order, on the thread that steps, before contacts are found. The answer holds
/// until they part, and is asked again after set_layer, set_motion or Space::ask_again of either. Layers are
/// looked at first; terrain is not asked about. Must not change the space, and must depend on nothing but
/// what is the same in every run.
class ContactFilter {
 public:
    virtual ~ContactFilter() = default;
    virtual bool may_touch(Body a, Body b) = 0;
};

struct SpaceSettings {
    Vec3 gravity{0, -9.81f, 0};
    float cell_size = 1;  ///< of the terrain, metres; brought into 0.001 to 1,000
    int sub_steps = 0;    ///< of one step(dt), at most 10,000; 0 = as many as keep contacts stable
    bool allow_sleep = true;
    JobSystem* jobs = nullptr;
    LogSink* log = nullptr;
};

class Space {
 public:
    explicit Space(const SpaceSettings& settings = {});
    ~Space();
    Space(const Space&) = delete;
    Space& operator=(const Space&) = delete;

    const SpaceSettings& settings() const;
    void set_paused(bool paused);  ///< steps then do nothing but forget forces
    /// false: wakes everything, and nothing falls asleep again.
    void set_allow_sleep(bool allow);
    /// All layers but fixed against fixed collide, and falling_through_soft passes soft_terrain, unless set
    /// here.
    void set_layers_collide(Layer a, Layer b, bool collide);

    /// null: none. Must outlive the space or be taken away. Every pair is asked anew.
    void set_contact_filter(ContactFilter* filter);
    /// Answers about this body may have changed: its pairs are asked anew in the next step; wakes it and what
    /// touches it.
    void ask_again(Body body);

    /// Terrain blocks, read in place; null = none. The grid must outlive the space or be taken away first.
    /// @param whole false: it holds what is within a cell of the bodies and of their way in a step, and grows
    /// as they go, as read from a host
    void set_terrain(const Grid* grid, bool whole = true);
    /// A flat floor: solid everywhere below y. nullopt takes it away.
    void set_ground(std::optional<double> y, float friction = 0.6f);
    /// Ground given by a field, beside the blocks; null = none. Must outlive the space or be taken away
    /// first. Changes are told by terrain_changed(). It belongs to Layer::terrain.
    void set_smooth_ground(const SmoothGround* ground, float friction = 0.6f);
    /// Terrain cells changed: wakes what sleeps within 1.5 cells.
    void terrain_changed(const CellBox& cells);

    Body add_body(const BodyShape& shape, const BodySettings& settings);  ///< of no mass: it does not move
    void remove_body(Body body);                                          ///< wakes what rested on it
    Body body(BodyId id);  ///< a handle, whether it exists or not
    std::size_t body_count() const;
    std::size_t awake_count() const;
    /// Every body in the order of their ids' index.
    void for_each_body(void (*f)(void* context, Body body), void* context);
    /// Likewise of those that move: awake, or kinematic with a velocity. Costs nothing for the others.
    void for_each_moving(void (*f)(void* context, Body body), void* context);

    /// One step of 0 < dt < 10 seconds (a tick): forces added since the last one act, then last no longer.
    void step(float dt);

    /// Contacts of the last step, in a fixed order.
    std::span<const Contact> contacts() const;
    /// Bodies that left the physics in the last step because their state was not finite: frozen at the last
    /// good pose.
    std::span<const BodyId> quarantined() const;

    // Queries see the bodies as they are now. Numbers that make no sense (not a number, no direction, a
    // negative size) find nothing; infinite distances and sizes are fine. Directions may have any length but
    // zero. Smooth ground is seen up to 32,768 cells away, and in boxes looked for at places a cell apart (64
    // along an edge at most).

    /// Distance 0 and a normal of zero where it starts inside.
    std::optional<SpaceHit> cast_ray(DVec3 origin, Vec3 direction, float max_distance,
                                     BodyId ignore = {}) const;
    /// A ball moved along a direction until it first touches something; distance 0 where it does at once. The
    /// point is where they touch. Of radius 0: a ray.
    std::optional<SpaceHit> cast_sphere(DVec3 origin, float radius, Vec3 direction, float max_distance,
                                        BodyId ignore = {}) const;
    /// What a ball or a box (pose of its middle) overlaps: the shapes themselves, not their bounds. Of size
    /// 0: what is at a place.
    Overlaps overlap_sphere(DVec3 center, float radius) const;
    Overlaps overlap_box(const Pose& pose, Vec3 half_extents) const;
    /// Bodies whose bounds overlap the box, in id order.
    std::vector<Body> bodies_in(const DBox& box) const;

    struct State;
    State& state() { return *state_; }
    const State& state() const { return *state_; }

 private:
    std::unique_ptr<State> state_;
};

}  // namespace talus
