// A body that reaches over millions of the terrain's cells (found by fuzzing: cells of a millimetre): it was
// looked for in every tile of them, for minutes.
#include "tests/dynamics/rigs.h"

namespace talus {
namespace {

TEST(Regress, ABodyOverMillionsOfCells) {
    for (const bool plane : {false, true}) {
        SpaceSettings s;
        s.cell_size = 1e-3f;
        Rig rig(s);
        BlockTable table;
        Grid grid(table);
        const BlockId stone = table.add(blockgame_stone());
        for (int z = -4; z < 4; z++)
            for (int x = -4; x < 4; x++) grid.set({250 * x, -1, 250 * z}, stone);
        rig.space.set_terrain(&grid);
        if (plane) rig.space.set_ground(-1.0);
        Body large = rig.box({0, 0.6, 0}, {2, 0.5f, 2});
        rig.run(1);
        EXPECT_NEAR(large.center_of_mass().y, 0.5, 0.02) << "on the blocks";
        rig.space.set_terrain(nullptr);
        rig.run(1);
        EXPECT_EQ(large.center_of_mass().y < -2, !plane);
        EXPECT_TRUE(rig.space.quarantined().empty());
    }
}

}  // namespace
}  // namespace talus
