// The messages in tests/wasm/data are those this build makes: what the module decodes in node and in the
// page's tests. TALUS_WRITE_SAMPLES=1 writes them anew.

#include "wire_world.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace talus {
namespace {

const char* const kFile = TALUS_SOURCE_DIR "/tests/wasm/data/messages.bin";

/// Each message behind its length, four bytes, low byte first.
std::vector<std::uint8_t> sample() {
    std::vector<std::uint8_t> out;
    auto put = [&](const std::vector<std::uint8_t>& message) {
        for (int k = 0; k < 4; k++) out.push_back(std::uint8_t(message.size() >> (8 * k)));
        out.insert(out.end(), message.begin(), message.end());
    };
    WireWorld w;
    w.terrain.set({0, -1, 0}, w.bricks);
    const Grid grid = w.box(2, 3, 4);
    const Grid half = w.box(2, 3, 2);
    Frame start;
    start.groups.push_back(WireWorld::group(7, grid, {{10, 0, 20}, {}}, {1, 1.5f, 2}));
    start.stats = {25, 1, 0, 0.5f};
    put(w.welcome(std::move(start)));
    for (int i = 1; i <= 8; i++) {
        Frame f = frame_of({{7, {{10, 0.25 * i, 20}, {}}}});
        if (i == 4) {
            f.groups.push_back(WireWorld::group(8, half, {{10, 1, 20}, {}}));
            f.edits.push_back({7, {}});
            half.for_each([&](Cell c, BlockId) { f.edits[0].edits.push_back({c, kAir}); });
            f.effects.push_back({FrameEffect::Kind::blast, {11, 1, 21}, 4, 0});
        }
        f.stats = {25, i < 4 ? 1u : 2u, 1, 1.25f};
        put(w.next(std::move(f)));
    }
    put(encode_notice(true, "no room for the house \xe2\x80\x94 it is too large"));
    return out;
}

TEST(Sample, CommittedMessagesAreThoseOfThisBuild) {
    const std::vector<std::uint8_t> made = sample();
    if (std::getenv("TALUS_WRITE_SAMPLES"))
        std::ofstream(kFile, std::ios::binary)
            .write(reinterpret_cast<const char*>(made.data()), std::streamsize(made.size()));
    std::ifstream file(kFile, std::ios::binary);
    const std::vector<char> kept{std::istreambuf_iterator<char>(file), {}};
    ASSERT_EQ(kept.size(), made.size());
    EXPECT_TRUE(std::equal(kept.begin(), kept.end(), made.begin(),
                           [](char a, std::uint8_t b) { return std::uint8_t(a) == b; }));
}

}  // namespace
}  // namespace talus
