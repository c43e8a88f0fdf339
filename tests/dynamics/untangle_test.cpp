// Pieces of many cubes that stand deep in each other leave by one way and do not fly off.
#include "talus/space.h"

#include <gtest/gtest.h>

#include <random>

namespace talus {
namespace {

using Cells = std::vector<Cell>;

Cells random_piece(std::mt19937& random, std::size_t count) {
    Cells cells{{0, 0, 0}};
    while (cells.size() < count) {
        Cell c = cells[random() % cells.size()];
        (random() % 3 == 0 ? c.x : random() % 2 ? c.y : c.z) += random() % 2 ? 1 : -1;
        if (std::find(cells.begin(), cells.end(), c) == cells.end()) cells.push_back(c);
    }
    return cells;
}

Body add(Space& space, const Cells& cells, DVec3 at, Quat turn) {
    std::vector<ShapeBox> boxes;
    for (const Cell c : cells) {
        const Vec3 lo{float(c.x), float(c.y), float(c.z)};
        boxes.push_back({.box = {lo, lo + Vec3{1, 1, 1}}});
    }
    BodySettings settings;
    settings.pose = {at, turn};
    return space.add_body(BodyShape(boxes), settings);
}

/// Of the nearest two cubes' middles: cubes that do not overlap are at least 1 apart.
double nearest_middles(const Body& a, const Cells& cells_a, const Body& b, const Cells& cells_b) {
    auto middle = [](const Body& body, Cell c) {
        return body.to_world({float(c.x) + 0.5f, float(c.y) + 0.5f, float(c.z) + 0.5f});
    };
    double least = 1e9;
    for (const Cell p : cells_a)
        for (const Cell q : cells_b) least = std::min(least, length(middle(a, p) - middle(b, q)));
    return least;
}

TEST(Untangle, PiecesInsideEachOtherComeApart) {
    std::mt19937 random(7);
    auto one = [&] { return float(random() % 2001) / 1000 - 1; };
    int deep = 0;
    for (int i = 0; i < 60; i++) {
        SpaceSettings settings;
        settings.gravity = {};
        Space space(settings);
        const Cells cells_a = random_piece(random, 3 + random() % 12),
                    cells_b = random_piece(random, 3 + random() % 12);
        const Body a = add(space, cells_a, {0, 0, 0}, {});
        const Body b =
            add(space, cells_b, {one(), one(), one()}, normalized(Quat{one(), one(), one(), one() + 1.1f}));
        deep += nearest_middles(a, cells_a, b, cells_b) < 0.6;
        float fastest = 0;
        for (int k = 0; k < 240; k++) {
            space.step(1.0f / 60);
            fastest = std::max(fastest, length(a.velocity() - b.velocity()));
        }
        EXPECT_GT(nearest_middles(a, cells_a, b, cells_b), 0.97) << "pair " << i;
        EXPECT_LT(fastest, 6) << "pair " << i;
    }
    EXPECT_GT(deep, 30) << "half begin deep";
}

/// A sweep stopped them where the solver had no contact: they hung in the air while their speed grew.
TEST(Untangle, PiecesInsideEachOtherFallLikeAnyOther) {
    std::mt19937 random(11);
    auto one = [&] { return float(random() % 2001) / 1000 - 1; };
    for (int i = 0; i < 60; i++) {
        Space space;
        Body a = add(space, random_piece(random, 3 + random() % 20), {0, 0, 0}, {});
        Body b = add(space, random_piece(random, 1 + random() % 6), {one(), one(), one()},
                     normalized(Quat{one(), one(), one(), one() + 1.1f}));
        a.set_velocity({0, -60, 0});
        b.set_velocity({8 * one(), -60 + 8 * one(), 8 * one()});
        b.set_spin({10 * one(), 10 * one(), 10 * one()});
        const double ma = double(a.mass()), mb = double(b.mass());
        auto height = [&] { return (a.center_of_mass().y * ma + b.center_of_mass().y * mb) / (ma + mb); };
        const double speed = (double(a.velocity().y) * ma + double(b.velocity().y) * mb) / (ma + mb);
        const double start = height();
        for (int k = 0; k < 60; k++) space.step(1.0f / 60);
        EXPECT_NEAR(height() - start, speed - 0.5 * 9.81, 1.5) << "pair " << i;
    }
}

/// Up and down are the shortest ways out of the plate, and both are closed: it cannot move, and under the
/// cube is the ground.
TEST(Untangle, AWayThatIsClosedIsNotTaken) {
    Space space;
    space.set_ground(0.0);
    BodySettings fixed;
    fixed.motion = MotionType::fixed;
    fixed.pose.position = {0, 1.1, 0};
    space.add_body(BodyShape::box({2, 0.5f, 2}), fixed);  // its underside is at 0.6
    BodySettings settings;
    settings.pose.position = {1.8, 0.5, 0.1};
    const Body cube = space.add_body(BodyShape::box({0.5f, 0.5f, 0.5f}), settings);
    float fastest = 0;
    for (int k = 0; k < 180; k++) {
        space.step(1.0f / 60);
        fastest = std::max(fastest, length(cube.velocity()));
    }
    EXPECT_GT(cube.pose().position.x, 2.48);
    EXPECT_NEAR(cube.pose().position.y, 0.5, 0.02);
    EXPECT_LT(fastest, 6);
}

}  // namespace
}  // namespace talus
