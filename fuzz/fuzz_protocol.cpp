// Bytes of a hostile server or page: refused or played, never a crash. The first byte picks the side; the
// rest is cut into messages by two-byte lengths, behind a sound welcome or bare.

#include "talus/client_world.h"
#include "talus/protocol.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace {

const std::vector<std::uint8_t>& sound_welcome() {
    static const std::vector<std::uint8_t> bytes = [] {
        talus::BlockTable table;
        const talus::BlockId stone = table.add(talus::blockgame_stone());
        talus::Grid terrain(table), grid(table);
        for (int i = 0; i < 4; i++) terrain.set({i, 0, 0}, stone);
        grid.set({0, 0, 0}, stone);
        talus::Frame frame;
        frame.tick = 1;
        frame.blocks = {table[stone]};
        frame.groups.resize(1);
        frame.groups[0].id = 1;
        frame.groups[0].grid = &grid;
        talus::Welcome welcome;
        welcome.ground = 0;
        welcome.terrain = &terrain;
        return talus::encode_frame(frame, &welcome);
    }();
    return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    const std::uint8_t side = data[0];
    std::span<const std::uint8_t> rest(data + 1, size - 1);
    if (side & 1) {
        const auto request = talus::decode_request(rest);
        if (request && !talus::decode_request(talus::encode_request(*request))) std::abort();
        return 0;
    }
    talus::ClientWorld world;
    double now = 0;
    if ((side & 2) && world.receive(sound_welcome(), now)) std::abort();
    while (rest.size() >= 2) {
        std::size_t length = std::size_t(rest[0]) | std::size_t(rest[1]) << 8;
        rest = rest.subspan(2);
        length = length < rest.size() ? length : rest.size();
        if (world.receive(rest.first(length), now += 0.05)) world.reset();
        rest = rest.subspan(length);
        world.advance(now);
        world.take_chunk_changes();
        world.take_group_changes();
        world.take_effects();
        world.pick({0.5, 3, 0.5}, {0, -1, 0.1f}, 50);
        world.move_player({{0.5, 2, 0.5}, {}, false, false}, {1, 0, 0}, false, 0.02, now);
    }
    return 0;
}
