// Case 22, space level: nonsense through every door stays with the body it was given to.
#include "rigs.h"
#include "tests/log_lines.h"

#include <limits>

namespace talus {
namespace {

using Door = void (*)(Rig&, Body, float);

struct NamedDoor {
    const char* name;
    Door open;
};
const NamedDoor kDoors[] = {
    {"pose x",
     [](Rig&, Body b, float v) {
         b.set_pose({{double(v), 2, 0}, {}});
     }},
    {"pose rotation",
     [](Rig&, Body b, float v) {
         b.set_pose({{0, 1.5, 0}, {v, 0, 0, 1}});
     }},
    {"velocity",
     [](Rig&, Body b, float v) {
         b.set_velocity({0, v, 0});
     }},
    {"spin",
     [](Rig&, Body b, float v) {
         b.set_spin({v, 0, 0});
     }},
    {"force",
     [](Rig&, Body b, float v) {
         b.activate(), b.add_force({0, -v, v});
     }},
    {"force at",
     [](Rig&, Body b, float v) {
         b.activate(), b.add_force_at({v, v, v}, {0.5, 2, 0});
     }},
    {"far force",
     [](Rig&, Body b, float v) {
         b.activate(), b.add_force_at({1, 0, 0}, {0, double(v), 0});
     }},
    {"torque",
     [](Rig&, Body b, float v) {
         b.activate(), b.add_torque({v, -v, 0});
     }},
    {"impulse",
     [](Rig&, Body b, float v) {
         b.add_impulse({v, v, v});
     }},
    {"impulse at",
     [](Rig&, Body b, float v) {
         b.add_impulse_at({v, 0, 0}, {0, 2, 0});
     }},
    {"far impulse",
     [](Rig&, Body b, float v) {
         b.add_impulse_at({1, 0, 0}, {0, double(v), 0});
     }},
    {"friction", [](Rig&, Body b, float v) { b.set_friction(v); }},
    {"restitution", [](Rig&, Body b, float v) { b.set_restitution(v); }},
    {"gravity factor", [](Rig&, Body b, float v) { b.set_gravity_factor(v); }},
    {"damping", [](Rig&, Body b, float v) { b.set_damping(v, v, v); }},
};

bool all_finite(Space& space) {
    bool good = true;
    space.for_each_body(
        [](void* context, Body b) {
            const Pose p = b.pose();
            const DBox box = b.bounds();
            const bool finite =
                is_finite(p.position) && std::isfinite(p.rotation.x + p.rotation.y + p.rotation.z) &&
                is_finite(b.velocity()) && is_finite(b.spin()) && is_finite(box.min) && is_finite(box.max) &&
                std::fabs(p.position.x) + std::fabs(p.position.y) + std::fabs(p.position.z) < 4e9;
            *static_cast<bool*>(context) = *static_cast<bool*>(context) && finite;
        },
        &good);
    for (const Contact& c : space.contacts())
        good = good && is_finite(c.point) && is_finite(c.normal) && std::isfinite(c.impulse) &&
               std::isfinite(c.approach_speed);
    return good;
}

class QuarantineTest : public testing::TestWithParam<int> {};

TEST_P(QuarantineTest, TheRestGoesOn) {
    const NamedDoor& door = kDoors[GetParam()];
    const float inf = std::numeric_limits<float>::infinity();
    for (const float value : {std::nanf(""), inf, -inf, 3e38f, -3e38f, 1e30f, 1e12f, 1e-42f}) {
        Rig rig;
        rig.space.set_ground(0.0);
        rig.cube({0, 0.5, 0});
        Body bad = rig.cube({0, 1.5, 0});
        rig.cube({0, 2.5, 0});
        Body far = rig.cube({40, 0.5, 0});
        rig.run(0.5f);
        const Pose before = bad.pose();
        const Pose far_before = far.pose();
        door.open(rig, bad, value);
        bool reported = false;
        for (int i = 0; i < 120; i++) {
            rig.space.step(kTick);
            ASSERT_TRUE(all_finite(rig.space)) << door.name << " " << value << " step " << i;
            for (const BodyId id : rig.space.quarantined()) {
                EXPECT_EQ(id, bad.id()) << door.name << " " << value;
                reported = true;
            }
        }
        if (!std::isfinite(value)) {
            EXPECT_TRUE(reported) << door.name << " " << value;
            EXPECT_EQ(bad.motion(), MotionType::fixed) << door.name;
            EXPECT_LT(length(bad.pose().position - before.position), 0.01) << door.name;
        }
        EXPECT_EQ(rig.space.body_count(), 4u);
        EXPECT_LT(length(far.pose().position - far_before.position), 0.01) << door.name << " " << value;
        // It can be let go again.
        if (reported) {
            bad.set_motion(MotionType::dynamic);
            rig.run(0.2f);
            EXPECT_TRUE(all_finite(rig.space));
        }
    }
}
INSTANTIATE_TEST_SUITE_P(Doors, QuarantineTest, testing::Range(0, int(std::size(kDoors))));

TEST(Quarantine, SettingsAreADoorToo) {
    const float inf = std::numeric_limits<float>::infinity();
    for (int field = 0; field < 12; field++)
        for (const float value : {std::nanf(""), inf, -inf}) {
            Rig rig;
            rig.space.set_ground(0.0);
            Body good = rig.cube({0, 0.5, 0});
            BodySettings s;
            s.pose.position = {0.2, 1.6, 0};
            float* const floats[] = {&s.velocity.x,      &s.spin.y,         &s.density,
                                     &s.friction,        &s.restitution,    &s.linear_damping,
                                     &s.angular_damping, &s.gravity_factor, &s.rolling_resistance,
                                     &s.pose.rotation.x, &s.pose.rotation.w};
            if (field < 11)
                *floats[field] = value;
            else
                s.pose.position.z = double(value);
            Body bad = rig.space.add_body(BodyShape::unit_cube(), s);
            bool reported = false;
            for (int i = 0; i < 60; i++) {
                rig.space.step(kTick);
                reported = reported ||
                           (rig.space.quarantined().size() == 1 && rig.space.quarantined()[0] == bad.id());
                ASSERT_TRUE(all_finite(rig.space)) << field << " " << value;
            }
            EXPECT_TRUE(reported) << field << " " << value;
            EXPECT_NEAR(good.center_of_mass().y, 0.5, 0.02) << field << " " << value;
        }
}

TEST(Quarantine, AbsurdShapesAndSteps) {
    Rig rig;
    rig.space.set_ground(0.0);
    Body good = rig.cube({0, 0.5, 0});
    ShapeBox box;
    box.box = {{-1, -1, -1}, {1, 1, std::numeric_limits<float>::quiet_NaN()}};
    EXPECT_TRUE(BodyShape(std::span<const ShapeBox>(&box, 1)).is_empty());
    BodySettings s;
    s.density = 3e38f;
    s.pose.position = {50, 5, 0};
    Body heavy = rig.space.add_body(BodyShape::box({100, 1, 1}), s);
    s.density = -5;
    Body negative = rig.space.add_body(BodyShape::unit_cube(), s);
    for (const float dt : {std::nanf(""), -1.0f, 0.0f, INFINITY, kTick}) rig.space.step(dt);
    EXPECT_EQ(rig.space.quarantined().size(), 2u);
    rig.run(1);
    EXPECT_TRUE(all_finite(rig.space));
    EXPECT_EQ(heavy.motion(), MotionType::fixed);
    EXPECT_EQ(negative.motion(), MotionType::fixed);
    EXPECT_NEAR(good.center_of_mass().y, 0.5, 0.01);
}

/// A limit that a contact runs into is no more silent than one that a caller does.
TEST(Quarantine, ASpinThatAHitGivesIsCutAndReported) {
    for (const float speed : {5.0f, 120.0f}) {
        LogLines lines;
        SpaceSettings settings = no_gravity();
        settings.log = &lines;
        Rig rig(settings);
        BodySettings s;
        Body rod = rig.box({}, {0.5f, 0.05f, 0.05f}, s);
        s.velocity = {0, 0, speed};
        s.density = 20000;
        s.pose.position = {0.45, 0, -1};
        rig.space.add_body(BodyShape::sphere(0.2f), s);
        float fastest = 0;
        for (int i = 0; i < 60; i++) {
            rig.space.step(kTick);
            fastest = std::max(fastest, length(rod.spin()));
        }
        EXPECT_GT(fastest, 5);
        EXPECT_LT(fastest, 48.01f);
        EXPECT_EQ(lines.has("was slowed"), speed > 100) << fastest;
    }
}

}  // namespace
}  // namespace talus
