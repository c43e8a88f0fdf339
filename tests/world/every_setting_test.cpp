// Settings of a level that no other test changes, each with an effect that would not be there without it;
// what a profiler is told; a tick from inside of a tick.
#include "blocks_level.h"
#include "talus/snapshot.h"
#include "tests/log_lines.h"
#include "world/archive.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace talus {
namespace {

/// How long an arm of stones over a post still stands. @return the longest
int longest_arm(const LevelSettings& settings, int from, int to) {
    int longest = -1;
    for (int reach = from; reach <= to; reach++) {
        BlocksLevel b(settings);
        const GroupId id = b.level.add_group(b.crane(reach), {.bears_load = true, .asleep = true});
        b.level.check_structure_soon(id);
        b.run(3);
        if (b.level.groups().size() == 1) longest = reach;
    }
    return longest;
}

TEST(EverySetting, StrengthFactorIsOnEveryBond) {
    LevelSettings s = flat_ground();
    EXPECT_EQ(longest_arm(s, 49, 53), 51);
    s.strength_factor = 0.5f;  // 20,000 kg: 25 stones of 775
    EXPECT_EQ(longest_arm(s, 23, 27), 25);
    s.strength_factor = 1;
    s.structure.sideways_capacity *= 0.5;
    EXPECT_EQ(longest_arm(s, 23, 27), 25) << "the capacity alone does the same to an arm";
}

/// Two blocks of 1,250 kg hit a wall at 8 m/s.
struct Hit {
    BlocksLevel b;
    GroupId id;
    explicit Hit(const LevelSettings& settings) : b(settings) {
        Material heavy = blockgame_stone();
        heavy.name = "heavy";
        heavy.density = 1250;
        const BlockId block = b.level.table().add(heavy);
        for (int y = -2; y <= 2; y++)
            for (int z = -2; z <= 2; z++) b.level.set_terrain({10, y, z}, b.bedrock);
        Grid g = b.grid();
        b.fill(g, {{0, 0, 0}, {1, 0, 0}}, block);
        id = b.level.add_group(std::move(g),
                               {.pose = {{7, 0, 0}, {}}, .velocity = {8, 0, 0}, .bears_load = true});
        b.run(8);
    }
};

TEST(EverySetting, StrengthFactorIsAgainstHits) {
    for (const float factor : {0.5f, 1.0f, 2.0f}) {
        LevelSettings s = no_gravity();
        s.strength_factor = factor;
        const Hit hit(s);
        EXPECT_NEAR(hit.b.level.wear_of(hit.id, {1, 0, 0}), 1 / (6 * factor), 0.01f) << factor;
    }
}

TEST(EverySetting, ImpactSpeedIsWhereWearBegins) {
    for (const float begins : {7.0f, 4.0f, 9.0f}) {
        LevelSettings s = no_gravity();
        s.impact_speed = begins;
        const Hit hit(s);
        const float expected = begins < 8 ? (8 - begins) / 6 : 0;
        EXPECT_NEAR(hit.b.level.wear_of(hit.id, {1, 0, 0}), expected, 0.01f) << begins;
        EXPECT_EQ(hit.b.events(LevelEvent::Kind::impact).empty(), begins > 8) << begins;
    }
}

TEST(EverySetting, DebrisMaxBlocksIsWhatCountsAsDebris) {
    for (const int most : {0, 2, 3, 9}) {
        LevelSettings s = flat_ground();
        s.debris_max_blocks = most;
        BlocksLevel b(s);
        Grid g = b.grid();
        b.fill(g, {{0, 0, 0}, {18, 0, 0}}, b.stone);
        for (const int x : {10, 14}) g.set({x, 0, 0}, b.glass);  // between them are 3, behind them 4
        b.level.add_group(std::move(g), {.asleep = true});
        for (const int x : {10, 14}) EXPECT_EQ(b.level.blast({x + 0.5, 0.5, 0.5}, 0.5f), 1u);
        b.run(1);
        ASSERT_EQ(b.sizes(), (std::vector<std::size_t>{3, 4, 10}));
        for (const GroupId id : b.level.groups())
            EXPECT_EQ(b.level.group(id)->is_debris, b.blocks(id) <= std::size_t(most)) << most;
    }
}

TEST(EverySetting, StructureMaxTiltSkipsWhatLeansMore) {
    for (const float most : {10.0f, 40.0f}) {
        LevelSettings s = no_gravity();
        s.structure_max_tilt = most;
        BlocksLevel b(s);
        // A ledge under it, so that there is a support however it leans.
        b.fill({{-3, -3, -3}, {3, -1, 3}}, b.stone);
        const GroupId id = b.level.add_group(
            b.crane(56),
            {.pose = {{0, 0, 0}, axis_angle({1, 0, 0}, 0.35f)}, .bears_load = true, .asleep = true});
        b.level.check_structure_soon(id);
        b.run(3);
        EXPECT_EQ(b.level.groups().size() > 1, most > 20) << "it leans by 20 degrees";
    }
}

TEST(EverySetting, TheFloorIsTheHeightBelowWhichGroupsGo) {
    for (const double floor : {0.0, -100.0, 30.0}) {
        for (const float cell : {1.0f, 0.5f}) {
            LevelSettings s = no_gravity();
            s.floor = floor;
            s.cell_size = cell;
            BlocksLevel b(s);
            const auto block = [&](double y) {
                Grid g = b.grid();
                g.set({0, 0, 0}, b.stone);
                return b.level.add_group(std::move(g), {.pose = {{0, y, 0}, {}}});
            };
            const double limit = floor - 64 * double(cell);
            const GroupId above = block(limit + 2), below = block(limit - 2);
            b.level.clear_events();
            b.run(2);
            EXPECT_TRUE(b.level.exists(above)) << floor << cell;
            EXPECT_FALSE(b.level.exists(below)) << floor << cell;
            EXPECT_EQ(b.level.stats().fallen_out, 1u);
            EXPECT_EQ(b.level.stats().destroyed, 1u);
            const auto gone = b.events(LevelEvent::Kind::group_removed);
            ASSERT_EQ(gone.size(), 1u);
            EXPECT_EQ(gone[0].group, below);
        }
    }
}

TEST(EverySetting, TicksPerSecondIsTheLengthOfATick) {
    for (const int rate : {10, 20, 60}) {
        LevelSettings s;
        s.ticks_per_second = rate;
        s.floor = -1e6;
        BlocksLevel b(s);
        Grid g = b.grid();
        g.set({0, 0, 0}, b.stone);
        const GroupId id = b.level.add_group(std::move(g), {});
        b.run(rate);  // a second
        EXPECT_NEAR(b.level.group(id)->pose.position.y, -9.81 / 2, 0.05) << rate;
        EXPECT_NEAR(b.level.group(id)->body.velocity().y, -9.81, 0.01) << rate;
    }
}

TEST(EverySetting, StructuresGrowByWhatIsSetBesideThem) {
    for (const bool grow : {true, false}) {
        LevelSettings s = flat_ground();
        s.structures_grow = grow;
        BlocksLevel b(s);
        b.fill({{0, 0, 0}, {0, 3, 0}}, b.stone);
        const StructureId id = b.level.mark_structure(CellBox{{0, 0, 0}, {0, 3, 0}});
        b.level.set_terrain({0, 4, 0}, b.stone);
        EXPECT_EQ(b.level.structure(id)->grid->block_count(), grow ? 5u : 4u);
        EXPECT_EQ(b.level.structure_at({0, 4, 0}).has_value(), grow);
    }
}

/// The seed draws the drops, and nothing else.
TEST(EverySetting, TheSeedDrawsTheDrops) {
    std::map<std::vector<int>, int> draws;
    for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
        for (int again = 0; again < 2; again++) {
            LevelSettings s = flat_ground();
            s.seed = seed;
            BlocksLevel b(s);
            b.fill({{0, 0, 0}, {4, 1, 4}}, b.glass);
            const std::size_t gone = b.level.blast({2.5, 2.5, 2.5}, 4);
            EXPECT_EQ(gone, 50u);
            std::vector<int> dropped;
            for (const LevelEvent& e : b.events(LevelEvent::Kind::drop))
                dropped.push_back(e.cell.x + 100 * e.cell.y + 10'000 * e.cell.z +
                                  int(100 * (e.point.x + 10 * e.point.y + 100 * e.point.z)));
            draws[dropped]++;
        }
    }
    EXPECT_EQ(draws.size(), 4u) << "each seed its own";
    for (const auto& [dropped, times] : draws) EXPECT_EQ(times, 2) << "and always the same";
}

struct Zones : ProfileSink {
    std::vector<std::string> inside;
    std::map<std::string, int> entered;
    void enter(const char* zone) override {
        inside.emplace_back(zone);
        entered[zone]++;
    }
    void leave() override {
        ASSERT_FALSE(inside.empty());
        inside.pop_back();
    }
};

TEST(EverySetting, AProfilerIsToldOfEachStepOfATick) {
    Zones zones;
    LevelSettings s = flat_ground();
    s.profile = &zones;
    BlocksLevel b(s);
    b.level.add_group(b.crane(5), {.bears_load = true});
    b.level.set_smooth_terrain(nullptr, b.stone);
    b.run(3);
    EXPECT_TRUE(zones.inside.empty());
    for (const char* zone : {"wear by impacts", "hold together", "split loose parts", "creep to sleep",
                             "structure", "structures of the terrain", "smooth terrain", "physics"})
        EXPECT_GE(zones.entered[zone], 3) << zone;
    EXPECT_EQ(zones.entered["physics"], 3);
    EXPECT_EQ(zones.entered.count("terrain of the host"), 0u);
}

struct TicksInside : GroupType {
    int times = 0;
    std::string_view name() const override { return "ticks inside"; }
    void on_awake(Level& level, GroupId) override {
        times++;
        level.tick();
    }
};

TEST(EverySetting, ATickInsideOfATickDoesNothing) {
    LogLines log;
    LevelSettings s = flat_ground();
    s.log = &log;
    BlocksLevel b(s);
    TicksInside type;
    b.level.add_group_type(type);
    Grid g = b.grid();
    g.set({0, 0, 0}, b.stone);
    b.level.add_group(std::move(g), {.pose = {{0, 9, 0}, {}}, .type = "ticks inside"});
    b.run(5);
    EXPECT_EQ(type.times, 5);
    EXPECT_EQ(b.level.stats().tick, 5u);
    EXPECT_TRUE(log.has("a tick inside of a tick"));
}

}  // namespace
}  // namespace talus
