// What is proven of a balance that was not reached.
//
// The forces of the springs under some motion fit together, but leave blocks out of balance. What is left
// over, handed down a tree of bonds to what does not move, gives a second set of forces, which is in balance
// but does not fit together. The true forces lie between: their distance from the middle of the two, as
// energy, is half the distance of the two from each other (the hypercircle of Prager and Synge). So each
// face's share of its limit is known to within an interval, whatever the motion; the nearer to balance, the
// narrower. Source: Prager and Synge, "Approximations in elasticity based on the concept of function space",
// Quart. Appl. Math. 5 (1947).
#include "structure/physical_engine.h"

#include <cmath>

namespace talus::physical {

// Pre: nodes are those of the lattice as it is. @return false when nothing can be said: with dry joints or
// pins
bool Engine::bound_utilisation(StructureReport& report) const {
    const Lattice& lattice = solver_.lattice;
    const std::uint32_t n = lattice.nodes;
    if (any_dry_ || !pins.empty() || n == 0) return false;
    // What each node is left with, at its centre.
    std::vector<SixD> left(n);
    for (std::uint32_t i = 0; i < n; i++)
        for (int k = 0; k < 8; k++) left[i].v[k] = double(solver_.f[i].v[k]);
    lattice.for_each_link([&](const Link& link) {
        add_force(link.axis, elastic(link, solver_.x), link.low & kFixedEnd ? nullptr : left[link.low].v,
                  link.high & kFixedEnd ? nullptr : left[link.high].v);
    });
    // The tree: which side of a node leads to what holds it, and nodes in order of distance.
    constexpr std::uint8_t kNone = 6;
    std::vector<std::uint8_t> down(n, kNone);
    std::vector<std::uint32_t> order;
    order.reserve(n);
    std::size_t alive = 0;
    const auto class_of = [&](std::uint32_t i) -> const Lattice::Class& {
        return lattice.classes[lattice.node_class[i]];
    };
    for (std::uint32_t i = 0; i < n; i++) {
        const Lattice::Class& c = class_of(i);
        bool bonded = false;
        for (std::uint8_t k = 0; k < 6; k++) {
            bonded = bonded || c.all_scale[k] > 0;
            if (c.all_scale[k] > 0 && c.scale[k] == 0 && down[i] == kNone) down[i] = k;
        }
        alive += bonded;
        if (down[i] != kNone) order.push_back(i);
    }
    for (std::size_t at = 0; at < order.size(); at++)
        for (std::size_t k = 0; k < 6; k++) {
            const std::uint32_t to = lattice.neighbour[6 * std::size_t(order[at]) + k];
            if (to == n || down[to] != kNone) continue;
            down[to] = std::uint8_t(k ^ 1);
            order.push_back(to);
        }
    if (order.size() != alive) return false;
    // What is left over goes down; `flow` is what a node's bond downwards has to pass on, as a force on its
    // low end in the bond's own axes.
    std::vector<Local6> flow(n);
    double energy = 0;
    for (std::size_t at = order.size(); at-- > 0;) {
        const std::uint32_t i = order[at];
        const int axis = down[i] / 2, b = next_axis(axis), c = third_axis(axis);
        const bool ahead = !(down[i] & 1);
        const double to = ahead ? 1 : -1;  // along the axis
        double* const v = left[i].v;
        // About the middle of the face, half a cell on.
        const double half[2] = {v[4 + b] + 0.5 * to * v[c], v[4 + c] - 0.5 * to * v[b]};
        const double whole[2] = {v[4 + b] + to * v[c], v[4 + c] - to * v[b]};
        const Local6 given{{v[axis], v[b], v[c], v[4 + axis], half[0], half[1]}};
        for (int k = 0; k < 6; k++) {
            flow[i].v[k] = -to * given.v[k];
            energy += given.v[k] * given.v[k] / (kSpring[k] * class_of(i).all_scale[down[i]]);
        }
        if (class_of(i).scale[down[i]] == 0) continue;  // it ends here
        double* const next = left[lattice.neighbour[6 * std::size_t(i) + down[i]]].v;
        for (int k = 0; k < 3; k++) next[k] += v[k];
        next[4 + axis] += v[4 + axis];
        next[4 + b] += whole[0];
        next[4 + c] += whole[1];
    }
    const double radius = 0.5 * std::sqrt(energy);
    report.least_utilisation = report.most_utilisation = 0;
    lattice.for_each_link([&](const Link& link) {
        Local6 middle = elastic(link, solver_.x);
        const auto add = [&](std::uint32_t node, int side) {
            if (node & kFixedEnd || down[node] != side) return;
            for (int k = 0; k < 6; k++) middle.v[k] += 0.5 * flow[node].v[k];
        };
        add(link.low, 2 * link.axis);
        add(link.high, 2 * link.axis + 1);
        Local6 spread;
        for (int k = 0; k < 6; k++) {
            middle.v[k] *= stress_;
            spread.v[k] = radius * std::sqrt(kSpring[k] * link.scale) * stress_;
        }
        const ShareBounds share = share_bounds(limits_of(link), middle, spread);
        if (share.least > report.least_utilisation) report.least_utilisation = share.least;
        if (!(share.most <= report.most_utilisation)) report.most_utilisation = share.most;
    });
    return true;
}

}  // namespace talus::physical
