// Random scripts of edits, blasts and ticks: what must hold whatever happens. TALUS_SCRIPTS sets how many
// (40).
#include "talus/level.h"
#include "world/level_state.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace talus {
namespace {

struct Script {
    Level level;
    std::mt19937 random;
    BlockId stone, glass, torch, slab;
    std::size_t placed = 0;

    static LevelSettings settings() {
        LevelSettings s;
        s.ground = 0;
        s.debris_ticks = 30;
        return s;
    }
    explicit Script(unsigned seed) : level(settings()), random(seed) {
        stone = level.table().add(blockgame_stone());
        glass = level.table().add(*find_real_material("glass"));
        Material t = blockgame_stone();
        t.name = "torch";
        t.solid = false;
        t.density = 0;
        torch = level.table().add(t);
        const Box half{{0, 0, 0}, {1, 0.5f, 1}};
        slab = level.table().add(BlockType{"slab", blockgame_stone(), BlockShape({&half, 1})});
    }
    int pick(int n) { return int(random() % unsigned(n)); }
    double real(double lo, double hi) { return lo + (hi - lo) * double(random() % 10007) / 10007; }
    BlockId any_block() { return pick(8) == 0 ? torch : pick(6) == 0 ? slab : pick(3) == 0 ? glass : stone; }

    void add_build() {
        Grid g(level.table());
        const int w = 3 + pick(7), h = 3 + pick(9), d = 3 + pick(7);
        for (int y = 0; y < h; y++)
            for (int z = 0; z < d; z++)
                for (int x = 0; x < w; x++) {
                    const bool shell = x == 0 || z == 0 || x == w - 1 || z == d - 1 || y % 4 == 3;
                    if (shell ? pick(12) != 0 : pick(30) == 0) g.set({x, y, z}, any_block());
                }
        if (g.solid_count() == 0) return;
        placed += g.block_count();
        GroupSettings at;
        at.pose.position = {real(-20, 20), pick(2) ? 0 : real(0, 12), real(-20, 20)};
        if (pick(3) == 0)
            at.pose.rotation = axis_angle({float(real(-1, 1)), 1, float(real(-1, 1))}, float(real(0, 6)));
        at.bears_load = pick(4) != 0;
        at.asleep = pick(2) == 0;
        level.add_group(std::move(g), at);
    }
    DVec3 somewhere() { return {real(-22, 30), real(-1, 12), real(-22, 30)}; }

    void act() {
        const auto ids = level.groups();
        switch (pick(9)) {
            case 0:
                add_build();
                break;
            case 1:
                level.blast(somewhere(), float(real(0.5, 7)));
                break;
            case 2: {
                const DVec3 p = somewhere();
                level.carve({p, p + DVec3{real(0, 6), real(0, 6), real(0, 6)}});
                break;
            }
            case 3:
                level.carve_sphere(somewhere(), real(0.5, 4));
                break;
            case 4:
                if (!ids.empty()) {
                    const GroupId id = ids[std::size_t(pick(int(ids.size())))];
                    const CellBox b = level.group(id)->grid->bounds();
                    const Cell c{b.min.x + pick(b.max.x - b.min.x + 2), b.min.y + pick(b.max.y - b.min.y + 2),
                                 b.min.z + pick(b.max.z - b.min.z + 2)};
                    if (pick(2))
                        level.remove_block(id, c);
                    else
                        placed += level.place_block(id, c, any_block());
                }
                break;
            case 5:
                if (level.set_terrain({pick(40) - 20, pick(3), pick(40) - 20}, stone) == kAir) placed++;
                break;
            case 6:
                if (!ids.empty()) {
                    Body body = level.group(ids[std::size_t(pick(int(ids.size())))])->body;
                    body.add_impulse(Vec3{float(real(-9, 9)), float(real(0, 9)), float(real(-9, 9))} *
                                     body.mass());
                }
                break;
            default:
                break;
        }
    }

    void check() {
        level.tick();
        const LevelStats stats = level.stats();
        ASSERT_EQ(placed, stats.blocks + level.terrain().block_count() + stats.destroyed)
            << "blocks are conserved";
        for (GroupId id : level.groups()) {
            const Group& group = *level.state().find(id);
            ASSERT_GT(group.grid.solid_count(), 0u);
            ASSERT_TRUE(find_loose_parts(group.grid, group.joins).empty()) << "every group is connected";
            const MassMoments moments = sum_moments(group.grid, 1);
            ASSERT_NEAR(group.moments.mass, moments.mass, 1e-6 * moments.mass);
            ASSERT_NEAR(double(group.body.mass()), moments.mass, 1e-4 * moments.mass);
            const auto properties = to_mass_properties(moments);
            const DVec3 center = group.body.to_world(to_float(properties->center));
            ASSERT_LT(length(center - group.body.center_of_mass()), 1e-3);
            ASSERT_TRUE(is_finite(group.body.pose().position));
        }
    }
};

TEST(RandomScripts, WhatMustHoldHolds) {
    const char* wanted = std::getenv("TALUS_SCRIPTS");
    const int scripts = wanted ? std::atoi(wanted) : 40;
    for (int seed = 1; seed <= scripts; seed++) {
        SCOPED_TRACE(testing::Message() << "script " << seed);
        std::uint64_t first = 0;
        for (int run = 0; run < 2; run++) {
            Script script{unsigned(seed)};
            for (int i = 0; i < 3; i++) script.add_build();
            for (int i = 0; i < 40; i++) {
                script.act();
                script.check();
                if (testing::Test::HasFatalFailure()) return;
            }
            if (run == 0)
                first = script.level.hash();
            else
                ASSERT_EQ(first, script.level.hash()) << "the same script gives the same bits";
        }
    }
}

}  // namespace
}  // namespace talus
