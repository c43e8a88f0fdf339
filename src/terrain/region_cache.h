// region_cache.h - a host's terrain, copied brick by brick to where bodies are.
//
// Layer: terrain. Cells of the space; a body's region is its bounds plus one cell, stretched ahead by one
// step's travel (at most 12 cells an axis) and clamped to 96 cells an axis around its centre. Every brick of
// a region is copied before the step that needs it, so that physics reads one Grid whoever owns the world.
// Changes: a host calls changed(box), or is polled: bricks near awake bodies are read again every 2 ticks,
// those near sleeping ones every 20, within a budget of cells a tick, in turns, so that a big region is read
// in slices. Bricks nobody used for 100 ticks are dropped, which is looked after every 20 ticks. A body whose
// region is not loaded is held: it sleeps until it is, then goes on with the motion it had. Determinism:
// the order of reading follows body ids and brick order; budgets count cells, not time. Tests:
// tests/terrain/region_cache_test.cpp
#pragma once

#include "math/archive.h"
#include "talus/space.h"
#include "talus/terrain.h"

#include <map>

namespace talus {

class RegionCache {
 public:
    /// `source` and `table` must outlive the cache.
    RegionCache(TerrainSource& source, const BlockTable& table, float cell_size);

    const Grid& grid() const { return grid_; }
    TerrainSource& source() const { return *source_; }

    /// Once a tick, before the step: brings in what bodies need, polls for changes, drops what is unused.
    /// @param floor  below, nothing is missed that is not loaded
    void update(Space& space, float dt, double floor);
    /// No body is held any more. Before the cache goes.
    void let_go(Space& space);
    /// The host says these cells changed: read again at once where cached.
    void changed(Space& space, const CellBox& cells);
    /// A body that waits for its terrain, with the motion it goes on with.
    struct Held {
        std::uint32_t generation = 0;
        Vec3 velocity, spin;
        bool was_asleep = false;
        template <class A, class T>
        static void archive(A& a, T& v) {
            a(v.generation, v.velocity, v.spin, v.was_asleep);
        }
    };
    /// Null when it does not wait.
    const Held* held(const Body& body) const;
    /// Makes sure that cells are in the grid, as for a body that is there now.
    void bring(const CellBox& cells);
    std::size_t brick_count() const { return bricks_.size(); }

    /// What a snapshot keeps besides the grid.
    template <class A, class T>
    static void archive(A& a, T& v) {
        a(v.tick_, v.bricks_, v.poll_from_awake_, v.poll_from_asleep_, v.held_);
    }
    /// Of a level that is being restored.
    Grid& grid_for_restore() { return grid_; }
    /// After reading: has every brick of the grid its entry, and are they within the limits of grid.h?
    bool is_sound() const;
    /// From now on asked instead of the source given before.
    void replace_source(TerrainSource& source) { source_ = &source; }

 private:
    struct Entry {
        std::uint64_t last_used = 0;
        std::uint64_t next_poll = 0;
        bool awake = false;    ///< used by an awake body at last_used
        bool present = false;  ///< its cells were loaded and are in the grid
        template <class A, class T>
        static void archive(A& a, T& v) {
            a(v.last_used, v.next_poll, v.awake, v.present);
        }
    };
    void hold(Body body);
    void let_go(Space& space, std::uint32_t index);
    /// Reads a brick from the host. @return the cells that changed, an empty box when none
    CellBox read_brick(Cell brick, Entry& entry);

    TerrainSource* source_;
    Grid grid_;
    float cell_size_;
    std::uint64_t tick_ = 0;
    std::map<Cell, Entry> bricks_;             // by brick coordinate, so that walks are in brick order
    std::map<std::uint32_t, Held> held_;       // by BodyId::index
    Cell poll_from_awake_, poll_from_asleep_;  // where the next slice begins
};

}  // namespace talus
