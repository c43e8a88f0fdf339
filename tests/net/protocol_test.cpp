#include "talus/protocol.h"

#include "net/decode.h"
#include "wire_world.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

namespace talus {
namespace {

template <class T>
T request_back(const T& request) {
    const auto bytes = encode_request(request);
    const auto back = decode_request(bytes);
    EXPECT_TRUE(back.ok()) << (back.ok() ? "" : back.error().message);
    EXPECT_TRUE(std::holds_alternative<T>(*back));
    return std::get<T>(*back);
}

TEST(Protocol, RequestsComeBack) {
    const auto blast = request_back(BlastRequest{{1.25, -3, 1e7 + 0.5}, 7.5f});
    EXPECT_EQ(blast.point, (DVec3{1.25, -3, 1e7 + 0.5}));
    EXPECT_EQ(blast.power, 7.5f);
    const auto dig = request_back(DigRequest{77, {-5, 1000, 3}});
    EXPECT_EQ(dig.group, 77u);
    EXPECT_EQ(dig.cell, (Cell{-5, 1000, 3}));
    const auto upload = request_back(UploadRequest{"house.vox", {1, 2, 3, 0, 255}});
    EXPECT_EQ(upload.name, "house.vox");
    EXPECT_EQ(upload.bytes, (std::vector<std::uint8_t>{1, 2, 3, 0, 255}));
    request_back(ResetRequest{});
}

TEST(Protocol, ForgedRequestsAreRefused) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const float power :
         {0.0f, -1.0f, kMaxBlastPower * 1.01f, nan, std::numeric_limits<float>::infinity()})
        EXPECT_FALSE(decode_request(encode_request(BlastRequest{{0, 0, 0}, power})).ok()) << power;
    for (const double far : {2e9, -1e300, double(nan)})
        EXPECT_FALSE(decode_request(encode_request(BlastRequest{{0, far, 0}, 4})).ok()) << far;
    EXPECT_FALSE(decode_request(encode_request(DigRequest{1, {0, kMaxCell + 1, 0}})).ok());
    EXPECT_FALSE(decode_request(encode_request(DigRequest{1, {INT32_MIN, 0, 0}})).ok());
    EXPECT_FALSE(decode_request(encode_request(UploadRequest{"empty", {}})).ok());
    const auto big =
        decode_request(encode_request(UploadRequest{"big", std::vector<std::uint8_t>(kMaxUpload + 1)}));
    ASSERT_FALSE(big.ok());
    EXPECT_EQ(big.error().code, ErrorCode::too_large);
    EXPECT_TRUE(
        decode_request(encode_request(UploadRequest{"most", std::vector<std::uint8_t>(kMaxUpload)})).ok());
    EXPECT_FALSE(decode_request({}).ok());
}

TEST(Protocol, UploadNamesAreMadeSafeForTheLog) {
    EXPECT_EQ(request_back(UploadRequest{"a\nb\x1b[31m", {1}}).name, "a?b?[31m");
    EXPECT_EQ(request_back(UploadRequest{"", {1}}).name, "upload");
    EXPECT_EQ(request_back(UploadRequest{std::string(5000, 'x'), {1}}).name.size(), kMaxUploadName);
}

RC_GTEST_PROP(Protocol, RandomBytesAreNoRequest, (const std::vector<std::uint8_t>& bytes)) {
    const auto decoded = decode_request(bytes);
    RC_ASSERT(decoded.ok() || !decoded.error().message.empty());
}

Frame full_frame(WireWorld& w, const Grid& grid) {
    Frame f;
    f.groups.push_back(
        WireWorld::group(5, grid, {{1, 2, 3}, axis_angle({0, 1, 0}, 0.5f)}, {0.5f, 0.5f, 0.5f}));
    f.groups.push_back(WireWorld::group(9, grid, {{1e7, 2, 3}, {}}));
    f.edits.push_back({5, {{{0, 0, 0}, kAir}, {{-1, 0, 0}, w.bricks}}});
    f.poses.push_back({9, {{1e7, 2.5, 3}, axis_angle({1, 0, 0}, 0.1f)}});
    f.effects.push_back({FrameEffect::Kind::blast, {1, 2, 3}, 4, 0x123456});
    f.stats = {12, 2, 1, 3.5f};
    return f;
}

TEST(Protocol, AFrameComesBack) {
    WireWorld w;
    Material torch = blockgame_stone();
    torch.solid = false;
    torch.color = 0xffcc00;
    const Box half{{0, 0, 0}, {1, 0.5f, 1}};
    w.table.add(BlockType{"torch", torch, BlockShape(std::span<const Box>{})});
    const BlockId slab = w.table.add(BlockType{"slab", blockgame_stone(), BlockShape({&half, 1})});
    std::mt19937 random(1);
    for (int i = 0; i < 3000; i++)
        w.terrain.set({int(random() % 50) - 25, int(random() % 20) - 10, int(random() % 50)},
                      BlockId(random() % w.table.size()));
    Grid grid = w.box(3, 9, 2);
    grid.set({40, 40, 40}, slab);

    DecodeState state;
    const auto message = decode_server_message(w.welcome(full_frame(w, grid)), state);
    ASSERT_TRUE(message.ok()) << message.error().message;
    ASSERT_TRUE(message->welcome && message->frame);
    EXPECT_EQ(message->welcome->ground, 0);
    EXPECT_EQ(message->welcome->cell_size, 1);
    // Blocks by their looks: ids may differ.
    auto same = [&](const Grid& a, const Grid& b) {
        EXPECT_EQ(a.block_count(), b.block_count());
        a.for_each([&](Cell c, BlockId) {
            EXPECT_EQ(a.type_at(c).name, b.type_at(c).name);
            EXPECT_EQ(a.type_at(c).shape, b.type_at(c).shape);
            EXPECT_EQ(a.type_at(c).material.color, b.type_at(c).material.color);
            EXPECT_EQ(a.type_at(c).material.solid, b.type_at(c).material.solid);
        });
    };
    same(w.terrain, *message->welcome->own_terrain);
    ASSERT_EQ(message->frame->groups.size(), 2u);
    same(grid, *message->frame->groups[0].own);
    EXPECT_EQ(message->frame->groups[1].pose.position.x, 1e7);
    EXPECT_EQ(message->frame->groups[0].pivot, (Vec3{0.5f, 0.5f, 0.5f}));
    ASSERT_EQ(message->frame->edits.size(), 1u);
    EXPECT_EQ(message->frame->edits[0].edits[1].cell, (Cell{-1, 0, 0}));
    EXPECT_EQ((*state.table)[message->frame->edits[0].edits[1].block].name, "bricks");
    EXPECT_EQ(message->frame->poses[0].pose.position.y, 2.5);
    EXPECT_EQ(message->frame->effects[0].color, 0x123456u);
    EXPECT_EQ(message->frame->stats.tick_ms, 3.5f);
}

TEST(Protocol, TheTableGrowsWithTheFrames) {
    WireWorld w;
    DecodeState state;
    ASSERT_TRUE(decode_server_message(w.welcome(), state).ok());
    const auto first_new = std::uint32_t(w.table.size());
    const BlockId glass = w.table.add(*find_real_material("glass"));
    Frame f;
    f.tick = ++w.tick;
    f.first_block = first_new;
    f.blocks = {w.table[glass]};
    f.edits.push_back({kTerrainId, {{{0, 0, 0}, glass}}});
    const auto message = decode_server_message(encode_frame(f), state);
    ASSERT_TRUE(message.ok()) << message.error().message;
    EXPECT_EQ((*state.table)[message->frame->edits[0].edits[0].block].name, "glass");
    // Told again, as a newcomer's neighbour may be: nothing doubles. A gap is an error.
    f.tick = ++w.tick;
    f.edits.clear();
    ASSERT_TRUE(decode_server_message(encode_frame(f), state).ok());
    EXPECT_EQ(state.ids.size(), w.table.size());
    f.tick = ++w.tick;
    f.first_block = std::uint32_t(w.table.size()) + 1;
    EXPECT_FALSE(decode_server_message(encode_frame(f), state).ok());
}

/// What a frame does wrong, and that it is refused after a sound welcome.
template <class Change>
void expect_refused(const char* what, Change&& change) {
    WireWorld w;
    const Grid grid = w.box(2, 2, 2);
    DecodeState state;
    Frame start;
    start.groups.push_back(WireWorld::group(5, grid, {}));
    ASSERT_TRUE(decode_server_message(w.welcome(std::move(start)), state).ok());
    Frame f;
    f.tick = w.tick + 1;
    f.first_block = std::uint32_t(w.table.size());
    change(f, w, grid);
    const auto message = decode_server_message(encode_frame(f), state);
    EXPECT_FALSE(message.ok()) << what;
    if (!message.ok()) {
        EXPECT_FALSE(message.error().message.empty());
    }
}

TEST(Protocol, FramesThatContradictTheWorldAreRefused) {
    using W = WireWorld;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    expect_refused("gap in ticks", [](Frame& f, W&, const Grid&) { f.tick++; });
    expect_refused("same tick", [](Frame& f, W&, const Grid&) { f.tick--; });
    expect_refused("removes what is not there", [](Frame& f, W&, const Grid&) { f.removed = {6}; });
    expect_refused("removes twice", [](Frame& f, W&, const Grid&) { f.removed = {5, 5}; });
    expect_refused("adds what is there",
                   [](Frame& f, W&, const Grid& g) { f.groups.push_back(W::group(5, g, {})); });
    expect_refused("group 0", [](Frame& f, W&, const Grid& g) { f.groups.push_back(W::group(0, g, {})); });
    expect_refused("moves what is not there", [](Frame& f, W&, const Grid&) { f.poses = {{6, {}}}; });
    expect_refused("edits what is not there", [](Frame& f, W&, const Grid&) {
        f.edits.push_back({6, {{{0, 0, 0}, kAir}}});
    });
    expect_refused("NaN", [&](Frame& f, W&, const Grid&) { f.poses = {{5, {{0, nan, 0}, {}}}}; });
    expect_refused("not a rotation", [](Frame& f, W&, const Grid&) { f.poses = {{5, {{}, {0, 0, 0, 0}}}}; });
    expect_refused("too far", [](Frame& f, W&, const Grid&) { f.poses = {{5, {{1e10, 0, 0}, {}}}}; });
    expect_refused("unknown block", [](Frame& f, W& w, const Grid&) {
        f.edits.push_back({5, {{{0, 0, 0}, BlockId(w.table.size())}}});
    });
    expect_refused("cell out of the world", [](Frame& f, W& w, const Grid&) {
        f.edits.push_back({kTerrainId, {{{INT32_MAX, 0, 0}, w.stone}}});
    });
    expect_refused("too many effects",
                   [](Frame& f, W&, const Grid&) { f.effects.resize(kMaxFrameEffects + 1); });
    expect_refused("effect nowhere", [&](Frame& f, W&, const Grid&) {
        f.effects.push_back({FrameEffect::Kind::dust, {nan, 0, 0}});
    });
}

TEST(Protocol, AFrameBeforeTheWelcomeIsRefused) {
    WireWorld w;
    DecodeState state;
    EXPECT_FALSE(decode_server_message(w.next(), state).ok());
}

TEST(Protocol, CutAndFlippedMessagesNeverCrash) {
    WireWorld w;
    for (int i = 0; i < 40; i++) w.terrain.set({i, i % 7, -i}, i % 2 ? w.stone : w.bricks);
    const Grid grid = w.box(3, 9, 2);
    const auto sound = w.welcome(full_frame(w, grid));
    for (std::size_t n = 0; n + 4 < sound.size(); n++) {  // the last bytes may be padding
        ClientWorld world;
        EXPECT_TRUE(world.receive(std::span(sound).first(n), 0).has_value()) << n;
        EXPECT_FALSE(world.stats().connected);
    }
    std::mt19937 random(9);
    int refused = 0;
    for (int round = 0; round < 4000; round++) {
        auto bytes = sound;
        for (int k = 0; k < 1 + round % 4; k++) bytes[random() % bytes.size()] = std::uint8_t(random());
        ClientWorld world;
        refused += world.receive(bytes, 0).has_value();
        world.advance(1);
        world.take_group_changes();
        world.pick({0, 5, 0}, {0, -1, 0}, 10);
    }
    EXPECT_GT(refused, 400);
}

TEST(Protocol, NoticesComeBack) {
    ClientWorld world;
    ASSERT_FALSE(world.receive(encode_notice(true, "no room"), 0));
    const auto notices = world.take_notices();
    ASSERT_EQ(notices.size(), 1u);
    EXPECT_TRUE(notices[0].error);
    EXPECT_EQ(notices[0].text, "no room");
    EXPECT_TRUE(world.take_notices().empty());
}

}  // namespace
}  // namespace talus
