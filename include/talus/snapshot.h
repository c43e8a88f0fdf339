// snapshot.h - a whole level as bytes, and a level from these that goes on with the same bits.
//
// Layer: world. Kept: everything that decides what comes next, down to contacts, sleep clocks, wear, answers
// of structural checks under way, free numbers and the state of the generator, what was dug and filled of
// smooth ground; see docs/formats/snapshot.md. Not kept: events, owner pointers of bodies, the settings'
// jobs, log and profile, blast targets, what a host's terrain and a DensitySource hold (the host has them).
// Types of groups are kept by name. A save (store.h) is smaller and lasts across versions, but what is in
// motion goes on a little differently. Determinism: the same level gives the same bytes on every machine.
// Tests: tests/world/snapshot_test.cpp
#pragma once

#include "talus/level.h"
#include "talus/result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace talus {

/// Changes nothing in the level; waits for structural checks under way. Not to be called from inside of a
/// tick.
std::vector<std::uint8_t> take_snapshot(const Level& level);

/// Whatever the bytes are: a level or an error that names what is wrong and where, with memory and time in
/// proportion to their number.
Result<std::unique_ptr<Level>> restore_snapshot(std::span<const std::uint8_t> bytes,
                                                const LevelHost& host = {});

}  // namespace talus
