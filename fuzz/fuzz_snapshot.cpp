// A snapshot, damaged: see talus::fuzz::try_snapshot.
#include "fuzz/try_snapshot.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    talus::fuzz::try_snapshot({data, size});
    return 0;
}
