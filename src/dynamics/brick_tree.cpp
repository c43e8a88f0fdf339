#include "dynamics/brick_tree.h"

#include <cassert>

namespace talus {

/// Never negative, and such that nothing special is at 0 on any level: its digits in base 4 are all 2.
Cell BrickTree::moved(Cell coord) {
    constexpr int kBias = 0x2aaaaaaa;
    return coord + Cell{kBias, kBias, kBias};
}

Cell BrickTree::coord_at(Cell moved, int level) {
    const int shift = 2 * (level + 1);
    return {moved.x >> shift, moved.y >> shift, moved.z >> shift};
}

int BrickTree::child_of(Cell moved, int level) {
    const int shift = 2 * level;
    return ((moved.x >> shift) & 3) + 4 * ((moved.z >> shift) & 3) + 16 * ((moved.y >> shift) & 3);
}

std::int32_t BrickTree::find_index(Cell coord) const {
    const Cell at = moved(coord);
    std::int32_t i = root_;
    if (i < 0 || !holds(nodes_[std::size_t(i)], at)) return -1;
    for (;;) {
        const Node& node = nodes_[std::size_t(i)];
        const int c = child_of(at, node.level);
        if (!(node.mask >> c & 1)) return -1;
        i = node.child[c];
        if (node.level == 0) return i;
    }
}

int BrickTree::path_to(Cell at, std::int32_t (&path)[kMostLevels]) const {
    int n = 0;
    for (std::int32_t i = root_;;) {
        path[n++] = i;
        const Node& node = nodes_[std::size_t(i)];
        if (node.level == 0) return n;
        i = node.child[child_of(at, node.level)];
    }
}

std::int32_t BrickTree::new_node(int level, Cell at) {
    std::int32_t i;
    if (!free_nodes_.empty()) {
        i = free_nodes_.back();
        free_nodes_.pop_back();
        nodes_[std::size_t(i)] = {};
    } else {
        i = std::int32_t(nodes_.size());
        nodes_.emplace_back();
    }
    nodes_[std::size_t(i)].level = level;
    nodes_[std::size_t(i)].coord = coord_at(at, level);
    return i;
}

BrickTree::Brick& BrickTree::add(Cell coord) {
    if (Brick* there = find(coord)) return *there;
    const Cell at = moved(coord);
    if (root_ < 0) root_ = new_node(0, at);
    while (!holds(nodes_[std::size_t(root_)], at)) {
        const Node& old = nodes_[std::size_t(root_)];
        const int level = old.level + 1, shift = 2 * level;
        const Cell least{old.coord.x << shift, old.coord.y << shift, old.coord.z << shift};
        const std::int32_t above = new_node(level, least);
        Node& node = nodes_[std::size_t(above)];
        const int c = child_of(least, level);
        node.mask = std::uint64_t(1) << c;
        node.child[c] = root_;
        root_ = above;
    }
    for (std::int32_t i = root_;;) {
        const int level = nodes_[std::size_t(i)].level, c = child_of(at, level);
        const std::uint64_t bit = std::uint64_t(1) << c;
        if (!(nodes_[std::size_t(i)].mask & bit)) {
            std::int32_t child;
            if (level > 0) {
                child = new_node(level - 1, at);
            } else if (!free_bricks_.empty()) {
                child = free_bricks_.back();
                free_bricks_.pop_back();
            } else {
                child = std::int32_t(bricks_.size());
                bricks_.emplace_back();
            }
            nodes_[std::size_t(i)].mask |= bit;
            nodes_[std::size_t(i)].child[c] = child;
        }
        i = nodes_[std::size_t(i)].child[c];
        if (level > 0) continue;
        Brick& brick = bricks_[std::size_t(i)];
        brick.coord = coord;
        return brick;
    }
}

void BrickTree::remove(Cell coord) {
    const Cell at = moved(coord);
    std::int32_t path[kMostLevels];
    int n = path_to(at, path);
    const std::int32_t gone = find_index(coord);
    assert(gone >= 0);
    bricks_[std::size_t(gone)] = {};
    free_bricks_.push_back(gone);
    while (n-- > 0) {
        Node& node = nodes_[std::size_t(path[n])];
        node.mask &= ~(std::uint64_t(1) << child_of(at, node.level));
        if (node.mask) {
            for (int k = n; k >= 0; k--) sum_up(nodes_[std::size_t(path[k])]);
            break;
        }
        free_nodes_.push_back(path[n]);
        if (n == 0) root_ = -1;
    }
    // The root has children of its own.
    while (root_ >= 0) {
        const Node& root = nodes_[std::size_t(root_)];
        if (root.level == 0 || (root.mask & (root.mask - 1))) break;
        const std::int32_t only = root.child[__builtin_ctzll(root.mask)];
        free_nodes_.push_back(root_);
        root_ = only;
    }
}

BrickTree::Bounds BrickTree::bounds_of(const Brick& brick) const {
    Bounds out;
    const SolidPart& part = brick.part;
    Cell lo{kEdge, kEdge, kEdge}, hi{-1, -1, -1};
    std::uint64_t flat = 0;
    for (int y = 0; y < kEdge; y++) {
        const std::uint64_t layer = part.cells.words[std::size_t(y)];
        if (!layer) continue;
        flat |= layer;
        if (lo.y > y) lo.y = y;
        hi.y = y;
    }
    if (flat) {
        lo.z = __builtin_ctzll(flat) >> 3;
        hi.z = (63 - __builtin_clzll(flat)) >> 3;
        std::uint64_t row = flat | flat >> 32;
        row |= row >> 16;
        row = (row | row >> 8) & 255;
        lo.x = __builtin_ctzll(row);
        hi.x = 63 - __builtin_clzll(row);
    }
    for (const SolidPart::OddBlock& b : part.odd_blocks) {
        lo = {b.cell.x < lo.x ? b.cell.x : lo.x, b.cell.y < lo.y ? b.cell.y : lo.y,
              b.cell.z < lo.z ? b.cell.z : lo.z};
        hi = {b.cell.x > hi.x ? b.cell.x : hi.x, b.cell.y > hi.y ? b.cell.y : hi.y,
              b.cell.z > hi.z ? b.cell.z : hi.z};
    }
    const Cell origin{brick.coord.x * kEdge, brick.coord.y * kEdge, brick.coord.z * kEdge};
    out.cells = {origin + lo, origin + hi};
    out.box = {corner(brick) + to_double(part.lo), corner(brick) + to_double(part.hi)};
    out.thickness = part.thickness;
    return out;
}

void BrickTree::sum_up(Node& node) {
    Bounds sum;
    bool first = true;
    for (std::uint64_t bits = node.mask; bits; bits &= bits - 1) {
        const auto child = std::size_t(node.child[__builtin_ctzll(bits)]);
        const Bounds& b = node.level > 0 ? nodes_[child].bounds : bricks_[child].bounds;
        if (first) {
            sum = b;
            first = false;
            continue;
        }
        Cell &lo = sum.cells.min, &hi = sum.cells.max;
        const Cell l = b.cells.min, h = b.cells.max;
        lo = {l.x < lo.x ? l.x : lo.x, l.y < lo.y ? l.y : lo.y, l.z < lo.z ? l.z : lo.z};
        hi = {h.x > hi.x ? h.x : hi.x, h.y > hi.y ? h.y : hi.y, h.z > hi.z ? h.z : hi.z};
        sum.box = {min(b.box.min, sum.box.min), max(b.box.max, sum.box.max)};
        sum.thickness = b.thickness < sum.thickness ? b.thickness : sum.thickness;
    }
    node.bounds = sum;
}

void BrickTree::refresh(Cell coord) {
    Brick* brick = find(coord);
    assert(brick);
    brick->bounds = bounds_of(*brick);
    std::int32_t path[kMostLevels];
    int n = path_to(moved(coord), path);
    while (n-- > 0) sum_up(nodes_[std::size_t(path[n])]);
}

std::size_t BrickTree::box_count() const {
    std::size_t n = 0;
    for (const Brick& b : bricks_) n += b.part.solids.size();
    return n;
}

bool BrickTree::solid_at(const Brick& brick, Vec3 p) const {
    const float s = brick.part.cells.inverse_cell_size;
    const int x = int(std::floor(p.x * s)), y = int(std::floor(p.y * s)), z = int(std::floor(p.z * s));
    if (((x | y | z) & ~(kEdge - 1)) == 0) return brick.part.solid_at(p);
    const Cell step{x >> 3, y >> 3, z >> 3};
    const Brick* beside = find(brick.coord + step);
    const float e = cell_size_ * kEdge;
    return beside && beside->part.solid_at(p - Vec3{float(step.x) * e, float(step.y) * e, float(step.z) * e});
}

}  // namespace talus
