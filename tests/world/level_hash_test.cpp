// Level::hash() tells apart all that makes a level's future, and nothing else.
#include "blocks_level.h"

#include "talus/snapshot.h"

#include <functional>
#include <set>

namespace talus {
namespace {

struct Start : BlocksLevel {
    GroupId id;
    StructureId structure;
    Start() {
        fill({{0, 0, 0}, {0, 4, 0}}, stone);
        structure = level.mark_structure(CellBox{{0, 0, 0}, {0, 4, 0}});
        Grid g = grid();
        fill(g, {{0, 0, 0}, {3, 0, 0}}, stone);
        id = level.add_group(std::move(g), {.pose = {{9, 0, 0}, {}}, .asleep = true});
        level.set_smooth_terrain(nullptr, glass);
        level.tick();
    }
};

TEST(LevelHash, EveryKindOfChangeShows) {
    const std::function<void(Start&)> changes[] = {
        [](Start&) {},
        [](Start& s) { s.level.tick(); },
        [](Start& s) {
            s.level.set_terrain({20, 0, 0}, s.stone);
        },
        [](Start& s) {
            s.level.set_terrain({20, 0, 0}, s.glass);
        },
        [](Start& s) {
            s.level.set_terrain({0, 20, 0}, s.glass);
        },
        [](Start& s) { s.level.unmark_structure(s.structure); },
        [](Start& s) { s.level.check_structure_soon(s.structure); },
        [](Start& s) { s.level.set_structure_mode(s.structure, StructureMode::physical); },
        [](Start& s) {
            s.level.wear_down(Cell{0, 1, 0}, 0.1f);
        },
        [](Start& s) {
            s.level.wear_down(Cell{0, 1, 0}, 0.2f);
        },
        [](Start& s) {
            s.level.wear_down(s.id, {0, 0, 0}, 0.1f);
        },
        [](Start& s) {
            s.level.remove_block(s.id, {3, 0, 0});
        },
        [](Start& s) {
            s.level.place_block(s.id, {4, 0, 0}, s.stone);
        },
        [](Start& s) { s.level.remove_group(s.id); },
        [](Start& s) { s.level.set_debris(s.id, 50); },
        [](Start& s) {
            s.level.group(s.id)->body.set_velocity({0, 1, 0});
        },
        [](Start& s) { s.level.group(s.id)->body.sleep(); },
        [](Start& s) { s.level.group(s.id)->body.set_friction(0.1f); },
        [](Start& s) {
            s.level.protect({{0, 0, 0}, {1, 1, 1}});
        },
        [](Start& s) {
            s.level.protect({{0, 0, 0}, {1, 1, 2}});
        },
        [](Start& s) {
            s.level.fill({40, 0, 0}, 2);
        },
        [](Start& s) {
            s.level.fill({40, 0, 0}, 2.5f);
        },
        [](Start& s) { s.level.table().add(*find_real_material("steel")); },
        [](Start& s) { s.level.space().add_body(BodyShape::sphere(1), {}); },
        [](Start& s) {
            LevelSettings other = s.level.settings();
            other.work_per_tick = 9;
            s.level.change_settings(other);
        },
    };
    std::set<std::uint64_t> seen;
    for (std::size_t i = 0; i < std::size(changes); i++) {
        Start one, again;
        changes[i](one);
        changes[i](again);
        EXPECT_EQ(one.level.hash(), again.level.hash()) << i;
        EXPECT_TRUE(seen.insert(one.level.hash()).second) << "change " << i << " does not show";
        auto restored = restore_snapshot(take_snapshot(one.level));
        ASSERT_TRUE(restored.ok()) << i << restored.error().message;
        EXPECT_EQ((*restored)->hash(), one.level.hash()) << i;
    }
}

TEST(LevelHash, TheWayThereDoesNotShow) {
    Start a, b;
    for (int i = 0; i < 30; i++) a.level.set_terrain({30 + i, i % 7, 0}, i % 2 ? a.stone : a.glass);
    for (int i = 29; i >= 0; i--) {
        b.level.set_terrain({30 + i, i % 7, 0}, b.stone);
        b.level.set_terrain({30 + i, i % 7, 0}, i % 2 ? b.stone : b.glass);
    }
    EXPECT_EQ(a.level.hash(), b.level.hash());
    a.level.clear_events();
    a.level.stats();
    EXPECT_EQ(a.level.hash(), b.level.hash()) << "reading changes nothing";
}

TEST(LevelHash, ContentOfAGridIsKeptUpToDate) {
    BlocksLevel b;
    Grid one(b.level.table()), other(b.level.table());
    EXPECT_EQ(one.content_hash(), other.content_hash());
    one.set({1, 2, 3}, b.stone);
    const std::uint64_t first = one.content_hash();
    one.set({70, -9, 3}, b.glass);
    EXPECT_NE(one.content_hash(), first);
    other.set({70, -9, 3}, b.stone);
    other.set({70, -9, 3}, b.glass);
    other.set({1, 2, 3}, b.stone);
    EXPECT_EQ(one.content_hash(), other.content_hash());
    Grid copy = one;
    copy.clear({70, -9, 3});
    EXPECT_EQ(copy.content_hash(), first);
    EXPECT_EQ(Grid(std::move(copy)).content_hash(), first);
    one.set({1, 2, 3}, b.glass);
    EXPECT_NE(one.content_hash(), other.content_hash()) << "another block";
}

}  // namespace
}  // namespace talus
