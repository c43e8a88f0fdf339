// Case 32 through snapshots and saves: a group is loaded before its terrain: it is held still until the
// terrain is there, and then goes on as it was. By snapshot and, where there are saves, by save; taken before
// it waits and while it does.
#include "talus/snapshot.h"
#ifdef TALUS_HAS_STORE
#include "tests/store/build_level.h"
#endif

#include <gtest/gtest.h>

#include <functional>

namespace talus {
namespace {

struct HostWorld final : TerrainSource {
    BlockId stone = 1;
    bool there = true;
    BlockId block_at(Cell cell) const override { return cell.y < 0 ? stone : kAir; }
    bool is_loaded(const CellBox&) const override { return there; }
};

using Reload = std::function<std::unique_ptr<Level>(const Level&, HostWorld&)>;

void check(const Reload& reload, bool taken_while_waiting, bool knows_terrain) {
    HostWorld world;
    Level level;
    const BlockId stone = level.table().add(blockgame_stone());
    level.set_terrain_source(&world);
    Grid bar(level.table());
    for (int x = 0; x < 4; x++) bar.set({x, 0, 0}, stone);
    const GroupId flying =
        level.add_group(Grid(bar), {.pose = {{0, 12, 0}, {}}, .velocity = {2, 1, 0}, .spin = {0, 0, 1}});
    const GroupId lying = level.add_group(std::move(bar), {.pose = {{30, 0, 0}, {}}, .asleep = true});
    for (int i = 0; i < 6; i++) level.tick();

    if (taken_while_waiting) {
        world.there = false;
        level.terrain_changed({{-100, -100, -100}, {100, 100, 100}});  // it unloads under them
        level.tick();
    }
    const DVec3 at = level.group(flying)->body.center_of_mass();
    world.there = false;
    const auto loaded = reload(level, world);
    ASSERT_TRUE(loaded);
    Level& back = *loaded;
    const Body body = back.group(flying)->body;
    // A snapshot has the terrain around bodies that its host answered last; it is polled every other tick.
    if (knows_terrain && !taken_while_waiting) {
        for (int i = 0; i < 3; i++) back.tick();
        EXPECT_LT(length(body.center_of_mass() - at), 1);
        for (int i = 0; i < 2; i++) level.tick();
    }
    const DVec3 held = body.center_of_mass();
    for (int i = 0; i < 60; i++) back.tick();
    EXPECT_EQ(body.center_of_mass(), held) << "held still";
    EXPECT_TRUE(held == at || knows_terrain);
    EXPECT_TRUE(back.group(lying)->asleep);
    EXPECT_EQ(back.group(lying)->pose.position, (DVec3{30, 0, 0}));

    // The terrain comes: on with the motion it had, like one that never waited.
    world.there = true;
    for (int i = 0; i < 8; i++) {
        level.tick();
        back.tick();
    }
    const Body free = level.group(flying)->body;
    EXPECT_NE(free.center_of_mass(), at);
    EXPECT_LT(length(body.center_of_mass() - free.center_of_mass()), 1e-5);
    EXPECT_LT(length(body.velocity() - free.velocity()), 1e-4f);
    EXPECT_LT(length(body.spin() - free.spin()), 1e-4f);
    for (int i = 0; i < 200; i++) back.tick();
    EXPECT_TRUE(back.group(flying)->asleep);
    EXPECT_NEAR(body.bounds().min.y, 0, 0.05) << "on the ground, not under it";
    EXPECT_EQ(back.stats().blocks, 8u);
}

std::unique_ptr<Level> by_snapshot(const Level& level, HostWorld& world) {
    LevelHost host;
    host.terrain = &world;
    auto made = restore_snapshot(take_snapshot(level), host);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? std::move(*made) : nullptr;
}

TEST(Case32Reload, BySnapshot) { check(by_snapshot, false, true); }
TEST(Case32Reload, BySnapshotOfOneThatWaits) { check(by_snapshot, true, true); }

#ifdef TALUS_HAS_STORE
std::unique_ptr<Level> by_save(const Level& level, HostWorld& world) {
    const TemporaryFolder folder;
    EXPECT_TRUE(save_level(level, folder.file("a")));
    LevelHost host;
    host.terrain = &world;
    auto made = load_level(folder.file("a"), host);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? std::move(*made) : nullptr;
}

TEST(Case32Reload, BySave) { check(by_save, false, false); }
TEST(Case32Reload, BySaveOfOneThatWaits) { check(by_save, true, false); }
#else
TEST(Case32Reload, BySave) { GTEST_SKIP() << "built without TALUS_STORE"; }
#endif

}  // namespace
}  // namespace talus
