// Bodies that move are divided by place: see parts.h.
#include "dynamics/parts.h"
#include "rigs.h"

#include <algorithm>
#include <set>

namespace talus {
namespace {

TEST(Parts, NodesAreNumberedInOrder) {
    EXPECT_EQ(Parts::node_of(0, 0), 0u);
    EXPECT_EQ(Parts::node_of(5, 5), 10u);
    EXPECT_EQ(Parts::node_of(0, 1), 1u);
    EXPECT_EQ(Parts::node_of(3, 2), 5u);
    EXPECT_EQ(Parts::node_of(1, 2), 3u);
    EXPECT_EQ(Parts::node_of(0, 7), 7u);
    EXPECT_EQ(Parts::node_of(4, 6), 11u);
}

TEST(Parts, ANodeHasThePlacesOfItsParts) {
    Parts parts;
    parts.first = {1, 11, 21, 31, 41, 45};
    ASSERT_EQ(parts.count(), 4u);
    for (std::size_t a = 0; a < 4; a++)
        for (std::size_t b = 0; b < 4; b++) {
            const Parts::Range r = parts.places_of(Parts::node_of(a, b));
            EXPECT_LE(r.begin, std::min(parts.first[a], parts.first[b]));
            EXPECT_GE(r.end, std::max(parts.first[a + 1], parts.first[b + 1]));
        }
    EXPECT_EQ(parts.places_of(4).begin, 21);
    EXPECT_EQ(parts.places_of(4).end, 31);
    EXPECT_EQ(parts.places_of(5).begin, 21);
    EXPECT_EQ(parts.places_of(5).end, 41);
    EXPECT_TRUE(parts.pushed(40));
    EXPECT_FALSE(parts.pushed(41)) << "moves, but not by contacts";
    EXPECT_FALSE(parts.pushed(0)) << "the world";
}

/// A row of cubes along z in no order, each touching the next.
struct Row {
    BodyStore bodies;
    std::vector<std::int32_t> movers, place{0};
    std::vector<ActivePair> active;
    explicit Row(int n) {
        for (int i = 0; i < n; i++) {
            BodySettings s;
            s.pose.position = {1e6 + 0.1 * (i % 3), 5, double(i * 7919 % n)};
            if (i % 100 == 7) s.motion = MotionType::kinematic;
            movers.push_back(bodies.add(BodyShape::unit_cube(), s));
            place.push_back(i + 1);
        }
        for (int i = 1; i < n; i++)
            for (int j = 0; j < n; j++)
                if (z(j + 1) == z(i) + 1) active.push_back({0, std::max(i, j + 1), std::min(i, j + 1), -1});
    }
    double z(std::int32_t body) const { return bodies.hot[std::size_t(body)].position.z; }
};

TEST(Parts, FewPairsAreNotDivided) {
    Row row(300);
    const std::vector<std::int32_t> before = row.movers;
    Parts parts;
    parts.divide(row.bodies, row.active, row.place, row.movers);
    EXPECT_EQ(parts.count(), 1u);
    ASSERT_EQ(parts.first.size(), 3u);
    EXPECT_EQ(parts.first[1], 298) << "three are kinematic";
    EXPECT_EQ(parts.first[2], 301);
    std::vector<std::int32_t> pushed;
    for (const std::int32_t i : before)
        if (row.bodies.hot[std::size_t(i)].dynamic) pushed.push_back(i);
    EXPECT_TRUE(std::equal(pushed.begin(), pushed.end(), row.movers.begin())) << "in the order they had";
}

TEST(Parts, HalvesLieBesideEachOther) {
    Row row(1000);
    Parts parts;
    parts.divide(row.bodies, row.active, row.place, row.movers);
    ASSERT_EQ(parts.count(), 2u);
    EXPECT_EQ(std::set<std::int32_t>(row.movers.begin(), row.movers.end()).size(), 1000u);
    double last = -1, first = 1e9;
    for (std::int32_t k = 1; k < parts.first[1]; k++)
        last = std::max(last, row.z(row.movers[std::size_t(k - 1)]));
    for (std::int32_t k = parts.first[1]; k < parts.first[2]; k++)
        first = std::min(first, row.z(row.movers[std::size_t(k - 1)]));
    EXPECT_LT(last, first) << "one cut across z";
    EXPECT_NEAR(parts.first[1], 495, 25) << "about as many in each";
    for (std::int32_t k = parts.first[2]; k < parts.first[3]; k++)
        EXPECT_FALSE(row.bodies.hot[std::size_t(row.movers[std::size_t(k - 1)])].dynamic);
    EXPECT_EQ(parts.first[3] - parts.first[2], 10);
}

}  // namespace
}  // namespace talus
