#include "talus/level.h"

#include "base/give_back.h"
#include "base/hash.h"
#include "dynamics/smooth_contact.h"
#include "dynamics/state.h"
#include "world/archive.h"
#include "world/level_state.h"
#include "world/recording.h"
#include "world/structure_check.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace talus {

std::uint64_t LevelRandom::next() {
    state += 0x9e3779b97f4a7c15ull;
    return mix64(state);
}

namespace {

SpaceSettings space_settings(const LevelSettings& s) {
    SpaceSettings out;
    out.gravity = s.gravity;
    out.cell_size = s.cell_size;
    out.jobs = s.jobs;
    out.log = s.log;
    return out;
}

/// May a ray meet anything in these cells?
bool may_meet(const CellBox& cells, DVec3 origin, Vec3 direction) {
    constexpr double kSlack = 0.5;
    const DVec3 lo{cells.min.x - kSlack, cells.min.y - kSlack, cells.min.z - kSlack};
    const DVec3 hi{cells.max.x + 1 + kSlack, cells.max.y + 1 + kSlack, cells.max.z + 1 + kSlack};
    double from = 0, to = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 3; k++) {
        const double d = double(direction[k]);
        if (d == 0) {
            if (origin[k] < lo[k] || origin[k] > hi[k]) return false;
            continue;
        }
        const double a = (lo[k] - origin[k]) / d, b = (hi[k] - origin[k]) / d;
        const double first = a < b ? a : b, last = a < b ? b : a;
        from = first > from ? first : from;
        to = last < to ? last : to;
    }
    return from <= to;
}

/// Is a group of these bounds within the limits of grid.h?
bool may_be_group(const CellBox& box) {
    for (const int v : {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z})
        if (v < -kMaxGroupCell || v >= kMaxGroupCell) return box.empty();
    return cells_in(box) <= kMaxGroupBounds;
}

}  // namespace

LevelState::State(Level& owner, const LevelSettings& given)
    : self(owner), settings(given), own_terrain(table), space(space_settings(given)), random{given.seed} {
    space.set_terrain(&own_terrain);
    // A body whose group did not change since has the shape of the group's blocks.
    space.state().bodies.shapes = {[](void* level, BodyId id) {
                                       const Group* group = static_cast<State*>(level)->group_of(id);
                                       return group && group->changes.empty();
                                   },
                                   [](void* raw, BodyId id) {
                                       State& level = *static_cast<State*>(raw);
                                       return shape_of(level, level.group_of(id)->grid);
                                   },
                                   this};
    if (given.ground) space.set_ground(*given.ground);
}

LevelState::~State() = default;

Level::Level(const LevelSettings& settings)
    : state_(std::make_unique<State>(*this, within_limits(settings))) {}
Level::~Level() = default;

const LevelSettings& Level::settings() const { return state_->settings; }
BlockTable& Level::table() { return state_->table; }
const BlockTable& Level::table() const { return state_->table; }
Space& Level::space() { return state_->space; }
const Grid& Level::terrain() const { return state_->terrain(); }

bool Level::break_terrain(Cell cell, Cause cause) {
    const Recorded call(log_of(*state_), Call::break_terrain, cell, cause);
    const BlockId block = read_terrain(*state_, cell).value_or(kAir);
    if (block == kAir || !may_break(*state_, block, cell_center(*state_, cell), cause)) return false;
    change_terrain(*state_, cell, kAir, cause);
    tell_terrain_changes(*state_);
    return read_terrain(*state_, cell).value_or(kAir) != block;  // a host may have refused
}

void Level::terrain_changed(const CellBox& cells) {
    const Recorded call(log_of(*state_), Call::terrain_changed, cells);
    if (!state_->host_terrain) return;
    state_->host_terrain->changed(state_->space, cells);
    reread_structures(*state_, cells);
    if (state_->host_smooth && !state_->smooth) tell_smooth_change(*state_, cells);
}

BlockId Level::set_terrain(Cell cell, BlockId block) {
    const Recorded call(log_of(*state_), Call::set_terrain, cell, block);
    const BlockId old = change_terrain(*state_, cell, block, Cause::script);
    tell_terrain_changes(*state_);
    return old;
}

void Level::change_settings(const LevelSettings& given) {
    LevelState& level = *state_;
    const LevelSettings old = level.settings;
    // As they come back from a snapshot: what that would refuse must not get in.
    ByteWriter bytes;
    bytes(given);
    ByteReader back(bytes.bytes);
    LevelSettings s;
    back(s);
    if (!back.ok()) {
        if (old.log) old.log->log(LogLevel::warning, "settings stay as they are: " + back.error().message);
        return;
    }
    const Recorded call(log_of(level), Call::change_settings, given);
    s.cell_size = old.cell_size;
    s.seed = old.seed;
    s.jobs = old.jobs;
    s.log = old.log;
    s.profile = old.profile;
    level.settings = s;
    if (s.ground != old.ground) level.space.set_ground(s.ground);
    if (!(s.gravity == old.gravity)) {
        level.space.state().settings.gravity = s.gravity;
        for (GroupId id : level.ids()) level.find(id)->body.activate();
    }
    if (s.collapse && !old.collapse)
        for (const auto& slot : level.structure_slots)
            if (slot && (slot->check_wanted || slot->check)) put_to_work(level, *slot);
}

Grid Level::import(const Grid& grid) {
    Grid out(state_->table);
    std::vector<BlockId> ids(grid.table().size(), kAir);
    std::vector<bool> known(grid.table().size(), false);
    grid.for_each([&](Cell cell, BlockId id) {
        if (!known[id]) {
            ids[id] = state_->table.add(grid.table()[id]);
            known[id] = true;
        }
        out.set(cell, ids[id]);
    });
    return out;
}

GroupId Level::add_group(Grid grid, const GroupSettings& settings) {
    const Recorded call(log_of(*state_), Call::add_group, grid, settings);
    if (!may_be_group(grid.bounds())) return {};
    const Group* group = create_group(*state_, std::move(grid), Joins(), settings);
    return group ? group->id : GroupId{};
}

void Level::remove_group(GroupId id) {
    const Recorded call(log_of(*state_), Call::remove_group, id);
    if (Group* group = state_->find(id)) {
        state_->destroyed += group->grid.block_count();
        destroy_group(*state_, *group);
    }
}

bool Level::exists(GroupId id) const { return state_->find(id) != nullptr; }

std::optional<GroupView> Level::group(GroupId id) const {
    const Group* g = state_->find(id);
    if (!g) return std::nullopt;
    return g->view();
}

std::vector<GroupId> Level::groups() const { return state_->ids(); }

bool Level::remove_block(GroupId id, Cell cell, Cause cause) {
    const Recorded call(log_of(*state_), Call::remove_block, id, cell, cause);
    Group* group = state_->find(id);
    if (!group || !group->grid.has(cell)) return false;
    if (!may_break(*state_, group->grid.get(cell), block_center(*state_, *group, cell), cause)) return false;
    take_block(*state_, *group, cell, cause);
    return true;
}

bool Level::place_block(GroupId id, Cell cell, BlockId block) {
    const Recorded call(log_of(*state_), Call::place_block, id, cell, block);
    Group* group = state_->find(id);
    if (!group || block == kAir || group->grid.has(cell)) return false;
    CellBox box = group->grid.bounds();
    box.min = {std::min(box.min.x, cell.x), std::min(box.min.y, cell.y), std::min(box.min.z, cell.z)};
    box.max = {std::max(box.max.x, cell.x), std::max(box.max.y, cell.y), std::max(box.max.z, cell.z)};
    if (!may_be_group(box)) return false;
    put_block(*state_, *group, cell, block);
    return true;
}

float Level::wear_of(GroupId id, Cell cell) const {
    const Group* group = state_->find(id);
    if (!group) return 0;
    const float* wear = group->wear.find(cell);
    return wear ? *wear : 0;
}

bool Level::wear_down(GroupId id, Cell cell, float amount) {
    const Recorded call(log_of(*state_), Call::wear_down, id, cell, amount);
    Group* group = state_->find(id);
    return group && add_wear(*state_, *group, cell, amount);
}

std::size_t Level::carve(const DBox& box) {
    const Recorded call(log_of(*state_), Call::carve, box);
    dig_smooth(*state_, box, [&](DVec3 p) { return depth_in_box(box, p); });
    return carve_where(*state_, box, [](DVec3) { return true; });
}

std::size_t Level::carve_sphere(DVec3 center, double radius) {
    const Recorded call(log_of(*state_), Call::carve_sphere, center, radius);
    return carve_capsule(center, center, radius);
}

std::size_t Level::carve_capsule(DVec3 a, DVec3 b, double radius) {
    const Recorded call(log_of(*state_), Call::carve_capsule, a, b, radius);
    const DVec3 r{radius, radius, radius};
    const DVec3 axis = b - a;
    const double square = dot(axis, axis);
    auto from_axis = [&](DVec3 p) {
        const double along = square > 0 ? std::clamp(dot(p - a, axis) / square, 0.0, 1.0) : 0;
        return p - (a + axis * along);
    };
    const DBox box{min(a, b) - r, max(a, b) + r};
    dig_smooth(*state_, box, [&](DVec3 p) { return radius - length(from_axis(p)); });
    return carve_where(*state_, box, [&](DVec3 p) {
        const DVec3 d = from_axis(p);
        return dot(d, d) <= radius * radius;
    });
}

std::size_t Level::blast(DVec3 center, float power) {
    const Recorded call(log_of(*state_), Call::blast, center, power);
    return explode(*state_, center, power);
}

void Level::check_structure_soon(GroupId id) {
    const Recorded call(log_of(*state_), Call::check_group_soon, id);
    if (Group* group = state_->find(id)) group->check_wanted = true;
}

void Level::set_structure_mode(GroupId id, std::optional<StructureMode> mode) {
    const Recorded call(log_of(*state_), Call::set_group_mode, id, mode);
    if (Group* group = state_->find(id)) group->mode = mode;
}

std::span<const LevelEvent> Level::events() const { return state_->events; }
void Level::clear_events() {
    clear_scratch(state_->events);
    clear_scratch(state_->event_bonds);
}

LevelStats Level::stats() const {
    LevelStats out;
    out.tick = state_->tick;
    for (const auto& slot : state_->slots) {
        if (!slot) continue;
        out.groups++;
        out.awake += !slot->body.is_asleep();
        out.blocks += slot->grid.block_count();
    }
    for (const auto& slot : state_->structure_slots) out.structures += slot != nullptr;
    out.destroyed = state_->destroyed;
    out.fallen_out = state_->fallen_out;
    out.drops = state_->drops;
    return out;
}

std::optional<Level::Hit> Level::cast_ray(DVec3 origin, Vec3 direction, float max_distance) const {
    const LevelState& level = *state_;
    const float e = level.settings.cell_size;
    const Vec3 d = to_float(normalized(to_double(direction)));
    if (!is_finite(origin) || !is_finite(direction) || d == Vec3{}) return std::nullopt;
    constexpr float kFarthest = 1e10f;  // m: beyond, there is nothing
    std::optional<Hit> best;
    float reach = max_distance < kFarthest ? max_distance : kFarthest;
    auto axis_vector = [](Cell n) { return Vec3{float(n.x), float(n.y), float(n.z)}; };
    auto cell_of = [&](DVec3 p) { return to_cell(p / double(e)); };
    auto take = [&](const std::optional<RayHit>& hit, std::optional<GroupId> group) {
        if (!hit || hit->distance > reach || (best && hit->distance >= reach)) return;
        reach = hit->distance;
        Hit& h = best.emplace();
        h.group = group;
        h.cell = hit->cell;
        h.normal = hit->normal;
        h.point = origin + to_double(d * hit->distance);
        h.distance = hit->distance;
    };
    take(talus::cast_ray(level.terrain(), e, origin, d, reach), std::nullopt);
    if (best) best->outward = axis_vector(best->normal);
    for (const auto& slot : level.slots) {
        if (!slot || !slot->body.exists()) continue;
        const DVec3 local = to_double(slot->body.to_local(origin));
        if (!may_meet(slot->grid.bounds(), local / double(e), slot->body.direction_to_local(d))) continue;
        take(talus::cast_ray(slot->grid, e, local, slot->body.direction_to_local(d), reach), slot->id);
        if (best && best->group == slot->id)
            best->outward = slot->body.direction_to_world(axis_vector(best->normal));
    }
    if (const SmoothGround* ground = smooth_ground(level)) {
        Vec3 out;
        const float t = march_to(*ground, origin, d, reach, 0, e, out);
        if (t < reach) {
            reach = t;
            best.emplace();
            best->smooth = true;
            best->outward = out;
            best->distance = t;
            best->point = origin + to_double(d) * double(t);
            best->cell = cell_of(best->point);
        }
    }
    if (level.settings.ground && d.y < 0 && origin.y >= *level.settings.ground) {
        const double t = (*level.settings.ground - origin.y) / double(d.y);
        if (t < double(reach)) {
            best.emplace();
            best->ground = true;
            best->normal = {0, 1, 0};
            best->outward = {0, 1, 0};
            best->distance = float(t);
            best->point = origin + to_double(d) * t;
            best->cell = cell_of(best->point);
            best->cell.y = cell_of({0, *level.settings.ground, 0}).y - 1;
        }
    }
    return best;
}

}  // namespace talus
