// What sleeps for long does without the shape of its body and the bricks of its grid: nobody can tell.
#include "dynamics/state.h"
#include "talus/level.h"
#include "talus/snapshot.h"
#include "world/level_state.h"

#include <gtest/gtest.h>

#include <memory>

namespace talus {
namespace {

struct Heap {
    Level level;
    std::vector<GroupId> pieces;

    Heap() : level(settings()) {
        const BlockId stone = level.table().add(blockgame_stone());
        Material light = blockgame_stone();
        light.name = "light";
        light.density = 300;
        const BlockId other = level.table().add(light);
        for (int i = 0; i < 40; i++) {
            Grid grid(level.table());
            for (int k = 0; k < 4 + i % 9; k++) grid.set({k % 3, k / 3 % 2, k / 6}, k % 4 ? stone : other);
            GroupSettings s;
            s.pose.position = {1.5 * (i % 3), 1.0 + 2.5 * (i / 9), 1.7 * (i / 3 % 3)};
            pieces.push_back(level.add_group(std::move(grid), s));
        }
    }
    static LevelSettings settings() {
        LevelSettings s;
        s.ground = 0;
        return s;
    }
    void run(int ticks) {
        for (int i = 0; i < ticks; i++) {
            level.tick();
            level.clear_events();
        }
    }
    std::size_t shapeless() {
        const BodyStore& bodies = level.space().state().bodies;
        std::size_t n = 0;
        for (std::int32_t i = 1; i < bodies.size(); i++)
            n += bodies.hot[std::size_t(i)].exists && !bodies.hot[std::size_t(i)].shape;
        return n;
    }
    /// Everybody's shape and blocks are asked for.
    void look() {
        for (const GroupId id : level.groups()) {
            const GroupView view = *level.group(id);
            EXPECT_GT(view.body.shape().box_count(), 0u);
            EXPECT_FALSE(view.grid->bricks().empty());
        }
    }
};

TEST(Rest, WhatSleepsGoesWithoutAndNobodyCanTell) {
    Heap rests, looked_at;
    for (int i = 0; i < 120; i++) {
        rests.run(10);
        looked_at.run(10);
        looked_at.look();
    }
    ASSERT_EQ(rests.level.stats().awake, 0u);
    ASSERT_GT(rests.level.stats().groups, 20u);
    EXPECT_EQ(rests.shapeless(), rests.level.stats().groups) << "some keep what they do not need";
    EXPECT_EQ(looked_at.shapeless(), 0u);
    ASSERT_EQ(rests.level.hash(), looked_at.level.hash());
    // All kinds of looks and changes.
    for (Heap* heap : {&rests, &looked_at}) {
        Level& level = heap->level;
        const auto hit = level.cast_ray({1.2, 50, 1.3}, {0, -1, 0}, 100);
        ASSERT_TRUE(hit && hit->group);
        EXPECT_TRUE(level.space().cast_ray({1.2, 50, 1.3}, {0, -1, 0}, 100));
        EXPECT_FALSE(level.space().overlap_sphere({1.5, 1, 1.5}, 2).bodies.empty());
        level.remove_block(*hit->group, hit->cell);
    }
    for (int i = 0; i < 10; i++) {
        for (Heap* heap : {&rests, &looked_at}) {
            heap->run(1);
            if (i == 4) heap->level.blast({1.5, 1, 1.5}, 2);
            if (i == 8) heap->level.group(heap->level.groups()[0])->body.set_velocity({0, 3, 1});
        }
        ASSERT_EQ(rests.level.hash(), looked_at.level.hash()) << i;
    }
    for (int i = 0; i < 40; i++) {
        rests.run(10);
        looked_at.run(10);
        looked_at.look();
        ASSERT_EQ(rests.level.hash(), looked_at.level.hash()) << i;
    }
}

TEST(Rest, ASnapshotOfWhatRestsGoesOnTheSame) {
    Heap heap;
    heap.run(1200);
    ASSERT_GT(heap.shapeless(), 0u);
    auto back = restore_snapshot(take_snapshot(heap.level), {});
    ASSERT_TRUE(back);
    (*back)->blast({1.5, 1, 1.5}, 2);
    heap.level.blast({1.5, 1, 1.5}, 2);
    for (int i = 0; i < 50; i++) {
        heap.level.tick();
        (*back)->tick();
    }
    EXPECT_EQ((*back)->hash(), heap.level.hash());
}

}  // namespace
}  // namespace talus
