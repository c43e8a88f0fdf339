// destruction_script.h - a level in which every rule and switch of destruction has something to do, for tests
// of what must not be forgotten: snapshots, recordings, random numbers, counts.
#pragma once

#include "talus/group_type.h"
#include "talus/snapshot.h"

#include <algorithm>

namespace talus {

/// A host's own kind of groups. Keeps no state, so that one serves several levels.
struct BrittleType final : GroupType {
    std::string_view name() const override { return "brittle"; }
    float bond_strength(const GroupView&, Cell cell, float usual) const override {
        return cell.y % 2 == 0 ? usual * 0.5f : usual;
    }
    void new_piece(const GroupView&, const Grid& blocks, PieceSettings& piece) override {
        piece.is_debris = piece.is_debris || blocks.block_count() <= 6;
    }
    bool on_bonds_broken(Level& level, const GroupView& view, std::span<const Bond> bonds) override {
        LevelEvent own{.kind = LevelEvent::Kind::custom, .group = view.id, .cell = bonds[0].first};
        own.value = float(bonds.size());
        level.emit(own);
        return true;
    }
    float blast_wear(const GroupView&, Cell, float, float usual) const override { return usual * 1.5f; }
    void on_settle(Level& level, GroupId group) override {
        // A hook that changes its group: what a replay must do too, without its being written down.
        const GroupView view = *level.group(group);
        if (view.asleep || level.stats().tick % 16 != 0) return;
        const Cell low = view.grid->bounds().min;
        if (view.grid->has(low) && level.wear_down(group, low, 0.4f))
            level.remove_block(group, low, Cause::fire);
    }
    bool may_settle(Level& level, GroupId group) override {
        return level.group(group)->grid->block_count() != 2;
    }
    bool no_solids_left(Level&, GroupId) override { return true; }
};

/// Players of a host.
struct FewPlayers final : BlastTargets {
    int pushes = 0;
    void find(const DBox& box, std::vector<Target>& out) override {
        const DBox at[] = {
            {{6, 0, 6}, {6.6, 1.8, 6.6}}, {{2, 5, 22}, {2.6, 6.8, 22.6}}, {{18, 6, 6}, {18.6, 7.8, 6.6}}};
        for (std::uint64_t i = 0; i < 3; i++)
            if (overlaps(at[i], box)) out.push_back({i, at[i]});
    }
    void push(std::uint64_t, Vec3, float, float) override { pushes++; }
};

struct DestructionScript {
    static constexpr int kTicks = 200;

    static LevelSettings settings() {
        LevelSettings s;
        s.ground = 0;
        s.seed = 7;
        s.work_per_tick = 40;
        s.debris_max_groups = 12;
        s.debris_ticks = 25;
        s.collapse_max_pieces = 3;
        s.collapse_max_blocks = 60;
        s.structure_max_tilt = 20;
        s.impact_speed = 5;
        return s;
    }

    static void fill(Level& level, const CellBox& box, BlockId id) {
        for (int y = box.min.y; y <= box.max.y; y++)
            for (int z = box.min.z; z <= box.max.z; z++)
                for (int x = box.min.x; x <= box.max.x; x++) level.set_terrain({x, y, z}, id);
    }

    /// The level has no types yet, or those of `host` (a level that was restored has them).
    static void build(Level& level) {
        const BlockId stone = level.table().add(blockgame_stone());
        Material soft = *find_real_material("planks");
        const BlockId plank = level.table().add(soft);
        Material torch = blockgame_stone();
        torch.solid = false;
        torch.name = "torch[facing=east]";
        torch.density = 0;
        const BlockId lamp = level.table().add(torch);
        // Towers on one leg with long arms, some of a type, one of a type that is never added.
        for (int i = 0; i < 6; i++) {
            const int x = 8 * i, h = 5 + i;
            fill(level, {{x, 0, 0}, {x, h, 0}}, i % 2 ? stone : plank);
            fill(level, {{x, h, 1}, {x, h, 9}}, i % 2 ? stone : plank);
            fill(level, {{x + 1, h, 0}, {x + 3, h, 0}}, stone);
            level.set_terrain({x + 1, h - 1, 0}, lamp);
            const char* types[] = {"brittle", "", "nobody's"};
            level.mark_structure(CellBox{{x, 0, 0}, {x + 3, h, 9}},
                                 {.mode = i == 4 ? std::optional(StructureMode::physical) : std::nullopt,
                                  .type = types[i % 3]});
        }
        // A hut to be assembled, and groups of each type.
        fill(level, {{0, 0, 20}, {4, 3, 24}}, plank);
        fill(level, {{1, 0, 21}, {3, 2, 23}}, kAir);
        level.set_terrain({5, 1, 22}, lamp);
        for (int i = 0; i < 3; i++) {
            Grid grid(level.table());
            for (int y = 0; y < 4; y++)
                for (int x = 0; x < 3; x++) grid.set({x, y, 0}, y == 2 ? plank : stone);
            GroupSettings s;
            s.pose.position = {6.0 * i, 6, 30};
            s.bears_load = true;
            s.type = i == 0 ? "brittle" : i == 1 ? "" : "nobody's";
            level.add_group(std::move(grid), s);
        }
    }

    static void act(Level& level, int tick) {
        const auto& cells = level.terrain();
        switch (tick) {
            case 2:
                level.protect({{-1, 0, -1}, {2, 3, 2}});
                level.protect({{15.5, 0, -1}, {17, 4, 10}});
                break;
            case 3:
                level.blast({8.5, 1.5, 1.5}, 4);
                break;
            case 5:
                level.assemble({0, 0, 20}, {{-2, 0, 18}, {8, 6, 26}}, 500);
                break;
            case 6:
                if (!level.groups().empty()) level.group(level.groups().back())->body.set_velocity({0, 9, 1});
                break;
            case 8:
                level.physicify({24, 8, 3});
                level.break_terrain({24, 0, 0}, Cause::mined);
                break;
            case 12:
                level.blast({2, 3, 22}, 5);
                level.unprotect(1);
                break;
            case 20: {
                LevelSettings s = level.settings();
                s.collapse = false;
                s.beyond_cap = BeyondCap::stay;
                s.gravity = {0, -8, 0};
                level.change_settings(s);
                level.carve({{39, 0, 0}, {42, 2, 1}});
                level.carve_sphere({32.5, 1.5, 0.5}, 1);
                break;
            }
            case 34: {
                LevelSettings s = level.settings();
                s.collapse = true;
                level.change_settings(s);
                break;
            }
            case 50:
                level.blast({16.5, 5.5, 3.5}, 6);
                level.wear_down({0, 1, 0}, 0.5f);
                break;
            default:
                break;
        }
        const auto groups = level.groups();
        if (tick > 60 && tick % 9 == 0)
            for (const GroupId id : groups)
                level.settle(id, {.max_tilt = 30, .max_offset = 0.6f, .drop_the_rest = tick % 2 == 0});
        if (tick % 30 == 11 && !groups.empty()) level.set_debris(groups[groups.size() / 2], 10);
        if (tick % 25 == 13 && !groups.empty()) {
            const GroupId id = groups[std::size_t(tick) % groups.size()];
            const Cell c = level.group(id)->grid->bounds().min;
            level.remove_block(id, c, Cause::mined);
        }
        if (tick % 40 == 21 && !cells.empty()) level.break_terrain(cells.bounds().max, Cause::mined);
    }
};

}  // namespace talus
