// structures.cpp - terrain that bears load in place, without ever having been a group.
//
// A structure keeps a copy of its blocks. Only those with something to do are looked at in a tick, and a
// change of the terrain finds its structure by the brick: thousands of structures cost nothing while nothing
// happens.
#include "talus/turn.h"
#include "world/archive.h"
#include "world/level_state.h"
#include "world/structure_check.h"

#include <algorithm>
#include <set>

namespace talus {

Structure* LevelState::find(StructureId id) {
    if (id.index == 0 || id.index > structure_slots.size() ||
        structure_generations[id.index - 1] != id.generation)
        return nullptr;
    return structure_slots[id.index - 1].get();
}

Structure* structure_at(const LevelState& level, Cell cell) {
    if (level.structure_bricks.empty()) return nullptr;
    const auto it = level.structure_bricks.find(brick_of(cell));
    if (it == level.structure_bricks.end()) return nullptr;
    for (std::uint32_t slot : it->second)
        if (level.structure_slots[slot]->grid.has(cell)) return level.structure_slots[slot].get();
    return nullptr;
}

namespace {

constexpr Cell kFaces[] = {{0, -1, 0}, {0, 1, 0}, {-1, 0, 0}, {1, 0, 0}, {0, 0, -1}, {0, 0, 1}};
constexpr int kPolledBricks = 4;  // a tick, of a host's terrain: 2,048 cells

void insert_sorted(std::vector<std::uint32_t>& list, std::uint32_t value) {
    const auto at = std::lower_bound(list.begin(), list.end(), value);
    if (at == list.end() || *at != value) list.insert(at, value);
}

/// Sets a block of a structure's copy and keeps the map of bricks true.
void set_block(LevelState& level, Structure& structure, Cell cell, BlockId block) {
    const Cell coord = brick_of(cell);
    const std::uint32_t slot = structure.id.index - 1;
    structure.grid.set(cell, block);
    structure.wear.erase(cell);
    if (block != kAir) {
        insert_sorted(level.structure_bricks[coord], slot);
    } else if (!structure.grid.find_brick(coord)) {
        const auto it = level.structure_bricks.find(coord);
        if (it == level.structure_bricks.end()) return;
        std::erase(it->second, slot);
        if (it->second.empty()) level.structure_bricks.erase(it);
    }
}

bool may_bear(const LevelState& level, BlockId block) {
    return block != kAir && !(level.table[block].material.hardness < 0);
}

void want_check(LevelState& level, Structure& structure) {
    structure.check_wanted = true;
    put_to_work(level, structure);
}

/// Makes groups of what falls; the terrain loses it.
void let_fall(LevelState& level, Structure& structure, std::vector<std::vector<Cell>>& parts) {
    for (const auto& cells : parts) {
        Piece piece = lift_terrain(level, cells, piece_origin(cells));
        if (piece.grid.empty()) continue;
        piece.settings.group.bears_load = true;
        make_piece(level, std::move(piece), structure, true);
    }
    tell_terrain_changes(level);
}

/// @return false when nothing is left of the structure
bool apply_check(LevelState& level, Structure& structure) {
    const std::unique_ptr<StructureCheck> check = std::move(structure.check);
    check->finish();
    const bool all = check->report.verdict == Verdict::unsupported;
    take_work(level, structure, all ? structure.grid.solid_count() : check->report.falling());
    if (!level.settings.collapse || check->grid_version != structure.grid.version()) {
        structure.check_wanted = true;  // the answer is for blocks that are no more
        return true;
    }
    StructureReport& report = check->report;
    if (report.verdict == Verdict::stands || report.verdict == Verdict::undecided) return true;
    std::vector<std::vector<Cell>> parts;
    if (report.verdict == Verdict::unsupported) {  // terrain cannot hang in the air: all of it falls
        parts = find_parts(structure.grid, Joins());
    } else {
        parts = std::move(report.parts);
        hang_non_solids(structure.grid, parts);
    }
    const StructureId id = structure.id;
    const std::uint64_t version = structure.grid.version();
    report_bonds(level, structure, report.broken_bonds);
    if (level.find(id) != &structure) return false;
    keep_known(structure, version, parts);
    CollapseRoom room(level.settings);
    for (const auto& part : beyond_caps(room, parts))
        if (level.settings.beyond_cap == BeyondCap::crumble)
            for (Cell cell : part)
                if (may_break(level, structure.grid.get(cell), cell_center(level, cell), Cause::collapse))
                    change_terrain(level, cell, kAir, Cause::collapse);
    let_fall(level, structure, parts);
    structure.check_wanted = false;  // the rest is not weighed again
    if (structure.grid.solid_count() > 0) return true;
    drop_structure(level, structure);
    return false;
}

}  // namespace

Cell piece_origin(std::span<const Cell> cells) {
    Cell low = cells.front(), high = low;
    for (Cell c : cells) {
        low = {std::min(low.x, c.x), std::min(low.y, c.y), std::min(low.z, c.z)};
        high = {std::max(high.x, c.x), std::max(high.y, c.y), std::max(high.z, c.z)};
    }
    const Cell size = high - low;
    if (size.x < kBrickEdge && size.y < kBrickEdge && size.z < kBrickEdge) return low;
    return {low.x & ~7, low.y & ~7, low.z & ~7};
}

Piece lift_terrain(LevelState& level, std::span<const Cell> cells, Cell origin) {
    const double e = level.settings.cell_size;
    Piece piece{Grid(level.table), {}, {}, {}};
    for (Cell c : cells) {
        const BlockId block = read_terrain(level, c).value_or(kAir);
        if (block == kAir) continue;
        Structure* structure = structure_at(level, c);
        float wear = 0;
        if (structure) {
            if (const float* worn = structure->wear.find(c)) wear = *worn;
        }
        change_terrain(level, c, kAir, Cause::collapse, false);
        // A host may have refused: then the block stays, as plain terrain.
        if (read_terrain(level, c).value_or(kAir) == block) {
            if (structure) set_block(level, *structure, c, kAir);
            continue;
        }
        piece.grid.set(c - origin, block);
        if (wear > 0) piece.wear[c - origin] = wear;
    }
    piece.settings.group.pose.position = {origin.x * e, origin.y * e, origin.z * e};
    return piece;
}

void note_bricks(LevelState& level, const Structure& structure) {
    for (const Brick* brick : structure.grid.bricks())
        level.structure_bricks[brick->coord].push_back(structure.id.index - 1);
}

void put_to_work(LevelState& level, Structure& structure) {
    insert_sorted(level.structures_at_work, structure.id.index - 1);
}

std::size_t extend_structure(LevelState& level, Structure& structure, std::span<const Cell> cells) {
    std::size_t added = 0;
    for (Cell c : cells) {
        const BlockId block = read_terrain(level, c).value_or(kAir);
        if (!may_bear(level, block) || structure_at(level, c)) continue;
        set_block(level, structure, c, block);
        added++;
    }
    return added;
}

StructureId make_structure(LevelState& level, std::span<const Cell> cells, const MarkSettings& settings) {
    std::uint32_t slot = std::uint32_t(level.structure_slots.size());
    if (!level.free_structures.empty()) {
        slot = level.free_structures.back();
        level.free_structures.pop_back();
    } else {
        level.structure_slots.emplace_back();
        level.structure_generations.push_back(0);
    }
    level.structure_slots[slot] = std::make_unique<Structure>(Grid(level.table));
    Structure& structure = *level.structure_slots[slot];
    structure.id = {slot + 1, ++level.structure_generations[slot]};
    structure.mode = settings.mode;
    structure.kind = find_kind(level, settings.type);
    extend_structure(level, structure, cells);
    if (structure.grid.solid_count() > 0) return structure.id;
    drop_structure(level, structure);
    return {};
}

void drop_structure(LevelState& level, Structure& structure) {
    const std::uint32_t slot = structure.id.index - 1;
    for (const Brick* brick : structure.grid.bricks()) {
        const auto it = level.structure_bricks.find(brick->coord);
        std::erase(it->second, slot);
        if (it->second.empty()) level.structure_bricks.erase(it);
    }
    std::erase(level.structures_at_work, slot);
    level.structure_generations[slot]++;
    level.free_structures.push_back(slot);
    level.structure_slots[slot].reset();
}

std::vector<Cell> terrain_cells(const LevelState& level, const CellBox& box) {
    std::vector<Cell> out;
    if (box.empty()) return out;
    const Cell lo = brick_of(box.min), hi = brick_of(box.max);
    // Of a host's terrain every cell is asked for: no more than a body of theirs could have.
    if (level.host_terrain && !has_at_most(box, kMaxGroupBounds)) return out;
    const auto each_cell = [&](Cell coord, auto&& f) {
        for (int y = std::max(box.min.y, coord.y * 8); y <= std::min(box.max.y, coord.y * 8 + 7); y++)
            for (int z = std::max(box.min.z, coord.z * 8); z <= std::min(box.max.z, coord.z * 8 + 7); z++)
                for (int x = std::max(box.min.x, coord.x * 8); x <= std::min(box.max.x, coord.x * 8 + 7); x++)
                    f(Cell{x, y, z});
    };
    if (level.host_terrain) {
        for (int y = lo.y; y <= hi.y; y++)
            for (int z = lo.z; z <= hi.z; z++)
                for (int x = lo.x; x <= hi.x; x++)
                    each_cell({x, y, z}, [&](Cell c) {
                        if (read_terrain(level, c).value_or(kAir) != kAir) out.push_back(c);
                    });
        return out;
    }
    const auto bricks = level.own_terrain.bricks();
    const auto first = std::lower_bound(bricks.begin(), bricks.end(), Cell{INT32_MIN, lo.y, INT32_MIN},
                                        [](const Brick* b, Cell c) { return b->coord.y < c.y; });
    for (auto it = first; it != bricks.end() && (*it)->coord.y <= hi.y; ++it) {
        const Brick& brick = **it;
        if (brick.coord.x < lo.x || brick.coord.x > hi.x || brick.coord.z < lo.z || brick.coord.z > hi.z)
            continue;
        each_cell(brick.coord, [&](Cell c) {
            if (bit_at(brick.any, index_in_brick(c))) out.push_back(c);
        });
    }
    return out;
}

std::vector<Cell> connected_terrain(const LevelState& level, Cell start, const CellBox& within,
                                    std::size_t max_blocks) {
    const auto solid = [&](Cell c) {
        const BlockId block = read_terrain(level, c).value_or(kAir);
        return may_bear(level, block) && level.table.flags(block).solid;
    };
    std::set<Cell> found;
    std::vector<Cell> look{start};
    if (!within.contains(start) || !solid(start) || max_blocks == 0) return {};
    found.insert(start);
    while (!look.empty()) {
        const Cell cell = look.back();
        look.pop_back();
        for (int dy = -1; dy <= 1; dy++)
            for (int dz = -1; dz <= 1; dz++)
                for (int dx = -1; dx <= 1; dx++) {
                    const Cell c = cell + Cell{dx, dy, dz};
                    if (!within.contains(c) || found.contains(c) || !solid(c)) continue;
                    if (found.size() == max_blocks) return {};
                    found.insert(c);
                    look.push_back(c);
                }
    }
    // What hangs on it: a non-solid is fixed to the block its state names; where that is no solid, to any
    // beside.
    const std::vector<Cell> solids(found.begin(), found.end());
    look = solids;
    while (!look.empty()) {
        const Cell cell = look.back();
        look.pop_back();
        for (Cell step : kFaces) {
            const Cell c = cell + step;
            const BlockId block = read_terrain(level, c).value_or(kAir);
            if (!within.contains(c) || found.contains(c) || !may_bear(level, block) || solid(c)) continue;
            const Cell holder = c + fixed_to(level.table[block]);
            if (solid(holder) && !found.contains(holder)) continue;
            if (found.size() == max_blocks) return {};
            found.insert(c);
            look.push_back(c);
        }
    }
    return {found.begin(), found.end()};
}

void notice_terrain_change(LevelState& level, Cell cell, BlockId block) {
    if (level.structure_bricks.empty()) return;
    Structure* structure = structure_at(level, cell);
    if (!structure && level.settings.structures_grow && may_bear(level, block))
        for (Cell step : kFaces)
            if (!structure) structure = structure_at(level, cell + step);
    if (structure) {
        set_block(level, *structure, cell, may_bear(level, block) ? block : kAir);
        want_check(level, *structure);
    }
    // What stands on it may have lost its hold.
    if (level.table.flags(block).solid) return;
    if (Structure* above = structure_at(level, cell + Cell{0, 1, 0}))
        if (above != structure) want_check(level, *above);
}

namespace {

/// Compares a structure's blocks in one brick with the host's.
void reread_brick(LevelState& level, Cell coord) {
    const auto it = level.structure_bricks.find(coord);
    if (it == level.structure_bricks.end()) return;
    std::vector<std::pair<Cell, BlockId>> changed;
    for (std::uint32_t slot : it->second) {
        const Brick& brick = *level.structure_slots[slot]->grid.find_brick(coord);
        for (int y = 0; y < 8; y++)
            for (std::uint64_t bits = brick.any[y]; bits; bits &= bits - 1) {
                const int i = 64 * y + __builtin_ctzll(bits);
                const Cell cell = cell_in_brick(brick, i);
                const TerrainSource& source = level.host_terrain->source();
                if (!source.is_loaded({cell, cell})) continue;
                const BlockId now = source.block_at(cell);
                if (now != brick.ids[i]) changed.push_back({cell, now});
            }
    }
    for (const auto& [cell, block] : changed) notice_terrain_change(level, cell, block);
}

/// A host that cannot tell of changes: some bricks of structures a tick, in turns.
void poll_structures(LevelState& level) {
    auto it = level.structure_bricks.upper_bound(level.structure_poll);
    std::vector<Cell> coords;
    for (int n = 0; n < kPolledBricks && std::size_t(n) < level.structure_bricks.size(); n++, ++it) {
        if (it == level.structure_bricks.end()) it = level.structure_bricks.begin();
        coords.push_back(it->first);
    }
    if (coords.empty()) return;
    level.structure_poll = coords.back();
    for (Cell coord : coords) reread_brick(level, coord);
}

}  // namespace

void reread_structures(LevelState& level, const CellBox& cells) {
    const Cell lo = brick_of(cells.min), hi = brick_of(cells.max);
    std::vector<Cell> coords;
    for (auto it = level.structure_bricks.lower_bound({INT32_MIN, lo.y, INT32_MIN});
         it != level.structure_bricks.end() && it->first.y <= hi.y; ++it) {
        const Cell c = it->first;
        if (c.x >= lo.x && c.x <= hi.x && c.z >= lo.z && c.z <= hi.z) coords.push_back(c);
    }
    for (Cell coord : coords) reread_brick(level, coord);
    // What stands on a changed cell: the layer above the box.
    const auto above = [](Cell c) { return c.y < INT32_MAX ? c + Cell{0, 1, 0} : c; };
    check_structures_in(level, {above(cells.min), above(cells.max)});
}

void check_structures_in(LevelState& level, const CellBox& cells) {
    const Cell lo = brick_of(cells.min), hi = brick_of(cells.max);
    for (auto it = level.structure_bricks.lower_bound({INT32_MIN, lo.y, INT32_MIN});
         it != level.structure_bricks.end() && it->first.y <= hi.y; ++it) {
        const Cell c = it->first;
        if (c.x < lo.x || c.x > hi.x || c.z < lo.z || c.z > hi.z) continue;
        for (std::uint32_t slot : it->second) want_check(level, *level.structure_slots[slot]);
    }
}

void tick_structures(LevelState& level) {
    if (level.host_terrain && !level.structure_bricks.empty()) poll_structures(level);
    const std::vector<std::uint32_t> work = std::move(level.structures_at_work);
    level.structures_at_work.clear();
    for (std::uint32_t slot : work) {
        Structure* s = level.structure_slots[slot].get();
        if (!s) continue;
        for (Cell cell : std::vector<Cell>(std::move(s->breaking)))
            if (s->grid.has(cell)) change_terrain(level, cell, kAir, Cause::impact);
        drop(s->breaking);
        tell_terrain_changes(level);
        if (s->grid.solid_count() == 0) {
            drop_structure(level, *s);
            continue;
        }
        if (s->check && level.tick >= s->check->due_tick && take_work(level, *s, 0) &&
            !apply_check(level, *s))
            continue;
        const bool wanted = s->check_wanted && level.settings.collapse;
        if (wanted && !s->check && take_work(level, *s, s->grid.solid_count())) start_check(level, *s);
        if (s->check || (s->check_wanted && level.settings.collapse) || !s->breaking.empty())
            put_to_work(level, *s);
    }
}

StructureId Level::mark_structure(const CellBox& box, const MarkSettings& settings) {
    const Recorded call(log_of(*state_), Call::mark_box, box, settings);
    return make_structure(*state_, terrain_cells(*state_, box), settings);
}
StructureId Level::mark_structure(std::span<const Cell> cells, const MarkSettings& settings) {
    const Recorded call(log_of(*state_), Call::mark_cells, cells, settings);
    return make_structure(*state_, cells, settings);
}
StructureId Level::mark_connected(Cell block, const CellBox& within, std::size_t max_blocks,
                                  const MarkSettings& settings) {
    const Recorded call(log_of(*state_), Call::mark_connected, block, within, std::uint64_t(max_blocks),
                        settings);
    return make_structure(*state_, connected_terrain(*state_, block, within, max_blocks), settings);
}
std::size_t Level::add_to_structure(StructureId id, const CellBox& box) {
    const Recorded call(log_of(*state_), Call::add_to_structure, id, box);
    Structure* structure = state_->find(id);
    if (!structure) return 0;
    const std::size_t added = extend_structure(*state_, *structure, terrain_cells(*state_, box));
    if (added > 0) want_check(*state_, *structure);
    return added;
}
void Level::unmark_structure(StructureId id) {
    const Recorded call(log_of(*state_), Call::unmark_structure, id);
    if (Structure* structure = state_->find(id)) drop_structure(*state_, *structure);
}
std::optional<StructureView> Level::structure(StructureId id) const {
    const Structure* s = state_->find(id);
    if (!s) return std::nullopt;
    return StructureView{s->id, &s->grid, s->mode, s->check_wanted || s->check};
}
std::optional<StructureId> Level::structure_at(Cell cell) const {
    const Structure* s = talus::structure_at(*state_, cell);
    return s ? std::optional(s->id) : std::nullopt;
}
std::vector<StructureId> Level::structures() const {
    std::vector<StructureId> out;
    for (const auto& slot : state_->structure_slots)
        if (slot) out.push_back(slot->id);
    return out;
}
void Level::check_structure_soon(StructureId id) {
    const Recorded call(log_of(*state_), Call::check_structure_soon, id);
    if (Structure* structure = state_->find(id)) want_check(*state_, *structure);
}
void Level::set_structure_mode(StructureId id, std::optional<StructureMode> mode) {
    const Recorded call(log_of(*state_), Call::set_structure_mode, id, mode);
    if (Structure* structure = state_->find(id)) structure->mode = mode;
}
float Level::wear_of(Cell cell) const {
    const Structure* s = talus::structure_at(*state_, cell);
    if (!s) return 0;
    const float* wear = s->wear.find(cell);
    return wear ? *wear : 0;
}
bool Level::wear_down(Cell cell, float amount) {
    const Recorded call(log_of(*state_), Call::wear_down_terrain, cell, amount);
    Structure* s = talus::structure_at(*state_, cell);
    return s && add_wear(*state_, *s, cell, amount);
}

}  // namespace talus
