// What a host is told: enough for dust, sound and score. Drops are exact.
#include "blocks_level.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace talus {
namespace {

using Kind = LevelEvent::Kind;

TEST(Drops, AMinedBlockDropsItselfAndNothingElseDoesButABlast) {
    for (const bool terrain : {true, false}) {
        BlocksLevel b;
        Grid g = b.grid();
        b.fill(g, {{0, 0, 0}, {9, 0, 0}}, b.stone);
        GroupId id;
        if (terrain)
            g.for_each([&](Cell c, BlockId block) { b.level.set_terrain(c, block); });
        else
            id = b.level.add_group(std::move(g), {.asleep = true});
        int x = 9;
        for (const Cause cause : {Cause::mined, Cause::blast, Cause::impact, Cause::carve, Cause::fire,
                                  Cause::collapse, Cause::debris, Cause::script}) {
            b.level.clear_events();
            const Cell cell{x--, 0, 0};
            EXPECT_TRUE(terrain ? b.level.break_terrain(cell, cause) : b.level.remove_block(id, cell, cause));
            EXPECT_FALSE(terrain ? b.level.break_terrain(cell, cause)
                                 : b.level.remove_block(id, cell, cause));
            const auto drops = b.events(Kind::drop);
            ASSERT_EQ(drops.size(), cause == Cause::mined ? 1u : 0u) << int(cause);
            if (cause != Cause::mined) continue;
            EXPECT_EQ(drops[0].block, b.stone);
            EXPECT_EQ(drops[0].cause, Cause::mined);
            EXPECT_NEAR(length(drops[0].point - DVec3{9.5, 0.5, 0.5}), 0, 1e-5);
        }
        EXPECT_EQ(b.level.stats().drops, 1u);
        b.level.clear_events();
        b.level.carve({{0, 0, 0}, {1, 1, 1}});
        EXPECT_TRUE(b.events(Kind::drop).empty());
    }
}

TEST(Drops, ABlastDropsOneInPowerDrawnFromTheLevelsOwnGenerator) {
    for (const bool terrain : {true, false}) {
        std::size_t broken = 0, dropped = 0;
        for (std::uint64_t seed = 1; seed <= 30; seed++) {
            std::vector<std::size_t> counts;
            for (int again = 0; again < 2; again++) {
                LevelSettings s = no_gravity();
                s.seed = seed;
                BlocksLevel b(s);
                Grid g = b.grid();
                b.fill(g, {{-3, -3, -3}, {3, 3, 3}}, b.glass);
                if (terrain)
                    g.for_each([&](Cell c, BlockId block) { b.level.set_terrain(c, block); });
                else
                    b.level.add_group(std::move(g), {.asleep = true});
                const std::size_t gone = b.level.blast({0.5, 0.5, 0.5}, 4);
                counts.push_back(b.level.stats().drops);
                EXPECT_EQ(b.events(Kind::drop).size(), counts.back());
                EXPECT_EQ(b.level.stats().destroyed, gone);
                if (again) continue;
                broken += gone;
                dropped += counts.back();
            }
            EXPECT_EQ(counts[0], counts[1]) << "the same seed drops the same";
        }
        const double share = double(dropped) / double(broken);
        const double spread = std::sqrt(0.25 * 0.75 / double(broken));
        EXPECT_NEAR(share, 0.25, 4 * spread) << broken;
    }
}

TEST(Drops, AtPowerOneOrLessEachBlockDrops) {
    BlocksLevel b(no_gravity());
    b.fill({{0, 0, 0}, {0, 0, 2}}, b.glass);
    const std::size_t gone = b.level.blast({-0.2, 0.5, 1.5}, 1);
    EXPECT_GT(gone, 0u);
    EXPECT_EQ(b.level.stats().drops, gone);
}

TEST(Drops, AGroupWithoutASolidBreaksIntoDrops) {
    BlocksLevel b;
    Grid g = b.grid();
    g.set({0, 0, 0}, b.stone);
    for (const Cell c : {Cell{1, 0, 0}, Cell{0, 1, 0}, Cell{-1, 0, 0}}) g.set(c, b.torch);
    const GroupId id = b.level.add_group(std::move(g), {.pose = {{3, 5, 0}, {}}});
    b.level.remove_block(id, {0, 0, 0}, Cause::carve);
    b.level.clear_events();
    b.run(1);
    EXPECT_FALSE(b.level.exists(id));
    ASSERT_EQ(b.events(Kind::drop).size(), 3u);
    for (const LevelEvent& e : b.events(Kind::drop)) {
        EXPECT_EQ(e.block, b.torch);
        EXPECT_NEAR(length(e.point - DVec3{3.5, 5.5, 0.5}), 1, 0.05);
    }
    EXPECT_EQ(b.level.stats().destroyed, 4u);
    EXPECT_EQ(b.level.stats().drops, 3u);
}

TEST(Events, ACollapseTellsItsBondsWhereDustAndSoundsAreAndWhoItsPartsAre) {
    for (const bool terrain : {false, true}) {
        BlocksLevel b;
        GroupId id;
        StructureId structure;
        const Cell at{0, 0, terrain ? 5 : 0};
        Grid g = b.grid();
        // A floor 12 wide on one wall: more bonds break than there are places for dust.
        b.fill(g, {{0, 0, 0}, {0, 3, 11}}, b.stone);
        b.fill(g, {{1, 3, 0}, {60, 3, 11}}, b.stone);
        if (terrain) {
            g.for_each([&](Cell c, BlockId block) { b.level.set_terrain(c + at, block); });
            structure = b.level.mark_structure(CellBox{at, at + Cell{60, 3, 11}});
            b.level.check_structure_soon(structure);
        } else {
            id = b.level.add_group(std::move(g), {.bears_load = true, .asleep = true});
            b.level.check_structure_soon(id);
        }
        b.run(1);
        b.level.clear_events();
        b.run(1);
        const auto bonds = b.events(Kind::bonds_broken);
        ASSERT_EQ(bonds.size(), 1u);
        EXPECT_EQ(bonds[0].group, id);
        EXPECT_EQ(bonds[0].structure, structure);
        const auto pairs = b.level.bonds_of(bonds[0]);
        EXPECT_EQ(float(pairs.size()), bonds[0].value);
        EXPECT_GE(pairs.size(), 12u);
        for (const Bond& bond : pairs) {
            const Cell d = bond.second - bond.first;
            EXPECT_EQ(d.x * d.x + d.y * d.y + d.z * d.z, 1);
        }
        EXPECT_EQ(b.events(Kind::dust).size(), 8u);
        EXPECT_EQ(b.events(Kind::sound).size(), 3u);
        for (const LevelEvent& e : b.events(Kind::dust)) {
            EXPECT_EQ(e.group, id);
            EXPECT_EQ(e.structure, structure);
            EXPECT_EQ(e.block, b.stone);
            EXPECT_GT(e.point.y, 2.5);
            EXPECT_LT(e.point.y, 4.5);
            EXPECT_GE(e.point.z, at.z);
            EXPECT_LE(e.point.z, at.z + 12);
        }
        const auto added = b.events(Kind::group_added);
        ASSERT_GE(added.size(), 1u);
        for (const LevelEvent& e : added) {
            EXPECT_EQ(e.parent, id);
            EXPECT_EQ(e.structure, structure);
            EXPECT_TRUE(b.level.exists(e.group));
        }
        b.level.clear_events();
        EXPECT_TRUE(b.level.bonds_of(bonds[0]).empty()) << "cleared with them";
    }
}

TEST(Events, AHitTellsPlaceImpulseAndMaterials) {
    BlocksLevel b(no_gravity());
    b.fill({{10, -3, -3}, {10, 3, 3}}, b.glass);
    const auto bar = [&](double z, float speed, bool bears) {
        Grid g = b.grid();
        b.fill(g, {{0, 0, 0}, {1, 0, 0}}, b.stone);
        return b.level.add_group(std::move(g),
                                 {.pose = {{7, 0, z}, {}}, .velocity = {speed, 0, 0}, .bears_load = bears});
    };
    const auto hits_of = [&](double z, float speed, bool bears) {
        const GroupId id = bar(z, speed, bears);
        b.level.clear_events();
        b.run(8);
        auto hits = b.events(Kind::impact);
        for (const LevelEvent& e : hits) EXPECT_EQ(e.group, id);
        b.level.remove_group(id);
        return hits;
    };
    EXPECT_TRUE(hits_of(0, 6.5f, true).empty()) << "slower than the level's impact speed";
    for (const bool bears : {true, false}) {  // a group that bears no load is heard too
        const auto hits = hits_of(0, 9, bears);
        ASSERT_FALSE(hits.empty());
        double impulse = 0;
        for (const LevelEvent& e : hits) {
            EXPECT_EQ(e.block, b.stone);
            EXPECT_EQ(e.other_block, b.glass);
            EXPECT_NEAR(e.point.x, 10, 0.1);
            EXPECT_GE(e.value, 0);
            impulse += double(e.value);
        }
        // What stops 1,550 kg at 9 m/s, and a little for the bounce.
        EXPECT_GT(impulse, 0.5 * 1550 * 9);
        EXPECT_LT(impulse, 1.5 * 1550 * 9);
    }
}

TEST(Events, AHitOnTheFlatFloorHasAirOnTheOtherSide) {
    BlocksLevel b;
    Grid g = b.grid();
    b.fill(g, {{0, 0, 0}, {1, 0, 1}}, b.stone);
    b.level.add_group(std::move(g), {.pose = {{0, 5, 0}, {}}, .bears_load = true});
    b.run(30);
    const auto hits = b.events(Kind::impact);
    ASSERT_FALSE(hits.empty());
    EXPECT_EQ(hits[0].block, b.stone);
    EXPECT_EQ(hits[0].other_block, kAir);
    EXPECT_NEAR(hits[0].point.y, 0, 0.1);
}

TEST(Events, EveryDestroyedBlockIsToldOnceWithItsCause) {
    BlocksLevel b;
    Grid g = b.grid();
    b.fill(g, {{0, 0, 0}, {5, 5, 5}}, b.stone);
    b.fill({{10, 0, 0}, {15, 5, 5}}, b.stone);
    const GroupId id = b.level.add_group(std::move(g), {.bears_load = true, .asleep = true});
    b.level.clear_events();
    std::map<Cause, std::size_t> expected;
    expected[Cause::blast] = b.level.blast({2.5, 6.5, 2.5}, 3) + b.level.blast({12.5, 6.5, 2.5}, 3);
    expected[Cause::carve] = b.level.carve({{0, 0, 0}, {16, 1, 1}});
    expected[Cause::mined] = b.level.remove_block(id, {5, 0, 5}, Cause::mined);
    expected[Cause::fire] = b.level.remove_block(id, {5, 0, 4}, Cause::fire);
    std::map<Cause, std::size_t> told;
    for (const LevelEvent& e : b.events(Kind::block_destroyed)) {
        told[e.cause]++;
        EXPECT_EQ(e.block, b.stone);
        EXPECT_TRUE(b.level.exists(e.group) || e.group == GroupId{});
    }
    EXPECT_EQ(told, expected);
    std::size_t sum = 0;
    for (const auto& [cause, n] : expected) sum += n;
    EXPECT_EQ(b.level.stats().destroyed, sum);
    EXPECT_EQ(b.all_blocks(), 432u);
}

TEST(Carve, ByBoxBallAndCapsuleInTerrainAndGroupsAtAnyRotation) {
    // Counted again by the centres of the blocks.
    for (int way = 0; way < 8; way++) {
        BlocksLevel b(no_gravity());
        const Quat q = way == 0 ? Quat{} : axis_angle({1, float(way), 2}, 0.4f * float(way));
        Grid g = b.grid();
        b.fill(g, {{-4, -4, -4}, {4, 4, 4}}, b.stone);
        const GroupId id = b.level.add_group(std::move(g), {.pose = {{30, 2, 1}, q}, .asleep = true});
        b.fill({{-4, -4, -4}, {4, 4, 4}}, b.stone);
        const auto expected = [&](auto&& inside) {
            std::size_t n = 0;
            b.level.terrain().for_each([&](Cell c, BlockId) {
                n += inside(DVec3{c.x + 0.5, c.y + 0.5, c.z + 0.5});
            });
            if (!b.level.exists(id)) return n;
            const auto view = *b.level.group(id);
            view.grid->for_each([&](Cell c, BlockId) {
                n += inside(view.body.to_world({float(c.x) + 0.5f, float(c.y) + 0.5f, float(c.z) + 0.5f}));
            });
            return n;
        };
        const DBox box{{-2.2, -3, -1.7}, {31.2, 3.3, 1.9}};
        std::size_t n = expected([&](DVec3 p) { return box.contains(p); });
        EXPECT_GT(n, 50u);
        EXPECT_EQ(b.level.carve(box), n);
        const DVec3 ball{28.3, 4, 2};
        n = expected([&](DVec3 p) { return length(p - ball) <= 2.7; });
        EXPECT_GT(n, 5u);
        EXPECT_EQ(b.level.carve_sphere(ball, 2.7), n);
        const DVec3 from{-3, 4, 3}, to{32, 4, 3};
        n = expected([&](DVec3 p) {
            const double t = std::clamp((p.x - from.x) / 35, 0.0, 1.0);
            return length(p - (from + (to - from) * t)) <= 1.3;
        });
        EXPECT_GT(n, 5u);
        EXPECT_EQ(b.level.carve_capsule(from, to, 1.3), n);
        EXPECT_EQ(b.level.carve_capsule(from, to, 1.3), 0u);
        EXPECT_EQ(b.all_blocks(), 2u * 729);
        for (const LevelEvent& e : b.events(Kind::block_destroyed)) EXPECT_EQ(e.cause, Cause::carve);
        EXPECT_TRUE(b.events(Kind::drop).empty());
    }
}

}  // namespace
}  // namespace talus
