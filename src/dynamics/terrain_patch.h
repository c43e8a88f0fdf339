// terrain_patch.h - the terrain around one body, as boxes and bits.
//
// Layer: dynamics. Metres about `origin`, a corner of cells near the body: the floats stay small wherever
// in the world the body is. Read in place from the grid's bricks, each time contacts are found; nothing is
// cached, so an edit needs no notice to be seen.
// Full cells are merged into few boxes, so that flat ground is one box whose seams do not exist; the bits
// of the cells around answer which faces are hidden. A patch has at most 62 cells an axis (a row of bits is
// one word with a border cell on each side): bigger regions are taken in several patches.
// Determinism: boxes come in an order fixed by the cells alone.
// Tests: tests/dynamics/terrain_contact_test.cpp
#pragma once

#include "dynamics/solid_part.h"
#include "talus/grid.h"
#include "talus/terrain.h"

#include <span>
#include <vector>

namespace talus {

/// What the world is made of for a space.
struct WorldSolids {
    const Grid* grid = nullptr;
    float cell_size = 1;
    bool has_ground = false;
    double ground = 0;  ///< solid below this height
    float ground_friction = 0.6f;
    const SmoothGround* smooth = nullptr;
    float smooth_friction = 0.6f;

    bool whole =
        true;  ///< false: the grid only holds what is within a cell of the bodies (Space::set_terrain)

    bool any() const { return grid || has_ground || smooth; }
    /// A lower bound of the distance from a box to any block or the ground plane, by what the bricks near it
    /// hold; at most `most`.
    float free_distance(DVec3 lo, DVec3 hi, float most) const;
};

/// The cells of a brick between its least and greatest solid ones, from its corner; empty if there are none.
CellBox solid_bounds(const Brick& brick);

class TerrainPatch {
 public:
    static constexpr int kMostCells = 62;

    std::vector<CollisionBox> solids;
    DVec3 origin;

    /// @param cells  at most kMostCells an axis, not empty
    /// @param pass_soft  leave soft blocks out
    /// @param lo,hi  the region, about origin: the ground is a box under it
    /// @param only  within `cells`: what becomes boxes; none: all
    void gather(const WorldSolids& world, DVec3 origin, Cell origin_cell, const CellBox& cells,
                bool pass_soft, Vec3 lo, Vec3 hi, std::span<const CellBox> only = {});

    bool solid_at(Vec3 p) const;
    /// Friction of the block at a place on or just inside a surface.
    float friction_at(const WorldSolids& world, Cell origin_cell, Vec3 p) const;

 private:
    bool full(int x, int y, int z) const {  // cells from the patch's border corner
        if (unsigned(x) >= unsigned(nx_) || unsigned(y) >= unsigned(ny_) || unsigned(z) >= unsigned(nz_))
            return false;
        return (rows_[std::size_t(y * nz_ + z)] >> x) & 1;
    }
    void add_full_boxes(Cell first, std::span<const CellBox> only);
    void add_odd_boxes(const WorldSolids& world, const CellBox& cells, Cell origin_cell, bool pass_soft,
                       std::span<const CellBox> only);

    int nx_ = 0, ny_ = 0, nz_ = 0;  // with the border
    Cell corner_;                   // of the border, from the origin's cell
    float cell_size_ = 1, inverse_cell_size_ = 1;
    bool has_ground_ = false, has_cells_ = false;
    float ground_ = 0;                        // about origin
    std::vector<std::uint64_t> rows_, left_;  // bit x of row y nz + z; left_: still to become boxes
    std::vector<CollisionBox> odd_;
};

/// f(part) for each part of a region that fits into one patch, in a fixed order. Without blocks all of it
/// does.
template <class F>
void each_tile(const WorldSolids& world, Cell first, Cell last, F&& f) {
    if (!world.grid) return void(f(CellBox{first, last}));
    constexpr int kTile = TerrainPatch::kMostCells;
    constexpr double kManyTiles = 1000;
    const double tiles = (1 + (double(last.x) - first.x) / kTile) * (1 + (double(last.y) - first.y) / kTile) *
                         (1 + (double(last.z) - first.z) / kTile);
    if (tiles > kManyTiles && tiles > double(world.grid->bricks().size())) {
        // A body of millions of cells: brick by brick, and once for the ground plane.
        if (world.has_ground) f(CellBox{first, first});
        for (const Brick* brick : world.grid->bricks()) {
            const Cell o = brick->origin();
            if (o.x <= last.x && o.y <= last.y && o.z <= last.z && o.x + 7 >= first.x && o.y + 7 >= first.y &&
                o.z + 7 >= first.z)
                f(CellBox{o, o + Cell{7, 7, 7}});
        }
        return;
    }
    auto end = [](int from, int most) { return from + kTile - 1 < most ? from + kTile - 1 : most; };
    for (int y = first.y; y <= last.y; y += kTile)
        for (int z = first.z; z <= last.z; z += kTile)
            for (int x = first.x; x <= last.x; x += kTile)
                f(CellBox{{x, y, z}, {end(x, last.x), end(y, last.y), end(z, last.z)}});
}

}  // namespace talus
