// structure_bench - how fast the structural solver is, as CSV on stdout.
//
//     structure_bench [repeats = 5]
//
// Times are wall milliseconds on one thread, the median of the repeats. `round_ms` is one round of weighing
// on the unbroken structure, `cascade_ms` all of solve(), `set_ms` taking over the input, bytes_per_block all
// memory held afterwards, the input not counted.
#include "structure/load_engine.h"
#include "tests/structure/structure_cases.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace talus;

double ms_of(const std::function<void()>& work, int repeats) {
    std::vector<double> times;
    for (int i = 0; i < repeats; i++) {
        const auto start = std::chrono::steady_clock::now();
        work();
        times.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
    return times[std::size_t(repeats / 2)];
}

void measure(const std::string& name, const std::vector<StructureBlock>& blocks, int repeats) {
    load::Engine engine;
    const StructureSettings settings;
    const double set = ms_of([&] { engine.tiles.set(blocks); }, repeats);
    const double round = ms_of([&] { engine.first_round(settings); }, repeats);
    StructureReport report;
    const double cascade = ms_of([&] { report = engine.solve(settings, nullptr, nullptr); }, repeats);
    std::printf("%s,%zu,%.2f,%.3f,%.2f,%u,%zu,%zu,%.1f\n", name.c_str(), blocks.size(), set, round, cascade,
                report.rounds, report.falling(), report.broken_bonds.size(),
                double(engine.bytes()) / double(blocks.size()));
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
    std::printf("scene,blocks,set_ms,round_ms,cascade_ms,rounds,falling,broken,bytes_per_block\n");
    measure("tower-60000", cases::tower({25, 96, 25}), repeats);
    measure("building-60000", cases::building(59), repeats);
    measure("hall-60000", cases::hall({72, 72, 72}), repeats);
    measure("viaduct-60000", cases::viaduct({602, 300, 1}), repeats);
    measure("tower-1000000", cases::tower({63, 251, 63}), repeats);
    measure("building-1000000", cases::building(154), repeats);
    measure("hall-1000000", cases::hall({177, 176, 177}), repeats);
}
