#include "dynamics/pairs.h"

#include "base/hash.h"

#include <algorithm>

namespace talus {

namespace {
constexpr std::uint64_t kFreeKey = 0, kRemovedKey = 1;
}

std::int32_t PairTable::find(std::int32_t a, std::int32_t b) const {
    if (keys_.empty()) return -1;
    const std::size_t mask = keys_.size() - 1;
    const std::uint64_t k = key(a, b);
    for (std::size_t i = mix64(k) & mask; keys_[i] != kFreeKey; i = (i + 1) & mask)
        if (keys_[i] == k) return values_[i];
    return -1;
}

void PairTable::put(std::uint64_t k, std::int32_t value) {
    if ((slots_taken_ + 1) * 2 > keys_.size()) {
        std::size_t size = 64;
        while (size < (used_ + 1) * 4) size *= 2;
        std::vector<std::uint64_t> old_keys(size, kFreeKey);
        std::vector<std::int32_t> old_values(size);
        old_keys.swap(keys_);
        old_values.swap(values_);
        slots_taken_ = 0;
        for (std::size_t i = 0; i < old_keys.size(); i++)
            if (old_keys[i] > kRemovedKey) put(old_keys[i], old_values[i]);
    }
    const std::size_t mask = keys_.size() - 1;
    std::size_t i = mix64(k) & mask;
    while (keys_[i] > kRemovedKey) i = (i + 1) & mask;
    if (keys_[i] == kFreeKey) slots_taken_++;
    keys_[i] = k;
    values_[i] = value;
}

std::int32_t PairTable::add(std::int32_t a, std::int32_t b, std::int32_t& first_of_a,
                            std::int32_t& first_of_b) {
    std::int32_t i;
    if (!free_pairs_.empty()) {
        i = free_pairs_.back();
        free_pairs_.pop_back();
        pairs[std::size_t(i)] = Pair{};
    } else {
        i = std::int32_t(pairs.size());
        pairs.emplace_back();
        waits.emplace_back();
    }
    waits[std::size_t(i)] = {a, b, PairWait::kNow};
    added.push_back(i);
    Pair& p = pairs[std::size_t(i)];
    p.a = a;
    p.b = b;
    put(key(a, b), i);
    used_++;
    auto link = [&](int side, std::int32_t& first) {
        p.next[side] = first;
        if (first >= 0) {
            Pair& head = pairs[std::size_t(first)];
            head.prev[head.a == (side == 0 ? a : b) ? 0 : 1] = i;
        }
        first = i;
    };
    link(0, first_of_a);
    if (b != 0) link(1, first_of_b);
    return i;
}

void PairTable::unlink(std::int32_t pair, int side, std::int32_t& first) {
    const Pair& p = pairs[std::size_t(pair)];
    const std::int32_t body = side == 0 ? p.a : p.b;
    if (p.prev[side] >= 0) {
        Pair& q = pairs[std::size_t(p.prev[side])];
        q.next[q.a == body ? 0 : 1] = p.next[side];
    } else {
        first = p.next[side];
    }
    if (p.next[side] >= 0) {
        Pair& q = pairs[std::size_t(p.next[side])];
        q.prev[q.a == body ? 0 : 1] = p.prev[side];
    }
}

void PairTable::remove(std::int32_t pair, std::int32_t& first_of_a, std::int32_t& first_of_b) {
    Pair& p = pairs[std::size_t(pair)];
    unlink(pair, 0, first_of_a);
    if (p.b != 0) unlink(pair, 1, first_of_b);
    free_manifolds(p.first);
    const std::uint64_t k = key(p.a, p.b);
    const std::size_t mask = keys_.size() - 1;
    for (std::size_t i = mix64(k) & mask;; i = (i + 1) & mask)
        if (keys_[i] == k) {
            keys_[i] = kRemovedKey;
            break;
        }
    p.first = -1;
    p.touching = false;
    p.dead = true;
    waits[std::size_t(pair)].until = PairWait::kNever;
    watched.reset(pair);
    used_--;
    free_pairs_.push_back(pair);
}

void PairTable::sort_pairs() {
    struct Place {
        std::uint64_t key;
        std::size_t at;
    };
    std::vector<Place> order;
    order.reserve(used_);
    for (std::size_t i = 0; i < pairs.size(); i++)
        if (!pairs[i].dead) order.push_back({key(pairs[i].a, pairs[i].b), i});
    std::sort(order.begin(), order.end(), [](const Place& x, const Place& y) { return x.key < y.key; });
    std::vector<Pair> sorted;
    sorted.reserve(order.size());
    for (const Place& p : order) sorted.push_back(pairs[p.at]);
    pairs.swap(sorted);
}

void PairTable::sort_manifolds() {
    std::vector<Manifold> sorted;
    sorted.reserve(manifolds.size());
    for (Pair& p : pairs) {
        std::int32_t last = -1;
        for (std::int32_t m = p.first; m >= 0;) {
            const auto at = std::int32_t(sorted.size());
            sorted.push_back(manifolds[std::size_t(m)]);
            m = sorted.back().next;
            (last < 0 ? p.first : sorted[std::size_t(last)].next) = at;
            last = at;
        }
    }
    manifolds.swap(sorted);
    free_manifold_ = -1;
}

void PairTable::clear_hash() {
    slots_taken_ = 0;
    // put() makes a table of up to eight times as many.
    if (keys_.size() > 8 * used_ + 64) {
        drop(keys_);
        drop(values_);
    } else {
        std::fill(keys_.begin(), keys_.end(), kFreeKey);
    }
}

std::int32_t PairTable::new_manifold() {
    if (free_manifold_ >= 0) {
        const std::int32_t i = free_manifold_;
        free_manifold_ = manifolds[std::size_t(i)].next;
        return i;
    }
    manifolds.emplace_back();
    return std::int32_t(manifolds.size() - 1);
}

void PairTable::free_manifolds(std::int32_t first) {
    while (first >= 0) {
        const std::int32_t next = manifolds[std::size_t(first)].next;
        manifolds[std::size_t(first)].next = free_manifold_;
        free_manifold_ = first;
        first = next;
    }
}

}  // namespace talus
