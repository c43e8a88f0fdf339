// counting_new.h - counts what a test program asks of `operator new` (allocations.h).
//
// It replaces the operators: for one source of a program only. All of them, the one that does not throw
// included: what comes from a sanitizer's would be given to free().
#pragma once

#include "tests/allocations.h"

#include <cstdlib>
#include <new>

namespace talus {
inline void* counted_memory(std::size_t size, std::size_t align) {
    allocations_asked++;
    bytes_asked += size;
    const std::size_t whole = size ? (size + align - 1) / align * align : align;
    return align <= alignof(std::max_align_t) ? std::malloc(size ? size : 1)
                                              : std::aligned_alloc(align, whole);
}
}  // namespace talus

// Not inline, or the compiler takes free() for the wrong end of a new.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (void* p = talus::counted_memory(size, 1)) return p;
    std::abort();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t align) {
    if (void* p = talus::counted_memory(size, std::size_t(align))) return p;
    std::abort();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return talus::counted_memory(size, 1);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t align,
                                     const std::nothrow_t&) noexcept {
    return talus::counted_memory(size, std::size_t(align));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept {
    std::free(p);
}
