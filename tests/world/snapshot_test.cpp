// A level that was restored goes on exactly as the one it was taken from, to the last byte of a later
// snapshot.
#include "talus/snapshot.h"

#include "destruction_script.h"
#include "scenes/collapse_scene.h"
#include "world/level_state.h"
#include "world/snapshot.h"
#include "world/structure_check.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace talus {

namespace {

using Bytes = std::vector<std::uint8_t>;

std::unique_ptr<Level> restored(const Bytes& bytes, const LevelHost& host = {}) {
    Result<std::unique_ptr<Level>> made = restore_snapshot(bytes, host);
    if (!made) {
        ADD_FAILURE() << made.error().message;
        return nullptr;
    }
    return std::move(*made);
}

/// A moment at which nothing changed is worth nothing: the caller counts what a level went through.
struct Seen {
    int asleep = 0, awake = 0, contacts = 0, checks = 0, worn = 0, debris = 0, dirty = 0;
    void look(Level& level) {
        for (const auto& slot : level.state().slots) {
            if (!slot) continue;
            (slot->body.is_asleep() ? asleep : awake)++;
            checks += slot->check != nullptr;
            worn += !slot->wear.empty();
            debris += slot->is_debris;
            dirty += !slot->changes.empty();
        }
        for (const auto& slot : level.state().structure_slots)
            if (slot) checks += slot->check != nullptr;
        contacts += int(level.space().contacts().size());
    }
};

/// A level of a scene, before a tick.
void advance(Level& level, const CollapseScene& scene, int tick) {
    if (tick < scene.action_ticks) scene.act(level, tick);
    level.tick();
    level.clear_events();
}

class SnapshotOfScene : public testing::TestWithParam<const CollapseScene*> {};

TEST_P(SnapshotOfScene, GoesOnWithTheSameBits) {
    const CollapseScene& scene = *GetParam();
    const bool big = std::string(scene.name).find("town") != std::string::npos;
    Level level(collapse_scene_settings()), alone(collapse_scene_settings());
    scene.build(level);
    scene.build(alone);
    Seen seen;
    struct Copy {
        std::unique_ptr<Level> level;
        int until;
    };
    std::vector<Copy> copies;
    for (int i = 0; i < scene.ticks && i < (big ? 240 : 1000); i++) {
        SCOPED_TRACE(testing::Message() << "tick " << i);
        for (Copy& c : copies) advance(*c.level, scene, i);
        advance(level, scene, i);
        advance(alone, scene, i);
        const std::uint64_t hash = level.hash();
        ASSERT_EQ(hash, alone.hash()) << "snapshots changed the level they were taken of";
        for (Copy& c : copies) ASSERT_EQ(hash, c.level->hash());
        // A copy whose time is up must be the same to the last byte.
        if (!copies.empty() && copies.front().until == i) {
            ASSERT_TRUE(take_snapshot(level) == take_snapshot(*copies.front().level))
                << "something besides poses and blocks differs";
            copies.erase(copies.begin());
        }
        if (big ? i % 60 != 7 : !(i < 6 || i % 17 == 3)) continue;
        seen.look(level);
        const Bytes bytes = take_snapshot(level);
        ASSERT_TRUE(bytes == take_snapshot(level)) << "taking one changed the level";
        copies.push_back({restored(bytes), i + (big ? 30 : 80)});
        ASSERT_TRUE(copies.back().level);
        ASSERT_EQ(hash, copies.back().level->hash());
        ASSERT_TRUE(bytes == take_snapshot(*copies.back().level));
    }
    EXPECT_GT(seen.awake, 0);
    EXPECT_GT(seen.contacts, 0);
}

std::vector<const CollapseScene*> all_scenes() {
    std::vector<const CollapseScene*> out;
    for (const CollapseScene& s : collapse_scenes()) out.push_back(&s);
    return out;
}
INSTANTIATE_TEST_SUITE_P(Collapse, SnapshotOfScene, testing::ValuesIn(all_scenes()), [](const auto& info) {
    std::string name = info.param->name;
    for (char& c : name) c = c == ' ' ? '_' : c;
    return name;
});

/// Types of groups, protected regions, caps, a budget with work left over, drops: the same proof, from every
/// tick.
TEST(SnapshotOfRules, GoesOnWithTheSameBits) {
    using Script = DestructionScript;
    BrittleType brittle;
    FewPlayers players;
    GroupType* const types[] = {&brittle};
    LevelHost host;
    host.types = types;
    host.blast_targets = &players;
    Level level(Script::settings());
    lend(level, host);
    Script::build(level);
    Seen seen;
    int of_type = 0, of_nobody = 0, refused = 0, late = 0, wishes = 0, own_debris = 0, regions = 0,
        at_work = 0;
    struct Copy {
        std::unique_ptr<Level> level;
        int until;
    };
    std::vector<Copy> copies;
    const auto advance = [](Level& one, int tick) {
        Script::act(one, tick);
        one.tick();
        one.clear_events();
    };
    for (int i = 0; i < Script::kTicks; i++) {
        SCOPED_TRACE(testing::Message() << "tick " << i);
        for (Copy& c : copies) advance(*c.level, i);
        advance(level, i);
        for (Copy& c : copies) ASSERT_EQ(level.hash(), c.level->hash());
        const Bytes bytes = take_snapshot(level);
        if (!copies.empty() && copies.front().until == i) {
            ASSERT_TRUE(bytes == take_snapshot(*copies.front().level));
            copies.erase(copies.begin());
        }
        LevelState& state = level.state();
        seen.look(level);
        refused += state.work_from != 0;
        regions += !state.protected_regions.empty();
        at_work += !state.structures_at_work.empty();
        auto look = [&](const Build& b) {
            of_type += b.type() != nullptr;
            of_nobody += b.kind && !b.type();
            late += b.check && b.check->due_tick <= level.stats().tick;
            wishes += b.check_wanted;
        };
        for (const auto& slot : state.slots)
            if (slot) {
                look(*slot);
                own_debris += slot->debris_ticks >= 0;
            }
        for (const auto& slot : state.structure_slots)
            if (slot) look(*slot);
        if (i >= 70 && i % 9 != 0) continue;
        copies.push_back({restored(bytes, host), i + 45});
        ASSERT_TRUE(copies.back().level);
        ASSERT_TRUE(bytes == take_snapshot(*copies.back().level));
    }
    const std::pair<const char*, int> went_through[] = {
        {"asleep", seen.asleep}, {"awake", seen.awake},     {"checks", seen.checks},     {"worn", seen.worn},
        {"debris", seen.debris}, {"type", of_type},         {"unknown type", of_nobody}, {"refused", refused},
        {"late", late},          {"wishes", wishes},        {"set_debris", own_debris},  {"regions", regions},
        {"at work", at_work},    {"pushes", players.pushes}};
    for (const auto& [what, times] : went_through) EXPECT_GT(times, 0) << what;
    EXPECT_GT(level.stats().drops, 0u);
}

}  // namespace
}  // namespace talus
