// breaking.cpp - what may break, what it leaves behind, and who is told.
#include "world/archive.h"
#include "world/level_state.h"

#include <algorithm>

namespace talus {

namespace {

constexpr std::size_t kDustPlaces = 8, kSoundPlaces = 3;  // of one collapse

}  // namespace

bool is_protected(const LevelState& level, DVec3 point) {
    for (const ProtectedRegion& r : level.protected_regions)
        if (r.box.contains(point)) return true;
    return false;
}

bool touches_protected(const LevelState& level, const Group& group) {
    bool touches = false;
    for (const ProtectedRegion& r : level.protected_regions) {
        if (touches || !overlaps(r.box, group.body.bounds())) continue;
        group.grid.for_each([&](Cell cell, BlockId) {
            touches = touches || r.box.contains(block_center(level, group, cell));
        });
    }
    return touches;
}

void keep_known(const Build& build, std::uint64_t version, std::vector<std::vector<Cell>>& parts) {
    if (build.grid.version() == version) return;
    for (auto& part : parts) std::erase_if(part, [&](Cell c) { return !build.grid.has(c); });
    std::erase_if(parts, [](const auto& part) { return part.empty(); });
}

bool may_break(const LevelState& level, BlockId block, DVec3 center, Cause cause) {
    if (cause == Cause::script) return true;
    return !(level.table[block].material.hardness < 0) && !is_protected(level, center);
}

void drop_block(LevelState& level, BlockId block, Cause cause, DVec3 point, double chance) {
    if (chance < 1 && !(double(level.random.next() >> 11) * 0x1p-53 < chance)) return;
    level.drops++;
    level.events.push_back({.kind = LevelEvent::Kind::drop, .block = block, .cause = cause, .point = point});
}

float strength_at(const LevelState& level, const Build& build, Cell cell) {
    const float usual = strength_of(build.grid.type_at(cell).material) * level.settings.strength_factor;
    GroupType* type = build.type();
    if (!type) return usual;
    const float own = type->bond_strength(build.view(), cell, usual);
    return own > 0 && std::isfinite(own) ? own : usual;
}

void report_bonds(LevelState& level, Build& build, std::span<const Bond> bonds) {
    if (bonds.empty()) return;
    const GroupView view = build.view();
    const auto* structure = view.body.exists() ? nullptr : static_cast<const Structure*>(&build);
    LevelEvent event{.kind = LevelEvent::Kind::bonds_broken};
    event.group = view.id;
    if (structure) event.structure = structure->id;
    const double e = level.settings.cell_size;
    auto place = [&](const Bond& bond) {
        const Cell a = bond.first, b = bond.second;
        const DVec3 middle{(a.x + b.x + 1) * 0.5 * e, (a.y + b.y + 1) * 0.5 * e, (a.z + b.z + 1) * 0.5 * e};
        event.cell = a;
        event.block = build.grid.get(a);
        event.point = structure ? middle : view.body.to_world(to_float(middle));
    };
    place(bonds[bonds.size() / 2]);
    event.value = float(bonds.size());
    event.first_bond = std::uint32_t(level.event_bonds.size());
    level.event_bonds.insert(level.event_bonds.end(), bonds.begin(), bonds.end());
    level.events.push_back(event);
    std::vector<LevelEvent> usual;  // before the hook, which may take the build away
    event.value = 0;
    for (const auto& [kind, most] :
         {std::pair{LevelEvent::Kind::dust, kDustPlaces}, std::pair{LevelEvent::Kind::sound, kSoundPlaces}}) {
        const std::size_t n = bonds.size() < most ? bonds.size() : most;
        for (std::size_t i = 0; i < n; i++) {  // spread evenly
            place(bonds[i * bonds.size() / n]);
            event.kind = kind;
            usual.push_back(event);
        }
    }
    if (view.type && view.type->on_bonds_broken(level.self, view, bonds)) return;
    level.events.insert(level.events.end(), usual.begin(), usual.end());
}

const Kind* find_kind(LevelState& level, std::string_view name) {
    if (name.empty()) return nullptr;
    const auto it = level.types.find(name);
    if (it != level.types.end()) return &*it;
    if (level.settings.log)
        level.settings.log->log(LogLevel::warning, "group type \"" + std::string(name) +
                                                       "\" is not known: its groups are plain ones");
    return &*level.types.emplace(std::string(name), nullptr).first;
}

// Groups are visited in id order, then structures: without taking turns, the first of them could take all the
// work of every tick.
bool take_work(LevelState& level, const Build& build, std::size_t blocks) {
    if (level.settings.work_per_tick <= 0) return true;
    const std::uint64_t key = build.work_key();
    const bool late = key >= level.work_from;
    if (late && level.work_left > 0) {
        level.work_left -= std::int64_t(blocks);
        return true;
    }
    std::uint64_t& first = level.first_refused[late];
    if (first == 0) first = key;
    return false;
}

void begin_work(LevelState& level) { level.work_left = level.settings.work_per_tick; }

void end_work(LevelState& level) {
    auto& [early, late] = level.first_refused;
    level.work_from = late ? late : early;
    early = late = 0;
}

void limit_debris(LevelState& level) {
    const int most = level.settings.debris_max_groups;
    if (most <= 0) return;
    std::vector<Group*> debris;
    for (const auto& slot : level.slots)
        if (slot && slot->is_debris && !touches_protected(level, *slot)) debris.push_back(slot.get());
    if (debris.size() <= std::size_t(most)) return;
    std::sort(debris.begin(), debris.end(), [](const Group* a, const Group* b) {
        return a->asleep_ticks != b->asleep_ticks ? a->asleep_ticks > b->asleep_ticks
                                                  : a->id.index < b->id.index;
    });
    debris.resize(debris.size() - std::size_t(most));
    for (Group* group : debris)
        if (group->body.is_asleep()) crumble(level, *group);
}

CollapseRoom::CollapseRoom(const LevelSettings& s)
    : pieces(s.collapse_max_pieces > 0 ? std::size_t(s.collapse_max_pieces) : SIZE_MAX),
      blocks(s.collapse_max_blocks > 0 ? std::size_t(s.collapse_max_blocks) : SIZE_MAX) {}

std::vector<std::vector<Cell>> beyond_caps(CollapseRoom& room, std::vector<std::vector<Cell>>& parts) {
    std::vector<std::vector<Cell>> kept, beyond;
    for (auto& part : parts) {
        const bool fits = room.pieces > 0 && part.size() <= room.blocks;
        if (fits) {
            room.pieces--;
            room.blocks -= part.size();
        }
        (fits ? kept : beyond).push_back(std::move(part));
    }
    parts = std::move(kept);
    return beyond;
}

void Level::add_group_type(GroupType& type) {
    const Recorded call(log_of(*state_), Call::add_group_type, std::string(type.name()));
    state_->types[std::string(type.name())] = &type;
}

std::uint32_t Level::protect(const DBox& region) {
    const Recorded call(log_of(*state_), Call::protect, region);
    // Up to infinity is fine, but a snapshot keeps finite numbers only.
    DBox box;
    for (int k = 0; k < 3; k++) {
        if (!(region.min[k] <= region.max[k])) return 0;
        box.min[k] = std::clamp(region.min[k], -1e12, 1e12);
        box.max[k] = std::clamp(region.max[k], -1e12, 1e12);
    }
    state_->protected_regions.push_back({++state_->last_region, box});
    return state_->last_region;
}
void Level::unprotect(std::uint32_t number) {
    const Recorded call(log_of(*state_), Call::unprotect, number);
    LevelState& level = *state_;
    const auto it = std::find_if(level.protected_regions.begin(), level.protected_regions.end(),
                                 [&](const auto& r) { return r.number == number; });
    if (it == level.protected_regions.end()) return;
    const DBox box = it->box;
    level.protected_regions.erase(it);
    // What it held up may fall now.
    for (const auto& slot : level.slots)
        if (slot && slot->bears() && overlaps(slot->body.bounds(), box)) slot->check_wanted = true;
    const double e = level.settings.cell_size;
    for (const auto& slot : level.structure_slots) {
        if (!slot) continue;
        const CellBox b = slot->grid.bounds();
        const DBox bounds{{b.min.x * e, b.min.y * e, b.min.z * e},
                          {(b.max.x + 1) * e, (b.max.y + 1) * e, (b.max.z + 1) * e}};
        if (!overlaps(bounds, box)) continue;
        slot->check_wanted = true;
        put_to_work(level, *slot);
    }
}
void Level::set_debris(GroupId id, int ticks) {
    const Recorded call(log_of(*state_), Call::set_debris, id, ticks);
    Group* group = state_->find(id);
    if (!group) return;
    group->is_debris = ticks > 0;
    group->debris_ticks = ticks > 0 ? ticks : 0;
}
void Level::set_blast_targets(BlastTargets* targets) {
    const Recorded call(log_of(*state_), Call::set_blast_targets, targets != nullptr);
    state_->blast_targets = targets;
}
std::span<const Bond> Level::bonds_of(const LevelEvent& event) const {
    if (event.kind != LevelEvent::Kind::bonds_broken) return {};
    const std::size_t count = std::size_t(event.value), all = state_->event_bonds.size();
    if (event.first_bond > all || count > all - event.first_bond) return {};
    return std::span(state_->event_bonds).subspan(event.first_bond, count);
}
void Level::emit(const LevelEvent& event) { state_->events.push_back(event); }

}  // namespace talus
