// Dry joints: masonry that holds by thrust and friction alone.
#include "physical_cases.h"

namespace talus {
namespace {

using namespace physical_cases;

StructureSettings dry(double tolerance = 1e-3) {
    StructureSettings settings = tight(tolerance);
    settings.no_tension = true;
    return settings;
}

TEST(PhysicalDry, ColumnStandsOnTheGround) {
    std::vector<StructureBlock> blocks{unit({0, 0, 0}, true)};
    add_row(blocks, {0, 1, 0}, {0, 9, 0});
    const Solved s(blocks, dry(1e-6));
    EXPECT_EQ(s.report.verdict, Verdict::stands);
    EXPECT_NEAR(s.ground({0, 0, 0}).force.y, 10, 1e-4);
}

// The arm's weight at e = M/N: 1 of 7 stands (e = 1/7), 2 of 8 (3/8) too if the arm itself could hold; but an
// arm of dry blocks cannot hang in the air.
TEST(PhysicalDry, AnArmFallsOff) {
    std::vector<StructureBlock> blocks{unit({0, 0, 0}, true)};
    add_row(blocks, {0, 1, 0}, {0, 5, 0});
    blocks.push_back(unit({1, 5, 0}));
    const Solved s(blocks, dry());
    EXPECT_EQ(s.report.verdict, Verdict::falls);
    EXPECT_EQ(s.report.falling(), 1u);
    ASSERT_EQ(s.report.parts.size(), 1u);
    EXPECT_EQ(s.report.parts[0][0], (Cell{1, 5, 0}));
}

// A block of one piece on a narrow foot: tips when its centre is beyond the edge.
TEST(PhysicalDry, Tips) {
    for (const int n : {0, 1, 2}) {
        // A beam whose blocks hold together, on one dry joint: its centre is n/2 off the middle.
        std::vector<StructureBlock> blocks{unit({0, 0, 0}, true)};
        add_row(blocks, {0, 1, 0}, {n, 1, 0});
        const Solved s(blocks, tight(1e-4), material(), {}, {}, {{{{0, 0, 0}, {0, 1, 0}}, {0, 1e9, 0, 0.6}}});
        EXPECT_EQ(s.report.verdict, n < 2 ? Verdict::stands : Verdict::falls) << n;
    }
}

// Bricks of `length` blocks in courses, each a shift further out than the one below; dry between courses.
Solved bricks(int length, const std::vector<int>& shifts, double tolerance) {
    std::vector<StructureBlock> blocks;
    std::vector<BondLimits> limits;
    int x = 0;
    const int courses = int(shifts.size()) + 1;
    int before = 0;
    for (int c = 0; c < courses; c++) {
        if (c > 0) x += shifts[std::size_t(c) - 1];
        for (int i = 0; i < length; i++) {
            const Cell cell{x + i, c, 0};
            blocks.push_back(unit(cell, c == 0));
            if (c > 0 && x + i >= before && x + i < before + length)
                limits.push_back({{{x + i, c - 1, 0}, cell}, {0, 1e9, 0, 0.6}});
        }
        before = x;
    }
    return Solved(blocks, tight(tolerance), material(), {}, {}, limits);
}

TEST(PhysicalDry, BricksThatLeanOut) {
    // Offsets from the top 3, 2, 1, 1 stand; 4, 3, 1, 1 tip.
    EXPECT_EQ(bricks(8, {1, 1, 2, 3}, 1e-3).report.verdict, Verdict::stands);
    EXPECT_EQ(bricks(8, {1, 1, 3, 4}, 1e-3).report.verdict, Verdict::falls);
}

// m bricks above a joint stand while (m + 1) s <= l; here short of and beyond equality.
TEST(PhysicalDry, Corbel) {
    EXPECT_EQ(bricks(8, {2, 2}, 1e-3).report.verdict, Verdict::stands);           // 3 x 2 < 8
    EXPECT_EQ(bricks(8, {2, 2, 2, 2}, 1e-3).report.verdict, Verdict::falls);      // 5 x 2 > 8
    EXPECT_EQ(bricks(8, {1, 1, 1, 1, 1}, 1e-3).report.verdict, Verdict::stands);  // 6 x 1 < 8
    // At equality it just stands: whatever is found in the budget, it is no proof that it falls.
    EXPECT_NE(bricks(8, {2, 2, 2}, 1e-3).report.verdict, Verdict::falls);
}

// Blocks wedged between two walls: a flat arch. Its thrust is at least L^2/8 for a rise of 1, and it stands
// as long as friction holds its ends.
void flat_arch(int L) {
    std::vector<StructureBlock> blocks;
    for (int y = 0; y < 3; y++)
        for (const int x : {-3, -2, -1, L, L + 1, L + 2}) blocks.push_back(unit({x, y, 0}, true));
    add_row(blocks, {0, 2, 0}, {L - 1, 2, 0});
    const Solved s(blocks, dry(1e-3), material(0, 1e9, 0, 0.8));
    ASSERT_EQ(s.report.verdict, Verdict::stands);
    EXPECT_GE(-s.on({-1, 2, 0}, {0, 2, 0}).force.x, L * L / 8.0 - 0.1);
    for (int x = -1; x < L; x++) EXPECT_LE(s.state({x, 2, 0}, {x + 1, 2, 0}).utilisation, 1 + 1e-6);
    // Without friction nothing carries the ends down.
    const Solved slippery(blocks, dry(1e-3), material(0, 1e9, 0, 0));
    EXPECT_EQ(slippery.report.verdict, Verdict::falls);
    EXPECT_EQ(slippery.report.falling(), std::size_t(L));
}
TEST(PhysicalDry, FlatArchStandsByThrust) {
    flat_arch(6);
    flat_arch(14);  // its thrust is twice its weight
}

// A stepped arch over an opening on abutments of dry stone; with thin abutments it pushes them over.
std::vector<StructureBlock> arch(int abutment) {
    std::vector<StructureBlock> blocks;
    const int L = 6;
    for (int y = 0; y < 5; y++)
        for (int k = 1; k <= abutment; k++)
            for (const int x : {-k, L - 1 + k}) blocks.push_back(unit({x, y, 0}, y == 0));
    for (int y = 3; y < 5; y++) add_row(blocks, {0, y, 0}, {L - 1, y, 0});
    return blocks;
}

TEST(PhysicalDry, AbutmentsMustHoldTheThrust) {
    EXPECT_EQ(Solved(arch(8), dry(1e-2), material(0, 1e9, 0, 0.8)).report.verdict, Verdict::stands);
    EXPECT_EQ(Solved(arch(1), dry(1e-2), material(0, 1e9, 0, 0.8)).report.verdict, Verdict::falls);
}

// It stands by thrust against its buttress: three of eight are enough, two are pushed over.
TEST(PhysicalDry, AnArchFallsWhenItsButtressGoes) {
    for (const int left : {3, 2, 1, 0}) {
        StructureSolver solver(StructureMode::physical);
        const StructureMaterial stone = material(0, 1e9, 0, 0.8);
        solver.set_materials({&stone, 1});
        solver.set_blocks(arch(8));
        ASSERT_EQ(solver.solve(dry(1e-2)).verdict, Verdict::stands);
        for (int y = 0; y < 5; y++)
            for (int k = left + 1; k <= 8; k++) ASSERT_TRUE(solver.remove_block({-k, y, 0}));
        const StructureReport report = solver.solve(dry(1e-2));
        EXPECT_EQ(report.verdict, left == 3 ? Verdict::stands : Verdict::falls) << left;
        EXPECT_TRUE(report.settled);
        if (left < 3) {
            EXPECT_GE(report.falling(), 12u);  // the arch itself
        }
    }
}

TEST(PhysicalDry, PyramidStands) {
    std::vector<StructureBlock> blocks;
    for (int y = 0; y < 6; y++)
        for (int x = y; x < 12 - y; x++)
            for (int z = y; z < 12 - y; z++) blocks.push_back(unit({x, y, z}, y == 0));
    EXPECT_EQ(Solved(blocks, dry(0.02)).report.verdict, Verdict::stands);
}

TEST(PhysicalDry, SpentBudgetIsUndecided) {
    StructureSettings settings = dry(1e-6);
    settings.max_thrusts = 1;
    EXPECT_EQ(Solved(arch(6), settings, material(0, 1e9, 0, 0.8)).report.verdict, Verdict::undecided);
}

}  // namespace
}  // namespace talus
