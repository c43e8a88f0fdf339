// untangle.h - a way out for two bodies whose boxes stand deep in each other.
//
// Layer: dynamics. Metres, in the axes of body a about its shape's reference. Each pair of boxes knows the
// nearest way out of the other box; deep inside a piece of many boxes those ways point against each other
// and hold the pieces for ever. Here one way is chosen for the whole pair: of the six face directions of
// each body, the one along which b leaves a after the least distance, counting every box it would pass
// through. Nearer boxes move ahead along it from step to step, so the choice stays.
//
//     a  ####     the boxes' own ways:  ->  and  <-      the pair's way:  up, by the height of b's foot
//        #  #
//        #b #
//
// Determinism: directions in a fixed order, the first of equals wins. Tests: tests/dynamics/untangle_test.cpp
#pragma once

#include "dynamics/box_contact.h"

#include <vector>

namespace talus {

/// Overlaps deeper than this are no longer left to the pairs of boxes, m.
constexpr float kTangled = 0.1f;

/// Puts one point in the place of `points` when one of them is deeper than kTangled.
/// @param turn,offset  as for collide_shapes
void untangle(const BodyShape::Data& a, const BodyShape::Data& b, const Mat3& turn, Vec3 offset,
              const SharedAxes& axes, std::vector<ContactPoint>& points);

}  // namespace talus
