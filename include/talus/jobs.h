// jobs.h - how a host lends threads, listens to the log and measures time.
//
// Layer: base. The library makes no threads, reads no clock and writes nowhere: a host gives it
// a JobSystem (null = everything runs on the calling thread) and a LogSink (null = silent) and a
// ProfileSink (null = nothing is measured).
// Determinism: work is cut into chunks whose borders never depend on the number of threads, and
// every result is applied in chunk order, so one thread and many give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace talus {

class JobSystem {
 public:
    using Task = void (*)(void* context, std::size_t index);

    virtual ~JobSystem() = default;

    /// Threads that may run tasks at once, the caller's included; at least 1.
    virtual int worker_count() const = 0;

    /// Calls task(context, i) once for each i < count, in any order, on any threads; returns when all are
    /// done.
    virtual void parallel_for(std::size_t count, Task task, void* context) = 0;

    /// Starts task(context, 0) in the background. The handle is passed to wait() exactly once.
    virtual std::uint64_t start(Task task, void* context) = 0;
    virtual void wait(std::uint64_t handle) = 0;
};

enum class LogLevel : std::uint8_t { debug, info, warning, error };

class LogSink {
 public:
    virtual ~LogSink() = default;
    virtual void log(LogLevel level, std::string_view message) = 0;
};

/// Told when a named piece of work begins and ends, properly nested, on the calling thread: a host puts its
/// clock here.
class ProfileSink {
 public:
    virtual ~ProfileSink() = default;
    /// `zone` lives forever.
    virtual void enter(const char* zone) = 0;
    virtual void leave() = 0;
};

}  // namespace talus
