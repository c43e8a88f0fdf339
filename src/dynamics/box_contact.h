// box_contact.h - contact points between two sets of boxes, each set with one orientation.
//
// Layer: dynamics. All in the axes of body a about its shape's reference; metres.
// All boxes of a body share its axes, so the 15 separating axes of two boxes are set up once for a pair of
// bodies and each pair of boxes costs two evaluations, eight axes wide:
//
//     lanes 0..2  faces of a      3..5  faces of b      6..14  edge i of a x edge j of b      15  unused
//
// The axis of least overlap names the normal. A point is kept only where both bodies end (solid_at), so that
// inner seams, faces and edges of touching boxes never push.
// Determinism: points come in the order of the boxes.
// Source: S. Gottschalk, M. Lin, D. Manocha, OBBTree (1996), for the axes; I. Sutherland, G. Hodgman,
//   Reentrant polygon clipping (1974), for the faces. The filter is our own.
// Tests: tests/dynamics/contact_test.cpp
#pragma once

#include "dynamics/shape.h"
#include "math/simd.h"

#include <span>
#include <vector>

namespace talus {

class TerrainPatch;

struct ContactPoint {
    Vec3 on_a, on_b;  ///< on the two surfaces
    Vec3 normal;      ///< unit, from a to b
    float separation;
    std::int32_t key;              ///< axis and sign: points of one key share their normal
    float friction_a, friction_b;  ///< of the two boxes; negative: the body's
};

/// The 15 separating axes between boxes along the unit axes and boxes along the columns of `turn`.
class SharedAxes {
 public:
    /// @param motion  of b relative to a until contacts are looked for again, axes of a
    explicit SharedAxes(const Mat3& turn, Vec3 motion = {});

    struct Separations {
        alignas(32) float distance[16];  ///< of the boxes along each axis
        alignas(32) float along[16];     ///< of the centres, signed
    };
    /// Are two boxes within `margin` on every axis, or may the motion bring them there? If so `out` is
    /// filled, otherwise `apart` is their largest separation.
    bool near(Vec3 between, Vec3 half_a, Vec3 half_b, float margin, Separations& out, float& apart) const;
    /// Largest separation and its axis, always.
    float best_axis(Vec3 between, Vec3 half_a, Vec3 half_b, Vec3& axis) const;

    Vec3 axis(int i) const { return {lanes_x_[i], lanes_y_[i], lanes_z_[i]}; }
    /// How much nearer the motion brings b along a normal from a to b; not negative.
    float closing(Vec3 normal) const {
        const float c = -dot(motion_, normal);
        return c > 0 ? c : 0;
    }
    Vec3 motion() const { return motion_; }

 private:
    alignas(32) float lanes_x_[16], lanes_y_[16], lanes_z_[16];
    Float8 x_[2], y_[2], z_[2];     // axes
    Float8 ax_[2], ay_[2], az_[2];  // absolute: projections of a's half sizes
    Float8 bx_[2], by_[2], bz_[2];  // of b's
    Float8 penalty_[2];             // far negative where an axis does not count
    Float8 moves_[2];               // the motion along each axis
    Vec3 motion_;
};

inline __attribute__((always_inline)) bool SharedAxes::near(Vec3 d, Vec3 ha, Vec3 hb, float margin,
                                                            Separations& out, float& apart) const {
    Float8 along[2], distance[2], after[2];
    for (int g = 0; g < 2; g++) {
        along[g] = x_[g] * simd::splat(d.x) + y_[g] * simd::splat(d.y) + z_[g] * simd::splat(d.z);
        distance[g] = abs(along[g]) - ax_[g] * simd::splat(ha.x) - ay_[g] * simd::splat(ha.y) -
                      az_[g] * simd::splat(ha.z) - bx_[g] * simd::splat(hb.x) - by_[g] * simd::splat(hb.y) -
                      bz_[g] * simd::splat(hb.z) + penalty_[g];
        const Float8 parting = select(along[g] > simd::splat(0), moves_[g], -moves_[g]);
        after[g] = distance[g] + min(parting, simd::splat(0));
    }
    if (bits(max(after[0], after[1]) > simd::splat(margin))) {
        apart = largest(max(distance[0], distance[1]));
        return false;
    }
    for (int g = 0; g < 2; g++) {
        simd::store(out.distance + 8 * g, distance[g]);
        simd::store(out.along + 8 * g, along[g]);
    }
    return true;
}

/// Boxes with what tells their inside from their outside.
template <class Solid>
struct BoxSet {
    std::span<const CollisionBox> boxes;
    const Solid* solid;                     // solid_at(Vec3), in the set's own frame
    bool lone;                              // a single box with nothing beside it: needs no filter
    std::span<const BoxGroup> groups = {};  // of the boxes; empty where they are few
};

/// The places of a part of a shape: in a brick they go on in the bricks beside it.
struct PartSolid {
    const SolidPart* part;
    const BrickTree* tree = nullptr;
    const BrickTree::Brick* brick = nullptr;
    bool solid_at(Vec3 p) const { return brick ? tree->solid_at(*brick, p) : part->solid_at(p); }
};

/// Adds the contact points of two shapes nearer than `margin`, or that the motion of `axes` may bring so
/// near, to `out`.
/// @param turn,offset  place b's frame in a's, both about their references: on_a = turn * on_b + offset
/// @return a lower bound of the distance when nothing is so near, else negative
float collide_shapes(const BodyShape::Data& a, const BodyShape::Data& b, const Mat3& turn, Vec3 offset,
                     const SharedAxes& axes, float margin, std::vector<ContactPoint>& out);
/// The same for terrain; a lower bound above `reach` is not needed.
float collide_terrain(const BodyShape::Data& a, const TerrainPatch& b, const Mat3& turn, Vec3 offset,
                      const SharedAxes& axes, float margin, float reach, std::vector<ContactPoint>& out);

/// Half the extent of a box of b along each axis of a.
Vec3 extent_of(const Mat3& turn, Vec3 half);

}  // namespace talus
