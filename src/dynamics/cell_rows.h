// cell_rows.h - full cells as rows of bits, and the few boxes they merge into.
//
// Layer: dynamics. Cells are counted from the corner of the rows; a ring of border cells, which belongs to
// the rows but to no box, tells which faces are hidden:
//
//     row of (y, z): bit x        . b b b b .        b  border: looked at only
//                                 b x x x x b        x  cells that become boxes
//                                 . b b b b .
//
// Boxes run along x first, then z, then y, each as far as it goes: flat ground is one box.
// Determinism: boxes come in the order (y, z, x) of their least cells. Tests: tests/dynamics/shape_test.cpp
#pragma once

#include "talus/math.h"

#include <cstdint>

namespace talus {

/// Faces are numbered 2 axis + (1 for the positive side).
constexpr unsigned face_bit(int axis, bool positive) { return 1u << (2 * axis + (positive ? 1 : 0)); }
constexpr unsigned kAllFaces = 0x3f;

/// The bits of a row that are no border.
constexpr std::uint64_t interior_of(int nx) {
    return (nx == 64 ? ~0ull : (1ull << nx) - 1) & ~1ull & ~(1ull << (nx - 1));
}

/// left = rows without the border: all cells become boxes.
inline void take_all_rows(const std::uint64_t* rows, std::uint64_t* left, int nx, int ny, int nz) {
    for (int y = 1; y < ny - 1; y++)
        for (int z = 1; z < nz - 1; z++)
            left[std::size_t(y * nz + z)] = rows[std::size_t(y * nz + z)] & interior_of(nx);
}

/// @param rows  [ny * nz] row of (y, z) at nz y + z, at most 64 cells with the border
/// @param left  [ny * nz] cells that shall become boxes: some of rows, none of the border; used up
/// @param f  f(Cell min, Cell end, cover): cells min to end - 1, face_bit of each face whose neighbours are
///   all full
template <class F>
void merge_rows(const std::uint64_t* rows, std::uint64_t* left, int ny, int nz, F&& f) {
    auto all = [&](int y, int z) { return rows[std::size_t(y * nz + z)]; };
    auto row = [&](int y, int z) -> std::uint64_t& { return left[std::size_t(y * nz + z)]; };
    for (int y = 1; y < ny - 1; y++)
        for (int z = 1; z < nz - 1; z++) {
            while (const std::uint64_t bits = row(y, z)) {
                const int x0 = __builtin_ctzll(bits);
                const int x1 = x0 + __builtin_ctzll(~(bits >> x0));  // the top bit is border: a gap is there
                const std::uint64_t run = ((1ull << (x1 - x0)) - 1) << x0;
                int z1 = z + 1, y1 = y + 1;
                while (z1 < nz - 1 && (row(y, z1) & run) == run) z1++;
                auto sheet = [&](int yy) {
                    for (int k = z; k < z1; k++)
                        if ((row(yy, k) & run) != run) return false;
                    return true;
                };
                while (y1 < ny - 1 && sheet(y1)) y1++;
                std::uint32_t cover = kAllFaces;
                const std::uint64_t before = 1ull << (x0 - 1), after = 1ull << x1;
                for (int j = y; j < y1; j++)
                    for (int k = z; k < z1; k++) {
                        row(j, k) &= ~run;
                        if (!(all(j, k) & before)) cover &= ~face_bit(0, false);
                        if (!(all(j, k) & after)) cover &= ~face_bit(0, true);
                    }
                for (int k = z; k < z1; k++) {
                    if ((all(y - 1, k) & run) != run) cover &= ~face_bit(1, false);
                    if ((all(y1, k) & run) != run) cover &= ~face_bit(1, true);
                }
                for (int j = y; j < y1; j++) {
                    if ((all(j, z - 1) & run) != run) cover &= ~face_bit(2, false);
                    if ((all(j, z1) & run) != run) cover &= ~face_bit(2, true);
                }
                f(Cell{x0, y, z}, Cell{x1, y1, z1}, cover);
            }
        }
}

}  // namespace talus
