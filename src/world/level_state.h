// level_state.h - what a Level holds, and the pieces of its tick. Internal.
//
// Layer: world. Each function here is one line of the tick or one way to change the world; all run on the
// caller's thread. Groups are visited in id order; a group made during a tick is visited from the next one
// on.
#pragma once

#include "base/call_log.h"
#include "math/cell_box.h"
#include "talus/density_field.h"
#include "talus/group_type.h"
#include "terrain/region_cache.h"
#include "world/group.h"

#include <functional>
#include <map>
#include <span>

namespace talus {

/// Deterministic generator of the level (drops), its state part of a snapshot. Source: S. Vigna,
/// splitmix64.
struct LevelRandom {
    std::uint64_t state = 0;
    std::uint64_t next();
};

struct Recording;

/// Nothing breaks there but by script.
struct ProtectedRegion {
    std::uint32_t number = 0;
    DBox box;
};
template <class A, MaybeConst<ProtectedRegion> T>
void archive(A& a, T& v) {
    a(v.number, v.box);
}

struct SmoothTerrain {
    DensityField field;
    BlockId block;
};

struct Level::State {
    State(Level& owner, const LevelSettings& given);
    ~State();

    Level& self;  ///< for hooks
    LevelSettings settings;
    CallLog* calls = nullptr;              ///< where calls from outside are written down; null: nowhere
    const Level* owner = nullptr;          ///< while recorded
    std::unique_ptr<Recording> recording;  ///< null: never, or stopped
    std::unique_ptr<TerrainSource> replay_terrain;
    BlockTable table;
    std::size_t types_hashed = 1;  ///< of the table, in types_hash (level_hash.cpp)
    std::uint64_t types_hash = 0;
    Grid own_terrain;
    std::unique_ptr<RegionCache> host_terrain;  ///< null: the terrain is own_terrain
    Space space;
    std::unique_ptr<SmoothTerrain> smooth;  ///< null: none, or the host's
    bool host_smooth = false;               ///< the host's terrain has smooth ground
    std::unique_ptr<DensitySource> replay_samples;
    const Grid& terrain() const { return host_terrain ? host_terrain->grid() : own_terrain; }
    LevelRandom random;
    std::uint64_t tick = 0;
    bool ticking = false;
    std::uint64_t destroyed = 0, fallen_out = 0, drops = 0;
    std::vector<std::unique_ptr<Group>> slots;  // index = GroupId::index - 1
    std::vector<std::uint32_t> generations;
    std::vector<std::uint32_t> free_slots;
    std::vector<std::uint32_t>
        slot_of_body;  ///< by BodyId::index: the slot of the group it was made for last
    std::map<std::uint64_t, BodyShape> small_shapes;  ///< by what the blocks are (Grid::content_hash)
    std::vector<LevelEvent> events;
    std::vector<Bond> event_bonds;                         ///< of events bonds_broken
    std::map<std::string, GroupType*, std::less<>> types;  ///< null: named, but nobody added it
    std::vector<ProtectedRegion> protected_regions;        ///< by number
    std::uint32_t last_region = 0;
    BlastTargets* blast_targets = nullptr;
    std::int64_t work_left = 0;   ///< of this tick (take_work)
    std::uint64_t work_from = 0;  ///< whose turn it is, by work_key(): those before wait for the next tick
    std::uint64_t first_refused[2] = {};  ///< in this tick, before and from work_from on; 0: nobody

    std::vector<std::unique_ptr<Structure>> structure_slots;  // index = StructureId::index - 1
    std::vector<std::uint32_t> structure_generations;
    std::vector<std::uint32_t> free_structures;
    std::map<Cell, std::vector<std::uint32_t>>
        structure_bricks;  ///< by brick: slots of the structures with blocks in it, sorted
    std::vector<std::uint32_t> structures_at_work;  ///< slots with something to do this tick, sorted
    Cell structure_poll;                            ///< brick looked at last (poll_structures)
    CellBox terrain_touched;  ///< cells changed since the bodies were told (tell_terrain_changes)

    Group* find(GroupId id);
    Structure* find(StructureId id);
    /// The group that owns a body; nullptr when it is not a group's.
    Group* owner_of(const Body& body);
    Group* group_of(BodyId id);
    /// Call when a group got its body: owner_of() then knows it. A body's owner pointer is the host's.
    void know_body(const Group& group);
    /// Every group there is now, in id order. A copy: groups may come and go while it is walked.
    std::vector<GroupId> ids() const;
    float dt() const { return 1.0f / float(settings.ticks_per_second); }
};

using LevelState = Level::State;

/// For the hook at the beginning of each public call that changes the level (base/call_log.h).
CallLog* log_of(LevelState& level);

// --- recording.cpp
/// At the end of a tick: its hash, if it is recorded.
void end_recorded_tick(LevelState& level);
/// A host's terrain, its answers written down if the level is recorded.
TerrainSource* taped_terrain(LevelState& level, TerrainSource* source);
const DensitySource* taped_samples(LevelState& level, const DensitySource* source);
void forget_taped_samples(LevelState& level, const CellBox& samples);

// --- groups.cpp: making, changing and taking away groups
Group* create_group(LevelState& level, Grid grid, Joins joins, const GroupSettings& settings);
void destroy_group(LevelState& level, Group& group);
/// Of a group of these blocks. Pieces of a block or two are many and alike: they share one shape.
BodyShape shape_of(LevelState& level, const Grid& grid);
/// Of those, the ones that no body has any more.
void forget_shapes(LevelState& level);
/// Takes a block out of a group: grid, joins, mass, wear, event. The body follows in update_body().
/// `destroyed` false: the block moves elsewhere (a part that splits off).
void take_block(LevelState& level, Group& group, Cell cell, Cause cause, bool destroyed = true);
void put_block(LevelState& level, Group& group, Cell cell, BlockId block);
/// Call tell_terrain_changes() after the last of several changes: until then no body knows of them.
/// `destroyed` false: the block moves into a group.
BlockId change_terrain(LevelState& level, Cell cell, BlockId block, Cause cause, bool destroyed = true);
void tell_terrain_changes(LevelState& level);
/// The terrain's block, the host's if it is not cached; nullopt where it is not loaded.
std::optional<BlockId> read_terrain(const LevelState& level, Cell cell);
/// May terrain be there? Snapshots and saves keep no other.
constexpr bool is_terrain_cell(Cell c) {
    constexpr std::int32_t most = kMaxTerrainCell;
    return c.x >= -most && c.x < most && c.y >= -most && c.y < most && c.z >= -most && c.z < most;
}
/// Can a place, in cells, be a cell? Then the cell it lies in.
constexpr bool is_cell(DVec3 p) {
    return p.x > -1e9 && p.x < 1e9 && p.y > -1e9 && p.y < 1e9 && p.z > -1e9 && p.z < 1e9;
}
/// Of its blocks as they are now, about the grid's zero.
MassMoments moments_of(const LevelState& level, const Group& group);
DVec3 block_center(const LevelState& level, const Group& group, Cell cell);
DVec3 cell_center(const LevelState& level, Cell cell);
bool add_wear(const LevelState& level, Build& build, Cell cell, float amount);

// --- breaking.cpp: what may break, what it leaves, and who is told
/// May this block leave by this cause? By script, always.
bool may_break(const LevelState& level, BlockId block, DVec3 center, Cause cause);
bool is_protected(const LevelState& level, DVec3 point);
/// The block drops with this chance; one draw of the level's generator when it is below 1.
void drop_block(LevelState& level, BlockId block, Cause cause, DVec3 point, double chance = 1);
/// Strength for bonds and against hits, as its type says.
float strength_at(const LevelState& level, const Build& build, Cell cell);
/// Events and hooks for the bonds a collapse broke.
void report_bonds(LevelState& level, Build& build, std::span<const Bond> bonds);
/// Null for no name. A name that is not known is kept, and reported once.
const Kind* find_kind(LevelState& level, std::string_view name);
/// Is there work left in this tick, and is it this build's turn? Then `blocks` of it are taken. Who is
/// refused is served before all others in the next tick.
bool take_work(LevelState& level, const Build& build, std::size_t blocks);
void begin_work(LevelState& level);
void end_work(LevelState& level);
/// Over the limit of debris groups, those longest asleep go.
void limit_debris(LevelState& level);
/// What one collapse may still set moving.
struct CollapseRoom {
    std::size_t pieces, blocks;
    explicit CollapseRoom(const LevelSettings& settings);
};
/// The parts beyond the caps, taken out of `parts`.
std::vector<std::vector<Cell>> beyond_caps(CollapseRoom& room, std::vector<std::vector<Cell>>& parts);
bool touches_protected(const LevelState& level, const Group& group);
/// Drops cells that are no more, if the grid changed since `version`: a hook may have changed it.
void keep_known(const Build& build, std::uint64_t version, std::vector<std::vector<Cell>>& parts);

/// A part that came off somewhere.
struct Piece {
    Grid grid;
    Joins joins;
    CellMap<float> wear;
    PieceSettings settings;
};

// --- smooth.cpp: ground without cells
/// That which bodies collide with: the level's own, else the host's; null: none.
const SmoothGround* smooth_ground(const LevelState& level);
/// Tells the space which it is.
void choose_smooth_ground(LevelState& level);
bool in_smooth_ground(const LevelState& level, DVec3 point);
/// What the ground beside a point is made of; kAir when no smooth ground is near.
BlockId smooth_block_near(const LevelState& level, DVec3 point);
/// Call after the surface changed: wakes, asks for checks, makes the event. @return the cells
CellBox tell_smooth_change(LevelState& level, const CellBox& cells);
/// What blasts and carving do to the level's own smooth ground, but for protected regions.
/// @param inside  how far a place is inside the tool, m
CellBox dig_smooth(LevelState& level, const DBox& bounds, const std::function<double(DVec3)>& inside);
double depth_in_box(const DBox& box, DVec3 p);
/// A ball about a blast, down to where a ray that leaves it straight for the nearest ground ends.
/// @param air_loss  what a ray loses each `step` metres
void dig_crater(LevelState& level, DVec3 center, double power, double air_loss, double step);
/// What a blast's ray loses in smooth ground, told as it goes.
class SmoothLoss {
 public:
    explicit SmoothLoss(const LevelState& level);
    /// @return the energy left at `p`, `way` metres along the ray; call in order of the way
    double pass(double energy, DVec3 p, double way, double step);
    void next_ray() { clear_until_ = 0; }
    /// Does nothing of a ray get from one place to the other?
    bool hides(double power, DVec3 from, DVec3 to, double air_loss, double step);
    /// Of a step in the ground; nullopt: nothing passes.
    std::optional<double> cost(double step) const;

 private:
    const SmoothGround* ground_;
    float resistance_ = 0;
    bool breaks_ = true;
    double clear_until_ = 0;
};

// --- structures.cpp: terrain that bears load
Structure* structure_at(const LevelState& level, Cell cell);
StructureId make_structure(LevelState& level, std::span<const Cell> cells, const MarkSettings& settings);
std::size_t extend_structure(LevelState& level, Structure& structure, std::span<const Cell> cells);
void drop_structure(LevelState& level, Structure& structure);
/// The terrain's blocks in a box, sorted by brick, then y, z, x.
std::vector<Cell> terrain_cells(const LevelState& level, const CellBox& box);
/// The build joined to a terrain block, over faces, edges and corners, sorted; empty when there is none or it
/// is bigger than the limit.
std::vector<Cell> connected_terrain(const LevelState& level, Cell start, const CellBox& within,
                                    std::size_t max_blocks);
/// Call after a cell of the terrain changed.
void notice_terrain_change(LevelState& level, Cell cell, BlockId block);
/// Where a group of these terrain cells has its frame: its own cells stay small wherever in the world it is.
/// At its least corner where it then fits into one brick: small pieces are many, and equal ones share a
/// shape.
Cell piece_origin(std::span<const Cell> cells);
/// Takes terrain out of the world, to move it into a group with its wear. What a host refuses stays.
Piece lift_terrain(LevelState& level, std::span<const Cell> cells, Cell origin);
/// A host says that these cells changed.
void reread_structures(LevelState& level, const CellBox& cells);
/// Structures with blocks in the bricks of these cells are to be checked.
void check_structures_in(LevelState& level, const CellBox& cells);
/// Enters a whole structure into the map of bricks; slots come in order.
void note_bricks(LevelState& level, const Structure& structure);
/// Puts a structure on the list of those with work to do.
void put_to_work(LevelState& level, Structure& structure);
/// Worn-through blocks leave, answers that are due are applied, checks that were asked for begin.
void tick_structures(LevelState& level);

// --- restore.cpp: what a save keeps of a group besides its blocks and cut diagonals. All else is made anew.
struct GroupRecord {
    GroupId id;
    DVec3 center;  ///< centre of mass, world
    Quat rotation;
    Vec3 velocity, spin;  ///< of the centre of mass
    bool asleep = false, bears_load = false, is_debris = false;
    bool whole_look = false, broke_off = false, check_wanted = false;  ///< work for the next tick
    std::uint64_t created_tick = 0, slippery_until = 0;
    std::uint32_t asleep_ticks = 0, creeping_ticks = 0;
    std::int32_t debris_ticks = -1, mode = -1;  ///< -1: the level's
    std::string type;
};
struct StructureRecord {
    StructureId id;
    bool check_wanted = false;
    std::int32_t mode = -1;  ///< -1: the level's
    std::string type;
};
constexpr double kMaxRecordPosition = 1e9;  // beyond, a body is quarantined
/// Always finite, and within that.
GroupRecord record_of(const LevelState& level, const Group& group);
/// Makes the group in its old slot with its old bits of pose and velocity; no event.
/// Pre (assert): the slot exists, is free and not in free_slots; generations[] holds the id's.
void restore_group(LevelState& level, Grid grid, Joins joins, const GroupRecord& record);
StructureRecord record_of(const Structure& structure);
/// The same for a structure. Pre: its blocks are those of the terrain.
void restore_structure(LevelState& level, Grid grid, const StructureRecord& record);

// --- The steps of a group's tick. Each returns false when the group is gone.
// split.cpp
/// Moves `parts` of a group into groups of their own, with the velocity of their place. `by_force`: what
/// comes off is slippery for a while, and debris when small.
void split_off(LevelState& level, Group& group, std::vector<std::vector<Cell>>& parts, bool by_force);
/// Makes it a group, as the type of what it came off says. What weighs nothing cannot move as a body: it is
/// discarded and counts as destroyed.
/// @param from  a group or a structure
void make_piece(LevelState& level, Piece piece, Build& from, bool by_force);
/// Looks for parts that lost their hold since the last look and splits them off.
bool split_loose_parts(LevelState& level, Group& group);
/// No solid left: the group breaks up.
bool keep_solids(LevelState& level, Group& group);
// hooks.cpp: the steps of a group's type
bool pose_hook(LevelState& level, Group& group);
bool awake_hook(LevelState& level, Group& group);
bool settle_hook(LevelState& level, Group& group);
bool end_tick_hook(LevelState& level, Group& group);

// body.cpp
bool stay_in_world(LevelState& level, Group& group);
/// Gives the body the shape and mass of the blocks as they are now.
bool update_body(LevelState& level, Group& group);
bool restore_friction(LevelState& level, Group& group);
/// Puts to sleep what has only crept for a while.
bool creep_to_sleep(LevelState& level, Group& group);
/// Counts the time asleep in one place; falling asleep asks for a structural check.
bool notice_sleep(LevelState& level, Group& group);
/// Asleep as in the tick before and nothing to do: all its steps but debris would change nothing.
bool is_quiet(const Group& group);

// structure_check.cpp
/// Applies an answer that is due, then starts a check that was asked for.
bool structural_check(LevelState& level, Group& group);
/// Starts a check of a structure, if it may be judged.
void start_check(LevelState& level, Structure& structure);

// impact.cpp
bool remove_broken_blocks(LevelState& level, Group& group);
/// All of its blocks go, without drops, and the group.
void crumble(LevelState& level, Group& group);
/// Small pieces asleep for long crumble away.
bool crumble_debris(LevelState& level, Group& group);
/// All contacts of the last step at once: a hit wears both sides.
void wear_by_impacts(LevelState& level);

// --- blast.cpp, carve.cpp
std::size_t explode(LevelState& level, DVec3 center, float power);
std::size_t carve_where(LevelState& level, const DBox& bounds, const std::function<bool(DVec3)>& inside);

}  // namespace talus
