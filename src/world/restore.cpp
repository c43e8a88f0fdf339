#include "dynamics/state.h"
#include "world/level_state.h"
#include "world/structure_check.h"

#include <cassert>

namespace talus {

GroupRecord record_of(const LevelState& level, const Group& group) {
    GroupRecord out;
    const Body& body = group.body;
    out.id = group.id;
    out.center = body.center_of_mass();
    out.rotation = body.pose().rotation;
    out.velocity = body.velocity();
    out.spin = body.spin();
    if (!group.changes.empty())  // the body that comes back has the blocks of now, and so their centre
        if (const auto properties = to_mass_properties(moments_of(level, group))) {
            out.center = body.to_world(to_float(properties->center));
            out.velocity = body.velocity_at(out.center);
        }
    out.asleep = body.is_asleep();
    if (const auto* held = level.host_terrain ? level.host_terrain->held(body) : nullptr) {
        out.velocity += held->velocity;
        out.spin += held->spin;
        out.asleep = out.asleep && held->was_asleep;
    }
    // A body that was just given nonsense is quarantined in the next step only.
    if (!is_finite(out.center)) out.center = {};
    for (int k = 0; k < 3; k++) {
        double& x = out.center[k];
        x = x > kMaxRecordPosition ? kMaxRecordPosition : x < -kMaxRecordPosition ? -kMaxRecordPosition : x;
    }
    const Quat q = out.rotation;
    if (!std::isfinite(q.x + q.y + q.z + q.w)) out.rotation = {};
    if (!is_finite(out.velocity) || !is_finite(out.spin)) out.velocity = out.spin = {};
    out.bears_load = group.bears_load;
    out.is_debris = group.is_debris;
    out.whole_look = group.whole_look || !group.removed_solids.empty();
    out.broke_off = group.broke_off;
    out.check_wanted = group.check_wanted || group.check;
    out.created_tick = group.created_tick;
    out.slippery_until = group.slippery_until;
    out.asleep_ticks = group.asleep_ticks;
    out.creeping_ticks = group.creeping_ticks;
    out.debris_ticks = group.debris_ticks;
    out.mode = group.mode ? std::int32_t(*group.mode) : -1;
    if (group.kind) out.type = group.kind->first;
    return out;
}

void restore_group(LevelState& level, Grid grid, Joins joins, const GroupRecord& record) {
    const std::size_t slot = record.id.index - 1;
    assert(slot < level.slots.size() && !level.slots[slot]);
    assert(level.generations[slot] == record.id.generation);
    level.slots[slot] = std::make_unique<Group>(std::move(grid));
    Group& group = *level.slots[slot];
    group.id = record.id;
    group.joins = std::move(joins);
    group.bears_load = record.bears_load;
    group.is_debris = record.is_debris;
    group.created_tick = record.created_tick;
    group.slippery_until = record.slippery_until;
    group.asleep_ticks = record.asleep_ticks;
    group.rest_at = record.center;
    group.creeping_ticks = record.creeping_ticks;
    group.debris_ticks = record.debris_ticks;
    if (record.mode >= 0) group.mode = StructureMode(record.mode);
    group.kind = find_kind(level, record.type);
    group.was_asleep = record.asleep;
    group.whole_look = record.whole_look;
    group.broke_off = record.broke_off;
    group.check_wanted = record.check_wanted;

    const BodyShape shape = BodyShape::from_grid(group.grid, level.settings.cell_size);
    if (shape.is_empty()) return;
    BodySettings body;
    body.pose = {record.center, record.rotation};
    body.asleep = record.asleep;
    body.friction = record.slippery_until ? kSlipperyFriction : shape.mean_friction(body.friction);
    group.body = level.space.add_body(shape, body);
    level.know_body(group);
    // The body keeps its centre, not the origin of its frame, and its rotation as it is: the way through a
    // pose would round both anew.
    BodyStore& bodies = level.space.state().bodies;
    const std::size_t i = group.body.id().index;
    BodyHot& hot = bodies.hot[i];
    BodyCold& cold = bodies.cold[i];
    cold.rotation = cold.rest_rotation = record.rotation;
    hot.position = cold.rest_position = cold.sleep_position = record.center;
    if (!hot.asleep) {
        hot.velocity = record.velocity;
        hot.spin = record.spin;
    }
    bodies.refresh_pose(std::int32_t(i));
}

StructureRecord record_of(const Structure& structure) {
    return {structure.id, structure.check_wanted || structure.check,
            structure.mode ? std::int32_t(*structure.mode) : -1,
            structure.kind ? structure.kind->first : std::string()};
}

void restore_structure(LevelState& level, Grid grid, const StructureRecord& record) {
    const std::size_t slot = record.id.index - 1;
    assert(slot < level.structure_slots.size() && !level.structure_slots[slot]);
    level.structure_slots[slot] = std::make_unique<Structure>(std::move(grid));
    Structure& structure = *level.structure_slots[slot];
    structure.id = record.id;
    if (record.mode >= 0) structure.mode = StructureMode(record.mode);
    structure.kind = find_kind(level, record.type);
    structure.check_wanted = record.check_wanted;
    if (structure.check_wanted) put_to_work(level, structure);
    note_bricks(level, structure);
}

}  // namespace talus
