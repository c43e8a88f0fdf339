#include "structure/load_tiles.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace talus::load {
namespace {

constexpr std::uint32_t kFree = 0xffffffffu;

std::size_t hash_of_tile(Cell c) {
    std::uint64_t h = std::uint32_t(c.x) * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 29) ^ std::uint32_t(c.z)) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 32) ^ std::uint32_t(c.y)) * 0x94D049BB133111EBu;
    return std::size_t(h ^ (h >> 31));
}

Cell tile_of(Cell cell) { return {cell.x >> 3, cell.y, cell.z >> 3}; }

}  // namespace

void Kinds::clear() {
    kinds_.clear();
    std::fill(slots_.begin(), slots_.end(), kFree);
    last_ = 0;
}

std::uint32_t Kinds::number(double mass, double strength) {
    if (!kinds_.empty() && kinds_[last_].mass == mass && kinds_[last_].strength == strength) return last_;
    if (kinds_.size() * 2 >= slots_.size()) grow();
    std::size_t i = slot_of(mass, strength);
    for (; slots_[i] != kFree; i = (i + 1) & (slots_.size() - 1)) {
        const Kind& k = kinds_[slots_[i]];
        if (k.mass == mass && k.strength == strength) return last_ = slots_[i];
    }
    slots_[i] = last_ = std::uint32_t(kinds_.size());
    kinds_.push_back({mass, strength});
    return last_;
}

std::size_t Kinds::slot_of(double mass, double strength) const {
    std::uint64_t h = std::bit_cast<std::uint64_t>(mass) * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 32) ^ std::bit_cast<std::uint64_t>(strength)) * 0xBF58476D1CE4E5B9u;
    return std::size_t(h ^ (h >> 29)) & (slots_.size() - 1);
}

void Kinds::grow() {
    slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, kFree);
    for (std::uint32_t k = 0; k < kinds_.size(); k++) {
        std::size_t i = slot_of(kinds_[k].mass, kinds_[k].strength);
        while (slots_[i] != kFree) i = (i + 1) & (slots_.size() - 1);
        slots_[i] = k;
    }
}

std::uint32_t Tiles::lookup(Cell coord) const {
    if (hash_.empty()) return kNullTile;
    const std::size_t mask = hash_.size() - 1;
    for (std::size_t i = hash_of_tile(coord) & mask; hash_[i] != kFree; i = (i + 1) & mask)
        if (tiles_[hash_[i]].coord == coord) return hash_[i];
    return kNullTile;
}

void Tiles::rehash(std::size_t slots) {
    hash_.assign(slots, kFree);
    for (std::uint32_t t = 1; t < end_tile(); t++) {
        std::size_t i = hash_of_tile(tiles_[t].coord) & (slots - 1);
        while (hash_[i] != kFree) i = (i + 1) & (slots - 1);
        hash_[i] = t;
    }
}

std::uint32_t Tiles::find_or_add(Cell coord) {
    const std::uint32_t found = lookup(coord);
    if (found != kNullTile) return found;
    const std::uint32_t t = end_tile();
    tiles_.emplace_back().coord = coord;
    if (std::size_t(end_tile()) * 2 >= hash_.size()) {
        rehash(hash_.empty() ? 64 : hash_.size() * 2);
    } else {
        std::size_t i = hash_of_tile(coord) & (hash_.size() - 1);
        while (hash_[i] != kFree) i = (i + 1) & (hash_.size() - 1);
        hash_[i] = t;
    }
    return t;
}

void Tiles::start(int turn) {
    turn_ = turn;
    tiles_.clear();
    tiles_.emplace_back();
    for (std::uint32_t& n : tiles_[kNullTile].nb) n = kNullTile;
    std::fill(hash_.begin(), hash_.end(), kFree);
}

// Which tiles there are. Inputs come row by row mostly: the last tile is tried first.
void Tiles::add_cells(std::span<const StructureBlock> blocks) {
    std::uint32_t t = kNullTile;
    for (const StructureBlock& b : blocks) {
        const Cell cell = inner(b.cell), coord = tile_of(cell);
        if (t == kNullTile || tiles_[t].coord != coord) t = find_or_add(coord);
        const Word one = Word(1) << bit_of(cell);
        tiles_[t].exists |= one;
        if (b.support) tiles_[t].support |= one;
    }
}

// The tile next to this one, blocks touching or not.
std::uint32_t Tiles::beside(const Tile& tile, int d) const {
    // A tile outside the range of a cell cannot exist; y is the only axis that could wrap.
    const std::int64_t y = std::int64_t(tile.coord.y) + kStep[d].y;
    if (y != std::int32_t(y)) return kNullTile;
    return lookup({tile.coord.x + kStep[d].x, std::int32_t(y), tile.coord.z + kStep[d].z});
}

void Tiles::set(std::span<const StructureBlock> blocks) {
    start(0);
    add_cells(blocks);
    // Nearly empty tiles: perhaps the structure is thin along another axis.
    if (tiles_.size() * 6 > blocks.size()) {
        int best = 0;
        std::size_t fewest = tiles_.size();
        for (int turn = 1; turn < 3; turn++) {
            start(turn);
            add_cells(blocks);
            if (tiles_.size() >= fewest) continue;
            fewest = tiles_.size();
            best = turn;
        }
        if (best != turn_) {
            start(best);
            add_cells(blocks);
        }
    }

    const auto by_coord = [](const Tile& a, const Tile& b) { return a.coord < b.coord; };
    if (!std::is_sorted(tiles_.begin() + 1, tiles_.end(), by_coord)) {
        order_.clear();
        sort_order();
        std::vector<Tile> sorted;
        sorted.reserve(tiles_.size());
        sorted.push_back(tiles_[kNullTile]);
        for (const std::uint32_t i : order_) sorted.push_back(tiles_[i]);
        tiles_.swap(sorted);
        rehash(hash_.size());
    }
    // Growth left up to twice the room; an input of this size is likely to come again, so keep what fits it.
    // (shrink_to_fit() does nothing without exceptions.)
    if (tiles_.capacity() > tiles_.size() + tiles_.size() / 8) std::vector<Tile>(tiles_).swap(tiles_);
    order_.clear();

    blocks_ = 0;
    supports_ = 0;
    for (std::uint32_t t = 1; t < end_tile(); t++) {
        Tile& tile = tiles_[t];
        tile.base = blocks_;
        tile.slots = tile.exists;
        blocks_ += std::uint32_t(std::popcount(tile.exists));
        supports_ += std::uint32_t(std::popcount(tile.support));
        // Most tiles of a column touch no other beside it: the passes need not look there.
        for_each_direction([&]<int D>() {
            const Word across = moved_across<D>(tile.exists);
            const std::uint32_t n = across ? beside(tile, D) : kNullTile;
            tile.nb[D] = across & tiles_[n].exists ? n : kNullTile;
        });
    }
    assert(blocks_ == blocks.size() && "cells must be distinct");

    kinds_.clear();
    kind_.resize(blocks_);
    min_strength_ = blocks.empty() ? 1 : double(blocks[0].strength);
    std::uint32_t at = kNullTile;
    for (const StructureBlock& b : blocks) {
        assert(std::isfinite(b.mass) && b.mass >= 0 && b.strength > 0);
        const Cell cell = inner(b.cell), coord = tile_of(cell);
        if (at == kNullTile || tiles_[at].coord != coord) at = lookup(coord);
        const double strength = double(b.strength);
        min_strength_ = strength < min_strength_ ? strength : min_strength_;
        kind_[index_in(tiles_[at], bit_of(cell))] = kinds_.number(b.mass + 0.0, strength);
    }
    for (std::uint32_t t = 1; t < end_tile(); t++) {
        Tile& tile = tiles_[t];
        tile.kind = kind_[tile.base];
        for (int b = 1; b < std::popcount(tile.exists); b++)
            if (kind_[tile.base + std::uint32_t(b)] != tile.kind) tile.kind = kMixedKinds;
    }
}

bool Tiles::remove(Cell outer) {
    const Cell cell = inner(outer);
    Tile& tile = tiles_[find(cell)];
    const Word one = Word(1) << bit_of(cell);
    if (!(tile.exists & one)) return false;
    tile.exists &= ~one;
    blocks_--;
    if (tile.support & one) supports_--;
    tile.support &= ~one;
    return true;
}

void Tiles::place(const StructureBlock& block) {
    assert(std::isfinite(block.mass) && block.mass >= 0 && block.strength > 0);
    const Cell cell = inner(block.cell);
    const std::uint32_t before = end_tile();
    std::uint32_t t = find(cell);
    if (t == kNullTile) {
        if (tiles_.size() == tiles_.capacity()) tiles_.reserve(tiles_.size() + tiles_.size() / 8 + 8);
        t = find_or_add(tile_of(cell));
    }
    if (end_tile() != before) order_.clear();
    Tile& tile = tiles_[t];
    const int bit = bit_of(cell);
    const Word one = Word(1) << bit;
    assert(!(tile.exists & one));
    for_each_direction([&]<int D>() {
        const Word across = moved_across<D>(one);
        if (!across || tile.nb[D] != kNullTile) return;
        const std::uint32_t n = beside(tile, D);
        if (!(tiles_[n].exists & across)) return;
        tile.nb[D] = n;
        tiles_[n].nb[D ^ 1] = t;
    });
    const std::uint32_t kind = kinds_.number(block.mass + 0.0, double(block.strength));
    if (!(tile.slots & one)) {
        // No room: the whole tile gets places of its own, so that this happens to it once only.
        const std::uint32_t base = slot_count();
        grow_to(kind_, base + 64);
        for (Word rest = tile.slots; rest; rest &= rest - 1) {
            const int b = std::countr_zero(rest);
            kind_[base + std::uint32_t(b)] = kind_[index_in(tile, b)];
        }
        tile.base = base;
        tile.slots = ~Word(0);
    }
    kind_[index_in(tile, bit)] = kind;
    if (tile.exists == 0)
        tile.kind = kind;
    else if (tile.kind != kind)
        tile.kind = kMixedKinds;
    tile.exists |= one;
    blocks_++;
    if (block.support) {
        tile.support |= one;
        supports_++;
    }
    const double strength = double(block.strength);
    min_strength_ = strength < min_strength_ ? strength : min_strength_;
}

void Tiles::sort_order() {
    if (order_.size() + 1 == tiles_.size()) return;
    order_.resize(tiles_.size() - 1);
    for (std::uint32_t i = 0; i < order_.size(); i++) order_[i] = i + 1;
    const auto by_coord = [&](std::uint32_t a, std::uint32_t b) { return tiles_[a].coord < tiles_[b].coord; };
    if (!std::is_sorted(order_.begin(), order_.end(), by_coord))
        std::sort(order_.begin(), order_.end(), by_coord);
}

std::size_t Tiles::bytes() const {
    return tiles_.capacity() * sizeof(Tile) + (hash_.capacity() + kind_.capacity() + order_.capacity()) * 4 +
           std::size_t(kind_count()) * 2 * (sizeof(Kind) + 4);
}

}  // namespace talus::load
