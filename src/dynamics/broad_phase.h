// broad_phase.h - which bodies are near each other.
//
// Layer: dynamics. Every body has a fat box: its bounds, a margin, and two steps of motion ahead. Only when
// a body leaves its fat box are partners looked for: bodies sorted in x are swept, eight tests at a time, in
// slabs of z. Bodies whose fat boxes met before have their pair already. Boxes are floats about an origin
// near the bodies; far out they only grow coarser. A tree was rejected: in heaps most bodies move a little
// each step, and the sorted order hardly changes. Determinism: pairs are made in slab order, then sorted
// order, ties by index; threads share the slabs. Tests: tests/dynamics/broad_phase_test.cpp
#pragma once

#include "base/archive.h"
#include "dynamics/body_store.h"
#include "dynamics/pairs.h"
#include "math/simd.h"
#include "talus/jobs.h"

#include <vector>

namespace talus {

class BroadPhase {
 public:
    void add(std::int32_t body);
    /// Forgets bodies that no longer exist.
    void purge(const BodyStore& bodies);
    /// Its fat box is made anew in the next update and all its partners looked for.
    void touch(std::int32_t body) { stale_[std::size_t(body)] = 1; }

    void update(BodyStore& bodies, PairTable& table, const std::uint16_t (&layers)[16], float dt,
                JobSystem* jobs);

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
    static constexpr float kNowhere = 1e30f;
    bool choose_origin(const BodyStore& bodies);
    void sort_by_x();
    /// What one slab holds and finds.
    struct Slab {
        std::vector<std::int32_t> bodies;
        struct Columns {
            std::vector<float> lo_x, hi_x, lo_y, hi_y, lo_z, hi_z;
            void make_room(std::size_t n) {
                for (auto* v : {&lo_x, &hi_x, &lo_y, &hi_y, &lo_z, &hi_z}) v->resize(n);
            }
            void set(std::size_t i, const Fat& f) {
                lo_x[i] = f.lo.x, hi_x[i] = f.hi.x;
                lo_y[i] = f.lo.y, hi_y[i] = f.hi.y;
                lo_z[i] = f.lo.z, hi_z[i] = f.hi.z;
            }
            /// Eight boxes from the j-th on against the i-th.
            Mask8 meet(std::size_t i, std::size_t j) const {
                using simd::load, simd::splat;
                return (load(&lo_x[j]) <= splat(hi_x[i])) & (splat(lo_x[i]) <= load(&hi_x[j])) &
                       (load(&lo_y[j]) <= splat(hi_y[i])) & (splat(lo_y[i]) <= load(&hi_y[j])) &
                       (load(&lo_z[j]) <= splat(hi_z[i])) & (splat(lo_z[i]) <= load(&hi_z[j]));
            }
        } now, before;
        std::vector<std::int32_t> moved_mask;
        std::vector<NewPair> found;  // not yet in the table
        void give_back() {
            for (Columns* c : {&now, &before})
                for (auto* v : {&c->lo_x, &c->hi_x, &c->lo_y, &c->hi_y, &c->lo_z, &c->hi_z}) drop(*v);
            drop(moved_mask);
        }
    };
    void sweep_slab(const BodyStore& bodies, const PairTable& table, const std::uint16_t (&layers)[16],
                    int slab);
    int slab_of(float z) const;

    DVec3 origin_;
    std::vector<Fat> fat_;     // by body
    std::vector<Fat> before_;  // by body: the fat box before the last update; nowhere if all is new
    std::vector<char> moved_, stale_;
    std::vector<std::int32_t> order_;  // by lo.x
    bool many_new_ = false;
    std::uint32_t updates_ = 0;
    // Slabs of the last sweep.
    float first_z_ = 0, slabs_per_metre_ = 1;
    int slab_count_ = 1;
    std::vector<Slab> slabs_;
};

}  // namespace talus
