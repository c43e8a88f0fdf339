#include "base/call_log.h"
#include "dynamics/archive.h"
#include "dynamics/state.h"
#include "world/archive.h"
#include "world/recording.h"

#include <algorithm>

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
    Cell cell(ByteReader& a, std::int32_t limit) {
        const auto c = a.get<Cell>();
        in_range(a, c, limit);
        return a.ok() ? c : Cell{};
    }
    static void in_range(ByteReader& a, Cell c, std::int32_t limit) {
        for (const int v : {c.x, c.y, c.z}) a.check(v >= -limit && v < limit, "a cell is out of range");
    }
    BlockId block(ByteReader& a) {
        const auto id = a.get<BlockId>();
        a.check(id < state_.table.size(), "there is no such block type");
        return a.ok() ? id : kAir;
    }
    std::optional<StructureMode> mode(ByteReader& a) {
        const auto m = a.get<std::optional<StructureMode>>();
        a.check(!m || *m <= StructureMode::physical, "there is no such mode");
        return m;
    }
    MarkSettings mark(ByteReader& a) {
        auto settings = a.get<MarkSettings>();
        a.check(!settings.mode || *settings.mode <= StructureMode::physical, "there is no such mode");
        return settings;
    }
    Cause cause(ByteReader& a) {
        const auto c = a.get<Cause>();
        a.check(c <= Cause::script, "there is no such cause");
        return c;
    }
    Layer layer(ByteReader& a) {
        const auto l = a.get<Layer>();
        a.check(std::uint8_t(l) < 16, "there is no such layer");
        return l;
    }

    void run_level(Call call, ByteReader& a) {
        switch (call) {
            case Call::block_types:
                return read_types(a, state_.table);
            case Call::tick:
                return level_.tick();
            case Call::set_terrain: {
                const Cell c = cell(a, kMaxTerrainCell);
                const BlockId id = block(a);
                if (a.ok()) level_.set_terrain(c, id);
                return;
            }
            case Call::set_terrain_source: {
                const bool is = a.get<bool>();
                tape_.set_smooth_ground(a.get<bool>());
                return level_.set_terrain_source(is ? &tape_ : nullptr);
            }
            case Call::set_smooth_terrain: {
                const bool is = a.get<bool>();
                const BlockId of = block(a);
                if (a.ok()) level_.set_smooth_terrain(is ? &samples_ : nullptr, of);
                return;
            }
            case Call::dig: {
                const auto center = a.get<DVec3>();
                level_.dig(center, a.get<float>());
                return;
            }
            case Call::fill: {
                const auto center = a.get<DVec3>();
                level_.fill(center, a.get<float>());
                return;
            }
            case Call::smooth_changed:
                return level_.smooth_terrain_changed(a.get<CellBox>());
            case Call::smooth_samples:
                return;  // read before the calls of its tick
            case Call::terrain_changed:
                return level_.terrain_changed(a.get<CellBox>());
            case Call::add_group: {
                Grid grid(state_.table);
                read_grid(a, grid, kMaxGroupCell);
                const auto settings = a.get<GroupSettings>();
                std::int64_t all = cells_in(grid.bounds());
                for (const auto& slot : state_.slots) all += slot ? cells_in(slot->grid.bounds()) : 0;
                if (all > kMaxAllBounds) a.fail(ErrorCode::too_large, "the groups are too large");
                if (a.ok()) level_.add_group(std::move(grid), settings);
                return;
            }
            case Call::remove_group:
                return level_.remove_group(a.get<GroupId>());
            case Call::remove_block: {
                const auto id = a.get<GroupId>();
                const Cell c = cell(a, kMaxGroupCell);
                const Cause why = cause(a);
                if (a.ok()) level_.remove_block(id, c, why);
                return;
            }
            case Call::place_block: {
                const auto id = a.get<GroupId>();
                const Cell c = cell(a, kMaxGroupCell);
                const BlockId b = block(a);
                if (a.ok()) level_.place_block(id, c, b);
                return;
            }
            case Call::wear_down: {
                const auto id = a.get<GroupId>();
                const auto c = a.get<Cell>();
                level_.wear_down(id, c, a.get<float>());
                return;
            }
            case Call::wear_down_terrain: {
                const auto c = a.get<Cell>();
                level_.wear_down(c, a.get<float>());
                return;
            }
            case Call::carve:
                level_.carve(a.get<DBox>());
                return;
            case Call::carve_sphere: {
                const auto center = a.get<DVec3>();
                level_.carve_sphere(center, a.get<double>());
                return;
            }
            case Call::carve_capsule: {
                const auto from = a.get<DVec3>(), to = a.get<DVec3>();
                level_.carve_capsule(from, to, a.get<double>());
                return;
            }
            case Call::blast: {
                const auto center = a.get<DVec3>();
                level_.blast(center, a.get<float>());
                return;
            }
            case Call::check_group_soon:
                return level_.check_structure_soon(a.get<GroupId>());
            case Call::mark_box: {
                const auto box = a.get<CellBox>();
                level_.mark_structure(box, mark(a));
                return;
            }
            case Call::mark_cells: {
                const auto cells = a.get<std::vector<Cell>>();
                for (const Cell& c : cells) in_range(a, c, kMaxTerrainCell);
                level_.mark_structure(cells, mark(a));
                return;
            }
            case Call::mark_connected: {
                const Cell start = cell(a, kMaxTerrainCell);
                const auto within = a.get<CellBox>();
                const auto most = a.get<std::uint64_t>();
                level_.mark_connected(start, within, std::size_t(most), mark(a));
                return;
            }
            case Call::add_to_structure: {
                const auto id = a.get<StructureId>();
                level_.add_to_structure(id, a.get<CellBox>());
                return;
            }
            case Call::unmark_structure:
                return level_.unmark_structure(a.get<StructureId>());
            case Call::check_structure_soon:
                return level_.check_structure_soon(a.get<StructureId>());
            case Call::set_group_mode: {
                const auto id = a.get<GroupId>();
                return level_.set_structure_mode(id, mode(a));
            }
            case Call::set_structure_mode: {
                const auto id = a.get<StructureId>();
                return level_.set_structure_mode(id, mode(a));
            }
            case Call::break_terrain: {
                const Cell c = cell(a, kMaxTerrainCell);
                const Cause why = cause(a);
                if (a.ok()) level_.break_terrain(c, why);
                return;
            }
            case Call::physicify:
                level_.physicify(cell(a, kMaxTerrainCell));
                return;
            case Call::assemble: {
                const Cell start = cell(a, kMaxTerrainCell);
                const auto within = a.get<CellBox>();
                const auto most = a.get<std::uint64_t>();
                level_.assemble(start, within, std::size_t(most), a.get<bool>());
                return;
            }
            case Call::settle: {
                const auto id = a.get<GroupId>();
                level_.settle(id, a.get<SettleSettings>());
                return;
            }
            case Call::protect:
                level_.protect(a.get<DBox>());
                return;
            case Call::unprotect:
                return level_.unprotect(a.get<std::uint32_t>());
            case Call::set_debris: {
                const auto id = a.get<GroupId>();
                return level_.set_debris(id, a.get<int>());
            }
            case Call::change_settings: {
                const auto settings = a.get<LevelSettings>();
                if (a.ok()) level_.change_settings(settings);
                return;
            }
            case Call::add_group_type: {
                const auto name = a.get<std::string>();
                for (GroupType* type : host_.types)
                    if (type->name() == name) return level_.add_group_type(*type);
                return a.fail(ErrorCode::not_found,
                              "needs the group type \"" + name + "\", which is not given");
            }
            case Call::set_blast_targets:
                return level_.set_blast_targets(a.get<bool>() ? host_.blast_targets : nullptr);
            default:
                return a.fail(ErrorCode::unsupported, "a call this version does not know");
        }
    }

    void run_space(Call call, ByteReader& a) {
        Space& space = level_.space();
        switch (call) {
            case Call::space_set_paused:
                return space.set_paused(a.get<bool>());
            case Call::space_allow_sleep:
                return space.set_allow_sleep(a.get<bool>());
            case Call::space_layers: {
                const Layer x = layer(a), y = layer(a);
                return space.set_layers_collide(x, y, a.get<bool>());
            }
            case Call::space_ground: {
                const auto height = a.get<std::optional<double>>();
                return space.set_ground(height, a.get<float>());
            }
            case Call::space_changed:
                return space.terrain_changed(a.get<CellBox>());
            case Call::space_add_body: {
                const auto shape = a.get<BodyShape>();
                const auto settings = a.get<BodySettings>();
                a.check(std::uint8_t(settings.layer) < 16 && settings.motion <= MotionType::fixed,
                        "there is no such layer or motion");
                if (a.ok()) space.add_body(shape, settings);
                return;
            }
            case Call::space_remove_body:
                return space.remove_body(space.body(a.get<BodyId>()));
            case Call::space_ask_again:
                return space.ask_again(space.body(a.get<BodyId>()));
            case Call::space_step:
                return space.step(a.get<float>());
            default:
                return a.fail(ErrorCode::unsupported, "a call this version does not know");
        }
    }

    void run_body(Call call, ByteReader& a) {
        Body body = level_.space().body(a.get<BodyId>());
        switch (call) {
            case Call::body_set_pose:
                return body.set_pose(a.get<Pose>());
            case Call::body_set_velocity:
                return body.set_velocity(a.get<Vec3>());
            case Call::body_set_spin:
                return body.set_spin(a.get<Vec3>());
            case Call::body_add_force:
                return body.add_force(a.get<Vec3>());
            case Call::body_add_force_at: {
                const auto force = a.get<Vec3>();
                return body.add_force_at(force, a.get<DVec3>());
            }
            case Call::body_add_torque:
                return body.add_torque(a.get<Vec3>());
            case Call::body_add_impulse:
                return body.add_impulse(a.get<Vec3>());
            case Call::body_add_impulse_at: {
                const auto impulse = a.get<Vec3>();
                return body.add_impulse_at(impulse, a.get<DVec3>());
            }
            case Call::body_set_friction:
                return body.set_friction(a.get<float>());
            case Call::body_set_restitution:
                return body.set_restitution(a.get<float>());
            case Call::body_set_gravity:
                return body.set_gravity_factor(a.get<float>());
            case Call::body_set_layer:
                return body.set_layer(layer(a));
            case Call::body_set_motion: {
                const auto motion = a.get<MotionType>();
                a.check(motion <= MotionType::fixed, "there is no such motion");
                if (a.ok()) body.set_motion(motion);
                return;
            }
            case Call::body_set_continuous:
                return body.set_continuous(a.get<bool>());
            case Call::body_set_damping: {
                const auto linear = a.get<float>(), angular = a.get<float>();
                return body.set_damping(linear, angular, a.get<float>());
            }
            case Call::body_activate:
                return body.activate();
            case Call::body_sleep:
                return body.sleep();
            case Call::body_set_shape: {
                const auto shape = a.get<BodyShape>();
                if (a.ok()) body.set_shape(shape);
                return;
            }
            case Call::body_change_blocks: {
                const auto changes = a.get<std::vector<BlockChange>>();
                for (const BlockChange& c : changes) {
                    for (const int v : {c.cell.x, c.cell.y, c.cell.z})
                        a.check(v >= -kMaxGroupCell && v <= kMaxGroupCell, "a cell is out of range");
                    a.check(c.was < state_.table.size() && c.now < state_.table.size(),
                            "there is no such block type");
                }
                if (a.ok()) body.change_blocks(state_.table, changes);
                return;
            }
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
