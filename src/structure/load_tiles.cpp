#include "structure/load_tiles.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

namespace talus::load {
namespace {

constexpr std::uint32_t kFreeSlot = 0xffffffffu;

std::size_t hash_of_tile(Cell c) {
    std::uint64_t h = std::uint32_t(c.x) * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 29) ^ std::uint32_t(c.z)) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 32) ^ std::uint32_t(c.y)) * 0x94D049BB133111EBu;
    return std::size_t(h ^ (h >> 31));
}

// Numbers the distinct pairs of mass and strength. Most inputs have a handful, so the last one found is tried
// first and a small hash does the rest.
class KindNumbers {
 public:
    std::uint32_t number(double mass, double strength) {
        if (!kinds_.empty() && kinds_[last_].mass == mass && kinds_[last_].strength == strength) return last_;
        if (kinds_.size() * 2 >= slots_.size()) grow();
        std::size_t i = slot_of(mass, strength);
        for (; slots_[i] != kFreeSlot; i = (i + 1) & (slots_.size() - 1)) {
            const Kind& k = kinds_[slots_[i]];
            if (k.mass == mass && k.strength == strength) return last_ = slots_[i];
        }
        slots_[i] = last_ = std::uint32_t(kinds_.size());
        kinds_.push_back({mass, strength});
        return last_;
    }
    std::vector<Kind>& kinds() { return kinds_; }

 private:
    std::size_t slot_of(double mass, double strength) const {
        std::uint64_t h = std::bit_cast<std::uint64_t>(mass) * 0x9E3779B97F4A7C15u;
        h = (h ^ (h >> 32) ^ std::bit_cast<std::uint64_t>(strength)) * 0xBF58476D1CE4E5B9u;
        return std::size_t(h ^ (h >> 29)) & (slots_.size() - 1);
    }
    void grow() {
        slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, kFreeSlot);
        for (std::uint32_t k = 0; k < kinds_.size(); k++) {
            std::size_t i = slot_of(kinds_[k].mass, kinds_[k].strength);
            while (slots_[i] != kFreeSlot) i = (i + 1) & (slots_.size() - 1);
            slots_[i] = k;
        }
    }
    std::vector<Kind> kinds_;
    std::vector<std::uint32_t> slots_;
    std::uint32_t last_ = 0;
};

}  // namespace

std::uint32_t Tiles::lookup(Cell coord) const {
    if (slots_.empty()) return null_tile();
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash_of_tile(coord) & mask; slots_[i] != kFreeSlot; i = (i + 1) & mask)
        if (tiles_[slots_[i]].coord == coord) return slots_[i];
    return null_tile();
}

void Tiles::rehash(std::size_t slots) {
    slots_.assign(slots, kFreeSlot);
    for (std::uint32_t t = 0; t < tile_count(); t++) {
        std::size_t i = hash_of_tile(tiles_[t].coord) & (slots - 1);
        while (slots_[i] != kFreeSlot) i = (i + 1) & (slots - 1);
        slots_[i] = t;
    }
}

// Adds before the null tile, which stays last.
std::uint32_t Tiles::find_or_add(Cell coord) {
    const std::uint32_t found = lookup(coord);
    if (found != null_tile()) return found;
    const std::uint32_t t = null_tile();
    tiles_[t].coord = coord;
    tiles_.emplace_back();
    if (std::size_t(tile_count()) * 2 >= slots_.size()) {
        rehash(slots_.empty() ? 64 : slots_.size() * 2);
    } else {
        std::size_t i = hash_of_tile(coord) & (slots_.size() - 1);
        while (slots_[i] != kFreeSlot) i = (i + 1) & (slots_.size() - 1);
        slots_[i] = t;
    }
    return t;
}

void Tiles::set(std::span<const StructureBlock> blocks) {
    tiles_.clear();
    tiles_.emplace_back();
    std::fill(slots_.begin(), slots_.end(), kFreeSlot);
    blocks_ = 0;
    supports_ = 0;

    // Which tiles there are. Inputs come row by row mostly: the last tile is tried first.
    std::uint32_t t = null_tile();
    for (const StructureBlock& b : blocks) {
        const Cell coord{b.cell.x >> 3, b.cell.y, b.cell.z >> 3};
        if (t == null_tile() || tiles_[t].coord != coord) t = find_or_add(coord);
        tiles_[t].exists |= Word(1) << bit_of(b.cell);
        if (b.support) tiles_[t].support |= Word(1) << bit_of(b.cell);
    }
    const auto by_coord = [](const Tile& a, const Tile& b) { return a.coord < b.coord; };
    if (!std::is_sorted(tiles_.begin(), tiles_.end() - 1, by_coord)) {
        std::vector<std::uint32_t> order(tile_count());
        for (std::uint32_t i = 0; i < order.size(); i++) order[i] = i;
        std::sort(order.begin(), order.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return by_coord(tiles_[a], tiles_[b]); });
        std::vector<Tile> sorted;
        sorted.reserve(tiles_.size());
        for (const std::uint32_t i : order) sorted.push_back(tiles_[i]);
        sorted.emplace_back();
        tiles_.swap(sorted);
    }
    if (!slots_.empty()) rehash(slots_.size());
    // Growth left up to twice the room; an input of this size is likely to come again, so keep what fits it.
    if (tiles_.capacity() > tiles_.size() + tiles_.size() / 8) std::vector<Tile>(tiles_).swap(tiles_);
    for (std::uint32_t i = 0; i < tile_count(); i++) {
        Tile& tile = tiles_[i];
        tile.base = blocks_;
        blocks_ += std::uint32_t(std::popcount(tile.exists));
        supports_ += std::uint32_t(std::popcount(tile.support));
        for (int d = 0; d < 6; d++) {
            // A tile outside the range of a cell cannot exist; y is the only axis that could wrap.
            const std::int64_t y = std::int64_t(tile.coord.y) + kStep[d].y;
            const bool wraps = y != std::int32_t(y);
            tile.nb[d] =
                wraps ? null_tile()
                      : lookup({tile.coord.x + kStep[d].x, std::int32_t(y), tile.coord.z + kStep[d].z});
        }
    }
    for (std::uint32_t& n : tiles_.back().nb) n = null_tile();
    assert(blocks_ == blocks.size() && "cells must be distinct");

    // Kinds, numbered as they come, then sorted.
    KindNumbers numbers;
    kind_.resize(blocks_);
    t = null_tile();
    for (const StructureBlock& b : blocks) {
        assert(std::isfinite(b.mass) && b.mass >= 0 && b.strength > 0);
        const Cell coord{b.cell.x >> 3, b.cell.y, b.cell.z >> 3};
        if (t == null_tile() || tiles_[t].coord != coord) t = lookup(coord);
        kind_[index_in(tiles_[t], bit_of(b.cell))] = numbers.number(b.mass + 0.0, double(b.strength));
    }
    const std::vector<Kind>& found = numbers.kinds();
    std::vector<std::uint32_t> order(found.size()), rank(found.size());
    for (std::uint32_t k = 0; k < order.size(); k++) order[k] = k;
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return found[a].mass != found[b].mass ? found[a].mass < found[b].mass
                                              : found[a].strength < found[b].strength;
    });
    kinds_.resize(found.size());
    min_strength_ = found.empty() ? 1 : found[0].strength;
    for (std::uint32_t k = 0; k < order.size(); k++) {
        kinds_[k] = found[order[k]];
        rank[order[k]] = k;
        min_strength_ = kinds_[k].strength < min_strength_ ? kinds_[k].strength : min_strength_;
    }
    if (kinds_.size() > 1)
        for (std::uint32_t& k : kind_) k = rank[k];
    for (std::uint32_t i = 0; i < tile_count(); i++) {
        Tile& tile = tiles_[i];
        tile.kind = kind_[tile.base];
        for (int b = 1; b < std::popcount(tile.exists); b++)
            if (kind_[tile.base + std::uint32_t(b)] != tile.kind) tile.kind = kMixedKinds;
    }
}

std::size_t Tiles::bytes() const {
    return tiles_.capacity() * sizeof(Tile) + slots_.capacity() * 4 + kind_.capacity() * 4 +
           kinds_.capacity() * sizeof(Kind);
}

}  // namespace talus::load
