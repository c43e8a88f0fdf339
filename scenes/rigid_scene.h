// rigid_scene.h - pieces of unit cubes on block ground: the scenes that measure dynamics.
//
// Layer: scenes. Metres, seconds, +Y up. The text format:
//
//     talus-scene 1
//     # a remark
//     friction 0.6
//     density 1000            kg/m^3
//     dt 0.0166666667         s
//     steps 600
//     terrain flat Y          or: terrain columns NX NZ origin X Z bottom Y, then NZ rows of NX column tops
//     piece px py pz  qx qy qz qw  n        pose of the centre of mass, number of cubes
//     x y z  x y z ...                      their minimum corners, in the piece's own grid
//
// Tests: tests/dynamics/rigid_scene_test.cpp
#pragma once

#include "talus/grid.h"
#include "talus/result.h"
#include "talus/space.h"

#include <memory>
#include <string_view>
#include <vector>

namespace talus::scenes {

struct RigidPiece {
    DVec3 center;  ///< of mass, world
    Quat rotation;
    std::vector<Cell> cubes;

    DVec3 local_center() const;  ///< of mass, in its own grid
};

struct RigidScene {
    float friction = 0.6f, density = 1000;
    float dt = 1.0f / 60;
    int steps = 600;
    bool flat = true;
    double ground = 0;  ///< flat: solid below
    int columns_x = 0, columns_z = 0, origin_x = 0, origin_z = 0, bottom = 0;
    std::vector<int> tops;  ///< columns_z rows of columns_x
    std::vector<RigidPiece> pieces;
};

Result<RigidScene> parse_rigid_scene(std::string_view text);

/// A scene in a space, ready to step. `body_of[i]` is piece i.
struct PlacedScene {
    std::unique_ptr<BlockTable> table;
    std::unique_ptr<Grid> terrain;  ///< null when flat
    std::unique_ptr<Space> space;
    std::vector<Body> body_of;
};
/// @param shift  moves the whole scene; whole metres
PlacedScene place(const RigidScene& scene, const SpaceSettings& settings = {}, DVec3 shift = {});

/// The shape of a piece, as from a grid of blocks of this density.
BodyShape shape_of(const RigidPiece& piece, float density);

/// Boxes stacked face on face on flat ground.
RigidScene column_scene(int height);
RigidScene pyramid_scene(int base);

}  // namespace talus::scenes
