// load_weigh.h - the load of some blocks of one tile; templates shared by the passes of the load engine.
//
// Layer: structure (internal). See load_engine.h.
#pragma once

#include "structure/load_engine.h"

namespace talus::load {

/// Adds up to seven values to `sum` one by one, in ascending order. Loads are as good as random here: few of
/// them are sorted without branches.
[[gnu::always_inline]] inline double add_sorted(double sum, double* value, int n) {
    const auto order = [](double& a, double& b) {
        const double low = a < b ? a : b;
        b = a < b ? b : a;
        a = low;
    };
    if (n == 1) return sum + value[0];
    if (n == 2) {
        order(value[0], value[1]);
        return sum + value[0] + value[1];
    }
    if (n == 3) {
        order(value[0], value[1]);
        order(value[1], value[2]);
        order(value[0], value[1]);
        return sum + value[0] + value[1] + value[2];
    }
    for (int i = 1; i < n; i++) {
        const double v = value[i];
        int j = i;
        for (; j > 0 && v < value[j - 1]; j--) value[j] = value[j - 1];
        value[j] = v;
    }
    for (int i = 0; i < n; i++) sum += value[i];
    return sum;
}

/// Adds six values, which may be 0 (none is below), to `sum` one by one in ascending order, without branches.
[[gnu::always_inline]] inline double add_six(double sum, const double* value) {
    double a = value[0], b = value[1], c = value[2], d = value[3], e = value[4], f = value[5];
    const auto order = [](double& x, double& y) {
        const double low = x < y ? x : y;
        y = x < y ? y : x;
        x = low;
    };
    order(a, f);
    order(b, d);
    order(c, e);
    order(b, c);
    order(d, e);
    order(a, d);
    order(c, f);
    order(a, b);
    order(c, d);
    order(e, f);
    order(b, c);
    order(d, e);
    return sum + a + b + c + d + e + f;
}

// f.template operator()<Up>() for the inner direction that is up.
template <class F>
void Engine::with_up(F&& f) {
    switch (up_) {
        case 0:
            return f.template operator()<0>();
        case 1:
            return f.template operator()<1>();
        case 2:
            return f.template operator()<2>();
        case 3:
            return f.template operator()<3>();
        case 4:
            return f.template operator()<4>();
        default:
            return f.template operator()<5>();
    }
}

// Blocks may not flow into each other; all that flows into them must be weighed.
// Returns those whose load is not what it was.
template <int Up>
Word Engine::weigh_blocks(std::uint32_t t, Word blocks) {
    constexpr int Down = Up ^ 1;
    const Tile& tile = tiles[t];
    // Into which of the blocks the neighbours at D pass load.
    Word from[6];
    for_each_direction([&]<int D>() TALUS_INLINE_LAMBDA {
        from[D] = blocks & seen<D>(tile.flow[D ^ 1], tiles[tile.nb[D]].flow[D ^ 1]);
    });
    const LandedTile landed = landed_at_.empty() ? LandedTile{} : landed_at_[t];
    const Word loaded = from[0] | from[1] | from[2] | from[3] | from[4] | from[5] | landed.blocks;
    Word side = 0;
    for_each_direction([&]<int D>() TALUS_INLINE_LAMBDA {
        if constexpr (D / 2 != Up / 2) side |= tile.flow[D];
    });
    Word moved = 0, heavy = 0;
    for (Word rest = blocks; rest; rest &= rest - 1) {
        const int bit = std::countr_zero(rest);
        const Word one = rest & -rest;
        const std::uint32_t index = tiles.index_in(tile, bit);
        double load = tiles.kind(tile.kind != kMixedKinds ? tile.kind : tiles.kind_id(index)).mass;
        if (loaded & one) {
            double in[7];
            int n = 0;
            for_each_direction([&]<int D>() TALUS_INLINE_LAMBDA {
                if (!(from[D] & one)) return;
                const auto [nt, nbit] = tiles.next_to<D>(t, bit);
                const double unit = unit_[tiles.index_in(tiles[nt], nbit)];
                in[n++] = D == Up ? 4 * unit : unit;
            });
            if (landed.blocks & one)
                in[n++] = landed_[landed.base + std::uint32_t(std::popcount(landed.blocks & (one - 1)))];
            load = add_sorted(load, in, n);
        }
        int shares = tile.flow[Down] & one ? 4 : 0;
        for_each_direction([&]<int D>() TALUS_INLINE_LAMBDA {
            if constexpr (D != Down) shares += (tile.flow[D] & one) != 0;
        });
        const double unit = load / shares;
        const bool same = std::bit_cast<std::uint64_t>(unit) == std::bit_cast<std::uint64_t>(unit_[index]);
        moved |= Word(!same) << bit;
        unit_[index] = unit;
        const double safe =
            safe_[(tile.flow[Up] >> bit & 1) * 4 + (side >> bit & 1) * 2 + (tile.flow[Down] >> bit & 1)];
        heavy |= Word(unit > safe) << bit;
    }
    for_each_bit(heavy, [&](int bit) { break_overloaded<Up>(t, bit, tiles.index_in(tile, bit)); });
    return moved;
}

template <int Up, int D>
void Engine::break_if_over(std::uint32_t t, int bit, std::uint32_t index) {
    if (!(tiles[t].flow[D] >> bit & 1)) return;
    constexpr bool standing = D == (Up ^ 1), hanging = D == Up;
    const double unit = unit_[index];
    const double load = standing ? 4 * unit : unit;
    if (unit <= (standing ? safe_standing_ : hanging ? safe_hanging_ : safe_sideways_)) return;
    const auto [nt, nbit] = tiles.next_to<D>(t, bit);
    const double a = tiles.strength_of(tiles[t], bit), b = tiles.strength_of(tiles[nt], nbit);
    const double capacity = standing  ? settings_.standing_capacity
                            : hanging ? settings_.hanging_capacity
                                      : settings_.sideways_capacity;
    if (!(load > (a < b ? a : b) * capacity)) return;
    if constexpr (D % 2 == 0)
        tiles[t].bond[D / 2] &= ~(Word(1) << bit);
    else
        tiles[nt].bond[D / 2] &= ~(Word(1) << nbit);
    broken_++;
}

// Bonds may be cut while the pass goes on: it reads flow, not bonds.
template <int Up>
void Engine::break_overloaded(std::uint32_t t, int bit, std::uint32_t index) {
    for_each_direction([&]<int D>() { break_if_over<Up, D>(t, bit, index); });
}

}  // namespace talus::load
