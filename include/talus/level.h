// level.h - one world: terrain, groups of blocks that move, and the tick that joins them.
//
// Layer: world. SI units; world positions double, +Y up. Cells of the terrain: cell (x,y,z) is the cube from
// (x,y,z) * cell_size. A group's own grid is its frame: the group's pose places that frame in the world.
// A Level is used from one thread; background work goes through its JobSystem and is applied at a tick fixed
// when it is asked for, so the same calls give the same bits for any number of threads.
// Tests: tests/world/
#pragma once

#include "talus/grid.h"
#include "talus/jobs.h"
#include "talus/space.h"
#include "talus/structure.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace talus {

struct GroupId {
    std::uint32_t index = 0, generation = 0;
    friend constexpr bool operator==(GroupId, GroupId) = default;
};

/// Terrain that bears load in place.
struct StructureId {
    std::uint32_t index = 0, generation = 0;
    friend constexpr bool operator==(StructureId, StructureId) = default;
};

/// Why a block left: decides drops and debris.
enum class Cause : std::uint8_t { mined, blast, impact, carve, fire, collapse, debris, script };

struct LevelSettings {
    float cell_size = 1;  ///< metres
    Vec3 gravity{0, -9.81f, 0};
    std::uint64_t seed = 1;  ///< of the level's own generator (drops)
    int ticks_per_second = 20;
    std::optional<double> ground{};  ///< a flat floor: solid everywhere below this height
    double floor = 0;                ///< lowest height of the world; groups 64 cells below it are removed
    bool collapse = true;            ///< structural checks
    StructureSettings structure{};
    int structure_max_solids = 4'000'000;  ///< bigger groups are not judged
    float strength_factor = 1;             ///< on every block's strength
    float structure_max_tilt = 25;         ///< degrees between the group's up and the world's
    int debris_max_blocks = 3;             ///< pieces of at most this many blocks crumble ...
    int debris_ticks = 1200;               ///< ... after so many ticks asleep; 0 = never
    float impact_speed = 7;                ///< m/s above which a hit wears blocks
    bool structures_grow = true;           ///< a block put into the terrain joins the structure it touches
    JobSystem* jobs = nullptr;
    LogSink* log = nullptr;
    ProfileSink* profile = nullptr;  ///< told of each step of a tick
};

struct GroupSettings {
    Pose pose{};
    Vec3 velocity{}, spin{};
    bool bears_load = false;  ///< judged by the structural solver, worn by hits
    bool asleep = false;
    std::optional<StructureMode> structure_mode{};  ///< none: the level's
};

/// Read view of a structure. Valid until the next call that changes the level.
struct StructureView {
    StructureId id;
    const Grid* grid = nullptr;  ///< its blocks, in the terrain's cells
    std::optional<StructureMode> mode{};
    bool waits_for_check = false;  ///< asked for, or under way
};

/// Read view of a group. Valid until the next call that changes the level.
struct GroupView {
    GroupId id;
    const Grid* grid = nullptr;
    Body body;
    Pose pose{};
    bool bears_load = false;
    bool asleep = false;
    std::uint64_t created_tick = 0;
};

/// What changed since the events were last cleared, in order: enough to keep a copy elsewhere up to date.
struct LevelEvent {
    enum class Kind : std::uint8_t {
        group_added,      ///< group: read its grid
        group_removed,    ///< group is gone
        group_block,      ///< group, cell, block (kAir when removed)
        terrain_block,    ///< cell, block
        bonds_broken,     ///< group, count: dust and sound
        block_destroyed,  ///< group (or none: terrain), cell, block = what it was, cause, point
        impact,           ///< group, block, other_block (air: the flat floor), point, value = impulse N s
        blast,            ///< point, value = power
    };
    Kind kind;
    GroupId group{};
    Cell cell{};
    BlockId block = kAir, other_block = kAir;
    Cause cause = Cause::script;
    DVec3 point{};
    float value = 0;
};

struct LevelStats {
    std::uint64_t tick = 0;
    std::size_t groups = 0, awake = 0;
    std::size_t structures = 0;
    std::size_t blocks = 0;        ///< in groups
    std::uint64_t destroyed = 0;   ///< blocks, since the start
    std::uint64_t fallen_out = 0;  ///< of those, blocks of groups that fell below the world
};

class Level {
 public:
    explicit Level(const LevelSettings& settings = {});
    ~Level();
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

    const LevelSettings& settings() const;
    /// Shared by the terrain and every group.
    BlockTable& table();
    const BlockTable& table() const;
    Space& space();

    /// The level's own terrain, or what is known of the host's.
    const Grid& terrain() const;
    /// @return what was there. A host may refuse (TerrainSource::set_block): then nothing changes.
    BlockId set_terrain(Cell cell, BlockId block);

    /// The terrain is the host's from now on (null: the level's own again): copied around the bodies, polled
    /// for changes. `source` must outlive the level or be taken away first; its ids are of this level's
    /// table.
    void set_terrain_source(TerrainSource* source);
    /// The host says that these cells of its terrain changed.
    void terrain_changed(const CellBox& cells);

    /// Marks terrain as a structure, which bears load where it is: the solver judges it when blocks of it are
    /// gone or what it stands on is, damage wears it, and what falls becomes groups. Air, unbreakable blocks
    /// and blocks of other structures are left out. Costs nothing while nothing happens to it.
    /// @return an invalid id when there is no solid to mark
    StructureId mark_structure(const CellBox& box, std::optional<StructureMode> mode = {});
    StructureId mark_structure(std::span<const Cell> cells, std::optional<StructureMode> mode = {});
    /// The build joined to a block, within a box (which keeps the ground out). @return an invalid id when
    /// there is none or it has over `max_blocks` blocks
    StructureId mark_connected(Cell block, const CellBox& within, std::size_t max_blocks,
                               std::optional<StructureMode> mode = {});
    /// More terrain for a structure; asks for a check. @return blocks added
    std::size_t add_to_structure(StructureId id, const CellBox& box);
    /// Its blocks stay as plain terrain.
    void unmark_structure(StructureId id);
    std::optional<StructureView> structure(StructureId id) const;
    /// The structure a terrain block belongs to.
    std::optional<StructureId> structure_at(Cell cell) const;
    /// Every structure in id order (index).
    std::vector<StructureId> structures() const;

    /// A copy of a grid that uses another table, with ids of this level's table.
    Grid import(const Grid& grid);
    /// Empty grids (or grids of another table: assert) make no group: the id is then invalid.
    GroupId add_group(Grid grid, const GroupSettings& settings);
    void remove_group(GroupId id);
    bool exists(GroupId id) const;
    std::optional<GroupView> group(GroupId id) const;
    /// Every group in id order (index).
    std::vector<GroupId> groups() const;

    /// Removes one block; splitting and the structural check follow in the next tick.
    /// @return false when there was none
    bool remove_block(GroupId id, Cell cell, Cause cause = Cause::mined);
    /// @return false when the cell is taken or the group is gone
    bool place_block(GroupId id, Cell cell, BlockId block);
    /// Share of the block's life used, 0..1.
    float wear_of(GroupId id, Cell cell) const;
    /// @return true when it reaches 1: the caller removes the block
    bool wear_down(GroupId id, Cell cell, float amount);
    /// The same for a terrain block of a structure; others do not wear.
    float wear_of(Cell cell) const;
    bool wear_down(Cell cell, float amount);

    /// Remove every block (groups and terrain) whose centre is inside; no drops. @return how many
    std::size_t carve(const DBox& box);
    std::size_t carve_sphere(DVec3 center, double radius);
    std::size_t carve_capsule(DVec3 a, DVec3 b, double radius);
    /// An explosion of the given power (TNT 4). @return blocks destroyed
    std::size_t blast(DVec3 center, float power);

    /// Asks for a structural check; its answer is applied at a later tick.
    void check_structure_soon(GroupId id);
    void check_structure_soon(StructureId id);
    /// What the next checks are made with; none: the level's setting.
    void set_structure_mode(GroupId id, std::optional<StructureMode> mode);
    void set_structure_mode(StructureId id, std::optional<StructureMode> mode);

    /// Advances the world by one tick.
    void tick();

    std::span<const LevelEvent> events() const;
    void clear_events();
    LevelStats stats() const;
    /// Over the bits of pose, velocity and blocks of every group in id order.
    std::uint64_t hash() const;

    struct Hit {
        std::optional<GroupId> group;  ///< none: terrain or ground
        Cell cell;                     ///< in the group's grid or the terrain
        Cell normal;                   ///< face, in the same frame
        DVec3 point;
        float distance = 0;
        bool ground = false;  ///< the flat floor below the blocks
    };
    std::optional<Hit> cast_ray(DVec3 origin, Vec3 direction, float max_distance) const;

    struct State;
    State& state() { return *state_; }
    const State& state() const { return *state_; }

 private:
    std::unique_ptr<State> state_;
};

}  // namespace talus
