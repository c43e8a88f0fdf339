// snapshot.h - the inside of a snapshot. Internal.
//
// Layer: world.
#pragma once

#include "base/archive.h"
#include "talus/snapshot.h"

namespace talus {

constexpr std::int32_t kMostSmoothBrick = 125'000'000;  ///< coordinate: 10^9 cells out

/// Without the head, whose sum would keep a fuzzer out.
Result<std::unique_ptr<Level>> restore_snapshot_content(ByteSpan content, const LevelHost& host);
/// What a host lends, before and after the level is made.
void lend(LevelSettings& settings, const LevelHost& host);
void lend(Level& level, const LevelHost& host);
constexpr std::size_t kSnapshotHead = 28;  ///< bytes

}  // namespace talus
