// untangle.h - a way out for two bodies whose boxes stand deep in each other.
//
// Layer: dynamics. Metres, in the axes of body a about its shape's reference. Each pair of boxes knows the
// nearest way out of the other box; deep inside a piece of many boxes those ways point against each other
// and hold the pieces for ever. Here one way is chosen for the whole pair: of the six face directions of
// each body, the one along which b comes free of a after the least distance, counting every box in its way.
// A way that other bodies close on both sides counts twice as long (more, and what is pressed together for
// a moment would go deeper), one that is being gone less long, so that it is kept.
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

/// A way is an axis (faces of a, then of b) and a sign: way = axis * 2 + (positive ? 1 : 0). The key of its
/// contact is kFirstTangleKey + way.
constexpr int kWays = 12, kFirstTangleKey = 64;
inline bool is_tangle(std::int32_t key) { return key >= kFirstTangleKey && key < kFirstTangleKey + kWays; }
/// Where b goes, axes of a.
inline Vec3 direction_of(int way, const SharedAxes& axes) {
    return axes.axis(way / 2) * (way & 1 ? 1.0f : -1.0f);
}

bool is_tangled(const std::vector<ContactPoint>& points);

struct Ways {
    unsigned closed = 0;      ///< bit per way
    std::int32_t going = -1;  ///< the way of the step before; -1: none
    float left = 0;           ///< of it, then
};

/// Puts one point in the place of `points`, which are tangled.
/// @param turn,offset  as for collide_shapes
void untangle(const BodyShape::Data& a, const BodyShape::Data& b, const Mat3& turn, Vec3 offset,
              const SharedAxes& axes, const Ways& ways, std::vector<ContactPoint>& points);

}  // namespace talus
