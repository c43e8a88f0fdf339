#include "talus/density_field.h"

#include "grid/trilinear.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace talus {

namespace {

constexpr double kFarthest = 1e9;    // cells: beyond, there is no ground
constexpr float kFlat = 1e-4f;       // a gradient this small tells no way out
constexpr int kSteps = 4;            // towards the surface
constexpr float kLongestTool = 256;  // cells: a tool's radius is cut to this

bool in_reach(DVec3 cells) {
    return std::fabs(cells.x) < kFarthest && std::fabs(cells.y) < kFarthest && std::fabs(cells.z) < kFarthest;
}

}  // namespace

DensityField::DensityField(const DensitySource* source, float cell_size)
    : source_(source), cell_size_(cell_size > 0 ? cell_size : 1) {}

float DensityField::from_source(Cell at) const {
    const float d = source_ ? source_->density_at(at) : -cell_size_;
    return std::isfinite(d) ? d : -cell_size_;
}

float DensityField::density_at(Cell at) const {
    const auto it = bricks_.find(brick_of(at));
    return it == bricks_.end() ? from_source(at) : it->second->samples[index_in_brick(at)];
}

Trilinear DensityField::blend_at(DVec3 point) const {
    Trilinear b;
    const DVec3 p = point / double(cell_size_);
    if (!in_reach(p)) {
        for (float& c : b.corner) c = -cell_size_;
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

std::optional<SurfacePoint> DensityField::surface_near(DVec3 point, float reach) const {
    DVec3 at = point;
    Vec3 out;
    for (int step = 0; step < kSteps; step++) {
        const Trilinear blend = blend_at(at);
        const float d = blend.value();
        const Vec3 g = blend.slope() * (1 / cell_size_);
        const float steepness = length(g);
        if (!(steepness > kFlat)) {
            // Far outside, or so deep that only up is known.
            if (step > 0 || d <= 0) break;
            return SurfacePoint{-d, {0, 1, 0}};
        }
        out = -g / steepness;
        const float go = d / steepness;
        // Nothing near: no need to walk there.
        if (step == 0 && -go > 2 * reach + 2 * cell_size_) return std::nullopt;
        at += to_double(out * go);
        if (std::fabs(go) < 1e-4f * cell_size_) break;
    }
    if (out == Vec3{} || !is_finite(at)) return std::nullopt;
    const float distance = dot(to_float(point - at), out);
    if (!(distance <= reach)) return std::nullopt;
    return SurfacePoint{distance, out};
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

CellBox DensityField::shape(DVec3 center, float radius, bool solid) {
    CellBox out;
    if (!is_finite(center) || !(radius > 0)) return out;
    const double e = double(cell_size_);
    double r = double(radius) / e;
    r = r < double(kLongestTool) ? r : double(kLongestTool);
    const DVec3 c = center / e;
    if (!in_reach(c)) return out;
    // One sample beyond the ball: there the tool still decides how far the surface is.
    const Cell lo{int(std::floor(c.x - r)) - 1, int(std::floor(c.y - r)) - 1, int(std::floor(c.z - r)) - 1};
    const Cell hi{int(std::ceil(c.x + r)) + 1, int(std::ceil(c.y + r)) + 1, int(std::ceil(c.z + r)) + 1};
    uses_++;
    for (int y = lo.y; y <= hi.y; y++)
        for (int z = lo.z; z <= hi.z; z++)
            for (int x = lo.x; x <= hi.x; x++) {
                const Cell at{x, y, z};
                const DVec3 d = DVec3{double(x), double(y), double(z)} - c;
                const auto inside = float((r - length(d)) * e);  // of the tool
                const float now = density_at(at);
                const float then = solid ? (inside > now ? inside : now) : (-inside < now ? -inside : now);
                if (then == now) continue;
                Brick& brick = brick_for_write(brick_of(at));
                edited_ += !std::exchange(brick.edited, true);
                brick.samples[index_in_brick(at)] = then;
                if (out.empty()) out = {at, at};
                out.min = {std::min(out.min.x, x), std::min(out.min.y, y), std::min(out.min.z, z)};
                out.max = {std::max(out.max.x, x), std::max(out.max.y, y), std::max(out.max.z, z)};
            }
    // A sample is a corner of the cells before it too.
    if (!out.empty()) out.min = out.min - Cell{1, 1, 1};
    return out;
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
    space.for_each_body(
        [](void* field, Body body) {
            if (body.motion() != MotionType::fixed && !body.is_asleep())
                static_cast<DensityField*>(field)->prepare(body.bounds());
        },
        this);
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
