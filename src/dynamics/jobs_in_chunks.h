// jobs_in_chunks.h - a loop over chunks, on the host's threads where it lends any.
//
// Layer: dynamics. Determinism: the caller cuts the work; borders must not depend on the number of threads.
#pragma once

#include "talus/jobs.h"

#include <cstddef>
#include <type_traits>

namespace talus {

template <class F>
void in_chunks(JobSystem* jobs, std::size_t count, F&& f) {
    if (!jobs || count < 2) {
        for (std::size_t i = 0; i < count; i++) f(i);
        return;
    }
    jobs->parallel_for(
        count, [](void* context, std::size_t i) { (*static_cast<std::remove_reference_t<F>*>(context))(i); },
        &f);
}

}  // namespace talus
