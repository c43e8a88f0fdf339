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
constexpr double kInner = 0.1;     // of the tolerance, for the balance in each step
constexpr int kPeriod = 10;        // steps from one extrapolation to the next
constexpr int kHistory = 6;        // of which so many are used
constexpr double kMostThrust = 2;  // of the whole weight: the proof of falling holds for joints up to this
constexpr double kMoves = 0.02;    // of the fastest node: slower ones stay
constexpr double kLeads = 0.3;     // so fast: falls first; what is slower follows only if bonded to it

// From states and the changes that plain steps make there: the state in the plane of the last ones in which
// the change is least, and a step from it. Least squares by elimination.
template <class History>
void extrapolate(const History& states, const History& changes, std::vector<Local6>& out) {
    constexpr int m = kHistory - 1;
    double a[m][m + 1] = {};
    const auto& last = changes[m];
    for (std::size_t i = 0; i < last.size(); i++)
        for (int k = 0; k < 6; k++) {
            double d[m];
            for (int j = 0; j < m; j++) d[j] = last[i].v[k] - changes[j][i].v[k];
            for (int p = 0; p < m; p++) {
                for (int q = 0; q < m; q++) a[p][q] += d[p] * d[q] / kSpring[k];
                a[p][m] += d[p] * last[i].v[k] / kSpring[k];
            }
        }
    double trace = 0;
    for (int p = 0; p < m; p++) trace += a[p][p];
    if (!(trace > 0)) return;
    for (int p = 0; p < m; p++) a[p][p] += 1e-10 * trace;
    for (int p = 0; p < m; p++) {
        if (!(a[p][p] > 0)) return;
        const double s = 1 / a[p][p];
        for (int q = p; q <= m; q++) a[p][q] *= s;
        for (int r = 0; r < m; r++) {
            if (r == p) continue;
            const double t = a[r][p];
            for (int q = p; q <= m; q++) a[r][q] -= t * a[p][q];
        }
    }
    for (std::size_t i = 0; i < out.size(); i++)
        for (int k = 0; k < 6; k++) {
            double v = states[m][i].v[k] + last[i].v[k];
            for (int j = 0; j < m; j++)
                v -= a[j][m] * (states[m][i].v[k] - states[j][i].v[k] + last[i].v[k] - changes[j][i].v[k]);
            out[i].v[k] = v;
        }
}

}  // namespace

Engine::Found Engine::find_thrusts() {
    Lattice& lattice = solver_.lattice;
    const std::size_t n = lattice.nodes;
    if (n == 0) return Found::balanced;
    const double base = base_tolerance(settings_.tolerance);

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
    std::vector<SixD> sum(n);
    Motion before, gained;
    int since = 0;
    const auto ends = [&](const Link& link, auto&& f, const Local6& force) {
        f(link.axis, force, link.low & kFixedEnd ? nullptr : sum[link.low].v,
          link.high & kFixedEnd ? nullptr : sum[link.high].v);
    };
    const auto start_sum = [&] {
        for (std::size_t i = 0; i < n; i++)
            for (int k = 0; k < 8; k++) sum[i].v[k] = double(weight[i].v[k]);
    };

    std::vector<Local6> state(thrusts_.size()), change(thrusts_.size()), fallback;
    std::vector<Local6> states[kHistory], changes[kHistory];
    double size_before = 0;
    before = solver_.x;
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
        if (step == settings_.max_thrusts || work_ > settings_.max_work) break;
        // A mechanism shows in what the motion gains: the longer one looks, the less what goes to and fro
        // counts beside it.
        if (step % kPeriod == kPeriod - 1) {
            gained = solver_.x;
            for (std::size_t i = 0; i < n; i++)
                for (int k = 0; k < 8; k++) gained[i].v[k] -= before[i].v[k];
            if (is_mechanism(gained, weight)) {
                found = Found::falls;
                break;
            }
            if (step >= 2 * since + kPeriod) {
                before = solver_.x;
                since = step;
            }
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
        count_work(b.iterations + 1);
        // What a plain step would change, and from where.
        const int slot = step % kPeriod - (kPeriod - kHistory);
        double size = 0;
        at = 0;
        each_dry([&](const Link& link, const StructureLimits&) {
            const Thrust& t = thrusts_[at];
            const Local6 e = elastic(link, solver_.x);
            for (int k = 0; k < 6; k++) {
                state[at].v[k] = t.force.v[k] + t.excess.v[k];
                change[at].v[k] = kOverRelaxed * (e.v[k] - t.excess.v[k]);
                size += change[at].v[k] * change[at].v[k] / kSpring[k];
            }
            at++;
        });
        bool plain = true;
        if (step % kPeriod == 0 && step > 0 && size > size_before) {
            state = fallback;  // the extrapolation did no good
            plain = false;
        }
        if (slot >= 0) {
            states[std::size_t(slot)] = state;
            changes[std::size_t(slot)] = change;
        }
        if (plain)
            for (std::size_t i = 0; i < state.size(); i++)
                for (int k = 0; k < 6; k++) state[i].v[k] += change[i].v[k];
        if (slot == kHistory - 1) {
            size_before = size;
            fallback = state;
            extrapolate(states, changes, state);
        }
        at = 0;
        each_dry([&](const Link&, const StructureLimits& limits) {
            Thrust& t = thrusts_[at];
            t.force = nearest_thrust(state[at], limits.friction);
            for (int k = 0; k < 6; k++) t.excess.v[k] = state[at].v[k] - t.force.v[k];
            at++;
        });
    }
    solver_.f = weight;
    return found;
}

// A motion in which the weight does more work than all joints could take up, each passing on at most
// kMostThrust of the whole weight. Notes what moves.
bool Engine::is_mechanism(const Motion& motion, const Field& weight) {
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
    // What leads falls, and what holds together with it: the rest is looked at again without.
    std::vector<std::uint8_t> falls(lattice.nodes, 0), slow(lattice.nodes, 0);
    for (std::uint32_t i = 0; i < lattice.nodes; i++) {
        double speed = 0;
        for (int k = 0; k < 8; k++) {
            const double s = std::fabs(motion[i].v[k]);
            speed = s > speed ? s : speed;
        }
        falls[i] = speed > kLeads * fastest;
        slow[i] = !(speed > kMoves * fastest);
    }
    for (bool grew = true; grew;) {
        grew = false;
        lattice.for_each_link([&](const Link& link) {
            if ((link.low | link.high) & kFixedEnd || is_dry(limits_of(link))) return;
            for (const auto& [from, to] : {std::pair{link.low, link.high}, std::pair{link.high, link.low}})
                if (falls[from] && !falls[to] && !slow[to]) {
                    falls[to] = 1;
                    grew = true;
                }
        });
    }
    moving_.assign(lattice.bricks.size(), 0);
    for (std::uint32_t i = 0; i < lattice.nodes; i++)
        if (falls[i]) moving_[lattice.brick_at(lattice.cell[i])] |= Word(1) << bit_of(lattice.cell[i]);
    return true;
}

}  // namespace talus::physical
