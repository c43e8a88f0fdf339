// crew.h - helpers that stay at hand for a whole step.
//
// Layer: dynamics. A step has a hundred short parallel loops. Handing each to the host's JobSystem costs some
// microseconds, more than many of them take; a crew asks the host once, and its helpers then watch for work.
//
//     run(host, f)   one of the host's tasks runs f, the others help it until f returns
//     parallel_for   inside f: all that came share the indices; one that never comes is not waited for
//
// So nothing depends on how many of the host's tasks run at once, or in which order. An index is taken only
// by exchanging the whole ticket (number of the loop, indices left), and what the ticket speaks of stays as
// it is until all taken indices are done. The leader takes them from the first on, helpers from the last: in
// loops over the same things a thread then meets mostly those that are in its cache already.
//
// Determinism: that of the tasks, as with any JobSystem. Tests: tests/dynamics/threads_test.cpp
#pragma once

#include "math/simd.h"
#include "talus/jobs.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace talus {

class Crew final : public JobSystem {
 public:
    explicit Crew(int workers) : workers_(workers) {}

    /// Calls f() once; parallel_for() of this crew may be used inside.
    template <class F>
    void run(JobSystem& host, F&& f) {
        struct Call {
            Crew* crew;
            std::remove_reference_t<F>* f;
        } call{this, &f};
        led_.store(false);
        closed_.store(false);
        host.parallel_for(
            std::size_t(workers_),
            [](void* context, std::size_t) {
                const Call& c = *static_cast<Call*>(context);
                if (c.crew->led_.exchange(true)) return c.crew->help();
                (*c.f)();
                c.crew->closed_.store(true, std::memory_order_release);
            },
            &call);
    }

    int worker_count() const override { return workers_; }

    /// Not inside a task of its own.
    void parallel_for(std::size_t count, Task task, void* context) override {
        if (count == 0) return;
        for (; count > kMostTasks; count--) task(context, count - 1);
        task_ = task;
        context_ = context;
        done_.store(0, std::memory_order_relaxed);
        loop_++;
        ticket_.store(loop_ << 40 | count, std::memory_order_release);
        const std::size_t own = work(false);
        while (done_.load(std::memory_order_acquire) + own != count) spin_wait();
    }

    /// Nothing runs in the background of a step.
    std::uint64_t start(Task task, void* context) override {
        task(context, 0);
        return 0;
    }
    void wait(std::uint64_t) override {}

 private:
    static constexpr std::uint64_t kMostTasks = (1 << 20) - 1;  // of a loop
    static constexpr int kPatience = 1 << 20;  // looks without work after which a helper leaves

    // The ticket: number of the loop (24 bits), first index left and end of those left (20 bits each).
    /// Takes indices, from the first or the last on, until none is left. @return how many
    std::size_t work(bool from_last) {
        std::size_t taken = 0;
        std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
        for (;;) {
            const std::uint64_t first = ticket >> 20 & kMostTasks, end = ticket & kMostTasks;
            if (first == end) return taken;
            const std::uint64_t less = from_last ? ticket - 1 : ticket + (std::uint64_t(1) << 20);
            if (!ticket_.compare_exchange_weak(ticket, less, std::memory_order_acq_rel,
                                               std::memory_order_acquire))
                continue;
            task_(context_, std::size_t(from_last ? end - 1 : first));
            taken++;
            ticket = ticket_.load(std::memory_order_acquire);
        }
    }
    void help() {
        for (int idle = 0; idle < kPatience && !closed_.load(std::memory_order_acquire); idle++) {
            if (const std::size_t taken = work(true)) {
                done_.fetch_add(taken, std::memory_order_acq_rel);
                idle = 0;
            }
            spin_wait();
        }
    }

    int workers_;
    Task task_ = nullptr;
    void* context_ = nullptr;
    std::uint64_t loop_ = 0;
    std::atomic<bool> led_{false}, closed_{false};
    alignas(64) std::atomic<std::uint64_t> ticket_{0};
    alignas(64) std::atomic<std::size_t> done_{0};
};

}  // namespace talus
