#include "dynamics/archive.h"

namespace talus {

template <class A, MaybeConst<CollisionBox> T>
void archive(A& a, T& v) {
    a(v.center, v.half, v.cover, v.friction);
}
template <class A, MaybeConst<BoxGroup> T>
void archive(A& a, T& v) {
    a(v.lo, v.hi);
}
template <class A, MaybeConst<ShapeBox> T>
void archive(A& a, T& v) {
    a(v.box, v.density, v.collides, v.friction);
}
template <class A, MaybeConst<MassSums> T>
void archive(A& a, T& v) {
    a(v.mass, v.first);
    for (auto& x : v.second) a(x);
}
template <class A, MaybeConst<Occupancy> T>
void archive(A& a, T& v) {
    a(v.origin, v.nx, v.ny, v.nz, v.cell_size, v.inverse_cell_size, v.words);
}

namespace {

template <class A, class T>
void archive_data(A& a, T& d) {
    a(d.boxes, d.solids, d.groups, d.reference, d.lo, d.hi, d.thickness, d.round_radius, d.round_half,
      d.volume, d.mean_friction, d.own, d.unit, d.has_cells, d.cells, d.odd, d.odd_cell);
}

/// What the code that uses a shape takes for granted.
void check_data(ByteReader& a, const BodyShape::Data& d) {
    const Occupancy& c = d.cells;
    constexpr std::int32_t most = 2 * kMaxGroupCell;
    for (const std::int32_t n : {c.nx, c.ny, c.nz}) a.check(n >= 0 && n <= most, "a shape is too large");
    for (const std::int32_t n : {c.origin.x, c.origin.y, c.origin.z})
        a.check(n >= -most && n <= most, "a shape is too far out");
    if (!a.ok()) return;
    const std::uint64_t bits = std::uint64_t(c.nx) * std::uint64_t(c.ny) * std::uint64_t(c.nz);
    a.check(c.words.size() == (bits + 63) / 64, "a shape's cells are not as many as its size");
    a.check(d.groups.empty() || d.groups.size() == (d.solids.size() + BoxGroup::kSize - 1) / BoxGroup::kSize,
            "a shape's box groups are not as many as its boxes");
    a.check(d.round_radius >= 0 && d.round_half >= 0 && (!d.is_round() || d.only_box()),
            "a round shape has other than one box around it");
    a.check(d.odd.size() == d.odd_cell.size(), "a shape's odd boxes are not as many as their cells");
    a.check(c.cell_size >= 1e-3f && c.cell_size <= 1e3f &&
                std::fabs(c.cell_size * c.inverse_cell_size - 1) < 1e-3f,
            "a cell's size is out of range");
    // Sizes are squared and multiplied by speeds, and must stay finite.
    constexpr float biggest = 1e8f;  // m
    const auto inside = [](auto v) {
        return std::fabs(v.x) <= biggest && std::fabs(v.y) <= biggest && std::fabs(v.z) <= biggest;
    };
    a.check(inside(d.reference) && inside(d.lo) && inside(d.hi) && d.thickness <= biggest &&
                d.round_radius <= biggest && d.round_half <= biggest && d.volume >= 0 && d.volume <= 1e25,
            "a shape is out of range");
    for (const ShapeBox& b : d.boxes)
        a.check(inside(b.box.min) && inside(b.box.max) && b.density <= 1e9f && b.friction <= 1e6f,
                "a box of a shape is out of range");
    a.check(d.mean_friction >= -1 && d.mean_friction <= 1e6f, "a friction is out of range");
    for (const MassSums* m : {&d.own, &d.unit}) {
        const double mass = double(m->mass), reach = double(biggest);
        a.check(mass >= 0 && mass <= 1e30, "a shape weighs less than nothing, or too much");
        for (int k = 0; k < 3; k++)
            a.check(std::fabs(double(m->first[k])) <= mass * reach, "a shape's centre is outside of it");
        for (const auto& x : m->second)
            a.check(std::fabs(double(x)) <= mass * reach * reach, "a shape's inertia is out of range");
    }
}

}  // namespace

void archive(ByteWriter& a, const BodyShape& shape) { archive_data(a, *shape.data()); }

void archive(ByteReader& a, BodyShape& shape) {
    auto data = std::make_shared<BodyShape::Data>();
    archive_data(a, *data);
    if (a.ok()) check_data(a, *data);
    shape = a.ok() ? BodyShape::Data::shape_of(std::move(data)) : BodyShape();
}

}  // namespace talus
