// Few move among many that rest: pairs and queries are those that a look at every body would find.
#include "rigs.h"

#include "base/archive.h"
#include "dynamics/snapshot.h"
#include "dynamics/state.h"

#include <limits>
#include <memory>

namespace talus {
namespace {

struct Random {
    std::uint32_t state;
    explicit Random(std::uint32_t seed) : state(seed) {}
    std::uint32_t below(std::uint32_t n) { return (state = state * 1664525u + 1013904223u) / 65536 % n; }
    float real(float from, float to) { return from + (to - from) * float(below(65536)) / 65536; }
    DVec3 place(float reach, float height) {
        return {double(real(-reach, reach)), double(real(0, height)), double(real(-reach, reach))};
    }
    Vec3 vector(float most) { return {real(-most, most), real(-most, most), real(-most, most)}; }
};

/// Sleepers of all sizes on and above a floor, then a script of whatever may happen to bodies.
struct Scene {
    std::unique_ptr<Space> owned;
    Space& space;
    Random random;
    std::vector<Body> bodies;
    DVec3 middle;

    static SpaceSettings settings_with(JobSystem* jobs) {
        SpaceSettings s;
        s.jobs = jobs;
        return s;
    }
    explicit Scene(std::uint32_t seed, DVec3 at = {}, JobSystem* jobs = nullptr)
        : owned(std::make_unique<Space>(settings_with(jobs))), space(*owned), random(seed), middle(at) {
        space.set_ground(at.y);
        for (int i = 0; i < 300; i++) add(true);
    }
    /// The same script goes on in a copy of its space.
    Scene(const Scene& other, std::unique_ptr<Space> copy)
        : owned(std::move(copy)), space(*owned), random(other.random), middle(other.middle) {
        for (const Body& b : other.bodies) bodies.push_back(space.body(b.id()));
    }
    Body add(bool asleep) {
        BodySettings b;
        b.pose.position = middle + random.place(40, 12);
        b.pose.rotation = normalized(Quat{random.real(-1, 1), random.real(-1, 1), random.real(-1, 1), 1});
        b.asleep = asleep;
        if (random.below(12) == 0) b.motion = random.below(2) ? MotionType::fixed : MotionType::kinematic;
        const bool big = random.below(20) == 0;
        const float most = big ? 9.0f : 1.0f;
        const auto kind = random.below(4);
        const BodyShape shape =
            kind == 0 ? BodyShape::sphere(random.real(0.2f, 1))
            : kind == 1
                ? BodyShape::capsule(random.real(0.2f, 0.5f), random.real(0.2f, 1))
                : BodyShape::box({random.real(0.2f, most), random.real(0.2f, 1), random.real(0.2f, most)});
        bodies.push_back(space.add_body(shape, b));
        return bodies.back();
    }
    void act() {
        Body b = bodies[random.below(std::uint32_t(bodies.size()))];
        switch (random.below(12)) {
            case 0:
                b.set_pose({middle + random.place(40, 12), {}});
                break;
            case 1:
                b.add_impulse(random.vector(9) * b.mass());
                break;
            case 2:
                b.set_velocity(random.vector(30));
                break;
            case 3:
                b.sleep();
                break;
            case 4:
                b.activate();
                break;
            case 5:
                space.remove_body(b);
                break;
            case 6:
                add(random.below(2) == 0);
                break;
            case 7:
                b.set_motion(MotionType(random.below(3)));
                break;
            case 8:
                b.set_shape(BodyShape::box({random.real(0.2f, 2), 0.5f, 0.5f}));
                break;
            case 9:
                b.set_layer(Layer(4 + random.below(3)));
                break;
            default:
                break;
        }
    }
    std::vector<std::int32_t> all() {
        std::vector<std::int32_t> list;
        const BodyStore& store = space.state().bodies;
        for (std::int32_t i = 1; i < store.size(); i++)
            if (store.hot[std::size_t(i)].exists) list.push_back(i);
        return list;
    }
};

std::vector<std::uint32_t> names(const std::vector<Body>& bodies) {
    std::vector<std::uint32_t> list;
    for (const Body& b : bodies) list.push_back(b.id().index);
    return list;
}

TEST(BroadPhase, EveryPairThatIsNearIsThere) {
    std::size_t few = 0, many = 0;
    for (const std::uint32_t seed : {1u, 2u, 3u}) {
        Scene scene(seed, seed == 3 ? DVec3{1e7, 0, -3e6} : DVec3{});
        Space::State& s = scene.space.state();
        for (int step = 0; step < 120; step++) {
            for (int k = 0; k < (step / 20 % 2 ? 3 : 1); k++) scene.act();
            scene.space.step(kTick);
            (s.broad.new_boxes().size() * 16 > s.bodies.alive ? many : few)++;
            if (step % 5) continue;
            // Bodies that fell asleep or were moved within the step keep the boxes it began with.
            const std::vector<std::int32_t> all = scene.all();
            for (const std::int32_t a : all)
                for (const std::int32_t b : all) {
                    const BodyHot &ha = s.bodies.hot[std::size_t(a)], &hb = s.bodies.hot[std::size_t(b)];
                    if (a <= b || (!ha.dynamic && !hb.dynamic) || !s.broad.overlap(a, b)) continue;
                    ASSERT_GE(s.pairs.find(a, b), 0) << a << " and " << b << ", step " << step;
                }
        }
    }
    EXPECT_GT(few, 100u);
    EXPECT_GT(many, 5u);
}

TEST(BroadPhase, PairsOfWhatMovesAreWatchedAndNoOthers) {
    Scene scene(5);
    Space::State& s = scene.space.state();
    std::size_t watched = 0, rest = 0;
    for (int step = 0; step < 200; step++) {
        scene.act();
        // Where nothing falls asleep or wakes at its end, a step leaves what it began with.
        const BitSet before = s.bodies.moving;
        scene.space.step(kTick);
        bool same = true;
        BitSet::each_difference(before, s.bodies.moving, [&](std::int32_t) { same = false; });
        for (std::size_t i = 0; i < s.pairs.pairs.size() && same; i++) {
            const Pair& p = s.pairs.pairs[i];
            const bool moves = !p.dead && (before[p.a] || before[p.b]);
            ASSERT_EQ(s.pairs.watched[std::int32_t(i)], moves) << p.a << " and " << p.b << ", step " << step;
            (moves ? watched : rest)++;
        }
        for (const std::int32_t i : scene.all()) {
            const BodyHot& h = s.bodies.hot[std::size_t(i)];
            const bool led = s.bodies.cold[std::size_t(i)].motion == MotionType::kinematic &&
                             (h.velocity != Vec3{} || h.spin != Vec3{});
            ASSERT_EQ(s.bodies.moving[i], (h.dynamic && !h.asleep) || led) << i << ", step " << step;
        }
        std::size_t all = 0;
        scene.space.for_each_moving([](void* n, Body) { ++*static_cast<std::size_t*>(n); }, &all);
        ASSERT_EQ(all, s.bodies.moving.count());
    }
    EXPECT_GT(watched, 1000u);
    EXPECT_GT(rest, 1000u);
}

TEST(Queries, BoxesFindWhatALookAtEveryBodyFinds) {
    std::size_t found = 0;
    for (const std::uint32_t seed : {11u, 12u, 13u}) {
        Scene scene(seed, seed == 13 ? DVec3{-2e6, 0, 5e6} : DVec3{});
        for (int round = 0; round < 150; round++) {
            scene.act();
            if (round % 3 == 0) scene.space.step(kTick);
            for (int k = 0; k < 3; k++) {
                const DVec3 at = scene.middle + scene.random.place(45, 15);
                const float size = scene.random.below(4) ? 3.0f : 40.0f;
                const DBox box{
                    at, at + DVec3{double(scene.random.real(0, size)), double(scene.random.real(0, size)),
                                   double(scene.random.real(0, size))}};
                std::vector<std::uint32_t> expected;
                for (const std::int32_t i : scene.all()) {
                    const BodyHot& h = scene.space.state().bodies.hot[std::size_t(i)];
                    if (overlaps(box, {h.position + to_double(h.lo), h.position + to_double(h.hi)}))
                        expected.push_back(std::uint32_t(i));
                }
                ASSERT_EQ(names(scene.space.bodies_in(box)), expected) << "round " << round;
                found += expected.size();
            }
        }
        const double far = std::numeric_limits<double>::infinity();
        EXPECT_EQ(scene.space.bodies_in({{-far, -far, -far}, {far, far, far}}).size(), scene.all().size());
        const double none = std::numeric_limits<double>::quiet_NaN();
        EXPECT_TRUE(scene.space.bodies_in({{none, 0, 0}, {none, 1, 1}}).empty());
    }
    EXPECT_GT(found, 1000u);
}

TEST(Queries, RaysAndBallsHitWhatEachBodyAloneSays) {
    Scene scene(21);
    std::size_t hits = 0;
    for (int round = 0; round < 30; round++) {
        for (int k = 0; k < 8; k++) scene.act();
        for (int k = 0; k < 2; k++) scene.space.step(kTick);
        // Each body in a space of its own.
        std::vector<std::unique_ptr<Space>> alone;
        const std::vector<std::int32_t> all = scene.all();
        for (const std::int32_t i : all) {
            const Body b = scene.space.body(scene.space.state().bodies.id(i));
            BodySettings same;
            same.pose = b.pose();
            same.motion = MotionType::fixed;
            alone.push_back(std::make_unique<Space>());
            alone.back()->add_body(b.shape(), same);
        }
        for (int k = 0; k < 20; k++) {
            const DVec3 from = scene.random.place(45, 14);
            Vec3 way = normalized(scene.random.vector(1));
            if (k % 5 == 0) way = {0, 0, k % 2 ? 1.0f : -1.0f};
            const float distance = k % 4 == 0 ? 500 : scene.random.real(1, 90), radius = 0.3f;
            float ray = 1e30f, ball = 1e30f;
            std::int32_t ray_body = 0, ball_body = 0;
            for (std::size_t i = 0; i < alone.size(); i++) {
                if (const auto hit = alone[i]->cast_ray(from, way, distance); hit && hit->distance < ray)
                    ray = hit->distance, ray_body = all[i];
                if (const auto hit = alone[i]->cast_sphere(from, radius, way, distance);
                    hit && hit->distance < ball)
                    ball = hit->distance, ball_body = all[i];
            }
            const auto hit = scene.space.cast_ray(from, way, distance);
            const auto met = scene.space.cast_sphere(from, radius, way, distance);
            // The floor may be nearer than any body.
            if (hit && !hit->terrain) {
                EXPECT_EQ(hit->body.id().index, std::uint32_t(ray_body));
                EXPECT_NEAR(hit->distance, ray, 1e-3f);
                hits++;
            } else if (ray_body) {
                EXPECT_TRUE(hit && hit->distance <= ray + 1e-3f);
            }
            if (met && !met->terrain) {
                EXPECT_EQ(met->body.id().index, std::uint32_t(ball_body));
                EXPECT_NEAR(met->distance, ball, 5e-3f);
                hits++;
            } else if (ball_body) {
                EXPECT_TRUE(met && met->distance <= ball + 5e-3f);
            }
        }
    }
    EXPECT_GT(hits, 100u);
}

TEST(TerrainChanged, WakesWhatALookAtEveryBodyFinds) {
    std::size_t woken = 0;
    for (int round = 0; round < 40; round++) {
        Scene scene(100 + std::uint32_t(round));
        for (int k = 0; k < round % 5; k++) {
            scene.act();
            scene.space.step(kTick);
        }
        const auto x = std::int32_t(scene.random.below(60)) - 30,
                   z = std::int32_t(scene.random.below(60)) - 30;
        const CellBox cells{{x, 0, z}, {x + round % 7, 3, z + 2}};
        const DBox near{{x - 1.5, -1.5, z - 1.5}, {x + round % 7 + 2.5, 5.5, z + 4.5}};
        const BodyStore& store = scene.space.state().bodies;
        std::vector<char> expected, asleep;
        for (const std::int32_t i : scene.all()) {
            const BodyHot& h = store.hot[std::size_t(i)];
            const bool wakes =
                h.asleep && overlaps(near, {h.position + to_double(h.lo), h.position + to_double(h.hi)});
            woken += wakes;
            expected.push_back(h.asleep && !wakes);
        }
        scene.space.terrain_changed(cells);
        for (const std::int32_t i : scene.all()) asleep.push_back(store.hot[std::size_t(i)].asleep);
        EXPECT_EQ(asleep, expected) << "round " << round;
    }
    EXPECT_GT(woken, 20u);
}

/// A sleeper high up knows how far the terrain is; what is built below it meanwhile must stop it all the
/// same.
TEST(TerrainChanged, ASleeperLooksAnewWhenItWakes) {
    BlockGround ground;
    Space space;
    space.set_terrain(&ground.grid);
    BodySettings table;
    table.pose.position = {0.5, 7.5, 0.5};
    table.motion = MotionType::fixed;
    Body under = space.add_body(BodyShape::box({2, 0.5f, 2}), table);
    BodySettings crate;
    crate.pose.position = {0.5, 8.5, 0.5};
    Body b = space.add_body(BodyShape::unit_cube(), crate);
    for (int i = 0; i < 180; i++) space.step(kTick);
    ASSERT_TRUE(b.is_asleep());
    // A thin floor two cells below: too far to wake it.
    for (int z = -3; z < 4; z++)
        for (int x = -3; x < 4; x++) ground.grid.set({x, 3, z}, ground.stone);
    space.terrain_changed({{-3, 3, -3}, {3, 3, 3}});
    EXPECT_TRUE(b.is_asleep());
    space.remove_body(under);
    EXPECT_FALSE(b.is_asleep());
    for (int i = 0; i < 120; i++) space.step(kTick);
    EXPECT_NEAR(b.center_of_mass().y, 4.5, 0.05);
}

TEST(SpaceSnapshot, AmongSleepersAllGoesOnWithTheSameBits) {
    Scene scene(31);
    std::vector<std::unique_ptr<Scene>> copies;
    std::size_t asleep = 0, awake = 0;
    for (int step = 0; step < 160; step++) {
        for (auto& copy : copies) {
            copy->act();
            copy->space.step(kTick);
        }
        scene.act();
        scene.space.step(kTick);
        if (step % 3 == 0) scene.space.bodies_in({{-5, 0, -5}, {5, 5, 5}});  // asking changes nothing
        asleep += scene.space.body_count() - scene.space.awake_count();
        awake += scene.space.awake_count();
        if (step % 20 != 7) continue;
        scene.act();  // also what waits for the next step is kept
        for (auto& copy : copies) copy->act();
        ByteWriter out;
        write_space(out, scene.space, {});
        auto copy = std::make_unique<Space>();
        ByteReader in(out.bytes);
        read_space(in, *copy, {});
        ASSERT_TRUE(in.ok()) << in.error().message;
        copies.push_back(std::make_unique<Scene>(scene, std::move(copy)));
        for (auto& each : copies) {
            ByteWriter again;
            write_space(again, each->space, {});
            ASSERT_TRUE(again.bytes == out.bytes) << "step " << step;
        }
    }
    EXPECT_GT(asleep, 10000u);
    EXPECT_GT(awake, 200u);
}

}  // namespace
}  // namespace talus
