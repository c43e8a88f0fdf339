// hash.h - integer mixing and a running hash of bits for golden tests.
//
// Layer: base. Own and fixed for all time: golden hashes and saves depend on it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace talus {

/// A bijection of 64 bits that spreads every input bit over all output bits.
/// Source: D. Stafford's variant 13 of the MurmurHash3 finaliser.
constexpr std::uint64_t mix64(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/// Order-dependent hash over words: the same words in the same order give the same hash on every machine.
class BitHash {
 public:
    constexpr void add(std::uint64_t word) {
        state_ = mix64(state_ ^ word) + 0x9e3779b97f4a7c15ull * ++count_;
    }
    constexpr void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
    constexpr void add(float value) { add(std::uint64_t(std::bit_cast<std::uint32_t>(value))); }
    constexpr std::uint64_t value() const { return mix64(state_ ^ count_); }

 private:
    std::uint64_t state_ = 0x7461'6c75'73ull, count_ = 0;
};

}  // namespace talus
