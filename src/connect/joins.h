// joins.h - what holds a group together: faces, corners, and diagonals that were never bridged.
//
// Layer: connect. Frame: the group's grid.
// A solid joins its 26 neighbours. Over a face or over a corner (all three axes differ) the join always
// holds. Over an edge (two axes differ) a block may share a face with both ends, a bridge:
//
//     +---+---+        a and b touch along an edge; c and d would bridge them.
//     | c | b |        While a bridge stands, a and b hang together through it anyway. When the last one goes
//     the
//     +---+---+        diagonal breaks and stays broken; if there never was one, it holds.
//     | a | d |
//     +---+---+        So only broken diagonals without a bridge have to be remembered: `cut_`.
//
// Determinism: queries only; cuts() is sorted.
// Tests: tests/connect/joins_test.cpp
#pragma once

#include "talus/grid.h"

#include <set>
#include <utility>
#include <vector>

namespace talus {

class Joins {
 public:
    /// Two cells that touch along an edge, the lower (by operator<) first.
    using Diagonal = std::pair<Cell, Cell>;

    /// Call after a solid was taken out of `grid` at `cell`.
    void solid_removed(const Grid& grid, Cell cell);
    /// Call after a solid was put into `grid` at `cell`: its joins are new, so its diagonals hold.
    void solid_added(Cell cell);

    /// Do the solids at a and b (26-neighbours, both solid in `grid`) hold each other directly?
    bool holds(const Grid& grid, Cell a, Cell b) const;

    bool intact() const { return cut_.empty(); }
    std::vector<Diagonal> cuts() const { return {cut_.begin(), cut_.end()}; }
    void add_cut(Diagonal diagonal) { cut_.insert(diagonal); }
    /// The cuts with both ends in `grid`, for a part that became a group of its own (same frame).
    Joins for_part(const Grid& part) const;

 private:
    void forget(Cell cell);
    std::set<Diagonal> cut_;
};

/// The parts of a group: solids joined through any chain of holds(), each with the non-solids that hang on it
/// (a non-solid hangs on the nearest solid; of equally near ones, the lowest cell). Largest first by number
/// of solids, then by lowest cell; cells sorted. Without any solid there is no part. O(blocks), 64 at a time
/// (flood.h).
std::vector<std::vector<Cell>> find_parts(const Grid& grid, const Joins& joins);

/// find_parts() without the first, which is never copied.
std::vector<std::vector<Cell>> find_loose_parts(const Grid& grid, const Joins& joins);

/// Which parts came off when the solids at `removed` left a group that was one part before? A search from the
/// neighbours of what was removed, side by side, that ends as soon as all met or all but one are exhausted:
/// the cost is that of the smaller side. The biggest part is not listed; it keeps the rest (ties: the one
/// with the lowest cell stays).
/// @return parts that come off, each with the non-solids that hang on it, as in Parts
std::vector<std::vector<Cell>> find_split(const Grid& grid, const Joins& joins,
                                          std::span<const Cell> removed);

/// Appends to each part (solids of the grid) the non-solids that hang on it. O(bricks) and what is near the
/// parts.
void hang_non_solids(const Grid& grid, std::vector<std::vector<Cell>>& parts);

/// The solid a non-solid at `cell` hangs on; nullopt when the grid has none.
std::optional<Cell> nearest_solid(const Grid& grid, Cell cell);

}  // namespace talus
