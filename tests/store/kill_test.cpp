// A writer that is killed at any moment leaves a save that loads.
#include "tests/store/build_level.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

namespace talus {
namespace {

struct Shared {
    std::atomic<int> saves{0};
    std::atomic<bool> saving{false};
};

TEST(StoreKilled, TheSaveBeforeOrTheNewOneIsThere) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a");
    const auto a = busy_level(5), b = busy_level(60);
    ASSERT_NE(a->hash(), b->hash());
    ASSERT_TRUE(save_level(*a, path));
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    int killed_in_a_save = 0, with_a = 0, with_b = 0;
    for (int round = 0; round < 40; round++) {
        auto* shared = new (memory) Shared;
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            for (int i = round;; i++) {
                shared->saving = true;
                if (!save_level(i % 2 ? *a : *b, path)) _exit(1);
                shared->saving = false;
                shared->saves++;
            }
        }
        while (shared->saves < 1 + round % 3) usleep(100);
        usleep(unsigned(round) * 397 % 5000);
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself";
        killed_in_a_save += shared->saving;
        const auto loaded = load_level(path);
        ASSERT_TRUE(loaded) << loaded.error().message;
        const std::uint64_t hash = (*loaded)->hash();
        with_a += hash == a->hash();
        with_b += hash == b->hash();
        EXPECT_EQ(with_a + with_b, round + 1);
    }
    munmap(memory, sizeof(Shared));
    EXPECT_GT(killed_in_a_save, 10);
    EXPECT_GT(with_a, 0);
    EXPECT_GT(with_b, 0);
}

}  // namespace
}  // namespace talus
