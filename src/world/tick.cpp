// tick.cpp - one tick of a level, in order. Section 9 of the specification is the model; steps of systems
// that do not exist yet (joints, vehicles, riders, fluids) are missing, none is reordered.
#include "world/level_state.h"

namespace talus {

namespace {

constexpr std::uint32_t kPackTicks = 64;  // asleep: then, and so often again if somebody looked into it

/// One line of the tick of a group. `run` returns false when the group is gone.
struct GroupStep {
    const char* name;
    bool (*run)(LevelState&, Group&);
};

constexpr GroupStep kGroupSteps[] = {
    {"stay in the world", stay_in_world},
    {"hold together", keep_solids},
    {"split loose parts", split_loose_parts},
    {"shape of the body", update_body},
    {"friction of fresh pieces", restore_friction},
    {"pose, for its type", pose_hook},
    {"creep to sleep", creep_to_sleep},
    {"awake, for its type", awake_hook},
    {"debris", crumble_debris},
    {"blocks broken by impacts", remove_broken_blocks},
    {"split what impacts freed", split_loose_parts},
    {"falling asleep", notice_sleep},
    {"structure", structural_check},
    {"settled, for its type", settle_hook},
    {"split what its type freed", split_loose_parts},
    {"shape after collapse", update_body},
    {"end, for its type", end_tick_hook},
};

/// Tells the host's profiler where time goes.
class Zone {
 public:
    Zone(ProfileSink* sink, const char* name) : sink_(sink) {
        if (sink_) sink_->enter(name);
    }
    ~Zone() {
        if (sink_) sink_->leave();
    }
    Zone(const Zone&) = delete;
    Zone& operator=(const Zone&) = delete;

 private:
    ProfileSink* sink_;
};

void tick_group(LevelState& level, Group& group) {
    if (is_quiet(group)) {
        if (crumble_debris(level, group) && ++group.asleep_ticks % kPackTicks == 0) group.grid.pack();
        return;
    }
    for (const GroupStep& step : kGroupSteps) {
        const Zone zone(level.settings.profile, step.name);
        if (!step.run(level, group)) return;
    }
}

}  // namespace

void Level::tick() {
    LevelState& level = *state_;
    if (level.ticking) {
        if (level.settings.log)
            level.settings.log->log(LogLevel::warning, "a tick inside of a tick does nothing");
        return;
    }
    level.ticking = true;
    const Recorded call(log_of(level), Call::tick);
    ProfileSink* profile = level.settings.profile;
    level.tick++;
    begin_work(level);
    {
        const Zone zone(profile, "wear by impacts");
        wear_by_impacts(level);
    }
    for (GroupId id : level.ids())
        if (Group* group = level.find(id)) tick_group(level, *group);
    {
        const Zone zone(profile, "structures of the terrain");
        tick_structures(level);
    }
    end_work(level);
    limit_debris(level);
    forget_shapes(level);
    if (level.host_terrain) {
        const Zone zone(profile, "terrain of the host");
        level.host_terrain->update(level.space, level.dt(), level.settings.floor);
    }
    if (level.smooth) {
        const Zone zone(profile, "smooth terrain");
        level.smooth->field.prepare(level.space);
    }
    {
        const Zone zone(profile, "physics");
        level.space.step(level.dt());
    }
    end_recorded_tick(level);
    level.ticking = false;
}

}  // namespace talus
