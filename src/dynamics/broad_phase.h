// broad_phase.h - which bodies are near each other.
//
// Layer: dynamics. Every body has a fat box: its bounds, a margin, and two steps of motion ahead. Only when
// a body leaves its fat box are partners looked for: bodies sorted in x are swept, eight tests at a time, in
// slabs of z. Boxes are floats about an origin near the bodies; far out they only grow coarser.
// A tree was rejected: in heaps most bodies move a little each step, and the sorted order hardly changes.
// Determinism: pairs are made in slab order, then sorted order, ties by index.
// Tests: tests/dynamics/broad_phase_test.cpp
#pragma once

#include "base/archive.h"
#include "dynamics/body_store.h"
#include "dynamics/pairs.h"

#include <vector>

namespace talus {

class BroadPhase {
 public:
    void add(std::int32_t body);
    /// Forgets bodies that no longer exist.
    void purge(const BodyStore& bodies);
    /// Its fat box is made anew in the next update and all its partners looked for.
    void touch(std::int32_t body) { stale_[std::size_t(body)] = 1; }

    void update(BodyStore& bodies, PairTable& table, const std::uint16_t (&layers)[16], float dt);

    /// Did the body get a new fat box in the last update?
    bool moved(std::int32_t body) const { return moved_[std::size_t(body)] != 0; }
    bool overlap(std::int32_t a, std::int32_t b) const {
        const Fat &x = fat_[std::size_t(a)], &y = fat_[std::size_t(b)];
        return x.lo.x <= y.hi.x && x.hi.x >= y.lo.x && x.lo.y <= y.hi.y && x.hi.y >= y.lo.y &&
               x.lo.z <= y.hi.z && x.hi.z >= y.lo.z;
    }

    /// What a snapshot keeps (snapshot.cpp); the rest lives within one step.
    template <class A, class T>
    static void archive(A& a, T& v) {
        a(v.origin_, v.fat_, v.stale_, v.order_, v.many_new_, v.updates_);
    }
    /// After reading: refuses what update() could not work with.
    void check(ByteReader& a, const BodyStore& bodies, const std::vector<std::int32_t>& freed);
    struct NewPair {
        std::int32_t a, b;
    };
    std::vector<NewPair> new_pairs;  ///< made since it was last cleared, in order

 private:
    struct Fat {
        Vec3 lo, hi;
        template <class A, class T>
        static void archive(A& a, T& v) {
            a(v.lo, v.hi);
        }
    };
    void fatten(const BodyHot& body, std::size_t i, float dt);
    bool choose_origin(const BodyStore& bodies);
    void sort_by_x();
    void sweep_slab(BodyStore& bodies, PairTable& table, const std::uint16_t (&layers)[16], int slab);
    int slab_of(float z) const;

    DVec3 origin_;
    std::vector<Fat> fat_;  // by body
    std::vector<char> moved_, stale_;
    std::vector<std::int32_t> order_;  // by lo.x
    bool many_new_ = false;
    std::uint32_t updates_ = 0;
    // Slabs of the last sweep.
    float first_z_ = 0, slabs_per_metre_ = 1;
    int slab_count_ = 1;
    std::vector<std::vector<std::int32_t>> slabs_;
    std::vector<float> lo_x_, hi_x_, lo_y_, hi_y_, lo_z_, hi_z_;
    std::vector<std::int32_t> moved_mask_;
};

}  // namespace talus
