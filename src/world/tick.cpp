// tick.cpp - one tick of a level, in order. Section 9 of the specification is the model; steps of systems
// that do not exist yet (joints, vehicles, riders, fluids) are missing, none is reordered.
#include "world/level_state.h"

namespace talus {

namespace {

void tick_group(LevelState& level, Group& group) {
    if (discard_below_world(level, group)) return;
    if (!break_up_without_solids(level, group)) return;
    if (!split_loose_parts(level, group, Cause::script)) return;
    update_body(level, group);
    restore_friction(level, group);
    creep_to_sleep(level, group);
    if (!crumble_debris(level, group)) return;
    remove_broken_blocks(level, group);
    if (!break_up_without_solids(level, group)) return;
    if (!split_loose_parts(level, group, Cause::impact)) return;
    ask_after_falling_asleep(level, group);
    if (!structural_check(level, group)) return;
    update_body(level, group);
}

}  // namespace

void Level::tick() {
    LevelState& level = *state_;
    level.tick++;
    wear_by_impacts(level);
    for (GroupId id : level.ids())
        if (Group* group = level.find(id)) tick_group(level, *group);
    if (level.host_terrain) level.host_terrain->update(level.space, level.dt());
    level.space.step(level.dt());
}

}  // namespace talus
