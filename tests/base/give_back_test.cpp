#include "base/give_back.h"

#include <gtest/gtest.h>

#include <memory>

namespace talus {
namespace {

TEST(GiveBack, ContentStaysAndMemoryGoesOnlyWhenLittleIsUsed) {
    std::vector<std::unique_ptr<int>> v;
    for (int i = 0; i < 100'000; i++) v.push_back(std::make_unique<int>(i));
    const std::size_t full = v.capacity();
    v.resize(50'000);
    give_back(v);
    EXPECT_EQ(v.capacity(), full);  // half is no waste
    v.resize(1000);
    give_back(v);
    EXPECT_LT(v.capacity(), 2000u);
    ASSERT_EQ(v.size(), 1000u);
    for (int i = 0; i < 1000; i++) EXPECT_EQ(*v[std::size_t(i)], i);
    v.clear();
    v.shrink_to_fit();
    give_back(v);
    EXPECT_TRUE(v.empty());
}

TEST(GiveBack, ScratchHasTheLengthAskedFor) {
    std::vector<double> v;
    resize_scratch(v, 1'000'000);
    EXPECT_EQ(v.size(), 1'000'000u);
    const std::size_t full = v.capacity();
    resize_scratch(v, 300'000);
    EXPECT_EQ(v.capacity(), full);
    resize_scratch(v, 10);
    EXPECT_EQ(v.size(), 10u);
    EXPECT_LT(v.capacity() * sizeof(double), 2 * kSpareBytes);
    v.reserve(1'000'000);
    clear_scratch(v);
    EXPECT_TRUE(v.empty());
    EXPECT_EQ(v.capacity(), 0u);
    v.reserve(100);  // small: kept
    clear_scratch(v);
    EXPECT_GE(v.capacity(), 100u);
}

}  // namespace
}  // namespace talus
