// Case 3: split a group, put a marker block in each half, save, load: the block sets are disjoint and as
// before. Through a save, through a snapshot, and through one after the other.
#include "talus/snapshot.h"
#ifdef TALUS_HAS_STORE
#include "tests/store/build_level.h"
#endif

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace talus {
namespace {

using Blocks = std::map<Cell, BlockId>;

std::map<std::uint32_t, Blocks> all_blocks(const Level& level) {
    std::map<std::uint32_t, Blocks> out;
    for (GroupId id : level.groups())
        level.group(id)->grid->for_each([&](Cell c, BlockId b) { out[id.index][c] = b; });
    return out;
}

void fill_box(Grid& grid, CellBox box, BlockId id) {
    for (int y = box.min.y; y <= box.max.y; y++)
        for (int z = box.min.z; z <= box.max.z; z++)
            for (int x = box.min.x; x <= box.max.x; x++) grid.set({x, y, z}, id);
}

using Way = std::unique_ptr<Level> (*)(const Level&);

std::unique_ptr<Level> by_snapshot(const Level& level) {
    auto made = restore_snapshot(take_snapshot(level));
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? std::move(*made) : nullptr;
}

#ifdef TALUS_HAS_STORE
std::unique_ptr<Level> by_save(const Level& level) {
    const TemporaryFolder folder;
    EXPECT_TRUE(save_level(level, folder.file("a")));
    auto made = load_level(folder.file("a"));
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? std::move(*made) : nullptr;
}
std::unique_ptr<Level> by_both(const Level& level) {
    const auto saved = by_save(level);
    return saved ? by_snapshot(*saved) : nullptr;
}
const Way kWays[] = {by_snapshot, by_save, by_both};
#else
const Way kWays[] = {by_snapshot};
#endif

class Case03 : public testing::TestWithParam<Way> {};

TEST_P(Case03, HalvesStayDisjoint) {
    Level level;
    const BlockId stone = level.table().add(blockgame_stone());
    const BlockId markers[2] = {level.table().add(*find_real_material("copper")),
                                level.table().add(*find_real_material("glass"))};
    Grid grid(level.table());
    fill_box(grid, {{0, 0, 0}, {8, 2, 2}}, stone);
    const GroupId whole = level.add_group(std::move(grid), {.pose = {{0, 50, 0}, {}}});
    for (int y = 0; y <= 2; y++)
        for (int z = 0; z <= 2; z++) level.remove_block(whole, {4, y, z});
    level.tick();
    const std::vector<GroupId> halves = level.groups();
    ASSERT_EQ(halves.size(), 2u);
    for (std::size_t i = 0; i < 2; i++) {
        const CellBox box = level.group(halves[i])->grid->bounds();
        ASSERT_TRUE(level.place_block(halves[i], {box.min.x, box.max.y + 1, 1}, markers[i]));
    }
    const auto before = all_blocks(level);
    const auto loaded = GetParam()(level);
    ASSERT_TRUE(loaded);
    EXPECT_EQ(all_blocks(*loaded), before);
    loaded->tick();
    const auto after = all_blocks(*loaded);
    EXPECT_EQ(after, before);
    const Blocks &first = after.at(halves[0].index), &second = after.at(halves[1].index);
    EXPECT_EQ(first.size() + second.size(), 8u * 9 + 2);
    for (const auto& [cell, block] : first) EXPECT_EQ(second.count(cell), 0u);
    auto count = [](const Blocks& blocks, BlockId marker) {
        return std::count_if(blocks.begin(), blocks.end(), [&](const auto& b) { return b.second == marker; });
    };
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(count(first, markers[i]), i == 0);
        EXPECT_EQ(count(second, markers[i]), i == 1);
    }
}

// A diagonal that broke stays broken: what is cut must not grow together in the file.
TEST_P(Case03, BrokenDiagonalsStayBroken) {
    Level level;
    const BlockId stone = level.table().add(blockgame_stone());
    // A ring around two diagonal neighbours: they hold each other through the ring alone.
    Grid grid(level.table());
    for (Cell c : {Cell{0, 0, 0},
                   {1, 0, 0},
                   {1, 1, 0},
                   {2, 1, 0},
                   {3, 1, 0},
                   {-1, 0, 0},
                   {-1, 0, 1},
                   {-1, 0, 2},
                   {0, 0, 2},
                   {1, 0, 2},
                   {2, 0, 2},
                   {3, 0, 2},
                   {3, 1, 2},
                   {3, 1, 1}})
        grid.set(c, stone);
    const GroupId id = level.add_group(std::move(grid), {.pose = {{0, 50, 0}, {}}});
    level.tick();
    level.remove_block(id, {1, 0, 0});  // bridged (0,0,0) and (1,1,0)
    level.tick();
    ASSERT_EQ(level.groups().size(), 1u);
    const auto loaded = GetParam()(level);
    ASSERT_TRUE(loaded);
    for (Level* l : {&level, loaded.get()}) {  // cut the ring elsewhere: now it is two
        l->remove_block(id, {2, 0, 2});
        l->tick();
        EXPECT_EQ(l->groups().size(), 2u);
    }
    EXPECT_EQ(all_blocks(*loaded), all_blocks(level));
}

/// A structure of the terrain that loses its middle: what falls is a group, what stands stays terrain, and
/// neither has a block of the other.
TEST_P(Case03, AStructureThatLostAPart) {
    LevelSettings settings;
    settings.ground = 0;
    Level level(settings);
    const BlockId stone = level.table().add(blockgame_stone());
    const BlockId markers[2] = {level.table().add(*find_real_material("copper")),
                                level.table().add(*find_real_material("glass"))};
    for (int y = 0; y < 9; y++) level.set_terrain({0, y, 0}, stone);
    const StructureId id = level.mark_structure(CellBox{{0, 0, 0}, {0, 8, 0}});
    level.set_terrain({0, 4, 0}, kAir);
    for (int i = 0; i < 3; i++) level.tick();
    ASSERT_EQ(level.groups().size(), 1u);
    const GroupId fallen = level.groups().front();
    level.set_terrain({1, 3, 0}, markers[0]);
    const CellBox box = level.group(fallen)->grid->bounds();
    ASSERT_TRUE(level.place_block(fallen, {box.min.x + 1, box.max.y, box.min.z}, markers[1]));
    const auto loaded = GetParam()(level);
    ASSERT_TRUE(loaded);
    for (Level* l : {&level, loaded.get()}) l->tick();
    EXPECT_EQ(all_blocks(*loaded), all_blocks(level));
    EXPECT_EQ(loaded->stats().blocks, 5u);
    ASSERT_TRUE(loaded->structure(id));
    EXPECT_EQ(loaded->structure(id)->grid->block_count(), 5u);
    EXPECT_EQ(loaded->terrain().block_count(), 5u);
    EXPECT_EQ(loaded->structure(id)->grid->get({1, 3, 0}), markers[0]);
    for (int i = 0; i < 100; i++) loaded->tick();
    EXPECT_EQ(loaded->structure(id)->grid->block_count(), loaded->terrain().block_count());
}

INSTANTIATE_TEST_SUITE_P(Ways, Case03, testing::ValuesIn(kWays), [](const auto& info) {
    return std::string(info.index == 0 ? "Snapshot" : info.index == 1 ? "Save" : "Both");
});

}  // namespace
}  // namespace talus
