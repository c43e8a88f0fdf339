#include "structure/load_engine.h"

#include <algorithm>
#include <utility>

namespace talus::load {
namespace {

// Ascending order of up to seven values, added to `sum` one by one.
double add_sorted(double sum, double* value, int n) {
    for (int i = 1; i < n; i++) {
        const double v = value[i];
        int j = i;
        for (; j > 0 && v < value[j - 1]; j--) value[j] = value[j - 1];
        value[j] = v;
    }
    for (int i = 0; i < n; i++) sum += value[i];
    return sum;
}

template <class F>
void for_each_bit(Word word, F&& f) {
    for (; word; word &= word - 1) f(std::countr_zero(word));
}

// A pass jumps about in memory, but where to is known: this many waves before, the data is asked for.
constexpr std::size_t kAhead = 6;
void prefetch_tile(const Tile& tile) {
    const char* line = reinterpret_cast<const char*>(&tile);
    __builtin_prefetch(line);
    __builtin_prefetch(line + 64);
    __builtin_prefetch(line + 128);
}

// f.template operator()<D>() for the six directions.
template <class F>
void for_each_direction(F&& f) {
    f.template operator()<0>();
    f.template operator()<1>();
    f.template operator()<2>();
    f.template operator()<3>();
    f.template operator()<4>();
    f.template operator()<5>();
}

}  // namespace

// Before the first round: nothing broken, nothing landed.
void Engine::begin(const StructureSettings& settings) {
    settings_ = settings;
    // Below these units of load no bond can break, whatever its ends are made of.
    safe_hanging_ = tiles.min_strength() * settings.hanging_capacity;
    safe_sideways_ = tiles.min_strength() * settings.sideways_capacity;
    safe_standing_ = tiles.min_strength() * settings.standing_capacity / 4;
    safe_ = std::min(safe_hanging_, std::min(safe_sideways_, safe_standing_));
    unit_.resize(tiles.block_count());
    for (std::uint32_t t = 0; t < tiles.tile_count(); t++) {
        Tile& tile = tiles[t];
        tile.bond[0] = tiles.all_bonds<0>(tile);
        tile.bond[1] = tiles.all_bonds<1>(tile);
        tile.bond[2] = tiles.all_bonds<2>(tile);
        tile.landed = 0;
        tile.dirty = tile.exists;
        for (Word& f : tile.flow) f = 0;
    }
}

template <int D>
void Engine::push(std::uint32_t t, Word wave, int bucket) {
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
Word Engine::flow_towards(const Tile& tile, Word wave) const {
    const Tile& next = tiles[tile.nb[D]];
    if constexpr (D % 2 == 0)
        return wave & tile.bond[D / 2] & seen<D>(tile.reached, next.reached);
    else
        return wave & seen<D>(tile.bond[D / 2] & tile.reached, next.bond[D / 2] & next.reached);
}

// The flow of these blocks towards D is now `flow`. Both ends of what changed are to be weighed anew.
template <int D>
void Engine::set_flow(Tile& tile, Word blocks, Word flow) {
    const Word changed = (tile.flow[D] & blocks) ^ flow;
    if (!changed) return;
    tile.flow[D] ^= changed;
    tile.dirty |= changed;
    mark_dirty<D>(tile, changed);
}

template <int D>
void Engine::mark_dirty(Tile& tile, Word givers) {
    tile.dirty |= moved_inside<D>(givers);
    if (const Word across = moved_across<D>(givers)) tiles[tile.nb[D]].dirty |= across;
}

void Engine::spread() {
    waves_.clear();
    int left = 0;  // queues that hold anything
    for (std::uint32_t t = 0; t < tiles.tile_count(); t++) {
        Tile& tile = tiles[t];
        tile.reached = 0;
        tile.pending[0] = tile.support;
        if (tile.support) queue_[0].push_back(t);
    }
    const int up = int(settings_.up);
    int cost[6];
    for (int d = 0; d < 6; d++) cost[d] = d == up ? 1 : d == (up ^ 1) ? 3 : 2;

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
            waves_.push_back({t, std::uint32_t(wave), std::uint32_t(wave >> 32)});
            for_each_direction([&]<int D>() {
                set_flow<D>(tile, wave, flow_towards<D>(tile, wave));
                push<D>(t, wave, (level + cost[D]) & 3);
            });
        }
        queue.clear();
        for (std::size_t i = first; i < waves_.size(); i++) tiles[waves_[i].tile].reached |= waves_[i].word();
    }
    // What nothing reaches any more passes nothing on.
    for (std::uint32_t t = 0; t < tiles.tile_count(); t++) {
        Tile& tile = tiles[t];
        if (const Word lost = tile.exists & ~tile.reached)
            for_each_direction([&]<int D>() { set_flow<D>(tile, lost, 0); });
    }
}

std::uint32_t Engine::weigh() {
    switch (settings_.up) {
        case Axis::pos_x:
            return weigh_up<0>();
        case Axis::neg_x:
            return weigh_up<1>();
        case Axis::pos_y:
            return weigh_up<2>();
        case Axis::neg_y:
            return weigh_up<3>();
        case Axis::pos_z:
            return weigh_up<4>();
        case Axis::neg_z:
            return weigh_up<5>();
    }
    return 0;
}

template <int Up>
std::uint32_t Engine::weigh_up() {
    constexpr int Down = Up ^ 1;
    std::uint32_t broken = 0;
    for (std::size_t w = waves_.size(); w-- > 0;) {
        const std::uint32_t t = waves_[w].tile;
        Tile& tile = tiles[t];
        if (w >= 2 * kAhead) prefetch_tile(tiles[waves_[w - 2 * kAhead].tile]);
        if (w >= kAhead) {
            const Tile& soon = tiles[waves_[w - kAhead].tile];
            if (soon.dirty & waves_[w - kAhead].word()) {
                for (const std::uint32_t n : soon.nb) __builtin_prefetch(&tiles[n].flow);
                __builtin_prefetch(&unit_[soon.base]);
            }
        }
        Word wave = waves_[w].word() & tile.dirty;
        if (!wave) continue;
        tile.dirty ^= wave;
        wave &= ~tile.support;  // what a support carries does not matter
        if (!wave) continue;
        // Into which blocks of the wave the neighbours at D pass load.
        Word from[6];
        for_each_direction(
            [&]<int D>() { from[D] = wave & seen<D>(tile.flow[D ^ 1], tiles[tile.nb[D]].flow[D ^ 1]); });
        const Word beside = from[0] | from[1] | from[2] | from[3] | from[4] | from[5];
        Word moved = 0;  // blocks whose load is not what it was
        for (Word rest = wave; rest; rest &= rest - 1) {
            const int bit = std::countr_zero(rest);
            const Word one = rest & -rest;
            const std::uint32_t index = tiles.index_in(tile, bit);
            double load = tiles.kinds()[tile.kind != kMixedKinds ? tile.kind : tiles.kind_id(index)].mass;
            if ((beside | tile.landed) & one) {
                double in[7];
                int n = 0;
                for_each_direction([&]<int D>() {
                    if (!(from[D] & one)) return;
                    const auto [nt, nbit] = tiles.next_to<D>(t, bit);
                    const double unit = unit_[tiles.index_in(tiles[nt], nbit)];
                    in[n++] = D == Up ? 4 * unit : unit;
                });
                if (tile.landed & one)
                    in[n++] =
                        landed_[tile.landed_base + std::uint32_t(std::popcount(tile.landed & (one - 1)))];
                load = n == 1 ? load + in[0] : add_sorted(load, in, n);
            }
            int shares = tile.flow[Down] & one ? 4 : 0;
            for_each_direction([&]<int D>() {
                if constexpr (D != Down) shares += (tile.flow[D] & one) != 0;
            });
            const double unit = load / shares;
            const bool same =
                std::bit_cast<std::uint64_t>(unit) == std::bit_cast<std::uint64_t>(unit_[index]);
            moved |= same ? 0 : one;
            unit_[index] = unit;
            if (unit > safe_) broken += break_overloaded<Up>(t, bit, index);
        }
        for_each_direction([&]<int D>() { mark_dirty<D>(tile, moved & tile.flow[D]); });
    }
    return broken;
}

template <int Up, int D>
std::uint32_t Engine::break_if_over(std::uint32_t t, int bit, std::uint32_t index) {
    if (!(tiles[t].flow[D] >> bit & 1)) return 0;
    constexpr bool standing = D == (Up ^ 1), hanging = D == Up;
    const double unit = unit_[index];
    const double load = standing ? 4 * unit : unit;
    if (unit <= (standing ? safe_standing_ : hanging ? safe_hanging_ : safe_sideways_)) return 0;
    const auto [nt, nbit] = tiles.next_to<D>(t, bit);
    const double a = tiles.kind_of(index).strength;
    const double b = tiles.kind_of(tiles.index_in(tiles[nt], nbit)).strength;
    const double capacity = standing  ? settings_.standing_capacity
                            : hanging ? settings_.hanging_capacity
                                      : settings_.sideways_capacity;
    if (!(load > (a < b ? a : b) * capacity)) return 0;
    if constexpr (D % 2 == 0)
        tiles[t].bond[D / 2] &= ~(Word(1) << bit);
    else
        tiles[nt].bond[D / 2] &= ~(Word(1) << nbit);
    return 1;
}

// Bonds may be cut while the pass goes on: it reads flow, not bonds.
template <int Up>
std::uint32_t Engine::break_overloaded(std::uint32_t t, int bit, std::uint32_t index) {
    std::uint32_t broken = 0;
    for_each_direction([&]<int D>() { broken += break_if_over<Up, D>(t, bit, index); });
    return broken;
}

std::uint32_t Engine::count_reached() const {
    std::uint32_t n = 0;
    for (std::uint32_t t = 0; t < tiles.tile_count(); t++)
        n += std::uint32_t(std::popcount(tiles[t].reached));
    return n;
}

// Fills part_ with the fallen part that holds this block and sets pending[3] on it, which
// must be set on all that stands. A tile may come up in more
// than one entry.
void Engine::flood_part(std::uint32_t start, int bit) {
    part_.clear();
    const auto reach = [&](std::uint32_t t, Word bits) {
        Tile& tile = tiles[t];
        bits &= ~(tile.pending[3] | tile.pending[0]);
        if (!bits) return;
        if (!tile.pending[0]) stack_.push_back(t);
        tile.pending[0] |= bits;
    };
    reach(start, Word(1) << bit);
    while (!stack_.empty()) {
        const std::uint32_t t = stack_.back();
        stack_.pop_back();
        Tile& tile = tiles[t];
        Word wave = tile.pending[0];
        tile.pending[0] = 0;
        // Inside the tile until nothing is added, then over its borders once.
        const Word x = tile.bond[0] & ~kColumn7, z = tile.bond[2];
        for (Word before = 0; before != wave;) {
            before = wave;
            wave |= (wave & x) << 1 | ((wave >> 1) & x) | (wave & z) << 8 | ((wave >> 8) & z);
        }
        wave &= ~tile.pending[3];
        tile.pending[3] |= wave;
        part_.push_back({t, std::uint32_t(wave), std::uint32_t(wave >> 32)});
        for_each_direction([&]<int D>() {
            Word across = 0;
            if constexpr (D % 2 == 0)
                across = moved_across<D>(wave & tile.bond[D / 2]);
            else
                across = moved_across<D>(wave) & tiles[tile.nb[D]].bond[D / 2];
            if (across) reach(tile.nb[D], across);
        });
    }
}

// Loads from all fallen parts onto the standing blocks right under them. @return whether there are any
bool Engine::land_fallen() {
    const int up = int(settings_.up);
    for (std::uint32_t t = 0; t < tiles.tile_count(); t++) {
        tiles[t].pending[3] =
            tiles[t].reached;  // a flood never enters what stands: no unbroken bond leads there
        tiles[t].pending[2] = tiles[t].landed;
    }
    // Standing blocks with a fallen one right above.
    std::uint32_t total = 0;
    for (std::uint32_t t = 0; t < tiles.tile_count(); t++) {
        Tile& tile = tiles[t];
        const Tile& next = tiles[tile.nb[up]];
        const Word own = tile.exists & ~tile.reached, over = next.exists & ~next.reached;
        Word above = 0;
        for_each_direction([&]<int D>() {
            if (D == up) above = seen<D>(own, over);
        });
        tile.landed = tile.reached & ~tile.support & above;
        // Supports take their part of the load but need not know of it.
        tile.pending[1] = tile.reached & above;
        tile.landed_base = total;
        total += std::uint32_t(std::popcount(tile.landed));
    }
    landed_.resize(total);
    count_.resize(tiles.kinds().size(), 0);

    for (std::uint32_t t = 0; total && t < tiles.tile_count(); t++) {
        for (Word rest; (rest = tiles[t].exists & ~tiles[t].pending[3]) != 0;) {
            flood_part(t, std::countr_zero(rest));
            // The blocks under the part, and its mass: kinds are sorted by mass, so this adds in ascending
            // order.
            std::uint32_t under = 0;
            for (const Wave& w : part_) {
                const Tile& tile = tiles[w.tile];
                for_each_direction([&]<int D>() {
                    if (D != (up ^ 1)) return;
                    under += std::uint32_t(std::popcount(moved_inside<D>(w.word()) & tile.pending[1]));
                    under += std::uint32_t(
                        std::popcount(moved_across<D>(w.word()) & tiles[tile.nb[D]].pending[1]));
                });
            }
            if (under == 0) continue;
            for (const Wave& w : part_)
                for_each_bit(w.word(), [&](int bit) {
                    const std::uint32_t k = tiles.kind_id(tiles.index_in(tiles[w.tile], bit));
                    if (count_[k]++ == 0) touched_.push_back(k);
                });
            std::sort(touched_.begin(), touched_.end());
            double mass = 0;
            for (const std::uint32_t k : touched_)
                for (; count_[k]; count_[k]--) mass += tiles.kinds()[k].mass;
            touched_.clear();
            const double each = mass / under;
            for (const Wave& w : part_) {
                const auto land = [&](const Tile& tile, Word bits) {
                    for_each_bit(bits & tile.landed, [&](int bit) {
                        landed_[tile.landed_base +
                                std::uint32_t(std::popcount(tile.landed & ((Word(1) << bit) - 1)))] = each;
                    });
                };
                const Tile& tile = tiles[w.tile];
                for_each_direction([&]<int D>() {
                    if (D != (up ^ 1)) return;
                    land(tile, moved_inside<D>(w.word()));
                    land(tiles[tile.nb[D]], moved_across<D>(w.word()));
                });
            }
        }
    }
    for (std::uint32_t t = 0; t < tiles.tile_count(); t++) {
        Tile& tile = tiles[t];
        tile.dirty |= tile.landed | tile.pending[2];
        for (Word& w : tile.pending) w = 0;
    }
    return total != 0;
}

StructureReport Engine::solve(const StructureSettings& settings, StructureSolver::Progress progress,
                              void* context) {
    StructureReport report;
    report.supports = tiles.support_count();
    if (report.supports == 0) return report;
    begin(settings);

    std::uint32_t fallen = 0;
    for (int weighing = 0;; weighing++) {
        std::uint32_t broken = 0;
        for (int round = 0; round < settings.max_rounds; round++) {
            spread();
            broken = weigh();
            report.rounds++;
            if (progress && !progress(context, report.rounds)) return {};
            if (!broken) break;
        }
        // The last round was one too many to follow up: what its broken bonds held falls.
        if (broken || settings.max_rounds < 1) spread();
        const std::uint32_t before = std::exchange(fallen, tiles.block_count() - count_reached());
        if (fallen == before || weighing >= settings.max_weighings || !land_fallen()) break;
    }
    report.verdict = fallen ? Verdict::falls : Verdict::stands;
    collect(report);
    return report;
}

// Everything comes out in order of cells, row by row, so that a million cells in many parts need no sorting.
void Engine::collect(StructureReport& report) {
    const std::uint32_t tile_count = tiles.tile_count();
    std::size_t broken = 0;
    for (std::uint32_t t = 0; t < tile_count; t++) tiles[t].pending[3] = tiles[t].reached;
    // Numbers the parts, as the floods find them.
    std::vector<std::uint32_t> sizes;
    if (report.verdict == Verdict::falls) part_of_.resize(tiles.block_count());
    for (std::uint32_t t = 0; t < tile_count; t++)
        for (Word rest; (rest = tiles[t].exists & ~tiles[t].pending[3]) != 0;) {
            flood_part(t, std::countr_zero(rest));
            std::uint32_t size = 0;
            for (const Wave& w : part_)
                for_each_bit(w.word(), [&](int bit) {
                    part_of_[Tiles::index_in(tiles[w.tile], bit)] = std::uint32_t(sizes.size());
                    size++;
                });
            sizes.push_back(size);
        }
    for (std::uint32_t t = 0; t < tile_count; t++) {
        Tile& tile = tiles[t];
        tile.pending[3] = tile.exists & ~tile.reached;
        tile.pending[0] = tiles.all_bonds<0>(tile) & ~tile.bond[0];
        tile.pending[1] = tiles.all_bonds<1>(tile) & ~tile.bond[1];
        tile.pending[2] = tiles.all_bonds<2>(tile) & ~tile.bond[2];
        for (int axis = 0; axis < 3; axis++) broken += std::size_t(std::popcount(tile.pending[axis]));
    }

    // Their order: by size, then by lowest cell, which is the order in which the cells come by.
    constexpr std::uint32_t kUnseen = 0xffffffffu;
    std::vector<std::uint32_t> place(sizes.size(), kUnseen);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> order;  // size, part
    order.reserve(sizes.size());
    if (!sizes.empty())
        tiles.for_each_in_order([](const Tile& tile) { return tile.pending[3]; },
                                [&](const Tile& tile, int bit) {
                                    const std::uint32_t part = part_of_[Tiles::index_in(tile, bit)];
                                    if (place[part] != kUnseen) return;
                                    place[part] = 0;
                                    order.emplace_back(sizes[part], part);
                                });
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    report.parts.resize(order.size());
    for (std::uint32_t i = 0; i < order.size(); i++) {
        place[order[i].second] = i;
        report.parts[i].reserve(order[i].first);
    }
    if (!sizes.empty())
        tiles.for_each_in_order([](const Tile& tile) { return tile.pending[3]; },
                                [&](const Tile& tile, int bit) {
                                    report.parts[place[part_of_[Tiles::index_in(tile, bit)]]].push_back(
                                        Tiles::cell_at(tile, bit));
                                });
    report.broken_bonds.reserve(broken);
    if (broken)
        tiles.for_each_in_order(
            [](const Tile& tile) { return tile.pending[0] | tile.pending[1] | tile.pending[2]; },
            [&](const Tile& tile, int bit) {
                const Cell c = Tiles::cell_at(tile, bit);
                for (const int axis : {0, 2, 1})  // the order of the other ends
                    if (tile.pending[axis] >> bit & 1)
                        report.broken_bonds.emplace_back(c, c + kStep[2 * axis]);
            });
    for (std::uint32_t t = 0; t < tile_count; t++)
        for (Word& w : tiles[t].pending) w = 0;
}

std::uint32_t Engine::first_round(const StructureSettings& settings) {
    begin(settings);
    spread();
    return weigh();
}

double Engine::bond_load(Cell a, Cell b) const {
    for (int d = 0; d < 6; d++) {
        if (a + kStep[d] != b) continue;
        for (int turn = 0; turn < 2; turn++, std::swap(a, b), d ^= 1) {
            const Tile& tile = tiles[tiles.find(a)];
            const int bit = Tiles::bit_of(a);
            if (!(tile.flow[d] >> bit & 1)) continue;
            const double unit = unit_[Tiles::index_in(tile, bit)];
            return d == (int(settings_.up) ^ 1) ? 4 * unit : unit;
        }
        return 0;
    }
    return 0;
}

std::size_t Engine::bytes() const {
    std::size_t n = tiles.bytes() + unit_.capacity() * 8 + waves_.capacity() * sizeof(Wave) +
                    landed_.capacity() * 8 + part_.capacity() * sizeof(Wave) +
                    (stack_.capacity() + count_.capacity() + touched_.capacity()) * 4;
    n += part_of_.capacity() * 4;
    for (const auto& q : queue_) n += q.capacity() * 4;
    return n;
}

}  // namespace talus::load
