#include "io/format/fail.h"
#include "io/store/columns.h"
#include "talus/store.h"

#include <zstd.h>

#include <filesystem>

namespace talus {

namespace {

using namespace store;

constexpr int kZstdLevel = 3;

/// Rows of the table chunks: items of one kind and owner are gathered to chunks and packed.
class ChunkWriter {
 public:
    explicit ChunkWriter(Database& database)
        : rows_(database, "chunks", insert_into(tables()[kChunksTable])), packer_(ZSTD_createCCtx()) {
        ZSTD_CCtx_setParameter(packer_, ZSTD_c_compressionLevel, kZstdLevel);
        ZSTD_CCtx_setParameter(packer_, ZSTD_c_checksumFlag, 1);
    }
    ~ChunkWriter() { ZSTD_freeCCtx(packer_); }
    ChunkWriter(const ChunkWriter&) = delete;
    ChunkWriter& operator=(const ChunkWriter&) = delete;

    void begin(ChunkKind kind, std::uint32_t owner) {
        flush();
        kind_ = kind;
        owner_ = owner;
    }
    /// Call before each item.
    ByteWriter& item() {
        if (out_.bytes.size() + item_bytes(kind_) > kChunkBytes) flush();
        return out_;
    }
    void flush() {
        if (out_.bytes.empty()) return;
        packed_.resize(ZSTD_compressBound(out_.bytes.size()));
        const std::size_t size =
            ZSTD_compress2(packer_, packed_.data(), packed_.size(), out_.bytes.data(), out_.bytes.size());
        if (ZSTD_isError(size)) rows_.fail(ErrorCode::too_large, ZSTD_getErrorName(size));
        rows_.put(next_id_++);
        rows_.put(std::int64_t(kind_));
        rows_.put(std::int64_t(owner_));
        rows_.put(Bytes(packed_.data(), ZSTD_isError(size) ? 0 : size));
        rows_.write();
        out_.bytes.clear();
    }
    const Failure& failure() const { return rows_.failure(); }

 private:
    Statement rows_;
    ZSTD_CCtx* packer_;
    ChunkKind kind_ = ChunkKind::bricks;
    std::uint32_t owner_ = 0;
    std::int64_t next_id_ = 1;
    ByteWriter out_;
    std::vector<std::uint8_t> packed_;
};

/// What a reader would refuse is not written. Terrain is nowhere farther out than a save keeps it.
Failure check_limits(const LevelState& level, const std::string& path) {
    auto too_large = [&](const std::string& what) {
        return talus::fail(ErrorCode::too_large, path, what + " is over the limit of a save");
    };
    if (level.slots.size() > kMaxSaveGroups) return too_large("the number of groups");
    if (level.structure_slots.size() > kMaxSaveGroups) return too_large("the number of structures");
    std::size_t bricks = level.own_terrain.bricks().size();
    for (const auto& slot : level.structure_slots)  // of the terrain: as far out as that
        if (slot) bricks += slot->grid.bricks().size();
    std::int64_t bounds = 0;
    for (const auto& slot : level.slots) {
        if (!slot) continue;
        const std::string name = "group " + std::to_string(slot->id.index);
        const CellBox box = slot->grid.bounds();
        bricks += slot->grid.bricks().size();
        for (int v : {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z})
            if (v < -kMaxGroupCell || v >= kMaxGroupCell) return too_large("the extent of " + name);
        bounds += cells_in(box);
        if (cells_in(box) > kMaxGroupBounds) return too_large("the volume of " + name);
    }
    if (bounds > kMaxAllBounds) return too_large("the volume of all groups");
    if (level.smooth) bricks += level.smooth->field.edited_bricks();
    if (bricks > kMaxSaveBricks) return too_large("the number of bricks");
    return {};
}

/// Makes the file a save, or makes sure that it is one.
Failure prepare(Database& db) {
    const auto id = db.number("PRAGMA application_id");
    if (!id) return id.error();
    const auto entries = db.number("SELECT count(*) FROM sqlite_schema");
    if (!entries) return entries.error();
    if (*id != kApplicationId && (*id != 0 || *entries != 0))
        return talus::fail(ErrorCode::bad_format, db.path(), "is a database of something else");
    if (Failure f = db.run("PRAGMA journal_mode=WAL")) return f;
    return db.run("PRAGMA synchronous=FULL");
}

Failure write_header(Database& db) {
    const auto version = db.number("PRAGMA user_version");
    if (!version) return version.error();
    if (*version > kVersion)
        return talus::fail(
            ErrorCode::unsupported, db.path(),
            "is a save of version " + std::to_string(*version) + ", newer than " + std::to_string(kVersion));
    for (const Table& t : tables()) {
        if (Failure f = db.run((std::string("DROP TABLE IF EXISTS ") + t.name).c_str())) return f;
        if (Failure f = db.run(t.create.c_str())) return f;
    }
    if (Failure f = db.run(("PRAGMA application_id=" + std::to_string(kApplicationId)).c_str())) return f;
    return db.run(("PRAGMA user_version=" + std::to_string(kVersion)).c_str());
}

Failure write_level(Database& db, const LevelState& level) {
    Statement rows(db, "level", insert_into(tables()[kLevelTable]));
    rows.put(std::int64_t(1));
    each_setting(level.settings, PutColumn{rows});
    each_counter(level, PutColumn{rows});
    rows.write();
    return rows.failure();
}

Failure write_blocks(Database& db, const BlockTable& table) {
    Statement rows(db, "blocks", insert_into(tables()[kBlocksTable]));
    for (std::size_t id = 1; id < table.size() && rows.ok(); id++) {
        const BlockType& type = table[BlockId(id)];
        ByteWriter boxes;
        for (const Box& b : type.shape.boxes()) boxes(b);
        if (type.shape.boxes().size() > kMaxTypeBoxes)
            rows.fail(ErrorCode::too_large, in_quotes(type.name) + " has a shape of too many boxes");
        rows.put(std::int64_t(id));
        PutColumn{rows}("name", type.name, 0, 0);
        each_property(type.material, PutColumn{rows});
        rows.put(Bytes(boxes.bytes));
        rows.write();
    }
    return rows.failure();
}

Failure write_groups(Database& db, const LevelState& level) {
    Statement rows(db, "groups", insert_into(tables()[kGroupsTable]));
    for (const auto& slot : level.slots) {
        if (!slot || !rows.ok()) continue;
        const GroupRecord record = record_of(level, *slot);
        ByteWriter motion;
        motion(record.center, record.rotation, record.velocity, record.spin);
        rows.put(std::int64_t(record.id.index));
        rows.put(Bytes(motion.bytes));
        each_group_column(record, PutColumn{rows});
        rows.write();
    }
    return rows.failure();
}

Failure write_structures(Database& db, const LevelState& level) {
    Statement rows(db, "structures", insert_into(tables()[kStructuresTable]));
    for (const auto& slot : level.structure_slots) {
        if (!slot || !rows.ok()) continue;
        const StructureRecord record = record_of(*slot);
        rows.put(std::int64_t(record.id.index));
        each_structure_column(record, PutColumn{rows});
        rows.write();
    }
    return rows.failure();
}

void write_bricks(ChunkWriter& chunks, ChunkKind kind, const Grid& grid, std::uint32_t owner) {
    chunks.begin(kind, owner);
    for (const Brick* brick : grid.bricks()) {
        ByteWriter& out = chunks.item();
        out(brick->coord);
        for (int i = 0; i < 512; i++) out(std::uint16_t(brick->id_at(i)));
    }
}

void write_slots(ChunkWriter& chunks, ChunkKind kind, const std::vector<std::uint32_t>& slots) {
    chunks.begin(kind, 0);
    for (const std::uint32_t s : slots) chunks.item()(s);
}

Failure write_chunks(Database& db, const LevelState& level) {
    ChunkWriter chunks(db);
    write_bricks(chunks, ChunkKind::bricks, level.own_terrain, 0);
    for (const auto& slot : level.slots)
        if (slot) write_bricks(chunks, ChunkKind::bricks, slot->grid, slot->id.index);
    for (const auto& slot : level.slots) {
        if (!slot) continue;
        chunks.begin(ChunkKind::cuts, slot->id.index);
        for (const Joins::Diagonal& d : slot->joins.cuts()) chunks.item()(d);
    }
    write_slots(chunks, ChunkKind::generations, level.generations);
    write_slots(chunks, ChunkKind::free_slots, level.free_slots);
    if (level.smooth) {
        chunks.begin(ChunkKind::smooth, 0);
        chunks.item()(std::uint32_t(level.smooth->block),
                      std::uint32_t(level.smooth->field.source() != nullptr));
        chunks.begin(ChunkKind::smooth_bricks, 0);
        level.smooth->field.for_each_edited([&](Cell brick, std::span<const float, 512> samples) {
            ByteWriter& item = chunks.item();
            item(brick);
            for (const float s : samples) item(s);
        });
    }
    for (const auto& slot : level.structure_slots)
        if (slot) write_bricks(chunks, ChunkKind::structure_bricks, slot->grid, slot->id.index);
    write_slots(chunks, ChunkKind::structure_generations, level.structure_generations);
    write_slots(chunks, ChunkKind::free_structures, level.free_structures);
    chunks.begin(ChunkKind::protected_regions, 0);
    for (const ProtectedRegion& region : level.protected_regions) chunks.item()(region);
    chunks.flush();
    return chunks.failure();
}

}  // namespace

Result<SaveReport> save_level(const Level& level, const std::string& path) {
    const LevelState& state = level.state();
    if (Failure f = check_limits(state, path)) return *f;
    SaveReport report;
    {
        Database db;
        if (Failure f = db.open(path, true)) return *f;
        if (Failure f = prepare(db)) return *f;
        if (Failure f = db.run("BEGIN IMMEDIATE")) return *f;
        Failure failed = write_header(db);
        if (!failed) failed = write_level(db, state);
        if (!failed) failed = write_blocks(db, state.table);
        if (!failed) failed = write_groups(db, state);
        if (!failed) failed = write_structures(db, state);
        if (!failed) failed = write_chunks(db, state);
        if (!failed) failed = db.run("COMMIT");
        if (failed) return *failed;  // closing rolls back
    }
    for (const auto& slot : state.slots)
        if (slot) {
            report.groups++;
            report.bricks += slot->grid.bricks().size();
        }
    for (const auto& slot : state.structure_slots)
        if (slot) {
            report.structures++;
            report.bricks += slot->grid.bricks().size();
        }
    report.bricks += state.own_terrain.bricks().size();
    if (state.smooth) report.bricks += state.smooth->field.edited_bricks();
    std::error_code ignored;
    report.bytes = std::filesystem::file_size(path, ignored);
    return report;
}

}  // namespace talus
