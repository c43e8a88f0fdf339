// snapshot.h - all of a space as bytes, so that one made from them goes on with the same bits.
//
// Layer: dynamics. Kept: bodies, pairs with their contacts and impulses, clocks, free lists, the order of
// things. Made anew: what follows from these (matrices, bounds, mass, hashes) and what lives within one step.
// Not kept: owner pointers, the terrain. Whoever adds state to a class here adds it to its archive() too:
// tests/world/snapshot_test.cpp compares a level that went on with one that was restored, to the last byte.
// Tests: tests/world/snapshot_test.cpp
#pragma once

#include "base/archive.h"
#include "talus/space.h"

namespace talus {

/// Whoever knows how a body's shape came about may keep it better: by a number.
struct ShapeNames {
    static constexpr std::uint32_t kUnknown = 0;  ///< then the shape is kept as it is
    std::uint32_t (*name_of)(const void* context, BodyId body) = nullptr;
    /// The shape of a number; empty when there is none.
    BodyShape (*shape_of)(const void* context, std::uint32_t name) = nullptr;
    const void* context = nullptr;
};

void write_space(ByteWriter& a, const Space& space, const ShapeNames& names);
/// Into a space without bodies, made with the same settings; its terrain stays.
void read_space(ByteReader& a, Space& space, const ShapeNames& names);

}  // namespace talus
