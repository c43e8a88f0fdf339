// Case 15: a body sleeps on a floor; the floor is removed or shrinks: it falls at the next step. Floors of
// every kind: blocks, a smaller block, smooth ground, the flat floor, bodies, blocks of a group.
#include "talus/level.h"
#include "tests/terrain/fields.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

constexpr float kDt = 1.0f / 60;

struct Sleeper {
    BlockTable table;
    Grid grid{table};
    Space space;
    BlockId stone = table.add(Material{});
    Body body;

    /// On something whose top is at 0.
    void lie_down(float half = 0.5f) {
        BodySettings s;
        s.pose.position = {0.5, double(half), 0.5};
        body = space.add_body(BodyShape::box({half, half, half}), s);
        for (int i = 0; i < 180 && !body.is_asleep(); i++) space.step(kDt);
        ASSERT_TRUE(body.is_asleep());
    }
    void expect_fall(const char* what) {
        const double before = body.center_of_mass().y;
        space.step(kDt);
        EXPECT_LT(body.velocity().y, -0.9f * 9.81f * kDt) << what;
        EXPECT_LT(body.center_of_mass().y, before - 1e-4) << what;
        for (int i = 0; i < 20; i++) space.step(kDt);
        EXPECT_LT(body.center_of_mass().y, before - 0.3) << what;
    }
};

TEST(Case15, TheBlockUnderASleeperGoes) {
    Sleeper s;
    s.grid.set({0, -1, 0}, s.stone);
    s.space.set_terrain(&s.grid);
    s.lie_down();
    s.grid.clear({0, -1, 0});
    s.space.terrain_changed({{0, -1, 0}, {0, -1, 0}});
    s.expect_fall("a block");
}

TEST(Case15, TheBlockUnderASleeperShrinksToASlab) {
    Sleeper s;
    BlockType slab{"slab", Material{}, BlockShape()};
    const Box low[] = {{{0, 0, 0}, {1, 0.5f, 1}}};
    slab.shape = BlockShape(low);
    const BlockId half = s.table.add(slab);
    s.grid.set({0, -1, 0}, s.stone);
    s.space.set_terrain(&s.grid);
    s.lie_down();
    s.grid.set({0, -1, 0}, half);
    s.space.terrain_changed({{0, -1, 0}, {0, -1, 0}});
    const double before = s.body.center_of_mass().y;
    s.space.step(kDt);
    EXPECT_LT(s.body.center_of_mass().y, before - 1e-4);
    for (int i = 0; i < 120; i++) s.space.step(kDt);
    EXPECT_NEAR(s.body.center_of_mass().y, 0, 0.01);  // half a block lower
}

TEST(Case15, TheFlatFloorGoes) {
    Sleeper s;
    s.space.set_ground(0.0);
    s.lie_down();
    s.space.set_ground(std::nullopt);
    s.expect_fall("the flat floor");
    Sleeper lower;
    lower.space.set_ground(0.0);
    lower.lie_down();
    lower.space.set_ground(-3.0);
    lower.expect_fall("a lower floor");
}

TEST(Case15, SmoothGroundGoes) {
    const PlaneSource plane;
    DensityField field(&plane);
    Sleeper s;
    s.space.set_smooth_ground(&field);
    s.lie_down();
    s.space.terrain_changed(field.dig({0.5, 0, 0.5}, 3));
    s.expect_fall("dug ground");
    Sleeper none;
    none.space.set_smooth_ground(&field);
    none.space.set_ground(0.0);
    none.lie_down();
    none.space.set_ground(std::nullopt);
    none.expect_fall("the floor over dug ground");
}

TEST(Case15, ABodyUnderASleeperGoesOrShrinks) {
    for (const bool kinematic : {false, true})
        for (const bool shrinks : {false, true}) {
            Sleeper s;
            BodySettings floor;
            floor.motion = kinematic ? MotionType::kinematic : MotionType::fixed;
            floor.pose.position = {0.5, -0.5, 0.5};
            Body under = s.space.add_body(BodyShape::box({2, 0.5f, 2}), floor);
            s.lie_down();
            if (shrinks)
                under.set_shape(BodyShape::box({2, 0.25f, 2}));
            else
                s.space.remove_body(under);
            const double before = s.body.center_of_mass().y;
            s.space.step(kDt);
            EXPECT_LT(s.body.center_of_mass().y, before - 1e-4) << kinematic << shrinks;
        }
}

TEST(Case15, ABlockOfTheGroupUnderASleepingGroupGoes) {
    LevelSettings settings;
    settings.ground = 0;
    Level level(settings);
    const BlockId stone = level.table().add(blockgame_stone());
    auto add = [&](std::initializer_list<Cell> cells, DVec3 at) {
        Grid grid(level.table());
        for (const Cell c : cells) grid.set(c, stone);
        GroupSettings s;
        s.pose.position = at;
        return level.add_group(std::move(grid), s);
    };
    // A table, and a block on one end of it.
    const GroupId table = add({{0, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 1, 0}, {2, 0, 0}, {3, 1, 0}}, {0, 0, 0});
    const GroupId load = add({{0, 0, 0}}, {3, 2, 0});
    for (int i = 0; i < 100; i++) level.tick();
    ASSERT_TRUE(level.group(table)->asleep && level.group(load)->asleep);
    const double before = level.group(load)->pose.position.y;
    level.remove_block(table, {3, 1, 0});
    level.tick();  // splits, makes the shape anew, then the step
    EXPECT_LT(level.group(load)->pose.position.y, before - 1e-3);
    for (int i = 0; i < 40; i++) level.tick();
    EXPECT_LT(level.group(load)->pose.position.y, 0.6);
}

}  // namespace
}  // namespace talus
