// Every scene of scenes/collapse_scene.h stands until its action, and then comes down the way its title says.
#include "scenes/collapse_scene.h"
#include "record_failures.h"

#include <gtest/gtest.h>

#include <map>

namespace talus {

void PrintTo(const CollapseScene& scene, std::ostream* out) { *out << scene.name; }

namespace {

struct Play {
    Level level{collapse_scene_settings()};
    const CollapseScene& scene;
    int acted = 0;
    std::size_t bonds_broken = 0, impacts = 0;
    RecordFailures record{level};

    explicit Play(const char* name) : scene(*find_collapse_scene(name)) { scene.build(level); }
    void ticks(int count) {
        for (int i = 0; i < count; i++) {
            level.tick();
            for (const LevelEvent& e : level.events()) {
                bonds_broken += e.kind == LevelEvent::Kind::bonds_broken;
                impacts += e.kind == LevelEvent::Kind::impact;
            }
            level.clear_events();
        }
    }
    void act(int ticks_of_it) {
        for (int end = acted + ticks_of_it; acted < end; acted++) {
            if (acted < scene.action_ticks) scene.act(level, acted);
            ticks(1);
        }
    }
    void act_to_the_end() { act(scene.ticks - acted); }
    std::size_t in_structures() {
        std::size_t blocks = 0;
        for (const StructureId id : level.structures()) blocks += level.structure(id)->grid->block_count();
        return blocks;
    }
    std::size_t blocks() { return level.stats().blocks + level.terrain().block_count(); }
    double top() {
        double y = 0;
        for (const GroupId id : level.groups()) y = std::max(y, level.group(id)->body.bounds().max.y);
        return y;
    }
    /// The same of what is wider than a pillar.
    double top_of_wide() {
        double y = 0;
        for (const GroupId id : level.groups()) {
            const DBox box = level.group(id)->body.bounds();
            if (box.max.x - box.min.x > 4 || box.max.z - box.min.z > 4) y = std::max(y, box.max.y);
        }
        return y;
    }
    float up_of(GroupId id) { return level.group(id)->body.direction_to_world({0, 1, 0}).y; }
    std::vector<Pose> poses() {
        std::vector<Pose> out;
        for (const GroupId id : level.groups()) out.push_back(level.group(id)->pose);
        return out;
    }
    /// Of the mass of all groups.
    double mean_height() {
        double sum = 0, mass = 0;
        for (const GroupId id : level.groups()) {
            const Body b = level.group(id)->body;
            sum += double(b.mass()) * b.center_of_mass().y;
            mass += double(b.mass());
        }
        return sum / mass;
    }
};

/// Stands until its action, and afterwards loses no block uncounted.
void stand_and_fall(Play& play) {
    const std::size_t blocks = play.blocks(), terrain = play.level.terrain().block_count();
    ASSERT_GT(blocks, 100u);
    for (const GroupId id : play.level.groups()) play.level.check_structure_soon(id);
    for (const StructureId id : play.level.structures()) play.level.check_structure_soon(id);
    play.ticks(1);
    const auto poses = play.poses();
    play.ticks(60);
    EXPECT_EQ(play.poses(), poses) << "nothing moves";
    EXPECT_EQ(play.level.stats().destroyed, 0u);
    EXPECT_EQ(play.level.terrain().block_count(), terrain);
    const std::size_t before = play.level.stats().blocks + terrain;
    play.act_to_the_end();
    const LevelStats after = play.level.stats();
    EXPECT_EQ(after.blocks + play.level.terrain().block_count() + after.destroyed, before);
    EXPECT_LE(after.awake, after.groups / 2 + 4) << "most has come to rest";
}

class CollapseScenes : public testing::TestWithParam<CollapseScene> {};

TEST_P(CollapseScenes, StandsUntilItsActionAndThenLosesNoBlockUncounted) {
    Play play(GetParam().name);
    stand_and_fall(play);
}

// The last one, the town, has a test of its own: it takes its time.
INSTANTIATE_TEST_SUITE_P(All, CollapseScenes,
                         testing::ValuesIn(collapse_scenes().begin(), collapse_scenes().end() - 1),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(CollapseScene, TheTowerFallsOverLikeATree) {
    Play play("tower");
    const GroupId tower = play.level.groups().front();
    do {
        play.act(1);
        ASSERT_TRUE(play.level.exists(tower));
    } while (play.up_of(tower) > 0.5f && play.acted < 120);
    EXPECT_LE(play.up_of(tower), 0.5f) << "it leans by 60 degrees before it meets the ground";
    EXPECT_GT(play.level.group(tower)->grid->block_count(), 600u);
    EXPECT_LT(play.level.group(tower)->body.center_of_mass().x, -6) << "towards the side of the charge";
    play.act_to_the_end();
    EXPECT_LT(play.top(), 12);
    EXPECT_GT(play.level.stats().groups, 25u) << "it breaks there";
}

TEST(CollapseScene, TheBalconyFallsBeforeItsLastBlockIsMined) {
    Play play("balcony");
    const std::size_t all = play.in_structures();
    play.act(play.scene.action_ticks / 2);
    EXPECT_GT(play.bonds_broken, 0u);
    EXPECT_GT(play.level.stats().blocks, 40u);
    play.act_to_the_end();
    EXPECT_LT(play.top(), 4) << "it lies on the ground";
    EXPECT_GE(play.in_structures(), all - 14 * 5 - 5) << "the house stands";
}

TEST(CollapseScene, EachFloorBringsDownTheNext) {
    Play play("floors");
    const std::size_t pillars = 4 * 42;
    play.act_to_the_end();
    EXPECT_GE(play.in_structures(), pillars / 2) << "what falls may knock one over";
    EXPECT_LE(play.in_structures(), pillars + 8) << "stumps of brackets";
    EXPECT_GE(play.bonds_broken, 4u);
    EXPECT_GE(play.impacts, 4u);
    EXPECT_LT(play.top_of_wide(), 12) << "no floor hangs between the pillars";
}

TEST(CollapseScene, TheBridgeFallsIntoTheValleyAndItsStubStays) {
    Play play("bridge");
    play.act(1);
    EXPECT_EQ(play.level.stats().blocks, 0u);
    play.act_to_the_end();
    EXPECT_GT(play.level.stats().blocks, 60u);
    EXPECT_LT(play.top(), 10);
    EXPECT_GT(play.in_structures(), 40u);
}

TEST(CollapseScene, EveryHouseIsBroughtDownByTheOneBefore) {
    Play play("houses");
    const std::vector<GroupId> houses = play.level.groups();
    ASSERT_EQ(houses.size(), 6u);
    std::map<std::size_t, int> leaning_since;
    while (play.acted < play.scene.ticks) {
        play.act(1);
        for (std::size_t i = 0; i < houses.size(); i++)
            if (play.level.exists(houses[i]) && play.up_of(houses[i]) < 0.98f)
                leaning_since.emplace(i, play.acted);
    }
    ASSERT_EQ(leaning_since.size(), houses.size());
    for (std::size_t i = 1; i < houses.size(); i++)
        EXPECT_GT(leaning_since[i], leaning_since[i - 1] + 5) << i;
    EXPECT_LT(play.up_of(houses.back()), 0.3f) << "the last one lies";
}

TEST(CollapseScene, TheShipTurnsOver) {
    Play play("ship");
    play.act(1);
    const GroupId ship = play.level.groups().front();
    float least = 1;
    while (play.acted < play.scene.ticks) {
        play.act(1);
        ASSERT_TRUE(play.level.exists(ship));
        least = std::min(least, play.up_of(ship));
    }
    EXPECT_LT(least, -0.5f) << "keel up on the way";
    EXPECT_GT(play.level.group(ship)->body.center_of_mass().x, 8) << "over three of its five steps at least";
}

TEST(CollapseScene, TheFirstBlastOnlyWears) {
    Play play("wear");
    play.act(40);
    EXPECT_EQ(play.level.stats().destroyed, 0u);
    EXPECT_EQ(play.level.stats().groups, 1u);
    EXPECT_EQ(play.level.stats().awake, 0u);
    const GroupId tower = play.level.groups().front();
    const double height = play.mean_height();
    for (const int x : {0, 6}) EXPECT_NEAR(play.level.wear_of(tower, {x, 2, 0}), 0.496f, 0.01f);
    play.act(1);
    EXPECT_GE(play.level.stats().destroyed, 6u) << "three blocks of each leg";
    play.act_to_the_end();
    EXPECT_LT(play.mean_height(), height - 3) << "it fell farther than its legs got shorter";
}

TEST(CollapseScene, TheTownIsInRuins) {
    Play play("town");
    const std::size_t all = play.in_structures();
    stand_and_fall(play);
    EXPECT_GT(play.level.stats().destroyed, all / 10);
    EXPECT_LT(play.in_structures(), all * 2 / 3);
    EXPECT_GT(play.level.stats().groups, 200u);
}

}  // namespace
}  // namespace talus
