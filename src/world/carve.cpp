#include "world/level_state.h"

#include <algorithm>

namespace talus {

namespace {

/// Every block of the bricks whose bounding sphere meets the box; place(cell) gives its centre in the world.
template <class Place>
std::vector<Cell> cells_inside(const LevelState& level, const Grid& grid, const DBox& bounds, Place&& place,
                               const std::function<bool(DVec3)>& inside) {
    std::vector<Cell> out;
    const double cell_size = level.settings.cell_size;
    const double radius = 0.87 * kBrickEdge * cell_size;  // half the diagonal of a brick, rounded up
    for (const Brick* brick : grid.bricks()) {
        const DVec3 middle =
            place(to_double(Vec3{float(brick->coord.x) * 8 + 4, float(brick->coord.y) * 8 + 4,
                                 float(brick->coord.z) * 8 + 4}) *
                  cell_size);
        const DVec3 r{radius, radius, radius};
        if (!overlaps({middle - r, middle + r}, bounds)) continue;
        for (int y = 0; y < 8; y++)
            for (std::uint64_t bits = brick->any[y]; bits; bits &= bits - 1) {
                const Cell cell = cell_in_brick(*brick, 64 * y + __builtin_ctzll(bits));
                const DVec3 center = place(cell_center(level, cell));
                if (bounds.contains(center) && inside(center)) out.push_back(cell);
            }
    }
    return out;
}

}  // namespace

std::size_t carve_where(LevelState& level, const DBox& bounds, const std::function<bool(DVec3)>& inside) {
    if (!is_finite(bounds.min) || !is_finite(bounds.max)) return 0;
    const double e = level.settings.cell_size;
    const DVec3 lo = bounds.min / e, hi = bounds.max / e;
    if (level.host_terrain && is_cell(lo) && is_cell(hi))
        level.host_terrain->bring({to_cell(lo), to_cell(hi)});
    std::size_t removed = 0;
    for (Cell cell : cells_inside(
             level, level.terrain(), bounds, [](DVec3 p) { return p; }, inside)) {
        if (!may_break(level, level.terrain().get(cell), cell_center(level, cell), Cause::carve)) continue;
        change_terrain(level, cell, kAir, Cause::carve);
        if (!level.terrain().has(cell)) removed++;  // a host may have refused
    }
    tell_terrain_changes(level);
    for (GroupId id : level.ids()) {
        Group* found = level.find(id);  // a hook of another's type may have taken it away
        if (!found) continue;
        Group& group = *found;
        if (!overlaps(group.body.bounds(), bounds)) continue;
        const auto place = [&](DVec3 p) { return group.body.to_world(to_float(p)); };
        for (Cell cell : cells_inside(level, group.grid, bounds, place, inside)) {
            if (!may_break(level, group.grid.get(cell), block_center(level, group, cell), Cause::carve))
                continue;
            take_block(level, group, cell, Cause::carve);
            removed++;
        }
        keep_solids(level, group);
    }
    return removed;
}

}  // namespace talus
