// protocol.h - the messages between a server that owns a Level and pages that show it.
//
// Layer: net. SI units, world frame unless said. Both ends use this code; the bytes are FlatBuffers
// (src/net/protocol.fbs), verified before use. Every number of a message is checked against the limits below;
// a bad message is an Error and changes nothing.
//
//   server                                      page
//     welcome + frame of tick T  ------------>    forget everything, show this
//     frame of tick T+1, T+2 ... ------------>    play back between frames
//     notice                     ------------>    words for the user
//                                <------------    blast, dig, upload, reset, a scene, its action
//
// A frame holds what its tick changed in the end, not how: the blocks of a new group are those after the
// tick, a group that came and went within the tick is never told. Poses are full doubles and floats, sent
// only when their bits changed: quantising would save a third, and spoil pieces whose frame lies far from
// their blocks. Blocks travel as runs of equal ids along a brick, without a palette: the ids are short
// already. Determinism: the same level gives the same bytes. Tests: tests/net/protocol_test.cpp,
// fuzz/fuzz_protocol.cpp
#pragma once

#include "talus/grid.h"
#include "talus/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace talus {

constexpr std::uint32_t kProtocolVersion = 2;

// Limits of a message.
constexpr std::size_t kMaxServerMessage = std::size_t(128) << 20;  ///< bytes
constexpr std::size_t kMaxClientMessage = (std::size_t(16) << 20) + 4096;
constexpr std::size_t kMaxUpload = std::size_t(16) << 20;
constexpr std::size_t kMaxUploadName = 200;
constexpr std::size_t kMaxBricks = std::size_t(1) << 20;  ///< that one page holds
constexpr std::size_t kMaxPlacements = 65536;             ///< blocks that one frame sets by edits
constexpr std::int32_t kMaxCell = 1 << 26;                ///< on each axis, either way
constexpr double kMaxPosition = 1e9;                      ///< metres on each axis
constexpr float kMaxBlastPower = 32;
constexpr std::size_t kMaxShapeBoxes = 32;
constexpr std::size_t kMaxFrameEffects = 256;
constexpr std::size_t kMaxScenes = 64;
constexpr std::size_t kMaxSceneText = 100;

/// Number of a group on the wire: never used twice by one server, and never 0.
using WireId = std::uint32_t;
constexpr WireId kTerrainId = 0;

struct BlockEdit {
    Cell cell;
    BlockId block = kAir;
};

struct FrameGroup {
    WireId id = 0;
    Vec3 pivot;  ///< group frame: playback turns about it (the centre of mass)
    Pose birth;  ///< one tick before `pose`, so that a piece that broke off does not jump
    Pose pose;
    const Grid* grid = nullptr;  ///< to encode
    std::unique_ptr<Grid> own;   ///< decoded
};

struct FrameEdits {
    WireId group = kTerrainId;
    std::vector<BlockEdit> edits;
};

struct FramePose {
    WireId group = 0;
    Pose pose;
};

struct FrameEffect {
    enum class Kind : std::uint8_t { blast, dust, impact, broken };
    Kind kind = Kind::dust;
    DVec3 point;
    float value = 0;          ///< power, impulse or count
    std::uint32_t color = 0;  ///< 0xRRGGBB of the block
};

struct FrameStats {
    std::uint64_t blocks = 0;
    std::uint32_t groups = 0, awake = 0;
    float tick_ms = 0;
};

/// What one tick changed. Block ids are those of the server's table.
struct Frame {
    std::uint64_t tick = 0;
    std::uint32_t first_block = 1;  ///< id of blocks[0]
    std::vector<BlockType> blocks;  ///< new in the table; of a material only name, colour, solid, soft travel
    std::vector<WireId> removed;
    std::vector<FrameGroup> groups;
    std::vector<FrameEdits> edits;
    std::vector<FramePose> poses;
    std::vector<FrameEffect> effects;
    FrameStats stats;
};

/// The worlds a page may ask for; `current` is what this one is made of.
struct SceneMenu {
    struct Entry {
        std::string title;
        std::string action;  ///< words on a button; empty: it has none
    };
    std::vector<Entry> entries;
    std::uint32_t current = 0;
};

struct Welcome {
    float cell_size = 1;
    float ticks_per_second = 20;
    std::optional<double> ground;
    DVec3 origin;  ///< about which the page reckons in floats
    const Grid* terrain = nullptr;
    std::unique_ptr<Grid> own_terrain;
    SceneMenu menu;
};

std::vector<std::uint8_t> encode_frame(const Frame& frame, const Welcome* welcome = nullptr);
std::vector<std::uint8_t> encode_notice(bool error, std::string_view text);

struct BlastRequest {
    DVec3 point;
    float power = 4;
};
struct DigRequest {
    WireId group = kTerrainId;
    Cell cell;
};
struct UploadRequest {
    std::string name;
    std::vector<std::uint8_t> bytes;
};
struct ResetRequest {};
/// The world becomes another scene, for everyone.
struct SceneRequest {
    std::uint32_t number = 0;  ///< in the menu
};
/// Starts the action of the scene.
struct ActRequest {};
using ClientRequest =
    std::variant<BlastRequest, DigRequest, UploadRequest, ResetRequest, SceneRequest, ActRequest>;

std::vector<std::uint8_t> encode_request(const ClientRequest& request);
/// Finite numbers inside the limits, but nothing is known yet of the world: whether a group or block is there
/// is for the server to see.
Result<ClientRequest> decode_request(std::span<const std::uint8_t> bytes);

}  // namespace talus
