// Physics with known answers, at the precision a user may count on: slopes at the angle of friction, heights
// of bounces, free tumbling, tops, plastic hits, slow slides, toppling rods, the same drop far away.
#include "rigs.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

/// A box on a long plank that is tilted so that tan = `tangent`.
struct Slid {
    double way;   ///< in `seconds`, m
    double gain;  ///< of speed over all but the first second, m/s^2
};
Slid slide(float friction, double tangent, float seconds, float dt) {
    Rig rig(no_sleep());
    const float angle = float(std::atan(tangent));
    BodySettings s;
    s.friction = friction;
    s.pose.rotation = axis_angle({0, 0, 1}, -angle);
    const Vec3 up = rotate(s.pose.rotation, {0, 1, 0});
    s.motion = MotionType::fixed;
    rig.box({}, {60, 0.5f, 3}, s);
    s.motion = MotionType::dynamic;
    const DVec3 at = to_double(up * 0.75f);
    Body b = rig.box(at, {0.5f, 0.25f, 0.5f}, s);
    rig.run(1, dt);
    const float speed = length(b.velocity());
    rig.run(seconds - 1, dt);
    return {length(b.center_of_mass() - at), double((length(b.velocity()) - speed) / (seconds - 1))};
}

TEST(Physics, ASlopeOnePercentUnderTheFrictionHoldsAndOnePercentOverSlides) {
    for (const float mu : {0.3f, 0.6f, 1.0f})
        for (const float dt : {kTick, 1.0f / 20}) {
            EXPECT_LT(slide(mu, 0.99 * double(mu), 10, dt).way, 0.005) << mu << " " << dt;
            const double angle = std::atan(1.01 * double(mu));
            const double a = 9.81 * (std::sin(angle) - double(mu) * std::cos(angle));
            const Slid over = slide(mu, 1.01 * double(mu), 3, dt);
            EXPECT_NEAR(over.gain, a, 0.01 * a) << mu << " " << dt;
            // The first sub step goes without friction.
            EXPECT_NEAR(over.way, 0.5 * a * 9, 9.81 * std::sin(angle) / 240 * 3) << mu << " " << dt;
        }
}

TEST(Physics, SlidesStopAfterVSquaredOverTwoMuG) {
    for (const float mu : {0.05f, 0.2f, 0.6f})
        for (const float v : {0.1f, 0.3f, 1.0f, 5.0f})
            for (const bool sleep : {false, true}) {
                SpaceSettings settings;
                settings.allow_sleep = sleep;
                Rig rig(settings);
                rig.space.set_ground(0.0, mu);
                BodySettings s;
                s.friction = mu;
                Body b = rig.box({0, 0.25, 0}, {0.5f, 0.25f, 0.5f}, s);
                rig.space.step(kTick);  // its weight is taken on
                const double from = b.center_of_mass().x;
                b.set_velocity({v, 0, 0});
                const double expected = double(v) * double(v) / (2 * double(mu) * 9.81);
                rig.run(float(2 * expected / double(v)) + 0.5f);
                EXPECT_NEAR(b.center_of_mass().x - from, expected, 0.01 * expected + double(v * kTick) / 4)
                    << mu << " " << v << sleep;
                EXPECT_LT(length(b.velocity()), 1e-3f) << mu << " " << v;
            }
}

/// Dropped from `height` between its foot and the ground. @return the height of its first bounce
double bounced(bool ball, float restitution, double height, float dt) {
    Rig rig(no_sleep());
    rig.space.set_ground(0.0);
    BodySettings s;
    s.restitution = restitution;
    s.pose.position = {0, height + 0.5, 0};
    Body b = rig.space.add_body(ball ? BodyShape::sphere(0.5f) : BodyShape::unit_cube(), s);
    bool hit = false;
    double top = 0;
    for (int i = 0; i < int(10 / dt); i++) {
        rig.space.step(dt);
        if (b.velocity().y > 0) hit = true;
        if (hit && b.velocity().y <= 0) break;
        if (hit) top = std::max(top, b.center_of_mass().y - 0.5);
    }
    return top;
}

TEST(Physics, ABounceReachesRestitutionSquaredOfTheHeight) {
    for (const bool ball : {false, true})
        for (const float e : {0.3f, 0.5f, 0.8f, 1.0f})
            for (const double height : {1.0, 4.0, 10.0})
                for (const float dt : {1.0f / 60, 1.0f / 240}) {
                    const double expected = height * double(e) * double(e);
                    EXPECT_NEAR(bounced(ball, e, height, dt), expected, 0.03 * expected + 0.005)
                        << ball << " e " << e << " h " << height << " dt " << dt;
                }
}

Body add_grid(Space& space, std::initializer_list<Cell> cells, const BodySettings& s) {
    BlockTable table;
    Grid grid(table);
    const BlockId stone = table.add(blockgame_stone());
    for (const Cell c : cells) grid.set(c, stone);
    return space.add_body(BodyShape::from_grid(grid, 1), s);
}

TEST(Physics, AnAsymmetricPieceTumblesForAMinute) {
    for (const float dt : {kTick, 1.0f / 20})
        for (const Vec3 spin : {Vec3{2, 1, -1.5f}, Vec3{0, 0, 4}, Vec3{6, -5, 4}}) {
            Rig rig(no_gravity());
            BodySettings s;
            s.spin = spin;
            s.velocity = {1, -2, 0.5f};
            Body b =
                add_grid(rig.space, {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {2, 1, 1}, {0, 0, 1}}, s);
            const double e0 = kinetic_energy(b);
            const Vec3 l0 = angular_momentum(b);
            double energy = 0, momentum = 0;
            for (int i = 0; i < int(60 / dt); i++) {
                rig.space.step(dt);
                energy = std::max(energy, std::fabs(kinetic_energy(b) / e0 - 1));
                momentum = std::max(momentum, double(length(angular_momentum(b) - l0) / length(l0)));
            }
            EXPECT_LT(energy, 1e-3) << spin.x << " " << dt;
            EXPECT_LT(momentum, 1e-3) << spin.x << " " << dt;
            EXPECT_NEAR(length(b.velocity() - Vec3{1, -2, 0.5f}), 0, 1e-5f);
        }
}

/// The middle axis: started a little beside it, a box flips over again and again, in the time that Euler's
/// equations say (integrated here in double).
TEST(Physics, TheUnstableAxisFlipsInTime) {
    Rig rig(no_gravity());
    BodySettings s;
    s.spin = {0.05f, 5, 0};
    Body b = rig.box({}, {1, 0.6f, 0.2f}, s);
    const SymMat3 inertia = b.inertia();
    const double i1 = inertia.xx, i2 = inertia.yy, i3 = inertia.zz;
    DVec3 w{0.05, 5, 0};
    double expected = 0;
    auto rate = [&](DVec3 v) {
        return DVec3{(i2 - i3) / i1 * v.y * v.z, (i3 - i1) / i2 * v.z * v.x, (i1 - i2) / i3 * v.x * v.y};
    };
    for (constexpr double dt = 1e-4; w.y > 0; expected += dt) {
        const DVec3 k = w + rate(w) * (0.5 * dt);
        w += rate(k) * dt;
    }
    double took = 0;
    while (b.direction_to_local(b.spin()).y > 0 && took < 60) {
        rig.space.step(kTick);
        took += double(kTick);
    }
    EXPECT_NEAR(took, expected, 0.01 * expected);
}

/// A free symmetric body whose spin is off its axis: the axis goes round the angular momentum at L / I1.
TEST(Physics, AFreeDiskWobblesAtTheRateOfItsMomentum) {
    Rig rig(no_gravity());
    BodySettings s;
    s.spin = {1, 10, 0};
    Body disk = rig.box({}, {1, 0.2f, 1}, s);
    const DVec3 l = to_double(normalized(angular_momentum(disk)));
    const double rate = double(length(angular_momentum(disk))) / double(disk.inertia().xx);
    const DVec3 start = to_double(disk.direction_to_world({0, 1, 0}));
    const DVec3 x = start - l * dot(start, l), y = cross(l, x);
    double angle = 0, last = 0;
    for (int i = 0; i < 600; i++) {
        rig.space.step(kTick);
        const DVec3 now = to_double(disk.direction_to_world({0, 1, 0}));
        double a = std::atan2(dot(now, y), dot(now, x));
        while (a < last - kPi) a += 2 * kPi;
        angle = last = a;
    }
    EXPECT_NEAR(angle, rate * 10, 0.005 * rate * 10);
}

/// A top under a steady torque: its axis goes towards the torque, not the way the torque would turn it at
/// rest, at torque / spin momentum, and does not sink.
TEST(Physics, ATopGoesRoundTheWayItSpins) {
    for (const float way : {1.0f, -1.0f}) {
        Rig rig(no_gravity());
        BodySettings s;
        s.pose.rotation = axis_angle({0, 0, 1}, float(-kPi / 6));  // leaning towards +x by 30 degrees
        Body top = rig.box({}, {1, 0.2f, 1}, s);
        const double spin = 40 * double(way);
        const double momentum = double(top.inertia().yy) * spin;
        // As held at a foot 1 m down its axis, with its weight pulling at the middle.
        const double weight = double(top.mass()) * 9.81;
        const double rate = weight / momentum;  // about +y
        top.set_spin(top.direction_to_world({0, float(spin), 0}) + Vec3{0, float(rate), 0});
        double angle = 0;
        for (int i = 0; i < 300; i++) {
            const Vec3 axis = top.direction_to_world({0, 1, 0});
            top.add_torque(cross(axis, Vec3{0, -float(weight), 0}));
            rig.space.step(kTick);
            const Vec3 now = top.direction_to_world({0, 1, 0});
            double a = std::atan2(-double(now.z), double(now.x));
            while (a < angle - kPi) a += 2 * kPi;
            while (a > angle + kPi) a -= 2 * kPi;
            angle = a;
            ASSERT_NEAR(std::acos(double(now.y)), kPi / 6, 0.02) << i;
        }
        EXPECT_NEAR(angle, rate * 5, 0.02 * std::fabs(rate) * 5) << way;
    }
}

/// The same with its foot on the ground: a fast top stays up and goes round the way it spins, one at rest
/// falls over.
TEST(Physics, ATopOnTheGroundStaysUp) {
    for (const float spin : {45.0f, -45.0f, 0.0f}) {
        ShapeBox boxes[2];
        boxes[0].box = {{-1, 0.6f, -1}, {1, 0.9f, 1}};
        boxes[1].box = {{-0.03f, 0, -0.03f}, {0.03f, 0.6f, 0.03f}};
        Rig rig(no_sleep());
        rig.space.set_ground(0.0, 0.3f);
        BodySettings s;
        s.friction = 0.3f;
        s.pose.position = {0, 0.02, 0};
        s.pose.rotation = axis_angle({0, 0, 1}, -0.15f);
        Body top = rig.space.add_body(BodyShape(boxes), s);
        top.set_spin(top.direction_to_world({0, spin, 0}));
        double lowest = 1;
        const double lean = double(top.direction_to_world({0, 1, 0}).x);
        const double rate = double(top.mass()) * 9.81 * double(top.local_center_of_mass().y) /
                            (double(top.inertia().yy) * double(spin));
        for (int i = 1; i <= 240; i++) {
            rig.space.step(kTick);
            const Vec3 now = top.direction_to_world({0, 1, 0});
            lowest = std::min(lowest, double(now.y));
            // Before the foot's rubbing raises it.
            if (i == 18 && spin != 0) {
                EXPECT_NEAR(-double(now.z) / lean, rate * 0.3, 0.3 * std::fabs(rate) * 0.3) << spin;
            }
        }
        if (spin == 0) {
            EXPECT_LT(lowest, 0.87);  // the disk lies on its rim
        } else {
            EXPECT_GT(lowest, 0.98) << spin;
        }
    }
}

TEST(Physics, APlasticHitOfTwoLosesWhatItMust) {
    for (const Vec3 along : {Vec3{1, 0, 0}, Vec3{0, -1, 0}, Vec3{0.6f, 0, 0.8f}})
        for (const float ratio : {0.1f, 1.0f, 20.0f}) {
            Rig rig(no_gravity());
            BodySettings s;
            s.restitution = 0;
            s.pose.rotation = axis_angle({0, 1, 0}, float(std::atan2(-along.z, along.x)));
            s.velocity = along * 6.0f;
            Body a = rig.cube(to_double(along * -2.0f), 1, s);
            s.velocity = {};
            s.density = 1000 * ratio;
            Body b = rig.cube({}, 1, s);
            const double before = kinetic_energy(a);
            rig.run(1);
            const float common = 6 / (1 + ratio);
            EXPECT_NEAR(length(a.velocity() - along * common), 0, 4e-3f * 6) << ratio;
            EXPECT_NEAR(length(b.velocity() - along * common), 0, 4e-3f * 6) << ratio;
            EXPECT_NEAR(kinetic_energy(a) + kinetic_energy(b), before / (1 + double(ratio)), 1e-3 * before);
        }
}

/// A rod hit at its end by a ball of half its mass: the momentum and spin that come of it, by hand.
TEST(Physics, AnOffCentrePlasticHit) {
    Rig rig(no_gravity());
    BodySettings s;
    s.restitution = 0;
    s.friction = 0;
    Body rod = rig.box({}, {2, 0.1f, 0.1f}, s);
    s.velocity = {0, 0, 5};
    const float radius = 0.1f;
    s.density = 0.5f * rod.mass() / float(4.0 / 3 * kPi * 1e-3);
    s.pose.position = {1.5, 0, -2};
    Body ball = rig.space.add_body(BodyShape::sphere(radius), s);
    const double m = double(ball.mass()), big = double(rod.mass()), inertia = double(rod.inertia().yy);
    // Impulse J: the contact's relative speed becomes 0. J = v / (1/m + 1/M + r^2 / I).
    const double j = 5 / (1 / m + 1 / big + 1.5 * 1.5 / inertia);
    while (rod.velocity().z == 0.0f) rig.space.step(kTick);
    EXPECT_NEAR(rod.velocity().z, j / big, 0.005 * j / big);
    EXPECT_NEAR(rod.spin().y, -1.5 * j / inertia, 0.005 * 1.5 * j / inertia);
    EXPECT_NEAR(ball.velocity().z, 5 - j / m, 0.005 * 5);
}

/// On its end and one degree off, a rod turns about the edge of its foot; see the time by quadrature of
/// I theta'' = m g d sin(theta).
TEST(Physics, ARodOneDegreeOffTopplesInTime) {
    for (const double height : {4.0, 8.0, 16.0})
        for (const float dt : {kTick, 1.0f / 20}) {
            const double half = 0.03, degree = kPi / 180, end = 60 * degree;
            const double offset = std::atan(half / (height / 2));
            const double d = std::hypot(height / 2, half);
            const double k = 9.81 * d / ((height * height + 4 * half * half) / 3);
            double expected = 0, theta = degree - offset, rate = 0;
            for (constexpr double h = 1e-4; theta < end - offset; expected += h) {
                rate += k * std::sin(theta) * h;
                theta += rate * h;
            }
            Rig rig(no_sleep());
            rig.space.set_ground(0.0, 2);
            BodySettings s;
            s.friction = 2;
            s.pose.rotation = axis_angle({0, 0, 1}, float(degree));
            const double y = std::cos(degree) * height / 2 + std::sin(degree) * half;
            Body rod = rig.box({0, y, 0}, {float(half), float(height / 2), float(half)}, s);
            double took = 0;
            while (rod.direction_to_world({0, 1, 0}).y > float(std::cos(end)) && took < 20) {
                rig.space.step(dt);
                took += double(dt);
            }
            EXPECT_NEAR(took, expected, 0.03 * expected + double(dt)) << height << " " << dt;
        }
}

/// Housner: a block that rocks from one edge to the other keeps 1 - 1.5 sin^2(atan(width / height)) of its
/// spin at a plastic hit. More would feed rocking, much less would force it to rest.
TEST(Physics, ARockingBlockLosesAtEachHitWhatItsFootTells) {
    constexpr double kHeight = 4;
    for (const double width : {0.5, 1.0, 2.0}) {
        const double slant = std::atan(width / kHeight), tilt = 0.35 * slant;
        const double kept = 1 - 1.5 * std::sin(slant) * std::sin(slant);
        Rig rig(no_sleep());
        rig.space.set_ground(0.0, 3);
        BodySettings s;
        s.friction = 3;
        s.restitution = 0;
        s.pose.rotation = axis_angle({0, 0, 1}, float(-tilt));
        const double y = 0.5 * (kHeight * std::cos(tilt) + width * std::sin(tilt));
        Body block = rig.box({0, y, 0}, {float(width / 2), float(kHeight / 2), 1}, s);
        // The speed it goes through the upright with, from how far it leans between two hits.
        double before = 0, lean = 0, side = -1;
        int hits = 0;
        for (int i = 0; i < 1200 && hits < 4; i++) {
            rig.space.step(kTick);
            const Vec3 up = block.direction_to_world({0, 1, 0});
            const double angle = std::atan2(double(-up.x), double(up.y));
            if (angle * side < 0) {
                const double speed = std::sqrt(std::cos(slant - lean) - std::cos(slant));
                if (before > 0) {
                    hits++;
                    EXPECT_LT(speed / before, kept + 0.005) << width << " hit " << hits;
                    EXPECT_GT(speed / before, kept - 0.12) << width << " hit " << hits;
                }
                before = speed;
                side = -side;
                lean = 0;
            }
            lean = std::max(lean, std::fabs(angle));
        }
        EXPECT_EQ(hits, 4);
    }
}

/// The same drop at 0 and at 10^7 m. What does not tumble keeps to a micrometre for as long as you like.
TEST(Physics, ADropFarAwayTakesTheSamePath) {
    std::vector<DVec3> paths[2];
    for (int far = 0; far < 2; far++) {
        const int shift = far ? 10'000'000 : 0;
        BlockTable table;
        const BlockId stone = table.add(Material{});
        Grid grid(table);
        for (int z = -6; z < 6; z++)
            for (int x = -6; x < 6; x++) grid.set({x + shift, -1, z - shift}, stone);
        Rig rig;
        rig.space.set_terrain(&grid);
        const DVec3 base{double(shift), 0, double(-shift)};
        BodySettings s;
        s.velocity = {0.75f, 0, -0.25f};
        Body a = rig.box(base + DVec3{-2.25, 3, 0.5}, {0.7f, 0.4f, 0.5f}, s);
        s.velocity = {};
        s.pose.rotation = axis_angle({1, 2, 3}, 0.7f);
        Body tilted = rig.box(base + DVec3{2.25, 3, -1.5}, {0.7f, 0.4f, 0.5f}, s);
        for (int i = 0; i < 300; i++) {
            rig.space.step(kTick);
            paths[far].push_back(a.center_of_mass() - base);
            paths[far].push_back(tilted.center_of_mass() - base);
        }
    }
    double flat = 0, first_second = 0, ever = 0;
    for (std::size_t i = 0; i < paths[0].size(); i++) {
        const double off = length(paths[0][i] - paths[1][i]);
        if (i % 2 == 0) flat = std::max(flat, off);
        if (i % 2 && i < 120) first_second = std::max(first_second, off);
        if (i % 2) ever = std::max(ever, off);
    }
    EXPECT_LT(flat, 1e-4);
    EXPECT_LT(first_second, 1e-3);
    EXPECT_LT(ever, 0.02);
}

}  // namespace
}  // namespace talus
