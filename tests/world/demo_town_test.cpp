#include "scenes/demo_town.h"

#include "talus/structure.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace talus {
namespace {

TEST(DemoTown, BuildingsStandOnTheGroundAndApart) {
    BlockTable table;
    const DemoTown town = make_demo_town(table);
    std::size_t blocks = 0;
    std::map<Cell, std::string> taken;
    for (const auto& building : town.buildings) {
        blocks += building.grid.block_count();
        bool stands = false;
        building.grid.for_each([&](Cell c, BlockId) {
            const Cell at{c.x + int(building.position.x), c.y + int(building.position.y),
                          c.z + int(building.position.z)};
            EXPECT_TRUE(taken.emplace(at, building.name).second)
                << building.name << " is in the " << taken[at] << " at " << at.x << " " << at.y << " "
                << at.z;
            EXPECT_FALSE(town.terrain.is_solid(at))
                << building.name << " is in the ground at " << at.x << " " << at.y << " " << at.z;
            stands |= town.terrain.is_solid(at + Cell{0, -1, 0});
        });
        EXPECT_TRUE(stands) << building.name;
    }
    EXPECT_GE(blocks, 10'000u);
    EXPECT_LE(blocks, 20'000u);
    printf("%zu buildings, %zu blocks, %zu of terrain, %zu block types\n", town.buildings.size(), blocks,
           town.terrain.block_count(), table.size());
}

TEST(DemoTown, TheSolverFindsEveryBuildingStanding) {
    BlockTable table;
    const DemoTown town = make_demo_town(table);
    struct Ground {
        const Grid* terrain;
        DVec3 at;
    };
    for (const auto& building : town.buildings) {
        Ground ground{&town.terrain, building.position};
        const auto blocks = structure_blocks(
            building.grid, 1,
            [](void* context, Cell c) {
                const Ground& g = *static_cast<Ground*>(context);
                return g.terrain->is_solid({c.x + int(g.at.x), c.y + int(g.at.y) - 1, c.z + int(g.at.z)});
            },
            &ground);
        StructureSolver solver;
        solver.set_blocks(blocks);
        const StructureReport report = solver.solve();
        EXPECT_EQ(report.verdict, Verdict::stands) << building.name << ": " << report.falling() << " fall";
        for (const auto& part : report.parts)
            ADD_FAILURE() << part.size() << " blocks fall, from " << part[0].x << " " << part[0].y << " "
                          << part[0].z;
        EXPECT_TRUE(report.broken_bonds.empty()) << building.name;
    }
}

TEST(DemoTown, NothingFallsInAHundredTicks) {
    Level level(demo_town_settings());
    build_demo_town(level);
    const auto before = level.groups();
    std::vector<Pose> poses;
    for (const GroupId id : before) poses.push_back(level.group(id)->pose);
    const std::size_t blocks = level.stats().blocks;
    for (int i = 0; i < 100; i++) level.tick();
    EXPECT_EQ(level.groups(), before);
    EXPECT_EQ(level.stats().blocks, blocks);
    EXPECT_EQ(level.stats().awake, 0u);
    for (std::size_t i = 0; i < before.size(); i++) {
        const auto view = level.group(before[i]);
        ASSERT_TRUE(view);
        EXPECT_EQ(view->pose, poses[i]) << i;
    }
}

TEST(DemoTown, AWokenTownComesToRestWhereItStands) {
    Level level(demo_town_settings());
    build_demo_town(level);
    const auto ids = level.groups();
    std::vector<DVec3> at;
    for (const GroupId id : ids) {
        at.push_back(level.group(id)->pose.position);
        Body body = level.group(id)->body;
        body.activate();
    }
    for (int i = 0; i < 200; i++) level.tick();
    EXPECT_EQ(level.stats().awake, 0u);
    EXPECT_EQ(level.groups().size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); i++)
        EXPECT_LT(length(level.group(ids[i])->pose.position - at[i]), 0.05);
}

}  // namespace
}  // namespace talus
