#include "structure/load_engine.h"

#include "structure/load_weigh.h"

#include <utility>

namespace talus::load {
namespace {

// A pass jumps about in memory, but where to is known: this many waves before, the data is asked for.
constexpr std::size_t kAhead = 6;

void prefetch_tile(const Tile& tile) {
    const char* line = reinterpret_cast<const char*>(&tile);
    __builtin_prefetch(line);
    __builtin_prefetch(line + 64);
    __builtin_prefetch(line + 128);
}

}  // namespace

void Engine::set_blocks(std::span<const StructureBlock> blocks) {
    tiles.set(blocks);
    at_rest_ = false;
}

void Engine::set_rule(const StructureSettings& settings) {
    settings_ = settings;
    up_ = tiles.inner_direction(int(settings.up));
    // Below these units of load no bond can break, whatever its ends are made of.
    const double weakest = tiles.min_strength();
    safe_hanging_ = weakest * settings.hanging_capacity;
    safe_sideways_ = weakest * settings.sideways_capacity;
    safe_standing_ = weakest * settings.standing_capacity / 4;
    safe_ = safe_hanging_ < safe_sideways_ ? safe_hanging_ : safe_sideways_;
    safe_ = safe_standing_ < safe_ ? safe_standing_ : safe_;
    broken_ = 0;
}

// Before the first round: nothing broken, nothing landed.
void Engine::begin() {
    at_rest_ = false;
    for (std::vector<Node>* edits : {&suspects_, &placed_, &changed_, &dirty_}) edits->clear();
    unit_.resize(tiles.slot_count());
    distance_.resize(tiles.slot_count());
    landed_at_.clear();
    all_live();
    for (std::uint32_t t = 1; t < tiles.end_tile(); t++) {
        Tile& tile = tiles[t];
        tile.bond[0] = tiles.all_bonds<0>(tile);
        tile.bond[1] = tiles.all_bonds<1>(tile);
        tile.bond[2] = tiles.all_bonds<2>(tile);
        tile.dirty = tile.exists;
        tile.reached = 0;
        for (Word& f : tile.flow) f = 0;
    }
}

void Engine::all_live() {
    live_.resize(tiles.end_tile() - 1);
    for (std::uint32_t i = 0; i < live_.size(); i++) live_[i] = i + 1;
}

template <int D>
[[gnu::always_inline]] inline void Engine::push(std::uint32_t t, Word wave, int bucket) {
    Tile& tile = tiles[t];
    std::vector<std::uint32_t>& queue = queue_[bucket];
    const auto reach = [&](std::uint32_t at, Tile& to, Word bits) {
        bits &= ~to.reached;
        if (!bits) return;
        if (!to.pending[bucket]) queue.push_back(at);
        to.pending[bucket] |= bits;
    };
    Tile& next = tiles[tile.nb[D]];
    Word in = 0, across = 0;
    if constexpr (D % 2 == 0) {
        const Word bonded = wave & tile.bond[D / 2];
        in = moved_inside<D>(bonded);
        across = moved_across<D>(bonded);
    } else {
        in = moved_inside<D>(wave) & tile.bond[D / 2];
        across = moved_across<D>(wave) & next.bond[D / 2];
    }
    if constexpr (D != 2 && D != 3) reach(t, tile, in);
    reach(tile.nb[D], next, across);
}

// Blocks of the wave that have an unbroken bond to a nearer block at D.
template <int D>
[[gnu::always_inline]] inline Word Engine::flow_towards(const Tile& tile, Word wave) const {
    const Tile& next = tiles[tile.nb[D]];
    if constexpr (D % 2 == 0)
        return wave & tile.bond[D / 2] & seen<D>(tile.reached, next.reached);
    else
        return wave & seen<D>(tile.bond[D / 2] & tile.reached, next.bond[D / 2] & next.reached);
}

// The flow of these blocks towards D is now `flow`. Both ends of what changed are to be weighed anew.
template <int D>
[[gnu::always_inline]] inline void Engine::set_flow(Tile& tile, Word blocks, Word flow) {
    const Word changed = (tile.flow[D] & blocks) ^ flow;
    if (!changed) return;
    tile.flow[D] ^= changed;
    tile.dirty |= changed;
    mark_dirty<D>(tile, changed);
}

template <int D>
[[gnu::always_inline]] inline void Engine::mark_dirty(Tile& tile, Word givers) {
    tile.dirty |= moved_inside<D>(givers);
    if (const Word across = moved_across<D>(givers)) tiles[tile.nb[D]].dirty |= across;
}

void Engine::spread() {
    waves_.clear();
    level_ends_.clear();
    reached_count_ = 0;
    int left = 0;  // queues that hold anything
    for (const std::uint32_t t : live_) {
        Tile& tile = tiles[t];
        tile.reached = 0;
        tile.pending[0] = tile.support;
        if (tile.support) queue_[0].push_back(t);
    }
    int cost[6];
    for (int d = 0; d < 6; d++) cost[d] = step_cost(d);

    for (int level = 0; left < 4; level = (level + 1) & 3) {
        std::vector<std::uint32_t>& queue = queue_[level];
        left = queue.empty() ? left + 1 : 0;
        const std::size_t first = waves_.size();
        // Flow and spreading look at what was reached at smaller distances only; this wave is marked below.
        for (std::size_t i = 0; i < queue.size(); i++) {
            const std::uint32_t t = queue[i];
            Tile& tile = tiles[t];
            const Word wave = tile.pending[level] & ~tile.reached;
            tile.pending[level] = 0;
            if (!wave) continue;
            reached_count_ += std::uint32_t(std::popcount(wave));
            waves_.push_back({t, std::uint32_t(wave), std::uint32_t(wave >> 32)});
            for_each_direction([&]<int D>() TALUS_INLINE_LAMBDA {
                set_flow<D>(tile, wave, flow_towards<D>(tile, wave));
                push<D>(t, wave, (level + cost[D]) & 3);
            });
        }
        queue.clear();
        for (std::size_t i = first; i < waves_.size(); i++) tiles[waves_[i].tile].reached |= waves_[i].word();
        level_ends_.push_back(std::uint32_t(waves_.size()));
    }
    // What nothing reaches any more passes nothing on, and tiles of which nothing is left are done with.
    std::size_t kept = 0;
    for (const std::uint32_t t : live_) {
        Tile& tile = tiles[t];
        if (tile.reached) live_[kept++] = t;
        const Word lost = tile.exists & ~tile.reached;
        if (!lost) continue;
        tile.dirty &= ~lost;
        for_each_direction([&]<int D>() TALUS_INLINE_LAMBDA { set_flow<D>(tile, lost, 0); });
    }
    live_.resize(kept);
}

std::uint32_t Engine::weigh(bool first) {
    broken_ = 0;
    with_up([&]<int Up>() { first ? weigh_waves<Up, true>() : weigh_waves<Up, false>(); });
    return broken_;
}

// The first round weighs everything and notes the distances; later ones what is dirty.
template <int Up, bool First>
void Engine::weigh_waves() {
    std::size_t level = level_ends_.size();
    std::size_t level_first = waves_.size();
    for (std::size_t w = waves_.size(); w-- > 0;) {
        const std::uint32_t t = waves_[w].tile;
        Tile& tile = tiles[t];
        if (w >= 2 * kAhead) prefetch_tile(tiles[waves_[w - 2 * kAhead].tile]);
        if (w >= kAhead) {
            const Tile& soon = tiles[waves_[w - kAhead].tile];
            if (First || (soon.dirty & waves_[w - kAhead].word())) {
                for (const std::uint32_t n : soon.nb) __builtin_prefetch(&tiles[n].flow);
                __builtin_prefetch(&unit_[soon.base]);
            }
        }
        Word wave = waves_[w].word() & tile.dirty;
        if (!wave) continue;
        tile.dirty ^= wave;
        wave &= ~tile.support;  // what a support carries does not matter
        if (!wave) continue;
        const Word moved = weigh_blocks<Up>(t, wave);
        if constexpr (First) {
            while (w < level_first) {
                level--;
                level_first = level ? level_ends_[level - 1] : 0;
            }
            for_each_bit(wave, [&](int bit) { distance_[tiles.index_in(tile, bit)] = std::uint32_t(level); });
        } else {
            for_each_direction([&]<int D>()
                                   TALUS_INLINE_LAMBDA { mark_dirty<D>(tile, moved & tile.flow[D]); });
        }
    }
}

std::uint32_t Engine::first_round(const StructureSettings& settings) {
    set_rule(settings);
    begin();
    spread();
    return weigh(true);
}

StructureReport Engine::solve(const StructureSettings& settings, StructureSolver::Progress progress,
                              void* context) {
    StructureReport report;
    report.supports = tiles.support_count();
    if (report.supports == 0) {
        at_rest_ = false;
        return report;
    }
    const bool same_rule = settings.up == settings_.up &&
                           settings.hanging_capacity == settings_.hanging_capacity &&
                           settings.sideways_capacity == settings_.sideways_capacity &&
                           settings.standing_capacity == settings_.standing_capacity;
    const bool again = std::exchange(at_rest_, false) && same_rule;
    set_rule(settings);
    const int max_rounds = settings.max_rounds < 1 ? 1 : settings.max_rounds;

    std::uint32_t fallen = 0, broken = 0;
    for (int weighing = 0;; weighing++) {
        for (int round = 0; round < max_rounds; round++) {
            if (report.rounds > 0) {
                spread();
                broken = weigh(false);
            } else if (again && update()) {
                broken = broken_;
            } else {
                broken = first_round(settings);
            }
            report.rounds++;
            if (progress && !progress(context, report.rounds)) return {};
            if (!broken) break;
        }
        // The last round was one too many to follow up: what its broken bonds held falls.
        if (broken) spread();
        const std::uint32_t before = std::exchange(fallen, tiles.block_count() - reached_count_);
        if (fallen == before || weighing >= settings.max_weighings) break;
        // Before anything broke, nothing loose lies on anything.
        if (report.rounds == 1 && !broken) break;
        if (!land_fallen()) break;
    }
    at_rest_ = report.rounds == 1 && !broken;
    report.verdict = fallen ? Verdict::falls : Verdict::stands;
    if (fallen || !at_rest_) collect(report);
    return report;
}

double Engine::bond_load(Cell a, Cell b) const {
    a = tiles.inner(a);
    b = tiles.inner(b);
    for (int d = 0; d < 6; d++) {
        if (a + kStep[d] != b) continue;
        for (int turn = 0; turn < 2; turn++, std::swap(a, b), d ^= 1) {
            const Tile& tile = tiles[tiles.find(a)];
            const int bit = Tiles::bit_of(a);
            if (!(tile.flow[d] >> bit & 1)) continue;
            const double unit = unit_[Tiles::index_in(tile, bit)];
            return d == (up_ ^ 1) ? 4 * unit : unit;
        }
        return 0;
    }
    return 0;
}

void Engine::for_each_bond(void (*f)(void*, const BondState&), void* context) const {
    Cell up = tiles.outer(kStep[up_]);
    for (std::uint32_t t = 1; t < tiles.end_tile(); t++) {
        const Tile& tile = tiles[t];
        for_each_direction([&]<int D>() {
            for_each_bit(tile.flow[D] & tile.exists & tile.reached, [&](int bit) {
                const auto [to, to_bit] = tiles.next_to<D>(t, bit);
                const std::uint32_t from = Tiles::index_in(tile, bit);
                const double a = tiles.kind_of(from).strength;
                const double b = tiles.kind_of(Tiles::index_in(tiles[to], to_bit)).strength;
                const bool standing = D == (up_ ^ 1), hanging = D == up_;
                const double capacity = standing  ? settings_.standing_capacity
                                        : hanging ? settings_.hanging_capacity
                                                  : settings_.sideways_capacity;
                const double load = standing ? 4 * unit_[from] : unit_[from];
                BondState state;
                const Cell giver = tiles.outer(Tiles::cell_at(tile, bit));
                const Cell taker = tiles.outer(Tiles::cell_at(tiles[to], to_bit));
                const bool first = giver < taker;
                state.force.bond = first ? Bond{giver, taker} : Bond{taker, giver};
                const double sign = first ? load : -load;
                state.force.force = {sign * up.x, sign * up.y, sign * up.z};
                state.utilisation = load / ((a < b ? a : b) * capacity);
                state.kind = standing  ? FailureKind::compression
                             : hanging ? FailureKind::tension
                                       : FailureKind::shear;
                f(context, state);
            });
        });
    }
}

std::size_t Engine::bytes() const {
    std::size_t n = tiles.bytes() + unit_.capacity() * 8 + landed_.capacity() * 8 +
                    (waves_.capacity() + part_.capacity()) * sizeof(Wave) +
                    landed_at_.capacity() * sizeof(LandedTile) +
                    (live_.capacity() + distance_.capacity() + level_ends_.capacity() + stack_.capacity() +
                     count_.capacity() + touched_.capacity()) *
                        4 +
                    (heap_.capacity() + suspects_.capacity() + placed_.capacity() + changed_.capacity() +
                     dirty_.capacity()) *
                        sizeof(Node);
    for (const auto& q : queue_) n += q.capacity() * 4;
    return n;
}

}  // namespace talus::load
