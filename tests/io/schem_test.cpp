#include "build_files.h"
#include "talus/formats.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

using files::Bytes;
using files::Schem;

Result<Model> parse(const Bytes& bytes) {
    return parse_model(bytes, "test.schem", BlockCatalog::blockgame());
}

Model parsed(const Bytes& bytes) {
    auto model = parse(bytes);
    EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
    return model.ok() ? std::move(*model) : Model();
}

TEST(Schem, CellsLieXThenZThenY) {
    for (const int version : {0, 1, 2, 3}) {
        SCOPED_TRACE(version);
        Schem s;
        s.version = version;
        s.width = 2;
        s.height = 3;
        s.length = 4;
        s.palette = {"minecraft:air", "minecraft:stone", "minecraft:oak_planks", "minecraft:dirt"};
        s.cells.assign(24, 0);
        s.cells[1] = 1;          // x = 1
        s.cells[2 * 3] = 2;      // z = 3
        s.cells[2 * 4 * 2] = 3;  // y = 2
        const Model model = parsed(s.file());
        EXPECT_EQ(model.format, "schem " + std::to_string(version == 0 ? 1 : version));
        EXPECT_EQ(model.size, (Cell{2, 3, 4}));
        EXPECT_EQ(model.palette, 4);
        EXPECT_EQ(model.grid.block_count(), 3u);
        EXPECT_EQ(model.grid.type_at({1, 0, 0}).name, "minecraft:stone");
        EXPECT_EQ(model.grid.type_at({0, 0, 3}).name, "minecraft:oak_planks");
        EXPECT_EQ(model.grid.type_at({0, 2, 0}).name, "minecraft:dirt");
        EXPECT_TRUE(model.unknown_blocks.empty());
    }
}

TEST(Schem, PlainAndZlibDataAreReadToo) {
    const Schem s = files::full_schem(2, 2, 2);
    EXPECT_EQ(parsed(s.nbt()).grid.block_count(), 8u);
    Bytes packed(10000);
    uLongf size = packed.size();
    const Bytes nbt = s.nbt();
    ASSERT_EQ(compress(packed.data(), &size, nbt.data(), uLong(nbt.size())), Z_OK);
    packed.resize(size);
    EXPECT_EQ(parsed(packed).grid.block_count(), 8u);
}

TEST(Schem, UnknownNamesAreCountedWithoutTheirState) {
    Schem s;
    s.width = 5;
    s.palette = {"air", "mod:thing[a=b]", "mod:thing[a=c]", "mod:other", "mod:never_used"};
    s.cells = {1, 2, 2, 3, 0};
    const Model model = parsed(s.file());
    const std::map<std::string, std::size_t> expected{{"mod:thing", 3}, {"mod:other", 1}};
    EXPECT_EQ(model.unknown_blocks, expected);
    EXPECT_EQ(model.grid.block_count(), 4u);
    EXPECT_EQ(model.grid.type_at({0, 0, 0}).material.density, 775);
}

TEST(Schem, SidesOver32767AreUnsignedShorts) {
    const Model model = parsed(files::full_schem(40000, 1, 1).file());
    EXPECT_EQ(model.size, (Cell{40000, 1, 1}));
    EXPECT_EQ(model.grid.block_count(), 40000u);
}

TEST(Schem, OtherFormatsAreNamed) {
    files::Nbt mcedit;
    mcedit.compound("Schematic")
        .int16("Width", 1)
        .string("Materials", "Alpha")
        .byte_array("Blocks", {1})
        .end();
    const auto a = parse(files::gzip(mcedit.bytes));
    ASSERT_FALSE(a.ok());
    EXPECT_EQ(a.error().code, ErrorCode::unsupported);
    EXPECT_NE(a.error().message.find("MCEdit"), std::string::npos) << a.error().message;
    files::Nbt nothing;
    nothing.compound("").end();
    EXPECT_EQ(parse(files::gzip(nothing.bytes)).error().code, ErrorCode::bad_format);
}

TEST(WriteSchem, RoundTripKeepsNamesAndPlaces) {
    BlockTable table;
    const auto& game = BlockCatalog::blockgame();
    const BlockId stairs =
        table.add(game.find("minecraft:oak_stairs[facing=west,half=top,shape=straight]").type);
    const BlockId stone = table.add(blockgame_stone());  // named "stone"
    Material red = blockgame_stone();
    red.color = 0xff0000;
    const BlockId red_stone = table.add(red);
    ASSERT_NE(stone, red_stone);
    Grid grid(table);
    grid.set({-5, 10, 3}, stone);
    grid.set({4, 12, -2}, stairs);
    grid.set({0, 11, 0}, red_stone);
    const auto bytes = write_schem(grid);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(*bytes, *write_schem(grid));
    const Model model = parsed(*bytes);
    EXPECT_EQ(model.format, "schem 2");
    EXPECT_EQ(model.size, (Cell{10, 3, 6}));
    EXPECT_EQ(model.palette, 3);  // air, stone once, stairs
    EXPECT_EQ(model.grid.block_count(), 3u);
    EXPECT_EQ(model.grid.type_at({0, 0, 5}).name, "minecraft:stone");
    EXPECT_EQ(model.grid.type_at({5, 1, 2}).name, "minecraft:stone");
    EXPECT_EQ(model.grid.type_at({9, 2, 0}), table[stairs]);
}

TEST(WriteSchem, PaletteOver128TakesVarints) {
    BlockTable table;
    Grid grid(table);
    for (int i = 0; i < 300; i++) {
        Material m = blockgame_stone();
        m.name = "mod:b" + std::to_string(i);
        grid.set({i, 0, 0}, table.add(m));
    }
    const Model model = parsed(*write_schem(grid));
    EXPECT_EQ(model.palette, 301);
    for (int i = 0; i < 300; i++) EXPECT_EQ(model.grid.type_at({i, 0, 0}).name, "mod:b" + std::to_string(i));
}

TEST(WriteSchem, RefusesWhatDoesNotFit) {
    BlockTable table;
    const BlockId stone = table.add(blockgame_stone());
    Grid grid(table);
    EXPECT_FALSE(write_schem(grid).ok());
    grid.set({0, 0, 0}, stone);
    grid.set({65535, 0, 0}, stone);
    EXPECT_EQ(write_schem(grid).error().code, ErrorCode::too_large);
    grid.clear({65535, 0, 0});
    grid.set({65534, 0, 0}, stone);
    EXPECT_TRUE(write_schem(grid).ok());
    grid.set({2000000000, 2000000000, 2000000000}, stone);
    grid.set({-2000000000, -2000000000, -2000000000}, stone);
    EXPECT_EQ(write_schem(grid).error().code, ErrorCode::too_large);
}

}  // namespace
}  // namespace talus
