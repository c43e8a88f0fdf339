// Dry joints: thrusts that stay inside the faces and balance every block.
//
// By the safe theorem of limit analysis a structure of dry joints stands when such thrusts exist, whatever
// the real ones are (with friction taken as associated, that is: sliding joints dilate; what is found is a
// balance, what does not slide in it is certain). The search goes to and fro between forces that balance (a
// solve with the springs) and forces that joints can pass on (each alone): the alternating direction method
// of multipliers. If there are none, the motion grows each round by the same mechanism, in which the weight
// does work and no joint resists: that is the proof that it falls. Source: Boyd et al., "Distributed
// optimization and statistical learning via ADMM" (2011); Heyman (1966).
#include "structure/physical_engine.h"

#include <cmath>

namespace talus::physical {

namespace {

constexpr double kOverRelaxed = 1.6;
constexpr double kInner = 0.25;      // of the tolerance, for the balance in each step
constexpr int kMechanismEvery = 25;  // steps
constexpr double kMostThrust = 10;   // of the whole weight: the proof of falling holds for joints up to this
constexpr double kMoves = 0.02;      // of the fastest node: slower ones stay

}  // namespace

Engine::Found Engine::find_thrusts() {
    Lattice& lattice = solver_.lattice;
    const std::size_t n = lattice.nodes;
    if (n == 0) return Found::balanced;
    const double base = settings_.tolerance / 500 < 1e-4 ? settings_.tolerance / 500 : 1e-4;

    // Only dry joints have a thrust, in the order of links.
    const auto each_dry = [&](auto&& f) {
        lattice.for_each_link([&](const Link& link) {
            const StructureLimits limits = limits_of(link);
            if (is_dry(limits)) f(link, limits);
        });
    };
    thrusts_.clear();
    each_dry([&](const Link& link, const StructureLimits& limits) {
        const Local6 f = elastic(link, solver_.x);
        Thrust t{nearest_thrust(f, limits.friction), {}};
        for (int k = 0; k < 6; k++) t.excess.v[k] = f.v[k] - t.force.v[k];
        thrusts_.push_back(t);
    });
    const Field weight = solver_.f;
    std::vector<SixD> sum(n), before;
    const auto ends = [&](const Link& link, auto&& f, const Local6& force) {
        f(link.axis, force, link.low & kFixedEnd ? nullptr : sum[link.low].v,
          link.high & kFixedEnd ? nullptr : sum[link.high].v);
    };
    const auto start_sum = [&] {
        for (std::size_t i = 0; i < n; i++)
            for (int k = 0; k < 8; k++) sum[i].v[k] = double(weight[i].v[k]);
    };

    Found found = Found::undecided;
    for (int step = 0; step <= settings_.max_thrusts; step++) {
        // Are the thrusts in balance, with what the other bonds do?
        start_sum();
        std::size_t at = 0;
        lattice.for_each_link([&](const Link& link) {
            ends(link, add_force, is_dry(limits_of(link)) ? thrusts_[at++].force : elastic(link, solver_.x));
        });
        for (const Pin& pin : lattice.pins) solver_.add_pin(pin, sum[pin.node].v);
        double worst = 0, vertical = 0;
        for (std::size_t i = 0; i < n; i++) {
            for (int k = 0; k < 8; k++) {
                const double share = std::fabs(sum[i].v[k]) / double(solver_.reference[i]);
                worst = share > worst ? share : worst;
            }
            vertical += sum[i].v[1];
        }
        imbalance_ = worst;
        if (worst <= settings_.tolerance && std::fabs(vertical) <= base * load_) {
            found = Found::balanced;
            break;
        }
        if (step == settings_.max_thrusts) break;
        if (step % kMechanismEvery == 0) {
            if (step > 0) {
                for (std::size_t i = 0; i < n; i++)
                    for (int k = 0; k < 8; k++) before[i].v[k] = solver_.x[i].v[k] - before[i].v[k];
                if (is_mechanism(before, weight)) {
                    found = Found::falls;
                    break;
                }
            }
            before = solver_.x;
        }
        // The nearest forces in balance.
        start_sum();
        at = 0;
        each_dry([&](const Link& link, const StructureLimits&) {
            const Thrust& t = thrusts_[at++];
            Local6 f;
            for (int k = 0; k < 6; k++) f.v[k] = t.force.v[k] - t.excess.v[k];
            ends(link, add_force, f);
        });
        for (std::size_t i = 0; i < n; i++)
            for (int k = 0; k < 8; k++) solver_.f[i].v[k] = float(sum[i].v[k]);
        const Balanced b =
            solver_.solve(settings_.tolerance * kInner, base * kInner, settings_.max_iterations, load_);
        iterations_ += b.iterations;
        // The nearest forces that joints pass on.
        at = 0;
        each_dry([&](const Link& link, const StructureLimits& limits) {
            Thrust& t = thrusts_[at++];
            const Local6 e = elastic(link, solver_.x);
            Local6 f;
            for (int k = 0; k < 6; k++) {
                const double balanced = t.force.v[k] - t.excess.v[k] + e.v[k];
                f.v[k] = kOverRelaxed * balanced + (1 - kOverRelaxed) * t.force.v[k] + t.excess.v[k];
            }
            t.force = nearest_thrust(f, limits.friction);
            for (int k = 0; k < 6; k++) t.excess.v[k] = f.v[k] - t.force.v[k];
        });
    }
    solver_.f = weight;
    return found;
}

// A motion in which the weight does more work than all joints could take up, each passing on at most
// kMostThrust of the whole weight. Notes what moves.
bool Engine::is_mechanism(const std::vector<SixD>& motion, const Field& weight) {
    const Lattice& lattice = solver_.lattice;
    double power = 0, fastest = 0;
    for (std::uint32_t i = 0; i < lattice.nodes; i++)
        for (int k = 0; k < 8; k++) {
            power += double(weight[i].v[k]) * motion[i].v[k];
            const double speed = std::fabs(motion[i].v[k]);
            fastest = speed > fastest ? speed : fastest;
        }
    if (!(fastest > 0)) return false;
    const double most = kMostThrust * load_;
    double taken = 0;
    lattice.for_each_link([&](const Link& link) {
        const StructureLimits limits = limits_of(link);
        const Local6 f = elastic(link, motion);
        if (!is_dry(limits)) {
            for (int k = 0; k < 6; k++) taken += most * std::fabs(f.v[k]) / (kSpring[k] * link.scale);
            return;
        }
        const Local6 p = nearest_thrust(f, limits.friction);
        const double share[6] = {1, limits.friction, limits.friction, limits.friction / 3, 0.5, 0.5};
        for (int k = 0; k < 6; k++) taken += most * share[k] * std::fabs(p.v[k]) / (kSpring[k] * link.scale);
    });
    if (!(power > taken)) return false;
    moving_.assign(lattice.bricks.size(), 0);
    for (std::uint32_t i = 0; i < lattice.nodes; i++) {
        double speed = 0;
        for (int k = 0; k < 8; k++) {
            const double s = std::fabs(motion[i].v[k]);
            speed = s > speed ? s : speed;
        }
        if (speed > kMoves * fastest)
            moving_[lattice.brick_at(lattice.cell[i])] |= Word(1) << bit_of(lattice.cell[i]);
    }
    return true;
}

}  // namespace talus::physical
