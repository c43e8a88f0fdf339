// archive.h - ids, settings and grids of a level as bytes (base/archive.h).
//
// Layer: world. Tests: tests/world/recording_test.cpp, tests/world/snapshot_test.cpp
#pragma once

#include "grid/archive.h"
#include "talus/level.h"

namespace talus {

template <class A, MaybeConst<GroupId> T>
void archive(A& a, T& v) {
    a(v.index, v.generation);
}

template <class A, MaybeConst<StructureId> T>
void archive(A& a, T& v) {
    a(v.index, v.generation);
}

template <class A, MaybeConst<GroupSettings> T>
void archive(A& a, T& v) {
    a(v.pose, v.velocity, v.spin, v.bears_load, v.asleep, v.structure_mode);
}

}  // namespace talus
