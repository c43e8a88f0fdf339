// archive.h - vectors, boxes and poses as bytes (base/archive.h).
//
// Layer: math. Tests: tests/base/archive_test.cpp
#pragma once

#include "base/archive.h"
#include "talus/math.h"

namespace talus {

template <class T, class Of>
concept MaybeConst = std::is_same_v<std::remove_const_t<T>, Of>;

template <class A, MaybeConst<Cell> T>
void archive(A& a, T& v) {
    a(v.x, v.y, v.z);
}
template <class A, MaybeConst<CellBox> T>
void archive(A& a, T& v) {
    a(v.min, v.max);
}
template <class A, MaybeConst<Vec3> T>
void archive(A& a, T& v) {
    a(v.x, v.y, v.z);
}
template <class A, MaybeConst<DVec3> T>
void archive(A& a, T& v) {
    a(v.x, v.y, v.z);
}
template <class A, MaybeConst<Mat3> T>
void archive(A& a, T& v) {
    for (auto& row : v.m) a(row[0], row[1], row[2]);
}
template <class A, MaybeConst<Quat> T>
void archive(A& a, T& v) {
    a(v.x, v.y, v.z, v.w);
}
template <class A, MaybeConst<Box> T>
void archive(A& a, T& v) {
    a(v.min, v.max);
}
template <class A, MaybeConst<DBox> T>
void archive(A& a, T& v) {
    a(v.min, v.max);
}
template <class A, MaybeConst<Pose> T>
void archive(A& a, T& v) {
    a(v.position, v.rotation);
}

}  // namespace talus
