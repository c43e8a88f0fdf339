#include "talus/density_field.h"

#include "base/hash.h"
#include "grid/trilinear.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace talus {

namespace {

constexpr double kFarthest = 1e9;    // cells: beyond, there is no ground
constexpr float kFlat = 1e-4f;       // a gradient this small tells no way out
constexpr int kSteps = 5;            // towards the surface
constexpr float kNear = 0.02f;       // cells: a step from there arrives
constexpr double kMostLooked = 1e5;  // samples: bigger boxes are taken to hold ground

bool in_reach(DVec3 cells) {
    return std::fabs(cells.x) < kFarthest && std::fabs(cells.y) < kFarthest && std::fabs(cells.z) < kFarthest;
}

}  // namespace

DensityField::DensityField(const DensitySource* source, float cell_size)
    : source_(source), cell_size_(cell_size > 0 ? cell_size : 1) {}

float DensityField::from_source(Cell at) const {
    const float d = source_ ? source_->density_at(at) : -air();
    return std::isfinite(d) ? d : -air();
}

float DensityField::density_at(Cell at) const {
    const auto it = bricks_.find(brick_of(at));
    return it == bricks_.end() ? from_source(at) : it->second->samples[index_in_brick(at)];
}

Trilinear DensityField::blend_at(DVec3 point) const {
    Trilinear b;
    const DVec3 p = point / double(cell_size_);
    if (!in_reach(p)) {
        for (float& c : b.corner) c = -air();
        b.at = {};
        return b;
    }
    const DVec3 f{std::floor(p.x), std::floor(p.y), std::floor(p.z)};
    const Cell c{int(f.x), int(f.y), int(f.z)};
    b.at = to_float(p - f);
    const auto it = bricks_.find(brick_of(c));
    for (int i = 0; i < 8; i++) {
        const Cell at = c + Cell{i & 1, i >> 1 & 1, i >> 2};
        // Most cells lie in one brick.
        b.corner[i] = it != bricks_.end() && brick_of(at) == it->first
                          ? it->second->samples[index_in_brick(at)]
                          : density_at(at);
    }
    return b;
}

float DensityField::density(DVec3 point) const { return blend_at(point).value(); }

Vec3 DensityField::gradient(DVec3 point) const { return blend_at(point).slope() * (1 / cell_size_); }

/// Over a cell about the point.
Vec3 DensityField::slope_about(DVec3 point) const {
    Vec3 out;
    const double half = 0.5 * double(cell_size_);
    for (int k = 0; k < 3; k++) {
        DVec3 before = point, after = point;
        before[k] -= half;
        after[k] += half;
        out[k] = (density(after) - density(before)) / cell_size_;
    }
    return out;
}

std::optional<SurfacePoint> DensityField::surface_near(DVec3 point, float reach) const {
    DVec3 at = point;
    Vec3 out;
    SurfacePoint deep{0, {0, 1, 0}};  // of a place in the ground from which no surface is found
    bool in_ground = false, arrived = false;
    for (int step = 0; step <= kSteps && !arrived; step++) {
        const Trilinear blend = blend_at(at);
        const float d = blend.value();
        const Vec3 g = blend.slope() * (1 / cell_size_);
        const float steepness = length(g);
        const bool flat = !(steepness > kFlat);
        if (step == 0) {
            in_ground = d > 0;
            deep = {flat ? -d : -d / steepness, flat ? deep.outward : -g / steepness};
            // Nothing near: no need to walk there.
            if (!in_ground && (flat || -d > (2 * reach + 2 * cell_size_) * steepness)) return std::nullopt;
        }
        if (flat) break;
        out = -g / steepness;
        at += to_double(out * (d / steepness));
        // The surface was passed, or all but reached.
        arrived = (d > 0) != in_ground || std::fabs(d) < kNear * cell_size_ * steepness;
    }
    // Where the field is no distance, a walk may end at another surface than it set out for.
    const float way = dot(to_float(point - at), out);
    arrived = arrived && is_finite(at) && (in_ground ? -way : way) >= 0.5f * length(to_float(point - at));
    if (!arrived && !in_ground) return std::nullopt;
    if (arrived) {
        // The blend has creases where cells meet; what rests in one must not be thrown from side to side.
        const Vec3 even = slope_about(at);
        const float steepness = length(even);
        deep = {way, steepness > kFlat ? -even / steepness : out};
    }
    if (!(deep.distance <= reach)) return std::nullopt;
    return deep;
}

bool DensityField::any_in(const DBox& box) const {
    const DVec3 lo = box.min / double(cell_size_), hi = box.max / double(cell_size_);
    for (int k = 0; k < 3; k++)
        if (!(lo[k] < kFarthest) || !(hi[k] > -kFarthest)) return false;
    if ((hi.x - lo.x + 2) * (hi.y - lo.y + 2) * (hi.z - lo.z + 2) > kMostLooked) return true;
    if (!in_reach(lo) || !in_reach(hi)) return false;
    const Cell a{int(std::floor(lo.x)), int(std::floor(lo.y)), int(std::floor(lo.z))};
    const Cell b{int(std::floor(hi.x)) + 1, int(std::floor(hi.y)) + 1, int(std::floor(hi.z)) + 1};
    for (int y = a.y; y <= b.y; y++)
        for (int z = a.z; z <= b.z; z++)
            for (int x = a.x; x <= b.x; x++)
                if (density_at({x, y, z}) > 0) return true;
    return false;
}

DensityField::Brick& DensityField::brick_for_write(Cell brick) {
    std::unique_ptr<Brick>& slot = bricks_[brick];
    if (!slot) {
        slot = std::make_unique<Brick>();
        for (int i = 0; i < 512; i++)
            slot->samples[i] =
                from_source({brick.x * 8 + (i & 7), brick.y * 8 + (i >> 6), brick.z * 8 + (i >> 3 & 7)});
    }
    slot->last_used = uses_;
    return *slot;
}

bool DensityField::fits(const DBox& tool) const {
    const DVec3 from = tool.min / double(cell_size_), to = tool.max / double(cell_size_);
    return in_reach(from) && in_reach(to) &&
           (to.x - from.x + 9) * (to.y - from.y + 9) * (to.z - from.z + 9) <= kMostSamples;
}

CellBox DensityField::edit(const DBox& bounds, bool solid, const std::function<double(DVec3)>& inside_tool) {
    CellBox out;
    if (!fits(bounds)) return out;
    const double e = double(cell_size_);
    const DVec3 from = bounds.min / e, to = bounds.max / e;
    const Cell lo{int(std::floor(from.x)) - kBand, int(std::floor(from.y)) - kBand,
                  int(std::floor(from.z)) - kBand};
    const Cell hi{int(std::ceil(to.x)) + kBand, int(std::ceil(to.y)) + kBand, int(std::ceil(to.z)) + kBand};
    uses_++;
    for (int y = lo.y; y <= hi.y; y++)
        for (int z = lo.z; z <= hi.z; z++)
            for (int x = lo.x; x <= hi.x; x++) {
                const Cell at{x, y, z};
                const auto inside = float(inside_tool(DVec3{double(x), double(y), double(z)} * e));
                const float now = density_at(at);
                const float then = solid ? (inside > now ? inside : now) : (-inside < now ? -inside : now);
                if (then == now) continue;
                Brick& brick = brick_for_write(brick_of(at));
                edited_ += !std::exchange(brick.edited, true);
                brick.samples[index_in_brick(at)] = then;
                brick.hashed = false;
                if (out.empty()) out = {at, at};
                out.min = {std::min(out.min.x, x), std::min(out.min.y, y), std::min(out.min.z, z)};
                out.max = {std::max(out.max.x, x), std::max(out.max.y, y), std::max(out.max.z, z)};
            }
    // A sample is a corner of the cells before it too.
    if (!out.empty()) out.min = out.min - Cell{1, 1, 1};
    return out;
}

CellBox DensityField::use_ball(DVec3 center, float radius, bool solid) {
    if (!(radius > 0)) return {};
    const DVec3 r{double(radius), double(radius), double(radius)};
    return edit({center - r, center + r}, solid,
                [&](DVec3 p) { return double(radius) - length(p - center); });
}

CellBox DensityField::dig(DVec3 center, float radius) { return use_ball(center, radius, false); }
CellBox DensityField::fill(DVec3 center, float radius) { return use_ball(center, radius, true); }

void DensityField::replace_source(const DensitySource* source) {
    source_ = source;
    std::erase_if(bricks_, [](const auto& entry) { return !entry.second->edited; });
}

void DensityField::restore_edited(Cell at, std::span<const float, 512> samples) {
    std::unique_ptr<Brick>& slot = bricks_[at];
    if (!slot) slot = std::make_unique<Brick>();
    edited_ += !std::exchange(slot->edited, true);
    slot->hashed = false;
    for (std::size_t i = 0; i < 512; i++) slot->samples[i] = std::isfinite(samples[i]) ? samples[i] : -air();
}

std::uint64_t DensityField::edited_hash() const {
    BitHash all;
    for (const auto& [at, brick] : bricks_) {
        if (!brick->edited) continue;
        if (!std::exchange(brick->hashed, true)) {
            BitHash one;
            for (const float s : brick->samples) one.add(s);
            brick->hash = one.value();
        }
        all.add(std::uint64_t(std::uint32_t(at.x)) << 32 | std::uint32_t(at.y));
        all.add(std::uint64_t(std::uint32_t(at.z)));
        all.add(brick->hash);
    }
    return all.value();
}

void DensityField::prepare(const DBox& box) {
    const double e = double(cell_size_);
    const DVec3 lo = box.min / e, hi = box.max / e;
    constexpr double kMost = 96;  // cells an axis: bigger boxes are left to be asked for
    if (!in_reach(lo) || !in_reach(hi)) return;
    if (hi.x - lo.x > kMost || hi.y - lo.y > kMost || hi.z - lo.z > kMost) return;
    auto corner = [](DVec3 p, int add) {
        return brick_of(Cell{int(std::floor(p.x)), int(std::floor(p.y)), int(std::floor(p.z))} +
                        Cell{add, add, add});
    };
    const Cell a = corner(lo, -1), b = corner(hi, 2);
    for (int y = a.y; y <= b.y; y++)
        for (int z = a.z; z <= b.z; z++)
            for (int x = a.x; x <= b.x; x++) brick_for_write({x, y, z});
}

void DensityField::prepare(Space& space) {
    uses_++;
    space.for_each_moving(
        [](void* field, Body body) { static_cast<DensityField*>(field)->prepare(body.bounds()); }, this);
    evict();
}

void DensityField::evict() {
    if (cached_bricks() <= cache_limit_) return;
    std::vector<std::pair<std::uint64_t, Cell>> unused;
    for (const auto& [at, brick] : bricks_)
        if (!brick->edited) unused.push_back({brick->last_used, at});
    std::sort(unused.begin(), unused.end());
    for (std::size_t i = 0; cached_bricks() > cache_limit_; i++) bricks_.erase(unused[i].second);
}

void DensityField::changed(const CellBox& samples) {
    if (samples.empty()) return;
    const Cell lo = brick_of(samples.min), hi = brick_of(samples.max);
    std::erase_if(bricks_, [&](const auto& entry) {
        const Cell b = entry.first;
        return !entry.second->edited && b.x >= lo.x && b.x <= hi.x && b.y >= lo.y && b.y <= hi.y &&
               b.z >= lo.z && b.z <= hi.z;
    });
}

}  // namespace talus
