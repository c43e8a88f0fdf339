#include "terrain/region_cache.h"

#include "math/cell_box.h"

#include <algorithm>

namespace talus {
namespace {

constexpr double kAhead = 12;                              // cells a region is stretched at most
constexpr double kHalfRegion = 48;                         // cells from the centre, an axis
constexpr std::uint64_t kAwakePoll = 2, kAsleepPoll = 20;  // ticks
constexpr int kAwakeBudget = 8192, kAsleepBudget = 2048;   // cells a tick
constexpr std::uint64_t kKeep = 100, kEvictEvery = 20;     // ticks
constexpr int kBrickCells = 512;
constexpr double kFarthest = kMaxTerrainCell - 8.0;  // cells

CellBox brick_cells(Cell brick) {
    const Cell lo{brick.x * 8, brick.y * 8, brick.z * 8};
    return {lo, lo + Cell{7, 7, 7}};
}

/// Cells a body may touch in the next step.
CellBox region_of(const Body& body, float cell_size, float dt) {
    const double e = cell_size;
    const DBox b = body.bounds();
    const DVec3 center = (b.min + b.max) * 0.5;
    const Vec3 velocity = body.velocity();
    CellBox out;
    std::int32_t lo[3], hi[3];
    for (int k = 0; k < 3; k++) {
        const double ahead = std::clamp(double(velocity[k]) * double(dt) / e, -kAhead, kAhead);
        double from = b.min[k] / e - 1 + (ahead < 0 ? ahead : 0);
        double to = b.max[k] / e + 1 + (ahead > 0 ? ahead : 0);
        from = std::max(from, center[k] / e - kHalfRegion);
        to = std::min(to, center[k] / e + kHalfRegion);
        lo[k] = std::int32_t(std::floor(std::clamp(from, -kFarthest, kFarthest)));
        hi[k] = std::int32_t(std::floor(std::clamp(to, -kFarthest, kFarthest)));
    }
    out.min = {lo[0], lo[1], lo[2]};
    out.max = {hi[0], hi[1], hi[2]};
    return out;
}

}  // namespace

RegionCache::RegionCache(TerrainSource& source, const BlockTable& table, float cell_size)
    : source_(&source), grid_(table), cell_size_(cell_size) {}

bool RegionCache::is_sound() const {
    constexpr std::int32_t most = kMaxTerrainCell / kBrickEdge;
    for (const auto& [brick, entry] : bricks_)
        for (const std::int32_t v : {brick.x, brick.y, brick.z})
            if (v < -most || v >= most) return false;
    for (const Brick* brick : grid_.bricks())
        if (!bricks_.contains(brick->coord)) return false;
    return true;
}

CellBox RegionCache::read_brick(Cell brick, Entry& entry) {
    const CellBox cells = brick_cells(brick);
    CellBox changed;
    entry.present = source_->is_loaded(cells);
    if (!entry.present) return changed;  // what was there is kept for those who sleep on it
    for (int y = cells.min.y; y <= cells.max.y; y++)
        for (int z = cells.min.z; z <= cells.max.z; z++)
            for (int x = cells.min.x; x <= cells.max.x; x++) {
                const BlockId now = source_->block_at({x, y, z});
                if (grid_.set({x, y, z}, now) != now) grow(changed, {x, y, z});
            }
    return changed;
}

/// Whoever wakes a body that is held, or pushes it, changes how it will go on.
void RegionCache::hold(Body body) {
    const BodyId id = body.id();
    auto [it, first] = held_.try_emplace(id.index);
    Held& held = it->second;
    if (first || held.generation != id.generation) held = {id.generation, {}, {}, true};
    if (body.is_asleep()) return;
    held.velocity += body.velocity();
    held.spin += body.spin();
    if (!is_finite(held.velocity) || !is_finite(held.spin)) held.velocity = held.spin = {};
    held.was_asleep = false;
    body.sleep();
}

const RegionCache::Held* RegionCache::held(const Body& body) const {
    const auto it = held_.find(body.id().index);
    return it == held_.end() || it->second.generation != body.id().generation ? nullptr : &it->second;
}

void RegionCache::let_go(Space& space, std::uint32_t index) {
    const auto it = held_.find(index);
    if (it == held_.end()) return;
    const Held held = it->second;
    held_.erase(it);
    Body body = space.body({index, held.generation});
    if (held.was_asleep && body.is_asleep()) return;
    const Vec3 velocity = body.velocity() + held.velocity, spin = body.spin() + held.spin;
    body.activate();
    body.set_velocity(velocity);
    body.set_spin(spin);
}

void RegionCache::let_go(Space& space) {
    while (!held_.empty()) let_go(space, held_.begin()->first);
}

void RegionCache::update(Space& space, float dt, double floor) {
    tick_++;
    struct Context {
        RegionCache* cache;
        Space* space;
        float dt;
        double lowest;  // brick that counts
    } context{this, &space, dt, floor / (kBrickEdge * double(cell_size_)) - 1};
    space.for_each_body(
        [](void* raw, Body body) {
            auto& c = *static_cast<Context*>(raw);
            if (body.motion() == MotionType::fixed) return;
            const bool awake = !body.is_asleep();
            const CellBox cells = region_of(body, c.cache->cell_size_, c.dt);
            const Cell lo = brick_of(cells.min), hi = brick_of(cells.max);
            bool waits = false;
            for (int y = lo.y; y <= hi.y; y++)
                for (int z = lo.z; z <= hi.z; z++)
                    for (int x = lo.x; x <= hi.x; x++) {
                        Entry& entry = c.cache->bricks_[{x, y, z}];
                        if (entry.last_used != c.cache->tick_) entry.awake = false;
                        entry.awake = entry.awake || awake;
                        entry.last_used = c.cache->tick_;
                        if (entry.present) continue;
                        const bool kept = c.cache->grid_.find_brick({x, y, z}) != nullptr;
                        const CellBox changed = c.cache->read_brick({x, y, z}, entry);
                        if (kept && !changed.empty()) c.space->terrain_changed(changed);
                        entry.next_poll = c.cache->tick_ + kAwakePoll;
                        waits = waits || (!entry.present && double(y) > c.lowest);
                    }
            if (body.motion() != MotionType::dynamic) return;
            if (waits)
                c.cache->hold(body);
            else
                c.cache->let_go(*c.space, body.id().index);
        },
        &context);

    std::erase_if(held_, [&](const auto& h) { return !space.body({h.first, h.second.generation}).exists(); });

    // Polling: first from where the last slice ended, then from the beginning.
    const auto poll = [&](bool awake, std::uint64_t every, int budget, Cell& from) {
        if (bricks_.empty()) return;
        auto it = bricks_.lower_bound(from);
        for (std::size_t n = 0; n < bricks_.size() && budget >= kBrickCells; n++, ++it) {
            if (it == bricks_.end()) it = bricks_.begin();
            Entry& entry = it->second;
            if (entry.last_used != tick_ || entry.awake != awake || !entry.present || entry.next_poll > tick_)
                continue;
            const CellBox changed = read_brick(it->first, entry);
            entry.next_poll = tick_ + every;
            budget -= kBrickCells;
            if (!changed.empty()) space.terrain_changed(changed);
        }
        from = it == bricks_.end() ? Cell{INT32_MIN, INT32_MIN, INT32_MIN} : it->first;
    };
    poll(true, kAwakePoll, kAwakeBudget, poll_from_awake_);
    poll(false, kAsleepPoll, kAsleepBudget, poll_from_asleep_);

    if (tick_ % kEvictEvery) return;
    for (auto it = bricks_.begin(); it != bricks_.end();) {
        if (it->second.last_used + kKeep > tick_) {
            ++it;
            continue;
        }
        const CellBox cells = brick_cells(it->first);
        for (int y = cells.min.y; y <= cells.max.y; y++)
            for (int z = cells.min.z; z <= cells.max.z; z++)
                for (int x = cells.min.x; x <= cells.max.x; x++) grid_.clear({x, y, z});
        it = bricks_.erase(it);
    }
}

void RegionCache::bring(const CellBox& cells) {
    const Cell lo = brick_of(cells.min), hi = brick_of(cells.max);
    for (int y = lo.y; y <= hi.y; y++)
        for (int z = lo.z; z <= hi.z; z++)
            for (int x = lo.x; x <= hi.x; x++) {
                Entry& entry = bricks_[{x, y, z}];
                entry.last_used = tick_;
                if (entry.present) continue;
                read_brick({x, y, z}, entry);
                entry.next_poll = tick_ + kAwakePoll;
            }
}

void RegionCache::changed(Space& space, const CellBox& cells) {
    CellBox all;
    const Cell lo = brick_of(cells.min), hi = brick_of(cells.max);
    for (auto& [brick, entry] : bricks_) {
        if (brick.x < lo.x || brick.x > hi.x || brick.y < lo.y || brick.y > hi.y || brick.z < lo.z ||
            brick.z > hi.z)
            continue;
        const CellBox c = read_brick(brick, entry);
        if (c.empty()) continue;
        grow(all, c.min);
        grow(all, c.max);
    }
    if (!all.empty()) space.terrain_changed(all);
}

}  // namespace talus
