// Case 22: a NaN or a huge impulse is injected; stepping, saving, loading and sending go on. The body is
// frozen at its last good pose; no NaN is in a save, a snapshot or a packet. Doors of the API one by one:
// tests/dynamics/quarantine_test.cpp.
#include "talus/client_world.h"
#include "talus/level.h"
#include "talus/level_encoder.h"
#include "talus/snapshot.h"
#ifdef TALUS_HAS_STORE
#include "tests/store/build_level.h"
#endif

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace talus {
namespace {

bool sane(const Level& level) {
    for (const GroupId id : level.groups()) {
        const GroupView view = *level.group(id);
        const Quat q = view.pose.rotation;
        if (!is_finite(view.pose.position) || !std::isfinite(q.x + q.y + q.z + q.w) ||
            !is_finite(view.body.velocity()) || !is_finite(view.body.spin()) ||
            length(view.body.velocity()) > 1001)
            return false;
    }
    return true;
}

TEST(Case22, NonsenseIsNotSteppedSavedOrSent) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    using Door = void (*)(Body, float);
    const Door doors[] = {[](Body b, float v) {
                              b.set_velocity({v, 0, 0});
                          },
                          [](Body b, float v) {
                              b.set_spin({0, v, 0});
                          },
                          [](Body b, float v) {
                              b.add_impulse({v, v, 0});
                          },
                          [](Body b, float v) {
                              b.add_impulse_at({0, v, 0}, {1, 2, 3});
                          },
                          [](Body b, float v) {
                              b.activate(), b.add_force({0, 0, v});
                          },
                          [](Body b, float v) {
                              b.set_pose({{double(v), 0, 0}, {}});
                          }};
    for (const float value : {nan, inf, 3e38f, 1e30f})
        for (std::size_t door = 0; door < std::size(doors); door++) {
            SCOPED_TRACE(testing::Message() << value << " through door " << door);
            LevelSettings settings;
            settings.ground = 0;
            settings.floor = -1e6;
            Level level(settings);
            const BlockId stone = level.table().add(blockgame_stone());
            std::vector<GroupId> ids;
            for (int i = 0; i < 4; i++) {
                Grid grid(level.table());
                grid.set({0, 0, 0}, stone);
                grid.set({1, 0, 0}, stone);
                ids.push_back(level.add_group(std::move(grid), {.pose = {{i * 2.5, 0, i * 0.5}, {}}}));
            }
            LevelEncoder encoder;
            ClientWorld world;
            level.tick();
            encoder.tick_message(level, 0);
            level.clear_events();
            ASSERT_FALSE(world.receive(encoder.full_state(level, 0), 0).has_value());
            const DVec3 last = level.group(ids[1])->body.center_of_mass();
            doors[door](level.group(ids[1])->body, value);
            // At once, before the step that finds it: a save and a snapshot must be as good as ever.
            for (int i = 0; i < 40; i++) {
                if (i < 3) {
                    const auto bytes = take_snapshot(level);
                    const auto copy = restore_snapshot(bytes);
                    ASSERT_TRUE(copy) << copy.error().message;
                    (*copy)->tick();
                    ASSERT_TRUE(sane(**copy));
#ifdef TALUS_HAS_STORE
                    const TemporaryFolder folder;
                    ASSERT_TRUE(save_level(level, folder.file("a")));
                    const auto loaded = load_level(folder.file("a"));
                    ASSERT_TRUE(loaded) << loaded.error().message;
                    (*loaded)->tick();
                    ASSERT_TRUE(sane(**loaded));
                    EXPECT_EQ((*loaded)->groups().size(), level.groups().size());
#endif
                }
                level.tick();
                ASSERT_TRUE(sane(level)) << i;
                const auto error = world.receive(encoder.tick_message(level, 0), 0.05 * i);
                ASSERT_FALSE(error.has_value()) << i;
                level.clear_events();
                world.advance(0.05 * i);
            }
            ASSERT_EQ(level.groups().size(), 4u);
            if (!std::isfinite(value)) {
                EXPECT_LT(length(level.group(ids[1])->body.center_of_mass() - last), 0.01);
                for (const std::size_t k : {0u, 2u, 3u})
                    EXPECT_LT(length(level.group(ids[k])->body.velocity()), 1);
            }
        }
}

}  // namespace
}  // namespace talus
