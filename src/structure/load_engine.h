// load_engine.h - the load rule: distances, flow, breaking, landing.
//
// Layer: structure (internal; include/talus/structure.h is the door). Masses in kg, all sums in double.
// The rule in words is in docs/STRUCTURE.md, the plain form of it in tests/structure/load_oracle.h; both
// give the same bits.
//
// A round is two passes. spread() reaches all blocks from the supports in order of distance, a wave of up to
// 64 blocks (the bits of one tile) at a time, and notes for each block to which neighbours it passes load.
// weigh() walks the waves backwards: the waves that flow into a block all come before it, so that its load is
// known when it is split. Distances need no storing: the order of the waves and the flow bits say it all.
// From the second round on only dirty blocks are weighed: a block whose flow in and out is as before, and
// into which the same bits flow, has the load it had, and its bonds hold as they did. Determinism: a block
// sorts what flows in by value, so the order inside a wave is free. Tests:
// tests/structure/load_solver_test.cpp
#pragma once

#include "structure/load_tiles.h"
#include "talus/structure.h"

#include <vector>

namespace talus::load {

class Engine {
 public:
    Tiles tiles;

    StructureReport solve(const StructureSettings& settings, StructureSolver::Progress progress,
                          void* context);

    /// One round on the unbroken structure, for measuring and for reading loads. @return bonds broken
    std::uint32_t first_round(const StructureSettings& settings);
    /// What the bond between two face neighbours carried in the last round, kg; 0 without one.
    double bond_load(Cell a, Cell b) const;

    /// Memory held, at its high-water mark.
    std::size_t bytes() const;

 private:
    void begin(const StructureSettings& settings);
    void spread();
    template <int D>
    void push(std::uint32_t t, Word wave, int bucket);
    template <int D>
    Word flow_towards(const Tile& tile, Word wave) const;
    template <int D>
    void set_flow(Tile& tile, Word blocks, Word flow);
    template <int D>
    void mark_dirty(Tile& tile, Word givers);
    std::uint32_t weigh();
    template <int Up>
    std::uint32_t weigh_up();
    template <int Up>
    std::uint32_t break_overloaded(std::uint32_t t, int bit, std::uint32_t index);
    template <int Up, int D>
    std::uint32_t break_if_over(std::uint32_t t, int bit, std::uint32_t index);
    std::uint32_t count_reached() const;
    bool land_fallen();
    void flood_part(std::uint32_t t, int bit);
    void collect(StructureReport& report);

    struct Wave {
        std::uint32_t tile;
        std::uint32_t low, high;  // the word in halves: 12 bytes, not 16
        Word word() const { return Word(high) << 32 | low; }
    };

    StructureSettings settings_;
    double safe_hanging_ = 0, safe_sideways_ = 0, safe_standing_ = 0, safe_ = 0;
    std::vector<double> unit_;                            // for each block: its load / its shares
    std::vector<Wave> waves_;                             // in order of distance
    std::vector<std::uint32_t> queue_[4];                 // tiles with pending bits, by distance mod 4
    std::vector<double> landed_;                          // loads from fallen parts, at landed_base
    std::vector<Wave> part_;                              // of the last flood
    std::vector<std::uint32_t> part_of_;                  // for each block that fell
    std::vector<std::uint32_t> stack_, count_, touched_;  // scratch
};

}  // namespace talus::load
