#include "town_bench.h"

#include "apps/talus/tbb_jobs.h"
#include "scenes/big_town.h"
#include "talus/level.h"

#include <malloc.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

namespace talus::bench {

namespace {

constexpr int kBlasts = 200, kBlastTicks = 1200, kQuietTicks = 1800;

double now_ms() {
    using namespace std::chrono;
    return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

/// Of all threads: what a tick costs, however many others want the machine.
double cpu_ms() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) * 1e3 + double(t.tv_nsec) * 1e-6;
}

/// What the system says the whole process holds in memory (its resident set), libraries and all.
double resident_mb() {
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    unsigned long total = 0, resident = 0;
    if (!file) return 0;
    const int read = std::fscanf(file, "%lu %lu", &total, &resident);
    std::fclose(file);
    return read == 2 ? double(resident) * double(sysconf(_SC_PAGESIZE)) / (1 << 20) : 0;
}

/// Adds up the time of each zone, without what is nested in it.
class ZoneTimes : public ProfileSink {
 public:
    void enter(const char* zone) override {
        const double t = now_ms();
        if (!open_.empty()) sums_[open_.back()] += t - since_;
        open_.push_back(zone);
        since_ = t;
    }
    void leave() override {
        const double t = now_ms();
        sums_[open_.back()] += t - since_;
        open_.pop_back();
        since_ = t;
    }
    void print(int ticks) const {
        for (const auto& [zone, ms] : sums_)
            std::fprintf(stderr, "%-32s %8.3f ms a tick\n", zone.c_str(), ms / ticks);
    }

 private:
    std::vector<std::string> open_;
    std::map<std::string, double> sums_;
    double since_ = 0;
};

}  // namespace

int run_town(const TownOptions& options) {
    TbbJobs jobs(options.threads);
    ZoneTimes zones;
    LevelSettings settings;
    settings.ground = 0;
    settings.jobs = &jobs;
    if (options.profile) settings.profile = &zones;
    Level level(settings);
    const BigTown town = build_big_town(level, options.rows);
    level.tick();
    level.clear_events();

    nlohmann::ordered_json j;
    j["scene"] = "town";
    j["blocks"] = town.blocks;
    j["structures"] = level.stats().structures;
    j["threads"] = options.threads;
    malloc_trim(0);
    const double memory_start = resident_mb();
    std::vector<double> ticks, cpu;
    std::size_t worst_at = 0, bonds = 0, groups_most = 0;
    for (int i = 0; i < kBlastTicks + kQuietTicks; i++) {
        const double t = now_ms(), c = cpu_ms();
        if (i % (kBlastTicks / kBlasts) == 0 && i < kBlastTicks) {
            const TownBlast blast = town_blast(town, i / (kBlastTicks / kBlasts));
            level.blast(blast.center, blast.power);
        }
        level.tick();
        ticks.push_back(now_ms() - t);
        cpu.push_back(cpu_ms() - c);
        for (const LevelEvent& event : level.events())
            if (event.kind == LevelEvent::Kind::bonds_broken) bonds++;
        level.clear_events();
        if (ticks.back() > ticks[worst_at]) worst_at = ticks.size() - 1;
        groups_most = std::max(groups_most, level.stats().groups);
        if (!options.as_json && i % 100 == 99)
            std::fprintf(stderr, "tick %d: %.1f ms, %zu groups (%zu awake), %llu blocks destroyed\n", i + 1,
                         ticks.back(), level.stats().groups, level.stats().awake,
                         static_cast<unsigned long long>(level.stats().destroyed));
    }
    const auto mean = [](const std::vector<double>& of) {
        double sum = 0;
        for (const double t : of) sum += t;
        return sum / double(of.size());
    };
    const auto worst_cpu = std::max_element(cpu.begin(), cpu.end());
    char hex[17];
    std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(level.hash()));
    j["tick_ms_mean"] = mean(ticks);
    j["tick_ms_worst"] = ticks[worst_at];
    j["worst_tick"] = worst_at + 1;
    j["tick_cpu_ms_mean"] = mean(cpu);
    j["tick_cpu_ms_worst"] = *worst_cpu;
    j["worst_cpu_tick"] = worst_cpu - cpu.begin() + 1;
    j["collapses"] = bonds;
    j["blocks_destroyed"] = level.stats().destroyed;
    j["groups"] = level.stats().groups;
    j["groups_most"] = groups_most;
    j["awake"] = level.stats().awake;
    j["memory_mb_start"] = memory_start;
    malloc_trim(0);  // as a host may once the world is quiet: pages that hold nothing go back to the system
    j["memory_mb_end"] = resident_mb();
    j["hash"] = hex;
    if (options.profile) zones.print(int(ticks.size()));
    if (options.as_json) {
        std::printf("%s\n", j.dump().c_str());
    } else {
        for (const auto& [key, value] : j.items())
            std::printf("%-20s %s\n", key.c_str(), value.dump().c_str());
    }
    return 0;
}

}  // namespace talus::bench
