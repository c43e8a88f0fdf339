#include "dynamics/pairs.h"

#include "base/hash.h"

#include <algorithm>

namespace talus {

/// Where the hash has this pair, or a place that is free.
std::size_t PairTable::place_of(std::int32_t a, std::int32_t b) const {
    const std::size_t mask = hashed_.size() - 1;
    for (std::size_t i = mix64(key(a, b)) & mask;; i = (i + 1) & mask) {
        const std::int32_t pair = hashed_[i];
        if (pair == kFree) return i;
        if (pair >= 0 && waits[std::size_t(pair)].a == a && waits[std::size_t(pair)].b == b) return i;
    }
}

std::int32_t PairTable::find(std::int32_t a, std::int32_t b) const {
    return hashed_.empty() ? kFree : hashed_[place_of(a, b)];
}

/// Pre: it is not there.
void PairTable::put(std::int32_t pair) {
    if ((slots_taken_ + 1) * 2 > hashed_.size()) {
        std::size_t size = 64;
        while (size < (used_ + 1) * 4) size *= 2;
        std::vector<std::int32_t> old(size, kFree);
        old.swap(hashed_);
        slots_taken_ = 0;
        for (const std::int32_t p : old)
            if (p >= 0) put(p);
    }
    const PairWait& w = waits[std::size_t(pair)];
    const std::size_t mask = hashed_.size() - 1;
    std::size_t i = mix64(key(w.a, w.b)) & mask;
    while (hashed_[i] >= 0) i = (i + 1) & mask;
    if (hashed_[i] == kFree) slots_taken_++;
    hashed_[i] = pair;
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
        make_room(pairs);
        make_room(waits);
        pairs.emplace_back();
        waits.emplace_back();
    }
    waits[std::size_t(i)] = {a, b, PairWait::kNow};
    added.push_back(i);
    Pair& p = pairs[std::size_t(i)];
    p.a = a;
    p.b = b;
    put(i);
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
    hashed_[place_of(p.a, p.b)] = kRemoved;
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
    sorted.reserve(contacts_);
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
    if (hashed_.size() > 8 * used_ + 64)
        drop(hashed_);
    else
        std::fill(hashed_.begin(), hashed_.end(), kFree);
}

std::int32_t PairTable::new_manifold() {
    contacts_++;
    if (free_manifold_ >= 0) {
        const std::int32_t i = free_manifold_;
        free_manifold_ = manifolds[std::size_t(i)].next;
        return i;
    }
    make_room(manifolds);
    manifolds.emplace_back();
    return std::int32_t(manifolds.size() - 1);
}

void PairTable::free_manifolds(std::int32_t first) {
    while (first >= 0) {
        contacts_--;
        const std::int32_t next = manifolds[std::size_t(first)].next;
        manifolds[std::size_t(first)].next = free_manifold_;
        free_manifold_ = first;
        first = next;
    }
}

}  // namespace talus
