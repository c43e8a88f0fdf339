#include "grid/cell_map.h"

#include <gtest/gtest.h>

#include <map>

namespace talus {
namespace {

std::uint32_t next_random(std::uint32_t& state) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

TEST(CellMap, IsAsAMapOfTheStandardLibrary) {
    CellMap<float> map;
    std::map<Cell, float> model;
    std::uint32_t random = 1;
    for (int i = 0; i < 20'000; i++) {
        // First it grows to thousands, then it shrinks to a few.
        const int edge = i < 10'000 ? 40 : 12;
        auto pick = [&] { return int(next_random(random) % std::uint32_t(edge)) - edge / 2; };
        const Cell cell{pick(), pick(), pick()};
        if (i < 10'000 ? next_random(random) % 4 : next_random(random) % 4 == 0) {
            map[cell] += float(i);
            model[cell] += float(i);
        } else {
            map.erase(cell);
            model.erase(cell);
        }
        ASSERT_EQ(map.size(), model.size());
        const Cell asked{pick(), pick(), pick()};
        const auto known = model.find(asked);
        const float* found = map.find(asked);
        ASSERT_EQ(found != nullptr, known != model.end());
        if (!found) continue;
        ASSERT_EQ(*found, known->second);
    }
    ASSERT_GT(model.size(), 100u);
    ByteWriter bytes, bytes_of_model;
    bytes(map);
    bytes_of_model(model);
    EXPECT_EQ(bytes.bytes, bytes_of_model.bytes) << "not the same, or not in order";

    CellMap<float> back;
    ByteReader reader(bytes.bytes);
    reader(back);
    ASSERT_TRUE(reader.ok());
    ByteWriter again;
    again(back);
    EXPECT_EQ(again.bytes, bytes.bytes);

    while (!model.empty()) {
        map.erase(model.begin()->first);
        model.erase(model.begin());
    }
    EXPECT_TRUE(map.empty());
    EXPECT_EQ(map.find({}), nullptr);
}

}  // namespace
}  // namespace talus
