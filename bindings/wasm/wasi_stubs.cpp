// wasi_stubs.cpp - what wasi-libc would import from a host.
//
// The core does no input or output; only the C library's last words (assert, abort, a full heap) reach these.
// Defined here, they are no imports, so that the module needs nothing from the page. Error 8 is "bad file
// descriptor".

#include <cstdint>

extern "C" {

// The names by which wasi-libc imports them.
std::int32_t __imported_wasi_snapshot_preview1_fd_close(std::int32_t) { return 8; }
std::int32_t __imported_wasi_snapshot_preview1_fd_write(std::int32_t, std::int32_t, std::int32_t,
                                                        std::int32_t) {
    return 8;
}
std::int32_t __imported_wasi_snapshot_preview1_fd_read(std::int32_t, std::int32_t, std::int32_t,
                                                       std::int32_t) {
    return 8;
}
std::int32_t __imported_wasi_snapshot_preview1_fd_seek(std::int32_t, std::int64_t, std::int32_t,
                                                       std::int32_t) {
    return 8;
}
std::int32_t __imported_wasi_snapshot_preview1_fd_fdstat_get(std::int32_t, std::int32_t) { return 8; }
std::int32_t __imported_wasi_snapshot_preview1_environ_get(std::int32_t, std::int32_t) { return 0; }
std::int32_t __imported_wasi_snapshot_preview1_environ_sizes_get(std::int32_t count, std::int32_t size) {
    *reinterpret_cast<std::int32_t*>(count) = 0;
    *reinterpret_cast<std::int32_t*>(size) = 0;
    return 0;
}
[[noreturn]] void __imported_wasi_snapshot_preview1_proc_exit(std::int32_t) { __builtin_trap(); }
}
