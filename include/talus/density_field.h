// density_field.h - smooth ground: a density sampled at grid points, blended between them, dug and filled.
//
// Layer: terrain. Metres. Density is about how far a place is inside the ground: positive inside, negative
// outside, zero on the surface. Sample (x, y, z) lies at (x, y, z) * cell_size; between samples it is blended
// trilinearly, and the surface's way out is against the gradient.
// Samples come from a DensitySource, are kept in bricks of 8 x 8 x 8, and are edited by round tools. Edited
// bricks are kept for good; others are a cache: bounded, dropped when the source changes, and of no influence
// on any answer (what is not cached is asked for again).
// Determinism: answers depend on the source and the edits alone. Reading from several threads is safe.
// Tests: tests/terrain/density_field_test.cpp
#pragma once

#include "talus/space.h"
#include "talus/terrain.h"

#include <functional>
#include <map>
#include <memory>
#include <span>

namespace talus {

struct Trilinear;

class DensityField final : public SmoothGround, public DensitySource {
 public:
    /// `source` null: air everywhere (density -kBand cells). Must outlive the field.
    explicit DensityField(const DensitySource* source, float cell_size = 1);

    float cell_size() const { return cell_size_; }
    float density_at(Cell sample) const override;
    float density(DVec3 point) const;
    Vec3 gradient(DVec3 point) const;  ///< of the blend, per metre

    /// Takes ground away inside the ball. @return the cells whose shape may have changed: tell
    /// Space::terrain_changed; empty when nothing did, or the tool covers more than kMostSamples
    CellBox dig(DVec3 center, float radius);
    CellBox fill(DVec3 center, float radius);
    /// A tool of any form: `inside` tells how far a place is inside of it, metres, negative outside.
    /// @param bounds  of the tool
    CellBox edit(const DBox& bounds, bool solid, const std::function<double(DVec3)>& inside);
    /// Tools set samples up to so many cells beyond themselves, where they still decide how far the surface
    /// is.
    static constexpr int kBand = 3;
    static constexpr double kMostSamples = 1 << 24;
    /// Is a tool with these bounds small enough?
    bool fits(const DBox& tool) const;

    /// The nearest surface as the field near `point` tells: exact where it is flat. In the ground, farther
    /// from a surface than the field can tell, the way out is the way the density falls.
    std::optional<SurfacePoint> surface_near(DVec3 point, float reach) const override;
    bool any_in(const DBox& box) const override;

    /// Caches the samples around every body of a space: call before Space::step. Drops the longest unused
    /// bricks beyond the limit.
    void prepare(Space& space);
    void prepare(const DBox& box);
    /// The source changed there: its samples are forgotten; edits stay.
    void changed(const CellBox& samples);
    void set_cache_limit(std::size_t bricks) { cache_limit_ = bricks; }
    std::size_t cached_bricks() const { return bricks_.size() - edited_; }
    std::size_t edited_bricks() const { return edited_; }
    bool one_thread() const override { return source_ && source_->one_thread(); }

    // For saving and restoring: a field is its source and its edited bricks, whose samples are all kept.
    const DensitySource* source() const { return source_; }
    /// Asked from now on; what is cached of the one before is forgotten.
    void replace_source(const DensitySource* source);
    /// f(brick, its 512 samples: x, then z, then y) in order of the bricks.
    template <class F>
    void for_each_edited(F&& f) const {
        for (const auto& [at, brick] : bricks_)
            if (brick->edited) f(at, std::span<const float, 512>(brick->samples));
    }
    void restore_edited(Cell brick, std::span<const float, 512> samples);
    /// Of all of them. Only bricks edited since the last time are looked at.
    std::uint64_t edited_hash() const;

 private:
    struct Brick {
        float samples[512];
        bool edited = false, hashed = false;  // is `hash` that of the samples?
        std::uint64_t last_used = 0, hash = 0;
    };
    CellBox use_ball(DVec3 center, float radius, bool solid);
    float from_source(Cell at) const;
    float air() const { return float(kBand) * cell_size_; }
    Brick& brick_for_write(Cell brick);
    Trilinear blend_at(DVec3 point) const;
    Vec3 slope_about(DVec3 point) const;
    void evict();

    const DensitySource* source_;
    float cell_size_;
    std::map<Cell, std::unique_ptr<Brick>> bricks_;  // by brick coordinate, so that walks are in order
    std::size_t edited_ = 0, cache_limit_ = 4096;
    std::uint64_t uses_ = 0;
};

}  // namespace talus
