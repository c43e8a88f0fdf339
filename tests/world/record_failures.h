// record_failures.h - a failing test leaves a recording beside it, and says how to run it again.
#pragma once

#include "talus/recording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
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

/// Make one right after the level, before anything happens to it; it goes before the level.
class RecordFailures {
 public:
    explicit RecordFailures(Level& level) : level_(level) { start_recording(level, buffer_); }
    ~RecordFailures() {
        stop_recording(level_);
        if (testing::Test::HasFailure()) std::printf("to see it again: talus replay %s\n", save().c_str());
    }
    RecordFailures(const RecordFailures&) = delete;
    RecordFailures& operator=(const RecordFailures&) = delete;

    /// Writes what there is so far. @return the file
    std::string save() const {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        std::string name = std::string(test->test_suite_name()) + "." + test->name() + ".talusrec";
        std::replace(name.begin(), name.end(), '/', '_');
        const std::string path = std::filesystem::absolute(name).string();
        if (std::FILE* file = std::fopen(path.c_str(), "wb")) {
            std::fwrite(buffer_.bytes.data(), 1, buffer_.bytes.size(), file);
            std::fclose(file);
        }
        return path;
    }

 private:
    Level& level_;
    RecordBuffer buffer_;
};

}  // namespace talus
