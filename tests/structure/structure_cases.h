// structure_cases.h - structures for the tests: random ones, and ways to move them about.
#pragma once

#include "talus/structure.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace talus::cases {

/// A small generator of its own (splitmix64), so that a seed gives the same structure everywhere.
class Random {
 public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    int below(int n) { return int(next() % std::uint64_t(n)); }
    bool chance(double p) { return double(next() >> 11) * 0x1p-53 < p; }
    double between(double a, double b) { return a + (b - a) * (double(next() >> 11) * 0x1p-53); }

 private:
    std::uint64_t state_;
};

inline StructureBlock stone(Cell cell, bool support = false) { return {cell, 775, 1, support}; }

/// Turns and mirrors: axis i of the result is axis `from[i]` of the input, negated where `flip[i]`.
struct Turn {
    std::array<int, 3> from{0, 1, 2};
    std::array<bool, 3> flip{};
    Cell offset;

    Cell operator()(Cell c) const {
        const int in[3] = {c.x, c.y, c.z};
        int out[3];
        for (int i = 0; i < 3; i++)
            out[i] = flip[std::size_t(i)] ? -in[from[std::size_t(i)]] : in[from[std::size_t(i)]];
        return {out[0] + offset.x, out[1] + offset.y, out[2] + offset.z};
    }
    Axis operator()(Axis up) const {
        const int axis = int(up) / 2, sign = int(up) & 1;
        for (int i = 0; i < 3; i++)
            if (from[std::size_t(i)] == axis) return Axis(2 * i + (sign ^ int(flip[std::size_t(i)])));
        return up;
    }
};

/// All 48 ways to turn and mirror, without offset.
inline std::vector<Turn> all_turns() {
    std::vector<Turn> turns;
    std::array<int, 3> from{0, 1, 2};
    do {
        for (int f = 0; f < 8; f++) turns.push_back({from, {(f & 1) != 0, (f & 2) != 0, (f & 4) != 0}, {}});
    } while (std::next_permutation(from.begin(), from.end()));
    return turns;
}

inline std::vector<StructureBlock> turned(std::vector<StructureBlock> blocks, const Turn& turn) {
    for (StructureBlock& b : blocks) b.cell = turn(b.cell);
    return blocks;
}

inline void shuffle(std::vector<StructureBlock>& blocks, Random& random) {
    for (std::size_t i = blocks.size(); i > 1; i--)
        std::swap(blocks[i - 1], blocks[std::size_t(random.below(int(i)))]);
}

/// The report of the turned structure, worked out from that of the original.
inline StructureReport turned(StructureReport report, const Turn& turn) {
    for (auto& part : report.parts) {
        for (Cell& c : part) c = turn(c);
        std::sort(part.begin(), part.end());
    }
    std::sort(report.parts.begin(), report.parts.end(), [](const auto& a, const auto& b) {
        return a.size() != b.size() ? a.size() > b.size() : a[0] < b[0];
    });
    for (Bond& b : report.broken_bonds) {
        b = {turn(b.first), turn(b.second)};
        if (b.second < b.first) std::swap(b.first, b.second);
    }
    std::sort(report.broken_bonds.begin(), report.broken_bonds.end(), [](const Bond& a, const Bond& b) {
        return a.first != b.first ? a.first < b.first : a.second < b.second;
    });
    return report;
}

/// A box of cells filled at random, standing on its lowest layer along `up` (some of it): loose rubble,
/// lattices and nearly solid walls, of a few materials or of masses that all differ, weak enough for much of
/// it to break.
inline std::vector<StructureBlock> random_structure(Random& random, Axis up) {
    const int size[3] = {1 + random.below(11), 1 + random.below(11), 1 + random.below(11)};
    const double fill = random.between(0.3, 1), ground = random.between(0.05, 1);
    const int style = random.below(3);
    const double weak = random.between(1, 60);
    const Cell corner{random.below(30) - 15, random.below(30) - 15, random.below(30) - 15};
    std::vector<StructureBlock> blocks;
    for (int x = 0; x < size[0]; x++)
        for (int y = 0; y < size[1]; y++)
            for (int z = 0; z < size[2]; z++) {
                if (!random.chance(fill)) continue;
                StructureBlock b{Cell{x, y, z} + corner, 775, 1, false};
                if (style == 1) {
                    b.mass = 775.0 / 2600 *
                             double(std::array{2600, 1900, 600, 8900}[std::size_t(random.below(4))]);
                    b.strength = std::array{1.f, 0.5f, 6.6f, 0.2f}[std::size_t(random.below(4))];
                } else if (style == 2) {
                    b.mass = random.chance(0.05) ? 0 : random.between(10, 5000);
                    b.strength = float(random.between(0.13, 7));
                }
                b.mass *= weak;
                const int at[3] = {x, y, z};
                const int axis = int(up) / 2;
                const bool lowest = at[axis] == (int(up) & 1 ? size[axis] - 1 : 0);
                b.support = lowest ? random.chance(ground) : random.chance(0.005);
                blocks.push_back(b);
            }
    return blocks;
}

/// Takes blocks out and puts some back, at random; supports stay.
struct Editor {
    std::vector<StructureBlock> blocks, gone;
    Random random;

    /// @return whether the solver has that block
    bool edit(StructureSolver& solver) {
        if (gone.size() < 30 && (gone.empty() || random.chance(0.55))) {
            std::size_t i;
            do i = std::size_t(random.below(int(blocks.size())));
            while (blocks[i].support);
            gone.push_back(blocks[i]);
            blocks[i] = blocks.back();
            blocks.pop_back();
            return solver.remove_block(gone.back().cell);
        }
        const std::size_t i = std::size_t(random.below(int(gone.size())));
        solver.place_block(gone[i]);
        blocks.push_back(gone[i]);
        gone[i] = gone.back();
        gone.pop_back();
        return true;
    }
};

/// The blocks of a box for which exists(x, y, z) holds, of stone, the lowest layer on the ground.
template <class F>
std::vector<StructureBlock> fill(Cell size, F&& exists) {
    std::vector<StructureBlock> blocks;
    for (int y = 0; y < size.y; y++)
        for (int z = 0; z < size.z; z++)
            for (int x = 0; x < size.x; x++)
                if (exists(x, y, z)) blocks.push_back(stone({x, y, z}, y == 0));
    return blocks;
}

// The scenes on which structures are measured: building-1000000 is building(154), building-60000
// building(59), hall-60000 hall({72, 72, 72}), hall-1000000 hall({177, 176, 177}), tower-60000 tower({25, 96,
// 25}), tower-1000000 tower({63, 251, 63}), viaduct-60000 viaduct({602, 300, 1}).

/// Outer walls, floors every 4 layers, columns every 8 cells.
inline std::vector<StructureBlock> building(int n) {
    return fill({n, n, n}, [n](int x, int y, int z) {
        return x == 0 || z == 0 || x == n - 1 || z == n - 1 || y % 4 == 3 || (x % 8 == 0 && z % 8 == 0);
    });
}
/// Piers of 2 x 2 every 8 cells, a slab every 8 layers.
inline std::vector<StructureBlock> hall(Cell size) {
    return fill(size, [](int x, int y, int z) { return y % 8 == 7 || (x % 8 < 2 && z % 8 < 2); });
}
inline std::vector<StructureBlock> tower(Cell size) {
    return fill(size, [](int, int, int) { return true; });
}
/// One thick: piers of 2 every 10 cells, decks of 2 every 12 layers.
inline std::vector<StructureBlock> viaduct(Cell size) {
    return fill(size, [](int x, int y, int) { return x % 10 < 2 || y % 12 >= 10; });
}

}  // namespace talus::cases
