#include "talus/turn.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

const GridTurn kQuarter{{0, 0, -1}, {0, 1, 0}, {1, 0, 0}};  // east becomes north
const GridTurn kTipped{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}};   // up becomes south

BlockType named(const char* name, bool solid = true) {
    BlockType type;
    type.name = name;
    type.material.solid = solid;
    return type;
}
std::string after(const char* name, const GridTurn& turn = kQuarter) {
    const auto type = turned(named(name), turn);
    return type ? type->name : "cannot";
}

TEST(Turn, StatesFollow) {
    EXPECT_EQ(after("minecraft:wall_torch[facing=east]"), "minecraft:wall_torch[facing=north]");
    EXPECT_EQ(after("oak_stairs[facing=south,half=top,shape=inner_left]"),
              "oak_stairs[facing=east,half=top,shape=inner_left]");
    EXPECT_EQ(after("oak_log[axis=x]"), "oak_log[axis=z]");
    EXPECT_EQ(after("oak_log[axis=y]"), "oak_log[axis=y]");
    EXPECT_EQ(after("oak_sign[rotation=0]"), "oak_sign[rotation=12]");
    EXPECT_EQ(after("oak_sign[rotation=5,waterlogged=false]"), "oak_sign[rotation=1,waterlogged=false]");
    EXPECT_EQ(after("oak_fence[east=true,north=false,south=false,west=false]"),
              "oak_fence[east=false,north=true,south=false,west=false]");
    EXPECT_EQ(after("rail[shape=north_south]"), "rail[shape=east_west]");
    EXPECT_EQ(after("rail[shape=south_east]"), "rail[shape=north_east]");
    EXPECT_EQ(after("rail[shape=ascending_west]"), "rail[shape=ascending_south]");
    EXPECT_EQ(after("jigsaw[orientation=up_north]"), "jigsaw[orientation=up_west]");
    EXPECT_EQ(after("stone"), "stone");
}

TEST(Turn, FourQuartersAreNone) {
    for (const char* name : {"t[facing=east]", "s[rotation=7]", "l[axis=z]", "r[shape=south_west]",
                             "r[shape=east_west]", "f[east=a,north=b,south=c,west=d]"}) {
        const Box boxes[] = {{{0, 0, 0}, {1, 0.5f, 1}}, {{0.5f, 0.5f, 0}, {1, 1, 0.25f}}};
        BlockType type = named(name);
        type.shape = BlockShape(boxes);
        BlockType now = type;
        for (int i = 0; i < 4; i++) {
            now = *turned(now, kQuarter);
            EXPECT_EQ(now == type, i == 3) << name << i;
        }
    }
}

TEST(Turn, OnTheSideOnlyWhatCanSaySo) {
    EXPECT_EQ(after("stone", kTipped), "stone");
    EXPECT_EQ(after("log[axis=y]", kTipped), "log[axis=z]");
    EXPECT_EQ(after("stairs[facing=north]", kTipped), "cannot");
    EXPECT_FALSE(turned(named("torch", false), kTipped));
}

TEST(Turn, ShapesTurnWithTheirVolume) {
    const Box step[] = {{{0, 0, 0}, {1, 0.5f, 1}}, {{0, 0.5f, 0}, {0.25f, 1, 1}}};
    BlockType type = named("step");
    type.shape = BlockShape(step);
    const BlockType now = *turned(type, kQuarter);
    EXPECT_DOUBLE_EQ(now.shape.volume(), type.shape.volume());
    // What stood up at -x stands at +z: x goes to -z.
    EXPECT_NEAR(now.shape.first_moment().z - 0.5 * now.shape.volume(),
                -(type.shape.first_moment().x - 0.5 * type.shape.volume()), 1e-12);
}

TEST(Turn, TheNearestOfTwentyFour) {
    int found = 0;
    for (int up = 0; up < 6; up++)
        for (int quarter = 0; quarter < 4; quarter++) {
            const Vec3 axes[] = {{1, 0, 0}, {-1, 0, 0}, {0, 0, 1}, {0, 0, -1}};
            const float right = 1.57079633f;
            Quat tip = up < 4 ? axis_angle(axes[up], right) : axis_angle({1, 0, 0}, up == 4 ? 0 : 2 * right);
            const Quat q = normalized(axis_angle({1, 2, 3}, 0.02f) * tip *
                                      axis_angle({0, 1, 0}, right * float(quarter)));
            float cosine = 0;
            const GridTurn turn = nearest_turn(q, &cosine);
            for (int k = 0; k < 3; k++) {
                const Cell unit{k == 0, k == 1, k == 2};
                const Vec3 v = rotate(q, {float(unit.x), float(unit.y), float(unit.z)});
                const Cell image = turn(unit);
                EXPECT_GT(v.x * float(image.x) + v.y * float(image.y) + v.z * float(image.z), 0.999f);
            }
            EXPECT_GT(cosine, 0.9997f);
            EXPECT_LT(cosine, 0.99999f);
            found++;
        }
    EXPECT_EQ(found, 24);
    float cosine = 1;
    nearest_turn(axis_angle({0, 1, 0}, 0.5f), &cosine);
    EXPECT_NEAR(cosine, 0.8776f, 1e-3f);
}

TEST(Turn, WhatANonSolidIsFixedTo) {
    EXPECT_EQ(fixed_to(named("torch", false)), (Cell{0, -1, 0}));
    EXPECT_EQ(fixed_to(named("wall_torch[facing=east]", false)), (Cell{-1, 0, 0}));
    EXPECT_EQ(fixed_to(named("lever[face=ceiling,facing=east]", false)), (Cell{0, 1, 0}));
    EXPECT_EQ(fixed_to(named("lantern[hanging=true]", false)), (Cell{0, 1, 0}));
}

}  // namespace
}  // namespace talus
