// Rays, swept balls and overlaps of any size, also infinite or zero: they once walked cell by cell, tile by
// tile or look by look to the end of the way, or for ever. The ends of what there is end them.
#include "talus/density_field.h"
#include "talus/level.h"
#include "tests/dynamics/rigs.h"

#include <limits>

namespace talus {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Ground at y = 0, falling by a metre a metre.
struct Flat : DensitySource {
    float density_at(Cell c) const override { return float(-c.y); }
};

/// A cube 5 m above the middle of the ground.
struct World {
    enum Kind { blocks, plane, both, smooth };
    BlockGround ground{6, 1};
    Flat flat;
    DensityField field{&flat};
    Rig rig;
    Body cube;
    explicit World(Kind kind) {
        if (kind == blocks || kind == both) rig.space.set_terrain(&ground.grid);
        if (kind == plane || kind == both) rig.space.set_ground(kind == both ? -3.0 : 0.0);
        if (kind == smooth) rig.space.set_smooth_ground(&field);
        cube = rig.cube({0, 5, 0});
    }
};

TEST(Regress, CastsOfAnyLength) {
    for (const World::Kind kind : {World::blocks, World::plane, World::both, World::smooth})
        for (const float far : {1e6f, 1e9f, 1e30f, kInf}) {
            World w(kind);
            const Space& space = w.rig.space;
            // Into the sky, and past the ground to the horizon.
            EXPECT_FALSE(space.cast_ray({0, 10, 0}, {0.3f, 1, 0.2f}, far)) << kind << far;
            EXPECT_FALSE(space.cast_sphere({0, 10, 0}, 0.5f, {0.3f, 1, 0.2f}, far)) << kind << far;
            EXPECT_FALSE(space.cast_ray({0, 2, 0}, {1, 0, 0}, far)) << kind << far;
            EXPECT_FALSE(space.cast_sphere({0, 2, 0}, 0.5f, {1, 0, 0}, far)) << kind << far;
            for (const float radius : {0.0f, 0.25f}) {
                auto hit = space.cast_sphere({50, 5, 0}, radius, {-1, 0, 0}, far);
                ASSERT_TRUE(hit) << kind << far;
                EXPECT_EQ(hit->body, w.cube);
                EXPECT_NEAR(hit->distance, 49.5 - double(radius), 2e-3);
                hit = space.cast_sphere({3.3, 900, 0.4}, radius, {0, -1, 0}, far);
                ASSERT_TRUE(hit) << kind << far;
                EXPECT_TRUE(hit->terrain);
                EXPECT_NEAR(hit->distance, 900 - double(radius), 0.01) << kind << far;
                EXPECT_NEAR(hit->normal.y, 1, 1e-3) << kind << far;
            }
        }
}

TEST(Regress, ASweptBallFindsBlocksBrickByBrickAsPieceByPiece) {
    World w(World::blocks);
    w.ground.grid.set({4, 0, 3}, w.ground.stone);
    for (int i = 0; i < 200; i++) {
        const SinCos around = sin_cos(i * 0.7), up = sin_cos(i * 0.31);
        const DVec3 from{around.cos * 30, 6 + 5 * up.sin, around.sin * 30};
        const Vec3 d = to_float(DVec3{up.cos * 8, around.sin, up.sin * 8} - from);
        const auto near = w.rig.space.cast_sphere(from, 0.3f, d, 60, w.cube.id());
        const auto far = w.rig.space.cast_sphere(from, 0.3f, d, 1e7f, w.cube.id());
        ASSERT_EQ(near.has_value(), far.has_value()) << i;
        if (!near) continue;
        EXPECT_NEAR(near->distance, far->distance, 0.01) << i;  // one of them grazes an edge
        EXPECT_EQ(near->terrain, far->terrain);
    }
}

TEST(Regress, OverlapsOfAnySize) {
    for (const World::Kind kind : {World::blocks, World::plane, World::both, World::smooth})
        for (const float size : {300.0f, 1e6f, 1e9f, 1e30f, kInf}) {
            World w(kind);
            const Space& space = w.rig.space;
            const std::vector<Body> cube{w.cube};
            EXPECT_TRUE(space.overlap_sphere({0, 10, 0}, size).terrain) << kind << size;
            EXPECT_EQ(space.overlap_sphere({0, 10, 0}, size).bodies, cube) << kind << size;
            EXPECT_TRUE(space.overlap_box({{0, 10, 0}, {}}, {size, size, size}).terrain) << kind << size;
            EXPECT_EQ(space.overlap_box({{0, 10, 0}, {}}, {size, size, size}).bodies, cube) << kind << size;
            const double d = double(size);
            EXPECT_EQ(space.bodies_in({{-d, -d, -d}, {d, d, d}}), cube);
            if (size > 1e8f) continue;
            // Just above it all.
            EXPECT_FALSE(space.overlap_sphere({0, 7 + d, 0}, size).terrain) << kind << size;
            EXPECT_TRUE(space.overlap_sphere({0, 7 + d, 0}, size).bodies.empty()) << kind << size;
            EXPECT_FALSE(space.overlap_box({{0, 7 + d, 0}, {}}, {size, size, size}).terrain) << kind << size;
            EXPECT_TRUE(space.overlap_box({{0, 7 + d, 0}, {}}, {size, size, size}).bodies.empty());
        }
}

TEST(Regress, QueriesOfNoSizeLookAtAPlace) {
    for (const World::Kind kind : {World::blocks, World::plane, World::both, World::smooth}) {
        World w(kind);
        const Space& space = w.rig.space;
        EXPECT_EQ(space.overlap_sphere({0.4, 5.4, 0.4}, 0).bodies.size(), 1u);
        EXPECT_EQ(space.overlap_box({{0.4, 5.4, 0.4}, {}}, {}).bodies.size(), 1u);
        EXPECT_TRUE(space.overlap_sphere({0.6, 5.4, 0.4}, 0).bodies.empty());
        EXPECT_TRUE(space.overlap_box({{0.6, 5.4, 0.4}, {}}, {}).bodies.empty());
        const double deep = kind == World::both ? -3.5 : -0.5;
        EXPECT_TRUE(space.overlap_sphere({0.2, deep, 0.3}, 0).terrain) << kind;
        EXPECT_TRUE(space.overlap_box({{0.2, deep, 0.3}, {}}, {}).terrain) << kind;
        EXPECT_FALSE(space.overlap_sphere({0.2, 0.5, 0.3}, 0).terrain) << kind;
        EXPECT_FALSE(space.overlap_box({{0.2, 0.5, 0.3}, {}}, {}).terrain) << kind;
        EXPECT_FALSE(space.cast_ray({0, 4, 0}, {0, 1, 0}, 0.4f)) << "half a metre away";
        const auto inside = space.cast_ray({0, 5, 0}, {0, 1, 0}, 0);
        ASSERT_TRUE(inside);
        EXPECT_EQ(inside->distance, 0);
        EXPECT_EQ(inside->normal, Vec3{});
    }
}

TEST(Regress, NumbersWithoutSenseFindNothing) {
    World w(World::both);
    const Space& space = w.rig.space;
    for (const float bad : {kNan, kInf, -kInf}) {
        const double b = double(bad);
        EXPECT_FALSE(space.cast_ray({b, 9, 0}, {0, -1, 0}, 100));
        EXPECT_FALSE(space.cast_ray({0, 9, 0}, {0, bad, 0}, 100));
        EXPECT_FALSE(space.cast_sphere({b, 9, 0}, 0.5f, {0, -1, 0}, 100));
        EXPECT_FALSE(space.cast_sphere({0, 9, 0}, 0.5f, {bad, -1, 0}, 100));
        EXPECT_FALSE(space.cast_sphere({0, 9, 0}, bad, {0, -1, 0}, 100));
        EXPECT_FALSE(space.overlap_sphere({0, b, 0}, 100).terrain);
        EXPECT_TRUE(space.overlap_box({{0, b, 0}, {}}, {9, 9, 9}).bodies.empty());
    }
    for (const float bad : {kNan, -kInf, -1.0f}) {
        EXPECT_FALSE(space.cast_ray({0, 9, 0}, {0, -1, 0}, bad));
        EXPECT_FALSE(space.cast_sphere({0, 9, 0}, 0.5f, {0, -1, 0}, bad));
        EXPECT_FALSE(space.cast_sphere({0, 9, 0}, bad, {0, -1, 0}, 100));
        EXPECT_FALSE(space.overlap_sphere({0, 0, 0}, bad).terrain);
    }
    EXPECT_FALSE(space.overlap_box({{0, 0, 0}, {}}, {kNan, 9, 9}).terrain);
    EXPECT_TRUE(space.bodies_in({{double(kNan), 0, 0}, {9, 9, 9}}).empty());
}

/// The direction's length counts for nothing, however small or large.
TEST(Regress, DirectionsOfAnyLength) {
    World w(World::both);
    Level level({.ground = 0.0});
    for (const float length : {1e-38f, 1e-20f, 1.0f, 1e20f, 3e38f}) {
        const auto ray = w.rig.space.cast_ray({0, 9, 0}, {0, -length, 0}, 100);
        ASSERT_TRUE(ray) << length;
        EXPECT_NEAR(ray->distance, 3.5, 1e-3) << length;
        EXPECT_TRUE(w.rig.space.cast_sphere({0, 9, 0}, 0.5f, {0, -length, 0}, 100)) << length;
        const auto hit = level.cast_ray({0, 9, 0}, {0, -length, 0}, kInf);
        ASSERT_TRUE(hit) << length;
        EXPECT_NEAR(hit->distance, 9, 1e-3) << length;
    }
}

TEST(Regress, RaysOfALevelOfAnyLength) {
    Flat flat;
    for (const bool smooth : {false, true})
        for (const float far : {1e9f, 1e30f, kInf}) {
            Level level({.ground = -50.0});
            const BlockId stone = level.table().add(blockgame_stone());
            if (smooth) level.set_smooth_terrain(&flat, stone);
            level.set_terrain({300, 9, 0}, stone);
            Grid grid(level.table());
            grid.set({0, 0, 0}, stone);
            level.add_group(std::move(grid), {.pose = {{0, 6, 0}, {}}});
            EXPECT_FALSE(level.cast_ray({0, 20, 0}, {1, 0.1f, 0}, far)) << smooth << far;
            EXPECT_FALSE(level.cast_ray({0, 20, 0}, {0, 1, 0}, far)) << smooth << far;
            const auto hit = level.cast_ray({-900, 9.5, 0.5}, {1, 0, 0}, far);
            ASSERT_TRUE(hit) << smooth << far;
            EXPECT_EQ(hit->cell, (Cell{300, 9, 0}));
            EXPECT_NEAR(hit->distance, 1200, 1e-2);
            EXPECT_FALSE(level.cast_ray({0, 20, 0}, {1, 0.1f, 0}, kNan));
        }
}

}  // namespace
}  // namespace talus
