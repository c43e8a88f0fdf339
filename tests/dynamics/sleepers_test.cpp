// A sleeping scene costs nothing per body: a step does not even look at what rests.
#include "rigs.h"

#include "dynamics/state.h"

#if defined(__unix__)
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace talus {
namespace {

/// Whole pages of a list's entries from `first` on can no longer be read or written.
template <class T>
std::size_t lock(std::vector<T>& list, std::size_t first) {
    const auto page = std::uintptr_t(sysconf(_SC_PAGESIZE));
    const std::uintptr_t from = (std::uintptr_t(list.data() + first) + page - 1) / page * page,
                         to = std::uintptr_t(list.data() + list.size()) / page * page;
    if (to <= from || mprotect(reinterpret_cast<void*>(from), to - from, PROT_NONE) != 0) return 0;
    return (to - from) / page;
}

struct Sleepers {
    Rig rig;
    std::vector<Body> awake;
    Body led;
    std::size_t first_slot = 0, first_pair = 0;
    /// The first ones are within reach of what moves; the many after them are not.
    explicit Sleepers(int moving) {
        rig.space.set_ground(0.0);
        for (int i = 0; i < moving; i++) awake.push_back(rig.cube({-50.0 - 20 * i, 0.5, 0}));
        for (int i = 0; i < moving; i++) {
            BodySettings rest;
            rest.asleep = true;
            rig.cube({-50.0 - 20 * i, 0.5, 3}, 1, rest);
        }
        BodySettings kinematic;
        kinematic.motion = MotionType::kinematic;
        led = rig.cube({-50, 5, 30}, 1, kinematic);
        first_slot = std::size_t(led.id().index) + 1;
        for (int i = 0; i < 4000; i++) {
            BodySettings rest;
            rest.asleep = true;
            rig.cube({1.02 * (i % 50), 0.5 + (i / 50 % 2), 1.02 * (i / 100)}, 1, rest);
        }
        for (int i = 0; i < 200; i++) rig.space.step(kTick);
        Space::State& s = rig.space.state();
        const auto set_first = [&](std::int32_t b, std::int32_t head) {
            s.bodies.hot[std::size_t(b)].first_pair = head;
        };
        s.pairs.sort(set_first);
        rig.space.step(kTick);                                                     // pairs are others now
        for (int i = 0; i < 20; i++) rig.space.bodies_in({{0, 0, 0}, {1, 1, 1}});  // so the tree is made
        while (first_pair < s.pairs.pairs.size() && std::size_t(s.pairs.pairs[first_pair].a) < first_slot)
            first_pair++;
    }
    /// In a process of its own: a step that looks at a sleeper ends it.
    void step_blind(int steps, void (*act)(Sleepers&, int)) {
        Space::State& s = rig.space.state();
        std::size_t pages = lock(s.bodies.hot, first_slot) + lock(s.bodies.way, first_slot) +
                            lock(s.pairs.pairs, first_pair) + lock(s.pairs.waits, first_pair) +
                            lock(s.pairs.manifolds, first_pair);
        if (pages < 200) std::_Exit(2);
        for (int i = 0; i < steps; i++) {
            if (act) act(*this, i);
            rig.space.step(kTick);
        }
        std::_Exit(0);
    }
};

TEST(SleepersDeathTest, AStepLooksAtNoneOfThem) {
    Sleepers scene(0);
    ASSERT_EQ(scene.rig.space.awake_count(), 0u);
    EXPECT_EXIT(scene.step_blind(100, nullptr), testing::ExitedWithCode(0), "");
}

TEST(SleepersDeathTest, AStepOfFewLooksAtThoseAlone) {
    Sleepers scene(5);
    const auto act = [](Sleepers& s, int step) {
        for (std::size_t k = 0; k < s.awake.size(); k++)
            if (step % 40 == int(k)) s.awake[k].set_velocity({step % 80 < 40 ? 2.0f : -2.0f, 3, 0});
        s.awake[0].add_force({0, 10, 0});
        if (step == 50) s.awake[1].set_velocity({0, std::nanf(""), 0});  // frozen
        s.led.set_velocity({0, 0, step < 60 ? -0.2f : 0.0f});
        s.rig.space.cast_ray({-50, 2, 0}, {0, -1, 0}, 5);
        s.rig.space.bodies_in({{-51, 0, -1}, {-49, 2, 4}});
        s.rig.space.terrain_changed({{-60, -1, -1}, {-55, -1, 1}});
    };
    EXPECT_EXIT(scene.step_blind(150, act), testing::ExitedWithCode(0), "");
}

/// The test itself can fail: what looks at a sleeper is caught.
TEST(SleepersDeathTest, ALookIsNoticed) {
    Sleepers scene(1);
    // A sanitizer makes an exit of the signal.
    const auto caught = [](int status) {
        return !WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 2);
    };
    const auto look = [](Sleepers& s, int) { s.rig.space.bodies_in({{0, 0, 0}, {30, 1, 30}}); };
    EXPECT_EXIT(scene.step_blind(1, look), caught, "");
}

}  // namespace
}  // namespace talus
#endif
