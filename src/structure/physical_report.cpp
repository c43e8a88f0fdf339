// What the engine tells of a solved structure, and the check of a balance, which knows nothing of solving.
#include "structure/physical_engine.h"

#include <algorithm>
#include <unordered_map>

namespace talus::physical {

BondState Engine::state_of(const Link& link, const StructureLimits& limits, const Local6& force) const {
    const Lattice& lattice = solver_.lattice;
    const Cell low = lattice.frame.outer(cell_of(lattice.bricks[link.brick].coord, link.bit));
    BondState state;
    state.force.bond = bond_of(link);
    const Strain strain = strain_at(limits, force);
    state.utilisation = strain.share;
    state.kind = strain.kind;
    // Inner forces act on the low end; for the ground, bond_of() names the block above twice and what is
    // told is what acts on it.
    const bool as_is = link.low != kGroundEnd && state.force.bond.first == low;
    const double sign = as_is ? 1 : -1;
    DVec3 f, m;
    const int b = next_axis(link.axis), c = third_axis(link.axis);
    f[link.axis] = force.v[0];
    f[b] = force.v[1];
    f[c] = force.v[2];
    m[link.axis] = force.v[3];
    m[b] = force.v[4];
    m[c] = force.v[5];
    state.force.force = lattice.frame.outer(f) * (sign * unit_);
    state.force.moment =
        lattice.frame.outer(m) * (sign * unit_ * settings_.cell_size * lattice.frame.handedness());
    return state;
}

void Engine::for_each_bond(void (*f)(void*, const BondState&), void* context) const {
    each_force([&](const Link& link, const StructureLimits& limits, const Local6& force) {
        f(context, state_of(link, limits, force));
    });
}

std::vector<BondState> Engine::bonds_of(Cell cell) const {
    std::vector<BondState> states;
    each_force([&](const Link& link, const StructureLimits& limits, const Local6& force) {
        const Bond bond = bond_of(link);
        if (bond.first == cell || bond.second == cell) states.push_back(state_of(link, limits, force));
    });
    std::sort(states.begin(), states.end(),
              [](const BondState& a, const BondState& b) { return a.force.bond < b.force.bond; });
    return states;
}

StructureBalance Engine::balance() const {
    const Lattice& lattice = solver_.lattice;
    StructureBalance out;
    // By slot: what bonds, weight and loads do to blocks that something holds.
    std::vector<SixD> held(lattice.mass.size());
    each_force([&](const Link& link, const StructureLimits& limits, const Local6& force) {
        double low[8] = {}, high[8] = {};
        add_force(link.axis, force, low, high);
        if (link.low == kGroundEnd) {
            for (int k = 0; k < 8; k++) held[link.high_slot].v[k] += high[k];
            return;
        }
        out.bonds.push_back(state_of(link, limits, force).force);
        for (int k = 0; k < 8; k++) {
            if (link.low & kFixedEnd) held[link.low_slot].v[k] -= low[k];
            if (link.high & kFixedEnd) held[link.high_slot].v[k] -= high[k];
        }
    });
    std::vector<std::uint8_t> pinned(lattice.mass.size(), 0);
    for (const Pin& pin : lattice.pins) {
        const std::uint32_t slot = lattice.slot_of[pin.node];
        solver_.add_pin(pin, held[slot].v);
        pinned[slot] = 1;
    }
    const double length_unit = settings_.cell_size;
    for (const StructureLoad& load : loads) {
        std::uint32_t brick;
        int bit;
        if (!lattice.find(lattice.frame.inner(load.cell), brick, bit)) continue;
        const Brick& b = lattice.bricks[brick];
        if (!(b.fixed >> bit & 1)) continue;
        const DVec3 f = lattice.frame.inner(load.force);
        const DVec3 m = lattice.frame.inner(load.moment) * lattice.frame.handedness();
        for (int a = 0; a < 3; a++) {
            held[b.slot(bit)].v[a] -= f[a] / unit_;
            held[b.slot(bit)].v[4 + a] -= m[a] / (unit_ * length_unit);
        }
    }
    for (const Brick& b : lattice.bricks)
        for (Word w = b.exists(); w; w &= w - 1) {
            const int bit = std::countr_zero(w);
            const std::uint32_t s = b.slot(bit);
            const bool fixed = b.fixed >> bit & 1;
            if (!fixed && !(b.ground >> bit & 1) && !pinned[s]) continue;
            SixD& h = held[s];
            if (fixed) h.v[1] += (lattice.mass[s] + (landed_.empty() ? 0 : landed_[s])) / unit_;
            const DVec3 f{h.v[0], h.v[1], h.v[2]}, m{h.v[4], h.v[5], h.v[6]};
            out.ground.push_back(
                {lattice.frame.outer(cell_of(b.coord, bit)), lattice.frame.outer(f) * unit_,
                 lattice.frame.outer(m) * (unit_ * length_unit * lattice.frame.handedness())});
        }
    std::sort(out.bonds.begin(), out.bonds.end(),
              [](const BondForce& a, const BondForce& b) { return a.bond < b.bond; });
    std::sort(out.ground.begin(), out.ground.end(),
              [](const GroundForce& a, const GroundForce& b) { return a.cell < b.cell; });
    return out;
}

// The load acts in a straight line on every force: the answer is the least factor at which a face is full.
double Engine::largest_added_load(Cell cell) {
    Lattice& lattice = solver_.lattice;
    std::uint32_t brick;
    int bit;
    if (pending_ || !lattice.find(lattice.frame.inner(cell), brick, bit)) return 0;
    if (lattice.bricks[brick].fixed >> bit & 1) return 1e300;
    const Motion motion = solver_.x;
    const Field f = solver_.f;
    std::fill(solver_.f.begin(), solver_.f.end(), Six{});
    solver_.f[lattice.node_of(lattice.bricks[brick], bit)].v[1] = -1;
    std::fill(solver_.x.begin(), solver_.x.end(), SixD{});
    std::vector<float> reference(lattice.nodes, 1);
    reference.swap(solver_.reference);
    solver_.solve(1e-4, 1e-4, settings_.max_iterations, 1);
    reference.swap(solver_.reference);
    const Motion added = solver_.x;
    solver_.x = motion;
    solver_.f = f;
    double least = 1e300;
    std::size_t dry = 0;
    lattice.for_each_link([&](const Link& link) {
        const StructureLimits limits = limits_of(link);
        const bool thrust = any_dry_ && is_dry(limits) && dry < thrusts_.size();
        const Local6 base = thrust ? thrusts_[dry++].force : elastic(link, solver_.x);
        const Local6 more = elastic(link, added);
        const auto share = [&](double factor) {
            Local6 sum;
            for (int k = 0; k < 6; k++) sum.v[k] = base.v[k] + factor * more.v[k];
            return strain_at(limits, sum).share;
        };
        if (least < 1e300 && !(share(least) > 1)) return;
        // A bond is full within an interval that holds 0: its shares are convex where it matters.
        double high = least < 1e300 ? least : 1;
        while (!(share(high) > 1)) {
            high *= 2;
            if (high > 1e15) return;
        }
        double low = 0;
        for (int i = 0; i < 60; i++) {
            const double middle = 0.5 * (low + high);
            (share(middle) > 1 ? high : low) = middle;
        }
        least = low;
    });
    return least < 1e300 ? least * unit_ : 1e300;
}

std::size_t Engine::bytes() const {
    const auto of = [](const auto& v) { return v.capacity() * sizeof v[0]; };
    return solver_.bytes() + of(input_) + of(landed_) + of(fell_) + of(thrusts_) + of(own_limits_);
}

}  // namespace talus::physical

namespace talus {

namespace {

struct CellHash {
    std::size_t operator()(Cell c) const {
        const std::uint64_t z = (std::uint64_t(std::uint32_t(c.x)) * 0x9E3779B97F4A7C15u) ^
                                (std::uint64_t(std::uint32_t(c.y)) * 0xBF58476D1CE4E5B9u) ^
                                (std::uint64_t(std::uint32_t(c.z)) * 0x94D049BB133111EBu);
        return std::size_t(z ^ (z >> 29));
    }
};

}  // namespace

BalanceCheck check_balance(std::span<const StructureBlock> blocks,
                           std::span<const StructureMaterial> materials, const StructureSettings& settings,
                           std::span<const StructureLoad> loads, std::span<const StructurePin> pins,
                           std::span<const BondLimits> bond_limits, const StructureBalance& balance) {
    const double size = settings.cell_size;
    const double to_stress = settings.gravity / (size * size);
    DVec3 up;
    up[int(settings.up) / 2] = int(settings.up) & 1 ? -1 : 1;
    struct Sum {
        DVec3 force, moment;
        double reference = 0;  // kg
    };
    std::unordered_map<Cell, std::uint32_t, CellHash> index;
    index.reserve(blocks.size());
    std::vector<Sum> sums(blocks.size());
    std::vector<std::uint8_t> may_hold(blocks.size(), 0);
    BalanceCheck check;
    double mean = 0;
    for (std::uint32_t i = 0; i < blocks.size(); i++) {
        index.emplace(blocks[i].cell, i);
        sums[i].force = up * -blocks[i].mass;
        sums[i].reference = blocks[i].mass;
        may_hold[i] = blocks[i].support;
        check.weight += blocks[i].mass;
    }
    if (!blocks.empty()) mean = check.weight / double(blocks.size());
    for (const StructureLoad& load : loads)
        if (const auto at = index.find(load.cell); at != index.end()) {
            sums[at->second].force += load.force;
            sums[at->second].moment += load.moment;
            check.weight -= dot(load.force, up);
        }
    for (const StructurePin& pin : pins)
        if (const auto at = index.find(pin.cell); at != index.end()) may_hold[at->second] = 1;
    std::unordered_map<Cell, StructureLimits, CellHash> own[3];
    for (const BondLimits& limits : bond_limits) {
        const Cell d = limits.bond.second - limits.bond.first;
        const int axis = d.x ? 0 : d.y ? 1 : 2;
        const Cell low = d.x + d.y + d.z > 0 ? limits.bond.first : limits.bond.second;
        own[axis].insert_or_assign(low, limits.limits);
    }

    double broken = 0;  // forces that act on nothing, or that no face can pass on
    const auto strain = [&](StructureLimits limits, int axis, DVec3 force, DVec3 moment) {
        limits.tension *= settings.limit_factor;
        limits.compression *= settings.limit_factor;
        limits.cohesion *= settings.limit_factor;
        const int b = physical::next_axis(axis), c = physical::third_axis(axis);
        const physical::Local6 stress{{force[axis] * to_stress, force[b] * to_stress, force[c] * to_stress,
                                       moment[axis] * to_stress / size, moment[b] * to_stress / size,
                                       moment[c] * to_stress / size}};
        const double share = physical::strain_of(limits, stress, settings.no_tension || limits.dry()).share;
        check.max_utilisation = share > check.max_utilisation ? share : check.max_utilisation;
    };
    const auto limits_at = [&](std::uint32_t i) {
        const std::size_t k = blocks[i].material;
        return materials[k < materials.size() ? k : 0].limits;
    };
    for (const BondForce& bond : balance.bonds) {
        const auto a = index.find(bond.bond.first), b = index.find(bond.bond.second);
        const Cell d = bond.bond.second - bond.bond.first;
        if (a == index.end() || b == index.end() || d.x * d.x + d.y * d.y + d.z * d.z != 1) {
            broken = 1e300;
            continue;
        }
        const DVec3 arm = DVec3{double(d.x), double(d.y), double(d.z)} * (0.5 * size);
        Sum &first = sums[a->second], &second = sums[b->second];
        first.force += bond.force;
        first.moment += bond.moment + cross(arm, bond.force);
        second.force -= bond.force;
        second.moment -= bond.moment - cross(arm, bond.force);
        const int axis = d.x ? 0 : d.y ? 1 : 2;
        const bool forward = d.x + d.y + d.z > 0;
        StructureLimits limits = physical::weaker(limits_at(a->second), limits_at(b->second));
        const auto mine = own[axis].find(forward ? bond.bond.first : bond.bond.second);
        if (mine != own[axis].end()) limits = mine->second;
        // Tension positive: the force on the first block towards the second.
        strain(limits, axis, bond.force * (forward ? 1 : -1), bond.moment * (forward ? 1 : -1));
        const double bears = limits.tension * settings.limit_factor / to_stress;
        if (!settings.no_tension && !limits.dry())
            for (Sum* sum : {&first, &second})
                sum->reference = bears < sum->reference ? bears : sum->reference;
    }
    for (const GroundForce& ground : balance.ground) {
        const auto at = index.find(ground.cell);
        if (at == index.end() || !may_hold[at->second]) {
            broken = 1e300;
            continue;
        }
        sums[at->second].force += ground.force;
        sums[at->second].moment += ground.moment;
        check.base_reaction += dot(ground.force, up);
        const Cell below = blocks[at->second].cell - Cell{int(up.x), int(up.y), int(up.z)};
        if (settings.no_tension && blocks[at->second].support && index.find(below) == index.end()) {
            // At the face below: what pushes the block up presses the face.
            const DVec3 arm = up * (-0.5 * size);
            const int axis = int(settings.up) / 2;
            strain(limits_at(at->second), axis, ground.force * -up[axis],
                   ground.moment - cross(arm, ground.force));
        }
    }
    const double least = mean > 0 ? 1e-3 * mean : 1;
    for (const Sum& sum : sums) {
        const double reference = sum.reference > least ? sum.reference : least;
        for (int a = 0; a < 3; a++) {
            for (const double left : {sum.force[a] / reference, sum.moment[a] / (reference * size)}) {
                const double size_of = left < 0 ? -left : left;
                check.imbalance = size_of <= check.imbalance ? check.imbalance : size_of;
            }
        }
    }
    if (broken > 0) check.imbalance = broken;
    return check;
}

}  // namespace talus
