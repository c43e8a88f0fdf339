#include "talus/grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace talus {
namespace {

TEST(Grid, AgreesWithAPlainMapUnderRandomEdits) {
    BlockTable table;
    const BlockId stone = table.add(blockgame_stone());
    Material torch = blockgame_stone();
    torch.name = "torch";
    torch.solid = false;
    const BlockId lamp = table.add(torch);
    Grid grid(table);
    std::map<Cell, BlockId> plain;
    std::mt19937 random(7);
    for (int i = 0; i < 20000; i++) {
        const Cell c{int(random() % 40) - 20, int(random() % 40) - 20, int(random() % 40) - 20};
        const BlockId id = random() % 3 == 0 ? kAir : random() % 2 ? stone : lamp;
        const auto it = plain.find(c);
        EXPECT_EQ(grid.set(c, id), it == plain.end() ? kAir : it->second);
        if (id == kAir)
            plain.erase(c);
        else
            plain[c] = id;
    }
    std::size_t solids = 0;
    CellBox box{{99, 99, 99}, {-99, -99, -99}};
    for (const auto& [c, id] : plain) {
        EXPECT_EQ(grid.get(c), id);
        EXPECT_EQ(grid.is_solid(c), id == stone);
        solids += id == stone;
        box.min = {std::min(box.min.x, c.x), std::min(box.min.y, c.y), std::min(box.min.z, c.z)};
        box.max = {std::max(box.max.x, c.x), std::max(box.max.y, c.y), std::max(box.max.z, c.z)};
    }
    EXPECT_EQ(grid.block_count(), plain.size());
    EXPECT_EQ(grid.solid_count(), solids);
    EXPECT_EQ(grid.bounds(), box);
    std::map<Cell, BlockId> seen;
    grid.for_each([&](Cell c, BlockId id) { EXPECT_TRUE(seen.emplace(c, id).second); });
    EXPECT_EQ(seen, plain);
    Grid copy = grid;
    for (const auto& [c, id] : plain) copy.clear(c);
    EXPECT_TRUE(copy.empty());
    EXPECT_TRUE(copy.bounds().empty());
    EXPECT_EQ(grid.block_count(), plain.size());
}

TEST(Grid, PackedAnswersTheSameAndIsWholeAgainOnceItIsRead) {
    BlockTable table;
    std::vector<BlockId> ids;
    for (const char* name : {"a", "b", "c", "d", "e"}) {
        Material m = blockgame_stone();
        m.name = name;
        m.solid = ids.size() != 1;
        ids.push_back(table.add(m));
    }
    std::mt19937 random(11);
    for (int round = 0; round < 300; round++) {
        const int edge = 1 + int(random() % 12), kinds = 1 + int(random() % 5);
        const Cell corner{int(random() % 4000) - 2000, int(random() % 40) - 20, int(random() % 4000) - 2000};
        Grid grid(table);
        for (int i = 0, n = 1 + int(random() % 60); i < n; i++) {
            auto pick = [&] { return int(random() % unsigned(edge)); };
            grid.set(corner + Cell{pick(), pick(), pick()}, ids[random() % unsigned(kinds)]);
        }
        const Grid whole = grid;
        Grid moved(table);
        auto content = [](const Grid& g) {
            std::vector<std::pair<Cell, BlockId>> out;
            g.for_each([&](Cell c, BlockId id) { out.push_back({c, id}); });
            return out;
        };
        grid.pack();
        grid.pack();
        EXPECT_EQ(grid.bounds(), whole.bounds());
        EXPECT_EQ(grid.content_hash(), whole.content_hash());
        EXPECT_EQ(grid.version(), whole.version());
        EXPECT_EQ(grid.block_count(), whole.block_count());
        EXPECT_EQ(grid.solid_count(), whole.solid_count());
        moved = std::move(grid);
        const Grid copy = moved;
        EXPECT_EQ(content(copy), content(whole));
        moved.pack();
        const Cell first = content(whole)[0].first;
        switch (round % 4) {
            case 0:
                EXPECT_EQ(moved.get(first), whole.get(first));
                break;
            case 1:
                EXPECT_EQ(moved.find_brick(brick_of(first))->count, whole.find_brick(brick_of(first))->count);
                break;
            case 2:
                EXPECT_EQ(moved.bricks().size(), whole.bricks().size());
                break;
            case 3:
                EXPECT_EQ(moved.clear(first), whole.get(first));
                moved.set(first, whole.get(first));
        }
        ASSERT_EQ(content(moved), content(whole));
        for (const Brick* brick : whole.bricks()) {
            const Brick* same = moved.find_brick(brick->coord);
            ASSERT_NE(same, nullptr);
            for (int y = 0; y < 8; y++) {
                EXPECT_EQ(same->solid[y], brick->solid[y]);
                EXPECT_EQ(same->full[y], brick->full[y]);
            }
        }
    }
}

// Bricks come and go by the hundred, in any order: the list of them stays sorted, the hash finds each.
TEST(Grid, BricksComeAndGoInAnyOrder) {
    BlockTable table;
    const BlockId stone = table.add(blockgame_stone());
    Grid grid(table);
    std::set<Cell> plain;  // one block a brick
    std::mt19937 random(11);
    for (int round = 0; round < 12; round++) {
        const bool fill = round % 3 != 2;  // then nearly empty again, and over
        for (int i = 0; i < 1500; i++) {
            const Cell brick{int(random() % 14) - 7, int(random() % 14) - 7, int(random() % 14) - 7};
            const Cell c{brick.x * 8 + 3, brick.y * 8 + 4, brick.z * 8 + 5};
            const bool put = random() % 8 ? fill : !fill;
            EXPECT_EQ(grid.set(c, put ? stone : kAir) != kAir, plain.contains(c));
            if (put)
                plain.insert(c);
            else
                plain.erase(c);
            if (i % 100 == 0) {
                EXPECT_EQ(grid.bricks().size(), plain.size());
            }
        }
        const auto bricks = grid.bricks();
        ASSERT_EQ(bricks.size(), plain.size());
        EXPECT_TRUE(std::is_sorted(bricks.begin(), bricks.end(),
                                   [](const Brick* a, const Brick* b) { return a->coord < b->coord; }));
        for (const Brick* brick : bricks) EXPECT_EQ(grid.find_brick(brick->coord), brick);
        for (int z = -7; z < 7; z++)
            for (int y = -7; y < 7; y++)
                for (int x = -7; x < 7; x++)
                    EXPECT_EQ(grid.has({x * 8 + 3, y * 8 + 4, z * 8 + 5}),
                              plain.contains({x * 8 + 3, y * 8 + 4, z * 8 + 5}));
        Grid copy = grid, moved = std::move(copy);
        EXPECT_EQ(moved.block_count(), plain.size());
        moved = grid;
        EXPECT_TRUE(std::ranges::equal(
            moved.bricks(), grid.bricks(), {}, [](const Brick* b) { return b->coord; },
            [](const Brick* b) { return b->coord; }));
    }
}

TEST(Grid, ABrickHoldsAnyNumberOfDifferentBlocks) {
    BlockTable table;
    std::vector<BlockId> ids{kAir};
    for (int i = 0; i < 600; i++) {
        Material material = blockgame_stone();
        material.name += std::to_string(i);
        ids.push_back(table.add(material));
    }
    std::mt19937 random(3);
    for (const std::size_t kinds : {1u, 2u, 15u, 16u, 17u, 40u, 600u}) {
        Grid grid(table);
        std::map<Cell, BlockId> plain;
        for (int i = 0; i < 6000; i++) {
            // Kinds come in slowly, so that the store grows while it is full.
            const std::size_t known = 1 + kinds * std::size_t(i) / 5000;
            const BlockId id = ids[random() % ((known < kinds ? known : kinds) + 1)];
            const Cell c{int(random() % 8), int(random() % 8), int(random() % 8)};
            ASSERT_EQ(grid.set(c, id), plain.count(c) ? plain[c] : kAir);
            if (id == kAir)
                plain.erase(c);
            else
                plain[c] = id;
        }
        const Grid copy = grid;
        for (int i = 0; i < 512; i++) {
            const Cell c{i & 7, i >> 6, (i >> 3) & 7};
            EXPECT_EQ(copy.get(c), plain.count(c) ? plain[c] : kAir);
        }
    }
}

TEST(Grid, FarCellsAreDistinct) {
    BlockTable table;
    const BlockId stone = table.add(blockgame_stone());
    Grid grid(table);
    const int far[] = {-2000000000, -10000000, -1, 0, 1, 10000000, 2000000000};
    for (int x : far)
        for (int y : far)
            for (int z : far) EXPECT_EQ(grid.set({x, y, z}, stone), kAir);
    EXPECT_EQ(grid.block_count(), 343u);
}

TEST(Ray, FindsTheFaceAndThePartsOfASlab) {
    BlockTable table;
    const BlockId stone = table.add(blockgame_stone());
    const Box half{{0, 0, 0}, {1, 0.5f, 1}};
    const BlockId slab = table.add(BlockType{"slab", blockgame_stone(), BlockShape({&half, 1})});
    Grid grid(table);
    grid.set({5, 0, 0}, stone);
    grid.set({3, 0, 0}, slab);
    auto high = cast_ray(grid, 1, {0.5, 0.75, 0.5}, {2, 0, 0}, 100);
    ASSERT_TRUE(high);
    EXPECT_EQ(high->cell, (Cell{5, 0, 0}));
    EXPECT_EQ(high->normal, (Cell{-1, 0, 0}));
    EXPECT_FLOAT_EQ(high->distance, 4.5f);
    auto low = cast_ray(grid, 1, {0.5, 0.25, 0.5}, {1, 0, 0}, 100);
    ASSERT_TRUE(low);
    EXPECT_EQ(low->cell, (Cell{3, 0, 0}));
    EXPECT_FALSE(cast_ray(grid, 1, {0.5, 0.75, 0.5}, {1, 0, 0}, 4.4f));
    EXPECT_FALSE(cast_ray(grid, 1, {0.5, 1.75, 0.5}, {1, 0, 0}, 100));
    // Half-metre cells: the same place is twice as many cells away.
    auto fine = cast_ray(grid, 0.5f, {0.25, 0.375, 0.25}, {1, 0, 0}, 100);
    ASSERT_TRUE(fine);
    EXPECT_EQ(fine->cell, (Cell{5, 0, 0}));
    EXPECT_FLOAT_EQ(fine->distance, 2.25f);
}

}  // namespace
}  // namespace talus
