// shape.h - what a BodyShape holds: boxes to collide with, which places are solid, and mass sums.
//
// Layer: dynamics. Metres, in the shape's frame moved to `reference` (a corner of cells near the middle), so
// that floats stay exact for groups far from their grid's origin.
// Determinism: boxes come in an order fixed by the shape alone.
// Tests: tests/dynamics/shape_test.cpp
//
// A contact found on a box is real only where the box borders on nothing: a face shared with another box
// must not push. Two answers are kept for that. `cover` marks the faces that are wholly hidden by other
// boxes: never a face to push from. solid_at() answers for a point: from a bit for each full cell (one word
// for pieces of at most 64 cells), then from the boxes that do not fill their cells.
// A hash of cells was rejected (a bit test is ten times as fast); distance fields too (edits are costly).
#pragma once

#include "dynamics/mass_sums.h"
#include "talus/space.h"

#include <cstdint>
#include <vector>

namespace talus {

/// Faces are numbered 2 axis + (1 for the positive side).
constexpr unsigned face_bit(int axis, bool positive) { return 1u << (2 * axis + (positive ? 1 : 0)); }

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
    float gap = -1e9f;
    for (int k = 0; k < 3; k++) {
        const float above = center[k] - extent[k] - hi[k], below = lo[k] - center[k] - extent[k];
        gap = above > gap ? above : gap;
        gap = below > gap ? below : gap;
    }
    return gap;
}

/// Full cells as bits.
struct Occupancy {
    Cell origin;  ///< of bit 0, in cells from the reference
    std::int32_t nx = 0, ny = 0, nz = 0;
    float cell_size = 1, inverse_cell_size = 1;
    std::vector<std::uint64_t> words;  ///< bit x + nx (z + nz y)

    bool at(int x, int y, int z) const {
        x -= origin.x, y -= origin.y, z -= origin.z;
        if (unsigned(x) >= unsigned(nx) || unsigned(y) >= unsigned(ny) || unsigned(z) >= unsigned(nz))
            return false;
        const auto i = std::size_t(x) + std::size_t(nx) * (std::size_t(z) + std::size_t(nz) * std::size_t(y));
        return (words[i >> 6] >> (i & 63)) & 1;
    }
    void set(int x, int y, int z) {
        x -= origin.x, y -= origin.y, z -= origin.z;
        const auto i = std::size_t(x) + std::size_t(nx) * (std::size_t(z) + std::size_t(nz) * std::size_t(y));
        words[i >> 6] |= std::uint64_t(1) << (i & 63);
    }
};

/// A new field is listed in archive.cpp too.
struct BodyShape::Data {
    std::vector<ShapeBox> boxes;       ///< as seen by users, in the shape's own frame
    std::vector<CollisionBox> solids;  ///< what collides, about `reference`
    std::vector<BoxGroup> groups;      ///< of solids, where there are many
    DVec3 reference;                   ///< in the shape's frame
    Vec3 lo, hi;                       ///< bounds of `solids`, about `reference`
    float thickness = 0;               ///< smallest edge of any solid
    float round_radius = 0;            ///< of a ball or capsule along y; `solids` is then the box around it
    float round_half = 0;              ///< half length of the capsule's core
    double volume = 0;
    float mean_friction = -1;  ///< of the blocks, by volume; negative: no blocks
    MassSums own, unit;        ///< boxes with their own density; the others at density 1

    bool has_cells = false;
    Occupancy cells;
    std::vector<CollisionBox> odd;        ///< boxes that do not fill their cell, one by one, not merged
    std::vector<std::uint64_t> odd_cell;  ///< parallel to `odd`, sorted: key of its cell (0 without cells)

    static BodyShape shape_of(std::shared_ptr<const Data> data) {
        BodyShape shape;
        shape.data_ = std::move(data);
        return shape;
    }
    bool is_round() const { return round_radius > 0; }
    bool only_box() const { return solids.size() == 1; }
    /// Is this place inside any solid? `p` about the reference.
    bool solid_at(Vec3 p) const;
    bool odd_at(Vec3 p) const;
};

inline bool contains(const CollisionBox& box, Vec3 p) {
    const Vec3 d = p - box.center;
    return std::fabs(d.x) < box.half.x && std::fabs(d.y) < box.half.y && std::fabs(d.z) < box.half.z;
}

inline bool BodyShape::Data::solid_at(Vec3 p) const {
    if (has_cells) {
        const float s = cells.inverse_cell_size;
        if (cells.at(int(std::floor(p.x * s)), int(std::floor(p.y * s)), int(std::floor(p.z * s))))
            return true;
    }
    return !odd.empty() && odd_at(p);
}

/// Fills `out` with the full cells of `bits` as few boxes (runs along x, then z, then y); coordinates in
/// cells from the occupancy's reference: min inclusive, max exclusive. Clears `bits`' words.
struct CellRun {
    Cell min, max;
};
void merge_cells(Occupancy& bits, std::vector<CellRun>& out);

}  // namespace talus
