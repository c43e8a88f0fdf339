// store.h - saves: a whole level in one SQLite file.
//
// Layer: io/store. Saved: settings, block types, the level's own terrain, what was dug and filled of smooth
// ground, groups with their motion, blocks and cut diagonals, structures, and the state of the generator. Not
// saved: wear, the host's terrain, contacts; bodies are made anew. Ids of blocks and groups stay,
// Level::hash() too, but for wear and unless blocks changed since the last tick. A save is one transaction: a
// killed writer leaves the save that was there before. Whatever a file claims, the reader stays within the
// limits below, and its error names what is wrong and where. Format: docs/formats/save.md. Only in builds
// with TALUS_STORE (SQLite 3, zstd). Tests: tests/store/
#pragma once

#include "talus/level.h"
#include "talus/result.h"

#include <string>

namespace talus {

// Limits, besides those of grid.h: a level or file that goes over one is refused with
// ErrorCode::too_large.
constexpr std::size_t kMaxSaveBricks = 1u << 20;    ///< of terrain, groups and structures together: 1.4 GB
constexpr std::uint32_t kMaxSaveGroups = 1u << 22;  ///< alive or gone; structures as many

struct SaveReport {
    std::size_t groups = 0, structures = 0, bricks = 0;
    std::uint64_t bytes = 0;  ///< of the file
};

/// Writes the level over what the file held: a save or nothing; anything else is refused.
Result<SaveReport> save_level(const Level& level, const std::string& path);

/// The level has no events yet: read its groups and terrain.
Result<std::unique_ptr<Level>> load_level(const std::string& path, const LevelHost& host = {});

}  // namespace talus
