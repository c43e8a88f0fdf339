// talus collapse end to end: keys, counts that add up, the same bits for any number of threads, what is
// saved.
#include "run_program.h"
#include "talus/formats.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace talus {
namespace {

#ifdef TALUS_PROGRAM

using files::run_talus;
using files::Schem;
using Json = nlohmann::ordered_json;

Json collapse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "collapse");
    arguments.push_back("--json");
    const auto ran = run_talus(arguments);
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return Json::parse(ran.out, nullptr, false);
}

/// A hollow tower, one block thick.
Schem tower(int edge, int height) {
    Schem s = files::full_schem(edge, height, edge);
    for (int y = 0; y < height; y++)
        for (int z = 1; z + 1 < edge; z++)
            for (int x = 1; x + 1 < edge; x++) s.cells[std::size_t((y * edge + z) * edge + x)] = 0;
    return s;
}

TEST(CollapseCli, WhatIsLeftAloneStands) {
    const files::TempFolder folder;
    const std::string file = folder.add("t.schem", tower(5, 12).file());
    const Json json = collapse({file, "--seconds", "3"});
    const std::vector<std::string> keys{
        "ticks",        "groups",           "awake",        "fallen_blocks", "blocks_before",
        "blocks_after", "blocks_destroyed", "tick_ms_mean", "tick_ms_max",   "hash"};
    std::vector<std::string> seen;
    for (const auto& [key, value] : json.items()) seen.push_back(key);
    EXPECT_EQ(seen, keys);
    EXPECT_EQ(json["ticks"], 60);
    EXPECT_EQ(json["groups"], 1);
    EXPECT_EQ(json["awake"], 0);
    EXPECT_EQ(json["fallen_blocks"], 0);
    EXPECT_EQ(json["blocks_before"], 16 * 12);
    EXPECT_EQ(json["blocks_after"], 16 * 12);
    EXPECT_EQ(json["blocks_destroyed"], 0);
    EXPECT_EQ(json["hash"].get<std::string>().size(), 16u);
}

TEST(CollapseCli, ACutTowerComesDownTheSameWayEachTime) {
    const files::TempFolder folder;
    const std::string file = folder.add("t.schem", tower(5, 12).file());
    std::string hash;
    for (const char* threads : {"1", "2", "1"}) {
        const Json json = collapse({file, "--seconds", "6", "--threads", threads, "--carve", "0,1,0:3,3,4",
                                    "--remove", "4,1,0", "--blast", "4,2,2,9"});
        EXPECT_EQ(json["blocks_before"], 16 * 12);
        EXPECT_EQ(json["blocks_before"].get<int>(),
                  json["blocks_after"].get<int>() + json["blocks_destroyed"].get<int>());
        EXPECT_GT(json["fallen_blocks"], 50);
        EXPECT_GT(json["blocks_destroyed"], 3 * 11);
        if (hash.empty()) hash = json["hash"];
        EXPECT_EQ(json["hash"], hash) << threads << " threads";
    }
}

TEST(CollapseCli, EditsActInTheOrderGiven) {
    const files::TempFolder folder;
    const std::string file = folder.add("t.schem", files::full_schem(3, 1, 1).file());
    // The blast at the middle takes it first; the removal then finds nothing, and says so.
    const auto first =
        run_talus({"collapse", file, "--seconds", "0", "--blast", "1,0,0,4", "--remove", "1,0,0"});
    EXPECT_EQ(first.exit, 0);
    EXPECT_NE(first.err.find("1,0,0"), std::string::npos);
    const auto second =
        run_talus({"collapse", file, "--seconds", "0", "--remove", "1,0,0", "--blast", "1,0,0,4"});
    EXPECT_EQ(second.err, "");
}

TEST(CollapseCli, SavesEveryBlockThatIsLeft) {
    const files::TempFolder folder;
    const std::string file = folder.add("t.schem", tower(5, 12).file());
    const std::string saved = (folder / "left.schem").string();
    const Json json = collapse({file, "--seconds", "6", "--carve", "0,1,0:3,3,4", "--save", saved});
    const auto model = read_model(saved, BlockCatalog::blockgame());
    ASSERT_TRUE(model.ok()) << model.error().message;
    EXPECT_EQ(model->grid.block_count(), json["blocks_after"].get<std::size_t>());
    EXPECT_TRUE(model->unknown_blocks.empty());
    // A build left alone comes back as it was.
    collapse({file, "--seconds", "1", "--save", saved});
    const auto same = read_model(saved, BlockCatalog::blockgame());
    const auto before = read_model(file, BlockCatalog::blockgame());
    ASSERT_TRUE(same.ok() && before.ok());
    EXPECT_EQ(same->size, before->size);
    before->grid.for_each([&](Cell cell, BlockId id) {
        EXPECT_EQ(same->grid.type_at(cell).name, before->grid.table()[id].name);
    });
}

TEST(CollapseCli, NothingLeftIsNoError) {
    const files::TempFolder folder;
    const std::string file = folder.add("t.schem", files::full_schem(2, 2, 2).file());
    const Json json = collapse({file, "--seconds", "1", "--carve", "0,0,0:1,1,1"});
    EXPECT_EQ(json["groups"], 0);
    EXPECT_EQ(json["blocks_after"], 0);
    EXPECT_EQ(json["blocks_destroyed"], 8);
    EXPECT_EQ(json["fallen_blocks"], 0);
}

TEST(CollapseCli, ScenesStandBesideFiles) {
    const Json tower = collapse({"tower"});
    EXPECT_EQ(tower["ticks"], 260);
    EXPECT_GT(tower["fallen_blocks"], 500);
    const Json balcony = collapse({"balcony", "--threads", "2"});
    EXPECT_EQ(balcony["hash"], collapse({"balcony"})["hash"]);
    for (const Json& json : {tower, balcony})
        EXPECT_EQ(json["blocks_before"].get<int>(),
                  json["blocks_after"].get<int>() + json["blocks_destroyed"].get<int>());
    EXPECT_LT(balcony["fallen_blocks"], 100);
    EXPECT_GT(balcony["blocks_after"], 1000) << "the house is terrain, and counts";
    // Edits take the place of the scene's own action.
    const Json cut = collapse({"bridge", "--seconds", "5", "--carve", "19,12,0:19,13,3"});
    EXPECT_EQ(cut["ticks"], 100);
    EXPECT_GT(cut["fallen_blocks"], 40);
    const Json alone = collapse({"bridge", "--remove", "-3,12,0"});
    EXPECT_EQ(alone["fallen_blocks"], 0);
    EXPECT_EQ(alone["blocks_destroyed"], 1);

    const auto unknown = run_talus({"collapse", "castle"});
    EXPECT_EQ(unknown.exit, 1);
    const auto help = run_talus({"collapse", "--help"});
    EXPECT_EQ(help.exit, 0);
    for (const char* name : {"tower", "balcony", "floors", "bridge", "houses", "ship", "wear", "town"}) {
        EXPECT_NE(unknown.err.find(name), std::string::npos) << name;
        EXPECT_NE(help.out.find(name), std::string::npos) << name;
    }
}

TEST(CollapseCli, SettingsAreSetByName) {
    const files::TempFolder folder;
    const std::string file = folder.add("t.schem", tower(5, 12).file());
    const std::vector<std::string> cut{file, "--carve", "0,1,0:4,1,4", "--seconds", "4"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), cut.begin(), cut.end());
        return collapse(more);
    };
    const Json plain = with({});
    EXPECT_GT(plain["fallen_blocks"], 100);
    EXPECT_EQ(with({"--set", "collapse=on"})["hash"], plain["hash"]);
    // Where nothing pulls only the foot, which came off, is not where it was.
    EXPECT_EQ(with({"--set", "gravity_y=0"})["fallen_blocks"], 16);
    // In a protected region nothing is carved away.
    const Json safe = with({"--protect", "0,0,0:4,11,4"});
    EXPECT_EQ(safe["blocks_destroyed"], 0);
    EXPECT_EQ(safe["fallen_blocks"], 0);
    // The bridge, with a cap on what one collapse sets moving: what is over it crumbles, or stays.
    const auto town = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"bridge", "--seconds", "1"});
        return collapse(more);
    };
    const Json free = town({});
    ASSERT_GT(free["groups"], 1);
    const Json crumbled = town({"--set", "collapse_max_pieces=1"});
    EXPECT_GT(crumbled["blocks_destroyed"], free["blocks_destroyed"]);
    const Json stays = town({"--set", "collapse_max_blocks=1", "--set", "beyond_cap=stay"});
    EXPECT_LT(stays["fallen_blocks"], free["fallen_blocks"]);
    EXPECT_NE(town({"--set", "work_per_tick=10"})["hash"], free["hash"]);

    for (const char* bad : {"collapse", "colapse=1", "collapse=maybe", "work_per_tick=-1", "debris_ticks=1.5",
                            "cell_size=2", "ground=high", "seed=-1", "beyond_cap=2", "impact_speed=nan"}) {
        const auto ran = run_talus({"collapse", file, "--set", bad});
        EXPECT_EQ(ran.exit, 2) << bad;
        EXPECT_NE(ran.err.find(bad), std::string::npos) << ran.err;
    }
    EXPECT_EQ(run_talus({"collapse", file, "--protect", "1,2,3"}).exit, 2);
    EXPECT_EQ(run_talus({"collapse", "no such file", "--set", "colapse=1"}).exit, 2);
}

TEST(CollapseCli, BadUsageAndBadInput) {
    const files::TempFolder folder;
    const std::string file = folder.add("t.schem", files::full_schem(2, 2, 2).file());
    EXPECT_EQ(run_talus({"collapse", file, "--seconds", "-1"}).exit, 2);
    EXPECT_EQ(Json::parse(run_talus({"collapse", file, "--json"}).out)["ticks"], 200) << "ten seconds";
    EXPECT_EQ(run_talus({"collapse", file, "--seconds", "1", "--threads", "0"}).exit, 2);
    EXPECT_EQ(run_talus({"collapse", file, "--seconds", "1", "--blast", "1,2,3"}).exit, 2);
    EXPECT_EQ(run_talus({"collapse", "/no/such", "--seconds", "1"}).exit, 1);
    const auto unwritable =
        run_talus({"collapse", file, "--seconds", "0", "--save", "/no/such/folder/x.schem"});
    EXPECT_EQ(unwritable.exit, 1);
    EXPECT_NE(unwritable.err.find("/no/such/folder/x.schem"), std::string::npos);
}

#endif

}  // namespace
}  // namespace talus
