// Edits that are solved again around them: the answer of a solve from nothing, without drift, in the same
// bits for every copy, and without allocating.
#include "physical_cases.h"
#include "tests/allocations.h"

#include <string>

namespace talus {
namespace {

using namespace physical_cases;

StructureReport from_nothing(const std::vector<StructureBlock>& blocks, double tolerance) {
    StructureSolver cold(StructureMode::physical);
    cold.set_blocks(blocks);
    StructureSettings settings;
    settings.tolerance = tolerance;
    return cold.solve(settings);
}

// A thousand edits in a row: the largest stress and the base reaction stay those of a solve from nothing.
void no_drift(const std::vector<StructureBlock>& blocks, int edits, int look) {
    cases::Editor editor{blocks, {}, cases::Random(8)};
    StructureSolver warm(StructureMode::physical);
    warm.set_blocks(editor.blocks);
    warm.solve();
    int local = 0, looked = 0;
    for (int edit = 0; edit < edits; edit++) {
        EXPECT_TRUE(editor.edit(warm));
        const StructureReport report = warm.solve();
        local += report.local_blocks > 0;
        if (report.local_blocks) {
            EXPECT_LE(report.imbalance, 0.5);
            EXPECT_NEAR(report.base_reaction, report.weight, 1e-3 * report.weight);
        }
        if (edit % 10 == 9) warm.refine();  // a host does that in the background
        if (edit % look != look - 1) continue;
        looked++;
        const StructureReport now = warm.solve(), right = from_nothing(editor.blocks, 1e-3);
        EXPECT_EQ(now.verdict, right.verdict);
        EXPECT_EQ(now.parts, right.parts);
        EXPECT_EQ(now.supports, right.supports);
        EXPECT_NEAR(now.max_utilisation, right.max_utilisation, 0.005 * right.max_utilisation) << edit;
        EXPECT_NEAR(now.base_reaction, right.weight, 1e-3 * right.weight);
        if (now.verdict != Verdict::stands) continue;
        const BalanceCheck check =
            check_balance(editor.blocks, {{StructureMaterial{}}}, {}, {}, {}, {}, warm.balance());
        EXPECT_LT(check.imbalance, 0.5);
        EXPECT_NEAR(check.max_utilisation, now.max_utilisation, 1e-6 * now.max_utilisation);
    }
    EXPECT_GT(local, edits / 4);
    EXPECT_GT(looked, 1);
}

TEST(PhysicalEdit, BuildingDoesNotDrift) { no_drift(cases::building(17), 1000, 50); }
TEST(PhysicalEdit, HallDoesNotDrift) { no_drift(cases::hall({24, 24, 24}), 400, 50); }

// The same at the size that speed is measured at; TALUS_SOAK=1, some minutes.
TEST(PhysicalEdit, LargeBuildingDoesNotDrift) {
    if (!std::getenv("TALUS_SOAK")) GTEST_SKIP() << "a soak: set TALUS_SOAK=1";
    no_drift(cases::building(59), 1000, 250);
    no_drift(cases::hall({72, 72, 72}), 1000, 250);
}

// Without anything in the background the slack is never passed.
TEST(PhysicalEdit, SlackHoldsWithoutRefining) {
    cases::Editor editor{cases::building(17), {}, cases::Random(3)};
    StructureSolver warm(StructureMode::physical);
    warm.set_blocks(editor.blocks);
    warm.solve();
    for (int edit = 0; edit < 300; edit++) {
        EXPECT_TRUE(editor.edit(warm));
        const StructureReport report = warm.solve();
        EXPECT_LE(report.imbalance, 0.5);
        EXPECT_NEAR(report.base_reaction, report.weight, 1e-3 * report.weight);
    }
    EXPECT_TRUE(warm.refine(40));
    const StructureReport report = warm.solve(), right = from_nothing(editor.blocks, 1e-3);
    EXPECT_LE(report.imbalance, 0.05);
    EXPECT_NEAR(report.max_utilisation, right.max_utilisation, 0.005 * right.max_utilisation);
}

// With a slack of 1 a local answer is as good as one from nothing.
TEST(PhysicalEdit, TightSlack) {
    cases::Editor editor{cases::building(17), {}, cases::Random(5)};
    StructureSolver warm(StructureMode::physical);
    warm.set_blocks(editor.blocks);
    StructureSettings settings;
    settings.local_slack = 1;
    warm.solve(settings);
    for (int edit = 0; edit < 60; edit++) {
        EXPECT_TRUE(editor.edit(warm));
        const StructureReport report = warm.solve(settings);
        if (report.verdict != Verdict::stands) continue;
        EXPECT_LE(report.imbalance, 0.05);
        EXPECT_NEAR(report.base_reaction, report.weight, 1e-4 * report.weight);
    }
}

TEST(PhysicalEdit, NoAllocationInARecheck) {
    const auto blocks = cases::building(22);
    StructureSolver solver(StructureMode::physical);
    solver.set_blocks(blocks);
    solver.solve();
    cases::Random random(2);
    int local = 0;
    for (int edit = 0; edit < 40; edit++) {
        const StructureBlock b = blocks[std::size_t(random.below(int(blocks.size())))];
        if (b.support) continue;
        for (const bool out : {true, false}) {
            const long before = allocations_asked;
            if (out)
                solver.remove_block(b.cell);
            else
                solver.place_block(b);
            const StructureReport report = solver.solve();
            const long made = allocations_asked - before;
            EXPECT_EQ(report.verdict, Verdict::stands);
            if (!report.local_blocks) continue;
            local++;
            EXPECT_TRUE(made == 0 || edit < 4) << edit;  // the first ones may size their lists
        }
    }
    EXPECT_GT(local, 20);
}

// Turned, moved, reordered and mirrored copies, edited alike, give the same bits. (Of a build that is no
// mirror image of itself: else which of its frames is taken is open, and edits tell them apart.)
TEST(PhysicalEdit, CopiesEditedAlike) {
    auto blocks = cases::building(17);
    std::erase_if(blocks, [](const StructureBlock& b) {
        return b.cell == Cell{2, 5, 0} || b.cell == Cell{0, 9, 7};
    });
    const Cell cells[] = {{4, 11, 5}, {0, 6, 9}, {8, 2, 8}, {12, 15, 3}, {3, 7, 3}};
    const auto answers = [&](const cases::Turn& turn) {
        auto copy = cases::turned(blocks, turn);
        cases::Random random(9);
        cases::shuffle(copy, random);
        StructureSettings settings;
        settings.up = turn(Axis::pos_y);
        StructureSolver solver(StructureMode::physical);
        solver.set_blocks(copy);
        std::vector<double> out{solver.solve(settings).max_utilisation};
        for (const Cell c : cells) {
            solver.remove_block(turn(c));
            const StructureReport r = solver.solve(settings);
            out.insert(out.end(), {r.max_utilisation, r.base_reaction, r.imbalance, double(r.local_blocks)});
        }
        return out;
    };
    const auto right = answers(cases::Turn{{0, 1, 2}, {}, {}});
    for (cases::Turn turn : cases::all_turns()) {
        turn.offset = {37, -500, 12};
        EXPECT_EQ(answers(turn), right);
    }
}

// Blocks where there were none: the brick gets room, and the answer is that of a solve from nothing.
TEST(PhysicalEdit, BlocksInNewPlaces) {
    std::vector<StructureBlock> blocks = cases::building(12);
    StructureSolver solver(StructureMode::physical);
    solver.set_blocks(blocks);
    solver.solve();
    const auto put = [&](Cell c, bool support = false) {
        blocks.push_back(cases::stone(c, support));
        solver.place_block(blocks.back());
        const StructureReport report = solver.solve(), right = from_nothing(blocks, 0.05);
        EXPECT_EQ(report.verdict, right.verdict);
        EXPECT_EQ(report.parts, right.parts);
        EXPECT_EQ(report.supports, right.supports);
        EXPECT_NEAR(report.max_utilisation, right.max_utilisation, 0.02 * right.max_utilisation);
        EXPECT_NEAR(report.base_reaction, right.weight, 1e-3 * right.weight);
    };
    for (int i = 1; i < 7; i++) put({-i, 3, 5});  // an arm out of the wall, into other bricks
    put({-6, 2, 5});
    for (int y = 0; y < 2; y++) put({-6, y, 5}, y == 0);  // a support first, then what closes the gap
    put({30, 9, 30});                                     // joined to nothing: falls
    EXPECT_TRUE(solver.remove_block({30, 9, 30}));
    blocks.pop_back();
    put({0, 12, 0});
}

// A support is taken out from under a wall, a column is cut, a part comes off: as a solve from nothing says.
TEST(PhysicalEdit, WhatHeldIsGone) {
    std::vector<StructureBlock> blocks{unit({0, 0, 0}, true)};
    add_row(blocks, {0, 1, 0}, {0, 40, 0});
    add_row(blocks, {1, 40, 0}, {9, 40, 0});
    blocks.push_back(unit({9, 0, 0}, true));
    add_row(blocks, {9, 1, 0}, {9, 39, 0});
    StructureSolver solver(StructureMode::physical);
    solver.set_materials({{material()}});
    solver.set_blocks(blocks);
    EXPECT_EQ(solver.solve(tight(0.05)).verdict, Verdict::stands);
    EXPECT_TRUE(solver.remove_block({9, 0, 0}));  // now an arm with a column that hangs from it
    StructureReport report = solver.solve(tight(0.05));
    EXPECT_EQ(report.verdict, Verdict::stands);
    EXPECT_EQ(report.supports, 1u);
    EXPECT_NEAR(report.base_reaction, double(blocks.size() - 1), 0.01);
    EXPECT_TRUE(solver.remove_block({0, 0, 0}));
    EXPECT_EQ(solver.solve(tight(0.05)).verdict, Verdict::unsupported);
    solver.place_block(unit({0, 0, 0}, true));
    EXPECT_EQ(solver.solve(tight(0.05)).verdict, Verdict::stands);
    EXPECT_TRUE(solver.remove_block({9, 20, 0}));
    report = solver.solve(tight(0.05));
    EXPECT_EQ(report.verdict, Verdict::falls);
    EXPECT_EQ(report.falling(), 19u);
    solver.place_block(unit({9, 20, 0}));
    EXPECT_EQ(solver.solve(tight(0.05)).verdict, Verdict::stands);
}

}  // namespace
}  // namespace talus
