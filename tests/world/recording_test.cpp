// The hooks of calls that change a level (base/call_log.h), recordings and their replay.
#include "alter_recording.h"
#include "base/call_log.h"
#include "destruction_script.h"
#include "dynamics/state.h"
#include "record_failures.h"
#include "scenes/collapse_scene.h"
#include "talus/level.h"
#include "world/level_state.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace talus {
namespace {

struct Listening {
    explicit Listening(Level& level) : level_(level) {
        log_.began = [](CallLog& log) { taken().push_back(std::exchange(log.bytes.bytes, {})); };
        level.state().calls = &log_;
        level.space().state().calls = &log_;
        taken().clear();
    }
    ~Listening() { level_.state().calls = level_.space().state().calls = nullptr; }
    /// The calls since the last time.
    static std::vector<Call> calls() {
        std::vector<Call> out;
        for (const auto& bytes : taken()) out.push_back(Call(bytes[0]));
        taken().clear();
        return out;
    }

 private:
    static std::vector<std::vector<std::uint8_t>>& taken() {
        static std::vector<std::vector<std::uint8_t>> all;
        return all;
    }
    Level& level_;
    CallLog log_;
};

TEST(CallHooks, ACallIsWrittenOnceAndWhatItCallsIsNot) {
    LevelSettings settings;
    settings.ground = 0;
    Level level(settings);
    const BlockId stone = level.table().add(blockgame_stone());
    Listening listen(level);
    Grid grid(level.table());
    for (int y = 0; y < 5; y++) grid.set({0, y, 0}, stone);
    const GroupId id = level.add_group(std::move(grid), {.bears_load = true});
    level.blast({0.5, 2.5, 0.5}, 4);  // takes blocks, splits, pushes bodies
    level.carve_sphere({9, 9, 9}, 1);
    level.group(id)->body.add_impulse({0, 100, 0});
    for (int i = 0; i < 3; i++) level.tick();
    level.space().remove_body(level.space().add_body(BodyShape::unit_cube(), {}));
    using enum Call;
    EXPECT_EQ(listen.calls(), (std::vector<Call>{add_group, blast, carve_sphere, body_add_impulse, tick, tick,
                                                 tick, space_add_body, space_remove_body}));
    level.hash();
    level.stats();
    level.cast_ray({0, 9, 0}, {0, -1, 0}, 20);
    EXPECT_TRUE(listen.calls().empty()) << "reading is not written down";
}

using Outcome = ReplayReport::Outcome;

/// A scene from its middle on, with calls on bodies as a host makes them.
RecordBuffer record_scene(const CollapseScene& scene, int from, int until) {
    Level level(collapse_scene_settings());
    scene.build(level);
    RecordBuffer buffer;
    for (int i = 0; i < until; i++) {
        if (i == from) start_recording(level, buffer);
        if (i < scene.action_ticks) scene.act(level, i);
        if (i > from && i % 7 == 3 && !level.groups().empty()) {
            Body body = level.group(level.groups()[std::size_t(i) % level.groups().size()])->body;
            body.add_impulse_at(Vec3{0, body.mass(), 0}, body.center_of_mass() + DVec3{0.3, 0, 0});
            body.set_spin({0, 1, 0});
        }
        level.tick();
        level.clear_events();
    }
    return buffer;
}

TEST(Recording, ReplaysEverySceneFromTheStartAndFromTheMiddle) {
    for (const CollapseScene& scene : collapse_scenes()) {
        if (std::string(scene.name).find("town") != std::string::npos) continue;
        for (const int from : {0, 11}) {
            SCOPED_TRACE(testing::Message() << scene.name << " from tick " << from);
            const RecordBuffer recorded = record_scene(scene, from, 70);
            const ReplayReport report = replay(recorded.bytes);
            ASSERT_EQ(report.outcome, Outcome::same) << report.error.message << report.what;
            EXPECT_EQ(report.tick, 70u);
            EXPECT_EQ(report.first_tick, std::uint64_t(from));
            EXPECT_GT(report.calls, 0u);
        }
    }
}

TEST(Recording, ReplaysEveryCallOfTheRulesOfDestruction) {
    using Script = DestructionScript;
    BrittleType brittle;
    FewPlayers players;
    GroupType* const types[] = {&brittle};
    LevelHost host;
    host.types = types;
    host.blast_targets = &players;
    for (const int from : {-1, 10, 21, 60}) {
        SCOPED_TRACE(testing::Message() << "from tick " << from);
        Level level(Script::settings());
        RecordBuffer buffer;
        if (from < 0) start_recording(level, buffer);
        level.add_group_type(brittle);
        level.set_blast_targets(&players);
        Script::build(level);
        for (int i = 0; i < Script::kTicks; i++) {
            if (i == from) start_recording(level, buffer);
            Script::act(level, i);
            level.tick();
            level.clear_events();
        }
        stop_recording(level);
        const int before = players.pushes;
        const ReplayReport report = replay(buffer.bytes, host);
        ASSERT_EQ(report.outcome, Outcome::same) << report.error.message << report.what << report.tick;
        EXPECT_EQ(report.tick, std::uint64_t(Script::kTicks));
        EXPECT_EQ(report.hash, level.hash());
        EXPECT_EQ(take_snapshot(*report.level), take_snapshot(level));
        if (from < 50) {
            EXPECT_GT(players.pushes, before) << "a replay pushes too";
        }
        // Without the host's types it says what is missing, or differs: never is it silent.
        if (from < 60) {
            EXPECT_NE(replay(buffer.bytes).outcome, Outcome::same);
        }
        if (from < 0) {
            EXPECT_NE(replay(buffer.bytes).error.message.find("brittle"), std::string::npos);
        }
    }
}

TEST(Recording, ACallThatIsLeftOutIsNoticedInItsTick) {
    const RecordBuffer recorded = record_scene(*find_collapse_scene("tower"), 0, 30);
    std::uint64_t left_out = 0;
    const auto altered = leave_out_first(recorded.bytes, Call::body_add_impulse_at, left_out);
    ASSERT_GT(left_out, 0u);
    const ReplayReport report = replay(altered);
    EXPECT_EQ(report.outcome, Outcome::differs);
    EXPECT_EQ(report.tick, left_out);
    EXPECT_FALSE(report.groups.empty()) << report.what;
}

TEST(Recording, DamageIsToldWithItsPlace) {
    const std::vector<std::uint8_t> whole = record_scene(*find_collapse_scene("balcony"), 0, 12).bytes;
    const auto ends = frame_ends(whole);
    for (std::size_t cut = 0; cut < whole.size(); cut += 1 + whole.size() / 300) {
        const bool at_a_frame = std::find(ends.begin() + 1, ends.end(), cut) != ends.end();
        const ReplayReport report = replay(ByteSpan(whole).first(cut));
        EXPECT_EQ(report.outcome, at_a_frame ? Outcome::same : Outcome::damaged) << cut;
        EXPECT_EQ(report.error.message.empty(), at_a_frame);
    }
    for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 300) {
        std::vector<std::uint8_t> bytes = whole;
        bytes[at] ^= std::uint8_t(1 << (at % 8));
        const ReplayReport report = replay(bytes);
        EXPECT_EQ(report.outcome, Outcome::damaged) << "byte " << at;
    }
    std::vector<std::uint8_t> newer = whole;
    newer[8] = 200;
    EXPECT_EQ(replay(newer).error.code, ErrorCode::unsupported);
}

/// Changes by itself, refuses some changes, and is loaded late.
struct HostWorld final : TerrainSource {
    Grid grid;
    int now = 0;
    explicit HostWorld(const BlockTable& table) : grid(table) {}
    BlockId block_at(Cell cell) const override { return grid.get(cell); }
    bool is_loaded(const CellBox& cells) const override { return cells.min.x < 8 || now > 15; }
    bool set_block(Cell cell, BlockId block) override {
        if (cell.y < -2) return false;
        grid.set(cell, block);
        return true;
    }
};

TEST(Recording, WhatAHostsTerrainAnsweredIsInIt) {
    for (const int from : {0, 25}) {
        Level level;
        const BlockId stone = level.table().add(blockgame_stone());
        HostWorld host(level.table());
        for (int z = -10; z < 20; z++)
            for (int x = -10; x < 20; x++)
                for (int y = -4; y < 0; y++) host.grid.set({x, y, z}, stone);
        RecordBuffer buffer;
        if (from == 0) start_recording(level, buffer);
        level.set_terrain_source(&host);
        for (int i = 0; i < 6; i++) {
            Grid g(level.table());
            for (int y = 0; y < 3; y++) g.set({0, y, 0}, stone);
            GroupSettings at;
            at.pose.position = {2.0 * i, 2.0 + i, 1.5 * i};
            level.add_group(std::move(g), at);
        }
        for (int i = 0; i < 80; i++) {
            host.now = i;
            if (i == from && from > 0) start_recording(level, buffer);
            if (i == 30) level.blast({3, 0.5, 2}, 4);
            if (i == 40) host.grid.set({1, -1, 0}, kAir);  // behind the level's back: it polls
            if (i == 50) {
                host.grid.set({2, -1, 2}, kAir);
                level.terrain_changed({{2, -1, 2}, {2, -1, 2}});
            }
            level.tick();
        }
        const ReplayReport report = replay(buffer.bytes);
        EXPECT_EQ(report.outcome, Outcome::same)
            << report.what << report.error.message << " at " << report.tick;
        EXPECT_EQ(report.tick, 80u);
        stop_recording(level);
        EXPECT_EQ(level.hash(), report.hash);
    }
}

TEST(Recording, ASinkThatIsFullEndsIt) {
    Level level;
    RecordBuffer buffer;
    buffer.limit = 2000;
    start_recording(level, buffer);
    int ticks = 0;
    for (; is_recording(level); ticks++) {
        level.blast({double(ticks), 0, 0}, 4);
        level.tick();
        ASSERT_LT(ticks, 1000);
    }
    level.tick();
    EXPECT_LE(buffer.bytes.size(), 2000u);
    EXPECT_EQ(replay(buffer.bytes).outcome, Outcome::same);
}

/// Runs itself with the order to fail.
TEST(Recording, AFailingTestLeavesOne) {
    if (std::getenv("TALUS_FAIL_ON_PURPOSE")) {
        Level level(collapse_scene_settings());
        const RecordFailures record(level);
        find_collapse_scene("wear")->build(level);
        for (int i = 0; i < 5; i++) level.tick();
        FAIL() << "on purpose";
    }
    const auto bytes = recording_left_by("Recording.AFailingTestLeavesOne");
    EXPECT_EQ(replay(bytes).outcome, Outcome::same);
    EXPECT_EQ(replay(bytes).tick, 5u);
}

}  // namespace
}  // namespace talus
