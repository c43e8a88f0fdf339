// record_file.h - a recording as a file, of bounded size.
//
// Layer: apps. Written through at once: a crash leaves the call that caused it in the file.
// Tests: tests/io/replay_cli_test.cpp
#pragma once

#include "talus/recording.h"

#include <cstdint>
#include <cstdio>
#include <string>

namespace talus {

constexpr std::uint64_t kMaxRecording = std::uint64_t(1) << 34;  ///< bytes

class RecordFile final : public RecordSink {
 public:
    /// @param limit  bytes; over that the recording ends. Throws BadInput when the file cannot be made.
    RecordFile(const std::string& path, std::uint64_t limit);
    ~RecordFile() override;
    RecordFile(const RecordFile&) = delete;
    RecordFile& operator=(const RecordFile&) = delete;

    bool write(std::span<const std::uint8_t> bytes) override;
    /// Forgets what is written: another recording begins.
    void restart();
    /// Why it ended before its time; empty: it did not.
    const std::string& fault() const { return fault_; }

 private:
    std::string path_, fault_;
    std::FILE* file_;
    std::uint64_t limit_, written_ = 0;
};

}  // namespace talus
