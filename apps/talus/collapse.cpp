#include "commands.h"
#include "common.h"
#include "json_object.h"
#include "tbb_jobs.h"

#include "talus/level.h"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>

namespace talus {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMovedLimit = 0.5;  // m: a build that moved further does not stand any more

struct CollapseOptions {
    InputOptions input;
    EditOptions edits;
    double seconds = 10;
    int threads = 1;
    std::string save;
};

struct Outcome {
    LevelStats stats;
    std::size_t blocks_before = 0, fallen = 0;
    double tick_ms_mean = 0, tick_ms_max = 0;
    std::uint64_t hash = 0;
};

DVec3 center_of(Cell cell) { return {cell.x + 0.5, cell.y + 0.5, cell.z + 0.5}; }

void apply(Level& level, GroupId build, const Edit& edit) {
    std::size_t touched = 0;
    if (edit.kind == Edit::Kind::blast) {
        level.blast(center_of(edit.box.min), edit.power);
        return;
    }
    if (const auto group = level.group(build)) {
        // Only the build is here: walk the smaller of its bounds and the box.
        const CellBox bounds = group->grid->bounds();
        const Cell lo{std::max(bounds.min.x, edit.box.min.x), std::max(bounds.min.y, edit.box.min.y),
                      std::max(bounds.min.z, edit.box.min.z)};
        const Cell hi{std::min(bounds.max.x, edit.box.max.x), std::min(bounds.max.y, edit.box.max.y),
                      std::min(bounds.max.z, edit.box.max.z)};
        const Cause cause = edit.kind == Edit::Kind::carve ? Cause::carve : Cause::mined;
        for (int y = lo.y; y <= hi.y; y++)
            for (int z = lo.z; z <= hi.z; z++)
                for (int x = lo.x; x <= hi.x; x++) touched += level.remove_block(build, {x, y, z}, cause);
    }
    if (touched == 0) warn_no_block(edit);
}

/// The rotation by right angles nearest to a group's.
struct RightAngles {
    int axis[3];  // image of local x, y, z: which world axis
    int sign[3];
};

RightAngles nearest_right_angles(Quat rotation) {
    const Mat3 m = to_matrix(rotation);
    RightAngles best{};
    float best_score = -4;
    constexpr int kOrders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    for (int o = 0; o < 6; o++)
        for (int s = 0; s < 8; s++) {
            RightAngles r{};
            float score = 0;
            int sign = o < 3 ? 1 : -1;  // of the permutation
            for (int k = 0; k < 3; k++) {
                r.axis[k] = kOrders[o][k];
                r.sign[k] = s >> k & 1 ? -1 : 1;
                sign *= r.sign[k];
                score += m.m[r.axis[k]][k] * float(r.sign[k]);
            }
            if (sign > 0 && score > best_score) {
                best_score = score;
                best = r;
            }
        }
    return best;
}

/// Everything that is left as one grid: each group where it lies, turned to the nearest right angle about its
/// centre of mass. A block whose cell is taken goes to the nearest free one above, so that none is lost.
Grid frozen(const Level& level) {
    Grid out(level.table());
    for (GroupId id : level.groups()) {
        const auto group = level.group(id);
        const RightAngles turn = nearest_right_angles(group->pose.rotation);
        const DVec3 local = to_double(group->body.local_center_of_mass());
        const DVec3 center = group->body.center_of_mass();
        group->grid->for_each([&](Cell cell, BlockId block) {
            const DVec3 r = center_of(cell) - local;
            DVec3 p = center;
            for (int k = 0; k < 3; k++) p[turn.axis[k]] += r[k] * turn.sign[k];
            Cell at{int(std::floor(p.x + 1e-4)), int(std::floor(p.y + 1e-4)), int(std::floor(p.z + 1e-4))};
            while (out.has(at)) at.y++;
            out.set(at, block);
        });
    }
    return out;
}

void save_schem(const Level& level, const std::string& path) {
    const auto bytes = write_schem(frozen(level));
    if (!bytes) throw BadInput("cannot save " + path + ": " + bytes.error().message);
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes->data()), std::streamsize(bytes->size()));
    file.close();
    if (!file) throw BadInput("cannot write " + path);
}

Outcome simulate(const CollapseOptions& options, const std::vector<Edit>& edits, const Model& model,
                 int ticks, bool progress) {
    TbbJobs jobs(options.threads);
    LevelSettings settings;
    settings.ground = lowest_solid_layer(model.grid);
    settings.floor = *settings.ground;
    settings.jobs = options.threads > 1 ? &jobs : nullptr;
    Level level(settings);
    Outcome out;
    out.blocks_before = model.grid.block_count();
    const GroupId build = level.add_group(level.import(model.grid), {.bears_load = true, .asleep = true});
    const DVec3 middle = [&] {
        const CellBox b = model.grid.bounds();
        return DVec3{(b.min.x + b.max.x + 1) * 0.5, (b.min.y + b.max.y + 1) * 0.5,
                     (b.min.z + b.max.z + 1) * 0.5};
    }();
    for (const Edit& edit : edits) apply(level, build, edit);
    level.check_structure_soon(build);

    double total = 0;
    auto last_said = Clock::now();
    for (int i = 0; i < ticks; i++) {
        const auto start = Clock::now();
        level.tick();
        level.clear_events();
        const auto end = Clock::now();
        const double ms = std::chrono::duration<double, std::milli>(end - start).count();
        total += ms;
        out.tick_ms_max = std::max(out.tick_ms_max, ms);
        if (progress && end - last_said > std::chrono::seconds(1)) {
            last_said = end;
            const LevelStats s = level.stats();
            std::fprintf(stderr, "\r%3d %%  %zu groups, %zu awake   ", 100 * (i + 1) / ticks, s.groups,
                         s.awake);
        }
    }
    if (progress) std::fprintf(stderr, "\r                                        \r");
    out.tick_ms_mean = ticks ? total / ticks : 0;
    out.stats = level.stats();
    out.hash = level.hash();
    const auto standing = level.group(build);
    const bool stands = standing && length(standing->body.to_world(to_float(middle)) - middle) <= kMovedLimit;
    out.fallen = out.stats.blocks - (stands ? standing->grid->block_count() : 0);
    if (!options.save.empty()) save_schem(level, options.save);
    return out;
}

std::string hex(std::uint64_t value) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

void explain(const CollapseOptions& options, int ticks, const Outcome& o) {
    std::cout << options.input.file << "\n";
    if (o.stats.blocks == 0)
        std::cout << "NOTHING IS LEFT of " << counted(o.blocks_before, "block", "blocks") << ".\n";
    else if (o.fallen == 0)
        std::cout << "STANDS: " << counted(o.stats.blocks, "block", "blocks") << ", none has fallen.\n";
    else if (o.fallen == o.stats.blocks)
        std::cout << "FELL: all " << counted(o.fallen, "block", "blocks") << " came down.\n";
    else
        std::cout << "FELL IN PART: " << counted(o.fallen, "block", "blocks") << " came down, "
                  << grouped(o.stats.blocks - o.fallen) << " still stand.\n";
    std::cout << "  " << counted(o.stats.destroyed, "block", "blocks") << " destroyed; "
              << counted(o.stats.groups, "piece", "pieces") << ", " << grouped(o.stats.awake)
              << " of them moving after " << options.seconds << " s\n";
    char text[96];
    std::snprintf(text, sizeof text, "  %d ticks, %.2f ms each, the longest %.2f ms; hash ", ticks,
                  o.tick_ms_mean, o.tick_ms_max);
    std::cout << text << hex(o.hash) << "\n";
    if (!options.save.empty()) std::cout << "  saved as " << options.save << "\n";
}

void run_collapse(const CollapseOptions& options) {
    const std::vector<Edit> edits = options.edits.edits();  // bad usage comes before bad input
    const Model model = options.input.load();
    const int ticks = int(std::lround(options.seconds * LevelSettings{}.ticks_per_second));
    const bool progress = !options.input.json && isatty(STDERR_FILENO);
    const Outcome o = simulate(options, edits, model, ticks, progress);
    if (!options.input.json) return explain(options, ticks, o);
    JsonObject out;
    out.add("ticks", std::uint64_t(ticks))
        .add("groups", std::uint64_t(o.stats.groups))
        .add("awake", std::uint64_t(o.stats.awake))
        .add("fallen_blocks", std::uint64_t(o.fallen))
        .add("blocks_before", std::uint64_t(o.blocks_before))
        .add("blocks_after", std::uint64_t(o.stats.blocks))
        .add("blocks_destroyed", o.stats.destroyed)
        .add("tick_ms_mean", o.tick_ms_mean)
        .add("tick_ms_max", o.tick_ms_max)
        .add("hash", hex(o.hash));
    std::cout << out.text() << "\n";
}

}  // namespace

void add_collapse(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("collapse", "What comes down? Lets the build stand, be hit and fall");
    const auto options = std::make_shared<CollapseOptions>();
    options->input.add_to(*command);
    options->edits.add_to(*command, true);
    command->add_option("--seconds", options->seconds, "Game time to run")
        ->required()
        ->check(CLI::Range(0.0, 86400.0));
    command
        ->add_option("--threads", options->threads, "Threads to use; the result is the same for any number")
        ->check(CLI::Range(1, 256));
    command->add_option("--save", options->save, "Write what is left as a .schem file");
    command->callback([options] { run_collapse(*options); });
}

}  // namespace talus
