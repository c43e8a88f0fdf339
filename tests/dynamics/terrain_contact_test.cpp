// Bodies on block terrain: seams, shapes, edits, soft blocks, far away.
#include "rigs.h"

namespace talus {
namespace {

TEST(TerrainContact, RestsOnBlocksAsOnFlatGround) {
    BlockGround ground;
    Rig rig;
    rig.space.set_terrain(&ground.grid);
    Body b = rig.cube({0.3, 2, 0.2});
    rig.run(3);
    EXPECT_NEAR(b.center_of_mass().y, 0.5, 0.01);
    EXPECT_TRUE(b.is_asleep());
}

/// Case 18: a box without friction slides slowly over many seams, and over the border of bricks.
void slide_over_seams(float speed, Vec3 half, double z) {
    BlockGround ground(40, 2);
    Rig rig(no_sleep());
    rig.space.set_terrain(&ground.grid);
    BodySettings s;
    s.friction = 0;
    s.velocity = {speed, 0, 0};
    Body b = rig.box({-20, double(half.y), z}, half, s);
    const int steps = int(std::min(20.0f, 36 / speed) * 60);
    for (int i = 0; i < steps; i++) {
        rig.space.step(kTick);
        ASSERT_NEAR(b.velocity().x, speed, 1e-3f * speed + 1e-4f) << i << " at " << b.center_of_mass().x;
        ASSERT_NEAR(b.velocity().z, 0, 1e-3f);
        ASSERT_NEAR(b.velocity().y, 0, 0.03f);
        ASSERT_LT(length(b.spin()), 0.01f);
        ASSERT_NEAR(b.center_of_mass().y, double(half.y), 0.005);
    }
}
TEST(TerrainContact, SlidesSlowlyOverSeams) { slide_over_seams(0.5f, {0.5f, 0.5f, 0.5f}, 0.13); }
TEST(TerrainContact, SlidesFastOverSeams) { slide_over_seams(9, {0.4f, 0.2f, 0.7f}, 0.5); }
TEST(TerrainContact, SmallBoxSlidesOverSeams) { slide_over_seams(5, {0.1f, 0.1f, 0.1f}, 0.0); }

TEST(TerrainContact, SlidesOverFlushSlabsAndCubes) {
    // A floor of bottom slabs beside cubes one lower: flush at y = 0.5.
    BlockTable table;
    Material m;
    m.friction = 0;
    const BlockId cube = table.add(m);
    BlockType slab{"slab", m, BlockShape()};
    const Box lower{{0, 0, 0}, {1, 0.5f, 1}};
    slab.shape = BlockShape(std::span<const Box>(&lower, 1));
    const BlockId half = table.add(slab);
    Grid grid(table);
    for (int z = -3; z < 3; z++)
        for (int x = -3; x < 20; x++) {
            grid.set({x, -1, z}, cube);
            grid.set({x, 0, z}, half);
        }
    Rig rig(no_sleep());
    rig.space.set_terrain(&grid);
    BodySettings s;
    s.friction = 0;
    s.velocity = {3, 0, 0};
    Body b = rig.cube({0, 1, 0.2}, 1, s);
    for (int i = 0; i < 240; i++) {
        rig.space.step(kTick);
        ASSERT_NEAR(b.velocity().x, 3, 0.01f) << i;
        ASSERT_NEAR(b.center_of_mass().y, 1, 0.01);
    }
}

TEST(TerrainContact, StandsInAStairsCorner) {
    BlockTable table;
    Material m;
    BlockType stairs{"stairs", m, BlockShape()};
    const Box boxes[2] = {{{0, 0, 0}, {1, 0.5f, 1}}, {{0.5f, 0.5f, 0}, {1, 1, 1}}};
    stairs.shape = BlockShape(boxes);
    Grid grid(table);
    const BlockId id = table.add(stairs);
    for (int z = -2; z < 2; z++) grid.set({0, 0, z}, id);
    Rig rig;
    rig.space.set_terrain(&grid);
    Body b = rig.box({0.25, 1.5, 0}, {0.2f, 0.2f, 0.2f});
    rig.run(3);
    EXPECT_NEAR(b.center_of_mass().y, 0.7, 0.01);
    EXPECT_TRUE(b.is_asleep());
}

TEST(TerrainContact, DeepInsideLeavesByTheNearestFreeFace) {
    BlockGround ground(8, 4);
    Rig rig(no_sleep());
    rig.space.set_terrain(&ground.grid);
    Body b = rig.box({0.5, 0.05, 0.5}, {0.2f, 0.2f, 0.2f});  // sunk to 0.15 below the top
    float fastest = 0;
    for (int i = 0; i < 120; i++) {
        rig.space.step(kTick);
        fastest = std::max(fastest, length(b.velocity()));
    }
    EXPECT_NEAR(b.center_of_mass().y, 0.2, 0.01);
    EXPECT_NEAR(b.center_of_mass().x, 0.5, 0.05);
    EXPECT_LT(fastest, 4);
}

TEST(TerrainContact, GridPieceOnEdgesOfTerrainDoesNotSink) {
    // An L of blocks over a hole one block wide.
    BlockGround ground;
    ground.grid.clear({0, -1, 0});
    BlockTable table;
    Grid piece(table);
    const BlockId id = table.add(blockgame_stone());
    for (int x = 0; x < 3; x++) piece.set({x, 0, 0}, id);
    piece.set({0, 1, 0}, id);
    Rig rig;
    rig.space.set_terrain(&ground.grid);
    BodySettings s;
    s.pose.position = {-1, 0.5, 0};
    Body b = rig.space.add_body(BodyShape::from_grid(piece, 1), s);
    rig.run(4);
    EXPECT_NEAR(b.pose().position.y, 0, 0.01);
    EXPECT_TRUE(b.is_asleep());
}

TEST(TerrainContact, DiggingUnderASleeperDropsIt) {
    BlockGround ground;
    Rig rig;
    rig.space.set_terrain(&ground.grid);
    Body b = rig.cube({0.5, 0.6, 0.5}, 0.9f);
    Body far = rig.cube({8.5, 0.6, 0.5}, 0.9f);
    rig.run(3);
    ASSERT_TRUE(b.is_asleep());
    ASSERT_TRUE(far.is_asleep());
    for (int y = -2; y < 0; y++) ground.grid.clear({0, y, 0});
    rig.space.terrain_changed({{0, -2, 0}, {0, -1, 0}});
    EXPECT_FALSE(b.is_asleep());
    EXPECT_TRUE(far.is_asleep());
    rig.run(0.5f);
    EXPECT_LT(b.center_of_mass().y, 0.2);
}

TEST(TerrainContact, EditsNearAwakeBodiesAreSeenAtOnce) {
    BlockGround ground;
    Rig rig(no_sleep());
    rig.space.set_terrain(&ground.grid);
    Body b = rig.cube({0.5, 0.45, 0.5}, 0.9f);
    rig.run(1);
    for (int y = -2; y < 0; y++) ground.grid.clear({0, y, 0});
    rig.space.terrain_changed({{0, -2, 0}, {0, -1, 0}});
    rig.run(0.25f);
    EXPECT_NEAR(b.center_of_mass().y, 0.45 - 0.5 * 9.81 * 0.0625, 0.02);
}

TEST(TerrainContact, TheFallThroughLayerPassesLeaves) {
    BlockTable table;
    Grid grid(table);
    const BlockId leaves = table.add(*find_real_material("leaves"));
    const BlockId stone = table.add(*find_real_material("stone"));
    for (int z = -3; z < 3; z++)
        for (int x = -3; x < 3; x++) {
            grid.set({x, 5, z}, leaves);
            grid.set({x, 0, z}, stone);
        }
    Rig rig;
    rig.space.set_terrain(&grid);
    Body lands = rig.cube({-1.5, 8, 0});
    BodySettings s;
    s.layer = Layer::falling_through_soft;
    Body passes = rig.cube({1.5, 8, 0}, 1, s);
    rig.run(4);
    EXPECT_NEAR(lands.center_of_mass().y, 6.5, 0.02);
    EXPECT_NEAR(passes.center_of_mass().y, 1.5, 0.02);
}

TEST(TerrainContact, HalfMetreCells) {
    BlockGround ground;
    SpaceSettings settings;
    settings.cell_size = 0.5f;
    Rig rig(settings);
    rig.space.set_terrain(&ground.grid);
    BlockTable table;
    Grid piece(table);
    const BlockId id = table.add(blockgame_stone());
    for (int i = 0; i < 8; i++) piece.set({i & 1, i >> 1 & 1, i >> 2}, id);
    BodySettings s;
    s.pose.position = {0.1, 1, 0.1};
    Body b = rig.space.add_body(BodyShape::from_grid(piece, 0.5f), s);
    EXPECT_NEAR(b.mass(), 775, 0.01f);
    rig.run(2);
    EXPECT_NEAR(b.pose().position.y, 0, 0.01);
}

TEST(TerrainContact, BigBodiesTakeTheTerrainInTiles) {
    BlockGround ground(60, 1);
    Rig rig;
    rig.space.set_terrain(&ground.grid);
    Body b = rig.box({0, 0.4, 0}, {50, 0.5f, 50});
    rig.run(1);
    EXPECT_NEAR(b.center_of_mass().y, 0.5, 0.02);
    EXPECT_NEAR(b.direction_to_world({0, 1, 0}).y, 1, 1e-4f);
}

TEST(TerrainContact, TheSamePathFarFromTheOrigin) {
    // A drop with a tilt at 0 and at 1e7 m: the same relative path.
    std::vector<DVec3> paths[2];
    for (int far = 0; far < 2; far++) {
        const int shift = far ? 10000000 : 0;
        BlockTable table;
        Material m;
        const BlockId stone = table.add(m);
        Grid grid(table);
        for (int z = -6; z < 6; z++)
            for (int x = -6; x < 6; x++) grid.set({x + shift, -1, z - shift}, stone);
        Rig rig;
        rig.space.set_terrain(&grid);
        const DVec3 base{double(shift), 0, double(-shift)};
        BodySettings s;
        s.pose.rotation = axis_angle({1, 2, 3}, 0.7f);
        s.velocity = {0.5f, 0, 0.2f};
        Body b = rig.box(base + DVec3{0.25, 3, 0.5}, {0.7f, 0.4f, 0.5f}, s);
        Body c = rig.box(base + DVec3{0.5, 5, 0.25}, {0.5f, 0.5f, 0.5f}, s);
        for (int i = 0; i < 180; i++) {
            rig.space.step(kTick);
            paths[far].push_back(b.center_of_mass() - base);
            paths[far].push_back(c.center_of_mass() - base);
        }
    }
    // To millimetres for a second, over the landing; later, tumbling magnifies the last bits of a position.
    for (std::size_t i = 0; i < 120; i++) ASSERT_LT(length(paths[0][i] - paths[1][i]), 5e-3) << i / 2;
}

TEST(TerrainContact, ADropTurnedByARightAngleIsTheSame) {
    DVec3 ends[4];
    for (int turn = 0; turn < 4; turn++) {
        Rig rig;
        rig.space.set_ground(0.0);
        const Quat q = axis_angle({0, 1, 0}, float(turn) * 1.57079633f);
        BodySettings s;
        s.pose.rotation = q * axis_angle({1, 0.3f, 0.2f}, 0.5f);
        s.velocity = rotate(q, {1, 0, 0.5f});
        Body b = rig.box({0, 3, 0}, {0.8f, 0.3f, 0.5f}, s);
        rig.run(1.5f);
        ends[turn] = to_double(unrotate(q, to_float(b.center_of_mass())));
    }
    for (int turn = 1; turn < 4; turn++) EXPECT_LT(length(ends[turn] - ends[0]), 0.02) << turn;
}

}  // namespace
}  // namespace talus
