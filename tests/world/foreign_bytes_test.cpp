// Snapshots and recordings that are cut short, damaged, newer or lie: an error that names what is wrong and
// where, within memory and time in proportion to their size. More of it: fuzz/fuzz_snapshot.cpp,
// fuzz/fuzz_recording.cpp.
#include "alter_recording.h"
#include "fuzz/small_levels.h"
#include "world/snapshot.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <random>

namespace talus {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Outcome = ReplayReport::Outcome;

/// Of this program so far, MiB.
long peak_memory() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss / 1024;
}

class ForeignSnapshot : public testing::Test {
 protected:
    ForeignSnapshot() {
        for (int i = 0; i < 14; i++) {
            if (i == 10) level->blast({2.5, 1, 0.5}, 3);
            level->tick();
        }
        whole = take_snapshot(*level);
        content.assign(whole.begin() + kSnapshotHead, whole.end());
        given.terrain = &host;
    }
    Error refused(ByteSpan bytes) {
        auto made = restore_snapshot(bytes, given);
        EXPECT_FALSE(made.ok());
        if (made.ok()) return {};
        EXPECT_FALSE(made.error().message.empty());
        return made.error();
    }
    fuzz::Host host;
    std::unique_ptr<Level> level = fuzz::small_level(nullptr);
    LevelHost given;
    Bytes whole, content;
};

TEST_F(ForeignSnapshot, CutShortOrLonger) {
    for (std::size_t n = 0; n < whole.size(); n++) {
        const Error error = refused(ByteSpan(whole).first(n));
        EXPECT_EQ(error.code, n < 8 ? ErrorCode::bad_format : ErrorCode::truncated) << n << error.message;
    }
    Bytes longer = whole;
    longer.push_back(0);
    EXPECT_EQ(refused(longer).code, ErrorCode::truncated);
}

TEST_F(ForeignSnapshot, EveryFlippedBitIsNoticed) {
    for (std::size_t i = 0; i < whole.size(); i += 1 + i / 40) {
        Bytes bytes = whole;
        bytes[i] ^= std::uint8_t(1 << (i % 8));
        refused(bytes);
    }
    EXPECT_EQ(take_snapshot(*level), whole) << "what fails changes nothing";
}

TEST_F(ForeignSnapshot, OfAnotherKindOrNewer) {
    EXPECT_EQ(refused({}).code, ErrorCode::bad_format);
    const Bytes text{'h', 'e', 'l', 'l', 'o', ' ', 'w', 'o', 'r', 'l', 'd'};
    EXPECT_EQ(refused(text).message, "this is no snapshot");
    Bytes bytes = whole;
    bytes[8] = 7;
    const Error newer = refused(bytes);
    EXPECT_EQ(newer.code, ErrorCode::unsupported);
    EXPECT_EQ(newer.message.rfind("a snapshot of version 7, newer than ", 0), 0u) << newer.message;
    bytes[8] = 0;
    refused(bytes);
}

/// Behind the sum, which honest damage does not get past.
TEST_F(ForeignSnapshot, ContentThatIsCutShortNamesThePlace) {
    for (std::size_t n = 0; n < content.size(); n++) {
        const auto made = restore_snapshot_content(ByteSpan(content).first(n), given);
        ASSERT_FALSE(made.ok()) << n << " of " << content.size();
        EXPECT_NE(made.error().message.find(", byte "), std::string::npos) << made.error().message;
    }
}

TEST_F(ForeignSnapshot, LyingContentIsRefusedOrWorks) {
    std::mt19937 random(5);
    int errors = 0, levels = 0;
    std::map<std::string, int> parts;
    const long before = peak_memory();
    for (std::size_t i = 0; i < 2 * content.size(); i++) {
        Bytes bytes = content;
        const std::size_t at = i / 2;
        if (i % 2) {
            bytes[at] ^= std::uint8_t(1 << (random() % 8));
        } else {  // a count, an index, a number
            for (std::size_t k = at; k < at + 4 && k < bytes.size(); k++) bytes[k] = 0xff;
        }
        const auto made = restore_snapshot_content(bytes, given);
        if (!made.ok()) {
            errors++;
            EXPECT_FALSE(made.error().message.empty());
            parts[made.error().message.substr(0, made.error().message.find_first_of(" ,"))]++;
            continue;
        }
        levels++;
        (*made)->tick();
        const auto again = restore_snapshot(take_snapshot(**made), given);
        EXPECT_TRUE(again.ok()) << "byte " << at << ": " << again.error().message;
    }
    EXPECT_GT(errors, 1000);
    EXPECT_GT(levels, 1000);
    for (const char* part :
         {"settings", "block", "terrain", "group", "structure", "body", "pairs", "contacts"})
        EXPECT_GT(parts[part], 0) << part;
    EXPECT_LT(peak_memory() - before, 600);
}

/// The small level, and what happens to it.
Bytes small_recording() {
    fuzz::Buffer buffer;
    LevelSettings settings;
    settings.ground = -1;
    Level level(settings);
    start_recording(level, buffer);
    fuzz::build(level, nullptr);
    for (int i = 0; i < 6; i++) {
        if (i == 2) level.blast({2.5, 1, 0.5}, 3);
        level.group(level.groups().front())->body.add_impulse({0, 900, 0});
        level.tick();
    }
    return buffer.bytes;
}

TEST(ForeignRecording, LyingCallsAreRefusedOrMade) {
    const Bytes whole = small_recording();
    ASSERT_EQ(replay(whole).outcome, Outcome::same);
    std::mt19937 random(6);
    std::map<Outcome, int> outcomes;
    const long before = peak_memory();
    for (int i = 0; i < 3000; i++) {
        const std::size_t frame = 1 + random() % 40;
        std::size_t number = 0;
        const Bytes altered = alter_recording(whole, [&](Call, ByteSpan content) {
            std::optional<Bytes> out(std::in_place, content.begin(), content.end());
            if (number++ != frame) return out;
            const std::size_t at = random() % content.size();
            if (i % 2) {
                (*out)[at] ^= std::uint8_t(1 << (random() % 8));
            } else {
                for (std::size_t k = at; k < at + 4 && k < content.size(); k++) (*out)[k] = 0xff;
            }
            return out;
        });
        ReplayReport report = replay(altered);
        outcomes[report.outcome]++;
        if (report.outcome == Outcome::damaged) {
            const std::string place = "frame " + std::to_string(frame) + " at byte ";
            EXPECT_EQ(report.error.message.rfind(place, 0), 0u) << report.error.message;
        }
        ASSERT_TRUE(report.level);
        report.level->tick();
    }
    for (const Outcome outcome : {Outcome::same, Outcome::differs, Outcome::damaged})
        EXPECT_GT(outcomes[outcome], 30) << int(outcome);
    EXPECT_LT(peak_memory() - before, 600);
}

TEST(ForeignRecording, OfAnotherKindOrNewer) {
    Bytes bytes = small_recording();
    EXPECT_EQ(replay({}).error.code, ErrorCode::bad_format);
    EXPECT_EQ(replay(ByteSpan(bytes).subspan(12)).error.message, "this is no recording");
    bytes[8] = 9;
    EXPECT_EQ(replay(bytes).error.message.rfind("a recording of version 9, newer than ", 0), 0u);
    bytes[8] = 0;
    EXPECT_EQ(replay(bytes).outcome, Outcome::damaged);
    EXPECT_EQ(replay(take_snapshot(*fuzz::small_level(nullptr))).error.code, ErrorCode::bad_format);
}

}  // namespace
}  // namespace talus
