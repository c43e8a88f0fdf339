// Which cells of terrain are looked at for a big body: all that are near, few that are not.
#include "dynamics/near_bricks.h"

#include "rigs.h"

#include <set>

namespace talus {
namespace {

/// A hollow cube of blocks, some of them missing.
struct Shell {
    BlockTable table;
    Grid grid;
    BodyShape shape;
    Shell(int edge, std::uint32_t seed) : grid(table) {
        const BlockId id = table.add(Material{});
        auto rim = [&](int i) { return i == 0 || i == edge - 1; };
        for (int y = 0; y < edge; y++)
            for (int z = 0; z < edge; z++)
                for (int x = 0; x < edge; x++)
                    if ((rim(x) || rim(y) || rim(z)) && (seed = seed * 1664525u + 1013904223u) >> 29)
                        grid.set({x - 5, y + 3, z}, id);
        shape = BodyShape::from_grid(grid, 1);
    }
};

struct Looked {
    std::set<Cell> cells;
    std::size_t count = 0;  // with those seen twice
};

struct Scene {
    Shell shell;
    BlockGround ground{40, 2};
    WorldSolids world;
    Mat3 turn;
    Vec3 offset;
    Scene(std::uint32_t seed, Quat q, Vec3 at) : shell(20, seed) {
        for (int i = 0; i < 300; i++) {  // hills and walls
            seed = seed * 1664525u + 1013904223u;
            const int x = int(seed >> 8 & 63) - 32, z = int(seed >> 16 & 63) - 32, top = int(seed >> 28);
            for (int y = 0; y < top; y++) ground.grid.set({x, y, z}, ground.stone);
        }
        world.grid = &ground.grid;
        turn = transposed(to_matrix(q));
        offset = -(turn * at);
    }
    Looked look(float reach) const {
        const BodyInTerrain body{*shell.shape.data(), turn, offset, {}, SharedAxes(turn), reach};
        NearBricks near;
        Looked out;
        near.each_tile(world, body, {-60, -60, -60}, {60, 60, 60}, [&] {
            for (const CellBox& box : near.boxes)
                for (int y = box.min.y; y <= box.max.y; y++)
                    for (int z = box.min.z; z <= box.max.z; z++)
                        for (int x = box.min.x; x <= box.max.x; x++) {
                            EXPECT_TRUE(near.bounds.contains({x, y, z}));
                            if (!ground.grid.has({x, y, z})) continue;
                            out.cells.insert({x, y, z});
                            out.count++;
                        }
        });
        return out;
    }
};

TEST(NearBricks, EveryCellWithinReachIsLookedAt) {
    constexpr float kReach = 0.6f;
    const Vec3 grown = Vec3{1, 1, 1} * (0.5f + 0.57f * kReach);  // its corners are nearer than kReach
    std::size_t touching = 0;
    for (std::uint32_t seed = 1; seed <= 5; seed++) {
        const float s = float(seed);
        const Quat q = seed == 1 ? Quat{} : normalized(Quat{0.1f * s, 0.3f - 0.05f * s, 0.2f, 0.7f});
        const Scene scene(seed, q, {3.1f - s, 4 + 0.4f * s, 0.7f * s});
        const SharedAxes axes(scene.turn);
        const Looked looked = scene.look(kReach);
        EXPECT_EQ(looked.cells.size(), looked.count) << "each cell once";
        std::vector<CollisionBox> boxes;
        const BodyShape::Data& shape = *scene.shell.shape.data();
        shape.each_solid_near(shape.lo, shape.hi, [&](const CollisionBox& b) { boxes.push_back(b); });
        scene.ground.grid.for_each([&](Cell c, BlockId) {
            const Vec3 middle =
                scene.turn * Vec3{float(c.x) + 0.5f, float(c.y) + 0.5f, float(c.z) + 0.5f} + scene.offset;
            bool near = false;
            for (const CollisionBox& b : boxes) {
                Vec3 axis;
                near = near || axes.best_axis(middle - b.center, b.half, grown, axis) < 0;
            }
            if (!near) return;
            touching++;
            EXPECT_TRUE(looked.cells.contains(c)) << seed << ": " << c.x << " " << c.y << " " << c.z;
        });
    }
    EXPECT_GT(touching, 200u);
}

TEST(NearBricks, OfTheGroundUnderATiltedShellOnlyTheCorner) {
    // Standing on a corner, a hair above the ground; its box across is some 33 m wide.
    const Quat q = normalized(Quat{0.325f, 0, -0.325f, 0.888f});
    Scene scene(5, q, {});
    float lowest = 1e9f;
    scene.shell.grid.for_each([&](Cell c, BlockId) {
        for (int k = 0; k < 8; k++)
            lowest = std::min(lowest,
                              (transposed(scene.turn) *
                               (Vec3{float(c.x + (k & 1)), float(c.y + (k >> 1 & 1)), float(c.z + (k >> 2))} -
                                to_float(scene.shell.shape.data()->reference)))
                                  .y);
    });
    BlockGround flat(40, 2);
    scene.world.grid = &flat.grid;
    scene.offset = -(scene.turn * Vec3{0, 0.05f - lowest, 0});
    const BodyInTerrain body{*scene.shell.shape.data(), scene.turn, scene.offset, {},
                             SharedAxes(scene.turn),    0.4f};
    NearBricks near;
    int cells = 0;
    near.each_tile(scene.world, body, {-60, -60, -60}, {60, 60, 60}, [&] {
        for (const CellBox& b : near.boxes)
            cells += (b.max.x - b.min.x + 1) * (b.max.y - b.min.y + 1) * (b.max.z - b.min.z + 1);
    });
    EXPECT_GT(cells, 0);
    EXPECT_LT(cells, 120);  // of more than 2,000 in the bounds
}

/// Body and blocks far from each other's origins, and a floor as wide as several tiles.
TEST(NearBricks, AWidePlateRestsOnAFloorOfManyTiles) {
    BlockTable table;
    const BlockId id = table.add(Material{});
    Grid floor(table), plate(table);
    for (int z = -70; z < 70; z++)
        for (int x = -70; x < 70; x++) {
            floor.set({x, -1, z}, id);
            if (std::abs(x) < 64 && std::abs(z) < 64) plate.set({x + 1000, 300, z - 5000}, id);
        }
    for (int k = 0; k < 20; k++) floor.set({7 * k - 66, 0, 11 * k % 97 - 48}, id);  // bumps to rest on
    SpaceSettings settings;
    Space space(settings);
    space.set_terrain(&floor);
    BodySettings s;
    s.pose.position = {-1000.0, -298.6, 5000.0};
    Body body = space.add_body(BodyShape::from_grid(plate, 1), s);
    for (int i = 0; i < 240; i++) space.step(kTick);
    EXPECT_NEAR(body.center_of_mass().y, 1.5, 0.01);
    EXPECT_LT(length(body.velocity()), 0.01f);
    EXPECT_NEAR(std::fabs(body.pose().rotation.w), 1, 1e-5);
}

}  // namespace
}  // namespace talus
