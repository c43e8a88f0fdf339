// Memory follows the blocks of a shape, not the box around them: counted by what is asked for.
#include "rigs.h"
#include "tests/counting_new.h"

namespace talus {
namespace {

/// Bytes asked for by making a shape of two blocks so far apart, in a space, stepping it, and taking one
/// away.
std::size_t bytes_of_two_blocks(int apart) {
    BlockTable table;
    const BlockId id = table.add(Material{});
    Grid grid(table), floor(table);
    for (const int at : {0, apart}) {
        grid.set({at, at, at}, id);
        for (int x = -9; x < 9; x++)
            for (int z = -9; z < 9; z++) floor.set({at + x, at - 2, at + z}, id);
    }
    Space space;
    space.set_terrain(&floor);
    const std::size_t before = bytes_asked;
    Body body = space.add_body(BodyShape::from_grid(grid, 1), {});
    for (int i = 0; i < 30; i++) space.step(kTick);
    EXPECT_NEAR(body.center_of_mass().y, 0.5 * apart - 0.5, 0.02);  // it fell onto both floors
    const BlockChange gone{{apart, apart, apart}, id, kAir};
    body.change_blocks(table, std::span<const BlockChange>(&gone, 1));
    space.step(kTick);
    return bytes_asked - before;
}

TEST(ShapeMemory, TwoBlocksFarApartTakeWhatTwoNearOnesDo) {
    const std::size_t near = bytes_of_two_blocks(100), far = bytes_of_two_blocks(800);
    RecordProperty("near", std::to_string(near));
    RecordProperty("far", std::to_string(far));
    EXPECT_GT(near, 500u);  // the count counts
    EXPECT_LT(far, 2 * near);
    EXPECT_LT(far, 200'000u);  // a bit for each cell around them would be 64 MB
}

}  // namespace
}  // namespace talus
