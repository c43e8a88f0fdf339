// Case 1: a body of 4x4x4 touching boxes, sawn through its middle plane, is exactly two bodies; every box
// stays with its side, and none that was not touched comes loose.
#include "tests/world/blocks_level.h"

#include <set>

namespace talus {
namespace {

/// Boxes of every kind that touch: whole, cut and small ones in their cells.
BlockType box_type(int kind) {
    const Box boxes[] = {
        {{0, 0, 0}, {1, 1, 1}}, {{0, 0, 0}, {1, 0.5f, 1}}, {{0.25f, 0, 0.25f}, {0.75f, 1, 0.75f}}};
    return {"box" + std::to_string(kind), blockgame_stone(), BlockShape({&boxes[kind], 1})};
}

TEST(Regress, Case01ASawnBodyIsExactlyTwoAndEveryBoxStaysWithItsSide) {
    const float right = 1.5707963f;
    for (int axis = 0; axis < 3; axis++)
        for (int kind = 0; kind < 3; kind++)
            for (int way = 0; way < 4; way++) {  // by hand, by carving, both in a turned body
                SCOPED_TRACE(testing::Message() << axis << ' ' << kind << ' ' << way);
                BlocksLevel b(no_gravity());
                const BlockId block = b.level.table().add(box_type(kind));
                const auto cell_of = [&](int u, int v, int w) {
                    return axis == 0 ? Cell{u, v, w} : axis == 1 ? Cell{w, u, v} : Cell{v, w, u};
                };
                const auto along = [&](Cell c) { return axis == 0 ? c.x : axis == 1 ? c.y : c.z; };
                // Two halves of 2x4x4 and the plane of the saw between them, one cell thick.
                Grid g = b.grid();
                for (int u = 0; u < 5; u++)
                    for (int v = 0; v < 4; v++)
                        for (int w = 0; w < 4; w++) g.set(cell_of(u, v, w), block);
                GroupSettings at;
                at.velocity = {1, 2, 3};
                at.spin = {0.3f, -0.2f, 0.5f};
                if (way >= 2) at.pose = {{5, 60, -3}, axis_angle({1, 2, -1}, 0.5f * right)};
                const GroupId id = b.level.add_group(std::move(g), at);
                b.run(1);
                ASSERT_EQ(b.level.groups().size(), 1u);
                std::size_t sawn = 0;
                if (way % 2 == 0) {
                    for (int v = 0; v < 4; v++)
                        for (int w = 0; w < 4; w++) sawn += b.level.remove_block(id, cell_of(2, v, w));
                } else {
                    // A row of capsules along the plane.
                    const Body body = b.level.group(id)->body;
                    for (int v = 0; v < 4; v++) {
                        Vec3 from, to;
                        from[axis] = to[axis] = 2.5f;
                        from[(axis + 1) % 3] = to[(axis + 1) % 3] = float(v) + 0.5f;
                        from[(axis + 2) % 3] = 0.5f;
                        to[(axis + 2) % 3] = 3.5f;
                        sawn += b.level.carve_capsule(body.to_world(from), body.to_world(to), 0.3);
                    }
                }
                EXPECT_EQ(sawn, 16u);
                b.run(1);
                ASSERT_EQ(b.level.groups().size(), 2u);
                std::set<Cell> seen;
                for (GroupId g2 : b.level.groups()) {
                    const auto view = *b.level.group(g2);
                    EXPECT_EQ(view.grid->block_count(), 32u);
                    int low = 0, high = 0;
                    view.grid->for_each([&](Cell c, BlockId id2) {
                        EXPECT_EQ(id2, block);
                        (along(c) < 2 ? low : high)++;
                        EXPECT_TRUE(seen.insert(c).second) << "a box in two bodies";
                    });
                    EXPECT_TRUE(low == 0 || high == 0) << "a box went over to the other side";
                }
                b.run(40);
                EXPECT_EQ(b.level.groups().size(), 2u) << "nothing comes loose later";
            }
}

TEST(Regress, Case01ASawThatDoesNotGoThroughLeavesOneBody) {
    for (int left_out = 0; left_out < 16; left_out++) {
        BlocksLevel b(no_gravity());
        Grid g = b.grid();
        b.fill(g, {{0, 0, 0}, {4, 3, 3}}, b.stone);
        const GroupId id = b.level.add_group(std::move(g), {});
        for (int i = 0; i < 16; i++)
            if (i != left_out) b.level.remove_block(id, {2, i / 4, i % 4});
        b.run(2);
        EXPECT_EQ(b.level.groups().size(), 1u);
        EXPECT_EQ(b.blocks(id), 65u);
    }
}

}  // namespace
}  // namespace talus
