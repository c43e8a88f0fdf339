#include "connect/flood.h"

#include <algorithm>
#include <cassert>
#include <set>

namespace talus {

namespace {

using Layers = std::array<std::uint64_t, 8>;
constexpr std::uint64_t kColumn0 = 0x0101010101010101ull;  // x = 0
constexpr std::uint64_t kColumn7 = kColumn0 << 7;          // x = 7

std::uint64_t grow_x(std::uint64_t m) { return m | ((m << 1) & ~kColumn0) | ((m >> 1) & ~kColumn7); }
std::uint64_t grow_z(std::uint64_t m) { return m | (m << 8) | (m >> 8); }

/// What of a layer touches the brick at offset (ox, oz), in that brick's frame.
std::uint64_t reach_into(std::uint64_t m, int ox, int oz) {
    m = ox == 0 ? grow_x(m) : ox > 0 ? (m >> 7) & kColumn0 : (m & kColumn0) << 7;
    return oz == 0 ? grow_z(m) : oz > 0 ? m >> 56 : m << 56;
}

Layers reach_into(const Layers& from, Cell offset) {
    Layers flat, out{};
    for (std::size_t y = 0; y < 8; y++) flat[y] = reach_into(from[y], offset.x, offset.z);
    if (offset.y > 0) {
        out[0] = flat[7];
    } else if (offset.y < 0) {
        out[7] = flat[0];
    } else {
        for (std::size_t y = 0; y < 8; y++)
            out[y] = flat[y] | (y > 0 ? flat[y - 1] : 0) | (y < 7 ? flat[y + 1] : 0);
    }
    return out;
}

bool meet(const Layers& a, const Layers& b) {
    std::uint64_t any = 0;
    for (std::size_t y = 0; y < 8; y++) any |= a[y] & b[y];
    return any != 0;
}

template <class F>
void for_each_bit(const Layers& layers, F&& f) {
    for (std::size_t y = 0; y < 8; y++)
        for (std::uint64_t bits = layers[y]; bits; bits &= bits - 1) f(int(64 * y) + __builtin_ctzll(bits));
}

std::size_t count_bits(const Layers& layers) {
    std::size_t n = 0;
    for (std::uint64_t m : layers) n += std::size_t(__builtin_popcountll(m));
    return n;
}

// Half of the 26 neighbours: the others are the same pairs seen from the other side.
constexpr Cell kHalf[13] = {{1, 0, 0},  {-1, 1, 0}, {0, 1, 0},  {1, 1, 0}, {-1, -1, 1},
                            {0, -1, 1}, {1, -1, 1}, {-1, 0, 1}, {0, 0, 1}, {1, 0, 1},
                            {-1, 1, 1}, {0, 1, 1},  {1, 1, 1}};

}  // namespace

Flood::Flood(const Grid& grid, const Joins& joins) : grid_(&grid), bricks_(grid.bricks()) {
    std::set<Cell> delicate;  // bricks that hold an end of a cut diagonal
    for (const auto& [a, b] : joins.cuts()) {
        delicate.insert(brick_of(a));
        delicate.insert(brick_of(b));
    }
    const auto is_delicate = [&](const Brick* brick) {
        return !delicate.empty() && delicate.count(brick->coord) != 0;
    };
    for (const Brick* brick : bricks_) {
        first_.push_back(std::uint32_t(components_.size()));
        cut_brick(*brick, joins, is_delicate(brick));
    }
    first_.push_back(std::uint32_t(components_.size()));
    const auto index_of = [&](Cell coord) {
        const auto it = std::lower_bound(bricks_.begin(), bricks_.end(), coord,
                                         [](const Brick* b, Cell c) { return b->coord < c; });
        return it != bricks_.end() && (*it)->coord == coord ? std::ptrdiff_t(it - bricks_.begin()) : -1;
    };
    for (std::size_t i = 0; i < bricks_.size(); i++)
        for (Cell offset : kHalf) {
            const std::ptrdiff_t j = index_of(bricks_[i]->coord + offset);
            if (j >= 0)
                join_bricks(i, std::size_t(j), offset, joins,
                            is_delicate(bricks_[i]) && is_delicate(bricks_[std::size_t(j)]));
        }

    // Number the parts by size, then by lowest cell.
    struct Key {
        std::size_t size = 0;
        Cell lowest;
        std::uint32_t root;
    };
    std::vector<Key> keys;
    std::vector<std::uint32_t> key_of(components_.size());
    for (std::size_t i = 0; i < bricks_.size(); i++)
        for (std::uint32_t c = first_[i]; c < first_[i + 1]; c++) {
            const std::uint32_t r = root(c);
            Cell lowest{};
            bool found = false;
            for_each_bit(components_[c].bits, [&](int bit) {
                const Cell cell = cell_in_brick(*bricks_[i], bit);
                if (!found || cell < lowest) lowest = cell;
                found = true;
            });
            if (r == c) {  // roots are the lowest number of their part: met first
                key_of[c] = std::uint32_t(keys.size());
                keys.push_back({0, lowest, r});
            }
            Key& key = keys[key_of[r]];
            key.size += count_bits(components_[c].bits);
            if (lowest < key.lowest) key.lowest = lowest;
        }
    std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
        return a.size != b.size ? a.size > b.size : a.lowest < b.lowest;
    });
    for (std::size_t p = 0; p < keys.size(); p++) {
        sizes_.push_back(keys[p].size);
        components_[keys[p].root].part = std::uint32_t(p);
    }
    for (std::uint32_t c = 0; c < components_.size(); c++) components_[c].part = components_[root(c)].part;
}

std::uint32_t Flood::root(std::uint32_t c) {
    while (components_[c].parent != c) c = components_[c].parent = components_[components_[c].parent].parent;
    return c;
}

void Flood::unite(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    if (a < b) components_[b].parent = a;
    if (b < a) components_[a].parent = b;
}

void Flood::cut_brick(const Brick& brick, const Joins& joins, bool delicate) {
    Layers left;
    bool full = true;
    for (std::size_t y = 0; y < 8; y++) {
        left[y] = brick.solid[y];
        full = full && left[y] == ~std::uint64_t(0);
    }
    const auto add = [&](const Layers& bits) {
        components_.push_back({bits, std::uint32_t(components_.size())});
        for (std::size_t y = 0; y < 8; y++) left[y] &= ~bits[y];
    };
    if (full) return add(left);
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
                for (bool grew = true; grew;) {
                    Layers next = reach_into(part, {0, 0, 0});
                    grew = false;
                    for (std::size_t k = 0; k < 8; k++) {
                        next[k] &= left[k];
                        grew = grew || next[k] != part[k];
                    }
                    part = next;
                }
            }
            add(part);
        }
}

void Flood::join_bricks(std::size_t a, std::size_t b, Cell offset, const Joins& joins, bool delicate) {
    for (std::uint32_t i = first_[a]; i < first_[a + 1]; i++) {
        const Layers reach = reach_into(components_[i].bits, offset);
        for (std::uint32_t j = first_[b]; j < first_[b + 1]; j++) {
            if (root(i) == root(j) || !meet(reach, components_[j].bits)) continue;
            if (!delicate) {
                unite(i, j);
                continue;
            }
            bool held = false;
            for_each_bit(components_[i].bits, [&](int bit) {
                const Cell cell = cell_in_brick(*bricks_[a], bit);
                for (int dy = -1; dy <= 1 && !held; dy++)
                    for (int dz = -1; dz <= 1 && !held; dz++)
                        for (int dx = -1; dx <= 1 && !held; dx++) {
                            const Cell other = cell + Cell{dx, dy, dz};
                            if (!(brick_of(other) == bricks_[b]->coord)) continue;
                            const int there = index_in_brick(other);
                            if (!(components_[j].bits[std::size_t(there >> 6)] >> (there & 63) & 1)) continue;
                            held = joins.holds(*grid_, cell, other);
                        }
            });
            if (held) unite(i, j);
        }
    }
}

std::size_t Flood::part_of(Cell cell) const {
    const Cell coord = brick_of(cell);
    const auto it = std::lower_bound(bricks_.begin(), bricks_.end(), coord,
                                     [](const Brick* brick, Cell c) { return brick->coord < c; });
    assert(it != bricks_.end() && (*it)->coord == coord);
    const auto i = std::size_t(it - bricks_.begin());
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
