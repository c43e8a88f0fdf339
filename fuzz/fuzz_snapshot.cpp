// A snapshot, damaged: an error, or a level that ticks and can be taken and restored again. The first byte
// picks one of a few sound snapshots, which the rest alters (small_levels.h), or none: the rest is the
// content.
#include "small_levels.h"
#include "world/snapshot.h"

#include <cstdio>
#include <cstdlib>

using namespace talus;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static fuzz::Host host;
    static const std::vector<std::vector<std::uint8_t>> sound = [] {
        std::vector<std::vector<std::uint8_t>> out;
        for (fuzz::Host* from : {static_cast<fuzz::Host*>(nullptr), &host}) {
            const auto level = fuzz::small_level(from);
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
    if (size < 1) return 0;
    std::span<const std::uint8_t> rest(data + 1, size - 1);
    std::vector<std::uint8_t> content;
    if (data[0] % 16 < sound.size()) {
        content = sound[data[0] % 16];
        fuzz::patch(content, rest);
    } else {
        content.assign(rest.begin(), rest.end());
    }
    LevelHost given;
    given.terrain = &host;
    auto made = restore_snapshot_content(content, given);
    if (!made) return 0;
    for (int i = 0; i < 3; i++) {
        const auto bytes = take_snapshot(**made);
        const auto again = restore_snapshot(bytes, given);
        if (!again) {
            std::fprintf(stderr, "after %d ticks: %s\n", i, again.error().message.c_str());
            std::abort();
        }
        if (take_snapshot(**again) != bytes) std::abort();
        (*made)->tick();
    }
    return 0;
}
