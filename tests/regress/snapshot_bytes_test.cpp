// Damaged snapshots that fuzzing found: each is refused, or makes a level that goes on. The bytes are those
// of fuzz/fuzz_snapshot.cpp: which sound snapshot, and patches of it. Where a fault shows only with
// sanitizers, say so: cmake --preset asan-ubsan.
#include "fuzz/try_snapshot.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

TEST(Regress, DamagedSnapshotsThatFuzzingFound) {
    const std::vector<std::uint8_t> found[] = {
        // Impulses so large that a body turned by an angle that is no number (with sanitizers).
        {0x00, 0x30, 0xe0, 0x3f, 0x08, 0xf7, 0xff, 0x00},
        // A restitution of 1e30, which a contact then had, and a snapshot of that was refused.
        {0x00, 0x00, 0x00, 0x67, 0x5b, 0x61, 0x6b, 0x2a},
        // A hit 2e11 cells from a group's zero, of which an int was made (with sanitizers).
        {0x65, 0x61, 0xff, 0x53, 0x26, 0xe4, 0x62, 0xe4},
        // A body over so many cells that looking into each tile of them took minutes.
        {0x02, 0xa3, 0x15, 0xb8, 0x42, 0x74, 0x72},
    };
    for (const auto& bytes : found) fuzz::try_snapshot(bytes);
}

}  // namespace
}  // namespace talus
