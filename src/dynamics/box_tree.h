// box_tree.h - a balanced tree of boxes: which of many thousands meet a region, asked of a few of them.
//
// Layer: dynamics. Metres, floats about an origin of the user's. Leaves are put in and taken out one by one;
// a new leaf goes down to where boxes grow least, and branches are turned on the way back so that depths
// differ by one at most (as in an AVL tree): a query never goes deep, whatever came in whatever order.
//
//     put beside the leaf whose side grows least:     {0..7} -+- {2, 5} -+- 2
//                                                             |          +- 5
//                                                             +- {0, 7} -+- 0
//                                                                        +- 7 -> {7, new}
//
// Determinism: which boxes meet a region does not depend on the tree's shape; the order in which they are
// met does: sort them. Tests: tests/dynamics/box_tree_test.cpp
#pragma once

#include "talus/math.h"

#include <cstdint>
#include <vector>

namespace talus {

struct Bounds {
    Vec3 lo, hi;
    bool meets(const Bounds& o) const {
        return lo.x <= o.hi.x && hi.x >= o.lo.x && lo.y <= o.hi.y && hi.y >= o.lo.y && lo.z <= o.hi.z &&
               hi.z >= o.lo.z;
    }
    bool holds(const Bounds& o) const {
        return lo.x <= o.lo.x && hi.x >= o.hi.x && lo.y <= o.lo.y && hi.y >= o.hi.y && lo.z <= o.lo.z &&
               hi.z >= o.hi.z;
    }
    friend Bounds operator|(const Bounds& a, const Bounds& b) { return {min(a.lo, b.lo), max(a.hi, b.hi)}; }
    template <class A, class T>
    static void archive(A& a, T& v) {
        a(v.lo, v.hi);
    }
};

class BoxTree {
 public:
    bool has(std::int32_t name) const {
        return std::size_t(name) < leaf_of_.size() && leaf_of_[std::size_t(name)] >= 0;
    }
    /// Pre: has(name).
    const Bounds& box(std::int32_t name) const {
        return nodes_[std::size_t(leaf_of_[std::size_t(name)])].box;
    }
    /// Puts it in, or gives it another box. Pre: lo <= hi, finite.
    void put(std::int32_t name, const Bounds& box);
    void remove(std::int32_t name);

    /// f(name) for those whose box meets the region, in no particular order.
    template <class F>
    void each_in(const Bounds& region, F&& f) const {
        each([&](const Bounds& box) { return box.meets(region); }, f);
    }
    /// f(name) for those for whose box `meets` is true; it must be true of every box that holds such a one.
    template <class Meets, class F>
    void each(Meets&& meets, F&& f) const {
        std::int32_t open[kDeepest];
        int n = 0;
        if (root_ >= 0) open[n++] = root_;
        while (n > 0) {
            const Node& node = nodes_[std::size_t(open[--n])];
            if (!meets(node.box)) continue;
            if (node.height == 0) {
                f(node.child[0]);
                continue;
            }
            open[n++] = node.child[1];
            open[n++] = node.child[0];
        }
    }
    std::size_t memory() const { return nodes_.capacity() * sizeof(Node); }
    int height() const { return root_ < 0 ? 0 : nodes_[std::size_t(root_)].height; }

 private:
    static constexpr int kDeepest = 64;  // 1.44 log2 of 2^31, and to spare
    struct Node {
        Bounds box;
        std::int32_t child[2] = {-1, -1};  // of a leaf: its name
        std::int32_t parent = -1;
        std::int32_t height = 0;  // of a leaf: 0
    };
    Node& at(std::int32_t i) { return nodes_[std::size_t(i)]; }
    std::int32_t take();
    void let_go(std::int32_t node);
    void insert(std::int32_t leaf);
    void detach(std::int32_t leaf);
    void replace(std::int32_t parent, std::int32_t child, std::int32_t by);
    void measure(std::int32_t node);
    void mend_upwards(std::int32_t node);
    void shrink();
    std::int32_t balance(std::int32_t node);

    std::vector<Node> nodes_;
    std::vector<std::int32_t> leaf_of_;  // by name; -1: not in
    std::int32_t root_ = -1, free_ = -1;
    std::size_t count_ = 0;  // of leaves
};

}  // namespace talus
