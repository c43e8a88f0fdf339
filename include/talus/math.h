// math.h - vectors, quaternions, matrices, boxes.
//
// Layer: math. Right-handed, +Y up, metres. Positions in the world are double (DVec3); what is
// relative to a body, a group or a contact is float (Vec3). Quaternions are x, y, z, w and unit
// unless said. Matrices are row-major: m[row][column].
// Determinism: plain + - * / and sqrt only, no fused multiply-add (built with -ffp-contract=off).
// Tests: tests/math/math_test.cpp
#pragma once

#include <cmath>
#include <cstdint>

namespace talus {

/// A position in a grid: the cube [x, x+1) * cell size on each axis.
struct Cell {
    std::int32_t x = 0, y = 0, z = 0;
    friend constexpr bool operator==(const Cell&, const Cell&) = default;
    friend constexpr Cell operator+(Cell a, Cell b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
    friend constexpr Cell operator-(Cell a, Cell b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
    /// Order by y, then z, then x: the order in which bricks store cells.
    friend constexpr bool operator<(Cell a, Cell b) {
        if (a.y != b.y) return a.y < b.y;
        if (a.z != b.z) return a.z < b.z;
        return a.x < b.x;
    }
};

/// Cells from min to max, both inside. Empty when max < min on any axis.
struct CellBox {
    Cell min{0, 0, 0}, max{-1, -1, -1};
    constexpr bool empty() const { return max.x < min.x || max.y < min.y || max.z < min.z; }
    constexpr bool contains(Cell c) const {
        return c.x >= min.x && c.x <= max.x && c.y >= min.y && c.y <= max.y && c.z >= min.z && c.z <= max.z;
    }
    friend constexpr bool operator==(const CellBox&, const CellBox&) = default;
};

template <class T>
struct BasicVec3 {
    T x = 0, y = 0, z = 0;

    constexpr T& operator[](int axis) { return axis == 0 ? x : axis == 1 ? y : z; }
    constexpr T operator[](int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
    friend constexpr bool operator==(const BasicVec3&, const BasicVec3&) = default;
    friend constexpr BasicVec3 operator+(BasicVec3 a, BasicVec3 b) {
        return {a.x + b.x, a.y + b.y, a.z + b.z};
    }
    friend constexpr BasicVec3 operator-(BasicVec3 a, BasicVec3 b) {
        return {a.x - b.x, a.y - b.y, a.z - b.z};
    }
    friend constexpr BasicVec3 operator-(BasicVec3 a) { return {-a.x, -a.y, -a.z}; }
    friend constexpr BasicVec3 operator*(BasicVec3 a, T s) { return {a.x * s, a.y * s, a.z * s}; }
    friend constexpr BasicVec3 operator*(T s, BasicVec3 a) { return {a.x * s, a.y * s, a.z * s}; }
    friend constexpr BasicVec3 operator/(BasicVec3 a, T s) { return {a.x / s, a.y / s, a.z / s}; }
    constexpr BasicVec3& operator+=(BasicVec3 b) { return *this = *this + b; }
    constexpr BasicVec3& operator-=(BasicVec3 b) { return *this = *this - b; }
    constexpr BasicVec3& operator*=(T s) { return *this = *this * s; }
};
using Vec3 = BasicVec3<float>;
using DVec3 = BasicVec3<double>;

template <class T>
constexpr T dot(BasicVec3<T> a, BasicVec3<T> b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
constexpr BasicVec3<T> cross(BasicVec3<T> a, BasicVec3<T> b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class T>
T length(BasicVec3<T> a) {
    return std::sqrt(dot(a, a));
}
/// The unit vector along `a`, or zero when `a` is zero.
template <class T>
BasicVec3<T> normalized(BasicVec3<T> a) {
    const T l = length(a);
    return l > T(0) ? a / l : BasicVec3<T>{};
}
/// Component by component; a fixed order of operands, so that NaN and signed zero are the same everywhere.
template <class T>
constexpr BasicVec3<T> min(BasicVec3<T> a, BasicVec3<T> b) {
    return {a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
}
template <class T>
constexpr BasicVec3<T> max(BasicVec3<T> a, BasicVec3<T> b) {
    return {a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z};
}
template <class T>
bool is_finite(BasicVec3<T> a) {
    return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z);
}

constexpr Vec3 to_float(DVec3 a) { return {float(a.x), float(a.y), float(a.z)}; }
constexpr DVec3 to_double(Vec3 a) { return {double(a.x), double(a.y), double(a.z)}; }

struct Mat3 {
    float m[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    friend constexpr Vec3 operator*(const Mat3& a, Vec3 v) {
        return {a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z,
                a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
                a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z};
    }
    friend constexpr Mat3 operator*(const Mat3& a, const Mat3& b) {
        Mat3 r;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                r.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
        return r;
    }
    constexpr Vec3 column(int j) const { return {m[0][j], m[1][j], m[2][j]}; }
};
constexpr Mat3 transposed(const Mat3& a) {
    return {{{a.m[0][0], a.m[1][0], a.m[2][0]},
             {a.m[0][1], a.m[1][1], a.m[2][1]},
             {a.m[0][2], a.m[1][2], a.m[2][2]}}};
}

/// Symmetric 3 x 3: an inertia tensor or a second moment.
struct SymMat3 {
    float xx = 0, yy = 0, zz = 0, xy = 0, yz = 0, zx = 0;
    friend constexpr bool operator==(const SymMat3&, const SymMat3&) = default;
    friend constexpr Vec3 operator*(const SymMat3& a, Vec3 v) {
        return {a.xx * v.x + a.xy * v.y + a.zx * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
                a.zx * v.x + a.yz * v.y + a.zz * v.z};
    }
};

struct Quat {
    float x = 0, y = 0, z = 0, w = 1;
    friend constexpr bool operator==(const Quat&, const Quat&) = default;
    /// First b, then a.
    friend constexpr Quat operator*(Quat a, Quat b) {
        return {a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
    }
};
constexpr Quat conjugate(Quat q) { return {-q.x, -q.y, -q.z, q.w}; }
inline Quat normalized(Quat q) {
    const float l = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return l > 0 ? Quat{q.x / l, q.y / l, q.z / l, q.w / l} : Quat{};
}
constexpr Mat3 to_matrix(Quat q) {
    return {{{1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.w * q.z), 2 * (q.x * q.z + q.w * q.y)},
             {2 * (q.x * q.y + q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z - q.w * q.x)},
             {2 * (q.x * q.z - q.w * q.y), 2 * (q.y * q.z + q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y)}}};
}
constexpr Vec3 rotate(Quat q, Vec3 v) { return to_matrix(q) * v; }
constexpr Vec3 unrotate(Quat q, Vec3 v) { return to_matrix(conjugate(q)) * v; }
/// Rotation by `angle` radians about `axis` (any length but zero), right-handed. Own sine and cosine: same
/// bits everywhere.
Quat axis_angle(Vec3 axis, float angle);

/// Sine and cosine in double, to 1e-12 for |angle| < 1e5; the same bits on every machine (libm's differ).
struct SinCos {
    double sin, cos;
};
SinCos sin_cos(double angle);

struct Box {
    Vec3 min, max;
    friend constexpr bool operator==(const Box&, const Box&) = default;
};
struct DBox {
    DVec3 min, max;
    constexpr bool contains(DVec3 p) const {
        return p.x >= min.x && p.x <= max.x && p.y >= min.y && p.y <= max.y && p.z >= min.z && p.z <= max.z;
    }
};
constexpr bool overlaps(const DBox& a, const DBox& b) {
    return a.min.x <= b.max.x && a.max.x >= b.min.x && a.min.y <= b.max.y && a.max.y >= b.min.y &&
           a.min.z <= b.max.z && a.max.z >= b.min.z;
}

/// A rigid placement: world = position + rotation * local.
struct Pose {
    DVec3 position;
    Quat rotation;
    friend constexpr bool operator==(const Pose&, const Pose&) = default;
};
constexpr DVec3 to_world(const Pose& pose, Vec3 local) {
    return pose.position + to_double(rotate(pose.rotation, local));
}
constexpr Vec3 to_local(const Pose& pose, DVec3 world) {
    return unrotate(pose.rotation, to_float(world - pose.position));
}

}  // namespace talus
