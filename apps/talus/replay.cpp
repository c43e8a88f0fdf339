#include "commands.h"
#include "common.h"
#include "json_object.h"
#include "record_file.h"
#include "tbb_jobs.h"

#include "io/format/file.h"
#include "talus/recording.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>
#include <memory>

namespace talus {

namespace {

constexpr int kDiffers = 1, kDamaged = 2;

struct ReplayOptions {
    std::string file;
    bool json = false;
    int threads = 1;
};

void explain(const ReplayOptions& options, const ReplayReport& r) {
    const std::uint64_t ticks = r.tick - r.first_tick;
    const bool is_recording =
        r.level || r.error.code == ErrorCode::truncated || r.error.code == ErrorCode::corrupt;
    if (r.outcome == ReplayReport::Outcome::damaged && !is_recording) {
        const std::string& what = r.error.message;
        std::cerr << "talus: " << (what.rfind(options.file, 0) == 0 ? what : options.file + ": " + what)
                  << "\n";
        return;
    }
    std::cout << options.file << "\n";
    if (r.outcome == ReplayReport::Outcome::damaged) {
        std::cout << "DAMAGED: " << r.error.message << "\n";
        if (r.level)
            std::cout << "  " << counted(ticks, "tick", "ticks") << " before that gave what was recorded\n";
        return;
    }
    if (r.outcome == ReplayReport::Outcome::same) {
        std::cout << "THE SAME: " << counted(ticks, "tick", "ticks") << " and "
                  << counted(r.calls, "call", "calls") << " from outside; hash " << hex(r.hash) << "\n";
        return;
    }
    std::cout << "DIFFERS at tick " << r.tick << ": hash " << hex(r.hash) << ", recorded "
              << hex(r.recorded_hash) << "\n  what differs: " << r.what << "\n";
}

void run_replay(const ReplayOptions& options) {
    const auto bytes = read_file(options.file, kMaxRecording);
    ReplayReport r;
    if (!bytes) {
        r.outcome = ReplayReport::Outcome::damaged;
        r.error = bytes.error();
    } else {
        TbbJobs jobs(options.threads);
        LevelHost host;
        host.jobs = options.threads > 1 ? &jobs : nullptr;
        r = replay(*bytes, host);
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
            .add("groups_that_differ", std::vector<std::uint64_t>(r.groups.begin(), r.groups.end()))
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
        "replay", "Does a recording still give the same? Runs it again and compares every tick");
    const auto options = std::make_shared<ReplayOptions>();
    command
        ->add_option("FILE", options->file,
                     "A recording, made with --record by 'talus collapse' or 'talus serve'")
        ->required()
        ->type_name("");
    command->add_flag("--json", options->json, "Answer with one line of JSON, for programs");
    add_threads(*command, options->threads);
    command->footer("Exit: 0 the same, 1 differs, 2 damaged, no recording at all, or bad usage.");
    command->callback([options] { run_replay(*options); });
}

}  // namespace talus
