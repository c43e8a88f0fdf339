// physical_cases.h - what the tests of physical mode share. Weight 1 kg a block, gravity 1: stress in Pa is
// in block weights.
#pragma once

#include "structure_cases.h"
#include "talus/structure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace talus::physical_cases {

inline StructureBlock unit(Cell cell, bool support = false) { return {cell, 1, 1, support}; }

inline StructureSettings tight(double tolerance = 1e-6) {
    StructureSettings settings;
    settings.gravity = 1;
    settings.tolerance = tolerance;
    return settings;
}

/// A material that holds, unless a test says otherwise.
inline StructureMaterial material(double tension = 1e9, double compression = 1e9, double cohesion = 1e9,
                                  double friction = 0.6) {
    return {1, {tension, compression, cohesion, friction}};
}

/// Blocks from `first` to `last`, both inside, along one axis.
inline void add_row(std::vector<StructureBlock>& blocks, Cell first, Cell last, bool support = false) {
    const Cell d = last - first;
    const int n = std::max({std::abs(d.x), std::abs(d.y), std::abs(d.z)});
    for (int i = 0; i <= n; i++)
        blocks.push_back(unit({first.x + (n ? d.x / n * i : 0), first.y + (n ? d.y / n * i : 0),
                               first.z + (n ? d.z / n * i : 0)},
                              support));
}

/// A solver that has solved; asserts that it stands unless told otherwise.
struct Solved {
    StructureSolver solver{StructureMode::physical};
    StructureReport report;
    StructureSettings settings;
    std::vector<StructureMaterial> materials;

    explicit Solved(const std::vector<StructureBlock>& blocks, StructureSettings with = tight(),
                    StructureMaterial m = material(), std::vector<StructurePin> pins = {},
                    std::vector<StructureLoad> loads = {}, std::vector<BondLimits> limits = {})
        : settings(with), materials{m} {
        solver.set_materials(materials);
        solver.set_pins(pins);
        solver.set_loads(loads);
        solver.set_bond_limits(limits);
        solver.set_blocks(blocks);
        report = solver.solve(settings);
        if (report.verdict != Verdict::stands) return;
        const BalanceCheck check =
            check_balance(blocks, materials, settings, loads, pins, limits, solver.balance());
        EXPECT_LT(check.imbalance, settings.tolerance * 1.01 + 1e-9);
        EXPECT_NEAR(check.base_reaction, check.weight,
                    check.weight * std::min(1e-4, settings.tolerance) + 1e-12);
        EXPECT_NEAR(report.base_reaction, report.weight,
                    report.weight * std::min(1e-4, settings.tolerance) + 1e-12);
        EXPECT_LE(check.max_utilisation, 1 + 1e-6);
    }

    /// What b does to a.
    BondForce on(Cell a, Cell b) const {
        for (const BondState& s : solver.bonds_of(a)) {
            if (s.force.bond == Bond(a, b)) return s.force;
            if (s.force.bond == Bond(b, a)) return {{a, b}, s.force.force * -1.0, s.force.moment * -1.0};
        }
        ADD_FAILURE() << "no bond";
        return {};
    }
    BondState state(Cell a, Cell b) const {
        for (const BondState& s : solver.bonds_of(a))
            if (s.force.bond == Bond(a, b) || s.force.bond == Bond(b, a)) return s;
        ADD_FAILURE() << "no bond";
        return {};
    }
    GroundForce ground(Cell c) const {
        for (const GroundForce& g : solver.balance().ground)
            if (g.cell == c) return g;
        ADD_FAILURE() << "nothing holds that block";
        return {};
    }
};

}  // namespace talus::physical_cases
