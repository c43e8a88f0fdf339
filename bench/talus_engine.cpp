#include "apps/talus/tbb_jobs.h"
#include "bench_engine.h"

#include <time.h>

#include <optional>

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
        // What changed, in terms of the grid a user keeps.
        Grid& grid = edited_grid(i);
        std::vector<BlockChange> changes;
        Grid wanted(table_);
        for (const Cell c : now.cubes) wanted.set(c, block_);
        grid.for_each([&](Cell c, BlockId) {
            if (!wanted.has(c)) changes.push_back({c, block_, kAir});
        });
        wanted.for_each([&](Cell c, BlockId) {
            if (!grid.has(c)) changes.push_back({c, kAir, block_});
        });
        for (const BlockChange& c : changes) grid.set(c.cell, c.now);
        timespec a, b;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        placed_.body_of[i].change_blocks(table_, changes);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        return double(b.tv_sec - a.tv_sec) * 1e3 + double(b.tv_nsec - a.tv_nsec) * 1e-6;
    }
    void wake_all_for_good() override { placed_.space->set_allow_sleep(false); }

 private:
    /// The blocks of the piece that is edited. The first edit gives its body a shape of this table's blocks.
    Grid& edited_grid(std::size_t i) {
        if (grid_ && edited_ == i) return *grid_;
        Material m;
        m.density = scene_.density;
        block_ = table_.add(m);
        grid_.emplace(table_);
        edited_ = i;
        for (const Cell c : scene_.pieces[i].cubes) grid_->set(c, block_);
        placed_.body_of[i].set_shape(BodyShape::from_grid(*grid_, 1));
        return *grid_;
    }

    BlockTable table_;
    BlockId block_ = kAir;
    std::optional<Grid> grid_;
    std::size_t edited_ = 0;
    std::unique_ptr<TbbJobs> jobs_;  // outlives the space
    scenes::RigidScene scene_;
    scenes::PlacedScene placed_;
};

}  // namespace

std::unique_ptr<Engine> make_talus_engine(const scenes::RigidScene& scene, const EngineOptions& options) {
    return std::make_unique<TalusEngine>(scene, options);
}

}  // namespace talus::bench
