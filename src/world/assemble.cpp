// assemble.cpp - terrain that becomes a group, and a group that becomes terrain again.
#include "talus/turn.h"
#include "world/archive.h"
#include "world/level_state.h"

#include <algorithm>
#include <set>

namespace talus {

namespace {

constexpr float kRestSpeed = 0.12f, kRestSpin = 0.06f;  // m/s, rad/s: as for what creeps to sleep

/// Terrain cells, sorted, as a group of their own; an invalid id when they cannot move. Its type and mode are
/// those of the structure that `start` belongs to.
GroupId lift(LevelState& level, Cell start, std::span<const Cell> cells, bool bears_load) {
    Grid weighed(level.table);
    if (cells.empty()) return {};
    for (Cell c : cells)
        if (is_protected(level, cell_center(level, c))) return {};
    const Cell origin = piece_origin(cells);
    for (Cell c : cells) weighed.set(c - origin, read_terrain(level, c).value_or(kAir));
    if (weighed.solid_count() == 0 || !(sum_moments(weighed, level.settings.cell_size).mass > 0)) return {};
    GroupSettings settings;
    if (const Structure* from = structure_at(level, start)) {
        settings.structure_mode = from->mode;
        if (from->kind) settings.type = from->kind->first;
    }
    Piece piece = lift_terrain(level, cells, origin);
    tell_terrain_changes(level);
    if (!(sum_moments(piece.grid, level.settings.cell_size).mass > 0)) {  // a host kept what weighs
        piece.grid.for_each(
            [&](Cell c, BlockId block) { change_terrain(level, c + origin, block, Cause::script); });
        tell_terrain_changes(level);
        return {};
    }
    settings.pose = piece.settings.group.pose;
    settings.bears_load = bears_load;
    Group* group = create_group(level, std::move(piece.grid), Joins(), settings);
    group->wear = std::move(piece.wear);
    return group->id;
}

struct Placing {
    Cell from, to;
    BlockId block = kAir;
};

/// The pose in cells: to = turn(from) + shift for the cells' middles, as near as cells can be.
struct Lattice {
    GridTurn turn;
    Cell shift;
    double offset = 0;  // largest of a corner of the bounds, cells
};
Lattice lattice_of(const LevelState& level, const Group& group, const GridTurn& turn) {
    const double e = level.settings.cell_size;
    const CellBox b = group.grid.bounds();
    Lattice out{turn, {}, 0};
    auto middle = [&](Cell c) { return block_center(level, group, c) / e - DVec3{0.5, 0.5, 0.5}; };
    const Cell inner{(b.min.x + b.max.x) / 2, (b.min.y + b.max.y) / 2, (b.min.z + b.max.z) / 2};
    const DVec3 p = middle(inner) + DVec3{0.5, 0.5, 0.5};
    if (!is_cell(p)) return {turn, {}, 1e9};
    out.shift = to_cell(p) - turn(inner);
    for (int i = 0; i < 8; i++) {
        const Cell c{i & 1 ? b.max.x : b.min.x, i & 2 ? b.max.y : b.min.y, i & 4 ? b.max.z : b.min.z};
        const Cell to = turn(c) + out.shift;
        const DVec3 d = middle(c) - DVec3{double(to.x), double(to.y), double(to.z)};
        for (int k = 0; k < 3; k++) out.offset = std::fabs(d[k]) > out.offset ? std::fabs(d[k]) : out.offset;
    }
    return out;
}

}  // namespace

GroupId Level::physicify(Cell block) {
    const Recorded call(log_of(*state_), Call::physicify, block);
    const BlockId id = read_terrain(*state_, block).value_or(kAir);
    if (!may_break(*state_, id, cell_center(*state_, block), Cause::mined)) return {};
    return lift(*state_, block, {&block, 1}, true);
}

GroupId Level::assemble(Cell block, const CellBox& within, std::size_t max_blocks, bool bears_load) {
    const Recorded call(log_of(*state_), Call::assemble, block, within, std::uint64_t(max_blocks),
                        bears_load);
    return lift(*state_, block, connected_terrain(*state_, block, within, max_blocks), bears_load);
}

SettleReport Level::settle(GroupId id, const SettleSettings& settings) {
    const Recorded call(log_of(*state_), Call::settle, id, settings);
    LevelState& level = *state_;
    Group* group = level.find(id);
    if (!group || !group->body.exists()) return {SettleRefusal::no_group};
    const Body& body = group->body;
    if (!body.is_asleep() && !(length(body.velocity()) < kRestSpeed && length(body.spin()) < kRestSpin))
        return {SettleRefusal::moving};
    float cosine = 0;
    const GridTurn turn = nearest_turn(body.pose().rotation, &cosine);
    const Lattice lattice = lattice_of(level, *group, turn);
    if (!(double(cosine) >= sin_cos(double(settings.max_tilt) * 3.14159265358979 / 180).cos &&
          lattice.offset <= double(settings.max_offset)))
        return {SettleRefusal::tilted};

    std::vector<Placing> places;
    std::vector<std::optional<BlockId>> turned_ids(level.table.size());
    std::vector<bool> known(level.table.size());
    SettleRefusal trouble = SettleRefusal::none;
    std::vector<Cell> rest;
    group->grid.for_each([&](Cell cell, BlockId block) {
        if (!known[block]) {
            known[block] = true;
            if (const auto type = turned(level.table[block], turn))
                turned_ids[block] = level.table.add(*type);
            if (turned_ids[block] == kAir) turned_ids[block].reset();  // the table is full
        }
        const Cell to = turn(cell) + lattice.shift;
        if (!turned_ids[block])
            trouble = SettleRefusal::cannot_turn;
        else if (read_terrain(level, to) != std::optional(kAir))
            trouble = SettleRefusal::taken;
        else
            return places.push_back({cell, to, *turned_ids[block]});
        rest.push_back(cell);
    });
    if (!rest.empty() && !settings.drop_the_rest) return {trouble};
    if (group->type() && !group->type()->may_settle(*this, id)) return {SettleRefusal::refused};
    group = level.find(id);
    if (!group) return {SettleRefusal::no_group};

    SettleReport report;
    // What stands below first, so that nothing hangs in between.
    std::sort(places.begin(), places.end(), [](const Placing& a, const Placing& b) { return a.to < b.to; });
    for (const Placing& p : places) {
        if (!group->grid.has(p.from)) continue;
        if (read_terrain(level, p.to) != std::optional(kAir)) {  // its type's hook put something there
            report.left++;
            continue;
        }
        const float* worn = group->wear.find(p.from);
        const float wear = worn ? *worn : 0;
        change_terrain(level, p.to, p.block, Cause::script);
        if (read_terrain(level, p.to).value_or(kAir) != p.block) {
            report.left++;
            continue;
        }
        take_block(level, *group, p.from, Cause::script, false);
        if (Structure* grown = wear > 0 ? talus::structure_at(level, p.to) : nullptr)
            grown->wear[p.to] = wear;
        report.placed++;
    }
    tell_terrain_changes(level);
    for (Cell cell : rest) {
        const BlockId block = group->grid.get(cell);
        if (block == kAir) continue;
        const DVec3 point = block_center(level, *group, cell);
        take_block(level, *group, cell, Cause::script);
        drop_block(level, block, Cause::script, point);
        report.dropped++;
    }
    if (group->grid.empty())
        destroy_group(level, *group);
    else
        group->whole_look = true;  // the host kept blocks out: what is left may be in parts
    return report;
}

}  // namespace talus
