// Records what happens to a world, runs it again, and goes on from a snapshot.
#include "talus/recording.h"

#include <cstdio>

/// Where the bytes go is the program's affair: here into memory. A file works as well, and survives a crash.
struct Memory final : talus::RecordSink {
    std::vector<std::uint8_t> bytes;
    bool write(std::span<const std::uint8_t> more) override {
        bytes.insert(bytes.end(), more.begin(), more.end());
        return true;
    }
};

int main() {
    talus::LevelSettings settings;
    settings.ground = 0;
    talus::Level level(settings);
    const talus::BlockId bricks = level.table().add(*talus::find_real_material("bricks"));

    Memory recording;
    talus::start_recording(level, recording);  // from now on every call is written down before it is made
    talus::Grid chimney(level.table());
    for (int y = 0; y < 12; y++)
        for (int x = 0; x < 3; x++)
            for (int z = 0; z < 3; z++)
                if (x != 1 || z != 1) chimney.set({x, y, z}, bricks);
    level.add_group(std::move(chimney), {.bears_load = true});
    level.blast({-0.5, 1.5, 1.5}, 5);
    for (int i = 0; i < 20; i++) level.tick();

    // A snapshot goes on with the same bits, here beside the level it was taken from.
    auto copy = talus::restore_snapshot(talus::take_snapshot(level));
    if (!copy) {
        std::printf("%s\n", copy.error().message.c_str());
        return 1;
    }
    for (int i = 0; i < 40; i++) {
        level.tick();
        (*copy)->tick();
    }
    const bool alike = level.hash() == (*copy)->hash();
    std::printf("the copy went %s\n", alike ? "the same way" : "its own way");

    const talus::ReplayReport report = talus::replay(recording.bytes);
    if (report.outcome == talus::ReplayReport::Outcome::same)
        std::printf("%d ticks and %d calls give the same again\n", int(report.tick), int(report.calls));
    else
        std::printf("tick %d differs: %s%s\n", int(report.tick), report.what.c_str(),
                    report.error.message.c_str());
    return alike && report.outcome == talus::ReplayReport::Outcome::same ? 0 : 1;
}
