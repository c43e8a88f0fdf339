// narrow_phase.h - from pairs of bodies to contact manifolds, as seldom as possible.
//
// Layer: dynamics. A pair that touches is collided anew only after it moved kReuseMotion; one that does not
// only after the distance found last time is used up. Its manifolds hold true in between, because anchors
// are kept on both bodies.
// Determinism: pairs in table order, one at a time.
// Tests: tests/dynamics/contact_test.cpp, terrain_contact_test.cpp
#pragma once

#include "dynamics/body_store.h"
#include "dynamics/box_contact.h"
#include "dynamics/broad_phase.h"
#include "dynamics/pairs.h"
#include "dynamics/terrain_patch.h"

#include <vector>

namespace talus {

class NarrowPhase {
 public:
    /// Pairs with at least one manifold and one side awake, in table order.
    std::vector<std::int32_t> active;
    /// Sleeping bodies whose loaded contact went.
    std::vector<std::int32_t> lost_support;

    void run(BodyStore& bodies, PairTable& table, const BroadPhase& broad, const WorldSolids& world,
             std::uint16_t (&layers)[16], float dt);

    /// A body woke after run(): its pairs with what slept beside it join.
    void join(std::int32_t body);

 private:
    void update_pair(std::int32_t i);
    void collide(Pair& pair, const Mat3& turn, Vec3 offset, float margin, float reach);
    float collide_world(Pair& pair, float margin, float reach);
    void build_manifolds(Pair& pair, const Mat3& turn, Vec3 offset);
    int pick_points(int (&cluster)[64], int n, Vec3 normal) const;
    void warm_start(Manifold& m, std::int32_t old) const;
    void lose(Pair& pair);
    float friction_of(std::int32_t body, float of_box) const {
        return of_box >= 0 ? of_box : bodies_->cold[std::size_t(body)].friction;
    }

    BodyStore* bodies_ = nullptr;
    PairTable* table_ = nullptr;
    const BroadPhase* broad_ = nullptr;
    const WorldSolids* world_ = nullptr;
    std::uint16_t* layers_ = nullptr;
    float dt_ = 0;
    std::vector<ContactPoint> points_;
    std::vector<char> taken_;
    std::vector<float> friction_b_;  // parallel to points_, for the world
    TerrainPatch patch_;
};

}  // namespace talus
