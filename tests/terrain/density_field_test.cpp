// Smooth ground: the field itself, and bodies on it.
#include "fields.h"

#include "dynamics/smooth_contact.h"

#include <gtest/gtest.h>

#include <cmath>

namespace talus {
namespace {

constexpr float kTick = 1.0f / 60;
constexpr double kG = 9.81;

void run(Space& space, float seconds, DensityField* field = nullptr) {
    for (int i = 0; i < int(seconds / kTick + 0.5f); i++) {
        if (field) field->prepare(space);
        space.step(kTick);
    }
}

TEST(DensityField, BlendsAndSlopesExactlyWhereTheGroundIsFlat) {
    const PlaneSource plane({0.3f, 1, -0.2f}, {0.5, 3.25, 0});
    const DensityField field(&plane);
    for (int i = 0; i < 50; i++) {
        const DVec3 p{std::fmod(i * 1.37, 9) - 4.5, 3 + std::fmod(i * 0.71, 2) - 1,
                      std::fmod(i * 2.11, 7) - 3};
        const double right = dot(p - plane.point, to_double(plane.out));
        EXPECT_NEAR(field.density(p), -right, 1e-5);
        EXPECT_NEAR(length(field.gradient(p) + plane.out), 0, 1e-5f);
        const auto near = field.surface_near(p, 5);
        ASSERT_TRUE(near);
        EXPECT_NEAR(near->distance, right, 1e-4);
        EXPECT_NEAR(length(near->outward - plane.out), 0, 1e-4f);
    }
    EXPECT_FALSE(field.surface_near({0, 20, 0}, 5));
    EXPECT_FALSE(field.surface_near({0, 1e300, 0}, 5));
    EXPECT_FALSE(field.surface_near({NAN, 0, 0}, 5));
}

TEST(DensityField, AToolTakesAndGivesABall) {
    const PlaneSource plane;
    DensityField field(&plane);
    const CellBox dug = field.dig({0.5, 0, 0.5}, 3);
    EXPECT_FALSE(dug.empty());
    EXPECT_TRUE(dug.contains({0, -3, 0}));
    EXPECT_LT(field.density({0.5, -2.5, 0.5}), 0);
    EXPECT_GT(field.density({0.5, -3.5, 0.5}), 0);
    EXPECT_GT(field.density({5.5, -0.5, 0.5}), 0);
    const auto floor_of_pit = field.surface_near({0.5, -2.6, 0.5}, 1);
    ASSERT_TRUE(floor_of_pit);
    EXPECT_NEAR(floor_of_pit->distance, 0.4, 0.12);  // a ball of 3 cells, blended
    EXPECT_GT(floor_of_pit->outward.y, 0.95f);
    EXPECT_TRUE(field.dig({0.5, 0, 0.5}, 2.9f).empty());  // nothing left to take
    EXPECT_FALSE(field.fill({0.5, 0, 0.5}, 3).empty());
    EXPECT_GT(field.density({0.5, -1, 0.5}), 0);
    EXPECT_GT(field.density({0.5, 2.5, 0.5}), 0);
    EXPECT_TRUE(field.dig({NAN, 0, 0}, 1).empty());
    EXPECT_TRUE(field.dig({0, 0, 0}, -1).empty());
}

TEST(DensityField, TheCacheIsBoundedForgetsAndNeverChangesAnAnswer) {
    PlaneSource plane;
    DensityField field(&plane);
    field.set_cache_limit(20);
    SpaceSettings ss;
    ss.gravity = {};
    Space space(ss);
    BodySettings s;
    s.velocity = {400, 0, 0};
    space.add_body(BodyShape::unit_cube(), s);
    for (int i = 0; i < 100; i++) {
        field.prepare(space);
        space.step(kTick);
        EXPECT_LE(field.cached_bricks(), 20u);
    }
    EXPECT_GT(field.cached_bricks(), 0u);
    const DVec3 here = {600.3, 0.2, 0.1};
    field.prepare({here - DVec3{2, 2, 2}, here + DVec3{2, 2, 2}});
    const int before = plane.asked;
    EXPECT_NEAR(field.density(here), -0.2, 1e-5);
    EXPECT_EQ(plane.asked, before);  // from the cache
    const PlaneSource again;
    EXPECT_EQ(DensityField(&again).density(here), field.density(here));
    // The ground rises: old samples stay until told, edits stay for good.
    field.dig({0, 0, 0}, 2);
    plane.point.y = 1;
    EXPECT_NEAR(field.density(here), -0.2, 1e-5);
    field.changed({{590, -10, -10}, {610, 10, 10}});
    EXPECT_NEAR(field.density(here), 0.8, 1e-5);
    EXPECT_LT(field.density({0, -1, 0}), 0);
    EXPECT_GT(field.edited_bricks(), 0u);
    field.changed({{-20, -20, -20}, {20, 20, 20}});
    EXPECT_LT(field.density({0, -1, 0}), 0);
}

TEST(SmoothGround, SurfacePointsAreTheCornersOnTheOutside) {
    BlockTable table;
    const BlockId stone = table.add(Material{});
    Grid lone(table), cube(table), ring(table);
    for (int y = 0; y < 8; y++)
        for (int z = 0; z < 8; z++)
            for (int x = 0; x < 8; x++) {
                if (x < 2 && y < 2 && z < 2) lone.set({x, y, z}, stone);
                cube.set({x, y, z}, stone);
                if (y == 0 && x < 3 && z < 3 && !(x == 1 && z == 1)) ring.set({x, y, z}, stone);
            }
    EXPECT_EQ(surface_points(*BodyShape::from_grid(lone, 0.5f).data(), 0.5f).size(), 26u);
    EXPECT_EQ(surface_points(*BodyShape::from_grid(cube, 0.5f).data(), 0.5f).size(), 386u);
    EXPECT_EQ(surface_points(*BodyShape::from_grid(ring, 1).data(), 1).size(), 32u);
    EXPECT_EQ(surface_points(*BodyShape::box({2, 2, 2}).data(), 0.5f).size(), 386u);
    EXPECT_EQ(surface_points(*BodyShape::unit_cube().data(), 1).size(), 8u);
}

TEST(SmoothGround, BodiesOfEveryKindRest) {
    const PlaneSource plane({0, 1, 0}, {0, 2.5, 0});
    DensityField field(&plane);
    Space space;
    space.set_smooth_ground(&field);
    BlockTable table;
    Grid grid(table);
    const BlockId stone = table.add(Material{});
    for (int x = 0; x < 3; x++) grid.set({x, 0, 0}, stone);
    grid.set({0, 1, 0}, stone);
    BodySettings s;
    s.pose = {{0, 4, 0}, {}};
    Body cube = space.add_body(BodyShape::unit_cube(), s);
    s.pose.position = {5, 4, 0};
    s.rolling_resistance = 2;
    Body ball = space.add_body(BodyShape::sphere(0.4f), s);
    s.pose = {{10, 3, 0}, axis_angle({0, 0, 1}, 1.5707963f)};
    Body capsule = space.add_body(BodyShape::capsule(0.3f, 0.7f), s);
    s.pose = {{15, 3, 0}, {}};
    Body piece = space.add_body(BodyShape::from_grid(grid, 1), s);
    run(space, 5, &field);
    EXPECT_NEAR(cube.center_of_mass().y, 3, 0.01);
    EXPECT_NEAR(ball.center_of_mass().y, 2.9, 0.01);
    EXPECT_NEAR(capsule.center_of_mass().y, 2.8, 0.01);
    EXPECT_NEAR(piece.pose().position.y, 2.5, 0.01);
    for (const Body& b : {cube, ball, capsule, piece}) {
        EXPECT_TRUE(b.is_asleep());
        EXPECT_TRUE(b.touching().terrain);
    }
    EXPECT_EQ(space.awake_count(), 0u);
}

/// On a slope: holds below the angle of friction, slides above it by g (sin - mu cos).
TEST(SmoothGround, FrictionOnASlope) {
    for (const double tangent : {0.55, 0.8}) {
        const PlaneSource plane({float(-tangent), 1, 0});
        DensityField field(&plane);
        Space space;
        space.set_smooth_ground(&field, 0.6f);
        const float angle = float(std::atan(tangent));
        BodySettings s;
        s.pose = {to_double(plane.out) * 0.5, axis_angle({0, 0, 1}, angle)};
        Body block = space.add_body(BodyShape::box({0.6f, 0.5f, 0.6f}), s);
        const DVec3 from = block.center_of_mass();
        run(space, 2, &field);
        const double moved = length(block.center_of_mass() - from);
        const double a = kG * (std::sin(double(angle)) - 0.6 * std::cos(double(angle)));
        if (a < 0)
            EXPECT_LT(moved, 0.01);
        else
            EXPECT_NEAR(moved, 0.5 * a * 4, 0.03 * 0.5 * a * 4);
    }
}

TEST(SmoothGround, ABallRollsDownWithoutABump) {
    const PlaneSource plane({-0.2f, 1, 0.05f});
    DensityField field(&plane);
    Space space;
    space.set_smooth_ground(&field);
    BodySettings s;
    s.pose.position = to_double(plane.out) * 0.1;
    Body ball = space.add_body(BodyShape::sphere(0.1f), s);
    const Vec3 gravity{0, -float(kG), 0};
    const Vec3 along = gravity - plane.out * dot(gravity, plane.out);
    for (int i = 0; i < 180; i++) {
        space.step(kTick);
        EXPECT_LT(std::fabs(dot(ball.velocity(), plane.out)), 2e-3f);
    }
    EXPECT_NEAR(length(ball.velocity() - along * (3 * 5.0f / 7)), 0, 0.02f);
}

/// Where the middle of a ball that rolls without loss in y = x^2 / (2 r) is after t seconds, from rest over
/// x = from: 7/10 v^2 + g y stays, along the curve one ball's radius inside.
double rolled_in_bowl(double r, double ball, double from, double t) {
    auto middle = [&](double u) {
        const double l = std::sqrt(1 + u * u / (r * r));
        return DVec3{u - ball * u / r / l, u * u / (2 * r) + ball / l, 0};
    };
    double u = from, speed = 0;
    constexpr double dt = 1e-5, du = 1e-4;
    for (double now = 0; now < t; now += dt) {
        const DVec3 along = (middle(u + du) - middle(u - du)) / (2 * du);
        const double stretch = length(along);
        speed -= 5.0 / 7 * kG * along.y / stretch * dt;
        u += speed / stretch * dt;
    }
    return middle(u).x;
}

TEST(SmoothGround, ABallRollsThroughABowlInTime) {
    const BowlSource bowl(12, 0.25);
    DensityField field(&bowl, 0.25f);
    SpaceSettings settings;
    settings.cell_size = 0.25f;
    Space space(settings);
    space.set_smooth_ground(&field);
    const Vec3 normal = normalized(Vec3{-4.0f / 12, 1, 0});
    BodySettings s;
    s.pose.position = DVec3{4, 16.0 / 24, 0} + to_double(normal * 0.4f);
    Body ball = space.add_body(BodyShape::sphere(0.4f), s);
    double farthest = 0;
    for (int i = 1; i <= 300; i++) {
        field.prepare(space);
        space.step(kTick);
        if (i % 30 == 0 && i <= 120) {
            EXPECT_NEAR(ball.center_of_mass().x, rolled_in_bowl(12, 0.4, 4, i * double(kTick)), 0.03) << i;
        }
        farthest = std::min(farthest, ball.center_of_mass().x);
    }
    // Up the other side, but for what the creases at the samples take.
    EXPECT_LT(farthest, -3.5);
    EXPECT_NEAR(ball.center_of_mass().z, 0, 0.02);
}

TEST(SmoothGround, ABallInABowlComesToRestAtItsFoot) {
    const BowlSource bowl(12);
    DensityField field(&bowl);
    Space space;
    space.set_smooth_ground(&field);
    BodySettings s;
    s.pose.position = {4, 1.8, 0};
    s.rolling_resistance = 1;
    Body ball = space.add_body(BodyShape::sphere(0.4f), s);
    run(space, 40, &field);
    // Where it is slow enough for long enough it sleeps, near the foot.
    EXPECT_NEAR(length(ball.center_of_mass() - DVec3{0, 0.4, 0}), 0, 0.3);
    EXPECT_TRUE(ball.is_asleep());
}

/// The deepest corner of a unit cube, metres inside the ground.
double deepest_corner(const DensityField& field, const Body& cube) {
    double deepest = -1e9;
    for (int i = 0; i < 8; i++) {
        const Vec3 corner{i & 1 ? 0.5f : -0.5f, i & 2 ? 0.5f : -0.5f, i & 4 ? 0.5f : -0.5f};
        const double d = double(field.density(cube.to_world(corner)));
        deepest = d > deepest ? d : deepest;
    }
    return deepest;
}

TEST(SmoothGround, DiggingUnderASleeperWakesIt) {
    const PlaneSource plane;
    DensityField field(&plane);
    Space space;
    space.set_smooth_ground(&field);
    BodySettings s;
    s.pose.position = {0.3, 0.5, 0.2};
    Body cube = space.add_body(BodyShape::unit_cube(), s);
    s.pose.position = {30, 0.5, 0};
    Body far = space.add_body(BodyShape::unit_cube(), s);
    run(space, 3, &field);
    ASSERT_TRUE(cube.is_asleep());
    space.terrain_changed(field.dig({0.3, 0, 0.2}, 4));
    EXPECT_FALSE(cube.is_asleep());
    EXPECT_TRUE(far.is_asleep());
    run(space, 4, &field);
    EXPECT_LT(cube.center_of_mass().y, -2.5);
    EXPECT_NEAR(deepest_corner(field, cube), 0, 0.02);
    // A mound is thrown up over it: it leaves by the nearest side, into the moat that is left around the
    // mound, which is 3.9 m away and not the top at 4.4 m; and there it rests, free of the ground.
    space.terrain_changed(field.fill({0.3, -3, 0.2}, 4));
    EXPECT_GT(deepest_corner(field, cube), 2);
    run(space, 6, &field);
    EXPECT_TRUE(cube.is_asleep());
    EXPECT_NEAR(deepest_corner(field, cube), 0, 0.02);
    const DVec3 p = cube.center_of_mass() - DVec3{0.3, 0, 0.2};
    EXPECT_NEAR(std::sqrt(p.x * p.x + p.z * p.z), 3.7, 0.5);
    EXPECT_TRUE(far.is_asleep());
}

TEST(SmoothGround, AGroundThatRisesOverABodyLiftsItGently) {
    PlaneSource plane;
    DensityField field(&plane);
    Space space;
    space.set_smooth_ground(&field);
    BodySettings s;
    s.pose.position = {0.3, 0.5, 0.2};
    Body cube = space.add_body(BodyShape::unit_cube(), s);
    s.pose.position = {5.3, 0.4, 0.2};
    Body ball = space.add_body(BodyShape::sphere(0.4f), s);
    run(space, 2, &field);
    plane.point.y = 2.5;
    const CellBox all{{-20, -10, -20}, {20, 10, 20}};
    field.changed(all);
    space.terrain_changed(all);
    float fastest = 0;
    double highest = 0;
    for (int i = 0; i < 180; i++) {
        field.prepare(space);
        space.step(kTick);
        fastest = std::max(fastest, length(cube.velocity()));
        highest = std::max(highest, cube.center_of_mass().y);
    }
    EXPECT_LT(fastest, 4.5f);  // the solver's push-out speed and what gravity takes
    EXPECT_LT(highest, 3.05);
    EXPECT_NEAR(cube.center_of_mass().y, 3, 0.01);
    EXPECT_NEAR(cube.center_of_mass().x, 0.3, 0.1);
    EXPECT_NEAR(cube.center_of_mass().z, 0.2, 0.1);
    EXPECT_NEAR(cube.direction_to_world({0, 1, 0}).y, 1, 1e-3);
    EXPECT_NEAR(ball.center_of_mass().y, 2.9, 0.01);
    run(space, 2, &field);
    EXPECT_TRUE(cube.is_asleep());
}

TEST(SmoothGround, FastBodiesDoNotGoUnder) {
    const PlaneSource plane({0.2f, 1, 0});
    DensityField field(&plane);
    for (const float speed : {60.0f, 200.0f, 400.0f})
        for (const bool round : {false, true}) {
            Space space;
            space.set_smooth_ground(&field);
            BodySettings s;
            s.pose.position = {0, 30, 0};
            s.velocity = {0, -speed, 0};
            Body b = space.add_body(round ? BodyShape::sphere(0.2f) : BodyShape::box({0.2f, 0.2f, 0.2f}), s);
            for (int i = 0; i < 180; i++) {
                space.step(kTick);
                ASSERT_GT(dot(b.center_of_mass(), to_double(plane.out)), -0.25) << speed << round << " " << i;
            }
        }
}

TEST(SmoothGround, RaysSweptBallsAndOverlaps) {
    const BallSource hill({0, 0, 0}, 10);
    DensityField field(&hill);
    Space space;
    space.set_smooth_ground(&field);
    const auto ray = space.cast_ray({3, 40, 0}, {0, -1, 0}, 100);
    ASSERT_TRUE(ray);
    EXPECT_TRUE(ray->terrain);
    EXPECT_NEAR(ray->point.y, std::sqrt(91.0), 0.05);
    EXPECT_NEAR(ray->normal.x, 0.3, 0.05);
    EXPECT_FALSE(space.cast_ray({11, 40, 0}, {0, -1, 0}, 100));
    EXPECT_FALSE(space.cast_ray({3, 40, 0}, {0, -1, 0}, 30));
    const auto ball = space.cast_sphere({0, 40, 0}, 2, {0, -1, 0}, 100);
    ASSERT_TRUE(ball);
    EXPECT_NEAR(ball->distance, 28, 0.05);
    EXPECT_TRUE(space.overlap_sphere({0, 11, 0}, 1.1f).terrain);
    EXPECT_FALSE(space.overlap_sphere({0, 11, 0}, 0.9f).terrain);
    EXPECT_TRUE(space.overlap_box({{0, 11, 0}, {}}, {0.1f, 1.2f, 0.1f}).terrain);
    EXPECT_FALSE(space.overlap_box({{0, 11, 0}, {}}, {0.1f, 0.8f, 0.1f}).terrain);
}

/// Blocks and smooth ground side by side: each carries.
TEST(SmoothGround, BesideABlockGrid) {
    const PlaneSource plane({0, 1, 0}, {0, 0.25, 0});
    DensityField field(&plane);
    BlockTable table;
    Grid grid(table);
    const BlockId stone = table.add(Material{});
    for (int z = -2; z < 2; z++)
        for (int x = -2; x < 2; x++) grid.set({x, 0, z}, stone);
    Space space;
    space.set_terrain(&grid);
    space.set_smooth_ground(&field);
    BodySettings s;
    s.pose.position = {0, 2, 0};
    Body on_blocks = space.add_body(BodyShape::unit_cube(), s);
    s.pose.position = {6, 2, 0};
    Body on_ground = space.add_body(BodyShape::unit_cube(), s);
    run(space, 3, &field);
    EXPECT_NEAR(on_blocks.center_of_mass().y, 1.5, 0.01);
    EXPECT_NEAR(on_ground.center_of_mass().y, 0.75, 0.01);
}

}  // namespace
}  // namespace talus
