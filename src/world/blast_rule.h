// blast_rule.h - what the server's blasts and a page's own player must agree on. Internal.
//
// Layer: world. SI. Constants only: a page has no level. Tests: tests/world/blast_test.cpp,
// tests/net/player_test.cpp
#pragma once

#include "talus/math.h"

namespace talus {

constexpr double kBlastStep = 0.3;        // metres along a ray
constexpr double kBlastAirLoss = 0.225;   // energy a step
constexpr double kBlastPlayerSpeed = 20;  // m/s that a player beside the middle gets: one block a tick

/// Metres from the middle at which nothing is left of a blast in the air.
constexpr double blast_reach(double power) { return power / kBlastAirLoss * kBlastStep; }

constexpr int kBlastPoints = 27;
/// Points of a box; the share of them that the blast sees is how exposed it is.
constexpr DVec3 blast_point(const DBox& box, int i) {
    constexpr double share[] = {0.1, 0.5, 0.9};
    const DVec3 size = box.max - box.min;
    return box.min + DVec3{size.x * share[i % 3], size.y * share[i / 3 % 3], size.z * share[i / 9]};
}

}  // namespace talus
