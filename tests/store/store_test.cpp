#include "talus/store.h"

#include "tests/store/build_level.h"
#include "world/level_state.h"

#include <cmath>
#include <limits>

namespace talus {
namespace {

void expect_same_grid(const Grid& a, const Grid& b) {
    ASSERT_EQ(a.block_count(), b.block_count());
    a.for_each([&](Cell c, BlockId id) { EXPECT_EQ(b.get(c), id); });
}

TEST(Store, RoundTripKeepsEverySavedBit) {
    const TemporaryFolder folder;
    const auto level = busy_level();
    ASSERT_GT(level->groups().size(), 3u);  // the blast broke something off
    const auto report = save_level(*level, folder.file("a"));
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->groups, level->groups().size());
    const auto loaded = load_level(folder.file("a"));
    ASSERT_TRUE(loaded) << loaded.error().message;
    Level& back = **loaded;

    EXPECT_EQ(back.hash(), level->hash());
    EXPECT_EQ(back.groups(), level->groups());
    EXPECT_TRUE(back.events().empty());
    expect_same_grid(level->terrain(), back.terrain());
    ASSERT_EQ(back.table().size(), level->table().size());
    for (std::size_t id = 0; id < back.table().size(); id++)
        EXPECT_TRUE(back.table()[BlockId(id)] == level->table()[BlockId(id)]) << id;
    const LevelSettings &s = level->settings(), &t = back.settings();
    EXPECT_EQ(s.seed, t.seed);
    EXPECT_EQ(s.ground, t.ground);
    EXPECT_EQ(s.cell_size, t.cell_size);
    EXPECT_EQ(s.gravity, t.gravity);
    EXPECT_EQ(level->stats().tick, back.stats().tick);
    EXPECT_EQ(level->stats().destroyed, back.stats().destroyed);
    EXPECT_EQ(level->stats().awake, back.stats().awake);
    int debris = 0;
    std::size_t cuts = 0;
    for (GroupId id : level->groups()) {
        const Group &a = *level->state().find(id), &b = *back.state().find(id);
        EXPECT_EQ(a.body.center_of_mass(), b.body.center_of_mass());
        EXPECT_EQ(a.body.is_asleep(), b.body.is_asleep());
        EXPECT_EQ(a.body.friction(), b.body.friction());
        EXPECT_EQ(a.body.mass(), b.body.mass());
        EXPECT_EQ(a.bears_load, b.bears_load);
        EXPECT_EQ(a.is_debris, b.is_debris);
        EXPECT_EQ(a.created_tick, b.created_tick);
        EXPECT_EQ(a.slippery_until, b.slippery_until);
        EXPECT_EQ(a.asleep_ticks, b.asleep_ticks);
        EXPECT_EQ(a.joins.cuts(), b.joins.cuts());
        cuts += a.joins.cuts().size();
        debris += a.slippery_until != 0;
    }
    EXPECT_GT(debris, 0);
    EXPECT_GT(cuts, 0u);
    // New groups get the same ids: the free slots came back in order.
    Grid one(level->table()), other(back.table());
    one.set({0, 0, 0}, 1);
    other.set({0, 0, 0}, 1);
    EXPECT_EQ(level->add_group(std::move(one), {}), back.add_group(std::move(other), {}));
}

TEST(Store, BothGoOnAlike) {
    const TemporaryFolder folder;
    const auto level = busy_level(10);
    ASSERT_TRUE(save_level(*level, folder.file("a")));
    const auto loaded = load_level(folder.file("a"));
    ASSERT_TRUE(loaded);
    for (int i = 0; i < 400; i++) {
        level->tick();
        (*loaded)->tick();
    }
    // Contacts are made anew, so details differ; what lies around in the end does not.
    EXPECT_EQ(level->stats().awake, 0u);
    EXPECT_EQ((*loaded)->stats().awake, 0u);
    const double a = double(level->stats().blocks), b = double((*loaded)->stats().blocks);
    EXPECT_NEAR(b, a, 0.05 * a);
    for (GroupId id : (*loaded)->groups())
        EXPECT_GT((*loaded)->group(id)->body.center_of_mass().y, -3) << id.index;
}

TEST(Store, FreeFlightGoesOnBitForBit) {
    const TemporaryFolder folder;
    LevelSettings settings;
    settings.floor = -1e6;
    Level level(settings);
    const BlockId stone = level.table().add(blockgame_stone());
    Grid grid(level.table());
    fill(grid, {{-1, 0, 2}, {3, 1, 2}}, stone);
    level.add_group(std::move(grid), {.pose = {{1e7, 50, 0}, normalized(Quat{0.3f, 0.1f, 0.2f, 0.7f})},
                                      .velocity = {1, 2, -0.0f},
                                      .spin = {3, 1, 2}});
    for (int i = 0; i < 7; i++) level.tick();
    ASSERT_TRUE(save_level(level, folder.file("a")));
    const auto loaded = load_level(folder.file("a"));
    ASSERT_TRUE(loaded);
    for (int i = 0; i < 50; i++) {
        EXPECT_EQ(level.hash(), (*loaded)->hash()) << i;
        level.tick();
        (*loaded)->tick();
    }
}

TEST(Store, WhatWasBrokenBeforeTheTickFallsApartAfterLoading) {
    const TemporaryFolder folder;
    Level level;
    const BlockId stone = level.table().add(blockgame_stone());
    Grid grid(level.table());
    fill(grid, {{0, 0, 0}, {6, 0, 0}}, stone);
    const GroupId id = level.add_group(std::move(grid), {.velocity = {0, 0, 2}, .spin = {0, 1, 0}});
    level.tick();
    level.remove_block(id, {4, 0, 0});
    ASSERT_TRUE(save_level(level, folder.file("a")));
    const auto loaded = load_level(folder.file("a"));
    ASSERT_TRUE(loaded);
    level.tick();
    (*loaded)->tick();
    ASSERT_EQ((*loaded)->groups(), level.groups());
    ASSERT_EQ(level.groups().size(), 2u);
    for (GroupId g : level.groups()) {
        const Body a = level.group(g)->body, b = (*loaded)->group(g)->body;
        expect_same_grid(*level.group(g)->grid, *(*loaded)->group(g)->grid);
        EXPECT_LT(length(a.center_of_mass() - b.center_of_mass()), 1e-5);
        EXPECT_LT(length(a.velocity() - b.velocity()), 1e-4f);
    }
}

TEST(Store, ASaveIsWrittenOverAndOver) {
    const TemporaryFolder folder;
    const auto big = busy_level();
    Level small;
    ASSERT_TRUE(save_level(*big, folder.file("a")));
    ASSERT_TRUE(save_level(small, folder.file("a")));
    const auto back = load_level(folder.file("a"));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ((*back)->groups().size(), 0u);
    EXPECT_EQ((*back)->terrain().block_count(), 0u);
    EXPECT_FALSE((*back)->settings().ground.has_value());
    // One file: nothing is left beside it.
    EXPECT_FALSE(std::filesystem::exists(folder.file("a-wal")));
}

TEST(Store, NothingThatIsNotFiniteIsSaved) {
    const TemporaryFolder folder;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    Level level;
    const BlockId stone = level.table().add(blockgame_stone());
    for (int i = 0; i < 3; i++) {
        Grid grid(level.table());
        grid.set({0, 0, 0}, stone);
        level.add_group(std::move(grid), {.pose = {{4.0 * i, 5, 0}, {}}});
    }
    level.group({1, 1})->body.set_velocity({nan, 0, 0});
    level.group({2, 1})->body.set_pose({{0, std::numeric_limits<double>::infinity(), 0}, {}});
    level.group({3, 1})->body.add_impulse({0, 1e38f, 0});
    for (int round = 0; round < 3; round++) {
        const auto report = save_level(level, folder.file("a"));
        ASSERT_TRUE(report) << report.error().message;
        const auto back = load_level(folder.file("a"));
        ASSERT_TRUE(back) << back.error().message;
        EXPECT_EQ((*back)->groups().size(), 3u);
        (*back)->tick();
        for (GroupId id : (*back)->groups())
            EXPECT_TRUE(is_finite((*back)->group(id)->body.center_of_mass()));
        level.tick();
    }
    // A material that makes no sense is refused, and the save before stays.
    Material odd = blockgame_stone();
    odd.name = "odd";
    odd.density = nan;
    level.table().add(odd);
    const auto refused = save_level(level, folder.file("a"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::bad_value);
    EXPECT_NE(refused.error().message.find("density"), std::string::npos) << refused.error().message;
    EXPECT_TRUE(load_level(folder.file("a")));
}

/// Ground at y = 0.25.
struct FlatSamples final : DensitySource {
    float density_at(Cell s) const override { return 0.25f - float(s.y); }
};

TEST(Store, SmoothTerrainKeepsWhatWasDugAndFilled) {
    const TemporaryFolder folder;
    const FlatSamples flat;
    for (const bool sourced : {false, true}) {
        Level level;
        const BlockId stone = level.table().add(blockgame_stone());
        const BlockId earth = level.table().add(*find_real_material("earth"));
        level.set_smooth_terrain(sourced ? &flat : nullptr, earth);
        level.fill({0, 0, 0}, 5);
        level.dig({30, 0, 2}, 4);
        Grid grid(level.table());
        grid.set({0, 0, 0}, stone);
        level.add_group(std::move(grid), {.pose = {{-0.5, 5.2, -0.5}, {}}});
        for (int i = 0; i < 10; i++) level.tick();
        ASSERT_TRUE(save_level(level, folder.file("a")));
        LevelHost host;
        if (sourced) {
            const auto refused = load_level(folder.file("a"));
            ASSERT_FALSE(refused);
            EXPECT_NE(refused.error().message.find("samples"), std::string::npos) << refused.error().message;
            host.smooth = &flat;
        }
        const auto loaded = load_level(folder.file("a"), host);
        ASSERT_TRUE(loaded) << loaded.error().message;
        EXPECT_EQ((*loaded)->hash(), level.hash());
        EXPECT_EQ((*loaded)->smooth_block(), earth);
        const DensityField &a = *level.smooth_terrain(), &b = *(*loaded)->smooth_terrain();
        EXPECT_EQ(a.edited_bricks(), b.edited_bricks());
        for (int i = 0; i < 300; i++) {
            const DVec3 p{i % 19 * 2.1 - 3, i % 13 - 6.5, i % 7 - 3.3};
            ASSERT_EQ(a.density(p), b.density(p)) << i;
        }
        for (int i = 0; i < 60; i++) (*loaded)->tick();
        EXPECT_NEAR((*loaded)->group((*loaded)->groups()[0])->pose.position.y, 5, 0.2);
    }
}

/// Groups of two blocks, none over the limit of a group; nine of them are over that of all.
TEST(Store, RefusesWhatCouldNotBeLoaded) {
    const TemporaryFolder folder;
    Level level;
    const BlockId stone = level.table().add(blockgame_stone());
    constexpr std::int32_t edge = 1015;
    constexpr std::int64_t bounds = std::int64_t(edge) * edge * edge;
    static_assert(bounds <= kMaxGroupBounds && 8 * bounds <= kMaxAllBounds && 9 * bounds > kMaxAllBounds);
    GroupId last;
    for (int i = 0; i < 9; i++) {
        Grid grid(level.table());
        grid.set({0, 0, 0}, stone);
        grid.set({edge - 1, edge - 1, edge - 1}, stone);
        last = level.add_group(std::move(grid), {});
        ASSERT_TRUE(level.group(last));
    }
    const auto refused = save_level(level, folder.file("a"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::too_large);
    level.remove_group(last);
    ASSERT_TRUE(save_level(level, folder.file("a")));
    const auto back = load_level(folder.file("a"));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ((*back)->groups().size(), 8u);
}

TEST(Store, KeepsTerrainAsFarOutAsThereIsAny) {
    const TemporaryFolder folder;
    Level level;
    const BlockId stone = level.table().add(blockgame_stone());
    level.set_terrain({kMaxTerrainCell, 0, 0}, stone);  // there is none
    level.set_terrain({kMaxTerrainCell - 1, -kMaxTerrainCell, 0}, stone);
    ASSERT_TRUE(save_level(level, folder.file("a")));
    const auto back = load_level(folder.file("a"));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ((*back)->terrain().get({kMaxTerrainCell - 1, -kMaxTerrainCell, 0}), stone);
    EXPECT_EQ((*back)->terrain().block_count(), 1u);
}

}  // namespace
}  // namespace talus
