// Terrain that bears load comes through a save exactly, and falls as it would have.
#include "tests/store/build_level.h"

namespace talus {
namespace {

void expect_same_structures(const Level& a, const Level& b) {
    ASSERT_EQ(a.structures(), b.structures());
    for (const StructureId id : a.structures()) {
        const auto x = a.structure(id), y = b.structure(id);
        EXPECT_EQ(x->mode, y->mode);
        EXPECT_EQ(x->waits_for_check, y->waits_for_check);
        ASSERT_EQ(x->grid->block_count(), y->grid->block_count());
        x->grid->for_each([&](Cell cell, BlockId block) {
            EXPECT_EQ(y->grid->get(cell), block);
            EXPECT_EQ(b.structure_at(cell), id);
        });
    }
}

std::unique_ptr<Level> reload(const Level& level, const LevelHost& host = {}) {
    const TemporaryFolder folder;
    const auto saved = save_level(level, folder.file("a"));
    EXPECT_TRUE(saved.ok()) << saved.error().message;
    EXPECT_TRUE(!saved.ok() || saved->structures == level.structures().size());
    auto loaded = load_level(folder.file("a"), host);
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    return loaded.ok() ? std::move(*loaded) : nullptr;
}

TEST(StoreStructures, RoundTripKeepsAllOfThem) {
    const auto level = busy_level();
    ASSERT_EQ(level->structures().size(), 2u);
    ASSERT_TRUE(level->structure(level->structures().back())->waits_for_check ||
                level->structure(level->structures().front())->waits_for_check);
    const auto back = reload(*level);
    ASSERT_TRUE(back);
    expect_same_structures(*level, *back);
    // New ones get the same ids: the free slots came back in order.
    for (const int x : {8, 11, 14, 17})
        EXPECT_EQ(level->mark_structure(CellBox{{x, -1, -20}, {x + 1, -1, -20}}),
                  back->mark_structure(CellBox{{x, -1, -20}, {x + 1, -1, -20}}));
    expect_same_structures(*level, *back);
}

TEST(StoreStructures, BothFallAlike) {
    const auto level = busy_level();
    const auto back = reload(*level);
    ASSERT_TRUE(back);
    const std::size_t groups = level->groups().size(), terrain = level->terrain().block_count();
    for (Level* l : {level.get(), back.get()}) {
        l->set_terrain({-18, 3, 18}, kAir);  // the post under its arm
        l->set_terrain({-12, 8, 18}, 1);     // one more block at its end joins in
        for (int i = 0; i < 3; i++) l->tick();
    }
    EXPECT_GT(level->groups().size(), groups);
    EXPECT_LT(level->terrain().block_count(), terrain - 8);
    EXPECT_EQ(level->groups(), back->groups());
    EXPECT_EQ(level->terrain().block_count(), back->terrain().block_count());
    expect_same_structures(*level, *back);
    for (const GroupId id : level->groups())
        EXPECT_EQ(level->group(id)->grid->block_count(), back->group(id)->grid->block_count());
}

/// A check under way is asked for again: the answer is the same, some ticks later.
TEST(StoreStructures, ACheckUnderWayIsAskedForAgain) {
    const auto level = busy_level(0);
    level->set_terrain({-18, 0, 18}, kAir);
    level->tick();  // it begins
    ASSERT_TRUE(level->structure(*level->structure_at({-18, 5, 18}))->waits_for_check);
    const auto back = reload(*level);
    ASSERT_TRUE(back);
    for (Level* l : {level.get(), back.get()})
        for (int i = 0; i < 4; i++) l->tick();
    EXPECT_FALSE(level->structure_at({-18, 5, 18}));
    EXPECT_FALSE(back->structure_at({-18, 5, 18}));
    EXPECT_EQ(level->stats().groups, back->stats().groups);
    EXPECT_EQ(level->stats().blocks, back->stats().blocks);
}

struct HostWorld final : TerrainSource {
    Grid grid;
    explicit HostWorld(const BlockTable& table) : grid(table) {}
    BlockId block_at(Cell cell) const override { return grid.get(cell); }
    bool is_loaded(const CellBox&) const override { return true; }
    bool set_block(Cell cell, BlockId block) override {
        grid.set(cell, block);
        return true;
    }
};

TEST(StoreStructures, OfAHostsTerrainToo) {
    Level level;
    const BlockId stone = level.table().add(blockgame_stone());
    HostWorld world(level.table());
    fill(world.grid, {{-3, -1, -3}, {3, -1, 3}}, stone);
    fill(world.grid, {{0, 0, 0}, {0, 5, 0}}, stone);
    level.set_terrain_source(&world);
    const StructureId id = level.mark_connected({0, 2, 0}, {{-3, 0, -3}, {3, 9, 3}}, 100);
    ASSERT_EQ(level.structure(id)->grid->block_count(), 6u);
    level.tick();
    LevelHost host;
    host.terrain = &world;
    const auto back = reload(level, host);
    ASSERT_TRUE(back);
    expect_same_structures(level, *back);
    for (int i = 0; i < 30; i++) back->tick();
    EXPECT_EQ(back->groups().size(), 0u) << "stands";
    world.grid.clear({0, 2, 0});  // behind its back: it polls
    for (int i = 0; i < 30 && back->groups().empty(); i++) back->tick();
    EXPECT_EQ(back->stats().blocks, 3u);
    EXPECT_EQ(back->structure(id)->grid->block_count(), 2u);
}

}  // namespace
}  // namespace talus
