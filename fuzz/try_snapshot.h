// try_snapshot.h - a snapshot, damaged: an error, or a level that ticks and can be taken and restored again.
// The first byte picks one of a few sound snapshots, which the rest alters (small_levels.h), or none: the
// rest is the content. Of fuzz_snapshot.cpp, and of the tests that keep what it found.
#pragma once

#include "fuzz/small_levels.h"
#include "world/snapshot.h"

#include <cstdio>
#include <cstdlib>

namespace talus::fuzz {

inline void try_snapshot(std::span<const std::uint8_t> data) {
    static Host host;
    static const std::vector<std::vector<std::uint8_t>> sound = [] {
        std::vector<std::vector<std::uint8_t>> out;
        for (Host* from : {static_cast<Host*>(nullptr), &host}) {
            const auto level = small_level(from);
            for (int i = 0; i <= 100; i++) {
                if (i == 0 || i == 1 || i == 12 || i == 100) {
                    const auto bytes = take_snapshot(*level);
                    out.emplace_back(bytes.begin() + kSnapshotHead, bytes.end());
                }
                if (i == 10) level->blast({2.5, 1, 0.5}, 3);
                level->tick();
            }
        }
        return out;
    }();
    if (data.empty()) return;
    auto rest = data.subspan(1);
    std::vector<std::uint8_t> content;
    if (data[0] % 16 < sound.size()) {
        content = sound[data[0] % 16];
        patch(content, rest);
    } else {
        content.assign(rest.begin(), rest.end());
    }
    LevelHost given;
    given.terrain = &host;
    auto made = restore_snapshot_content(content, given);
    if (!made) return;
    for (int i = 0; i < 3; i++) {
        const auto bytes = take_snapshot(**made);
        const auto again = restore_snapshot(bytes, given);
        if (!again) {
            std::fprintf(stderr, "after %d ticks: %s\n", i, again.error().message.c_str());
            std::abort();
        }
        if (take_snapshot(**again) != bytes || (*again)->hash() != (*made)->hash()) std::abort();
        (*made)->tick();
    }
}

}  // namespace talus::fuzz
