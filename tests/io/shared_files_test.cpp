// Facts of real files. Skipped, by name, where the folder of shared files is not there.
#include "build_files.h"
#include "talus/formats.h"

#include <gtest/gtest.h>

#include <cstring>

namespace talus {
namespace {

Model read(const std::filesystem::path& path) {
    auto model = read_model(path.string(), BlockCatalog::blockgame());
    EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
    return model.ok() ? std::move(*model) : Model();
}

TEST(SharedFiles, Suv) {
    TALUS_NEEDS_SHARED(path, "files/mmmm-veh_suv2.vox");
    const Model model = read(path);
    EXPECT_EQ(model.size, (Cell{15, 14, 32}));
    EXPECT_EQ(model.grid.block_count(), 3235u);
    EXPECT_EQ(model.grid.solid_count(), 3235u);
}

TEST(SharedFiles, House7) {
    TALUS_NEEDS_SHARED(path, "files/mmmm-scene_house7.vox");
    const Model model = read(path);
    EXPECT_EQ(model.size, (Cell{126, 64, 126}));
    EXPECT_EQ(model.grid.block_count(), 103974u);
}

TEST(SharedFiles, MultipleModelScene) {
    TALUS_NEEDS_SHARED(path, "files/ogt-test_multiple_model_scene.vox");
    const files::Bytes bytes = files::read(path);
    int models = 0, transforms = 0, shapes = 0;
    long voxels = 0;
    for (std::size_t i = 0; i + 16 < bytes.size(); i++) {
        models += std::memcmp(&bytes[i], "XYZI", 4) == 0;
        transforms += std::memcmp(&bytes[i], "nTRN", 4) == 0;
        shapes += std::memcmp(&bytes[i], "nSHP", 4) == 0;
        if (std::memcmp(&bytes[i], "XYZI", 4) == 0) voxels += bytes[i + 12] + 256 * bytes[i + 13];
    }
    EXPECT_EQ(models, 41);
    EXPECT_EQ(transforms, 105);
    EXPECT_EQ(shapes, 43);
    EXPECT_EQ(voxels, 6053);
    // Shared models are shown more than once; where models overlap a cell counts once.
    const Model model = read(path);
    EXPECT_GT(model.grid.block_count(), 6053u);
    EXPECT_GT(model.palette, 1);
}

TEST(SharedFiles, PlaceholderWithMaterials) {
    TALUS_NEEDS_SHARED(path, "files/dotvox-placeholder-with-materials.vox");
    const Model model = read(path);
    EXPECT_EQ(model.size, (Cell{2, 2, 2}));
    EXPECT_EQ(model.grid.block_count(), 4u);
}

TEST(SharedFiles, SpongeVersion1) {  // case 38: entries equal volume though they take more bytes
    TALUS_NEEDS_SHARED(path, "files/s4j-sponge-v1.schem");
    const Model model = read(path);
    EXPECT_EQ(model.format, "schem 1");
    EXPECT_EQ(model.size, (Cell{1, 41, 9}));
    EXPECT_EQ(model.palette, 366);
    std::size_t used = 0, air = 0;
    std::vector<char> seen(model.table->size(), 0);
    for (int y = 0; y < 41; y++)
        for (int z = 0; z < 9; z++) {
            const BlockId id = model.grid.get({0, y, z});
            air += id == kAir;
            if (!seen[id]) used++;
            seen[id] = 1;
        }
    EXPECT_EQ(air + model.grid.block_count(), 369u);
    EXPECT_EQ(used, 360u);
}

TEST(SharedFiles, SpongeVersion2GreenCottage) {
    TALUS_NEEDS_SHARED(path, "files/s4j-sponge-v2-green-cottage.schem");
    const Model model = read(path);
    EXPECT_EQ(model.format, "schem 2");
    EXPECT_EQ(model.size, (Cell{17, 12, 12}));  // its offset is that of the place it came from
    EXPECT_EQ(model.palette, 40);
    EXPECT_TRUE(model.unknown_blocks.empty());
}

TEST(SharedFiles, SpongeVersion3) {
    TALUS_NEEDS_SHARED(path, "files/s4j-sponge-v3.schem");
    const Model model = read(path);
    EXPECT_EQ(model.format, "schem 3");
    EXPECT_EQ(model.size, (Cell{17, 12, 12}));
    EXPECT_EQ(model.palette, 40);
    TALUS_NEEDS_SHARED(v2, "files/s4j-sponge-v2-green-cottage.schem");
    EXPECT_EQ(model.grid.block_count(), read(v2).grid.block_count());  // the same cottage
}

TEST(SharedFiles, SmallHouse) {
    TALUS_NEEDS_SHARED(path, "files/prismarine-smallhouse1.schem");
    const Model model = read(path);
    EXPECT_EQ(model.format, "schem 2");
    EXPECT_EQ(model.size, (Cell{21, 28, 20}));
    EXPECT_EQ(model.palette, 173);
    EXPECT_TRUE(model.unknown_blocks.empty());
    // Written and read again it is the same.
    const auto bytes = write_schem(model.grid);
    ASSERT_TRUE(bytes.ok());
    const auto again = parse_model(*bytes, "again", BlockCatalog::blockgame());
    ASSERT_TRUE(again.ok()) << again.error().message;
    const Cell corner = model.grid.bounds().min;
    EXPECT_EQ(again->grid.block_count(), model.grid.block_count());
    model.grid.for_each(
        [&](Cell c, BlockId id) { EXPECT_EQ(again->grid.type_at(c - corner), (*model.table)[id]); });
}

TEST(SharedFiles, FormatsOfLaterAreNamedNotGuessed) {
    const std::pair<const char*, const char*> cases[] = {
        {"files/prismarine-viking-house1.schematic", "MCEdit"},
        {"files/s4j-litematica-v5-mansion.litematic", "Litematica"},
        {"files/create-windmill_structure.nbt", "structure block"},
    };
    for (const auto& [name, word] : cases) {
        TALUS_NEEDS_SHARED(path, name);
        const auto model = read_model(path.string(), BlockCatalog::blockgame());
        ASSERT_FALSE(model.ok());
        EXPECT_EQ(model.error().code, ErrorCode::unsupported);
        EXPECT_NE(model.error().message.find(word), std::string::npos) << model.error().message;
    }
}

TEST(SharedFiles, Scenes) {
    const std::pair<const char*, std::size_t> cases[] = {
        {"tower-60000", 60000},        {"tower-1000000", 996219}, {"building-1000", 1171},
        {"building-10000", 11384},     {"building-60000", 61379}, {"building-250000", 257256},
        {"building-1000000", 1014076}, {"hall-10000", 11500},     {"hall-60000", 67068},
        {"hall-1000000", 1001088},     {"viaduct-10000", 11792},  {"viaduct-60000", 60600},
    };
    for (const auto& [name, blocks] : cases) {
        SCOPED_TRACE(name);
        TALUS_NEEDS_SHARED(path, std::string("scenes/") + name + ".schem");
        const Model model = read(path);
        EXPECT_EQ(model.grid.block_count(), blocks);
        EXPECT_EQ(model.grid.solid_count(), blocks);
        EXPECT_EQ(model.grid.bounds().min.y, 0);
    }
}

}  // namespace
}  // namespace talus
