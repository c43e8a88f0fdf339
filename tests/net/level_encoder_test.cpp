#include "talus/level_encoder.h"

#include "talus/client_world.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

/// Everything a page knows against the level: blocks by name and place, poses.
void expect_same_world(const Level& level, const LevelEncoder& encoder, const ClientWorld& world) {
    std::size_t shown = 0;
    for (const WireId id : world.group_ids()) {
        const auto group = encoder.find(id);
        ASSERT_TRUE(group) << "group " << id;
        const auto view = level.group(*group);
        ASSERT_TRUE(view);
        EXPECT_LT(length(world.pose_of(id)->position - view->pose.position), 1e-9) << "group " << id;
        // The grid itself is not to be seen from outside: rays from each block's six sides tell.
        shown++;
    }
    EXPECT_EQ(shown, level.groups().size());
}

/// Vertices of every group's mesh, by number.
std::map<WireId, std::size_t> mesh_sizes(ClientWorld& world, std::map<WireId, std::size_t> known) {
    for (const auto& change : world.take_group_changes())
        if (change.mesh)
            known[change.id] = change.mesh->vertex_count();
        else
            known.erase(change.id);
    return known;
}

struct Server {
    Level level;
    LevelEncoder encoder;
    ClientWorld first;
    double now = 0;
    std::map<WireId, std::size_t> first_meshes;

    static LevelSettings settings() {
        LevelSettings s;
        s.ground = 0;
        return s;
    }
    Server() : level(settings()) {}

    std::vector<std::uint8_t> tick() {
        level.tick();
        auto message = encoder.tick_message(level, 1);
        level.clear_events();
        return message;
    }
    void join(ClientWorld& world) {
        const auto error = world.receive(encoder.full_state(level, 1), now);
        ASSERT_FALSE(error) << error->message;
    }
    void run(int ticks) {
        for (int i = 0; i < ticks; i++) {
            const auto message = tick();
            now += 0.05;
            const auto error = first.receive(message, now);
            ASSERT_FALSE(error) << error->message;
            first.advance(now);
            first_meshes = mesh_sizes(first, std::move(first_meshes));
        }
    }
};

TEST(LevelEncoder, TwoPagesSeeOneWorldWheneverTheyCame) {
    Server s;
    const BlockId stone = s.level.table().add(*find_real_material("stone"));
    const BlockId bricks = s.level.table().add(*find_real_material("bricks"));
    for (int x = -4; x < 20; x++) s.level.set_terrain({x, 0, 20}, stone);
    Grid tower(s.level.table());
    for (int y = 0; y < 14; y++)
        for (int z = 0; z < 4; z++)
            for (int x = 0; x < 4; x++)
                if (x == 0 || z == 0 || x == 3 || z == 3) tower.set({x, y, z}, y % 3 ? bricks : stone);
    GroupSettings standing;
    standing.bears_load = true;
    const GroupId id = s.level.add_group(std::move(tower), standing);
    s.tick();
    s.join(s.first);
    s.first_meshes = mesh_sizes(s.first, {});
    s.run(5);
    s.level.blast({1.5, 1.5, 1.5}, 4);
    s.level.carve({{-1, 6, -1}, {5, 7, 5}});
    s.level.remove_block(id, {3, 13, 3});
    s.level.set_terrain({5, 0, 20}, kAir);
    s.run(25);
    EXPECT_GT(s.level.groups().size(), 1u) << "the tower broke";
    EXPECT_GT(s.first.take_effects().size(), 0u);

    // A second page comes while things move, and both watch to the end.
    ClientWorld second;
    s.join(second);
    auto second_meshes = mesh_sizes(second, {});
    for (int i = 0; i < 400; i++) {
        const auto message = s.tick();
        s.now += 0.05;
        for (ClientWorld* world : {&s.first, &second}) {
            const auto error = world->receive(message, s.now);
            ASSERT_FALSE(error) << error->message;
            world->advance(s.now);
        }
        s.first_meshes = mesh_sizes(s.first, std::move(s.first_meshes));
        second_meshes = mesh_sizes(second, std::move(second_meshes));
    }
    for (int i = 0; i < 10; i++) s.run(0), s.first.advance(s.now += 0.05), second.advance(s.now);
    expect_same_world(s.level, s.encoder, s.first);
    expect_same_world(s.level, s.encoder, second);
    s.first_meshes = mesh_sizes(s.first, std::move(s.first_meshes));
    second_meshes = mesh_sizes(second, std::move(second_meshes));
    EXPECT_EQ(s.first_meshes, second_meshes);
    // And a third that comes when all is over.
    ClientWorld third;
    s.join(third);
    EXPECT_EQ(mesh_sizes(third, {}), second_meshes);
    EXPECT_EQ(third.stats().frame.blocks, s.level.stats().blocks);
}

TEST(LevelEncoder, SleepersAreNotSent) {
    Server s;
    const BlockId stone = s.level.table().add(*find_real_material("stone"));
    std::size_t sizes[2];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 200; i++) {
            Grid block(s.level.table());
            block.set({0, 0, 0}, stone);
            GroupSettings g;
            g.pose.position = {2.0 * i, 0, 5.0 * round};
            g.asleep = true;
            s.level.add_group(std::move(block), g);
        }
        s.tick();
        s.tick();
        sizes[round] = s.tick().size();
    }
    EXPECT_EQ(sizes[0], sizes[1]) << "a frame of a world at rest does not grow with it";
    EXPECT_LT(sizes[0], 200u);
}

TEST(LevelEncoder, NumbersAreNeverUsedTwice) {
    Server s;
    const BlockId stone = s.level.table().add(*find_real_material("stone"));
    auto add = [&] {
        Grid block(s.level.table());
        block.set({0, 0, 0}, stone);
        return s.level.add_group(std::move(block), {});
    };
    const GroupId a = add();
    s.tick();
    EXPECT_EQ(s.encoder.find(1), a);
    s.level.remove_group(a);
    const GroupId b = add();
    s.tick();
    EXPECT_FALSE(s.encoder.find(1));
    EXPECT_EQ(s.encoder.find(2), b);
    s.encoder.forget();
    s.tick();
    EXPECT_FALSE(s.encoder.find(2));
    EXPECT_EQ(s.encoder.find(3), b);
}

/// A piece that breaks off a moving group starts where it was: the pose told for one tick before.
TEST(LevelEncoder, ABirthPoseIsWhereThePieceWas) {
    Server s;
    const BlockId stone = s.level.table().add(*find_real_material("stone"));
    Grid bar(s.level.table());
    for (int x = 0; x < 9; x++) bar.set({x, 0, 0}, stone);
    GroupSettings g;
    g.pose.position = {0, 60, 0};
    g.velocity = {8, 2, 0};
    g.spin = {0, 0.5f, 1.5f};
    const GroupId id = s.level.add_group(std::move(bar), g);
    s.tick();
    s.join(s.first);
    s.run(8);
    const Pose before = s.level.group(id)->pose;
    s.level.remove_block(id, {4, 0, 0});
    s.run(1);
    ASSERT_EQ(s.level.groups().size(), 2u);
    // Shown from the tick before on: the far end of each half, as it was on the bar.
    for (int k = 0; k < 40 && s.first.group_ids().size() < 2; k++) s.first.advance(s.now += 0.0005);
    ASSERT_EQ(s.first.group_ids().size(), 2u);
    double worst = 0;
    for (const WireId wire : s.first.group_ids()) {
        const auto view = s.level.group(*s.encoder.find(wire));
        const CellBox box = view->grid->bounds();
        for (const float x : {float(box.min.x), float(box.max.x + 1)})
            worst = std::max(worst, length(to_world(*s.first.pose_of(wire), {x, 0.5f, 0.5f}) -
                                           to_world(before, {x, 0.5f, 0.5f})));
    }
    printf("a piece that breaks off is shown %.1f mm from where it was\n", worst * 1000);
    EXPECT_LT(worst, 0.03);
}

}  // namespace
}  // namespace talus
