#include "talus/mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

namespace talus {
namespace {

struct Palette {
    BlockTable table;
    BlockId stone = table.add(*find_real_material("stone"));
    BlockId bricks = table.add(*find_real_material("bricks"));
    BlockId leaves = table.add(*find_real_material("leaves"));
    BlockId slab = 0, stairs = 0, plant = 0;

    Palette() {
        const Box half{{0, 0, 0}, {1, 0.5f, 1}}, step{{0, 0.5f, 0}, {0.5f, 1, 1}};
        const Box both[] = {half, step};
        slab = table.add(BlockType{"slab", blockgame_stone(), BlockShape({&half, 1})});
        stairs = table.add(BlockType{"stairs", blockgame_stone(), BlockShape(both)});
        Material grass = *find_real_material("leaves");
        grass.solid = false;
        plant = table.add(BlockType{"plant", grass, BlockShape(std::span<const Box>{})});
    }
};

Vec3 vertex(const Mesh& mesh, std::uint32_t i) {
    return {mesh.positions[3 * i], mesh.positions[3 * i + 1], mesh.positions[3 * i + 2]};
}
Vec3 normal(const Mesh& mesh, std::uint32_t i) {
    return {mesh.normals[3 * i], mesh.normals[3 * i + 1], mesh.normals[3 * i + 2]};
}

/// Area and volume of the surface, by pyramids over its triangles; checks that triangles face their normals.
struct Measure {
    double area = 0, volume = 0;
};
Measure measure(const Mesh& mesh) {
    Measure m;
    EXPECT_EQ(mesh.indices.size() % 6, 0u);
    EXPECT_EQ(mesh.positions.size(), mesh.normals.size());
    EXPECT_EQ(mesh.positions.size() / 3, mesh.colors.size() / 4);
    for (std::size_t i = 0; i < mesh.indices.size(); i += 3) {
        const DVec3 a = to_double(vertex(mesh, mesh.indices[i])),
                    b = to_double(vertex(mesh, mesh.indices[i + 1])),
                    c = to_double(vertex(mesh, mesh.indices[i + 2]));
        const DVec3 n = cross(b - a, c - a);
        EXPECT_GT(dot(n, to_double(normal(mesh, mesh.indices[i]))), 0) << "triangle " << i / 3;
        m.area += length(n) / 2;
        m.volume += dot(a, n) / 6;
    }
    return m;
}

TEST(BlockMesh, OneCubeIsSixQuads) {
    Palette p;
    Grid grid(p.table);
    grid.set({-3, 5, 40}, p.stone);
    const Mesh mesh = mesh_blocks(grid, 0.5f);
    EXPECT_EQ(mesh.vertex_count(), 24u);
    const Measure m = measure(mesh);
    EXPECT_DOUBLE_EQ(m.area, 6 * 0.25);
    EXPECT_NEAR(m.volume, 0.125, 1e-9);
    for (std::size_t i = 0; i < mesh.vertex_count(); i++) {
        EXPECT_EQ(mesh.colors[4 * i], 0x8a);
        EXPECT_EQ(mesh.colors[4 * i + 3], 255) << "nothing near: fully open";
    }
    EXPECT_EQ(vertex(mesh, 0).x, -1.5f);
}

TEST(BlockMesh, ASolidBoxHasOneQuadASide) {
    Palette p;
    Grid grid(p.table);
    for (int y = 0; y < 3; y++)
        for (int z = 0; z < 5; z++)
            for (int x = 0; x < 7; x++) grid.set({x, y, z}, p.stone);
    const Mesh mesh = mesh_blocks(grid, 1);
    EXPECT_EQ(mesh.vertex_count(), 24u);
    const Measure m = measure(mesh);
    EXPECT_DOUBLE_EQ(m.area, 2 * (7 * 5 + 7 * 3 + 5 * 3));
    EXPECT_NEAR(m.volume, 3 * 5 * 7, 1e-9);
}

TEST(BlockMesh, ColoursAreNotMerged) {
    Palette p;
    Grid grid(p.table);
    grid.set({0, 0, 0}, p.stone);
    grid.set({1, 0, 0}, p.bricks);
    EXPECT_EQ(mesh_blocks(grid, 1).vertex_count(), 4u * 10);
    grid.set({1, 0, 0}, p.stone);
    EXPECT_EQ(mesh_blocks(grid, 1).vertex_count(), 4u * 6);
}

/// Every visible face of every cube once, whatever the merging: each quad is counted cell by cell.
void expect_faces_covered_once(const Grid& grid, const Mesh& mesh) {
    using Face = std::array<int, 5>;  // axis, sign, plane, u, v
    std::map<Face, int> covered;
    for (std::size_t q = 0; q < mesh.vertex_count(); q += 4) {
        const Vec3 n = normal(mesh, std::uint32_t(q));
        const int axis = n.x != 0 ? 0 : n.y != 0 ? 1 : 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
        Vec3 lo = vertex(mesh, std::uint32_t(q)), hi = lo;
        for (std::uint32_t k = 1; k < 4; k++) {
            lo = min(lo, vertex(mesh, std::uint32_t(q) + k));
            hi = max(hi, vertex(mesh, std::uint32_t(q) + k));
        }
        for (int j = int(lo[v]); j < int(hi[v]); j++)
            for (int i = int(lo[u]); i < int(hi[u]); i++) covered[{axis, n[axis] > 0, int(lo[axis]), i, j}]++;
    }
    std::size_t expected = 0;
    grid.for_each([&](Cell c, BlockId id) {
        for (int face = 0; face < 6; face++) {
            const int axis = face / 2, sign = face % 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
            const int at[3] = {c.x, c.y, c.z};
            Cell front = c;
            (axis == 0 ? front.x : axis == 1 ? front.y : front.z) += sign ? 1 : -1;
            if (grid.is_full(front) || grid.get(front) == id) continue;
            expected++;
            const auto it = covered.find({axis, sign, at[axis] + sign, at[u], at[v]});
            ASSERT_TRUE(it != covered.end());
            EXPECT_EQ(it->second, 1);
        }
    });
    EXPECT_EQ(covered.size(), expected);
}

TEST(BlockMesh, EveryVisibleFaceIsCoveredOnce) {
    Palette p;
    std::mt19937 random(11);
    for (int round = 0; round < 4; round++) {
        Grid grid(p.table);
        const BlockId ids[] = {kAir, p.stone, p.bricks, p.leaves, p.stone, p.stone};
        for (int y = -9; y < 20; y++)
            for (int z = -20; z < 3; z++)
                for (int x = 0; x < 33; x++)
                    grid.set({x, y, z}, round == 0 ? p.stone : ids[random() % (round == 1 ? 6 : 4)]);
        const Mesh mesh = mesh_blocks(grid, 1);
        expect_faces_covered_once(grid, mesh);
        const Measure m = measure(mesh);
        if (round == 0) {
            EXPECT_NEAR(m.volume, 29 * 23 * 33, 1e-6);
        }
    }
}

TEST(BlockMesh, ClosedSurfaceOfRandomStoneHoldsItsVolume) {
    Palette p;
    Grid grid(p.table);
    std::mt19937 random(3);
    std::size_t faces = 0;
    for (int i = 0; i < 3000; i++)
        grid.set({int(random() % 24) - 7, int(random() % 24), int(random() % 24)}, p.stone);
    grid.for_each([&](Cell c, BlockId) {
        for (const Cell d :
             {Cell{1, 0, 0}, Cell{-1, 0, 0}, Cell{0, 1, 0}, Cell{0, -1, 0}, Cell{0, 0, 1}, Cell{0, 0, -1}})
            faces += !grid.has(c + d);
    });
    const Measure m = measure(mesh_blocks(grid, 2));
    EXPECT_NEAR(m.volume, 8.0 * double(grid.block_count()), 1e-6);
    EXPECT_NEAR(m.area, 4.0 * double(faces), 1e-6);
}

TEST(BlockMesh, ChunksMeshedOneByOneAreTheWhole) {
    Palette p;
    Grid grid(p.table);
    std::mt19937 random(5);
    const BlockId ids[] = {kAir, p.stone, p.leaves, p.slab, p.plant, p.stairs};
    for (int y = -20; y < 20; y++)
        for (int z = -20; z < 20; z++)
            for (int x = -20; x < 20; x++) grid.set({x, y, z}, ids[random() % 6]);
    Mesh parts;
    for (int y = -2; y < 2; y++)
        for (int z = -2; z < 2; z++)
            for (int x = -2; x < 2; x++)
                mesh_blocks(grid, 1, {{x * 16, y * 16, z * 16}, {x * 16 + 15, y * 16 + 15, z * 16 + 15}},
                            {0, 0, 0}, parts);
    const Mesh whole = mesh_blocks(grid, 1);
    EXPECT_EQ(whole.positions, parts.positions);
    EXPECT_EQ(whole.indices, parts.indices);
    EXPECT_EQ(whole.colors, parts.colors);
}

TEST(BlockMesh, ShapesAreDrawnBoxByBox) {
    Palette p;
    Grid slab(p.table);
    slab.set({0, 0, 0}, p.slab);
    Measure m = measure(mesh_blocks(slab, 1));
    EXPECT_NEAR(m.volume, 0.5, 1e-6);
    EXPECT_NEAR(m.area, 4, 1e-6);
    slab.set({0, -1, 0}, p.stone);  // hides the slab's underside; its own top stays, the slab is no full cube
    m = measure(mesh_blocks(slab, 1));
    EXPECT_NEAR(m.area, 6 + 3, 1e-6);

    Grid stairs(p.table);
    stairs.set({2, 3, 4}, p.stairs);
    m = measure(mesh_blocks(stairs, 1));
    // The true surface is 5.5; the underside of the upper box is left out, the hidden half of the lower box's
    // top is not.
    EXPECT_NEAR(m.area, 6, 1e-6);
}

TEST(BlockMesh, PlantsAreCrossedQuads) {
    Palette p;
    Grid grid(p.table);
    grid.set({0, 1, 0}, p.plant);
    const Mesh mesh = mesh_blocks(grid, 1);
    EXPECT_EQ(mesh.vertex_count(), 16u);
    const Measure m = measure(mesh);
    EXPECT_NEAR(m.volume, 0, 1e-6) << "each quad is there from both sides";
    for (std::size_t i = 0; i < mesh.positions.size(); i += 3) {
        EXPECT_GE(mesh.positions[i], 0);
        EXPECT_LE(mesh.positions[i], 1);
    }
    grid.set({0, 0, 0}, p.stone);
    EXPECT_EQ(mesh_blocks(grid, 1).vertex_count(), 16u + 24) << "a plant hides nothing";
}

TEST(BlockMesh, ANeighbourDarkensTheCornerItStandsIn) {
    Palette p;
    Grid grid(p.table);
    grid.set({0, 0, 0}, p.stone);
    grid.set({1, 1, 0}, p.stone);  // diagonally above: along one edge of the top face
    const Mesh mesh = mesh_blocks(grid, 1);
    int at_edge = 0;
    for (std::size_t i = 0; i < mesh.vertex_count(); i++) {
        const Vec3 v = vertex(mesh, std::uint32_t(i)), n = normal(mesh, std::uint32_t(i));
        if (!(n == Vec3{0, 1, 0}) || v.y != 1) continue;
        EXPECT_EQ(mesh.colors[4 * i + 3], v.x == 1 ? 170 : 255);
        at_edge += v.x == 1;
    }
    EXPECT_EQ(at_edge, 2);
    grid.set({0, 1, 1}, p.stone);  // a second side: their common corner is closed
    const Mesh dark = mesh_blocks(grid, 1);
    int closed = 0;
    for (std::size_t i = 0; i < dark.vertex_count(); i++)
        if (normal(dark, std::uint32_t(i)) == Vec3{0, 1, 0} &&
            vertex(dark, std::uint32_t(i)) == Vec3{1, 1, 1})
            closed += dark.colors[4 * i + 3] == 0;
    EXPECT_EQ(closed, 1);
}

}  // namespace
}  // namespace talus
