// Any bytes as a .schem; most inputs are plain NBT, for gzip's checksum hides everything else from a fuzzer.
// What is read, written and read again is the same.
#include "talus/formats.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace talus;
    const auto model = parse_schem({data, size}, "fuzz", BlockCatalog::blockgame());
    if (!model || model->grid.empty()) return 0;
    const CellBox box = model->grid.bounds();
    if (box.min.x < 0 || box.min.y < 0 || box.min.z < 0 || box.max.x >= model->size.x ||
        box.max.y >= model->size.y || box.max.z >= model->size.z)
        std::abort();
    const auto bytes = write_schem(model->grid);
    if (!bytes) return 0;
    const auto again = parse_schem(*bytes, "again", BlockCatalog::blockgame());
    if (!again || again->grid.block_count() != model->grid.block_count()) std::abort();
    model->grid.for_each([&](Cell c, BlockId id) {
        if (again->grid.type_at(c - box.min) != (*model->table)[id]) std::abort();
    });
    return 0;
}
