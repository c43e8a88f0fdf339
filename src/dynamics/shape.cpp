#include "dynamics/shape.h"

#include <algorithm>

namespace talus {

namespace {

constexpr float kThinnest = 0.06f;  // thinner boxes are padded to this

/// Cells within a million of the reference; three 21-bit fields.
std::uint64_t cell_key(int x, int y, int z) {
    constexpr int kBias = 1 << 20;
    return std::uint64_t(x + kBias) << 42 | std::uint64_t(y + kBias) << 21 | std::uint64_t(z + kBias);
}

Box padded(Box b) {
    for (int k = 0; k < 3; k++) {
        const float lack = kThinnest - (b.max[k] - b.min[k]);
        if (lack <= 0) continue;
        b.min[k] -= 0.5f * lack;
        b.max[k] += 0.5f * lack;
    }
    return b;
}

/// Orders boxes so that those which may merge along `axis` are neighbours: same kind, same other two extents.
bool merge_order(const ShapeBox& a, const ShapeBox& b, int axis) {
    if (a.collides != b.collides) return a.collides < b.collides;
    if (a.density != b.density) return a.density < b.density;
    if (a.friction != b.friction) return a.friction < b.friction;
    for (int k = 0; k < 3; k++) {
        if (k == axis) continue;
        if (a.box.min[k] != b.box.min[k]) return a.box.min[k] < b.box.min[k];
        if (a.box.max[k] != b.box.max[k]) return a.box.max[k] < b.box.max[k];
    }
    if (a.box.min[axis] != b.box.min[axis]) return a.box.min[axis] < b.box.min[axis];
    return a.box.max[axis] < b.box.max[axis];
}

bool joins(const ShapeBox& a, const ShapeBox& b, int axis) {
    if (a.collides != b.collides || a.density != b.density || a.friction != b.friction) return false;
    for (int k = 0; k < 3; k++)
        if (k == axis ? a.box.max[k] != b.box.min[k]
                      : a.box.min[k] != b.box.min[k] || a.box.max[k] != b.box.max[k])
            return false;
    return true;
}

/// Joins boxes that share a whole face until none is left.
void merge_boxes(std::vector<ShapeBox>& boxes) {
    static constexpr int kAxes[3] = {0, 2, 1};
    for (bool changed = true; changed;) {
        changed = false;
        for (const int axis : kAxes) {
            std::sort(boxes.begin(), boxes.end(),
                      [axis](const ShapeBox& a, const ShapeBox& b) { return merge_order(a, b, axis); });
            std::size_t n = 0;
            for (const ShapeBox& b : boxes) {
                if (n > 0 && joins(boxes[n - 1], b, axis)) {
                    boxes[n - 1].box.max[axis] = b.box.max[axis];
                    changed = true;
                } else {
                    boxes[n++] = b;
                }
            }
            boxes.resize(n);
        }
    }
}

CollisionBox to_collision(const Box& box, DVec3 reference, float friction) {
    CollisionBox c;
    const DVec3 lo = to_double(box.min) - reference, hi = to_double(box.max) - reference;
    c.center = to_float((lo + hi) * 0.5);
    c.half = to_float((hi - lo) * 0.5);
    c.friction = friction;
    return c;
}

/// Is one face of `a` wholly behind `b`?
bool hides(const CollisionBox& b, const CollisionBox& a, int axis, bool positive) {
    constexpr float kSlack = 1e-4f;
    const float side = positive ? 1.0f : -1.0f;
    const float face = side * a.center[axis] + a.half[axis];
    const float near = side * b.center[axis] - b.half[axis], far = side * b.center[axis] + b.half[axis];
    if (near > face + kSlack || far < face + kSlack) return false;
    for (int k = 0; k < 3; k++) {
        if (k == axis) continue;
        if (a.center[k] - a.half[k] < b.center[k] - b.half[k] - kSlack) return false;
        if (a.center[k] + a.half[k] > b.center[k] + b.half[k] + kSlack) return false;
    }
    return true;
}

void cover_boxes(std::vector<CollisionBox>& solids, std::size_t first) {
    constexpr std::size_t kMost = 64;  // the search is quadratic; beyond, solid_at() does the work alone
    if (solids.size() - first > kMost) return;
    for (std::size_t i = first; i < solids.size(); i++)
        for (std::size_t j = first; j < solids.size(); j++)
            for (int face = 0; i != j && face < 6; face++)
                if (hides(solids[j], solids[i], face >> 1, face & 1)) solids[i].cover |= 1u << face;
}

/// Are all cells beyond this face full?
bool cells_hide(const Occupancy& cells, const CellRun& run, int axis, bool positive) {
    Cell lo = run.min, hi = run.max;
    (axis == 0   ? lo.x
     : axis == 1 ? lo.y
                 : lo.z) = positive ? (axis == 0   ? run.max.x
                                       : axis == 1 ? run.max.y
                                                   : run.max.z)
                                    : (axis == 0   ? run.min.x
                                       : axis == 1 ? run.min.y
                                                   : run.min.z) -
                                          1;
    if (axis == 0) hi.x = lo.x + 1;
    if (axis == 1) hi.y = lo.y + 1;
    if (axis == 2) hi.z = lo.z + 1;
    for (int y = lo.y; y < hi.y; y++)
        for (int z = lo.z; z < hi.z; z++)
            for (int x = lo.x; x < hi.x; x++)
                if (!cells.at(x, y, z)) return false;
    return true;
}

void finish(BodyShape::Data& d) {
    if (d.solids.empty()) return;
    d.lo = d.solids[0].center - d.solids[0].half;
    d.hi = d.solids[0].center + d.solids[0].half;
    d.thickness = 2 * d.solids[0].half.x;
    for (const CollisionBox& b : d.solids) {
        d.lo = min(d.lo, b.center - b.half);
        d.hi = max(d.hi, b.center + b.half);
        for (int k = 0; k < 3; k++)
            if (2 * b.half[k] < d.thickness) d.thickness = 2 * b.half[k];
    }
    if (d.solids.size() <= 2 * BoxGroup::kSize) return;
    for (std::size_t i = 0; i < d.solids.size(); i++) {
        const Vec3 lo = d.solids[i].center - d.solids[i].half, hi = d.solids[i].center + d.solids[i].half;
        if (i % BoxGroup::kSize == 0) d.groups.push_back({lo, hi});
        d.groups.back() = {min(d.groups.back().lo, lo), max(d.groups.back().hi, hi)};
    }
}

const std::shared_ptr<const BodyShape::Data>& empty_shape() {
    static const std::shared_ptr<const BodyShape::Data> empty = std::make_shared<BodyShape::Data>();
    return empty;
}

}  // namespace

bool BodyShape::Data::odd_at(Vec3 p) const {
    std::size_t i = 0;
    std::uint64_t key = 0;
    if (has_cells) {
        const float s = cells.inverse_cell_size;
        key = cell_key(int(std::floor(p.x * s)), int(std::floor(p.y * s)), int(std::floor(p.z * s)));
        i = std::size_t(std::lower_bound(odd_cell.begin(), odd_cell.end(), key) - odd_cell.begin());
    }
    for (; i < odd.size() && odd_cell[i] == key; i++)
        if (contains(odd[i], p)) return true;
    return false;
}

void merge_cells(Occupancy& bits, std::vector<CellRun>& out) {
    out.clear();
    auto at = [&](int x, int y, int z) {
        const auto i =
            std::size_t(x) + std::size_t(bits.nx) * (std::size_t(z) + std::size_t(bits.nz) * std::size_t(y));
        return (bits.words[i >> 6] >> (i & 63)) & 1;
    };
    for (int y = 0; y < bits.ny; y++)
        for (int z = 0; z < bits.nz; z++)
            for (int x = 0; x < bits.nx; x++) {
                if (!at(x, y, z)) continue;
                int x1 = x + 1, y1 = y + 1, z1 = z + 1;
                auto row_filled = [&](int yy, int zz) {
                    for (int i = x; i < x1; i++)
                        if (!at(i, yy, zz)) return false;
                    return true;
                };
                auto sheet_filled = [&](int yy) {
                    for (int k = z; k < z1; k++)
                        if (!row_filled(yy, k)) return false;
                    return true;
                };
                while (x1 < bits.nx && at(x1, y, z)) x1++;
                while (z1 < bits.nz && row_filled(y, z1)) z1++;
                while (y1 < bits.ny && sheet_filled(y1)) y1++;
                for (int j = y; j < y1; j++)
                    for (int k = z; k < z1; k++)
                        for (int i = x; i < x1; i++) {
                            const auto b =
                                std::size_t(i) + std::size_t(bits.nx) *
                                                     (std::size_t(k) + std::size_t(bits.nz) * std::size_t(j));
                            bits.words[b >> 6] &= ~(std::uint64_t(1) << (b & 63));
                        }
                out.push_back({Cell{x, y, z} + bits.origin, Cell{x1, y1, z1} + bits.origin});
            }
}

BodyShape::BodyShape() : data_(empty_shape()) {}

BodyShape::BodyShape(std::span<const ShapeBox> given) : data_(empty_shape()) {
    if (given.empty()) return;
    auto d = std::make_shared<Data>();
    for (ShapeBox b : given) {
        if (!is_finite(b.box.min) || !is_finite(b.box.max)) continue;
        b.box = padded({min(b.box.min, b.box.max), max(b.box.min, b.box.max)});
        d->boxes.push_back(b);
    }
    if (d->boxes.empty()) return;
    merge_boxes(d->boxes);
    Vec3 lo = d->boxes[0].box.min, hi = d->boxes[0].box.max;
    for (const ShapeBox& b : d->boxes) {
        lo = min(lo, b.box.min);
        hi = max(hi, b.box.max);
    }
    const DVec3 middle = (to_double(lo) + to_double(hi)) * 0.5;
    d->reference = {std::floor(middle.x + 0.5), std::floor(middle.y + 0.5), std::floor(middle.z + 0.5)};
    for (const ShapeBox& b : d->boxes) {
        const MassSums s = sums_of_box(to_double(b.box.min), to_double(b.box.max));
        d->volume += s.mass;
        if (b.density >= 0)
            d->own += s.scaled(b.density);
        else
            d->unit += s;
        if (b.collides) d->solids.push_back(to_collision(b.box, d->reference, b.friction));
    }
    cover_boxes(d->solids, 0);
    if (d->solids.size() > 1) {
        d->odd = d->solids;
        d->odd_cell.assign(d->odd.size(), 0);
    }
    finish(*d);
    data_ = std::move(d);
}

BodyShape BodyShape::unit_cube() { return box({0.5f, 0.5f, 0.5f}); }

BodyShape BodyShape::box(Vec3 half) {
    ShapeBox b;
    b.box = {-half, half};
    return BodyShape(std::span<const ShapeBox>(&b, 1));
}

BodyShape BodyShape::sphere(float radius) { return capsule(radius, 0); }

BodyShape BodyShape::capsule(float radius, float half_length) {
    BodyShape shape;
    if (!(radius > 0) || !std::isfinite(radius) || !std::isfinite(half_length)) return shape;
    auto d = std::make_shared<Data>();
    d->round_radius = radius;
    d->round_half = half_length > 0 ? half_length : 0;
    d->unit = sums_of_capsule(double(radius), double(d->round_half));
    d->volume = d->unit.mass;
    d->solids.push_back({{}, {radius, d->round_half + radius, radius}});
    finish(*d);
    shape.data_ = std::move(d);
    return shape;
}

BodyShape BodyShape::from_grid(const Grid& grid, float cell_size) {
    BodyShape shape;
    if (grid.empty() || !(cell_size > 0)) return shape;
    auto d = std::make_shared<Data>();
    const BlockTable& table = grid.table();
    const double size = cell_size;

    // Mass of every block; bounds of the solid ones.
    CellBox solid{{INT32_MAX, INT32_MAX, INT32_MAX}, {INT32_MIN, INT32_MIN, INT32_MIN}};
    double rough = 0, solid_volume = 0;
    grid.for_each([&](Cell c, BlockId id) {
        const BlockType& type = table[id];
        const DVec3 origin{c.x * size, c.y * size, c.z * size};
        d->own += sums_of_block(type.shape, type.material.density, origin, size);
        const double volume = type.shape.volume() * size * size * size;
        d->volume += volume;
        if (!table.flags(id).solid) return;
        rough += volume * double(type.material.friction);
        solid_volume += volume;
        solid.min = {std::min(solid.min.x, c.x), std::min(solid.min.y, c.y), std::min(solid.min.z, c.z)};
        solid.max = {std::max(solid.max.x, c.x), std::max(solid.max.y, c.y), std::max(solid.max.z, c.z)};
    });
    if (solid_volume > 0) d->mean_friction = float(rough / solid_volume);

    if (solid.max.x >= solid.min.x) {
        auto middle = [](int a, int b) { return int((std::int64_t(a) + b + 1) >> 1); };
        const Cell ref{middle(solid.min.x, solid.max.x), middle(solid.min.y, solid.max.y),
                       middle(solid.min.z, solid.max.z)};
        d->reference = {ref.x * size, ref.y * size, ref.z * size};
        d->has_cells = true;
        Occupancy& cells = d->cells;
        cells.origin = solid.min - ref;
        cells.nx = solid.max.x - solid.min.x + 1;
        cells.ny = solid.max.y - solid.min.y + 1;
        cells.nz = solid.max.z - solid.min.z + 1;
        cells.cell_size = cell_size;
        cells.inverse_cell_size = 1 / cell_size;
        cells.words.assign((std::size_t(cells.nx) * std::size_t(cells.ny) * std::size_t(cells.nz) + 63) / 64,
                           0);

        struct OddBox {
            std::uint64_t key;
            Box box;  // in cells, about the reference
        };
        std::vector<OddBox> odd;
        grid.for_each([&](Cell c, BlockId id) {
            if (!table.flags(id).solid) return;
            const Cell r = c - ref;
            if (table[id].shape.is_full_cube()) {
                cells.set(r.x, r.y, r.z);
                return;
            }
            const Vec3 o{float(r.x), float(r.y), float(r.z)};
            for (const Box& b : table[id].shape.boxes())
                odd.push_back({cell_key(r.x, r.y, r.z), {b.min + o, b.max + o}});
        });

        Occupancy left = cells;
        std::vector<CellRun> runs;
        merge_cells(left, runs);
        auto to_vec = [&](Cell c) {
            return Vec3{float(c.x) * cell_size, float(c.y) * cell_size, float(c.z) * cell_size};
        };
        for (const CellRun& run : runs) {
            const Vec3 lo = to_vec(run.min), hi = to_vec(run.max);
            CollisionBox b{(lo + hi) * 0.5f, (hi - lo) * 0.5f};
            for (int face = 0; face < 6; face++)
                if (cells_hide(cells, run, face >> 1, face & 1)) b.cover |= 1u << face;
            d->solids.push_back(b);
            const Vec3 r = to_float(d->reference);
            d->boxes.push_back({.box = {lo + r, hi + r}});
        }
        std::stable_sort(odd.begin(), odd.end(),
                         [](const OddBox& a, const OddBox& b) { return a.key < b.key; });
        std::vector<ShapeBox> merged;
        for (const OddBox& o : odd) {
            const Box b = padded({o.box.min * cell_size, o.box.max * cell_size});
            d->odd.push_back(to_collision(b, {}, -1));
            d->odd_cell.push_back(o.key);
            merged.push_back({.box = b});
        }
        merge_boxes(merged);
        const std::size_t first_odd = d->solids.size();
        for (const ShapeBox& m : merged) {
            d->solids.push_back(to_collision(m.box, {}, -1));
            const Vec3 r = to_float(d->reference);
            d->boxes.push_back({.box = {m.box.min + r, m.box.max + r}});
        }
        cover_boxes(d->solids, first_odd);
    }
    finish(*d);
    shape.data_ = std::move(d);
    return shape;
}

bool BodyShape::is_empty() const { return data_->solids.empty() && data_->volume <= 0; }
std::size_t BodyShape::box_count() const { return data_->boxes.size(); }
std::span<const ShapeBox> BodyShape::boxes() const { return data_->boxes; }
float BodyShape::radius() const { return data_->round_radius; }
float BodyShape::half_length() const { return data_->round_half; }
double BodyShape::volume() const { return data_->volume; }
double BodyShape::mass(float default_density) const {
    return data_->own.mass + data_->unit.mass * double(default_density);
}
float BodyShape::mean_friction(float otherwise) const {
    return data_->mean_friction >= 0 ? data_->mean_friction : otherwise;
}

}  // namespace talus
