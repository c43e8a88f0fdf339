// golden.h - small scenes whose final bits are known.
//
// Each runs a level for a fixed number of ticks and gives the hash of its groups and terrain, or solves a
// structure and gives the hash of its forces. The hashes in tests/golden/hashes.txt must come out on every
// machine, compiler, instruction set and number of threads, natively and as WebAssembly. They change only
// with a commit that says why.
#pragma once

#include "scenes/collapse_scene.h"

#include <cstdint>
#include <span>

namespace talus {

struct GoldenScene {
    const char* name;
    const CollapseScene* collapse = nullptr;              ///< one of the scenes that come down, ...
    std::uint64_t (*special)(JobSystem* jobs) = nullptr;  ///< ... or one of the tests alone

    std::uint64_t run(JobSystem* jobs) const;  ///< jobs may be null: one thread
};

std::span<const GoldenScene> golden_scenes();

}  // namespace talus
