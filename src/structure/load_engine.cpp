#include "structure/load_engine.h"

#include "structure/load_weigh.h"

#include <limits>
#include <utility>

namespace talus::load {
namespace {

// Spreading jumps about in memory, but where to is known: this many waves before, the data is asked for.
constexpr std::size_t kAhead = 6;

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
    for (int flows = 0; flows < 8; flows++) {
        double& safe = safe_[flows] = std::numeric_limits<double>::infinity();
        if (flows & 4) safe = safe_hanging_;
        if (flows & 2) safe = safe_sideways_ < safe ? safe_sideways_ : safe;
        if (flows & 1) safe = safe_standing_ < safe ? safe_standing_ : safe;
    }
    broken_ = 0;
}

// Before the first round: nothing broken, nothing landed.
void Engine::begin() {
    at_rest_ = false;
    too_many_ = false;
    for (std::vector<Node>* edits : {&heap_, &suspects_, &placed_, &changed_, &dirty_}) {
        edits->clear();
        edits->reserve(tiles.block_count() / 64 + 1024);
    }
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

// These blocks can be reached at a distance of this bucket.
[[gnu::always_inline]] inline void Engine::reach(std::uint32_t t, Word blocks, int bucket) {
    Tile& tile = tiles[t];
    blocks &= ~tile.reached;
    if (!blocks) return;
    if (!(tile.near[bucket] & ~tile.reached)) queue_[bucket].push_back(t);
    tile.near[bucket] |= blocks;
}

// Tells the neighbours of a wave.
template <int Up>
[[gnu::always_inline]] inline void Engine::push(std::uint32_t t, Word wave, int level) {
    const Tile& tile = tiles[t];
    Word inside[4] = {};  // by cost of the step
    for_each_direction([&]<int D>() TALUS_INLINE_LAMBDA {
        constexpr int kCost = step_cost(D, Up);
        const Word bond = tile.bond[D / 2];
        if constexpr (D != 2 && D != 3)
            inside[kCost] |= D % 2 == 0 ? moved_inside<D>(wave & bond) : moved_inside<D>(wave) & bond;
        Word across = moved_across<D>(D % 2 == 0 ? wave & bond : wave);
        if (!across) return;
        const std::uint32_t n = tile.nb[D];
        if constexpr (D % 2 != 0) across &= tiles[n].bond[D / 2];
        reach(n, across, (level + kCost) & 3);
    });
    if constexpr (Up != 2 && Up != 3) {
        reach(t, inside[1], (level + 1) & 3);
        reach(t, inside[3], (level + 3) & 3);
    }
    reach(t, inside[2], (level + 2) & 3);
}

template <int Up>
void Engine::spread_waves() {
    int left = 0;  // queues that hold nothing
    for (int level = 0; left < 4; level++) {
        const int bucket = level & 3;
        std::vector<std::uint32_t>& queue = queue_[bucket];
        left = queue.empty() ? left + 1 : 0;
        const std::size_t first = waves_.size();
        // Spreading looks at what was reached at smaller distances only; this wave is marked below.
        for (std::size_t i = 0; i < queue.size(); i++) {
            if (i + 2 * kAhead < queue.size()) {
                const Tile& later = tiles[queue[i + 2 * kAhead]];
                __builtin_prefetch(&later);
                __builtin_prefetch(&later.nb);
            }
            if (i + kAhead < queue.size())
                for (const std::uint32_t n : tiles[queue[i + kAhead]].nb) __builtin_prefetch(&tiles[n]);
            const std::uint32_t t = queue[i];
            Tile& tile = tiles[t];
            const Word wave = tile.near[bucket] & ~tile.reached;
            if (!wave) continue;
            tile.near[bucket] ^= wave;
            waves_.push_back({t, std::uint32_t(wave), std::uint32_t(wave >> 32)});
            push<Up>(t, wave, level);
        }
        queue.clear();
        for (std::size_t i = first; i < waves_.size(); i++) {
            const Word wave = waves_[i].word();
            Tile& tile = tiles[waves_[i].tile];
            tile.reached |= wave;
            for (int k = 0; k < 3; k++) tile.near[k] = (tile.near[k] & ~wave) | (level >> k & 1 ? wave : 0);
            reached_count_ += std::uint32_t(std::popcount(wave));
        }
        level_ends_.push_back(std::uint32_t(waves_.size()));
    }
}

// What passes load to which nearer neighbours, a whole tile at a time. Distances of bonded blocks differ by 3
// at most, so that three bits of each tell which is nearer. Both ends of a flow that changed are to be
// weighed anew.
void Engine::set_flow() {
    std::size_t kept = 0;
    for (const std::uint32_t t : live_) {
        Tile& tile = tiles[t];
        Word dirty = tile.dirty;
        for_each_direction([&]<int D>() TALUS_INLINE_LAMBDA {
            Tile& next = tiles[tile.nb[D]];
            Word theirs[3];
            for (int k = 0; k < 3; k++) theirs[k] = seen<D>(tile.near[k], next.near[k]);
            const Word bonds = D % 2 == 0 ? tile.bond[D / 2] : seen<D>(tile.bond[D / 2], next.bond[D / 2]);
            // Own distance less theirs, mod 8.
            const Word less0 = ~tile.near[0] & theirs[0];
            const Word less1 = (~tile.near[1] & (theirs[1] | less0)) | (theirs[1] & less0);
            const Word bit0 = tile.near[0] ^ theirs[0], bit1 = tile.near[1] ^ theirs[1] ^ less0,
                       bit2 = tile.near[2] ^ theirs[2] ^ less1;
            const Word flow = tile.reached & bonds & ~bit2 & (bit1 | bit0);
            const Word changed = flow ^ tile.flow[D];
            if (!changed) return;
            tile.flow[D] = flow;
            dirty |= changed | moved_inside<D>(changed);
            next.dirty |= moved_across<D>(changed) & next.reached & ~next.support;
        });
        tile.near[3] = tile.reached & ~tile.support;  // to be weighed: what a support carries does not matter
        tile.dirty = dirty & tile.near[3];
        if (tile.reached) live_[kept++] = t;  // tiles of which nothing is left are done with
    }
    live_.resize(kept);
}

void Engine::spread() {
    waves_.clear();
    level_ends_.clear();
    reached_count_ = 0;
    for (const std::uint32_t t : live_) {
        Tile& tile = tiles[t];
        tile.reached = 0;
        tile.near[0] = tile.support;
        tile.near[1] = tile.near[2] = tile.near[3] = 0;
        if (tile.support) queue_[0].push_back(t);
    }
    with_up([&]<int Up>() { spread_waves<Up>(); });
    set_flow();
}

std::uint32_t Engine::first_round(const StructureSettings& settings) {
    set_rule(settings);
    begin();
    spread();
    return weigh(true);
}

// So that a re-check that has to do all again finds the room it needs.
void Engine::leave_room() {
    const auto more = [](auto& list) {
        if (list.capacity() < list.size() + list.size() / 64 + 64)
            list.reserve(list.size() + list.size() / 16 + 256);
    };
    more(waves_);
    more(level_ends_);
    std::size_t longest = 0;
    for (const auto& queue : queue_) longest = queue.capacity() > longest ? queue.capacity() : longest;
    for (auto& queue : queue_) queue.reserve(longest);
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
    if (at_rest_) leave_room();
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
