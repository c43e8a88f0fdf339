// talus collapse --record and talus replay end to end: exit codes, words and keys.
#include "run_program.h"
#include "tests/world/alter_recording.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace talus {
namespace {

#ifdef TALUS_PROGRAM

using files::Bytes;
using files::run_talus;
using Json = nlohmann::ordered_json;

TEST(ReplayCli, ARecordingRunsAgainAndDamageIsTold) {
    const files::TempFolder folder;
    const std::string file = folder.add("t.schem", files::full_schem(5, 9, 5).file());
    const std::string out = (folder / "t.talusrec").string();
    const auto recorded =
        run_talus({"collapse", file, "--blast", "2,1,2,5", "--seconds", "2", "--json", "--record", out});
    ASSERT_EQ(recorded.exit, 0) << recorded.err;
    const std::string hash = Json::parse(recorded.out)["hash"];

    const auto same = run_talus({"replay", out});
    EXPECT_EQ(same.exit, 0) << same.out << same.err;
    EXPECT_NE(same.out.find("THE SAME: 40 ticks"), std::string::npos) << same.out;
    const auto json = run_talus({"replay", out, "--json", "--threads", "2"});
    EXPECT_EQ(json.exit, 0);
    const Json told = Json::parse(json.out);
    EXPECT_EQ(told["outcome"], "same");
    EXPECT_EQ(told["hash"], hash);
    EXPECT_EQ(told["tick"], 40);

    const Bytes whole = files::read(out);
    const Bytes half(whole.begin(), whole.begin() + std::ptrdiff_t(whole.size() - 5));
    const auto cut = run_talus({"replay", folder.add("cut.talusrec", half)});
    EXPECT_EQ(cut.exit, 2);
    EXPECT_NE(cut.out.find("DAMAGED: frame "), std::string::npos) << cut.out;
    EXPECT_NE(cut.out.find(" at byte "), std::string::npos) << cut.out;
    // Nor are these recordings.
    for (const auto& [path, why] : {std::pair<std::string, const char*>{file, ": this is no recording"},
                                    {(folder / "none").string(), ": No such file or directory"},
                                    {(folder / "").string(), ": Is a directory"}}) {
        const auto ran = run_talus({"replay", path});
        EXPECT_EQ(ran.exit, 2);
        EXPECT_EQ(ran.out, "");
        EXPECT_EQ(ran.err, "talus: " + path + why + "\n");
        EXPECT_EQ(Json::parse(run_talus({"replay", path, "--json"}).out)["outcome"], "damaged");
    }
    EXPECT_EQ(run_talus({"collapse", file, "--seconds", "1", "--record", "/nowhere/x"}).exit, 1);
}

TEST(ReplayCli, ARecordingThatDiffersNamesTheTickAndTheGroup) {
    const files::TempFolder folder;
    const std::string out = (folder / "t.talusrec").string();
    const std::string file = folder.add("t.schem", files::full_schem(5, 9, 5).file());
    ASSERT_EQ(run_talus({"collapse", file, "--blast", "2,1,2,5", "--seconds", "3", "--record", out}).exit, 0);
    const Bytes whole = files::read(out);
    std::uint64_t tick = 0;
    const std::string altered = folder.add("altered.talusrec", leave_out_first(whole, Call::blast, tick));
    ASSERT_GT(tick, 0u);
    for (const char* threads : {"1", "2"}) {
        const auto ran = run_talus({"replay", altered, "--json", "--threads", threads});
        EXPECT_EQ(ran.exit, 1) << ran.err;
        const Json told = Json::parse(ran.out);
        EXPECT_EQ(told["outcome"], "differs");
        EXPECT_EQ(told["tick"], tick);
        EXPECT_NE(told["hash"], told["recorded_hash"]);
        EXPECT_EQ(told["groups_that_differ"][0], 1) << "the build itself";
        EXPECT_EQ(told["what"].get<std::string>().rfind("group", 0), 0u) << told["what"];
    }
    const auto words = run_talus({"replay", altered});
    EXPECT_EQ(words.exit, 1);
    EXPECT_NE(words.out.find("DIFFERS at tick " + std::to_string(tick) + ":"), std::string::npos)
        << words.out;
    EXPECT_NE(words.out.find("what differs: group"), std::string::npos) << words.out;
}

#endif

}  // namespace
}  // namespace talus
