// big_town.h - a generated town of about a million blocks, to measure destruction at scale.
//
// Lots in rows, a street around each; on each lot one building: houses, apartment blocks, halls on columns,
// towers and walled courts of stone, brick, concrete, wood and glass. Each hangs together by faces and
// stands by the load rule. Cells of 1 m, +Y up, ground at y = 0. Deterministic: no randomness but a fixed
// hash of the lot.
#pragma once

#include "talus/grid.h"
#include "talus/level.h"

#include <vector>

namespace talus {

struct BigTown {
    struct Building {
        Grid grid;
        Cell at;  ///< of its cell (0,0,0) in the world
    };
    std::vector<Building> buildings;
    std::size_t blocks = 0;
    int size_x = 0, size_z = 0;  ///< cells of ground that the lots cover, from (0,0)
};

/// @param table   holds the town's blocks from then on, and must outlive the grids
/// @param rows    lots in each direction: rows * rows buildings, about 2,500 blocks each
BigTown make_big_town(BlockTable& table, int rows);

/// One of the explosions that go through the town: the same for the same town and number.
struct TownBlast {
    DVec3 center;
    float power;  ///< 4..8
};
TownBlast town_blast(const BigTown& town, int number);

}  // namespace talus
