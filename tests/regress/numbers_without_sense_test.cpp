// Numbers without sense through the doors of a level, beside those of cases 21 and 22: attitudes too large to
// be squared, terrain where no snapshot could keep it, places that no cell's number holds. Each is brought
// into its limits or refused.
#include "talus/density_field.h"
#include "talus/snapshot.h"
#include "tests/world/blocks_level.h"

#include <limits>

namespace talus {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// As large as this its square is infinite: the body kept an attitude of no length, and a snapshot that was
/// taken was refused.
TEST(Regress, AnAttitudeTooLargeToSquare) {
    for (const float x : {1e30f, 3e38f, -1e25f}) {
        BlocksLevel b;
        Grid grid = b.grid();
        grid.set({0, 0, 0}, b.stone);
        const GroupId id = b.level.add_group(std::move(grid), {.pose = {{0, 3, 0}, {x, 0, 0, 0}}});
        b.level.tick();
        EXPECT_EQ(b.level.group(id)->body.motion(), MotionType::fixed) << "frozen";
        EXPECT_EQ(b.level.group(id)->pose.rotation, Quat{});
        const auto again = restore_snapshot(take_snapshot(b.level));
        EXPECT_TRUE(again.ok()) << (again.ok() ? "" : again.error().message);
    }
}

/// A snapshot keeps terrain up to kMaxTerrainCell: beyond there is none to be set.
TEST(Regress, TerrainEndsWhereASnapshotDoes) {
    BlocksLevel b;
    constexpr std::int32_t most = kMaxTerrainCell;
    for (const std::int32_t v : {most, std::numeric_limits<std::int32_t>::max(), -most - 1,
                                 std::numeric_limits<std::int32_t>::min()}) {
        for (const Cell cell : {Cell{v, 0, 0}, Cell{0, v, 0}, Cell{0, 0, v}}) {
            EXPECT_EQ(b.level.set_terrain(cell, b.stone), kAir);
            EXPECT_FALSE(b.level.break_terrain(cell));
        }
    }
    EXPECT_TRUE(b.level.terrain().empty());
    EXPECT_TRUE(b.level.events().empty());
    b.level.set_terrain({most - 1, -most, 0}, b.stone);
    EXPECT_EQ(b.level.terrain().block_count(), 1u);
    b.level.tick();
    const auto again = restore_snapshot(take_snapshot(b.level));
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_TRUE((*again)->terrain().has({most - 1, -most, 0}));
}

/// Fuzzing found a place of 2e11 cells made an int of (with sanitizers). Bodies reach 10^9 m, cells can be
/// small.
TEST(Regress, PlacesThatNoCellsNumberHolds) {
    LevelSettings s = flat_ground();
    s.cell_size = 1e-3f;
    BlocksLevel b(s);
    b.level.set_terrain({0, -1, 0}, b.stone);
    Grid grid = b.grid();
    b.fill(grid, {{0, 0, 0}, {2, 0, 0}}, b.stone);
    const GroupId id = b.level.add_group(
        std::move(grid), {.pose = {{9e8, 0.0005, -9e8}, {}}, .velocity = {0, -20, 0}, .bears_load = true});
    b.level.check_structure_soon(id);
    b.run(3);
    b.level.blast({9e8, 0, -9e8}, 4);
    b.level.carve_sphere({9e8, 0, -9e8}, 5);
    b.level.cast_ray({9e8, 5, -9e8}, {0, -1, 0}, 100);
    b.level.settle(id);
    b.run(3);
    const auto again = restore_snapshot(take_snapshot(b.level));
    EXPECT_TRUE(again.ok()) << (again.ok() ? "" : again.error().message);
}

/// The largest blast over smooth ground, with a block beside it: every ray was followed to the end of its
/// energy, for half a minute, also where nothing was left to meet. It breaks what it broke.
TEST(Regress, TheLargestBlastOverSmoothGround) {
    struct Flat : DensitySource {
        float density_at(Cell c) const override { return float(-c.y); }
    } flat;
    BlocksLevel b;
    b.level.set_smooth_terrain(&flat, b.stone);
    b.fill({{0, 3, 0}, {3, 3, 0}}, b.stone);
    EXPECT_EQ(b.level.blast({1, 4.5, 0.5}, 64), 4u);
    EXPECT_EQ(b.level.blast({1, 4.5, 0.5}, kInf), 0u) << "as one of 64";
    EXPECT_EQ(b.level.blast({1, 4.5, 0.5}, kNan), 0u);
}

}  // namespace
}  // namespace talus
