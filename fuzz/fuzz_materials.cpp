// Any text as a materials file.
#include "talus/formats.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace talus;
    const auto catalog = BlockCatalog::from_json({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (!catalog) return 0;
    for (int i = 0; i < 256; i++) (void)catalog->palette_entry(i, 0x808080, "glass");
    for (const char* name : {"a", "a[s=x]", "stone", "oak_slab[type=top]"}) (void)catalog->find(name);
    return 0;
}
