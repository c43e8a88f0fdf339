#include "net/playback.h"

#include "wire_world.h"

#include <gtest/gtest.h>

#include <cmath>
#include <queue>
#include <random>

namespace talus {
namespace {

TEST(Playback, ArcIsTheGreatArc) {
    const Quat a = axis_angle({1, 2, 3}, 0.4f);
    for (const float angle : {0.01f, 0.5f, 1.5f, 3.0f}) {
        const Quat b = axis_angle({-1, 0.5f, 2}, angle) * a;
        for (float t = 0; t <= 1; t += 0.0625f) {
            const Quat want = axis_angle({-1, 0.5f, 2}, angle * t) * a, got = arc(a, b, t);
            const float cosine = std::fabs(want.x * got.x + want.y * got.y + want.z * got.z + want.w * got.w);
            EXPECT_GT(cosine, 1 - 1e-6f) << angle << " " << t;
        }
    }
    // Opposite signs are the same rotation: the short way round.
    const Quat b = axis_angle({0, 1, 0}, 0.2f);
    const Quat half = arc({}, {-b.x, -b.y, -b.z, -b.w}, 0.5f);
    EXPECT_NEAR(std::fabs(half.y), std::sin(0.05f), 1e-6);
}

/// Frames sent each 50 ms, each up to `jitter` seconds late (in order, as TCP keeps them).
struct Link {
    double jitter;
    std::mt19937 random{4};
    double last = 0;
    std::uniform_real_distribution<double> uniform{0, 1};
    double arrival(std::uint64_t n) {
        const double at = 0.05 * double(n) + 0.02 + jitter * uniform(random);
        return last = at > last ? at : last;
    }
};

struct Smoothness {
    double worst_jump = 0;   ///< of the speed between two pictures, m/s
    double behind = 0;       ///< seconds, at the end
    double worst_error = 0;  ///< metres from the true curve
};

/// A piece that moves at 10 m/s and falls, shown at `fps` for 10 s; looked at after 2 s.
Smoothness show(double jitter, double fps) {
    WireWorld w;
    const Grid grid = w.box(2, 2, 2);
    auto height = [](double tick) { return 500 - 0.5 * 9.81 * (tick * 0.05) * (tick * 0.05); };
    auto pose = [&](double tick) {  // turns about its middle
        const Quat q = axis_angle({0, 0, 1}, float(0.2 * tick));
        return Pose{DVec3{0.5 * tick, height(tick), 0} - to_double(rotate(q, {1, 1, 1})), q};
    };
    w.tick = 0;
    ClientWorld world;
    Frame start;
    start.groups.push_back(WireWorld::group(1, grid, pose(0), {1, 1, 1}));
    EXPECT_FALSE(world.receive(w.welcome(std::move(start)), 0));
    Link link{jitter};
    Smoothness s;
    double last_x = 0, last_speed = 10;
    std::uint64_t sent = 0;
    double next_arrival = link.arrival(1);
    for (int i = 1; double(i) / fps < 10; i++) {
        const double now = i / fps;
        while (next_arrival <= now) {
            EXPECT_FALSE(world.receive(w.next(frame_of({{1, pose(double(++sent))}})), next_arrival));
            next_arrival = link.arrival(sent + 1);
        }
        world.advance(now);
        const auto stats = world.stats();
        const Pose p = *world.pose_of(1);
        const DVec3 center = to_world(p, {1, 1, 1});
        const double speed = (center.x - last_x) * fps;
        if (now > 2) {
            s.worst_jump = std::max(s.worst_jump, std::fabs(speed - last_speed));
            const DVec3 want{0.5 * stats.shown_tick, height(stats.shown_tick), 0};
            s.worst_error = std::max(s.worst_error, length(center - want));
            s.behind = now - stats.shown_tick * 0.05;
        }
        last_x = center.x;
        last_speed = speed;
    }
    return s;
}

TEST(Playback, IsSmoothUnderJitter) {
    for (const double fps : {60.0, 144.0})
        for (const double jitter : {0.0, 0.01, 0.03, 0.08}) {
            const Smoothness s = show(jitter, fps);
            RecordProperty("jump_" + std::to_string(int(fps)) + "_" + std::to_string(int(jitter * 1000)),
                           std::to_string(s.worst_jump));
            printf(
                "fps %3.0f jitter %3.0f ms: speed changes by at most %.3f of 10 m/s, %.0f ms behind, off by "
                "%.2g m\n",
                fps, jitter * 1000, s.worst_jump, s.behind * 1000, s.worst_error);
            EXPECT_LT(s.worst_jump, 1.0) << "a tenth of the speed from one picture to the next";
            EXPECT_LT(s.behind, 0.16 + 1.5 * jitter);
            EXPECT_LT(s.worst_error, 0.002);
        }
}

TEST(Playback, FollowsAServerThatRunsSlow) {
    PlaybackClock clock;
    clock.start(0, 20, 0);
    double now = 0, last = clock.shown();
    int stops = 0;
    for (std::uint64_t n = 1; n < 200; n++)  // half speed: a tick each 100 ms
        for (int k = 0; k < 6; k++) {
            now += 0.1 / 6;
            if (k == 0) clock.arrived(n, now);
            const double shown = clock.advance(now);
            EXPECT_GE(shown, last);
            EXPECT_LE(shown, double(n));
            if (n > 60) stops += shown == last;
            last = shown;
        }
    EXPECT_LT(stops, 0.15 * 140 * 6);
}

TEST(Playback, CatchesUpAfterASleepingTab) {
    PlaybackClock clock;
    clock.start(0, 20, 0);
    for (std::uint64_t n = 1; n <= 600; n++) clock.arrived(n, 0.05 * double(n));
    const double shown = clock.advance(30);
    EXPECT_GT(shown, 590);
    EXPECT_LE(shown, 600);
}

TEST(Playback, APieceFarFromItsFrameTurnsAboutItself) {
    // Spins at 6 rad/s, its blocks 1,000 m from its grid's zero: the zero runs a huge circle, the blocks do
    // not move.
    const Vec3 pivot{1000, 0, 0};
    const DVec3 center{5, 5, 5};
    auto pose = [&](double tick) {
        Pose p;
        p.rotation = axis_angle({0, 1, 0.2f}, float(0.3 * tick));
        p.position = center - to_double(rotate(p.rotation, pivot));
        return p;
    };
    Motion motion;
    motion.start(pose(0), pose(1), pivot);
    motion.step();
    motion.target(pose(2));
    for (double t = 0; t <= 1; t += 0.05) {
        const Pose p = motion.at(t, 0.05), want = pose(1 + t);
        EXPECT_LT(length(to_world(p, pivot) - center), 1e-3) << t;
        for (const Vec3 corner : {Vec3{1002, 1, 1}, Vec3{998, -2, 0}})
            EXPECT_LT(length(to_world(p, corner) - to_world(want, corner)), 2e-3) << t;
    }
}

TEST(Playback, AHitIsNotSmearedOver) {
    // Falls at 10 m/s, lies still from tick 2 on: never shown below the floor.
    Motion motion;
    motion.start({{0, 1.0, 0}, {}}, {{0, 0.5, 0}, {}}, {});
    motion.step();
    motion.target({{0, 0, 0}, {}});
    motion.step();
    for (double t = 0; t <= 1; t += 0.1) EXPECT_EQ(motion.at(t, 0.05).position.y, 0);
    EXPECT_FALSE(motion.still());
    motion.step();
    motion.step();
    EXPECT_TRUE(motion.still());
}

}  // namespace
}  // namespace talus
