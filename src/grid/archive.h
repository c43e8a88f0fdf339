// archive.h - block types and grids as bytes (base/archive.h).
//
// Layer: grid. A brick is its coordinate, which cells hold something, and their ids.
// Tests: tests/base/archive_test.cpp
#pragma once

#include "math/archive.h"
#include "talus/grid.h"

namespace talus {

constexpr std::int64_t cells_in(const CellBox& box) {
    if (box.empty()) return 0;
    return (std::int64_t(box.max.x) - box.min.x + 1) * (std::int64_t(box.max.y) - box.min.y + 1) *
           (std::int64_t(box.max.z) - box.min.z + 1);
}

/// The same for boxes of any size, whose number of cells may be too large for a number.
constexpr bool has_at_most(const CellBox& box, std::int64_t cells) {
    if (box.empty()) return true;
    std::int64_t n = 1;
    for (const std::int64_t edge : {std::int64_t(box.max.x) - box.min.x, std::int64_t(box.max.y) - box.min.y,
                                    std::int64_t(box.max.z) - box.min.z}) {
        if (edge + 1 > cells / n) return false;
        n *= edge + 1;
    }
    return true;
}

/// f(name, value, lowest, highest) for each number of a material.
template <class M, class F>
void each_property(M& m, F&& f) {
    constexpr double any = 3.4028234663852886e38;
    f("material", m.name, 0, 0);
    f("density", m.density, 0, 1e9);
    f("hardness", m.hardness, -any, any);
    f("blast_resistance", m.blast_resistance, -any, any);
    f("friction", m.friction, 0, 1e6);
    f("restitution", m.restitution, 0, 1);
    f("flammability", m.flammability, 0, any);
    f("solid", m.solid, 0, 1);
    f("soft", m.soft, 0, 1);
    f("floats", m.floats, 0, 1);
    f("color", m.color, 0, 4294967295.0);
    f("stiffness", m.stiffness, 0, any);
    f("tension", m.tension, 0, any);
    f("compression", m.compression, 0, any);
    f("cohesion", m.cohesion, 0, any);
}

void archive(ByteWriter& a, const BlockType& type);
void archive(ByteReader& a, BlockType& type);
/// The types from `first` on; reading adds them to the table.
void write_types(ByteWriter& a, const BlockTable& table, std::size_t first);
void read_types(ByteReader& a, BlockTable& table);

void write_grid(ByteWriter& a, const Grid& grid);
inline void archive(ByteWriter& a, const Grid& grid) { write_grid(a, grid); }
/// Into an empty grid. @param limit  cells beyond -limit .. limit - 1 on any axis are refused
void read_grid(ByteReader& a, Grid& grid, std::int32_t limit);

}  // namespace talus
