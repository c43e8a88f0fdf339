// The examples of docs/DYNAMICS.md, compiled and run; the last test finds an example that is not here.
#include <talus/density_field.h>
#include <talus/level.h>
#include <talus/space.h>

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

TEST(DocExample, ACrateLandsAndIsPushed) {
    // clang-format off
talus::Space space;
space.set_ground(0.0);                                   // or set_terrain(&grid), set_smooth_ground(&field)

talus::BodySettings crate;                               // density, friction, layer, ... have defaults
crate.pose.position = {0, 3, 0};
talus::Body body = space.add_body(talus::BodyShape::unit_cube(), crate);
talus::BodySettings at;
at.pose.position = {5, 0.9, 0};
talus::Body player = space.add_body(talus::BodyShape::capsule(0.3f, 0.6f), at);

for (int tick = 0; tick < 40; tick++) {
    body.add_force({0, 100, 0});                         // lasts this step
    space.step(1.0f / 20);
    for (const talus::Contact& c : space.contacts())
        if (c.began && c.approach_speed > 3) { /* a sound, as loud as c.impulse */ }
}
if (auto hit = space.cast_ray({0, 10, 0}, {0, -1, 0}, 20)) hit->body.add_impulse({0, 5000, 0});
    // clang-format on
    EXPECT_TRUE(player.exists());
    EXPECT_NEAR(body.center_of_mass().y, 0.5, 0.02);
    EXPECT_GT(body.velocity().y, 4);
}

TEST(DocExample, ALevelOnHills) {
    // clang-format off
struct Hills : talus::DensitySource {                    // metres inside the ground, at each corner of the cells
    float density_at(talus::Cell s) const override { return 0.25f * float((s.x & 15) < 8 ? s.x & 7 : 7 - (s.x & 7)) - float(s.y); }
};

Hills hills;
talus::Level level;
level.set_smooth_terrain(&hills, level.table().add(*talus::find_real_material("earth")));
level.dig({4, 1, 0}, 3);                                 // as a script; blasts and carving dig as well
level.blast({20, 1, 0}, 4);
for (int tick = 0; tick < 20; tick++) level.tick();
auto hit = level.cast_ray({4, 30, 0}, {0, -1, 0}, 60);   // hit->smooth, hit->outward
    // clang-format on
    ASSERT_TRUE(hit);
    EXPECT_TRUE(hit->smooth);
    EXPECT_NEAR(hit->point.y, -2, 0.2);
}

/// Without what goes from `from` to the next `to`.
std::string without(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
        const std::size_t end = text.find(to, at);
        text.erase(at, end == std::string::npos ? end : end + to.size() - at);
    }
    return text;
}

/// Without comments and white space.
std::string bare(const std::string& text) {
    std::string out = without(without(text, "/*", "*/"), "//", "\n");
    std::erase_if(out, [](unsigned char c) { return std::isspace(c) != 0; });
    return out;
}

std::string read(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
}

TEST(DocExample, EveryExampleIsInThisFile) {
    const std::string root = TALUS_SOURCE_DIR;
    const std::string doc = read(root + "/docs/DYNAMICS.md");
    const std::string here = bare(read(root + "/tests/dynamics/doc_example_test.cpp"));
    ASSERT_FALSE(doc.empty());
    int examples = 0;
    for (std::size_t at = 0; (at = doc.find("```cpp\n", at)) != std::string::npos; examples++) {
        at += 7;
        const std::size_t end = doc.find("```", at);
        const std::string code = without(doc.substr(at, end - at), "#include", "\n");
        EXPECT_NE(here.find(bare(code)), std::string::npos) << code;
        at = end;
    }
    EXPECT_EQ(examples, 2);
}
