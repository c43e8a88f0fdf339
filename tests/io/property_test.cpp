// What must hold for any file: whatever is written is read back, whatever is damaged gives a value or an
// error.
#include "build_files.h"
#include "talus/formats.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace talus {
namespace {

using files::Bytes;

const std::vector<std::string> kNames{
    "minecraft:stone", "minecraft:oak_planks", "minecraft:oak_slab[type=top]",
    "minecraft:torch", "mod:thing[a=b]",       "minecraft:oak_fence[east=true]"};

RC_GTEST_PROP(SchemProperty, WrittenIsReadBack, ()) {
    const Model made;
    std::vector<BlockId> ids;
    for (const std::string& name : kNames)
        ids.push_back(made.table->add(BlockCatalog::blockgame().find(name).type));
    Grid grid(*made.table);
    const auto coordinate = rc::gen::inRange(-40, 40);
    const auto cells = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::tuple<int, int, int, int>>>(
        rc::gen::tuple(coordinate, coordinate, coordinate, rc::gen::inRange(0, int(kNames.size())))));
    for (const auto& [x, y, z, which] : cells) grid.set({x, y, z}, ids[std::size_t(which)]);
    const auto bytes = write_schem(grid);
    RC_ASSERT(bytes.ok());
    const auto model = parse_model(*bytes, "written", BlockCatalog::blockgame());
    RC_ASSERT(model.ok());
    const CellBox box = grid.bounds();
    RC_ASSERT(model->size == (Cell{1, 1, 1} + box.max - box.min));
    RC_ASSERT(model->grid.block_count() == grid.block_count());
    grid.for_each(
        [&](Cell c, BlockId id) { RC_ASSERT(model->grid.type_at(c - box.min) == (*made.table)[id]); });
}

RC_GTEST_PROP(SchemProperty, AnyVersionAndPaletteReadsTheSame, ()) {
    files::Schem s;
    s.width = *rc::gen::inRange(1, 6);
    s.height = *rc::gen::inRange(1, 6);
    s.length = *rc::gen::inRange(1, 6);
    const int names = *rc::gen::inRange(1, 400);
    for (int i = 0; i < names; i++) s.palette.push_back("mod:b" + std::to_string(i));
    const std::size_t volume = std::size_t(s.width * s.height * s.length);
    s.cells = *rc::gen::container<std::vector<std::uint32_t>>(
        volume, rc::gen::inRange<std::uint32_t>(0, std::uint32_t(names)));
    for (const int version : {0, 1, 2, 3}) {
        s.version = version;
        const auto model = parse_model(s.file(), "made", BlockCatalog::blockgame());
        RC_ASSERT(model.ok());
        RC_ASSERT(model->grid.block_count() == volume);
        std::size_t i = 0;
        for (int y = 0; y < s.height; y++)
            for (int z = 0; z < s.length; z++)
                for (int x = 0; x < s.width; x++)
                    RC_ASSERT(model->grid.type_at({x, y, z}).name == s.palette[s.cells[i++]]);
    }
}

/// Changes, removes and repeats bytes at random places.
Bytes damaged(Bytes bytes) {
    const int changes = *rc::gen::inRange(1, 8);
    for (int i = 0; i < changes && !bytes.empty(); i++) {
        const std::size_t at = *rc::gen::inRange<std::size_t>(0, bytes.size());
        switch (*rc::gen::inRange(0, 4)) {
            case 0:
                bytes[at] = *rc::gen::arbitrary<std::uint8_t>();
                break;
            case 1:
                bytes[at] = *rc::gen::element<std::uint8_t>(0, 1, 0x7f, 0x80, 0xff);
                break;
            case 2:
                bytes.erase(bytes.begin() + std::ptrdiff_t(at));
                break;
            default:
                bytes.insert(bytes.begin() + std::ptrdiff_t(at), bytes[at]);
                break;
        }
    }
    return bytes;
}

void survives(const Bytes& bytes) {
    const auto model = parse_model(bytes, "damaged", BlockCatalog::blockgame());
    if (!model.ok()) {
        RC_ASSERT(model.error().message.find("damaged: ") == 0);
        return;
    }
    // What was read is at least whole: inside its size, types known to its table.
    const CellBox box = model->grid.bounds();
    if (!box.empty()) {
        RC_ASSERT(box.min.x >= 0 && box.min.y >= 0 && box.min.z >= 0);
        RC_ASSERT(box.max.x < model->size.x && box.max.y < model->size.y && box.max.z < model->size.z);
    }
}

RC_GTEST_PROP(DamageProperty, Nbt, ()) {
    files::Schem s = files::full_schem(3, 2, 2, "minecraft:oak_stairs[half=top]");
    s.version = *rc::gen::inRange(0, 4);
    survives(damaged(s.nbt()));
}

RC_GTEST_PROP(DamageProperty, Gzip, ()) { survives(damaged(files::full_schem(9, 9, 9).file())); }

RC_GTEST_PROP(DamageProperty, Vox, ()) {
    files::Vox vox = files::Vox().size(2, 3, 2).voxels({{0, 0, 0, 1}, {1, 2, 1, 2}});
    vox.transform(0, 1).group(1, {2, 4}).transform(2, 3, {{"_r", "17"}, {"_t", "1 2 3"}}).shape(3, 0);
    vox.transform(4, 3, {}, {{"_hidden", "0"}}, 1)
        .layer(1, {{"_name", "one"}})
        .material(1, {{"_type", "_metal"}});
    survives(damaged(vox.file()));
}

RC_GTEST_PROP(DamageProperty, RandomBytesAfterAMagic, (const Bytes& bytes)) {
    Bytes vox{'V', 'O', 'X', ' '}, packed{0x1f, 0x8b}, plain{10};
    for (Bytes* start : {&vox, &packed, &plain}) {
        files::append(*start, bytes);
        survives(*start);
    }
    survives(bytes);
}

RC_GTEST_PROP(DamageProperty, Materials, ()) {
    const std::string good =
        R"({"shapes": [[[0,0,0,1,0.5,1]]], "blocks": {"a": {"material": "wood", "hardness": 2,
        "states": [["s", ["x", "y"]]], "state_shapes": [0, {"ghost": []}]}}, "palette": {"3-9": "a[s=y]"}})";
    const Bytes bytes = damaged(Bytes(good.begin(), good.end()));
    const auto catalog =
        BlockCatalog::from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "damaged");
    if (!catalog.ok())
        RC_ASSERT(catalog.error().message.find("damaged: ") == 0);
    else
        RC_ASSERT(catalog->size() >= 1u);
}

}  // namespace
}  // namespace talus
