#include "dynamics/shape.h"

#include "math/cell_box.h"

#include <algorithm>
#include <cassert>

namespace talus {
namespace {

// Blocks within these limits are one part. 1024 cells are made anew in 5 us; a row of bits is one word.
constexpr int kWholeCells = 1024, kWholeEdge = 62;

const std::shared_ptr<BodyShape::Data>& empty_shape() {
    static const std::shared_ptr<BodyShape::Data> empty = std::make_shared<BodyShape::Data>();
    return empty;
}

/// Bounds of all that collides.
void measure_all(BodyShape::Data& d) {
    if (!d.bricks) return;  // the part has measured itself
    const BrickTree::Bounds& b = d.bricks->bounds();
    d.lo = to_float(b.box.min - d.reference);
    d.hi = to_float(b.box.max - d.reference);
    d.thickness = b.thickness;
}

bool is_full(const BlockTable& table, BlockId id) {
    const BlockTable::Flags& f = table.flags(id);
    return f.full_cube || (f.solid && table[id].shape.is_full_cube());
}

void know_type(BodyShape::Data& d, const BlockTable& table, BlockId id) {
    const auto at = std::lower_bound(d.odd_types.begin(), d.odd_types.end(), id,
                                     [](const OddType& t, BlockId wanted) { return t.id < wanted; });
    if (at != d.odd_types.end() && at->id == id) return;
    const std::span<const Box> boxes = table[id].shape.boxes();
    d.odd_types.insert(at, {id, {boxes.begin(), boxes.end()}});
}

bool fits_whole(const CellBox& b) {
    const std::int64_t x = std::int64_t(b.max.x) - b.min.x + 1, y = std::int64_t(b.max.y) - b.min.y + 1,
                       z = std::int64_t(b.max.z) - b.min.z + 1;
    return x <= kWholeEdge && y <= kWholeEdge && z <= kWholeEdge && x * y * z <= kWholeCells;
}

SolidPart& part_of(BodyShape::Data& d) { return d; }

void place_reference(BodyShape::Data& d, const CellBox& solid) {
    auto middle = [](int a, int b) { return int((std::int64_t(a) + b + 1) >> 1); };
    d.reference_cell = {middle(solid.min.x, solid.max.x), middle(solid.min.y, solid.max.y),
                        middle(solid.min.z, solid.max.z)};
    const double e = d.cell_size;
    d.reference = {d.reference_cell.x * e, d.reference_cell.y * e, d.reference_cell.z * e};
}

void set_cells(Occupancy& cells, Cell origin, int nx, int ny, int nz, float cell_size) {
    cells.origin = origin;
    cells.nx = nx;
    cells.ny = ny;
    cells.nz = nz;
    cells.cell_size = cell_size;
    cells.inverse_cell_size = 1 / cell_size;
    cells.words.assign((std::size_t(nx) * std::size_t(ny) * std::size_t(nz) + 63) / 64, 0);
}

/// All solids of a small piece. @param blocks  sorted
void build_whole(BodyShape::Data& d, const CellBox& solid, std::span<const SolidBlock> blocks) {
    d.bricks.reset();
    part_of(d) = {};
    if (blocks.empty()) {
        d.reference_cell = {};
        d.reference = {};
        return;
    }
    place_reference(d, solid);
    SolidPart& part = d;
    part.has_cells = true;
    const int nx = solid.max.x - solid.min.x + 1, ny = solid.max.y - solid.min.y + 1,
              nz = solid.max.z - solid.min.z + 1;
    set_cells(part.cells, solid.min - d.reference_cell, nx, ny, nz, d.cell_size);
    std::vector<std::uint64_t> rows(std::size_t(ny + 2) * std::size_t(nz + 2));
    for (const SolidBlock& b : blocks) {
        const Cell r = b.cell - d.reference_cell, c = b.cell - solid.min;
        if (b.odd != kAir) {
            part.odd_blocks.push_back({r, b.odd});
            continue;
        }
        part.cells.set(r.x, r.y, r.z);
        rows[std::size_t((c.y + 1) * (nz + 2) + c.z + 1)] |= std::uint64_t(2) << c.x;
    }
    build_part(part, d.odd_types, rows);
}

constexpr int kEdge = BrickTree::kEdge, kRows = kEdge + 2;

void build_brick(BodyShape::Data& d, BrickTree::Brick& brick) {
    std::uint64_t rows[kRows * kRows] = {};
    auto row = [&](int y, int z) -> std::uint64_t& { return rows[(y + 1) * kRows + z + 1]; };
    auto bits = [](const BrickTree::Brick& b, int y, int z) {
        return b.part.cells.words[std::size_t(y)] >> (8 * z) & 0xff;
    };
    for (int y = 0; y < kEdge; y++)
        for (int z = 0; z < kEdge; z++) row(y, z) = bits(brick, y, z) << 1;
    auto beside = [&](int x, int y, int z) { return d.bricks->find(brick.coord + Cell{x, y, z}); };
    if (const auto* b = beside(-1, 0, 0))
        for (int y = 0; y < kEdge; y++)
            for (int z = 0; z < kEdge; z++) row(y, z) |= bits(*b, y, z) >> 7;
    if (const auto* b = beside(1, 0, 0))
        for (int y = 0; y < kEdge; y++)
            for (int z = 0; z < kEdge; z++) row(y, z) |= (bits(*b, y, z) & 1) << (kEdge + 1);
    for (int k = 0; k < kEdge; k++) {
        if (const auto* b = beside(0, -1, 0)) row(-1, k) = bits(*b, kEdge - 1, k) << 1;
        if (const auto* b = beside(0, 1, 0)) row(kEdge, k) = bits(*b, 0, k) << 1;
        if (const auto* b = beside(0, 0, -1)) row(k, -1) = bits(*b, k, kEdge - 1) << 1;
        if (const auto* b = beside(0, 0, 1)) row(k, kEdge) = bits(*b, k, 0) << 1;
    }
    build_part(brick.part, d.odd_types, rows);
}

BrickTree::Brick& brick_at(BodyShape::Data& d, Cell coord) {
    BrickTree::Brick& brick = d.bricks->add(coord);
    SolidPart& part = brick.part;
    if (!part.has_cells) {
        part.has_cells = true;
        set_cells(part.cells, {}, kEdge, kEdge, kEdge, d.cell_size);
    }
    return brick;
}

Cell within_brick(Cell c) { return {c.x & 7, c.y & 7, c.z & 7}; }

void put(SolidPart& part, Cell c, const SolidBlock& block) {
    if (block.odd == kAir) {
        part.cells.set(c.x, c.y, c.z);
        return;
    }
    const SolidPart::OddBlock b{c, block.odd};
    part.odd_blocks.insert(std::lower_bound(part.odd_blocks.begin(), part.odd_blocks.end(), b), b);
}

void take(SolidPart& part, Cell c, bool full) {
    if (full) {
        part.cells.clear(c.x, c.y, c.z);
        return;
    }
    const SolidPart::OddBlock b{c, kAir};
    const auto at = std::lower_bound(part.odd_blocks.begin(), part.odd_blocks.end(), b);
    if (at != part.odd_blocks.end() && at->cell == c) part.odd_blocks.erase(at);
}

/// @param coords  of all bricks, no two the same
void build_bricks(BodyShape::Data& d, std::span<const Cell> coords) {
    part_of(d) = {};
    for (const Cell c : coords) build_brick(d, *d.bricks->find(c));
    for (const Cell c : coords) d.bricks->refresh(c);
    place_reference(d, d.bricks->bounds().cells);
}

/// Adds the solids of a part that begins at `corner`.
void gather(const SolidPart& part, Cell corner, std::vector<SolidBlock>& out) {
    const Occupancy& c = part.cells;
    for (int y = 0; y < c.ny; y++)
        for (int z = 0; z < c.nz; z++)
            for (int x = 0; x < c.nx; x++) {
                const Cell at = Cell{x, y, z} + c.origin;
                if (c.at(at.x, at.y, at.z)) out.push_back({corner + at});
            }
    for (const SolidPart::OddBlock& b : part.odd_blocks) out.push_back({corner + b.cell, b.id});
}

/// Bricks or one part, as the blocks ask for. @param blocks  sorted
void build(BodyShape::Data& d, std::span<const SolidBlock> blocks) {
    CellBox solid;
    for (const SolidBlock& b : blocks) grow(solid, b.cell);
    if (fits_whole(solid)) return build_whole(d, solid, blocks);
    std::vector<Cell> coords;
    d.bricks.emplace(d.cell_size);
    for (const SolidBlock& b : blocks) {
        const Cell coord = brick_of(b.cell);
        if (!d.bricks->find(coord)) coords.push_back(coord);
        put(brick_at(d, coord).part, within_brick(b.cell), b);
    }
    build_bricks(d, coords);
}

void weigh(BodyShape::Data& d) {
    d.own = d.sums.moments(d.cell_size);
    d.volume = d.sums.volume(d.cell_size);
}

}  // namespace

bool BodyShape::Data::solid_at(Vec3 p) const {
    if (!bricks) return SolidPart::solid_at(p);
    const double e = double(cell_size) * kEdge;
    const DVec3 at = reference + to_double(p);
    const BrickTree::Brick* brick =
        bricks->find({int(std::floor(at.x / e)), int(std::floor(at.y / e)), int(std::floor(at.z / e))});
    return brick && brick->part.solid_at(
                        to_float(at - DVec3{brick->coord.x * e, brick->coord.y * e, brick->coord.z * e}));
}

std::vector<SolidBlock> BodyShape::Data::blocks() const {
    std::vector<SolidBlock> out;
    if (!bricks) {
        gather(static_cast<const SolidPart&>(*this), reference_cell, out);
    } else {
        bricks->visit(
            {}, [](Vec3, Vec3) { return false; },
            [&](const BrickTree::Brick& b, Vec3) {
                gather(b.part, {b.coord.x * kEdge, b.coord.y * kEdge, b.coord.z * kEdge}, out);
            });
    }
    std::sort(out.begin(), out.end());
    return out;
}

void BodyShape::Data::set_blocks(std::span<const SolidBlock> sorted) {
    weigh(*this);
    build(*this, sorted);
    measure_all(*this);
}

void BodyShape::Data::change(const BlockTable& table, std::span<const BlockChange> changes) {
    std::vector<SolidBlock> small;  // a small piece's
    std::vector<Cell> touched;      // bricks of a big one
    bool gathered = false;
    auto touch = [&](Cell coord) {
        if (std::find(touched.begin(), touched.end(), coord) == touched.end()) touched.push_back(coord);
    };
    for (const BlockChange& change : changes) {
        const Cell c = change.cell;
        if (change.was == change.now) continue;
        if (change.was != kAir) sums.remove(c, change.was);
        sums.add(c, change.now, table[change.now]);
        const bool was = table.flags(change.was).solid, now = table.flags(change.now).solid;
        if (!was && !now) continue;
        SolidBlock block{c};
        if (now && !is_full(table, change.now)) {
            block.odd = change.now;
            know_type(*this, table, change.now);
        }
        if (bricks) {
            const Cell coord = brick_of(c), in = within_brick(c);
            SolidPart& part = brick_at(*this, coord).part;
            if (was) take(part, in, is_full(table, change.was));
            if (now) put(part, in, block);
            touch(coord);
            for (int k = 0; k < 3; k++) {
                const int at = k == 0 ? in.x : k == 1 ? in.y : in.z;
                if (at != 0 && at != kEdge - 1) continue;
                const int step = at == 0 ? -1 : 1;
                touch(coord + Cell{k == 0 ? step : 0, k == 1 ? step : 0, k == 2 ? step : 0});
            }
            continue;
        }
        if (!gathered) small = blocks();
        gathered = true;
        const auto at = std::lower_bound(small.begin(), small.end(), block);
        const bool there = at != small.end() && at->cell == c;
        if (there && now)
            *at = block;
        else if (there)
            small.erase(at);
        else if (now)
            small.insert(at, block);
    }
    weigh(*this);
    if (gathered) build(*this, small);
    if (!touched.empty()) {
        for (const Cell coord : touched) {
            const BrickTree::Brick* brick = bricks->find(coord);
            if (!brick) continue;
            const SolidPart& part = brick->part;
            bool any = !part.odd_blocks.empty();
            for (const std::uint64_t layer : part.cells.words) any = any || layer;
            if (!any) bricks->remove(coord);
        }
        for (const Cell coord : touched)
            if (BrickTree::Brick* brick = bricks->find(coord)) build_brick(*this, *brick);
        for (const Cell coord : touched)
            if (bricks->find(coord)) bricks->refresh(coord);
        if (bricks->empty() || fits_whole(bricks->bounds().cells))
            build(*this, blocks());
        else
            place_reference(*this, bricks->bounds().cells);
    }
    measure_all(*this);
}

BodyShape::BodyShape() : data_(empty_shape()) {}

BodyShape::BodyShape(std::span<const ShapeBox> given) : data_(empty_shape()) {
    if (given.empty()) return;
    auto d = std::make_shared<Data>();
    for (ShapeBox b : given) {
        if (!is_finite(b.box.min) || !is_finite(b.box.max)) continue;
        b.box = padded({min(b.box.min, b.box.max), max(b.box.min, b.box.max)});
        d->given.push_back(b);
    }
    if (d->given.empty()) return;
    merge_boxes(d->given);
    Vec3 lo = d->given[0].box.min, hi = d->given[0].box.max;
    for (const ShapeBox& b : d->given) {
        lo = min(lo, b.box.min);
        hi = max(hi, b.box.max);
    }
    const DVec3 middle = (to_double(lo) + to_double(hi)) * 0.5;
    d->reference = {std::floor(middle.x + 0.5), std::floor(middle.y + 0.5), std::floor(middle.z + 0.5)};
    SolidPart& part = *d;
    for (const ShapeBox& b : d->given) {
        const DVec3 from = to_double(b.box.min), to = to_double(b.box.max);
        d->volume += box_moments(from, to, 1).mass;
        if (b.density >= 0)
            add(d->own, box_moments(from, to, b.density));
        else
            add(d->unit, box_moments(from, to, 1));
        if (b.collides) part.solids.push_back(to_collision(b.box, d->reference, b.friction));
    }
    cover_boxes(part.solids, 0);
    if (part.solids.size() > 1) {
        part.odd = part.solids;
        part.odd_cell.assign(part.odd.size(), 0);
    }
    part.measure();
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
    d->unit = capsule_moments(double(radius), double(d->round_half));
    d->volume = d->unit.mass;
    d->solids.push_back({{}, {radius, d->round_half + radius, radius}});
    d->measure();
    shape.data_ = std::move(d);
    return shape;
}

BodyShape BodyShape::from_grid(const Grid& grid, float cell_size) {
    BodyShape shape;
    if (!(cell_size > 0)) return shape;
    shape.data_ = std::make_shared<Data>();
    Data& d = *shape.data_;
    d.cell_size = cell_size;
    d.sums.add(grid);
    weigh(d);
    const BlockTable& table = grid.table();
    std::vector<SolidBlock> blocks;
    auto gather_brick = [&](const Brick& brick) {
        blocks.clear();
        for (int y = 0; y < kEdge; y++)
            for (std::uint64_t bits = brick.solid[y]; bits; bits &= bits - 1) {
                const int i = 64 * y + __builtin_ctzll(bits);
                SolidBlock b{cell_in_brick(brick, i)};
                const BlockId id = brick.ids[i];
                if (!is_full(table, id)) {
                    b.odd = id;
                    know_type(d, table, id);
                }
                blocks.push_back(b);
            }
    };
    CellBox solid;
    for (const Brick* brick : grid.bricks()) {
        gather_brick(*brick);
        for (const SolidBlock& b : blocks) grow(solid, b.cell);
    }
    if (fits_whole(solid)) {
        std::vector<SolidBlock> all;
        for (const Brick* brick : grid.bricks()) {
            gather_brick(*brick);
            all.insert(all.end(), blocks.begin(), blocks.end());
        }
        std::sort(all.begin(), all.end());
        build_whole(d, solid, all);
    } else {
        std::vector<Cell> coords;
        d.bricks.emplace(cell_size);
        for (const Brick* brick : grid.bricks()) {
            gather_brick(*brick);
            if (blocks.empty()) continue;
            coords.push_back(brick->coord);
            SolidPart& part = brick_at(d, brick->coord).part;
            for (const SolidBlock& b : blocks) put(part, within_brick(b.cell), b);
        }
        build_bricks(d, coords);
    }
    measure_all(d);
    return shape;
}

void BodyShape::change_blocks(const BlockTable& table, std::span<const BlockChange> changes) {
    assert(data_->cell_size > 0);
    if (changes.empty() || !(data_->cell_size > 0)) return;
    if (data_.use_count() > 1) data_ = std::make_shared<Data>(*data_);
    data_->change(table, changes);
}

bool BodyShape::is_empty() const { return !data_->has_solids() && data_->volume <= 0; }
std::size_t BodyShape::box_count() const {
    const Data& d = *data_;
    return d.cell_size <= 0 ? d.given.size() : d.bricks ? d.bricks->box_count() : d.solids.size();
}
std::vector<ShapeBox> BodyShape::boxes() const {
    const Data& d = *data_;
    if (d.cell_size <= 0) return d.given;
    std::vector<ShapeBox> out;
    d.each_solid_near(d.lo, d.hi, [&](const CollisionBox& b) {
        const DVec3 at = d.reference + to_double(b.center);
        out.push_back({.box = {to_float(at - to_double(b.half)), to_float(at + to_double(b.half))}});
    });
    return out;
}
float BodyShape::radius() const { return data_->round_radius; }
float BodyShape::half_length() const { return data_->round_half; }
double BodyShape::volume() const { return data_->volume; }
double BodyShape::mass(float default_density) const {
    return data_->own.mass + data_->unit.mass * double(default_density);
}
float BodyShape::mean_friction(float otherwise) const { return data_->sums.mean_friction(otherwise); }

}  // namespace talus
