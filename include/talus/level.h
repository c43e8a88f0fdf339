// level.h - one world: terrain, groups of blocks that move, and the tick that joins them.
//
// Layer: world. SI units; world positions double, +Y up. Cells of the terrain: cell (x,y,z) is the cube from
// (x,y,z) * cell_size. A group's own grid is its frame: the group's pose places that frame in the world.
// A Level is used from one thread; background work goes through its JobSystem and is applied at a tick fixed
// when it is asked for, so the same calls give the same bits for any number of threads.
// Tests: tests/world/
#pragma once

#include "talus/density_field.h"
#include "talus/grid.h"
#include "talus/jobs.h"
#include "talus/space.h"
#include "talus/structure.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

/// Why a block left: decides drops and debris. `script`: by a host's call, or by the level itself because
/// what is left of a group weighs nothing and cannot be a body.
enum class Cause : std::uint8_t { mined, blast, impact, carve, fire, collapse, debris, script };

/// What happens to the parts of a collapse beyond a cap. What stays does so where it has a hold: terrain
/// always, a part of a group while it is joined to the rest.
enum class BeyondCap : std::uint8_t { crumble, stay };

struct LevelSettings {
    float cell_size = 1;  ///< metres
    Vec3 gravity{0, -9.81f, 0};
    std::uint64_t seed = 1;  ///< of the level's own generator (drops)
    int ticks_per_second = 20;
    std::optional<double> ground{};  ///< a flat floor: solid everywhere below this height
    double floor = 0;                ///< lowest height of the world; groups 64 cells below it are removed
    bool collapse = true;            ///< structural checks; off: they wait
    StructureSettings structure{};
    int structure_max_solids = 4'000'000;  ///< bigger groups are not judged
    float strength_factor = 1;             ///< on every block's strength
    float structure_max_tilt = 25;         ///< degrees between the group's up and the world's
    int debris_max_blocks = 3;             ///< pieces of at most this many blocks crumble ...
    int debris_ticks = 1200;               ///< ... after so many ticks asleep; 0 = never
    float impact_speed = 7;                ///< m/s above which a hit wears blocks
    bool structures_grow = true;           ///< a block put into the terrain joins the structure it touches
    int debris_max_groups = 0;             ///< beyond, the longest asleep crumble at once; 0 = no limit
    int collapse_max_pieces = 0;           ///< new groups of one collapse, largest first; 0 = no cap
    int collapse_max_blocks = 0;           ///< blocks that one collapse sets moving; 0 = no cap
    BeyondCap beyond_cap = BeyondCap::crumble;
    /// Blocks that structural checks may copy and set moving in a tick; what is over waits for the next ones.
    /// A check is not cut in two: the one that goes over is the last of its tick. 0 = no limit
    int work_per_tick = 0;
    JobSystem* jobs = nullptr;
    LogSink* log = nullptr;
    ProfileSink* profile = nullptr;  ///< told of each step of a tick
};

class GroupType;  // group_type.h
class Level;

struct GroupSettings {
    Pose pose{};
    Vec3 velocity{}, spin{};
    bool bears_load = false;  ///< judged by the structural solver, worn by hits
    bool asleep = false;
    std::optional<StructureMode> structure_mode{};  ///< none: the level's
    std::string type{};                             ///< of Level::add_group_type(); empty: plain
};

struct MarkSettings {
    std::optional<StructureMode> mode{};  ///< none: the level's
    std::string type{};                   ///< of the groups that fall off it, and of its strength
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
    bool is_debris = false;
    GroupType* type = nullptr;  ///< null: plain
};

/// What changed since the events were last cleared, in order: enough to keep a copy elsewhere up to date.
struct LevelEvent {
    enum class Kind : std::uint8_t {
        group_added,      ///< group: read its grid; parent or structure it came off, if any
        group_removed,    ///< group is gone
        group_block,      ///< group, cell, block (kAir when removed)
        terrain_block,    ///< cell, block
        bonds_broken,     ///< group or structure, point of one of them, value = how many: Level::bonds_of()
        dust,             ///< group or structure, cell, block, point: of at most eight broken bonds
        sound,            ///< likewise, of at most three
        block_destroyed,  ///< group (or none: terrain), cell, block = what it was, cause, point
        drop,             ///< block to pick up, cause, point
        impact,           ///< group, block, other_block (air: the flat floor), point, value = impulse N s
        blast,            ///< point, value = power
        debris_gone,      ///< group, point, value = blocks: crumbled away
        custom,           ///< of the host's own (Level::emit), all fields as it likes
        smooth_terrain,   ///< cells from `cell` to `last` have another surface
    };
    Kind kind;
    GroupId group{}, parent{};
    StructureId structure{};
    Cell cell{}, last{};
    BlockId block = kAir, other_block = kAir;
    Cause cause = Cause::script;
    std::uint32_t first_bond = 0;
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
    std::uint64_t drops = 0;       ///< of those, blocks left to pick up
};

/// Why a group does not become terrain.
enum class SettleRefusal : std::uint8_t {
    none,
    no_group,
    moving,       ///< not at rest
    tilted,       ///< no axis of it along the terrain's, or between two cells
    taken,        ///< terrain is in the way, or not loaded
    cannot_turn,  ///< a block's state does not exist that way up
    refused,      ///< by its type
};
struct SettleSettings {
    float max_tilt = 2;          ///< degrees from the nearest of the 24 ways to lie
    float max_offset = 0.1f;     ///< cells, of any of its blocks
    bool drop_the_rest = false;  ///< blocks with something in their way, or that cannot turn, become drops
};
struct SettleReport {
    SettleRefusal refusal = SettleRefusal::none;
    std::size_t placed = 0, dropped = 0;
    std::size_t left = 0;  ///< refused by the host: they stay a group
};

/// What else of a host's a blast reaches: players, animals, things on the ground.
class BlastTargets {
 public:
    virtual ~BlastTargets() = default;
    struct Target {
        std::uint64_t id = 0;
        DBox bounds;
    };
    /// Adds what overlaps the box, always in the same order.
    virtual void find(const DBox& box, std::vector<Target>& out) = 0;
    /// May call the level, also to blast in turn. @param velocity  to add, m/s
    /// @param exposure  share of the target that nothing shields, 0..1
    /// @param energy  of the blast that arrives, of its power: for damage
    virtual void push(std::uint64_t id, Vec3 velocity, float exposure, float energy) = 0;
};

/// What a host lends a level that is restored, loaded or replayed; see LevelSettings.
struct LevelHost {
    JobSystem* jobs = nullptr;
    LogSink* log = nullptr;
    ProfileSink* profile = nullptr;
    TerrainSource* terrain = nullptr;     ///< for a snapshot taken with a host's terrain
    std::span<GroupType* const> types{};  ///< added before the groups are made; see Level::add_group_type()
    BlastTargets* blast_targets = nullptr;
    const DensitySource* smooth = nullptr;  ///< for one taken with samples of smooth ground
};

class Level {
 public:
    explicit Level(const LevelSettings& settings = {});
    ~Level();
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

    const LevelSettings& settings() const;
    /// From now on; asks again for the checks that were wanted while `collapse` was off. Cell size, seed,
    /// jobs, log and profile stay as they are.
    void change_settings(const LevelSettings& settings);
    /// Shared by the terrain and every group.
    BlockTable& table();
    const BlockTable& table() const;
    Space& space();

    /// The level's own terrain, or what is known of the host's.
    const Grid& terrain() const;
    /// @return what was there. Nothing changes where a host refuses (TerrainSource::set_block), and farther
    /// out than kMaxTerrainCell.
    BlockId set_terrain(Cell cell, BlockId block);
    /// Takes a terrain block away as damage does: with its drop, when mined; not in a protected region, not
    /// an unbreakable one (but by script). @return false then, and when there is none
    bool break_terrain(Cell cell, Cause cause = Cause::mined);

    /// The terrain is the host's from now on (null: the level's own again): copied around the bodies, polled
    /// for changes. `source` must outlive the level or be taken away first; its ids are of this level's
    /// table.
    void set_terrain_source(TerrainSource* source);
    /// The host says that these cells of its terrain changed, blocks or smooth ground.
    void terrain_changed(const CellBox& cells);

    /// Smooth ground beside the blocks (density_field.h), a sample at each corner of the terrain's cells.
    /// Bodies collide with it, structures stand on it, blasts and carving dig it, rays meet it. Goes before
    /// that of a TerrainSource, which only collides, carries and stops blasts: a host digs its own.
    /// @param samples  the ground as it was made; must outlive the level or be replaced first. Null: none but
    ///     what fill() makes
    /// @param block  what it is made of: friction, blast resistance; a negative hardness is never dug by
    ///     blasts. kAir: the level has no smooth ground any more
    void set_smooth_terrain(const DensitySource* samples, BlockId block);
    /// To read, draw (mesh_surface) and save; null: none.
    const DensityField* smooth_terrain() const;
    BlockId smooth_block() const;  ///< kAir: none
    /// A ball of ground is taken away or put there. @return the cells whose surface changed; empty: none, or
    /// the ball is too large (DensityField::kMostSamples; logged)
    CellBox dig(DVec3 center, float radius);
    CellBox fill(DVec3 center, float radius);
    /// The source of the smooth ground gives other samples there. What was dug or filled stays.
    void smooth_terrain_changed(const CellBox& samples);

    /// Marks terrain as a structure, which bears load where it is: the solver judges it when blocks of it are
    /// gone or what it stands on is, damage wears it, and what falls becomes groups. Air, unbreakable blocks
    /// and blocks of other structures are left out. Costs nothing while nothing happens to it. Of a host's
    /// terrain a box has at most 2^30 cells, or marks nothing.
    /// @return an invalid id when there is no solid to mark
    StructureId mark_structure(const CellBox& box, const MarkSettings& settings = {});
    StructureId mark_structure(std::span<const Cell> cells, const MarkSettings& settings = {});
    /// The build joined to a block, within a box (which keeps the ground out). @return an invalid id when
    /// there is none or it has over `max_blocks` blocks
    StructureId mark_connected(Cell block, const CellBox& within, std::size_t max_blocks,
                               const MarkSettings& settings = {});
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
    /// Empty grids and those over the limits of grid.h make no group: the id is then invalid. Pre (assert):
    /// the grid is of this level's table.
    GroupId add_group(Grid grid, const GroupSettings& settings);
    void remove_group(GroupId id);  ///< its blocks count as destroyed, without drops
    bool exists(GroupId id) const;
    std::optional<GroupView> group(GroupId id) const;
    /// Every group in id order (index).
    std::vector<GroupId> groups() const;

    /// A kind of groups; add it before groups of it are made or loaded (LevelHost::types). It must outlive
    /// the level. Groups of a name that is not known are plain until it is added; the log is told once.
    void add_group_type(GroupType& type);

    /// One terrain block becomes a group that bears load. @return an invalid id when it cannot move
    GroupId physicify(Cell block);
    /// The build joined to a terrain block, with what hangs on it, becomes a group. Within a box (which keeps
    /// the ground out). @return an invalid id when there is none or it has over `max_blocks` blocks
    GroupId assemble(Cell block, const CellBox& within, std::size_t max_blocks, bool bears_load = true);
    /// A group that rests aligned with the terrain becomes terrain, its blocks turned.
    SettleReport settle(GroupId id, const SettleSettings& settings = {});

    /// Removes one block; splitting and the structural check follow in the next tick. Unbreakable blocks and
    /// those in a protected region leave by script only.
    /// @return false when there was none
    bool remove_block(GroupId id, Cell cell, Cause cause = Cause::mined);
    /// @return false when the cell is taken, too far out (grid.h) or the group is gone
    bool place_block(GroupId id, Cell cell, BlockId block);
    /// Share of the block's life used, 0..1.
    float wear_of(GroupId id, Cell cell) const;
    /// @return true when it reaches 1: the caller removes the block
    bool wear_down(GroupId id, Cell cell, float amount);
    /// The same for a terrain block of a structure; others do not wear.
    float wear_of(Cell cell) const;
    bool wear_down(Cell cell, float amount);

    /// Remove every block (groups and terrain) whose centre is inside, and smooth ground; no drops. @return
    /// how many blocks
    std::size_t carve(const DBox& box);
    std::size_t carve_sphere(DVec3 center, double radius);
    std::size_t carve_capsule(DVec3 a, DVec3 b, double radius);
    /// An explosion of the given power (TNT 4; at most 64). Smooth ground gets a crater as deep as a ray gets
    /// into it right under the blast. @return blocks destroyed
    std::size_t blast(DVec3 center, float power);

    /// Asks for a structural check; its answer is applied at a later tick.
    void check_structure_soon(GroupId id);
    void check_structure_soon(StructureId id);
    /// What the next checks are made with; none: the level's setting.
    void set_structure_mode(GroupId id, std::optional<StructureMode> mode);
    void set_structure_mode(StructureId id, std::optional<StructureMode> mode);

    /// Nothing breaks a block whose centre is inside but Cause::script; a collapse leaves it where it is.
    /// @return a number for unprotect()
    std::uint32_t protect(const DBox& region);
    void unprotect(std::uint32_t number);
    /// Makes a group debris that crumbles after so many ticks asleep, whatever its size; 0: never.
    void set_debris(GroupId id, int ticks);
    /// Null: none. Must outlive the level or be taken away.
    void set_blast_targets(BlastTargets* targets);

    /// Advances the world by one tick. From inside of one it does nothing (the log is told).
    void tick();

    std::span<const LevelEvent> events() const;
    void clear_events();
    /// The pairs of an event bonds_broken; empty for others. Cells of the group's grid, or of the terrain.
    std::span<const Bond> bonds_of(const LevelEvent& event) const;
    /// A host's own event, among the others in their order (from hooks: own dust).
    void emit(const LevelEvent& event);
    LevelStats stats() const;
    /// Of all that makes the level's future: settings, types, terrain and edits of smooth ground, counters
    /// and random numbers, rules, groups, structures, bodies. Not of what a host lends, nor of what the
    /// physics remembers of contacts: that shows in a pose a tick later. Equal snapshots have equal hashes.
    /// Costs a pass over groups and structures, however many blocks they have: meant for once a tick.
    std::uint64_t hash() const;

    struct Hit {
        std::optional<GroupId> group;  ///< none: terrain or ground
        Cell cell;                     ///< in the group's grid or the terrain
        Cell normal;                   ///< face, in the same frame
        DVec3 point;
        float distance = 0;
        bool ground = false;  ///< the flat floor below the blocks
        bool smooth = false;  ///< smooth ground; `cell` is the one the point lies in, normal is zero
        Vec3 outward;         ///< out of the surface that was hit, world; for blocks of a group too
    };
    /// The nearest thing on a ray; its direction may have any length but zero, `max_distance` be infinite.
    /// Smooth ground is seen up to 32,768 cells away. None for numbers that make no sense.
    std::optional<Hit> cast_ray(DVec3 origin, Vec3 direction, float max_distance) const;

    struct State;
    State& state() { return *state_; }
    const State& state() const { return *state_; }

 private:
    std::unique_ptr<State> state_;
};

}  // namespace talus
