#include "terrain/region_cache.h"

#include "talus/level.h"

#include <gtest/gtest.h>

#include <map>

namespace talus {
namespace {

/// A host's world that counts what it is asked.
class HostWorld : public TerrainSource {
 public:
    BlockId block = kAir;
    std::map<Cell, BlockId> edits;
    int loaded_below_x = 1'000'000;
    mutable long reads = 0;

    BlockId block_at(Cell cell) const override {
        reads++;
        const auto it = edits.find(cell);
        if (it != edits.end()) return it->second;
        return cell.y < 0 ? block : kAir;
    }
    bool is_loaded(const CellBox& cells) const override { return cells.max.x < loaded_below_x; }
    bool set_block(Cell cell, BlockId id) override {
        edits[cell] = id;
        return true;
    }
};

struct RegionCacheTest : testing::Test {
    Level level;
    HostWorld world;
    BlockId stone = level.table().add(blockgame_stone());
    GroupId drop(double x, double y) {
        Grid g(level.table());
        g.set({0, 0, 0}, stone);
        return level.add_group(std::move(g), {.pose = {{x, y, 0}, {}}});
    }
    void SetUp() override {
        world.block = stone;
        level.set_terrain_source(&world);
    }
};

TEST_F(RegionCacheTest, BodiesLandOnTheHostsGround) {
    const GroupId id = drop(0, 3);
    for (int i = 0; i < 80; i++) level.tick();
    EXPECT_NEAR(level.group(id)->pose.position.y, 0, 0.02);
    EXPECT_TRUE(level.group(id)->asleep);
}

TEST_F(RegionCacheTest, AChangeIsFoundByPollingAndAtOnceWhenTold) {
    for (const bool told : {false, true}) {
        const GroupId id = drop(told ? 40 : 0, 0);
        for (int i = 0; i < 40; i++) level.tick();
        ASSERT_TRUE(level.group(id)->asleep);
        const int x0 = told ? 40 : 0;
        CellBox hole{{x0 - 2, -1, -2}, {x0 + 2, -1, 2}};
        for (int x = hole.min.x; x <= hole.max.x; x++)
            for (int z = -2; z <= 2; z++) world.edits[{x, -1, z}] = kAir;
        if (told) level.terrain_changed(hole);
        int ticks = 0;
        while (level.group(id)->asleep && ticks < 100) {
            level.tick();
            ticks++;
        }
        if (told)
            EXPECT_LE(ticks, 1);
        else
            EXPECT_LE(ticks, 21);
        level.remove_group(id);
    }
}

TEST_F(RegionCacheTest, UnloadedRegionsAreLeftOutAndBodiesThereWait) {
    world.loaded_below_x = -100;
    const GroupId id = drop(0, 3);
    for (int i = 0; i < 20; i++) level.tick();
    EXPECT_EQ(level.group(id)->pose.position.y, 3);  // tests/regress/case_32: it goes on when they are loaded
    EXPECT_EQ(world.reads, 0);
    level.set_terrain_source(nullptr);
    for (int i = 0; i < 20; i++) level.tick();
    EXPECT_LT(level.group(id)->pose.position.y, 0);
}

TEST_F(RegionCacheTest, UnusedBricksAreForgotten) {
    const GroupId id = drop(0, 0);
    for (int i = 0; i < 10; i++) level.tick();
    EXPECT_FALSE(level.terrain().empty());
    level.remove_group(id);
    for (int i = 0; i < 130; i++) level.tick();
    EXPECT_TRUE(level.terrain().empty());
}

TEST_F(RegionCacheTest, BlastsAskTheHost) {
    drop(0, 0);
    level.tick();
    EXPECT_GT(level.blast({2.5, 0.2, 0.5}, 4), 3u);
    EXPECT_FALSE(world.edits.empty());
    for (const auto& [cell, id] : world.edits) EXPECT_EQ(id, kAir);
}

}  // namespace
}  // namespace talus
