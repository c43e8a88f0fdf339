#include "connect/flood.h"

#include <algorithm>
#include <cassert>
#include <set>

namespace talus {

namespace {

using Layers = std::array<std::uint64_t, 8>;
constexpr std::uint64_t grow_row(std::uint64_t row) { return row | row << 1 | row >> 1; }
/// The first or last column or row of a plane, as eight bits.
constexpr std::uint64_t column(std::uint64_t plane, bool last) {
    return (((last ? plane >> 7 : plane) & kLayerColumn0) * 0x0102040810204080ull) >> 56;
}
constexpr std::uint64_t row(std::uint64_t plane, bool last) { return last ? plane >> 56 : plane & 255; }

template <int Axis>
std::uint64_t side_of(const Layers& bits, bool last) {
    std::uint64_t side = 0;
    for (std::size_t y = 0; y < 8; y++)
        side |= (Axis == 0 ? column(bits[y], last) : row(bits[y], last)) << 8 * y;
    return side;
}

template <class F>
void for_each_bit(const Layers& layers, F&& f) {
    for (std::size_t y = 0; y < 8; y++)
        for (std::uint64_t bits = layers[y]; bits; bits &= bits - 1) f(int(64 * y) + __builtin_ctzll(bits));
}

int lowest_bit(const Layers& layers) {
    std::size_t y = 0;
    while (!layers[y]) y++;
    return int(64 * y) + __builtin_ctzll(layers[y]);
}

std::size_t count_bits(const Layers& layers) {
    std::size_t n = 0;
    for (std::uint64_t m : layers) n += std::size_t(__builtin_popcountll(m));
    return n;
}

/// Grows `part` inside `room` until nothing is added: up through the layers, then down again, each layer
/// filled on the way. Most bricks are done when the second way up finds nothing.
void fill(Layers& part, const Layers& room, std::size_t start) {
    const auto fill_layer = [](std::uint64_t m, std::uint64_t inside) {
        if (m == inside || inside == ~std::uint64_t(0)) return inside;
        for (std::uint64_t before = 0; before != m;) {
            before = m;
            m = grow_layer(m) & inside;
            m = grow_layer(m) & inside;
        }
        return m;
    };
    part[start] = fill_layer(part[start], room[start]);
    const auto pass_on = [&](std::size_t from, std::size_t to) {
        const std::uint64_t more = grow_layer(part[from]) & room[to] & ~part[to];
        if (more) part[to] = fill_layer(part[to] | more, room[to]);
        return more != 0;
    };
    for (bool grew = true; grew;) {
        for (std::size_t y = 0; y < 7; y++) pass_on(y, y + 1);
        if (part == room) return;
        grew = false;
        for (std::size_t y = 7; y > 0; y--) grew |= pass_on(y, y - 1);
    }
}

}  // namespace

std::uint32_t Flood::root(std::uint32_t c) {
    while (parent_[c] != c) c = parent_[c] = parent_[parent_[c]];
    return c;
}

void Flood::unite(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    (a < b ? parent_[b] : parent_[a]) = a < b ? a : b;
    apart_--;
}

template <int Axis, bool Up>
[[gnu::always_inline]] inline std::uint64_t Flood::plane(std::uint32_t component) const {
    const Component& c = components_[component];
    if constexpr (Axis == 1) return c.bits[Up ? 7 : 0];
    if (c.sides != kNone) return sides_[c.sides][std::size_t(Axis + Up)];
    return side_of<Axis>(c.bits, Up);
}

// A brick of several components looks at their planes again and again.
void Flood::add_sides(std::uint32_t first) {
    for (std::uint32_t c = first; c < components_.size(); c++) {
        components_[c].sides = std::uint32_t(sides_.size());
        const Layers& bits = components_[c].bits;
        sides_.push_back({side_of<0>(bits, false), side_of<0>(bits, true), side_of<2>(bits, false),
                          side_of<2>(bits, true)});
    }
}

// Every touch across the border holds.
template <int X, int Y, int Z>
[[gnu::always_inline]] inline void Flood::join_bricks(std::size_t a, std::size_t b) {
    constexpr int kApart = (X != 0) + (Y != 0) + (Z != 0);
    constexpr int kAxis = Y ? 1 : X ? 0 : 2;  // of the plane that looks towards the other brick
    constexpr bool kUp = (kAxis == 0 ? X : kAxis == 1 ? Y : Z) > 0;
    // Bricks that touch by an edge meet in a row of that plane: its last or first, along z unless the edge is
    // along x. By a corner: a bit of that row.
    constexpr bool kRow = Y != 0 && X == 0;
    constexpr bool kLast = kRow || Y == 0 ? Z > 0 : X > 0;
    const auto edge = [](std::uint64_t plane, bool last) {
        return kRow ? row(plane, last) : column(plane, last);
    };
    const auto corner = [](std::uint64_t bits, bool last) { return last ? bits >> 7 : bits & 1; };
    const std::uint32_t a0 = first_[a], a1 = first_[a + 1], b0 = first_[b], b1 = first_[b + 1];
    if (a0 + 1 == a1 && b0 + 1 == b1 && root(a0) == root(b0)) return;  // most of those that touch by an edge
    for (std::uint32_t i = a0; i < a1; i++) {
        std::uint64_t reach = plane<kAxis, kUp>(i);
        if constexpr (kApart == 1) reach = grow_layer(reach);
        if constexpr (kApart == 2) reach = grow_row(edge(reach, kLast));
        if constexpr (kApart == 3) reach = corner(edge(reach, kLast), Z > 0);
        if (!reach) continue;
        for (std::uint32_t j = b0; j < b1; j++) {
            std::uint64_t theirs = plane<kAxis, !kUp>(j);
            if constexpr (kApart >= 2) theirs = edge(theirs, !kLast);
            if constexpr (kApart == 3) theirs = corner(theirs, Z < 0);
            if (reach & theirs) unite(i, j);
        }
    }
}

Flood::Flood(const Grid& grid, const Joins& joins) : grid_(&grid), bricks_(grid.bricks()) {
    std::set<Cell> delicate;  // bricks that hold an end of a cut diagonal
    for (const auto& [a, b] : joins.cuts()) {
        delicate.insert(brick_of(a));
        delicate.insert(brick_of(b));
    }
    const auto is_delicate = [&](std::size_t i) {
        return !delicate.empty() && delicate.count(coords_[i]) != 0;
    };
    coords_.reserve(bricks_.size());
    first_.reserve(bricks_.size() + 1);
    components_.reserve(bricks_.size() + bricks_.size() / 8);
    constexpr std::size_t kAhead = 8;  // bricks lie scattered in memory
    for (std::size_t i = 0; i < bricks_.size(); i++) {
        if (i + kAhead < bricks_.size()) {
            const Brick* soon = bricks_[i + kAhead];
            __builtin_prefetch(soon);
            __builtin_prefetch(soon->solid);
            __builtin_prefetch(soon->solid + 7);
        }
        coords_.push_back(bricks_[i]->coord);
        first_.push_back(std::uint32_t(components_.size()));
        cut_brick(*bricks_[i], joins, is_delicate(i));
    }
    first_.push_back(std::uint32_t(components_.size()));
    parent_.resize(components_.size());
    for (std::uint32_t c = 0; c < parent_.size(); c++) parent_[c] = c;

    // Of a pair of neighbours, the later one looks at the earlier.
    std::size_t cursor[4] = {};
    const auto join = [&]<int X, int Y, int Z>(std::size_t i, std::size_t j) {
        if (!delicate.empty() && is_delicate(i) && is_delicate(j))
            join_delicate_bricks(i, j, joins);
        else
            join_bricks<X, Y, Z>(i, j);
    };
    const auto join_row = [&]<int Y, int Z>(std::size_t i, std::size_t& c) {
        const Cell at = coords_[i] + Cell{0, Y, Z};
        while (coords_[c] < at - Cell{1, 0, 0}) c++;  // stops at i at the latest
        std::size_t j = c;
        const bool before = coords_[j] == at - Cell{1, 0, 0};
        j += before;
        const bool middle = coords_[j] == at;
        if (middle) join.template operator()<0, Y, Z>(i, j);
        if (before) join.template operator()<-1, Y, Z>(i, c);
        j += middle;
        if (coords_[j] == at + Cell{1, 0, 0}) join.template operator()<1, Y, Z>(i, j);
    };
    for (std::size_t i = 0; i < coords_.size(); i++) {
        apart_ += first_[i + 1] - first_[i];
        join_row.template operator()<-1, 0>(i, cursor[1]);  // needs no planes made
        if (apart_ == 1) continue;
        if (i > 0 && coords_[i - 1] == coords_[i] - Cell{1, 0, 0})
            join.template operator()<-1, 0, 0>(i, i - 1);
        if (apart_ == 1) continue;
        join_row.template operator()<0, -1>(i, cursor[0]);
        if (apart_ == 1) continue;
        join_row.template operator()<-1, -1>(i, cursor[2]);
        join_row.template operator()<-1, 1>(i, cursor[3]);
    }
    number_parts();
}

void Flood::cut_brick(const Brick& brick, const Joins& joins, bool delicate) {
    Layers left;
    std::uint64_t all = ~std::uint64_t(0);
    for (std::size_t y = 0; y < 8; y++) {
        left[y] = brick.solid[y];
        all &= left[y];
    }
    if (all == ~std::uint64_t(0) && !delicate) {
        components_.push_back({left});
        return;
    }
    const auto first = std::uint32_t(components_.size());
    for (std::size_t y = 0; y < 8; y++)
        while (left[y]) {
            Layers part{};
            part[y] = left[y] & (~left[y] + 1);
            if (delicate) {
                std::vector<int> queue{int(64 * y) + __builtin_ctzll(part[y])};
                for (std::size_t i = 0; i < queue.size(); i++) {
                    const Cell cell = cell_in_brick(brick, queue[i]);
                    for (int dy = -1; dy <= 1; dy++)
                        for (int dz = -1; dz <= 1; dz++)
                            for (int dx = -1; dx <= 1; dx++) {
                                const Cell other = cell + Cell{dx, dy, dz};
                                if (!(brick_of(other) == brick.coord)) continue;
                                const int bit = index_in_brick(other);
                                const std::uint64_t mask = std::uint64_t(1) << (bit & 63);
                                const auto layer = std::size_t(bit >> 6);
                                if (!(left[layer] & ~part[layer] & mask) || !joins.holds(*grid_, cell, other))
                                    continue;
                                part[layer] |= mask;
                                queue.push_back(bit);
                            }
                }
            } else {
                fill(part, left, y);
            }
            components_.push_back({part});
            for (std::size_t k = 0; k < 8; k++) left[k] &= ~part[k];
        }
    if (components_.size() > first + 1) add_sides(first);
}

// Both bricks hold ends of cut diagonals: cell by cell.
void Flood::join_delicate_bricks(std::size_t a, std::size_t b, const Joins& joins) {
    for (std::uint32_t i = first_[a]; i < first_[a + 1]; i++)
        for_each_bit(components_[i].bits, [&](int bit) {
            const Cell cell = cell_in_brick(*bricks_[a], bit);
            for (int dy = -1; dy <= 1; dy++)
                for (int dz = -1; dz <= 1; dz++)
                    for (int dx = -1; dx <= 1; dx++) {
                        const Cell other = cell + Cell{dx, dy, dz};
                        if (!(brick_of(other) == coords_[b])) continue;
                        const int there = index_in_brick(other);
                        if (!bit_at(bricks_[b]->solid, there) || !joins.holds(*grid_, cell, other)) continue;
                        std::uint32_t j = first_[b];
                        while (!(components_[j].bits[std::size_t(there >> 6)] >> (there & 63) & 1)) j++;
                        unite(i, j);
                    }
        });
}

// By size, then by lowest cell.
void Flood::number_parts() {
    struct Key {
        std::size_t size = 0;
        Cell lowest;
        std::uint32_t root;
    };
    std::vector<Key> keys;
    for (std::size_t i = 0; i < bricks_.size(); i++)
        for (std::uint32_t c = first_[i]; c < first_[i + 1]; c++) {
            const std::uint32_t r = root(c);
            const Cell o{coords_[i].x * 8, coords_[i].y * 8, coords_[i].z * 8};
            const int bit = lowest_bit(components_[c].bits);
            const Cell lowest = o + Cell{bit & 7, bit >> 6, bit >> 3 & 7};
            if (r == c) {  // roots are the lowest number of their part: met first
                components_[c].part = std::uint32_t(keys.size());
                keys.push_back({0, lowest, r});
            }
            Key& key = keys[components_[r].part];
            key.size += count_bits(components_[c].bits);
            if (lowest < key.lowest) key.lowest = lowest;
        }
    std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
        return a.size != b.size ? a.size > b.size : a.lowest < b.lowest;
    });
    sizes_.reserve(keys.size());
    for (std::size_t p = 0; p < keys.size(); p++) {
        sizes_.push_back(keys[p].size);
        components_[keys[p].root].part = std::uint32_t(p);
    }
    for (std::uint32_t c = 0; c < components_.size(); c++) components_[c].part = components_[root(c)].part;
}

std::size_t Flood::part_of(Cell cell) const {
    const auto it = std::lower_bound(coords_.begin(), coords_.end(), brick_of(cell));
    assert(it != coords_.end() && *it == brick_of(cell));
    const auto i = std::size_t(it - coords_.begin());
    const int bit = index_in_brick(cell);
    std::uint32_t c = first_[i];
    while (!(components_[c].bits[std::size_t(bit >> 6)] >> (bit & 63) & 1)) {
        c++;
        assert(c < first_[i + 1]);
    }
    return components_[c].part;
}

std::vector<std::vector<Cell>> Flood::cells_from(std::size_t first) const {
    std::vector<std::vector<Cell>> out(sizes_.size() > first ? sizes_.size() - first : 0);
    if (out.empty()) return out;
    for (std::size_t p = 0; p < out.size(); p++) out[p].reserve(sizes_[first + p]);
    for (std::size_t i = 0; i < bricks_.size(); i++)
        for (std::uint32_t c = first_[i]; c < first_[i + 1]; c++) {
            if (components_[c].part < first) continue;
            auto& cells = out[components_[c].part - first];
            for_each_bit(components_[c].bits,
                         [&](int bit) { cells.push_back(cell_in_brick(*bricks_[i], bit)); });
        }
    return out;
}

}  // namespace talus
