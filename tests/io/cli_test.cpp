// The talus program end to end: what it prints, its keys, its exit codes.
#include "run_program.h"
#include "talus/formats.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <fstream>

namespace talus {
namespace {

#ifdef TALUS_PROGRAM

using files::run_talus;
using files::Schem;
using Json = nlohmann::ordered_json;

Json json_of(const files::Ran& ran) {
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << "one object, one line";
    return Json::parse(ran.out, nullptr, false);
}

std::vector<std::string> keys_of(const Json& json) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    return keys;
}

/// A post of stones at x = 0 with an arm of `arm` stones to +x at its top, `height` above the ground.
Schem arm_on_post(int arm, int height = 3) {
    Schem s = files::full_schem(arm + 1, height, 1);
    for (int y = 0; y < height - 1; y++)
        for (int x = 1; x <= arm; x++) s.cells[std::size_t(y * (arm + 1) + x)] = 0;
    return s;
}

TEST(Cli, VersionHelpAndUsage) {
    const auto version = run_talus({"--version"});
    EXPECT_EQ(version.exit, 0);
    EXPECT_EQ(version.out.find("talus "), 0u);
    const auto help = run_talus({"--help"});
    EXPECT_EQ(help.exit, 0);
    for (const char* command : {"info", "structure", "collapse", "replay"}) {
        EXPECT_NE(help.out.find(std::string("\n  ") + command), std::string::npos) << command;
        const auto own = run_talus({command, "--help"});
        EXPECT_EQ(own.exit, 0);
        // Placeholders are words of the domain, and each page tells its exit codes.
        for (const char* jargon : {"TEXT", "INT", "FLOAT", "UINT", " in ["})
            EXPECT_EQ(own.out.find(jargon), std::string::npos) << command << ": " << jargon;
        EXPECT_NE(own.out.find("Exit: 0 "), std::string::npos) << own.out;
    }
    // Hints lead to where the answer is.
    EXPECT_EQ(run_talus({}).err, "talus: a command is missing\n\n" + help.out);
    EXPECT_NE(run_talus({"colapse", "x"}).err.find("there is no command \"colapse\""), std::string::npos);
    EXPECT_NE(run_talus({"replay"}).err.find("FILE is required\nRun 'talus replay --help'"),
              std::string::npos);
    const std::vector<std::vector<std::string>> wrong{
        {},
        {"nonsense"},
        {"info"},
        {"info", "a", "b"},
        {"info", "a", "--nonsense"},
        {"structure", "a", "--remove"},
        {"structure", "a", "--remove", "1,2"},
        {"structure", "a", "--remove", "1,2,3,4"},
        {"structure", "a", "--remove", "1,2,x"},
        {"structure", "a", "--remove", "1,2,99999999999"},
        {"structure", "a", "--carve", "1,2,3"},
        {"structure", "a", "--carve", "1,2,3:4,5"},
        {"structure", "a", "--strength", "strong"},
        {"structure", "a", "--strength", "0"},
        {"structure", "a", "--mode", "magic"},
        {"structure", "a", "--no-tension"},
        {"structure", "a", "--tolerance", "0.1"},
        {"structure", "a", "--mode", "physical", "--tolerance", "0"},
        {"structure", "a", "--repeat", "0"},
        {"structure", "a", "--threads", "0"},
        {"structure", "a", "--strength", "-1"},
        {"structure", "a", "--strength", "nan"},
    };
    for (const auto& arguments : wrong) {
        const auto ran = run_talus(arguments);
        EXPECT_EQ(ran.exit, 2) << (arguments.empty() ? "" : arguments.back()) << ran.err;
        EXPECT_EQ(ran.out, "");
        EXPECT_EQ(ran.err.find("talus: "), 0u) << ran.err;
    }
}

TEST(Cli, BadInputIsExit1) {
    const files::TempFolder folder;
    const std::string good = folder.add("good.schem", files::full_schem(1, 1, 1).file());
    const std::vector<std::vector<std::string>> wrong{
        {"info", "/no/such/file"},
        {"structure", "/no/such/file", "--json"},
        {"info", "/"},
        {"info", good, "--materials", "/no/such/file"},
        {"info", good, "--materials", folder.add("bad.json", R"({"blocks": {"stone": {"densty": 1}}})")},
    };
    for (const auto& arguments : wrong) {
        const auto ran = run_talus(arguments);
        EXPECT_EQ(ran.exit, 1) << ran.err;
        EXPECT_EQ(ran.out, "");
        EXPECT_EQ(ran.err.find("talus: "), 0u) << ran.err;
    }
    EXPECT_NE(run_talus(wrong.back()).err.find("bad.json: \"blocks.stone.densty\""), std::string::npos);
}

TEST(Cli, InfoAsJson) {
    const files::TempFolder folder;
    Schem s;
    s.width = 2;
    s.height = 2;
    s.length = 1;
    s.palette = {"air", "stone", "oak_slab[type=bottom]", "torch", "mod:x[a=b]"};
    s.cells = {1, 2, 3, 4};
    const std::string file = folder.add("a.schem", s.file());
    const auto ran = run_talus({"info", file, "--json"});
    const Json json = json_of(ran);
    const std::vector<std::string> keys{"format",  "size",    "blocks",         "solids",
                                        "palette", "mass_kg", "center_of_mass", "unknown_blocks"};
    EXPECT_EQ(keys_of(json), keys);
    EXPECT_EQ(json["format"], "schem 2");
    EXPECT_EQ(json["size"], Json::array({2, 2, 1}));
    EXPECT_EQ(json["blocks"], 4);
    EXPECT_EQ(json["solids"], 3);
    EXPECT_EQ(json["palette"], 5);
    EXPECT_EQ(json["unknown_blocks"], Json({{"mod:x", 1}}));
    // Two stones (the unknown one counts as stone) at (0.5, 0.5, 0.5) and (1.5, 1.5, 0.5), and half a block
    // of planks at (1.5, 0.25, 0.5).
    const double planks = double(float(600 * 775.0 / 2600)) / 2, mass = 2 * 775 + planks;
    EXPECT_NEAR(json["mass_kg"].get<double>(), mass, 1e-6);
    EXPECT_NEAR(json["center_of_mass"][0].get<double>(), (775 * 2.0 + planks * 1.5) / mass, 1e-9);
    EXPECT_NEAR(json["center_of_mass"][1].get<double>(), (775 * 2.0 + planks * 0.25) / mass, 1e-9);
    EXPECT_NEAR(json["center_of_mass"][2].get<double>(), 0.5, 1e-9);
    EXPECT_NE(ran.err.find("mod:x"), std::string::npos);

    const auto text = run_talus({"info", file});
    EXPECT_EQ(text.exit, 0);
    EXPECT_NE(text.out.find("mod:x: 1 block"), std::string::npos) << text.out;
}

TEST(Cli, InfoOfNothing) {
    const files::TempFolder folder;
    Schem s;
    s.palette = {"air"};
    s.cells = {0};
    const std::string file = folder.add("air.schem", s.file());
    const Json json = json_of(run_talus({"info", file, "--json"}));
    EXPECT_EQ(json["blocks"], 0);
    EXPECT_EQ(json["mass_kg"], 0);
    EXPECT_TRUE(json["center_of_mass"].is_null());
    EXPECT_EQ(run_talus({"info", file}).exit, 0);
    const Json structure = json_of(run_talus({"structure", file, "--json"}));
    EXPECT_EQ(structure["verdict"], "unsupported");
    EXPECT_EQ(structure["falling"], 0);
}

TEST(Cli, VoxIsTurnedUpright) {
    const files::TempFolder folder;
    const std::string file = folder.add(
        "a.vox", files::Vox().size(1, 2, 3).voxels({{0, 0, 0, 1}, {0, 0, 1, 1}, {0, 0, 2, 1}}).file());
    const Json json = json_of(run_talus({"info", file, "--json"}));
    EXPECT_EQ(json["format"], "vox");
    EXPECT_EQ(json["size"], Json::array({1, 3, 2}));
    EXPECT_EQ(json["mass_kg"], 3 * 775);
    EXPECT_EQ(json["center_of_mass"], Json::array({0.5, 1.5, 1.5}));  // y = 0 of the file is z = 1 here
    const Json light = json_of(run_talus({"info", file, "--json", "--materials",
                                          folder.add("m.json", R"({"palette": {"1": "oak_planks"}})")}));
    EXPECT_NEAR(light["mass_kg"].get<double>(), 3 * 600 * 775.0 / 2600, 1e-3);
}

TEST(Cli, StructureStands) {
    const files::TempFolder folder;
    const std::string file = folder.add("a.schem", arm_on_post(5).file());
    const Json json = json_of(run_talus({"structure", file, "--json"}));
    const std::vector<std::string> keys{"blocks",       "solids", "supports", "weight_kg", "falling", "parts",
                                        "broken_bonds", "rounds", "solve_ms", "round_ms",  "verdict"};
    EXPECT_EQ(keys_of(json), keys);
    EXPECT_EQ(json["blocks"], 8);
    EXPECT_EQ(json["solids"], 8);
    EXPECT_EQ(json["supports"], 1);
    EXPECT_EQ(json["weight_kg"], 8 * 775);
    EXPECT_EQ(json["falling"], 0);
    EXPECT_EQ(json["parts"], Json::array());
    EXPECT_EQ(json["broken_bonds"], 0);
    EXPECT_EQ(json["verdict"], "stands");
    EXPECT_GE(json["solve_ms"].get<double>(), json["round_ms"].get<double>());
    const auto text = run_talus({"structure", file});
    EXPECT_NE(text.out.find("STANDS"), std::string::npos) << text.out;
}

TEST(Cli, StructureFalls) {
    const files::TempFolder folder;
    // A stone bond passes 40,000 kg sideways: 51 stones of 775 kg, and not 52.
    EXPECT_EQ(json_of(run_talus(
                  {"structure", folder.add("51.schem", arm_on_post(51).file()), "--json"}))["verdict"],
              "stands");
    const std::string file = folder.add("52.schem", arm_on_post(52).file());
    const Json json = json_of(run_talus({"structure", file, "--json"}));
    EXPECT_EQ(json["verdict"], "falls");
    EXPECT_EQ(json["falling"], 52);
    EXPECT_EQ(json["parts"], Json::array({52}));
    EXPECT_EQ(json["broken_bonds"], 1);
    EXPECT_GE(json["rounds"].get<int>(), 2);
    EXPECT_EQ(json_of(run_talus({"structure", file, "--json", "--strength", "1.1"}))["verdict"], "stands");
    EXPECT_EQ(json_of(run_talus({"structure", file, "--json", "--remove", "52,2,0"}))["verdict"], "stands");
    const auto text = run_talus({"structure", file});
    EXPECT_NE(text.out.find("FALLS: 52 of 55 solid blocks"), std::string::npos) << text.out;
    EXPECT_EQ(text.exit, 0);  // a build that falls is an answer, not an error
}

TEST(Cli, StructureEdits) {
    const files::TempFolder folder;
    const std::string file = folder.add("a.schem", arm_on_post(5).file());
    // Without its foot nothing rests on the ground: the ground is where it was before the edit.
    const Json footless = json_of(run_talus({"structure", file, "--json", "--remove", "0,0,0"}));
    EXPECT_EQ(footless["blocks"], 7);
    EXPECT_EQ(footless["supports"], 0);
    EXPECT_EQ(footless["verdict"], "unsupported");
    EXPECT_EQ(footless["falling"], 0);
    // The arm cut in two: its outer part is joined to nothing.
    const Json cut = json_of(run_talus({"structure", file, "--json", "--remove", "3,2,0"}));
    EXPECT_EQ(cut["blocks"], 7);
    EXPECT_EQ(cut["verdict"], "falls");
    EXPECT_EQ(cut["parts"], Json::array({2}));
    EXPECT_EQ(cut["broken_bonds"], 0);
    // A box, corners inclusive, in any order; several edits add up.
    const Json carved =
        json_of(run_talus({"structure", file, "--json", "--carve", "9,2,9:4,0,0", "--remove", "3,2,0"}));
    EXPECT_EQ(carved["blocks"], 5);
    EXPECT_EQ(carved["weight_kg"], 5 * 775);
    EXPECT_EQ(carved["verdict"], "stands");
    const Json all = json_of(run_talus(
        {"structure", file, "--json", "--carve", "-2147483648,-5,-5:2147483647,2147483647,2147483647"}));
    EXPECT_EQ(all["blocks"], 0);
    EXPECT_EQ(all["verdict"], "unsupported");
    // Nothing there: told, not fatal.
    const auto missed = run_talus({"structure", file, "--json", "--remove", "-1,0,0", "--remove", "0,0,0"});
    EXPECT_EQ(json_of(missed)["blocks"], 7);
    EXPECT_NE(missed.err.find("--remove -1,0,0 meets no block"), std::string::npos) << missed.err;
    EXPECT_EQ(missed.err.find("--remove 0,0,0"), std::string::npos) << missed.err;
}

TEST(Cli, StructurePhysical) {
    const files::TempFolder folder;
    const std::string file = folder.add("a.schem", arm_on_post(5).file());
    const std::vector<std::string> physical{"structure", file, "--json", "--mode", "physical"};
    const auto with = [&](std::vector<std::string> more) {
        std::vector<std::string> all = physical;
        all.insert(all.end(), more.begin(), more.end());
        return json_of(run_talus(all));
    };
    const Json json = with({"--tolerance", "1e-6"});
    const std::vector<std::string> keys{
        "blocks",    "solids",       "supports", "weight_kg",       "falling",
        "parts",     "broken_bonds", "rounds",   "max_utilisation", "base_reaction_kg",
        "imbalance", "iterations",   "solve_ms", "cascade_ms",      "verdict"};
    EXPECT_EQ(keys_of(json), keys);
    EXPECT_EQ(json["verdict"], "stands");
    EXPECT_NEAR(json["base_reaction_kg"].get<double>(), 8 * 775, 8 * 775e-6);
    // The top of the post bears the arm's moment of 15, less 6 blocks of pressure: 6 M - N = 84 blocks of 775
    // kg on its edge, of 7 MPa.
    EXPECT_NEAR(json["max_utilisation"].get<double>(), 84 * 775 * 9.81 / 7e6, 1e-5);
    EXPECT_LE(json["imbalance"].get<double>(), 1e-6);
    // (n + 1)(3 n - 1) blocks on the edge against 7 MPa / (775 x 9.81) = 920.7: 900 for 17, 1007 for 18.
    const auto verdict_of = [&](int arm, const char* strength) {
        const std::string name = folder.add(std::to_string(arm) + ".schem", arm_on_post(arm, 2).file());
        return json_of(run_talus(
            {"structure", name, "--json", "--mode", "physical", "--strength", strength}))["verdict"];
    };
    EXPECT_EQ(verdict_of(17, "1"), "stands");
    EXPECT_EQ(verdict_of(18, "1"), "falls");
    EXPECT_EQ(verdict_of(18, "1.1"), "stands");
    EXPECT_EQ(with({"--no-tension"})["verdict"], "falls");
    const Json edited = with({"--incremental", "--remove", "3,2,0", "--repeat", "3", "--threads", "2"});
    EXPECT_EQ(edited["verdict"], "falls");
    EXPECT_EQ(edited["falling"], 2);
    EXPECT_EQ(edited["blocks"], 7);
    EXPECT_GT(edited["resolve_ms"].get<double>(), 0);
    const Json stopped = with({"--iterations", "1", "--tolerance", "1e-6"});
    EXPECT_EQ(stopped["verdict"], "undecided");
    EXPECT_GT(stopped["imbalance"].get<double>(), 1e-6);
    const double share = json["max_utilisation"].get<double>();
    EXPECT_LE(stopped["least_utilisation"].get<double>(), share);
    EXPECT_GE(stopped["most_utilisation"].get<double>(), share);
    EXPECT_EQ(run_talus({"structure", file, "--iterations", "1"}).exit, 2);
    const auto text = run_talus({"structure", file, "--mode", "physical"});
    EXPECT_NE(text.out.find("the ground pushes back with 6200 kg"), std::string::npos) << text.out;
}

TEST(Cli, StructurePicture) {
    const files::TempFolder folder;
    const std::string file = folder.add("a.schem", arm_on_post(60).file());
    for (const char* mode : {"load", "physical"}) {
        const std::string picture = folder.add("a.png", "");
        EXPECT_EQ(
            json_of(run_talus({"structure", file, "--json", "--mode", mode, "--png", picture}))["verdict"],
            "falls");
        std::ifstream in(picture, std::ios::binary);
        char head[8] = {};
        in.read(head, 8);
        EXPECT_EQ(std::string(head + 1, 3), "PNG") << mode;
        in.seekg(0, std::ios::end);
        EXPECT_GT(in.tellg(), 1000) << mode;
    }
    EXPECT_EQ(run_talus({"structure", file, "--png", "/nowhere/a.png"}).exit, 1);
}

TEST(Cli, NonSolidsAreNoSupportAndNoGround) {
    const files::TempFolder folder;
    Schem s;
    s.height = 3;
    s.palette = {"air", "stone", "torch"};
    s.cells = {2, 1, 1};
    const Json json = json_of(run_talus({"structure", folder.add("a.schem", s.file()), "--json"}));
    EXPECT_EQ(json["blocks"], 3);
    EXPECT_EQ(json["solids"], 2);
    EXPECT_EQ(json["supports"], 1);
    EXPECT_EQ(json["weight_kg"], 2 * 775);
    EXPECT_EQ(json["verdict"], "stands");
}

TEST(Cli, MaterialsChangeTheVerdict) {
    const files::TempFolder folder;
    const std::string file = folder.add("a.schem", arm_on_post(51).file());
    const std::string heavy = folder.add("m.json", R"({"blocks": {"stone": {"density": 800}}})");
    const Json json = json_of(run_talus({"structure", file, "--json", "--materials", heavy}));
    EXPECT_EQ(json["weight_kg"], 54 * 800);
    EXPECT_EQ(json["verdict"], "falls");
}

#else
TEST(Cli, Skipped) { GTEST_SKIP() << "built without TALUS_APPS"; }
#endif

}  // namespace
}  // namespace talus
