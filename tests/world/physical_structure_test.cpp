// A level whose groups are checked in physical mode, through the same door as the load rule.
#include "talus/level.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

// A column of 4 stones with an arm of n at its top: the column bears (n + 1)(3 n - 1) blocks on its edge, of
// 7 MPa / (775 x 9.81) = 920.7: 900 for 17, 1007 for 18. The load rule would hold 51.
TEST(PhysicalStructure, AnArmBreaksByItsEdgeStress) {
    for (const int reach : {17, 18}) {
        LevelSettings settings;
        settings.ground = 0;
        settings.structure.mode = StructureMode::physical;
        Level level(settings);
        const BlockId stone = level.table().add(blockgame_stone());
        Grid g(level.table());
        for (int y = 0; y < 4; y++) g.set({0, y, 0}, stone);
        for (int x = 1; x <= reach; x++) g.set({x, 3, 0}, stone);
        const GroupId id = level.add_group(std::move(g), {.bears_load = true, .asleep = true});
        level.check_structure_soon(id);
        level.tick();  // asked
        EXPECT_EQ(level.groups().size(), 1u);
        level.tick();  // applied
        if (reach == 17) {
            EXPECT_EQ(level.groups().size(), 1u);
        } else {
            EXPECT_GT(level.groups().size(), 1u);
            EXPECT_LT(level.group(id)->grid->block_count(), 5u);
        }
    }
}

// Steel of the same build is strong enough.
TEST(PhysicalStructure, MaterialsCount) {
    LevelSettings settings;
    settings.ground = 0;
    settings.structure.mode = StructureMode::physical;
    Level level(settings);
    Material steel = *find_real_material("steel");
    const BlockId id = level.table().add(steel);
    Grid g(level.table());
    for (int y = 0; y < 4; y++) g.set({0, y, 0}, id);
    for (int x = 1; x <= 25; x++) g.set({x, 3, 0}, id);
    const GroupId group = level.add_group(std::move(g), {.bears_load = true, .asleep = true});
    level.check_structure_soon(group);
    level.tick();
    level.tick();
    EXPECT_EQ(level.groups().size(), 1u);
}

}  // namespace
}  // namespace talus
