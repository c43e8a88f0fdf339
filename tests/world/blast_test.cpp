// Blasts: how deep they go, what shields from them, and whom they push.
#include "blocks_level.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace talus {
namespace {

/// A straight ray through air and then stone from `distance` on: how many stones it breaks.
int depth_of(float power, double distance, float resistance = 6) {
    double energy = double(power);
    std::map<int, bool> broken;
    for (double t = 0; energy > 0; t += 0.3, energy -= 0.225) {
        if (t < distance) continue;
        const double cost = (double(resistance) + 0.3) * 0.3;
        if (energy > cost) broken[int(t - distance)] = true;
        energy -= cost;
    }
    return int(broken.size());
}

struct Wall {
    float power;
    int half;  ///< of its width
};

TEST(Blast, GoesAsDeepIntoTheTerrainAsItsEnergyForSmallAndBig) {
    for (const Wall w : {Wall{2.5f, 4}, Wall{4, 4}, Wall{8, 6}, Wall{24, 12}, Wall{64, 16}}) {
        BlocksLevel b(no_gravity());
        b.fill({{0, -w.half, -w.half}, {13, w.half, w.half}}, b.stone);
        const std::size_t before = b.level.terrain().block_count();
        const double distance = 0.5;
        const std::size_t gone = b.level.blast({-distance, 0.5, 0.5}, w.power);
        EXPECT_EQ(before - b.level.terrain().block_count(), gone);
        int deep = 0;
        while (!b.level.terrain().has({deep, 0, 0})) deep++;
        EXPECT_NEAR(deep, depth_of(w.power, distance), 1) << w.power;
        // Nothing further away than that breaks, in any direction through the wall.
        for (int x = deep + 2; x <= 13; x++)
            for (int y = -2; y <= 2; y++)
                for (int z = -2; z <= 2; z++) EXPECT_TRUE(b.level.terrain().has({x, y, z})) << w.power;
    }
}

TEST(Blast, AShieldShieldsTheSameInTerrainAndInGroupsHoweverTurned) {
    // Glass behind a wall of one, two or three stones: the same panes go, whatever the frame.
    for (const float power : {3.0f, 6.0f, 20.0f})
        for (const int thick : {1, 2, 3}) {
            std::vector<std::size_t> stones, panes;
            const float right = 1.5707963f;
            for (int way = 0; way < 6; way++) {
                BlocksLevel b(no_gravity());
                Grid g = b.grid();
                b.fill(g, {{2, -7, -7}, {1 + thick, 7, 7}}, b.stone);
                b.fill(g, {{4 + thick, -2, -2}, {4 + thick, 2, 2}}, b.glass);
                b.fill(g, {{2 + thick, 6, 7}, {4 + thick, 6, 7}}, b.stone);  // holds the panes
                b.fill(g, {{4 + thick, 3, 2}, {4 + thick, 6, 2}}, b.bedrock);
                b.fill(g, {{4 + thick, 6, 3}, {4 + thick, 6, 7}}, b.bedrock);
                // Turned about the blast's place, the middle of cell zero.
                const Quat q[] = {{},
                                  {},
                                  axis_angle({0, 1, 0}, right),
                                  axis_angle({0, 0, 1}, 2 * right),
                                  axis_angle({1, 0, 0}, right) * axis_angle({0, 1, 0}, -right),
                                  axis_angle({0, 1, 0}, -right)};
                const Vec3 middle{0.5f, 0.5f, 0.5f};
                if (way == 0) {
                    g.for_each([&](Cell c, BlockId id) { b.level.set_terrain(c, id); });
                } else {
                    GroupSettings at;
                    at.pose = {to_double(middle) - to_double(rotate(q[way], middle)), q[way]};
                    at.asleep = true;
                    b.level.add_group(std::move(g), at);
                }
                b.level.blast({0.5, 0.5, 0.5}, power);
                std::size_t s = 0, p = 0;
                for (const LevelEvent& e : b.events(LevelEvent::Kind::block_destroyed))
                    (e.block == b.glass ? p : s)++;
                stones.push_back(s);
                panes.push_back(p);
            }
            for (std::size_t way = 1; way < stones.size(); way++) {
                EXPECT_EQ(stones[way], stones[0]) << power << ' ' << thick << ' ' << way;
                EXPECT_EQ(panes[way], panes[0]) << power << ' ' << thick << ' ' << way;
            }
            // What does not get through the wall's middle breaks no pane behind it.
            if (depth_of(power, 1.5) < thick) {
                EXPECT_EQ(panes[0], 0u) << power << ' ' << thick;
            }
            if (power == 20 && thick == 1) {
                EXPECT_GT(panes[0], 0u);
            }
        }
}

TEST(Blast, AnObliqueGroupIsShieldedToo) {
    for (int i = 0; i < 12; i++) {
        BlocksLevel b(no_gravity());
        Grid g = b.grid();
        b.fill(g, {{2, -8, -8}, {5, 8, 8}}, b.stone);  // four thick
        b.fill(g, {{6, -1, -1}, {7, 1, 1}}, b.glass);
        const Quat q = axis_angle({float(i % 3), 1, float(i % 5) - 2}, 0.37f * float(i + 1));
        const Vec3 middle{0.5f, 0.5f, 0.5f};
        b.level.add_group(std::move(g),
                          {.pose = {to_double(middle) - to_double(rotate(q, middle)), q}, .asleep = true});
        EXPECT_GT(b.level.blast({0.5, 0.5, 0.5}, 8), 0u) << i;
        for (const LevelEvent& e : b.events(LevelEvent::Kind::block_destroyed))
            EXPECT_NE(e.block, b.glass) << i;
    }
}

TEST(Blast, OneGroupShieldsAnother) {
    for (const bool shielded : {false, true}) {
        BlocksLevel b(no_gravity());
        Grid pane = b.grid();
        b.fill(pane, {{0, -1, -1}, {0, 1, 1}}, b.glass);
        const GroupId id = b.level.add_group(std::move(pane), {.pose = {{6, 0, 0}, {}}, .asleep = true});
        Grid wall = b.grid();
        b.fill(wall, {{0, -6, -6}, {2, 6, 6}}, b.stone);
        if (shielded) b.level.add_group(std::move(wall), {.pose = {{2, 0, 0}, {}}, .asleep = true});
        b.level.blast({0, 0.5, 0.5}, 5);
        EXPECT_EQ(b.level.exists(id), shielded);
        if (shielded) {
            EXPECT_EQ(b.blocks(id), 9u);
            EXPECT_EQ(length(b.level.group(id)->body.velocity()), 0) << "nor is it pushed";
        }
    }
}

TEST(Blast, WearsByHalfOfTheShareWhereItFallsShort) {
    // Stone needs 1.89; a blast beside it (two steps of air) arrives with power - 0.45.
    for (const bool terrain : {false, true}) {
        BlocksLevel b(no_gravity());
        const float share = 0.6f, power = 1.89f * share + 0.45f;
        const DVec3 at{-0.55, 0.5, 0.5};
        GroupId id;
        if (terrain) {
            b.level.set_terrain({0, 0, 0}, b.stone);
            b.level.mark_structure(CellBox{{0, 0, 0}, {0, 0, 0}});
        } else {
            Grid g = b.grid();
            b.fill(g, {{0, 0, 0}, {1, 0, 0}}, b.stone);
            id = b.level.add_group(std::move(g), {.bears_load = true, .asleep = true});
        }
        EXPECT_EQ(b.level.blast(at, power), 0u);
        const float worn = terrain ? b.level.wear_of({0, 0, 0}) : b.level.wear_of(id, {0, 0, 0});
        EXPECT_NEAR(worn, 0.5f * share, 0.01f);
    }
}

TEST(Blast, PushesAHostsBodiesUnlessTheyAreShielded) {
    for (const bool shielded : {false, true}) {
        BlocksLevel b(no_gravity());
        BodySettings s;
        s.pose.position = {4, 0.5, 0.5};
        const Body body = b.level.space().add_body(BodyShape::unit_cube(), s);
        s.pose.position = {-5, 0.5, 0.5};
        const Body far = b.level.space().add_body(BodyShape::unit_cube(), s);
        s.pose.position = {50, 0, 0};
        const Body out = b.level.space().add_body(BodyShape::unit_cube(), s);
        if (shielded) b.fill({{2, -4, -4}, {2, 4, 4}}, b.bedrock);
        b.level.blast({0, 0.5, 0.5}, 4);
        EXPECT_EQ(body.velocity().x > 0.2f, !shielded);
        EXPECT_EQ(length(body.velocity()) > 0, !shielded);
        EXPECT_LT(far.velocity().x, 0);
        if (!shielded) {
            EXPECT_GT(body.velocity().x, -far.velocity().x) << "nearer, harder";
        }
        EXPECT_EQ(length(out.velocity()), 0);
    }
}

struct Dolls final : BlastTargets {
    std::vector<Target> dolls;
    struct Push {
        std::uint64_t id;
        Vec3 velocity;
        float exposure, energy;
    };
    std::vector<Push> pushes;
    void find(const DBox& box, std::vector<Target>& out) override {
        for (const Target& t : dolls)
            if (overlaps(t.bounds, box)) out.push_back(t);
    }
    void push(std::uint64_t id, Vec3 velocity, float exposure, float energy) override {
        pushes.push_back({id, velocity, exposure, energy});
    }
};

struct OnePlayer : BlastTargets {
    DVec3 at;
    Vec3 pushed;
    float exposure = 0, energy = 0;
    void find(const DBox&, std::vector<Target>& out) override {
        const DVec3 half{0.3, 0.9, 0.3};
        out.push_back({7, {at - half, at + half}});
    }
    void push(std::uint64_t id, Vec3 velocity, float share, float left) override {
        EXPECT_EQ(id, 7u);
        pushed = velocity;
        exposure = share;
        energy = left;
    }
};

/// In the open: 20 m/s at the middle, falling evenly to nothing at the reach (4 / 0.225 x 0.3 m for TNT).
TEST(Blast, PushesAPlayerByItsNumbers) {
    constexpr double kReach = 4 / 0.225 * 0.3;
    for (const double distance : {1.0, 2.5, 5.0, 6.0}) {
        BlocksLevel b(no_gravity());
        OnePlayer player;
        player.at = {distance, 0, 0};
        b.level.set_blast_targets(&player);
        b.level.blast({0, 0, 0}, 4);
        const double share = distance < kReach ? 1 - distance / kReach : 0;
        EXPECT_NEAR(player.pushed.x, 20 * share, 0.01) << distance;
        EXPECT_NEAR(player.energy, 4 * share, 0.01) << distance;
        EXPECT_EQ(player.exposure, share > 0 ? 1 : 0) << distance;
    }
}

TEST(Blast, AStoneTwoMetresFromTntLeavesAtSix) {
    BlocksLevel b(no_gravity());
    Material tough = blockgame_stone();
    tough.name = "tough";
    tough.blast_resistance = 100;
    Grid g = b.grid();
    g.set({0, 0, 0}, b.level.table().add(tough));
    const GroupId id = b.level.add_group(std::move(g), {.pose = {{1.5, -0.5, -0.5}, {}}});
    b.level.blast({0, 0, 0}, 4);
    ASSERT_TRUE(b.level.exists(id));
    EXPECT_NEAR(b.level.group(id)->body.velocity().x, 6.2, 0.3);
}

TEST(Blast, IsOfPower64AtMost) {
    BlocksLevel b;
    for (const float power : {3.0f, 64.0f, 65.0f, 1e9f}) {
        b.level.clear_events();
        b.level.blast({0, 200, 0}, power);
        ASSERT_EQ(b.level.events().size(), 1u);
        EXPECT_EQ(b.level.events()[0].value, power < 64 ? power : 64);
    }
    b.level.clear_events();
    for (const float none : {0.0f, -1.0f}) b.level.blast({0, 0, 0}, none);
    EXPECT_TRUE(b.level.events().empty());
}

TEST(Blast, PushesPlayersByTheShareThatNothingShields) {
    BlocksLevel b;
    Dolls dolls;
    const auto doll = [&](std::uint64_t id, DVec3 feet) {
        dolls.dolls.push_back({id, {feet - DVec3{0.3, 0, 0.3}, feet + DVec3{0.3, 1.8, 0.3}}});
    };
    doll(1, {3, 0, 0.5});     // in the open
    doll(2, {-3, 0, 0.5});    // behind a wall
    doll(3, {0.5, 0, 4});     // behind a step up to its waist
    doll(4, {0.5, 0, -4.5});  // further away than the first
    doll(5, {0.5, 0, 80});    // out of reach
    b.fill({{-2, 0, -3}, {-2, 4, 3}}, b.bedrock);
    b.fill({{-2, 0, 2}, {3, 0, 2}}, b.bedrock);
    b.level.set_blast_targets(&dolls);
    b.level.blast({0.5, 0.5, 0.5}, 4);
    ASSERT_EQ(dolls.pushes.size(), 3u) << "who is wholly shielded or out of reach hears nothing";
    std::map<std::uint64_t, Dolls::Push> by;
    for (const auto& p : dolls.pushes) by.emplace(p.id, p);
    ASSERT_TRUE(by.contains(1) && by.contains(3) && by.contains(4));
    EXPECT_EQ(by.at(1).exposure, 1);
    EXPECT_GT(by.at(1).velocity.x, 1);
    EXPECT_GT(by.at(3).exposure, 0.1f);
    EXPECT_LT(by.at(3).exposure, 0.9f);
    EXPECT_GT(by.at(3).velocity.z, 0);
    EXPECT_LT(by.at(4).velocity.z, 0);
    EXPECT_LT(length(by.at(4).velocity), length(by.at(1).velocity));
    EXPECT_LT(by.at(1).energy, 4);
    EXPECT_GT(by.at(1).energy, by.at(4).energy);
    b.level.set_blast_targets(nullptr);
    b.level.blast({0.5, 0.5, 0.5}, 4);
    EXPECT_EQ(dolls.pushes.size(), 3u);
}

TEST(Blast, BreaksNothingUnbreakableAndIsStoppedByIt) {
    BlocksLevel b(no_gravity());
    b.fill({{2, -6, -6}, {2, 6, 6}}, b.bedrock);
    b.fill({{3, 0, 0}, {3, 0, 0}}, b.glass);
    EXPECT_EQ(b.level.blast({0, 0.5, 0.5}, 4), 0u);
    EXPECT_TRUE(b.level.terrain().has({3, 0, 0}));
    EXPECT_EQ(b.level.terrain().block_count(), 13u * 13 + 1);
}

}  // namespace
}  // namespace talus
