// hooks.cpp - the steps of a group's type in its tick. A hook may remove its group.
#include "world/level_state.h"

namespace talus {

namespace {

template <class Call>
bool call(LevelState& level, Group& group, Call&& hook) {
    GroupType* type = group.type();
    if (!type) return true;
    const GroupId id = group.id;
    hook(*type, id);
    return level.find(id) != nullptr;
}

}  // namespace

bool pose_hook(LevelState& level, Group& group) {
    return call(level, group,
                [&](GroupType& type, GroupId id) { type.on_pose(level.self, id, group.body.pose()); });
}
bool awake_hook(LevelState& level, Group& group) {
    if (group.body.is_asleep()) return true;
    return call(level, group, [&](GroupType& type, GroupId id) { type.on_awake(level.self, id); });
}
bool settle_hook(LevelState& level, Group& group) {
    return call(level, group, [&](GroupType& type, GroupId id) { type.on_settle(level.self, id); });
}
bool end_tick_hook(LevelState& level, Group& group) {
    return call(level, group, [&](GroupType& type, GroupId id) { type.on_end_tick(level.self, id); });
}

}  // namespace talus
