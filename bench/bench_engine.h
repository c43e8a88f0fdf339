// bench_engine.h - one face for the engines that talus-bench compares.
#pragma once

#include "overlap_check.h"
#include "scenes/rigid_scene.h"

#include <memory>

namespace talus::bench {

struct EngineOptions {
    int threads = 1;
    bool sleep = true;
};

class Engine {
 public:
    virtual ~Engine() = default;
    virtual void step(float dt) = 0;
    virtual PiecePose pose(std::size_t piece) = 0;  ///< of the centre of mass
    virtual bool asleep(std::size_t piece) = 0;
    virtual double energy(std::size_t piece) = 0;  ///< kinetic and potential, J
    /// Gives a piece another set of cubes. @return CPU ms until ready to step
    virtual double edit(std::size_t piece, const scenes::RigidPiece& now) = 0;
    virtual void wake_all_for_good() = 0;
};

std::unique_ptr<Engine> make_talus_engine(const scenes::RigidScene& scene, const EngineOptions& options);
/// nullptr when built without Bullet.
std::unique_ptr<Engine> make_bullet_engine(const scenes::RigidScene& scene, const EngineOptions& options);

}  // namespace talus::bench
