// A recording, damaged: played as far as it is whole, never a crash, a hang or a lot of memory. The first
// byte says how: any bytes; a sound recording whose calls the rest alters; or calls of the fuzzer's own.
#include "base/call_log.h"
#include "small_levels.h"
#include "tests/world/alter_recording.h"

#include <cstdlib>

using namespace talus;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<std::vector<std::uint8_t>> sound = [] {
        std::vector<std::vector<std::uint8_t>> out;
        for (const bool hosted : {false, true}) {
            fuzz::Host host;
            fuzz::Buffer buffer;
            LevelSettings settings;
            settings.ground = -1;
            Level level(settings);
            start_recording(level, buffer);
            fuzz::build(level, hosted ? &host : nullptr);
            for (int i = 0; i < 6; i++) {
                if (i == 2) level.blast({2.5, 1, 0.5}, 3);
                if (i == 3) level.carve_capsule({-2, 1, 0}, {3, 1, 0}, 0.4);
                for (const GroupId id : level.groups())
                    if (i == 4) level.group(id)->body.add_impulse_at({0, 500, 10}, {1, 1, 1});
                level.tick();
            }
            stop_recording(level);
            out.push_back(std::move(buffer.bytes));
        }
        return out;
    }();
    if (size < 1) return 0;
    std::span<const std::uint8_t> rest(data + 1, size - 1);
    if (data[0] % 8 == 0) {
        replay(rest);
        return 0;
    }
    const std::vector<std::uint8_t>& base = sound[data[0] / 8 % sound.size()];
    if (data[0] % 8 < 5) {
        // Each frame takes as many patches as a byte says, which mostly is none.
        replay(alter_recording(base, [&](Call call, ByteSpan content) {
            std::optional<std::vector<std::uint8_t>> out(std::in_place, content.begin(), content.end());
            if (call == Call::snapshot || rest.empty()) return out;
            const std::size_t patches = rest[0] % 4;
            const bool drop = rest[0] == 255;
            rest = rest.subspan(1);
            auto part = rest.first(std::min(rest.size(), patches * 6));
            rest = rest.subspan(part.size());
            fuzz::patch(*out, part);
            if (drop || out->empty()) out.reset();
            return out;
        }));
        return 0;
    }
    // Length, call and arguments, again and again, with a tick after each.
    ByteWriter out;
    const auto ends = frame_ends(base);
    out.raw(ByteSpan(base).first(ends[1]));
    std::uint64_t number = 1;
    auto frame = [&](ByteSpan content) {
        out(std::uint32_t(content.size()), std::uint32_t(checksum(content, number++)));
        out.raw(content);
    };
    // First the sound calls up to where things move.
    for (std::size_t i = 1; i < 16 && i + 1 < ends.size(); i++)
        frame(ByteSpan(base).subspan(ends[i] + 8, ends[i + 1] - ends[i] - 8));
    while (rest.size() >= 2) {
        const std::size_t length = std::min<std::size_t>(rest[0], rest.size() - 1);
        if (length > 0) frame(rest.subspan(1, length));
        rest = rest.subspan(1 + length);
        const std::uint8_t tick[1] = {std::uint8_t(Call::tick)};
        frame(tick);
    }
    replay(out.bytes);
    return 0;
}
