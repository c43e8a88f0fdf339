// record_failures.h - a failing test leaves a recording in the build folder, and says how to run it again.
#pragma once

#include "talus/recording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <set>
#include <string>

namespace talus {

/// Keeps what is recorded.
struct RecordBuffer final : RecordSink {
    std::vector<std::uint8_t> bytes;
    std::size_t limit = std::size_t(256) << 20;
    bool write(std::span<const std::uint8_t> more) override {
        if (bytes.size() + more.size() > limit) return false;
        bytes.insert(bytes.end(), more.begin(), more.end());
        return true;
    }
};

/// Make one right after the level, before anything happens to it; it goes before the level. A test that has
/// failed by then, or is left by an exception (as rapidcheck does), leaves a file.
class RecordFailures {
 public:
    /// @param name  tells several in one test apart
    explicit RecordFailures(Level& level, std::string name = {}) : name_(std::move(name)) { begin(level); }
    ~RecordFailures() {
        if (testing::Test::HasFailure() || std::uncaught_exceptions() > exceptions_) {
            const std::string path = save();
            static std::set<std::string> told;
            if (told.insert(path).second) std::printf("to see it again: talus replay %s\n", path.c_str());
        }
        stop_recording(*level_);
    }
    RecordFailures(const RecordFailures&) = delete;
    RecordFailures& operator=(const RecordFailures&) = delete;

    /// From now on of this level, as it is.
    void begin(Level& level) {
        buffer_.bytes.clear();
        level_ = &level;
        start_recording(level, buffer_);
    }
    /// Writes what there is so far. @return the file
    std::string save() const {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        std::string name = std::string(test->test_suite_name()) + "." + test->name() + ".";
        if (!name_.empty()) name += name_ + ".";
        name += "talusrec";
        std::replace(name.begin(), name.end(), '/', '_');
        // In the build folder: build/release/failures for build/release/bin/test_world.
        const auto program = std::filesystem::read_symlink("/proc/self/exe");
        const auto folder = program.parent_path().parent_path() / "failures";
        std::filesystem::create_directories(folder);
        const std::string path = (folder / name).string();
        if (std::FILE* file = std::fopen(path.c_str(), "wb")) {
            std::fwrite(buffer_.bytes.data(), 1, buffer_.bytes.size(), file);
            std::fclose(file);
        }
        return path;
    }

 private:
    std::string name_;
    int exceptions_ = std::uncaught_exceptions();
    Level* level_ = nullptr;
    RecordBuffer buffer_;
};

/// Runs a test of this program once more with TALUS_FAIL_ON_PURPOSE set, upon which it is to fail. @return
/// the recording that it left
inline std::vector<std::uint8_t> recording_left_by(const std::string& test) {
    const auto self = std::filesystem::read_symlink("/proc/self/exe");
    const std::string command =
        "TALUS_FAIL_ON_PURPOSE=1 RC_PARAMS= '" + self.string() + "' --gtest_filter=" + test + " 2>&1";
    std::FILE* child = popen(command.c_str(), "r");
    std::string said;
    for (int c; child && (c = std::fgetc(child)) != EOF;) said += char(c);
    EXPECT_TRUE(child && pclose(child) != 0) << "it did not fail";
    const std::string words = "to see it again: talus replay ";
    const std::size_t at = said.find(words);
    EXPECT_NE(at, std::string::npos) << said;
    if (at == std::string::npos) return {};
    const std::string path = said.substr(at + words.size(), said.find('\n', at) - at - words.size());
    std::vector<std::uint8_t> bytes(std::filesystem::file_size(path));
    std::FILE* file = std::fopen(path.c_str(), "rb");
    EXPECT_TRUE(file && std::fread(bytes.data(), 1, bytes.size(), file) == bytes.size());
    if (file) std::fclose(file);
    std::filesystem::remove(path);
    return bytes;
}

}  // namespace talus
