// structure_bench - how fast the structural solver is, as CSV on stdout.
//
//     structure_bench [repeats = 5] [connect]
//
// Times are CPU milliseconds of one thread, the median of the repeats: `set_ms` takes the input over,
// `round_ms` is one round on the unbroken structure, `cascade_ms` all of a solve from nothing, its report
// included. bytes_per_block is all memory held afterwards, the input not counted. `edit` rows: one block
// removed or placed, then solved again; mean and worst over 200 edits of which none makes anything fall.
// `cut` rows: a column cut at its foot.
// `flood` rows: the parts of a whole group, its 26 neighbours counted. `split` rows: the look for parts that
// came off after one block was removed, over 1,000 blocks.
#include "connect/joins.h"
#include "structure/load_engine.h"
#include "tests/structure/structure_cases.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace {

using namespace talus;

double cpu_ms() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) * 1e3 + double(t.tv_nsec) * 1e-6;
}

double median(std::vector<double>& times) {
    std::nth_element(times.begin(), times.begin() + std::ptrdiff_t(times.size() / 2), times.end());
    return times[times.size() / 2];
}

void measure(const std::string& name, const std::vector<StructureBlock>& blocks, int repeats) {
    load::Engine engine;
    const StructureSettings settings;
    std::vector<double> set, round, cascade;
    StructureReport report;
    for (int i = 0; i < repeats; i++) {
        const double t0 = cpu_ms();
        engine.set_blocks(blocks);
        const double t1 = cpu_ms();
        engine.first_round(settings);
        const double t2 = cpu_ms();
        report = engine.solve(settings, nullptr, nullptr);
        const double t3 = cpu_ms();
        set.push_back(t1 - t0);
        round.push_back(t2 - t1);
        cascade.push_back(t3 - t2);
    }
    std::printf("%s,%zu,%.2f,%.3f,%.2f,%u,%zu,%zu,%zu,%.1f\n", name.c_str(), blocks.size(), median(set),
                median(round), median(cascade), report.rounds, report.falling(), report.parts.size(),
                report.broken_bonds.size(), double(engine.bytes()) / double(blocks.size()));
    std::fflush(stdout);
}

template <class F>
std::vector<StructureBlock> without(const std::vector<StructureBlock>& blocks, F&& gone) {
    std::vector<StructureBlock> out;
    for (const StructureBlock& b : blocks)
        if (!gone(b.cell)) out.push_back(b);
    return out;
}

void measure_edits(const std::string& name, const std::vector<StructureBlock>& blocks) {
    cases::Random random(1);
    load::Engine engine;
    engine.set_blocks(blocks);
    engine.solve({}, nullptr, nullptr);
    std::vector<double> times;
    int tried = 0;
    while (times.size() < 200 && tried++ < 1000) {
        const StructureBlock b = blocks[std::size_t(random.below(int(blocks.size())))];
        if (b.support) continue;
        double t0 = cpu_ms();
        engine.remove(b.cell);
        const bool stands = engine.solve({}, nullptr, nullptr).verdict == Verdict::stands;
        if (stands) times.push_back(cpu_ms() - t0);
        t0 = cpu_ms();
        engine.place(b);
        engine.solve({}, nullptr, nullptr);
        if (stands) times.push_back(cpu_ms() - t0);
    }
    double sum = 0, worst = 0;
    for (const double t : times) {
        sum += t;
        worst = std::max(worst, t);
    }
    const std::size_t n = times.size();
    std::printf("edit:%s,%zu,edits %zu,median %.3f,mean %.3f,worst %.3f\n", name.c_str(), blocks.size(), n,
                median(times), sum / double(n), worst);
    std::fflush(stdout);
}

/// A column of a build that stands all the same is cut at the foot and mended.
void measure_cut(const std::string& name, const std::vector<StructureBlock>& blocks, std::vector<Cell> cut) {
    load::Engine engine;
    engine.set_blocks(blocks);
    engine.solve({}, nullptr, nullptr);
    std::vector<double> out, back;
    bool stands = true;
    for (int i = 0; i < 15; i++) {
        double t0 = cpu_ms();
        for (const Cell c : cut) engine.remove(c);
        stands &= engine.solve({}, nullptr, nullptr).verdict == Verdict::stands;
        out.push_back(cpu_ms() - t0);
        for (const StructureBlock& b : blocks)
            if (std::find(cut.begin(), cut.end(), b.cell) != cut.end()) engine.place(b);
        t0 = cpu_ms();
        stands &= engine.solve({}, nullptr, nullptr).verdict == Verdict::stands;
        back.push_back(cpu_ms() - t0);
    }
    std::printf("cut:%s,%zu,%s,median %.3f,worst %.3f,mended median %.3f\n", name.c_str(), blocks.size(),
                stands ? "stands" : "falls", median(out), *std::max_element(out.begin(), out.end()),
                median(back));
    std::fflush(stdout);
}

struct Group {
    BlockTable table;
    Grid grid{table};
    Joins joins;
};

void fill(Group& group, const std::vector<StructureBlock>& blocks) {
    const BlockId stone = group.table.add(blockgame_stone());
    for (const StructureBlock& b : blocks) group.grid.set(b.cell, stone);
}

void measure_flood(const std::string& name, const std::vector<StructureBlock>& blocks, int repeats) {
    Group group;
    fill(group, blocks);
    std::vector<double> times;
    std::size_t parts = find_loose_parts(group.grid, group.joins).size() + 1;
    for (int i = 0; i < 3 * repeats; i++) {
        const double t0 = cpu_ms();
        parts = find_loose_parts(group.grid, group.joins).size() + 1;
        times.push_back(cpu_ms() - t0);
    }
    std::printf("flood:%s,%zu,parts %zu,median %.3f,least %.3f\n", name.c_str(), group.grid.solid_count(),
                parts, median(times), *std::min_element(times.begin(), times.end()));
    std::fflush(stdout);
}

void measure_split(const std::string& name, const std::vector<StructureBlock>& blocks) {
    Group group;
    fill(group, blocks);
    group.grid.bricks();
    cases::Random random(1);
    std::vector<double> times;
    std::size_t splits = 0;
    for (int i = 0; i < 1000; i++) {
        const Cell cell = blocks[std::size_t(random.below(int(blocks.size())))].cell;
        const BlockId block = group.grid.clear(cell);
        Joins joins = group.joins;
        joins.solid_removed(group.grid, cell);
        const double t0 = cpu_ms();
        splits += find_split(group.grid, joins, {&cell, 1}).size();
        times.push_back(cpu_ms() - t0);
        group.grid.set(cell, block);
    }
    double sum = 0, worst = 0;
    for (const double t : times) {
        sum += t;
        worst = std::max(worst, t);
    }
    std::printf("split:%s,%zu,splits %zu,median_us %.1f,mean_us %.1f,worst_us %.0f\n", name.c_str(),
                blocks.size(), splits, median(times) * 1e3, sum, worst * 1e3);
    std::fflush(stdout);
}

/// A box of which so many cells in a hundred are there.
std::vector<StructureBlock> random_box(Cell size, int percent) {
    cases::Random random(7);
    std::vector<StructureBlock> blocks;
    for (int y = 0; y < size.y; y++)
        for (int z = 0; z < size.z; z++)
            for (int x = 0; x < size.x; x++)
                if (random.below(100) < percent) blocks.push_back({{x, y, z}, 775, 1, y == 0});
    return blocks;
}

void measure_connection(int repeats) {
    const auto dense = random_box({100, 100, 100}, 100), half = random_box({126, 126, 126}, 50),
               tenth = random_box({216, 216, 216}, 10);
    const auto tower = cases::tower({63, 251, 63}), hall = cases::hall({177, 176, 177}),
               building = cases::building(154), viaduct = cases::viaduct({602, 300, 1});
    measure_flood("dense-1000000", dense, repeats);
    measure_flood("tower-1000000", tower, repeats);
    measure_flood("building-1000000", building, repeats);
    measure_flood("hall-1000000", hall, repeats);
    measure_flood("random-50%", half, repeats);
    measure_flood("random-10%", tenth, repeats);
    measure_flood("viaduct-60000", viaduct, repeats);
    measure_split("dense-1000000", dense);
    measure_split("tower-1000000", tower);
    measure_split("building-1000000", building);
    measure_split("hall-1000000", hall);
    measure_split("random-50%", half);
    measure_split("viaduct-60000", viaduct);
}

}  // namespace

int main(int argc, char** argv) {
    const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
    const std::string only = argc > 2 ? argv[2] : "";
    if (only.empty() || only == "connect") measure_connection(repeats);
    if (only == "connect") return 0;
    std::printf("scene,blocks,set_ms,round_ms,cascade_ms,rounds,falling,parts,broken,bytes_per_block\n");
    const auto tower = cases::tower({63, 251, 63}), hall = cases::hall({177, 176, 177});
    const auto building = cases::building(154);
    measure("tower-60000", cases::tower({25, 96, 25}), repeats);
    measure("building-60000", cases::building(59), repeats);
    measure("hall-60000", cases::hall({72, 72, 72}), repeats);
    measure("viaduct-60000", cases::viaduct({602, 300, 1}), repeats);
    measure("tower-1000000", tower, repeats);
    measure("building-1000000", building, repeats);
    measure("hall-1000000", hall, repeats);

    // Collapses of building-1000000: cut at the second layer, or of weaker stone.
    const auto inside = [](Cell c) { return c.x > 0 && c.z > 0 && c.x < 153 && c.z < 153; };
    measure("building-1000000 without one column",
            without(building, [](Cell c) { return c.y == 1 && c.x == 80 && c.z == 80; }), repeats);
    measure("building-1000000 without 9 columns",
            without(building,
                    [](Cell c) { return c.y == 1 && c.x >= 72 && c.x <= 88 && c.z >= 72 && c.z <= 88; }),
            repeats);
    measure("building-1000000 without its columns",
            without(building, [&](Cell c) { return c.y == 1 && inside(c); }), repeats);
    measure("building-1000000 without one wall",
            without(building, [](Cell c) { return c.y == 1 && c.x == 0; }), repeats);
    for (const float k : {0.9f, 0.5f, 0.2f}) {
        auto weak = building;
        for (StructureBlock& b : weak) b.strength = k;
        char name[64];
        std::snprintf(name, sizeof name, "building-1000000 of strength %.1f", double(k));
        measure(name, weak, repeats);
    }

    measure_edits("building-60000", cases::building(59));
    measure_edits("tower-1000000", tower);
    measure_edits("building-1000000", building);
    measure_edits("hall-1000000", hall);

    // One column in the middle, of stone strong enough to do without it; a pier of 2 x 2.
    auto strong = building;
    for (StructureBlock& b : strong) b.strength = 4;
    measure_cut("building-1000000 of strength 4: column", strong, {{80, 1, 80}});
    measure_cut("hall-1000000: pier", hall, {{88, 1, 88}, {89, 1, 88}, {88, 1, 89}, {89, 1, 89}});
}
