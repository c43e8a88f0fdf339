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
template <class A, MaybeConst<MassMoments> T>
void archive(A& a, T& v) {
    a(v.mass);
    for (auto& x : v.first) a(x);
    for (auto& x : v.second) a(x);
}
template <class A, MaybeConst<SolidBlock> T>
void archive(A& a, T& v) {
    a(v.cell, v.odd);
}
template <class A, MaybeConst<OddType> T>
void archive(A& a, T& v) {
    a(v.id, v.boxes);
}
template <class A, MaybeConst<BlockSums::OfType> T>
void archive(A& a, T& v) {
    a(v.id, v.solid, v.friction, v.density, v.volume, v.count);
    for (auto& x : v.first) a(x);
    for (auto& x : v.second) a(x);
    for (auto& x : v.cells) a(x);
    for (auto& x : v.squares) a(x);
}

namespace {

/// Of blocks: they make the rest.
void write_blocks(ByteWriter& a, const BodyShape::Data& d) { a(d.sums.types(), d.odd_types, d.blocks()); }

void read_blocks(ByteReader& a, BodyShape::Data& d) {
    a.check(d.cell_size >= 1e-3f && d.cell_size <= 1e3f, "a cell's size is out of range");
    std::vector<BlockSums::OfType> types;
    std::vector<SolidBlock> blocks;
    a(types, d.odd_types, blocks);
    if (!a.ok()) return;
    for (std::size_t i = 0; i < types.size(); i++)
        a.check((i == 0 || types[i - 1].id < types[i].id) && types[i].density >= 0 &&
                    types[i].density <= 1e9 && types[i].volume >= 0 && types[i].volume <= 1e6 &&
                    types[i].friction >= -1 && types[i].friction <= 1e6f && types[i].count > 0 &&
                    types[i].count <= std::uint64_t(1) << 40,
                "the types of a shape's blocks are not right");
    for (std::size_t i = 0; i < d.odd_types.size(); i++) {
        a.check(i == 0 || d.odd_types[i - 1].id < d.odd_types[i].id, "a shape's types are not in order");
        for (const Box& b : d.odd_types[i].boxes)
            for (int k = 0; k < 3; k++)
                a.check(b.min[k] >= 0 && b.max[k] <= 1 && b.min[k] <= b.max[k], "a box is not in its cell");
    }
    constexpr std::int32_t most = kMaxGroupCell;
    for (std::size_t i = 0; i < blocks.size(); i++) {
        const Cell c = blocks[i].cell;
        for (const std::int32_t n : {c.x, c.y, c.z})
            a.check(n >= -most && n <= most, "a shape is too far out");
        a.check(i == 0 || blocks[i - 1] < blocks[i], "a shape's blocks are not in order");
        bool known = blocks[i].odd == kAir;
        for (const OddType& t : d.odd_types) known = known || t.id == blocks[i].odd;
        a.check(known, "a block of a shape has no type");
    }
    if (!a.ok()) return;
    d.sums.set_types(std::move(types));
    d.set_blocks(blocks);
}

template <class A, class T>
void archive_data(A& a, T& d) {
    a(d.given, d.solids, d.groups, d.reference, d.lo, d.hi, d.thickness, d.round_radius, d.round_half,
      d.volume, d.own, d.unit, d.odd, d.odd_cell);
}

/// What the code that uses a shape takes for granted.
void check_data(ByteReader& a, const BodyShape::Data& d) {
    a.check(d.groups.empty() || d.groups.size() == (d.solids.size() + BoxGroup::kSize - 1) / BoxGroup::kSize,
            "a shape's box groups are not as many as its boxes");
    a.check(d.round_radius >= 0 && d.round_half >= 0 && (!d.is_round() || d.only_box()),
            "a round shape has other than one box around it");
    a.check(d.odd.size() == d.odd_cell.size(), "a shape's odd boxes are not as many as their cells");
    // Sizes are squared and multiplied by speeds, and must stay finite.
    constexpr float biggest = 1e8f;  // m
    const auto inside = [](auto v) {
        return std::fabs(v.x) <= biggest && std::fabs(v.y) <= biggest && std::fabs(v.z) <= biggest;
    };
    a.check(inside(d.reference) && inside(d.lo) && inside(d.hi) && d.thickness <= biggest &&
                d.round_radius <= biggest && d.round_half <= biggest && d.volume >= 0 && d.volume <= 1e25,
            "a shape is out of range");
    for (const ShapeBox& b : d.given)
        a.check(inside(b.box.min) && inside(b.box.max) && b.density <= 1e9f && b.friction <= 1e6f,
                "a box of a shape is out of range");
    for (const MassMoments* m : {&d.own, &d.unit}) {
        const double mass = m->mass, reach = double(biggest);
        a.check(mass >= 0 && mass <= 1e30, "a shape weighs less than nothing, or too much");
        for (const double x : m->first)
            a.check(std::fabs(x) <= mass * reach, "a shape's centre is outside of it");
        for (const double x : m->second)
            a.check(std::fabs(x) <= mass * reach * reach, "a shape's inertia is out of range");
    }
}

}  // namespace

void archive(ByteWriter& a, const BodyShape& shape) {
    const BodyShape::Data& d = *shape.data();
    a(d.cell_size);
    if (d.cell_size > 0)
        write_blocks(a, d);
    else
        archive_data(a, d);
}

void archive(ByteReader& a, BodyShape& shape) {
    auto data = std::make_shared<BodyShape::Data>();
    a(data->cell_size);
    if (data->cell_size > 0) {
        read_blocks(a, *data);
    } else {
        data->cell_size = 0;
        archive_data(a, *data);
        if (a.ok()) check_data(a, *data);
    }
    shape = a.ok() ? BodyShape::Data::shape_of(std::move(data)) : BodyShape();
}

}  // namespace talus
