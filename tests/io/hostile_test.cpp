// Files that lie. Each must give an error that names what and where, in little memory.
#include "build_files.h"
#include "run_program.h"
#include "talus/formats.h"

#include <gtest/gtest.h>

#include <functional>

namespace talus {
namespace {

using files::Bytes;
using files::Nbt;
using files::Schem;
using files::Vox;

/// The error of a file, in this process.
Error error_of(const Bytes& bytes) {
    const auto model = parse_model(bytes, "evil", BlockCatalog::blockgame());
    return model.ok() ? Error{ErrorCode::bad_value, "no error"} : model.error();
}

struct Hostile {
    std::string name;
    Bytes bytes;
    ErrorCode code;
    std::string says;
};

Vox one_voxel() { return Vox().size(1, 1, 1).voxels({{0, 0, 0, 1}}); }

Bytes schem_with(const std::function<void(Nbt&)>& tags) {
    Nbt out;
    out.compound("Schematic");
    tags(out);
    out.end();
    return files::gzip(out.bytes);
}

Nbt& palette(Nbt& out, const std::vector<std::pair<std::string, int>>& entries) {
    out.compound("Palette");
    for (const auto& [name, number] : entries) out.int32(name, number);
    return out.end();
}

std::vector<Hostile> hostile_schematics() {
    std::vector<Hostile> list;
    auto add = [&](std::string name, Bytes bytes, ErrorCode code, std::string says) {
        list.push_back({std::move(name), std::move(bytes), code, std::move(says)});
    };
    const auto sized = [](int w, int h, int l, const Bytes& data) {
        return schem_with([&](Nbt& n) {
            n.int32("Version", 2).int16("Width", w).int16("Height", h).int16("Length", l);
            palette(n, {{"minecraft:stone", 0}}).byte_array("BlockData", data);
        });
    };
    add("huge size", sized(65535, 65535, 65535, {0}), ErrorCode::too_large, "65535 x 65535 x 65535");
    add("size over the data", sized(100, 100, 100, {0, 0}), ErrorCode::corrupt,
        "2 bytes, too few for 100 x 100");
    add("data over the size", sized(1, 1, 1, {0, 0, 0}), ErrorCode::corrupt, "2 bytes more than the 1 cells");
    add("zero width", sized(0, 1, 1, {0}), ErrorCode::bad_value, "\"Width\" is 0");
    add("number not in the palette", sized(2, 1, 1, {0, 1}), ErrorCode::corrupt,
        "number 1 is not in the palette");
    add("endless number", sized(1, 1, 1, {0xff, 0xff, 0xff, 0xff, 0xff, 0x01}), ErrorCode::corrupt, "no end");
    add("number cut off", sized(1, 1, 1, {0x80}), ErrorCode::truncated, "no bytes are left for cell 0,0,0");
    add("data longer than the file", schem_with([](Nbt& n) {
            palette(n.int16("Width", 1).int16("Height", 1).int16("Length", 1), {{"a", 0}});
            n.byte_array("BlockData", {0}, 2147483647);
        }),
        ErrorCode::truncated, "\"Schematic/BlockData\": needs 2147483647 bytes");
    add("negative array", schem_with([](Nbt& n) { n.byte_array("BlockData", {}, -5); }), ErrorCode::corrupt,
        "\"Schematic/BlockData\": array of -5");
    add("missing palette", schem_with([](Nbt& n) {
            n.int16("Width", 1).int16("Height", 1).int16("Length", 1).byte_array("BlockData", {0});
        }),
        ErrorCode::corrupt, "\"Palette\" is missing");
    add("missing data", schem_with([](Nbt& n) {
            palette(n.int16("Width", 1).int16("Height", 1).int16("Length", 1), {{"a", 0}});
        }),
        ErrorCode::corrupt, "\"BlockData\" is missing");
    add("missing height", schem_with([](Nbt& n) {
            palette(n.int16("Width", 1).int16("Length", 1), {{"a", 0}}).byte_array("BlockData", {0});
        }),
        ErrorCode::corrupt, "\"Height\" is missing");
    add("palette number out of range", schem_with([](Nbt& n) {
            palette(n, {{"a", 2147483647}});
        }),
        ErrorCode::bad_value, "\"Schematic/Palette/a\": palette number 2147483647");
    add("negative palette number", schem_with([](Nbt& n) {
            palette(n, {{"a", -1}});
        }),
        ErrorCode::bad_value, "palette number -1");
    add("palette number twice", schem_with([](Nbt& n) {
            palette(n.int16("Width", 1).int16("Height", 1).int16("Length", 1), {{"a", 0}, {"b", 0}});
            n.byte_array("BlockData", {0});
        }),
        ErrorCode::corrupt, "number 0 twice");
    add("palette twice", schem_with([](Nbt& n) {
            palette(palette(n, {{"a", 0}}), {{"a", 0}});
        }),
        ErrorCode::corrupt, "is there twice");
    add("wrong tag type", schem_with([](Nbt& n) { n.string("Width", "wide"); }), ErrorCode::corrupt,
        "\"Schematic/Width\": should be a whole number but is a string");
    add("future version", schem_with([](Nbt& n) {
            palette(n.int32("Version", 4), {{"a", 0}}).byte_array("BlockData", {0});
        }),
        ErrorCode::unsupported, "version 4");
    add("unknown tag type", schem_with([](Nbt& n) { n.tag(77, "odd"); }), ErrorCode::corrupt,
        "unknown type 77");

    Nbt deep;
    deep.compound("Schematic");
    for (int i = 0; i < 100000; i++) deep.compound("a");
    add("deep compounds", files::gzip(deep.bytes), ErrorCode::too_large, "nested deeper than 512");
    Nbt lists;
    lists.compound("Schematic").tag(files::kList, "a");
    for (int i = 0; i < 100000; i++) {
        lists.bytes.push_back(files::kList);
        files::be(lists.bytes, 1, 4);
    }
    add("deep lists", files::gzip(lists.bytes), ErrorCode::too_large, "nested deeper than 512");
    Nbt ends;
    ends.compound("Schematic").tag(files::kList, "a");
    ends.bytes.push_back(files::kEnd);
    files::be(ends.bytes, 2147483647, 4);
    add("list of two thousand million ends", files::gzip(ends.bytes), ErrorCode::corrupt,
        "list of 2147483647");
    Nbt longs;
    longs.compound("Schematic").tag(12, "a");
    files::be(longs.bytes, 2147483647, 4);
    add("long array of 16 GB", files::gzip(longs.bytes), ErrorCode::truncated, "needs 17179869176 bytes");

    // Two thousand million stones, and nothing but zeros: gzip makes both small.
    Nbt head;
    palette(head.compound("Schematic").int16("Width", 2000).int16("Height", 1000).int16("Length", 1000),
            {{"minecraft:stone", 0}});
    head.byte_array("BlockData", {}, 2000000000);
    add("zip bomb of blocks", files::gzip_bomb(head.bytes, 6000), ErrorCode::too_large,
        "unpacks to more than the limit of 402653184 bytes");
    add("zip bomb", files::gzip_bomb({}, 6000), ErrorCode::too_large, "unpacks to more than the limit");

    const Bytes good = files::full_schem(3, 3, 3).file();
    add("gzip header only", Bytes(good.begin(), good.begin() + 10), ErrorCode::truncated,
        "end marker is missing");
    add("gzip without its checksum", Bytes(good.begin(), good.end() - 8), ErrorCode::truncated, "at byte");
    Bytes damaged = good;
    damaged[damaged.size() - 6] ^= 1;
    add("gzip with a wrong checksum", damaged, ErrorCode::corrupt, "damaged before byte");
    add("gzip of nothing", files::gzip({}), ErrorCode::truncated, "needs 1 bytes");
    add("gzip of text", files::gzip({'h', 'e', 'l', 'l', 'o'}), ErrorCode::bad_format, "not NBT");
    add("empty file", {}, ErrorCode::truncated, "empty");
    add("text", {'h', 'e', 'l', 'l', 'o'}, ErrorCode::bad_format, "neither");
    return list;
}

std::vector<Hostile> hostile_vox() {
    std::vector<Hostile> list;
    auto add = [&](std::string name, Bytes bytes, ErrorCode code, std::string says) {
        list.push_back({std::move(name), std::move(bytes), code, std::move(says)});
    };
    add("MAIN longer than the file", one_voxel().file(1 << 30), ErrorCode::truncated,
        "chunk MAIN claims 1073741824");
    add("negative MAIN", one_voxel().file(-1), ErrorCode::truncated, "chunk MAIN claims -1");
    add("chunk longer than the file", Vox().chunk("SIZE", {1, 2}, 1 << 30).file(), ErrorCode::truncated,
        "chunk SIZE claims 1073741824 bytes where 2 are left, at byte 20");
    add("negative chunk", Vox().chunk("SIZE", {}, -12).file(), ErrorCode::truncated, "chunk SIZE claims -12");
    add("huge SIZE", Vox().size(1 << 30, 1 << 30, 1 << 30).voxels({}).file(), ErrorCode::too_large,
        "an edge of 1073741824");
    add("negative SIZE", Vox().size(-1, 1, 1).voxels({}).file(), ErrorCode::bad_value, "an edge of -1");
    add("zero SIZE", Vox().size(0, 1, 1).voxels({}).file(), ErrorCode::bad_value, "an edge of 0");
    add("huge XYZI count", Vox().size(1, 1, 1).voxels({{0, 0, 0, 1}}, 0x7fffffff).file(),
        ErrorCode::truncated, "chunk XYZI: needs 8589934588 bytes");
    add("negative XYZI count", Vox().size(1, 1, 1).voxels({{0, 0, 0, 1}}, -1).file(), ErrorCode::corrupt,
        "chunk XYZI: -1 voxels");
    add("voxel outside", Vox().size(1, 1, 1).voxels({{0, 5, 0, 1}}).file(), ErrorCode::corrupt,
        "voxel 0 (byte 60) lies outside its model");
    add("XYZI without SIZE", Vox().voxels({{0, 0, 0, 1}}).file(), ErrorCode::corrupt,
        "no chunk SIZE before it");
    add("SIZE twice", Vox().size(1, 1, 1).size(1, 1, 1).file(), ErrorCode::corrupt, "follows another SIZE");
    add("SIZE without XYZI", Vox().size(1, 1, 1).file(), ErrorCode::truncated, "no chunk XYZI after it");
    add("no models", Vox().file(), ErrorCode::corrupt, "no model");
    add("short RGBA", one_voxel().chunk("RGBA", Bytes(1000)).file(), ErrorCode::truncated,
        "chunk RGBA: needs 1024");
    add("version", {'V', 'O', 'X', ' ', 0, 0, 0, 64, 'M', 'A', 'I', 'N', 0, 0, 0, 0, 0, 0, 0, 0},
        ErrorCode::unsupported, "version 1073741824");
    add("not MAIN", {'V', 'O', 'X', ' ', 150, 0, 0, 0, 'M', 'A', 'I', 'M', 0, 0, 0, 0, 0, 0, 0, 0},
        ErrorCode::corrupt, "not MAIN");

    add("child that is not there", one_voxel().transform(0, 7).file(), ErrorCode::corrupt,
        "node 0 (byte 64) has a child 7");
    add("model that is not there", one_voxel().transform(0, 1).shape(1, 3).file(), ErrorCode::corrupt,
        "shows model 3 of 1");
    add("negative model", one_voxel().shape(0, -1).file(), ErrorCode::corrupt, "shows model -1 of 1");
    add("node twice", one_voxel().shape(0, 0).shape(0, 0).file(), ErrorCode::corrupt,
        "node 0 is there twice");
    add("its own child", one_voxel().transform(0, 0).file(), ErrorCode::corrupt,
        "a cycle in the scene graph");
    add("cycle without a root", one_voxel().transform(0, 1).group(1, {0}).file(), ErrorCode::corrupt,
        "node 0 (byte 64) is below itself");
    add("cycle below the root", one_voxel().transform(0, 1).group(1, {2}).transform(2, 1).file(),
        ErrorCode::corrupt, "node 1 (byte");
    add("cycle beside a good tree",
        one_voxel().transform(0, 1).shape(1, 0).transform(5, 6).group(6, {5}).file(), ErrorCode::corrupt,
        "a cycle");
    Bytes group;
    files::le32(group, 0);
    files::le32(group, 0);
    files::le32(group, 0x7fffffff);
    add("group of two thousand million", one_voxel().chunk("nGRP", group).file(), ErrorCode::truncated,
        "claims 2147483647 children");
    Bytes dict;
    files::le32(dict, 0);
    files::le32(dict, 0x7fffffff);
    add("dictionary of two thousand million", one_voxel().chunk("nSHP", dict).file(), ErrorCode::truncated,
        "chunk nSHP: needs 4 bytes");
    Bytes text;
    files::le32(text, 0);
    files::le32(text, 1);
    files::le32(text, -1);
    add("text of negative length", one_voxel().chunk("nSHP", text).file(), ErrorCode::corrupt, "length -1");
    add("no rotation", one_voxel().transform(0, 1, {{"_r", "85"}}).shape(1, 0).file(), ErrorCode::bad_value,
        "rotation \"85\"");
    add("rotation in words", one_voxel().transform(0, 1, {{"_r", "left"}}).shape(1, 0).file(),
        ErrorCode::bad_value, "rotation \"left\"");
    add("two numbers", one_voxel().transform(0, 1, {{"_t", "1 2"}}).shape(1, 0).file(), ErrorCode::bad_value,
        "translation \"1 2\"");
    add("huge translation", one_voxel().transform(0, 1, {{"_t", "99999999999 0 0"}}).shape(1, 0).file(),
        ErrorCode::bad_value, "translation");

    Vox far = one_voxel();
    far.transform(0, 1).group(1, {2, 4}).transform(2, 3, {{"_t", "-2147483648 0 0"}}).shape(3, 0);
    far.transform(4, 3, {{"_t", "2147483647 0 0"}});
    add("the whole range apart", far.file(), ErrorCode::too_large, "spans 4294967296 cells");

    Vox chain = one_voxel();
    for (int i = 0; i < 100000; i++) chain.transform(i, i + 1);
    chain.shape(100000, 0);
    add("deep chain", chain.file(), ErrorCode::too_large, "deeper than 256 nodes");
    Vox doubling = one_voxel();  // 2^60 instances in a small file
    for (int i = 0; i < 60; i++) doubling.group(i, {i + 1, i + 1});
    doubling.shape(60, 0);
    add("doubling groups", doubling.file(), ErrorCode::too_large, "more than 1048576 instances");

    // A full cube of 128 shown 4096 times takes too many voxels; a sparse one too much memory.
    auto many = [](const std::vector<files::Voxel>& voxels, int edge, int count) {
        Vox file = Vox().size(edge, edge, edge).voxels(voxels);
        std::vector<int> children;
        for (int i = 0; i < count; i++) {
            const int at = edge * (i % 16);
            file.transform(2 + i, 1,
                           {{"_t", std::to_string(at) + " " + std::to_string(edge * (i / 16 % 16)) + " " +
                                       std::to_string(edge * (i / 256))}});
            children.push_back(2 + i);
        }
        return file.group(0, children).shape(1, 0).file();
    };
    std::vector<files::Voxel> full, sparse;
    for (int x = 0; x < 128; x++)
        for (int y = 0; y < 128; y++)
            for (int z = 0; z < 128; z++) full.push_back({x, y, z, 1});
    for (int x = 0; x < 256; x += 8)
        for (int y = 0; y < 256; y += 8)
            for (int z = 0; z < 256; z += 8) sparse.push_back({x, y, z, 1});
    add("many full cubes", many(full, 128, 4096), ErrorCode::too_large, "places 8589934592 voxels");
    add("many sparse cubes", many(sparse, 256, 2048), ErrorCode::too_large, "grid is over the limit");
    return list;
}

TEST(Hostile, SchematicsNameWhatAndWhere) {
    for (const Hostile& h : hostile_schematics()) {
        SCOPED_TRACE(h.name);
        const Error error = error_of(h.bytes);
        EXPECT_EQ(int(error.code), int(h.code)) << error.message;
        EXPECT_NE(error.message.find(h.says), std::string::npos) << error.message;
        EXPECT_EQ(error.message.find("evil: "), 0u) << error.message;
    }
}

TEST(Hostile, VoxNamesWhatAndWhere) {
    for (const Hostile& h : hostile_vox()) {
        SCOPED_TRACE(h.name);
        const Error error = error_of(h.bytes);
        EXPECT_EQ(int(error.code), int(h.code)) << error.message;
        EXPECT_NE(error.message.find(h.says), std::string::npos) << error.message;
        EXPECT_EQ(error.message.find("evil: "), 0u) << error.message;
    }
}

TEST(Hostile, EveryCutOfAGoodFileIsAnError) {
    Schem schem = files::full_schem(3, 2, 2);
    const Bytes packed = schem.file(), plain = schem.nbt();
    schem.version = 3;
    const Bytes nested = schem.file();
    Vox vox = Vox().size(2, 2, 2).voxels({{0, 0, 0, 1}, {1, 1, 1, 2}});
    vox.transform(0, 1).group(1, {2}).transform(2, 3, {{"_r", "17"}, {"_t", "1 2 3"}}).shape(3, 0);
    vox.chunk("RGBA", Bytes(1024)).material(1, {{"_type", "_glass"}});
    for (const Bytes& good : {packed, plain, nested, vox.file()}) {
        ASSERT_TRUE(parse_model(good, "good", BlockCatalog::blockgame()).ok());
        for (std::size_t size = 0; size < good.size(); size++)
            EXPECT_FALSE(parse_model(std::span(good).first(size), "cut", BlockCatalog::blockgame()).ok())
                << size;
    }
}

TEST(Hostile, JsonThatIsDeepOrLarge) {
    for (const std::string& text :
         {std::string(kMaxMaterialsBytes, '['), std::string(kMaxMaterialsBytes + 1, ' ')})
        EXPECT_FALSE(BlockCatalog::from_json(text, "deep.json").ok());
}

TEST(Hostile, MissingFilesAndFoldersAreErrors) {
    const auto missing = read_model("/no/such/file.vox", BlockCatalog::blockgame());
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().code, ErrorCode::not_found);
    EXPECT_EQ(missing.error().message, "/no/such/file.vox: No such file or directory");
    const auto folder = read_model("/", BlockCatalog::blockgame());
    ASSERT_FALSE(folder.ok());
    EXPECT_EQ(folder.error().code, ErrorCode::unreadable);
}

#ifdef TALUS_PROGRAM
TEST(Hostile, TheProgramEndsWithExit1InFourGigabytes) {
    const files::TempFolder folder;
    auto all = hostile_schematics();
    for (Hostile& h : hostile_vox()) all.push_back(std::move(h));
    for (const Hostile& h : all) {
        SCOPED_TRACE(h.name);
        const auto ran = files::run_talus({"info", folder.add("evil", h.bytes), "--json"});
        EXPECT_EQ(ran.exit, 1);
        EXPECT_EQ(ran.out, "");
        EXPECT_NE(ran.err.find(h.says), std::string::npos) << ran.err;
    }
    const auto missing = files::run_talus({"info", (folder / "nothing.vox").string()});
    EXPECT_EQ(missing.exit, 1);
    EXPECT_NE(missing.err.find("nothing.vox: No such file"), std::string::npos) << missing.err;
}

TEST(Hostile, TheLargestAllowedSchematicFitsIntoFourGigabytes) {
    const files::TempFolder folder;
    // 512^3 cells of two bytes each, in every brick: the most a file may ask for.
    Schem s;
    s.width = s.height = s.length = 512;
    for (int i = 0; i < 200; i++) s.palette.push_back("mod:b" + std::to_string(i));
    Nbt out;
    out.compound("Schematic")
        .int32("Version", 2)
        .int16("Width", 512)
        .int16("Height", 512)
        .int16("Length", 512);
    out.compound("Palette");
    for (std::size_t i = 0; i < s.palette.size(); i++) out.int32(s.palette[i], std::int64_t(i));
    out.end();
    Bytes data(std::size_t(2) << 27);
    for (std::size_t i = 0; i < data.size(); i += 2) {
        data[i] = 0x80 | 5;
        data[i + 1] = 1;
    }
    out.byte_array("BlockData", data).end();
    const auto ran =
        files::run_talus({"info", folder.add("large.schem", files::gzip(out.bytes, 1)), "--json"});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_NE(ran.out.find("\"blocks\":134217728"), std::string::npos) << ran.out;
}
#endif

}  // namespace
}  // namespace talus
