// The tree of boxes against a list of them.
#include "dynamics/box_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace talus {
namespace {

struct Random {
    std::uint32_t state = 1;
    std::uint32_t below(std::uint32_t n) { return (state = state * 1664525u + 1013904223u) / 65536 % n; }
    float real(float from, float to) { return from + (to - from) * float(below(65536)) / 65536; }
    Bounds box(float reach, float size) {
        const Vec3 at{real(-reach, reach), real(-reach, reach), real(-reach, reach)};
        return {at, at + Vec3{real(0, size), real(0, size), real(0, size)}};
    }
};

TEST(BoxTree, FindsWhatAListFinds) {
    BoxTree tree;
    std::map<std::int32_t, Bounds> list;
    Random random;
    for (int n = 0; n < 20000; n++) {
        const auto name = std::int32_t(random.below(500));
        if (random.below(4) == 0) {
            tree.remove(name);
            list.erase(name);
        } else {
            const bool far = random.below(8) == 0;
            Bounds box = random.box(far ? 400.0f : 30.0f, far ? 50.0f : 2.0f);
            if (list.count(name) && random.below(2)) {  // a little aside
                box = list[name];
                const float by = random.real(-0.2f, 0.2f);
                box.lo.x += by, box.hi.x += by;
            }
            tree.put(name, box);
            list[name] = box;
        }
        ASSERT_EQ(tree.has(name), list.count(name) > 0);
        if (n % 2500 == 2499) {
            for (std::int32_t i = 0; i < 500; i++)
                if (i % 7) {
                    tree.remove(i);
                    list.erase(i);
                }
        }
        if (n % 40) continue;
        const Bounds region = random.box(40, random.below(2) ? 3.0f : 60.0f);
        std::vector<std::int32_t> found, expected;
        tree.each_in(region, [&](std::int32_t i) { found.push_back(i); });
        for (const auto& [i, box] : list)
            if (box.meets(region)) expected.push_back(i);
        std::sort(found.begin(), found.end());
        ASSERT_EQ(found, expected);
    }
    while (!list.empty()) {
        tree.remove(list.begin()->first);
        list.erase(list.begin());
    }
    tree.each_in({{-1e9f, -1e9f, -1e9f}, {1e9f, 1e9f, 1e9f}}, [](std::int32_t) { ADD_FAILURE(); });
}

/// Depths stay those of a balanced tree, in whatever order boxes come.
TEST(BoxTree, StaysShallow) {
    constexpr int kMany = 1 << 14;
    for (const int order : {0, 1, 2}) {
        BoxTree tree;
        for (int n = 0; n < kMany; n++) {
            const int i = order == 0 ? n : order == 1 ? kMany - n : n * 7919 % kMany;
            const Vec3 at{float(i), 0, 0};
            tree.put(i, {at, at + Vec3{order == 2 ? float(i) : 0.5f, 1, 1}});
        }
        EXPECT_LE(tree.height(), 1.45 * std::log2(double(kMany)) + 1) << "order " << order;
        for (int i = 0; i < kMany; i++)
            if (i % 16) tree.remove(i);
        EXPECT_LE(tree.height(), 1.45 * std::log2(kMany / 16.0) + 1) << "order " << order;
    }
}

TEST(BoxTree, GivesMemoryBack) {
    BoxTree tree;
    const Bounds box{{0, 0, 0}, {1, 1, 1}};
    for (int i = 0; i < 10000; i++) tree.put(i, box);
    const std::size_t full = tree.memory();
    for (int i = 0; i < 9900; i++) tree.remove(i);
    EXPECT_LT(tree.memory(), full / 10);
    int found = 0;
    tree.each_in(box, [&](std::int32_t i) { found += i >= 9900; });
    EXPECT_EQ(found, 100);
}

}  // namespace
}  // namespace talus
