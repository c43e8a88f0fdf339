// Surface nets: closed, outward, of the right size, and chunks that fit.
#include "talus/mesh.h"
#include "tests/terrain/fields.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

namespace talus {
namespace {

using Point = std::tuple<float, float, float>;

Point point_of(const Mesh& m, std::uint32_t i) {
    return {m.positions[3 * i], m.positions[3 * i + 1], m.positions[3 * i + 2]};
}

/// Each directed edge must have as many the other way round, found by place.
void expect_closed(const Mesh& m) {
    std::map<std::pair<Point, Point>, int> edges;
    for (std::size_t i = 0; i < m.indices.size(); i += 3)
        for (std::size_t k = 0; k < 3; k++)
            edges[{point_of(m, m.indices[i + k]), point_of(m, m.indices[i + (k + 1) % 3])}]++;
    for (const auto& [edge, count] : edges) {
        const auto other = edges.find({edge.second, edge.first});
        ASSERT_TRUE(other != edges.end());
        EXPECT_EQ(other->second, count);
    }
}

double volume_of(const Mesh& m) {
    double v = 0;
    auto at = [&](std::uint32_t i) {
        return DVec3{m.positions[3 * i], m.positions[3 * i + 1], m.positions[3 * i + 2]};
    };
    for (std::size_t i = 0; i < m.indices.size(); i += 3)
        v += dot(at(m.indices[i]), cross(at(m.indices[i + 1]), at(m.indices[i + 2]))) / 6;
    return v;
}

TEST(SurfaceNets, ABallIsClosedAndHoldsItsVolume) {
    const BallSource ball({0.3, -0.2, 0.1}, 8);
    const DensityField field(&ball);
    Mesh m;
    mesh_surface(field, field.cell_size(), {{-12, -12, -12}, {12, 12, 12}}, {}, 0x336699, m);
    ASSERT_FALSE(m.empty());
    expect_closed(m);
    EXPECT_NEAR(volume_of(m), 4.0 / 3 * 3.14159265 * 512, 0.02 * 2144);
    for (std::size_t i = 0; i < m.vertex_count(); i++) {
        const Vec3 n{m.normals[3 * i], m.normals[3 * i + 1], m.normals[3 * i + 2]};
        const Vec3 r =
            Vec3{m.positions[3 * i], m.positions[3 * i + 1], m.positions[3 * i + 2]} - to_float(ball.center);
        EXPECT_NEAR(length(r), 8, 0.1f);
        EXPECT_GT(dot(n, normalized(r)), 0.98f);
    }
    EXPECT_EQ(m.colors[0], 0x33);
    EXPECT_EQ(m.colors[2], 0x99);
}

TEST(SurfaceNets, DugAndFilledGroundInChunksIsTheWhole) {
    const BallSource ball({0, 0, 0}, 9);
    DensityField field(&ball);
    field.dig({6, 5, 0}, 4);
    field.dig({0, -1, 0}, 3);  // a cave nobody sees
    field.fill({-8, 2, 3}, 3);
    Mesh whole, parts;
    mesh_surface(field, field.cell_size(), {{-16, -16, -16}, {15, 15, 15}}, {}, 0, whole);
    for (int y = -16; y < 16; y += 16)
        for (int z = -16; z < 16; z += 8)
            for (int x = -16; x < 16; x += 4)
                mesh_surface(field, field.cell_size(), {{x, y, z}, {x + 3, y + 15, z + 7}}, {}, 0, parts);
    expect_closed(whole);
    expect_closed(parts);  // no crack between chunks: the same places, bit for bit
    EXPECT_EQ(whole.indices.size(), parts.indices.size());
    EXPECT_NEAR(volume_of(whole), volume_of(parts), 1e-3);
}

TEST(SurfaceNets, HalfMetreCellsFarOut) {
    const PlaneSource plane({0, 1, 0}, {1e6, 0.3, 0}, 0.5);
    const DensityField field(&plane, 0.5f);
    Mesh m;
    mesh_surface(field, field.cell_size(), {{2000000, -4, 0}, {2000009, 4, 9}}, {1e6, 0, 0}, 0, m);
    ASSERT_EQ(m.indices.size(), 600u);
    for (std::size_t i = 0; i < m.vertex_count(); i++) {
        EXPECT_NEAR(m.positions[3 * i + 1], 0.3, 1e-5);
        EXPECT_NEAR(m.normals[3 * i + 1], 1, 1e-5);
        EXPECT_LE(std::fabs(m.positions[3 * i]), 5.5f);
    }
}

}  // namespace
}  // namespace talus
