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

TEST(Threads, SameBits) {
    const std::vector<std::uint64_t> alone = heap_hashes(nullptr);
    for (const int n : {2, 3}) {
        Workers workers(n);
        EXPECT_EQ(heap_hashes(&workers), alone) << n << " threads";
        EXPECT_GT(workers.calls, 60u) << "one call shares a whole step";
    }
}

}  // namespace
}  // namespace talus
