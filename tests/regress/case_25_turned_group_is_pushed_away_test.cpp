// Case 25: whichever way a group is turned, a blast on its world +X side pushes it along world -X.
#include "talus/level.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

Vec3 pushed(Quat rotation) {
    LevelSettings settings;
    settings.gravity = {};
    settings.floor = -1e6;
    Level level(settings);
    Material hard = *find_real_material("planks");
    hard.blast_resistance = 1000;
    const BlockId block = level.table().add(hard);
    Grid grid(level.table());
    for (int y = 0; y < 3; y++)
        for (int z = 0; z < 3; z++)
            for (int x = 0; x < 3; x++) grid.set({x + 5, y - 2, z + 1}, block);  // away from its own zero
    const DVec3 middle{100, 50, -30};
    GroupSettings at;
    at.pose = {middle - to_double(rotate(rotation, Vec3{6.5f, -0.5f, 2.5f})), rotation};
    const GroupId id = level.add_group(std::move(grid), at);
    EXPECT_EQ(level.blast(middle + DVec3{4, 0, 0}, 4), 0u) << "it breaks nothing";
    return level.group(id)->body.velocity();
}

TEST(Regress, Case25ATurnedGroupIsPushedAwayFromTheBlast) {
    const Vec3 straight = pushed({});
    EXPECT_LT(straight.x, -0.1f);
    const float right = 1.5707963f;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < 4; c++) {
                const Quat q = axis_angle({1, 0, 0}, right * float(a)) *
                               axis_angle({0, 1, 0}, right * float(b)) *
                               axis_angle({0, 0, 1}, right * float(c));
                const Vec3 v = pushed(normalized(q));
                EXPECT_NEAR(v.x, straight.x, 0.02f * -straight.x) << a << b << c;
                EXPECT_LT(std::abs(v.y), 0.02f * -straight.x) << a << b << c;
                EXPECT_LT(std::abs(v.z), 0.02f * -straight.x) << a << b << c;
            }
    for (int i = 1; i < 20; i++) {  // any other rotation: the face turned towards it is another one
        const Vec3 v = pushed(axis_angle({float(i % 3) - 1, 1, float(i % 5) - 2}, 0.31f * float(i)));
        EXPECT_LT(v.x, 0.5f * straight.x) << i;
        EXPECT_LT(std::abs(v.y), 0.5f * -v.x) << i;
        EXPECT_LT(std::abs(v.z), 0.5f * -v.x) << i;
    }
}

}  // namespace
}  // namespace talus
