// broad_phase.h - which bodies are near each other.
//
// Layer: dynamics. Every body has a fat box: its bounds, a margin, and two steps of motion ahead. Only when
// a body leaves its fat box are partners looked for. Where many do in one step, all bodies are sorted in x
// and swept, eight tests at a time, in slabs of z: in heaps most bodies move a little each step, and the
// sorted order hardly changes. Where few do, a tree of all boxes is asked about each: what rests costs
// nothing. Both find the same pairs, so that which is taken is a matter of time only; the tree is brought up
// to date when it is needed, and answers the space's queries too.
// Bodies whose fat boxes met before have their pair already. Boxes are floats about an origin near the
// bodies; far out they only grow coarser.
// Determinism: pairs are made from left to right (lo.x of their boxes); threads share the slabs. What is done
// now and then (choosing the origin, sorting the pairs) comes after so many new boxes, which snapshots count.
// Tests: tests/dynamics/broad_phase_test.cpp
#pragma once

#include "base/archive.h"
#include "dynamics/body_store.h"
#include "dynamics/box_tree.h"
#include "dynamics/pairs.h"
#include "math/simd.h"
#include "talus/jobs.h"

#include <vector>

namespace talus {

class BroadPhase {
 public:
    void add(std::int32_t body);
    void remove(std::int32_t body);
    /// Its fat box is made anew in the next update and all its partners looked for.
    void touch(std::int32_t body) {
        stale_.set(body);
        strayed_.set(body);
    }
    /// After bodies were moved: they may have left their boxes.
    void note_moved(const BitSet& bodies) { strayed_ |= bodies; }

    void update(BodyStore& bodies, PairTable& table, const std::uint16_t (&layers)[16], float dt,
                JobSystem* jobs);

    /// Did the body get a new fat box in the last update?
    bool moved(std::int32_t body) const { return moved_[std::size_t(body)] != 0; }
    /// Those that did; some may be gone since.
    const std::vector<std::int32_t>& new_boxes() const { return new_boxes_; }
    bool overlap(std::int32_t a, std::int32_t b) const {
        return fat_[std::size_t(a)].meets(fat_[std::size_t(b)]);
    }

    /// Bodies whose bounds may meet the box, and some more, in order.
    std::vector<std::int32_t> near_box(const BodyStore& bodies, const DBox& box);
    /// Bodies whose bounds a ball may meet on its way, and some more, in order.
    std::vector<std::int32_t> near_way(const BodyStore& bodies, DVec3 from, Vec3 direction, float distance,
                                       float radius);

    /// Between steps: what busier ones needed goes.
    void drop_scratch() {
        drop(slabs_);
        drop(due_);
        drop(found_);
    }

    /// What a snapshot keeps (snapshot.cpp); the rest lives within one step.
    template <class A, class T>
    static void archive(A& a, T& v) {
        a(v.origin_, v.fat_, v.new_boxes_since_, v.rounds_);
    }
    std::vector<std::int32_t> stale() const;
    /// After reading: refuses what update() could not work with, and makes the rest.
    void check(ByteReader& a, const BodyStore& bodies, const std::vector<std::int32_t>& stale);
    struct NewPair {
        std::int32_t a, b;
    };
    std::vector<NewPair> new_pairs;  ///< made since it was last cleared, in order

 private:
    using Fat = Bounds;
    void fatten(const BodyHot& body, std::size_t i, float dt);
    bool choose_origin(const BodyStore& bodies);
    void refit(const BodyHot& body, std::size_t i, float dt, bool all);
    void fresh_order(const BodyStore& bodies);
    void find_by_sweep(const BodyStore& bodies, const PairTable& table, const std::uint16_t (&layers)[16],
                       JobSystem* jobs);
    void find_by_tree(const BodyStore& bodies, const PairTable& table, const std::uint16_t (&layers)[16],
                      JobSystem* jobs);
    static bool may_pair(const BodyStore& bodies, const PairTable& table, const std::uint16_t (&layers)[16],
                         std::int32_t a, std::int32_t b);
    void put_behind();
    bool bring_up_to_date(const BodyStore& bodies);
    Bounds about_origin(DVec3 lo, DVec3 hi) const;
    template <class Meets>
    std::vector<std::int32_t> ask(const BodyStore& bodies, Meets&& meets);
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
    std::vector<char> moved_;  // by body: got a new box in the last update
    std::vector<std::int32_t> new_boxes_;
    BitSet stale_;                       // touched since
    std::uint64_t new_boxes_since_ = 0;  // the last round, which comes when there were as many as bodies
    std::uint32_t rounds_ = 0;
    std::vector<std::int32_t> order_;             // by lo.x, of the last sweep; then those added since
    std::vector<char> in_order_;                  // by body
    std::size_t out_of_order_ = 0;                // boxes changed since the last sweep, in order_ or not
    std::vector<std::int32_t> due_;               // of a call
    std::vector<NewPair> found_;                  // likewise
    std::vector<std::vector<NewPair>> found_in_;  // by chunk of new boxes
    BoxTree tree_;                                // boxes that hold the fat ones, but of ...
    BitSet behind_;                               // ... bodies with another fat box by now
    BitSet strayed_;                              // bodies whose bounds its box may not hold
    int scans_ = 0;                               // queries answered without it since it was up to date
    int quiet_updates_ = 0;                       // in a row, with few new boxes
    // Slabs of the last sweep.
    float first_z_ = 0, slabs_per_metre_ = 1;
    int slab_count_ = 1;
    std::vector<Slab> slabs_;
};

}  // namespace talus
