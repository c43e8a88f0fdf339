#include "tbb_jobs.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <algorithm>
#include <map>

namespace talus {

struct TbbJobs::State {
    explicit State(int threads)
        : count(threads),
          control(oneapi::tbb::global_control::max_allowed_parallelism, std::size_t(threads)),
          arena(threads) {}
    int count;
    oneapi::tbb::global_control control;
    oneapi::tbb::task_arena arena;
    std::map<std::uint64_t, std::unique_ptr<oneapi::tbb::task_group>> started;
    std::uint64_t next = 1;
};

TbbJobs::TbbJobs(int threads) : state_(std::make_unique<State>(std::max(1, threads))) {}

TbbJobs::~TbbJobs() {
    while (!state_->started.empty()) wait(state_->started.begin()->first);
}

int TbbJobs::worker_count() const { return state_->count; }

void TbbJobs::parallel_for(std::size_t count, Task task, void* context) {
    if (count == 0) return;
    state_->arena.execute([&] {
        oneapi::tbb::parallel_for(
            std::size_t(0), count, [&](std::size_t i) { task(context, i); },
            oneapi::tbb::simple_partitioner());
    });
}

std::uint64_t TbbJobs::start(Task task, void* context) {
    const std::uint64_t handle = state_->next++;
    auto& group = state_->started[handle];
    group = std::make_unique<oneapi::tbb::task_group>();
    state_->arena.execute([&] { group->run([task, context] { task(context, 0); }); });
    return handle;
}

void TbbJobs::wait(std::uint64_t handle) {
    const auto it = state_->started.find(handle);
    if (it == state_->started.end()) return;
    state_->arena.execute([&] { it->second->wait(); });
    state_->started.erase(it);
}

}  // namespace talus
