// terrain.h - what does not move, as physics sees it: the whole bridge to a host's world.
//
// Layer: grid. A host either hands over a Grid, which is read in place, or implements TerrainSource,
// whose cells are copied into a cached Grid around the bodies (terrain/region_cache.h) and polled or told of
// changes.
#pragma once

#include "talus/grid.h"
#include "talus/math.h"

#include <optional>

namespace talus {

/// The nearest point of a smooth surface.
struct SurfacePoint {
    float distance = 0;     ///< metres from the asked point to the surface; negative inside the ground
    Vec3 outward{0, 1, 0};  ///< unit, out of the ground
};

/// Ground without cells, as physics asks for it: Space::set_smooth_ground.
class SmoothGround {
 public:
    virtual ~SmoothGround() = default;
    /// nullopt where no surface is nearer than `reach` metres. During a step it is asked from several threads
    /// at once, and must give the same answer for the same point until Space::terrain_changed says otherwise.
    virtual std::optional<SurfacePoint> surface_near(DVec3 point, float reach) const = 0;
    /// False only where neither ground nor surface is in the box: bodies there are left alone.
    virtual bool any_in(const DBox& box) const {
        const DVec3 half = (box.max - box.min) * 0.5;
        return surface_near(box.min + half, float(length(half))).has_value();
    }
    /// True: not to be asked from several threads at once. Steps then run on one.
    virtual bool one_thread() const { return false; }
};

/// Samples of smooth ground at grid points, metres inside the ground: positive inside, zero on the surface.
/// Must give the same value for a sample until told otherwise (DensityField::changed), also when asked from
/// several threads.
class DensitySource {
 public:
    virtual ~DensitySource() = default;
    virtual float density_at(Cell sample) const = 0;
    /// True: not to be asked from several threads at once.
    virtual bool one_thread() const { return false; }
};

class TerrainSource : public SmoothGround {
 public:
    /// The block at a cell, an id of the space's table. Only asked for loaded cells.
    virtual BlockId block_at(Cell cell) const = 0;
    /// False: the physics leaves these cells out and never causes them to load. A body that comes near is
    /// held still until they are.
    virtual bool is_loaded(const CellBox& cells) const = 0;
    /// Asks the host to change a block (a blast, a dig). @return false to refuse: the cell stays as it is
    virtual bool set_block(Cell cell, BlockId block) {
        (void)cell, (void)block;
        return false;
    }
    /// True: surface_near() has answers, and bodies collide with that ground too. Asked once, when the source
    /// is given to a Level; a host without one gives itself to Space::set_smooth_ground.
    virtual bool has_smooth_ground() const { return false; }
    std::optional<SurfacePoint> surface_near(DVec3 point, float reach) const override {
        (void)point, (void)reach;
        return std::nullopt;
    }
};

}  // namespace talus
