// A host that is pushed by a blast may blast, carve, remove groups and take itself away from inside of that
// call (a barrel of powder goes off): the blast under way looked at groups that were gone (with sanitizers).
#include "tests/world/blocks_level.h"

#include <gtest/gtest.h>

namespace talus {
namespace {

struct Barrels : BlastTargets {
    Level* level = nullptr;
    int what = 0, pushed = 0;
    void find(const DBox& box, std::vector<Target>& out) override {
        for (int i = 0; i < 4; i++) {
            const DVec3 at{3.0 * i, 1, 6};
            const DBox bounds{at, at + DVec3{1, 1, 1}};
            if (overlaps(bounds, box)) out.push_back({std::uint64_t(i), bounds});
        }
    }
    void push(std::uint64_t id, Vec3 velocity, float exposure, float energy) override {
        EXPECT_TRUE(is_finite(velocity) && exposure > 0 && exposure <= 1 && energy > 0);
        if (pushed++ >= 4) return;  // each goes off once
        if (what == 0) level->blast({3.0 * double(id) + 0.5, 1.5, 6.5}, 6);
        if (what == 1)
            for (const GroupId group : level->groups()) level->remove_group(group);
        if (what == 2) level->carve({{-50, -50, -50}, {50, 50, 50}});
        if (what == 3) level->set_blast_targets(nullptr);
    }
};

TEST(Regress, AHostMayBlastWhileItIsPushed) {
    for (int what = 0; what < 4; what++) {
        BlocksLevel b;
        Barrels barrels;
        barrels.level = &b.level;
        barrels.what = what;
        b.level.set_blast_targets(&barrels);
        b.fill({{-2, 0, 9}, {12, 2, 9}}, b.stone);
        for (int i = 0; i < 6; i++) {
            Grid g = b.grid();
            b.fill(g, {{0, 0, 0}, {0, 2, 0}}, b.glass);
            b.level.add_group(std::move(g),
                              {.pose = {{2.0 * i, 0, 4}, {}}, .bears_load = true, .asleep = true});
        }
        const std::size_t all = b.all_blocks();
        b.level.blast({5, 1.5, 2}, 6);
        if (what == 0) {
            EXPECT_GT(barrels.pushed, 4) << "by one another too";
        } else {
            EXPECT_EQ(barrels.pushed, what == 3 ? 1 : 4) << what;
        }
        EXPECT_EQ(b.all_blocks(), all) << what;
        b.run(5);
        b.level.blast({5, 1.5, 2}, 6);
        b.run(5);
        EXPECT_EQ(b.all_blocks(), all) << what;
    }
}

}  // namespace
}  // namespace talus
