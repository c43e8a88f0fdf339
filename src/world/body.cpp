#include "world/level_state.h"

namespace talus {

namespace {

constexpr int kCreepAge = 40;         // ticks before a group may be put to sleep for creeping
constexpr int kCreepTicks = 30;       // in a row
constexpr float kCreepSpeed = 0.12f;  // m/s
constexpr float kCreepSpin = 0.06f;   // rad/s
constexpr double kFallCells = 64;     // below the world's floor
constexpr double kStir = 0.1;         // cells that debris may shift in its sleep

}  // namespace

bool stay_in_world(LevelState& level, Group& group) {
    const double lowest = level.settings.floor - kFallCells * double(level.settings.cell_size);
    if (!(group.body.center_of_mass().y < lowest)) return true;
    level.destroyed += group.grid.block_count();
    level.fallen_out += group.grid.block_count();
    destroy_group(level, group);
    return false;
}

bool update_body(LevelState& level, Group& group) {
    if (group.changes.empty()) return true;
    group.body.change_blocks(level.table, group.changes);
    drop(group.changes);
    if (group.slippery_until == 0)
        group.body.set_friction(group.body.shape().mean_friction(BodySettings{}.friction));
    return true;
}

bool restore_friction(LevelState& level, Group& group) {
    if (group.slippery_until == 0 || level.tick < group.slippery_until) return true;
    group.slippery_until = 0;
    group.body.set_friction(group.body.shape().mean_friction(BodySettings{}.friction));
    return true;
}

bool creep_to_sleep(LevelState& level, Group& group) {
    const bool may = !group.body.is_asleep() && level.tick >= group.created_tick + kCreepAge;
    const bool creeps =
        may && length(group.body.velocity()) < kCreepSpeed && length(group.body.spin()) < kCreepSpin;
    group.creeping_ticks = creeps ? group.creeping_ticks + 1 : 0;
    if (group.creeping_ticks >= kCreepTicks) {
        group.body.sleep();
        group.creeping_ticks = 0;
    }
    return true;
}

bool notice_sleep(LevelState& level, Group& group) {
    const bool asleep = group.body.is_asleep();
    if (asleep && !group.was_asleep && group.bears()) group.check_wanted = true;
    group.was_asleep = asleep;
    // A stir that leaves it where it lies does not start its time anew: in a heap each piece that crumbles
    // wakes those around.
    const DVec3 at = group.body.center_of_mass();
    if (length(at - group.rest_at) > kStir * double(level.settings.cell_size)) {
        group.rest_at = at;
        group.asleep_ticks = 0;
    }
    group.asleep_ticks += asleep;
    return true;
}

bool is_quiet(const Group& group) {
    return group.was_asleep && group.changes.empty() && !group.whole_look && !group.check_wanted &&
           !group.check && group.removed_solids.empty() && group.breaking.empty() &&
           group.slippery_until == 0 && !group.type() && group.body.is_asleep();
}

}  // namespace talus
