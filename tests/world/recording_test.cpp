// The hooks of calls that change a level (base/call_log.h).
#include "base/call_log.h"
#include "dynamics/state.h"
#include "talus/level.h"
#include "world/level_state.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

struct Listening {
    explicit Listening(Level& level) : level_(level) {
        log_.began = [](CallLog& log) { taken().push_back(std::exchange(log.bytes.bytes, {})); };
        level.state().calls = &log_;
        level.space().state().calls = &log_;
        taken().clear();
    }
    ~Listening() { level_.state().calls = level_.space().state().calls = nullptr; }
    /// The calls since the last time.
    static std::vector<Call> calls() {
        std::vector<Call> out;
        for (const auto& bytes : taken()) out.push_back(Call(bytes[0]));
        taken().clear();
        return out;
    }

 private:
    static std::vector<std::vector<std::uint8_t>>& taken() {
        static std::vector<std::vector<std::uint8_t>> all;
        return all;
    }
    Level& level_;
    CallLog log_;
};

TEST(CallHooks, ACallIsWrittenOnceAndWhatItCallsIsNot) {
    LevelSettings settings;
    settings.ground = 0;
    Level level(settings);
    const BlockId stone = level.table().add(blockgame_stone());
    Listening listen(level);
    Grid grid(level.table());
    for (int y = 0; y < 5; y++) grid.set({0, y, 0}, stone);
    const GroupId id = level.add_group(std::move(grid), {.bears_load = true});
    level.blast({0.5, 2.5, 0.5}, 4);  // takes blocks, splits, pushes bodies
    level.carve_sphere({9, 9, 9}, 1);
    level.group(id)->body.add_impulse({0, 100, 0});
    for (int i = 0; i < 3; i++) level.tick();
    level.space().remove_body(level.space().add_body(BodyShape::unit_cube(), {}));
    using enum Call;
    EXPECT_EQ(listen.calls(), (std::vector<Call>{add_group, blast, carve_sphere, body_add_impulse, tick, tick,
                                                 tick, space_add_body, space_remove_body}));
    level.hash();
    level.stats();
    level.cast_ray({0, 9, 0}, {0, -1, 0}, 20);
    EXPECT_TRUE(listen.calls().empty()) << "reading is not written down";
}

}  // namespace
}  // namespace talus
