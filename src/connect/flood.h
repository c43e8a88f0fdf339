// flood.h - the joined parts of a whole grid, 64 cells at a time.
//
// Layer: connect. Frame: the group's grid.
// Each brick is first cut into its own components by dilating bit layers; then components of neighbouring
// bricks that touch are united. A brick that is full costs one comparison. Only bricks where a diagonal was
// cut (joins.h) are walked cell by cell, since a dilation knows no single pair. Determinism: components are
// numbered in brick order, roots are the lowest number. Tests: tests/connect/joins_test.cpp
#pragma once

#include "connect/joins.h"

#include <array>
#include <vector>

namespace talus {

class Flood {
 public:
    Flood(const Grid& grid, const Joins& joins);

    /// Parts, numbered from 0 by size (largest first), ties by lowest cell.
    std::size_t part_count() const { return sizes_.size(); }
    std::size_t solids_in(std::size_t part) const { return sizes_[part]; }
    /// Part of a solid. Pre (assert): the cell is a solid of the grid.
    std::size_t part_of(Cell cell) const;
    /// Solids of every part from `first` on, each in brick order.
    std::vector<std::vector<Cell>> cells_from(std::size_t first) const;

 private:
    struct Component {
        std::array<std::uint64_t, 8> bits;
        std::uint32_t parent;
        std::uint32_t part = 0;
    };
    std::uint32_t root(std::uint32_t component);
    void unite(std::uint32_t a, std::uint32_t b);
    void cut_brick(const Brick& brick, const Joins& joins, bool delicate);
    void join_bricks(std::size_t a, std::size_t b, Cell offset, const Joins& joins, bool delicate);

    const Grid* grid_;
    std::span<const Brick* const> bricks_;
    std::vector<Component> components_;
    std::vector<std::uint32_t> first_;  // of each brick in bricks_, and the end
    std::vector<std::size_t> sizes_;
};

}  // namespace talus
