// The right answers of physical mode: cases that statics decides by hand. A tolerance says what hides it:
// statically determinate ones are exact to the solver's tolerance, others depend on how stiff blocks are.
#include "physical_cases.h"

namespace talus {
namespace {

using namespace physical_cases;

std::vector<StructureBlock> cantilever(int n, int depth = 1) {
    std::vector<StructureBlock> blocks;
    for (int y = 0; y < depth; y++) {
        blocks.push_back(unit({0, y, 0}, true));
        if (n > 0) add_row(blocks, {1, y, 0}, {n, y, 0});
    }
    return blocks;
}

TEST(PhysicalAnswers, Cantilever) {
    for (const int n : {1, 2, 5, 20, 80, 160}) {
        SCOPED_TRACE(n);
        const Solved s(cantilever(n));
        const BondForce root = s.on({0, 0, 0}, {1, 0, 0});
        EXPECT_NEAR(root.force.y, -n, 2e-5 * n);
        EXPECT_NEAR(root.force.x, 0, 1e-5 * n);
        EXPECT_NEAR(std::fabs(root.moment.z), n * n / 2.0, 2e-5 * n * n);
    }
}

TEST(PhysicalAnswers, CantileverEdgeStressAndReach) {
    for (const int n : {2, 7, 30}) {
        const double edge = 3.0 * n * n;
        const Solved stands(cantilever(n), tight(), material(edge * 1.0001));
        EXPECT_EQ(stands.report.verdict, Verdict::stands);
        EXPECT_NEAR(stands.report.max_utilisation, 1 / 1.0001, 1e-5);
        EXPECT_TRUE(stands.report.worst_bond == Bond(Cell{0, 0, 0}, Cell{1, 0, 0}));
        const Solved falls(cantilever(n), tight(), material(edge * 0.9999));
        EXPECT_EQ(falls.report.verdict, Verdict::falls);
        EXPECT_EQ(falls.report.falling(), std::size_t(n));
        ASSERT_EQ(falls.report.broken_bonds.size(), 1u);
        EXPECT_TRUE(falls.report.broken_bonds[0] == Bond(Cell{0, 0, 0}, Cell{1, 0, 0}));
    }
}

// A deep beam: shear flows through the joints between its layers; away from the root plane sections stay
// plane, and the root's edge stress is near that of one thick beam.
TEST(PhysicalAnswers, DeeperCantileversReachFarther) {
    double last = 0;
    for (const int h : {1, 2, 4, 8}) {
        const int n = 64;
        const Solved s(cantilever(n, h));
        // The moment over the root: of the faces, and of their pull about the middle.
        double moment = 0, shear = 0, edge = 0;
        for (int y = 0; y < h; y++) {
            const BondForce f = s.on({0, y, 0}, {1, y, 0});
            moment += f.moment.z - f.force.x * (y - (h - 1) / 2.0);
            shear += f.force.y;
            edge = std::max(edge, f.force.x + 6 * std::fabs(f.moment.z));
        }
        EXPECT_NEAR(std::fabs(moment), double(h) * n * n / 2, 1e-4 * h * n * n);
        EXPECT_NEAR(shear, -h * n, 1e-4 * h * n);
        EXPECT_NEAR(edge, 3.0 * n * n / h, 0.25 * 3.0 * n * n / h) << h;
        if (last > 0) {
            EXPECT_LT(edge, 0.62 * last);
        }
        last = edge;
    }
}

TEST(PhysicalAnswers, BeamBuiltInAtBothEnds) {
    for (const int n : {4, 11, 24}) {
        std::vector<StructureBlock> blocks = cantilever(n);
        blocks.push_back(unit({n + 1, 0, 0}, true));
        const Solved s(blocks);
        const double end = std::fabs(s.on({0, 0, 0}, {1, 0, 0}).moment.z);
        EXPECT_NEAR(end, n * (n - 1) / 12.0, 1e-4 * n * n);
        if (n % 2 == 0) {
            const double middle = std::fabs(s.on({n / 2, 0, 0}, {n / 2 + 1, 0, 0}).moment.z);
            EXPECT_NEAR(end + middle, n * n / 8.0, 1e-5 * n * n);
        }
    }
}

StructurePin pin_at(Cell c, DVec3 at, bool x = true) { return {c, at, {x, true, true}}; }

// n blocks on edges under their ends. Two pins would leave it free to spin about its own axis: the pins
// stand in pairs across.
std::vector<StructurePin> edge_pins(Cell c, double x, bool hold_x) {
    return {pin_at(c, {x, -0.5, -0.5}, hold_x), pin_at(c, {x, -0.5, 0.5}, hold_x)};
}
std::vector<StructurePin> operator+(std::vector<StructurePin> a, const std::vector<StructurePin>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

TEST(PhysicalAnswers, SimplySupported) {
    for (const int n : {4, 10, 30}) {
        std::vector<StructureBlock> blocks;
        add_row(blocks, {0, 0, 0}, {n - 1, 0, 0});
        const Solved s(blocks, tight(), material(),
                       edge_pins({0, 0, 0}, -0.5, true) + edge_pins({n - 1, 0, 0}, 0.5, false));
        EXPECT_NEAR(s.ground({0, 0, 0}).force.y, n / 2.0, 1e-5 * n);
        EXPECT_NEAR(s.ground({n - 1, 0, 0}).force.y, n / 2.0, 1e-5 * n);
        EXPECT_NEAR(std::fabs(s.on({n / 2 - 1, 0, 0}, {n / 2, 0, 0}).moment.z), n * n / 8.0, 1e-5 * n * n);
    }
}

// Two spans L over three supports: 3/8, 10/8, 3/8 of L when only bending gives way; shear and the give of
// the pins take a little off.
TEST(PhysicalAnswers, TwoEqualSpans) {
    const int L = 40;
    std::vector<StructureBlock> blocks;
    add_row(blocks, {0, 0, 0}, {2 * L - 1, 0, 0});
    std::vector<StructurePin> middle;
    for (const double z : {-0.5, 0.5}) middle.push_back(pin_at({L, 0, 0}, {-0.5, -0.5, z}, false));
    const Solved s(blocks, tight(), material(),
                   edge_pins({0, 0, 0}, -0.5, true) + edge_pins({2 * L - 1, 0, 0}, 0.5, false) + middle);
    const double a = s.ground({0, 0, 0}).force.y, b = s.ground({L, 0, 0}).force.y,
                 c = s.ground({2 * L - 1, 0, 0}).force.y;
    EXPECT_NEAR(a + b + c, 2 * L, 1e-4);
    EXPECT_NEAR(a, c, 1e-4);
    EXPECT_NEAR(a, 0.375 * L, 0.005 * L);
    EXPECT_NEAR(b, 1.25 * L, 0.01 * L);
}

TEST(PhysicalAnswers, PointLoad) {
    const int n = 12;
    std::vector<StructureBlock> blocks;
    add_row(blocks, {0, 0, 0}, {n - 1, 0, 0});
    const auto pins = edge_pins({0, 0, 0}, -0.5, true) + edge_pins({n - 1, 0, 0}, 0.5, false);
    const Solved bare(blocks, tight(), material(), pins);
    for (const int at : {0, 3, 8}) {
        const double P = 50, a = at + 0.5, L = n;
        const Solved s(blocks, tight(), material(), pins, {{{at, 0, 0}, {0, -P, 0}, {}}});
        EXPECT_NEAR(s.ground({0, 0, 0}).force.y - bare.ground({0, 0, 0}).force.y, P * (L - a) / L, 1e-3);
        EXPECT_NEAR(s.ground({n - 1, 0, 0}).force.y - bare.ground({n - 1, 0, 0}).force.y, P * a / L, 1e-3);
    }
}

TEST(PhysicalAnswers, Portal) {
    std::vector<StructureBlock> blocks;
    for (const int x : {0, 10}) {
        blocks.push_back(unit({x, 0, 0}, true));
        add_row(blocks, {x, 1, 0}, {x, 5, 0});
    }
    add_row(blocks, {1, 5, 0}, {9, 5, 0});
    const Solved s(blocks);
    const GroundForce left = s.ground({0, 0, 0}), right = s.ground({10, 0, 0});
    EXPECT_NEAR(left.force.y, 10.5, 1e-5);
    EXPECT_NEAR(right.force.y, 10.5, 1e-5);
    EXPECT_NEAR(left.force.x, -right.force.x, 1e-5);
    EXPECT_GT(left.force.x, 0.5);  // legs are pushed apart, the ground pushes back
}

std::vector<StructureBlock> table(int size, int height) {
    std::vector<StructureBlock> blocks;
    for (const int x : {0, size - 1})
        for (const int z : {0, size - 1}) {
            blocks.push_back(unit({x, 0, z}, true));
            if (height > 1) add_row(blocks, {x, 1, z}, {x, height - 1, z});
        }
    for (int x = 0; x < size; x++)
        for (int z = 0; z < size; z++) blocks.push_back(unit({x, height, z}));
    return blocks;
}

TEST(PhysicalAnswers, Table) {
    const Solved s(table(5, 4));
    for (const int x : {0, 4})
        for (const int z : {0, 4}) EXPECT_NEAR(s.ground({x, 0, z}).force.y, 10.25, 1e-5);
}

// A stiff top: three layers instead of one, and legs long enough to give.
TEST(PhysicalAnswers, TableWithALoadOffCentre) {
    auto blocks = table(5, 12);
    for (int y = 13; y < 16; y++)
        for (int x = 0; x < 5; x++)
            for (int z = 0; z < 5; z++) blocks.push_back(unit({x, y, z}));
    const Solved bare(blocks);
    const double P = 100, s = 4;
    const int x = 1, z = 1;  // off the middle
    const Solved loaded(blocks, tight(), material(), {}, {{{2 + x, 15, 2 + z}, {0, -P, 0}, {}}});
    double added[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const Cell leg{4 * i, 0, 4 * j};
            added[i][j] = loaded.ground(leg).force.y - bare.ground(leg).force.y;
            const double right = 0.25 * (1 + (i ? 2 : -2) * x / s + (j ? 2 : -2) * z / s) * P;
            EXPECT_NEAR(added[i][j], right, 0.05 * P) << i << j;
        }
    EXPECT_NEAR(added[0][0] + added[0][1] + added[1][0] + added[1][1], P, 1e-3);
}

TEST(PhysicalAnswers, Tower) {
    const int N = 50;
    std::vector<StructureBlock> blocks{unit({0, 0, 0}, true)};
    add_row(blocks, {0, 1, 0}, {0, N - 1, 0});
    const Solved s(blocks);
    EXPECT_NEAR(s.ground({0, 0, 0}).force.y, N, 1e-5 * N);
    EXPECT_NEAR(s.report.base_reaction, N, 1e-5 * N);
    for (const int k : {1, 20, 49}) EXPECT_NEAR(s.on({0, k - 1, 0}, {0, k, 0}).force.y, -(N - k), 1e-5 * N);
    // The support never fails; the face on it carries all but the lowest block.
    EXPECT_EQ(Solved(blocks, tight(), material(1e9, N - 0.99)).report.verdict, Verdict::stands);
    EXPECT_EQ(Solved(blocks, tight(), material(1e9, N - 1.01)).report.verdict, Verdict::falls);
}

TEST(PhysicalAnswers, HangingChain) {
    const int n = 12;
    std::vector<StructureBlock> blocks{unit({0, 0, 0}, true)};
    add_row(blocks, {0, -1, 0}, {0, -n, 0});
    const Solved s(blocks);
    for (int k = 1; k <= n; k++)  // the k-th from the bottom carries k
        EXPECT_NEAR(s.on({0, -(n - k), 0}, {0, -(n - k + 1), 0}).force.y, -k, 1e-5 * n);
    EXPECT_EQ(Solved(blocks, tight(), material(n + 0.01)).report.verdict, Verdict::stands);
    const Solved breaks(blocks, tight(), material(n - 0.01));
    EXPECT_EQ(breaks.report.falling(), std::size_t(n));
    EXPECT_EQ(breaks.report.broken_bonds.size(), 1u);
}

TEST(PhysicalAnswers, ColumnWithAnArm) {
    for (const int n : {1, 2, 3}) {
        std::vector<StructureBlock> blocks{unit({0, 0, 0}, true)};
        add_row(blocks, {0, 1, 0}, {0, 5, 0});
        add_row(blocks, {1, 5, 0}, {n, 5, 0});
        const Solved s(blocks);
        const GroundForce base = s.ground({0, 0, 0});
        const double M = n * (n + 1) / 2.0;
        EXPECT_NEAR(base.force.y, 6 + n, 1e-5);
        EXPECT_NEAR(std::fabs(base.moment.z), M, 2e-5);
        // The face above the support: one block less on it, the same moment.
        const BondForce face = s.on({0, 0, 0}, {0, 1, 0});
        EXPECT_NEAR(face.force.y, -(5 + n), 1e-5);
        EXPECT_NEAR(std::fabs(face.moment.z), M, 2e-5);
        const double N = base.force.y;
        if (n == 1) {
            EXPECT_NEAR(N + 6 * M, 13, 1e-4);
            EXPECT_NEAR(N - 6 * M, 1, 1e-4);
        }
        if (n == 2) {
            EXPECT_NEAR(N + 6 * M, 26, 1e-4);
            EXPECT_NEAR(N - 6 * M, -10, 1e-4);
        }
    }
}

TEST(PhysicalAnswers, UnevenMasses) {
    std::vector<StructureBlock> blocks{unit({0, 0, 0}, true), unit({0, 1, 0}), unit({0, 2, 0})};
    blocks[2].mass = 100;
    const Solved s(blocks);
    EXPECT_NEAR(s.ground({0, 0, 0}).force.y, 102, 1e-4);
    EXPECT_NEAR(s.on({0, 1, 0}, {0, 2, 0}).force.y, -100, 1e-4);
}

TEST(PhysicalAnswers, LoadsAddLinearly) {
    cases::Random random(3);
    const auto blocks = table(5, 4);
    const StructureLoad a{{1, 4, 3}, {5, -20, 3}, {1, 2, 3}}, b{{4, 4, 2}, {-3, -7, 9}, {0, 4, -2}};
    const Solved none(blocks), one(blocks, tight(), material(), {}, {a}),
        two(blocks, tight(), material(), {}, {b}), both(blocks, tight(), material(), {}, {a, b});
    const auto n = none.solver.balance().bonds, p = one.solver.balance().bonds,
               q = two.solver.balance().bonds, pq = both.solver.balance().bonds;
    ASSERT_EQ(n.size(), pq.size());
    for (std::size_t i = 0; i < n.size(); i++) {
        EXPECT_NEAR(length(p[i].force + q[i].force - n[i].force - pq[i].force), 0, 1e-4);
        EXPECT_NEAR(length(p[i].moment + q[i].moment - n[i].moment - pq[i].moment), 0, 1e-4);
    }
}

// A long arm on a thin mast: the case in which solvers that stop early leave weight in the air.
TEST(PhysicalAnswers, LongDoubleArmOnAMast) {
    const int n = 80;
    std::vector<StructureBlock> blocks{unit({0, 0, 0}, true)};
    add_row(blocks, {0, 1, 0}, {0, 3, 0});
    add_row(blocks, {1, 3, 0}, {n, 3, 0});
    add_row(blocks, {-1, 3, 0}, {-n, 3, 0});
    const Solved s(blocks);
    EXPECT_NEAR(std::fabs(s.on({0, 3, 0}, {1, 3, 0}).moment.z), n * n / 2.0, 1e-5 * n * n);
    EXPECT_NEAR(s.report.base_reaction, 2 * n + 4, 1e-6 * (2 * n + 4));
}

}  // namespace
}  // namespace talus
