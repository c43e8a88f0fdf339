// structure.h - does this build stand? The structural solver, usable without a world.
//
// Layer: structure. Knows blocks, bonds and supports; nothing of bodies, ticks or files.
// Units: kg. All sums in double. Frame: the grid's own; `up` is any of the six grid axes.
// Determinism: the answer does not depend on the order, place or rotation of the input.
// Source: the load rule of the specification, section 6 (see docs/STRUCTURE.md).
// Tests: tests/structure/load_solver_test.cpp
#pragma once

#include "talus/math.h"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace talus {

class Grid;

/// The grid axis that points up.
enum class Axis : std::uint8_t { pos_x, neg_x, pos_y, neg_y, pos_z, neg_z };

/// One solid block. Cells of one input are distinct.
struct StructureBlock {
    Cell cell;
    double mass = 0;       ///< kg, >= 0 and finite
    float strength = 1;    ///< > 0: factor on every capacity of its bonds
    bool support = false;  ///< carries any load
};

struct StructureSettings {
    Axis up = Axis::pos_y;
    // What a bond bears for strength 1, kg.
    double hanging_capacity = 15'000;
    double sideways_capacity = 40'000;
    double standing_capacity = 2'000'000;
    int max_rounds = 40;    ///< for each weighing, at least 1
    int max_weighings = 6;  ///< after the first, each time that fallen parts landed on what stands
};

enum class Verdict : std::uint8_t { stands, falls, unsupported };

/// Two face neighbours, the lower cell (by operator<) first.
using Bond = std::pair<Cell, Cell>;

struct StructureReport {
    Verdict verdict = Verdict::unsupported;
    std::uint32_t supports = 0;
    std::uint32_t rounds = 0;              ///< of all weighings together
    std::vector<std::vector<Cell>> parts;  ///< what falls: parts held together by unbroken bonds, largest
                                           ///< first, then by lowest cell; cells sorted
    std::vector<Bond> broken_bonds;        ///< sorted
    std::size_t falling() const {
        std::size_t n = 0;
        for (const auto& part : parts) n += part.size();
        return n;
    }
};

class StructureSolver {
 public:
    StructureSolver();
    ~StructureSolver();
    StructureSolver(StructureSolver&&) noexcept;
    StructureSolver& operator=(StructureSolver&&) noexcept;

    /// Replaces the input. O(n log n) at worst; order does not matter.
    void set_blocks(std::span<const StructureBlock> blocks);

    /// Takes one block out. @return false when there is none
    bool remove_block(Cell cell);
    /// Puts one block, in place of what is there.
    void place_block(const StructureBlock& block);

    /// Called after each round with the number of rounds so far; false cancels (the report is then
    /// `unsupported`, empty).
    using Progress = bool (*)(void* context, std::uint32_t rounds);

    /// Weighs, breaks and weighs again until nothing breaks. The input stays as set: solving twice gives the
    /// same report. When nothing broke in the last solve, one with the same settings re-checks only what
    /// edits since then can have changed; the report is that of a solve from nothing.
    StructureReport solve(const StructureSettings& settings = {}, Progress progress = nullptr,
                          void* context = nullptr);

 private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The solids of a grid as input: mass from density, shape volume and cell size; strength from the material.
/// Blocks get `support` when on_ground(cell) says so for the cell.
std::vector<StructureBlock> structure_blocks(const Grid& grid, float cell_size,
                                             bool (*on_ground)(void* context, Cell cell), void* context,
                                             float strength_factor = 1);

}  // namespace talus
