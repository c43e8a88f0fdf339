#include "world/level_state.h"

#include <algorithm>

namespace talus {

namespace {

constexpr int kSlipperyTicks = 40;

}  // namespace

void split_off(LevelState& level, Group& group, std::vector<std::vector<Cell>>& parts, bool by_force) {
    const Pose pose = group.body.pose();
    for (const auto& cells : parts) {
        Grid grid(level.table);
        for (Cell c : cells) grid.set(c, group.grid.get(c));
        Joins joins = group.joins.for_part(grid);
        std::map<Cell, float> wear;
        for (Cell c : cells) {
            const auto it = group.wear.find(c);
            if (it != group.wear.end()) wear.insert(*it);
            take_block(level, group, c, Cause::script, false);
        }
        const MassMoments moments = sum_moments(grid, level.settings.cell_size);
        const auto properties = to_mass_properties(moments);
        if (!properties) {
            // A part that weighs nothing cannot move as a body: it is discarded (its blocks count as
            // destroyed).
            level.destroyed += cells.size();
            continue;
        }
        GroupSettings settings;
        settings.pose = pose;
        // The velocity of the rigid motion at the part's own centre: momentum is conserved.
        const DVec3 center = group.body.to_world(to_float(properties->center));
        settings.velocity = group.body.velocity_at(center);
        settings.spin = group.body.spin();
        settings.bears_load = group.bears_load;
        Group* piece = create_group(level, std::move(grid), std::move(joins), settings);
        piece->wear = std::move(wear);
        piece->whole_look = false;
        if (by_force) {
            piece->is_debris = int(cells.size()) <= level.settings.debris_max_blocks;
            piece->slippery_until = level.tick + kSlipperyTicks;
            piece->body.set_friction(kSlipperyFriction);
        }
    }
    parts.clear();
}

bool split_loose_parts(LevelState& level, Group& group) {
    if (!group.whole_look && group.removed_solids.empty()) return true;
    std::vector<std::vector<Cell>> parts;
    if (group.whole_look) {
        parts = find_loose_parts(group.grid, group.joins);
    } else {
        parts = find_split(group.grid, group.joins, group.removed_solids);
    }
    group.whole_look = false;
    group.removed_solids.clear();
    const bool by_force = group.broke_off;
    group.broke_off = false;
    if (!parts.empty()) {
        split_off(level, group, parts, by_force);
        if (group.bears_load) group.check_wanted = true;
    }
    return keep_solids(level, group);
}

bool keep_solids(LevelState& level, Group& group) {
    if (group.grid.solid_count() > 0 && group.moments.mass > 0) return true;
    level.destroyed += group.grid.block_count();
    destroy_group(level, group);
    return false;
}

}  // namespace talus
