// load_tiles.h - the blocks of a structure as bits, 64 cells to a word, and the tiles that hold them.
//
// Layer: structure (internal). A tile is one 8 x 8 layer of cells; only tiles that hold a block exist:
//
//     bit x + 8 z of a word        z    56 .. 63        nb[dir]: the tile next to this one if blocks
//                                  |     :     :        touch there, else the null tile, empty for ever
//                                  +--   0 ..  7 -> x   dir: 0 +x, 1 -x, 2 +y, 3 -y, 4 +z, 5 -z
//
// The doubles of a block lie at base + (number of blocks of the tile on lower bits), so nothing is stored
// for air and a neighbour is found with a shift and a population count. Rejected: six neighbour indices a
// block (24 bytes, and the bandwidth to read them), whole bricks of 8^3 (three of four layers of a building
// hold a few wall blocks only).
// Frame: *inner* axes, the caller's turned so that few tiles do (a wall one thick fills tiles that lie in
// it). Cells here are inner unless called outer. Determinism: tiles are sorted by (y, z, x) but for those
// added later; no answer depends on it. Tests: tests/structure/
#pragma once

#include "talus/math.h"
#include "talus/structure.h"

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace talus::load {

using Word = std::uint64_t;
constexpr Word kColumn0 = 0x0101010101010101u;  // x = 0
constexpr Word kColumn7 = kColumn0 << 7;        // x = 7

constexpr Cell kStep[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};

/// The bits moved by one cell towards D: those that stay in the tile ...
template <int D>
constexpr Word moved_inside(Word bits) {
    if constexpr (D == 0) return (bits & ~kColumn7) << 1;
    if constexpr (D == 1) return (bits & ~kColumn0) >> 1;
    if constexpr (D == 4) return bits << 8;
    if constexpr (D == 5) return bits >> 8;
    return 0;
}
/// ... and those that go over into the tile nb[D].
template <int D>
constexpr Word moved_across(Word bits) {
    if constexpr (D == 0) return (bits & kColumn7) >> 7;
    if constexpr (D == 1) return (bits & kColumn0) << 7;
    if constexpr (D == 4) return bits >> 56;
    if constexpr (D == 5) return bits << 56;
    return bits;
}
/// At each bit, the bit of the neighbour towards D; `own` of this tile, `next` of nb[D].
template <int D>
constexpr Word seen(Word own, Word next) {
    return moved_inside<D ^ 1>(own) | moved_across<D ^ 1>(next);
}

#define TALUS_INLINE_LAMBDA __attribute__((always_inline))

template <class F>
[[gnu::always_inline]] inline void for_each_bit(Word word, F&& f) {
    for (; word; word &= word - 1) f(std::countr_zero(word));
}

/// f.template operator()<D>() for the six directions. Inlined by order: the hot passes live on it, and in
/// some of them the compiler would think it too large.
template <class F>
[[gnu::always_inline]] inline void for_each_direction(F&& f) {
    f.template operator()<0>();
    f.template operator()<1>();
    f.template operator()<2>();
    f.template operator()<3>();
    f.template operator()<4>();
    f.template operator()<5>();
}

/// Longer by at most an eighth in reserve: memory counts.
template <class T>
void grow_to(std::vector<T>& list, std::size_t size) {
    if (size > list.capacity()) list.reserve(size + size / 8);
    list.resize(size);
}

constexpr std::uint32_t kMixedKinds = 0xffffffffu;

struct alignas(64) Tile {
    // What spreading reads of a neighbour.
    Word reached = 0;   // joined to a support in this round
    Word near[4] = {};  // not reached yet: to be so at distance 0..3 (mod 4) if nothing is nearer; of what is
                        // reached: three bits of its distance, and [3] what is still to be weighed. Later
                        // free for other use
    Word bond[3] = {};  // unbroken bond to the neighbour at +x, +y, +z

    // What weighing reads of a neighbour.
    Word flow[6] = {};       // the block passes load to its neighbour at dir
    Word slots = 0;          // has a place in the per-block arrays: what exists or once did
    std::uint32_t base = 0;  // of the per-block arrays
    std::uint32_t kind = 0;  // of all its blocks; kMixedKinds: see Tiles::kind_of

    std::uint32_t nb[6] = {};  // tiles of which a block touches one of these
    Word dirty = 0;  // to be weighed anew: flow in or out, or a load that comes in, may have changed
    Word support = 0;
    Word exists = 0;
    Cell coord;  // x, z in eights of cells
    std::uint32_t unused = 0;
};
static_assert(sizeof(Tile) == 192, "three lines of cache");

/// What blocks share: most structures have few kinds.
struct Kind {
    double mass = 0;
    double strength = 1;
};

/// Numbers the distinct pairs of mass and strength. Most inputs have a handful, so the last one found is
/// tried first and a small hash does the rest.
class Kinds {
 public:
    void clear();
    std::uint32_t number(double mass, double strength);
    std::span<const Kind> all() const { return kinds_; }

 private:
    std::size_t slot_of(double mass, double strength) const;
    void grow();
    std::vector<Kind> kinds_;
    std::vector<std::uint32_t> slots_;
    std::uint32_t last_ = 0;
};

constexpr std::uint32_t kNullTile = 0;

/// The blocks of one structure. Tiles are numbered from 1; 0 is the null tile.
class Tiles {
 public:
    void set(std::span<const StructureBlock> blocks);
    /// Takes the block out, bonds and flow untouched. @return false when there is none
    bool remove(Cell outer);
    /// Puts a block where none is. May move the tile's place in the per-block arrays (slot_count() grows).
    void place(const StructureBlock& block);

    std::uint32_t block_count() const { return blocks_; }
    /// Length of the per-block arrays.
    std::uint32_t slot_count() const { return std::uint32_t(kind_.size()); }
    std::uint32_t support_count() const { return supports_; }
    std::uint32_t end_tile() const { return std::uint32_t(tiles_.size()); }
    Tile& operator[](std::uint32_t t) { return tiles_[t]; }
    const Tile& operator[](std::uint32_t t) const { return tiles_[t]; }
    const Kind& kind(std::uint32_t number) const { return kinds_.all()[number]; }
    std::uint32_t kind_count() const { return std::uint32_t(kinds_.all().size()); }
    std::uint32_t kind_id(std::uint32_t index) const { return kind_[index]; }
    const Kind& kind_of(std::uint32_t index) const { return kinds_.all()[kind_[index]]; }
    double strength_of(const Tile& tile, int bit) const {
        return kind(tile.kind != kMixedKinds ? tile.kind : kind_[index_in(tile, bit)]).strength;
    }
    /// Of all blocks there were.
    double min_strength() const { return min_strength_; }

    bool is_turned() const { return turn_ != 0; }
    Cell inner(Cell outer) const {
        if (turn_ == 1) return {outer.z, outer.x, outer.y};
        if (turn_ == 2) return {outer.y, outer.z, outer.x};
        return outer;
    }
    Cell outer(Cell inner) const {
        if (turn_ == 1) return {inner.y, inner.z, inner.x};
        if (turn_ == 2) return {inner.z, inner.x, inner.y};
        return inner;
    }
    int inner_direction(int outer) const { return (outer / 2 + turn_) % 3 * 2 + outer % 2; }

    static std::uint32_t index_in(const Tile& tile, int bit) {
        return tile.base + std::uint32_t(std::popcount(tile.slots & ((Word(1) << bit) - 1)));
    }
    static Cell cell_at(const Tile& tile, int bit) {
        return {tile.coord.x * 8 + (bit & 7), tile.coord.y, tile.coord.z * 8 + (bit >> 3)};
    }
    /// @return the tile that holds the cell's place, the null tile when there is none
    std::uint32_t find(Cell cell) const { return lookup({cell.x >> 3, cell.y, cell.z >> 3}); }
    static int bit_of(Cell cell) { return (cell.x & 7) + 8 * (cell.z & 7); }

    /// The neighbour towards D of a block: its tile and bit.
    template <int D>
    std::pair<std::uint32_t, int> next_to(std::uint32_t t, int bit) const {
        if constexpr (D == 0)
            return (bit & 7) != 7 ? std::pair{t, bit + 1} : std::pair{tiles_[t].nb[0], bit - 7};
        if constexpr (D == 1)
            return (bit & 7) != 0 ? std::pair{t, bit - 1} : std::pair{tiles_[t].nb[1], bit + 7};
        if constexpr (D == 4) return bit < 56 ? std::pair{t, bit + 8} : std::pair{tiles_[t].nb[4], bit - 56};
        if constexpr (D == 5) return bit >= 8 ? std::pair{t, bit - 8} : std::pair{tiles_[t].nb[5], bit + 56};
        return {tiles_[t].nb[D], bit};
    }
    /// The bonds of the tile's blocks to their neighbours towards D.
    template <int D>
    Word bonds(const Tile& tile) const {
        if constexpr (D % 2 == 0) return tile.bond[D / 2];
        return seen<D>(tile.bond[D / 2], tiles_[tile.nb[D]].bond[D / 2]);
    }
    /// Every pair of face neighbours: bonds before anything broke, towards +axis.
    template <int A>
    Word all_bonds(const Tile& tile) const {
        return tile.exists & seen<2 * A>(tile.exists, tiles_[tile.nb[2 * A]].exists);
    }

    /// f(tile, bit) for the bits of word(tile), in order of cells: y, then z, then x.
    template <class W, class F>
    void for_each_in_order(W&& word, F&& f) {
        sort_order();
        for (std::size_t first = 0, end; first < order_.size(); first = end) {
            // Tiles side by side in x: their rows run through all of them.
            const Cell at = tiles_[order_[first]].coord;
            Word any = 0;
            for (end = first; end < order_.size(); end++) {
                const Tile& tile = tiles_[order_[end]];
                if (tile.coord.y != at.y || tile.coord.z != at.z) break;
                any |= word(tile);
            }
            for (int row = 0; row < 8; row++) {
                if (!(any >> 8 * row & 255)) continue;
                for (std::size_t i = first; i < end; i++) {
                    const Tile& tile = tiles_[order_[i]];
                    for (Word bits = word(tile) >> 8 * row & 255; bits; bits &= bits - 1)
                        f(tile, 8 * row + std::countr_zero(bits));
                }
            }
        }
    }

    std::size_t bytes() const;

 private:
    void start(int turn);
    void add_cells(std::span<const StructureBlock> blocks);
    void sort_order();
    std::uint32_t beside(const Tile& tile, int d) const;
    std::uint32_t lookup(Cell coord) const;
    void rehash(std::size_t slots);
    std::uint32_t find_or_add(Cell coord);

    int turn_ = 0;
    std::vector<Tile> tiles_{1};
    std::vector<std::uint32_t> order_;  // tiles sorted by coord
    std::vector<std::uint32_t> hash_;   // open addressing over tiles, a power of two
    std::vector<std::uint32_t> kind_;   // for each slot
    Kinds kinds_;
    std::uint32_t blocks_ = 0, supports_ = 0;
    double min_strength_ = 1;
};

}  // namespace talus::load
