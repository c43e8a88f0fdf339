// sweep.h - how far a fast body may go in a step before it would be inside something.
//
// Layer: dynamics. Speculative contacts cover motions up to half a metre a step; what is faster, or thin, is
// swept: conservative advancement with the separating axes of box_contact.h. On each axis the gap closes no
// faster than the relative motion along it plus what turning adds, so no wall is skipped, and sliding along
// a floor is not slowed. Boxes are shrunk by a skin, so that resting contact is no hit.
// A body that hits stops for the rest of the step with its velocity untouched: the next step finds the
// contact and solves it as any other hit. What cannot set out at all although that was done is stuck: half
// of the speed at which the two meet, and of their spins, is taken away, or it would stay there for ever.
// Source: B. Mirtich, Impulse-based Dynamic Simulation (1996), conservative advancement.
// Determinism: bodies and pairs in order. Tests: tests/dynamics/tunnel_test.cpp
#pragma once

#include "dynamics/body_store.h"
#include "dynamics/near_bricks.h"
#include "dynamics/pairs.h"
#include "dynamics/terrain_patch.h"
#include "talus/jobs.h"

#include <vector>

namespace talus {

/// Where a body was before the step.
struct Departure {
    std::int32_t body;
    DVec3 position;
    Quat rotation;
};

class Sweep {
 public:
    /// Is this motion of a step too fast for speculative contacts alone?
    static bool needed(const BodyHot& body, float travel);

    /// Moves bodies back to where they first would hit.
    /// @param moved  every body that moved, in order; `fast` those that need a sweep (indices into moved)
    void run(BodyStore& bodies, const PairTable& table, const WorldSolids& world,
             const std::uint16_t (&layers)[16], const std::vector<Departure>& moved,
             const std::vector<std::int32_t>& fast, JobSystem* jobs);
    /// Between steps: what busier ones needed goes.
    void drop_scratch() {
        drop(departure_of_);
        drop(share_);
        drop(chunks_);
    }

 private:
    struct Path {
        DVec3 from;
        Vec3 step;  // to the end
        Quat q0, q1;
        Vec3 turn;  // rotation vector bound: its length
        float angle;
    };
    static void slow_stuck(BodyStore& bodies, std::int32_t a, std::int32_t b);
    Path path_of(const BodyStore& bodies, std::int32_t body) const;
    struct Chunk {
        TerrainPatch patch;
        NearBricks near;
        SolidPart near_a, near_b;  // of big shapes: what may be hit
        struct Stop {
            std::int32_t moved;
            float share;
            std::int32_t body, other;  // of the pair; 0: the world
        };
        std::vector<Stop> stops;
    };
    float against_body(const BodyStore& bodies, std::int32_t a, std::int32_t b, Chunk& chunk) const;
    float against_world(const BodyStore& bodies, const WorldSolids& world, const std::uint16_t (&layers)[16],
                        std::int32_t a, Chunk& chunk) const;

    std::vector<std::int32_t> departure_of_;  // by body, -1: did not move; of a call only
    const std::vector<Departure>* moved_ = nullptr;
    std::vector<float> share_;  // by entry of moved
    std::vector<Chunk> chunks_;
};

}  // namespace talus
