// The golden scenes as a WebAssembly module, for wasm.test.mjs.
#include "scenes/golden.h"

namespace {
std::span<const talus::GoldenScene> scenes() { return talus::golden_scenes(); }
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
}
