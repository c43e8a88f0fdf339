#include "dynamics/shape.h"
#include "world/level_state.h"
#include "world/structure_check.h"

#include <algorithm>
#include <cassert>

namespace talus {

Build::Build(Grid blocks) : grid(std::move(blocks)) {}
Build::~Build() = default;

Group* LevelState::find(GroupId id) {
    if (id.index == 0 || id.index > slots.size() || generations[id.index - 1] != id.generation)
        return nullptr;
    return slots[id.index - 1].get();
}

Group* LevelState::group_of(BodyId id) {
    if (id.index >= slot_of_body.size() || slot_of_body[id.index] >= slots.size()) return nullptr;
    Group* group = slots[slot_of_body[id.index]].get();
    return group && group->body.id() == id ? group : nullptr;
}

Group* LevelState::owner_of(const Body& body) {
    Group* group = group_of(body.id());
    return group && group->body == body ? group : nullptr;
}

void LevelState::know_body(const Group& group) {
    const std::size_t index = group.body.id().index;
    if (index >= slot_of_body.size()) slot_of_body.resize(index + 1, UINT32_MAX);
    slot_of_body[index] = group.id.index - 1;
}

std::vector<GroupId> LevelState::ids() const {
    std::vector<GroupId> out;
    for (const auto& slot : slots)
        if (slot) out.push_back(slot->id);
    return out;
}

namespace {

constexpr std::size_t kFewBlocks = 8;       // of a group whose shape may be that of others too
constexpr std::uint64_t kShapesEvery = 64;  // ticks, until those shapes that nobody has any more go

/// Are these the solids and the masses of that shape?
bool is_shape_of(const BodyShape& shape, const Grid& grid) {
    const BodyShape::Data& d = *shape.data();
    BlockSums sums;
    sums.add(grid);
    if (!(sums == d.sums)) return false;
    const std::vector<SolidBlock> solids = d.blocks();
    return solids.size() == grid.solid_count() &&
           std::all_of(solids.begin(), solids.end(), [&](const SolidBlock& s) {
               return grid.is_solid(s.cell) && (s.odd == kAir || s.odd == grid.get(s.cell));
           });
}

}  // namespace

BodyShape shape_of(LevelState& level, const Grid& grid) {
    if (grid.block_count() > kFewBlocks) return BodyShape::from_grid(grid, level.settings.cell_size);
    BodyShape& known = level.small_shapes[grid.content_hash()];
    if (!is_shape_of(known, grid)) known = BodyShape::from_grid(grid, level.settings.cell_size);
    return known;
}

void forget_shapes(LevelState& level) {
    if (level.tick % kShapesEvery == 0)
        std::erase_if(level.small_shapes, [](const auto& entry) { return !entry.second.is_shared(); });
}

Group* create_group(LevelState& level, Grid grid, Joins joins, const GroupSettings& settings) {
    assert(&grid.table() == &level.table);
    if (grid.empty()) return nullptr;
    std::uint32_t index;
    if (!level.free_slots.empty()) {
        index = level.free_slots.back();
        level.free_slots.pop_back();
    } else {
        index = std::uint32_t(level.slots.size());
        level.slots.emplace_back();
        level.generations.push_back(0);
    }
    level.slots[index] = std::make_unique<Group>(std::move(grid));
    Group& group = *level.slots[index];
    group.id = {index + 1, ++level.generations[index]};
    group.joins = std::move(joins);
    group.bears_load = settings.bears_load;
    group.mode = settings.structure_mode;
    group.kind = find_kind(level, settings.type);
    group.created_tick = level.tick;

    BodySettings body;
    body.pose = settings.pose;
    body.velocity = settings.velocity;
    body.spin = settings.spin;
    body.asleep = settings.asleep;
    const BodyShape shape = shape_of(level, group.grid);
    body.friction = shape.mean_friction(body.friction);
    if (!shape.is_empty()) {
        group.body = level.space.add_body(shape, body);
        level.know_body(group);
    }
    group.was_asleep = settings.asleep;
    level.events.push_back({.kind = LevelEvent::Kind::group_added, .group = group.id});
    return &group;
}

void destroy_group(LevelState& level, Group& group) {
    level.space.remove_body(group.body);
    level.events.push_back({.kind = LevelEvent::Kind::group_removed, .group = group.id});
    const std::uint32_t index = group.id.index - 1;
    level.generations[index]++;
    level.free_slots.push_back(index);
    level.slots[index].reset();
}

GroupView Group::view() const {
    return {id, &grid, body, body.pose(), bears_load, body.is_asleep(), created_tick, is_debris, type()};
}

GroupView Structure::view() const {
    GroupView out;
    out.grid = &grid;
    out.bears_load = true;
    out.type = type();
    return out;
}

MassMoments moments_of(const LevelState& level, const Group& group) {
    // The body knows, unless blocks changed since.
    if (group.changes.empty()) return group.body.shape().data()->own;
    return sum_moments(group.grid, level.settings.cell_size);
}

DVec3 block_center(const LevelState& level, const Group& group, Cell cell) {
    const float e = level.settings.cell_size;
    return group.body.to_world(
        {(float(cell.x) + 0.5f) * e, (float(cell.y) + 0.5f) * e, (float(cell.z) + 0.5f) * e});
}

namespace {

void change_block(LevelState& level, Group& group, Cell cell, BlockId block) {
    group.body.shape();  // if it went: it can only be made while the blocks are those it was made of
    const BlockId old = group.grid.set(cell, block);
    group.changes.push_back({cell, old, block});
    group.wear.erase(cell);
    level.events.push_back(
        {.kind = LevelEvent::Kind::group_block, .group = group.id, .cell = cell, .block = block});
}

}  // namespace

void take_block(LevelState& level, Group& group, Cell cell, Cause cause, bool destroyed) {
    const BlockId old = group.grid.get(cell);
    assert(old != kAir);
    if (destroyed) {
        level.destroyed++;
        level.events.push_back({.kind = LevelEvent::Kind::block_destroyed,
                                .group = group.id,
                                .cell = cell,
                                .block = old,
                                .cause = cause,
                                .point = block_center(level, group, cell)});
        if (cause == Cause::mined) drop_block(level, old, cause, block_center(level, group, cell));
    }
    change_block(level, group, cell, kAir);
    if (!level.table.flags(old).solid) return;
    group.joins.solid_removed(group.grid, cell);
    if (!destroyed) return;
    group.removed_solids.push_back(cell);
    group.broke_off =
        group.broke_off || cause == Cause::blast || cause == Cause::impact || cause == Cause::collapse;
    if (group.bears()) group.check_wanted = true;
}

void put_block(LevelState& level, Group& group, Cell cell, BlockId block) {
    change_block(level, group, cell, block);
    if (!level.table.flags(block).solid) return;
    group.joins.solid_added(cell);
    // Anything may have been set down out of reach of the rest.
    group.whole_look = true;
    if (group.bears()) group.check_wanted = true;
}

DVec3 cell_center(const LevelState& level, Cell cell) {
    const double e = level.settings.cell_size;
    return {(cell.x + 0.5) * e, (cell.y + 0.5) * e, (cell.z + 0.5) * e};
}

BlockId change_terrain(LevelState& level, Cell cell, BlockId block, Cause cause, bool destroyed) {
    const BlockId old = read_terrain(level, cell).value_or(kAir);
    if (old == block || !is_terrain_cell(cell)) return old;
    if (level.host_terrain) {
        if (!level.host_terrain->source().set_block(cell, block)) return old;
        level.host_terrain->changed(level.space, {cell, cell});
    } else {
        level.own_terrain.set(cell, block);
        CellBox& box = level.terrain_touched;
        if (box.empty()) box = {cell, cell};
        box.min = {std::min(box.min.x, cell.x), std::min(box.min.y, cell.y), std::min(box.min.z, cell.z)};
        box.max = {std::max(box.max.x, cell.x), std::max(box.max.y, cell.y), std::max(box.max.z, cell.z)};
    }
    if (destroyed && old != kAir && block == kAir) {
        level.destroyed++;
        level.events.push_back({.kind = LevelEvent::Kind::block_destroyed,
                                .cell = cell,
                                .block = old,
                                .cause = cause,
                                .point = cell_center(level, cell)});
        if (cause == Cause::mined) drop_block(level, old, cause, cell_center(level, cell));
    }
    level.events.push_back({.kind = LevelEvent::Kind::terrain_block, .cell = cell, .block = block});
    notice_terrain_change(level, cell, block);
    return old;
}

void tell_terrain_changes(LevelState& level) {
    if (level.terrain_touched.empty()) return;
    level.space.terrain_changed(level.terrain_touched);
    level.terrain_touched = {};
}

std::optional<BlockId> read_terrain(const LevelState& level, Cell cell) {
    const BlockId known = level.terrain().get(cell);
    if (!level.host_terrain || known != kAir) return known;
    const TerrainSource& source = level.host_terrain->source();
    if (!source.is_loaded({cell, cell})) return std::nullopt;
    return source.block_at(cell);
}

bool add_wear(const LevelState& level, Build& build, Cell cell, float amount) {
    const BlockId block = build.grid.get(cell);
    if (block == kAir || !(amount > 0) || level.table[block].material.hardness < 0) return false;
    float& wear = build.wear[cell];
    wear += amount;
    if (wear < 1) return false;
    build.wear.erase(cell);
    return true;
}

}  // namespace talus
