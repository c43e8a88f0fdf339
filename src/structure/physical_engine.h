// physical_engine.h - physical mode: balance, breaking, falling, landing.
//
// Layer: structure (internal; include/talus/structure.h is the door). What happens in a solve:
//
//     find what is joined to a support; the rest falls
//     balance (physical_solver.h); with dry joints, look for thrusts that stay inside the faces
//     the worst faces break: all over their limit that bear at least 0.3 of the worst one's share (a batch)
//     again from the top until a batch is empty; then fallen parts load what they land on, and again
//
// After edits of a structure in which nothing broke, physical_edit.cpp solves again around them: levels are
// changed in place, then a ball of bricks around the edits is balanced while all else is held, a bigger one
// while its border is out of balance, in the end the whole. What is told of a structure is kept for each
// brick, so that only the bricks of the ball are looked at again.
//
// A batch is chosen by share of the limit alone, so its order does not matter. A broken face is gone: it does
// not press either. Determinism: inner axes make all copies of a structure alike; sums in chunks.
// Tests: tests/structure/physical_*_test.cpp
#pragma once

#include "structure/physical_failure.h"
#include "structure/physical_solver.h"

#include <vector>

namespace talus::physical {

class Engine {
 public:
    std::vector<StructureMaterial> materials{StructureMaterial{}};
    std::vector<StructureLoad> loads;
    std::vector<StructurePin> pins;
    std::vector<BondLimits> bond_limits;
    JobSystem* jobs = nullptr;

    void set_blocks(std::span<const StructureBlock> blocks);
    bool remove(Cell cell);
    void place(const StructureBlock& block);
    /// Materials, loads, pins or limits changed: the next solve begins from nothing.
    void forget() { warm_ = false; }
    /// Up to so many iterations of the whole, from where local solves left it. @return whether all is in
    /// balance
    bool refine(int iterations);

    StructureReport solve(const StructureSettings& settings, StructureSolver::Progress progress,
                          void* context);

    // physical_report.cpp
    StructureBalance balance() const;
    std::vector<BondState> bonds_of(Cell cell) const;
    void for_each_bond(void (*f)(void*, const BondState&), void* context) const;
    double largest_added_load(Cell cell);
    std::size_t bytes() const;

 private:
    enum class Found : std::uint8_t { balanced, falls, undecided };
    struct Worst {
        double share = 0;
        Bond bond;
    };
    struct Thrust {  // of a dry joint: what it passes on, and the sum of what it could not
        Local6 force, excess;
    };

    void give_back();
    void take_over(Axis up);
    void units();
    std::size_t drop_unjoined();
    void flood(std::size_t inside);
    void reach_in(std::uint32_t brick, Word bits);
    void renumber(bool keep_motion);
    double mass_at(std::uint32_t slot) const;
    void add_load(const StructureLoad& load, Six& f) const;
    void set_forces();
    void set_force(std::uint32_t brick, int bit);
    void weigh();
    void count_work(std::uint32_t iterations);
    Found find_balance();
    bool break_roughly();
    template <class F>
    void each_fallen_part(F&& f) const;
    bool land_fallen();
    void sever(const Link& link);
    bool cut_mechanism();
    void collect(StructureReport& report) const;

    // physical_judge.cpp
    void judge(std::uint32_t brick, std::size_t& dry);
    void judge_all();
    Worst worst_bond() const;
    std::size_t break_batch(double worst);
    void summarise(StructureReport& report) const;

    // physical_bounds.cpp
    bool bound_utilisation(StructureReport& report) const;

    // physical_edit.cpp
    static bool same_question(const StructureSettings& a, const StructureSettings& b);
    bool solve_again(StructureReport& report);
    void change_blocks();
    bool anything_cut(std::size_t inside, bool support_gone);
    void find_ball();
    std::size_t widen_ball(int rings);
    void make_region(std::size_t inside);
    bool solve_ball();
    bool solve_whole();

    // physical_thrust.cpp
    Found find_thrusts();
    bool is_mechanism(const Motion& motion, const Field& weight);

    /// f(link, limits, force in inner units) for every bond: of the springs or, for a dry joint, of its
    /// thrust.
    template <class F>
    void each_force(F&& f) const;
    template <class F>  // the same for one brick; `dry` counts dry joints, from those before the brick
    void each_force_in(std::uint32_t brick, std::size_t& dry, F&& f) const;
    Local6 elastic(const Link& link, const Motion& motion) const;
    void apply_factor(StructureLimits& limits) const;
    StructureLimits limits_of(const Link& link) const;
    bool is_dry(const StructureLimits& limits) const { return settings_.no_tension || limits.dry(); }
    Strain strain_at(const StructureLimits& limits, const Local6& force) const;
    BondState state_of(const Link& link, const StructureLimits& limits, const Local6& force) const;
    Bond bond_of(const Link& link) const;
    static std::uint64_t key_of(const Link& link) {
        return std::uint64_t(link.high_slot) * 4 + std::uint64_t(link.low == kGroundEnd ? 3 : link.axis);
    }

    // What is told of a brick: of the bonds whose low end is there, and of its nodes.
    struct State {
        Worst worst;
        bool any = false;
        std::uint32_t supports = 0;
        double up = 0;     // inner unit, what holds it from outside
        double rests = 0;  // kg, of blocks that do not move
        double imbalance = 0;
    };

    Solver solver_;
    StructureSettings settings_;
    std::vector<StructureBlock> input_;  // as set, until the first solve takes it over
    bool pending_ = true;
    Axis up_ = Axis::pos_y;
    bool warm_ = false;   // the motion is that of the last solve, in which nothing broke
    bool whole_ = false;  // and all that is there is joined and numbered: edits may be solved around
    bool any_dry_ = false;
    double unit_ = 1;     // kg of the inner unit of force
    double stress_ = 1;   // Pa of the inner unit of stress
    double load_ = 0;     // vertical, of all nodes; inner unit
    double carried_ = 0;  // kg, of what is joined
    double down_ = 0;     // kg, of added loads
    std::uint32_t balances_ = 0, iterations_ = 0;
    double imbalance_ = 0;
    double work_ = 0;             // blocks times iterations
    std::vector<double> landed_;  // kg for each slot, empty when nothing landed
    std::vector<Word> fell_;      // for each brick
    std::vector<std::pair<std::uint64_t, StructureLimits>> own_limits_;  // by key, sorted
    std::vector<Bond> broken_;
    std::vector<Thrust> thrusts_;   // in the order of for_each_link, of the dry joints
    std::vector<Word> moving_;      // for each brick: nodes that move in the mechanism found
    std::vector<State> states_;     // for each brick
    bool plain_ = false;            // every bond has the same limits,
    StructureLimits plain_limits_;  // these

    std::vector<Cell> edits_;    // inner cells, since the last solve
    bool renumber_ = false;      // an edit needs new nodes
    std::vector<Word> reached_;  // for each brick, see flood()
    std::vector<std::uint32_t> stack_;
    std::vector<std::uint32_t> ball_, stamp_, place_;  // bricks in order of distance; of a brick: whether it
                                                       // is in the ball, and where
    std::uint32_t stamp_now_ = 0;
    std::size_t ring_ = 0;  // ball_[ring_ ...] is its outermost ring
    Region region_;
    std::vector<std::uint32_t> sorted_;
    std::uint32_t local_ = 0;  // blocks that the last solve moved, 0: all
};

constexpr float kLeastReference = 1e-3f;  // in mean weights: lighter blocks count as this
constexpr std::size_t kBricksAJob = 64;   // for threads
constexpr double kFull = 1 + 1e-6;        // a dry joint may be full to the last bit

/// What the base reaction may be off, as a share of the weight. Tighter than 1e-7 float residuals cannot
/// tell.
inline double base_tolerance(double tolerance) {
    const double t = tolerance / 500;
    return t > 1e-4 ? 1e-4 : t > 1e-7 ? t : 1e-7;
}

inline Local6 Engine::elastic(const Link& link, const Motion& motion) const {
    const double* low = link.low & kFixedEnd ? nullptr : motion[link.low].v;
    const double* high = link.high & kFixedEnd ? nullptr : motion[link.high].v;
    Local6 f = strain<double>(link.axis, low, high);
    for (int i = 0; i < 6; i++) f.v[i] *= link.scale * kSpring[i];
    return f;
}

template <class F>
void Engine::each_force_in(std::uint32_t brick, std::size_t& dry, F&& f) const {
    solver_.lattice.for_each_link_in(brick, [&](const Link& link) {
        const StructureLimits limits = plain_ ? plain_limits_ : limits_of(link);
        if (any_dry_ && is_dry(limits) && dry < thrusts_.size())
            f(link, limits, thrusts_[dry++].force);
        else
            f(link, limits, elastic(link, solver_.x));
    });
}
template <class F>
void Engine::each_force(F&& f) const {
    std::size_t dry = 0;
    for (std::uint32_t i = 0; i + 1 < solver_.lattice.bricks.size(); i++) each_force_in(i, dry, f);
}

}  // namespace talus::physical
