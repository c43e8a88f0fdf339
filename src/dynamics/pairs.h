// pairs.h - pairs of bodies that may touch, and their contact manifolds.
//
// Layer: dynamics. A pair lives as long as the fat boxes of its bodies overlap. Body b = 0 is the world;
// every dynamic body has one such pair. Anchors are kept in each body's own axes about its centre of mass
// (for the world: about BodyCold::world_origin), so that a manifold stays true while both move together.
// Determinism: the order of pairs depends on the order of their making only, never on the hash.
// Tests: tests/dynamics/
#pragma once

#include "base/archive.h"
#include "base/bit_set.h"
#include "base/give_back.h"
#include "talus/math.h"

#include <cstdint>
#include <vector>

namespace talus {

class BodyStore;

/// Contacts that share a normal, at most four. Rows of eight floats, so that eight manifolds are loaded and
/// turned into columns at once.
struct alignas(32) Manifold {
    // row 0
    Vec3 normal;   ///< from a to b, axes of a
    Vec3 tangent;  ///< axes of a
    std::int32_t a = 0, b = 0;
    // rows 1 to 4
    struct Point {
        Vec3 on_a, on_b;       ///< anchors, each in its body's axes
        float impulse = 0;     ///< normal, of one sub step
        float separation = 0;  ///< negative: overlap
    } points[4];
    // row 5
    float friction_impulse[3] = {};  ///< tangent, second tangent, twist; of one sub step
    Vec3 offset;                     ///< from the centre of a to that of b (world: to the origin), axes of a
    float friction = 0, restitution = 0;
    // the rest
    std::int32_t count = 0, key = 0, next = -1;
    float total_impulse = 0;   ///< of the last internal step, N s
    float approach_speed = 0;  ///< the largest of its points before the last internal step
    float unused[3] = {};
};
static_assert(sizeof(Manifold) == 7 * 32);

struct alignas(32) Pair {
    std::int32_t a = 0, b = 0;
    std::int32_t first = -1;  ///< manifold
    float budget = -1;        ///< motion left before contacts must be found anew; negative: now
    Vec3 offset;              ///< when last collided: centre of b seen from a (world: see BodyCold)
    Mat3 turn;                ///< when last collided: axes of b in those of a (world: of a)
    float load = 0;           ///< normal force when one side fell asleep, N
    bool touching = false, dead = false;
    bool vetoed = false;              ///< by the space's ContactFilter: never collides
    std::uint32_t last_touch = 0;     ///< number of the last step(dt) with an impulse
    std::int32_t first_contact = -1;  ///< its first entry in Space::contacts() of that step
    std::int32_t next[2] = {-1, -1}, prev[2] = {-1, -1};  ///< lists of body a and body b
};
static_assert(sizeof(Pair) == 3 * 32);

/// A pair that touches, or nearly: what most stages of a step want to know of it.
struct ActivePair {
    std::int32_t pair, a, b;
    std::int32_t first;  ///< manifold
};

/// A pair is looked at only when its bodies' ways, in the units of BodyStore::way, have added up past this.
/// Apart from Pair, so that a pass over all pairs reads 16 bytes of each.
struct PairWait {
    static constexpr std::int64_t kNow = -1, kNever = INT64_MAX;
    std::int32_t a = 0, b = 0;
    std::int64_t until = kNow;
};

class PairTable {
 public:
    std::vector<Pair> pairs;
    std::vector<PairWait> waits;  ///< parallel to pairs
    /// Pairs of which a body moves: only those can be due. Kept by the narrow phase, which is told what
    /// became of the table since: pairs that were added, or that all are others (renumbered).
    BitSet watched;
    std::vector<std::int32_t> added;
    bool renumbered = true;
    std::vector<Manifold> manifolds;

    std::int32_t find(std::int32_t a, std::int32_t b) const;
    /// a > b. Not there yet.
    std::int32_t add(std::int32_t a, std::int32_t b, std::int32_t& first_of_a, std::int32_t& first_of_b);
    void remove(std::int32_t pair, std::int32_t& first_of_a, std::int32_t& first_of_b);

    /// Puts pairs in the order of their bodies and manifolds in the order of pairs, so that a pass over them
    /// walks through memory; memory of which little is used goes back. Every index of a pair and of a
    /// manifold changes.
    /// @param set_first  called as set_first(body, head of its list) for every body that has pairs, after
    ///   set_first(body, -1)
    template <class F>
    void sort(F&& set_first);

    /// Its contacts are found anew in the next step.
    void expire(std::int32_t pair) {
        pairs[std::size_t(pair)].budget = -1;
        waits[std::size_t(pair)].until = PairWait::kNow;
    }

    std::int32_t new_manifold();
    void free_manifolds(std::int32_t first);
    std::size_t count() const { return used_; }
    /// Is so little of it used that sort() is worth while for its memory alone?
    bool is_roomy() const {
        auto roomy = [](std::size_t there, std::size_t used) { return 4 * there > 5 * used + 4096; };
        return roomy(pairs.size(), used_) || roomy(manifolds.size(), contacts_);
    }

    /// All of it but the hash, which is made anew, and the lists of pairs, which begin with the bodies.
    /// @param step_number  of the step whose contacts are still known
    void write(ByteWriter& a, const BodyStore& bodies, std::uint32_t step_number) const;
    /// Pre (assert): empty.
    void read(ByteReader& a, BodyStore& bodies);
    /// Makes prev[] from next[] by walking the list of one body. @return false when it is no list of its
    /// pairs
    bool link_back(std::int32_t body, std::int32_t first, std::vector<char>& seen);

 private:
    static std::uint64_t key(std::int32_t a, std::int32_t b) {
        return std::uint64_t(std::uint32_t(a)) << 32 | std::uint32_t(b);
    }
    std::size_t place_of(std::int32_t a, std::int32_t b) const;
    void put(std::int32_t pair);
    void unlink(std::int32_t pair, int side, std::int32_t& first);
    void sort_pairs();
    void sort_manifolds();
    void clear_hash();

    std::vector<std::int32_t> free_pairs_, heads_;
    std::int32_t free_manifold_ = -1;
    std::size_t used_ = 0, slots_taken_ = 0;
    std::size_t contacts_ = 0;  // manifolds that are a pair's
    static constexpr std::int32_t kFree = -1, kRemoved = -2;
    std::vector<std::int32_t> hashed_;  // pairs by the hash of their bodies: open addressing
};

template <class F>
void PairTable::sort(F&& set_first) {
    sort_pairs();
    sort_manifolds();
    clear_scratch(free_pairs_);
    clear_hash();
    renumbered = true;
    for (const Pair& p : pairs) {
        set_first(p.a, -1);
        if (p.b != 0) set_first(p.b, -1);
    }
    heads_.clear();
    drop(waits);
    waits.reserve(pairs.size());
    for (const Pair& p : pairs) waits.push_back({p.a, p.b, PairWait::kNow});
    for (std::size_t i = 0; i < pairs.size(); i++) {
        Pair& p = pairs[i];
        put(std::int32_t(i));
        for (int side = 0; side < 2; side++) {
            p.next[side] = p.prev[side] = -1;
            const std::int32_t body = side == 0 ? p.a : p.b;
            if (body == 0) continue;
            if (heads_.size() <= std::size_t(body)) heads_.resize(std::size_t(body) + 1, -1);
            std::int32_t& head = heads_[std::size_t(body)];
            p.next[side] = head;
            if (head >= 0)
                pairs[std::size_t(head)].prev[pairs[std::size_t(head)].a == body ? 0 : 1] = std::int32_t(i);
            head = std::int32_t(i);
            set_first(body, head);
        }
    }
}

}  // namespace talus
