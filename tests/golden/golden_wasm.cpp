// The golden scenes and the replay of recordings as a WebAssembly module, for wasm.test.mjs.
#include "scenes/golden.h"
#include "talus/recording.h"

namespace {
std::span<const talus::GoldenScene> scenes() { return talus::golden_scenes(); }

std::vector<std::uint8_t> bytes;
talus::ReplayReport report;
}  // namespace

extern "C" {
__attribute__((export_name("scene_count"))) std::uint32_t scene_count() {
    return static_cast<std::uint32_t>(scenes().size());
}
__attribute__((export_name("scene_name"))) const char* scene_name(std::uint32_t i) {
    return scenes()[i].name;
}
__attribute__((export_name("run_scene"))) std::uint64_t run_scene(std::uint32_t i) {
    return scenes()[i].run(nullptr);
}
__attribute__((export_name("buffer"))) std::uint8_t* buffer(std::uint32_t size) {
    bytes.resize(size);
    return bytes.data();
}
/// Of the recording in the buffer. @return 0 the same, 1 differs, 2 damaged
__attribute__((export_name("replay"))) std::uint32_t replay_buffer() {
    report = talus::replay(bytes);
    return static_cast<std::uint32_t>(report.outcome);
}
__attribute__((export_name("replay_tick"))) std::uint32_t replay_tick() {
    return static_cast<std::uint32_t>(report.tick);
}
__attribute__((export_name("replay_text"))) const char* replay_text() {
    return report.outcome == talus::ReplayReport::Outcome::damaged ? report.error.message.c_str()
                                                                   : report.what.c_str();
}
/// Whether the replayed level goes on from its own snapshot with the same bits.
__attribute__((export_name("goes_on"))) std::uint32_t goes_on() {
    const auto copy = talus::restore_snapshot(talus::take_snapshot(*report.level));
    if (!copy) return 0;
    for (int i = 0; i < 20; i++) {
        report.level->tick();
        (*copy)->tick();
        if (report.level->hash() != (*copy)->hash()) return 0;
    }
    return 1;
}
}
