// What the rules of destruction keep of a level comes through a save: types, debris, protected regions,
// drops, settings changed at runtime.
#include "talus/group_type.h"
#include "tests/store/build_level.h"
#include "world/level_state.h"

namespace talus {
namespace {

/// Weak, and counted.
class Paper final : public GroupType {
 public:
    std::string_view name() const override { return "paper"; }
    float bond_strength(const GroupView&, Cell, float usual) const override { return usual * 1e-3f; }
    void on_awake(Level&, GroupId) override { ticks++; }
    int ticks = 0;
};

TEST(StoreRules, RoundTripKeepsWhatTheRulesKnow) {
    const TemporaryFolder folder;
    Paper paper, again;
    LevelSettings settings;
    settings.ground = 0;
    Level level(settings);
    level.add_group_type(paper);
    const BlockId stone = level.table().add(blockgame_stone());
    settings.structures_grow = false;
    settings.debris_max_groups = 7;
    settings.collapse_max_pieces = 5;
    settings.collapse_max_blocks = 99;
    settings.beyond_cap = BeyondCap::stay;
    settings.work_per_tick = 12345;
    level.change_settings(settings);

    Grid tower(level.table());
    fill(tower, {{0, 0, 0}, {1, 5, 1}}, stone);
    GroupSettings group;
    group.bears_load = true;
    group.structure_mode = StructureMode::physical;
    group.type = "paper";
    const GroupId id = level.add_group(std::move(tower), group);
    level.set_debris(id, 4321);
    for (int y = 0; y < 4; y++) level.set_terrain({9, y, 0}, stone);
    MarkSettings mark;
    mark.type = "paper";
    const StructureId structure = level.mark_structure(CellBox{{9, 0, 0}, {9, 3, 0}}, mark);
    level.unprotect(level.protect({{50, 0, 0}, {60, 9, 9}}));
    const std::uint32_t kept = level.protect({{9, 0, 0}, {10, 1, 1}});
    level.protect({{-1, -1, -1}, {0.1, 0.1, 0.1}});
    for (int i = 0; i < 3; i++) level.set_terrain({20 + i, 0, 0}, stone);
    for (int i = 0; i < 3; i++) level.break_terrain({20 + i, 0, 0});  // mined: they drop
    level.tick();
    ASSERT_EQ(level.stats().drops, 3u);
    ASSERT_TRUE(save_level(level, folder.file("a")));

    GroupType* const types[] = {&again};
    LevelHost host;
    host.types = types;
    const auto loaded = load_level(folder.file("a"), host);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    Level& back = **loaded;
    EXPECT_EQ(back.stats().drops, 3u);
    EXPECT_EQ(back.settings().structures_grow, false);
    EXPECT_EQ(back.settings().debris_max_groups, 7);
    EXPECT_EQ(back.settings().collapse_max_pieces, 5);
    EXPECT_EQ(back.settings().collapse_max_blocks, 99);
    EXPECT_EQ(back.settings().beyond_cap, BeyondCap::stay);
    EXPECT_EQ(back.settings().work_per_tick, 12345);
    const Group &a = *level.state().find(id), &b = *back.state().find(id);
    EXPECT_EQ(b.mode, a.mode);
    EXPECT_EQ(b.debris_ticks, 4321);
    EXPECT_EQ(b.is_debris, a.is_debris);
    EXPECT_EQ(back.group(id)->type, &again);
    EXPECT_EQ(back.state().find(structure)->type(), &again);
    back.group(id)->body.activate();
    back.tick();
    EXPECT_GT(again.ticks, 0) << "its hooks are called";

    // Protected is what was, and new regions get the same numbers.
    EXPECT_FALSE(back.break_terrain({9, 0, 0}));
    EXPECT_TRUE(back.break_terrain({9, 3, 0}));
    back.unprotect(kept);
    EXPECT_TRUE(back.break_terrain({9, 0, 0}));
    EXPECT_EQ(level.protect({{1, 1, 1}, {2, 2, 2}}), back.protect({{1, 1, 1}, {2, 2, 2}}));

    // Without the type, its groups are plain until it is there.
    const auto plain = load_level(folder.file("a"));
    ASSERT_TRUE(plain.ok());
    EXPECT_EQ((*plain)->group(id)->type, nullptr);
    Paper late;
    (*plain)->add_group_type(late);
    EXPECT_EQ((*plain)->group(id)->type, &late);
}

}  // namespace
}  // namespace talus
