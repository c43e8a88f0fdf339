// talus_c.cpp - the C ABI over Level: checks what comes in, copies what goes out. No logic.
//
// A handle is a slot and its generation, so that one of a destroyed level is known for what it is.
#include "talus_c.h"

#include "talus/group_type.h"
#include "talus/recording.h"

#include <cmath>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace talus;

constexpr double kFarthest = 1e9;  // metres: beyond, a body is quarantined
constexpr double kLongestRay = 1e6;
constexpr double kAnyNumber = 0;  // of yes or no
constexpr std::int32_t kGroupCell = 65'536, kTerrainCell = 1 << 30;
constexpr std::int64_t kGroupBounds = std::int64_t(1) << 30;  // cells: bodies keep a bit for each

thread_local std::string last_error;

struct Failed {
    talus_status status;
    std::string what;
};

/// The caller's function as a sink.
struct CallerSink final : RecordSink {
    talus_write to;
    void* context;
    CallerSink(talus_write write, void* with) : to(write), context(with) {}
    bool write(std::span<const std::uint8_t> bytes) override {
        return to(context, bytes.data(), bytes.size()) != 0;
    }
};

/// The caller's function as smooth ground.
struct CallerSamples final : DensitySource {
    talus_density sample;
    void* context;
    CallerSamples(talus_density of, void* with) : sample(of), context(with) {}
    float density_at(Cell c) const override { return sample(context, c.x, c.y, c.z); }
    bool one_thread() const override { return true; }
};

static_assert(int(LevelEvent::Kind::smooth_terrain) == TALUS_EVENT_SMOOTH_TERRAIN &&
              int(LevelEvent::Kind::debris_gone) == TALUS_EVENT_DEBRIS_GONE &&
              int(LevelEvent::Kind::bonds_broken) == TALUS_EVENT_BONDS_BROKEN &&
              int(Cause::script) == TALUS_CAUSE_SCRIPT && int(Cause::collapse) == TALUS_CAUSE_COLLAPSE &&
              int(SettleRefusal::refused) == TALUS_SETTLE_REFUSED);

talus_group to_c(GroupId id) { return {id.index, id.generation}; }
void put_bond(const Bond& bond, std::int32_t* six) {
    const std::int32_t cells[6] = {bond.first.x,  bond.first.y,  bond.first.z,
                                   bond.second.x, bond.second.y, bond.second.z};
    std::memcpy(six, cells, sizeof cells);
}

/// The caller's functions as a type of groups.
class CallerType final : public GroupType {
 public:
    CallerType(const talus_group_type& type, std::string name) : type_(type), name_(std::move(name)) {}
    std::string_view name() const override { return name_; }
    float bond_strength(const GroupView& group, Cell c, float usual) const override {
        if (!type_.bond_strength) return usual;
        const std::int32_t cell[3] = {c.x, c.y, c.z};
        return float(type_.bond_strength(type_.context, to_c(group.id), cell, double(usual)));
    }
    void new_piece(const GroupView& from, const Grid& blocks, PieceSettings& piece) override {
        if (!type_.new_piece) return;
        talus_piece told{sizeof told, blocks.block_count(), piece.slippery, piece.is_debris,
                         piece.group.bears_load};
        type_.new_piece(type_.context, to_c(from.id), &told);
        piece.slippery = told.slippery != 0;
        piece.is_debris = told.is_debris != 0;
        piece.group.bears_load = told.bears_load != 0;
    }
    void on_awake(Level&, GroupId group) override {
        if (type_.on_awake) type_.on_awake(type_.context, to_c(group));
    }
    void on_end_tick(Level&, GroupId group) override {
        if (type_.on_end_tick) type_.on_end_tick(type_.context, to_c(group));
    }
    bool may_settle(Level&, GroupId group) override {
        return !type_.may_settle || type_.may_settle(type_.context, to_c(group)) != 0;
    }
    bool no_solids_left(Level&, GroupId group) override {
        return type_.no_solids_left && type_.no_solids_left(type_.context, to_c(group)) != 0;
    }
    bool bears_load(const GroupView& group) const override {
        if (!type_.bears_load) return group.bears_load;
        return type_.bears_load(type_.context, to_c(group.id), group.bears_load) != 0;
    }
    bool on_bonds_broken(Level&, const GroupView& group, std::span<const Bond> bonds) override {
        if (!type_.on_bonds_broken) return false;
        std::vector<std::int32_t> cells(6 * bonds.size());
        for (std::size_t i = 0; i < bonds.size(); i++) put_bond(bonds[i], &cells[6 * i]);
        return type_.on_bonds_broken(type_.context, to_c(group.id), cells.data(), bonds.size()) != 0;
    }
    float blast_wear(const GroupView& group, Cell c, float share, float usual) const override {
        if (!type_.blast_wear) return usual;
        const std::int32_t cell[3] = {c.x, c.y, c.z};
        return float(type_.blast_wear(type_.context, to_c(group.id), cell, double(share), double(usual)));
    }
    void on_pose(Level&, GroupId group, const Pose& pose) override {
        if (!type_.on_pose) return;
        const double position[3] = {pose.position.x, pose.position.y, pose.position.z};
        const Quat q = pose.rotation;
        const double rotation[4] = {double(q.x), double(q.y), double(q.z), double(q.w)};
        type_.on_pose(type_.context, to_c(group), position, rotation);
    }
    void on_settle(Level&, GroupId group) override {
        if (type_.on_settle) type_.on_settle(type_.context, to_c(group));
    }

 private:
    talus_group_type type_;
    std::string name_;
};

/// What a level uses of its caller's.
struct Lent {
    std::unique_ptr<CallerSink> sink;  ///< of its recording
    std::unique_ptr<CallerSamples> samples;
    std::vector<std::unique_ptr<CallerType>> types;
    bool keeps_events = false, ticking = false;
};

struct Slot {
    Lent lent;  ///< goes after the level
    std::unique_ptr<Level> level;
    std::uint32_t generation = 0;
};
struct Registry {
    std::mutex mutex;
    std::deque<Slot> slots;  // they stay where they are while others come
    std::vector<std::uint32_t> free;
};
Registry& registry() {
    static auto* all = new Registry;  // outlives whatever still calls at exit
    return *all;
}

[[noreturn]] void bad_argument(const char* what) { throw Failed{TALUS_BAD_ARGUMENT, what}; }

Slot& find_slot(Registry& all, talus_level handle) {
    const std::uint64_t index = handle & 0xffffffff;
    if (index == 0 || index > all.slots.size() || !all.slots[index - 1].level ||
        all.slots[index - 1].generation != handle >> 32)
        throw Failed{TALUS_BAD_HANDLE, "no such level, or it was destroyed"};
    return all.slots[index - 1];
}
Slot& slot_of(talus_level handle) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    return find_slot(all, handle);
}
Level& find(talus_level handle) { return *slot_of(handle).level; }
Lent& lent_to(talus_level handle) { return slot_of(handle).lent; }

void not_in_a_tick(const Lent& lent) {
    if (lent.ticking) bad_argument("a tick of the level is under way");
}

/// A handle for a new level.
talus_level give_handle(std::unique_ptr<Level> level) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    if (all.free.empty()) {
        all.slots.emplace_back();
        all.free.reserve(all.slots.size());  // destroying needs no memory
        all.free.push_back(std::uint32_t(all.slots.size() - 1));
    }
    const std::uint32_t index = all.free.back();
    all.free.pop_back();
    all.slots[index].level = std::move(level);
    return std::uint64_t(++all.slots[index].generation) << 32 | (index + 1);
}

/// Nothing leaves as an exception.
template <class F>
talus_status guarded(F&& f) {
    try {
        last_error.clear();
        f();
        return TALUS_OK;
    } catch (const Failed& failed) {
        try {
            last_error = failed.what;
        } catch (...) {
        }
        return failed.status;
    } catch (...) {
        return TALUS_NO_MEMORY;
    }
}

template <class T>
T& given(T* pointer) {
    if (!pointer) bad_argument("a pointer is null");
    return *pointer;
}
double in_range(double value, double lowest, double highest, const char* what) {
    if (!(value >= lowest && value <= highest)) bad_argument(what);
    return value;
}
DVec3 position(const double* v) {
    for (int k = 0; k < 3; k++) in_range((&given(v))[k], -kFarthest, kFarthest, "a position is out of range");
    return {v[0], v[1], v[2]};
}
Vec3 vector(const double* v, double limit, const char* what) {
    for (int k = 0; k < 3; k++) in_range((&given(v))[k], -limit, limit, what);
    return {float(v[0]), float(v[1]), float(v[2])};
}
Cell cell_at(const std::int32_t* v, std::int32_t limit) {
    for (int k = 0; k < 3; k++)
        if ((&given(v))[k] < -limit || v[k] >= limit) bad_argument("a cell is out of range");
    return {v[0], v[1], v[2]};
}
BlockId block_of(const Level& level, talus_block block) {
    if (block >= level.table().size()) bad_argument("no such block");
    return block;
}
template <class T>
void put(DVec3 v, T (&out)[3]) {
    for (int k = 0; k < 3; k++) out[k] = T(v[k]);
}
void put(Cell v, std::int32_t (&out)[3]) {
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

/// A struct of the caller as one of ours: what an older caller does not know keeps its default.
template <class T>
T read_struct(const T* from, const T& defaults) {
    T out = defaults;
    if (!from) return out;
    if (from->size < sizeof(std::size_t) || from->size > sizeof(T)) bad_argument("a struct has a wrong size");
    std::memcpy(&out, from, from->size);
    return out;
}
/// Ours to a struct of the caller, as much of it as he knows.
template <class T>
void write_struct(T value, T* to, std::size_t size) {
    given(to);
    if (size < sizeof(std::size_t) || size > sizeof(T)) bad_argument("a struct has a wrong size");
    value.size = size;
    std::memcpy(to, &value, size);
}

/// f(name, theirs, ours, lowest, highest) for each number of the settings; the ground is apart.
template <class C, class Ours, class F>
void each_number(C& c, Ours& o, F&& f) requires std::is_same_v<std::remove_const_t<C>, talus_level_settings> {
    constexpr double kMost = 2e9;
    f("cell_size", c.cell_size, o.cell_size, 1e-3, 1e3);
    f("gravity", c.gravity[0], o.gravity.x, -1e6, 1e6);
    f("gravity", c.gravity[1], o.gravity.y, -1e6, 1e6);
    f("gravity", c.gravity[2], o.gravity.z, -1e6, 1e6);
    f("ticks_per_second", c.ticks_per_second, o.ticks_per_second, 1, 10'000);
    f("floor", c.floor, o.floor, -1e12, 1e12);
    f("collapse", c.collapse, o.collapse, kAnyNumber, kAnyNumber);
    f("structure_mode", c.structure_mode, o.structure.mode, 0, 1);
    f("strength_factor", c.strength_factor, o.strength_factor, 0, 1e30);
    f("impact_speed", c.impact_speed, o.impact_speed, 0, 1e30);
    f("debris_max_blocks", c.debris_max_blocks, o.debris_max_blocks, 0, kMost);
    f("debris_ticks", c.debris_ticks, o.debris_ticks, 0, kMost);
    f("debris_max_groups", c.debris_max_groups, o.debris_max_groups, 0, kMost);
    f("structures_grow", c.structures_grow, o.structures_grow, kAnyNumber, kAnyNumber);
    f("collapse_max_pieces", c.collapse_max_pieces, o.collapse_max_pieces, 0, kMost);
    f("collapse_max_blocks", c.collapse_max_blocks, o.collapse_max_blocks, 0, kMost);
    f("beyond_cap", c.beyond_cap, o.beyond_cap, 0, 1);
    f("work_per_tick", c.work_per_tick, o.work_per_tick, 0, kMost);
    f("structure_max_solids", c.structure_max_solids, o.structure_max_solids, 0, kMost);
    f("structure_max_tilt", c.structure_max_tilt, o.structure_max_tilt, 0, 360);
}

/// Likewise of a material, without its name and colour.
template <class C, class Ours, class F>
void each_number(C& c, Ours& o, F&& f) requires std::is_same_v<std::remove_const_t<C>, talus_material> {
    constexpr double kMost = 1e30;
    f("density", c.density, o.density, 0, 1e9);
    f("hardness", c.hardness, o.hardness, -kMost, kMost);
    f("blast_resistance", c.blast_resistance, o.blast_resistance, -kMost, kMost);
    f("friction", c.friction, o.friction, 0, 1e6);
    f("restitution", c.restitution, o.restitution, 0, 1);
    f("flammability", c.flammability, o.flammability, 0, kMost);
    f("solid", c.solid, o.solid, kAnyNumber, kAnyNumber);
    f("soft", c.soft, o.soft, kAnyNumber, kAnyNumber);
    f("floats", c.floats, o.floats, kAnyNumber, kAnyNumber);
    f("stiffness", c.stiffness, o.stiffness, 0, kMost);
    f("tension", c.tension, o.tension, 0, kMost);
    f("compression", c.compression, o.compression, 0, kMost);
    f("cohesion", c.cohesion, o.cohesion, 0, kMost);
}

template <class C, class Ours>
void numbers_to_c(C& c, const Ours& ours) {
    c.size = sizeof c;
    each_number(c, ours, [](const char*, auto& theirs, const auto& value, double, double) {
        theirs = std::remove_reference_t<decltype(theirs)>(value);
    });
}
template <class C, class Ours>
void numbers_from_c(const C& c, Ours& ours) {
    each_number(c, ours,
                [](const char* name, const auto& theirs, auto& value, double lowest, double highest) {
                    using T = std::remove_reference_t<decltype(value)>;
                    if constexpr (std::is_same_v<T, bool>)
                        value = theirs != 0;
                    else
                        value = T(in_range(double(theirs), lowest, highest,
                                           (name + std::string(" is out of range")).c_str()));
                });
}

talus_level_settings to_c(const LevelSettings& s) {
    talus_level_settings out{};
    numbers_to_c(out, s);
    out.seed = s.seed;
    out.has_ground = s.ground.has_value();
    out.ground = s.ground.value_or(0);
    return out;
}

/// @param ours  what the caller's structs do not tell of
LevelSettings from_c(const talus_level_settings& s, LevelSettings ours) {
    numbers_from_c(s, ours);
    ours.seed = s.seed;
    ours.ground.reset();
    if (s.has_ground) ours.ground = in_range(s.ground, -kFarthest, kFarthest, "ground is out of range");
    return ours;
}

talus_material to_c(const Material& m) {
    talus_material out{};
    numbers_to_c(out, m);
    out.name = m.name.c_str();
    out.color = m.color;
    return out;
}
talus_material default_material() {
    static const auto* stone = new Material;  // keeps the name
    return to_c(*stone);
}

Material from_c(const talus_material& m) {
    Material out;
    numbers_from_c(m, out);
    out.name = &given(m.name);
    out.color = m.color;
    return out;
}

talus_group_settings default_group() {
    talus_group_settings out{};
    out.size = sizeof out;
    out.rotation[3] = 1;
    return out;
}

StructureId id_of(const Level& level, talus_structure s) {
    const StructureId id{s.index, s.generation};
    if (!level.structure(id)) throw Failed{TALUS_NOT_FOUND, "no such structure"};
    return id;
}
CellBox cells_at(const std::int32_t* min, const std::int32_t* max) {
    const CellBox box{cell_at(min, kTerrainCell), cell_at(max, kTerrainCell)};
    if (box.empty()) bad_argument("a box of cells is empty");
    return box;
}
DBox box_at(const double* min, const double* max) {
    const DBox box{position(min), position(max)};
    for (int k = 0; k < 3; k++)
        if (!(box.min[k] <= box.max[k])) bad_argument("a box is empty");
    return box;
}
float radius_of(double radius) { return float(in_range(radius, 0, 1e6, "radius is out of range")); }
talus_settle_settings default_settle() {
    const SettleSettings s;
    return {sizeof(talus_settle_settings), double(s.max_tilt), double(s.max_offset), s.drop_the_rest};
}
/// Digs or fills a ball; one that is too large is refused.
void dug(Level& level, const double* center, double radius, bool fill) {
    const DVec3 at = position(center);
    const float r = radius_of(radius);
    if (level.smooth_block() == kAir) throw Failed{TALUS_NOT_FOUND, "the level has no smooth ground"};
    const DVec3 reach{double(r), double(r), double(r)};
    if (!level.smooth_terrain()->fits({at - reach, at + reach}))
        throw Failed{TALUS_TOO_LARGE, "the ball is too large"};
    fill ? level.fill(at, r) : level.dig(at, r);
}

const LevelEvent& event_of(const Level& level, std::size_t number) {
    if (number >= level.events().size()) throw Failed{TALUS_NOT_FOUND, "there are fewer events"};
    return level.events()[number];
}

GroupView view_of(const Level& level, talus_group group) {
    const auto view = level.group({group.index, group.generation});
    if (!view) throw Failed{TALUS_NOT_FOUND, "no such group"};
    return *view;
}

}  // namespace

const char* talus_version(void) { return TALUS_VERSION; }

const char* talus_status_text(talus_status status) {
    switch (status) {
        case TALUS_OK:
            return "ok";
        case TALUS_BAD_HANDLE:
            return "bad handle";
        case TALUS_BAD_ARGUMENT:
            return "bad argument";
        case TALUS_NOT_FOUND:
            return "not found";
        case TALUS_TOO_LARGE:
            return "too large";
        case TALUS_NO_MEMORY:
            return "no memory";
        case TALUS_BAD_DATA:
            return "bad data";
        default:
            return "unknown status";
    }
}

const char* talus_last_error(void) { return last_error.c_str(); }

talus_status talus_level_settings_init(talus_level_settings* settings, size_t size) {
    return guarded([&] { write_struct(to_c(LevelSettings()), settings, size); });
}

talus_status talus_level_create(const talus_level_settings* settings, talus_level* level) {
    return guarded([&] {
        given(level) = 0;
        const LevelSettings ours = from_c(read_struct(settings, to_c(LevelSettings())), {});
        *level = give_handle(std::make_unique<Level>(ours));
    });
}

talus_status talus_level_destroy(talus_level level) {
    Lent lent;
    std::unique_ptr<Level> gone;
    return guarded([&] {
        Registry& all = registry();
        const std::lock_guard lock(all.mutex);
        Slot& slot = find_slot(all, level);
        not_in_a_tick(slot.lent);
        gone = std::move(slot.level);
        lent = std::exchange(slot.lent, {});
        all.free.push_back(std::uint32_t(level) - 1);
    });
}

talus_status talus_get_settings(talus_level level, talus_level_settings* settings, size_t size) {
    return guarded([&] { write_struct(to_c(find(level).settings()), settings, size); });
}

talus_status talus_change_settings(talus_level level, const talus_level_settings* settings) {
    return guarded([&] {
        Level& l = find(level);
        l.change_settings(from_c(read_struct(&given(settings), to_c(l.settings())), l.settings()));
    });
}

talus_status talus_material_init(talus_material* material, size_t size) {
    return guarded([&] { write_struct(default_material(), material, size); });
}

talus_status talus_material_find(const char* name, talus_material* material, size_t size) {
    return guarded([&] {
        const Material* found = find_real_material(&given(name));
        if (!found) throw Failed{TALUS_NOT_FOUND, "no built-in material of that name"};
        write_struct(to_c(*found), material, size);
    });
}

talus_status talus_define_block(talus_level level, const talus_material* material, talus_block* block) {
    return guarded([&] {
        Level& l = find(level);
        given(block) = kAir;
        *block = l.table().add(from_c(read_struct(&given(material), default_material())));
        if (*block == kAir) throw Failed{TALUS_TOO_LARGE, "the table of blocks is full"};
    });
}

talus_status talus_set_terrain(talus_level level, const int32_t cell[3], talus_block block) {
    return guarded([&] {
        Level& l = find(level);
        l.set_terrain(cell_at(cell, kTerrainCell), block_of(l, block));
    });
}

talus_status talus_get_terrain(talus_level level, const int32_t cell[3], talus_block* block) {
    return guarded([&] {
        Level& l = find(level);
        given(block) = l.terrain().get(cell_at(cell, kTerrainCell));
    });
}

talus_status talus_group_settings_init(talus_group_settings* settings, size_t size) {
    return guarded([&] { write_struct(default_group(), settings, size); });
}

talus_status talus_add_group(talus_level level, const talus_group_settings* settings, const int32_t* cells,
                             const talus_block* blocks, size_t count, talus_group* group) {
    return guarded([&] {
        Level& l = find(level);
        given(group) = {};
        const talus_group_settings s = read_struct(settings, default_group());
        GroupSettings ours;
        ours.pose.position = position(s.position);
        for (double q : s.rotation) in_range(q, -2, 2, "the rotation is no unit quaternion");
        const double norm = s.rotation[0] * s.rotation[0] + s.rotation[1] * s.rotation[1] +
                            s.rotation[2] * s.rotation[2] + s.rotation[3] * s.rotation[3];
        in_range(norm, 0.98, 1.02, "the rotation is no unit quaternion");
        ours.pose.rotation = normalized(
            Quat{float(s.rotation[0]), float(s.rotation[1]), float(s.rotation[2]), float(s.rotation[3])});
        ours.velocity = vector(s.velocity, 1e6, "velocity is out of range");
        ours.spin = vector(s.spin, 1e6, "spin is out of range");
        ours.bears_load = s.bears_load != 0;
        ours.asleep = s.asleep != 0;
        if (s.type) ours.type = s.type;
        if (count == 0) bad_argument("a group needs blocks");
        given(cells);
        given(blocks);
        Grid grid(l.table());
        for (std::size_t i = 0; i < count; i++) {
            const BlockId block = block_of(l, blocks[i]);
            if (block == kAir) bad_argument("a group has no air");
            grid.set(cell_at(cells + 3 * i, kGroupCell), block);
        }
        const CellBox box = grid.bounds();
        if ((std::int64_t(box.max.x) - box.min.x + 1) * (std::int64_t(box.max.y) - box.min.y + 1) *
                (std::int64_t(box.max.z) - box.min.z + 1) >
            kGroupBounds)
            throw Failed{TALUS_TOO_LARGE, "the bounds of the group are too large"};
        const GroupId id = l.add_group(std::move(grid), ours);
        *group = to_c(id);
    });
}

talus_status talus_remove_block(talus_level level, talus_group group, const int32_t cell[3]) {
    return guarded([&] {
        Level& l = find(level);
        const GroupView view = view_of(l, group);
        if (!l.remove_block(view.id, cell_at(cell, kGroupCell)))
            throw Failed{TALUS_NOT_FOUND, "there is no block, or it may not leave"};
    });
}

talus_status talus_break_terrain(talus_level level, const int32_t cell[3]) {
    return guarded([&] {
        if (!find(level).break_terrain(cell_at(cell, kTerrainCell)))
            throw Failed{TALUS_NOT_FOUND, "there is no block, or it may not leave"};
    });
}

talus_status talus_place_block(talus_level level, talus_group group, const int32_t cell[3],
                               talus_block block) {
    return guarded([&] {
        Level& l = find(level);
        const GroupView view = view_of(l, group);
        if (!l.place_block(view.id, cell_at(cell, kGroupCell), block_of(l, block)))
            bad_argument("the cell is taken or too far out, or the block is air");
    });
}

talus_status talus_remove_group(talus_level level, talus_group group) {
    return guarded([&] {
        Level& l = find(level);
        l.remove_group(view_of(l, group).id);
    });
}

talus_status talus_wear_of(talus_level level, talus_group group, const int32_t cell[3], double* wear) {
    return guarded([&] {
        const Level& l = find(level);
        given(wear) = 0;
        *wear = double(group.index == 0 ? l.wear_of(cell_at(cell, kTerrainCell))
                                        : l.wear_of(view_of(l, group).id, cell_at(cell, kGroupCell)));
    });
}

talus_status talus_wear_down(talus_level level, talus_group group, const int32_t cell[3], double amount,
                             int32_t* worn_through) {
    return guarded([&] {
        Level& l = find(level);
        const float share = float(in_range(amount, 0, 1, "amount is out of range"));
        const bool through = group.index == 0
                                 ? l.wear_down(cell_at(cell, kTerrainCell), share)
                                 : l.wear_down(view_of(l, group).id, cell_at(cell, kGroupCell), share);
        if (worn_through) *worn_through = through;
    });
}

talus_status talus_mark_structure(talus_level level, const int32_t min[3], const int32_t max[3],
                                  talus_structure* structure) {
    return guarded([&] {
        Level& l = find(level);
        given(structure) = {};
        const StructureId id = l.mark_structure(cells_at(min, max));
        if (id.index == 0) throw Failed{TALUS_NOT_FOUND, "no solid is there"};
        *structure = {id.index, id.generation};
    });
}

talus_status talus_unmark_structure(talus_level level, talus_structure structure) {
    return guarded([&] {
        Level& l = find(level);
        l.unmark_structure(id_of(l, structure));
    });
}

talus_status talus_check_structure(talus_level level, talus_structure structure) {
    return guarded([&] {
        Level& l = find(level);
        l.check_structure_soon(id_of(l, structure));
    });
}

talus_status talus_check_group(talus_level level, talus_group group) {
    return guarded([&] {
        Level& l = find(level);
        l.check_structure_soon(view_of(l, group).id);
    });
}

talus_status talus_physicify(talus_level level, const int32_t cell[3], talus_group* group) {
    return guarded([&] {
        Level& l = find(level);
        given(group) = {};
        const GroupId id = l.physicify(cell_at(cell, kTerrainCell));
        if (id.index == 0) throw Failed{TALUS_NOT_FOUND, "there is no block that can move"};
        *group = to_c(id);
    });
}

talus_status talus_assemble(talus_level level, const int32_t cell[3], const int32_t min[3],
                            const int32_t max[3], uint64_t max_blocks, int32_t bears_load,
                            talus_group* group) {
    return guarded([&] {
        Level& l = find(level);
        given(group) = {};
        const GroupId id = l.assemble(cell_at(cell, kTerrainCell), cells_at(min, max),
                                      std::size_t(max_blocks), bears_load != 0);
        if (id.index == 0) throw Failed{TALUS_NOT_FOUND, "there is no build, or it is over the limit"};
        *group = to_c(id);
    });
}

talus_status talus_settle_settings_init(talus_settle_settings* settings, size_t size) {
    return guarded([&] { write_struct(default_settle(), settings, size); });
}

talus_status talus_settle(talus_level level, talus_group group, const talus_settle_settings* settings,
                          talus_settle_report* report, size_t size) {
    return guarded([&] {
        Level& l = find(level);
        const GroupView view = view_of(l, group);
        const talus_settle_settings s = read_struct(settings, default_settle());
        SettleSettings ours;
        ours.max_tilt = float(in_range(s.max_tilt, 0, 180, "max_tilt is out of range"));
        ours.max_offset = float(in_range(s.max_offset, 0, 1e6, "max_offset is out of range"));
        ours.drop_the_rest = s.drop_the_rest != 0;
        given(report);
        const SettleReport done = l.settle(view.id, ours);
        talus_settle_report out{};
        out.outcome = std::int32_t(done.refusal);
        out.placed = done.placed;
        out.dropped = done.dropped;
        write_struct(out, report, size);
    });
}

talus_status talus_protect(talus_level level, const double min[3], const double max[3], uint32_t* number) {
    return guarded([&] {
        Level& l = find(level);
        given(number) = 0;
        *number = l.protect(box_at(min, max));
    });
}

talus_status talus_unprotect(talus_level level, uint32_t number) {
    return guarded([&] { find(level).unprotect(number); });
}

talus_status talus_set_debris(talus_level level, talus_group group, int32_t ticks) {
    return guarded([&] {
        Level& l = find(level);
        l.set_debris(view_of(l, group).id, int(in_range(ticks, 0, 2e9, "ticks is out of range")));
    });
}

talus_status talus_group_type_init(talus_group_type* type, size_t size) {
    return guarded([&] { write_struct(talus_group_type{}, type, size); });
}

talus_status talus_add_group_type(talus_level level, const talus_group_type* type) {
    return guarded([&] {
        Level& l = find(level);
        const talus_group_type given_type = read_struct(&given(type), talus_group_type{});
        std::string name = &given(given_type.name);
        if (name.empty()) bad_argument("a type needs a name");
        auto ours = std::make_unique<CallerType>(given_type, std::move(name));
        l.add_group_type(*ours);
        lent_to(level).types.push_back(std::move(ours));
    });
}

talus_status talus_set_smooth_terrain(talus_level level, talus_density sample, void* context,
                                      talus_block block) {
    return guarded([&] {
        Level& l = find(level);
        const BlockId of = block_of(l, block);
        auto samples = sample ? std::make_unique<CallerSamples>(sample, context) : nullptr;
        l.set_smooth_terrain(samples.get(), of);
        lent_to(level).samples = std::move(samples);
    });
}

talus_status talus_dig(talus_level level, const double center[3], double radius) {
    return guarded([&] { dug(find(level), center, radius, false); });
}

talus_status talus_fill(talus_level level, const double center[3], double radius) {
    return guarded([&] { dug(find(level), center, radius, true); });
}

talus_status talus_blast(talus_level level, const double center[3], double power, uint64_t* destroyed) {
    return guarded([&] {
        Level& l = find(level);
        const std::size_t n =
            l.blast(position(center), float(in_range(power, 0, 1e6, "power is out of range")));
        if (destroyed) *destroyed = n;
    });
}

talus_status talus_carve_box(talus_level level, const double min[3], const double max[3], uint64_t* removed) {
    return guarded([&] {
        Level& l = find(level);
        const std::size_t n = l.carve({position(min), position(max)});
        if (removed) *removed = n;
    });
}

talus_status talus_carve_sphere(talus_level level, const double center[3], double radius, uint64_t* removed) {
    return talus_carve_capsule(level, center, center, radius, removed);
}

talus_status talus_carve_capsule(talus_level level, const double from[3], const double to[3], double radius,
                                 uint64_t* removed) {
    return guarded([&] {
        Level& l = find(level);
        const std::size_t n = l.carve_capsule(position(from), position(to), double(radius_of(radius)));
        if (removed) *removed = n;
    });
}

talus_status talus_tick(talus_level level) {
    return guarded([&] {
        Slot& slot = slot_of(level);
        not_in_a_tick(slot.lent);
        slot.lent.ticking = true;
        slot.level->tick();
        slot.lent.ticking = false;
        if (!slot.lent.keeps_events) slot.level->clear_events();
    });
}

talus_status talus_keep_events(talus_level level, int32_t keep) {
    return guarded([&] { lent_to(level).keeps_events = keep != 0; });
}

talus_status talus_clear_events(talus_level level) {
    return guarded([&] { find(level).clear_events(); });
}

talus_status talus_event_count(talus_level level, size_t* count) {
    return guarded([&] {
        const Level& l = find(level);
        given(count) = l.events().size();
    });
}

talus_status talus_event_get(talus_level level, size_t number, talus_event* event, size_t size) {
    return guarded([&] {
        const LevelEvent& e = event_of(find(level), number);
        talus_event out{};
        out.kind = std::int32_t(e.kind);
        out.cause = std::int32_t(e.cause);
        out.group = to_c(e.group);
        out.parent = to_c(e.parent);
        out.structure = {e.structure.index, e.structure.generation};
        put(e.cell, out.cell);
        put(e.last, out.last);
        out.block = e.block;
        out.other_block = e.other_block;
        put(e.point, out.point);
        out.value = double(e.value);
        write_struct(out, event, size);
    });
}

talus_status talus_event_bonds(talus_level level, size_t number, int32_t* cells, size_t capacity,
                               size_t* count) {
    return guarded([&] {
        const Level& l = find(level);
        const std::span<const Bond> bonds = l.bonds_of(event_of(l, number));
        given(count) = bonds.size();
        if (capacity > 0) given(cells);
        for (std::size_t i = 0; i < bonds.size() && i < capacity; i++) put_bond(bonds[i], cells + 6 * i);
    });
}

talus_status talus_group_count(talus_level level, size_t* count) {
    return guarded([&] {
        Level& l = find(level);
        given(count) = l.stats().groups;
    });
}

talus_status talus_group_ids(talus_level level, talus_group* groups, size_t capacity, size_t* count) {
    return guarded([&] {
        const auto ids = find(level).groups();
        given(count) = ids.size();
        if (capacity > 0) given(groups);
        for (std::size_t i = 0; i < ids.size() && i < capacity; i++) groups[i] = to_c(ids[i]);
    });
}

talus_status talus_group_get(talus_level level, talus_group group, talus_group_info* info, size_t size) {
    return guarded([&] {
        const GroupView view = view_of(find(level), group);
        talus_group_info out{};
        put(view.pose.position, out.position);
        const Quat q = view.pose.rotation;
        const double rotation[4] = {double(q.x), double(q.y), double(q.z), double(q.w)};
        std::memcpy(out.rotation, rotation, sizeof rotation);
        put(to_double(view.body.velocity()), out.velocity);
        put(to_double(view.body.spin()), out.spin);
        out.mass = double(view.body.mass());
        out.blocks = view.grid->block_count();
        out.asleep = view.asleep;
        out.bears_load = view.bears_load;
        write_struct(out, info, size);
    });
}

talus_status talus_group_blocks(talus_level level, talus_group group, int32_t* cells, talus_block* blocks,
                                size_t capacity, size_t* count) {
    return guarded([&] {
        const GroupView view = view_of(find(level), group);
        given(count) = view.grid->block_count();
        std::size_t i = 0;
        view.grid->for_each([&](Cell cell, BlockId block) {
            if (i >= capacity) return;
            if (cells) {
                cells[3 * i] = cell.x;
                cells[3 * i + 1] = cell.y;
                cells[3 * i + 2] = cell.z;
            }
            if (blocks) blocks[i] = block;
            i++;
        });
    });
}

talus_status talus_cast_ray(talus_level level, const double origin[3], const double direction[3],
                            double max_distance, talus_ray_hit* hit, size_t size) {
    return guarded([&] {
        Level& l = find(level);
        const Vec3 along = vector(direction, 1e6, "the direction is out of range");
        if (!(length(along) > 1e-6f)) bad_argument("the direction is zero");
        in_range(max_distance, 0, kLongestRay, "max_distance is out of range");
        talus_ray_hit out{};
        if (const auto found = l.cast_ray(position(origin), along, float(max_distance))) {
            out.kind = found->ground   ? TALUS_HIT_GROUND
                       : found->smooth ? TALUS_HIT_SMOOTH
                       : found->group  ? TALUS_HIT_GROUP
                                       : TALUS_HIT_TERRAIN;
            if (found->group) out.group = to_c(*found->group);
            put(found->cell, out.cell);
            put(found->normal, out.normal);
            put(found->point, out.point);
            out.distance = double(found->distance);
        }
        write_struct(out, hit, size);
    });
}

talus_status talus_stats(talus_level level, talus_level_stats* stats, size_t size) {
    return guarded([&] {
        const LevelStats s = find(level).stats();
        talus_level_stats out{};
        out.tick = s.tick;
        out.groups = s.groups;
        out.awake = s.awake;
        out.blocks = s.blocks;
        out.destroyed = s.destroyed;
        out.fallen_out = s.fallen_out;
        out.structures = s.structures;
        out.drops = s.drops;
        write_struct(out, stats, size);
    });
}

talus_status talus_hash(talus_level level, uint64_t* hash) {
    return guarded([&] {
        Level& l = find(level);
        given(hash) = l.hash();
    });
}

talus_status talus_snapshot_take(talus_level level, talus_write write, void* context) {
    return guarded([&] {
        const Level& l = find(level);
        given(write);
        not_in_a_tick(lent_to(level));
        const std::vector<std::uint8_t> bytes = take_snapshot(l);
        if (!write(context, bytes.data(), bytes.size()))
            throw Failed{TALUS_TOO_LARGE, "the snapshot was refused"};
    });
}

talus_status talus_snapshot_restore(const uint8_t* bytes, size_t size, talus_level* level) {
    return guarded([&] {
        given(level) = 0;
        given(bytes);
        auto made = restore_snapshot({bytes, size});
        if (!made) throw Failed{TALUS_BAD_DATA, made.error().message};
        *level = give_handle(std::move(*made));
    });
}

talus_status talus_recording_start(talus_level level, talus_write write, void* context) {
    return guarded([&] {
        Level& l = find(level);
        given(write);
        not_in_a_tick(lent_to(level));
        auto sink = std::make_unique<CallerSink>(write, context);
        start_recording(l, *sink);  // ends one that is under way
        lent_to(level).sink = std::move(sink);
    });
}

talus_status talus_recording_stop(talus_level level) {
    return guarded([&] { stop_recording(find(level)); });
}

talus_status talus_replay(const uint8_t* bytes, size_t bytes_size, talus_replay_report* report, size_t size) {
    return guarded([&] {
        given(bytes);
        write_struct(talus_replay_report{}, report, size);
        const ReplayReport r = replay({bytes, bytes_size});
        talus_replay_report out{};
        out.outcome = r.outcome == ReplayReport::Outcome::differs ? TALUS_REPLAY_DIFFERS : TALUS_REPLAY_SAME;
        out.first_tick = r.first_tick;
        out.tick = r.tick;
        out.calls = r.calls;
        out.hash = r.hash;
        out.recorded_hash = r.recorded_hash;
        std::strncpy(out.what, r.what.c_str(), sizeof out.what - 1);
        write_struct(out, report, size);
        if (r.outcome == ReplayReport::Outcome::damaged) throw Failed{TALUS_BAD_DATA, r.error.message};
    });
}
