// A re-check asks for no memory.
#include "count_allocations.h"
#include "structure/load_engine.h"
#include "structure_cases.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

namespace talus::cases {
std::atomic<long> allocations{0};
}  // namespace talus::cases

// Not inline, or the compiler takes free() for the wrong end of a new.
[[gnu::noinline]] void* operator new(std::size_t size) {
    talus::cases::allocations++;
    if (void* p = std::malloc(size ? size : 1)) return p;
    std::abort();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t align) {
    talus::cases::allocations++;
    const std::size_t a = std::size_t(align);
    if (void* p = std::aligned_alloc(a, (size + a - 1) / a * a)) return p;
    std::abort();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace talus {
namespace {

std::vector<int> kept;

TEST(Allocation, IsCounted) {
    const long before = cases::allocations;
    std::vector<int>(1).swap(kept);
    EXPECT_EQ(cases::allocations - before, 1);
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
            EXPECT_EQ(cases::allocations, before) << i;
            counted++;
        }
        at_rest = report.broken_bonds.empty();
    };
    for (int i = 0; i < 600; i++) {
        const StructureBlock b = blocks[std::size_t(random.below(int(blocks.size())))];
        if (b.support) continue;
        long before = cases::allocations;
        solver.remove_block(b.cell);
        solve(before, i);
        before = cases::allocations;
        solver.place_block(b);
        solve(before, i);
        StructureBlock more = b;  // on the roof
        more.cell.y = blocks.back().cell.y + 1;
        solver.place_block(more);
        solve(cases::allocations, i);
        solver.remove_block(more.cell);
        solve(cases::allocations, i);
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
        const long before = cases::allocations;
        solver.refine();
        EXPECT_TRUE(cases::allocations == before || edit < 2) << edit;
        solver.place_block(b);
        solver.solve();
    }
}

}  // namespace
}  // namespace talus
