// Physical mode: what breaks and what falls, dry joints, landing, what the solver tells.
#include "physical_cases.h"

#include "structure/physical_failure.h"

namespace talus {
namespace {

using namespace physical_cases;

// Eccentricity M/N: beyond 1/6 one edge is pulled; beyond 1/2 a dry joint tips.
TEST(PhysicalFailure, Eccentricity) {
    const StructureLimits limits = material(0.5, 1e6, 1e6).limits;
    const auto at = [&](double e, bool dry) {
        return physical::strain_of(limits, {{-10, 0, 0, 0, 10 * e, 0}}, dry);
    };
    EXPECT_LT(at(0.16, false).share, 1e-3);
    EXPECT_EQ(at(0.2, false).kind, FailureKind::tension);
    EXPECT_NEAR(at(0.2, false).share, (60 * 0.2 - 10) / 1, 1e-9);  // the least limit is 1 Pa
    EXPECT_LT(at(0.49, true).share, 1);
    EXPECT_GT(at(0.51, true).share, 1);
}

TEST(PhysicalFailure, ShearAndTorsion) {
    StructureLimits limits{1e9, 1e9, 100, 0.5};
    const auto at = [&](physical::Local6 f) { return physical::strain_of(limits, f, false); };
    EXPECT_NEAR(at({{0, 30, 40, 0, 0, 0}}).share, 0.5, 1e-12);
    EXPECT_EQ(at({{0, 30, 40, 0, 0, 0}}).kind, FailureKind::shear);
    EXPECT_NEAR(at({{-200, 30, 40, 0, 0, 0}}).share, 0.25, 1e-12);  // friction adds to cohesion
    EXPECT_NEAR(at({{200, 30, 40, 0, 0, 0}}).share, 0.5, 1e-12);    // a pull takes nothing off
    EXPECT_NEAR(at({{0, 0, 0, 20.8, 0, 0}}).share, 1, 1e-12);
    EXPECT_EQ(at({{0, 0, 0, 20.8, 0, 0}}).kind, FailureKind::torsion);
}

// The nearest thrust: inside its bounds, a fixed point, and no other thrust is nearer.
TEST(PhysicalFailure, NearestThrust) {
    cases::Random random(2);
    const double mu = 0.6;
    const auto inside = [&](const physical::Local6& f) {
        const double n = -f.v[0] + 1e-9;
        return n >= 0 && std::fabs(f.v[4]) <= n / 2 + 1e-9 && std::fabs(f.v[5]) <= n / 2 + 1e-9 &&
               std::hypot(f.v[1], f.v[2]) <= mu * n + 1e-9 && std::fabs(f.v[3]) <= mu / 3 * n + 1e-9;
    };
    const auto distance = [](const physical::Local6& a, const physical::Local6& b) {
        double sum = 0;
        for (int k = 0; k < 6; k++) sum += (a.v[k] - b.v[k]) * (a.v[k] - b.v[k]) / physical::kSpring[k];
        return sum;
    };
    for (int round = 0; round < 2000; round++) {
        physical::Local6 f;
        for (double& v : f.v) v = random.between(-5, 5);
        const physical::Local6 p = physical::nearest_thrust(f, mu);
        EXPECT_TRUE(inside(p));
        EXPECT_NEAR(distance(p, physical::nearest_thrust(p, mu)), 0, 1e-18);
        for (int k = 0; k < 30; k++) {
            physical::Local6 other = p;
            for (double& v : other.v) v += random.between(-0.3, 0.3) * (k % 3 == 0 ? 0.01 : 1);
            other = physical::nearest_thrust(other, mu);
            EXPECT_GE(distance(f, other), distance(f, p) - 1e-9);
        }
    }
}

TEST(PhysicalFailure, NothingToStandOn) {
    const Solved none(std::vector<StructureBlock>{unit({0, 0, 0})});
    EXPECT_EQ(none.report.verdict, Verdict::unsupported);
    const Solved empty(std::vector<StructureBlock>{});
    EXPECT_EQ(empty.report.verdict, Verdict::unsupported);
}

TEST(PhysicalFailure, WhatIsNotJoinedFalls) {
    std::vector<StructureBlock> blocks{unit({0, 0, 0}, true), unit({0, 1, 0}), unit({5, 5, 5}),
                                       unit({6, 5, 5})};
    const Solved s(blocks);
    EXPECT_EQ(s.report.verdict, Verdict::falls);
    ASSERT_EQ(s.report.parts.size(), 1u);
    EXPECT_EQ(s.report.parts[0], (std::vector<Cell>{{5, 5, 5}, {6, 5, 5}}));
    EXPECT_TRUE(s.report.broken_bonds.empty());
    EXPECT_NEAR(s.report.weight, 2, 1e-12);  // of what is joined
}

// A bridge that loses a pier: the rest cannot span, breaks at its roots and takes nothing else along.
TEST(PhysicalFailure, BridgeWithoutItsPier) {
    std::vector<StructureBlock> blocks;
    for (const int x : {0, 10, 20}) {
        blocks.push_back(unit({x, 0, 0}, true));
        add_row(blocks, {x, 1, 0}, {x, 3, 0});
    }
    add_row(blocks, {0, 4, 0}, {20, 4, 0});
    const StructureMaterial m = material(80, 1e6, 1e6);
    Solved s(blocks, tight(), m);
    EXPECT_EQ(s.report.verdict, Verdict::stands);
    EXPECT_TRUE(s.solver.remove_block({10, 1, 0}));
    EXPECT_FALSE(s.solver.remove_block({10, 1, 0}));
    const StructureReport r = s.solver.solve(s.settings);
    EXPECT_EQ(r.verdict, Verdict::falls);
    EXPECT_GT(r.falling(), 15u);
    // Placed again, all is as before.
    s.solver.place_block(unit({10, 1, 0}));
    const StructureReport again = s.solver.solve(s.settings);
    EXPECT_EQ(again.verdict, Verdict::stands);
    EXPECT_NEAR(again.max_utilisation, s.report.max_utilisation, 1e-5);
}

// What breaks off lands on a shelf that holds itself, but not that.
TEST(PhysicalFailure, FallenPartsLoadWhatTheyLandOn) {
    std::vector<StructureBlock> blocks{unit({0, 0, 0}, true)};
    add_row(blocks, {0, 1, 0}, {0, 8, 0});
    add_row(blocks, {1, 3, 0}, {3, 3, 0});  // shelf: edge stress 27
    add_row(blocks, {1, 4, 0}, {3, 4, 0});  // lies on it, joined to nothing: cut from the column below
    blocks[blocks.size() - 1].mass = 40;
    std::vector<BondLimits> limits;
    limits.push_back({{{0, 4, 0}, {1, 4, 0}}, {1, 1e6, 1, 0.6}});
    for (int x = 1; x <= 3; x++) limits.push_back({{{x, 3, 0}, {x, 4, 0}}, {1, 0, 1, 0}});
    limits.push_back({{{0, 3, 0}, {1, 3, 0}}, {200, 1e6, 1e6, 0.6}});
    const Solved s(blocks, tight(), material(2000, 1e6, 1e6), {}, {}, limits);
    EXPECT_EQ(s.report.verdict, Verdict::falls);
    EXPECT_EQ(s.report.falling(), 6u);  // the shelf too: 42 in thirds at 0.5, 1.5, 2.5 from its root is 378
    // With a lighter load the shelf holds.
    blocks[blocks.size() - 1].mass = 1;
    const Solved light(blocks, tight(), material(2000, 1e6, 1e6), {}, {}, limits);
    EXPECT_EQ(light.report.falling(), 3u);
}

TEST(PhysicalFailure, LimitsOfASingleBond) {
    std::vector<StructureBlock> blocks{unit({0, 0, 0}, true)};
    add_row(blocks, {0, -1, 0}, {0, -6, 0});
    const Bond weak{{0, -3, 0}, {0, -4, 0}};
    const Solved s(blocks, tight(), material(), {}, {}, {{weak, {2.9, 1e6, 1e6, 0.6}}});
    EXPECT_EQ(s.report.falling(), 3u);
    ASSERT_EQ(s.report.broken_bonds.size(), 1u);
    EXPECT_EQ(s.report.broken_bonds[0], Bond(weak.second, weak.first));
    EXPECT_EQ(Solved(blocks, tight(), material(), {}, {}, {{weak, {3.1, 1e6, 1e6, 0.6}}}).report.verdict,
              Verdict::stands);
}

TEST(PhysicalFailure, BlocksAtTheEndsOfTheWorld) {
    constexpr int kEnd = 2147483647;
    std::vector<StructureBlock> blocks;
    for (const Cell at : {Cell{0, 0, 0}, Cell{kEnd, -5, -kEnd - 1}, Cell{-kEnd - 1, kEnd - 3, 7}}) {
        blocks.push_back(unit(at, true));
        for (int i = 1; i <= 3; i++) blocks.push_back(unit(at + Cell{0, i, 0}));
    }
    Solved s(blocks);
    EXPECT_EQ(s.report.verdict, Verdict::stands);
    EXPECT_NEAR(s.ground({kEnd, -5, -kEnd - 1}).force.y, 4, 1e-4);
    EXPECT_FALSE(s.solver.remove_block({kEnd, 100, 100}));
    EXPECT_TRUE(s.solver.remove_block({kEnd, -4, -kEnd - 1}));
    const StructureReport r = s.solver.solve(s.settings);
    ASSERT_EQ(r.parts.size(), 1u);
    EXPECT_EQ(r.parts[0], (std::vector<Cell>{{kEnd, -3, -kEnd - 1}, {kEnd, -2, -kEnd - 1}}));
    s.solver.place_block(unit({-7, -7, -7}, true));  // a coordinate that was not there
    EXPECT_EQ(s.solver.solve(s.settings).supports, 4u);
}

TEST(PhysicalFailure, LargestAddedLoad) {
    // A cantilever of 5 with room for an edge stress of 135: 3 n^2 = 75 is there, 6 P x 4.5 may come.
    std::vector<StructureBlock> blocks{unit({0, 0, 0}, true)};
    add_row(blocks, {1, 0, 0}, {5, 0, 0});
    Solved s(blocks, tight(), material(135));
    EXPECT_NEAR(s.solver.largest_added_load({5, 0, 0}), 60 / 6.0 / 4.5, 1e-3);
    EXPECT_NEAR(s.solver.largest_added_load({1, 0, 0}), 60 / 6.0 / 0.5, 1e-2);
    EXPECT_EQ(s.solver.largest_added_load({9, 0, 0}), 0);
    // And the balance is as it was.
    EXPECT_NEAR(s.on({0, 0, 0}, {1, 0, 0}).force.y, -5, 1e-4);
}

TEST(PhysicalFailure, SaysWhatABlockHangsOn) {
    std::vector<StructureBlock> blocks{unit({0, 0, 0}, true)};
    add_row(blocks, {1, 0, 0}, {5, 0, 0});
    const Solved s(blocks, tight(), material(100));
    const auto bonds = s.solver.bonds_of({3, 0, 0});
    ASSERT_EQ(bonds.size(), 2u);
    EXPECT_NEAR(bonds[0].force.force.y, -3, 1e-4);  // its root side: three blocks pull down
    EXPECT_EQ(bonds[0].kind, FailureKind::tension);
    EXPECT_NEAR(bonds[0].utilisation, 27 / 100.0, 1e-4);
}

TEST(PhysicalFailure, TheCheckerSeesWhatIsWrong) {
    std::vector<StructureBlock> blocks{unit({0, 0, 0}, true)};
    add_row(blocks, {0, 1, 0}, {0, 5, 0});
    const Solved s(blocks);
    const StructureBalance good = s.solver.balance();
    const auto check = [&](const StructureBalance& b) {
        return check_balance(blocks, s.materials, s.settings, {}, {}, {}, b);
    };
    EXPECT_LT(check(good).imbalance, 2e-6);
    StructureBalance bad = good;
    bad.bonds[2].force.y += 0.5;
    EXPECT_NEAR(check(bad).imbalance, 0.5, 1e-5);
    bad = good;
    bad.bonds[2].moment.x += 0.25;
    EXPECT_NEAR(check(bad).imbalance, 0.25, 1e-5);
    bad = good;
    bad.ground.push_back({{0, 3, 0}, {0, 1, 0}, {}});  // held from outside where nothing is
    EXPECT_GT(check(bad).imbalance, 1e100);
    bad = good;
    bad.bonds.push_back({{{0, 5, 0}, {0, 6, 0}}, {}, {}});
    EXPECT_GT(check(bad).imbalance, 1e100);
}

// The true share lies within the bounds, whatever was spent, and they close in on it.
TEST(PhysicalFailure, BudgetSpentIsUndecidedWithBounds) {
    std::vector<StructureBlock> cantilevers;  // of several lengths
    for (int z = 0; z < 8; z++) {
        cantilevers.push_back(cases::stone({0, 0, z}, true));
        for (int x = 1; x < 40; x++)
            if (x < 5 * z + 2 || z == 5) cantilevers.push_back(cases::stone({x, 0, z}));
    }
    for (const auto& blocks : {cases::building(14), cases::hall({16, 24, 16}), cantilevers}) {
        const auto solve = [&](int iterations, double tolerance) {
            StructureSettings settings;
            settings.tolerance = tolerance;
            settings.limit_factor = 1000;  // what is looked at is the first balance
            settings.max_iterations = iterations;
            StructureSolver solver(StructureMode::physical);
            solver.set_blocks(blocks);
            return solver.solve(settings);
        };
        const StructureReport right = solve(400, 1e-6);
        ASSERT_EQ(right.verdict, Verdict::stands);
        EXPECT_EQ(right.least_utilisation, right.max_utilisation);
        EXPECT_EQ(right.most_utilisation, right.max_utilisation);
        double last = kUnbounded;
        int undecided = 0;
        for (int iterations = 1; iterations < 40; iterations += 3) {
            const StructureReport r = solve(iterations, 1e-6);
            if (r.verdict == Verdict::stands) break;
            ASSERT_EQ(r.verdict, Verdict::undecided);
            undecided++;
            EXPECT_FALSE(r.settled);
            EXPECT_GT(r.imbalance, 1e-6);
            EXPECT_EQ(r.all_iterations, std::uint32_t(iterations));
            EXPECT_LE(r.least_utilisation, right.max_utilisation * (1 + 1e-6));
            EXPECT_GE(r.most_utilisation, right.max_utilisation * (1 - 1e-6));
            EXPECT_LT(r.most_utilisation - r.least_utilisation, last);
            last = r.most_utilisation - r.least_utilisation;
        }
        EXPECT_GT(undecided, 2);
        EXPECT_LT(last, 0.02 * right.max_utilisation);
    }
}

TEST(PhysicalFailure, NothingIsProvenOfDryJoints) {
    StructureSettings settings;
    settings.no_tension = true;
    settings.max_iterations = 1;
    StructureSolver solver(StructureMode::physical);
    solver.set_blocks(cases::building(14));
    const StructureReport r = solver.solve(settings);
    ASSERT_EQ(r.verdict, Verdict::undecided);
    EXPECT_EQ(r.least_utilisation, 0);
    EXPECT_EQ(r.most_utilisation, kUnbounded);
}

TEST(PhysicalFailure, Cancel) {
    StructureSolver solver(StructureMode::physical);
    solver.set_blocks(cases::building(10));
    EXPECT_EQ(solver.solve({}, [](void*, std::uint32_t) { return false; }).verdict, Verdict::unsupported);
}

}  // namespace
}  // namespace talus
