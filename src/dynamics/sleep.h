// sleep.h - who may rest, and what wakes them.
//
// Layer: dynamics. Sleep is found inside heaps, not by islands: a body that moved less than 2 cm in half a
// second is quiet; the largest set of quiet bodies whose supports are quiet, settling, asleep or fixed falls
// asleep, while others may still roll on top. A support carries at least a tenth of the weight; it settles
// when it has nearly come to rest, and wakes what slept on it if it moves on after all. Each touching pair
// remembers the force it carried then. A sleeper wakes
//   - by a hit: what touches it brings more than half a metre a second of its own mass,
//   - by load: the forces of what is awake grew by its own weight and half of what it carried,
//   - when a support it leaned on moved by 2 cm, or a loaded contact is lost,
//   - when a moving kinematic body touches it.
// Islands were rejected: in rubble one rolling piece keeps thousands awake.
// Determinism: bodies and pairs in their order. Tests: tests/dynamics/sleep_test.cpp
#pragma once

#include "dynamics/body_store.h"
#include "dynamics/pairs.h"
#include "talus/jobs.h"

#include <vector>

namespace talus {

class Sleep {
 public:
    struct Step {
        float dt = 0;  ///< of an internal step
        Vec3 up;
        float gravity = 0;
        const std::vector<std::int32_t>* awake = nullptr;    ///< bodies that moved
        const std::vector<ActivePair>* active = nullptr;     ///< touching pairs
        const std::vector<std::int32_t>* beside = nullptr;   ///< of those, the ones with a sleeper among them
        const std::vector<Vec3>* velocity_before = nullptr;  ///< by body
        JobSystem* jobs = nullptr;
    };

    /// Sleepers that something is about to hit in this step.
    /// @param beside  touching pairs, those with a sleeper among them
    void find_hit(const BodyStore& bodies, const PairTable& table, const std::vector<std::int32_t>& beside,
                  float dt, std::vector<std::int32_t>& wake) const;
    /// Adds bodies to wake to `wake`; puts bodies to sleep.
    void update(BodyStore& bodies, PairTable& table, const Step& step, std::vector<std::int32_t>& wake);

    /// Between steps: what busier ones needed goes.
    void drop_scratch() {
        drop(candidate_);
        drop(added_load_);
        drop(carried_load_);
        drop(loaded_bodies_);
        drop(pairs_);
    }

    /// What a snapshot keeps (snapshot.cpp); the rest lives within one step.
    template <class A, class T>
    static void archive(A& a, T& v) {
        a(v.steps_);
    }

 private:
    void count_quiet(BodyStore& bodies, const Step& step);
    void find_wakers(BodyStore& bodies, PairTable& table, const Step& step, std::vector<std::int32_t>& wake);
    void find_sleepers(BodyStore& bodies, PairTable& table, const Step& step);

    enum Candidate : char { kRestless, kSettling, kQuiet, kStill };  // kStill: asleep or fixed
    std::vector<char> candidate_;                                    // by body; kStill between searches
    std::vector<float> added_load_, carried_load_;                   // N, by body
    std::vector<std::int32_t> loaded_bodies_;
    std::vector<std::int32_t> pairs_;
    std::uint32_t steps_ = 0;
};

}  // namespace talus
