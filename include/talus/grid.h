// grid.h - a sparse grid of blocks, for groups and terrain alike.
//
// Layer: grid. Cells are stored in bricks of 8 x 8 x 8, found through a hash of the brick's
// coordinates (or by looking at each, where there are few: most groups have one). A brick keeps occupancy
// apart from block ids, one 64-bit word for each layer:
//
//     word y of `solid`, bit x + 8 z          z
//     bit 0 = (x 0, z 0), bit 7 = (x 7, z 0)  | 56 .. 63
//     bit 8 = (x 0, z 1)                      |  :     :
//                                             +--0 ..  7-> x
//
// so that "is there anything above" is one shift-free AND and a flood fill moves 64 cells at a time.
// Dense arrays were rejected (a build in a large world is sparse), octrees too (an edit touches a path of
// nodes). Determinism: bricks() is in brick order (y, z, x), never in hash order. Not thread-safe for
// writing; reading from several threads is safe. Tests: tests/grid/grid_test.cpp
#pragma once

#include "talus/blocks.h"
#include "talus/math.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace talus {

constexpr int kBrickEdge = 8;

/// What lies in the cells of a brick that are not air, in as few bits a cell as the number of different ids
/// needs (0, 4 or 16): broken pieces are many, small and mostly of one material.
class BrickIds {
 public:
    BlockId operator[](int index) const {
        if (words_.empty()) return palette_[0];
        if (words_.size() == kPacked)
            return palette_[(words_[std::size_t(index) >> 4] >> (4 * (index & 15))) & 15];
        return BlockId(words_[std::size_t(index) >> 2] >> (16 * (index & 3)));
    }
    /// `any`: the brick's cells that are not air, before `index` is set to `id` (which is not air).
    void set(int index, BlockId id, const std::uint64_t (&any)[8]);

 private:
    static constexpr std::size_t kPacked = 512 / 16, kWide = 512 / 4;  // words
    void write(int index, std::uint64_t code);
    void widen(const std::uint64_t (&any)[8]);
    BlockId palette_[16] = {};
    std::uint8_t used_ = 0;             // of palette_
    std::vector<std::uint64_t> words_;  // none: every cell is palette_[0]
};

struct Brick {
    Cell coord;                   ///< in bricks: holds cells [8 coord, 8 coord + 7]
    std::uint32_t count = 0;      ///< cells that are not air
    std::uint64_t any[8] = {};    ///< not air
    std::uint64_t solid[8] = {};  ///< has collision
    std::uint64_t full[8] = {};   ///< solid, full cube, not soft
    BrickIds ids;                 ///< read with id_at()

    Cell origin() const { return {coord.x * 8, coord.y * 8, coord.z * 8}; }
    /// `index` as of index_in_brick(): x + 8 z + 64 y
    BlockId id_at(int index) const { return (any[index >> 6] >> (index & 63)) & 1 ? ids[index] : kAir; }
};

/// Floor division by 8 and the rest.
constexpr Cell brick_of(Cell c) { return {c.x >> 3, c.y >> 3, c.z >> 3}; }
constexpr int index_in_brick(Cell c) { return (c.x & 7) + 8 * (c.z & 7) + 64 * (c.y & 7); }
constexpr Cell cell_in_brick(const Brick& brick, int index) {
    return {brick.coord.x * 8 + (index & 7), brick.coord.y * 8 + (index >> 6),
            brick.coord.z * 8 + ((index >> 3) & 7)};
}
constexpr bool bit_at(const std::uint64_t (&layers)[8], int index) {
    return (layers[index >> 6] >> (index & 63)) & 1;
}

class Grid {
 public:
    /// `table` must outlive the grid and hold every id that is set.
    explicit Grid(const BlockTable& table) : table_(&table) {}
    Grid(const Grid& other);
    Grid& operator=(const Grid& other);
    Grid(Grid&& other) noexcept : Grid(*other.table_) { swap(other); }
    Grid& operator=(Grid&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Grid();
    void swap(Grid& other) noexcept;

    /// A hint that it is not looked into for long: a small one then takes some twenty bytes in place of its
    /// bricks, until somebody does. Nothing that it answers changes.
    void pack();

    const BlockTable& table() const { return *table_; }

    BlockId get(Cell cell) const;
    bool has(Cell cell) const { return get(cell) != kAir; }
    bool is_solid(Cell cell) const;
    /// Solid, a full cube and not soft.
    bool is_full(Cell cell) const;
    const BlockType& type_at(Cell cell) const { return (*table_)[get(cell)]; }

    /// @return what was there before. Pre (assert): id is in the table.
    BlockId set(Cell cell, BlockId id);
    BlockId clear(Cell cell) { return set(cell, kAir); }

    std::size_t block_count() const { return blocks_; }
    std::size_t solid_count() const { return solids_; }
    bool empty() const { return blocks_ == 0; }
    /// The tightest box around everything that is not air; empty box when empty. O(bricks).
    CellBox bounds() const;
    /// Grows by one with each change: a cheap test whether a copy is still true.
    std::uint64_t version() const { return version_; }
    /// Of the blocks and where they are: the same for the same content, however it came to be. Kept up to
    /// date by each change, so that reading it costs nothing.
    std::uint64_t content_hash() const { return content_; }

    /// Bricks that hold anything, sorted by (y, z, x) of their coordinates.
    std::span<const Brick* const> bricks() const;
    /// @return nullptr when no cell of that brick holds anything
    const Brick* find_brick(Cell brick_coord) const;

    /// f(cell, id) for every block, bricks in order, then y, z, x inside.
    template <class F>
    void for_each(F&& f) const {
        for (const Brick* brick : bricks())
            for (int y = 0; y < 8; y++)
                for (std::uint64_t bits = brick->any[y]; bits; bits &= bits - 1) {
                    const int i = 64 * y + __builtin_ctzll(bits);
                    f(cell_in_brick(*brick, i), brick->ids[i]);
                }
    }

 private:
    /// Owns its bricks. Sorted but for a tail of those that were made out of order since the last look.
    struct BrickList {
        std::vector<Brick*> all;
        std::size_t sorted = 0;
        BrickList() = default;
        BrickList(BrickList&& other) noexcept { swap(other); }
        BrickList& operator=(BrickList&& other) noexcept {
            swap(other);
            return *this;
        }
        ~BrickList();
        void swap(BrickList& other) noexcept {
            all.swap(other.all);
            std::swap(sorted, other.sorted);
        }
        void add(Brick* brick);
        void remove(Brick* brick);
        void sort();
    };
    void unpack() const;
    std::optional<CellBox> packed_bounds() const;  // nullopt: it is not packed any more
    Brick* find(Cell brick_coord) const;
    Brick* find_for_write(Cell brick_coord);
    Brick* make_brick(Cell brick_coord);
    void drop_brick(Brick* brick);
    void hash_all(std::size_t slots);
    void hash(Brick* brick);

    const BlockTable* table_;
    mutable BrickList bricks_;
    std::vector<Brick*> slots_;  // by hash of the coordinate, open addressing, a power of two; none while few
    Brick* last_written_ = nullptr;  // edits come in runs within a brick
    std::size_t blocks_ = 0, solids_ = 0;
    std::uint64_t version_ = 0;
    std::uint64_t content_ = 0;                           // sum over the blocks, modulo 2^64
    mutable std::atomic<std::uint8_t*> packed_{nullptr};  // then there are no bricks (packed_grid.cpp)
};

/// Where a ray first meets a block.
struct RayHit {
    Cell cell;
    Cell normal;         ///< face entered: one of the six axis directions; zero when the ray starts inside
    float distance = 0;  ///< along the (unit) direction, metres
};

/// Walks the cells along a ray and tests the boxes of each block on the way.
/// @param origin,direction  in the grid's frame, metres; direction of any length but zero
/// @param cell_size  metres
/// @param solids_only  pass through non-solid blocks
std::optional<RayHit> cast_ray(const Grid& grid, float cell_size, DVec3 origin, Vec3 direction,
                               float max_distance, bool solids_only = false);

// Limits of what is read from saves and snapshots, whoever wrote them.
constexpr std::size_t kMaxTypeBoxes = 64;                        ///< of one block type
constexpr std::size_t kMaxTypeName = 4096;                       ///< bytes
constexpr std::int32_t kMaxGroupCell = 65'536;                   ///< |x|, |y|, |z| in a group's frame
constexpr std::int32_t kMaxTerrainCell = 1 << 30;                ///< |x|, |y|, |z| of terrain
constexpr std::int64_t kMaxGroupBounds = std::int64_t(1) << 30;  ///< cells in the bounds of a group
constexpr std::int64_t kMaxAllBounds = std::int64_t(1) << 33;    ///< the same, of all groups

}  // namespace talus
