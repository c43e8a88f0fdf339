// group.h - blocks that move as one rigid body, and terrain that bears load, as the world keeps them.
// Internal.
//
// Layer: world. Frame: the build's grid; a group's body places that frame, a structure's is the terrain's.
#pragma once

#include "base/give_back.h"
#include "connect/joins.h"
#include "grid/cell_map.h"
#include "mass/group_mass.h"
#include "talus/group_type.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace talus {

constexpr float kSlipperyFriction = 0.05f;  ///< of a piece that broke off, for its first ticks

/// A structural check under way: made from a copy of the build, run in the background, applied at `due_tick`.
struct StructureCheck;

/// A type of groups by its name; null while nobody added it.
using Kind = std::pair<const std::string, GroupType*>;

/// What the structural solver judges and damage wears: the blocks of a group, or terrain marked as a
/// structure.
struct Build {
    Grid grid;
    std::optional<StructureMode> mode;  ///< none: the level's
    CellMap<float> wear;                ///< 0 < share < 1 of worn blocks
    std::vector<Cell> breaking;         ///< worn through in this tick: leave at its end
    bool check_wanted = false;
    std::unique_ptr<StructureCheck> check;
    const Kind* kind = nullptr;  ///< in Level::State::types; null: plain

    explicit Build(Grid blocks);
    Build(const Build&) = delete;
    Build& operator=(const Build&) = delete;
    virtual ~Build();
    virtual bool bears_by_itself() const = 0;
    /// Orders groups and structures; never 0.
    virtual std::uint64_t work_key() const = 0;
    GroupType* type() const { return kind ? kind->second : nullptr; }
    virtual GroupView view() const = 0;
    bool bears() const { return kind && kind->second ? kind->second->bears_load(view()) : bears_by_itself(); }
};

/// Terrain that bears load. `grid` holds the terrain's blocks that belong to it, in the terrain's cells: a
/// copy, so that it can be judged where a host's terrain is not cached, and so that a change is noticed.
struct Structure : Build {
    StructureId id;
    using Build::Build;
    GroupView view() const override;  ///< of no group
    bool bears_by_itself() const override { return true; }
    std::uint64_t work_key() const override { return std::uint64_t(1) << 32 | id.index; }
};

struct Group : Build {
    GroupId id;
    Joins joins;
    Body body;
    bool bears_load = false;
    bool is_debris = false;  ///< came off, and small: crumbles when long asleep
    std::uint64_t created_tick = 0;
    std::uint64_t slippery_until = 0;  ///< tick at which a fresh piece gets its own friction back
    std::int32_t debris_ticks = -1;    ///< of set_debris(); -1: the level's
    std::uint32_t asleep_ticks = 0;
    std::uint32_t creeping_ticks = 0;
    bool was_asleep = false;
    bool came_off = false;  ///< by force, from a build: debris as soon as force has left few blocks of it
    DVec3 rest_at;          ///< asleep_ticks are counted since it came here

    std::vector<Cell> removed_solids;  ///< since the last look for loose parts
    bool whole_look = true;            ///< never looked at as a whole: may be several parts from the start
    std::vector<BlockChange> changes;  ///< of blocks, since the body's shape was brought up to date
    bool broke_off = false;  ///< the last blocks left by force: what splits off is debris and slippery

    using Build::Build;
    GroupView view() const override;
    bool bears_by_itself() const override { return bears_load; }
    std::uint64_t work_key() const override { return id.index; }
};

}  // namespace talus
