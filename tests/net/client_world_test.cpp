#include "talus/client_world.h"

#include "wire_world.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

/// Feeds frames at their time and keeps the picture two ticks behind.
struct Viewer {
    WireWorld w;
    ClientWorld world;
    double now = 0;

    void start(Frame frame = {}) {
        const auto error = world.receive(w.welcome(std::move(frame)), now);
        ASSERT_FALSE(error) << error->message;
        world.advance(now);
    }
    void tick(Frame frame = {}) {
        now += 0.05;
        const auto error = world.receive(w.next(std::move(frame)), now);
        ASSERT_FALSE(error) << error->message;
        world.advance(now);
    }
    /// Until all that was sent is shown.
    void settle() {
        for (int i = 0; i < 8; i++) tick();
        take();
    }
    std::vector<ClientWorld::MeshChange> take() {
        world.take_chunk_changes();
        return world.take_group_changes();
    }
};

TEST(ClientWorld, ShowsTheWelcomeAtOnce) {
    Viewer v;
    v.w.terrain.set({0, 0, 0}, v.w.stone);
    v.w.terrain.set({20, 0, 0}, v.w.stone);
    const Grid grid = v.w.box(2, 3, 4);
    Frame f;
    f.groups.push_back(WireWorld::group(3, grid, {{10, 0, -4}, {}}));
    v.start(std::move(f));
    const auto chunks = v.world.take_chunk_changes();
    ASSERT_EQ(chunks.size(), 2u);
    EXPECT_EQ(chunks[0].mesh->vertex_count(), 24u);
    EXPECT_EQ(chunks[1].origin, (DVec3{16, 0, 0}));
    EXPECT_NE(chunks[0].id, chunks[1].id);
    const auto groups = v.world.take_group_changes();
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(groups[0].id, 3u);
    EXPECT_EQ(groups[0].mesh->vertex_count(), 24u);
    ASSERT_EQ(v.world.group_ids().size(), 1u);
    EXPECT_EQ(v.world.transforms()[0], 10);
    EXPECT_EQ(v.world.transforms()[2], -4);
    EXPECT_EQ(v.world.moving_count(), 0u);
    const auto stats = v.world.stats();
    EXPECT_TRUE(stats.connected);
    EXPECT_LE(stats.bounds.min.z, -4);
    EXPECT_GE(stats.bounds.max.x, 21);
    EXPECT_TRUE(v.take().empty()) << "nothing changed since";
}

TEST(ClientWorld, EditsRemakeOnlyWhatTheyTouch) {
    Viewer v;
    for (int x = 0; x < 64; x++) v.w.terrain.set({x, 3, 3}, v.w.stone);
    v.start();
    ASSERT_EQ(v.world.take_chunk_changes().size(), 4u);
    Frame f;
    f.edits.push_back({kTerrainId, {{{20, 3, 3}, kAir}}});
    v.tick(std::move(f));
    v.tick(), v.tick(), v.tick();
    const auto changes = v.world.take_chunk_changes();
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes[0].mesh->vertex_count(), 2 * 24u - 2 * 4u) << "both ends at chunk borders are hidden";
    Frame clear;
    clear.edits.push_back({kTerrainId, {}});
    for (int x = 48; x < 64; x++) clear.edits[0].edits.push_back({{x, 3, 3}, kAir});
    v.tick(std::move(clear));
    v.tick(), v.tick(), v.tick();
    const auto gone = v.world.take_chunk_changes();
    ASSERT_EQ(gone.size(), 2u) << "the emptied chunk and the neighbour whose end is open now";
    EXPECT_EQ(gone[0].mesh.has_value() + gone[1].mesh.has_value(), 1);
}

TEST(ClientWorld, APieceThatBreaksOffDoesNotJump) {
    Viewer v;
    // A bar flies at 8 m/s and turns; in one tick its right half breaks off. Both halves keep the motion.
    Grid bar = v.w.box(8, 1, 1);
    const Vec3 middle{4, 0.5f, 0.5f};
    auto pose = [&](double tick) {
        Pose p;
        p.rotation = axis_angle({0, 0, 1}, float(0.15 * tick));
        p.position = DVec3{0.4 * tick, 50, 0} - to_double(rotate(p.rotation, middle));
        return p;
    };
    Frame f;
    f.groups.push_back(WireWorld::group(1, bar, pose(0), middle));
    v.start(std::move(f));
    int n = 0;
    auto advance = [&](Frame frame) {
        frame.poses.push_back({1, pose(++n)});
        v.tick(std::move(frame));
    };
    for (int i = 0; i < 10; i++) advance({});
    Grid half(v.w.table);
    for (int x = 4; x < 8; x++) half.set({x, 0, 0}, v.w.stone);
    Frame split;
    split.edits.push_back({1, {}});
    for (int x = 4; x < 8; x++) split.edits[0].edits.push_back({{x, 0, 0}, kAir});
    split.groups.push_back(WireWorld::group(2, half, pose(n + 1), {6, 0.5f, 0.5f}));
    split.groups[0].birth = pose(n);
    advance(std::move(split));
    v.take();
    // Followed at 200 pictures a second: a corner of the half, first of the bar, then of its own.
    bool born = false;
    DVec3 last = to_world(*v.world.pose_of(1), {8, 0, 0});
    double worst = 0;
    for (int i = 1; i < 40; i++) {
        if (i % 10 == 0) {
            Frame both;
            both.poses.push_back({2, pose(n + 1)});
            advance(std::move(both));
        }
        v.world.advance(v.now + 0.005 * (i % 10));
        const auto own = v.world.pose_of(2);
        const DVec3 at = to_world(own ? *own : *v.world.pose_of(1), {8, 0, 0});
        worst = std::max(worst, length(at - last));
        last = at;
        if (own && !born) {
            born = true;
            EXPECT_EQ(v.take().size(), 2u) << "the rest and the piece change in the same picture";
        }
    }
    EXPECT_TRUE(born);
    // 8 m/s and 3 rad/s four metres out are 14 m/s at most: 7 cm in 5 ms.
    EXPECT_LT(worst, 0.1);
}

TEST(ClientWorld, SleepersCostNothingAndWakeFromWhereTheyLie) {
    Viewer v;
    const Grid grid = v.w.box(1, 1, 1);
    Frame f;
    for (WireId id = 1; id <= 50; id++)
        f.groups.push_back(WireWorld::group(id, grid, {{double(id), 0, 0}, {}}));
    v.start(std::move(f));
    for (int i = 0; i < 20; i++) v.tick();
    EXPECT_EQ(v.world.moving_count(), 0u);
    v.tick(frame_of({{7, {{7, 0.5, 0}, {}}}}));
    v.tick(), v.tick();
    double highest = 0;
    for (int i = 0; i < 10; i++) {
        v.world.advance(v.now += 0.005);
        EXPECT_LE(v.world.moving_count(), 1u);
        highest = std::max(highest, v.world.pose_of(7)->position.y);
        EXPECT_LE(highest, 0.5);
    }
    v.settle();
    EXPECT_EQ(v.world.pose_of(7)->position.y, 0.5);
    EXPECT_EQ(v.world.moving_count(), 0u);
}

TEST(ClientWorld, AGroupThatGoesLeavesTheOthersInPlace) {
    Viewer v;
    const Grid grid = v.w.box(1, 1, 1);
    Frame f;
    for (WireId id = 1; id <= 5; id++)
        f.groups.push_back(WireWorld::group(id, grid, {{double(id), 0, 0}, {}}));
    v.start(std::move(f));
    v.take();
    Frame gone;
    gone.removed = {1, 4};
    v.tick(std::move(gone));
    v.tick(), v.tick(), v.tick();
    const auto changes = v.take();
    ASSERT_EQ(changes.size(), 2u);
    EXPECT_FALSE(changes[0].mesh || changes[1].mesh);
    ASSERT_EQ(v.world.group_ids().size(), 3u);
    for (std::size_t i = 0; i < 3; i++)
        EXPECT_EQ(v.world.transforms()[8 * i], float(v.world.group_ids()[i])) << "each at its own place";
}

TEST(ClientWorld, ASecondWelcomeReplacesEverything) {
    Viewer v;
    v.w.terrain.set({0, 0, 0}, v.w.stone);
    const Grid grid = v.w.box(1, 1, 1);
    Frame f;
    f.groups.push_back(WireWorld::group(1, grid, {}));
    f.groups.push_back(WireWorld::group(2, grid, {}));
    v.start(std::move(f));
    const auto first_chunks = v.world.take_chunk_changes();
    v.take();
    Frame again;
    again.groups.push_back(WireWorld::group(2, grid, {{5, 0, 0}, {}}));
    v.start(std::move(again));
    const auto chunks = v.world.take_chunk_changes();
    ASSERT_EQ(chunks.size(), 2u);
    EXPECT_EQ(chunks[0].id, first_chunks[0].id);
    EXPECT_FALSE(chunks[0].mesh);
    EXPECT_NE(chunks[1].id, first_chunks[0].id);
    const auto groups = v.world.take_group_changes();
    ASSERT_EQ(groups.size(), 3u);
    EXPECT_TRUE(!groups[0].mesh && !groups[1].mesh && groups[2].mesh && groups[2].id == 2);
    EXPECT_EQ(v.world.group_ids().size(), 1u);
}

TEST(ClientWorld, TheRayPassesThroughEveryGroupsGrid) {
    Viewer v;
    v.w.terrain.set({0, -1, 0}, v.w.stone);
    v.w.ground = -1;
    const Grid plate = v.w.box(4, 1, 4);
    Frame f;
    // A plate on edge: its grid's y looks along world -x... a quarter turn about z.
    f.groups.push_back(WireWorld::group(1, plate, {{10, 0, 0}, axis_angle({0, 0, 1}, 1.57079633f)}));
    v.start(std::move(f));
    auto hit = v.world.pick({0.5, 5, 0.5}, {0, -2, 0}, 100);
    EXPECT_EQ(hit.kind, ClientWorld::Pick::Kind::terrain);
    EXPECT_NEAR(hit.distance, 5, 1e-5);
    EXPECT_EQ(hit.cell, (Cell{0, -1, 0}));
    hit = v.world.pick({0, 1.5, 1.5}, {1, 0, 0}, 100);
    ASSERT_EQ(hit.kind, ClientWorld::Pick::Kind::group);
    EXPECT_EQ(hit.group, 1u);
    EXPECT_EQ(hit.cell, (Cell{1, 0, 1}));
    EXPECT_NEAR(hit.point.x, 9, 1e-5) << "one cell thick, standing between x = 9 and 10";
    EXPECT_NEAR(hit.normal.x, -1, 1e-6);
    hit = v.world.pick({50, 5, 50}, {0, -1, 0}, 100);
    EXPECT_EQ(hit.kind, ClientWorld::Pick::Kind::ground);
    EXPECT_NEAR(hit.distance, 6, 1e-9);
    EXPECT_EQ(v.world.pick({50, 5, 50}, {0, 1, 0}, 100).kind, ClientWorld::Pick::Kind::none);
    EXPECT_EQ(v.world.pick({50, 5, 50}, {0, 0, 0}, 100).kind, ClientWorld::Pick::Kind::none);
    EXPECT_EQ(v.world.pick({50, 5, 50}, {0, -1, 0}, 3).kind, ClientWorld::Pick::Kind::none);
}

TEST(ClientWorld, NothingHappensBeforeAWelcome) {
    ClientWorld world;
    world.advance(5);
    EXPECT_TRUE(world.take_group_changes().empty());
    EXPECT_FALSE(world.stats().connected);
    const auto p = world.move_player({{1, 2, 3}, {}, false, false}, {1, 0, 0}, false, 0.02, 6);
    EXPECT_EQ(p.position, (DVec3{1, 2, 3}));
}

}  // namespace
}  // namespace talus
