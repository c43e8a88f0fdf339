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
    std::vector<CellBox> buildings;  ///< in the terrain's cells
    std::size_t blocks = 0;
};

/// Puts rows * rows buildings of about 2,700 blocks each into the terrain of an empty level with ground at 0,
/// each marked as a structure.
BigTown build_big_town(Level& level, int rows);

/// One of the explosions that go through the town: the same for the same town and number.
struct TownBlast {
    DVec3 center;
    float power;  ///< 4..8
};
TownBlast town_blast(const BigTown& town, int number);

}  // namespace talus
