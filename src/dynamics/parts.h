// parts.h - bodies that move, in parts by place, whose contacts threads solve without waiting for each other.
//
// Layer: dynamics. Parts are slices across the axis along which the bodies spread most, with about as many
// contacts each. Their number, a power of two, depends on how many pairs touch. Few contacts lie between two
// parts: in a heap of 2,000 pieces 3 % of all when it is halved, 7 % in four parts, 16 % in eight.
// Contacts of a part make a node, and so do those between the two halves of 2, 4, 8 ... parts in a row. Nodes
// are numbered in order: part 0, between 0 and 1, part 1, between 01 and 23, part 2 ...
// Determinism: places and pairs in their order, never the number of threads.
// Tests: tests/dynamics/parts_test.cpp, threads_test.cpp
#pragma once

#include "dynamics/body_store.h"
#include "dynamics/pairs.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace talus {

class Parts {
 public:
    /// Places (see ContactSolver::place): those of part i are first[i] .. first[i + 1] - 1; after the last
    /// part come bodies that contacts do not move.
    std::vector<std::int32_t> first{1, 1, 1};
    std::size_t count() const { return first.size() - 2; }
    /// Do contacts change the velocity of what is at this place?
    bool pushed(std::int32_t place) const { return place > 0 && place < first[count()]; }
    std::size_t nodes() const { return 2 * count() - 1; }

    /// Puts movers in the order of parts.
    /// @param place  by body: of movers their order from 1 on, of others that touch something a higher one
    void divide(const BodyStore& bodies, const std::vector<ActivePair>& active,
                const std::vector<std::int32_t>& place, std::vector<std::int32_t>& movers);

    /// The node of a contact between bodies of these parts.
    static std::size_t node_of(std::size_t a, std::size_t b) {
        std::size_t x = 2 * a, y = 2 * b;
        if (x == y) return x;
        if (x > y) std::swap(x, y);
        const int differ = 63 - __builtin_clzll(x ^ y);
        return (y >> differ << differ) - 1;
    }
    struct Range {
        std::int32_t begin, end;
    };
    /// Places of the bodies whose contacts may be in a node.
    Range places_of(std::size_t node) const {
        const int height = __builtin_ctzll(~node);
        const std::size_t part = node >> (height + 1) << height;
        return {first[part], first[part + (std::size_t(1) << height)]};
    }

 private:
    // By mover.
    std::vector<Vec3> at_;
    std::vector<std::uint8_t> bins_;
    std::vector<std::int32_t> sorted_;
};

}  // namespace talus
