// Walls and pyramids of loose cubes stand with sleep off, and sway no more than they sink: it was a
// centimetre in ten seconds, and growing, when contacts were solved in the order in which bodies were made.
#include "rigs.h"

#include <algorithm>

namespace talus {
namespace {

struct Moved {
    double sideways = 0, down = 0;  // of the highest cubes, the most
};

/// Rows of cubes on the ground; those of a pyramid are shorter by one each, and lie on two below.
/// @param backwards  bodies are made from the top right down
Moved let_stand(bool pyramid, bool backwards, int rows, float seconds) {
    Rig rig(no_sleep());
    rig.space.set_ground(0);
    std::vector<DVec3> places;
    for (int row = 0; row < rows; row++)
        for (int k = 0; k < rows - (pyramid ? row : 0); k++)
            places.push_back({k - 0.5 * rows + (pyramid ? 0.5 * row : 0), row + 0.5, 0});
    const DVec3 top = places.back();
    if (backwards) std::reverse(places.begin(), places.end());
    std::vector<Body> cubes;
    for (const DVec3& p : places) cubes.push_back(rig.cube(p));
    rig.run(seconds);
    Moved moved;
    for (std::size_t i = 0; i < places.size(); i++) {
        if (places[i].y < top.y) continue;
        const DVec3 d = cubes[i].center_of_mass() - places[i];
        moved.sideways = std::max(moved.sideways, std::sqrt(d.x * d.x + d.z * d.z));
        moved.down = std::max(moved.down, -d.y);
    }
    return moved;
}

TEST(Standing, PyramidOfLooseCubes) {
    for (const bool backwards : {false, true}) {
        const Moved m = let_stand(true, backwards, 20, 20);
        EXPECT_LT(m.sideways, 0.005) << backwards;
        EXPECT_LT(m.down, 0.006) << backwards;
    }
}

TEST(Standing, WallOfLooseCubes) {
    for (const bool backwards : {false, true}) {
        const Moved m = let_stand(false, backwards, 20, 20);
        EXPECT_LT(m.sideways, 0.006) << backwards;
        EXPECT_LT(m.down, 0.006) << backwards;
    }
}

}  // namespace
}  // namespace talus
