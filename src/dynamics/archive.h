// archive.h - bodies' settings and shapes as bytes (base/archive.h).
//
// Layer: dynamics. A shape is kept as it is made up, not by what made it: a body may have that of blocks that
// are gone since. Tests: tests/world/snapshot_test.cpp
#pragma once

#include "dynamics/shape.h"
#include "math/archive.h"

namespace talus {

template <class A, MaybeConst<BodyId> T>
void archive(A& a, T& v) {
    a(v.index, v.generation);
}

template <class A, MaybeConst<BlockChange> T>
void archive(A& a, T& v) {
    a(v.cell, v.was, v.now);
}

/// All but the owner.
template <class A, MaybeConst<BodySettings> T>
void archive(A& a, T& v) {
    a(v.pose, v.velocity, v.spin, v.density, v.friction, v.restitution, v.linear_damping, v.angular_damping,
      v.rolling_resistance, v.gravity_factor, v.layer, v.motion, v.asleep, v.continuous);
}

void archive(ByteWriter& a, const BodyShape& shape);
void archive(ByteReader& a, BodyShape& shape);

}  // namespace talus
