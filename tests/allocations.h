// allocations.h - what a test program asked of `operator new` so far, by all threads.
//
// Counts in programs one source of which includes counting_new.h.
#pragma once

#include <atomic>
#include <cstddef>

namespace talus {
inline std::atomic<long> allocations_asked{0};
inline std::atomic<std::size_t> bytes_asked{0};
}  // namespace talus
