// A schematic whose palette has over 128 entries: cells take more bytes than there are cells, and reading one
// byte a cell gives the wrong blocks in the wrong places.
#include "talus/formats.h"
#include "tests/io/build_files.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

TEST(Case38, PaletteOver128IsReadAsVarints) {
    files::Schem s;
    s.width = 20;
    s.height = 10;
    s.length = 100;  // 20,000 cells, palette 20,000: numbers of one, two and three bytes
    for (int i = 0; i < 20000; i++) s.palette.push_back("mod:b" + std::to_string(i));
    for (std::uint32_t i = 0; i < 20000; i++) s.cells.push_back((i * 7919) % 20000);
    for (const int version : {0, 1, 2, 3}) {
        s.version = version;
        ASSERT_GT(s.data().size(), s.cells.size());
        const auto model = parse_model(s.file(), "case 38", BlockCatalog::blockgame());
        ASSERT_TRUE(model.ok()) << model.error().message;
        EXPECT_EQ(model->grid.block_count(), 20000u);
        EXPECT_EQ(model->palette, 20000);
        std::size_t i = 0;
        for (int y = 0; y < 10; y++)
            for (int z = 0; z < 100; z++)
                for (int x = 0; x < 20; x++)
                    ASSERT_EQ(model->grid.type_at({x, y, z}).name, s.palette[s.cells[i++]]);
    }
}

TEST(Case38, BytesCountedAsCellsAreAnError) {
    files::Schem s;
    s.width = 4;
    s.palette.assign(1, "minecraft:air");
    for (int i = 1; i < 200; i++) s.palette.push_back("mod:b" + std::to_string(i));
    s.cells = {150, 150};  // four bytes, two cells
    const auto model = parse_model(s.file(), "case 38", BlockCatalog::blockgame());
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.error().code, ErrorCode::truncated);
}

}  // namespace
}  // namespace talus
