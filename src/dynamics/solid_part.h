// solid_part.h - boxes that belong together, and which places among them are solid.
//
// Layer: dynamics. Metres, about the part's origin (shape.h: the shape's reference, or a brick's corner).
// Determinism: boxes come in an order fixed by the cells alone.
// Tests: tests/dynamics/shape_test.cpp, shape_edit_test.cpp
//
// A contact found on a box is real only where the box borders on nothing: a face shared with another box
// must not push. Two answers are kept for that. `cover` marks the faces that are wholly hidden by other
// boxes: never a face to push from. solid_at() answers for a point: from a bit for each full cell (one word
// for pieces of at most 64 cells), then from the boxes that do not fill their cells.
// A hash of cells was rejected (a bit test is ten times as fast); distance fields too (edits are costly).
#pragma once

#include "dynamics/cell_rows.h"
#include "talus/blocks.h"
#include "talus/math.h"
#include "talus/space.h"

#include <cstdint>
#include <span>
#include <vector>

namespace talus {

struct CollisionBox {
    Vec3 center, half;
    std::uint32_t cover = 0;  ///< face_bit of each face wholly hidden by other boxes
    float friction = -1;      ///< negative: the body's
};

/// Bounds of kGroup boxes that follow each other (boxes come in the order of their cells, so they lie
/// together).
struct BoxGroup {
    static constexpr std::size_t kSize = 8;
    Vec3 lo, hi;
};

/// How far apart two bounds are along the axis that parts them most; negative: they overlap.
inline float gap_between(Vec3 lo, Vec3 hi, Vec3 center, Vec3 extent) {
    const Vec3 above = center - extent - hi, below = lo - center - extent;
    const Vec3 apart = max(above, below);
    const float across = apart.x > apart.y ? apart.x : apart.y;
    return across > apart.z ? across : apart.z;
}

/// Full cells as bits.
struct Occupancy {
    Cell origin;  ///< of bit 0, in cells from the part's origin
    std::int32_t nx = 0, ny = 0, nz = 0;
    float cell_size = 1, inverse_cell_size = 1;
    std::vector<std::uint64_t> words;  ///< bit x + nx (z + nz y)

    bool at(int x, int y, int z) const {
        x -= origin.x, y -= origin.y, z -= origin.z;
        // One branch: which of them fails cannot be foreseen.
        if ((unsigned(x) >= unsigned(nx)) | (unsigned(y) >= unsigned(ny)) | (unsigned(z) >= unsigned(nz)))
            return false;
        const auto i = std::size_t(x) + std::size_t(nx) * (std::size_t(z) + std::size_t(nz) * std::size_t(y));
        return (words[i >> 6] >> (i & 63)) & 1;
    }
    void set(int x, int y, int z) {
        x -= origin.x, y -= origin.y, z -= origin.z;
        const auto i = std::size_t(x) + std::size_t(nx) * (std::size_t(z) + std::size_t(nz) * std::size_t(y));
        words[i >> 6] |= std::uint64_t(1) << (i & 63);
    }
    void clear(int x, int y, int z) {
        x -= origin.x, y -= origin.y, z -= origin.z;
        const auto i = std::size_t(x) + std::size_t(nx) * (std::size_t(z) + std::size_t(nz) * std::size_t(y));
        words[i >> 6] &= ~(std::uint64_t(1) << (i & 63));
    }
};

/// Boxes that belong together, and which places among them are solid; coordinates about the part's origin.
struct SolidPart {
    std::vector<CollisionBox> solids;  ///< what collides
    std::vector<BoxGroup> groups;      ///< of solids, where there are many
    Vec3 lo, hi;                       ///< bounds of `solids`
    float thickness = 0;               ///< smallest edge of any solid

    bool has_cells = false;
    Occupancy cells;
    std::vector<CollisionBox> odd;        ///< boxes that do not fill their cell, one by one, not merged
    std::vector<std::uint64_t> odd_cell;  ///< parallel to `odd`, sorted: key of its cell (0 without cells)
    struct OddBlock {
        Cell cell;  ///< from the part's origin
        BlockId id;
    };
    std::vector<OddBlock> odd_blocks;  ///< whose boxes `odd` are, by cell

    /// Is this place inside any solid of this part?
    bool solid_at(Vec3 p) const;
    bool odd_at(Vec3 p) const;
    /// Bounds, groups and thickness from `solids`.
    void measure();
};

inline bool contains(const CollisionBox& box, Vec3 p) {
    const Vec3 d = p - box.center;
    return std::fabs(d.x) < box.half.x && std::fabs(d.y) < box.half.y && std::fabs(d.z) < box.half.z;
}

inline bool SolidPart::solid_at(Vec3 p) const {
    if (has_cells) {
        const float s = cells.inverse_cell_size;
        if (cells.at(int(std::floor(p.x * s)), int(std::floor(p.y * s)), int(std::floor(p.z * s))))
            return true;
    }
    return !odd.empty() && odd_at(p);
}

/// Boxes of the types that do not fill their cell, kept because a shape may outlive its table.
struct OddType {
    BlockId id;
    std::vector<Box> boxes;
};

/// Orders odd blocks by cell: how they are kept.
inline bool operator<(const SolidPart::OddBlock& a, const SolidPart::OddBlock& b) { return a.cell < b.cell; }

/// Boxes thinner than 0.06 m on an axis get that, about their middle.
Box padded(Box box);
CollisionBox to_collision(const Box& box, DVec3 origin, float friction);
/// Joins boxes that share a whole face until none is left.
void merge_boxes(std::vector<ShapeBox>& boxes);
/// Marks the faces of solids[first ..] that others of those hide.
void cover_boxes(std::vector<CollisionBox>& solids, std::size_t first);

/// Makes the boxes of a part anew from its `cells` and `odd_blocks`.
/// @param rows  as in merge_rows: the part's cells with a border of one around
void build_part(SolidPart& part, std::span<const OddType> types, std::span<const std::uint64_t> rows);

}  // namespace talus
