// physical_bench - how fast physical mode is, as CSV on stdout.
//
//     physical_bench cold [repeats = 3] [threads = 1]      60,000 blocks from nothing, single edits
//     physical_bench million [repeats = 3] [threads = 1]   a million blocks from nothing, single edits
//     physical_bench edits [edits = 1000] [threads = 1]    edits in a row of each scene of 60,000
//     physical_bench collapse [repeats = 3] [threads = 1]  without a wall, without a column, of weak stone
//
// Milliseconds (processor time with one thread, wall time with more), the median of the repeats:
// `balance_ms` from the blocks to the first balance, its report included, of the default tolerance; `all_ms`
// to the end of the collapse. bytes_per_block: all memory held afterwards. `edit` rows: one block removed, or
// a column cut (the two blocks on its support), solved again and put back; the median and the worst of 20.
// `edits` rows: blocks removed and put back at random, each followed by a solve; those solved in a ball and
// those of the whole apart; then what is off against a solve from nothing to a fiftieth of the tolerance.
#include "apps/talus/tbb_jobs.h"
#include "tests/structure/structure_cases.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace {

using namespace talus;
bool wall = false;  // time
double now() {
    if (wall)
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) * 1e3 + double(t.tv_nsec) * 1e-6;
}
double ms_since(double start) { return now() - start; }
double median(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

void measure(const std::string& name, const std::vector<StructureBlock>& blocks, int repeats, JobSystem* jobs,
             double limit_factor = 1) {
    struct First {
        double start;
        double ms;
    };
    std::vector<double> first, all;
    StructureReport report;
    std::size_t bytes = 0;
    for (int i = 0; i < repeats; i++) {
        StructureSolver solver(StructureMode::physical);
        solver.set_jobs(jobs);
        StructureSettings settings;
        settings.limit_factor = limit_factor;
        First f{now(), -1};
        solver.set_blocks(blocks);
        report = solver.solve(
            settings,
            [](void* context, std::uint32_t) {
                First& at = *static_cast<First*>(context);
                if (at.ms < 0) at.ms = ms_since(at.start);
                return true;
            },
            &f);
        all.push_back(ms_since(f.start));
        first.push_back(f.ms);
        bytes = solver.physical_bytes();
    }
    std::printf("%s,%zu,%.1f,%.1f,%u,%.4f,%.2e,%u,%zu,%.0f\n", name.c_str(), blocks.size(), median(first),
                median(all), report.iterations, report.imbalance, report.base_reaction / report.weight - 1,
                report.rounds, report.falling(), double(bytes) / double(blocks.size()));
    std::fflush(stdout);
}

void measure_edits(const std::string& name, const std::vector<StructureBlock>& blocks, JobSystem* jobs,
                   bool columns) {
    StructureSolver solver(StructureMode::physical);
    solver.set_jobs(jobs);
    solver.set_blocks(blocks);
    solver.solve();
    cases::Random random(1);
    std::vector<double> times;
    while (times.size() < 20) {
        const StructureBlock b = blocks[std::size_t(random.below(int(blocks.size())))];
        if (b.support || (columns && (b.cell.y != 1 || b.cell.x % 8 || b.cell.z % 8))) continue;
        const double start = now();
        for (int y = 0; y < (columns ? 2 : 1); y++) solver.remove_block(b.cell + Cell{0, y, 0});
        solver.solve();
        times.push_back(ms_since(start));
        for (int y = 0; y < (columns ? 2 : 1); y++) solver.place_block(cases::stone(b.cell + Cell{0, y, 0}));
        solver.solve();
    }
    std::printf("edit:%s%s,%zu,median %.2f,worst %.2f\n", name.c_str(), columns ? " column" : "",
                blocks.size(), median(times), *std::max_element(times.begin(), times.end()));
    std::fflush(stdout);
}

void measure_edits_in_a_row(const std::string& name, const std::vector<StructureBlock>& blocks, int edits,
                            JobSystem* jobs) {
    StructureSolver solver(StructureMode::physical);
    solver.set_jobs(jobs);
    cases::Editor editor{blocks, {}, cases::Random(8)};
    solver.set_blocks(blocks);
    solver.solve();
    std::vector<double> ball, whole;
    StructureReport last;
    for (int k = 0; k < edits; k++) {
        const double start = now();
        editor.edit(solver);
        last = solver.solve();
        (last.local_blocks ? ball : whole).push_back(ms_since(start));
    }
    StructureSolver cold(StructureMode::physical);
    cold.set_blocks(editor.blocks);
    StructureSettings settings;
    settings.tolerance /= 50;
    const StructureReport right = cold.solve(settings);
    const auto worst = [](const std::vector<double>& times) {
        return times.empty() ? 0 : *std::max_element(times.begin(), times.end());
    };
    std::printf("edits:%s,%d,in a ball %zu,median %.2f,worst %.2f,of the whole %zu,median %.2f,worst %.2f,",
                name.c_str(), edits, ball.size(), ball.empty() ? 0 : median(ball), worst(ball), whole.size(),
                whole.empty() ? 0 : median(whole), worst(whole));
    std::printf("largest stress off %.1e,base off %.1e\n", last.max_utilisation / right.max_utilisation - 1,
                last.base_reaction / right.weight - 1);
    std::fflush(stdout);
}

template <class F>
std::vector<StructureBlock> without(std::vector<StructureBlock> blocks, F&& gone) {
    std::erase_if(blocks, [&](const StructureBlock& b) { return gone(b.cell); });
    return blocks;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "cold";
    const int count = argc > 2 ? std::max(1, std::atoi(argv[2])) : what == "edits" ? 1000 : 3;
    const int threads = argc > 3 ? std::max(1, std::atoi(argv[3])) : 1;
    wall = threads > 1;
    TbbJobs pool(threads);
    JobSystem* jobs = threads > 1 ? &pool : nullptr;
    const auto building = cases::building(59), hall = cases::hall({72, 72, 72});
    const auto viaduct = cases::viaduct({602, 300, 1}), tower = cases::tower({25, 96, 25});
    if (what == "edits") {
        measure_edits_in_a_row("building-60000", building, count, jobs);
        measure_edits_in_a_row("hall-60000", hall, count, jobs);
        measure_edits_in_a_row("viaduct-60000", viaduct, count, jobs);
        measure_edits_in_a_row("tower-60000", tower, count, jobs);
        return 0;
    }
    std::printf(
        "scene,blocks,balance_ms,all_ms,iterations,imbalance,base_error,rounds,falling,bytes_per_block\n");
    const auto a_wall = [](Cell c) { return c.x == 0 && c.y > 0 && c.y % 4 != 3; };
    const auto a_column = [](Cell c) { return c.x == 24 && c.z == 24 && c.y > 0 && c.y < 3; };
    if (what == "collapse") {
        measure("building-10000 of strength 0.1", cases::building(30), count, jobs, 0.1);
        measure("building-60000 of strength 0.3", building, count, jobs, 0.3);
        measure("building-60000 of strength 0.3 without a wall", without(building, a_wall), count, jobs, 0.3);
        measure("building-60000 of strength 0.1 without a column", without(building, a_column), count, jobs,
                0.1);
        measure("hall-60000 of strength 0.3 without a column",
                without(hall, [](Cell c) { return c.x / 8 == 3 && c.z / 8 == 3 && c.y > 0 && c.y < 3; }),
                count, jobs, 0.3);
        const auto million = cases::building(154);
        measure("building-1000000 without a wall", without(million, a_wall), count, jobs);
        measure("building-1000000 of strength 0.3 without a column", without(million, a_column), count, jobs,
                0.3);
        return 0;
    }
    if (what == "million") {
        // Of stone this building breaks under its weight; here its first balance counts.
        const auto million = cases::building(154), large_hall = cases::hall({177, 176, 177});
        measure("building-1000000 of strength 10", million, count, jobs, 10);
        measure("hall-1000000", large_hall, count, jobs);
        measure_edits("hall-1000000", large_hall, jobs, false);
        return 0;
    }
    measure("building-60000", building, count, jobs);
    measure("hall-60000", hall, count, jobs);
    measure("viaduct-60000", viaduct, count, jobs);
    measure("tower-60000", tower, count, jobs);
    measure_edits("building-60000", building, jobs, false);
    measure_edits("building-60000", building, jobs, true);
}
