// Weighing: what every block carries, from the farthest on.
//
// The waves give the order in which tiles are looked at, and a tile is then weighed as far as it goes: all
// blocks of it to which nothing flows any more that is still to be weighed. That is nearly all of them, so
// that what the tile reads of itself and its neighbours is read once or twice a round, not once a wave. A
// block sorts what flows in, so this order gives the same bits as that of the waves.
#include "structure/load_weigh.h"

#include "math/simd.h"

namespace talus::load {
namespace {

// A pass jumps about in memory, but where to is known: this many waves before, the data is asked for.
constexpr std::size_t kAhead = 6;
// So many blocks of a tile are weighed one by one.
constexpr int kFew = 9;

// The units of load in a tile and of the cells around it, rows of 16.
struct Around {
    double cell[160];
    double* at(int bit) { return cell + 17 + unsigned(bit) + (unsigned(bit) & 56); }
};
constexpr int kAroundStep[6] = {1, -1, 0, 0, 16, -16};

}  // namespace

std::uint32_t Engine::weigh(bool first) {
    broken_ = 0;
    with_up([&]<int Up>() { first ? weigh_tiles<Up, true>() : weigh_tiles<Up, false>(); });
    return broken_;
}

// The waves of one tile, each of them four blocks at a time. Returns the blocks whose load is not what it
// was, and some that went with them.
template <int Up>
Word Engine::weigh_waves(std::uint32_t t, std::span<const Word> waves, Word work,
                         const Word (&from_outside)[6]) {
    constexpr int Down = Up ^ 1;
    const Tile& tile = tiles[t];
    const Word landed = landed_at_.empty() ? 0 : landed_at_[t].blocks;
    Word moved = 0;
    Around units{};
    Word in[6], out[6], givers = 0;
    for_each_direction([&]<int D>() TALUS_INLINE_LAMBDA {
        out[D] = tile.flow[D];
        in[D] = moved_inside<D ^ 1>(tile.flow[D ^ 1]) | from_outside[D];
        if constexpr (D / 2 != 1) {
            const Tile& next = tiles[tile.nb[D]];
            for_each_bit(from_outside[D] & work, [&](int bit) {
                const int nbit = D == 0 ? bit - 7 : D == 1 ? bit + 7 : D == 4 ? bit - 56 : bit + 56;
                units.at(bit)[kAroundStep[D]] = unit_[tiles.index_in(next, nbit)];
            });
            givers |= tile.flow[D] & moved_inside<D ^ 1>(work);
        }
    });
    for_each_bit(givers & ~work, [&](int bit) { *units.at(bit) = unit_[tiles.index_in(tile, bit)]; });
    const Word slots = tile.slots;
    const bool full = !~slots, mixed = tile.kind == kMixedKinds;
    double* const own_units = &unit_[tile.base];
    // The shares of each block in four planes.
    constexpr int kA = Down == 0 ? 1 : 0, kB = kA + 1 + (Down == kA + 1), kC = kB + 1 + (Down == kB + 1),
                  kD = kC + 1 + (Down == kC + 1), kE = kD + 1 + (Down == kD + 1);
    const Word odd3 = out[kA] ^ out[kB] ^ out[kC], odd5 = odd3 ^ out[kD] ^ out[kE];
    const Word two3 = (out[kA] & out[kB]) | (out[kC] & (out[kA] | out[kB]));
    const Word two5 = (odd3 & out[kD]) | (out[kE] & (odd3 | out[kD]));
    const Word plane[4] = {odd5, two3 ^ two5, (two3 & two5) ^ out[Down], two3 & two5 & out[Down]};
    Word side = 0;
    for_each_direction([&]<int D>() TALUS_INLINE_LAMBDA {
        if constexpr (D / 2 != Up / 2) side |= out[D];
    });
    const Double4 safe =
        simd4::splat4(safe_[(out[Up] & work ? 4 : 0) + (side & work ? 2 : 0) + (out[Down] & work ? 1 : 0)]);
    const Double4 one = simd4::splat4(1), two = simd4::splat4(2), four = simd4::splat4(4),
                  eight = simd4::splat4(8);
    Double4 mass = simd4::splat4(mixed ? 0 : tiles.kind(tile.kind).mass);
    Word heavy = 0;
    for (const Word wave : waves) {
        for (Word rest = wave & landed; rest; rest &= rest - 1) {
            const int bit = std::countr_zero(rest);
            moved |= weigh_blocks<Up>(t, rest & -rest);
            *units.at(bit) = unit_[tiles.index_in(tile, bit)];
        }
        for (Word rest = wave & ~landed; rest;) {
            Word group = rest;
            int bit[4];
            bit[0] = std::countr_zero(rest);
            rest &= rest - 1;
            for (int k = 1; k < 4; k++) {
                bit[k] = rest ? std::countr_zero(rest) : bit[0];
                rest &= rest - 1;
            }
            group ^= rest;
            double* const at[4] = {units.at(bit[0]), units.at(bit[1]), units.at(bit[2]), units.at(bit[3])};
            double* own[4];
            if (full)
                for (int k = 0; k < 4; k++) own[k] = own_units + bit[k];
            else
                for (int k = 0; k < 4; k++)
                    own[k] = own_units + std::popcount(slots & ((Word(1) << bit[k]) - 1));
            const Shift4 shift = simd4::shift4(63 - bit[0], 63 - bit[1], 63 - bit[2], 63 - bit[3]);
            const auto from = [&]<int D>() TALUS_INLINE_LAMBDA {
                Double4 unit;
                if constexpr (D / 2 != 1) {
                    constexpr int kStep = kAroundStep[D];
                    unit = simd4::gather4(at[0] + kStep, at[1] + kStep, at[2] + kStep, at[3] + kStep);
                } else {
                    const Tile& next = tiles[tile.nb[D]];
                    const double* p[4];
                    for (int k = 0; k < 4; k++)
                        p[k] = &unit_[in[D] >> bit[k] & 1 ? tiles.index_in(next, bit[k]) : 0];
                    unit = simd4::gather4(p[0], p[1], p[2], p[3]);
                }
                return keep_at(in[D], shift, D == Up ? unit * four : unit);
            };
            if (mixed) {
                const auto of = [&](int k) {
                    return &tiles.kind(tiles.kind_id(tile.base + std::uint32_t(own[k] - own_units))).mass;
                };
                mass = simd4::gather4(of(0), of(1), of(2), of(3));
            }
            Double4 low = from.template operator()<0>(), second = from.template operator()<1>(),
                    third = from.template operator()<4>(), high = from.template operator()<5>();
            const auto order = [](Double4& a, Double4& b) TALUS_INLINE_LAMBDA {
                const Double4 less = min(a, b);
                b = max(a, b);
                a = less;
            };
            order(low, second);
            order(third, high);
            order(low, third);
            order(second, high);
            order(second, third);
            // Each takes its place among those before it; the largest is left over.
            const auto insert = [&](Double4 unit) TALUS_INLINE_LAMBDA {
                order(low, unit);
                order(second, unit);
                order(third, unit);
                order(high, unit);
                return unit;
            };
            Double4 load;
            if ((in[2] | in[3]) & group) {
                Double4 fifth = simd4::splat4(0), last = fifth;
                if (in[2] & group) fifth = insert(from.template operator()<2>());
                if (in[3] & group) {
                    last = insert(from.template operator()<3>());
                    order(fifth, last);
                }
                load = mass + low + second + third + high + fifth + last;
            } else {
                load = mass + low + second + third + high;
            }
            const Double4 shares = keep_at(plane[0], shift, one) + keep_at(plane[1], shift, two) +
                                   keep_at(plane[2], shift, four) + keep_at(plane[3], shift, eight);
            const Double4 unit = load / shares;
            if (differ(unit, simd4::gather4(own[0], own[1], own[2], own[3]))) moved |= group;
            scatter4(own[0], own[1], own[2], own[3], unit);
            scatter4(at[0], at[1], at[2], at[3], unit);
            if (above(unit, safe)) heavy |= group;
        }
    }
    for_each_bit(heavy, [&](int bit) { break_overloaded<Up>(t, bit, tiles.index_in(tile, bit)); });
    return moved;
}

template <int Up>
void Engine::visit(std::uint32_t t) {
    Tile& tile = tiles[t];
    Word from_outside[6];
    Word todo = tile.near[3], blocked = 0;
    for_each_direction([&]<int D>() TALUS_INLINE_LAMBDA {
        const Tile& next = tiles[tile.nb[D]];
        from_outside[D] = moved_across<D ^ 1>(next.flow[D ^ 1]);
        blocked |= moved_across<D ^ 1>(next.flow[D ^ 1] & next.near[3]);
    });
    // Blocks that can be weighed side by side, one after the other.
    Word waves[64];
    int count = 0;
    Word work = 0, dirty = tile.dirty;
    for (;;) {
        Word inside = 0;
        for_each_direction([&]<int D>() TALUS_INLINE_LAMBDA {
            if constexpr (D / 2 != 1) inside |= moved_inside<D>(tile.flow[D] & todo);
        });
        const Word ready = todo & ~(blocked | inside);
        if (!ready) break;
        todo ^= ready;
        const Word wave = ready & dirty;
        if (!wave) continue;
        work |= wave;
        waves[count++] = wave;
        for_each_direction([&]<int D>() TALUS_INLINE_LAMBDA {
            if constexpr (D / 2 != 1) dirty |= moved_inside<D>(tile.flow[D] & wave);
        });
    }
    tile.near[3] = todo;
    tile.dirty = dirty & todo;
    if (!work) return;
    Word moved = 0;
    if (std::popcount(work) < kFew)
        for (int i = 0; i < count; i++) moved |= weigh_blocks<Up>(t, waves[i]);
    else
        moved = weigh_waves<Up>(t, {waves, std::size_t(count)}, work, from_outside);
    for_each_direction([&]<int D>() TALUS_INLINE_LAMBDA {
        const Word across = moved_across<D>(moved & tile.flow[D]);
        Tile& next = tiles[tile.nb[D]];
        if (across) next.dirty |= across & next.near[3];
    });
}

// The first round weighs everything and notes the distances; later ones what is dirty.
template <int Up, bool First>
void Engine::weigh_tiles() {
    std::size_t level = level_ends_.size();
    std::size_t level_first = waves_.size();
    for (std::size_t w = waves_.size(); w-- > 0;) {
        if (w >= 2 * kAhead) {
            const Tile& tile = tiles[waves_[w - 2 * kAhead].tile];
            __builtin_prefetch(&tile);
            __builtin_prefetch(&tile.nb);
        }
        if (w >= kAhead) {
            const Tile& soon = tiles[waves_[w - kAhead].tile];
            const Word bits = waves_[w - kAhead].word();
            if (soon.dirty && (soon.near[3] & bits)) {
                for (const std::uint32_t n : soon.nb) {
                    __builtin_prefetch(&tiles[n]);
                    __builtin_prefetch(&tiles[n].flow);
                }
                __builtin_prefetch(&soon.flow);
                const char* units = reinterpret_cast<const char*>(&unit_[soon.base]);
                for (int i = 0, n = std::popcount(soon.slots); i < n; i += 8)
                    __builtin_prefetch(units + 8 * i);
            }
        }
        Tile& tile = tiles[waves_[w].tile];
        if constexpr (First) {
            while (w < level_first) {
                level--;
                level_first = level ? level_ends_[level - 1] : 0;
            }
            for_each_bit(waves_[w].word() & ~tile.support,
                         [&](int bit) { distance_[tiles.index_in(tile, bit)] = std::uint32_t(level); });
        }
        if (!(waves_[w].word() & tile.near[3])) continue;
        if (tile.dirty)
            visit<Up>(waves_[w].tile);
        else  // all that flows into the wave is known, and is what it was
            tile.near[3] &= ~waves_[w].word();
    }
}

}  // namespace talus::load
