// demo_town.h - the bundled town: what the sandbox shows when no file is given.
//
// A square with a fountain and trees, houses of stone, brick, plaster and timber, a church with a tower, a
// town wall with a gate, and a stone bridge of three arches over a stream, on gentle ground. About 17,000
// blocks in load-bearing groups of their own, and terrain. Cells of 1 m, +Y up; the street level is y = 0,
// the flat ground of the level lies at kGround. Deterministic: no randomness but a fixed hash. Tests:
// tests/world/demo_town_test.cpp
#pragma once

#include "talus/grid.h"
#include "talus/level.h"

#include <string>
#include <vector>

namespace talus {

struct DemoTown {
    struct Building {
        std::string name;
        Grid grid;
        DVec3 position;  ///< of the grid's frame in the world
    };
    static constexpr double kGround = -4;  ///< under the terrain

    Grid terrain;
    std::vector<Building> buildings;
};

/// @param table  holds the town's blocks from then on, and must outlive the grids
DemoTown make_demo_town(BlockTable& table);

/// Cells of 1 m, flat ground at DemoTown::kGround.
LevelSettings demo_town_settings();
/// Puts the town into an empty level of demo_town_settings().
void build_demo_town(Level& level);

}  // namespace talus
