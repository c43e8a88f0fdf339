// near_bricks.h - the cells of terrain that are near a big body.
//
// Layer: dynamics. Metres. The bounds of a big body hold thousands of blocks of terrain, of which it touches
// a few: a tilted shell only those at one corner. So terrain is looked at brick by brick:
//
//     bricks within the bounds of what each layer of them cuts out of the body's box
//     of those, what is near a brick of the body: separating axes of their bounds
//     of its cells, those within the bounds of the part of that brick which is within its bounds
//
// and only what is left becomes boxes. Tiles are one brick high, so that a wall beside the body does not make
// a tall patch of a floor, and 7 x 7 bricks across, which fit into a patch.
// Distances kept for each brick of the body from step to step were rejected: one more thing that edits of
// the body, of terrain and snapshots must know of.
// Determinism: tiles and bricks by (y, z, x). Tests: tests/dynamics/near_bricks_test.cpp
#pragma once

#include "dynamics/box_contact.h"
#include "dynamics/terrain_patch.h"

#include <vector>

namespace talus {

/// A big body and the terrain about `origin`, the least corner of the cell `origin_cell`.
struct BodyInTerrain {
    const BodyShape::Data& shape;  ///< with bricks
    const Mat3& turn;              ///< with `offset` places terrain in the body's axes, about its reference
    Vec3 offset;
    Cell origin_cell;
    const SharedAxes& axes;  ///< of `turn`
    float reach;             ///< what is farther from the body is not looked at
};

class NearBricks {
 public:
    static constexpr int kEdge = 7;  ///< of a tile, across, bricks

    std::vector<CellBox> boxes;  ///< of cells near the body, each in a brick of its own
    CellBox bounds;              ///< of them

    /// Those of one tile. @param first  its least brick
    void find(const WorldSolids& world, const BodyInTerrain& body, Cell first);

    /// f() for each tile between two cells that has any.
    template <class F>
    void each_tile(const WorldSolids& world, const BodyInTerrain& body, Cell first, Cell last, F&& f) {
        const Cell b0 = brick_of(first), b1 = brick_of(last);
        for (int y = b0.y; y <= b1.y; y++)
            for (int z = b0.z; z <= b1.z; z += kEdge)
                for (int x = b0.x; x <= b1.x; x += kEdge) {
                    find(world, body, {x, y, z});
                    if (!boxes.empty()) f();
                }
    }

 private:
    void look_at(const WorldSolids& world, const BodyInTerrain& body, const Brick& brick);

    Mat3 to_world_;
    BrickTree::Reference reference_;
};

}  // namespace talus
