// physical_solver.h - the motion of the nodes under which all forces balance.
//
// Layer: structure (internal). Solves K x = f by conjugate gradients with a multigrid cycle as preconditioner
// (flexible: the new direction is made conjugate to the last one with the real product). Directions and
// residuals are float, the operator works in double from them, the solution is double; whenever the running
// residual says "done", the true one is worked out in double, and if it disagrees the work goes on from it.
// Units: forces in weights of a mean block, lengths in cells, stiffness 1 = that of the stiffest material.
// Stops when no node is out of balance by more than the tolerance times its reference force, and the vertical
// reaction of all that does not move equals the load. Determinism: sums run in fixed chunks.
// Tests: tests/structure/physical_solver_test.cpp
#pragma once

#include "structure/physical_multigrid.h"

#include <vector>

namespace talus::physical {

struct alignas(32) SixD {
    double v[8];
};
using Motion = std::vector<SixD, Unset<SixD>>;

struct Balanced {
    bool ok = false;
    std::uint32_t iterations = 0;
    double imbalance = 0;  // largest of a node, over its reference
    double base = 0;       // error of the vertical reaction, over the load
};

class Solver {
 public:
    Lattice lattice;
    Multigrid multigrid;
    Motion x;                      // for each node, and a zero one
    Field f;                       // right side
    std::vector<float> reference;  // for each node, > 0

    /// After lattice.index(): makes the levels and room for all fields; x and f are zero.
    void prepare(JobSystem* jobs);
    /// From the x there is. `load` is the sum of the vertical load, of which the base reaction is tested.
    Balanced solve(double tolerance, double base_tolerance, int max_iterations, double load);
    /// The same where only a region moves; its base is not tested.
    Balanced solve(double tolerance, int max_iterations, const Region& region);
    /// What is out of balance at each node, under x: kept from the last solve, or anew for some.
    const Field& residual() const { return r_; }
    void update_residual(const std::vector<Chunk>& nodes);
    /// Own stiffness of classes that edits have added.
    void add_classes();
    /// Adds what a pin does to its node under the motion x, at the node's centre; 8 numbers.
    void add_pin(const Pin& pin, double* out) const;
    std::size_t bytes() const;

 private:
    struct Own {  // the own stiffness of a class, without pins: same component, and across for each axis
        double same[8];
        double across[3][4];
    };
    struct Sums {
        double first, second;
        float largest;
        double vertical;
    };
    template <class T>
    void apply(const std::vector<Chunk>& nodes, const T* x, const Six* r, Six* q, bool residual, double& xq,
               double& xr);
    template <class F>
    Sums sum_chunks(const std::vector<Chunk>& nodes, F&& f);
    Balanced solve(const Region* region, double tolerance, double base_tolerance, int max_iterations,
                   double load);

    JobSystem* jobs_ = nullptr;
    std::vector<Own> own_;
    std::vector<Sums> partial_;
    std::vector<Chunk> whole_;
    Field r_, p_, q_, z_;
};

}  // namespace talus::physical
