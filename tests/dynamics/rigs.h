// rigs.h - small set-ups shared by the tests of dynamics.
#pragma once

#include "base/hash.h"
#include "talus/space.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace talus {

constexpr float kG = 9.81f;
constexpr float kTick = 1.0f / 60;

struct Rig {
    SpaceSettings settings;
    Space space;
    explicit Rig(const SpaceSettings& s = {}) : settings(s), space(s) {}

    Body cube(DVec3 at, float size = 1, BodySettings b = {}) {
        b.pose.position = at;
        return space.add_body(BodyShape::box(Vec3{size, size, size} * 0.5f), b);
    }
    Body box(DVec3 at, Vec3 half, BodySettings b = {}) {
        b.pose.position = at;
        return space.add_body(BodyShape::box(half), b);
    }
    void run(float seconds, float dt = kTick) {
        const int n = int(seconds / dt + 0.5f);
        for (int i = 0; i < n; i++) space.step(dt);
    }
};

inline constexpr double kPi = 3.14159265358979;

inline SpaceSettings no_gravity() {
    SpaceSettings s;
    s.gravity = {};
    return s;
}
inline SpaceSettings no_sleep() {
    SpaceSettings s;
    s.allow_sleep = false;
    return s;
}

inline double kinetic_energy(const Body& b) {
    const Vec3 v = b.velocity(), w = b.direction_to_local(b.spin());
    return 0.5 * double(b.mass()) * double(dot(v, v)) + 0.5 * double(dot(w, b.inertia() * w));
}
inline double energy(const Body& b) {
    return kinetic_energy(b) + double(b.mass()) * 9.81 * b.center_of_mass().y;
}
inline Vec3 angular_momentum(const Body& b) {
    return b.direction_to_world(b.inertia() * b.direction_to_local(b.spin()));
}

inline std::uint64_t hash_of(Space& space) {
    BitHash h;
    space.for_each_body(
        [](void* context, Body b) {
            auto& hash = *static_cast<BitHash*>(context);
            const Pose p = b.pose();
            hash.add(p.position.x), hash.add(p.position.y), hash.add(p.position.z);
            hash.add(p.rotation.x), hash.add(p.rotation.y), hash.add(p.rotation.z), hash.add(p.rotation.w);
            const Vec3 v = b.velocity(), w = b.spin();
            hash.add(v.x), hash.add(v.y), hash.add(v.z), hash.add(w.x), hash.add(w.y), hash.add(w.z);
        },
        &h);
    return h.value();
}

/// Flat ground of full blocks: y from -depth to -1, so that the top is at 0.
struct BlockGround {
    BlockTable table;
    Grid grid;
    BlockId stone;
    explicit BlockGround(int half = 12, int depth = 2) : grid(table) {
        Material m;
        m.friction = 0.6f;
        stone = table.add(m);
        for (int y = -depth; y < 0; y++)
            for (int z = -half; z < half; z++)
                for (int x = -half; x < half; x++) grid.set({x, y, z}, stone);
    }
};

}  // namespace talus
