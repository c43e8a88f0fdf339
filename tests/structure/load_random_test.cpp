// The load solver against the plain oracle, bit for bit, and case 42: moved, turned, mirrored, reordered.
#include "load_oracle.h"
#include "structure/load_engine.h"
#include "structure_cases.h"

#include <gtest/gtest.h>

#include <cstring>

namespace talus {
namespace {

void expect_same(const StructureReport& a, const StructureReport& b, const char* what) {
    EXPECT_EQ(int(a.verdict), int(b.verdict)) << what;
    EXPECT_EQ(a.supports, b.supports) << what;
    EXPECT_EQ(a.rounds, b.rounds) << what;
    EXPECT_TRUE(a.parts == b.parts) << what;
    EXPECT_TRUE(a.broken_bonds == b.broken_bonds) << what;
}

TEST(LoadRandom, SameReportAsTheOracle) {
    StructureSolver solver;  // one solver for all: nothing may be left over from the input before
    int fell = 0, stood = 0, unsupported = 0, deep = 0, parts = 0, landed = 0;
    for (std::uint64_t seed = 0; seed < 3000; seed++) {
        cases::Random random(seed);
        StructureSettings settings;
        settings.up = Axis(seed % 6);
        const auto blocks = cases::random_structure(random, settings.up);
        if (seed % 5 == 0) settings.max_rounds = 1 + random.below(3);
        if (seed % 7 == 0) settings.max_weighings = random.below(3);
        solver.set_blocks(blocks);
        const StructureReport report = solver.solve(settings);
        expect_same(report, oracle::solve(blocks, settings), "oracle");
        expect_same(report, solver.solve(settings), "solved twice");
        ASSERT_FALSE(HasFailure()) << "seed " << seed;
        fell += report.verdict == Verdict::falls;
        stood += report.verdict == Verdict::stands;
        unsupported += report.verdict == Verdict::unsupported;
        deep += report.rounds > 5;
        parts += report.parts.size() > 3;
        settings.max_weighings = 0;
        landed += solver.solve(settings).falling() != report.falling();
    }
    // The comparison is worth something only if all kinds of answers come up.
    EXPECT_GT(fell, 300);
    EXPECT_GT(stood, 150);
    EXPECT_GT(unsupported, 20);
    EXPECT_GT(deep, 100);
    EXPECT_GT(parts, 100);
    EXPECT_GT(landed, 30);
}

TEST(LoadRandom, SameLoadBitsAsTheOracle) {
    load::Engine engine;
    std::size_t compared = 0;
    for (std::uint64_t seed = 0; seed < 600; seed++) {
        cases::Random random(seed + 1'000'000);
        StructureSettings settings;
        settings.up = Axis(seed % 6);
        const auto blocks = cases::random_structure(random, settings.up);
        engine.set_blocks(blocks);
        engine.first_round(settings);
        oracle::Solver plain(blocks, settings);
        plain.weigh();
        for (const auto& [bond, load] : plain.loads()) {
            const double mine = engine.bond_load(bond.first, bond.second);
            ASSERT_EQ(0, std::memcmp(&mine, &load, sizeof load))
                << "seed " << seed << ": " << mine << " " << load;
            compared++;
        }
    }
    EXPECT_GT(compared, 100'000u);
}

TEST(LoadRandom, Case42MovedTurnedMirroredReordered) {
    const auto turns = cases::all_turns();
    ASSERT_EQ(turns.size(), 48u);
    StructureSolver solver;
    int broke = 0;
    for (std::uint64_t seed = 0; seed < 1500; seed++) {
        cases::Random random(seed + 2'000'000);
        StructureSettings settings;
        settings.up = Axis(random.below(6));
        auto blocks = cases::random_structure(random, settings.up);
        solver.set_blocks(blocks);
        const StructureReport report = solver.solve(settings);
        broke += !report.broken_bonds.empty();

        cases::Turn turn = turns[std::size_t(random.below(48))];
        const int far = 10'000;
        turn.offset = {random.below(2 * far) - far, random.below(2) ? far : -far,
                       random.below(2 * far) - far};
        auto other = cases::turned(blocks, turn);
        cases::shuffle(other, random);
        StructureSettings turned_settings = settings;
        turned_settings.up = turn(settings.up);
        solver.set_blocks(other);
        expect_same(cases::turned(report, turn), solver.solve(turned_settings), "turned");
        ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
    EXPECT_GT(broke, 300);
}

}  // namespace
}  // namespace talus
