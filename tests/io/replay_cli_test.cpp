// talus collapse --record and talus replay end to end: exit codes, words and keys.
#include "run_program.h"

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
    EXPECT_EQ(run_talus({"replay", file}).exit, 2) << "no recording at all";
    EXPECT_EQ(run_talus({"replay", (folder / "none").string()}).exit, 2);
    EXPECT_EQ(run_talus({"collapse", file, "--seconds", "1", "--record", "/nowhere/x"}).exit, 1);
}

#endif

}  // namespace
}  // namespace talus
