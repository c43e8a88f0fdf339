// brick_tree.h - the bricks of a big shape and which of them are near something.
//
// Layer: dynamics. Bricks are those of the grid (8 x 8 x 8 cells); nodes hold 4 x 4 x 4 bricks, or 4 x 4 x 4
// nodes, aligned to the grid:
//
//     brick 8 cells -> node 32 -> node 128 -> node 512 ...   root: the smallest node that holds all
//
// A node knows the bounds of its solids, so an edit mends one path. A tree balanced by surface or median was
// rejected: its form would depend on the order of edits.
// Determinism: bricks are visited in the order of their nodes, children by (y, z, x): by the set of bricks
// alone.
// Tests: tests/dynamics/shape_edit_test.cpp
#pragma once

#include "dynamics/solid_part.h"

#include <cstdint>
#include <vector>

namespace talus {

class BrickTree {
 public:
    static constexpr int kEdge = 8;  ///< cells

    /// Exact cells, bounds in the shape's own frame, smallest edge.
    struct Bounds {
        CellBox cells;
        DBox box;
        float thickness = 0;
    };
    struct Brick {
        Cell coord;      ///< in bricks
        SolidPart part;  ///< about the brick's least corner
        Bounds bounds;
    };

    explicit BrickTree(float cell_size) : cell_size_(cell_size) {}

    const Brick* find(Cell coord) const {
        const std::int32_t i = find_index(coord);
        return i < 0 ? nullptr : &bricks_[std::size_t(i)];
    }
    Brick* find(Cell coord) { return const_cast<Brick*>(static_cast<const BrickTree*>(this)->find(coord)); }
    /// An empty one where there is none yet. Takes away what find() and add() returned before.
    Brick& add(Cell coord);
    void remove(Cell coord);
    bool empty() const { return root_ < 0; }

    /// Call when a brick's solids changed.
    void refresh(Cell coord);
    /// Of all solids.
    const Bounds& bounds() const { return nodes_[std::size_t(root_)].bounds; }
    std::size_t box_count() const;

    /// Is this place, about a brick's corner, inside any solid of this brick or another?
    bool solid_at(const Brick& brick, Vec3 p) const;

    /// f(brick, origin of its part about `reference`) for each brick where `apart(lo, hi)`, asked of bounds
    /// about `reference`, is false for all that holds it.
    template <class Apart, class F>
    void visit(DVec3 reference, Apart&& apart, F&& f) const {
        if (root_ >= 0) visit_node(nodes_[std::size_t(root_)], reference, apart, f);
    }

 private:
    struct Node {
        std::uint64_t mask = 0;  // children there: bit x + 4 z + 16 y
        std::int32_t child[64];
        int level = 0;  // 0: of bricks
        Cell coord;     // of its bricks (moved), divided by 4^(level + 1)
        Bounds bounds;
    };
    static constexpr int kMostLevels = 16;
    static Cell moved(Cell coord);
    static Cell coord_at(Cell moved, int level);
    static int child_of(Cell moved, int level);
    static bool holds(const Node& node, Cell moved) { return coord_at(moved, node.level) == node.coord; }
    std::int32_t find_index(Cell coord) const;
    int path_to(Cell moved, std::int32_t (&path)[kMostLevels]) const;
    std::int32_t new_node(int level, Cell moved);
    Bounds bounds_of(const Brick& brick) const;
    void sum_up(Node& node);

    template <class Apart, class F>
    void visit_node(const Node& node, DVec3 reference, Apart& apart, F& f) const {
        for (std::uint64_t bits = node.mask; bits; bits &= bits - 1) {
            const auto child = std::size_t(node.child[__builtin_ctzll(bits)]);
            if (node.level > 0) {
                const Node& below = nodes_[child];
                if (!apart(to_float(below.bounds.box.min - reference),
                           to_float(below.bounds.box.max - reference)))
                    visit_node(below, reference, apart, f);
                continue;
            }
            const Brick& b = bricks_[child];
            const Vec3 origin = to_float(corner(b) - reference);
            if (!apart(b.part.lo + origin, b.part.hi + origin)) f(b, origin);
        }
    }
    DVec3 corner(const Brick& b) const {
        const double e = double(cell_size_) * kEdge;
        return {b.coord.x * e, b.coord.y * e, b.coord.z * e};
    }

    float cell_size_;
    std::vector<Brick> bricks_;
    std::vector<Node> nodes_;
    std::vector<std::int32_t> free_bricks_, free_nodes_;
    std::int32_t root_ = -1;
};

}  // namespace talus
