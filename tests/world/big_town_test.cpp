// The town of `talus-bench town`, a few houses of it: it stands, is blown up, comes to rest, and what it
// needed while it fell goes back.
#include "scenes/big_town.h"

#include "dynamics/state.h"
#include "talus/level.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace talus {
namespace {

struct Outcome {
    std::size_t most_groups = 0, most_room = 0, room = 0, live = 0;
    std::uint64_t hash = 0;
};

Outcome run_small_town() {
    LevelSettings s;
    s.ground = 0;
    s.debris_ticks = 200;
    Level level(s);
    const BigTown town = build_big_town(level, 2);
    EXPECT_EQ(level.stats().structures, 4u);
    for (const StructureId id : level.structures()) level.check_structure_soon(id);
    for (int i = 0; i < 10; i++) level.tick();
    EXPECT_EQ(level.stats().groups, 0u) << "a house fell by itself";
    EXPECT_EQ(level.terrain().block_count(), town.blocks);

    Outcome out;
    const PairTable& pairs = level.space().state().pairs;
    for (int i = 0; i < 1200; i++) {
        if (i % 6 == 0 && i < 240) {
            const TownBlast blast = town_blast(town, i / 6);
            level.blast(blast.center, blast.power);
        }
        level.tick();
        level.clear_events();
        const LevelStats stats = level.stats();
        EXPECT_EQ(level.terrain().block_count() + stats.blocks + stats.destroyed, town.blocks);
        out.most_groups = std::max(out.most_groups, stats.groups);
        out.most_room = std::max(out.most_room, pairs.manifolds.capacity());
    }
    std::size_t debris = 0;
    for (const GroupId id : level.groups()) debris += level.group(id)->is_debris;
    EXPECT_LT(debris, 10u) << "debris lies about 48 s after the last blast";
    EXPECT_LT(level.groups().size(), out.most_groups / 2);
    out.room = pairs.manifolds.capacity();
    for (const Pair& p : pairs.pairs)
        for (std::int32_t m = p.dead ? -1 : p.first; m >= 0; m = pairs.manifolds[std::size_t(m)].next)
            out.live++;
    out.hash = level.hash();
    return out;
}

TEST(BigTown, ComesToRestAndGivesBackWhatItNeeded) {
    const Outcome out = run_small_town();
    EXPECT_GT(out.most_groups, 300u);
    EXPECT_GT(out.most_room, 4 * out.live) << "there was nothing to give back: the scene shows nothing";
    EXPECT_LE(out.room, 2 * out.live + 1500);
}

}  // namespace
}  // namespace talus
