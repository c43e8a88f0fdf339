#include "base/call_log.h"
#include "dynamics/archive.h"
#include "dynamics/state.h"
#include "world/archive.h"
#include "world/recording.h"

#include <algorithm>
#include <tuple>

namespace talus {

namespace {

/// Frames of a recording, one after the other.
class Frames {
 public:
    explicit Frames(ByteSpan bytes) : bytes_(bytes) {}

    bool open(Error& error) {
        ByteReader head(bytes_);
        if (head.get<std::uint64_t>() != kRecordMagic) {
            error = {ErrorCode::bad_format, "this is no recording"};
            return false;
        }
        const auto version = head.get<std::uint32_t>();
        if (!head.ok() || version == 0) {
            error = {ErrorCode::truncated, "the recording ends within its head"};
            return false;
        }
        if (version != kRecordVersion) {
            error = {ErrorCode::unsupported,
                     "a recording of version " + std::to_string(version) +
                         (version > kRecordVersion ? ", newer than " : ", older than ") +
                         std::to_string(kRecordVersion)};
            return false;
        }
        at_ = kRecordHead;
        return true;
    }
    bool at_end() const { return at_ == bytes_.size(); }
    /// @return false and tells why
    bool next(ByteSpan& content, Error& error) {
        const std::string where = "frame " + std::to_string(number_) + " at byte " + std::to_string(at_);
        ByteReader head(bytes_.subspan(at_));
        const auto size = head.get<std::uint32_t>(), sum = head.get<std::uint32_t>();
        if (!head.ok() || size > head.left()) {
            error = {ErrorCode::truncated, where + ": the recording ends within it"};
            return false;
        }
        content = head.raw(size);
        if (std::uint32_t(checksum(content, number_)) != sum) {
            error = {ErrorCode::corrupt, where + ": its bytes are not those that were written"};
            return false;
        }
        start_ = at_;
        at_ += kFrameHead + size;
        number_++;
        return true;
    }
    /// Of the frame last read.
    std::string place() const {
        return "frame " + std::to_string(number_ - 1) + " at byte " + std::to_string(start_) + ": ";
    }

 private:
    ByteSpan bytes_;
    std::size_t at_ = 0, start_ = 0;
    std::uint64_t number_ = 0;
};

class Replayer {
 public:
    Replayer(ReplayReport& report, Level& level, TerrainTape& tape, DensityTape& samples,
             const LevelHost& host)
        : report_(report),
          level_(level),
          state_(level.state()),
          tape_(tape),
          samples_(samples),
          host_(host) {}

    /// One call. What tick_done says belongs to the frames before it, and is read first.
    void run(Call call, ByteReader& a) {
        report_.calls += call != Call::tick && call != Call::block_types && call != Call::tick_done &&
                         call != Call::smooth_samples;
        if ((call >= Call::body_set_pose && call <= Call::body_set_shape) ||
            call == Call::body_set_continuous || call == Call::body_set_damping ||
            call == Call::body_change_blocks)
            return run_body(call, a);
        if (call == Call::space_ask_again) return run_space(call, a);
        if (call >= Call::space_set_paused && call <= Call::space_step) return run_space(call, a);
        run_level(call, a);
    }

    /// @return false when it differs
    bool compare(ByteReader& a) {
        const auto tick = a.get<std::uint64_t>(), hash = a.get<std::uint64_t>(),
                   counters = a.get<std::uint64_t>();
        const auto n = a.get<std::uint32_t>();
        std::map<std::uint32_t, std::uint8_t> awake;
        for (std::uint32_t i = 0; i < n && a.ok(); i++) {
            const auto index = a.get<std::uint32_t>();
            awake[index] = a.get<std::uint8_t>();
        }
        if (!a.ok()) return true;
        report_.tick = state_.tick;
        report_.hash = level_.hash();
        report_.recorded_hash = hash;
        const bool same = report_.hash == hash && counters_of(state_) == counters && state_.tick == tick &&
                          !tape_.out_of_step() && !samples_.out_of_step();
        if (same) return true;
        for (const auto& slot : state_.slots) {
            if (!slot || slot->body.is_asleep()) continue;
            const auto it = awake.find(slot->id.index);
            if (it == awake.end() || it->second != digest_of(*slot)) report_.groups.push_back(slot->id.index);
            if (it != awake.end()) awake.erase(it);
        }
        for (const auto& [index, digest] : awake) report_.groups.push_back(index);
        std::sort(report_.groups.begin(), report_.groups.end());
        auto add = [&](bool differs, const std::string& what) {
            if (differs) report_.what += (report_.what.empty() ? "" : "; ") + what;
        };
        add(state_.tick != tick, "the number of the tick");
        add(!report_.groups.empty(),
            (report_.groups.size() > 1 ? "groups " : "group ") + names(report_.groups));
        add(counters_of(state_) != counters, "counts of blocks, the terrain or random numbers");
        add(tape_.out_of_step(), "the questions to the host's terrain");
        add(samples_.out_of_step(), "the questions for samples of smooth ground");
        add(report_.what.empty(), "groups that sleep, or their blocks");
        return false;
    }

 private:
    static std::string names(const std::vector<std::uint32_t>& groups) {
        constexpr std::size_t most = 20;
        std::string out;
        for (std::size_t i = 0; i < groups.size() && i < most; i++)
            out += (i ? ", " : "") + std::to_string(groups[i]);
        if (groups.size() > most) out += " and " + std::to_string(groups.size() - most) + " more";
        return out;
    }
    // Arguments that are not right as they come.
    struct TerrainCell {
        Cell cell;
        operator Cell() const { return cell; }
    };
    struct GroupCell {
        Cell cell;
        operator Cell() const { return cell; }
    };
    struct TerrainCells {
        std::vector<Cell> cells;
    };
    static void in_range(ByteReader& a, Cell c, std::int32_t limit) {
        for (const int v : {c.x, c.y, c.z}) a.check(v >= -limit && v < limit, "a cell is out of range");
    }
    template <class T>
    void take(ByteReader& a, T& v) {
        a(v);
    }
    void take(ByteReader& a, TerrainCell& v) {
        a(v.cell);
        in_range(a, v.cell, kMaxTerrainCell);
    }
    void take(ByteReader& a, GroupCell& v) {
        a(v.cell);
        in_range(a, v.cell, kMaxGroupCell);
    }
    void take(ByteReader& a, TerrainCells& v) {
        a(v.cells);
        for (const Cell& c : v.cells) in_range(a, c, kMaxTerrainCell);
    }
    void take(ByteReader& a, BlockId& v) {
        a(v);
        a.check(v < state_.table.size(), "there is no such block type");
    }
    void take(ByteReader& a, std::optional<StructureMode>& v) {
        a(v);
        a.check(!v || *v <= StructureMode::physical, "there is no such mode");
    }
    void take(ByteReader& a, MarkSettings& v) {
        a(v);
        a.check(!v.mode || *v.mode <= StructureMode::physical, "there is no such mode");
    }
    void take(ByteReader& a, GroupSettings& v) {
        a(v);
        a.check(!v.structure_mode || *v.structure_mode <= StructureMode::physical, "there is no such mode");
    }
    void take(ByteReader& a, Cause& v) {
        a(v);
        a.check(v <= Cause::script, "there is no such cause");
    }
    void take(ByteReader& a, Layer& v) {
        a(v);
        a.check(std::uint8_t(v) < 16, "there is no such layer");
    }
    void take(ByteReader& a, MotionType& v) {
        a(v);
        a.check(v <= MotionType::fixed, "there is no such motion");
    }
    void take(ByteReader& a, BodySettings& v) {
        a(v);
        a.check(std::uint8_t(v.layer) < 16 && v.motion <= MotionType::fixed,
                "there is no such layer or motion");
    }
    void take(ByteReader& a, std::vector<BlockChange>& v) {
        a(v);
        for (const BlockChange& c : v) {
            for (const int x : {c.cell.x, c.cell.y, c.cell.z})
                a.check(x >= -kMaxGroupCell && x <= kMaxGroupCell, "a cell is out of range");
            a.check(c.was < state_.table.size() && c.now < state_.table.size(),
                    "there is no such block type");
        }
    }

    /// Nothing may follow the arguments.
    static bool complete(ByteReader& a) {
        a.check(a.left() == 0, "there is more than the call has");
        return a.ok();
    }
    /// Makes the call f(T...) once all of its arguments are read and right; else nothing happens.
    template <class... T, class F>
    void with(ByteReader& a, F&& f) {
        std::tuple<T...> arguments{};
        std::apply([&](T&... v) { (take(a, v), ...); }, arguments);
        if (complete(a)) std::apply(f, arguments);
    }
    /// The same for calls of a body.
    template <class... T, class F>
    void on_body(ByteReader& a, F&& f) {
        with<BodyId, T...>(a, [&](BodyId id, T&... v) { f(level_.space().body(id), v...); });
    }

    void add_group(ByteReader& a) {
        Grid grid(state_.table);
        read_grid(a, grid, kMaxGroupCell);
        GroupSettings settings;
        take(a, settings);
        std::int64_t all = cells_in(grid.bounds());
        for (const auto& slot : state_.slots) all += slot ? cells_in(slot->grid.bounds()) : 0;
        if (all > kMaxAllBounds) a.fail(ErrorCode::too_large, "the groups are too large");
        if (complete(a)) level_.add_group(std::move(grid), settings);
    }
    void add_group_type(ByteReader& a) {
        const auto name = a.get<std::string>();
        if (!complete(a)) return;
        for (GroupType* type : host_.types)
            if (type->name() == name) return level_.add_group_type(*type);
        a.fail(ErrorCode::not_found, "needs the group type \"" + name + "\", which is not given");
    }

    void run_level(Call call, ByteReader& a) {
        Level& l = level_;
        switch (call) {
            case Call::block_types:
                return read_types(a, state_.table);
            case Call::tick:
                return with<>(a, [&] { l.tick(); });
            case Call::set_terrain:
                return with<TerrainCell, BlockId>(a, [&](Cell c, BlockId id) { l.set_terrain(c, id); });
            case Call::set_terrain_source:
                return with<bool, bool>(a, [&](bool is, bool smooth) {
                    tape_.set_smooth_ground(smooth);
                    l.set_terrain_source(is ? &tape_ : nullptr);
                });
            case Call::set_smooth_terrain:
                return with<bool, BlockId>(
                    a, [&](bool is, BlockId of) { l.set_smooth_terrain(is ? &samples_ : nullptr, of); });
            case Call::dig:
                return with<DVec3, float>(a, [&](DVec3 center, float radius) { l.dig(center, radius); });
            case Call::fill:
                return with<DVec3, float>(a, [&](DVec3 center, float radius) { l.fill(center, radius); });
            case Call::smooth_changed:
                return with<CellBox>(a, [&](const CellBox& box) { l.smooth_terrain_changed(box); });
            case Call::smooth_samples:
                return;  // read before the calls of its tick
            case Call::terrain_changed:
                return with<CellBox>(a, [&](const CellBox& box) { l.terrain_changed(box); });
            case Call::add_group:
                return add_group(a);
            case Call::remove_group:
                return with<GroupId>(a, [&](GroupId id) { l.remove_group(id); });
            case Call::remove_block:
                return with<GroupId, GroupCell, Cause>(
                    a, [&](GroupId id, Cell c, Cause cause) { l.remove_block(id, c, cause); });
            case Call::place_block:
                return with<GroupId, GroupCell, BlockId>(
                    a, [&](GroupId id, Cell c, BlockId block) { l.place_block(id, c, block); });
            case Call::wear_down:
                return with<GroupId, Cell, float>(
                    a, [&](GroupId id, Cell c, float amount) { l.wear_down(id, c, amount); });
            case Call::wear_down_terrain:
                return with<Cell, float>(a, [&](Cell c, float amount) { l.wear_down(c, amount); });
            case Call::carve:
                return with<DBox>(a, [&](const DBox& box) { l.carve(box); });
            case Call::carve_sphere:
                return with<DVec3, double>(
                    a, [&](DVec3 center, double radius) { l.carve_sphere(center, radius); });
            case Call::carve_capsule:
                return with<DVec3, DVec3, double>(
                    a, [&](DVec3 from, DVec3 to, double radius) { l.carve_capsule(from, to, radius); });
            case Call::blast:
                return with<DVec3, float>(a, [&](DVec3 center, float power) { l.blast(center, power); });
            case Call::check_group_soon:
                return with<GroupId>(a, [&](GroupId id) { l.check_structure_soon(id); });
            case Call::mark_box:
                return with<CellBox, MarkSettings>(
                    a, [&](const CellBox& box, const MarkSettings& mark) { l.mark_structure(box, mark); });
            case Call::mark_cells:
                return with<TerrainCells, MarkSettings>(
                    a, [&](const TerrainCells& of, const MarkSettings& mark) {
                        l.mark_structure(of.cells, mark);
                    });
            case Call::mark_connected:
                return with<TerrainCell, CellBox, std::uint64_t, MarkSettings>(
                    a, [&](Cell start, const CellBox& within, std::uint64_t most, const MarkSettings& mark) {
                        l.mark_connected(start, within, std::size_t(most), mark);
                    });
            case Call::add_to_structure:
                return with<StructureId, CellBox>(
                    a, [&](StructureId id, const CellBox& box) { l.add_to_structure(id, box); });
            case Call::unmark_structure:
                return with<StructureId>(a, [&](StructureId id) { l.unmark_structure(id); });
            case Call::check_structure_soon:
                return with<StructureId>(a, [&](StructureId id) { l.check_structure_soon(id); });
            case Call::set_group_mode:
                return with<GroupId, std::optional<StructureMode>>(
                    a, [&](GroupId id, auto mode) { l.set_structure_mode(id, mode); });
            case Call::set_structure_mode:
                return with<StructureId, std::optional<StructureMode>>(
                    a, [&](StructureId id, auto mode) { l.set_structure_mode(id, mode); });
            case Call::break_terrain:
                return with<TerrainCell, Cause>(a, [&](Cell c, Cause cause) { l.break_terrain(c, cause); });
            case Call::physicify:
                return with<TerrainCell>(a, [&](Cell c) { l.physicify(c); });
            case Call::assemble:
                return with<TerrainCell, CellBox, std::uint64_t, bool>(
                    a, [&](Cell start, const CellBox& within, std::uint64_t most, bool bears) {
                        l.assemble(start, within, std::size_t(most), bears);
                    });
            case Call::settle:
                return with<GroupId, SettleSettings>(
                    a, [&](GroupId id, const SettleSettings& settings) { l.settle(id, settings); });
            case Call::protect:
                return with<DBox>(a, [&](const DBox& box) { l.protect(box); });
            case Call::unprotect:
                return with<std::uint32_t>(a, [&](std::uint32_t number) { l.unprotect(number); });
            case Call::set_debris:
                return with<GroupId, int>(a, [&](GroupId id, int ticks) { l.set_debris(id, ticks); });
            case Call::change_settings:
                return with<LevelSettings>(
                    a, [&](const LevelSettings& settings) { l.change_settings(settings); });
            case Call::add_group_type:
                return add_group_type(a);
            case Call::set_blast_targets:
                return with<bool>(a,
                                  [&](bool is) { l.set_blast_targets(is ? host_.blast_targets : nullptr); });
            default:
                return a.fail(ErrorCode::unsupported, "a call this version does not know");
        }
    }

    void run_space(Call call, ByteReader& a) {
        Space& space = level_.space();
        switch (call) {
            case Call::space_set_paused:
                return with<bool>(a, [&](bool paused) { space.set_paused(paused); });
            case Call::space_allow_sleep:
                return with<bool>(a, [&](bool allow) { space.set_allow_sleep(allow); });
            case Call::space_layers:
                return with<Layer, Layer, bool>(
                    a, [&](Layer x, Layer y, bool collide) { space.set_layers_collide(x, y, collide); });
            case Call::space_ground:
                return with<std::optional<double>, float>(
                    a, [&](auto height, float friction) { space.set_ground(height, friction); });
            case Call::space_changed:
                return with<CellBox>(a, [&](const CellBox& box) { space.terrain_changed(box); });
            case Call::space_add_body:
                return with<BodyShape, BodySettings>(
                    a, [&](const BodyShape& shape, const BodySettings& s) { space.add_body(shape, s); });
            case Call::space_remove_body:
                return on_body<>(a, [&](Body body) { space.remove_body(body); });
            case Call::space_ask_again:
                return on_body<>(a, [&](Body body) { space.ask_again(body); });
            case Call::space_step:
                return with<float>(a, [&](float dt) { space.step(dt); });
            default:
                return a.fail(ErrorCode::unsupported, "a call this version does not know");
        }
    }

    void run_body(Call call, ByteReader& a) {
        switch (call) {
            case Call::body_set_pose:
                return on_body<Pose>(a, [](Body b, const Pose& pose) { b.set_pose(pose); });
            case Call::body_set_velocity:
                return on_body<Vec3>(a, [](Body b, Vec3 v) { b.set_velocity(v); });
            case Call::body_set_spin:
                return on_body<Vec3>(a, [](Body b, Vec3 v) { b.set_spin(v); });
            case Call::body_add_force:
                return on_body<Vec3>(a, [](Body b, Vec3 v) { b.add_force(v); });
            case Call::body_add_force_at:
                return on_body<Vec3, DVec3>(a, [](Body b, Vec3 v, DVec3 at) { b.add_force_at(v, at); });
            case Call::body_add_torque:
                return on_body<Vec3>(a, [](Body b, Vec3 v) { b.add_torque(v); });
            case Call::body_add_impulse:
                return on_body<Vec3>(a, [](Body b, Vec3 v) { b.add_impulse(v); });
            case Call::body_add_impulse_at:
                return on_body<Vec3, DVec3>(a, [](Body b, Vec3 v, DVec3 at) { b.add_impulse_at(v, at); });
            case Call::body_set_friction:
                return on_body<float>(a, [](Body b, float x) { b.set_friction(x); });
            case Call::body_set_restitution:
                return on_body<float>(a, [](Body b, float x) { b.set_restitution(x); });
            case Call::body_set_gravity:
                return on_body<float>(a, [](Body b, float x) { b.set_gravity_factor(x); });
            case Call::body_set_layer:
                return on_body<Layer>(a, [](Body b, Layer layer) { b.set_layer(layer); });
            case Call::body_set_motion:
                return on_body<MotionType>(a, [](Body b, MotionType motion) { b.set_motion(motion); });
            case Call::body_set_continuous:
                return on_body<bool>(a, [](Body b, bool continuous) { b.set_continuous(continuous); });
            case Call::body_set_damping:
                return on_body<float, float, float>(
                    a, [](Body b, float x, float y, float z) { b.set_damping(x, y, z); });
            case Call::body_activate:
                return on_body<>(a, [](Body b) { b.activate(); });
            case Call::body_sleep:
                return on_body<>(a, [](Body b) { b.sleep(); });
            case Call::body_set_shape:
                return on_body<BodyShape>(a, [](Body b, const BodyShape& shape) { b.set_shape(shape); });
            case Call::body_change_blocks:
                return on_body<std::vector<BlockChange>>(
                    a, [&](Body b, const auto& changes) { b.change_blocks(state_.table, changes); });
            default:
                return a.fail(ErrorCode::unsupported, "a call this version does not know");
        }
    }

    ReplayReport& report_;
    Level& level_;
    LevelState& state_;
    TerrainTape& tape_;
    DensityTape& samples_;
    const LevelHost& host_;
};

/// Of a tick_done frame: skips to the answers of the host's terrain.
void read_answers(ByteSpan frame, TerrainTape& tape) {
    ByteReader a(frame);
    a.raw(1 + 3 * 8);
    const auto n = a.get<std::uint32_t>();
    a.raw(std::size_t(n) * 5);
    if (a.get<bool>()) tape.read(a);
}

}  // namespace

ReplayReport replay(ByteSpan bytes, const LevelHost& host) {
    ReplayReport report;
    auto damaged = [&](Error error) {
        report.outcome = ReplayReport::Outcome::damaged;
        report.error = std::move(error);
    };
    Frames frames(bytes);
    Error error;
    ByteSpan content;
    if (!frames.open(error) || !frames.next(content, error)) {
        damaged(error);
        return report;
    }
    if (content.empty() || Call(content[0]) != Call::snapshot) {
        damaged({ErrorCode::corrupt, frames.place() + "the recording does not begin with a snapshot"});
        return report;
    }
    // The host's terrain needs the level's table, which comes with the level: until then nobody asks.
    const BlockTable nothing;
    TerrainTape nobody(nothing);
    auto samples = std::make_unique<DensityTape>();
    DensityTape& told_samples = *samples;
    LevelHost own = host;
    own.terrain = &nobody;
    own.smooth = &told_samples;
    Result<std::unique_ptr<Level>> made = restore_snapshot(content.subspan(1), own);
    if (!made) {
        damaged({made.error().code, frames.place() + made.error().message});
        return report;
    }
    report.level = std::move(*made);
    Level& level = *report.level;
    LevelState& state = level.state();
    auto answers = std::make_unique<TerrainTape>(state.table);
    TerrainTape& told = *answers;
    state.replay_terrain = std::move(answers);
    state.replay_samples = std::move(samples);
    if (state.host_terrain) state.host_terrain->replace_source(told);
    state.space.state().world.smooth = smooth_ground(state);
    Replayer replayer(report, level, told, told_samples, host);
    report.first_tick = report.tick = state.tick;
    bool broken = false;
    while (!frames.at_end() && !broken) {
        // The frames of one tick: its answers are needed before its calls are made.
        std::vector<std::pair<ByteSpan, std::string>> batch;
        while (!frames.at_end() && (batch.empty() || Call(batch.back().first[0]) != Call::tick_done)) {
            broken = !frames.next(content, error);
            if (!broken && content.empty()) {
                broken = true;
                error = {ErrorCode::corrupt, frames.place() + "is empty"};
            }
            if (broken) break;
            batch.emplace_back(content, frames.place());
        }
        // New block types first: answers name them.
        for (const auto& [frame, place] : batch)
            if (Call(frame[0]) == Call::tick_done) {
                read_answers(frame, told);
            } else if (Call(frame[0]) == Call::smooth_samples) {
                ByteReader a(frame.subspan(1));
                a.allow_not_finite = true;
                a.part("samples");
                told_samples.read(a);
                if (!a.ok()) {
                    damaged({a.error().code, place + a.error().message});
                    return report;
                }
            }
        for (const auto& [frame, place] : batch) {
            ByteReader a(frame);
            a.allow_not_finite = true;
            a.part("call");
            const auto call = a.get<Call>();
            if (call == Call::tick_done) {
                if (!replayer.compare(a)) {
                    report.outcome = ReplayReport::Outcome::differs;
                    return report;
                }
            } else {
                replayer.run(call, a);
                level.clear_events();
            }
            if (!a.ok()) {
                damaged({a.error().code, place + a.error().message});
                return report;
            }
        }
    }
    if (broken) damaged(error);
    return report;
}

}  // namespace talus
