// Smooth ground in a level: groups rest on it, blasts and carving dig it, structures stand on it, rays meet
// it, snapshots and recordings keep it.
#include "base/call_log.h"
#include "dynamics/state.h"
#include "record_failures.h"
#include "talus/level.h"
#include "talus/recording.h"
#include "tests/log_lines.h"
#include "tests/terrain/fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <thread>

namespace talus {
namespace {

/// Gently rolling ground about y = 0.
struct Hills final : DensitySource {
    mutable std::atomic<long> asked{0};
    double raised = 0;
    float density_at(Cell s) const override {
        asked++;
        const int x = (s.x % 24 + 24) % 24, z = (s.z % 20 + 20) % 20;
        return float((x < 12 ? x : 24 - x) * 0.1 + (z < 10 ? z : 20 - z) * 0.08 + raised - s.y);
    }
};

struct SmoothLevel {
    LogLines log;
    Level level;
    BlockId stone, earth, bottom_slab, top_slab;
    static LevelSettings settings_with(LogLines* log, JobSystem* jobs = nullptr) {
        LevelSettings s;
        s.floor = -200;
        s.log = log;
        s.jobs = jobs;
        return s;
    }
    explicit SmoothLevel(JobSystem* jobs = nullptr) : level(settings_with(&log, jobs)) {
        stone = level.table().add(blockgame_stone());
        earth = level.table().add(*find_real_material("earth"));
        BlockType slab{"bottom slab", blockgame_stone(), BlockShape()};
        const Box low[] = {{{0, 0, 0}, {1, 0.5f, 1}}};
        slab.shape = BlockShape(low);
        bottom_slab = level.table().add(slab);
        slab.name = "top slab";
        const Box high[] = {{{0, 0.5f, 0}, {1, 1, 1}}};
        slab.shape = BlockShape(high);
        top_slab = level.table().add(slab);
    }
    GroupId drop(std::initializer_list<std::pair<Cell, BlockId>> blocks, DVec3 at, bool bears_load = false) {
        Grid grid(level.table());
        for (const auto& [cell, block] : blocks) grid.set(cell, block);
        GroupSettings s;
        s.pose.position = at;
        s.bears_load = bears_load;
        return level.add_group(std::move(grid), s);
    }
    void run(int ticks) {
        for (int i = 0; i < ticks; i++) level.tick();
    }
    double height_of(GroupId id) { return level.group(id) ? level.group(id)->pose.position.y : -1e9; }
};

TEST(SmoothTerrain, GroupsOfFullAndPartialBlocksRestOnIt) {
    const PlaneSource plane({0, 1, 0}, {0, 2.25, 0});
    SmoothLevel s;
    s.level.set_smooth_terrain(&plane, s.earth);
    EXPECT_EQ(s.level.smooth_block(), s.earth);
    const GroupId cubes = s.drop({{{0, 0, 0}, s.stone}, {{1, 0, 0}, s.stone}}, {0.3, 4, 0.2});
    const GroupId low = s.drop({{{0, 0, 0}, s.bottom_slab}, {{1, 0, 0}, s.bottom_slab}}, {6.3, 4, 0.2});
    const GroupId high = s.drop({{{0, 0, 0}, s.top_slab}, {{0, 0, 1}, s.top_slab}}, {12.3, 4, 0.2});
    s.run(80);
    EXPECT_NEAR(s.height_of(cubes), 2.25, 0.01);
    EXPECT_NEAR(s.height_of(low), 2.25, 0.01);
    EXPECT_NEAR(s.height_of(high), 1.75, 0.01);
    for (const GroupId id : {cubes, low, high}) EXPECT_TRUE(s.level.group(id)->asleep);
    EXPECT_FLOAT_EQ(s.level.space().state().world.smooth_friction, find_real_material("earth")->friction);
    // Without it they fall.
    s.level.set_smooth_terrain(nullptr, kAir);
    EXPECT_EQ(s.level.smooth_terrain(), nullptr);
    s.run(20);
    EXPECT_LT(s.height_of(cubes), 0);
}

TEST(SmoothTerrain, AFieldWithoutASourceHoldsWhatIsFilledIn) {
    SmoothLevel s;
    s.level.set_smooth_terrain(nullptr, s.earth);
    const CellBox filled = s.level.fill({0, 0, 0}, 5);
    EXPECT_TRUE(filled.contains({0, 4, 0}));
    const GroupId group = s.drop({{{0, 0, 0}, s.stone}}, {-0.5, 7, -0.5});
    s.run(60);
    EXPECT_NEAR(s.height_of(group), 5, 0.15);  // the top of a ball, blended over cells
    ASSERT_TRUE(s.level.group(group)->asleep);
    s.level.clear_events();
    const CellBox dug = s.level.dig({0, 4, 0}, 2);
    ASSERT_EQ(s.level.events().size(), 1u);
    const LevelEvent& e = s.level.events()[0];
    EXPECT_EQ(e.kind, LevelEvent::Kind::smooth_terrain);
    EXPECT_EQ(e.cell, dug.min);
    EXPECT_EQ(e.last, dug.max);
    EXPECT_FALSE(s.level.group(group)->asleep);
    s.run(60);
    EXPECT_NEAR(s.height_of(group), 2, 0.6);
    // What is too large is refused, and said.
    EXPECT_TRUE(s.log.lines.empty());
    EXPECT_TRUE(s.level.dig({0, 0, 0}, 500).empty());
    EXPECT_EQ(s.log.lines.size(), 1u);
    EXPECT_TRUE(s.level.fill({NAN, 0, 0}, 5).empty());
    EXPECT_TRUE(s.level.fill({0, 0, 0}, -1).empty());
}

/// Right under it a ray of power P loses .225 each .3 m, and (resistance + .3) .3 more in the ground.
TEST(SmoothTerrain, ABlastDigsACraterAsDeepAsItsRaysReach) {
    const PlaneSource plane;
    for (const double height : {-1.0, 0.0, 2.0, 4.0}) {
        SmoothLevel s;
        s.level.set_smooth_terrain(&plane, s.earth);
        const double resistance = double(find_real_material("earth")->blast_resistance);
        s.level.blast({0.5, height, 0.5}, 4);
        const double air = height > 0 ? height : 0;
        const double depth = (4 - air / 0.3 * 0.225) / (0.225 + (resistance + 0.3) * 0.3) * 0.3;
        const double bottom = height > 0 ? -depth : height - depth;
        const DensityField& field = *s.level.smooth_terrain();
        EXPECT_LT(field.density({0.5, bottom + 0.3, 0.5}), 0) << height;
        EXPECT_GT(field.density({0.5, bottom - 0.3, 0.5}), 0) << height;
        EXPECT_GT(field.density({9.5, -0.5, 0.5}), 0);
    }
    // Out of reach, or of what nothing breaks: nothing is dug.
    SmoothLevel s;
    s.level.set_smooth_terrain(&plane, s.earth);
    s.level.blast({0, 6, 0}, 4);
    EXPECT_EQ(s.level.smooth_terrain()->edited_bricks(), 0u);
    Material bedrock = *find_real_material("stone");
    bedrock.name = "bedrock";
    bedrock.hardness = -1;
    s.level.set_smooth_terrain(&plane, s.level.table().add(bedrock));
    s.level.blast({0, 0, 0}, 4);
    EXPECT_EQ(s.level.smooth_terrain()->edited_bricks(), 0u);
}

TEST(SmoothTerrain, AMoundSheltersFromABlast) {
    for (const bool mound : {false, true}) {
        SmoothLevel s;
        s.level.set_smooth_terrain(nullptr, s.earth);
        if (mound) s.level.fill({0, 0, 0}, 2);
        Grid grid(s.level.table());
        for (int y = -2; y < 2; y++)
            for (int z = -2; z < 2; z++) grid.set({0, y, z}, s.stone);
        const GroupId wall = s.level.add_group(std::move(grid), {.pose = {{2.6, 0, 0}, {}}});
        const std::size_t broken = s.level.blast({-2.6, 0, 0}, 6);
        if (mound) {
            EXPECT_EQ(broken, 0u);
            EXPECT_LT(length(s.level.group(wall)->body.velocity()), 0.2f);
        } else {
            EXPECT_GT(broken, 3u);
        }
    }
}

TEST(SmoothTerrain, CarvingTakesItAwayToo) {
    const PlaneSource plane;
    SmoothLevel s;
    s.level.set_smooth_terrain(&plane, s.earth);
    const DensityField& field = *s.level.smooth_terrain();
    EXPECT_EQ(s.level.carve({{-3, -4, -3}, {3, 1, 3}}), 0u);  // of blocks there are none
    EXPECT_NEAR(field.surface_near({0, -3.5, 0}, 2)->distance, 0.5, 0.01);
    EXPECT_NEAR(field.surface_near({2.5, -2, 0}, 2)->distance, 0.5, 0.01);
    EXPECT_GT(field.density({3.5, -2, 0}), 0.4f);
    s.level.carve_sphere({20, 0, 0}, 3);
    EXPECT_LT(field.density({20, -2.7, 0}), 0);
    EXPECT_GT(field.density({20, -3.2, 0}), 0);
    s.level.carve_capsule({40, -5, 0}, {60, -5, 0}, 2);
    EXPECT_LT(field.density({50, -6.5, 0}), 0);
    EXPECT_NEAR(field.surface_near({50, -5, 0}, 4)->distance, 2, 0.3);
    EXPECT_GT(field.density({50, -2, 0}), 0.5f);
    EXPECT_TRUE(s.log.lines.empty());
    s.level.carve({{-5000, -50, -5000}, {5000, 0, 5000}});
    EXPECT_EQ(s.log.lines.size(), 1u);
}

TEST(SmoothTerrain, StructuresStandOnItUntilItIsDug) {
    const PlaneSource plane({0, 1, 0}, {0, 0.1, 0});
    SmoothLevel s;
    s.level.set_smooth_terrain(&plane, s.earth);
    for (int y = 0; y < 5; y++) s.level.set_terrain({0, y, 0}, s.stone);
    const StructureId tower = s.level.mark_structure(CellBox{{0, 0, 0}, {0, 4, 0}});
    s.level.check_structure_soon(tower);
    s.run(5);
    EXPECT_TRUE(s.level.groups().empty());
    // A group that bears load and sleeps on it is supported as well.
    const GroupId arch = s.drop({{{0, 0, 0}, s.stone},
                                 {{0, 1, 0}, s.stone},
                                 {{1, 1, 0}, s.stone},
                                 {{2, 1, 0}, s.stone},
                                 {{2, 0, 0}, s.stone}},
                                {10, 0.1, 0}, true);
    s.run(60);
    ASSERT_TRUE(s.level.group(arch));
    EXPECT_EQ(s.level.group(arch)->grid->block_count(), 5u);
    EXPECT_NEAR(s.height_of(arch), 0.1, 0.01);
    s.level.dig({0.5, -1, 0.5}, 3);
    s.run(5);
    EXPECT_EQ(s.level.groups().size(), 2u) << "the tower lost its ground and falls";
    EXPECT_FALSE(s.level.structure(tower));
}

TEST(SmoothTerrain, RaysMeetIt) {
    const PlaneSource slope({-1, 1, 0});
    SmoothLevel s;
    s.level.set_smooth_terrain(&slope, s.earth);
    s.level.set_terrain({4, 9, 0}, s.stone);
    auto hit = s.level.cast_ray({2, 20, 0.5}, {0, -1, 0}, 100);
    ASSERT_TRUE(hit);
    EXPECT_TRUE(hit->smooth);
    EXPECT_FALSE(hit->ground);
    EXPECT_FALSE(hit->group);
    EXPECT_NEAR(hit->point.y, 2, 1e-3);
    EXPECT_NEAR(hit->distance, 18, 1e-3);
    EXPECT_NEAR(hit->outward.x, -std::sqrt(0.5), 1e-3);
    hit = s.level.cast_ray({4.5, 20, 0.5}, {0, -1, 0}, 100);
    ASSERT_TRUE(hit);
    EXPECT_FALSE(hit->smooth);
    EXPECT_EQ(hit->cell, (Cell{4, 9, 0}));
    EXPECT_NEAR(hit->outward.y, 1, 1e-6);
    EXPECT_FALSE(s.level.cast_ray({2, 20, 0.5}, {0, 1, 0}, 100));
}

TEST(SmoothTerrain, AHitTellsWhatItIsMadeOf) {
    const PlaneSource plane;
    SmoothLevel s;
    s.level.set_smooth_terrain(&plane, s.earth);
    const GroupId id = s.drop({{{0, 0, 0}, s.stone}, {{1, 0, 0}, s.stone}}, {0, 6, 0}, true);
    s.level.group(id)->body.set_velocity({0, -12, 0});
    bool told = false;
    for (int i = 0; i < 20; i++) {
        s.level.tick();
        for (const LevelEvent& e : s.level.events())
            told = told ||
                   (e.kind == LevelEvent::Kind::impact && e.other_block == s.earth && e.block == s.stone);
        s.level.clear_events();
    }
    EXPECT_TRUE(told);
}

// --- kept

void script(SmoothLevel& s, Hills& hills, int tick) {
    if (tick == 0)
        for (int i = 0; i < 6; i++)
            s.drop({{{0, 0, 0}, s.stone}, {{1, 0, 0}, s.bottom_slab}, {{0, 1, 0}, s.stone}},
                   {i * 3.0 - 8, 6.0 + i, i * 2.0 - 5});
    if (tick == 15) s.level.dig({0, 2, 0}, 3);
    if (tick == 25) s.level.blast({-4, 1.5, -3}, 6);
    if (tick == 33) s.level.fill({4, 1, 2}, 2.5f);
    if (tick == 40) {
        hills.raised = 0.75;
        s.level.smooth_terrain_changed({{-40, -40, -40}, {40, 40, 40}});
    }
    if (tick == 52) s.level.carve({{-8, -2, -8}, {-2, 3, -2}});
    s.level.tick();
    s.level.clear_events();
}

TEST(SmoothTerrain, ASnapshotGoesOnWithTheSameBits) {
    for (const int from : {3, 16, 27, 45}) {
        Hills hills, other;
        SmoothLevel s;
        s.level.set_smooth_terrain(&hills, s.earth);
        for (int i = 0; i < from; i++) script(s, hills, i);
        const auto bytes = take_snapshot(s.level);
        EXPECT_EQ(bytes, take_snapshot(s.level));
        const auto refused = restore_snapshot(bytes);
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().message.find("samples"), std::string::npos) << refused.error().message;
        other.raised = hills.raised;
        LevelHost host;
        host.smooth = &other;
        auto made = restore_snapshot(bytes, host);
        ASSERT_TRUE(made) << made.error().message;
        EXPECT_EQ(bytes, take_snapshot(**made));
        EXPECT_EQ((*made)->smooth_terrain()->edited_bricks(), s.level.smooth_terrain()->edited_bricks());
        for (int i = 0; i < 60; i++) {
            s.level.tick();
            (*made)->tick();
            ASSERT_EQ(s.level.hash(), (*made)->hash()) << from << " " << i;
        }
        EXPECT_TRUE(take_snapshot(s.level) == take_snapshot(**made));
    }
}

TEST(SmoothTerrain, ASnapshotOfAFilledFieldNeedsNoSource) {
    SmoothLevel s;
    s.level.set_smooth_terrain(nullptr, s.earth);
    s.level.fill({0, 0, 0}, 4);
    const auto made = restore_snapshot(take_snapshot(s.level));
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ((*made)->smooth_terrain()->density({1, 3, 0}), s.level.smooth_terrain()->density({1, 3, 0}));
    EXPECT_EQ((*made)->smooth_block(), s.earth);
}

TEST(SmoothTerrain, DamagedSnapshotsAreRefused) {
    Hills hills;
    SmoothLevel s;
    s.level.set_smooth_terrain(&hills, s.earth);
    s.level.dig({0, 0, 0}, 2);
    const auto bytes = take_snapshot(s.level);
    LevelHost host;
    host.smooth = &hills;
    for (std::size_t cut = 0; cut < bytes.size(); cut += 97)
        EXPECT_FALSE(restore_snapshot(std::span(bytes).first(cut), host));
}

/// Runs what is asked on threads of its own, so that several ask the field at once.
struct TwoThreads final : JobSystem {
    int worker_count() const override { return 2; }
    void parallel_for(std::size_t count, Task task, void* context) override {
        std::atomic<std::size_t> next{0};
        auto work = [&] {
            for (std::size_t i; (i = next++) < count;) task(context, i);
        };
        std::thread other(work);
        work();
        other.join();
    }
    std::uint64_t start(Task task, void* context) override {
        task(context, 0);
        return 0;
    }
    void wait(std::uint64_t) override {}
};

TEST(SmoothTerrain, ARecordingHoldsWhatTheSourceAnswered) {
    for (const bool threads : {false, true})
        for (const int from : {0, 20}) {
            TwoThreads two;
            Hills hills;
            SmoothLevel s(threads ? &two : nullptr);
            RecordBuffer buffer;
            if (from == 0) start_recording(s.level, buffer);
            s.level.set_smooth_terrain(&hills, s.earth);
            for (int i = 0; i < 80; i++) {
                if (i == from && from > 0) start_recording(s.level, buffer);
                script(s, hills, i);
                // Reading asks the source too, and is no call.
                s.level.cast_ray({i * 7.0, 30, 3}, {0.1f, -1, 0}, 60);
            }
            const std::uint64_t hash = s.level.hash();
            stop_recording(s.level);
            // No host at all: everything is in the recording.
            const ReplayReport report = replay(buffer.bytes);
            EXPECT_EQ(report.outcome, ReplayReport::Outcome::same)
                << report.what << report.error.message << " at " << report.tick;
            EXPECT_EQ(report.tick, 80u);
            EXPECT_EQ(report.hash, hash);
            // The level goes on with its own source.
            const long asked = hills.asked;
            s.drop({{{0, 0, 0}, s.stone}}, {300, 4, 300});
            s.run(5);
            EXPECT_GT(hills.asked, asked);
        }
}

TEST(SmoothTerrain, AReplayOfOtherGroundIsNoticed) {
    Hills hills;
    SmoothLevel s;
    RecordBuffer buffer;
    start_recording(s.level, buffer);
    s.level.set_smooth_terrain(&hills, s.earth);
    for (int i = 0; i < 40; i++) script(s, hills, i);
    // One sample of the first brick that was told is changed, and the frame summed anew.
    std::vector<std::uint8_t> bytes = buffer.bytes, out(bytes.begin(), bytes.begin() + 12);
    std::uint64_t number = 0;
    bool changed = false;
    for (std::size_t at = 12; at < bytes.size();) {
        std::uint32_t size = 0;
        for (std::size_t k = 0; k < 4; k++) size |= std::uint32_t(bytes[at + k]) << (8 * k);
        std::vector<std::uint8_t> content(bytes.begin() + std::ptrdiff_t(at) + 8,
                                          bytes.begin() + std::ptrdiff_t(at) + 8 + size);
        if (Call(content[0]) == Call::smooth_samples && !changed) {
            for (std::size_t k = 5 + 12; k < 5 + 12 + 4 * 512; k += 4) content[k + 3] ^= 1;
            changed = true;
        }
        ByteWriter frame;
        frame(size, std::uint32_t(checksum(content, number++)));
        frame.raw(content);
        out.insert(out.end(), frame.bytes.begin(), frame.bytes.end());
        at += 8 + size;
    }
    ASSERT_TRUE(changed);
    EXPECT_EQ(replay(out).outcome, ReplayReport::Outcome::differs);
}

// --- the ground of a host

struct HostGround final : TerrainSource {
    PlaneSource plane{{0.1f, 1, 0}, {0, 1.5, 0}};
    DensityField field{&plane};
    BlockId block_at(Cell) const override { return kAir; }
    bool is_loaded(const CellBox&) const override { return true; }
    bool has_smooth_ground() const override { return true; }
    std::optional<SurfacePoint> surface_near(DVec3 point, float reach) const override {
        return field.surface_near(point, reach);
    }
};

TEST(SmoothTerrain, AHostsGroundCarriesAndIsRecorded) {
    for (const bool threads : {false, true})
        for (const int from : {0, 20}) {
            TwoThreads two;
            HostGround host;
            SmoothLevel s(threads ? &two : nullptr);
            RecordBuffer buffer;
            if (from == 0) start_recording(s.level, buffer);
            s.level.set_terrain_source(&host);
            const GroupId id = s.drop({{{0, 0, 0}, s.stone}, {{1, 0, 0}, s.stone}}, {0, 4, 0});
            for (int i = 0; i < 90; i++) {
                if (i == from && from > 0) start_recording(s.level, buffer);
                if (i == 50) s.level.terrain_changed(host.field.dig({1, 1.4, 0.5}, 2));
                s.level.cast_ray({0, 30, 0}, {0.1f, -1, 0}, 60);
                s.level.tick();
                if (i == 49) {
                    EXPECT_NEAR(s.level.group(id)->body.center_of_mass().y, 1.9, 0.1);
                    EXPECT_TRUE(s.level.group(id)->asleep);
                }
            }
            EXPECT_LT(s.level.group(id)->body.center_of_mass().y, 0.8);
            stop_recording(s.level);
            const ReplayReport report = replay(buffer.bytes);
            EXPECT_EQ(report.outcome, ReplayReport::Outcome::same)
                << report.what << report.error.message << " at " << report.tick;
            EXPECT_EQ(report.hash, s.level.hash());
        }
}

}  // namespace
}  // namespace talus
