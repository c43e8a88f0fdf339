#include "io/format/fail.h"
#include "io/store/columns.h"
#include "talus/store.h"
#include "world/snapshot.h"

#include <zstd.h>

#include <cmath>
#include <cstdio>
#include <cstring>

namespace talus {

namespace {

using namespace store;

/// SQLite takes an empty file for an empty database, and says little of others.
Failure check_magic(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (!file)
        return talus::fail(errno == ENOENT ? ErrorCode::not_found : ErrorCode::unreadable, path,
                           std::strerror(errno));
    char head[16] = {};
    const std::size_t got = std::fread(head, 1, sizeof head, file);
    std::fclose(file);
    if (got < sizeof head || std::memcmp(head, "SQLite format 3", 16) != 0)
        return talus::fail(ErrorCode::bad_format, path, "is not a save: no SQLite database");
    return {};
}

/// The schema must be that of this version to the letter: a view or trigger under a known name would run code
/// of the file's choice.
Failure check_schema(Database& db) {
    const auto id = db.number("PRAGMA application_id");
    if (!id) return id.error();
    if (*id != kApplicationId)
        return talus::fail(ErrorCode::bad_format, db.path(), "is a database of something else, not a save");
    const auto version = db.number("PRAGMA user_version");
    if (!version) return version.error();
    if (*version > kVersion)
        return talus::fail(
            ErrorCode::unsupported, db.path(),
            "is a save of version " + std::to_string(*version) + ", newer than " + std::to_string(kVersion));
    if (*version < 1) return talus::fail(ErrorCode::corrupt, db.path(), "has no version");
    if (*version < kVersion)
        return talus::fail(
            ErrorCode::unsupported, db.path(),
            "is a save of version " + std::to_string(*version) + ", older than " + std::to_string(kVersion));
    Statement rows(db, "sqlite_schema", "SELECT name, sql FROM sqlite_schema");
    std::size_t known = 0;
    while (rows.next()) {
        const std::string_view name = rows.take_text("name", 100), sql = rows.take_text("sql", 10'000);
        bool found = false;
        for (const Table& t : tables()) found = found || (name == t.name && sql == t.create);
        if (!found)
            rows.fail(ErrorCode::corrupt,
                      in_quotes(name) + " is not as in version " + std::to_string(kVersion));
        known++;
    }
    if (rows.failure()) return rows.failure();
    if (known != tables().size()) return talus::fail(ErrorCode::corrupt, db.path(), "lacks a table");
    return {};
}

std::string select_from(TableIndex table) {
    return std::string("SELECT * FROM ") + tables()[table].name + " ORDER BY id";
}

Result<std::unique_ptr<Level>> read_level(Database& db, const LevelHost& host) {
    Statement rows(db, "level", select_from(kLevelTable));
    if (!rows.next()) {
        if (rows.failure()) return *rows.failure();
        return talus::fail(ErrorCode::truncated, db.path(), "table level: is empty");
    }
    LevelSettings settings;
    struct {
        LevelRandom random;
        std::uint64_t tick = 0, destroyed = 0, fallen_out = 0, drops = 0;
        std::uint32_t last_region = 0;
    } counters;
    rows.take_int("id", 1, 1);
    each_setting(settings, TakeColumn{rows});
    each_counter(counters, TakeColumn{rows});
    if (rows.ok() && rows.next()) rows.fail(ErrorCode::corrupt, "one level too many");
    if (rows.failure()) return *rows.failure();
    lend(settings, host);
    auto level = std::make_unique<Level>(settings);
    LevelState& state = level->state();
    state.random = counters.random;
    state.tick = counters.tick;
    state.destroyed = counters.destroyed;
    state.fallen_out = counters.fallen_out;
    state.drops = counters.drops;
    state.last_region = counters.last_region;
    lend(*level, host);
    return level;
}

Failure read_blocks(Database& db, BlockTable& table) {
    Statement rows(db, "blocks", select_from(kBlocksTable));
    while (rows.next()) {
        const auto next = std::int64_t(table.size());
        if (next > kMaxBlockTypes) {
            rows.fail(ErrorCode::too_large, "too many block types");
            break;
        }
        if (rows.take_int("id", 1, kMaxBlockTypes) != next)
            rows.fail(ErrorCode::corrupt, "a block type is missing");
        BlockType type;
        TakeColumn{rows}("name", type.name, 0, 0);
        each_property(type.material, TakeColumn{rows});
        const Bytes bytes = rows.take_bytes("boxes");
        if (bytes.size() % kBoxBytes != 0 || bytes.size() > kMaxTypeBoxes * kBoxBytes)
            rows.fail(ErrorCode::corrupt, "column boxes has a wrong length");
        if (!rows.ok()) break;
        ByteReader in(bytes);
        in.allow_not_finite = true;
        std::vector<Box> boxes(bytes.size() / kBoxBytes);
        for (Box& b : boxes) {
            in(b);
            for (int k = 0; k < 3; k++)
                if (!(b.min[k] >= 0 && b.min[k] < b.max[k] && b.max[k] <= 1))
                    rows.fail(ErrorCode::bad_value, "column boxes: a box is not inside its cell");
        }
        if (!rows.ok()) break;
        type.shape = BlockShape(boxes);
        if (table.add(type) != next) rows.fail(ErrorCode::corrupt, "a block type is there twice");
    }
    return rows.failure();
}

/// A group or structure on its way into the level.
struct LoadedGroup {
    GroupRecord record;
    Grid grid;
    Joins joins;
};
struct LoadedStructure {
    StructureRecord record;
    Grid grid;
};

Failure read_groups(Database& db, const BlockTable& table, std::vector<LoadedGroup>& groups) {
    Statement rows(db, "groups", select_from(kGroupsTable));
    std::int64_t last = 0;
    while (rows.next()) {
        GroupRecord r;
        const std::int64_t id = rows.take_int("id", last + 1, kMaxSaveGroups);
        last = id;
        r.id.index = std::uint32_t(id);
        const Bytes motion = rows.take_bytes("motion");
        if (rows.ok() && motion.size() != kMotionBytes)
            rows.fail(ErrorCode::corrupt, "column motion has a wrong length");
        if (!rows.ok()) break;
        ByteReader in(motion);
        in.allow_not_finite = true;  // told of below
        in(r.center, r.rotation, r.velocity, r.spin);
        const Quat q = r.rotation;
        const float norm = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
        if (!is_finite(r.center) || !is_finite(r.velocity) || !is_finite(r.spin) || !std::isfinite(norm))
            rows.fail(ErrorCode::bad_value, "column motion: not finite");
        for (int k = 0; k < 3; k++)
            if (std::fabs(r.center[k]) > kMaxRecordPosition)
                rows.fail(ErrorCode::bad_value, "column motion: position out of range");
        if (!(norm > 0.99f && norm < 1.01f))
            rows.fail(ErrorCode::bad_value, "column motion: the rotation is not a unit quaternion");
        each_group_column(r, TakeColumn{rows});
        if (!rows.ok()) break;
        groups.push_back({r, Grid(table), {}});
    }
    return rows.failure();
}

Failure read_structures(Database& db, const BlockTable& table, std::vector<LoadedStructure>& structures) {
    Statement rows(db, "structures", select_from(kStructuresTable));
    std::int64_t last = 0;
    while (rows.next()) {
        StructureRecord r;
        last = rows.take_int("id", last + 1, kMaxSaveGroups);
        r.id.index = std::uint32_t(last);
        each_structure_column(r, TakeColumn{rows});
        if (!rows.ok()) break;
        structures.push_back({r, Grid(table)});
    }
    return rows.failure();
}

class ChunkReader {
 public:
    ChunkReader(Database& db, LevelState& level, std::vector<LoadedGroup>& groups,
                std::vector<LoadedStructure>& structures, const DensitySource* samples)
        : rows_(db, "chunks", select_from(kChunksTable)),
          level_(level),
          groups_(groups),
          structures_(structures),
          samples_(samples),
          unpacker_(ZSTD_createDCtx()),
          content_(kChunkBytes) {}
    ~ChunkReader() { ZSTD_freeDCtx(unpacker_); }
    ChunkReader(const ChunkReader&) = delete;
    ChunkReader& operator=(const ChunkReader&) = delete;

    Failure read() {
        while (rows_.next()) {
            last_id_ = rows_.take_int("id", last_id_ + 1, INT64_MAX - 1);
            const auto kind = ChunkKind(rows_.take_int("kind", std::int64_t(ChunkKind::bricks),
                                                       std::int64_t(ChunkKind::protected_regions)));
            const auto owner = std::uint32_t(rows_.take_int("owner", 0, kMaxSaveGroups));
            const Bytes packed = rows_.take_bytes("data");
            if (!rows_.ok() || !unpack(packed, kind) || !start(kind, owner)) break;
            ByteReader in(Bytes(content_.data(), size_));
            for (std::size_t i = 0; i < size_ / item_bytes(kind) && rows_.ok(); i++) take(in);
            if (!rows_.ok()) break;
        }
        return rows_.failure();
    }

 private:
    bool unpack(Bytes packed, ChunkKind kind) {
        size_ =
            ZSTD_decompressDCtx(unpacker_, content_.data(), content_.size(), packed.data(), packed.size());
        if (ZSTD_isError(size_))
            rows_.fail(ErrorCode::corrupt, std::string("column data: ") + ZSTD_getErrorName(size_));
        else if (size_ == 0 || size_ % item_bytes(kind) != 0)
            rows_.fail(ErrorCode::corrupt, "column data has a wrong length");
        return rows_.ok();
    }

    /// The group or structure of that number; owners come in order.
    template <class T>
    T* find(std::vector<T>& all, std::uint32_t owner, const char* name) {
        while (next_ < all.size() && all[next_].record.id.index < owner) next_++;
        if (next_ < all.size() && all[next_].record.id.index == owner) return &all[next_];
        rows_.fail(ErrorCode::corrupt, std::string("there is no ") + name + " " + std::to_string(owner));
        return nullptr;
    }

    /// Chunks come by kind, then owner.
    bool start(ChunkKind kind, std::uint32_t owner) {
        if (kind == kind_ && owner == owner_ && started_) return true;
        if (started_ && (kind < kind_ || (kind == kind_ && owner < owner_)))
            rows_.fail(ErrorCode::corrupt, "out of order");
        if (kind != kind_) next_ = 0;
        started_ = true;
        kind_ = kind;
        owner_ = owner;
        has_last_ = false;
        grid_ = nullptr;
        limit_ = kTerrainBrickLimit;
        const bool of_build =
            kind == ChunkKind::bricks || kind == ChunkKind::cuts || kind == ChunkKind::structure_bricks;
        if (of_build ? kind != ChunkKind::bricks && owner == 0 : owner != 0) {
            rows_.fail(ErrorCode::corrupt, "column owner is wrong for this kind");
        } else if (kind == ChunkKind::structure_bricks) {
            if (LoadedStructure* structure = find(structures_, owner, "structure")) grid_ = &structure->grid;
        } else if (of_build && owner == 0) {
            grid_ = &level_.own_terrain;
        } else if (of_build) {
            if (LoadedGroup* group = find(groups_, owner, "group")) {
                grid_ = &group->grid;
                joins_ = &group->joins;
                limit_ = kGroupBrickLimit;
            }
        }
        return rows_.ok();
    }

    void take(ByteReader& in) {
        switch (kind_) {
            case ChunkKind::bricks:
            case ChunkKind::structure_bricks:
                return take_brick(in);
            case ChunkKind::cuts:
                return take_cut(in);
            case ChunkKind::generations:
                return take_slot(in, level_.generations, kMaxSaveGroups);
            case ChunkKind::free_slots:
                return take_slot(in, level_.free_slots, level_.generations.size());
            case ChunkKind::smooth:
                return take_smooth(in);
            case ChunkKind::smooth_bricks:
                return take_smooth_brick(in);
            case ChunkKind::structure_generations:
                return take_slot(in, level_.structure_generations, kMaxSaveGroups);
            case ChunkKind::free_structures:
                return take_slot(in, level_.free_structures, level_.structure_generations.size());
            case ChunkKind::protected_regions:
                return take_region(in);
        }
    }

    void take_slot(ByteReader& in, std::vector<std::uint32_t>& list, std::size_t most) {
        if (list.size() == most)
            return most == kMaxSaveGroups ? rows_.fail(ErrorCode::too_large, "too many slots")
                                          : rows_.fail(ErrorCode::corrupt, "more free slots than slots");
        list.push_back(in.get<std::uint32_t>());
    }

    void take_region(ByteReader& in) {
        auto& regions = level_.protected_regions;
        ProtectedRegion& region = regions.emplace_back();
        in(region);
        if (region.number > level_.last_region ||
            (regions.size() > 1 && region.number <= regions[regions.size() - 2].number))
            rows_.fail(ErrorCode::corrupt, "protected regions out of order");
    }

    void take_brick(ByteReader& in) {
        const auto coord = in.get<Cell>();
        for (int v : {coord.x, coord.y, coord.z})
            if (v < -limit_ || v >= limit_)
                return rows_.fail(ErrorCode::bad_value, "a brick is out of range");
        if (has_last_ && !(last_ < coord)) return rows_.fail(ErrorCode::corrupt, "bricks out of order");
        last_ = coord;
        has_last_ = true;
        if (++bricks_ > kMaxSaveBricks) return rows_.fail(ErrorCode::too_large, "too many bricks");
        const std::size_t before = grid_->block_count();
        Brick place;
        place.coord = coord;
        for (int i = 0; i < 512; i++) {
            const auto id = in.get<BlockId>();
            if (id >= level_.table.size())
                return rows_.fail(ErrorCode::corrupt, "there is no block type " + std::to_string(id));
            if (id != kAir) grid_->set(cell_in_brick(place, i), id);
        }
        if (grid_->block_count() == before) rows_.fail(ErrorCode::corrupt, "a brick is empty");
    }

    void take_smooth(ByteReader& in) {
        const auto block = in.get<std::uint32_t>(), sourced = in.get<std::uint32_t>();
        if (level_.smooth) return rows_.fail(ErrorCode::corrupt, "smooth terrain is there twice");
        if (block == kAir || block >= level_.table.size() || sourced > 1)
            return rows_.fail(ErrorCode::corrupt, "smooth terrain is made of no block");
        if (sourced && !samples_)
            return rows_.fail(ErrorCode::bad_value, "has samples of smooth ground, and none are given");
        level_.smooth = std::make_unique<SmoothTerrain>(SmoothTerrain{
            DensityField(sourced ? samples_ : nullptr, level_.settings.cell_size), BlockId(block)});
    }

    void take_smooth_brick(ByteReader& in) {
        if (!level_.smooth) return rows_.fail(ErrorCode::corrupt, "samples of no smooth terrain");
        const auto coord = in.get<Cell>();
        for (int v : {coord.x, coord.y, coord.z})
            if (v < -kMostSmoothBrick || v > kMostSmoothBrick)
                return rows_.fail(ErrorCode::bad_value, "a brick is out of range");
        if (has_last_ && !(last_ < coord)) return rows_.fail(ErrorCode::corrupt, "bricks out of order");
        last_ = coord;
        has_last_ = true;
        if (++bricks_ > kMaxSaveBricks) return rows_.fail(ErrorCode::too_large, "too many bricks");
        float samples[512];
        for (float& s : samples) in(s);
        if (!in.ok()) return rows_.fail(ErrorCode::bad_value, "a sample is not finite");
        level_.smooth->field.restore_edited(coord, samples);
    }

    void take_cut(ByteReader& in) {
        const auto cut = in.get<Joins::Diagonal>();
        const auto [a, b] = cut;
        if (!grid_->is_solid(a) || !grid_->is_solid(b))
            return rows_.fail(ErrorCode::corrupt, "a cut diagonal ends in no solid");
        const Cell d = b - a;  // solids lie within the limits, so this cannot overflow
        if (!(a < b) || d.x * d.x > 1 || d.y * d.y > 1 || d.z * d.z > 1 ||
            d.x * d.x + d.y * d.y + d.z * d.z != 2)
            return rows_.fail(ErrorCode::corrupt, "a cut is no diagonal");
        if (has_last_ && !(last_cut_ < cut)) return rows_.fail(ErrorCode::corrupt, "cuts out of order");
        last_cut_ = cut;
        has_last_ = true;
        joins_->add_cut(cut);
    }

    Statement rows_;
    LevelState& level_;
    std::vector<LoadedGroup>& groups_;
    std::vector<LoadedStructure>& structures_;
    const DensitySource* samples_;
    ZSTD_DCtx* unpacker_;
    std::vector<std::uint8_t> content_;
    std::size_t size_ = 0;
    std::int64_t last_id_ = 0;
    bool started_ = false, has_last_ = false;
    ChunkKind kind_ = ChunkKind::bricks;
    std::uint32_t owner_ = 0;
    std::size_t next_ = 0, bricks_ = 0;
    Grid* grid_ = nullptr;  // of the owner
    Joins* joins_ = nullptr;
    std::int32_t limit_ = 0;
    Cell last_;
    Joins::Diagonal last_cut_;
};

/// Every slot holds a group (or structure) or is free, once.
template <class Loaded>
Failure check_slots(const std::vector<Loaded>& builds, const std::vector<std::uint32_t>& generations,
                    const std::vector<std::uint32_t>& free, const std::string& kind,
                    const std::string& path) {
    auto corrupt = [&](const std::string& what) { return talus::fail(ErrorCode::corrupt, path, what); };
    std::vector<bool> taken(generations.size(), false);
    for (const Loaded& b : builds) {
        const std::string name = kind + " " + std::to_string(b.record.id.index);
        if (b.record.id.index > taken.size()) return corrupt(name + " has no slot");
        taken[b.record.id.index - 1] = true;
        if (generations[b.record.id.index - 1] != b.record.id.generation)
            return corrupt(name + " has another generation than its slot");
        if (b.grid.empty()) return corrupt(name + " has no blocks");
    }
    for (std::uint32_t slot : free) {
        if (slot >= taken.size() || taken[slot])
            return corrupt("slot " + std::to_string(slot) + " of a " + kind + " is not free");
        taken[slot] = true;
    }
    for (std::size_t i = 0; i < taken.size(); i++)
        if (!taken[i])
            return corrupt("slot " + std::to_string(i) + " of a " + kind + " is neither taken nor free");
    return {};
}

Failure check_bounds(const std::vector<LoadedGroup>& groups, const std::string& path) {
    std::int64_t all = 0;
    for (const LoadedGroup& g : groups) {
        const std::int64_t cells = cells_in(g.grid.bounds());
        all += cells;
        if (cells > kMaxGroupBounds || all > kMaxAllBounds)
            return talus::fail(ErrorCode::too_large, path,
                               "the bounds of group " + std::to_string(g.record.id.index) + " are too large");
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<Level>> load_level(const std::string& path, const LevelHost& host) {
    if (Failure f = check_magic(path)) return *f;
    Database db;
    if (Failure f = db.open(path, false)) return *f;
    if (Failure f = db.run("BEGIN")) return *f;
    if (Failure f = check_schema(db)) return *f;
    Result<std::unique_ptr<Level>> made = read_level(db, host);
    if (!made) return made;
    Level& level = **made;
    LevelState& state = level.state();
    if (Failure f = read_blocks(db, state.table)) return *f;
    std::vector<LoadedGroup> groups;
    std::vector<LoadedStructure> structures;
    if (Failure f = read_groups(db, state.table, groups)) return *f;
    if (Failure f = read_structures(db, state.table, structures)) return *f;
    {
        ChunkReader chunks(db, state, groups, structures, host.smooth);
        if (Failure f = chunks.read()) return *f;
    }
    if (Failure f = check_slots(groups, state.generations, state.free_slots, "group", path)) return *f;
    if (Failure f =
            check_slots(structures, state.structure_generations, state.free_structures, "structure", path))
        return *f;
    if (Failure f = check_bounds(groups, path)) return *f;
    state.slots.resize(state.generations.size());
    choose_smooth_ground(state);
    if (host.terrain) level.set_terrain_source(host.terrain);
    for (LoadedGroup& g : groups) restore_group(state, std::move(g.grid), std::move(g.joins), g.record);
    state.structure_slots.resize(state.structure_generations.size());
    for (LoadedStructure& s : structures) restore_structure(state, std::move(s.grid), s.record);
    return made;
}

}  // namespace talus
