// Case 2: two parts joined by one block are the same two groups whether a blast, a hand, fire, a script,
// wear, a hit or a carve takes it; in a group and in a structure of the terrain.
#include "tests/world/blocks_level.h"

#include <map>

namespace talus {
namespace {

constexpr Cell kJoint{3, 1, 1};

/// Cells of each group, in the world's cells at the start; terrain last.
std::vector<std::vector<Cell>> parts_of(const Level& level) {
    std::vector<std::vector<Cell>> out;
    for (GroupId id : level.groups()) {
        const auto view = *level.group(id);
        std::vector<Cell> cells;
        view.grid->for_each([&](Cell c, BlockId) { cells.push_back(c); });
        out.push_back(std::move(cells));
    }
    return out;
}

Grid build(BlocksLevel& b) {
    Grid g = b.grid();
    b.fill(g, {{0, 0, 0}, {2, 2, 2}}, b.stone);
    b.fill(g, {{4, 0, 0}, {5, 2, 2}}, b.stone);
    g.set(kJoint, b.glass);
    g.set({0, 3, 1}, b.torch);
    g.set({5, 3, 1}, b.torch);
    return g;
}

enum Way { hand, burnt, script, carved, blasted, worn, blast_worn, hit, ways };

/// @return true when the joint is gone
bool take(BlocksLevel& b, GroupId id, Way way) {
    switch (way) {
        case hand:
            return b.level.remove_block(id, kJoint, Cause::mined);
        case burnt:
            return b.level.remove_block(id, kJoint, Cause::fire);
        case script:
            return b.level.remove_block(id, kJoint, Cause::script);
        case carved:
            return b.level.carve({{3, 1, 1}, {4, 2, 2}}) == 1;
        case blasted:
            return b.level.blast({3.5, 1.5, 1.5}, 0.5f) == 1;
        case worn:
            return !b.level.wear_down(id, kJoint, 0.5f) && b.level.wear_down(id, kJoint, 0.5f) &&
                   b.level.remove_block(id, kJoint, Cause::script);
        case blast_worn: {
            // Two that each fell just short: glass needs (0.3 + its resistance) x 0.3 inside of its cell.
            const float cost = (b.level.table()[b.glass].material.blast_resistance + 0.3f) * 0.3f;
            std::size_t gone = 0;
            for (int i = 0; i < 2; i++) gone += b.level.blast({3.5, 1.5, 1.5}, cost * 0.995f);
            return gone == 1;
        }
        default: {
            // A hit that it cannot take. Its own ball flies off.
            b.level.wear_down(id, kJoint, 0.999f);
            Material m = blockgame_stone();
            m.name = "shot";
            m.density = 100;
            const BlockId shot = b.level.table().add(m);
            Grid g = b.grid();
            b.fill(g, {{0, 0, 0}, {0, 1, 0}}, shot);
            const GroupId ball = b.level.add_group(
                std::move(g), {.pose = {{3, 2.2, 1}, {}}, .velocity = {0, -9, 0}, .bears_load = true});
            for (int i = 0; i < 4 && b.level.group(id)->grid->has(kJoint); i++) b.run(1);
            b.level.remove_group(ball);
            return !b.level.group(id)->grid->has(kJoint);
        }
    }
}

TEST(Regress, Case02TheSameTwoGroupsWhateverTookTheJoint) {
    std::vector<std::vector<Cell>> first;
    for (int way = 0; way < ways; way++) {
        SCOPED_TRACE(way);
        BlocksLevel b(no_gravity());
        const GroupId id = b.level.add_group(build(b), {.bears_load = true, .asleep = true});
        ASSERT_TRUE(take(b, id, Way(way)));
        b.run(1);
        const auto parts = parts_of(b.level);
        ASSERT_EQ(parts.size(), 2u);
        EXPECT_EQ(parts[0].size() + parts[1].size(), 27u + 18 + 2);
        if (way == 0) first = parts;
        EXPECT_EQ(parts, first);
        EXPECT_TRUE(b.level.exists(id));
        EXPECT_EQ(b.blocks(id), 28u) << "the bigger half keeps the group, its torch with it";
        EXPECT_EQ(b.level.stats().drops, way == hand ? 1u : b.level.stats().drops);
    }
}

/// In the terrain: a beam between a post and what it carries.
TEST(Regress, Case02TheSameGroupFallsOffAStructureWhateverTookTheJoint) {
    std::vector<std::vector<Cell>> first;
    for (int way = 0; way < 6; way++) {
        SCOPED_TRACE(way);
        BlocksLevel b;
        b.fill({{0, 0, 0}, {0, 4, 0}}, b.stone);
        b.level.set_terrain({1, 4, 0}, b.glass);
        b.fill({{2, 3, 0}, {4, 5, 2}}, b.stone);
        b.level.mark_structure(CellBox{{0, 0, 0}, {9, 9, 9}});
        const Cell joint{1, 4, 0};
        bool gone = true;
        if (way == 0) gone = b.level.break_terrain(joint, Cause::mined);
        if (way == 1) gone = b.level.break_terrain(joint, Cause::fire);
        if (way == 2) gone = b.level.set_terrain(joint, kAir) == b.glass;
        if (way == 3) gone = b.level.carve({{1, 4, 0}, {2, 5, 1}}) == 1;
        if (way == 4) gone = b.level.blast({1.5, 4.5, 0.5}, 0.5f) == 1;
        if (way == 5) gone = b.level.wear_down(joint, 1) && b.level.break_terrain(joint, Cause::script);
        ASSERT_TRUE(gone);
        b.run(2);
        const auto parts = parts_of(b.level);
        ASSERT_EQ(parts.size(), 1u);
        if (way == 0) first = parts;
        EXPECT_EQ(parts, first);
        EXPECT_EQ(b.level.terrain().block_count(), 5u);
    }
}

}  // namespace
}  // namespace talus
