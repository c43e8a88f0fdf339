// Every fuzz target (fuzz/) takes its seeds, and a few bytes of each length: so that the targets compile and
// run with every compiler, also where nobody fuzzes. A fault ends the program.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" {
int fuzz_vox(const std::uint8_t*, std::size_t);
int fuzz_schem(const std::uint8_t*, std::size_t);
int fuzz_materials(const std::uint8_t*, std::size_t);
int fuzz_protocol(const std::uint8_t*, std::size_t);
int fuzz_snapshot(const std::uint8_t*, std::size_t);
int fuzz_recording(const std::uint8_t*, std::size_t);
}

namespace talus {
namespace {

struct Target {
    const char* name;
    int (*run)(const std::uint8_t*, std::size_t);
    bool has_seeds;
};
void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

class FuzzTargets : public testing::TestWithParam<Target> {};

TEST_P(FuzzTargets, TakeTheirSeeds) {
    std::size_t seeds = 0;
    const std::filesystem::path folder =
        std::filesystem::path(TALUS_SOURCE_DIR) / "fuzz/seeds" / GetParam().name;
    if (GetParam().has_seeds)
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            std::ifstream file(entry.path(), std::ios::binary);
            const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
            EXPECT_EQ(GetParam().run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
            seeds++;
        }
    EXPECT_EQ(seeds > 0, GetParam().has_seeds);
    std::vector<std::uint8_t> bytes;
    for (std::uint32_t i = 0; i < 40; i++) {
        EXPECT_EQ(GetParam().run(bytes.data(), bytes.size()), 0);
        bytes.push_back(std::uint8_t(i * i * 37 + i * 101));
    }
}

INSTANTIATE_TEST_SUITE_P(All, FuzzTargets,
                         testing::Values(Target{"vox", fuzz_vox, true}, Target{"schem", fuzz_schem, true},
                                         Target{"materials", fuzz_materials, true},
                                         Target{"protocol", fuzz_protocol, true},
                                         Target{"snapshot", fuzz_snapshot, false},
                                         Target{"recording", fuzz_recording, false}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace talus
