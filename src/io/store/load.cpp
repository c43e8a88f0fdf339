#include "io/format/fail.h"
#include "io/store/columns.h"
#include "talus/store.h"
#include "world/snapshot.h"

#include <zstd.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace talus {

namespace {

using namespace store;

/// Reads little-endian numbers; the caller has made sure of the length.
class ByteReader {
 public:
    explicit ByteReader(Bytes bytes) : at_(bytes.data()) {}
    std::uint16_t get16() { return std::uint16_t(get(2)); }
    std::uint32_t get32() { return std::uint32_t(get(4)); }
    float get_float() { return std::bit_cast<float>(get32()); }
    double get_double() { return std::bit_cast<double>(get(8)); }
    Vec3 get_vec() {
        const float x = get_float(), y = get_float(), z = get_float();
        return {x, y, z};
    }
    Cell get_cell() {
        const auto x = std::int32_t(get32()), y = std::int32_t(get32()), z = std::int32_t(get32());
        return {x, y, z};
    }

 private:
    std::uint64_t get(int size) {
        std::uint64_t v = 0;
        for (int i = 0; i < size; i++) v |= std::uint64_t(*at_++) << (8 * i);
        return v;
    }
    const std::uint8_t* at_;
};

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

/// The schema must be that of version 1 to the letter: a view or trigger under a known name would run code of
/// the file's choice.
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
    Statement rows(db, "sqlite_schema", "SELECT name, sql FROM sqlite_schema");
    std::size_t known = 0;
    while (rows.next()) {
        const std::string_view name = rows.take_text("name", 100), sql = rows.take_text("sql", 10'000);
        bool found = false;
        for (const Table& t : tables()) found = found || (name == t.name && sql == t.create);
        if (!found) rows.fail(ErrorCode::corrupt, in_quotes(name) + " is not as in version 1");
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
        std::vector<Box> boxes(bytes.size() / kBoxBytes);
        for (Box& b : boxes) {
            b.min = in.get_vec();
            b.max = in.get_vec();
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

/// A group on its way into the level.
struct LoadedGroup {
    GroupRecord record;
    Grid grid;
    Joins joins;
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
        r.center.x = in.get_double();
        r.center.y = in.get_double();
        r.center.z = in.get_double();
        r.rotation.x = in.get_float();
        r.rotation.y = in.get_float();
        r.rotation.z = in.get_float();
        r.rotation.w = in.get_float();
        r.velocity = in.get_vec();
        r.spin = in.get_vec();
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

class ChunkReader {
 public:
    ChunkReader(Database& db, LevelState& level, std::vector<LoadedGroup>& groups,
                const DensitySource* samples)
        : rows_(db, "chunks", select_from(kChunksTable)),
          level_(level),
          groups_(groups),
          samples_(samples),
          unpacker_(ZSTD_createDCtx()),
          content_(kChunkBytes) {}
    ~ChunkReader() { ZSTD_freeDCtx(unpacker_); }
    ChunkReader(const ChunkReader&) = delete;
    ChunkReader& operator=(const ChunkReader&) = delete;

    Failure read() {
        while (rows_.next()) {
            last_id_ = rows_.take_int("id", last_id_ + 1, INT64_MAX - 1);
            const auto kind = ChunkKind(rows_.take_int("kind", 1, 6));
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

    /// Chunks come by kind, then owner.
    bool start(ChunkKind kind, std::uint32_t owner) {
        if (kind == kind_ && owner == owner_ && started_) return true;
        if (started_ && (kind < kind_ || (kind == kind_ && owner < owner_)))
            rows_.fail(ErrorCode::corrupt, "out of order");
        if (kind != kind_) group_ = 0;
        started_ = true;
        kind_ = kind;
        owner_ = owner;
        has_last_ = false;
        const bool of_level = kind != ChunkKind::bricks && kind != ChunkKind::cuts;
        if (of_level ? owner != 0 : kind == ChunkKind::cuts && owner == 0)
            rows_.fail(ErrorCode::corrupt, "column owner is wrong for this kind");
        if (owner == 0) return rows_.ok();
        while (group_ < groups_.size() && groups_[group_].record.id.index < owner) group_++;
        if (group_ == groups_.size() || groups_[group_].record.id.index != owner)
            rows_.fail(ErrorCode::corrupt, "there is no group " + std::to_string(owner));
        return rows_.ok();
    }

    void take(ByteReader& in) {
        switch (kind_) {
            case ChunkKind::bricks:
                return take_brick(in);
            case ChunkKind::cuts:
                return take_cut(in);
            case ChunkKind::generations:
                if (level_.generations.size() == kMaxSaveGroups)
                    return rows_.fail(ErrorCode::too_large, "too many slots");
                return level_.generations.push_back(in.get32());
            case ChunkKind::free_slots:
                if (level_.free_slots.size() == level_.generations.size())
                    return rows_.fail(ErrorCode::corrupt, "more free slots than slots");
                return level_.free_slots.push_back(in.get32());
            case ChunkKind::smooth:
                return take_smooth(in);
            case ChunkKind::smooth_bricks:
                return take_smooth_brick(in);
        }
    }

    void take_brick(ByteReader& in) {
        const Cell coord = in.get_cell();
        const std::int32_t limit = owner_ ? kGroupBrickLimit : kTerrainBrickLimit;
        for (int v : {coord.x, coord.y, coord.z})
            if (v < -limit || v >= limit) return rows_.fail(ErrorCode::bad_value, "a brick is out of range");
        if (has_last_ && !(last_ < coord)) return rows_.fail(ErrorCode::corrupt, "bricks out of order");
        last_ = coord;
        has_last_ = true;
        if (++bricks_ > kMaxSaveBricks) return rows_.fail(ErrorCode::too_large, "too many bricks");
        Grid& grid = owner_ ? groups_[group_].grid : level_.own_terrain;
        const std::size_t before = grid.block_count();
        Brick place;
        place.coord = coord;
        for (int i = 0; i < 512; i++) {
            const BlockId id = in.get16();
            if (id >= level_.table.size())
                return rows_.fail(ErrorCode::corrupt, "there is no block type " + std::to_string(id));
            if (id != kAir) grid.set(cell_in_brick(place, i), id);
        }
        if (grid.block_count() == before) rows_.fail(ErrorCode::corrupt, "a brick is empty");
    }

    void take_smooth(ByteReader& in) {
        const std::uint32_t block = in.get32(), sourced = in.get32();
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
        const Cell coord = in.get_cell();
        for (int v : {coord.x, coord.y, coord.z})
            if (v < -kMostSmoothBrick || v > kMostSmoothBrick)
                return rows_.fail(ErrorCode::bad_value, "a brick is out of range");
        if (has_last_ && !(last_ < coord)) return rows_.fail(ErrorCode::corrupt, "bricks out of order");
        last_ = coord;
        has_last_ = true;
        if (++bricks_ > kMaxSaveBricks) return rows_.fail(ErrorCode::too_large, "too many bricks");
        float samples[512];
        for (float& s : samples) {
            s = in.get_float();
            if (!std::isfinite(s)) return rows_.fail(ErrorCode::bad_value, "a sample is not finite");
        }
        level_.smooth->field.restore_edited(coord, samples);
    }

    void take_cut(ByteReader& in) {
        const Cell a = in.get_cell(), b = in.get_cell();
        LoadedGroup& group = groups_[group_];
        if (!group.grid.is_solid(a) || !group.grid.is_solid(b))
            return rows_.fail(ErrorCode::corrupt, "a cut diagonal ends in no solid");
        const Cell d = b - a;  // solids lie within the limits, so this cannot overflow
        if (!(a < b) || d.x * d.x > 1 || d.y * d.y > 1 || d.z * d.z > 1 ||
            d.x * d.x + d.y * d.y + d.z * d.z != 2)
            return rows_.fail(ErrorCode::corrupt, "a cut is no diagonal");
        const Joins::Diagonal cut{a, b};
        if (has_last_ && !(last_cut_ < cut)) return rows_.fail(ErrorCode::corrupt, "cuts out of order");
        last_cut_ = cut;
        has_last_ = true;
        group.joins.add_cut(cut);
    }

    Statement rows_;
    LevelState& level_;
    std::vector<LoadedGroup>& groups_;
    const DensitySource* samples_;
    ZSTD_DCtx* unpacker_;
    std::vector<std::uint8_t> content_;
    std::size_t size_ = 0;
    std::int64_t last_id_ = 0;
    bool started_ = false, has_last_ = false;
    ChunkKind kind_ = ChunkKind::bricks;
    std::uint32_t owner_ = 0;
    std::size_t group_ = 0, bricks_ = 0;
    Cell last_;
    Joins::Diagonal last_cut_;
};

/// Every slot holds a group or is free, once.
Failure check_slots(const LevelState& level, const std::vector<LoadedGroup>& groups,
                    const std::string& path) {
    auto corrupt = [&](const std::string& what) { return talus::fail(ErrorCode::corrupt, path, what); };
    std::vector<bool> taken(level.generations.size(), false);
    for (const LoadedGroup& g : groups) {
        const std::string name = "group " + std::to_string(g.record.id.index);
        if (g.record.id.index > taken.size()) return corrupt(name + " has no slot");
        taken[g.record.id.index - 1] = true;
        if (level.generations[g.record.id.index - 1] != g.record.id.generation)
            return corrupt(name + " has another generation than its slot");
    }
    for (std::uint32_t slot : level.free_slots) {
        if (slot >= taken.size() || taken[slot])
            return corrupt("slot " + std::to_string(slot) + " is not free");
        taken[slot] = true;
    }
    for (std::size_t i = 0; i < taken.size(); i++)
        if (!taken[i]) return corrupt("slot " + std::to_string(i) + " is neither taken nor free");
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
    if (Failure f = read_groups(db, state.table, groups)) return *f;
    {
        ChunkReader chunks(db, state, groups, host.smooth);
        if (Failure f = chunks.read()) return *f;
    }
    if (Failure f = check_slots(state, groups, path)) return *f;
    if (Failure f = check_bounds(groups, path)) return *f;
    state.slots.resize(state.generations.size());
    choose_smooth_ground(state);
    for (LoadedGroup& g : groups) restore_group(state, std::move(g.grid), std::move(g.joins), g.record);
    return made;
}

}  // namespace talus
