// A recording with a call that is too short, or goes on behind its arguments, is refused before that call is
// made: with zeros for what is missing it carved, dug and pushed at the world's zero. Settings that would
// keep the structural check busy for days are refused too, and brought into their limits by a level.
#include "tests/world/alter_recording.h"
#include "tests/world/blocks_level.h"

#include "fuzz/small_levels.h"

#include <limits>

namespace talus {
namespace {

/// Calls of many kinds, each with something at the world's zero to get hold of.
std::vector<std::uint8_t> many_calls() {
    LevelSettings settings;
    settings.ground = -1;
    Level level(settings);
    fuzz::Buffer buffer;
    start_recording(level, buffer);
    fuzz::build(level, nullptr);
    const BlockId sand = level.table().add(*find_real_material("sand"));
    level.set_smooth_terrain(nullptr, sand);
    level.fill({0, -3, 0}, 3);
    for (int i = 0; i < 4; i++) level.tick();
    level.dig({5, -3, 0}, 1);
    level.carve({{-1, -1, -1}, {0.2, 0.2, 0.2}});
    level.carve_sphere({7, 1, 0}, 0.4);
    level.carve_capsule({7, 1, 0}, {8, 1, 0}, 0.6);
    level.blast({3, 1, 1}, 2);
    level.unprotect(level.protect({{-1, -1, -1}, {1, 1, 1}}));
    level.assemble({9, 0, 0}, {{8, 0, -1}, {10, 3, 1}}, 5);
    level.break_terrain({-2, 2, 0});
    LevelSettings s = level.settings();
    s.work_per_tick = 50;
    level.change_settings(s);
    for (const GroupId id : level.groups()) {
        level.set_debris(id, 400);
        level.wear_down(id, {0, 0, 0}, 0.1f);
        Body body = level.group(id)->body;
        body.add_impulse_at({0, 500, 10}, {1, 1, 1});
        body.set_spin({0, 1, 0});
        body.set_pose({{12, 3, 2}, {}});
        body.set_damping(0.1f, 0.1f);
    }
    level.space().set_ground(-1.5);
    level.tick();
    stop_recording(level);
    return buffer.bytes;
}

TEST(Regress, ADamagedCallIsRefusedBeforeItRuns) {
    const std::vector<std::uint8_t> whole = many_calls();
    ASSERT_EQ(replay(whole).outcome, ReplayReport::Outcome::same);
    const auto ends = frame_ends(whole);
    std::uint64_t before = replay(ByteSpan(whole).first(ends[1])).level->hash();
    std::size_t tried = 0;
    for (std::size_t k = 1; k + 1 < ends.size(); k++) {
        const auto kind = Call(whole[ends[k] + 8]);
        for (const bool longer : {false, true}) {
            if (kind == Call::tick_done || kind == Call::block_types) continue;
            std::size_t at = 0;
            const auto bytes = alter_recording(ByteSpan(whole).first(ends[k + 1]), [&](Call,
                                                                                       ByteSpan content) {
                std::optional<std::vector<std::uint8_t>> out(std::in_place, content.begin(), content.end());
                if (at++ != k) return out;
                if (longer)
                    out->push_back(0);
                else if (out->size() > 1)
                    out->pop_back();
                return out;
            });
            if (bytes.size() == ends[k + 1]) continue;  // has no arguments to cut
            const ReplayReport report = replay(bytes);
            EXPECT_EQ(report.outcome, ReplayReport::Outcome::damaged) << int(kind) << longer;
            ASSERT_TRUE(report.level);
            EXPECT_EQ(report.level->hash(), before) << "call " << int(kind) << " ran, frame " << k;
            tried++;
        }
        before = replay(ByteSpan(whole).first(ends[k + 1])).level->hash();
    }
    EXPECT_GT(tried, 60u);
}

TEST(Regress, SettingsWithoutEndAreBroughtIntoTheirLimits) {
    LevelSettings s;
    s.structure.mode = StructureMode::physical;
    s.structure.max_iterations = s.structure.max_batches = s.structure.max_thrusts = 2'000'000'000;
    s.structure.max_work = 1e300;
    s.cell_size = -3;
    s.floor = std::numeric_limits<double>::quiet_NaN();
    s.ticks_per_second = 0;
    Level level(s);
    EXPECT_LE(level.settings().structure.max_iterations, 10'000);
    EXPECT_LE(level.settings().structure.max_batches, 10'000);
    EXPECT_LE(level.settings().structure.max_thrusts, 50'000);
    EXPECT_LE(level.settings().structure.max_work, 1e10);
    EXPECT_GT(level.settings().cell_size, 0);
    EXPECT_EQ(level.settings().ticks_per_second, 1);
    level.tick();
    const auto bytes = take_snapshot(level);
    auto again = restore_snapshot(bytes);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ((*again)->hash(), level.hash());
    // Nor do they get in by a change.
    s = level.settings();
    s.structure.max_iterations = 2'000'000'000;
    level.change_settings(s);
    EXPECT_LE(level.settings().structure.max_iterations, 10'000);
}

}  // namespace
}  // namespace talus
