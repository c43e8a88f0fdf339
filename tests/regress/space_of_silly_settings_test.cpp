// Settings of a space without sense: layers there are not, cells of no size, sub steps without end, friction
// that is no number. Each is brought into its limits.
#include "tests/dynamics/rigs.h"

#include <limits>

namespace talus {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// The table of layers has 16: it was read behind its end.
TEST(Regress, LayersBeyondFifteenCountByTheirLastFourBits) {
    for (const int number : {16, 23, 200, 255}) {
        Rig rig;
        rig.space.set_ground(0.0);
        const Layer layer{std::uint8_t(number)}, same{std::uint8_t(number & 15)};
        BodySettings s;
        s.layer = layer;
        Body made = rig.cube({0, 0.5, 0}, 1, s), changed = rig.cube({4, 0.5, 0});
        changed.set_layer(layer);
        EXPECT_EQ(made.layer(), same);
        EXPECT_EQ(changed.layer(), same);
        rig.run(0.5f);
        EXPECT_NEAR(made.center_of_mass().y, 0.5, 0.01) << number;
        rig.space.set_layers_collide(layer, Layer::terrain, false);
        rig.run(1);
        EXPECT_LT(made.center_of_mass().y, -2) << number;
        EXPECT_LT(changed.center_of_mass().y, -2) << number;
    }
}

TEST(Regress, SpacesOfSillySettings) {
    for (const float size : {0.0f, -1.0f, 1e-30f, kNan, kInf}) {
        SpaceSettings s;
        s.cell_size = size;
        BlockGround ground(2, 1);
        Rig rig(s);
        const float used = rig.space.settings().cell_size;
        EXPECT_TRUE(used >= 1e-3f && used <= 1e3f) << size;
        rig.space.set_terrain(&ground.grid);
        rig.cube({0, 0.5, 0});
        rig.run(0.2f);
        rig.space.cast_ray({0, 5, 0}, {0, -1, 0}, 100);
        rig.space.overlap_sphere({0, 5, 0}, 10);
        rig.space.terrain_changed({{0, 0, 0}, {1, 1, 1}});
        EXPECT_TRUE(BodyShape::from_grid(ground.grid, size).mass(1) >= 0 || std::isinf(size));
    }
    for (const int subs : {-5, 1, 100'000, std::numeric_limits<int>::max()}) {
        SpaceSettings s;
        s.sub_steps = subs;
        Rig rig(s);
        rig.space.set_ground(0.0);
        Body b = rig.cube({0, 0.5, 0});
        rig.space.step(1.0f / 20);
        EXPECT_NEAR(b.center_of_mass().y, 0.5, 0.02) << subs;
    }
    for (const float friction : {kNan, kInf, -3.0f}) {
        Rig rig(no_sleep());
        rig.space.set_ground(0.0, friction);
        Body b = rig.cube({0, 0.5, 0});
        b.set_velocity({3, 0, 0});
        rig.run(2);
        EXPECT_NEAR(b.center_of_mass().y, 0.5, 0.01) << friction;
        EXPECT_TRUE(rig.space.quarantined().empty());
        EXPECT_EQ(length(b.velocity()) > 2.9f, friction < 0) << friction << ": none is none";
    }
}

}  // namespace
}  // namespace talus
