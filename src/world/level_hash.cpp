// level_hash.cpp - one number for the state of a level.
//
// Called once a tick by recordings, so it must cost little: blocks are hashed as they change (Grid, edits of
// smooth ground), types once, and the rest is a pass over groups, structures and free slots. What a host
// lends is left out (its terrain, its types' own state), and so is what the physics only remembers to begin
// its next step near the answer (contacts, what is near what, how long a body was slow): a difference there
// shows in a pose one tick later. To compare every bit, compare two snapshots.
#include "base/hash.h"
#include "dynamics/state.h"
#include "world/archive.h"
#include "world/level_state.h"
#include "world/structure_check.h"

namespace talus {

namespace {

struct StateHash : BitHash {
    using BitHash::add;
    template <class T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
    void add(T v) { BitHash::add(std::uint64_t(v)); }
    void add(Vec3 v) {
        for (int k = 0; k < 3; k++) BitHash::add(v[k]);
    }
    void add(DVec3 v) {
        for (int k = 0; k < 3; k++) BitHash::add(v[k]);
    }
    void add(Quat q) {
        for (const float x : {q.x, q.y, q.z, q.w}) BitHash::add(x);
    }
    void add(Cell c) {
        add(std::uint64_t(std::uint32_t(c.x)) << 32 | std::uint32_t(c.y));
        add(std::uint32_t(c.z));
    }
    void add(const std::string& s) {
        add(checksum({reinterpret_cast<const std::uint8_t*>(s.data()), s.size()}));
    }
    template <class T>
    void add(const std::optional<T>& v) {
        add(v.has_value());
        if (v) add(*v);
    }
    template <class T>
    void add(const std::vector<T>& list) {
        add(list.size());
        for (const T& v : list) add(v);
    }
};

void hash_build(StateHash& hash, const Build& b) {
    hash.add(b.grid.content_hash());
    hash.add(b.kind ? b.kind->first : std::string());
    hash.add(b.mode);
    hash.add(b.wear.size());
    b.wear.for_each([&](Cell cell, float share) {
        hash.add(cell);
        hash.add(share);
    });
    hash.add(b.breaking);
    hash.add(b.check_wanted || b.check);
}

void hash_body(StateHash& hash, const Body& body) {
    const Pose pose = body.pose();
    hash.add(pose.position);
    hash.add(pose.rotation);
    hash.add(body.velocity());
    hash.add(body.spin());
    hash.add(body.is_asleep());
    hash.add(body.friction());
    hash.add(body.gravity_factor());
    hash.add(body.layer());
    hash.add(body.motion());
}

void hash_group(StateHash& hash, const Group& g) {
    hash.add(g.id.index);
    hash_build(hash, g);
    hash_body(hash, g.body);
    hash.add(g.bears_load);
    hash.add(g.is_debris);
    hash.add(g.created_tick);
    hash.add(g.slippery_until);
    hash.add(g.debris_ticks);
    hash.add(g.asleep_ticks);
    hash.add(g.whole_look || !g.removed_solids.empty());
    if (!g.joins.intact())
        for (const auto& [from, to] : g.joins.cuts()) {
            hash.add(from);
            hash.add(to);
        }
}

/// Types only join: those that are new since the last time.
std::uint64_t hash_of_types(LevelState& level) {
    if (level.types_hashed < level.table.size()) {
        ByteWriter types;
        write_types(types, level.table, level.types_hashed);
        level.types_hash = checksum(types.bytes, level.types_hash);
        level.types_hashed = level.table.size();
    }
    return level.types_hash;
}

}  // namespace

std::uint64_t Level::hash() const {
    LevelState& level = *state_;
    StateHash hash;
    each_setting(level.settings, [&](const char*, const auto& v, double, double) { hash.add(v); });
    hash.add(hash_of_types(level));
    hash.add(level.own_terrain.content_hash());
    hash.add(level.smooth ? level.smooth->block : kAir);
    if (level.smooth) hash.add(level.smooth->field.edited_hash());
    each_counter(level, [&](const char*, const auto& v, double, double) { hash.add(v); });
    for (const ProtectedRegion& r : level.protected_regions) {
        hash.add(r.number);
        hash.add(r.box.min);
        hash.add(r.box.max);
    }
    hash.add(level.work_from);
    hash.add(level.generations);
    hash.add(level.free_slots);
    hash.add(level.structure_generations);
    hash.add(level.free_structures);
    for (const auto& slot : level.slots)
        if (slot) hash_group(hash, *slot);
    for (const auto& slot : level.structure_slots)
        if (slot) {
            hash.add(slot->id.index);
            hash_build(hash, *slot);
        }
    // Bodies of the host's own.
    const BodyStore& bodies = level.space.state().bodies;
    for (std::int32_t i = 1; i < bodies.size(); i++) {
        if (!bodies.hot[std::size_t(i)].exists) continue;
        const Body body(&level.space, bodies.id(i));
        if (level.owner_of(body)) continue;
        hash.add(body.id().index);
        hash.add(body.id().generation);
        hash_body(hash, body);
    }
    return hash.value();
}

}  // namespace talus
