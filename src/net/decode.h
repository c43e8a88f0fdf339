// decode.h - bytes of the server to a checked Frame, for the page's copy of the world.
//
// Layer: net. Nothing that comes out breaks a limit of talus/protocol.h, names a block the table does not
// hold or a group that is not there; block ids are already those of the page's table. Tests:
// tests/net/protocol_test.cpp
#pragma once

#include "talus/protocol.h"

#include <map>

namespace talus {

/// What the messages so far have told: the frame of reference for the next one.
struct DecodeState {
    bool welcomed = false;
    std::uint64_t tick = 0;
    std::map<WireId, std::size_t> groups;  ///< with the bricks each came with
    std::shared_ptr<BlockTable> table;     ///< grids of the frames point to it
    std::vector<BlockId> ids;              ///< by server id; two types that look the same are one here
    std::size_t bricks = 0;                ///< of the terrain and of groups that are there
};

struct ServerMessage {
    std::optional<Welcome> welcome;
    std::optional<Frame> frame;  ///< grids point to the table of the state
    struct Notice {
        bool error = false;
        std::string text;
    };
    std::optional<Notice> notice;
};

/// On an error the state is not to be used any more: the connection starts again.
Result<ServerMessage> decode_server_message(std::span<const std::uint8_t> bytes, DecodeState& state);

}  // namespace talus
