// alter_recording.h - the same recording with a call left out or changed, its frames numbered and summed
// anew.
#pragma once

#include "base/call_log.h"

#include <functional>
#include <optional>
#include <vector>

namespace talus {

/// Where the head ends, and each frame.
inline std::vector<std::size_t> frame_ends(ByteSpan bytes) {
    std::vector<std::size_t> ends{12};
    while (ends.back() < bytes.size()) {
        ByteReader head(bytes.subspan(ends.back()));
        ends.push_back(ends.back() + 8 + head.get<std::uint32_t>());
    }
    return ends;
}

/// @param change  gives each frame's content anew, or nothing to leave it out
inline std::vector<std::uint8_t> alter_recording(
    ByteSpan bytes, const std::function<std::optional<std::vector<std::uint8_t>>(Call, ByteSpan)>& change) {
    const auto ends = frame_ends(bytes);
    ByteWriter out;
    out.raw(bytes.first(ends[0]));
    std::uint64_t number = 0;
    for (std::size_t i = 0; i + 1 < ends.size(); i++) {
        const ByteSpan content = bytes.subspan(ends[i] + 8, ends[i + 1] - ends[i] - 8);
        const auto changed = change(Call(content[0]), content);
        if (!changed) continue;
        out(std::uint32_t(changed->size()), std::uint32_t(checksum(*changed, number++)));
        out.raw(*changed);
    }
    return out.bytes;
}

/// Without the first call of that kind. @param tick  gets the number of the tick after it
inline std::vector<std::uint8_t> leave_out_first(ByteSpan bytes, Call kind, std::uint64_t& tick) {
    std::uint64_t ticks = 0;
    tick = 0;
    return alter_recording(bytes, [&](Call call, ByteSpan content) {
        ticks += call == Call::tick;
        std::optional<std::vector<std::uint8_t>> out;
        if (call == kind && tick == 0)
            tick = ticks + 1;
        else
            out.emplace(content.begin(), content.end());
        return out;
    });
}

}  // namespace talus
