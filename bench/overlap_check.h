// overlap_check.h - how deep pieces of cubes stand in each other and in the ground: an independent check.
//
// Shares no code with the engine: cube against cube by 15 separating axes, in double, neighbours by a map.
#pragma once

#include "scenes/rigid_scene.h"

#include <vector>

namespace talus::bench {

struct PiecePose {
    DVec3 center;
    double q[4] = {0, 0, 0, 1};  ///< x y z w
};

struct OverlapReport {
    double terrain = 0, pair = 0;  ///< largest overlap of any cube, metres
    int below_floor = 0;  ///< pieces whose centre is under the ground, outside the terrain, or not finite
};

OverlapReport check_overlaps(const scenes::RigidScene& scene, const std::vector<PiecePose>& poses);

}  // namespace talus::bench
