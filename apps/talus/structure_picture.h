// structure_picture.h - a build in colours from idle to breaking, as a PNG.
//
// Layer: apps. Isometric, seen from above +x +z; what falls is hatched in violet; a scale at the foot.
#pragma once

#include "talus/structure.h"

#include <span>
#include <string>

namespace talus {

/// `solver` after solve(), `report` of it. Colour: largest share of a limit among a block's bonds.
/// Throws BadInput when the file cannot be written.
void draw_structure(const std::string& path, std::span<const StructureBlock> blocks,
                    const StructureSolver& solver, const StructureReport& report, Axis up);

}  // namespace talus
