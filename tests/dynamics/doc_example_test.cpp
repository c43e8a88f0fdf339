// The example of docs/DYNAMICS.md, compiled and run.
#include <talus/density_field.h>
#include <talus/space.h>

#include <gtest/gtest.h>

TEST(DocExample, ACrateLandsAndIsPushed) {
    talus::Space space;
    space.set_ground(0.0);

    talus::BodySettings crate;
    crate.pose.position = {0, 3, 0};
    talus::Body body = space.add_body(talus::BodyShape::unit_cube(), crate);
    talus::BodySettings at;
    at.pose.position = {5, 0.9, 0};
    talus::Body player = space.add_body(talus::BodyShape::capsule(0.3f, 0.6f), at);

    int sounds = 0;
    for (int tick = 0; tick < 40; tick++) {
        body.add_force({0, 100, 0});
        space.step(1.0f / 20);
        for (const talus::Contact& c : space.contacts())
            if (c.began && c.approach_speed > 3) sounds++;
    }
    EXPECT_GT(sounds, 0);
    EXPECT_NEAR(body.center_of_mass().y, 0.5, 0.02);
    EXPECT_TRUE(player.exists());
    const auto hit = space.cast_ray({0, 10, 0}, {0, -1, 0}, 20);
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->body, body);
    talus::Body(hit->body).add_impulse({0, 5000, 0});
    EXPECT_GT(body.velocity().y, 4);
}
