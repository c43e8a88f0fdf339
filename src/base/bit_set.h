// bit_set.h - a set of small whole numbers, walked in ascending order.
//
// Layer: base. Grows by itself; walking costs a 64th of the largest number and what is in the set.
// Tests: tests/base/bit_set_test.cpp
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace talus {

class BitSet {
 public:
    bool operator[](std::int32_t i) const {
        const auto k = std::size_t(i) / 64;
        return k < words_.size() && words_[k] >> (std::size_t(i) % 64) & 1;
    }
    void set(std::int32_t i) {
        const auto k = std::size_t(i) / 64;
        if (k >= words_.size()) words_.resize(k + 1, 0);
        words_[k] |= bit(i);
    }
    void reset(std::int32_t i) {
        if (const auto k = std::size_t(i) / 64; k < words_.size()) words_[k] &= ~bit(i);
    }
    void put(std::int32_t i, bool in) { in ? set(i) : reset(i); }
    void clear() { std::fill(words_.begin(), words_.end(), 0); }
    std::size_t count() const {
        std::size_t n = 0;
        for (const std::uint64_t w : words_) n += std::size_t(std::popcount(w));
        return n;
    }
    BitSet& operator|=(const BitSet& o) {
        if (words_.size() < o.words_.size()) words_.resize(o.words_.size(), 0);
        for (std::size_t k = 0; k < o.words_.size(); k++) words_[k] |= o.words_[k];
        return *this;
    }
    /// Numbers 64 k and on, the lowest in the lowest bit.
    std::uint64_t word(std::size_t k) const { return k < words_.size() ? words_[k] : 0; }
    std::size_t word_count() const { return words_.size(); }

    /// f(i) for each. f may change the set: whether what changed within 64 of i is met is left open.
    template <class F>
    void each(F&& f) const {
        for (std::size_t k = 0; k < words_.size(); k++) each_bit(k, words_[k], f);
    }
    /// f(i) for those in either set, likewise.
    template <class F>
    static void each_of(const BitSet& a, const BitSet& b, F&& f) {
        for (std::size_t k = 0; k < a.word_count() || k < b.word_count(); k++)
            each_bit(k, a.word(k) | b.word(k), f);
    }
    /// f(i) for those in one set only, likewise.
    template <class F>
    static void each_difference(const BitSet& a, const BitSet& b, F&& f) {
        for (std::size_t k = 0; k < a.word_count() || k < b.word_count(); k++)
            each_bit(k, a.word(k) ^ b.word(k), f);
    }

 private:
    static std::uint64_t bit(std::int32_t i) { return std::uint64_t(1) << (std::size_t(i) % 64); }
    template <class F>
    static void each_bit(std::size_t k, std::uint64_t word, F&& f) {
        for (; word; word &= word - 1) f(std::int32_t(k * 64 + std::size_t(std::countr_zero(word))));
    }

    std::vector<std::uint64_t> words_;
};

}  // namespace talus
