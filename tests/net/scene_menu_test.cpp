// The menu of scenes on the wire: what the server offers comes to the page, and only numbers that can be
// scenes come back.
#include "talus/client_world.h"
#include "talus/protocol.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

std::vector<std::uint8_t> welcome_with(SceneMenu menu) {
    BlockTable table;
    const Grid terrain(table);
    Frame frame;
    frame.tick = 7;
    Welcome welcome;
    welcome.terrain = &terrain;
    welcome.menu = std::move(menu);
    return encode_frame(frame, &welcome);
}

TEST(SceneMenu, ComesWithTheWelcome) {
    ClientWorld world;
    ASSERT_FALSE(world.receive(welcome_with({{{"town", ""}, {"tower", "Blast"}}, 1}), 0).has_value());
    ASSERT_EQ(world.menu().entries.size(), 2u);
    EXPECT_EQ(world.menu().entries[0].title, "town");
    EXPECT_EQ(world.menu().entries[0].action, "");
    EXPECT_EQ(world.menu().entries[1].title, "tower");
    EXPECT_EQ(world.menu().entries[1].action, "Blast");
    EXPECT_EQ(world.menu().current, 1u);
    EXPECT_EQ(world.stats().welcomes, 1u);
    ASSERT_FALSE(world.receive(welcome_with({}), 1).has_value());
    EXPECT_TRUE(world.menu().entries.empty());
    EXPECT_EQ(world.stats().welcomes, 2u);
}

TEST(SceneMenu, BrokenOnesAreRefused) {
    const SceneMenu::Entry entry{"scene", ""};
    const SceneMenu broken[] = {
        {{entry}, 1},                                               // shows one that is not there
        {std::vector<SceneMenu::Entry>(kMaxScenes + 1, entry), 0},  // too many
        {{{std::string(kMaxSceneText + 1, 'x'), ""}}, 0},
        {{{"", std::string(kMaxSceneText + 1, 'x')}}, 0},
    };
    for (const SceneMenu& menu : broken) {
        ClientWorld world;
        EXPECT_TRUE(world.receive(welcome_with(menu), 0).has_value()) << menu.entries.size();
    }
}

TEST(SceneMenu, RequestsKeepTheirNumber) {
    for (const std::uint32_t number : {0u, 8u, std::uint32_t(kMaxScenes - 1)}) {
        const auto request = decode_request(encode_request(SceneRequest{number}));
        ASSERT_TRUE(request.ok());
        ASSERT_TRUE(std::holds_alternative<SceneRequest>(*request));
        EXPECT_EQ(std::get<SceneRequest>(*request).number, number);
    }
    EXPECT_FALSE(decode_request(encode_request(SceneRequest{std::uint32_t(kMaxScenes)})).ok());
    const auto act = decode_request(encode_request(ActRequest{}));
    ASSERT_TRUE(act.ok());
    EXPECT_TRUE(std::holds_alternative<ActRequest>(*act));
}

}  // namespace
}  // namespace talus
