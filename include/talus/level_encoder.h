// level_encoder.h - turns a level and its events into messages for the pages that watch it.
//
// Layer: net. One encoder a server. After each Level::tick(): tick_message() to every page that has the
// world, then Level::clear_events(), then full_state() to newcomers: they continue with the next tick like
// all others. Not thread-safe: belongs to the thread of the level. Tests: tests/net/level_encoder_test.cpp
#pragma once

#include "talus/level.h"
#include "talus/protocol.h"

#include <map>

namespace talus {

class LevelEncoder {
 public:
    /// Forgets the level (another one follows); numbers of groups go on and are never used again.
    void forget();

    /// What the events since the last call and the tick changed.
    std::vector<std::uint8_t> tick_message(const Level& level, float tick_ms);
    /// Everything, as it was told by the last tick_message().
    std::vector<std::uint8_t> full_state(const Level& level, float tick_ms);

    /// The group behind a number a page sent; nullopt when it is gone or never was.
    std::optional<GroupId> find(WireId id) const;

    SceneMenu menu;  ///< told with every full state

 private:
    struct Known {
        GroupId group;
        Pose sent;
        bool in_step = false;  // seen in the current walk over the level
    };
    FrameGroup describe(const Level& level, const GroupView& view, WireId id, bool is_new) const;

    WireId next_id_ = 1;
    std::uint32_t told_blocks_ = 1;
    std::map<WireId, Known> known_;             // in the order of their making
    std::map<std::uint64_t, WireId> by_group_;  // index and generation to number
};

}  // namespace talus
