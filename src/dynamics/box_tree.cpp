#include "dynamics/box_tree.h"

#include "base/give_back.h"

namespace talus {

namespace {

float side_of(const Bounds& b) {
    const Vec3 e = b.hi - b.lo;
    return e.x * e.y + e.y * e.z + e.z * e.x;
}

}  // namespace

std::int32_t BoxTree::take() {
    if (free_ < 0) {
        nodes_.emplace_back();
        return std::int32_t(nodes_.size() - 1);
    }
    const std::int32_t i = free_;
    free_ = at(i).parent;
    at(i) = Node{};
    return i;
}

void BoxTree::let_go(std::int32_t i) {
    at(i).parent = free_;
    free_ = i;
}

void BoxTree::replace(std::int32_t parent, std::int32_t child, std::int32_t by) {
    at(by).parent = parent;
    if (parent < 0)
        root_ = by;
    else
        at(parent).child[at(parent).child[0] == child ? 0 : 1] = by;
}

void BoxTree::measure(std::int32_t i) {
    Node& n = at(i);
    const Node &a = at(n.child[0]), &b = at(n.child[1]);
    n.box = a.box | b.box;
    n.height = 1 + (a.height > b.height ? a.height : b.height);
}

/// Where one child is too much the taller, it takes the node's place, and the node one of its children.
/// @return what is there now
std::int32_t BoxTree::balance(std::int32_t i) {
    for (const int tall : {0, 1}) {
        const std::int32_t up = at(i).child[tall];
        if (at(up).height <= at(at(i).child[1 - tall]).height + 1) continue;
        const int given = at(at(up).child[0]).height > at(at(up).child[1]).height ? 1 : 0;
        const std::int32_t moved = at(up).child[given];
        replace(at(i).parent, i, up);
        at(i).child[tall] = moved;
        at(moved).parent = i;
        at(up).child[given] = i;
        at(i).parent = up;
        measure(i);
        measure(up);
        return up;
    }
    return i;
}

void BoxTree::mend_upwards(std::int32_t i) {
    for (; i >= 0; i = at(i).parent) {
        measure(i);
        i = balance(i);
    }
}

void BoxTree::insert(std::int32_t leaf) {
    if (root_ < 0) {
        root_ = leaf;
        at(leaf).parent = -1;
        return;
    }
    const Bounds box = at(leaf).box;
    std::int32_t beside = root_;
    while (at(beside).height > 0) {
        const Node& n = at(beside);
        float growth[2];
        for (const int k : {0, 1}) {
            const Bounds& b = at(n.child[k]).box;
            growth[k] = side_of(b | box) - side_of(b);
        }
        beside = n.child[growth[1] < growth[0] ? 1 : 0];
    }
    const std::int32_t parent = take();
    replace(at(beside).parent, beside, parent);
    at(parent).child[0] = beside;
    at(parent).child[1] = leaf;
    at(beside).parent = at(leaf).parent = parent;
    mend_upwards(parent);
}

void BoxTree::detach(std::int32_t leaf) {
    const std::int32_t parent = at(leaf).parent;
    if (parent < 0) {
        root_ = -1;
        return;
    }
    const std::int32_t other = at(parent).child[at(parent).child[0] == leaf ? 1 : 0];
    const std::int32_t above = at(parent).parent;
    replace(above, parent, other);
    let_go(parent);
    mend_upwards(above);
}

void BoxTree::put(std::int32_t name, const Bounds& box) {
    if (std::size_t(name) >= leaf_of_.size()) leaf_of_.resize(std::size_t(name) + 1, -1);
    std::int32_t& leaf = leaf_of_[std::size_t(name)];
    if (leaf < 0) {
        count_++;
        leaf = take();
        at(leaf).child[0] = name;
        at(leaf).box = box;
        insert(leaf);
        return;
    }
    const std::int32_t parent = at(leaf).parent;
    const bool stays = parent < 0 || at(parent).box.holds(box);
    if (!stays) detach(leaf);
    at(leaf).box = box;
    if (!stays) insert(leaf);
}

void BoxTree::remove(std::int32_t name) {
    if (!has(name)) return;
    std::int32_t& leaf = leaf_of_[std::size_t(name)];
    detach(leaf);
    let_go(leaf);
    leaf = -1;
    count_--;
    if (has_too_much(nodes_, 2 * count_)) shrink();
}

/// What is in is put into a new tree, and the memory of what was there once goes.
void BoxTree::shrink() {
    BoxTree fit;
    fit.nodes_.reserve(3 * count_);
    for (std::size_t i = 0; i < leaf_of_.size(); i++)
        if (leaf_of_[i] >= 0) fit.put(std::int32_t(i), at(leaf_of_[i]).box);
    *this = std::move(fit);
}

}  // namespace talus
