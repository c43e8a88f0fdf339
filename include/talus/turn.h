// turn.h - blocks turned by quarter turns: their shape, and their state where a name carries one.
//
// Layer: grid. Directions of states: north is -z, south +z, west -x, east +x. Understood: facing, axis,
// rotation (16 ways), north/east/south/west (fences, panes), shape of rails, orientation. Tests:
// tests/grid/turn_test.cpp
#pragma once

#include "talus/blocks.h"
#include "talus/math.h"

#include <optional>

namespace talus {

/// One of the 24 ways to lie along the axes: the images of +x, +y and +z.
struct GridTurn {
    Cell x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
    friend constexpr bool operator==(const GridTurn&, const GridTurn&) = default;
    constexpr Cell operator()(Cell c) const {
        return {x.x * c.x + y.x * c.y + z.x * c.z, x.y * c.x + y.y * c.y + z.y * c.z,
                x.z * c.x + y.z * c.y + z.z * c.z};
    }
};

/// The nearest to a rotation; `cosine`, if given, becomes that of the largest angle between an axis and its
/// image.
GridTurn nearest_turn(Quat rotation, float* cosine = nullptr);

/// The block lying that way; nullopt when its state cannot say so (a torch on its side).
std::optional<BlockType> turned(const BlockType& type, const GridTurn& turn);

/// From a non-solid block to the cell it is fixed to, as its state says; below, when it says nothing.
Cell fixed_to(const BlockType& type);

}  // namespace talus
