// bit_set.h - a set of small whole numbers, walked in ascending order.
//
// Layer: base. Grows by itself. Bits in words of 64, and above them a bit for each word that is not empty:
// walking costs what is in the set and a 4096th of the largest number.
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
    bool operator[](std::int32_t i) const { return word(std::size_t(i) / 64) >> (std::size_t(i) % 64) & 1; }
    void set(std::int32_t i) {
        const auto k = std::size_t(i) / 64;
        if (k >= words_.size()) grow(k + 1);
        words_[k] |= bit(std::size_t(i));
        full_[k / 64] |= bit(k);
    }
    void reset(std::int32_t i) {
        const auto k = std::size_t(i) / 64;
        if (k >= words_.size()) return;
        words_[k] &= ~bit(std::size_t(i));
        if (!words_[k]) full_[k / 64] &= ~bit(k);
    }
    void put(std::int32_t i, bool in) { in ? set(i) : reset(i); }
    void clear() {
        each_word([&](std::size_t k, std::uint64_t) { words_[k] = 0; });
        std::fill(full_.begin(), full_.end(), 0);
    }
    std::size_t count() const {
        std::size_t n = 0;
        each_word([&](std::size_t, std::uint64_t w) { n += std::size_t(std::popcount(w)); });
        return n;
    }
    BitSet& operator|=(const BitSet& o) {
        if (words_.size() < o.words_.size()) grow(o.words_.size());
        o.each_word([&](std::size_t k, std::uint64_t w) {
            words_[k] |= w;
            full_[k / 64] |= bit(k);
        });
        return *this;
    }
    /// Numbers 64 k and on, the lowest in the lowest bit.
    std::uint64_t word(std::size_t k) const { return k < words_.size() ? words_[k] : 0; }

    /// f(k, word(k)) for words that are not empty.
    template <class F>
    void each_word(F&& f) const {
        for (std::size_t j = 0; j < full_.size(); j++)
            each_bit(j, full_[j], [&](std::size_t k) { f(k, words_[k]); });
    }
    /// f(i) for each. f may change the set: whether what changed within 4096 of i is met is left open.
    template <class F>
    void each(F&& f) const {
        each_word([&](std::size_t k, std::uint64_t w) {
            each_bit(k, w, [&](std::size_t i) { f(std::int32_t(i)); });
        });
    }
    /// f(i) for those in either set, likewise.
    template <class F>
    static void each_of(const BitSet& a, const BitSet& b, F&& f) {
        each_of_words(a, b, [&](std::size_t k) {
            each_bit(k, a.word(k) | b.word(k), [&](std::size_t i) { f(std::int32_t(i)); });
        });
    }
    /// f(i) for those in one set only, likewise.
    template <class F>
    static void each_difference(const BitSet& a, const BitSet& b, F&& f) {
        each_of_words(a, b, [&](std::size_t k) {
            each_bit(k, a.word(k) ^ b.word(k), [&](std::size_t i) { f(std::int32_t(i)); });
        });
    }

 private:
    static std::uint64_t bit(std::size_t i) { return std::uint64_t(1) << (i % 64); }
    void grow(std::size_t words) {
        words_.resize(words, 0);
        full_.resize((words + 63) / 64, 0);
    }
    template <class F>
    static void each_bit(std::size_t k, std::uint64_t word, F&& f) {
        for (; word; word &= word - 1) f(k * 64 + std::size_t(std::countr_zero(word)));
    }
    template <class F>
    static void each_of_words(const BitSet& a, const BitSet& b, F&& f) {
        for (std::size_t j = 0; j < a.full_.size() || j < b.full_.size(); j++)
            each_bit(j, (j < a.full_.size() ? a.full_[j] : 0) | (j < b.full_.size() ? b.full_[j] : 0), f);
    }

    std::vector<std::uint64_t> words_, full_;
};

}  // namespace talus
