#include "io/format/blockgame_data.h"
#include "talus/formats.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

BlockCatalog from(std::string_view json) {
    auto catalog = BlockCatalog::from_json(json, "test.json");
    EXPECT_TRUE(catalog.ok()) << (catalog.ok() ? "" : catalog.error().message);
    if (!catalog.ok()) return std::move(*BlockCatalog::from_json("{}", "test.json"));
    return std::move(*catalog);
}

std::string error_of(std::string_view json) {
    const auto catalog = BlockCatalog::from_json(json, "test.json");
    return catalog.ok() ? "no error" : catalog.error().message;
}

const BlockCatalog& game() { return BlockCatalog::blockgame(); }

TEST(Catalog, TheBuiltInTableIsAMaterialsFileThatReads) {
    const auto table = BlockCatalog::from_json(blockgame_json(), "data/blockgame.json");
    ASSERT_TRUE(table.ok()) << table.error().message;
    EXPECT_GT(table->size(), 1100u);
    EXPECT_EQ(game().size(), table->size());
}

TEST(Catalog, StoneIsExactly775) {
    const auto stone = game().find("minecraft:stone");
    EXPECT_TRUE(stone.known);
    EXPECT_FALSE(stone.air);
    EXPECT_EQ(stone.type.name, "minecraft:stone");
    EXPECT_EQ(stone.type.material.density, 775.0f);
    EXPECT_EQ(stone.type.material.hardness, 1.5f);
    EXPECT_EQ(stone.type.material.blast_resistance, 6.0f);
    EXPECT_EQ(strength_of(stone.type.material), 1.0f);
    EXPECT_TRUE(stone.type.shape.is_full_cube());
    EXPECT_EQ(game().find("stone").type, stone.type);
}

TEST(Catalog, DensityIsThatOfTheMaterialClassTimes775Over2600) {
    const std::pair<const char*, const char*> cases[] = {
        {"oak_planks", "planks"},
        {"bricks", "bricks"},
        {"copper_block", "copper"},
        {"deepslate", "slate"},
        {"glass", "glass"},
        {"white_concrete", "concrete"},
        {"iron_block", "steel"},
        {"sand", "sand"},
        {"dirt", "earth"},
        {"packed_ice", "ice"},
        {"spruce_leaves", "leaves"},
        {"birch_log", "wood"},
        {"mossy_cobblestone", "stone"},
    };
    for (const auto& [block, real] : cases) {
        SCOPED_TRACE(block);
        const auto found = game().find(block);
        EXPECT_TRUE(found.known);
        EXPECT_FLOAT_EQ(found.type.material.density, find_real_material(real)->density * 775 / 2600);
    }
}

TEST(Catalog, HardnessAndStrength) {
    EXPECT_LT(game().find("bedrock").type.material.hardness, 0);
    EXPECT_FLOAT_EQ(strength_of(game().find("bedrock").type.material), 10 / 1.5f);
    EXPECT_FLOAT_EQ(game().find("obsidian").type.material.hardness, 50);
    EXPECT_FLOAT_EQ(strength_of(game().find("obsidian").type.material), 10 / 1.5f);
    EXPECT_FLOAT_EQ(strength_of(game().find("white_wool").type.material), 0.8f / 1.5f);
    EXPECT_FLOAT_EQ(strength_of(game().find("oak_leaves").type.material), 0.2f / 1.5f);
}

TEST(Catalog, ShapesFollowTheState) {
    auto volume = [](std::string_view name) { return game().find(name).type.shape.volume(); };
    EXPECT_DOUBLE_EQ(volume("oak_slab[type=bottom,waterlogged=false]"), 0.5);
    EXPECT_DOUBLE_EQ(volume("oak_slab[type=double]"), 1);
    EXPECT_DOUBLE_EQ(volume("oak_slab"), 0.5);
    EXPECT_DOUBLE_EQ(game().find("oak_slab[type=bottom]").type.shape.first_moment().y, 0.125);
    EXPECT_DOUBLE_EQ(game().find("oak_slab[type=top]").type.shape.first_moment().y, 0.375);
    EXPECT_DOUBLE_EQ(volume("oak_stairs[facing=east,half=bottom,shape=straight,waterlogged=false]"), 0.75);
    EXPECT_DOUBLE_EQ(volume("oak_stairs[shape=inner_left]"), 0.875);
    EXPECT_DOUBLE_EQ(volume("oak_stairs[shape=outer_left]"), 0.625);
    // Stairs that face east are full on their east side.
    const DVec3 east =
        game().find("oak_stairs[facing=east,half=bottom,shape=straight]").type.shape.first_moment();
    EXPECT_DOUBLE_EQ(east.x, 0.5 * 0.5 + 0.25 * 0.75);
    EXPECT_DOUBLE_EQ(east.z, 0.375);
    // A fence's collision is 1.5 high; what does not fit into its cell is cut off.
    EXPECT_DOUBLE_EQ(volume("oak_fence"), 0.25 * 0.25);
    EXPECT_DOUBLE_EQ(volume("oak_fence[east=true,north=false,south=false,waterlogged=true,west=true]"), 0.25);
    EXPECT_DOUBLE_EQ(volume("white_carpet"), 0.0625);
    EXPECT_NEAR(volume("glass_pane[east=true,west=true]"), 0.125, 1e-9);
}

TEST(Catalog, AStateThatIsNotThereIsLikeNone) {
    const auto plain = game().find("oak_slab");
    for (const char* odd : {"oak_slab[type=sideways]", "oak_slab[color=red]", "oak_slab[", "oak_slab[]",
                            "oak_slab[type]", "oak_slab[=,=,]"}) {
        const auto found = game().find(odd);
        EXPECT_TRUE(found.known) << odd;
        EXPECT_EQ(found.type.shape, plain.type.shape) << odd;
    }
}

TEST(Catalog, NonSolidsHaveNoCollisionAndNoWeight) {
    for (const char* name : {"torch", "wall_torch[facing=north]", "poppy", "oak_sign", "oak_wall_sign",
                             "water", "short_grass", "rail", "oak_fence_gate[open=true]", "snow[layers=1]"}) {
        const auto found = game().find(name);
        EXPECT_TRUE(found.known) << name;
        EXPECT_FALSE(found.type.material.solid) << name;
        EXPECT_EQ(found.type.material.density, 0) << name;
        EXPECT_GT(found.type.shape.volume(), 0) << name;  // there is something to draw
    }
    for (const char* name : {"oak_fence_gate[open=false]", "snow[layers=2]", "oak_door[open=true]", "chest"})
        EXPECT_TRUE(game().find(name).type.material.solid) << name;
    // A torch on a wall leans against the block behind it: facing north, that is the south side.
    EXPECT_GT(game().find("wall_torch[facing=north]").type.shape.boxes()[0].min.z, 0.5f);
}

TEST(Catalog, LeavesAreSoftAndBurn) {
    const auto leaves = game().find("oak_leaves[distance=7,persistent=true]");
    EXPECT_TRUE(leaves.type.material.soft);
    EXPECT_TRUE(leaves.type.material.solid);
    EXPECT_GT(leaves.type.material.flammability, 0);
    EXPECT_FALSE(game().find("white_wool").type.material.soft);
    EXPECT_FALSE(game().find("hay_block").type.material.soft);
    EXPECT_EQ(game().find("stone").type.material.flammability, 0);
}

TEST(Catalog, AirIsAir) {
    for (const char* name :
         {"air", "minecraft:air", "minecraft:cave_air", "void_air", "minecraft:structure_void"}) {
        EXPECT_TRUE(game().find(name).air) << name;
        EXPECT_TRUE(game().find(name).known) << name;
    }
    EXPECT_FALSE(game().find("other:air").air);
}

TEST(Catalog, UnknownNamesGetTheDefault) {
    const auto found = game().find("create:cogwheel[axis=x]");
    EXPECT_FALSE(found.known);
    EXPECT_EQ(found.type.name, "create:cogwheel[axis=x]");
    EXPECT_EQ(found.type.material, blockgame_stone());
    EXPECT_TRUE(found.type.shape.is_full_cube());
    EXPECT_FALSE(game().find("").known);
    EXPECT_FALSE(game().find("other:stone").known);
}

TEST(Catalog, NamesOfOlderVersionsAreKnown) {
    for (const char* name :
         {"grass", "grass_path", "chain", "sign", "short_grass", "dirt_path", "iron_chain"})
        EXPECT_TRUE(game().find(name).known) << name;
}

TEST(Catalog, EveryColourIsGiven) {
    const std::uint32_t stone = game().find("stone").type.material.color;
    for (const char* name : {"oak_planks", "spruce_planks", "red_wool", "blue_concrete", "grass_block",
                             "glass", "bricks", "oak_leaves", "deepslate", "gold_block"})
        EXPECT_NE(game().find(name).type.material.color, stone) << name;
    EXPECT_EQ(game().find("red_wool").type.material.color, 0xa42a26u);
}

TEST(Catalog, MaterialsFileChangesOnlyWhatItSays) {
    const BlockCatalog catalog =
        from(R"({"blocks": {"minecraft:stone": {"density": 2600, "color": "#102030"}}})");
    const auto stone = catalog.find("stone");
    EXPECT_EQ(stone.type.material.density, 2600);
    EXPECT_EQ(stone.type.material.color, 0x102030u);
    EXPECT_EQ(stone.type.material.hardness, 1.5f);
    EXPECT_EQ(catalog.find("oak_planks").type, game().find("oak_planks").type);
    EXPECT_EQ(game().find("stone").type.material.density, 775);  // the built-in table is as it was
}

TEST(Catalog, MaterialsFileAddsBlocks) {
    const BlockCatalog catalog = from(R"({
      "shapes": [[[0, 0, 0, 1, 0.25, 1]], {"ghost": [[0.4, 0, 0.4, 0.6, 0.5, 0.6]]}],
      "blocks": {
        "create:cogwheel": {"material": "planks", "hardness": 3, "blast_resistance": 4, "friction": 0.5,
                            "restitution": 0.3, "flammability": 0.25, "soft": true, "floats": false, "shape": 0},
        "my:lever": {"states": [["on", ["no", "yes"]], ["side", ["a", "b"]]],
                     "state_shapes": [0, [[0, 0, 0, 1, 1, 1]], 1, 0], "default_state": 1},
        "my:wall": {"shape": [[0, 0, 0, 1, 1, 0.5], [0, 0, 0.25, 1, 1, 0.75]]},
        "my:ghost": {"solid": false},
        "my:anvil": {"hardness": null}
      }})");
    const Material wheel = catalog.find("create:cogwheel").type.material;
    EXPECT_EQ(wheel.name, "create:cogwheel");
    EXPECT_FLOAT_EQ(wheel.density, 600 * 775.0f / 2600);
    EXPECT_EQ(wheel.hardness, 3);
    EXPECT_EQ(wheel.blast_resistance, 4);
    EXPECT_EQ(wheel.friction, 0.5f);
    EXPECT_EQ(wheel.restitution, 0.3f);
    EXPECT_EQ(wheel.flammability, 0.25f);
    EXPECT_TRUE(wheel.soft);
    EXPECT_FALSE(wheel.floats);
    EXPECT_DOUBLE_EQ(catalog.find("create:cogwheel").type.shape.volume(), 0.25);
    EXPECT_DOUBLE_EQ(catalog.find("my:lever").type.shape.volume(), 1);
    EXPECT_DOUBLE_EQ(catalog.find("my:lever[side=a]").type.shape.volume(), 0.25);
    EXPECT_FALSE(catalog.find("my:lever[on=yes,side=a]").type.material.solid);
    EXPECT_DOUBLE_EQ(catalog.find("my:lever[on=yes]").type.shape.volume(), 0.25);  // side keeps its default b
    EXPECT_DOUBLE_EQ(catalog.find("my:wall").type.shape.volume(), 0.75);
    EXPECT_FALSE(catalog.find("my:ghost").type.material.solid);
    EXPECT_EQ(catalog.find("my:anvil").type.material.hardness, -1);
}

TEST(Catalog, AnEmptyBaseKnowsNothing) {
    const BlockCatalog catalog = from(R"({"base": "empty", "blocks": {"brick": {"material": "bricks"}}})");
    EXPECT_EQ(catalog.size(), 1u);
    EXPECT_FALSE(catalog.find("stone").known);
    EXPECT_TRUE(catalog.find("brick").known);
}

TEST(Catalog, PaletteEntries) {
    const auto plain = game().palette_entry(7, 0x123456);
    EXPECT_TRUE(plain.known);
    EXPECT_EQ(plain.type.material.density, 775);
    EXPECT_EQ(plain.type.material.color, 0x123456u);
    EXPECT_EQ(plain.type.name, "minecraft:stone");
    const BlockCatalog catalog = from(R"({
      "palette": {"7": "oak_planks", "9-11": "minecraft:glass", "12": "air", "13": "oak_slab[type=top]"},
      "vox_materials": {"metal": "iron_block"}})");
    EXPECT_EQ(catalog.palette_entry(7, 1).type.name, "minecraft:oak_planks");
    EXPECT_EQ(catalog.palette_entry(7, 0x010203).type.material.color, 0x010203u);
    EXPECT_EQ(catalog.palette_entry(8, 1).type.name, "minecraft:stone");
    for (int i = 9; i <= 11; i++) EXPECT_EQ(catalog.palette_entry(i, 1).type.name, "minecraft:glass");
    EXPECT_TRUE(catalog.palette_entry(12, 1).air);
    EXPECT_DOUBLE_EQ(catalog.palette_entry(13, 1).type.shape.volume(), 0.5);
    EXPECT_EQ(catalog.palette_entry(1, 1, "metal").type.name, "minecraft:iron_block");
    EXPECT_EQ(catalog.palette_entry(7, 1, "metal").type.name,
              "minecraft:oak_planks");  // the entry goes first
}

TEST(Catalog, ErrorsNameTheKeyAndThePlace) {
    const std::pair<const char*, const char*> cases[] = {
        {"", "not valid JSON"},
        {"{\n\"blocks\": }", "line 2"},
        {"[]", "should be an object"},
        {"{\"bloks\": {}}", "\"bloks\" is not a key"},
        {R"({"base": "real"})", "\"base\""},
        {R"({"blocks": []})", "\"blocks\" should be an object"},
        {R"({"blocks": {"stone": 3}})", "\"blocks.stone\" should be an object"},
        {R"({"blocks": {"stone": {"densty": 3}}})", "\"blocks.stone.densty\" is not a key"},
        {R"({"blocks": {"stone": {"density": "3"}}})", "\"blocks.stone.density\" should be a number"},
        {R"({"blocks": {"stone": {"density": -3}}})", "\"blocks.stone.density\" is -3"},
        {R"({"blocks": {"stone": {"density": 0}}})", "\"blocks.stone.density\" is 0, but the block is solid"},
        {R"({"blocks": {"stone": {"density": 1e999}}})", "test.json"},
        {R"({"blocks": {"stone": {"hardness": 1e30}}})", "\"blocks.stone.hardness\""},
        {R"({"blocks": {"stone": {"color": "red"}}})", "\"blocks.stone.color\" should be a colour"},
        {R"({"blocks": {"stone": {"solid": 1}}})", "\"blocks.stone.solid\" should be true or false"},
        {R"({"blocks": {"stone": {"material": "cheese"}}})", "not one of: stone, bricks"},
        {R"({"blocks": {"stone": {"shape": 0}}})", "\"blocks.stone.shape\" is not a number of the list"},
        {R"({"blocks": {"stone": {"shape": [[0,0,0,1,1]]}}})", "\"blocks.stone.shape[0]\" should have six"},
        {R"({"blocks": {"stone": {"shape": [[0,0,0,1,1,2]]}}})", "\"blocks.stone.shape[0][5]\""},
        {R"({"blocks": {"stone": {"shape": [[0,0,1,1,1,0]]}}})", "has no inside"},
        {R"({"blocks": {"stone": {"shape": {"gost": []}}}})", "\"blocks.stone.shape.gost\""},
        {R"({"blocks": {"stone": {"states": []}}})", "misses the key \"state_shapes\""},
        {R"({"blocks": {"stone": {"states": [["a", ["x", "y"]]], "state_shapes": [[]]}}})",
         "1 entries for 2"},
        {R"({"blocks": {"air": {}}})", "\"blocks.air\" is not a block name"},
        {R"({"blocks": {"stone[a=b]": {}}})", "is not a block name"},
        {R"({"palette": {"0": "stone"}})", "\"palette.0\" should be a palette entry"},
        {R"({"palette": {"256": "stone"}})", "\"palette.256\""},
        {R"({"palette": {"5-x": "stone"}})", "\"palette.5-x\""},
        {R"({"palette": {"5": "no_such"}})", "\"palette.5\" is \"no_such\", a block that is not known"},
        {R"({"vox_materials": {"metal": 3}})", "\"vox_materials.metal\" should be a text"},
    };
    for (const auto& [json, message] : cases) {
        const std::string error = error_of(json);
        EXPECT_NE(error.find(message), std::string::npos) << json << "\n  gives: " << error;
        EXPECT_EQ(error.find("test.json: "), 0u) << error;
    }
    const auto missing = BlockCatalog::read("/no/such/file.json");
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace talus
