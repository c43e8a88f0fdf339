#include "apps/talus/tbb_jobs.h"
#include "bench_engine.h"

#include <time.h>

namespace talus::bench {

namespace {

class TalusEngine final : public Engine {
 public:
    TalusEngine(const scenes::RigidScene& scene, const EngineOptions& options) : scene_(scene) {
        SpaceSettings settings;
        settings.allow_sleep = options.sleep;
        if (options.threads > 1) {
            jobs_ = std::make_unique<TbbJobs>(options.threads);
            settings.jobs = jobs_.get();
        }
        placed_ = scenes::place(scene, settings);
    }
    void step(float dt) override { placed_.space->step(dt); }
    PiecePose pose(std::size_t i) override {
        const Body& b = placed_.body_of[i];
        const Quat q = b.pose().rotation;
        return {b.center_of_mass(), {q.x, q.y, q.z, q.w}};
    }
    bool asleep(std::size_t i) override { return placed_.body_of[i].is_asleep(); }
    double energy(std::size_t i) override {
        const Body& b = placed_.body_of[i];
        const Vec3 v = b.velocity(), w = b.direction_to_local(b.spin());
        return double(b.mass()) * (0.5 * double(dot(v, v)) + 9.81 * b.center_of_mass().y) +
               0.5 * double(dot(w, b.inertia() * w));
    }
    double edit(std::size_t i, const scenes::RigidPiece& now) override {
        BlockTable table;
        Material m;
        m.density = scene_.density;
        const BlockId id = table.add(m);
        Grid grid(table);
        for (const Cell c : now.cubes) grid.set(c, id);
        timespec a, b;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        placed_.body_of[i].set_shape(BodyShape::from_grid(grid, 1));
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        return double(b.tv_sec - a.tv_sec) * 1e3 + double(b.tv_nsec - a.tv_nsec) * 1e-6;
    }
    void wake_all_for_good() override { placed_.space->set_allow_sleep(false); }

 private:
    std::unique_ptr<TbbJobs> jobs_;  // outlives the space
    scenes::RigidScene scene_;
    scenes::PlacedScene placed_;
};

}  // namespace

std::unique_ptr<Engine> make_talus_engine(const scenes::RigidScene& scene, const EngineOptions& options) {
    return std::make_unique<TalusEngine>(scene, options);
}

}  // namespace talus::bench
