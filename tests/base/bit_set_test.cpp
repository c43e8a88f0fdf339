#include "base/bit_set.h"

#include <gtest/gtest.h>

#include <set>

namespace talus {
namespace {

std::vector<std::int32_t> list_of(const BitSet& s) {
    std::vector<std::int32_t> list;
    s.each([&](std::int32_t i) { list.push_back(i); });
    return list;
}

TEST(BitSet, HoldsWhatASetHolds) {
    BitSet bits, other;
    std::set<std::int32_t> set, other_set;
    std::uint32_t random = 1;
    auto next = [&](std::uint32_t below) {
        return (random = random * 1664525u + 1013904223u) / 65536 % below;
    };
    for (int n = 0; n < 3000; n++) {
        const auto i = std::int32_t(next(20) ? next(700) : next(20000));
        EXPECT_EQ(bits[i], set.count(i) > 0);
        const bool in = next(3) == 0;
        bits.put(i, in);
        in ? (void)set.insert(i) : (void)set.erase(i);
        const auto j = std::int32_t(next(300));
        other.set(j);
        other_set.insert(j);
        if (n % 50) continue;
        ASSERT_EQ(list_of(bits), std::vector<std::int32_t>(set.begin(), set.end()));
        ASSERT_EQ(bits.count(), set.size());
        std::vector<std::int32_t> both, one;
        BitSet::each_of(bits, other, [&](std::int32_t k) { both.push_back(k); });
        BitSet::each_difference(bits, other, [&](std::int32_t k) { one.push_back(k); });
        std::set<std::int32_t> all = set;
        all.insert(other_set.begin(), other_set.end());
        ASSERT_EQ(both, std::vector<std::int32_t>(all.begin(), all.end()));
        std::vector<std::int32_t> expected;
        for (const std::int32_t k : all)
            if (set.count(k) != other_set.count(k)) expected.push_back(k);
        ASSERT_EQ(one, expected);
        BitSet sum = bits;
        sum |= other;
        ASSERT_EQ(list_of(sum), both);
    }
    bits.clear();
    EXPECT_TRUE(list_of(bits).empty());
    EXPECT_FALSE(bits[100000]);
    bits.reset(100000);  // nothing there
}

}  // namespace
}  // namespace talus
