// load_engine.h - the load rule: distances, flow, breaking, landing.
//
// Layer: structure (internal; include/talus/structure.h is the door). Masses in kg, all sums in double.
// The rule in words is in docs/STRUCTURE.md, the plain form of it in tests/structure/load_oracle.h; both
// give the same bits.
//
// A round is three passes. spread_waves() reaches all blocks from the supports in order of distance, a wave
// of up to 64 blocks (the bits of one tile) at a time. set_flow() notes for each block to which neighbours it
// passes load, a tile at a time, by the last three bits of the distances. weigh() walks the waves backwards
// and takes of each tile what it can: blocks into which only weighed ones flow, so that their load is known
// when it is split. From the second round on only dirty blocks are weighed: a block whose flow in and out is
// as before, and into which the same bits flow, has the load it had, and its bonds hold as they did.
// Determinism: a block sorts what flows in by value, so any order in which givers come first is good. Tests:
// tests/structure/load_solver_test.cpp
#pragma once

#include "structure/load_tiles.h"
#include "talus/structure.h"

#include <span>
#include <vector>

namespace talus::load {

class Engine {
 public:
    Tiles tiles;

    void set_blocks(std::span<const StructureBlock> blocks);
    bool remove(Cell cell);
    void place(const StructureBlock& block);

    StructureReport solve(const StructureSettings& settings, StructureSolver::Progress progress,
                          void* context);

    /// One round on the unbroken structure, for measuring and for reading loads. @return bonds broken
    std::uint32_t first_round(const StructureSettings& settings);
    /// What the bond between two face neighbours carried in the last round, kg; 0 without one.
    double bond_load(Cell a, Cell b) const;
    /// Every bond that carried load in the last round, of what stands.
    void for_each_bond(void (*f)(void* context, const BondState& state), void* context) const;

    /// Memory held, at its high-water mark.
    std::size_t bytes() const;

 private:
    // Some blocks of one tile.
    struct Wave {
        std::uint32_t tile;
        std::uint32_t low, high;  // the word in halves: 12 bytes, not 16
        Word word() const { return Word(high) << 32 | low; }
    };
    struct LandedTile {
        Word blocks = 0;         // have a load from fallen parts
        std::uint32_t base = 0;  // in landed_
    };
    struct Node {
        std::uint32_t distance, tile, bit;
    };

    void set_rule(const StructureSettings& settings);
    void begin();
    void all_live();
    void leave_room();
    template <class F>
    void with_up(F&& f);

    void spread();
    template <int Up>
    void spread_waves();
    template <int Up>
    void push(std::uint32_t t, Word wave, int level);
    void reach(std::uint32_t t, Word blocks, int bucket);
    void set_flow();

    std::uint32_t weigh(bool first);
    template <int Up, bool First>
    void weigh_tiles();
    template <int Up>
    void visit(std::uint32_t t);
    template <int Up>
    Word weigh_waves(std::uint32_t t, std::span<const Word> waves, Word work, const Word (&from_outside)[6]);
    template <int Up>
    Word weigh_blocks(std::uint32_t t, Word blocks);
    template <int Up>
    void break_overloaded(std::uint32_t t, int bit, std::uint32_t index);
    template <int Up, int D>
    void break_if_over(std::uint32_t t, int bit, std::uint32_t index);

    // load_fallen.cpp
    bool land_fallen();
    void flood_part(std::uint32_t t, int bit);
    void collect(StructureReport& report);

    // load_edit.cpp
    bool update();
    void raise_distances();
    void lower_distances();
    void renew_flow(std::uint32_t t, int bit);
    template <int Up>
    void weigh_dirty();
    void note(std::vector<Node>& list, const Node& node);
    std::uint32_t distance_at(std::uint32_t t, int bit) const;
    static constexpr int step_cost(int direction, int up) {
        return direction == up ? 1 : direction == (up ^ 1) ? 3 : 2;
    }
    int step_cost(int direction) const { return step_cost(direction, up_); }
    void touch(std::uint32_t t, int bit);

    StructureSettings settings_;
    int up_ = 2;  // inner
    double safe_hanging_ = 0, safe_sideways_ = 0, safe_standing_ = 0;
    double safe_[8] = {};              // the least of them: +4 hanging, +2 sideways, +1 standing
    std::uint32_t broken_ = 0;         // in this round
    std::uint32_t reached_count_ = 0;  // blocks joined to a support
    // The state is that of the first round of the structure as it was solved last, nothing broke in it, and
    // edits since then are noted below.
    bool at_rest_ = false;
    bool too_many_ = false;  // edits, or blocks they concern: a list below is full

    std::vector<double> unit_;  // for each block: its load / its shares
    std::vector<std::uint32_t>
        distance_;             // for each block, of the first round; none for supports; what fell: its part
    std::vector<Wave> waves_;  // in order of distance
    std::vector<std::uint32_t> level_ends_;  // in waves_, for each distance
    std::vector<std::uint32_t> live_;        // tiles of which anything was reached in this solve's last round
    std::vector<std::uint32_t> queue_[4];    // tiles with pending bits, by distance mod 4
    std::vector<LandedTile> landed_at_;      // for each tile; empty: nothing landed yet
    std::vector<double> landed_;             // loads from fallen parts
    std::vector<Wave> part_;                 // of the last flood
    std::vector<std::uint32_t> stack_, count_, touched_;            // scratch
    std::vector<Node> heap_, suspects_, placed_, changed_, dirty_;  // of edits: never grow
};

}  // namespace talus::load
