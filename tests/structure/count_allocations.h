// count_allocations.h - how often memory was asked for in this test program (allocation_test.cpp).
#pragma once

#include <atomic>

namespace talus::cases {

extern std::atomic<long> allocations;

}  // namespace talus::cases
