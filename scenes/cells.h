// cells.h - what scenes are built with.
#pragma once

#include "talus/grid.h"

namespace talus {

/// Every cell of a box, corners included.
inline void fill(Grid& grid, CellBox box, BlockId id) {
    for (int y = box.min.y; y <= box.max.y; y++)
        for (int z = box.min.z; z <= box.max.z; z++)
            for (int x = box.min.x; x <= box.max.x; x++) grid.set({x, y, z}, id);
}

/// The four walls of a box, no floor and no roof.
inline void fill_walls(Grid& grid, CellBox box, BlockId id) {
    const Cell lo = box.min, hi = box.max;
    fill(grid, {lo, {hi.x, hi.y, lo.z}}, id);
    fill(grid, {{lo.x, lo.y, hi.z}, hi}, id);
    fill(grid, {lo, {lo.x, hi.y, hi.z}}, id);
    fill(grid, {{hi.x, lo.y, lo.z}, hi}, id);
}

}  // namespace talus
