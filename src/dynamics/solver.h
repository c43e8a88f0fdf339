// solver.h - contact solver: soft contacts in sub steps, eight manifolds side by side.
//
// Layer: dynamics. SI. One call of solve() advances velocities and small motions over one internal step:
//
//   each sub step:  forces -> warm start -> normals with soft push-out -> move -> friction and normals, no
//   bias at the end:     bounce, for points that came in faster than 1.5 m/s
//
// Spin is kept in the scaled principal frame of the step's start, w = sqrt(I) P^T R^T spin, which is also
// K L with K = diag(1 / sqrt I) P^T R^T and L the angular momentum: a row of a constraint then needs one
// 3-vector a body, impulses add without a matrix, and L is exact.
// Manifolds are coloured so that no two of a colour share a body that moves; each batch takes eight of one
// colour and one point count; what is left of all colours is packed together. Static ones come last: they
// have the last word.
// Stacks: the lower body's inverse mass is scaled down in increments of slow contacts (it then yields less
// while impulses are still wrong; once converged nothing changes); several sweeps inside a manifold.
// Determinism: batches in a fixed order; each lane is one manifold, so results do not depend on packing.
// Threads share the nodes of parts.h: a part goes through all its colours without waiting for another, after
// the few contacts between parts.
// Source: E. Catto, Soft Contact (box2d v3, "Solver2D", 2024) for sub steps and relaxing; the scaled frame,
//   the mass scaling and the packing are our own.
// Tests: tests/dynamics/
#pragma once

#include "dynamics/pairs.h"
#include "dynamics/parts.h"
#include "math/simd.h"
#include "talus/jobs.h"
#include "talus/math.h"

#include <cstdint>
#include <vector>

namespace talus {

/// One row of eight floats: what every constraint reads and writes.
struct alignas(32) SolverVelocity {
    Vec3 linear;
    float inverse_mass = 0;
    Vec3 spin;  ///< scaled principal frame
    float unused = 0;
};

/// Three rows: what constraints are made from.
struct alignas(32) SolverFrame {
    Mat3 rotation;
    Mat3 to_spin;  ///< K above; zero for what does not move
    float inverse_mass = 0;
    float unused[5] = {};
};
static_assert(sizeof(SolverVelocity) == 32 && sizeof(SolverFrame) == 96);

/// What acts on a body that moves, each second.
struct SolverDrive {
    std::int32_t body;
    Vec3 acceleration;
    Vec3 spin_rate;                           ///< K torque
    float linear_keep = 1, angular_keep = 1;  ///< factor of a sub step
};

struct SolverSettings {
    int sub_steps = 4;
    float h = 1.0f / 240;  ///< of a sub step
    Vec3 up{0, 1, 0};
    JobSystem* jobs = nullptr;
    bool stacks = true;  ///< there is gravity: scale masses of slow contacts along `up`
};

class ContactSolver {
 public:
    ContactSolver();
    ~ContactSolver();
    ContactSolver(const ContactSolver&) = delete;
    ContactSolver& operator=(const ContactSolver&) = delete;

    // Of bodies in this step only, by their place: 0 the world, then those that move, in the order of
    // `drives`, then what they touch.
    std::vector<SolverVelocity> velocity;
    std::vector<SolverVelocity> motion;  ///< what velocity added up to
    std::vector<SolverFrame> frame;
    std::vector<SolverDrive> drives;  ///< bodies that move
    std::vector<std::int32_t> place;  ///< by body; of others it says nothing
    Parts parts;

    /// Colours the manifolds of these pairs and fills batches: `place` and `parts` must be right,
    /// all else is not looked at.
    void colour(const PairTable& table, const std::vector<ActivePair>& active);
    /// Impulses end in the manifolds.
    void solve(PairTable& table, const SolverSettings& settings);

    /// Between steps: what busier ones needed goes.
    void drop_scratch();

    /// What a snapshot keeps (snapshot.cpp); the rest lives within one step.
    template <class A, class T>
    static void archive(A& a, T& v) {
        a(v.last_h_);
    }

 private:
    struct Node;
    void pack(Node& node, std::size_t index);
    void drive(std::size_t part, float h);
    void move(std::size_t part, float h);
    template <class F>
    void each_part(JobSystem* jobs, F&& f);
    template <class F>
    void between_parts(JobSystem* jobs, std::size_t halves, F&& f);

    std::vector<Node> nodes_;  // as Parts numbers them
    // By place: colours taken in its part, in all other nodes, and tails (see pack).
    std::vector<std::uint64_t> used_, used_between_, tails_;
    std::vector<std::uint8_t> part_of_;  // by place
    float last_h_ = 0;
};

}  // namespace talus
