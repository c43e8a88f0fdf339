// What each face bears, brick by brick, and which faces break.
#include "structure/physical_engine.h"

#include <algorithm>
#include <cmath>

namespace talus::physical {

namespace {

constexpr double kBatch = 0.3;  // share of the worst from which a face breaks with it

}  // namespace

StructureLimits Engine::limits_of(const Link& link) const {
    const Lattice& lattice = solver_.lattice;
    const auto of = [&](std::uint32_t slot) -> const StructureLimits& {
        const std::size_t k = lattice.kind[slot];
        return materials[k < materials.size() ? k : 0].limits;
    };
    StructureLimits limits = weaker(of(link.low_slot), of(link.high_slot));
    if (!own_limits_.empty()) {
        const std::uint64_t key = key_of(link);
        const auto at = std::lower_bound(own_limits_.begin(), own_limits_.end(), key,
                                         [](const auto& a, std::uint64_t k) { return a.first < k; });
        if (at != own_limits_.end() && at->first == key) limits = at->second;
    }
    apply_factor(limits);
    return limits;
}

Strain Engine::strain_at(const StructureLimits& limits, const Local6& force) const {
    Local6 stress;
    for (int i = 0; i < 6; i++) stress.v[i] = force.v[i] * stress_;
    return strain_of(limits, stress, is_dry(limits));
}

Bond Engine::bond_of(const Link& link) const {
    const Lattice& lattice = solver_.lattice;
    const Cell low = cell_of(lattice.bricks[link.brick].coord, link.bit);
    Cell high = low;
    if (link.low != kGroundEnd) (link.axis == 0 ? high.x : link.axis == 1 ? high.y : high.z)++;
    const Cell a = lattice.frame.outer(low), b = lattice.frame.outer(high);
    return a < b ? Bond{a, b} : Bond{b, a};
}

// Equal shares: the bond first in order, so that the answer does not hang on the order of nodes.
void Engine::judge(std::uint32_t brick, std::size_t& dry) {
    const Lattice& lattice = solver_.lattice;
    const Brick& b = lattice.bricks[brick];
    State s;
    each_force_in(brick, dry, [&](const Link& link, const StructureLimits& limits, const Local6& force) {
        if ((link.low | link.high) & kFixedEnd) {
            double low[8] = {}, high[8] = {};
            add_force(link.axis, force, low, high);
            // What the ground or a fixed block does to the other end, upwards.
            s.up += link.low & kFixedEnd ? high[1] : low[1];
        }
        const double share = strain_at(limits, force).share;
        if (s.any && share < s.worst.share) return;
        const Bond bond = bond_of(link);
        if (s.any && share == s.worst.share && !(bond < s.worst.bond)) return;
        s.worst = {share, bond};
        s.any = true;
    });
    for (Word w = b.fixed; w; w &= w - 1) s.rests += mass_at(b.slot(std::countr_zero(w)));
    s.supports = std::uint32_t(std::popcount(b.fixed | b.ground));
    const Field& residual = solver_.residual();
    for (const auto& [begin, count] :
         {std::pair{b.red, std::popcount(b.node & kRed)}, std::pair{b.black, std::popcount(b.node & ~kRed)}})
        for (std::uint32_t n = begin; n < begin + std::uint32_t(count); n++) {
            float most = 0;
            for (const float v : residual[n].v) {
                const float size = v < 0 ? -v : v;
                most = size <= most ? most : size;
            }
            const double share = double(most / solver_.reference[n]);
            s.imbalance = share <= s.imbalance ? s.imbalance : share;
        }
    states_[brick] = s;
}

void Engine::judge_all() {
    const std::size_t count = solver_.lattice.bricks.size() - 1;
    states_.resize(count + 1);
    if (any_dry_) {  // thrusts are in the order of all links
        std::size_t dry = 0;
        for (std::uint32_t i = 0; i < count; i++) judge(i, dry);
        return;
    }
    in_parallel(jobs, (count + kBricksAJob - 1) / kBricksAJob, [&](std::size_t job) {
        std::size_t dry = 0;
        for (std::size_t i = job * kBricksAJob; i < count && i < (job + 1) * kBricksAJob; i++)
            judge(std::uint32_t(i), dry);
    });
}

Engine::Worst Engine::worst_bond() const {
    Worst worst;
    bool any = false;
    for (const State& s : states_) {
        if (!s.any || (any && s.worst.share < worst.share)) continue;
        if (any && s.worst.share == worst.share && !(s.worst.bond < worst.bond)) continue;
        worst = s.worst;
        any = true;
    }
    return worst;
}

std::size_t Engine::break_batch(double worst) {
    std::vector<Link> batch;
    std::size_t dry = 0;
    for (std::uint32_t i = 0; i + 1 < solver_.lattice.bricks.size(); i++) {
        // Thrusts must be counted; elsewhere a brick without a face that breaks is passed over.
        if (!any_dry_ && !(states_[i].worst.share > kFull && states_[i].worst.share >= kBatch * worst))
            continue;
        each_force_in(i, dry, [&](const Link& link, const StructureLimits& limits, const Local6& force) {
            const double share = strain_at(limits, force).share;
            if (share > kFull && share >= kBatch * worst) batch.push_back(link);
        });
    }
    for (const Link& link : batch) sever(link);
    return batch.size();
}

// What a report says of a balance, from what is kept of the bricks.
void Engine::summarise(StructureReport& report) const {
    const Lattice& lattice = solver_.lattice;
    double up = 0, own = 0;
    report.imbalance = any_dry_ ? imbalance_ : 0;
    report.supports = 0;
    for (const State& s : states_) {
        up += s.up;
        own += s.rests;
        report.supports += s.supports;
        if (!any_dry_) report.imbalance = s.imbalance <= report.imbalance ? report.imbalance : s.imbalance;
    }
    for (const Pin& pin : lattice.pins) {
        double force[8] = {};
        solver_.add_pin(pin, force);
        up += force[1];
    }
    for (const StructureLoad& load : loads) {
        std::uint32_t brick;
        int bit;
        if (lattice.find(lattice.frame.inner(load.cell), brick, bit) &&
            lattice.bricks[brick].fixed >> bit & 1)
            own -= lattice.frame.inner(load.force).y;
    }
    const Worst worst = worst_bond();
    report.max_utilisation = worst.share;
    report.worst_bond = worst.bond;
    report.weight = carried_;
    report.base_reaction = up * unit_ + own;
}

}  // namespace talus::physical
