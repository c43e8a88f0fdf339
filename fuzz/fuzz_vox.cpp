// Any bytes as a .vox: an error or a model inside its size, never a crash, a hang or a lot of memory.
#include "talus/formats.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace talus;
    const auto model = parse_vox({data, size}, "fuzz", BlockCatalog::blockgame());
    if (!model) return 0;
    const CellBox box = model->grid.bounds();
    if (!box.empty() && (box.min.x < 0 || box.min.y < 0 || box.min.z < 0 || box.max.x >= model->size.x ||
                         box.max.y >= model->size.y || box.max.z >= model->size.z))
        std::abort();
    return 0;
}
