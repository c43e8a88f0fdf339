// After 2^32 steps their numbers begin anew. A pair that had never touched then looked as if it just had, and
// its contact was read from before the list (a snapshot that names such a step made it happen at once).
#include "dynamics/state.h"
#include "tests/dynamics/rigs.h"

namespace talus {
namespace {

TEST(Regress, StepsAreNumberedAnew) {
    Rig numbered(no_sleep()), anew(no_sleep());  // the second one in every step
    for (Rig* rig : {&numbered, &anew}) {
        rig->space.set_ground(0);
        rig->cube({0, 0.5, 0});
        rig->run(1);
        rig->cube({0, 2, 0});
    }
    Space::State& s = anew.space.state();
    std::size_t began = 0;
    for (int i = 0; i < 60; i++) {
        for (Pair& p : s.pairs.pairs) p.last_touch = p.last_touch == s.step_number ? 0xffffffffu : 0;
        s.step_number = 0xffffffffu;
        for (Rig* rig : {&numbered, &anew}) rig->space.step(kTick);
        const auto a = numbered.space.contacts(), b = anew.space.contacts();
        ASSERT_EQ(a.size(), b.size()) << i;
        for (std::size_t k = 0; k < a.size(); k++) {
            EXPECT_EQ(a[k].a, b[k].a);
            EXPECT_EQ(a[k].b, b[k].b);
            EXPECT_EQ(a[k].impulse, b[k].impulse);
            EXPECT_EQ(a[k].began, b[k].began) << i;
            began += b[k].began;
        }
    }
    EXPECT_GE(began, 1u);
}

}  // namespace
}  // namespace talus
