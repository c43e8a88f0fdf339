#include "commands.h"
#include "common.h"
#include "json_object.h"
#include "tbb_jobs.h"

#include "talus/recording.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

namespace talus {

namespace {

constexpr int kDiffers = 1, kDamaged = 2;
constexpr std::size_t kMostNamed = 20;  // groups in the text for people

struct ReplayOptions {
    std::string file;
    bool json = false;
    int threads = 1;
};

std::string hex(std::uint64_t value) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

void explain(const ReplayOptions& options, const ReplayReport& r) {
    const std::uint64_t ticks = r.tick - r.first_tick;
    std::cout << options.file << "\n";
    if (r.outcome == ReplayReport::Outcome::damaged) {
        std::cout << "DAMAGED: " << r.error.message << "\n";
        if (r.level)
            std::cout << "  " << counted(ticks, "tick", "ticks") << " before that gave what was recorded\n";
        return;
    }
    if (r.outcome == ReplayReport::Outcome::same) {
        std::cout << "THE SAME: " << counted(ticks, "tick", "ticks") << ", "
                  << counted(r.calls, "call", "calls") << "; hash " << hex(r.hash) << "\n";
        return;
    }
    std::cout << "DIFFERS at tick " << r.tick << ": hash " << hex(r.hash) << ", recorded "
              << hex(r.recorded_hash) << "\n  what differs: " << r.what;
    for (std::size_t i = 0; i < r.groups.size() && i < kMostNamed; i++)
        std::cout << (i ? ", " : " ") << r.groups[i];
    if (r.groups.size() > kMostNamed) std::cout << " and " << r.groups.size() - kMostNamed << " more";
    std::cout << "\n";
}

void run_replay(const ReplayOptions& options) {
    std::ifstream file(options.file, std::ios::binary);
    ReplayReport r;
    if (!file) {
        r.outcome = ReplayReport::Outcome::damaged;
        r.error = {ErrorCode::not_found, "there is no such file, or it cannot be read"};
    } else {
        const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
        TbbJobs jobs(options.threads);
        LevelHost host;
        host.jobs = options.threads > 1 ? &jobs : nullptr;
        r = replay(bytes, host);
        r.level.reset();  // before the threads it may use
    }
    using Outcome = ReplayReport::Outcome;
    if (options.json) {
        JsonObject out;
        out.add("outcome", r.outcome == Outcome::same      ? "same"
                           : r.outcome == Outcome::differs ? "differs"
                                                           : "damaged")
            .add("first_tick", r.first_tick)
            .add("tick", r.tick)
            .add("calls", r.calls)
            .add("hash", hex(r.hash))
            .add("recorded_hash", hex(r.recorded_hash))
            .add("groups_that_differ", std::uint64_t(r.groups.size()))
            .add("what", r.outcome == Outcome::damaged ? r.error.message : r.what);
        std::cout << out.text() << "\n";
    } else {
        explain(options, r);
    }
    if (r.outcome != Outcome::same) throw ExitWith{r.outcome == Outcome::differs ? kDiffers : kDamaged};
}

}  // namespace

void add_replay(CLI::App& app) {
    CLI::App* command = app.add_subcommand(
        "replay", "Runs a recording again and compares every tick. Exit: 0 the same, 1 differs, 2 damaged");
    const auto options = std::make_shared<ReplayOptions>();
    command->add_option("FILE", options->file, "A recording: talus collapse --record, talus serve --record")
        ->required();
    command->add_flag("--json", options->json, "One line of JSON for programs");
    command
        ->add_option("--threads", options->threads, "Threads to use; the result is the same for any number")
        ->check(CLI::Range(1, 256));
    command->callback([options] { run_replay(*options); });
}

}  // namespace talus
