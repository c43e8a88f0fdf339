#include "connect/joins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace talus {
namespace {

struct JoinsTest : testing::Test {
    BlockTable table;
    Grid grid{table};
    Joins joins;
    BlockId stone = table.add(blockgame_stone());
    BlockId torch = [&] {
        Material m = blockgame_stone();
        m.name = "torch";
        m.solid = false;
        return table.add(m);
    }();
    void put(Cell c) {
        grid.set(c, stone);
        joins.solid_added(c);
    }
    void take(Cell c) {
        grid.clear(c);
        joins.solid_removed(grid, c);
    }
    std::size_t parts() { return find_parts(grid, joins).size(); }
};

TEST_F(JoinsTest, DiagonalThatNeverHadABridgeHolds) {
    put({0, 0, 0});
    put({1, 1, 0});
    put({2, 2, 1});  // over a corner
    EXPECT_EQ(parts(), 1u);
}

TEST_F(JoinsTest, BridgedDiagonalBreaksWithItsLastBridge) {
    put({0, 0, 0});
    put({1, 1, 0});
    put({1, 0, 0});
    put({0, 1, 0});
    take({1, 0, 0});
    EXPECT_EQ(parts(), 1u);  // the other bridge still holds both
    take({0, 1, 0});
    EXPECT_EQ(parts(), 2u);
    put({0, 1, 0});
    EXPECT_EQ(parts(), 1u);
    take({0, 1, 0});
    EXPECT_EQ(parts(), 2u);
    take({1, 1, 0});
    put({1, 1, 0});  // a new block, a new join that never had a bridge
    EXPECT_EQ(parts(), 1u);
}

TEST_F(JoinsTest, NonSolidsHangOnTheNearestSolidAndBridgeNothing) {
    put({0, 0, 0});
    put({4, 0, 0});
    grid.set({1, 0, 0}, torch);
    grid.set({3, 0, 0}, torch);
    grid.set({2, 0, 0}, torch);  // equally near: the lowest cell
    const auto p = find_parts(grid, joins);
    ASSERT_EQ(p.size(), 2u);
    EXPECT_EQ(p[0], (std::vector<Cell>{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}));
    EXPECT_EQ(p[1], (std::vector<Cell>{{3, 0, 0}, {4, 0, 0}}));
    grid.clear({0, 0, 0});
    grid.clear({4, 0, 0});
    EXPECT_EQ(find_parts(grid, joins).size(), 0u);
}

TEST_F(JoinsTest, SawnInTheMiddleGivesTwoHalves) {  // case 1
    for (int x = 0; x < 5; x++)
        for (int y = 0; y < 4; y++)
            for (int z = 0; z < 4; z++) put({x, y, z});
    std::vector<Cell> removed;
    for (int y = 0; y < 4; y++)
        for (int z = 0; z < 4; z++) {
            take({2, y, z});
            removed.push_back({2, y, z});
        }
    const auto p = find_parts(grid, joins);
    ASSERT_EQ(p.size(), 2u);
    EXPECT_EQ(p[0].size(), 32u);
    EXPECT_EQ(p[1].size(), 32u);
    const auto off = find_split(grid, joins, removed);
    ASSERT_EQ(off.size(), 1u);
    EXPECT_EQ(off[0], p[1]);
}

/// Cell by cell over holds(): slow and plainly right.
std::vector<std::vector<Cell>> plain_parts(const Grid& grid, const Joins& joins) {
    std::map<Cell, std::size_t> part_of;
    std::vector<std::vector<Cell>> parts;
    grid.for_each([&](Cell start, BlockId) {
        if (!grid.is_solid(start) || part_of.count(start)) return;
        std::vector<Cell> part{start};
        part_of[start] = parts.size();
        for (std::size_t i = 0; i < part.size(); i++)
            for (int n = 0; n < 27; n++) {
                const Cell c = part[i] + Cell{n % 3 - 1, n / 9 - 1, n / 3 % 3 - 1};
                if (!grid.is_solid(c) || part_of.count(c) || !joins.holds(grid, part[i], c)) continue;
                part_of[c] = parts.size();
                part.push_back(c);
            }
        std::sort(part.begin(), part.end());
        parts.push_back(part);
    });
    std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
        return a.size() != b.size() ? a.size() > b.size() : a.front() < b.front();
    });
    return parts;
}

TEST_F(JoinsTest, FloodAgreesWithAPlainWalk) {
    std::mt19937 random(5);
    std::size_t several = 0;
    for (int round = 0; round < 200; round++) {
        grid = Grid(table);
        joins = Joins();
        const int size = 4 + int(random() % 24);
        const int n = int(random() % unsigned(size * size * size / 3)) + 2;
        std::vector<Cell> cells;
        for (int i = 0; i < n; i++) {
            const Cell c{int(random() % unsigned(size)) - 9, int(random() % unsigned(size)) - 5,
                         int(random() % unsigned(size)) - 13};
            if (!grid.has(c)) put(c);
            cells.push_back(c);
        }
        for (int i = 0; i < n / 2; i++) {
            const Cell c = cells[random() % cells.size()];
            if (grid.has(c)) take(c);
        }
        const auto expected = plain_parts(grid, joins);
        several += expected.size() > 1;
        EXPECT_EQ(find_parts(grid, joins), expected) << round;
    }
    EXPECT_GT(several, 50u);
}

// Non-solids of which most touch a solid, some hang free, and a few are far from everything.
TEST_F(JoinsTest, NonSolidsHangWhereAPlainLookSays) {
    std::mt19937 random(17);
    std::size_t hung = 0, far = 0;
    for (int round = 0; round < 25; round++) {
        grid = Grid(table);
        joins = Joins();
        std::vector<Cell> solids;
        for (int blob = 0; blob < 4; blob++) {
            const Cell o{int(random() % 50), int(random() % 30), int(random() % 50)};
            for (int i = 0; i < 60; i++) {
                const Cell c = o + Cell{int(random() % 9), int(random() % 4), int(random() % 9)};
                if (grid.has(c)) continue;
                put(c);
                solids.push_back(c);
            }
        }
        std::map<Cell, Cell> holder;
        for (int i = 0; i < 150; i++) {
            Cell c{int(random() % 80) - 10, int(random() % 50) - 10, int(random() % 80) - 10};
            if (i % 2)
                c = solids[random() % solids.size()] + Cell{int(random() % 3) - 1, 1, int(random() % 3) - 1};
            if (grid.has(c)) continue;
            grid.set(c, torch);
            std::int64_t best = INT64_MAX;
            for (Cell s : solids) {
                const Cell d = s - c;
                const std::int64_t there =
                    std::int64_t(d.x) * d.x + std::int64_t(d.y) * d.y + std::int64_t(d.z) * d.z;
                if (there < best || (there == best && s < holder[c])) {
                    best = there;
                    holder[c] = s;
                }
            }
            far += best > 64;
        }
        auto expected = plain_parts(grid, joins);
        expected.erase(expected.begin());
        auto loose = expected;
        hang_non_solids(grid, loose);
        for (auto& part : loose) std::sort(part.begin(), part.end());
        for (auto& part : expected) {
            const std::vector<Cell> held = part;
            for (const auto& [cell, solid] : holder)
                if (std::binary_search(held.begin(), held.end(), solid)) {
                    part.push_back(cell);
                    hung++;
                }
            std::sort(part.begin(), part.end());
        }
        EXPECT_EQ(loose, expected) << round;
        EXPECT_EQ(find_loose_parts(grid, joins), expected) << round;
    }
    EXPECT_GT(hung, 200u);
    EXPECT_GT(far, 50u);
}

// The search from the wound must find the same parts as a look at the whole grid.
TEST_F(JoinsTest, SplitSearchAgreesWithTheWholeFlood) {
    std::mt19937 random(11);
    int splits = 0;
    for (int round = 0; round < 1000; round++) {
        grid = Grid(table);
        joins = Joins();
        // One connected blob by random growth.
        std::vector<Cell> cells{{0, 0, 0}};
        put(cells[0]);
        const int n = 2 + int(random() % 60);
        while (int(cells.size()) < n) {
            Cell c = cells[random() % cells.size()];
            c = c + Cell{int(random() % 3) - 1, int(random() % 3) - 1, int(random() % 3) - 1};
            if (grid.has(c)) continue;
            put(c);
            cells.push_back(c);
        }
        for (int i = 0; i < 5; i++) {
            const Cell c = cells[random() % cells.size()] + Cell{0, 5, 0};
            if (!grid.has(c)) grid.set(c, torch);
        }
        ASSERT_EQ(parts(), 1u);
        std::vector<Cell> removed;
        const int k = 1 + int(random() % 4);
        for (int i = 0; i < k && grid.solid_count() > 1; i++) {
            const Cell c = cells[random() % cells.size()];
            if (!grid.is_solid(c)) continue;
            take(c);
            removed.push_back(c);
        }
        auto whole = find_parts(grid, joins);
        whole.erase(whole.begin());
        splits += !whole.empty();
        EXPECT_EQ(find_split(grid, joins, removed), whole) << "round " << round;
    }
    EXPECT_GT(splits, 100);
}

}  // namespace
}  // namespace talus
