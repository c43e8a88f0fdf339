// Case 6: a piece splits off 1,000 cells from its group's origin and spins. What a page draws between two
// snapshots is where the piece is: the poses of the wire, the playback and the floats of the vertex shader
// together stay within a millimetre of the true motion.
#include "talus/client_world.h"
#include "talus/level.h"
#include "talus/level_encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace talus {
namespace {

/// As client/src/shaders.ts turns and moves a vertex, in floats.
Vec3 drawn(const float* t, Vec3 v) {
    const Vec3 q{t[4], t[5], t[6]};
    return v + 2.0f * cross(q, cross(q, v) + t[7] * v) + Vec3{t[0], t[1], t[2]};
}

TEST(Regress, Case06FarPieceIsDrawnWhereItIs) {
    LevelSettings settings;
    settings.gravity = {};
    settings.floor = -1e6;
    Level level(settings);
    const BlockId stone = level.table().add(blockgame_stone());
    Grid grid(level.table());
    constexpr int kFar = 1000;
    for (int x = 0; x < kFar; x++) grid.set({x, 0, 0}, stone);
    for (int y = 0; y < 3; y++)
        for (int z = 0; z < 3; z++)
            for (int x = 0; x < 3; x++) grid.set({kFar + x, y - 1, z - 1}, stone);
    GroupSettings at;
    at.pose = {{-400, 30, 12}, axis_angle({1, 2, -1}, 0.7f)};
    at.velocity = {0.5f, -0.25f, 1};
    const GroupId bar = level.add_group(std::move(grid), at);

    LevelEncoder encoder;
    ClientWorld world;
    double now = 0;
    level.tick();
    encoder.tick_message(level, 0);
    level.clear_events();
    ASSERT_FALSE(world.receive(encoder.full_state(level, 0), now).has_value());
    world.advance(now);
    world.take_group_changes();

    ASSERT_TRUE(level.remove_block(bar, {kFar - 1, 0, 0}));
    GroupId piece;
    struct Truth {
        DVec3 center;
        Quat rotation;
        Vec3 velocity, spin;
        Vec3 local;
    };
    std::map<std::uint64_t, Truth> truth;  // by tick
    std::map<WireId, Mesh> meshes;
    int compared = 0, between = 0;
    double worst = 0;
    for (int i = 0; i < 60; i++) {
        level.tick();
        if (level.groups().size() == 2 && piece == GroupId{}) {
            piece = level.groups().back();
            Body body = level.group(piece)->body;
            body.set_spin({2, -4, 1.5f});  // a cube turns evenly about any axis
            // Off the bar's end, so that it meets nothing.
            body.set_velocity(body.velocity() + rotate(at.pose.rotation, Vec3{10, 1, 0.5f}));
        }
        if (!(piece == GroupId{})) {
            ASSERT_TRUE(level.exists(piece));
            const Body body = level.group(piece)->body;
            truth[level.stats().tick] = {body.center_of_mass(), body.pose().rotation, body.velocity(),
                                         body.spin(), body.local_center_of_mass()};
        }
        const auto message = encoder.tick_message(level, 0);
        level.clear_events();
        ASSERT_FALSE(world.receive(message, now).has_value());
        for (int part = 0; part < 7; part++) {  // 140 pictures a second
            now += 0.05 / 7;
            world.advance(now);
            for (auto& change : world.take_group_changes()) {
                if (change.mesh)
                    meshes[change.id] = std::move(*change.mesh);
                else
                    meshes.erase(change.id);
            }
            const double shown = world.stats().shown_tick;
            const auto from = truth.find(std::uint64_t(std::floor(shown)));
            if (from == truth.end() || from->first < truth.begin()->first + 2) continue;
            const Truth& t = from->second;
            const double dt = (shown - std::floor(shown)) * 0.05;
            const Quat rotation = normalized(axis_angle(t.spin, length(t.spin) * float(dt)) * t.rotation);
            const DVec3 center = t.center + to_double(t.velocity) * dt;
            for (std::size_t g = 0; g < world.group_ids().size(); g++) {
                const Mesh& mesh = meshes.at(world.group_ids()[g]);
                if (mesh.positions[0] < float(kFar) - 0.5f) continue;  // the bar
                compared++;
                between += dt > 0.01 && dt < 0.04;
                for (std::size_t v = 0; v < mesh.vertex_count(); v++) {
                    const Vec3 local{mesh.positions[3 * v], mesh.positions[3 * v + 1],
                                     mesh.positions[3 * v + 2]};
                    const DVec3 is = to_double(drawn(&world.transforms()[8 * g], local)) + world.origin();
                    const DVec3 should = center + to_double(rotate(rotation, local - t.local));
                    worst = std::max(worst, length(is - should));
                }
            }
        }
    }
    EXPECT_GT(compared, 200);
    EXPECT_GT(between, 100);
    EXPECT_LT(worst, 1e-3) << "metres";
    RecordProperty("worst_micrometres", int(worst * 1e6));
}

}  // namespace
}  // namespace talus
