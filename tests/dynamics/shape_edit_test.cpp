// Shapes whose blocks change: the same bits as shapes made anew, warm starts, who wakes, cost.
#include "dynamics/shape.h"
#include "dynamics/state.h"
#include "rigs.h"

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

namespace talus {
namespace {

struct Blocks {
    BlockTable table;
    std::vector<BlockId> kinds;  // full, slab, stairs, pane, full and soft, not solid
    Blocks() {
        const Material stone;
        kinds.push_back(table.add(stone));
        auto odd = [&](const char* name, std::vector<Box> boxes) {
            kinds.push_back(table.add(BlockType{name, stone, BlockShape(boxes)}));
        };
        odd("slab", {{{0, 0, 0}, {1, 0.5f, 1}}});
        odd("stairs", {{{0, 0, 0}, {1, 0.5f, 1}}, {{0.5f, 0.5f, 0}, {1, 1, 1}}});
        odd("pane", {{{0, 0, 0.48f}, {1, 1, 0.52f}}});
        kinds.push_back(table.add(*find_real_material("leaves")));
        Material torch;
        torch.name = "torch";
        torch.solid = false;
        torch.density = 100;
        kinds.push_back(table.add(torch));
    }
};

/// What differs; empty: nothing.
#define SAME(what) \
    if (!(what)) return #what

std::string difference(const std::vector<CollisionBox>& a, const std::vector<CollisionBox>& b) {
    SAME(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); i++) {
        SAME(a[i].center == b[i].center);
        SAME(a[i].half == b[i].half);
        SAME(a[i].cover == b[i].cover);
    }
    return {};
}

/// Everything that a step reads.
std::string difference(const BodyShape& one, const BodyShape& two) {
    const BodyShape::Data &a = *one.data(), &b = *two.data();
    SAME(a.reference == b.reference);
    SAME(a.lo == b.lo);
    SAME(a.hi == b.hi);
    SAME(a.thickness == b.thickness);
    SAME(a.volume == b.volume);
    SAME(a.own.mass == b.own.mass);
    for (int k = 0; k < 3; k++) SAME(a.own.first[k] == b.own.first[k]);
    for (int k = 0; k < 6; k++) SAME(a.own.second[k] == b.own.second[k]);
    SAME(one.mean_friction(0.3f) == two.mean_friction(0.3f));
    SAME(a.bricks.has_value() == b.bricks.has_value());
    if (const auto d = difference(a.solids, b.solids); !d.empty()) return d;
    if (const auto d = difference(a.odd, b.odd); !d.empty()) return d;
    SAME(a.odd_cell == b.odd_cell);
    SAME(a.cells.words == b.cells.words);
    if (!a.bricks) return {};
    auto list = [](const BodyShape::Data& d) {
        std::vector<std::pair<const BrickTree::Brick*, Vec3>> out;
        d.bricks->visit(
            d.reference, [](Vec3, Vec3) { return false; },
            [&](const BrickTree::Brick& brick, Vec3 origin) {
                out.push_back({&brick, origin});
            });
        return out;
    };
    const auto bricks_a = list(a), bricks_b = list(b);
    SAME(bricks_a.size() == bricks_b.size());
    for (std::size_t i = 0; i < bricks_a.size(); i++) {
        SAME(bricks_a[i].first->coord == bricks_b[i].first->coord);
        SAME(bricks_a[i].second == bricks_b[i].second);
        const SolidPart &p = bricks_a[i].first->part, &q = bricks_b[i].first->part;
        if (const auto d = difference(p.solids, q.solids); !d.empty()) return d;
        if (const auto d = difference(p.odd, q.odd); !d.empty()) return d;
        SAME(p.odd_cell == q.odd_cell);
        SAME(p.cells.words == q.cells.words);
        SAME(p.lo == q.lo);
        SAME(p.hi == q.hi);
    }
    return {};
}

RC_GTEST_PROP(ShapeEdit, EditsEndInTheBitsOfAShapeMadeAnew, ()) {
    Blocks blocks;
    Grid grid(blocks.table);
    const float size = *rc::gen::element(1.0f, 0.5f, 0.3f);
    const int edge = *rc::gen::element(3, 9, 24);  // one part, on the border of one, bricks
    const int corner = *rc::gen::element(-12, 0, 5, 4000);
    auto cell = [&] {
        const auto at = [&] { return corner + *rc::gen::inRange(0, edge); };
        return Cell{at(), at(), at()};
    };
    auto kind = [&] {
        return *rc::gen::inRange(0, 3) ? blocks.kinds[0]
                                       : blocks.kinds[*rc::gen::inRange<std::size_t>(0, blocks.kinds.size())];
    };
    // A slab of cells to begin with, so that boxes merge.
    const Cell from = cell();
    for (int z = 0; z < edge; z++)
        for (int x = 0; x < edge; x++) grid.set({corner + x, from.y, corner + z}, blocks.kinds[0]);
    BodyShape shape = BodyShape::from_grid(grid, size);
    const int rounds = *rc::gen::inRange(1, 12);
    for (int round = 0; round < rounds; round++) {
        std::vector<BlockChange> changes;
        const int n = *rc::gen::inRange(1, 20);
        for (int i = 0; i < n; i++) {
            const Cell at = cell();
            const BlockId now = *rc::gen::inRange(0, 2) ? kAir : kind();
            changes.push_back({at, grid.set(at, now), now});
        }
        const BodyShape before = shape;
        const double mass = before.mass(0);
        shape.change_blocks(blocks.table, changes);
        RC_ASSERT(before.mass(0) == mass);  // copies stay
        RC_ASSERT(difference(shape, BodyShape::from_grid(grid, size)) == "");
    }
    // All gone, in two halves.
    std::vector<BlockChange> changes;
    grid.for_each([&](Cell c, BlockId id) { changes.push_back({c, id, kAir}); });
    const std::size_t half = changes.size() / 2;
    shape.change_blocks(blocks.table, std::span(changes).first(half));
    shape.change_blocks(blocks.table, std::span(changes).subspan(half));
    RC_ASSERT(shape.is_empty());
    RC_ASSERT(difference(shape, BodyShape::from_grid(Grid(blocks.table), size)) == "");
}

/// Two bodies of blocks, a big one and a small one, that tumble over terrain while blocks go and come.
std::uint64_t run_edits(bool anew) {
    Blocks blocks;
    BlockGround ground(20, 1);
    Rig rig;
    rig.space.set_terrain(&ground.grid);
    Grid grids[2] = {Grid(blocks.table), Grid(blocks.table)};
    const int edges[2] = {14, 5};
    Body bodies[2];
    for (int b = 0; b < 2; b++) {
        const int e = edges[b];
        for (int y = 0; y < e; y++)
            for (int z = 0; z < e; z++)
                for (int x = 0; x < e; x++)
                    if (x % (e - 1) == 0 || y % (e - 1) == 0 || z % (e - 1) == 0)
                        grids[b].set({x, y, z}, blocks.kinds[0]);
        BodySettings s;
        s.pose.position = {-5, b ? 22.0 : 2.0, -5};
        s.pose.rotation = axis_angle({1, 0.3f, 0.2f}, b ? 0.9f : 0.2f);
        bodies[b] = rig.space.add_body(BodyShape::from_grid(grids[b], 1), s);
    }
    std::uint64_t seed = 5;
    auto random = [&](int n) { return int((seed = mix64(seed + 1)) % std::uint64_t(n)); };
    for (int step = 0; step < 240; step++) {
        if (step % 4 == 0) {
            const int b = random(2);
            std::vector<BlockChange> changes;
            for (int i = 0; i < 3; i++) {
                const Cell c{random(edges[b]), random(edges[b]), random(edges[b])};
                const BlockId now = random(3) ? kAir : blocks.kinds[std::size_t(random(3))];
                changes.push_back({c, grids[b].set(c, now), now});
            }
            bodies[b].change_blocks(blocks.table, changes);
            if (anew) {  // the same, but from scratch
                Space::State& s = rig.space.state();
                const std::size_t i = bodies[b].id().index;
                s.bodies.cold[i].shape = BodyShape::from_grid(grids[b], 1);
                s.bodies.hot[i].shape = s.bodies.cold[i].shape.data();
            }
        }
        rig.space.step(kTick);
    }
    return hash_of(rig.space);
}

TEST(ShapeEdit, MotionHasTheBitsOfShapesMadeAnew) { EXPECT_EQ(run_edits(false), run_edits(true)); }

TEST(ShapeEdit, FarCellsAndBothSidesOfZero) {
    Blocks blocks;
    Grid grid(blocks.table);
    BodyShape shape = BodyShape::from_grid(grid, 1);
    for (const Cell c : {Cell{0, 0, 0}, Cell{-1, -1, -1}, Cell{60000, 3, -60000}, Cell{-60000, -7, 9},
                         Cell{31, 32, 127}, Cell{-128, -129, 4095}}) {
        const BlockChange change{c, grid.set(c, blocks.kinds[0]), blocks.kinds[0]};
        shape.change_blocks(blocks.table, std::span(&change, 1));
        EXPECT_EQ(difference(shape, BodyShape::from_grid(grid, 1)), "");
        EXPECT_TRUE(shape.data()->solid_at(
            to_float(DVec3{c.x + 0.5, c.y + 0.5, c.z + 0.5} - shape.data()->reference)));
    }
    EXPECT_EQ(shape.box_count(), 6u);
}

/// A platform of blocks with sleepers on it.
struct Platform {
    Blocks blocks;
    Grid grid{blocks.table};
    Rig rig;
    Body body;
    std::vector<Body> sleepers;
    Platform() {
        rig.space.set_ground(0.0);
        for (int z = 0; z < 24; z++)
            for (int x = 0; x < 24; x++) grid.set({x, 0, z}, blocks.kinds[0]);
        body = rig.space.add_body(BodyShape::from_grid(grid, 1), {});
        for (const int x : {2, 20}) sleepers.push_back(rig.cube({x + 0.5, 1.4, 2.5}, 0.8f));
        rig.run(4);
    }
};

TEST(ShapeEdit, WakesOnlyWhatIsNear) {
    Platform p;
    for (const Body& b : p.sleepers) ASSERT_TRUE(b.is_asleep());
    ASSERT_TRUE(p.body.is_asleep());
    const BlockChange change{{2, 0, 2}, p.grid.set({2, 0, 2}, kAir), kAir};
    p.body.change_blocks(p.blocks.table, std::span(&change, 1));
    EXPECT_FALSE(p.body.is_asleep());
    EXPECT_FALSE(p.sleepers[0].is_asleep());
    EXPECT_TRUE(p.sleepers[1].is_asleep());
    p.rig.run(1);
    EXPECT_LT(p.sleepers[0].center_of_mass().y, 0.6) << "it falls into the hole";
    EXPECT_TRUE(p.sleepers[1].is_asleep()) << "what it rests on hardly moved";
    EXPECT_NEAR(p.sleepers[1].center_of_mass().y, 1.4, 0.02);
}

TEST(ShapeEdit, KeepsWarmStarts) {
    Platform p;
    const BlockChange change{{12, 0, 12}, p.grid.set({12, 0, 12}, kAir), kAir};
    p.body.change_blocks(p.blocks.table, std::span(&change, 1));
    Space::State& s = p.rig.space.state();
    float before = 0, least = 1e9f, most = 0;
    auto load = [&] {
        float sum = 0;
        s.each_pair(std::int32_t(p.body.id().index), [&](std::int32_t, Pair& pair, std::int32_t other) {
            if (other != 0) return;
            for (std::int32_t m = pair.first; m >= 0; m = s.pairs.manifolds[std::size_t(m)].next)
                for (int k = 0; k < s.pairs.manifolds[std::size_t(m)].count; k++)
                    sum += s.pairs.manifolds[std::size_t(m)].points[k].impulse;
        });
        return sum;
    };
    before = load();
    ASSERT_GT(before, 0);
    for (int i = 0; i < 10; i++) {
        p.rig.space.step(kTick);
        least = std::min(least, load());
        most = std::max(most, load());
        EXPECT_LT(length(p.body.velocity()), 0.005f) << "at rest all the time";
    }
    EXPECT_GT(least, 0.9f * before);
    EXPECT_LT(most, 1.1f * before);
}

TEST(ShapeEdit, VelocityIsKeptAtEveryPointThatStays) {
    Blocks blocks;
    Grid grid(blocks.table);
    for (int x = 0; x < 40; x++) grid.set({x, 0, 0}, blocks.kinds[0]);
    Rig rig(no_gravity());
    BodySettings s;
    s.spin = {0, 1, 0.5f};
    s.velocity = {1, 2, 3};
    Body b = rig.space.add_body(BodyShape::from_grid(grid, 1), s);
    const DVec3 at = b.to_world({3, 0.5f, 0.5f});
    const Vec3 before = b.velocity_at(at);
    std::vector<BlockChange> changes;
    for (int x = 20; x < 40; x++) changes.push_back({{x, 0, 0}, grid.set({x, 0, 0}, kAir), kAir});
    b.change_blocks(blocks.table, changes);
    EXPECT_LT(length(b.to_world({3, 0.5f, 0.5f}) - at), 1e-5);
    EXPECT_LT(length(b.velocity_at(at) - before), 1e-4f);
    EXPECT_NEAR(b.local_center_of_mass().x, 10, 1e-5f);
}

/// What an edit touches does not grow with the piece: bricks made anew, counted by their boxes' addresses
/// would be fragile, so by what stays: every other brick keeps its memory.
TEST(ShapeEdit, OtherBricksAreLeftAlone) {
    Blocks blocks;
    Grid grid(blocks.table);
    for (int y = 0; y < 40; y++)
        for (int z = 0; z < 40; z++)
            for (int x = 0; x < 40; x++) grid.set({x, y, z}, blocks.kinds[0]);
    BodyShape shape = BodyShape::from_grid(grid, 1);
    auto find = [&](Cell c) { return shape.data()->bricks->find(c); };
    std::map<Cell, const CollisionBox*> before;
    for (int i = 0; i < 125; i++) {
        const Cell c{i % 5, i / 25, i / 5 % 5};
        before[c] = find(c)->part.solids.data();
    }
    const BlockChange change{{15, 20, 20}, grid.set({15, 20, 20}, kAir), kAir};
    shape.change_blocks(blocks.table, std::span(&change, 1));
    EXPECT_EQ(find({1, 2, 2})->part.solids.size(), 5u);
    // The neighbour across the border shows a face now.
    EXPECT_EQ(find({2, 2, 2})->part.solids[0].cover, kAllFaces & ~face_bit(0, false));
    for (const auto& [c, solids] : before) {
        if (c == Cell{1, 2, 2}) continue;
        EXPECT_EQ(find(c)->part.solids.data(), solids);
    }
    EXPECT_LT(shape.mass(0), 2600.0 * 64000);
    EXPECT_EQ(shape.mass(0), 2600.0 * 63999);
}

}  // namespace
}  // namespace talus
