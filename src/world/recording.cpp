#include "world/recording.h"

#include "base/hash.h"
#include "dynamics/state.h"
#include "world/archive.h"

#include <cassert>

namespace talus {

std::uint8_t digest_of(const Group& group) {
    BitHash hash;
    const Pose pose = group.body.pose();
    for (const double x : {pose.position.x, pose.position.y, pose.position.z}) hash.add(x);
    for (const float x : {pose.rotation.x, pose.rotation.y, pose.rotation.z, pose.rotation.w}) hash.add(x);
    for (const Vec3& v : {group.body.velocity(), group.body.spin()})
        for (const float x : {v.x, v.y, v.z}) hash.add(x);
    hash.add(std::uint64_t(group.id.generation));
    hash.add(std::uint64_t(group.grid.block_count()));
    return std::uint8_t(hash.value());
}

std::uint64_t counters_of(const LevelState& level) {
    BitHash hash;
    each_counter(level, [&](const char*, std::uint64_t v, double, double) { hash.add(v); });
    hash.add(std::uint64_t(level.own_terrain.block_count()));
    hash.add(std::uint64_t(level.table.size()));
    if (level.smooth) hash.add(level.smooth->field.edited_hash());
    return hash.value();
}

// --- the host's terrain

template <class Ask>
std::uint16_t TerrainTape::answer(Kind kind, std::uint16_t expected, Ask&& ask) const {
    if (host_) {
        const std::uint16_t value = ask();
        if (value == expected) {
            expected_++;
        } else {
            surprises_.push_back({expected_, kind, value, {}});
            expected_ = 0;
        }
        return value;
    }
    if (expected_ > 0) {
        expected_--;
        return expected;
    }
    if (next_ == surprises_.size() || surprises_[next_].kind != kind) {
        asked_more_ = true;
        return expected;
    }
    const std::uint16_t value = surprises_[next_++].value;
    expected_ = next_ < surprises_.size() ? surprises_[next_].as_expected : 0;
    return value;
}

BlockId TerrainTape::block_at(Cell cell) const {
    const BlockId now =
        answer(Kind::block, last_.get(cell), [&] { return std::uint16_t(host_->block_at(cell)); });
    if (now >= last_.table().size()) {
        asked_more_ = true;
        return kAir;
    }
    last_.set(cell, now);
    return now;
}

bool TerrainTape::is_loaded(const CellBox& cells) const {
    const auto it = loaded_.find(cells.min);
    const bool expected = it == loaded_.end() || it->second;
    const bool now =
        answer(Kind::loaded, expected, [&] { return std::uint16_t(host_->is_loaded(cells)); }) != 0;
    if (now != expected) loaded_[cells.min] = now;
    return now;
}

bool TerrainTape::set_block(Cell cell, BlockId block) {
    return answer(Kind::set, 1, [&] { return std::uint16_t(host_->set_block(cell, block)); }) != 0;
}

std::optional<SurfacePoint> TerrainTape::surface_near(DVec3 point, float reach) const {
    // What a host asks between its calls changes nothing, and no replay asks it.
    if (calls_ && calls_->depth == 0) return host_->surface_near(point, reach);
    // Expected: no surface.
    std::optional<SurfacePoint> found;
    const bool is = answer(Kind::surface, 0, [&] {
                        found = host_->surface_near(point, reach);
                        return std::uint16_t(found.has_value());
                    }) != 0;
    if (!is) return std::nullopt;
    if (host_) surprises_.back().surface = *found;
    return host_ ? *found : surprises_[next_ - 1].surface;
}

bool TerrainTape::any_in(const DBox& box) const {
    if (calls_ && calls_->depth == 0) return host_->any_in(box);
    return answer(Kind::any, 1, [&] { return std::uint16_t(host_->any_in(box)); }) != 0;
}

void TerrainTape::write(ByteWriter& a) {
    surprises_.push_back({expected_, Kind::end, 0, {}});
    a.size(surprises_.size());
    for (const Surprise& s : surprises_) {
        a(s.as_expected, s.kind);
        if (s.kind != Kind::end) a(s.value);
        if (s.kind == Kind::surface) a(s.surface.distance, s.surface.outward);
    }
    surprises_.clear();
    expected_ = 0;
}

void TerrainTape::read(ByteReader& a) {
    surprises_.clear();
    next_ = 0;
    const std::size_t n = a.size(5);
    for (std::size_t i = 0; i < n && a.ok(); i++) {
        Surprise& s = surprises_.emplace_back();
        a(s.as_expected, s.kind);
        a.check(s.kind <= Kind::any && (s.kind == Kind::end) == (i + 1 == n), "an answer of no kind");
        if (s.kind != Kind::end) a(s.value);
        if (s.kind == Kind::surface) a(s.surface.distance, s.surface.outward);
    }
    expected_ = surprises_.empty() ? 0 : surprises_[0].as_expected;
}

// --- samples of smooth ground

float DensityTape::density_at(Cell sample) const {
    const Cell brick = brick_of(sample);
    auto it = known_.find(brick);
    if (it == known_.end() && host_) {
        if (calls_->depth == 0) return host_->density_at(sample);
        Samples s;
        for (int i = 0; i < 512; i++)
            s.at[i] = host_->density_at(
                {brick.x * 8 + (i & 7), brick.y * 8 + (i >> 6), brick.z * 8 + (i >> 3 & 7)});
        fresh_.emplace_back(brick, s);
        it = known_.emplace(brick, s).first;
    } else if (it == known_.end()) {
        for (auto told = fresh_.begin(); told != fresh_.end() && it == known_.end(); ++told) {
            if (told->first != brick) continue;
            it = known_.emplace(brick, told->second).first;
            fresh_.erase(told);
            break;
        }
        if (it == known_.end()) {
            asked_more_ = true;
            return -1;
        }
    }
    return it->second.at[index_in_brick(sample)];
}

void DensityTape::forget(const CellBox& samples) {
    const Cell lo = brick_of(samples.min), hi = brick_of(samples.max);
    std::erase_if(known_, [&](const auto& entry) {
        const Cell b = entry.first;
        return b.x >= lo.x && b.x <= hi.x && b.y >= lo.y && b.y <= hi.y && b.z >= lo.z && b.z <= hi.z;
    });
}

void DensityTape::write(ByteWriter& a) {
    a.size(fresh_.size());
    for (const auto& [brick, samples] : fresh_) {
        a(brick);
        for (const float s : samples.at) a(s);
    }
    fresh_.clear();
}

void DensityTape::read(ByteReader& a) {
    const std::size_t n = a.size(12 + 4 * 512);
    for (std::size_t i = 0; i < n && a.ok(); i++) {
        auto& [brick, samples] = fresh_.emplace_back();
        a(brick);
        for (float& s : samples.at) a(s);
    }
}

// --- the recorder

void Recording::frame(ByteSpan content) {
    if (!sink) return;
    ByteWriter out;
    out(std::uint32_t(content.size()), std::uint32_t(checksum(content, frames++)));
    out.raw(content);
    if (sink->write(out.bytes)) return;
    sink = nullptr;
    level->calls = level->space.state().calls = nullptr;
}

void Recording::write_new_types() {
    if (types == level->table.size()) return;
    ByteWriter a;
    a(Call::block_types);
    write_types(a, level->table, types);
    types = level->table.size();
    frame(a.bytes);
}

void Recording::end_tick() {
    write_new_types();  // a host's terrain may have brought some
    if (samples && samples->has_news()) {
        ByteWriter told;
        told(Call::smooth_samples);
        samples->write(told);
        frame(told.bytes);
    }
    ByteWriter a;
    std::uint32_t awake = 0;
    for (const auto& slot : level->slots) awake += slot && !slot->body.is_asleep();
    Call call = Call::tick_done;
    a(call, level->tick, level->owner->hash(), counters_of(*level), awake);
    for (const auto& slot : level->slots)
        if (slot && !slot->body.is_asleep()) a(slot->id.index, digest_of(*slot));
    a(terrain != nullptr);
    if (terrain) terrain->write(a);
    frame(a.bytes);
}

CallLog* log_of(LevelState& level) {
    if (level.calls && level.calls->depth == 0 && level.recording) level.recording->write_new_types();
    return level.calls;
}

void end_recorded_tick(LevelState& level) {
    if (level.calls && level.recording && level.calls->depth == 1) level.recording->end_tick();
}

TerrainSource* taped_terrain(LevelState& level, TerrainSource* source) {
    if (!level.recording) return source;
    level.recording->terrain =
        source ? std::make_unique<TerrainTape>(*source, level.table, *level.recording) : nullptr;
    return source ? level.recording->terrain.get() : nullptr;
}

const DensitySource* taped_samples(LevelState& level, const DensitySource* source) {
    if (!level.recording) return source;
    level.recording->samples = source ? std::make_unique<DensityTape>(*source, *level.recording) : nullptr;
    return source ? level.recording->samples.get() : nullptr;
}

void forget_taped_samples(LevelState& level, const CellBox& samples) {
    if (level.recording && level.recording->samples) level.recording->samples->forget(samples);
    if (level.replay_samples) static_cast<DensityTape&>(*level.replay_samples).forget(samples);
}

void start_recording(Level& level, RecordSink& sink) {
    stop_recording(level);
    LevelState& state = level.state();
    const std::vector<std::uint8_t> snapshot = take_snapshot(level);
    state.owner = &level;
    state.recording = std::make_unique<Recording>();
    Recording& r = *state.recording;
    r.sink = &sink;
    r.level = &state;
    r.types = state.table.size();
    r.began = [](CallLog& log) {
        auto& self = static_cast<Recording&>(log);
        self.frame(self.bytes.bytes);
        self.bytes.bytes.clear();
    };
    state.calls = state.space.state().calls = &r;
    if (state.host_terrain)
        state.host_terrain->replace_source(*taped_terrain(state, &state.host_terrain->source()));
    if (state.smooth) state.smooth->field.replace_source(taped_samples(state, state.smooth->field.source()));
    state.space.state().world.smooth = smooth_ground(state);
    ByteWriter head, first;
    head(kRecordMagic, kRecordVersion);
    first(Call::snapshot);
    first.raw(snapshot);
    if (!sink.write(head.bytes)) return stop_recording(level);
    r.frame(first.bytes);
}

void stop_recording(Level& level) {
    LevelState& state = level.state();
    if (!state.recording) return;
    assert(state.recording->depth == 0);
    if (state.host_terrain && state.recording->terrain)
        state.host_terrain->replace_source(*state.recording->terrain->host());
    if (state.smooth && state.recording->samples)
        state.smooth->field.replace_source(state.recording->samples->host());
    state.space.state().world.smooth = smooth_ground(state);
    state.calls = state.space.state().calls = nullptr;
    state.recording.reset();
}

bool is_recording(const Level& level) { return level.state().calls != nullptr; }

}  // namespace talus
