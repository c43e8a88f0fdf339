// give_back.h - memory of vectors that were once much longer goes back.
//
// Layer: base. What a heap of thousands of pieces needed while it fell is not kept for ever after. Length
// alone decides, and no answer may depend on capacity. Tests: tests/base/give_back_test.cpp
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace talus {

constexpr std::size_t kSpareFactor = 4;         // so many times what is needed is too much ...
constexpr std::size_t kSpareBytes = 16 * 1024;  // ... if it is more than this

template <class T>
bool has_too_much(const std::vector<T>& v, std::size_t needed) {
    return v.capacity() > kSpareFactor * needed && v.capacity() * sizeof(T) > kSpareBytes;
}

/// The content stays; indices are valid, pointers are not.
template <class T>
void give_back(std::vector<T>& v) {
    if (!has_too_much(v, v.size())) return;
    std::vector<T> fit;
    fit.reserve(v.size() + v.size() / 4);
    fit.insert(fit.end(), std::make_move_iterator(v.begin()), std::make_move_iterator(v.end()));
    v.swap(fit);
}

/// Before one more is added: a quarter more, where a vector would take twice as much.
template <class T>
void make_room(std::vector<T>& v) {
    if (v.size() == v.capacity()) v.reserve(v.size() + v.size() / 4 + 16);
}

/// Nothing is left, and no memory: `v = {}` would keep it.
template <class T>
void drop(std::vector<T>& v) {
    std::vector<T>().swap(v);
}

/// For what is filled anew each time: the content is lost if memory goes back.
template <class T>
void resize_scratch(std::vector<T>& v, std::size_t n) {
    if (has_too_much(v, n)) v = std::vector<T>();
    v.resize(n);
}
template <class T>
void clear_scratch(std::vector<T>& v) {
    if (has_too_much(v, v.size())) v = std::vector<T>();
    v.clear();
}

}  // namespace talus
