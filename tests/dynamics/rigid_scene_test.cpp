// The scene reader.
#include "scenes/rigid_scene.h"

#include <gtest/gtest.h>

namespace talus::scenes {
namespace {

TEST(RigidScene, ReadsATerrainAndPieces) {
    const auto s = parse_rigid_scene(
        "talus-scene 1\n# words\nfriction 0.4\ndensity 900\ndt 0.05\nsteps 7\n"
        "terrain columns 2 3 origin -1 -2 bottom -4\n1 2\n3 4\n5 6\n"
        "piece 1 2 3  0 0 0 2  2\n0 0 0  1 0 0\n");
    ASSERT_TRUE(s.ok());
    EXPECT_EQ(s->friction, 0.4f);
    EXPECT_EQ(s->steps, 7);
    EXPECT_FALSE(s->flat);
    EXPECT_EQ(s->tops, (std::vector<int>{1, 2, 3, 4, 5, 6}));
    ASSERT_EQ(s->pieces.size(), 1u);
    EXPECT_EQ(s->pieces[0].cubes.size(), 2u);
    EXPECT_EQ(s->pieces[0].rotation.w, 1);
    EXPECT_EQ(s->pieces[0].local_center().x, 1);
    const PlacedScene placed = place(*s);
    EXPECT_EQ(placed.terrain->block_count(), 21u + 24u);
    EXPECT_NEAR(length(placed.body_of[0].center_of_mass() - DVec3{1, 2, 3}), 0, 1e-6);
    EXPECT_NEAR(placed.body_of[0].mass(), 1800, 1e-3f);
}

TEST(RigidScene, BadTextIsAnErrorThatNamesTheLine) {
    EXPECT_FALSE(parse_rigid_scene("").ok());
    EXPECT_FALSE(parse_rigid_scene("talus-scene 2\n").ok());
    const auto cut = parse_rigid_scene("talus-scene 1\nfriction 0.4\npiece 1 2 3 0 0 0 1 5\n0 0 0 1");
    ASSERT_FALSE(cut.ok());
    EXPECT_NE(cut.error().message.find("line 4"), std::string::npos) << cut.error().message;
    EXPECT_FALSE(parse_rigid_scene("talus-scene 1\nbanana 3\n").ok());
    EXPECT_FALSE(parse_rigid_scene("talus-scene 1\nterrain columns 1000000 2 origin 0 0 bottom 0\n").ok());
    EXPECT_FALSE(parse_rigid_scene("talus-scene 1\ndt nan\n").ok());
}

}  // namespace
}  // namespace talus::scenes
