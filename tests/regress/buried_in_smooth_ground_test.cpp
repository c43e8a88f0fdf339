// What a mound of smooth ground was thrown up over left it at up to 11 m/s: each of its points was pushed out
// along a way of its own, and in the middle of a mound these lead apart.
#include "tests/terrain/fields.h"

#include "talus/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace talus {
namespace {

constexpr float kTick = 1.0f / 60;

struct Pit {
    PlaneSource plane;
    DensityField field{&plane};
    Space space;
    explicit Pit(Vec3 out = {0, 1, 0}) : plane(out) { space.set_smooth_ground(&field); }
    void run(float seconds) {
        for (int i = 0; i < int(seconds / kTick + 0.5f); i++) {
            field.prepare(space);
            space.step(kTick);
        }
    }
};

/// The deepest of these places of a body, metres inside the ground.
double deepest(const DensityField& field, const Body& body, std::span<const Vec3> places) {
    double most = -1e9;
    for (const Vec3 p : places) most = std::max(most, double(field.density(body.to_world(p))));
    return most;
}

/// It leaves slowly, soon and for good.
void leaves_gently(Pit& pit, Body body, std::span<const Vec3> places, bool rests = true) {
    ASSERT_GT(deepest(pit.field, body, places), 0.8);
    float fastest = 0;
    double last_in = 0;
    for (int i = 0; i < 600; i++) {
        pit.run(kTick);
        if (deepest(pit.field, body, places) < 0.1) continue;
        fastest = std::max(fastest, length(body.velocity()));
        last_in = double(i) * double(kTick);
    }
    EXPECT_LT(fastest, 3.2f);  // as fast as any push out, and what gravity takes
    EXPECT_LT(last_in, 4);
    EXPECT_LT(deepest(pit.field, body, places), 0.02);
    EXPECT_EQ(body.is_asleep(), rests);
}

TEST(BuriedInSmoothGround, CubesLeaveAMoundGently) {
    const Vec3 corners[] = {{-0.5f, -0.5f, -0.5f}, {0.5f, -0.5f, -0.5f}, {-0.5f, 0.5f, -0.5f},
                            {0.5f, 0.5f, -0.5f},   {-0.5f, -0.5f, 0.5f}, {0.5f, -0.5f, 0.5f},
                            {-0.5f, 0.5f, 0.5f},   {0.5f, 0.5f, 0.5f}};
    for (int k = 0; k < 5; k++) {
        SCOPED_TRACE(k);
        Pit pit;
        BodySettings s;
        s.pose.position = {0.5 * k, 0.5, 0.2};
        s.friction = k == 2 ? 0 : 0.6f;
        Body cube = pit.space.add_body(BodyShape::unit_cube(), s);
        pit.run(1);
        pit.space.terrain_changed(pit.field.fill({0, 0, 0.2}, 3));
        leaves_gently(pit, cube, corners, s.friction > 0);
    }
}

TEST(BuriedInSmoothGround, AGroupLeavesTheMiddleOfABallGently) {
    // An L of seven blocks at the bottom of a pit; the ball reaches farther than the pit below and beside it.
    BlockTable table;
    Grid grid(table);
    const BlockId id = table.add(Material{});
    std::vector<Vec3> places;
    auto put = [&](Cell c) {
        grid.set(c, id);
        for (int k = 0; k < 8; k++)
            places.push_back({float(c.x + (k & 1)), float(c.y + (k >> 1 & 1)), float(c.z + (k >> 2))});
    };
    for (int x = 0; x < 3; x++)
        for (int z = 0; z < 2; z++) put({x, 0, z});
    put({0, 1, 0});
    Pit pit;
    pit.space.terrain_changed(pit.field.dig({0.3, 0, 0.2}, 4));
    BodySettings s;
    s.pose.position = {-1.2, -3, -0.8};
    Body group = pit.space.add_body(BodyShape::from_grid(grid, 1), s);
    pit.run(3);
    pit.space.terrain_changed(pit.field.fill({0.3, -3, 0.2}, 4));
    leaves_gently(pit, group, places);
}

/// What is not buried is held as before: by the ways of its own points, with friction.
TEST(BuriedInSmoothGround, ASlopeHoldsOrLetsSlideAsItsFrictionTells) {
    for (const float slope : {0.3f, 0.55f, 0.7f}) {
        Pit pit({-slope, 1, 0});
        BodySettings s;
        const float angle = std::atan(slope);
        s.friction = 0.6f;
        s.pose.rotation = {0, 0, std::sin(angle / 2), std::cos(angle / 2)};
        s.pose.position = to_double(normalized(Vec3{-slope, 1, 0}) * 0.5f);
        Body cube = pit.space.add_body(BodyShape::unit_cube(), s);
        pit.run(4);
        if (slope < 0.6f) {
            EXPECT_TRUE(cube.is_asleep()) << slope;
            EXPECT_LT(length(cube.center_of_mass() - s.pose.position), 0.3) << slope;
        } else {  // g (sin - mu cos) t
            EXPECT_NEAR(length(cube.velocity()), 9.81f * (std::sin(angle) - 0.6f * std::cos(angle)) * 4,
                        0.1f);
        }
    }
}

}  // namespace
}  // namespace talus
