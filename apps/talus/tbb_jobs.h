// tbb_jobs.h - the library's JobSystem on oneTBB.
//
// Layer: apps.
#pragma once

#include "talus/jobs.h"

#include <memory>

namespace talus {

class TbbJobs : public JobSystem {
 public:
    /// @param threads  that work at once, the caller's included; at least 1
    explicit TbbJobs(int threads);
    ~TbbJobs() override;
    int worker_count() const override;
    void parallel_for(std::size_t count, Task task, void* context) override;
    std::uint64_t start(Task task, void* context) override;
    void wait(std::uint64_t handle) override;

 private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace talus
