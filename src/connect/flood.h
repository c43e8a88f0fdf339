// flood.h - the joined parts of a whole grid, 64 cells at a time.
//
// Layer: connect. Frame: the group's grid.
// Each brick is first cut into its own components by dilating bit layers; a brick that is one component costs
// a few dilations, a full one a comparison. Then components of neighbouring bricks that touch are united by
// the planes of bits where bricks meet:
//
//     x = 0, x = 7: bit z + 8 y        a face joins where one plane, grown by one cell, meets the other;
//     y = 0, y = 7: bit x + 8 z        an edge is a row of a plane, a corner a bit of it. Those of x and z
//     z = 0, z = 7: bit x + 8 y        are only made where they are looked at
//
// As long as all bricks so far are one part, a brick that joins one of them need not look at the others.
// Neighbours are found by four cursors that walk the sorted bricks behind the current one, not by a
// search. Only bricks where a diagonal was cut (joins.h) are walked cell by cell, since a dilation knows no
// single pair. Rejected: union-find over runs of a row (five times the unions of a thin build), flooding over
// brick borders (a brick is entered many times). Determinism: components are numbered in brick order, roots
// are the lowest number. Tests: tests/connect/joins_test.cpp
#pragma once

#include "connect/joins.h"

#include <array>
#include <vector>

namespace talus {

constexpr std::uint64_t kLayerColumn0 = 0x0101010101010101ull;  // x = 0
constexpr std::uint64_t kLayerColumn7 = kLayerColumn0 << 7;     // x = 7

/// The bits of a layer and all that touch them inside it.
constexpr std::uint64_t grow_layer(std::uint64_t m) {
    m |= ((m << 1) & ~kLayerColumn0) | ((m >> 1) & ~kLayerColumn7);
    return m | (m << 8) | (m >> 8);
}

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
    using Layers = std::array<std::uint64_t, 8>;
    static constexpr std::uint32_t kNone = 0xffffffffu;
    struct Component {
        Layers bits;
        std::uint32_t part = 0;
        std::uint32_t sides = kNone;  // in sides_, of components that share a brick
    };
    std::uint32_t root(std::uint32_t component);
    void unite(std::uint32_t a, std::uint32_t b);
    template <int Axis, bool Up>
    std::uint64_t plane(std::uint32_t component) const;
    void add_sides(std::uint32_t first);
    void cut_brick(const Brick& brick, const Joins& joins, bool delicate);
    template <int X, int Y, int Z>
    void join_bricks(std::size_t a, std::size_t b);
    void join_delicate_bricks(std::size_t a, std::size_t b, const Joins& joins);
    void number_parts();

    const Grid* grid_;
    std::span<const Brick* const> bricks_;
    std::vector<Cell> coords_;  // of bricks_: they lie apart in memory
    std::vector<Component> components_;
    std::vector<std::array<std::uint64_t, 4>> sides_;  // planes x = 0, x = 7, z = 0, z = 7
    std::size_t apart_ = 0;                            // sets of components, of the bricks joined so far
    std::vector<std::uint32_t> parent_;                // of each component
    std::vector<std::uint32_t> first_;                 // of each brick in bricks_, and the end
    std::vector<std::size_t> sizes_;
};

}  // namespace talus
