// Shapes: merging, padding, mass, inertia, which places are solid.
#include "dynamics/shape.h"

#include "dynamics/body_store.h"
#include "rigs.h"

namespace talus {
namespace {

TEST(Shape, EmptyShapesAreEmpty) {
    EXPECT_TRUE(BodyShape().is_empty());
    EXPECT_TRUE(BodyShape(std::span<const ShapeBox>{}).is_empty());
    BlockTable table;
    EXPECT_TRUE(BodyShape::from_grid(Grid(table), 1).is_empty());
    Rig rig;
    Body b = rig.space.add_body(BodyShape(), {});
    rig.run(0.2f);
    EXPECT_TRUE(b.exists());
    EXPECT_EQ(b.mass(), 0);
}

TEST(Shape, BoxesThatShareAFaceMerge) {
    std::vector<ShapeBox> boxes;
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 2; y++)
            for (int x = 0; x < 4; x++)
                boxes.push_back(
                    {.box = {{float(x), float(y), float(z)}, {float(x + 1), float(y + 1), float(z + 1)}}});
    const BodyShape all(boxes);
    ASSERT_EQ(all.box_count(), 1u);
    EXPECT_EQ(all.boxes()[0].box, (Box{{0, 0, 0}, {4, 2, 3}}));
    EXPECT_NEAR(all.volume(), 24, 1e-9);
    boxes[5].density = 500;  // another kind does not merge
    EXPECT_GT(BodyShape(boxes).box_count(), 1u);
    EXPECT_NEAR(BodyShape(boxes).mass(1000), 23500, 1e-6);
}

TEST(Shape, ThinBoxesArePadded) {
    const BodyShape plate = BodyShape::box({0.5f, 0.01f, 0.5f});
    const Box b = plate.boxes()[0].box;
    EXPECT_NEAR(b.max.y - b.min.y, 0.06f, 1e-6f);
    EXPECT_NEAR(b.max.y, -b.min.y, 1e-6f);
}

TEST(Shape, MassAndInertiaOfABox) {
    Rig rig;
    Body b = rig.box({}, {0.5f, 1, 1.5f});
    EXPECT_NEAR(b.mass(), 6000, 1e-2f);
    const SymMat3 i = b.inertia();
    EXPECT_NEAR(i.xx, 6000.0f / 12 * (4 + 9), 0.1f);
    EXPECT_NEAR(i.yy, 6000.0f / 12 * (1 + 9), 0.1f);
    EXPECT_NEAR(i.zz, 6000.0f / 12 * (1 + 4), 0.1f);
    EXPECT_NEAR(i.xy, 0, 1e-3f);
}

TEST(Shape, GridsAndBoxesAgree) {
    BlockTable table;
    Material m;
    m.density = 1200;
    const BlockId id = table.add(m);
    Grid grid(table);
    std::vector<ShapeBox> boxes;
    for (int i = 0; i < 40; i++) {
        const Cell c{i * 7 % 5 + 100, i * 3 % 4 - 50, i * 11 % 6};
        if (grid.has(c)) continue;
        grid.set(c, id);
        boxes.push_back({.box = {{float(c.x), float(c.y), float(c.z)},
                                 {float(c.x + 1), float(c.y + 1), float(c.z + 1)}}});
    }
    Rig rig;
    BodySettings s;
    s.density = 1200;
    Body a = rig.space.add_body(BodyShape::from_grid(grid, 1), s);
    Body b = rig.space.add_body(BodyShape(boxes), s);
    EXPECT_NEAR(a.mass(), b.mass(), 1e-2f);
    EXPECT_NEAR(length(a.local_center_of_mass() - b.local_center_of_mass()), 0, 1e-4f);
    const SymMat3 p = a.inertia(), q = b.inertia();
    for (const float d : {p.xx - q.xx, p.yy - q.yy, p.zz - q.zz, p.xy - q.xy, p.yz - q.yz, p.zx - q.zx})
        EXPECT_NEAR(d, 0, 1e-3f * p.xx);
    // Every place is solid or not in both.
    const BodyShape::Data &da = *a.shape().data(), &db = *b.shape().data();
    for (int y = -52; y < -44; y++)
        for (int z = -1; z < 8; z++)
            for (int x = 98; x < 108; x++) {
                const DVec3 at{x + 0.5, y + 0.5, z + 0.5};
                EXPECT_EQ(da.solid_at(to_float(at - da.reference)), grid.has({x, y, z}));
                EXPECT_EQ(db.solid_at(to_float(at - db.reference)), grid.has({x, y, z}));
            }
}

TEST(Shape, PartialBlocksKeepTheirBoxes) {
    BlockTable table;
    Material m;
    m.density = 1000;
    BlockType slab{"slab", m, BlockShape()};
    const Box lower{{0, 0, 0}, {1, 0.5f, 1}};
    slab.shape = BlockShape(std::span<const Box>(&lower, 1));
    const BlockId half = table.add(slab), full = table.add(m);
    BlockType torch{"torch", m, BlockShape()};
    torch.material.solid = false;
    const BlockId weightless = table.add(torch);
    Grid grid(table);
    grid.set({0, 0, 0}, full);
    for (int x = 1; x < 5; x++) grid.set({x, 0, 0}, half);
    grid.set({0, 1, 0}, weightless);
    const BodyShape shape = BodyShape::from_grid(grid, 1);
    EXPECT_EQ(shape.box_count(), 2u) << "a cube and one merged row of slabs";
    EXPECT_NEAR(shape.mass(0), 4000, 1e-6) << "every block weighs, solid or not";
    const auto& d = *shape.data();
    auto solid = [&](double x, double y, double z) {
        return d.solid_at(to_float(DVec3{x, y, z} - d.reference));
    };
    EXPECT_TRUE(solid(2.5, 0.25, 0.5));
    EXPECT_FALSE(solid(2.5, 0.75, 0.5));
    EXPECT_TRUE(solid(0.5, 0.75, 0.5));
    EXPECT_FALSE(solid(0.5, 1.5, 0.5));
}

TEST(Shape, MeanFriction) {
    BlockTable table;
    Grid grid(table);
    grid.set({0, 0, 0}, table.add(*find_real_material("ice")));
    grid.set({1, 0, 0}, table.add(*find_real_material("stone")));
    EXPECT_NEAR(BodyShape::from_grid(grid, 1).mean_friction(0.9f), 0.325f, 1e-6f);
    EXPECT_EQ(BodyShape::unit_cube().mean_friction(0.9f), 0.9f);
}

TEST(Shape, GroupsBoundTheirBoxes) {
    std::vector<ShapeBox> boxes;
    for (int i = 0; i < 100; i++) {
        const Vec3 at{float(i * 7 % 10) * 1.5f, float(i % 13), float(i / 10)};
        boxes.push_back({.box = {at, at + Vec3{0.5f, 0.7f, 0.9f}}});
    }
    BlockTable table;
    const BlockId stone = table.add(Material{});
    Grid grid(table);  // a brick of scattered cubes among others
    for (int i = 0; i < 4000; i++)
        if ((i * 7919 >> 3) % 3) grid.set({i % 16, i / 256, i / 16 % 16}, stone);
    const BodyShape given(boxes), made = BodyShape::from_grid(grid, 1);
    const SolidPart* parts[] = {given.data(), &made.data()->bricks->find({0, 0, 1})->part};
    for (const SolidPart* part : parts) {
        ASSERT_GT(part->solids.size(), 40u);
        ASSERT_EQ(part->groups.size(), (part->solids.size() + BoxGroup::kSize - 1) / BoxGroup::kSize);
        for (std::size_t i = 0; i < part->solids.size(); i++) {
            const BoxGroup& g = part->groups[i / BoxGroup::kSize];
            const CollisionBox& b = part->solids[i];
            for (int k = 0; k < 3; k++) {
                EXPECT_LE(g.lo[k], b.center[k] - b.half[k]);
                EXPECT_GE(g.hi[k], b.center[k] + b.half[k]);
            }
        }
    }
}

/// By bricks, not by the box around them, which has 2.7e10 cells.
TEST(Shape, TwoBlocksFarApart) {
    BlockTable table;
    Material m;
    m.density = 1000;
    const BlockId id = table.add(m);
    Grid grid(table);
    constexpr int kFar = 3000;
    grid.set({0, 0, 0}, id);
    grid.set({kFar, kFar, kFar}, id);
    const BodyShape shape = BodyShape::from_grid(grid, 1);
    EXPECT_EQ(shape.box_count(), 2u);
    EXPECT_NEAR(shape.mass(500), 2000, 1e-9);
    SpaceSettings settings;
    Rig rig(settings);
    BodySettings s;
    s.gravity_factor = 0;
    Body body = rig.space.add_body(shape, s);
    EXPECT_NEAR(body.local_center_of_mass().x, 0.5f + kFar / 2, 1e-3f);
    const double part = 2 * 1000.0 * (kFar / 2) * (kFar / 2);  // of each axis, and 1/6 kg m^2 a block
    EXPECT_NEAR(body.inertia().xx, 2 * part + 2000.0 / 6, 1e-6 * 2 * part);
    EXPECT_NEAR(body.inertia().xy, -part, 1e-6 * part);
    // A ball flies at each of the blocks, and one between them passes.
    std::vector<Body> balls;
    for (const float at : {0.5f, 0.5f + kFar, 0.5f + kFar / 2}) {
        s.pose.position = {double(at), double(at), double(at) - 2};
        s.velocity = {0, 0, 6};
        balls.push_back(rig.space.add_body(BodyShape::sphere(0.3f), s));
    }
    rig.run(1);
    EXPECT_LT(balls[0].velocity().z, 1.5f);
    EXPECT_LT(balls[1].velocity().z, 1.5f);
    EXPECT_NEAR(balls[2].velocity().z, 6, 1e-4f);
}

}  // namespace
}  // namespace talus
