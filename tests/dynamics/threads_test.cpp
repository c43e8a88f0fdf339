// The same heap on one thread and on several: the same bits.
#include "rigs.h"

#include <atomic>
#include <thread>

namespace talus {
namespace {

class Workers final : public JobSystem {
 public:
    explicit Workers(int n) : n_(n) {}
    int worker_count() const override { return n_; }
    void parallel_for(std::size_t count, Task task, void* context) override {
        calls++;
        std::atomic<std::size_t> next = 0;
        const auto work = [&] {
            for (std::size_t i = next++; i < count; i = next++) task(context, i);
        };
        std::vector<std::thread> others;
        for (int k = 1; k < n_; k++) others.emplace_back(work);
        work();
        for (std::thread& t : others) t.join();
    }
    std::uint64_t start(Task task, void* context) override {
        task(context, 0);
        return 1;
    }
    void wait(std::uint64_t) override {}
    std::size_t calls = 0;

 private:
    int n_;
};

/// Hashes of a falling heap of corner pieces, every tenth step.
std::vector<std::uint64_t> heap_hashes(JobSystem* jobs) {
    SpaceSettings settings;
    settings.jobs = jobs;
    Space space(settings);
    space.set_ground(0.0);
    const ShapeBox boxes[] = {{.box = {{0, 0, 0}, {3, 1, 1}}}, {.box = {{0, 1, 0}, {1, 2, 2}}}};
    const BodyShape corner(boxes);
    for (int y = 0; y < 6; y++)
        for (int z = 0; z < 8; z++)
            for (int x = 0; x < 8; x++) {
                BodySettings s;
                s.pose.position = {x * 3.2 + 0.1 * y, 0.5 + 2.3 * y, z * 2.2 + 0.2 * (x & 1)};
                s.spin = {0.3f * float(x), 0.2f, 0.1f * float(z)};
                space.add_body(corner, s);
            }
    std::vector<std::uint64_t> hashes;
    for (int i = 0; i < 90; i++) {
        space.step(kTick);
        if (i % 10 == 9) hashes.push_back(hash_of(space));
    }
    return hashes;
}

/// A block of cubes pressed into each other a little, among them some that are fixed, and a pusher.
std::uint64_t block_hash(JobSystem* jobs, int edge) {
    SpaceSettings settings;
    settings.jobs = jobs;
    Space space(settings);
    space.set_ground(0.0);
    const BodyShape cube = BodyShape::unit_cube();
    for (int y = 0; y < edge; y++)
        for (int z = 0; z < edge; z++)
            for (int x = 0; x < edge; x++) {
                BodySettings s;
                s.pose.position = {x * 0.995, y * 0.995, z * 0.995};
                const bool pusher = x == edge - 1 && y == edge / 2 && z == edge / 2;
                if (pusher) {
                    s.motion = MotionType::kinematic;
                    s.velocity = {-1.5f, 0, 0.2f};
                }
                if (x == edge / 2 && y == 0) s.motion = MotionType::fixed;
                space.add_body(cube, s);
            }
    space.step(kTick);
    EXPECT_GT(space.contacts().size(), std::size_t(2 * edge * edge * edge));
    for (int i = 0; i < 4; i++) space.step(kTick);
    return hash_of(space);
}

TEST(Threads, SameBitsInManyParts) {
    for (const int edge : {8, 12}) {  // two parts and four
        const std::uint64_t alone = block_hash(nullptr, edge);
        for (const int n : {2, 5}) {
            Workers workers(n);
            EXPECT_EQ(block_hash(&workers, edge), alone) << n << " threads";
        }
    }
}

TEST(Threads, SameBits) {
    const std::vector<std::uint64_t> alone = heap_hashes(nullptr);
    for (const int n : {2, 3}) {
        Workers workers(n);
        EXPECT_EQ(heap_hashes(&workers), alone) << n << " threads";
        EXPECT_GT(workers.calls, 60u) << "one call shares a whole step";
    }
}

/// Flat ground that tells who asked.
struct AskedGround : SmoothGround {
    bool alone = false;
    std::thread::id owner = std::this_thread::get_id();
    mutable std::atomic<int> asked = 0, elsewhere = 0;
    std::optional<SurfacePoint> surface_near(DVec3 p, float reach) const override {
        asked++;
        if (std::this_thread::get_id() != owner) elsewhere++;
        if (p.y > double(reach)) return std::nullopt;
        return SurfacePoint{float(p.y), {0, 1, 0}};
    }
    bool one_thread() const override { return alone; }
};

TEST(Threads, GroundForOneThreadIsAskedFromOne) {
    std::uint64_t hashes[2];
    for (const bool alone : {true, false}) {
        Workers workers(3);
        AskedGround ground;
        ground.alone = alone;
        SpaceSettings settings;
        settings.jobs = &workers;
        Rig rig(settings);
        rig.space.set_smooth_ground(&ground);
        for (int i = 0; i < 225; i++) rig.cube({i % 15 * 1.4, 0.7 + 0.01 * (i % 7), i / 15 * 1.4});
        rig.run(0.5f);
        EXPECT_GT(ground.asked, 1000);
        if (alone) {
            EXPECT_EQ(ground.elsewhere, 0);
            EXPECT_EQ(workers.calls, 0u);
        } else {
            EXPECT_GT(workers.calls, 0u);
        }
        hashes[alone] = hash_of(rig.space);
    }
    EXPECT_EQ(hashes[0], hashes[1]);
}

}  // namespace
}  // namespace talus
