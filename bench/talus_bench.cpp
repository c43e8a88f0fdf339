// talus-bench - runs one rigid scene and reports times and errors, on our engine or on Bullet.
//
// talus-bench SCENE.txt --json [--engine talus|bullet] [--threads N] [--no-sleep] [--steps N]
// talus-bench town --json [--threads N]: a generated town of a million blocks under 200 blasts
// talus-bench sleepers --json: what a step costs beside bodies that sleep
#include "base/hash.h"
#include "bench_engine.h"
#include "overlap_check.h"
#include "scenes/rigid_scene.h"
#include "talus/space.h"
#include "town_bench.h"

#include <sys/resource.h>
#include <time.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace {

using namespace talus;
using namespace talus::bench;

double cpu_ms() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) * 1e3 + double(t.tv_nsec) * 1e-6;
}
double wall_ms() {
    using namespace std::chrono;
    return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

struct Times {
    std::vector<double> cpu, wall;
};

double mean(const std::vector<double>& v, std::size_t from, std::size_t to) {
    double sum = 0;
    for (std::size_t i = from; i < to; i++) sum += v[i];
    return to > from ? sum / double(to - from) : 0;
}

/// Least of several runs: others use the machine too. The first is a warm-up.
template <class F>
double least_us(int runs, int times, F&& f) {
    double best = 1e30;
    for (int run = 0; run <= runs; run++) {
        const double start = cpu_ms();
        for (int i = 0; i < times; i++) f(i);
        if (run > 0) best = std::min(best, (cpu_ms() - start) * 1000 / times);
    }
    return best;
}

/// Cubes asleep on a floor, two metres apart in rows, with a lane in the middle.
void add_sleepers(Space& space, int n) {
    space.set_ground(0.0);
    BodySettings b;
    b.asleep = true;
    for (int i = 0; i < n; i++) {
        b.pose.position = {2.0 * (i % 200), 0.5, (i < n / 2 ? 0 : 4) + 2.0 * (i / 200)};
        space.add_body(BodyShape::unit_cube(), b);
    }
}

/// A step beside them, with none awake or one that slides to and fro in the lane; then questions about them.
int run_sleepers(bool as_json) {
    const auto tell = [&](int sleepers, const char* what, double us) {
        std::printf(as_json ? "{\"sleepers\":%d,\"what\":\"%s\",\"us\":%.2f}\n" : "%6d asleep, %s: %.2f us\n",
                    sleepers, what, us);
    };
    for (const int awake : {0, 1})
        for (const int sleepers : {0, 1000, 10000, 40000}) {
            Space space;
            add_sleepers(space, sleepers);
            Body slider;
            if (awake) {
                BodySettings b;
                b.friction = 0;
                b.pose.position = {20, 0.5, 2 + 2.0 * (sleepers / 400)};
                slider = space.add_body(BodyShape::unit_cube(), b);
            }
            tell(sleepers, awake ? "step, one awake" : "step, none awake", least_us(11, 240, [&](int i) {
                     if (awake && i % 120 == 0) slider.set_velocity({i ? -2.0f : 2.0f, 0, 0});
                     space.step(1.0f / 60);
                 }));
        }
    for (const int sleepers : {1000, 10000, 40000}) {
        Space space;
        add_sleepers(space, sleepers);
        space.step(1.0f / 60);
        const auto ask = [&](const char* what, auto&& f) {
            tell(sleepers, what, least_us(11, 300, [&](int i) {
                     const double x = i * 7 % 200, z = i * 13 % 40;
                     f(DVec3{x, 8, z});
                 }));
        };
        ask("ray of 60 m", [&](DVec3 at) { space.cast_ray(at, {0.6f, -0.3f, 0.5f}, 60); });
        ask("ball of 20 m", [&](DVec3 at) { space.cast_sphere(at, 0.3f, {0.6f, -0.3f, 0.5f}, 20); });
        ask("bodies in 6 m", [&](DVec3 at) { space.bodies_in({at - DVec3{3, 8, 3}, at + DVec3{3, 0, 3}}); });
        ask("terrain_changed", [&](DVec3 at) {
            const Cell c{int(at.x), 20, int(at.z)};
            space.terrain_changed({c, c});
        });
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Runs a rigid scene and reports times and errors"};
    std::string file, engine_name = "talus";
    bool as_json = false, no_sleep = false;
    int steps = -1, after = 0;
    EngineOptions options;
    app.add_option("scene", file, "scene file, or: town, sleepers")->required();
    app.add_flag("--json", as_json, "one JSON object on stdout");
    app.add_option("--engine", engine_name)->check(CLI::IsMember({"talus", "bullet"}));
    app.add_option("--threads", options.threads)->check(CLI::PositiveNumber);
    app.add_flag("--no-sleep", no_sleep);
    app.add_option("--steps", steps);
    app.add_option("--then-awake", after,
                   "afterwards wake all, sleep off, for so many steps: how far sleepers move");
    TownOptions town;
    app.add_option("--rows", town.rows, "town: buildings in a row")->check(CLI::Range(1, 40));
    app.add_flag("--profile", town.profile, "town: where the time goes");
    CLI11_PARSE(app, argc, argv);
    if (file == "sleepers") return run_sleepers(as_json);
    if (file == "town") {
        town.threads = options.threads;
        town.as_json = as_json;
        return run_town(town);
    }

    std::ifstream in(file, std::ios::binary);
    if (!in) {
        std::fprintf(stderr, "talus-bench: cannot open %s\n", file.c_str());
        return 1;
    }
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const auto parsed = scenes::parse_rigid_scene(text);
    if (!parsed) {
        std::fprintf(stderr, "talus-bench: %s: %s\n", file.c_str(), parsed.error().message.c_str());
        return 1;
    }
    const scenes::RigidScene& scene = *parsed;
    options.sleep = !no_sleep;
    if (steps < 0) steps = scene.steps;
    std::unique_ptr<Engine> engine =
        engine_name == "talus" ? make_talus_engine(scene, options) : make_bullet_engine(scene, options);
    if (!engine) {
        std::fprintf(stderr, "talus-bench: built without %s\n", engine_name.c_str());
        return 1;
    }

    // An edit: one more cube out of the first piece, nine times.
    std::vector<double> edits;
    scenes::RigidPiece less;
    if (!scene.pieces.empty()) less = scene.pieces[0];
    if (less.cubes.size() > 9)
        for (int i = 0; i < 9; i++) {
            less.cubes.erase(less.cubes.begin() + std::ptrdiff_t(less.cubes.size() * std::size_t(i) / 9));
            edits.push_back(engine->edit(0, less));
        }
    if (!edits.empty()) {
        engine->edit(0, scene.pieces[0]);
        std::sort(edits.begin(), edits.end());
    }

    const std::size_t n = scene.pieces.size();
    auto energy = [&] {
        double e = 0;
        for (std::size_t i = 0; i < n; i++) e += engine->energy(i);
        return e;
    };
    std::vector<PiecePose> start;
    for (std::size_t i = 0; i < n; i++) start.push_back(engine->pose(i));
    Times times;
    const double e0 = energy();
    double last = e0, gain = 0;
    for (int i = 0; i < steps; i++) {
        const double c = cpu_ms(), w = wall_ms();
        engine->step(scene.dt);
        times.cpu.push_back(cpu_ms() - c);
        times.wall.push_back(wall_ms() - w);
        const double e = energy();
        gain = std::max(gain, e - last);
        last = e;
    }

    std::vector<PiecePose> end;
    int asleep = 0;
    double top = -1e30, top_moved = 0, top_sank = 0;
    for (std::size_t i = 0; i < n; i++) {
        end.push_back(engine->pose(i));
        asleep += engine->asleep(i);
        top = std::max(top, start[i].center.y);
    }
    BitHash hash;
    for (std::size_t i = 0; i < n; i++) {
        hash.add(end[i].center.x);
        hash.add(end[i].center.y);
        hash.add(end[i].center.z);
        for (const double q : end[i].q) hash.add(float(q));
        if (start[i].center.y < top - 1e-3) continue;
        const DVec3 d = end[i].center - start[i].center;
        top_moved = std::max(top_moved, std::sqrt(d.x * d.x + d.z * d.z));
        top_sank = std::max(top_sank, -d.y);
    }
    const OverlapReport overlaps = check_overlaps(scene, end);
    const std::size_t total = times.cpu.size(), window = std::min<std::size_t>(60, total);
    double worst = 0;
    for (std::size_t i = window; window > 0 && i <= total; i++)
        worst = std::max(worst, mean(times.cpu, i - window, i));
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);

    char hex[17];
    std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(hash.value()));
    nlohmann::ordered_json j;
    j["engine"] = engine_name;
    j["scene"] = file.substr(file.find_last_of('/') + 1);
    j["pieces"] = n;
    j["steps"] = steps;
    j["mean_ms"] = mean(times.cpu, 0, total);
    j["worst60_ms"] = worst;
    j["last60_ms"] = mean(times.cpu, total - window, total);
    j["wall_mean_ms"] = mean(times.wall, 0, total);
    j["asleep"] = asleep;
    j["overlap_terrain_m"] = overlaps.terrain;
    j["overlap_pair_m"] = overlaps.pair;
    j["below_floor"] = overlaps.below_floor;
    j["top_moved_m"] = top_moved;
    j["top_sank_m"] = top_sank;
    j["edit_ms"] = edits.empty() ? 0.0 : edits[edits.size() / 2];
    j["energy_gain_max"] = e0 != 0 ? gain / std::fabs(e0) : 0.0;
    j["memory_mb"] = double(usage.ru_maxrss) / 1024;
    j["hash"] = hex;
    if (after > 0) {
        std::vector<std::size_t> sleepers;
        for (std::size_t i = 0; i < n; i++)
            if (engine->asleep(i)) sleepers.push_back(i);
        engine->wake_all_for_good();
        for (int i = 0; i < after; i++) engine->step(scene.dt);
        double sum = 0, most = 0;
        for (const std::size_t i : sleepers) {
            const double d = length(engine->pose(i).center - end[i].center);
            sum += d;
            most = std::max(most, d);
        }
        j["sleepers_moved_mean_m"] = sleepers.empty() ? 0.0 : sum / double(sleepers.size());
        j["sleepers_moved_max_m"] = most;
    }
    if (as_json) {
        std::printf("%s\n", j.dump().c_str());
    } else {
        for (const auto& [key, value] : j.items())
            std::printf("%-20s %s\n", key.c_str(), value.dump().c_str());
    }
    return 0;
}
