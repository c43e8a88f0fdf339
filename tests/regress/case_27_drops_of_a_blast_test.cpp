// Case 27: one blast destroys 10 equal cells: at most 10 drops, exactly as the rule says: one draw of the
// level's generator for each, in the order of the cells, and a drop when it is below 1/power.
#include "tests/world/blocks_level.h"

namespace talus {
namespace {

/// splitmix64, as published.
struct Splitmix {
    std::uint64_t state;
    double next() {
        std::uint64_t z = state += 0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return double((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }
};

TEST(Regress, Case27TenEqualCellsDropAsTheRuleSays) {
    std::size_t some = 0;
    for (const bool terrain : {true, false})
        for (const float power : {3.0f, 4.0f, 5.0f, 7.0f, 10.0f})
            for (std::uint64_t seed = 1; seed <= 12; seed++) {
                SCOPED_TRACE(testing::Message() << terrain << ' ' << power << ' ' << seed);
                LevelSettings s = no_gravity();
                s.seed = seed;
                BlocksLevel b(s);
                // Ten leaves around the blast, near enough for any of these powers.
                const BlockId leaves = b.level.table().add(*find_real_material("leaves"));
                std::vector<Cell> cells;
                for (int i = 0; i < 10; i++) cells.push_back({i % 2, i / 4, i / 2 % 2});
                std::sort(cells.begin(), cells.end());
                Grid g = b.grid();
                for (Cell c : cells) g.set(c, leaves);
                g.set({0, 3, 0}, b.bedrock);  // holds what is left; never breaks
                if (terrain)
                    g.for_each([&](Cell c, BlockId id) { b.level.set_terrain(c, id); });
                else
                    b.level.add_group(std::move(g), {.asleep = true});
                b.level.clear_events();
                const std::size_t gone = b.level.blast({1, 1, 1}, power);
                EXPECT_EQ(gone, 10u);
                Splitmix random{seed};
                std::vector<DVec3> expected, points;
                for (Cell c : cells)
                    if (random.next() < 1 / double(power))
                        expected.push_back({c.x + 0.5, c.y + 0.5, c.z + 0.5});
                for (const LevelEvent& e : b.events(LevelEvent::Kind::drop)) {
                    EXPECT_EQ(e.block, leaves);
                    EXPECT_EQ(e.cause, Cause::blast);
                    points.push_back(e.point);
                }
                ASSERT_EQ(points.size(), expected.size());
                for (std::size_t i = 0; i < points.size(); i++)
                    EXPECT_LT(length(points[i] - expected[i]), 1e-5);
                EXPECT_LE(points.size(), 10u);
                EXPECT_EQ(b.level.stats().drops, points.size());
                EXPECT_EQ(b.level.stats().destroyed, 10u);
                // Nothing follows later.
                b.run(20);
                EXPECT_EQ(b.level.stats().drops, points.size());
                some += !points.empty() && points.size() < 10;
            }
    EXPECT_GT(some, 50u);
}

}  // namespace
}  // namespace talus
