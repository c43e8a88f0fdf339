// collapse_scene.h - builds that come down, each in a way of its own: `talus collapse NAME`, the sandbox's
// menu and the golden tests run the same ones.
//
// Cells of 1 m, +Y up, flat ground at y = 0. A scene is built into an empty level of
// collapse_scene_settings() and stands; its action is what brings it down. Functions keep no state: what an
// action meets is found in the level as it is then. Deterministic. Tests: tests/world/collapse_scene_test.cpp
#pragma once

#include "talus/level.h"

#include <span>
#include <string_view>

namespace talus {

struct CollapseScene {
    const char* name;    ///< one word, for the command line
    const char* title;   ///< for people
    const char* action;  ///< words on a button
    int action_ticks;    ///< how long its action takes
    int ticks;           ///< from the start of its action until what happens has happened
    void (*build)(Level& level);
    /// Call it before each tick, with tick = 0 .. action_ticks - 1 since the action was started.
    void (*act)(Level& level, int tick);
};

std::span<const CollapseScene> collapse_scenes();
/// @return nullptr when there is none of that name
const CollapseScene* find_collapse_scene(std::string_view name);
LevelSettings collapse_scene_settings();
/// Builds the scene, starts its action at once and runs its ticks.
void run_collapse_scene(Level& level, const CollapseScene& scene);

}  // namespace talus
