// Case 31: dig just above the indestructible bottom layer: the layer supports, and the count of cells is
// kept.
#include "tests/world/blocks_level.h"

namespace talus {
namespace {

struct Bottom : BlocksLevel {
    std::size_t floor_blocks;
    Bottom() : BlocksLevel(LevelSettings{}) {  // no flat ground: the layer is all there is
        fill({{-12, 0, -12}, {12, 0, 12}}, bedrock);
        floor_blocks = level.terrain().block_count();
    }
    std::size_t bedrock_left() const {
        std::size_t n = 0;
        level.terrain().for_each([&](Cell, BlockId id) { n += id == bedrock; });
        return n;
    }
};

enum Tool { mined, blasted, carved, by_script, tools };
/// Takes what is just above the layer at a cell.
std::size_t dig(Bottom& b, Cell c, Tool tool) {
    switch (tool) {
        case mined:
            return b.level.break_terrain(c, Cause::mined);
        case blasted:
            return b.level.blast({c.x + 0.5, c.y + 0.5, c.z + 0.5}, 1.9f);
        case carved:  // reaches into the layer
            return b.level.carve({{double(c.x), -0.5, double(c.z)}, {c.x + 1.0, 2, c.z + 1.0}});
        default:
            return b.level.set_terrain(c, kAir) != kAir;
    }
}

TEST(Regress, Case31ATableOnTheLayerStandsOnItsOtherLegs) {
    for (int tool = 0; tool < tools; tool++)
        for (const bool marked_layer : {false, true}) {
            SCOPED_TRACE(testing::Message() << tool << ' ' << marked_layer);
            Bottom b;
            for (const Cell leg : {Cell{0, 1, 0}, Cell{6, 1, 0}, Cell{0, 1, 6}, Cell{6, 1, 6}})
                b.fill({leg, leg + Cell{0, 2, 0}}, b.stone);
            b.fill({{0, 4, 0}, {6, 4, 6}}, b.stone);
            const std::size_t all = b.level.terrain().block_count();
            // Marked with the layer in the box or not: it never belongs to what is judged.
            const StructureId id = b.level.mark_structure(CellBox{{0, marked_layer ? 0 : 1, 0}, {6, 4, 6}});
            EXPECT_EQ(b.level.structure(id)->grid->block_count(), 61u);
            const std::size_t dug = dig(b, {0, 1, 0}, Tool(tool));
            EXPECT_EQ(dug, 1u);
            b.run(20);
            EXPECT_TRUE(b.level.groups().empty()) << "three legs hold, and what hangs of the fourth";
            EXPECT_EQ(b.bedrock_left(), b.floor_blocks);
            EXPECT_EQ(b.level.terrain().block_count(), all - 1);
            if (tool != by_script) {
                EXPECT_EQ(b.all_blocks(), all);
            }
            b.level.check_structure_soon(id);  // asked again it says the same
            b.run(3);
            EXPECT_TRUE(b.level.groups().empty());
        }
}

TEST(Regress, Case31APostFallsOntoTheLayerAndNoCellIsLost) {
    for (int tool = 0; tool < tools; tool++) {
        SCOPED_TRACE(tool);
        Bottom b;
        b.fill({{3, 1, 3}, {3, 6, 3}}, b.stone);
        b.level.mark_structure(CellBox{{3, 0, 3}, {3, 9, 3}});
        const std::size_t all = b.level.terrain().block_count();
        EXPECT_EQ(dig(b, {3, 1, 3}, Tool(tool)), 1u);
        b.run(2);
        ASSERT_EQ(b.sizes(), (std::vector<std::size_t>{5}));
        const GroupId id = b.level.groups()[0];
        b.run(100);
        EXPECT_EQ(b.bedrock_left(), b.floor_blocks);
        ASSERT_TRUE(b.level.exists(id));
        EXPECT_GE(b.level.group(id)->body.bounds().min.y, 0.98) << "rests on the layer";
        EXPECT_EQ(b.level.stats().blocks + b.level.terrain().block_count(), all - 1);
    }
}

TEST(Regress, Case31AGroupOnTheLayerAndAGroupWithItsOwn) {
    Bottom b;
    // On the terrain's layer: judged, and held up by it.
    Grid g = b.grid();
    b.fill(g, {{0, 0, 0}, {4, 3, 0}}, b.stone);
    const GroupId wall =
        b.level.add_group(std::move(g), {.pose = {{0, 1, 0}, {}}, .bears_load = true, .asleep = true});
    for (int x = 0; x < 4; x++) EXPECT_TRUE(b.level.remove_block(wall, {x, 0, 0}));
    EXPECT_EQ(b.level.carve({{-1, 0, -1}, {6, 1.2, 2}}), 0u);
    b.run(3);
    EXPECT_EQ(b.blocks(wall), 16u);
    EXPECT_EQ(b.level.groups().size(), 1u);
    // With a bottom of its own that nothing breaks.
    Grid h = b.grid();
    b.fill(h, {{0, 0, 0}, {4, 0, 4}}, b.bedrock);
    b.fill(h, {{2, 1, 2}, {2, 5, 2}}, b.stone);
    const GroupId tray =
        b.level.add_group(std::move(h), {.pose = {{-8, 1, -8}, {}}, .bears_load = true, .asleep = true});
    EXPECT_FALSE(b.level.remove_block(tray, {0, 0, 0}, Cause::mined));
    EXPECT_EQ(b.level.carve({{-8, 1, -8}, {-3, 3, -3}}), 1u) << "the stone just above, not the tray";
    b.run(3);
    EXPECT_EQ(b.blocks(tray), 25u) << "the post came off, the tray is whole";
    EXPECT_EQ(b.level.groups().size(), 3u);
    EXPECT_EQ(b.bedrock_left(), b.floor_blocks);
    EXPECT_EQ(b.all_blocks(), b.floor_blocks + 20 + 30);
}

TEST(Regress, Case31AssemblingJustAboveTheLayerLeavesIt) {
    Bottom b;
    b.fill({{0, 1, 0}, {3, 2, 3}}, b.stone);
    const GroupId id = b.level.assemble({0, 1, 0}, {{-20, -5, -20}, {20, 20, 20}}, 1000);
    EXPECT_EQ(b.blocks(id), 32u);
    EXPECT_EQ(b.level.terrain().block_count(), b.floor_blocks);
    b.run(40);
    EXPECT_EQ(b.level.settle(id).placed, 32u);
    EXPECT_EQ(b.level.terrain().block_count(), b.floor_blocks + 32);
    EXPECT_EQ(b.level.physicify({5, 0, 5}), GroupId{});
}

}  // namespace
}  // namespace talus
