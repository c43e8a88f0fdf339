#include "talus/client_world.h"

#include "wire_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace talus {
namespace {

using Player = ClientWorld::Player;

struct Walk {
    WireWorld w;
    ClientWorld world;
    Player player;
    double now = 0, dt = 1.0 / 60;

    void start(Frame frame = {}) {
        const auto error = world.receive(w.welcome(std::move(frame)), now);
        ASSERT_FALSE(error) << error->message;
    }
    void go(DVec3 wish, double seconds, bool jump = false) {
        for (int i = 0; i < int(seconds / dt + 0.5); i++) {
            now += dt;
            player = world.move_player(player, wish, jump, dt, now);
        }
    }
};

TEST(Player, FallsAndStandsOnTheGround) {
    Walk p;
    p.start();
    p.player.position = {0, 4.905, 0};
    p.go({}, 0.9);
    EXPECT_FALSE(p.player.on_ground);
    EXPECT_NEAR(p.player.position.y, 4.905 - 0.5 * 9.81 * 0.81, 0.01);
    p.go({}, 0.5);
    EXPECT_TRUE(p.player.on_ground);
    EXPECT_NEAR(p.player.position.y, 0, 1e-3);
}

TEST(Player, ABlastPushesItUnlessSomethingHidesIt) {
    for (const bool wall : {false, true})
        for (const bool flying : {false, true}) {
            Walk p;
            if (wall)
                for (int y = 0; y < 4; y++)
                    for (int z = -4; z < 4; z++) p.w.terrain.set({1, y, z}, p.w.stone);
            p.start();
            p.player.position = {3, 0.001, 0};
            p.player.flying = flying;
            p.go({}, 0.2);
            for (int i = 0; i < 3; i++) {
                Frame frame;
                if (i == 0) frame.effects.push_back({FrameEffect::Kind::blast, {0, 0.5, 0}, 4, 0});
                ASSERT_FALSE(p.world.receive(p.w.next(std::move(frame)), p.now));
            }
            double fastest = 0, highest = 0;
            for (int i = 0; i < 60; i++) {
                p.go({}, p.dt);
                fastest = std::max(fastest, p.player.velocity.x);
                highest = std::max(highest, p.player.position.y);
            }
            if (wall || flying) {
                EXPECT_EQ(fastest, 0) << wall << flying;
                EXPECT_LT(highest, 0.01);
                continue;
            }
            // Power 4 reaches 5.33 m; its middle is 3.03 m off: 20 (1 - 3.03 / 5.33) = 8.6 m/s.
            EXPECT_NEAR(fastest, 8.6, 0.4);
            EXPECT_GT(highest, 0.02) << "off its feet";
            EXPECT_GT(p.player.position.x, 4);
            EXPECT_LT(p.player.velocity.x, 0.5) << "pushed once";
        }
}

TEST(Player, WalksOverAFlatFloorOfCellsWithoutCatching) {
    Walk p;
    for (int x = -3; x < 40; x++)
        for (int z = -3; z < 40; z++) p.w.terrain.set({x, 0, z}, p.w.stone);
    p.start();
    p.player.position = {0, 1.001, 0};
    p.go({}, 0.2);
    const DVec3 from = p.player.position;
    for (int i = 0; i < 300; i++) {
        const double y = p.player.position.y;
        p.go({4, 0, 3}, p.dt);
        EXPECT_TRUE(p.player.on_ground);
        EXPECT_EQ(p.player.position.y, y);
    }
    EXPECT_NEAR(p.player.position.x - from.x, 20, 0.2);
    EXPECT_NEAR(p.player.position.z - from.z, 15, 0.2);
}

TEST(Player, AWallStopsItAndSlidesIt) {
    Walk p;
    for (int y = 0; y < 4; y++)
        for (int z = -20; z < 20; z++) p.w.terrain.set({3, y, z}, p.w.stone);
    p.start();
    p.go({5, 0, 2}, 2);
    EXPECT_NEAR(p.player.position.x, 3 - ClientWorld::kPlayerWidth / 2, 1e-3);
    EXPECT_NEAR(p.player.position.z, 4, 0.2);
    p.player.flying = true;
    p.go({60, 0, 0}, 1);
    EXPECT_LT(p.player.position.x, 3) << "no way through, however fast";
}

TEST(Player, StepsUpHalfACellAndJumpsAWholeOne) {
    Walk p;
    const Box half{{0, 0, 0}, {1, 0.5f, 1}};
    const BlockId slab = p.w.table.add(BlockType{"slab", blockgame_stone(), BlockShape({&half, 1})});
    for (int z = -3; z < 3; z++) {
        p.w.terrain.set({2, 0, z}, slab);
        p.w.terrain.set({3, 0, z}, p.w.stone);
        for (int x = 4; x < 9; x++) p.w.terrain.set({x, 0, z}, p.w.stone);
        for (int x = 9; x < 12; x++) p.w.terrain.set({x, 1, z}, p.w.stone);
    }
    p.start();
    p.go({3, 0, 0}, 2);
    EXPECT_NEAR(p.player.position.y, 1, 1e-3) << "half, then another half";
    p.go({3, 0, 0}, 2);
    EXPECT_NEAR(p.player.position.x, 9 - 0.3, 1e-3) << "a whole block stops it";
    p.go({3, 0, 0}, p.dt, true);
    p.go({3, 0, 0}, 1);
    EXPECT_NEAR(p.player.position.y, 2, 1e-3);
    EXPECT_GT(p.player.position.x, 9);
    // And down again without leaving the ground over the half steps.
    p.go({-3, 0, 0}, 4);
    EXPECT_NEAR(p.player.position.y, 0, 1e-3);
}

TEST(Player, ALowCeilingStopsTheJump) {
    Walk p;
    for (int x = -2; x < 2; x++)
        for (int z = -2; z < 2; z++) p.w.terrain.set({x, 2, z}, p.w.stone);
    p.start();
    p.go({}, 0.1);
    double top = 0;
    for (int i = 0; i < 60; i++) {
        p.go({}, p.dt, i == 0);
        top = std::max(top, p.player.position.y);
    }
    EXPECT_NEAR(top, 2 - ClientWorld::kPlayerHeight, 1e-2);
    EXPECT_TRUE(p.player.on_ground);
}

/// A platform that drives, rises and turns; frames come with jitter, pictures at `fps`.
/// @return the farthest the player's feet moved on the platform, metres
double ride(double fps, double jitter, bool turning) {
    Walk p;
    p.dt = 1 / fps;
    Grid plate = p.w.box(9, 1, 9);
    const Vec3 pivot{4.5f, 0.5f, 4.5f};
    auto pose = [&](double tick) {
        Pose q;
        const double s = tick * 0.05;
        if (turning) q.rotation = axis_angle({0, 1, 0}, float(0.4 * s));
        q.position = DVec3{3 * s + sin_cos(s).sin, 5 + 0.8 * sin_cos(1.5 * s).cos, -2 * s} -
                     to_double(rotate(q.rotation, pivot));
        return q;
    };
    p.w.tick = 0;
    Frame f;
    f.groups.push_back(WireWorld::group(1, plate, pose(0), pivot));
    p.start(std::move(f));
    p.player.position = to_world(pose(0), {4.5f, 1.01f, 5.5f});
    std::mt19937 random(2);
    std::uniform_real_distribution<double> late(0, jitter);
    double next = 0.05 + late(random);
    std::uint64_t sent = 0;
    double worst = 0;
    DVec3 first;
    for (int i = 1; double(i) / fps < 8; i++) {
        while (next <= i / fps) {
            EXPECT_FALSE(p.world.receive(p.w.next(frame_of({{1, pose(double(++sent))}})), next));
            next = std::max(next, 0.05 * double(sent + 1) + late(random));
        }
        p.now = i / fps;
        p.player = p.world.move_player(p.player, {}, false, p.dt, p.now);
        if (p.now < 1) continue;
        const Pose drawn = *p.world.pose_of(1);
        const DVec3 local = to_double(to_local(drawn, p.player.position));
        if (first == DVec3{}) first = local;
        worst = std::max(worst, length(local - first));
        EXPECT_TRUE(p.player.on_ground);
    }
    return worst;
}

TEST(Player, StaysWhereItStandsOnAMovingGroup) {
    for (const double fps : {60.0, 144.0})
        for (const double jitter : {0.0, 0.03})
            for (const bool turning : {false, true}) {
                const double moved = ride(fps, jitter, turning);
                printf("fps %.0f, jitter %.0f ms, %s: feet moved %.2g m on the platform in 7 s\n", fps,
                       jitter * 1000, turning ? "turning" : "straight", moved);
                EXPECT_LT(moved, 1e-3);
            }
}

TEST(Player, KeepsTheSpeedOfWhatItLeaves) {
    Walk p;
    Grid plate = p.w.box(6, 1, 6);
    Frame f;
    f.groups.push_back(WireWorld::group(1, plate, {{0, 20, 0}, {}}));
    p.start(std::move(f));
    p.player.position = {3, 21.001, 3};
    double x = 0;
    for (int n = 0; n < 30; n++) {
        x += 0.25;  // 5 m/s
        ASSERT_FALSE(p.world.receive(p.w.next(frame_of({{1, {{x, 20, 0}, {}}}})), p.now));
        p.go({}, 0.05);
    }
    EXPECT_TRUE(p.player.on_ground);
    p.go({}, p.dt, true);
    EXPECT_FALSE(p.player.on_ground);
    EXPECT_NEAR(p.player.velocity.x, 5, 0.5);
}

TEST(Player, IsPushedOutOfWhatMovesIntoIt) {
    Walk p;
    Grid wall = p.w.box(1, 4, 6);
    Frame f;
    f.groups.push_back(WireWorld::group(1, wall, {{-5, 0, -3}, axis_angle({0, 1, 0}, 0.3f)}));
    p.start(std::move(f));
    p.player.position = {0, 0, 0};
    double x = -5;
    for (int n = 0; n < 60; n++) {
        x += 0.15;
        ASSERT_FALSE(
            p.world.receive(p.w.next(frame_of({{1, {{x, 0, -3}, axis_angle({0, 1, 0}, 0.3f)}}})), p.now));
        p.go({}, 0.05);
    }
    EXPECT_GT(p.player.position.x, 1) << "the wall drove it along";
    EXPECT_NEAR(p.player.position.y, 0, 0.05);
}

TEST(Player, WalksUpATiltedSlab) {
    Walk p;
    Grid slab = p.w.box(10, 1, 4);
    Frame f;
    f.groups.push_back(WireWorld::group(1, slab, {{2, -1, -2}, axis_angle({0, 0, 1}, 0.35f)}));
    p.start(std::move(f));
    p.go({}, 0.1);
    p.go({3, 0, 0}, 2.5);
    EXPECT_GT(p.player.position.y, 1.0);
    EXPECT_TRUE(p.player.on_ground);
}

TEST(Player, StartsInsideStoneAndGetsOut) {
    Walk p;
    for (int y = 0; y < 3; y++)
        for (int z = -4; z < 4; z++)
            for (int x = -4; x < 4; x++) p.w.terrain.set({x, y, z}, p.w.stone);
    p.start();
    p.player.position = {0.5, 1.0, 0.5};
    p.go({}, 1);
    EXPECT_NEAR(p.player.position.y, 3, 0.01) << "up and out";
    Player broken;
    broken.position = {std::nan(""), 0, 0};
    EXPECT_TRUE(std::isnan(p.world.move_player(broken, {}, false, 0.01, p.now + 1).position.x)) << "no crash";
}

}  // namespace
}  // namespace talus
