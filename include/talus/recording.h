// recording.h - every call that changes a level, with its tick and a hash after each, to run again elsewhere.
//
// Layer: world. A recording begins with a snapshot; then come the calls made from outside (what a call does
// in turn is not written), what a host's terrain answered, and after each tick the level's hash. Format:
// docs/formats/recording.md; how to use one: docs/REPLAY.md.
// Recorded are the calls of Level, of its Space and of their bodies. Not recorded: Space::set_terrain, owner
// pointers, clear_events, emit, and calls that a host's own code makes from inside of a call: a replay makes
// them too if the same code is there (LevelHost::types, blast_targets). Tests: tests/world/recording_test.cpp
#pragma once

#include "talus/snapshot.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace talus {

/// Where a recording goes: a file, a buffer. The library itself writes nowhere.
class RecordSink {
 public:
    virtual ~RecordSink() = default;
    /// Comes once for the beginning and once for each call, before it is made, so that a crash finds the call
    /// that caused it written. @return false: that is enough, the recording ends here
    virtual bool write(std::span<const std::uint8_t> bytes) = 0;
};

/// Not to be called from inside of a tick. The sink must outlive the recording; it ends with the level at the
/// latest.
void start_recording(Level& level, RecordSink& sink);
void stop_recording(Level& level);
bool is_recording(const Level& level);

struct ReplayReport {
    enum class Outcome : std::uint8_t {
        same,     ///< every tick gave the hash that was recorded
        differs,  ///< from `tick` on
        damaged,  ///< cannot be read from `error` on; what came before gave the same hashes
    } outcome = Outcome::same;
    std::uint64_t first_tick = 0;  ///< of the level when the recording began
    std::uint64_t tick = 0;        ///< the last that was run, or the first that differs
    std::uint64_t calls = 0;       ///< besides ticks
    std::uint64_t recorded_hash = 0, hash = 0;
    std::vector<std::uint32_t> groups;  ///< indices of awake groups that differ, where that can be told
    std::string what;                   ///< what differs, in words
    Error error;
    std::unique_ptr<Level> level;  ///< as it is then; null when there never was one
};

/// Makes the calls again and compares the hash of each tick. `host.terrain` is not used: what it answered is
/// in the recording.
ReplayReport replay(std::span<const std::uint8_t> recording, const LevelHost& host = {});

}  // namespace talus
