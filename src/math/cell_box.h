// cell_box.h - the cell a place lies in, boxes of cells that grow.
//
// Layer: math.
#pragma once

#include "talus/math.h"

#include <cmath>

namespace talus {

/// The cell of a place given in cells. What an int does not hold, or no number, gives one far out.
inline Cell to_cell(DVec3 p) {
    const auto whole = [](double x) {
        const double f = std::floor(x);
        return f > 2e9 ? 2'000'000'000 : f > -2e9 ? int(f) : -2'000'000'000;
    };
    return {whole(p.x), whole(p.y), whole(p.z)};
}

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
