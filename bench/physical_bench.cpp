// physical_bench - how fast physical mode is, as CSV on stdout.
//
//     physical_bench [repeats = 3] [threads = 1] [million = 0: 60,000 blocks and edits; 1: a million]
//
// Milliseconds (processor time with one thread, wall time with more), the median of the repeats:
// `balance_ms` from the blocks to the first balance, its report included, of the default tolerance; `all_ms`
// to the end of the collapse. bytes_per_block: all memory held afterwards. `edit` rows: one block removed, or
// a column cut (the two blocks on its support), solved again and put back; the median and the worst of 20.
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
bool wall = false;
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

}  // namespace

int main(int argc, char** argv) {
    const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 3;
    const int threads = argc > 2 ? std::max(1, std::atoi(argv[2])) : 1;
    const bool million = argc > 3 && std::atoi(argv[3]) != 0;
    wall = threads > 1;
    TbbJobs pool(threads);
    JobSystem* jobs = threads > 1 ? &pool : nullptr;
    std::printf(
        "scene,blocks,balance_ms,all_ms,iterations,imbalance,base_error,rounds,falling,bytes_per_block\n");
    const auto building = cases::building(59);
    if (million) {
        // Of stone this building breaks under its weight; here its first balance counts.
        measure("building-1000000 of strength 10", cases::building(154), repeats, jobs, 10);
        measure("hall-1000000", cases::hall({177, 176, 177}), repeats, jobs);
        return 0;
    }
    measure("building-60000", building, repeats, jobs);
    measure("hall-60000", cases::hall({72, 72, 72}), repeats, jobs);
    measure("viaduct-60000", cases::viaduct({602, 300, 1}), repeats, jobs);
    measure("tower-60000", cases::tower({25, 96, 25}), repeats, jobs);
    measure("building-10000 of strength 0.1", cases::building(30), 1, jobs, 0.1);
    measure_edits("building-60000", building, jobs, false);
    measure_edits("building-60000", building, jobs, true);
}
