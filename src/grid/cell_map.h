// cell_map.h - a value for a few of many cells, in the order of cells.
//
// Layer: grid. Lists of at most kMost cells each, in order: 16 bytes a cell where a node of std::map
// takes 64. One list alone was rejected: in a build of a million worn blocks each new one would move half of
// them. Determinism: visited in the order of cells. Tests: tests/grid/cell_map_test.cpp
#pragma once

#include "math/archive.h"
#include "talus/math.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace talus {

template <class T>
class CellMap {
 public:
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }

    /// @return nullptr when there is none; valid until the next change
    const T* find(Cell cell) const {
        if (empty()) return nullptr;
        const std::size_t l = list_of(cell);
        const auto at = place(lists_[l], cell);
        return at != lists_[l].end() && at->first == cell ? &at->second : nullptr;
    }
    /// One of value T{} where there is none yet; valid until the next change.
    T& operator[](Cell cell) {
        if (lists_.empty()) {
            lists_.push_back({{cell, T{}}});
            size_ = 1;
            return lists_[0][0].second;
        }
        const std::size_t l = list_of(cell);
        List& list = lists_[l];
        const auto at = list.begin() + (place(list, cell) - list.cbegin());
        if (at != list.end() && at->first == cell) return at->second;
        size_++;
        if (list.size() < kMost) return list.insert(at, {cell, T{}})->second;
        List rest(list.begin() + kMost / 2, list.end());
        list.resize(kMost / 2);
        lists_.insert(lists_.begin() + std::ptrdiff_t(l) + 1, std::move(rest));
        size_--;
        return (*this)[cell];
    }
    void erase(Cell cell) {
        if (empty()) return;
        const std::size_t l = list_of(cell);
        List& list = lists_[l];
        const auto at = place(list, cell);
        if (at == list.end() || !(at->first == cell)) return;
        list.erase(at);
        size_--;
        if (list.empty()) lists_.erase(lists_.begin() + std::ptrdiff_t(l));
        if (lists_.empty()) lists_ = std::vector<List>();
    }
    /// f(cell, value), in order.
    template <class F>
    void for_each(F&& f) const {
        for (const List& list : lists_)
            for (const auto& [cell, value] : list) f(cell, value);
    }

    friend void archive(ByteWriter& a, const CellMap& map) {
        a.size(map.size_);
        map.for_each([&](Cell cell, const T& value) { a(cell, value); });
    }
    friend void archive(ByteReader& a, CellMap& map) {
        map = CellMap();
        const std::size_t n = a.size();
        Cell last;
        for (std::size_t i = 0; i < n && a.ok(); i++) {
            Cell cell;
            T value{};
            a(cell, value);
            if (i > 0 && !(last < cell)) return a.check(false, "keys out of order");
            last = cell;
            map[cell] = value;
        }
    }

 private:
    static constexpr std::size_t kMost = 128;
    using List = std::vector<std::pair<Cell, T>>;

    /// The list that has this cell or would get it. Pre: there is one.
    std::size_t list_of(Cell cell) const {
        const auto after = std::upper_bound(lists_.begin(), lists_.end(), cell,
                                            [](Cell c, const List& list) { return c < list.front().first; });
        return after == lists_.begin() ? 0 : std::size_t(after - lists_.begin()) - 1;
    }
    static typename List::const_iterator place(const List& list, Cell cell) {
        return std::lower_bound(list.begin(), list.end(), cell,
                                [](const auto& entry, Cell c) { return entry.first < c; });
    }

    std::vector<List> lists_;  // none is empty
    std::size_t size_ = 0;
};

}  // namespace talus
