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

    /// A place in the shape's frame that bounds are about, as bricks count.
    struct Reference {
        DVec3 at;
        Cell brick;     // it lies in
        Vec3 within;    // of it, in bricks
        float inverse;  // of a brick's edge
    };
    Reference reference(DVec3 at) const {
        const double e = double(cell_size_) * kEdge;
        const DVec3 p{at.x / e, at.y / e, at.z / e}, f{std::floor(p.x), std::floor(p.y), std::floor(p.z)};
        return {at, {int(f.x), int(f.y), int(f.z)}, to_float(p - f), float(1 / e)};
    }
    /// f(brick, origin as above) for each brick that may reach into these bounds about the reference, by the
    /// numbers of bricks alone, until f returns true.
    /// @return whether it did
    template <class F>
    bool visit_near(const Reference& reference, Vec3 lo, Vec3 hi, F&& f) const {
        if (root_ < 0) return false;
        // Thin boxes are padded beyond their cells (solid_part.h).
        const Vec3 pad = Vec3{1, 1, 1} * 0.06f, from = (lo - pad) * reference.inverse + reference.within,
                   to = (hi + pad) * reference.inverse + reference.within;
        constexpr float kFar = 1e8f;
        auto at = [](float x) { return int(std::floor(x < -kFar ? -kFar : x > kFar ? kFar : x)); };
        return visit_range(nodes_[std::size_t(root_)],
                           moved(reference.brick + Cell{at(from.x), at(from.y), at(from.z)}),
                           moved(reference.brick + Cell{at(to.x), at(to.y), at(to.z)}), reference.at, f);
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
    template <class F>
    bool visit_range(const Node& node, Cell from, Cell to, DVec3 reference, F& f) const {
        const int shift = 2 * node.level;
        // The children in reach along each axis, as bits of the mask.
        auto first = [&](int at, int coord) {
            const int c = (at >> shift) - 4 * coord;
            return c < 0 ? 0 : c;
        };
        auto last = [&](int at, int coord) {
            const int c = (at >> shift) - 4 * coord;
            return c > 3 ? 3 : c;
        };
        const int x0 = first(from.x, node.coord.x), x1 = last(to.x, node.coord.x),
                  y0 = first(from.y, node.coord.y), y1 = last(to.y, node.coord.y),
                  z0 = first(from.z, node.coord.z), z1 = last(to.z, node.coord.z);
        if (x0 > x1 || y0 > y1 || z0 > z1) return false;
        const std::uint64_t in_x = ((2ull << x1) - (1ull << x0)) * 0x1111111111111111ull,
                            in_z = ((16ull << 4 * z1) - (1ull << 4 * z0)) * 0x0001000100010001ull,
                            in_y = ~0ull >> (48 - 16 * y1) & ~0ull << 16 * y0;
        for (std::uint64_t bits = node.mask & in_x & in_y & in_z; bits; bits &= bits - 1) {
            const auto child = std::size_t(node.child[__builtin_ctzll(bits)]);
            if (node.level > 0) {
                if (visit_range(nodes_[child], from, to, reference, f)) return true;
            } else if (f(bricks_[child], to_float(corner(bricks_[child]) - reference))) {
                return true;
            }
        }
        return false;
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
