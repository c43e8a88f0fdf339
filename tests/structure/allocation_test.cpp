// A re-check asks for no memory.
#include "structure/load_engine.h"
#include "structure_cases.h"
#include "tests/counting_new.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

std::vector<int> kept;

TEST(Allocation, IsCounted) {
    const long before = allocations_asked;
    std::vector<int>(1).swap(kept);
    EXPECT_EQ(allocations_asked - before, 1);
}

// Removing and putting back, from the first edit on. A new place may need room, the re-check after it not.
void load_mode(const std::vector<StructureBlock>& blocks) {
    StructureSolver solver;
    solver.set_blocks(blocks);
    ASSERT_EQ(solver.solve().verdict, Verdict::stands);
    cases::Random random(4);
    int counted = 0;
    bool at_rest = true;  // nothing broke in the last solve: the next one is a re-check
    const auto solve = [&](long before, int i) {
        const StructureReport report = solver.solve();
        const bool quiet = report.verdict == Verdict::stands && report.broken_bonds.empty();
        if (quiet && at_rest) {
            EXPECT_EQ(allocations_asked, before) << i;
            counted++;
        }
        at_rest = report.broken_bonds.empty();
    };
    for (int i = 0; i < 600; i++) {
        const StructureBlock b = blocks[std::size_t(random.below(int(blocks.size())))];
        if (b.support) continue;
        long before = allocations_asked;
        solver.remove_block(b.cell);
        solve(before, i);
        before = allocations_asked;
        solver.place_block(b);
        solve(before, i);
        StructureBlock more = b;  // on the roof
        more.cell.y = blocks.back().cell.y + 1;
        solver.place_block(more);
        solve(allocations_asked, i);
        solver.remove_block(more.cell);
        solve(allocations_asked, i);
    }
    EXPECT_GT(counted, 1000);
}

TEST(Allocation, LoadModeOfABuilding) { load_mode(cases::building(30)); }
TEST(Allocation, LoadModeOfAHall) { load_mode(cases::hall({32, 32, 32})); }
TEST(Allocation, LoadModeOfAViaduct) { load_mode(cases::viaduct({122, 72, 1})); }

// Local re-solves are counted in physical_edit_test.cpp; this is what a host does between them.
TEST(Allocation, RefiningInPhysicalMode) {
    const auto blocks = cases::building(22);
    StructureSolver solver(StructureMode::physical);
    solver.set_blocks(blocks);
    solver.solve();
    cases::Random random(2);
    for (int edit = 0; edit < 20; edit++) {
        const StructureBlock b = blocks[std::size_t(random.below(int(blocks.size())))];
        if (b.support) continue;
        solver.remove_block(b.cell);
        solver.solve();
        const long before = allocations_asked;
        solver.refine();
        EXPECT_TRUE(allocations_asked == before || edit < 2) << edit;
        solver.place_block(b);
        solver.solve();
    }
}

}  // namespace
}  // namespace talus
