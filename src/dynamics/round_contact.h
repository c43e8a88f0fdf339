// round_contact.h - contacts and sweeps of balls and capsules, exact against sets of boxes.
//
// Layer: dynamics. A round shape is a core (a point, or a segment along its frame's y) and a radius. The
// nearest point of a box to a point of the core gives the normal; a capsule is looked at where its core ends,
// where it crosses the planes of the box's faces, and where it comes nearest: between those the distance is a
// parabola, so nothing is missed and a capsule lying on something gets the two points it rests on.
// Seams: a point on a box's edge counts only where the way out is open on every side it leads (solid_at): the
// nearest point of the union, never an inner edge. So a ball rolls over flush boxes as over one.
// Determinism: points come in the order of the boxes. Tests: tests/dynamics/round_test.cpp
#pragma once

#include "dynamics/body_store.h"
#include "dynamics/box_contact.h"
#include "dynamics/pairs.h"
#include "dynamics/terrain_patch.h"

#include <vector>

namespace talus {

/// A core segment with a radius, in some frame.
struct RoundCore {
    Vec3 from, to;  ///< equal for a ball
    float radius = 0;
    Vec3 at(float t) const { return from + (to - from) * t; }
};
/// In the axes of the body about its shape's reference.
RoundCore core_of(const BodyShape::Data& shape);
/// `place` turns and moves it: on the other frame = turn * p + offset.
RoundCore moved(const RoundCore& core, const Mat3& turn, Vec3 offset);

/// A body's shape against another's; at least one of them round. As collide_boxes().
float collide_round(const BodyShape::Data& a, const BodyShape::Data& b, const Mat3& turn, Vec3 offset,
                    float margin, std::vector<ContactPoint>& out);
/// A round a against terrain.
float collide_round(const BodyShape::Data& a, const TerrainPatch& b, const Mat3& turn, Vec3 offset,
                    float margin, std::vector<ContactPoint>& out);

/// A ball rolls away under its contacts: before old impulses are handed on, the old manifolds of a pair whose
/// body a is round are written anew in its axes as they are now, as if they had stayed with b.
/// @param turn,offset  b's axes in a's, and from a's centre to b's (world: to the origin of the anchors)
void realign_manifolds(std::vector<Manifold>& manifolds, std::int32_t first, const Mat3& old_turn,
                       const Mat3& turn, Vec3 offset);

/// Distance of a core to a box and the unit direction from the box to it; negative when the core is inside.
float distance_to_box(const RoundCore& core, Vec3 center, Vec3 half, Vec3& out);
/// Nearest points of two cores. @return their distance
float distance_of_cores(const RoundCore& a, const RoundCore& b, Vec3& on_a, Vec3& on_b);

}  // namespace talus
