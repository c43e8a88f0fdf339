#include "dynamics/terrain_patch.h"

namespace talus {

CellBox solid_bounds(const Brick& brick) {
    std::uint64_t plan = 0;
    int bottom = 8, top = -1;
    for (int j = 0; j < 8; j++) {
        plan |= brick.solid[j];
        if (!brick.solid[j]) continue;
        bottom = j < bottom ? j : bottom;
        top = j;
    }
    if (!plan) return {};
    std::uint64_t row = plan | plan >> 32;
    row |= row >> 16;
    row = (row | row >> 8) & 0xff;
    return {{__builtin_ctzll(row), bottom, __builtin_ctzll(plan) >> 3},
            {63 - __builtin_clzll(row), top, (63 - __builtin_clzll(plan)) >> 3}};
}

float WorldSolids::free_distance(DVec3 lo, DVec3 hi, float most) const {
    float nearest = most;
    if (has_ground && lo.y - ground < double(nearest)) nearest = float(lo.y - ground);
    if (!grid || !(nearest > 0)) return nearest;
    const double edge = kBrickEdge * double(cell_size), reach = double(most);
    auto brick_at = [&](DVec3 p) {
        auto floor_to_int = [&](double x) {
            const double f = std::floor(x / edge);
            return f < -2e8 ? -200000000 : f > 2e8 ? 200000000 : int(f);
        };
        return Cell{floor_to_int(p.x), floor_to_int(p.y), floor_to_int(p.z)};
    };
    const DVec3 around{reach, reach, reach};
    const Cell first = brick_at(lo - around), last = brick_at(hi + around);
    for (int y = first.y; y <= last.y; y++)
        for (int z = first.z; z <= last.z; z++)
            for (int x = first.x; x <= last.x; x++) {
                const Brick* brick = grid->find_brick({x, y, z});
                if (!brick) continue;
                const CellBox solid = solid_bounds(*brick);
                if (solid.empty()) continue;
                const double size = double(cell_size);
                const DVec3 corner{x * edge, y * edge, z * edge};
                auto at = [&](Cell c) {
                    return corner + DVec3{double(c.x), double(c.y), double(c.z)} * size;
                };
                const DVec3 a = at(solid.min), b = at(solid.max + Cell{1, 1, 1});
                double gap = -1;
                for (int k = 0; k < 3; k++) {
                    gap = a[k] - hi[k] > gap ? a[k] - hi[k] : gap;
                    gap = lo[k] - b[k] > gap ? lo[k] - b[k] : gap;
                }
                if (gap < double(nearest)) nearest = float(gap);
                if (!(nearest > 0)) return nearest;
            }
    return nearest;
}

/// Is any of these boxes within a cell of a brick? True if there are none.
static bool borders_on(Cell brick, std::span<const CellBox> boxes) {
    auto apart = [](int at, int min, int max) { return (at + 1) * 8 < min || at * 8 > max + 1; };
    for (const CellBox& box : boxes)
        if (!apart(brick.x, box.min.x, box.max.x) && !apart(brick.y, box.min.y, box.max.y) &&
            !apart(brick.z, box.min.z, box.max.z))
            return true;
    return boxes.empty();
}

void TerrainPatch::gather(const WorldSolids& world, DVec3 at, Cell origin_cell, const CellBox& cells,
                          bool pass_soft, Vec3 lo, Vec3 hi, std::span<const CellBox> only) {
    origin = at;
    solids.clear();
    odd_.clear();
    cell_size_ = world.cell_size;
    inverse_cell_size_ = 1 / world.cell_size;
    has_cells_ = false;
    has_ground_ = world.has_ground;
    if (world.grid) {
        // The border ring only tells which faces are hidden.
        const Cell first = cells.min - Cell{1, 1, 1}, last = cells.max + Cell{1, 1, 1};
        nx_ = last.x - first.x + 1;
        ny_ = last.y - first.y + 1;
        nz_ = last.z - first.z + 1;
        corner_ = first - origin_cell;
        const std::uint64_t inside = nx_ == 64 ? ~0ull : (1ull << nx_) - 1;
        bool any_full = false, any_odd = false;
        const Cell b0 = brick_of(first), b1 = brick_of(last);
        for (int by = b0.y; by <= b1.y; by++)
            for (int bz = b0.z; bz <= b1.z; bz++)
                for (int bx = b0.x; bx <= b1.x; bx++) {
                    if (!borders_on({bx, by, bz}, only)) continue;
                    const Brick* brick = world.grid->find_brick({bx, by, bz});
                    if (!brick) continue;
                    if (!has_cells_) {
                        rows_.assign(std::size_t(ny_) * std::size_t(nz_), 0);
                        has_cells_ = true;
                    }
                    const int y0 = by * 8 < first.y ? first.y : by * 8,
                              y1 = by * 8 + 7 > last.y ? last.y : by * 8 + 7;
                    const int z0 = bz * 8 < first.z ? first.z : bz * 8,
                              z1 = bz * 8 + 7 > last.z ? last.z : bz * 8 + 7;
                    const int shift = bx * 8 - first.x;  // -7 .. 63
                    for (int y = y0; y <= y1; y++) {
                        const std::uint64_t layer = brick->full[y & 7];
                        if (brick->solid[y & 7] != layer) any_odd = true;
                        if (!layer) continue;
                        for (int z = z0; z <= z1; z++) {
                            const std::uint64_t row = (layer >> (8 * (z & 7))) & 0xff;
                            const std::uint64_t bits = (shift >= 0 ? row << shift : row >> -shift) & inside;
                            rows_[std::size_t((y - first.y) * nz_ + z - first.z)] |= bits;
                            any_full |= bits != 0;
                        }
                    }
                }
        if (any_full) add_full_boxes(first, only);
        if (any_odd) add_odd_boxes(world, cells, origin_cell, pass_soft, only);
    }
    if (has_ground_) {
        ground_ = float(world.ground - at.y);
        if (lo.y < ground_) {
            constexpr float kDeep = 20;  // thick enough that the way out is always up
            const Vec3 margin{8, 0, 8};
            const float bottom = (lo.y < ground_ ? lo.y : ground_) - kDeep;
            const Vec3 a = Vec3{lo.x, bottom, lo.z} - margin, b = Vec3{hi.x, ground_, hi.z} + margin;
            CollisionBox box{(a + b) * 0.5f, (b - a) * 0.5f};
            box.cover = kAllFaces & ~face_bit(1, true);
            solids.push_back(box);
        }
    }
}

/// @param first  of the border
void TerrainPatch::add_full_boxes(Cell first, std::span<const CellBox> only) {
    if (only.empty()) {
        left_.resize(rows_.size());
        take_all_rows(rows_.data(), left_.data(), nx_, ny_, nz_);
    } else {
        left_.assign(rows_.size(), 0);
    }
    for (const CellBox& box : only) {
        const Cell a = box.min - first, b = box.max - first;
        const std::uint64_t bits = (2ull << b.x) - (1ull << a.x);
        for (int y = a.y; y <= b.y; y++)
            for (int z = a.z; z <= b.z; z++) {
                const auto i = std::size_t(y * nz_ + z);
                left_[i] |= rows_[i] & bits;
            }
    }
    auto corner = [&](Cell c) {
        const Cell p = c + corner_;
        return Vec3{float(p.x) * cell_size_, float(p.y) * cell_size_, float(p.z) * cell_size_};
    };
    merge_rows(rows_.data(), left_.data(), ny_, nz_, [&](Cell first, Cell end, std::uint32_t cover) {
        if (cover == kAllFaces) return;  // buried: costs nothing
        const Vec3 lo = corner(first), hi = corner(end);
        solids.push_back({(lo + hi) * 0.5f, (hi - lo) * 0.5f, cover});
    });
}

void TerrainPatch::add_odd_boxes(const WorldSolids& world, const CellBox& cells, Cell origin_cell,
                                 bool pass_soft, std::span<const CellBox> only) {
    const auto wanted = [only](Cell c) {
        for (const CellBox& box : only)
            if (box.contains(c)) return true;
        return only.empty();
    };
    const BlockTable& table = world.grid->table();
    const Cell b0 = brick_of(cells.min), b1 = brick_of(cells.max);
    for (int by = b0.y; by <= b1.y; by++)
        for (int bz = b0.z; bz <= b1.z; bz++)
            for (int bx = b0.x; bx <= b1.x; bx++) {
                const Brick* brick = world.grid->find_brick({bx, by, bz});
                if (!brick) continue;
                for (int y = 0; y < 8; y++)
                    for (std::uint64_t bits = brick->solid[y] & ~brick->full[y]; bits; bits &= bits - 1) {
                        const int index = 64 * y + __builtin_ctzll(bits);
                        const Cell c = cell_in_brick(*brick, index);
                        if (!cells.contains(c) || !wanted(c)) continue;
                        const BlockId id = brick->ids[index];
                        if (pass_soft && table.flags(id).soft) continue;
                        const Cell r = c - origin_cell;
                        const Vec3 o{float(r.x), float(r.y), float(r.z)};
                        for (const Box& b : table[id].shape.boxes()) {
                            CollisionBox box{((b.min + b.max) * 0.5f + o) * cell_size_,
                                             (b.max - b.min) * (0.5f * cell_size_)};
                            const Cell p = r - corner_;
                            for (int k = 0; k < 3; k++)
                                for (int side = 0; side < 2; side++) {
                                    if (side ? b.max[k] < 1 : b.min[k] > 0) continue;
                                    const int d = side ? 1 : -1;
                                    if (full(p.x + (k == 0 ? d : 0), p.y + (k == 1 ? d : 0),
                                             p.z + (k == 2 ? d : 0)))
                                        box.cover |= face_bit(k, side != 0);
                                }
                            if (box.cover == kAllFaces) continue;
                            solids.push_back(box);
                            odd_.push_back(box);
                        }
                    }
            }
}

bool TerrainPatch::solid_at(Vec3 p) const {
    if (has_ground_ && p.y < ground_) return true;
    if (has_cells_) {
        const float s = inverse_cell_size_;
        if (full(int(std::floor(p.x * s)) - corner_.x, int(std::floor(p.y * s)) - corner_.y,
                 int(std::floor(p.z * s)) - corner_.z))
            return true;
    }
    for (const CollisionBox& b : odd_)
        if (contains(b, p)) return true;
    return false;
}

float TerrainPatch::friction_at(const WorldSolids& world, Cell origin_cell, Vec3 p) const {
    if (world.grid) {
        const float s = inverse_cell_size_;
        const Cell c =
            origin_cell + Cell{int(std::floor(p.x * s)), int(std::floor(p.y * s)), int(std::floor(p.z * s))};
        const BlockId id = world.grid->get(c);
        if (id != kAir) return world.grid->table()[id].material.friction;
    }
    return has_ground_ ? world.ground_friction : 0.6f;
}

}  // namespace talus
