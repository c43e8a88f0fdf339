// Case 22: NaN or a huge impulse is injected, in every way there is; the level goes on: the body is frozen at
// its last good pose or slowed down, its neighbours go on as if nothing had been, and neither a snapshot, a
// save nor a message to the pages has a number in it that is none.
#include "talus/client_world.h"
#include "talus/level_encoder.h"
#include "tests/world/record_failures.h"
#ifdef TALUS_HAS_STORE
#include "tests/store/build_level.h"
#endif

#include <limits>

namespace talus {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr double kDNan = std::numeric_limits<double>::quiet_NaN();

struct Way {
    const char* name;
    void (*inject)(Level&, GroupId, Body);
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }
const Way kWays[] = {
    {"velocity",
     [](Level&, GroupId, Body b) {
         b.set_velocity({kNan, 0, 0});
     }},
    {"spin",
     [](Level&, GroupId, Body b) {
         b.set_spin({0, kInf, 0});
     }},
    {"place",
     [](Level&, GroupId, Body b) {
         b.set_pose({{0, kDNan, 0}, {}});
     }},
    {"far place",
     [](Level&, GroupId, Body b) {
         b.set_pose({{1e300, 0, 0}, {}});
     }},
    {"attitude",
     [](Level&, GroupId, Body b) {
         b.set_pose({{0, 9, 0}, {kNan, 0, 0, 1}});
     }},
    {"no attitude",
     [](Level&, GroupId, Body b) {
         b.set_pose({{0, 9, 0}, {0, 0, 0, 0}});
     }},
    {"force",
     [](Level&, GroupId, Body b) {
         b.add_force({0, kNan, 0});
     }},
    {"force at",
     [](Level&, GroupId, Body b) {
         b.add_force_at({0, 1, 0}, {kDNan, 0, 0});
     }},
    {"torque",
     [](Level&, GroupId, Body b) {
         b.add_torque({kInf, 0, 0});
     }},
    {"impulse",
     [](Level&, GroupId, Body b) {
         b.add_impulse({kNan, 0, 0});
     }},
    {"impulse at",
     [](Level&, GroupId, Body b) {
         b.add_impulse_at({1, 0, 0}, {0, 1e300, 0});
     }},
    {"huge impulse",
     [](Level&, GroupId, Body b) {
         b.add_impulse({0, 3e38f, 0});
     }},
    {"huge impulse at",
     [](Level&, GroupId, Body b) {
         b.add_impulse_at({0, 0, 1e37f}, {9, 9, 9});
     }},
    {"friction", [](Level&, GroupId, Body b) { b.set_friction(kNan); }},
    {"bounce", [](Level&, GroupId, Body b) { b.set_restitution(kInf); }},
    {"gravity", [](Level&, GroupId, Body b) { b.set_gravity_factor(kNan); }},
    {"huge gravity", [](Level&, GroupId, Body b) { b.set_gravity_factor(1e30f); }},
    {"damping", [](Level&, GroupId, Body b) { b.set_damping(kNan, kNan, kNan); }},
    {"wear",
     [](Level& l, GroupId g, Body) {
         l.wear_down(g, {0, 0, 0}, kNan);
     }},
    {"blast",
     [](Level& l, GroupId, Body) {
         l.blast({kDNan, 0, 0}, 4);
     }},
    {"power",
     [](Level& l, GroupId, Body) {
         l.blast({0, 9, 0}, kNan);
     }},
    {"far blast",
     [](Level& l, GroupId, Body) {
         l.blast({1e300, 0, 0}, 4);
     }},
    {"carve",
     [](Level& l, GroupId, Body) {
         l.carve({{kDNan, 0, 0}, {1, 1, 1}});
     }},
    {"carve ball",
     [](Level& l, GroupId, Body) {
         l.carve_sphere({kDNan, 0, 0}, kDNan);
     }},
    {"carve capsule",
     [](Level& l, GroupId, Body) {
         l.carve_capsule({0, 0, kDNan}, {0, 0, 0}, 1);
     }},
};

/// A bar that falls, to be given nonsense, and far from it one that is left alone.
struct Scene {
    Level level{[] {
        LevelSettings settings;
        settings.ground = 0;
        return settings;
    }()};
    GroupId bar, other;
    Scene() {
        const BlockId stone = level.table().add(blockgame_stone());
        Grid grid(level.table());
        for (int x = 0; x < 3; x++) grid.set({x, 0, 0}, stone);
        bar = level.add_group(Grid(grid), {.pose = {{0, 9, 0}, {}}, .bears_load = true});
        other = level.add_group(std::move(grid), {.pose = {{500, 9, 0}, {}}, .spin = {0, 0, 1}});
    }
};

void expect_sound(Level& level, const LevelHost& host = {}) {
    for (const GroupId id : level.groups()) {
        const Body body = level.group(id)->body;
        const Quat q = body.pose().rotation;
        EXPECT_TRUE(is_finite(body.pose().position) && is_finite(body.velocity()) && is_finite(body.spin()));
        EXPECT_NEAR(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w, 1, 1e-3);
    }
    const auto again = restore_snapshot(take_snapshot(level), host);  // refuses what is not finite
    EXPECT_TRUE(again.ok()) << again.error().message;
#ifdef TALUS_HAS_STORE
    const TemporaryFolder folder;
    const auto saved = save_level(level, folder.file("a"));
    EXPECT_TRUE(saved.ok()) << saved.error().message;
    const auto loaded = load_level(folder.file("a"));
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    EXPECT_TRUE(!loaded.ok() || (*loaded)->groups() == level.groups());
#endif
}

class Case22Ways : public testing::TestWithParam<Way> {};

TEST_P(Case22Ways, TheLevelGoesOn) {
    Scene calm, hit;
    RecordBuffer buffer;
    start_recording(hit.level, buffer);
    LevelEncoder encoder;
    ClientWorld page;
    for (int i = 0; i < 60; i++) {
        for (Level* level : {&calm.level, &hit.level}) level->tick();
        if (i == 4 || i == 30) {  // in the air; then perhaps at rest, or frozen before
            if (hit.level.exists(hit.bar))
                GetParam().inject(hit.level, hit.bar, hit.level.group(hit.bar)->body);
            const auto snapshot = restore_snapshot(take_snapshot(hit.level));
            EXPECT_TRUE(snapshot.ok()) << "before a step looked at it: " << snapshot.error().message;
        }
        const auto error = page.receive(
            i == 0 ? encoder.full_state(hit.level, 0) : encoder.tick_message(hit.level, 0), i * 0.05);
        EXPECT_FALSE(error) << error->message;  // a page refuses numbers that are none
        if (i % 10 == 5) expect_sound(hit.level);
        hit.level.clear_events();
        ASSERT_TRUE(hit.level.exists(hit.other));
        const Body free = calm.level.group(calm.other)->body, beside = hit.level.group(hit.other)->body;
        ASSERT_EQ(free.pose().position, beside.pose().position) << "tick " << i;
        ASSERT_EQ(free.velocity(), beside.velocity());
    }
    // What was given is in the recording as it was given, and gives the same again.
    const ReplayReport report = replay(buffer.bytes);
    EXPECT_EQ(report.outcome, ReplayReport::Outcome::same) << report.what << report.error.message;
    EXPECT_EQ(report.hash, hit.level.hash());
    EXPECT_GT(report.calls, 0u);
}

INSTANTIATE_TEST_SUITE_P(Ways, Case22Ways, testing::ValuesIn(kWays), [](const auto& info) {
    std::string name = info.param.name;
    for (char& c : name) c = c == ' ' ? '_' : c;
    return name;
});

}  // namespace
}  // namespace talus
