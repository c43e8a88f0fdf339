#include "build_files.h"
#include "talus/formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace talus {
namespace {

using files::Bytes;
using files::Vox;
using files::Voxel;

Model parsed(const Bytes& bytes, const BlockCatalog& catalog = BlockCatalog::blockgame()) {
    auto model = parse_model(bytes, "test.vox", catalog);
    EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
    return model.ok() ? std::move(*model) : Model();
}

std::set<Cell> cells_of(const Model& model) {
    std::set<Cell> cells;
    model.grid.for_each([&](Cell c, BlockId) { cells.insert(c); });
    return cells;
}

/// An L of four voxels that no rotation or mirror maps to itself, in a box of 2 x 3 x 4.
const std::vector<Voxel> kHook{{0, 0, 0, 1}, {1, 0, 0, 2}, {0, 2, 0, 3}, {0, 0, 3, 4}};
Vox hook() { return Vox().size(2, 3, 4).voxels(kHook); }

TEST(Vox, ZUpBecomesYUpAndKeepsHandedness) {
    const Model model = parsed(hook().file());
    EXPECT_EQ(model.format, "vox");
    EXPECT_EQ(model.size, (Cell{2, 4, 3}));
    EXPECT_EQ(model.palette, 4);
    // (x, y, z) -> (x, z, 2 - y)
    const std::set<Cell> expected{{0, 0, 2}, {1, 0, 2}, {0, 0, 0}, {0, 3, 2}};
    EXPECT_EQ(cells_of(model), expected);
    // Red, along the file's x, is still turned into its y by a turn to the left seen from above.
    EXPECT_EQ(model.grid.type_at({1, 0, 2}).material.density, 775);
}

TEST(Vox, DefaultPaletteAndOwnPalette) {
    const Model model = parsed(
        Vox().size(4, 1, 1).voxels({{0, 0, 0, 1}, {1, 0, 0, 2}, {2, 0, 0, 216}, {3, 0, 0, 255}}).file());
    EXPECT_EQ(model.grid.type_at({0, 0, 0}).material.color, 0xffffffu);
    EXPECT_EQ(model.grid.type_at({1, 0, 0}).material.color, 0xffffccu);
    EXPECT_EQ(model.grid.type_at({2, 0, 0}).material.color, 0xee0000u);
    EXPECT_EQ(model.grid.type_at({3, 0, 0}).material.color, 0x111111u);
    Bytes rgba(1024, 0);
    rgba[0] = 0x12;
    rgba[1] = 0x34;
    rgba[2] = 0x56;
    rgba[3] = 0xff;
    const Model own = parsed(Vox().size(1, 1, 1).voxels({{0, 0, 0, 1}}).chunk("RGBA", rgba).file());
    EXPECT_EQ(own.grid.type_at({0, 0, 0}).material.color, 0x123456u);
}

TEST(Vox, UnknownChunksAndIndexZeroAreLeftOut) {
    const Model model = parsed(Vox()
                                   .chunk("NOTE", {1, 2, 3})
                                   .size(2, 1, 1)
                                   .voxels({{0, 0, 0, 0}, {1, 0, 0, 9}})
                                   .chunk("rCAM", {})
                                   .file());
    EXPECT_EQ(model.grid.block_count(), 1u);
    EXPECT_EQ(model.palette, 1);
    EXPECT_EQ(model.size, (Cell{2, 1, 1}));
}

/// Applies a rotation byte to a point the slow way: as a matrix on doubled coordinates.
struct Slow {
    int m[3][3] = {};
    explicit Slow(int byte) {
        const int a = byte & 3, b = (byte >> 2) & 3;
        m[0][a] = byte & 16 ? -1 : 1;
        m[1][b] = byte & 32 ? -1 : 1;
        m[2][3 - a - b] = byte & 64 ? -1 : 1;
    }
    int determinant() const {
        return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
               m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
               m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    }
};

TEST(Vox, All48RotationsAndMirrors) {
    int tried = 0, mirrors = 0;
    for (int byte = 0; byte < 128; byte++) {
        const int a = byte & 3, b = (byte >> 2) & 3;
        if (a == 3 || b == 3 || a == b) continue;
        SCOPED_TRACE(byte);
        tried++;
        const Slow slow(byte);
        mirrors += slow.determinant() < 0;
        // Where each voxel goes: turn about the corner at size / 2 (rounded down), then move.
        std::vector<std::array<int, 3>> at;
        int low[3] = {99, 99, 99}, high[3] = {-99, -99, -99};
        auto turned = [&](const Voxel& v) {
            const double p[3] = {v.x + 0.5 - 1, v.y + 0.5 - 1, v.z + 0.5 - 2};
            std::array<int, 3> out{};
            for (int i = 0; i < 3; i++) {
                double sum = 0;
                for (int k = 0; k < 3; k++) sum += slow.m[i][k] * p[k];
                out[std::size_t(i)] = int(std::floor(sum));
            }
            return out;
        };
        for (int x = 0; x < 2; x++)
            for (int y = 0; y < 3; y++)
                for (int z = 0; z < 4; z++) {
                    const auto out = turned({x, y, z, 0});
                    for (std::size_t i = 0; i < 3; i++) {
                        low[i] = std::min(low[i], out[i]);
                        high[i] = std::max(high[i], out[i]);
                    }
                }
        std::set<Cell> expected;
        for (const Voxel& v : kHook) {
            const auto out = turned(v);
            expected.insert({out[0] - low[0], out[2] - low[2], high[1] - out[1]});
        }
        Vox file = hook();
        file.transform(0, 1)
            .group(1, {2})
            .transform(2, 3, {{"_r", std::to_string(byte)}, {"_t", "5 -7 9"}})
            .shape(3, 0);
        const Model model = parsed(file.file());
        EXPECT_EQ(cells_of(model), expected);
        EXPECT_EQ(model.size, (Cell{high[0] - low[0] + 1, high[2] - low[2] + 1, high[1] - low[1] + 1}));
    }
    EXPECT_EQ(tried, 48);
    EXPECT_EQ(mirrors, 24);
}

TEST(Vox, TransformsAboveEachOtherAndSharedModels) {
    // One voxel at +3 on x, turned a quarter about z (x to y) above, shown twice through a shared shape.
    Vox file = Vox().size(1, 1, 1).voxels({{0, 0, 0, 1}});
    const int quarter = 1 | 0 << 2 | 1 << 4;  // rows: -y, +x, +z
    file.transform(0, 1).group(1, {2, 5});
    file.transform(2, 3, {{"_r", std::to_string(quarter)}, {"_t", "0 0 0"}}).group(3, {4});
    file.transform(4, 6, {{"_t", "3 0 0"}});
    file.transform(5, 6, {{"_t", "0 0 0"}});
    file.shape(6, 0);
    const Model model = parsed(file.file());
    // The second lies at (0, 0, 0). The first: (3, 0, 0) + voxel, turned: its cell's corner goes to (-1, 3,
    // 0).
    EXPECT_EQ(model.size, (Cell{2, 1, 4}));
    const std::set<Cell> expected{{1, 0, 3}, {0, 0, 0}};
    EXPECT_EQ(cells_of(model), expected);
}

TEST(Vox, LaterModelsWinWhereTheyOverlap) {
    auto color = [](const Model& m) { return m.grid.type_at({0, 0, 0}).material.color; };
    Vox two = Vox().size(1, 1, 1).voxels({{0, 0, 0, 1}}).size(1, 1, 1).voxels({{0, 0, 0, 216}});
    EXPECT_EQ(color(parsed(two.file())), 0xee0000u);  // without a scene graph
    for (const bool swapped : {false, true}) {        // with one: the order of its nodes does not matter
        Vox file = two;
        file.transform(0, 1).group(1, swapped ? std::vector{4, 2} : std::vector{2, 4});
        file.transform(2, 3).shape(3, 0).transform(4, 5).shape(5, 1);
        const Model model = parsed(file.file());
        EXPECT_EQ(color(model), 0xee0000u);
        EXPECT_EQ(model.grid.block_count(), 1u);
    }
}

TEST(Vox, HiddenNodesAndLayersAreLeftOut) {
    auto file = [](const files::Dict& node, const files::Dict& layer) {
        Vox f = Vox().size(1, 1, 1).voxels({{0, 0, 0, 1}});
        f.transform(0, 1).group(1, {2, 4});
        f.transform(2, 3, {{"_t", "0 0 0"}}).shape(3, 0);
        f.transform(4, 5, {{"_t", "5 0 0"}}, node, 2).shape(5, 0);
        f.layer(2, layer);
        return f.file();
    };
    EXPECT_EQ(parsed(file({}, {})).grid.block_count(), 2u);
    EXPECT_EQ(parsed(file({{"_hidden", "0"}}, {{"_hidden", "0"}})).grid.block_count(), 2u);
    EXPECT_EQ(parsed(file({{"_hidden", "1"}}, {})).grid.block_count(), 1u);
    EXPECT_EQ(parsed(file({{"_hidden", "1"}}, {})).size, (Cell{1, 1, 1}));
    EXPECT_EQ(parsed(file({}, {{"_hidden", "1"}})).grid.block_count(), 1u);
    Vox all = Vox().size(1, 1, 1).voxels({{0, 0, 0, 1}});
    all.transform(0, 1, {}, {{"_hidden", "1"}}).shape(1, 0);
    EXPECT_EQ(parsed(all.file()).grid.block_count(), 0u);
}

TEST(Vox, AnAnimationShowsItsEarliestFrame) {
    Vox file = Vox().size(1, 1, 1).voxels({{0, 0, 0, 1}});
    file.transform(0, 1).group(1, {2, 4});
    file.transform_frames(2, 3, {{{"_t", "9 0 0"}, {"_f", "10"}}, {{"_t", "2 0 0"}, {"_f", "0"}}})
        .shape(3, 0);
    file.transform(4, 3);
    EXPECT_EQ(parsed(file.file()).size, (Cell{3, 1, 1}));
}

TEST(Vox, MaterialsFileMapsPaletteAndMaterials) {
    const auto catalog = BlockCatalog::from_json(
        R"({"palette": {"1": "oak_planks", "2": "air"}, "vox_materials": {"glass": "glass"}})", "m.json");
    ASSERT_TRUE(catalog.ok()) << catalog.error().message;
    Vox file = Vox().size(4, 1, 1).voxels({{0, 0, 0, 1}, {1, 0, 0, 2}, {2, 0, 0, 3}, {3, 0, 0, 4}});
    file.material(3, {{"_type", "_glass"}, {"_alpha", "0.5"}}).material(4, {{"_type", "_diffuse"}});
    const Model model = parsed(file.file(), *catalog);
    EXPECT_EQ(model.grid.type_at({0, 0, 0}).name, "minecraft:oak_planks");
    EXPECT_EQ(model.grid.type_at({0, 0, 0}).material.color, 0xffffffu);  // as in the file
    EXPECT_FALSE(model.grid.has({1, 0, 0}));
    EXPECT_EQ(model.grid.type_at({2, 0, 0}).name, "minecraft:glass");
    EXPECT_EQ(model.grid.type_at({3, 0, 0}).name, "minecraft:stone");
    EXPECT_EQ(model.palette, 4);
}

TEST(Vox, AnIndexMapRenumbersWhatTheEditorShows) {
    Bytes map(256);
    for (std::size_t i = 0; i < 256; i++) map[i] = std::uint8_t(i + 1);
    std::swap(map[0], map[4]);  // the editor's entry 1 is the file's index 5
    const auto catalog = BlockCatalog::from_json(R"({"palette": {"1": "oak_planks"}})", "m.json");
    const Model model =
        parsed(Vox().size(2, 1, 1).voxels({{0, 0, 0, 5}, {1, 0, 0, 1}}).chunk("IMAP", map).file(), *catalog);
    EXPECT_EQ(model.grid.type_at({0, 0, 0}).name, "minecraft:oak_planks");
    EXPECT_EQ(model.grid.type_at({0, 0, 0}).material.color, 0xffff33u);  // colour 5 of the default palette
    EXPECT_EQ(model.grid.type_at({1, 0, 0}).name, "minecraft:stone");
}

}  // namespace
}  // namespace talus
