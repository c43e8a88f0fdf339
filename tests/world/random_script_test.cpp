// Random scripts of edits, blasts and ticks: what must hold whatever happens. rapidcheck makes the scripts
// and cuts one that fails down to the steps that matter. More of them, or one again:
//     RC_PARAMS="max_success=10000" build/release/bin/test_world --gtest_filter='RandomScripts.*'
//     RC_PARAMS="reproduce=..." (as printed by the failure)
// The shortest script that fails is left as a recording too.
#include "alter_recording.h"
#include "destruction_script.h"
#include "record_failures.h"
#include "talus/level.h"
#include "talus/snapshot.h"
#include "world/level_state.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <ostream>
#include <random>

namespace talus {

/// One step. What it does in detail follows from its seed, so that a script can lose any of its steps.
struct Step {
    enum Kind {
        add_group,
        add_structure,
        blast,
        carve_box,
        carve_ball,
        edit_group,
        edit_terrain,
        push,
        wear,
        ask,
        forget,
        assemble,
        settle,
        protect,
        change_settings,
        debris,
        mine,
        snapshot,
        wait,
        kinds
    };
    int kind;
    std::uint32_t seed;
    friend std::ostream& operator<<(std::ostream& out, const Step& step) {
        static constexpr const char* kNames[kinds] = {
            "add_group",  "add_structure", "blast",    "carve_box", "carve_ball",
            "edit_group", "edit_terrain",  "push",     "wear",      "ask",
            "forget",     "assemble",      "settle",   "protect",   "change_settings",
            "debris",     "mine",          "snapshot", "wait"};
        return out << kNames[step.kind] << ' ' << step.seed;
    }
};

}  // namespace talus

template <>
struct rc::Arbitrary<talus::Step> {
    static Gen<talus::Step> arbitrary() {
        return gen::build<talus::Step>(gen::set(&talus::Step::kind, gen::inRange(0, int(talus::Step::kinds))),
                                       gen::set(&talus::Step::seed, gen::inRange(0u, 1u << 30)));
    }
};

namespace talus {
namespace {

struct Play {
    BrittleType brittle;
    GroupType* const types[1] = {&brittle};
    std::unique_ptr<Level> level = std::make_unique<Level>(settings());
    RecordFailures record;
    std::vector<ProtectedRegion> regions;
    std::size_t drops = 0;  ///< told of
    std::mt19937 random;
    BlockId stone, glass, torch, slab;
    std::size_t placed = 0;

    static LevelSettings settings() {
        LevelSettings s;
        s.ground = 0;
        s.debris_ticks = 30;
        return s;
    }
    explicit Play(const char* name) : record(*level, name) {
        level->add_group_type(brittle);
        BlockTable& table = level->table();
        stone = table.add(blockgame_stone());
        glass = table.add(*find_real_material("glass"));
        Material t = blockgame_stone();
        t.name = "torch";
        t.solid = false;
        t.density = 0;
        torch = table.add(t);
        const Box half{{0, 0, 0}, {1, 0.5f, 1}};
        slab = table.add(BlockType{"slab", blockgame_stone(), BlockShape({&half, 1})});
    }
    int pick(int n) { return int(random() % unsigned(n)); }
    double real(double lo, double hi) { return lo + (hi - lo) * double(random() % 10007) / 10007; }
    BlockId any_block() { return pick(8) == 0 ? torch : pick(6) == 0 ? slab : pick(3) == 0 ? glass : stone; }
    DVec3 somewhere() { return {real(-22, 30), real(-1, 12), real(-22, 30)}; }
    Cell some_cell(const CellBox& b) {
        return {b.min.x + pick(b.max.x - b.min.x + 2), b.min.y + pick(b.max.y - b.min.y + 2),
                b.min.z + pick(b.max.z - b.min.z + 2)};
    }
    std::optional<GroupId> some_group() {
        const auto ids = level->groups();
        if (ids.empty()) return std::nullopt;
        return ids[std::size_t(pick(int(ids.size())))];
    }
    std::optional<StructureId> some_structure() {
        const auto ids = level->structures();
        if (ids.empty()) return std::nullopt;
        return ids[std::size_t(pick(int(ids.size())))];
    }

    Grid some_build() {
        Grid g(level->table());
        const int w = 3 + pick(7), h = 3 + pick(9), d = 3 + pick(7);
        for (int y = 0; y < h; y++)
            for (int z = 0; z < d; z++)
                for (int x = 0; x < w; x++) {
                    const bool shell = x == 0 || z == 0 || x == w - 1 || z == d - 1 || y % 4 == 3;
                    if (shell ? pick(12) != 0 : pick(30) == 0) g.set({x, y, z}, any_block());
                }
        return g;
    }
    void add_group() {
        Grid g = some_build();
        if (g.solid_count() == 0) return;
        placed += g.block_count();
        GroupSettings at;
        at.pose.position = {real(-20, 20), pick(2) ? 0 : real(0, 12), real(-20, 20)};
        if (pick(3) == 0)
            at.pose.rotation = axis_angle({float(real(-1, 1)), 1, float(real(-1, 1))}, float(real(0, 6)));
        at.bears_load = pick(4) != 0;
        at.asleep = pick(2) == 0;
        at.type = some_type();
        level->add_group(std::move(g), at);
    }
    void add_structure() {
        const Grid g = some_build();
        const Cell at{pick(40) - 20, pick(4) == 0 ? 3 : 0, pick(40) - 20};
        g.for_each([&](Cell c, BlockId id) {
            if (level->terrain().has(c + at)) return;
            level->set_terrain(c + at, id);
            placed++;
        });
        const CellBox box = g.bounds();
        level->mark_structure({box.min + at, box.max + at}, {.mode = {}, .type = some_type()});
    }
    const char* some_type() { return pick(3) ? "" : pick(3) ? "brittle" : "nobody's"; }
    Cell some_terrain() {
        if (const auto id = some_structure(); id && pick(2))
            return some_cell(level->structure(*id)->grid->bounds());
        return level->terrain().empty() ? Cell{} : some_cell(level->terrain().bounds());
    }

    void act(const Step& step) {
        random.seed(step.seed);
        switch (step.kind) {
            case Step::add_group:
                return add_group();
            case Step::add_structure:
                return add_structure();
            case Step::blast:
                level->blast(somewhere(), float(real(0.5, 7)));
                return;
            case Step::carve_box: {
                const DVec3 p = somewhere();
                level->carve({p, p + DVec3{real(0, 6), real(0, 6), real(0, 6)}});
                return;
            }
            case Step::carve_ball:
                level->carve_sphere(somewhere(), real(0.5, 4));
                return;
            case Step::edit_group:
                if (const auto id = some_group()) {
                    const Cell c = some_cell(level->group(*id)->grid->bounds());
                    if (pick(2))
                        level->remove_block(*id, c);
                    else
                        placed += level->place_block(*id, c, any_block());
                }
                return;
            case Step::edit_terrain: {
                const auto id = some_structure();
                const Cell c = id ? some_cell(level->structure(*id)->grid->bounds())
                                  : Cell{pick(40) - 20, 0, pick(40) - 20};
                const BlockId block = pick(2) ? any_block() : kAir;
                const BlockId old = level->set_terrain(c, block);
                placed += block != kAir && old == kAir;
                return;
            }
            case Step::push:
                if (const auto id = some_group()) {
                    Body body = level->group(*id)->body;
                    body.add_impulse(Vec3{float(real(-9, 9)), float(real(0, 9)), float(real(-9, 9))} *
                                     body.mass());
                    body.set_spin({float(real(-4, 4)), float(real(-4, 4)), float(real(-4, 4))});
                }
                return;
            case Step::wear:
                if (const auto id = some_group()) {
                    const Cell c = some_cell(level->group(*id)->grid->bounds());
                    if (level->wear_down(*id, c, float(real(0, 1.2)))) level->remove_block(*id, c);
                }
                return;
            case Step::ask:
                if (const auto id = some_group()) level->check_structure_soon(*id);
                if (const auto id = some_structure()) level->check_structure_soon(*id);
                return;
            case Step::forget:
                if (const auto id = some_structure()) level->unmark_structure(*id);
                if (const auto id = some_group(); id && pick(2)) level->remove_group(*id);
                return;
            case Step::assemble: {
                const Cell c = some_terrain();
                if (pick(3) == 0)
                    level->physicify(c);
                else
                    level->assemble(c, {c - Cell{12, 12, 12}, c + Cell{12, 12, 12}}, std::size_t(pick(600)),
                                    pick(2) != 0);
                return;
            }
            case Step::settle:
                for (const GroupId id : level->groups()) {
                    if (pick(2)) continue;
                    SettleSettings how;
                    how.max_tilt = float(real(1, 50));
                    how.max_offset = float(real(0.05, 0.9));
                    how.drop_the_rest = pick(2) != 0;
                    level->settle(id, how);
                }
                return;
            case Step::protect:
                if (!regions.empty() && pick(2)) {
                    const std::size_t i = std::size_t(pick(int(regions.size())));
                    level->unprotect(regions[i].number);
                    regions.erase(regions.begin() + std::ptrdiff_t(i));
                } else {
                    const DVec3 p = somewhere();
                    const DBox box{p, p + DVec3{real(1, 12), real(1, 9), real(1, 12)}};
                    regions.push_back({level->protect(box), box});
                }
                return;
            case Step::change_settings: {
                LevelSettings s = level->settings();
                s.collapse = pick(5) != 0;
                s.collapse_max_pieces = pick(2) ? pick(4) : 0;
                s.collapse_max_blocks = pick(3) ? 0 : pick(60);
                s.beyond_cap = pick(2) ? BeyondCap::crumble : BeyondCap::stay;
                s.work_per_tick = pick(2) ? pick(300) : 0;
                s.debris_max_groups = pick(3) ? 0 : pick(9);
                s.debris_ticks = pick(50);
                s.structures_grow = pick(2) != 0;
                level->change_settings(s);
                return;
            }
            case Step::debris:
                if (const auto id = some_group()) level->set_debris(*id, pick(40));
                return;
            case Step::mine: {
                const Cell c = some_terrain();
                level->break_terrain(c, Cause::mined);
                if (level->wear_down(some_terrain(), float(real(0, 1.2))))
                    level->break_terrain(c, Cause::fire);
                return;
            }
            case Step::snapshot: {
                LevelHost host;
                host.types = types;
                const std::vector<std::uint8_t> bytes = take_snapshot(*level);
                listen();
                auto again = restore_snapshot(bytes, host);
                RC_ASSERT(again.ok());
                RC_ASSERT((*again)->hash() == level->hash());
                record.begin(**again);
                level = std::move(*again);
                return;
            }
            default:
                for (int i = 0; i < 5; i++) tick();
        }
    }
    void tick() {
        level->tick();
        listen();
    }
    /// What was told since the last time.
    void listen() {
        for (const LevelEvent& e : level->events()) {
            drops += e.kind == LevelEvent::Kind::drop;
            if (e.kind != LevelEvent::Kind::block_destroyed || e.cause == Cause::script) continue;
            for (const ProtectedRegion& r : regions) RC_ASSERT(!r.box.contains(e.point));
        }
        level->clear_events();
    }

    void check() {
        const LevelStats stats = level->stats();
        if (placed != stats.blocks + level->terrain().block_count() + stats.destroyed)
            RC_FAIL("blocks are not conserved: " + std::to_string(placed) + " placed, " +
                    std::to_string(stats.blocks) + " in groups, " +
                    std::to_string(level->terrain().block_count()) + " in the terrain, " +
                    std::to_string(stats.destroyed) + " destroyed");
        RC_ASSERT(drops == stats.drops);
        RC_ASSERT(stats.drops <= stats.destroyed);
        for (GroupId id : level->groups()) {
            const Group& group = *level->state().find(id);
            RC_ASSERT(group.grid.solid_count() > 0u);
            RC_ASSERT(find_loose_parts(group.grid, group.joins).empty());  // connected
            const MassMoments moments = sum_moments(group.grid, 1);
            RC_ASSERT(std::abs(moments_of(level->state(), group).mass - moments.mass) <= 1e-6 * moments.mass);
            RC_ASSERT(std::abs(double(group.body.mass()) - moments.mass) <= 1e-4 * moments.mass);
            const auto properties = to_mass_properties(moments);
            const DVec3 center = group.body.to_world(to_float(properties->center));
            RC_ASSERT(length(center - group.body.center_of_mass()) < 1e-3);
            RC_ASSERT(is_finite(group.body.pose().position));
        }
        // A structure's blocks are those of the terrain, and no other structure's.
        std::vector<Cell> marked;
        for (StructureId id : level->structures())
            level->structure(id)->grid->for_each([&](Cell c, BlockId block) {
                RC_ASSERT(level->terrain().get(c) == block);
                marked.push_back(c);
            });
        std::sort(marked.begin(), marked.end());
        RC_ASSERT(std::adjacent_find(marked.begin(), marked.end()) == marked.end());
    }
};

/// `looked_at`: with its snapshots taken and restored, and what must hold looked at after each step.
void run(Play& play, const std::vector<Step>& script, bool looked_at) {
    for (std::uint32_t i = 0; i < 2; i++) play.act({Step::add_group, 7 + i + std::uint32_t(script.size())});
    for (const Step& step : script) {
        if (looked_at || step.kind != Step::snapshot) play.act(step);
        play.listen();
        play.tick();
        if (looked_at) play.check();
    }
}

RC_GTEST_PROP(RandomScripts, WhatMustHoldHolds, ()) {
    const auto script = *rc::gen::resize(40, rc::gen::arbitrary<std::vector<Step>>());
    Play looked_at("looked_at");
    run(looked_at, script, true);
    Play alone("alone");
    run(alone, script, false);
    RC_ASSERT(looked_at.level->hash() == alone.level->hash());  // the same bits, through snapshots too
}

/// A script that fails is left behind as short as rapidcheck makes it, to run again as a recording. Runs
/// itself with the order to fail.
TEST(RandomScripts, AFailureLeavesARecording) {
    if (std::getenv("TALUS_FAIL_ON_PURPOSE")) {
        ASSERT_TRUE(rc::check("no script blasts", [] {
            const auto script = *rc::gen::resize(40, rc::gen::arbitrary<std::vector<Step>>());
            Play play("blasted");
            run(play, script, true);
            const auto blasts = [](const Step& step) { return step.kind == Step::blast; };
            RC_ASSERT(std::none_of(script.begin(), script.end(), blasts));
        }));
        return;
    }
    const auto bytes = recording_left_by("RandomScripts.AFailureLeavesARecording");
    std::map<Call, int> calls;
    alter_recording(bytes, [&](Call call, ByteSpan) {
        calls[call]++;
        return std::nullopt;
    });
    EXPECT_EQ(calls[Call::blast], 1) << "cut down to what matters";
    EXPECT_EQ(calls[Call::tick], 1);
    BrittleType brittle;
    GroupType* const types[] = {&brittle};
    LevelHost host;
    host.types = types;
    EXPECT_EQ(replay(bytes, host).outcome, ReplayReport::Outcome::same);
}

struct Motion {
    DVec3 momentum, spin;  ///< linear, and angular about the world's zero
};
void add_motion(Motion& sum, const MassMoments& moments, const Body& body) {
    const auto p = to_mass_properties(moments);
    const DVec3 center = body.to_world(to_float(p->center));
    const DVec3 mv = to_double(body.velocity_at(center)) * double(p->mass);
    const Vec3 local = body.direction_to_local(body.spin());
    const DVec3 own = to_double(body.direction_to_world(p->inertia * local));
    sum.momentum += mv;
    sum.spin += own + cross(center, mv);
}

RC_GTEST_PROP(RandomScripts, ASplitKeepsMomentumAndSpin, ()) {
    LevelSettings settings;
    settings.gravity = {};
    settings.collapse = false;
    settings.floor = -1e6;
    Play play("builds");
    play.random.seed(*rc::gen::inRange(0u, 1u << 30));
    Level level(settings);
    Grid build = level.import(play.some_build());
    RC_PRE(build.solid_count() > 10u);
    GroupSettings at;
    at.pose = {{3, 40, -5}, axis_angle({1, 2, 3}, float(play.real(0, 6)))};
    at.velocity = {float(play.real(-9, 9)), float(play.real(-9, 9)), float(play.real(-9, 9))};
    at.spin = {float(play.real(-2, 2)), float(play.real(-2, 2)), float(play.real(-2, 2))};
    const CellBox box = build.bounds();
    const GroupId id = level.add_group(std::move(build), at);
    level.tick();  // what never held together has come apart
    RC_PRE(level.exists(id));
    // A cut through the middle of the body that is left.
    const int plane = (box.min.x + box.max.x) / 2;
    for (int y = box.min.y; y <= box.max.y; y++)
        for (int z = box.min.z; z <= box.max.z; z++) level.remove_block(id, {plane, y, z});
    RC_PRE(level.exists(id));
    Motion before, after;
    double mass = 0, reach = 0;
    for (GroupId g : level.groups()) {
        const auto view = level.group(g);
        const MassMoments moments = sum_moments(*view->grid, 1);
        RC_PRE(moments.mass > 0);
        mass += moments.mass;
        add_motion(before, moments, view->body);
    }
    const std::size_t had = level.groups().size();
    level.tick();
    for (GroupId g : level.groups()) {
        const auto view = level.group(g);
        add_motion(after, sum_moments(*view->grid, 1), view->body);
        reach = std::max(reach, length(view->body.center_of_mass()));
    }
    RC_TAG(level.groups().size() > had ? "split" : "whole");
    const double scale = mass * 10;  // of a momentum
    RC_ASSERT(length(after.momentum - before.momentum) < 1e-3 * scale);
    RC_ASSERT(length(after.spin - before.spin) < 1e-3 * scale * reach);
}

}  // namespace
}  // namespace talus
