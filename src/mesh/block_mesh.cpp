#include "talus/mesh.h"

#include <algorithm>
#include <cstring>

namespace talus {

void Mesh::clear() {
    positions.clear();
    normals.clear();
    colors.clear();
    indices.clear();
}

void Mesh::append(const Mesh& other) {
    const auto first = std::uint32_t(vertex_count());
    positions.insert(positions.end(), other.positions.begin(), other.positions.end());
    normals.insert(normals.end(), other.normals.begin(), other.normals.end());
    colors.insert(colors.end(), other.colors.begin(), other.colors.end());
    indices.reserve(indices.size() + other.indices.size());
    for (const std::uint32_t i : other.indices) indices.push_back(first + i);
}

namespace {

constexpr int kPad = kMeshChunk + 2;  // one cell of neighbours on each side
constexpr int kStride[3] = {1, kPad* kPad, kPad};

enum CellBits : std::uint8_t {
    kHides = 1,    // no face behind it is seen
    kDarkens = 2,  // shuts out light: any solid full cube, leaves too
    kCube = 4,     // drawn as a full cube
    kOther = 8,    // drawn in another way
};

/// One chunk's cells and their neighbours, unpacked.
struct Chunk {
    Cell min;  // of the padded array
    BlockId ids[kPad * kPad * kPad];
    std::uint8_t bits[kPad * kPad * kPad];

    static int index(int x, int y, int z) { return x + kPad * z + kPad * kPad * y; }
};

std::uint8_t bits_of(const BlockTable& table, BlockId id) {
    if (id == kAir) return 0;
    const BlockTable::Flags& flags = table.flags(id);
    const bool cube = table[id].shape.is_full_cube();
    return std::uint8_t((flags.full_cube ? kHides : 0) | (flags.solid && cube ? kDarkens : 0) |
                        (cube ? kCube : kOther));
}

void load(const Grid& grid, Cell chunk_min, Chunk& chunk) {
    chunk.min = chunk_min - Cell{1, 1, 1};
    std::memset(chunk.ids, 0, sizeof chunk.ids);
    std::memset(chunk.bits, 0, sizeof chunk.bits);
    const Cell lo = chunk.min, hi = lo + Cell{kPad - 1, kPad - 1, kPad - 1};
    const Cell b0 = brick_of(lo), b1 = brick_of(hi);
    for (int by = b0.y; by <= b1.y; by++)
        for (int bz = b0.z; bz <= b1.z; bz++)
            for (int bx = b0.x; bx <= b1.x; bx++) {
                const Brick* brick = grid.find_brick({bx, by, bz});
                if (!brick) continue;
                for (int y = 0; y < kBrickEdge; y++)
                    for (std::uint64_t left = brick->any[y]; left; left &= left - 1) {
                        const int i = 64 * y + __builtin_ctzll(left);
                        const Cell c = cell_in_brick(*brick, i);
                        if (!CellBox{lo, hi}.contains(c)) continue;
                        const Cell at = c - lo;
                        const int k = Chunk::index(at.x, at.y, at.z);
                        chunk.ids[k] = brick->ids[i];
                        chunk.bits[k] = bits_of(grid.table(), brick->ids[i]);
                    }
            }
}

/// Light at the four corners (u0v0, u1v0, u1v1, u0v1) of a face, 0..3 each, seen from the cell in front of
/// it.
struct FaceLight {
    std::uint8_t corner[4];
};

FaceLight face_light(const Chunk& chunk, int front, int u_stride, int v_stride) {
    auto dark = [&](int i) { return (chunk.bits[i] & kDarkens) != 0 ? 1 : 0; };
    static constexpr int kSide[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    FaceLight light;
    for (int k = 0; k < 4; k++) {
        const int du = kSide[k][0] * u_stride, dv = kSide[k][1] * v_stride;
        const int u = dark(front + du), v = dark(front + dv);
        light.corner[k] = std::uint8_t(u && v ? 0 : 3 - u - v - dark(front + du + dv));
    }
    return light;
}

/// Four corners in the order u0v0, u1v0, u1v1, u0v1.
struct Quad {
    Vec3 corner[4];
    Vec3 normal;
    std::uint32_t color;
    std::uint8_t light[4];
    bool flipped;  ///< wind the other way: the face looks towards -axis
};

void emit(const Quad& quad, Mesh& out) {
    const auto first = std::uint32_t(out.vertex_count());
    for (int k = 0; k < 4; k++) {
        const Vec3 p = quad.corner[k];
        out.positions.insert(out.positions.end(), {p.x, p.y, p.z});
        out.normals.insert(out.normals.end(), {quad.normal.x, quad.normal.y, quad.normal.z});
        out.colors.insert(out.colors.end(), {std::uint8_t(quad.color >> 16), std::uint8_t(quad.color >> 8),
                                             std::uint8_t(quad.color), quad.light[k]});
    }
    static constexpr std::uint32_t kAlong02[6] = {0, 1, 2, 0, 2, 3}, kAlong13[6] = {0, 1, 3, 1, 2, 3};
    const bool along02 = quad.light[0] + quad.light[2] > quad.light[1] + quad.light[3];
    const auto& order = along02 ? kAlong02 : kAlong13;
    for (int t = 0; t < 6; t += 3) {
        out.indices.push_back(first + order[t]);
        out.indices.push_back(first + order[t + (quad.flipped ? 2 : 1)]);
        out.indices.push_back(first + order[t + (quad.flipped ? 1 : 2)]);
    }
}

Vec3 axis_vector(int axis, float value) {
    Vec3 v;
    v[axis] = value;
    return v;
}

/// What a mesh is made with: the same for all faces of one chunk.
struct Target {
    const BlockTable* table;
    float cell_size;
    Cell lo, hi;  // cells to draw, relative to the padded array
    Vec3 shift;   // of the padded array's corner in the mesh's frame, cells
    Mesh* out;
};

void emit_rectangle(const Target& target, int axis, bool positive, const float (&lo)[3], const float (&hi)[3],
                    std::uint32_t color, const std::uint8_t (&light)[4]) {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    Quad quad;
    for (int k = 0; k < 4; k++) {
        Vec3 p;
        p[axis] = positive ? hi[axis] : lo[axis];
        p[u] = k == 1 || k == 2 ? hi[u] : lo[u];
        p[v] = k >= 2 ? hi[v] : lo[v];
        quad.corner[k] = (p + target.shift) * target.cell_size;
        quad.light[k] = light[k];
    }
    quad.normal = axis_vector(axis, positive ? 1.0f : -1.0f);
    quad.color = color;
    quad.flipped = !positive;
    emit(quad, *target.out);
}

/// A visible face of one slice: 0 when there is none.
///   bits 0..23 colour, 24..31 light of the four corners, 32 present, 33 may grow along u, 34 along v
using FaceKey = std::uint64_t;
constexpr FaceKey kPresent = FaceKey(1) << 32, kGrowsU = FaceKey(1) << 33, kGrowsV = FaceKey(1) << 34;

FaceKey face_key(const Target& target, const Chunk& chunk, int index, int front, int u, int v) {
    if (!(chunk.bits[index] & kCube) || (chunk.bits[front] & kHides)) return 0;
    // Between two leaves of one kind nothing is seen.
    if (chunk.ids[front] == chunk.ids[index]) return 0;
    const FaceLight light = face_light(chunk, front, kStride[u], kStride[v]);
    FaceKey key = kPresent | ((*target.table)[chunk.ids[index]].material.color & 0xffffff);
    for (int k = 0; k < 4; k++) key |= FaceKey(light.corner[k]) << (24 + 2 * k);
    // A longer rectangle spreads the light of its corners: only right where it does not change that way.
    if (light.corner[0] == light.corner[1] && light.corner[3] == light.corner[2]) key |= kGrowsU;
    if (light.corner[0] == light.corner[3] && light.corner[1] == light.corner[2]) key |= kGrowsV;
    return key;
}

void mesh_cubes(const Target& target, const Chunk& chunk, int axis, bool positive) {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const int lo[3] = {target.lo.x, target.lo.y, target.lo.z},
              hi[3] = {target.hi.x, target.hi.y, target.hi.z};
    const int front = positive ? kStride[axis] : -kStride[axis];
    FaceKey slice[kPad][kPad];  // [v][u]
    for (int a = lo[axis]; a <= hi[axis]; a++) {
        bool any = false;
        for (int j = lo[v]; j <= hi[v]; j++)
            for (int i = lo[u]; i <= hi[u]; i++) {
                const int index = a * kStride[axis] + i * kStride[u] + j * kStride[v];
                slice[j][i] = face_key(target, chunk, index, index + front, u, v);
                any |= slice[j][i] != 0;
            }
        if (!any) continue;
        for (int j = lo[v]; j <= hi[v]; j++)
            for (int i = lo[u]; i <= hi[u]; i++) {
                const FaceKey key = slice[j][i];
                if (!key) continue;
                int i1 = i + 1, j1 = j + 1;
                if (key & kGrowsU)
                    while (i1 <= hi[u] && slice[j][i1] == key) i1++;
                auto row_agrees = [&](int row) {
                    for (int k = i; k < i1; k++)
                        if (slice[row][k] != key) return false;
                    return true;
                };
                if (key & kGrowsV)
                    while (j1 <= hi[v] && row_agrees(j1)) j1++;
                for (int row = j; row < j1; row++)
                    for (int k = i; k < i1; k++) slice[row][k] = 0;
                float from[3], to[3];
                from[axis] = float(a), to[axis] = float(a + 1);
                from[u] = float(i), to[u] = float(i1);
                from[v] = float(j), to[v] = float(j1);
                std::uint8_t light[4];
                for (int k = 0; k < 4; k++) light[k] = std::uint8_t(85 * ((key >> (24 + 2 * k)) & 3));
                emit_rectangle(target, axis, positive, from, to, std::uint32_t(key & 0xffffff), light);
            }
    }
}

/// Whether another box of the same shape lies against the whole face.
bool covered_by_sibling(std::span<const Box> boxes, const Box& box, int axis, bool positive) {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const float plane = positive ? box.max[axis] : box.min[axis];
    for (const Box& other : boxes)
        if ((positive ? other.min[axis] : other.max[axis]) == plane && other.min[u] <= box.min[u] &&
            other.max[u] >= box.max[u] && other.min[v] <= box.min[v] && other.max[v] >= box.max[v])
            return true;
    return false;
}

void mesh_boxes(const Target& target, const Chunk& chunk, int x, int y, int z) {
    const int index = Chunk::index(x, y, z);
    const BlockType& type = (*target.table)[chunk.ids[index]];
    const float cell[3] = {float(x), float(y), float(z)};
    for (const Box& box : type.shape.boxes())
        for (int face = 0; face < 6; face++) {
            const int axis = face >> 1, u = (axis + 1) % 3, v = (axis + 2) % 3;
            const bool positive = (face & 1) != 0;
            const bool on_border = positive ? box.max[axis] == 1 : box.min[axis] == 0;
            const int front = on_border ? index + (positive ? kStride[axis] : -kStride[axis]) : index;
            if (on_border && (chunk.bits[front] & kHides)) continue;
            if (covered_by_sibling(type.shape.boxes(), box, axis, positive)) continue;
            const FaceLight light = face_light(chunk, front, kStride[u], kStride[v]);
            float from[3], to[3];
            for (int k = 0; k < 3; k++) from[k] = cell[k] + box.min[k], to[k] = cell[k] + box.max[k];
            std::uint8_t corners[4];
            for (int k = 0; k < 4; k++) {
                const float s = k == 1 || k == 2 ? box.max[u] : box.min[u],
                            t = k >= 2 ? box.max[v] : box.min[v];
                const float level = (1 - t) * ((1 - s) * light.corner[0] + s * light.corner[1]) +
                                    t * (s * light.corner[2] + (1 - s) * light.corner[3]);
                corners[k] = std::uint8_t(85 * level + 0.5f);
            }
            emit_rectangle(target, axis, positive, from, to, type.material.color, corners);
        }
}

/// Two upright quads over the diagonals of the cell, each seen from both sides.
void mesh_cross(const Target& target, const Chunk& chunk, int x, int y, int z) {
    const BlockType& type = (*target.table)[chunk.ids[Chunk::index(x, y, z)]];
    constexpr float kNear = 0.15f, kFar = 0.85f, kTop = 0.8f;
    static constexpr float kHalfRoot = 0.70710678f;
    for (int k = 0; k < 4; k++) {
        // Over the first or second diagonal, seen from the front or the back.
        const bool second = k >= 2;
        const Vec3 a{kNear, 0, second ? kFar : kNear}, b{kFar, 0, second ? kNear : kFar}, up{0, kTop, 0};
        const Vec3 base = Vec3{float(x), float(y), float(z)} + target.shift;
        Quad quad{{a, b, b + up, a + up}, {}, type.material.color, {255, 255, 255, 255}, (k & 1) != 0};
        for (Vec3& p : quad.corner) p = (p + base) * target.cell_size;
        const float side = quad.flipped ? -kHalfRoot : kHalfRoot;
        // (b - a) x up, the side from which a, b, b + up winds counter-clockwise
        quad.normal = second ? Vec3{side, 0, side} : Vec3{-side, 0, side};
        emit(quad, *target.out);
    }
}

}  // namespace

void mesh_blocks(const Grid& grid, float cell_size, const CellBox& wanted, Cell origin, Mesh& out) {
    const CellBox all = grid.bounds();
    const CellBox cells{{std::max(wanted.min.x, all.min.x), std::max(wanted.min.y, all.min.y),
                         std::max(wanted.min.z, all.min.z)},
                        {std::min(wanted.max.x, all.max.x), std::min(wanted.max.y, all.max.y),
                         std::min(wanted.max.z, all.max.z)}};
    if (all.empty() || cells.empty()) return;
    // Only chunks that hold a brick, in chunk order.
    static_assert(kMeshChunk == 2 * kBrickEdge);
    std::vector<Cell> chunks;
    for (const Brick* brick : grid.bricks()) {
        const Cell c{brick->coord.x >> 1, brick->coord.y >> 1, brick->coord.z >> 1};
        const Cell lo{c.x * kMeshChunk, c.y * kMeshChunk, c.z * kMeshChunk};
        const Cell hi = lo + Cell{kMeshChunk - 1, kMeshChunk - 1, kMeshChunk - 1};
        if (hi.x < cells.min.x || hi.y < cells.min.y || hi.z < cells.min.z || lo.x > cells.max.x ||
            lo.y > cells.max.y || lo.z > cells.max.z)
            continue;
        chunks.push_back(c);
    }
    std::sort(chunks.begin(), chunks.end());
    chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());

    Chunk chunk;
    for (const Cell c : chunks) {
        const Cell lo{c.x * kMeshChunk, c.y * kMeshChunk, c.z * kMeshChunk};
        load(grid, lo, chunk);
        Target target{&grid.table(), cell_size, {}, {}, {}, &out};
        const Cell hi = lo + Cell{kMeshChunk - 1, kMeshChunk - 1, kMeshChunk - 1};
        target.lo =
            Cell{std::max(lo.x, cells.min.x), std::max(lo.y, cells.min.y), std::max(lo.z, cells.min.z)} -
            chunk.min;
        target.hi =
            Cell{std::min(hi.x, cells.max.x), std::min(hi.y, cells.max.y), std::min(hi.z, cells.max.z)} -
            chunk.min;
        const Cell shift = chunk.min - origin;
        target.shift = {float(shift.x), float(shift.y), float(shift.z)};
        for (int face = 0; face < 6; face++) mesh_cubes(target, chunk, face >> 1, (face & 1) != 0);
        for (int y = target.lo.y; y <= target.hi.y; y++)
            for (int z = target.lo.z; z <= target.hi.z; z++)
                for (int x = target.lo.x; x <= target.hi.x; x++) {
                    const int i = Chunk::index(x, y, z);
                    if (!(chunk.bits[i] & kOther)) continue;
                    if (grid.table()[chunk.ids[i]].shape.boxes().empty())
                        mesh_cross(target, chunk, x, y, z);
                    else
                        mesh_boxes(target, chunk, x, y, z);
                }
    }
}

Mesh mesh_blocks(const Grid& grid, float cell_size) {
    Mesh mesh;
    mesh_blocks(grid, cell_size, grid.bounds(), {0, 0, 0}, mesh);
    return mesh;
}

}  // namespace talus
