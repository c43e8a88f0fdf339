#include "mass/group_mass.h"

#include <algorithm>
#include <cassert>

namespace talus {

BlockSums::OfType& BlockSums::of_type(BlockId id, const BlockType& type) {
    if (last_ < types_.size() && types_[last_].id == id) return types_[last_];
    auto at = std::lower_bound(types_.begin(), types_.end(), id,
                               [](const OfType& t, BlockId wanted) { return t.id < wanted; });
    if (at == types_.end() || at->id != id) {
        OfType t;
        t.id = id;
        t.solid = type.material.solid;
        t.friction = type.material.friction;
        t.density = type.material.density;
        t.volume = type.shape.volume();
        const DVec3 first = type.shape.first_moment();
        for (int k = 0; k < 3; k++) t.first[k] = first[k];
        for (std::size_t k = 0; k < 6; k++) t.second[k] = type.shape.second_moment()[k];
        at = types_.insert(at, t);
    }
    last_ = std::size_t(at - types_.begin());
    return *at;
}

void BlockSums::add_row(OfType& t, Cell cell, int n) {
    const auto y = std::uint64_t(std::int64_t(cell.y)), z = std::uint64_t(std::int64_t(cell.z));
    const auto count = std::uint64_t(n);
    std::uint64_t sum = 0, square = 0;
    for (int i = 0; i < n; i++) {
        const auto x = std::uint64_t(std::int64_t(cell.x) + i);
        sum += x;
        square += x * x;
    }
    t.count += count;
    t.cells[0] += sum;
    t.cells[1] += count * y;
    t.cells[2] += count * z;
    t.squares[0] += square;
    t.squares[1] += count * y * y;
    t.squares[2] += count * z * z;
    t.squares[3] += sum * y;
    t.squares[4] += count * y * z;
    t.squares[5] += sum * z;
}

void BlockSums::add(Cell cell, BlockId id, const BlockType& type) {
    assert(cell.x >= -65536 && cell.x <= 65536 && cell.y >= -65536 && cell.y <= 65536 && cell.z >= -65536 &&
           cell.z <= 65536);
    if (id != kAir) add_row(of_type(id, type), cell, 1);
}

void BlockSums::remove(Cell cell, BlockId id) {
    const auto at = std::find_if(types_.begin(), types_.end(), [id](const OfType& t) { return t.id == id; });
    if (at == types_.end()) return;
    if (at->count == 1) {
        types_.erase(at);
        return;
    }
    OfType one;
    add_row(one, cell, 1);
    at->count -= 1;
    for (int k = 0; k < 3; k++) at->cells[k] -= one.cells[k];
    for (int k = 0; k < 6; k++) at->squares[k] -= one.squares[k];
}

void BlockSums::add(const Grid& grid) {
    for (const Brick* brick : grid.bricks())
        for (int row = 0; row < 64; row++) {
            if (!(brick->any[row >> 3] >> (8 * (row & 7)) & 0xff)) continue;
            BlockId ids[8];
            for (int x = 0; x < 8; x++) ids[x] = brick->id_at(8 * row + x);
            for (int x = 0, end; x < 8; x = end) {
                for (end = x + 1; end < 8 && ids[end] == ids[x];) end++;
                if (ids[x] != kAir)
                    add_row(of_type(ids[x], grid.table()[ids[x]]), cell_in_brick(*brick, 8 * row + x),
                            end - x);
            }
        }
}

bool BlockSums::operator==(const BlockSums& other) const {
    return std::equal(types_.begin(), types_.end(), other.types_.begin(), other.types_.end(),
                      [](const OfType& a, const OfType& b) {
                          return a.id == b.id && a.count == b.count &&
                                 std::equal(a.cells, a.cells + 3, b.cells) &&
                                 std::equal(a.squares, a.squares + 6, b.squares);
                      });
}

MassMoments BlockSums::moments(float cell_size) const {
    const double e = cell_size;
    MassMoments out;
    for (const OfType& t : types_) {
        const double m = t.density * e * e * e;  // of a whole cell
        const auto n = double(t.count);
        double c[3];
        for (int k = 0; k < 3; k++) c[k] = double(std::int64_t(t.cells[k]));
        // The shape's integrals are about the cell's corner: r = c + u, so
        // <r r> = c c v + c <u> + <u> c + <u u>, summed over the cells c.
        out.mass += m * t.volume * n;
        for (int k = 0; k < 3; k++) out.first[k] += m * e * (c[k] * t.volume + t.first[k] * n);
        constexpr int kPair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};
        for (int k = 0; k < 6; k++) {
            const int i = kPair[k][0], j = kPair[k][1];
            out.second[k] += m * e * e *
                             (double(std::int64_t(t.squares[k])) * t.volume + c[i] * t.first[j] +
                              c[j] * t.first[i] + t.second[k] * n);
        }
    }
    return out;
}

double BlockSums::volume(float cell_size) const {
    double cells = 0;
    for (const OfType& t : types_) cells += t.volume * double(t.count);
    const double e = cell_size;
    return cells * e * e * e;
}

float BlockSums::mean_friction(float otherwise) const {
    double rough = 0, solid = 0;
    for (const OfType& t : types_) {
        if (!t.solid) continue;
        const double v = t.volume * double(t.count);
        rough += v * double(t.friction);
        solid += v;
    }
    return solid > 0 ? float(rough / solid) : otherwise;
}

MassMoments sum_moments(const Grid& grid, float cell_size) {
    BlockSums sums;
    sums.add(grid);
    return sums.moments(cell_size);
}

MassMoments box_moments(DVec3 lo, DVec3 hi, double density) {
    const DVec3 size = hi - lo, c = (lo + hi) * 0.5;
    MassMoments r;
    r.mass = density * size.x * size.y * size.z;
    for (int k = 0; k < 3; k++) {
        r.first[k] = r.mass * c[k];
        r.second[k] = r.mass * (c[k] * c[k] + size[k] * size[k] / 12);
    }
    r.second[3] = r.mass * c.x * c.y;
    r.second[4] = r.mass * c.y * c.z;
    r.second[5] = r.mass * c.z * c.x;
    return r;
}

MassMoments capsule_moments(double r, double h) {
    constexpr double kPi = 3.14159265358979323846;
    const double cylinder = kPi * r * r * 2 * h, ball = kPi * r * r * r * (4.0 / 3);
    MassMoments s;
    s.mass = cylinder + ball;
    s.second[0] = s.second[2] = cylinder * r * r / 4 + ball * r * r / 5;
    // Half balls at both ends: their middles are 3/8 of the radius farther out.
    s.second[1] = cylinder * h * h / 3 + ball * (r * r / 5 + h * r * 0.75 + h * h);
    return s;
}

void add(MassMoments& total, const MassMoments& part) {
    total.mass += part.mass;
    for (int k = 0; k < 3; k++) total.first[k] += part.first[k];
    for (int k = 0; k < 6; k++) total.second[k] += part.second[k];
}

Inertia inertia_about_center(const MassMoments& m) {
    if (!(m.mass > 0)) return {};
    const double c[3] = {m.first[0] / m.mass, m.first[1] / m.mass, m.first[2] / m.mass};
    const double xx = m.second[0] - m.mass * c[0] * c[0];
    const double yy = m.second[1] - m.mass * c[1] * c[1];
    const double zz = m.second[2] - m.mass * c[2] * c[2];
    return {{yy + zz, zz + xx, xx + yy, m.mass * c[0] * c[1] - m.second[3],
             m.mass * c[1] * c[2] - m.second[4], m.mass * c[2] * c[0] - m.second[5]}};
}

Result<MassProperties, MassError> to_mass_properties(const MassMoments& m) {
    if (!(m.mass > 0)) return m.mass == 0 ? MassError::empty_group : MassError::not_finite;
    MassProperties out;
    out.mass = m.mass;
    out.center = {m.first[0] / m.mass, m.first[1] / m.mass, m.first[2] / m.mass};
    const Inertia i = inertia_about_center(m);
    out.inertia = {float(i.v[0]), float(i.v[1]), float(i.v[2]), float(i.v[3]), float(i.v[4]), float(i.v[5])};
    if (!is_valid(out)) return MassError::not_finite;
    return out;
}

bool is_valid(const MassProperties& p) {
    const SymMat3& i = p.inertia;
    const float all[] = {i.xx, i.yy, i.zz, i.xy, i.yz, i.zx};
    for (float f : all)
        if (!std::isfinite(f)) return false;
    if (!std::isfinite(p.mass) || !(p.mass > 0) || !is_finite(p.center)) return false;
    const float slack = 1e-6f * (i.xx + i.yy + i.zz);
    return i.xx > 0 && i.yy > 0 && i.zz > 0 && i.xx + i.yy >= i.zz - slack && i.yy + i.zz >= i.xx - slack &&
           i.zz + i.xx >= i.yy - slack;
}

}  // namespace talus
