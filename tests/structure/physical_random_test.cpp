// Physical mode on random structures: the forces are those of the plain solver; copies moved, turned,
// mirrored and reordered give the same bits; threads do not matter.
#include "physical_cases.h"
#include "physical_oracle.h"

#include <cstring>
#include <thread>

namespace talus {
namespace {

using namespace physical_cases;

// Cells filled at random of three materials; only what is joined to the ground is kept.
std::vector<StructureBlock> random_blocks(cases::Random& random, int edge, double fill) {
    const Cell size{1 + random.below(edge), 1 + random.below(edge), 1 + random.below(edge)};
    std::vector<StructureBlock> all = cases::fill(size, [&](int, int, int) { return random.chance(fill); });
    for (StructureBlock& b : all) {
        b.material = std::uint16_t(random.below(3));
        b.mass = random.between(0.2, 5);
    }
    std::vector<StructureBlock> joined;
    std::vector<bool> in(all.size());
    for (bool grew = true; grew;) {
        grew = false;
        for (std::size_t i = 0; i < all.size(); i++) {
            if (in[i]) continue;
            bool join = all[i].support;
            for (std::size_t j = 0; j < all.size() && !join; j++) {
                const Cell d = all[i].cell - all[j].cell;
                join = in[j] && std::abs(d.x) + std::abs(d.y) + std::abs(d.z) == 1;
            }
            if (join) {
                in[i] = true;
                grew = true;
            }
        }
    }
    for (std::size_t i = 0; i < all.size(); i++)
        if (in[i]) joined.push_back(all[i]);
    return joined;
}

std::vector<StructureMaterial> three() {
    return {{1, material().limits}, {0.3, material().limits}, {0.02, material().limits}};
}

TEST(PhysicalRandom, ForcesOfThePlainSolver) {
    cases::Random random(11);
    int solved = 0;
    for (int round = 0; round < 60; round++) {
        SCOPED_TRACE(round);
        const auto blocks = random_blocks(random, 7, random.between(0.35, 1));
        if (blocks.empty()) continue;
        auto materials = three();
        if (round % 3 == 0)
            for (StructureMaterial& m : materials) m.stiffness = 1;
        StructureSolver solver(StructureMode::physical);
        solver.set_materials(materials);
        solver.set_blocks(blocks);
        const StructureReport report = solver.solve(tight());
        ASSERT_EQ(report.verdict, Verdict::stands)
            << blocks.size() << ' ' << report.imbalance << ' ' << report.iterations;
        const StructureBalance balance = solver.balance();
        const BalanceCheck check = check_balance(blocks, materials, tight(), {}, {}, {}, balance);
        EXPECT_LE(check.imbalance, 1.01e-6);
        EXPECT_NEAR(check.base_reaction, check.weight, 1e-6 * check.weight);
        const physical_oracle::Oracle oracle(blocks, materials, {0, 1, 0});
        ASSERT_TRUE(oracle.converged);
        double largest = 0;
        for (const BondForce& b : balance.bonds)
            largest = std::max(largest, length(b.force) + length(b.moment));
        for (const BondForce& b : balance.bonds) {
            const BondForce plain = oracle.force(b.bond);
            EXPECT_LE(length(b.force - plain.force) + length(b.moment - plain.moment), 2e-4 * largest + 1e-7);
        }
        solved++;
    }
    EXPECT_GT(solved, 40);
}

bool same_bits(const StructureReport& a, const StructureReport& b) {
    return a.verdict == b.verdict && a.supports == b.supports && a.rounds == b.rounds && a.parts == b.parts &&
           a.broken_bonds == b.broken_bonds &&
           std::memcmp(&a.max_utilisation, &b.max_utilisation, sizeof(double)) == 0 &&
           std::memcmp(&a.base_reaction, &b.base_reaction, sizeof(double)) == 0 &&
           std::memcmp(&a.imbalance, &b.imbalance, sizeof(double)) == 0 && a.iterations == b.iterations &&
           a.all_iterations == b.all_iterations;
}

// Weak enough for much to break. All 48 turns, moved far, shuffled: the same report.
TEST(PhysicalRandom, CopiesGiveTheSameReport) {
    cases::Random random(5);
    int fell = 0;
    for (int round = 0; round < 12; round++) {
        SCOPED_TRACE(round);
        auto blocks = random_blocks(random, 8, random.between(0.5, 0.9));
        if (blocks.size() < 20) continue;
        auto materials = three();
        for (StructureMaterial& m : materials) m.limits = {60, 400, 60, 0.6};
        StructureSettings settings = tight(0.05);
        const auto solve = [&](const std::vector<StructureBlock>& b) {
            StructureSolver solver(StructureMode::physical);
            solver.set_materials(materials);
            solver.set_blocks(b);
            return solver.solve(settings);
        };
        settings.up = Axis::pos_y;
        const StructureReport original = solve(blocks);
        fell += original.verdict == Verdict::falls;
        for (cases::Turn turn : cases::all_turns()) {
            turn.offset = {random.below(20001) - 10000, random.below(20001) - 10000,
                           random.below(20001) - 10000};
            auto copy = cases::turned(blocks, turn);
            cases::shuffle(copy, random);
            settings.up = turn(Axis::pos_y);
            EXPECT_TRUE(same_bits(cases::turned(original, turn), solve(copy)));
        }
    }
    EXPECT_GT(fell, 3);
}

// Threads in name only would do: what may differ is the order of chunks. Real threads are better.
class Threads : public JobSystem {
 public:
    explicit Threads(int n) : n_(n) {}
    int worker_count() const override { return n_; }
    void parallel_for(std::size_t count, Task task, void* context) override {
        std::vector<std::thread> threads;
        for (int t = 0; t < n_; t++)
            threads.emplace_back([=, this] {
                for (std::size_t i = std::size_t(t); i < count; i += std::size_t(n_)) task(context, i);
            });
        for (std::thread& t : threads) t.join();
    }
    std::uint64_t start(Task task, void* context) override {
        task(context, 0);
        return 0;
    }
    void wait(std::uint64_t) override {}

 private:
    int n_;
};

void threads_give_the_same_bits(const std::vector<StructureBlock>& blocks) {
    Threads two(2), three_threads(3);
    const auto solve = [&](JobSystem* jobs, StructureBalance& balance) {
        StructureSolver solver(StructureMode::physical);
        solver.set_jobs(jobs);
        solver.set_blocks(blocks);
        const StructureReport report = solver.solve();
        balance = solver.balance();
        return report;
    };
    StructureBalance a, b, c;
    const StructureReport ra = solve(nullptr, a), rb = solve(&two, b), rc = solve(&three_threads, c);
    EXPECT_TRUE(same_bits(ra, rb));
    EXPECT_TRUE(same_bits(ra, rc));
    ASSERT_EQ(a.bonds.size(), b.bonds.size());
    for (std::size_t i = 0; i < a.bonds.size(); i++) {
        ASSERT_EQ(std::memcmp(&a.bonds[i].force, &b.bonds[i].force, sizeof(DVec3)), 0);
        ASSERT_EQ(std::memcmp(&a.bonds[i].moment, &c.bonds[i].moment, sizeof(DVec3)), 0);
    }
    const BalanceCheck check = check_balance(blocks, {{StructureMaterial()}}, {}, {}, {}, {}, a);
    EXPECT_LE(check.imbalance, 0.0501);
    EXPECT_NEAR(check.base_reaction, check.weight, 1e-4 * check.weight);
}
TEST(PhysicalRandom, ThreadsGiveTheSameBits) { threads_give_the_same_bits(cases::building(34)); }
// So large that the finest level is smoothed chunk by chunk.
TEST(PhysicalRandom, ThreadsGiveTheSameBitsInTheCache) { threads_give_the_same_bits(cases::building(72)); }

}  // namespace
}  // namespace talus
