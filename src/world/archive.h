// archive.h - ids, settings and grids of a level as bytes (base/archive.h).
//
// Layer: world. Tests: tests/world/recording_test.cpp, tests/world/snapshot_test.cpp
#pragma once

#include "grid/archive.h"
#include "talus/level.h"

#include <cstddef>

namespace talus {

template <class A, MaybeConst<GroupId> T>
void archive(A& a, T& v) {
    a(v.index, v.generation);
}

template <class A, MaybeConst<StructureId> T>
void archive(A& a, T& v) {
    a(v.index, v.generation);
}

template <class A, MaybeConst<GroupSettings> T>
void archive(A& a, T& v) {
    a(v.pose, v.velocity, v.spin, v.bears_load, v.asleep, v.structure_mode, v.type);
}

template <class A, MaybeConst<MarkSettings> T>
void archive(A& a, T& v) {
    a(v.mode, v.type);
}

template <class A, MaybeConst<SettleSettings> T>
void archive(A& a, T& v) {
    a(v.max_tilt, v.max_offset, v.drop_the_rest);
}

// f(name, value, lowest, highest) for each. The order is that of saves and snapshots.

template <class Settings, class F>
void each_setting(Settings& s, F&& f) {
    constexpr double any = 3.4028234663852886e38;
    f("cell_size", s.cell_size, 1e-3, 1e3);
    f("gravity_x", s.gravity.x, -1e6, 1e6);
    f("gravity_y", s.gravity.y, -1e6, 1e6);
    f("gravity_z", s.gravity.z, -1e6, 1e6);
    f("seed", s.seed, 0, 0);
    f("ticks_per_second", s.ticks_per_second, 1, 10'000);
    f("ground", s.ground, -1e9, 1e9);
    f("floor", s.floor, -1e12, 1e12);
    f("collapse", s.collapse, 0, 1);
    f("structure_max_solids", s.structure_max_solids, 0, 2e9);
    f("strength_factor", s.strength_factor, 0, any);
    f("structure_max_tilt", s.structure_max_tilt, 0, 360);
    f("debris_max_blocks", s.debris_max_blocks, 0, 2e9);
    f("debris_ticks", s.debris_ticks, 0, 2e9);
    f("impact_speed", s.impact_speed, 0, any);
    f("structures_grow", s.structures_grow, 0, 1);
    f("debris_max_groups", s.debris_max_groups, 0, 2e9);
    f("collapse_max_pieces", s.collapse_max_pieces, 0, 2e9);
    f("collapse_max_blocks", s.collapse_max_blocks, 0, 2e9);
    f("beyond_cap", s.beyond_cap, 0, 1);
    f("work_per_tick", s.work_per_tick, 0, 2e9);
    f("structure_mode", s.structure.mode, 0, 1);
    f("structure_up", s.structure.up, 0, 5);
    f("hanging_capacity", s.structure.hanging_capacity, 0, any);
    f("sideways_capacity", s.structure.sideways_capacity, 0, any);
    f("standing_capacity", s.structure.standing_capacity, 0, any);
    f("max_rounds", s.structure.max_rounds, 1, 10'000);
    f("max_weighings", s.structure.max_weighings, 0, 10'000);
    f("limit_factor", s.structure.limit_factor, 0, any);
    f("no_tension", s.structure.no_tension, 0, 1);
    f("tolerance", s.structure.tolerance, 0, 1);
    f("local_slack", s.structure.local_slack, 0, any);
    f("max_iterations", s.structure.max_iterations, 0, 10'000);
    f("max_batches", s.structure.max_batches, 0, 10'000);
    f("max_thrusts", s.structure.max_thrusts, 0, 50'000);
    f("max_work", s.structure.max_work, 0, 1e10);
}

// Whoever adds a setting adds it above: what a level forgets of its settings, a snapshot, a save and a
// replay forget too. (Those of the structure not there are the level's own: cell size and gravity.)
static_assert(offsetof(LevelSettings, jobs) == 224 && sizeof(StructureSettings) == 112);

template <class A, MaybeConst<LevelSettings> T>
void archive(A& a, T& s) {
    each_setting(s, [&](const char* name, auto& v, double lowest, double highest) {
        a.limited(name, v, lowest, highest);
    });
}

/// Each number brought into its limits: else a snapshot of the level could not be restored.
inline LevelSettings within_limits(LevelSettings s) {
    each_setting(s, [](const char*, auto& v, double lowest, double highest) {
        using T = std::remove_reference_t<decltype(v)>;
        const auto limited = [&](double x) { return x > highest ? highest : x > lowest ? x : lowest; };
        if constexpr (std::is_same_v<T, std::optional<double>>) {
            if (v) v = limited(*v);
        } else if constexpr (!std::is_same_v<T, std::uint64_t>) {
            if (!(double(v) >= lowest && double(v) <= highest)) v = T(limited(double(v)));
        }
    });
    return s;
}

/// Of the level, besides its settings.
template <class State, class F>
void each_counter(State& s, F&& f) {
    f("random", s.random.state, 0, 0);
    f("tick", s.tick, 0, 0);
    f("destroyed", s.destroyed, 0, 0);
    f("fallen_out", s.fallen_out, 0, 0);
    f("drops", s.drops, 0, 0);
    f("last_region", s.last_region, 0, 4294967295.0);
}

}  // namespace talus
