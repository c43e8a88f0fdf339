// cell_box.h - boxes of cells that grow.
//
// Layer: math. Determinism: whole numbers only.
#pragma once

#include "talus/math.h"

namespace talus {

/// The smallest box that holds the box, which may be empty, and the cell.
inline void grow(CellBox& box, Cell c) {
    if (box.empty()) {
        box = {c, c};
        return;
    }
    const auto low = [](int a, int b) { return a < b ? a : b; };
    const auto high = [](int a, int b) { return a > b ? a : b; };
    box.min = {low(box.min.x, c.x), low(box.min.y, c.y), low(box.min.z, c.z)};
    box.max = {high(box.max.x, c.x), high(box.max.y, c.y), high(box.max.z, c.z)};
}

}  // namespace talus
