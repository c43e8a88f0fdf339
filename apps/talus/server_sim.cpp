#include "server_sim.h"

#include "record_file.h"
#include "scenes/collapse_scene.h"
#include "scenes/demo_town.h"
#include "talus/level.h"
#include "talus/level_encoder.h"
#include "tbb_jobs.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace talus {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxWaiting = 2000;  // requests between two ticks
constexpr std::size_t kMaxReading = 4;     // uploads waiting to be read
constexpr std::size_t kMaxModelBlocks = 2'000'000;
constexpr std::size_t kMaxWorldBlocks = 6'000'000;
constexpr std::size_t kMaxWorldBricks = kMaxBricks * 3 / 4;
constexpr auto kMaxBehind = std::chrono::milliseconds(250);

/// Height of the highest solid block of each column of a terrain.
class Columns {
 public:
    explicit Columns(const Grid& terrain) {
        terrain.for_each([&](Cell c, BlockId id) {
            if (!terrain.table().flags(id).solid) return;
            const auto [it, fresh] = top_.try_emplace({c.x, c.z}, c.y + 1);
            if (!fresh && it->second < c.y + 1) it->second = c.y + 1;
        });
    }
    /// The one height of a rectangle of columns; nullopt when it is not level.
    std::optional<double> level(int x0, int z0, int x1, int z1, double cell, double ground) const {
        std::optional<double> height;
        for (int z = z0; z <= z1; z++)
            for (int x = x0; x <= x1; x++) {
                const auto it = top_.find({x, z});
                const double h = it == top_.end() ? ground : std::max(ground, it->second * cell);
                if (height && *height != h) return std::nullopt;
                height = h;
            }
        return height;
    }

 private:
    std::map<std::pair<int, int>, int> top_;
};

/// A level place for a build of the given size, free of groups, as near to the middle as there is one.
/// @return where its minimum corner goes
std::optional<DVec3> free_place(Level& level, const Columns& columns, DVec3 middle, Cell size) {
    const double cell = level.settings().cell_size, ground = level.settings().ground.value_or(0);
    const int step = std::max(2, std::min(size.x, size.z) / 4);
    const auto middle_x = int(std::floor(middle.x / cell)) - size.x / 2;
    const auto middle_z = int(std::floor(middle.z / cell)) - size.z / 2;
    for (int ring = 0; ring < 600; ring++)
        for (int side = 0; side < (ring == 0 ? 1 : 4); side++)
            for (int k = -ring; k < std::max(ring, 1); k++) {
                const int u = side == 0 ? k : side == 1 ? ring : side == 2 ? -k : -ring;
                const int v = side == 0 ? -ring : side == 1 ? k : side == 2 ? ring : -k;
                const int x = middle_x + u * step, z = middle_z + v * step;
                // A cell to spare on each side; corners and middle first, most places fail there.
                const int x0 = x - 1, z0 = z - 1, x1 = x + size.x, z1 = z + size.z;
                const DBox column{{x0 * cell, ground + 0.01, z0 * cell},
                                  {(x1 + 1) * cell, ground + 1e4, (z1 + 1) * cell}};
                if (!level.space().bodies_in(column).empty()) continue;
                const auto height = columns.level(x0, z0, x1, z1, cell, ground);
                if (height) return DVec3{x * cell, *height, z * cell};
            }
    return std::nullopt;
}

std::size_t brick_count(const Level& level) {
    std::size_t n = level.terrain().bricks().size();
    for (const GroupId id : level.groups()) n += level.group(id)->grid->bricks().size();
    return n;
}

class LogToSpd final : public LogSink {
 public:
    void log(LogLevel level, std::string_view message) override {
        switch (level) {
            case LogLevel::debug:
                return spdlog::debug("{}", message);
            case LogLevel::info:
                return spdlog::info("{}", message);
            case LogLevel::warning:
                return spdlog::warn("{}", message);
            case LogLevel::error:
                return spdlog::error("{}", message);
        }
    }
};

}  // namespace

struct Simulation::State {
    struct Waiting {
        ClientId client;
        ClientRequest request;
    };
    struct Uploaded {
        ClientId client;
        std::string name;
        Result<Model> model;
    };

    State(SimulationSettings s, SimulationSink& to)
        : settings(std::move(s)), sink(to), jobs(settings.threads) {}

    SimulationSettings settings;
    SimulationSink& sink;
    TbbJobs jobs;
    LogToSpd log;

    // Of the simulation's thread.
    bool record_ended = false;
    std::unique_ptr<Level> level;
    std::unique_ptr<Columns> columns;
    DVec3 middle;
    LevelEncoder encoder;
    const CollapseScene* scene = nullptr;  // null: what the server was started with
    int acting = -1;  // ticks since the scene's action was started; -1: it is not under way
    double tick_ms = 0;

    std::mutex mutex;  // guards what follows
    std::condition_variable wake, wake_reader;
    bool stopping = false;
    std::vector<Waiting> waiting;
    std::set<ClientId> joining;
    std::deque<Waiting> to_read;
    std::vector<Uploaded> read;
    std::thread ticker, reader;

    void run();
    void run_reader();
    void rebuild();
    void build_start();
    /// Before each tick.
    void go_on_acting();
    void say(ClientId client, bool error, const std::string& text);
    /// @return the whole world is new
    bool apply(Waiting& w);
    /// @return why not, or empty
    std::string stand(const Model& model, const std::string& name);
};

void Simulation::State::rebuild() {
    columns.reset();
    level.reset();  // before the new one: two worlds may not fit
    encoder.forget();
    acting = -1;
    LevelSettings s = collapse_scene_settings();  // flat ground at 0
    if (!scene && settings.start.empty()) s = demo_town_settings();
    settings.level.apply(s);
    s.jobs = settings.threads > 1 ? &jobs : nullptr;
    s.log = &log;
    level = std::make_unique<Level>(s);
    settings.level.protect(*level);
    middle = {};
    if (scene)
        scene->build(*level);
    else
        build_start();
    if (!columns) columns = std::make_unique<Columns>(level->terrain());
    level->clear_events();
    if (!settings.record) return;
    settings.record->restart();
    record_ended = false;
    start_recording(*level, *settings.record);
}

void Simulation::State::build_start() {
    if (settings.start.empty()) {
        build_demo_town(*level);
        const CellBox box = level->terrain().bounds();
        middle = {(box.min.x + box.max.x) * 0.5, 0, (box.min.z + box.max.z) * 0.5};
    }
    columns = std::make_unique<Columns>(level->terrain());
    for (const Model& model : settings.start) {
        const std::string fault = stand(model, model.format);
        if (!fault.empty()) spdlog::error("a start file is left out: {}", fault);
    }
}

void Simulation::State::go_on_acting() {
    if (acting < 0) return;
    scene->act(*level, acting++);
    if (acting == scene->action_ticks) acting = -1;
}

std::string Simulation::State::stand(const Model& model, const std::string& name) {
    const std::size_t blocks = model.grid.block_count();
    if (model.grid.solid_count() == 0) return name + " has no solid block";
    if (blocks > kMaxModelBlocks)
        return name + " has " + std::to_string(blocks) + " blocks, the limit is " +
               std::to_string(kMaxModelBlocks);
    if (level->stats().blocks + blocks > kMaxWorldBlocks ||
        brick_count(*level) + model.grid.bricks().size() > kMaxWorldBricks)
        return "the world is full; reset it to make room for " + name;
    const CellBox box = model.grid.bounds();
    const Cell size = box.max - box.min + Cell{1, 1, 1};
    const auto place = free_place(*level, *columns, middle, size);
    if (!place) return "there is no free level place for " + name;
    const double cell = level->settings().cell_size;
    GroupSettings group;
    group.pose.position = *place - DVec3{box.min.x * cell, box.min.y * cell, box.min.z * cell};
    group.bears_load = true;
    group.asleep = true;
    Grid grid = level->import(model.grid);
    if (grid.block_count() != blocks) return "the world has too many kinds of blocks to hold " + name;
    level->check_structure_soon(level->add_group(std::move(grid), group));
    return {};
}

void Simulation::State::say(ClientId client, bool error, const std::string& text) {
    sink.send(client, std::make_shared<const std::vector<std::uint8_t>>(encode_notice(error, text)), false);
}

bool Simulation::State::apply(Waiting& w) {
    if (const auto* blast = std::get_if<BlastRequest>(&w.request)) {
        level->blast(blast->point, blast->power);
    } else if (const auto* dig = std::get_if<DigRequest>(&w.request)) {
        if (dig->group == kTerrainId) {
            level->break_terrain(dig->cell);
        } else if (const auto group = encoder.find(dig->group)) {
            level->remove_block(*group, dig->cell);
        }  // else it went while the request was on its way
    } else if (std::holds_alternative<ResetRequest>(w.request)) {
        spdlog::info("client {}: reset", w.client);
        rebuild();
        return true;
    } else if (const auto* chosen = std::get_if<SceneRequest>(&w.request)) {
        const auto scenes = collapse_scenes();
        if (chosen->number > scenes.size()) {
            spdlog::warn("client {}: refused: scene {}", w.client, chosen->number);
            say(w.client, true, "there is no such scene");
            return false;
        }
        scene = chosen->number ? &scenes[chosen->number - 1] : nullptr;
        encoder.menu.current = chosen->number;
        spdlog::info("client {}: scene {}", w.client, encoder.menu.entries[chosen->number].title);
        rebuild();
        return true;
    } else {  // an action
        const char* fault = !scene ? "this world has no action" : acting >= 0 ? "it is under way" : nullptr;
        spdlog::info("client {}: action: {}", w.client, fault ? fault : scene->action);
        if (fault)
            say(w.client, true, fault);
        else
            acting = 0;
    }
    return false;
}

void Simulation::State::run() {
    const auto tick_time = std::chrono::nanoseconds(1'000'000'000 / level->settings().ticks_per_second);
    auto next = Clock::now();
    auto last_complaint = next - std::chrono::hours(1);
    std::uint64_t skipped = 0;
    std::unique_lock lock(mutex);
    while (!stopping) {
        std::vector<Waiting> requests = std::exchange(waiting, {});
        std::vector<Uploaded> uploads = std::exchange(read, {});
        const std::set<ClientId> joins = std::exchange(joining, {});
        lock.unlock();

        bool rebuilt = false;
        for (Waiting& w : requests) rebuilt |= apply(w);
        for (Uploaded& u : uploads) {
            const std::string fault = u.model ? stand(*u.model, u.name) : u.model.error().message;
            spdlog::info("client {}: upload of {}: {}", u.client, u.name, fault.empty() ? "stands" : fault);
            say(u.client, !fault.empty(), fault.empty() ? u.name + " stands" : fault);
        }
        const auto begin = Clock::now();
        go_on_acting();
        level->tick();
        if (settings.record && !settings.record->fault().empty() && !std::exchange(record_ended, true))
            spdlog::warn("{}", settings.record->fault());
        tick_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
        auto message =
            std::make_shared<const std::vector<std::uint8_t>>(encoder.tick_message(*level, float(tick_ms)));
        level->clear_events();
        if (!rebuilt) sink.broadcast(message, false);
        if (rebuilt || !joins.empty()) {
            const auto full =
                std::make_shared<const std::vector<std::uint8_t>>(encoder.full_state(*level, float(tick_ms)));
            if (rebuilt) sink.broadcast(full, true);
            for (const ClientId client : joins)
                if (!rebuilt) sink.send(client, full, true);
        }

        next += tick_time;
        const auto now = Clock::now();
        if (now > next + kMaxBehind) {
            // No spiral: what was missed is not made up for, the world runs slower.
            skipped += std::uint64_t((now - next) / tick_time);
            next = now;
            if (now - last_complaint > std::chrono::seconds(5)) {
                spdlog::warn(
                    "behind time: {} ticks left out since the last warning; the last one took {:.1f} ms",
                    skipped, tick_ms);
                last_complaint = now;
                skipped = 0;
            }
        }
        lock.lock();
        wake.wait_until(lock, next, [&] { return stopping; });
    }
}

void Simulation::State::run_reader() {
    std::unique_lock lock(mutex);
    for (;;) {
        wake_reader.wait(lock, [&] { return stopping || !to_read.empty(); });
        if (stopping) return;
        Waiting w = std::move(to_read.front());
        lock.unlock();
        auto& upload = std::get<UploadRequest>(w.request);
        Result<Model> model = [&]() -> Result<Model> {
            try {
                return parse_model(upload.bytes, upload.name, settings.catalog);
            } catch (const std::bad_alloc&) {
                return Error{ErrorCode::too_large, upload.name + " does not fit into memory"};
            }
        }();
        lock.lock();
        to_read.pop_front();
        read.push_back({w.client, std::move(upload.name), std::move(model)});
    }
}

Simulation::Simulation(SimulationSettings settings, SimulationSink& sink)
    : state_(std::make_unique<State>(std::move(settings), sink)) {}

Simulation::~Simulation() { stop(); }

void Simulation::start() {
    State& s = *state_;
    s.encoder.menu.entries.push_back({s.settings.start.empty() ? "a small town" : "as started", ""});
    for (const CollapseScene& scene : collapse_scenes())
        s.encoder.menu.entries.push_back({scene.title, scene.action});
    s.rebuild();
    s.ticker = std::thread([&s] {
        try {
            s.run();
        } catch (const std::exception& error) {
            spdlog::critical("the world stops: {}", error.what());
        }
    });
    s.reader = std::thread([&s] { s.run_reader(); });
}

void Simulation::stop() {
    State& s = *state_;
    {
        const std::lock_guard lock(s.mutex);
        s.stopping = true;
    }
    s.wake.notify_all();
    s.wake_reader.notify_all();
    if (s.ticker.joinable()) s.ticker.join();
    if (s.reader.joinable()) s.reader.join();
}

void Simulation::join(ClientId client) {
    const std::lock_guard lock(state_->mutex);
    state_->joining.insert(client);
}

bool Simulation::post(ClientId client, ClientRequest request) {
    State& s = *state_;
    const std::lock_guard lock(s.mutex);
    if (std::holds_alternative<UploadRequest>(request)) {
        if (s.to_read.size() >= kMaxReading) return false;
        s.to_read.push_back({client, std::move(request)});
        s.wake_reader.notify_one();
        return true;
    }
    if (s.waiting.size() >= kMaxWaiting) return false;
    s.waiting.push_back({client, std::move(request)});
    return true;
}

}  // namespace talus
