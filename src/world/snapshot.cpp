#include "talus/snapshot.h"

#include "dynamics/archive.h"
#include "dynamics/snapshot.h"
#include "dynamics/state.h"
#include "world/archive.h"
#include "world/level_state.h"
#include "world/snapshot.h"
#include "world/structure_check.h"

#include <algorithm>

namespace talus {

namespace {

constexpr std::uint64_t kMagic = 0x31504e53'534c4154ull;  // "TALSSNP1" read as a number
constexpr std::uint32_t kVersion = 4;

/// What a group has of its own, besides its blocks and what every build has.
template <class A, class T>
void archive_group(A& a, T& g) {
    a(g.bears_load, g.is_debris);
    a(g.created_tick, g.slippery_until, g.debris_ticks, g.asleep_ticks, g.creeping_ticks, g.was_asleep,
      g.came_off, g.rest_at, g.removed_solids, g.whole_look, g.changes, g.broke_off);
}

/// The answer of a check, once it is there. One that answers for blocks that are no more is only thrown away.
void write_check(ByteWriter& a, const Build& build) {
    a(build.check != nullptr);
    if (!build.check) return;
    StructureCheck& check = *build.check;
    check.finish();
    const bool holds = check.grid_version == build.grid.version();
    a(check.due_tick, holds);
    if (holds) a(check.report.verdict, check.report.parts, check.report.broken_bonds);
}

void read_check(ByteReader& a, Build& build) {
    if (!a.get<bool>()) return;
    build.check = std::make_unique<StructureCheck>();
    StructureCheck& check = *build.check;
    const bool holds = (a(check.due_tick), a.get<bool>());
    check.grid_version = build.grid.version() + (holds ? 0 : 1);
    if (!holds) return;
    StructureReport& report = check.report;
    a(report.verdict, report.parts, report.broken_bonds);
    a.check(report.verdict <= Verdict::undecided, "there is no such verdict");
    a.check(report.verdict == Verdict::falls || report.parts.empty(), "what stands has parts that fall");
    // Each cell is a solid of the build, once.
    std::vector<Cell> cells;
    for (const auto& part : report.parts) {
        a.check(!part.empty(), "a part is empty");
        cells.insert(cells.end(), part.begin(), part.end());
    }
    std::sort(cells.begin(), cells.end());
    for (std::size_t i = 0; i < cells.size(); i++)
        a.check(build.grid.is_solid(cells[i]) && (i == 0 || cells[i - 1] < cells[i]),
                "a part is not of solids");
}

void write_build(ByteWriter& a, const Build& b) {
    write_grid(a, b.grid);
    a(b.kind ? b.kind->first : std::string(), b.mode, b.wear, b.breaking, b.check_wanted);
    write_check(a, b);
}

void read_build(ByteReader& a, LevelState& level, Build& b, std::int32_t limit) {
    read_grid(a, b.grid, limit);
    b.kind = find_kind(level, a.get<std::string>());
    a(b.mode, b.wear, b.breaking, b.check_wanted);
    a.check(!b.grid.empty(), "has no blocks");
    a.check(!b.mode || *b.mode <= StructureMode::physical, "there is no such mode");
    b.wear.for_each(
        [&](Cell cell, float) { a.check(b.grid.has(cell), "wear of a block that is not there"); });
    read_check(a, b);
}

void read_joins(ByteReader& a, Group& group) {
    const auto cuts = a.get<std::vector<Joins::Diagonal>>();
    for (const auto& [from, to] : cuts) {
        const bool solid = group.grid.is_solid(from) && group.grid.is_solid(to);
        const Cell d = solid ? to - from : Cell{};
        const bool right = solid && from < to && d.x * d.x <= 1 && d.y * d.y <= 1 && d.z * d.z <= 1 &&
                           d.x * d.x + d.y * d.y + d.z * d.z == 2;
        a.check(right, "a cut is no diagonal between solids");
        if (!right) return;
        group.joins.add_cut({from, to});
    }
}

/// Groups or structures: slots (generations, which are free, in what order they will be used), and for each
/// that is taken the build and what `rest` writes of it.
template <class B, class F>
void write_builds(ByteWriter& a, const std::vector<std::unique_ptr<B>>& slots,
                  const std::vector<std::uint32_t>& generations, const std::vector<std::uint32_t>& free,
                  F&& rest) {
    a(generations, free);
    std::uint32_t n = 0;
    for (const auto& slot : slots) n += slot != nullptr;
    a(n);
    for (const auto& slot : slots) {
        if (!slot) continue;
        write_build(a, *slot);
        rest(*slot);
    }
}

template <class B, class F>
void read_builds(ByteReader& a, const char* name, LevelState& level, std::vector<std::unique_ptr<B>>& slots,
                 std::vector<std::uint32_t>& generations, std::vector<std::uint32_t>& free,
                 std::int32_t limit, F&& rest) {
    a.part(name);
    a(generations, free);
    slots.resize(generations.size());
    std::vector<char> is_free(slots.size(), 0);
    for (const std::uint32_t slot : free) {
        a.check(slot < is_free.size() && !is_free[slot], "a free slot is none");
        if (!a.ok()) return;
        is_free[slot] = 1;
    }
    a.check(a.get<std::uint32_t>() == slots.size() - free.size(), "slots are lost");
    for (std::uint32_t slot = 0; slot < slots.size() && a.ok(); slot++) {
        if (is_free[slot]) continue;
        a.part(name, slot + 1);
        slots[slot] = std::make_unique<B>(Grid(level.table));
        B& build = *slots[slot];
        build.id = {slot + 1, generations[slot]};
        read_build(a, level, build, limit);
        if (a.ok()) rest(build);
    }
}

void write_terrain(ByteWriter& a, const LevelState& level) {
    write_grid(a, level.own_terrain);
    a(level.host_terrain != nullptr);
    if (!level.host_terrain) return;
    a(level.host_smooth);
    write_grid(a, level.host_terrain->grid());
    a(*level.host_terrain);
}

/// What it is made of, whether there is a source, and the bricks that were dug or filled.
void write_smooth(ByteWriter& a, const LevelState& level) {
    a(level.smooth != nullptr);
    if (!level.smooth) return;
    const DensityField& field = level.smooth->field;
    a(level.smooth->block, field.source() != nullptr);
    a.size(field.edited_bricks());
    field.for_each_edited([&](Cell brick, std::span<const float, 512> samples) {
        a(brick);
        for (const float s : samples) a(s);
    });
}

void read_smooth(ByteReader& a, LevelState& level, const DensitySource* source) {
    a.part("smooth terrain");
    if (!a.get<bool>()) return;
    const auto block = a.get<BlockId>();
    const bool sourced = a.get<bool>();
    a.check(block > kAir && block < level.table.size(), "is made of no block");
    if (sourced && !source)
        a.fail(ErrorCode::bad_value, "was taken with samples of smooth ground, and none are given");
    const std::size_t n = a.size(12 + 4 * 512);
    if (!a.ok()) return;
    level.smooth = std::make_unique<SmoothTerrain>(
        SmoothTerrain{DensityField(sourced ? source : nullptr, level.settings.cell_size), block});
    for (std::size_t i = 0; i < n && a.ok(); i++) {
        const auto brick = a.get<Cell>();
        for (const int v : {brick.x, brick.y, brick.z})
            a.check(v >= -kMostSmoothBrick && v <= kMostSmoothBrick, "a brick is too far out");
        float samples[512];
        for (float& s : samples) a(s);
        if (a.ok()) level.smooth->field.restore_edited(brick, samples);
    }
}

void read_terrain(ByteReader& a, LevelState& level, TerrainSource* source) {
    a.part("terrain");
    read_grid(a, level.own_terrain, kMaxTerrainCell);
    if (!a.get<bool>() || !a.ok()) return;
    if (!source) return a.fail(ErrorCode::bad_value, "was taken with a host's terrain, and none is given");
    level.host_terrain = std::make_unique<RegionCache>(*source, level.table, level.settings.cell_size);
    a(level.host_smooth);
    read_grid(a, level.host_terrain->grid_for_restore(), kMaxTerrainCell);
    a(*level.host_terrain);
    a.check(level.host_terrain->is_sound(), "the cache of the host's terrain is not whole");
    level.space.set_terrain(&level.terrain(), false);
}

void write_content(ByteWriter& a, const LevelState& level) {
    a(level.settings);
    write_types(a, level.table, 1);
    write_terrain(a, level);
    write_smooth(a, level);
    each_counter(level, [&](const char*, const auto& v, double, double) { a(v); });
    a(level.protected_regions, level.work_from);

    write_builds(a, level.slots, level.generations, level.free_slots, [&](const Group& group) {
        a(group.joins.cuts());
        archive_group(a, group);
        const BodyId body = group.body.id();
        a(body.index, body.generation);
    });
    write_builds(a, level.structure_slots, level.structure_generations, level.free_structures,
                 [](const Structure&) {});
    a(level.structures_at_work, level.structure_poll, level.terrain_touched);

    // A body whose group did not change since has the shape of the group's blocks.
    write_space(a, level.space,
                {[](const void* raw, BodyId id) -> std::uint32_t {
                     auto& state = *static_cast<const LevelState*>(raw);
                     if (id.index >= state.slot_of_body.size()) return ShapeNames::kUnknown;
                     const std::uint32_t slot = state.slot_of_body[id.index];
                     if (slot >= state.slots.size() || !state.slots[slot]) return ShapeNames::kUnknown;
                     const Group& group = *state.slots[slot];
                     return group.body.id() == id && group.changes.empty() ? slot + 1 : ShapeNames::kUnknown;
                 },
                 nullptr, &level});
}

void read_regions(ByteReader& a, LevelState& level) {
    a.part("protected regions");
    a(level.protected_regions, level.work_from);
    std::uint32_t last = 0;
    for (const ProtectedRegion& r : level.protected_regions) {
        a.check(r.number > last && r.number <= level.last_region, "numbers out of order");
        last = r.number;
    }
}

void read_groups(ByteReader& a, LevelState& level) {
    std::int64_t all = 0;
    const auto rest = [&](Group& group) {
        const std::int64_t cells = cells_in(group.grid.bounds());
        all += cells;
        if (cells > kMaxGroupBounds || all > kMaxAllBounds)
            a.fail(ErrorCode::too_large, "its bounds are too large");
        read_joins(a, group);
        archive_group(a, group);
        for (const Cell c : group.removed_solids)
            for (const int v : {c.x, c.y, c.z})
                a.check(v >= -kMaxGroupCell && v < kMaxGroupCell, "a cell is out of range");
        for (const BlockChange& c : group.changes) {
            for (const int v : {c.cell.x, c.cell.y, c.cell.z})
                a.check(v >= -kMaxGroupCell && v < kMaxGroupCell, "a cell is out of range");
            a.check(c.was < level.table.size() && c.now < level.table.size(), "there is no such block");
        }
        BodyId body;
        a(body.index, body.generation);
        if (body.index != 0) group.body = Body(&level.space, body);
    };
    read_builds(a, "group", level, level.slots, level.generations, level.free_slots, kMaxGroupCell, rest);
}

void read_structures(ByteReader& a, LevelState& level) {
    const auto rest = [&](const Structure& structure) { note_bricks(level, structure); };
    read_builds(a, "structure", level, level.structure_slots, level.structure_generations,
                level.free_structures, kMaxTerrainCell, rest);
    a.part("structures");
    a(level.structures_at_work, level.structure_poll, level.terrain_touched);
    for (const std::uint32_t slot : level.structures_at_work)
        a.check(slot < level.structure_slots.size(), "a structure at work is none");
    for (const Cell c : {level.terrain_touched.min, level.terrain_touched.max})
        for (const int v : {c.x, c.y, c.z})
            a.check(v >= -kMaxTerrainCell && v <= kMaxTerrainCell, "a cell is out of range");
}

Result<std::unique_ptr<Level>> read_content(ByteReader& a, const LevelHost& host) {
    a.part("settings");
    LevelSettings settings;
    a(settings);
    if (!a.ok()) return a.error();
    lend(settings, host);
    auto made = std::make_unique<Level>(settings);
    lend(*made, host);
    LevelState& level = made->state();
    a.part("block types");
    read_types(a, level.table);
    if (a.ok()) read_terrain(a, level, host.terrain);
    if (a.ok()) read_smooth(a, level, host.smooth);
    choose_smooth_ground(level);
    a.part("counters");
    if (a.ok())
        each_counter(level,
                     [&](const char* name, auto& v, double lo, double hi) { a.limited(name, v, lo, hi); });
    a.check(level.tick < std::uint64_t(1) << 62, "the tick is out of range");
    if (a.ok()) read_regions(a, level);
    if (a.ok()) read_groups(a, level);
    if (a.ok()) read_structures(a, level);
    if (a.ok())
        read_space(a, level.space,
                   {nullptr,
                    [](const void* raw, std::uint32_t name) {
                        auto& state = *static_cast<const LevelState*>(raw);
                        if (name > state.slots.size() || !state.slots[name - 1]) return BodyShape();
                        return BodyShape::from_grid(state.slots[name - 1]->grid, state.settings.cell_size);
                    },
                    &level});
    a.part("end");
    a.check(a.left() == 0, "there is more than a snapshot has");
    if (!a.ok()) return a.error();
    for (const auto& slot : level.slots)
        if (slot && slot->body.exists()) level.know_body(*slot);
    return made;
}

}  // namespace

void lend(LevelSettings& settings, const LevelHost& host) {
    settings.jobs = host.jobs;
    settings.log = host.log;
    settings.profile = host.profile;
}

void lend(Level& level, const LevelHost& host) {
    for (GroupType* type : host.types) level.add_group_type(*type);
    level.set_blast_targets(host.blast_targets);
}

std::vector<std::uint8_t> take_snapshot(const Level& level) {
    ByteWriter content;
    write_content(content, level.state());
    ByteWriter out;
    out(kMagic, kVersion, std::uint64_t(content.bytes.size()), checksum(content.bytes));
    out.raw(content.bytes);
    return std::move(out.bytes);
}

Result<std::unique_ptr<Level>> restore_snapshot_content(ByteSpan content, const LevelHost& host) {
    ByteReader reader(content);
    return read_content(reader, host);
}

Result<std::unique_ptr<Level>> restore_snapshot(ByteSpan bytes, const LevelHost& host) {
    ByteReader head(bytes);
    if (head.get<std::uint64_t>() != kMagic) return Error{ErrorCode::bad_format, "this is no snapshot"};
    const auto version = head.get<std::uint32_t>();
    if (head.ok() && version > kVersion)
        return Error{ErrorCode::unsupported, "a snapshot of version " + std::to_string(version) +
                                                 ", newer than " + std::to_string(kVersion)};
    const auto size = head.get<std::uint64_t>(), sum = head.get<std::uint64_t>();
    if (head.ok() && version < kVersion)
        return Error{ErrorCode::unsupported, "a snapshot of version " + std::to_string(version) +
                                                 ", of which this release knows nothing"};
    if (size != head.left() && head.ok())
        return Error{ErrorCode::truncated,
                     "the snapshot has " + std::to_string(head.left()) + " bytes of " + std::to_string(size)};
    const ByteSpan content = head.raw(head.left());
    head.check(checksum(content) == sum, "the sum of the bytes is not what it says: they were damaged");
    if (!head.ok()) return head.error();
    return restore_snapshot_content(content, host);
}

}  // namespace talus
