#include "dynamics/solid_part.h"

#include <algorithm>

namespace talus {

namespace {

constexpr float kThinnest = 0.06f;  // thinner boxes are padded to this

/// Cells within a million of the part's origin; three 21-bit fields, in the order of cells.
std::uint64_t cell_key(int x, int y, int z) {
    constexpr int kBias = 1 << 20;
    return std::uint64_t(y + kBias) << 42 | std::uint64_t(z + kBias) << 21 | std::uint64_t(x + kBias);
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

}  // namespace

Box padded(Box b) {
    for (int k = 0; k < 3; k++) {
        const float lack = kThinnest - (b.max[k] - b.min[k]);
        if (lack <= 0) continue;
        b.min[k] -= 0.5f * lack;
        b.max[k] += 0.5f * lack;
    }
    return b;
}

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

CollisionBox to_collision(const Box& box, DVec3 origin, float friction) {
    CollisionBox c;
    const DVec3 lo = to_double(box.min) - origin, hi = to_double(box.max) - origin;
    c.center = to_float((lo + hi) * 0.5);
    c.half = to_float((hi - lo) * 0.5);
    c.friction = friction;
    return c;
}

void cover_boxes(std::vector<CollisionBox>& solids, std::size_t first) {
    constexpr std::size_t kMost = 64;  // the search is quadratic; beyond, solid_at() does the work alone
    if (solids.size() - first > kMost) return;
    for (std::size_t i = first; i < solids.size(); i++)
        for (std::size_t j = first; j < solids.size(); j++)
            for (int face = 0; i != j && face < 6; face++)
                if (hides(solids[j], solids[i], face >> 1, face & 1)) solids[i].cover |= 1u << face;
}

bool SolidPart::odd_at(Vec3 p) const {
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

void SolidPart::measure() {
    groups.clear();
    lo = hi = {};
    thickness = 0;
    if (solids.empty()) return;
    lo = solids[0].center - solids[0].half;
    hi = solids[0].center + solids[0].half;
    thickness = 2 * solids[0].half.x;
    for (const CollisionBox& b : solids) {
        lo = min(lo, b.center - b.half);
        hi = max(hi, b.center + b.half);
        for (int k = 0; k < 3; k++)
            if (2 * b.half[k] < thickness) thickness = 2 * b.half[k];
    }
    if (solids.size() <= 2 * BoxGroup::kSize) return;
    for (std::size_t i = 0; i < solids.size(); i++) {
        const Vec3 a = solids[i].center - solids[i].half, b = solids[i].center + solids[i].half;
        if (i % BoxGroup::kSize == 0) groups.push_back({a, b});
        groups.back() = {min(groups.back().lo, a), max(groups.back().hi, b)};
    }
}

void build_part(SolidPart& part, std::span<const OddType> types, std::span<const std::uint64_t> rows) {
    const Occupancy& cells = part.cells;
    const float size = cells.cell_size;
    auto to_vec = [size](Cell c) { return Vec3{float(c.x) * size, float(c.y) * size, float(c.z) * size}; };
    part.solids.clear();
    part.odd.clear();
    part.odd_cell.clear();
    std::vector<std::uint64_t> left(rows.size());
    const Cell origin = cells.origin - Cell{1, 1, 1};  // of the border
    const int nx = cells.nx + 2, ny = cells.ny + 2, nz = cells.nz + 2;
    take_all_rows(rows.data(), left.data(), nx, ny, nz);
    merge_rows(rows.data(), left.data(), ny, nz, [&](Cell first, Cell end, std::uint32_t cover) {
        const Vec3 lo = to_vec(first + origin), hi = to_vec(end + origin);
        part.solids.push_back({(lo + hi) * 0.5f, (hi - lo) * 0.5f, cover});
    });
    if (!part.odd_blocks.empty()) {
        std::vector<ShapeBox> merged;
        for (const SolidPart::OddBlock& b : part.odd_blocks) {
            const auto type = std::lower_bound(types.begin(), types.end(), b.id,
                                               [](const OddType& t, BlockId id) { return t.id < id; });
            const Vec3 o{float(b.cell.x), float(b.cell.y), float(b.cell.z)};
            for (const Box& box : type->boxes) {
                const Box placed = padded({(box.min + o) * size, (box.max + o) * size});
                part.odd.push_back(to_collision(placed, {}, -1));
                part.odd_cell.push_back(cell_key(b.cell.x, b.cell.y, b.cell.z));
                merged.push_back({.box = placed});
            }
        }
        merge_boxes(merged);
        const std::size_t first_odd = part.solids.size();
        for (const ShapeBox& m : merged) part.solids.push_back(to_collision(m.box, {}, -1));
        cover_boxes(part.solids, first_odd);
    }
    part.measure();
}

}  // namespace talus
