// structure.h - does this build stand? The structural solver, usable without a world.
//
// Layer: structure. Knows blocks, bonds and supports; nothing of bodies, ticks or files.
// Units: kg (forces too: the weight of so many kg), kg m, Pa. Frame: the grid's own; `up` is any of the six
// grid axes. Determinism: the answer does not depend on the order, place or rotation of the input, nor on the
// number of threads.
// Two modes: *load* is a rule that hands weight down (fast, a game's idea of strength); *physical* finds the
// forces and moments that hold every block in balance. Source: docs/STRUCTURE.md.
// Tests: tests/structure/
#pragma once

#include "talus/jobs.h"
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

enum class StructureMode : std::uint8_t { load, physical };

/// What a face bears, Pa. The lesser of its two blocks counts. Tension and cohesion 0: a dry joint, which
/// takes only compression and friction, and opens without breaking.
struct StructureLimits {
    double tension = 7e6;
    double compression = 130e6;
    double cohesion = 14e6;  ///< shear without any compression
    double friction = 0.6;   ///< Coulomb coefficient
    bool dry() const { return tension == 0 && cohesion == 0; }
    friend bool operator==(const StructureLimits&, const StructureLimits&) = default;
};
struct StructureMaterial {
    double stiffness = 50e9;  ///< Young's modulus, Pa; within 1e-4 .. 1 of the stiffest, others count so
    StructureLimits limits;
    friend bool operator==(const StructureMaterial&, const StructureMaterial&) = default;
};

/// One solid block. Cells of one input are distinct.
struct StructureBlock {
    Cell cell;
    double mass = 0;             ///< kg, >= 0 and finite
    float strength = 1;          ///< load mode: > 0, factor on every capacity of its bonds
    bool support = false;        ///< carries any load; in physical mode built in, it does not move
    std::uint16_t material = 0;  ///< physical mode: of set_materials()
};

struct StructureSettings {
    StructureMode mode = StructureMode::load;
    Axis up = Axis::pos_y;

    // Load mode.
    // What a bond bears for strength 1, kg.
    double hanging_capacity = 15'000;
    double sideways_capacity = 40'000;
    double standing_capacity = 2'000'000;
    int max_rounds = 40;  ///< for each weighing, at least 1
    int max_weighings =
        6;  ///< both modes: after the first, each time that fallen parts landed on what stands

    // Physical mode.
    double cell_size = 1;      ///< m; in a Level: the level's
    double gravity = 9.81;     ///< m/s^2; likewise
    double limit_factor = 1;   ///< on every limit but friction
    bool no_tension = false;   ///< every face is a dry joint, that of a support on the ground too
    double tolerance = 0.05;   ///< out of balance, of the lesser of a block's weight and strength; the base
                               ///< reaction is right to a five-hundredth of it, and to 1e-4
    double local_slack = 10;   ///< after an edit only blocks around it are balanced anew; those beyond may be
                               ///< off by so many times the tolerance, until refine() or more edits mend it
    int max_iterations = 400;  ///< of one balance
    int max_batches = 400;     ///< of breaking, for each weighing
    int max_thrusts = 2000;    ///< steps to find thrusts for dry joints, for each balance
    double max_work = 2e8;     ///< blocks times iterations, of all balances after the first
};

constexpr double kUnbounded = 1e300;

/// undecided: physical mode, budget spent and nothing has come down.
enum class Verdict : std::uint8_t { stands, falls, unsupported, undecided };

/// Two face neighbours, the lower cell (by operator<) first.
using Bond = std::pair<Cell, Cell>;

struct StructureReport {
    Verdict verdict = Verdict::unsupported;
    std::uint32_t supports = 0;
    std::uint32_t rounds = 0;              ///< of all weighings together
    std::vector<std::vector<Cell>> parts;  ///< what falls: parts held together by unbroken bonds, largest
                                           ///< first, then by lowest cell; cells sorted
    std::vector<Bond> broken_bonds;        ///< sorted

    // Physical mode; all but the last of the first balance, before anything breaks.
    double max_utilisation = 0;  ///< largest share of its limit that a face bears
    Bond worst_bond;             ///< where; equal cells: the face to the ground
    double weight = 0;           ///< kg, of what is joined to a support, added loads included
    double base_reaction = 0;    ///< kg, what the ground pushes up
    double imbalance = 0;        ///< largest of a block, of the lesser of its weight and strength
    std::uint32_t iterations = 0;
    std::uint32_t all_iterations = 0;  ///< of all balances together
    std::uint32_t local_blocks = 0;    ///< after an edit: how many were balanced anew; 0: all
    /// Largest share that a face bears in perfect balance, as things stood when the budget ended: proven to
    /// lie between these, whatever the imbalance. Both are max_utilisation when all was decided; 0 and
    /// kUnbounded where nothing is proven (dry joints, pins).
    double least_utilisation = 0, most_utilisation = 0;
    bool settled = true;  ///< false: budget spent, more may come down than is told

    std::size_t falling() const {
        std::size_t n = 0;
        for (const auto& part : parts) n += part.size();
        return n;
    }
};

// Physical mode: what else acts on a structure. Cells without a block are passed over.

/// A force and a moment at a block's centre, grid axes; kg and kg m.
struct StructureLoad {
    Cell cell;
    DVec3 force, moment;
};
/// Holds a point of a block along some grid axes and lets it turn.
struct StructurePin {
    Cell cell;
    DVec3 at;  ///< from the block's centre, cells
    bool hold[3] = {true, true, true};
};
struct BondLimits {
    Bond bond;
    StructureLimits limits;
};

/// What the second block does to the first, at the middle of their face; grid axes.
struct BondForce {
    Bond bond;
    DVec3 force;   ///< kg
    DVec3 moment;  ///< kg m
};
/// What holds a block from outside (support or pin), at the block's centre.
struct GroundForce {
    Cell cell;
    DVec3 force, moment;
};
/// All forces of a balance: proof that a structure stands, to be checked with check_balance().
struct StructureBalance {
    std::vector<BondForce> bonds;     ///< sorted by bond
    std::vector<GroundForce> ground;  ///< sorted by cell
};

enum class FailureKind : std::uint8_t { none, tension, compression, shear, torsion };
struct BondState {
    BondForce force;
    double utilisation = 0;  ///< share of the limit; 1 breaks
    FailureKind kind = FailureKind::none;
};

class StructureSolver {
 public:
    /// The mode is that of the solver; StructureSettings::mode says what a world makes its solvers with.
    explicit StructureSolver(StructureMode mode = StructureMode::load);
    ~StructureSolver();
    StructureSolver(StructureSolver&&) noexcept;
    StructureSolver& operator=(StructureSolver&&) noexcept;

    /// Replaces the input. O(n log n) at worst; order does not matter.
    void set_blocks(std::span<const StructureBlock> blocks);

    /// Takes one block out. @return false when there is none
    bool remove_block(Cell cell);
    /// Puts one block, in place of what is there.
    void place_block(const StructureBlock& block);

    // Physical mode. Each replaces what was set before; set_blocks() leaves them.
    void set_materials(std::span<const StructureMaterial> materials);
    void set_loads(std::span<const StructureLoad> loads);
    void set_pins(std::span<const StructurePin> pins);
    void set_bond_limits(std::span<const BondLimits> limits);
    /// Threads to work with; null: the caller's alone. Must outlive the solver.
    void set_jobs(JobSystem* jobs);

    /// Physical mode: takes away what local re-solves left out of balance, by up to so many iterations over
    /// the whole. For a host's idle time, or a job. @return whether all is in balance to the tolerance
    bool refine(int iterations = 4);

    // Of the last physical solve, for what still stands at its end.
    StructureBalance balance() const;
    /// The bonds of a block, sorted: which way its load goes, and how near to breaking.
    std::vector<BondState> bonds_of(Cell cell) const;
    /// f(context, state) for every bond, in no particular but always the same order. Load mode: bonds that
    /// carry load, `force` straight up or down, `kind` by direction (standing, hanging, sideways).
    void for_each_bond(void (*f)(void* context, const BondState& state), void* context) const;
    /// The largest load in kg that can be put on a block before the first face breaks, all else as it is; 0
    /// when there is no such block. Costs a balance.
    double largest_added_load(Cell cell);
    /// Memory held by physical mode, at its high-water mark.
    std::size_t physical_bytes() const;

    /// Called after each round with the number of rounds so far; false cancels (the report is then
    /// `unsupported`, empty). In physical mode a round is a balance, and `rounds` counts them.
    using Progress = bool (*)(void* context, std::uint32_t rounds);

    /// Weighs, breaks and weighs again until nothing breaks. The input stays as set: solving twice gives the
    /// same report. When nothing broke in the last solve, one with the same settings re-checks only what
    /// edits since then can have changed. Load mode: the report is that of a solve from nothing. Physical
    /// mode: to within StructureSettings::local_slack; whether something breaks is always told by a balance
    /// of the whole.
    StructureReport solve(const StructureSettings& settings = {}, Progress progress = nullptr,
                          void* context = nullptr);

 private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The solids of a grid as input: mass from density, shape volume and cell size; strength from the material.
/// Blocks get `support` when on_ground(cell) says so for the cell.
/// `materials`, if given, becomes the list that StructureBlock::material counts in.
std::vector<StructureBlock> structure_blocks(const Grid& grid, float cell_size,
                                             bool (*on_ground)(void* context, Cell cell), void* context,
                                             float strength_factor = 1,
                                             std::vector<StructureMaterial>* materials = nullptr);

struct BalanceCheck {
    double imbalance = 0;        ///< largest of a block, of the lesser of its weight and strength
    double base_reaction = 0;    ///< kg
    double weight = 0;           ///< kg, of the blocks given and the loads on them
    double max_utilisation = 0;  ///< dry joints included: at most 1 where thrust stays inside the face
};
/// Adds up the forces on each block, O(n), without looking at how they were found: each bond and each ground
/// force acts on the blocks it names, and on nothing else. Ground forces may act on supports and pinned
/// blocks only; elsewhere they count as out of balance. `blocks` are those that stand.
BalanceCheck check_balance(std::span<const StructureBlock> blocks,
                           std::span<const StructureMaterial> materials, const StructureSettings& settings,
                           std::span<const StructureLoad> loads, std::span<const StructurePin> pins,
                           std::span<const BondLimits> limits, const StructureBalance& balance);

}  // namespace talus
