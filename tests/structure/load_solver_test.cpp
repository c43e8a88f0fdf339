// Known answers of the load rule: what one stone bond bears, cascades, landing, verdicts.
#include "talus/structure.h"

#include "structure/load_engine.h"
#include "structure_cases.h"
#include "talus/grid.h"

#include <gtest/gtest.h>

#include <thread>

namespace talus {
namespace {

using cases::stone;

StructureReport solve(const std::vector<StructureBlock>& blocks, const StructureSettings& settings = {}) {
    StructureSolver solver;
    solver.set_blocks(blocks);
    return solver.solve(settings);
}

void expect_stands(const StructureReport& r, std::size_t broken = 0) {
    EXPECT_EQ(r.verdict, Verdict::stands);
    EXPECT_EQ(r.falling(), 0u);
    EXPECT_EQ(r.broken_bonds.size(), broken);
}
void expect_falls(const StructureReport& r, std::size_t falling, std::size_t broken) {
    EXPECT_EQ(r.verdict, Verdict::falls);
    EXPECT_EQ(r.falling(), falling);
    EXPECT_EQ(r.broken_bonds.size(), broken);
}

// A support and n stones in a row away from it.
std::vector<StructureBlock> row(int n, Cell step) {
    std::vector<StructureBlock> blocks{stone({0, 0, 0}, true)};
    for (int i = 1; i <= n; i++) blocks.push_back(stone({step.x * i, step.y * i, step.z * i}));
    return blocks;
}
// n stones between two supports.
std::vector<StructureBlock> bridge(int n, float left_strength = 1) {
    std::vector<StructureBlock> blocks = row(n, {1, 0, 0});
    blocks[0].strength = left_strength;
    blocks.push_back(stone({n + 1, 0, 0}, true));
    return blocks;
}

TEST(LoadSolver, StoneHangs19AndNot20) {
    expect_stands(solve(row(19, {0, -1, 0})));
    const StructureReport r = solve(row(20, {0, -1, 0}));
    expect_falls(r, 20, 1);
    EXPECT_TRUE(r.broken_bonds[0] == Bond(Cell{0, -1, 0}, Cell{0, 0, 0}));
    ASSERT_EQ(r.parts.size(), 1u);
    EXPECT_EQ(r.parts[0].front(), (Cell{0, -20, 0}));
    EXPECT_EQ(r.rounds, 2u);
}

TEST(LoadSolver, CantileverOf51AndNot52) {
    for (const Cell step : {Cell{1, 0, 0}, Cell{-1, 0, 0}, Cell{0, 0, 1}, Cell{0, 0, -1}}) {
        expect_stands(solve(row(51, step)));
        expect_falls(solve(row(52, step)), 52, 1);
    }
}

TEST(LoadSolver, ColumnOf2580AndNot2581) {
    const StructureReport r = solve(row(2580, {0, 1, 0}));
    expect_stands(r);
    EXPECT_EQ(r.supports, 1u);
    EXPECT_EQ(r.rounds, 1u);
    expect_falls(solve(row(2581, {0, 1, 0})), 2581, 1);
}

// Each end carries half: 51.5 stones of a bridge of 103 (39,912.5 kg), 52 of one of 104 (40,300 kg).
TEST(LoadSolver, BridgeOf103AndNot104) {
    for (const int n : {100, 101, 102, 103}) expect_stands(solve(bridge(n)));
    const StructureReport r = solve(bridge(104));
    expect_falls(r, 104, 2);
    EXPECT_EQ(r.parts.size(), 1u);
    EXPECT_EQ(r.rounds, 2u);  // both ends in the same round
}

TEST(LoadSolver, BridgeOnPiers) {
    for (const int n : {100, 103, 104}) {
        auto blocks = bridge(n);
        for (StructureBlock& b : blocks) b.support = false;
        for (int y = -10; y < 0; y++)
            for (const int x : {0, n + 1}) blocks.push_back(stone({x, y, 0}, y == -10));
        const StructureReport r = solve(blocks);
        if (n <= 103)
            expect_stands(r);
        else
            expect_falls(r, std::size_t(n), 2);
    }
}

TEST(LoadSolver, WeightFindsAnotherWay) {
    // The weak end (16,000 kg) breaks under 22 stones; the other then holds all 44.
    const StructureReport r = solve(bridge(44, 0.4f));
    expect_stands(r, 1);
    EXPECT_EQ(r.rounds, 2u);
    EXPECT_TRUE(r.broken_bonds[0] == Bond(Cell{0, 0, 0}, Cell{1, 0, 0}));
}

TEST(LoadSolver, Cascade) {
    // 20,000 kg at the weak end hold 25.5 stones; 26 break it, and 52 are too many for the other end.
    expect_stands(solve(bridge(51, 0.5f)));
    const StructureReport r = solve(bridge(52, 0.5f));
    expect_falls(r, 52, 2);
    EXPECT_EQ(r.rounds, 3u);

    StructureSettings one_round;
    one_round.max_rounds = 1;
    const StructureReport cut_off = solve(bridge(52, 0.5f), one_round);
    expect_stands(cut_off, 1);  // still joined on the right when the rounds are used up
    EXPECT_EQ(cut_off.rounds, 1u);
}

// Case 41: masses are not evened out.
TEST(LoadSolver, Case41Masses1_1_100) {
    const std::vector<StructureBlock> blocks{stone({0, 0, 0}, true),
                                             {{0, 1, 0}, 1, 1, false},
                                             {{0, 2, 0}, 1, 1, false},
                                             {{0, 3, 0}, 100, 1, false}};
    load::Engine engine;
    engine.set_blocks(blocks);
    EXPECT_EQ(engine.first_round({}), 0u);
    EXPECT_EQ(engine.bond_load({0, 0, 0}, {0, 1, 0}), 102);
    EXPECT_EQ(engine.bond_load({0, 1, 0}, {0, 0, 0}), 102);
    EXPECT_EQ(engine.bond_load({0, 1, 0}, {0, 2, 0}), 101);
    EXPECT_EQ(engine.bond_load({0, 2, 0}, {0, 3, 0}), 100);
    EXPECT_EQ(engine.bond_load({0, 3, 0}, {0, 4, 0}), 0);

    StructureSettings settings;
    settings.standing_capacity = 102;
    expect_stands(solve(blocks, settings));
    settings.standing_capacity = 101.999;
    expect_falls(solve(blocks, settings), 3, 1);
}

// 4 shares straight down, 1 to each side.
TEST(LoadSolver, Shares) {
    std::vector<StructureBlock> blocks;
    for (const int x : {0, 2})
        for (int y = 0; y <= 3; y++) blocks.push_back(stone({x, y, 0}, y == 0));
    blocks.push_back(stone({1, 2, 0}));
    blocks.push_back({{1, 3, 0}, 600, 1, false});
    load::Engine engine;
    engine.set_blocks(blocks);
    engine.first_round({});
    EXPECT_EQ(engine.bond_load({1, 3, 0}, {1, 2, 0}), 400);
    EXPECT_EQ(engine.bond_load({1, 3, 0}, {0, 3, 0}), 100);
    EXPECT_EQ(engine.bond_load({1, 3, 0}, {2, 3, 0}), 100);
    EXPECT_EQ(engine.bond_load({1, 2, 0}, {0, 2, 0}), (775 + 400) / 2.0);
}

TEST(LoadSolver, WeakerEndDecides) {
    auto blocks = row(10, {1, 0, 0});
    for (StructureBlock& b : blocks) b.strength = 5;
    blocks[4].strength = 0.1f;  // 4,000 kg; its inner bond carries 7 stones, its outer one 6
    const StructureReport r = solve(blocks);
    expect_falls(r, 7, 2);
    ASSERT_EQ(r.parts.size(), 2u);
    EXPECT_EQ(r.parts[0].size(), 6u);
    EXPECT_EQ(r.parts[1].size(), 1u);
}

// A brittle block of `mass` on an arm beside a column: its bonds break, it lands on the arm.
std::vector<StructureBlock> brittle_on_arm(double mass) {
    std::vector<StructureBlock> blocks;
    for (int y = 0; y <= 2; y++) blocks.push_back(stone({0, y, 0}, y == 0));
    blocks.push_back(stone({1, 1, 0}));
    blocks.push_back({{1, 2, 0}, mass, 0.01f, false});
    return blocks;
}

TEST(LoadSolver, FallenPartLoadsWhatItLandsOn) {
    // Bonded, the arm passes on 0.8 x 39,000 + 775; with the fallen block on it 39,775, which holds.
    const StructureReport holds = solve(brittle_on_arm(39'000));
    expect_falls(holds, 1, 2);
    EXPECT_EQ(holds.rounds, 3u);
    // 45,775 does not.
    const StructureReport breaks = solve(brittle_on_arm(45'000));
    expect_falls(breaks, 2, 3);
    EXPECT_EQ(breaks.parts.size(), 2u);
    EXPECT_EQ(breaks.rounds, 4u);

    StructureSettings no_landing;
    no_landing.max_weighings = 0;
    expect_falls(solve(brittle_on_arm(45'000), no_landing), 1, 2);
}

// Two brittle blocks joined to each other on two arms: they load both arms alike, whatever each weighs.
TEST(LoadSolver, FallenPartLoadsEvenly) {
    for (const double second : {33'000.0, 34'000.0}) {
        auto blocks = brittle_on_arm(45'000);
        for (int y = 0; y <= 2; y++) blocks.push_back(stone({3, y, 0}, y == 0));
        blocks.push_back(stone({2, 1, 0}));
        blocks.push_back({{2, 2, 0}, second, 0.01f, false});
        if (second == 33'000)
            expect_falls(solve(blocks), 2, 4);  // 39,000 + 775 on each arm
        else
            expect_falls(solve(blocks), 4, 6);  // 39,500 + 775
    }
}

TEST(LoadSolver, NoSupportIsNotJudged) {
    auto blocks = row(60, {1, 0, 0});
    blocks[0].support = false;
    for (const auto& input : {blocks, std::vector<StructureBlock>{}}) {
        const StructureReport r = solve(input);
        EXPECT_EQ(r.verdict, Verdict::unsupported);
        EXPECT_EQ(r.supports, 0u);
        EXPECT_EQ(r.rounds, 0u);
        EXPECT_TRUE(r.parts.empty());
        EXPECT_TRUE(r.broken_bonds.empty());
    }
}

TEST(LoadSolver, JoinedToNothingFalls) {
    // By a diagonal only, and far away.
    const StructureReport r =
        solve({stone({0, 0, 0}, true), stone({1, 1, 0}), stone({50, 0, 0}), stone({51, 0, 0})});
    expect_falls(r, 3, 0);
    ASSERT_EQ(r.parts.size(), 2u);
    EXPECT_EQ(r.parts[0], (std::vector<Cell>{{50, 0, 0}, {51, 0, 0}}));
    EXPECT_EQ(r.parts[1], (std::vector<Cell>{{1, 1, 0}}));
}

TEST(LoadSolver, EndsOfTheCellRange) {
    constexpr int kMin = INT32_MIN, kMax = INT32_MAX;
    for (const Axis up : {Axis::pos_x, Axis::pos_y, Axis::pos_z}) {
        std::vector<StructureBlock> blocks;
        for (const int v : {kMin, kMin + 1, kMax - 1, kMax})
            blocks.push_back(stone(up == Axis::pos_x   ? Cell{v, 0, 0}
                                   : up == Axis::pos_y ? Cell{0, v, 0}
                                                       : Cell{0, 0, v},
                                   v == kMin));
        StructureSettings settings;
        settings.up = up;
        expect_falls(solve(blocks, settings), 2, 0);  // the ends do not touch each other
    }
}

TEST(LoadSolver, ProgressCancels) {
    StructureSolver solver;
    solver.set_blocks(bridge(52, 0.5f));
    std::uint32_t seen = 0;
    const auto stop_at_2 = [](void* context, std::uint32_t rounds) {
        *static_cast<std::uint32_t*>(context) = rounds;
        return rounds < 2;
    };
    const StructureReport r = solver.solve({}, stop_at_2, &seen);
    EXPECT_EQ(seen, 2u);
    EXPECT_EQ(r.verdict, Verdict::unsupported);
    EXPECT_EQ(r.falling(), 0u);
    expect_falls(solver.solve(), 52, 2);  // and the input is as it was
}

TEST(LoadSolver, SolversOnTheirOwnThreads) {
    const auto blocks = cases::building(30);
    auto weak = blocks;
    for (StructureBlock& b : weak) b.strength = 0.05f;
    const StructureReport expected[2] = {solve(blocks), solve(weak)};
    StructureReport got[2];
    std::thread first([&] { got[0] = solve(blocks); }), second([&] { got[1] = solve(weak); });
    first.join();
    second.join();
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(got[i].verdict, expected[i].verdict);
        EXPECT_TRUE(got[i].parts == expected[i].parts);
        EXPECT_TRUE(got[i].broken_bonds == expected[i].broken_bonds);
    }
    EXPECT_EQ(got[0].verdict, Verdict::stands);
    EXPECT_EQ(got[1].verdict, Verdict::falls);
}

TEST(LoadSolver, MemoryDoesNotGrow) {
    auto blocks = cases::building(40);
    for (StructureBlock& b : blocks) b.strength = 0.05f;
    load::Engine engine;
    const auto work = [&] {
        engine.set_blocks(blocks);
        EXPECT_EQ(engine.solve({}, nullptr, nullptr).verdict, Verdict::falls);
    };
    work();
    const std::size_t high_water = engine.bytes();
    for (int i = 0; i < 5; i++) work();
    EXPECT_EQ(engine.bytes(), high_water);
}

TEST(StructureBlocks, SolidsOfAGrid) {
    BlockTable table;
    const BlockId stone_id = table.add(blockgame_stone());
    Material torch;
    torch.name = "torch";
    torch.solid = false;
    const BlockId torch_id = table.add(torch);
    const Box half{{0, 0, 0}, {1, 0.5f, 1}};
    const BlockId slab_id = table.add(BlockType{"slab", blockgame_stone(), BlockShape({&half, 1})});
    Grid grid(table);
    grid.set({0, 0, 0}, stone_id);
    grid.set({0, 1, 0}, slab_id);
    grid.set({0, 2, 0}, torch_id);

    const auto lowest = [](void* context, Cell cell) { return cell.y == *static_cast<int*>(context); };
    int ground = 0;
    const auto blocks = structure_blocks(grid, 0.5f, lowest, &ground, 2);
    ASSERT_EQ(blocks.size(), 2u);
    EXPECT_EQ(blocks[0].cell, (Cell{0, 0, 0}));
    EXPECT_EQ(blocks[0].mass, 775.0 / 8);
    EXPECT_EQ(blocks[0].strength, 2);
    EXPECT_TRUE(blocks[0].support);
    EXPECT_EQ(blocks[1].cell, (Cell{0, 1, 0}));
    EXPECT_EQ(blocks[1].mass, 775.0 / 16);
    EXPECT_FALSE(blocks[1].support);
}

}  // namespace
}  // namespace talus
