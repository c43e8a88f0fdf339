// Case 4: a group with a tail that weighs nothing loses the block between: one solid group stays, the tail is
// discarded, and stepping and saving go on.
#include "tests/temporary_folder.h"
#include "tests/world/blocks_level.h"

#include "talus/snapshot.h"
#ifdef TALUS_HAS_STORE
#include "talus/store.h"
#endif

#include <cmath>

namespace talus {
namespace {

/// Something solid of no weight at all.
BlockId nothing(BlocksLevel& b, float density) {
    Material m = blockgame_stone();
    m.name = "nothing";
    m.density = density;
    return b.level.table().add(m);
}

void go_on(BlocksLevel& b) {
    for (int i = 0; i < 60; i++) {
        b.run(1);
        for (GroupId id : b.level.groups()) {
            const auto view = *b.level.group(id);
            ASSERT_TRUE(is_finite(view.pose.position));
            ASSERT_TRUE(is_finite(view.body.velocity()));
            ASSERT_GT(view.body.mass(), 0);
        }
    }
    auto again = restore_snapshot(take_snapshot(b.level));
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ((*again)->hash(), b.level.hash());
#ifdef TALUS_HAS_STORE
    const TemporaryFolder folder;
    const std::string path = folder.file("level.save");
    ASSERT_TRUE(save_level(b.level, path).ok());
    auto loaded = load_level(path);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    EXPECT_EQ((*loaded)->hash(), b.level.hash());
#endif
}

TEST(Regress, Case04AMasslessTailIsDiscardedAndAllGoesOn) {
    for (const Cause cause : {Cause::mined, Cause::blast, Cause::carve, Cause::script})
        for (const bool asleep : {false, true}) {
            BlocksLevel b;
            const BlockId tail = nothing(b, 0);
            Grid g = b.grid();
            b.fill(g, {{0, 0, 0}, {2, 2, 2}}, b.stone);
            g.set({3, 1, 1}, b.stone);
            b.fill(g, {{4, 1, 1}, {9, 1, 1}}, tail);
            g.set({9, 2, 1}, b.torch);
            const GroupId id = b.level.add_group(std::move(g), {.bears_load = true, .asleep = asleep});
            const std::size_t all = b.blocks(id);
            b.run(2);
            ASSERT_TRUE(b.level.remove_block(id, {3, 1, 1}, cause));
            b.level.clear_events();
            b.level.tick();
            std::size_t told = 0;
            for (const LevelEvent& e : b.level.events())
                if (e.kind == LevelEvent::Kind::block_destroyed) {
                    EXPECT_EQ(e.cause, Cause::script);
                    EXPECT_EQ(e.group, id);
                    EXPECT_GT(e.cell.x, 3);
                    told++;
                }
            EXPECT_EQ(told, 7u) << "six of the tail, and the torch on it";
            ASSERT_EQ(b.level.groups().size(), 1u);
            EXPECT_EQ(b.level.groups()[0], id);
            EXPECT_EQ(b.blocks(id), 27u);
            EXPECT_EQ(b.all_blocks(), all);
            EXPECT_EQ(b.level.stats().drops, cause == Cause::mined ? 1u : 0u) << "the tail leaves nothing";
            go_on(b);
        }
}

TEST(Regress, Case04WhenOnlyWhatWeighsNothingIsLeftTheGroupGoes) {
    BlocksLevel b;
    const BlockId tail = nothing(b, 0);
    Grid g = b.grid();
    g.set({0, 0, 0}, b.stone);
    b.fill(g, {{1, 0, 0}, {5, 0, 0}}, tail);
    const GroupId id = b.level.add_group(std::move(g), {});
    b.level.remove_block(id, {0, 0, 0});
    b.run(1);
    EXPECT_FALSE(b.level.exists(id));
    EXPECT_EQ(b.level.stats().destroyed, 6u);
    // One that never weighed anything.
    Grid h = b.grid();
    b.fill(h, {{0, 0, 0}, {2, 0, 0}}, tail);
    b.level.add_group(std::move(h), {});
    go_on(b);
    EXPECT_TRUE(b.level.groups().empty());
}

TEST(Regress, Case04ATailOffAStructureAndABlastedOne) {
    BlocksLevel b;
    const BlockId tail = nothing(b, 0);
    b.fill({{0, 0, 0}, {0, 3, 0}}, b.stone);
    b.level.set_terrain({1, 3, 0}, b.glass);
    b.fill({{2, 3, 0}, {6, 3, 0}}, tail);
    b.level.mark_structure(CellBox{{0, 0, 0}, {9, 9, 9}});
    b.level.break_terrain({1, 3, 0}, Cause::carve);
    b.run(3);
    EXPECT_TRUE(b.level.groups().empty());
    EXPECT_EQ(b.level.terrain().block_count(), 4u);
    EXPECT_EQ(b.all_blocks(), 10u);
    go_on(b);
}

}  // namespace
}  // namespace talus
