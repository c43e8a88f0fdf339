#include "mass/group_mass.h"

#include <cassert>

namespace talus {

MassMoments block_moments(Cell cell, const BlockType& type, float cell_size) {
    assert(cell.x >= -65536 && cell.x <= 65536 && cell.y >= -65536 && cell.y <= 65536 && cell.z >= -65536 &&
           cell.z <= 65536);
    const BlockShape& shape = type.shape;
    const double e = cell_size;
    const double m = double(type.material.density) * e * e * e;  // of a whole cell
    const double v = shape.volume();
    const double c[3] = {double(cell.x), double(cell.y), double(cell.z)};
    const DVec3 first = shape.first_moment();
    const double f[3] = {first.x, first.y, first.z};
    const auto s = shape.second_moment();
    // The shape's integrals are about the cell's corner: r = c + u, so <r r> = c c v + c <u> + <u> c + <u u>.
    MassMoments out;
    out.mass = m * v;
    for (int k = 0; k < 3; k++) out.first[k] = m * e * (c[k] * v + f[k]);
    constexpr int kPair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};
    for (std::size_t k = 0; k < 6; k++) {
        const int i = kPair[k][0], j = kPair[k][1];
        out.second[k] = m * e * e * (c[i] * c[j] * v + c[i] * f[j] + c[j] * f[i] + s[k]);
    }
    return out;
}

void add(MassMoments& total, const MassMoments& part) {
    total.mass += part.mass;
    for (int k = 0; k < 3; k++) total.first[k] += part.first[k];
    for (int k = 0; k < 6; k++) total.second[k] += part.second[k];
}

void subtract(MassMoments& total, const MassMoments& part) {
    total.mass -= part.mass;
    for (int k = 0; k < 3; k++) total.first[k] -= part.first[k];
    for (int k = 0; k < 6; k++) total.second[k] -= part.second[k];
}

MassMoments sum_moments(const Grid& grid, float cell_size) {
    MassMoments total;
    grid.for_each(
        [&](Cell cell, BlockId id) { add(total, block_moments(cell, grid.table()[id], cell_size)); });
    return total;
}

Result<MassProperties, MassError> to_mass_properties(const MassMoments& m) {
    if (!(m.mass > 0)) return m.mass == 0 ? MassError::empty_group : MassError::not_finite;
    const double c[3] = {m.first[0] / m.mass, m.first[1] / m.mass, m.first[2] / m.mass};
    const double xx = m.second[0] - m.mass * c[0] * c[0];
    const double yy = m.second[1] - m.mass * c[1] * c[1];
    const double zz = m.second[2] - m.mass * c[2] * c[2];
    MassProperties out;
    out.mass = m.mass;
    out.center = {c[0], c[1], c[2]};
    out.inertia.xx = float(yy + zz);
    out.inertia.yy = float(zz + xx);
    out.inertia.zz = float(xx + yy);
    out.inertia.xy = float(m.mass * c[0] * c[1] - m.second[3]);
    out.inertia.yz = float(m.mass * c[1] * c[2] - m.second[4]);
    out.inertia.zx = float(m.mass * c[2] * c[0] - m.second[5]);
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
