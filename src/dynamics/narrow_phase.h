// narrow_phase.h - from pairs of bodies to contact manifolds, as seldom as possible.
//
// Layer: dynamics. A pair that touches is collided anew only after it moved kReuseMotion; one that does not
// only after the distance found last time is used up. Its manifolds hold true in between, because anchors
// are kept on both bodies.
// Most pairs are not even looked at: PairWait says how far their bodies must go first, and pairs of bodies
// that rest are not even asked that.
// Determinism: pairs in table order, in chunks of a fixed size; what chunks found is put into the table in
// order, so that any number of threads gives the same bits.
// Tests: tests/dynamics/contact_test.cpp, terrain_contact_test.cpp
#pragma once

#include "dynamics/body_store.h"
#include "dynamics/box_contact.h"
#include "dynamics/broad_phase.h"
#include "dynamics/near_bricks.h"
#include "dynamics/pairs.h"
#include "dynamics/terrain_patch.h"
#include "dynamics/untangle.h"
#include "talus/jobs.h"

#include <vector>

namespace talus {

class NarrowPhase {
 public:
    /// Pairs with at least one manifold and one side awake, in table order.
    std::vector<ActivePair> active;
    /// Those of them between a sleeping body and one that is not, or was.
    std::vector<std::int32_t> beside_sleepers;
    /// Sleeping bodies whose loaded contact went.
    std::vector<std::int32_t> lost_support;
    /// Of the active pairs, those whose bodies are fast against each other.
    std::size_t hits = 0;

    void run(BodyStore& bodies, PairTable& table, const BroadPhase& broad, const WorldSolids& world,
             std::uint16_t (&layers)[16], float dt, JobSystem* jobs);

    /// A body woke after run(): its pairs with what slept beside it join.
    void join(std::int32_t body);

    /// Between steps: what busier ones needed goes.
    void drop_scratch();

 private:
    /// What a first look at a pair reads of a body.
    struct alignas(64) Glance {
        DVec3 position;
        Vec3 lo, hi, velocity;
        float spin_motion = 0;  ///< what turning adds in this step, metres
    };
    enum State : std::uint8_t { kAwake = 1, kAsleep = 2, kKinematic = 4, kNewBox = 8 };
    /// A pair whose contacts must be found anew.
    struct Anew {
        std::int32_t pair, active;  ///< its place in Chunk::active
        Mat3 turn;
        Vec3 offset, ahead;  ///< axes of a
        float margin, reach, travel;
    };
    static constexpr std::int32_t kNotYetPlaced = -1, kNoneFound = -2;  ///< ActivePair::first of a chunk
    static constexpr int kPutOff = -1;

    /// What one chunk of pairs needs and finds.
    struct Chunk {
        std::vector<std::int32_t> todo;  // pairs
        std::vector<Anew> anew;
        std::vector<ContactPoint> points;
        std::vector<std::int32_t> left;  // points not yet in a manifold
        std::vector<std::int32_t> cluster;
        TerrainPatch patch;
        NearBricks near;

        struct Found {
            std::int32_t pair;
            std::int32_t count;  // of `manifolds`, in order
        };
        std::vector<Manifold> manifolds;
        std::vector<Found> found;
        std::vector<std::int32_t> places;            // of `manifolds` in the table
        std::vector<std::int32_t> cleared, removed;  // pairs
        std::vector<ActivePair> active;
        std::vector<std::int32_t> beside_sleepers, lost_support;
        std::vector<Anew> tangled;  // pairs put off
        std::size_t hits = 0;
        bool tangles = false;  // only those are left
    };
    void watch();
    void glance_at_all(JobSystem* jobs);
    void update_pairs(Chunk& chunk, std::size_t first, std::size_t last);
    void glance(std::size_t body);
    Vec3 to_world_origin(std::int32_t body) const;
    void look_at(Chunk& chunk, std::int32_t pair);
    void collide_anew(Chunk& chunk);
    void collide_anew(Chunk& chunk, const Anew& p);
    void wait_for(std::int32_t i, float metres);
    void wait_until_moved(std::int32_t i);
    /// @return how many manifolds were found; kPutOff: the pair is tangled, and it is not the turn of those
    int collide(Chunk& chunk, std::int32_t i, const Mat3& turn, Vec3 offset, Vec3 ahead, float margin,
                float reach);
    void collide_tangled();
    Ways ways_of(const Pair& pair, const SharedAxes& axes) const;
    float collide_world(Chunk& chunk, Pair& pair, Vec3 ahead, float margin, float reach);
    int build_manifolds(Chunk& chunk, Pair& pair, const Mat3& turn, Vec3 offset);
    void warm_start(Manifold& m, std::int32_t old) const;
    void lose(Chunk& chunk, Pair& pair);
    /// Manifolds as many as the pair had go to their places at once.
    bool replace(Chunk& chunk, const Pair& pair, int count);
    /// Makes room in the table for what a chunk found; fill() then puts it there.
    void commit(Chunk& chunk);
    void fill(Chunk& chunk);
    float friction_of(std::int32_t body, float of_box) const {
        return of_box >= 0 ? sane_friction(of_box) : bodies_->hot[std::size_t(body)].friction;
    }

    BodyStore* bodies_ = nullptr;
    PairTable* table_ = nullptr;
    const BroadPhase* broad_ = nullptr;
    const WorldSolids* world_ = nullptr;
    std::uint16_t* layers_ = nullptr;
    float dt_ = 0;
    std::vector<std::int64_t> reach_;   // by body: its way until the end of this step
    std::vector<Glance> glances_;       // by body
    std::vector<std::uint8_t> states_;  // by body: State
    BitSet moving_;                     // bodies that moved when pairs were last watched
    BitSet glanced_;                    // bodies whose glance holds for that step only
    std::vector<std::int32_t> list_;    // of a call
    std::vector<Anew> tangled_;
    std::vector<Chunk> chunks_;
};

}  // namespace talus
