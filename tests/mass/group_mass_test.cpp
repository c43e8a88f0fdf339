#include "mass/group_mass.h"

#include "mass/principal_frame.h"

#include <gtest/gtest.h>

#include <random>

namespace talus {
namespace {

struct Fixture : testing::Test {
    BlockTable table;
    Grid grid{table};
    BlockId stone = table.add(blockgame_stone());
    MassProperties properties(float cell_size = 1) {
        auto p = to_mass_properties(sum_moments(grid, cell_size));
        EXPECT_TRUE(p.ok());
        return *p;
    }
};
using GroupMass = Fixture;

TEST_F(GroupMass, OneStoneIsACubeOf775Kilograms) {
    grid.set({3, -2, 5}, stone);
    const MassProperties p = properties();
    EXPECT_EQ(p.mass, 775);
    EXPECT_EQ(p.center, (DVec3{3.5, -1.5, 5.5}));
    EXPECT_FLOAT_EQ(p.inertia.xx, 775.0f / 6);  // m s^2 / 6
    EXPECT_NEAR(p.inertia.xy, 0, 1e-3);
}

TEST_F(GroupMass, BoxOfBlocksHasTheInertiaOfABox) {
    const int nx = 7, ny = 3, nz = 12;
    for (int x = 0; x < nx; x++)
        for (int y = 0; y < ny; y++)
            for (int z = 0; z < nz; z++) grid.set({x, y, z}, stone);
    for (float e : {1.0f, 0.5f}) {
        const MassProperties p = properties(e);
        const double m = 775.0 * nx * ny * nz * e * e * e;
        EXPECT_NEAR(p.mass, m, 1e-9 * m);
        EXPECT_NEAR(p.center.z, nz * e / 2, 1e-12);
        EXPECT_NEAR(p.inertia.xx, m / 12 * (ny * ny + nz * nz) * e * e, 1e-5 * m);
        EXPECT_NEAR(p.inertia.yy, m / 12 * (nx * nx + nz * nz) * e * e, 1e-5 * m);
        EXPECT_NEAR(p.inertia.zz, m / 12 * (nx * nx + ny * ny) * e * e, 1e-5 * m);
    }
}

TEST_F(GroupMass, StairsWeighThreeQuartersAndTilt) {
    const Box boxes[] = {{{0, 0, 0}, {1, 0.5f, 1}}, {{0.5f, 0, 0}, {1, 1, 1}}};  // overlap on purpose
    const BlockId stairs = table.add(BlockType{"stairs", blockgame_stone(), BlockShape(boxes)});
    grid.set({0, 0, 0}, stairs);
    const MassProperties p = properties();
    EXPECT_DOUBLE_EQ(p.mass, 0.75 * 775);
    // Lower slab (2/3 of the mass) at (0.5, 0.25), upper half slab (1/3) at (0.75, 0.75).
    EXPECT_DOUBLE_EQ(p.center.x, (2 * 0.5 + 0.75) / 3);
    EXPECT_DOUBLE_EQ(p.center.y, (2 * 0.25 + 0.75) / 3);
    EXPECT_LT(p.inertia.xy, 0);  // leans towards +x as it rises: sum m x y about the centre > 0
    const double ixy = -(2.0 / 3 * (0.5 - p.center.x) * (0.25 - p.center.y) +
                         1.0 / 3 * (0.75 - p.center.x) * (0.75 - p.center.y)) *
                       p.mass;
    EXPECT_NEAR(p.inertia.xy, ixy, 1e-4);
}

TEST_F(GroupMass, IncrementalEditsEqualARecount) {
    std::mt19937 random(3);
    const Box half{{0, 0, 0}, {1, 0.5f, 1}};
    const BlockId slab = table.add(BlockType{"slab", *find_real_material("steel"), BlockShape({&half, 1})});
    BlockSums running;
    for (int i = 0; i < 20000; i++) {
        const Cell c{int(random() % 30) - 15, int(random() % 30), int(random() % 30) + 100};
        const BlockId id = random() % 2 ? kAir : random() % 2 ? stone : slab;
        const BlockId old = grid.set(c, id);
        if (old != kAir) running.remove(c, old);
        running.add(c, id, table[id]);
    }
    // To the bit: they are whole numbers.
    const MassMoments whole = sum_moments(grid, 1), now = running.moments(1);
    EXPECT_EQ(now.mass, whole.mass);
    for (int k = 0; k < 3; k++) EXPECT_EQ(now.first[k], whole.first[k]);
    for (int k = 0; k < 6; k++) EXPECT_EQ(now.second[k], whole.second[k]);
    double volume = 0;
    grid.for_each([&](Cell, BlockId id) { volume += table[id].shape.volume(); });
    EXPECT_DOUBLE_EQ(running.volume(1), volume);
    EXPECT_TRUE(to_mass_properties(now).ok());
}

TEST_F(GroupMass, NothingHasNoMass) {
    Material ghost = blockgame_stone();
    ghost.density = 0;
    grid.set({0, 0, 0}, table.add(ghost));
    auto p = to_mass_properties(sum_moments(grid, 1));
    ASSERT_FALSE(p.ok());
    EXPECT_EQ(p.error(), MassError::empty_group);
}

TEST(PrincipalFrame, Diagonalises) {
    for (int seed = 1; seed < 50; seed++) {
        MassMoments sums;
        for (int i = 0; i < 6; i++) {
            const double x = seed * 7 % (3 + i), y = seed * 5 % (4 + i), z = seed * 3 % (2 + i);
            add(sums, box_moments({x, y, z}, {x + 1 + i * 0.3, y + 1, z + 0.5}, 100 + i));
        }
        const Inertia inertia = inertia_about_center(sums);
        const PrincipalFrame frame = principal_frame(inertia);
        const SymMat3 m{float(inertia.v[0]), float(inertia.v[1]), float(inertia.v[2]),
                        float(inertia.v[3]), float(inertia.v[4]), float(inertia.v[5])};
        const float scale = m.xx + m.yy + m.zz;
        for (int k = 0; k < 3; k++) {
            const Vec3 axis = frame.axes.column(k);
            EXPECT_LT(length(m * axis - axis * frame.moments[k]), 1e-5f * scale);
        }
        EXPECT_NEAR(dot(cross(frame.axes.column(0), frame.axes.column(1)), frame.axes.column(2)), 1, 1e-5f);
    }
}

}  // namespace
}  // namespace talus
