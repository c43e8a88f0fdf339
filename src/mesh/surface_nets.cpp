#include "grid/trilinear.h"
#include "talus/mesh.h"

namespace talus {

namespace {

/// The samples of a box, and vertices of its cells.
struct Net {
    float cell_size;
    Cell first;      // of the samples
    int nx, ny, nz;  // samples
    std::vector<float> samples;
    std::vector<std::int32_t> vertex;  // by cell, -1: none yet

    std::size_t index(Cell c) const {
        return std::size_t(c.x - first.x) +
               std::size_t(nx) * (std::size_t(c.z - first.z) + std::size_t(nz) * std::size_t(c.y - first.y));
    }
    float at(Cell c) const { return samples[index(c)]; }
    Trilinear blend(Cell cell, Vec3 p) const {
        Trilinear b;
        for (int i = 0; i < 8; i++) b.corner[i] = at(cell + Cell{i & 1, i >> 1 & 1, i >> 2});
        b.at = p;
        return b;
    }
};

constexpr Cell kStep[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

bool is_ground(float density) { return density > 0; }

/// The mean of where the surface crosses a cell's edges.
std::int32_t vertex_of(Net& net, Cell cell, DVec3 origin, std::uint32_t color, Mesh& out) {
    std::int32_t& known = net.vertex[net.index(cell)];
    if (known >= 0) return known;
    Vec3 sum;
    int crossings = 0;
    for (int axis = 0; axis < 3; axis++) {
        const Cell u = kStep[(axis + 1) % 3], v = kStep[(axis + 2) % 3];
        for (int i = 0; i < 4; i++) {
            Cell a = cell;
            if (i & 1) a = a + u;
            if (i & 2) a = a + v;
            const float da = net.at(a), db = net.at(a + kStep[axis]);
            if (is_ground(da) == is_ground(db)) continue;
            const Cell in = a - cell;
            Vec3 p{float(in.x), float(in.y), float(in.z)};
            p[axis] += da / (da - db);
            sum += p;
            crossings++;
        }
    }
    const Vec3 inside = sum / float(crossings);
    const DVec3 place{cell.x + double(inside.x), cell.y + double(inside.y), cell.z + double(inside.z)};
    const Vec3 p = to_float(place * double(net.cell_size) - origin);
    Vec3 n = -normalized(net.blend(cell, inside).slope());
    if (n == Vec3{}) n = {0, 1, 0};
    known = std::int32_t(out.vertex_count());
    out.positions.insert(out.positions.end(), {p.x, p.y, p.z});
    out.normals.insert(out.normals.end(), {n.x, n.y, n.z});
    out.colors.insert(out.colors.end(), {std::uint8_t(color >> 16 & 255), std::uint8_t(color >> 8 & 255),
                                         std::uint8_t(color & 255), std::uint8_t(255)});
    return known;
}

}  // namespace

void mesh_surface(const DensitySource& samples, float cell_size, const CellBox& cells, DVec3 origin,
                  std::uint32_t color, Mesh& out) {
    if (cells.empty()) return;
    // One more cell before, one more sample after.
    const Cell first = cells.min - Cell{1, 1, 1}, last = cells.max + Cell{1, 1, 1};
    Net net{cell_size, first, last.x - first.x + 1, last.y - first.y + 1, last.z - first.z + 1, {}, {}};
    for (int y = first.y; y <= last.y; y++)
        for (int z = first.z; z <= last.z; z++)
            for (int x = first.x; x <= last.x; x++) net.samples.push_back(samples.density_at({x, y, z}));
    net.vertex.assign(net.samples.size(), -1);
    for (int y = cells.min.y; y <= cells.max.y; y++)
        for (int z = cells.min.z; z <= cells.max.z; z++)
            for (int x = cells.min.x; x <= cells.max.x; x++)
                for (int axis = 0; axis < 3; axis++) {
                    const Cell a{x, y, z};
                    const bool inside = is_ground(net.at(a));
                    if (inside == is_ground(net.at(a + kStep[axis]))) continue;
                    // The four cells around the edge, counter-clockwise seen from along the axis.
                    const Cell u = kStep[(axis + 1) % 3], v = kStep[(axis + 2) % 3];
                    const Cell around[4] = {a - u - v, a - v, a, a - u};
                    std::uint32_t q[4];
                    for (int k = 0; k < 4; k++)
                        q[k] = std::uint32_t(vertex_of(net, around[inside ? k : 3 - k], origin, color, out));
                    out.indices.insert(out.indices.end(), {q[0], q[1], q[2], q[0], q[2], q[3]});
                }
}

}  // namespace talus
