// The scenes of scenes/golden.h give the hashes in hashes.txt, with one thread and with two. This program is
// built with every compiler and instruction set; golden_wasm.cpp is its twin for WebAssembly.
#include "scenes/golden.h"
#include "tests/world/record_failures.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace talus {

/// Names the scene where GoogleTest would print its bytes.
void PrintTo(const GoldenScene& scene, std::ostream* out) { *out << scene.name; }

namespace {

class TwoThreads final : public JobSystem {
 public:
    ~TwoThreads() override {
        for (auto& [handle, thread] : started_) thread.join();
    }
    int worker_count() const override { return 2; }
    void parallel_for(std::size_t count, Task task, void* context) override {
        std::atomic<std::size_t> next = 0;
        const auto work = [&] {
            for (std::size_t i = next++; i < count; i = next++) task(context, i);
        };
        std::thread other(work);
        work();
        other.join();
    }
    std::uint64_t start(Task task, void* context) override {
        started_.emplace(++last_, std::thread([=] { task(context, 0); }));
        return last_;
    }
    void wait(std::uint64_t handle) override {
        const auto found = started_.find(handle);
        ASSERT_NE(found, started_.end());
        found->second.join();
        started_.erase(found);
    }

 private:
    std::uint64_t last_ = 0;
    std::map<std::uint64_t, std::thread> started_;
};

/// Name of the scene to its hash. A line is "0123456789abcdef name of the scene".
std::map<std::string, std::string> known_hashes() {
    std::map<std::string, std::string> known;
    std::ifstream file(TALUS_SOURCE_DIR "/tests/golden/hashes.txt");
    for (std::string line; std::getline(file, line);) {
        if (line.size() > 17) known[line.substr(17)] = line.substr(0, 16);
    }
    return known;
}

std::string hex(std::uint64_t hash) {
    std::string text(16, '0');
    for (std::size_t i = 16; i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
    return text;
}

TEST(GoldenHashes, EverySceneHasAHashAndEveryHashAScene) {
    std::map<std::string, std::string> known = known_hashes();
    for (const GoldenScene& scene : golden_scenes()) EXPECT_EQ(known.erase(scene.name), 1u) << scene.name;
    EXPECT_TRUE(known.empty()) << known.begin()->first;
}

class GoldenScenes : public testing::TestWithParam<GoldenScene> {
 protected:
    void run(JobSystem* jobs) {
        const std::string hash = hex(GetParam().run(jobs));
        if (hash == known_hashes()[GetParam().name]) return;
        // To take new hashes over: test_golden | sed -n 's/^now: //p' | sort -u
        ADD_FAILURE() << "differs from hashes.txt\nnow: " << hash << ' ' << GetParam().name;
        if (!GetParam().collapse) return;
        // Run on a machine that gives the right hash, this tells the first tick that is different here.
        LevelSettings settings = collapse_scene_settings();
        settings.jobs = jobs;
        Level level(settings);
        const RecordFailures record(level);
        run_collapse_scene(level, *GetParam().collapse);
    }
};

TEST_P(GoldenScenes, OneThread) { run(nullptr); }

TEST_P(GoldenScenes, TwoThreads) {
    TwoThreads jobs;
    run(&jobs);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenScenes, testing::ValuesIn(golden_scenes().begin(), golden_scenes().end()),
                         [](const auto& info) {
                             std::string name = info.param.name;
                             for (char& c : name) c = c == ' ' ? '_' : c;
                             return name;
                         });

}  // namespace
}  // namespace talus
