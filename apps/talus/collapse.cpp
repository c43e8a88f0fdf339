#include "commands.h"
#include "common.h"
#include "json_object.h"
#include "level_options.h"
#include "record_file.h"
#include "tbb_jobs.h"

#include "scenes/collapse_scene.h"
#include "talus/level.h"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

namespace talus {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSeconds = 10;      // unless given
constexpr double kMovedLimit = 0.5;  // m: a build that moved further does not stand any more

struct CollapseOptions {
    InputOptions input;
    EditOptions edits;
    LevelOptions level;
    double seconds = -1;  // negative: not given
    int threads = 1;
    std::string save, record;
};

struct Outcome {
    LevelStats stats;
    std::size_t blocks_before = 0, blocks_after = 0, fallen = 0;
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

/// In a scene coordinates are those of the world.
void apply(Level& level, const Edit& edit) {
    if (edit.kind == Edit::Kind::blast) {
        level.blast(center_of(edit.box.min), edit.power);
    } else {
        const DVec3 half{0.5, 0.5, 0.5};
        if (level.carve({center_of(edit.box.min) - half, center_of(edit.box.max) + half}) == 0)
            warn_no_block(edit);
    }
}

/// A group as it stood at the start.
struct Standing {
    GroupId id;
    Vec3 middle;  // of its blocks, in its frame
    DVec3 at;     // the same, in the world
};

std::vector<Standing> standing_groups(const Level& level) {
    std::vector<Standing> out;
    for (const GroupId id : level.groups()) {
        const auto group = level.group(id);
        const CellBox b = group->grid->bounds();
        const Vec3 middle{float(b.min.x + b.max.x + 1) / 2, float(b.min.y + b.max.y + 1) / 2,
                          float(b.min.z + b.max.z + 1) / 2};
        out.push_back({id, middle, group->body.to_world(middle)});
    }
    return out;
}

/// Blocks of structures in the terrain.
std::size_t marked_blocks(const Level& level) {
    std::size_t n = 0;
    for (const StructureId id : level.structures()) n += level.structure(id)->grid->block_count();
    return n;
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
    level.terrain().for_each([&](Cell cell, BlockId block) { out.set(cell, block); });
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

/// Of a model, or of a scene.
Outcome simulate(const CollapseOptions& options, const std::vector<Edit>& edits,
                 const std::optional<Model>& model, const CollapseScene* scene, int ticks, bool progress) {
    TbbJobs jobs(options.threads);
    LevelSettings settings = collapse_scene_settings();
    if (model) settings.ground = lowest_solid_layer(model->grid);
    settings.floor = *settings.ground;
    options.level.apply(settings);
    settings.jobs = options.threads > 1 ? &jobs : nullptr;
    std::optional<RecordFile> record;
    Level level(settings);
    options.level.protect(level);
    if (!options.record.empty()) start_recording(level, record.emplace(options.record, kMaxRecording));
    Outcome out;
    GroupId build;
    if (model)
        build = level.add_group(level.import(model->grid), {.bears_load = true, .asleep = true});
    else
        scene->build(level);
    const std::vector<Standing> stood = standing_groups(level);
    out.blocks_before = level.stats().blocks + marked_blocks(level);
    for (const Edit& edit : edits) {
        if (model)
            apply(level, build, edit);
        else
            apply(level, edit);
    }
    if (model) level.check_structure_soon(build);
    const int action_ticks = scene && edits.empty() ? scene->action_ticks : 0;

    double total = 0;
    auto last_said = Clock::now();
    for (int i = 0; i < ticks; i++) {
        const auto start = Clock::now();
        if (i < action_ticks) scene->act(level, i);
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
    out.fallen = out.stats.blocks;
    for (const Standing& then : stood) {
        const auto now = level.group(then.id);
        if (now && length(now->body.to_world(then.middle) - then.at) <= kMovedLimit)
            out.fallen -= now->grid->block_count();
    }
    out.blocks_after = out.stats.blocks + marked_blocks(level);
    stop_recording(level);
    if (record && !record->fault().empty()) throw BadInput(record->fault());
    if (!options.save.empty()) save_schem(level, options.save);
    return out;
}

std::string scene_names() {
    std::string names;
    for (const CollapseScene& scene : collapse_scenes())
        names += (names.empty() ? "" : ", ") + std::string(scene.name);
    return names;
}

void explain(const CollapseOptions& options, int ticks, const Outcome& o) {
    std::cout << options.input.file << "\n";
    if (o.blocks_after == 0)
        std::cout << "NOTHING IS LEFT of " << counted(o.blocks_before, "block", "blocks") << ".\n";
    else if (o.fallen == 0)
        std::cout << "STANDS: " << counted(o.blocks_after, "block", "blocks") << ", none has fallen.\n";
    else if (o.fallen == o.blocks_after)
        std::cout << "FELL: all " << counted(o.fallen, "block", "blocks") << " came down.\n";
    else
        std::cout << "FELL IN PART: " << counted(o.fallen, "block", "blocks") << " came down, "
                  << grouped(o.blocks_after - o.fallen) << " still stand.\n";
    std::cout << "  " << counted(o.stats.destroyed, "block", "blocks") << " destroyed; "
              << counted(o.stats.groups, "piece", "pieces") << ", " << grouped(o.stats.awake)
              << " of them moving after " << options.seconds << " s\n";
    char text[96];
    std::snprintf(text, sizeof text, "  %d ticks, %.2f ms each, the longest %.2f ms; hash ", ticks,
                  o.tick_ms_mean, o.tick_ms_max);
    std::cout << text << hex(o.hash) << "\n";
    if (!options.save.empty()) std::cout << "  saved as " << options.save << "\n";
    if (!options.record.empty()) std::cout << "  to see it again: talus replay " << options.record << "\n";
}

void run_collapse(CollapseOptions options) {
    // Bad usage comes before bad input.
    const std::vector<Edit> edits = options.edits.edits();
    LevelSettings tried;
    options.level.apply(tried);
    // A file of that name comes first.
    const CollapseScene* scene = nullptr;
    if (!std::filesystem::exists(options.input.file)) scene = find_collapse_scene(options.input.file);
    if (!scene && options.input.file.find_first_of("./") == std::string::npos &&
        !std::filesystem::exists(options.input.file))
        throw BadInput(options.input.file + " is no file and no scene; the scenes are " + scene_names());
    if (scene && !options.input.materials.empty())
        throw BadInput("--materials is for files, a scene has its own");
    std::optional<Model> model;
    if (!scene) model = options.input.load();
    constexpr int kTicksPerSecond = LevelSettings{}.ticks_per_second;
    if (options.seconds < 0) options.seconds = scene ? double(scene->ticks) / kTicksPerSecond : kSeconds;
    const int ticks = int(std::lround(options.seconds * kTicksPerSecond));
    const bool progress = !options.input.json && isatty(STDERR_FILENO);
    const Outcome o = simulate(options, edits, model, scene, ticks, progress);
    if (!options.input.json) return explain(options, ticks, o);
    JsonObject out;
    out.add("ticks", std::uint64_t(ticks))
        .add("groups", std::uint64_t(o.stats.groups))
        .add("awake", std::uint64_t(o.stats.awake))
        .add("fallen_blocks", std::uint64_t(o.fallen))
        .add("blocks_before", std::uint64_t(o.blocks_before))
        .add("blocks_after", std::uint64_t(o.blocks_after))
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
    command->get_option("FILE")->description("A .vox or .schem file, or a scene: " + scene_names());
    options->edits.add_to(*command, true);
    options->level.add_to(*command);
    command
        ->add_option("--seconds", options->seconds,
                     "Time in the world to let pass (default: 10, or the scene's own)")
        ->type_name("SECONDS")
        ->check(in_range(0, 86400));
    add_threads(*command, options->threads);
    command
        ->add_option("--record", options->record, "Write a recording, to run again with 'talus replay FILE'")
        ->type_name("FILE");
    command->add_option("--save", options->save, "Write what is left as a .schem file")->type_name("FILE");
    command->callback([options] { run_collapse(*options); });
}

}  // namespace talus
