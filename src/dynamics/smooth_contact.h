// smooth_contact.h - contacts of bodies with ground given by a field.
//
// Layer: dynamics. The surface points of a piece are asked about one by one: corners of its cells that lie on
// its outside (a lone block of 2 cells has 26, a cube of 8 has 386); boxes of any size have one at least each
// cell of the terrain. A ball asks at its middle, a capsule along its core. The field's way out is the
// normal. Determinism: points in the order of the boxes. Tests: tests/dynamics/smooth_test.cpp
#pragma once

#include "dynamics/body_store.h"
#include "dynamics/box_contact.h"
#include "talus/terrain.h"

#include <vector>

namespace talus {

/// Adds the contacts nearer than `margin`, in the axes of a about its shape's reference.
/// @param cell_size  of the terrain
/// @param around  nothing farther is of interest
/// @return a careful lower bound of the distance when nothing is nearer than margin, else negative
float collide_smooth(const SmoothGround& ground, const BodyHot& a, float cell_size, float margin,
                     float around, std::vector<ContactPoint>& out);

/// Every surface point once, about the reference, ordered by y, z, x.
std::vector<Vec3> surface_points(const BodyShape::Data& shape, float cell_size);

/// Is ground in a box, looked for at places a cell apart (64 along an edge at most)?
bool smooth_in_box(const SmoothGround& ground, const Pose& pose, Vec3 half, float cell_size);

/// How far a ball goes along unit `d` until the surface is nearer than `radius`; 1e30 when not within `most`.
/// Looks each half cell, so what is thinner may be missed, and not farther than 32,768 cells.
float march_to(const SmoothGround& ground, DVec3 origin, Vec3 d, float most, float radius, float cell_size,
               Vec3& out);

}  // namespace talus
