#include "world/level_state.h"

#include <algorithm>

namespace talus {

namespace {

constexpr int kSlipperyTicks = 40;

/// Does any block weigh anything? The first one mostly does.
bool has_weight(const Grid& grid) {
    for (const Brick* brick : grid.bricks())
        for (int y = 0; y < 8; y++)
            for (std::uint64_t bits = brick->any[y]; bits; bits &= bits - 1) {
                const BlockType& type = grid.table()[brick->ids[64 * y + __builtin_ctzll(bits)]];
                if (type.material.density > 0 && type.shape.volume() > 0) return true;
            }
    return false;
}

/// Takes blocks out of the world that cannot be a body, and tells of each.
/// @param group  what they came off, or were; none: terrain
void discard_blocks(LevelState& level, const Grid& grid, const Pose& pose, GroupId group) {
    const float e = level.settings.cell_size;
    const DVec3 half{0.5, 0.5, 0.5};
    const Cell origin = group.index == 0 ? to_cell(pose.position / double(e) + half) : Cell{};
    level.destroyed += grid.block_count();
    grid.for_each([&](Cell c, BlockId block) {
        const Vec3 middle{(float(c.x) + 0.5f) * e, (float(c.y) + 0.5f) * e, (float(c.z) + 0.5f) * e};
        level.events.push_back({.kind = LevelEvent::Kind::block_destroyed,
                                .group = group,
                                .cell = c + origin,
                                .block = block,
                                .cause = Cause::script,
                                .point = to_world(pose, middle)});
    });
}

}  // namespace

void make_piece(LevelState& level, Piece piece, Build& from, bool by_force) {
    const std::size_t blocks = piece.grid.block_count();
    const GroupView view = from.view();
    if (!has_weight(piece.grid)) {
        discard_blocks(level, piece.grid, piece.settings.group.pose, view.id);
        return;
    }
    PieceSettings& s = piece.settings;
    s.group.structure_mode = from.mode;
    if (from.kind) s.group.type = from.kind->first;
    s.slippery = by_force;
    s.is_debris = by_force && int(blocks) <= level.settings.debris_max_blocks;
    if (view.type) view.type->new_piece(view, piece.grid, s);
    Group* group = create_group(level, std::move(piece.grid), std::move(piece.joins), s.group);
    LevelEvent& added = level.events.back();
    added.parent = view.id;
    if (!view.body.exists()) added.structure = static_cast<const Structure&>(from).id;
    group->wear = std::move(piece.wear);
    group->whole_look = false;
    group->is_debris = s.is_debris;
    group->came_off = by_force;
    if (s.slippery) {
        group->slippery_until = level.tick + kSlipperyTicks;
        group->body.set_friction(kSlipperyFriction);
    }
}

void split_off(LevelState& level, Group& group, std::vector<std::vector<Cell>>& parts, bool by_force) {
    const Pose pose = group.body.pose();
    for (const auto& cells : parts) {
        Piece piece{Grid(level.table), {}, {}, {}};
        for (Cell c : cells) piece.grid.set(c, group.grid.get(c));
        piece.joins = group.joins.for_part(piece.grid);
        for (Cell c : cells) {
            if (const float* wear = group.wear.find(c)) piece.wear[c] = *wear;
            take_block(level, group, c, Cause::script, false);
        }
        GroupSettings& moving = piece.settings.group;
        moving.pose = pose;
        // The velocity of the rigid motion at the part's own centre: momentum is conserved.
        const auto properties = to_mass_properties(sum_moments(piece.grid, level.settings.cell_size));
        const DVec3 center = properties ? group.body.to_world(to_float(properties->center)) : pose.position;
        moving.velocity = group.body.velocity_at(center);
        moving.spin = group.body.spin();
        moving.bears_load = group.bears_load;
        make_piece(level, std::move(piece), group, by_force);
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
    drop(group.removed_solids);
    const bool by_force = group.broke_off;
    group.broke_off = false;
    if (by_force && group.came_off && !group.is_debris)
        group.is_debris = int(group.grid.block_count()) <= level.settings.debris_max_blocks;
    if (!parts.empty()) {
        split_off(level, group, parts, by_force);
        if (group.bears()) group.check_wanted = true;
    }
    return keep_solids(level, group);
}

bool keep_solids(LevelState& level, Group& group) {
    auto weighs = [&](const Group& g) { return g.grid.solid_count() > 0 && has_weight(g.grid); };
    if (weighs(group)) return true;
    const GroupId id = group.id;
    bool drops = group.grid.solid_count() == 0;
    if (GroupType* type = group.type(); drops && type) {
        drops = !type->no_solids_left(level.self, id);
        Group* still = level.find(id);
        if (!still) return false;
        if (weighs(*still)) return true;
    }
    discard_blocks(level, group.grid, group.body.pose(), id);
    if (drops)
        group.grid.for_each([&](Cell cell, BlockId block) {
            drop_block(level, block, Cause::script, block_center(level, group, cell));
        });
    destroy_group(level, group);
    return false;
}

}  // namespace talus
