// Removing and placing blocks one by one: the re-check gives the bits of a solve from nothing.
#include "structure/load_engine.h"
#include "structure_cases.h"

#include <gtest/gtest.h>

#include <map>

namespace talus {
namespace {

struct Build {
    std::map<Cell, StructureBlock> blocks;
    std::vector<StructureBlock> list() const {
        std::vector<StructureBlock> out;
        for (const auto& [cell, b] : blocks) out.push_back(b);
        return out;
    }
};

// Compares reports and the load of every bond with those of a solver that knows nothing of the past.
void expect_as_cold(load::Engine& warm, const Build& build, const StructureSettings& settings,
                    const StructureReport& got) {
    load::Engine cold;
    cold.set_blocks(build.list());
    const StructureReport expected = cold.solve(settings, nullptr, nullptr);
    ASSERT_EQ(int(got.verdict), int(expected.verdict));
    ASSERT_EQ(got.supports, expected.supports);
    ASSERT_EQ(got.rounds, expected.rounds);
    ASSERT_TRUE(got.parts == expected.parts);
    ASSERT_TRUE(got.broken_bonds == expected.broken_bonds);
    if (!got.broken_bonds.empty() || got.verdict == Verdict::unsupported) return;
    for (const auto& [cell, b] : build.blocks)
        for (int axis = 0; axis < 3; axis++) {
            const Cell other = cell + load::kStep[2 * axis];
            if (!build.blocks.count(other)) continue;
            const double a = warm.bond_load(cell, other), c = cold.bond_load(cell, other);
            ASSERT_EQ(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(c));
        }
}

TEST(LoadEdit, RandomEditsAsCold) {
    int rechecked = 0, fell = 0, stood = 0, far = 0;
    for (std::uint64_t seed = 0; seed < 250; seed++) {
        cases::Random random(seed + 3'000'000);
        StructureSettings settings;
        settings.up = Axis(seed % 6);
        Build build;
        for (StructureBlock b : cases::random_structure(random, settings.up)) {
            b.mass /= 40;  // most stand, so that there is something to re-check
            build.blocks[b.cell] = b;
        }
        load::Engine engine;
        engine.set_blocks(build.list());
        engine.solve(settings, nullptr, nullptr);
        for (int step = 0; step < 40; step++) {
            const int edits = random.chance(0.7) ? 1 : 1 + random.below(6);
            for (int e = 0; e < edits; e++) {
                const auto list = build.list();
                if (list.empty()) break;
                const Cell at = list[std::size_t(random.below(int(list.size())))].cell;
                if (random.chance(0.55)) {
                    build.blocks.erase(at);
                    EXPECT_TRUE(engine.remove(at));
                    EXPECT_FALSE(engine.remove(at));
                } else {
                    // Beside a block, on it (a replacement) or anywhere: new tiles come up too.
                    StructureBlock b{at, random.between(10, 500), float(random.between(0.13, 7)),
                                     random.chance(0.05)};
                    if (random.chance(0.9)) b.cell = at + load::kStep[random.below(6)];
                    if (random.chance(0.05)) {
                        b.cell = at + Cell{random.below(40), random.below(40), random.below(40)};
                        far++;
                    }
                    build.blocks[b.cell] = b;
                    engine.place(b);
                }
            }
            const StructureReport report = engine.solve(settings, nullptr, nullptr);
            expect_as_cold(engine, build, settings, report);
            ASSERT_FALSE(HasFatalFailure()) << "seed " << seed << " step " << step;
            rechecked++;
            fell += report.verdict == Verdict::falls;
            stood += report.verdict == Verdict::stands;
            // As a world would: what fell is gone. Now and then it stays.
            if (random.chance(0.8))
                for (const auto& part : report.parts)
                    for (const Cell c : part) {
                        build.blocks.erase(c);
                        EXPECT_TRUE(engine.remove(c));
                    }
        }
    }
    EXPECT_GT(rechecked, 9'000);
    EXPECT_GT(fell, 1'000);
    EXPECT_GT(stood, 1'000);
    EXPECT_GT(far, 50);
}

// A thousand edits in a row on each kind of building.
void edit_scene(const std::vector<StructureBlock>& blocks, std::uint64_t seed) {
    cases::Random random(seed);
    Build build;
    for (const StructureBlock& b : blocks) build.blocks[b.cell] = b;
    std::vector<StructureBlock> removed;
    load::Engine engine;
    engine.set_blocks(blocks);
    engine.solve({}, nullptr, nullptr);
    int stood = 0;
    for (int i = 0; i < 1000; i++) {
        if (removed.empty() || random.chance(0.6)) {
            auto it = build.blocks.lower_bound(blocks[std::size_t(random.below(int(blocks.size())))].cell);
            if (it == build.blocks.end()) continue;
            removed.push_back(it->second);
            engine.remove(it->first);
            build.blocks.erase(it);
        } else {
            const std::size_t k = std::size_t(random.below(int(removed.size())));
            engine.place(removed[k]);
            build.blocks[removed[k].cell] = removed[k];
            removed.erase(removed.begin() + std::ptrdiff_t(k));
        }
        const StructureReport report = engine.solve({}, nullptr, nullptr);
        stood += report.verdict == Verdict::stands;
        load::Engine cold;
        cold.set_blocks(build.list());
        const StructureReport expected = cold.solve({}, nullptr, nullptr);
        ASSERT_EQ(int(report.verdict), int(expected.verdict));
        ASSERT_TRUE(report.parts == expected.parts);
        ASSERT_EQ(report.rounds, expected.rounds);
        if (i % 50 == 49) expect_as_cold(engine, build, {}, report);
        ASSERT_FALSE(testing::Test::HasFatalFailure()) << "edit " << i;
    }
    EXPECT_GT(stood, 100);
}

TEST(LoadEdit, ThousandEditsOfABuilding) { edit_scene(cases::building(22), 1); }
TEST(LoadEdit, ThousandEditsOfAHall) { edit_scene(cases::hall({24, 24, 24}), 2); }
TEST(LoadEdit, ThousandEditsOfATower) { edit_scene(cases::tower({9, 30, 9}), 3); }
TEST(LoadEdit, ThousandEditsOfAViaduct) { edit_scene(cases::viaduct({82, 48, 1}), 4); }

TEST(LoadEdit, PublicDoor) {
    StructureSolver solver;
    std::vector<StructureBlock> blocks{cases::stone({0, 0, 0}, true)};
    for (int x = 1; x <= 51; x++) blocks.push_back(cases::stone({x, 0, 0}));
    solver.set_blocks(blocks);
    EXPECT_EQ(solver.solve().verdict, Verdict::stands);
    solver.place_block(cases::stone({52, 0, 0}));
    StructureReport report = solver.solve();
    EXPECT_EQ(report.verdict, Verdict::falls);
    EXPECT_EQ(report.falling(), 52u);
    EXPECT_TRUE(solver.remove_block({52, 0, 0}));
    EXPECT_FALSE(solver.remove_block({52, 0, 0}));
    EXPECT_EQ(solver.solve().verdict, Verdict::stands);
    EXPECT_TRUE(solver.remove_block({10, 0, 0}));
    report = solver.solve();
    EXPECT_EQ(report.falling(), 41u);
    EXPECT_EQ(report.rounds, 1u);
    EXPECT_TRUE(solver.remove_block({0, 0, 0}));
    EXPECT_EQ(solver.solve().verdict, Verdict::unsupported);
    solver.place_block(cases::stone({0, 0, 0}, true));
    EXPECT_EQ(solver.solve().falling(), 41u);
}

}  // namespace
}  // namespace talus
