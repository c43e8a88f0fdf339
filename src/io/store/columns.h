// columns.h - the tables of a save: one list of columns for making, writing and reading each of them.
//
// Layer: io/store. Format: docs/formats/save.md. Tests: tests/store/
#pragma once

#include "io/store/database.h"
#include "talus/store.h"
#include "world/archive.h"
#include "world/level_state.h"

#include <limits>
#include <string>
#include <type_traits>

namespace talus::store {

// f(name, value, lowest, highest) for each column; see also world/archive.h. The order is that of the file.

template <class Record, class F>
void each_group_column(Record& r, F&& f) {
    f("generation", r.id.generation, 1, 4294967295.0);
    f("asleep", r.asleep, 0, 1);
    f("bears_load", r.bears_load, 0, 1);
    f("debris", r.is_debris, 0, 1);
    f("whole_look", r.whole_look, 0, 1);
    f("broke_off", r.broke_off, 0, 1);
    f("check_wanted", r.check_wanted, 0, 1);
    f("created_tick", r.created_tick, 0, 0);
    f("slippery_until", r.slippery_until, 0, 0);
    f("asleep_ticks", r.asleep_ticks, 0, 4294967295.0);
    f("creeping_ticks", r.creeping_ticks, 0, 4294967295.0);
    f("debris_ticks", r.debris_ticks, -1, 2147483647.0);
    f("mode", r.mode, -1, 1);
    f("type", r.type, 0, 0);
}

template <class Record, class F>
void each_structure_column(Record& r, F&& f) {
    f("generation", r.id.generation, 1, 4294967295.0);
    f("check_wanted", r.check_wanted, 0, 1);
    f("mode", r.mode, -1, 1);
    f("type", r.type, 0, 0);
}

template <class T>
constexpr bool kIsReal = std::is_floating_point_v<T> || std::is_same_v<T, std::optional<double>>;

/// Adds ", name TYPE" to a CREATE TABLE.
struct DeclareColumn {
    std::string& sql;
    template <class T>
    void operator()(const char* name, const T&, double, double) {
        sql += std::string(", ") + name;
        sql += std::is_same_v<T, std::string> ? " TEXT" : kIsReal<T> ? " REAL" : " INTEGER";
    }
};

struct PutColumn {
    Statement& to;
    template <class T>
    void operator()(const char* name, const T& value, double lowest, double highest) {
        if constexpr (std::is_same_v<T, std::string>) {
            if (value.size() > kMaxTypeName)
                to.fail(ErrorCode::too_large, std::string("column ") + name + " is too long");
            to.put(std::string_view(value));
        } else if constexpr (std::is_same_v<T, std::optional<double>>) {
            if (value)
                (*this)(name, *value, lowest, highest);
            else
                to.put_null();
        } else if constexpr (std::is_same_v<T, std::uint64_t>) {
            to.put(std::int64_t(value));
        } else {
            if (!(double(value) >= lowest && double(value) <= highest))
                to.fail(ErrorCode::bad_value, std::string("column ") + name + " is out of range");
            if constexpr (std::is_floating_point_v<T>)
                to.put(double(value));
            else
                to.put(std::int64_t(value));
        }
    }
};

struct TakeColumn {
    Statement& from;
    template <class T>
    void operator()(const char* name, T& value, double lowest, double highest) {
        if constexpr (std::is_same_v<T, std::string>)
            value = from.take_text(name, kMaxTypeName);
        else if constexpr (std::is_same_v<T, std::optional<double>>)
            value = from.take_optional(name, lowest, highest);
        else if constexpr (std::is_same_v<T, std::uint64_t>)
            value = from.take_bits(name);
        else if constexpr (std::is_same_v<T, float>)
            value = from.take_float(name, float(lowest), float(highest));
        else if constexpr (std::is_same_v<T, double>)
            value = from.take_double(name, lowest, highest);
        else
            value = T(from.take_int(name, std::int64_t(lowest), std::int64_t(highest)));
    }
};

struct Table {
    const char* name;
    std::string create;
    int columns;
};
/// The tables of this version, as sqlite_schema must hold them.
std::span<const Table> tables();

/// "INSERT INTO name VALUES(?, ...)"
std::string insert_into(const Table& table);

enum TableIndex { kLevelTable, kBlocksTable, kGroupsTable, kStructuresTable, kChunksTable, kTables };

enum class ChunkKind : std::uint8_t {
    bricks = 1,
    cuts,
    generations,
    free_slots,
    smooth,
    smooth_bricks,
    structure_bricks,
    structure_generations,
    free_structures,
    protected_regions
};
constexpr std::size_t kChunkBytes = 1u << 20;  // of a chunk's content, at most
constexpr std::size_t kBrickBytes = 12 + 2 * 512;
constexpr std::size_t kCutBytes = 24;
constexpr std::size_t kSlotBytes = 4;
constexpr std::size_t kSmoothBytes = 8;
constexpr std::size_t kSmoothBrickBytes = 12 + 4 * 512;
constexpr std::size_t kRegionBytes = 4 + 48;
constexpr std::size_t kMotionBytes = 24 + 16 + 12 + 12;
constexpr std::size_t kBoxBytes = 24;
constexpr std::size_t item_bytes(ChunkKind kind) {
    constexpr std::size_t kBytes[] = {kBrickBytes,       kCutBytes,   kSlotBytes, kSlotBytes, kSmoothBytes,
                                      kSmoothBrickBytes, kBrickBytes, kSlotBytes, kSlotBytes, kRegionBytes};
    return kBytes[int(kind) - 1];
}

/// Bricks of a group are within this, of terrain within that, on each axis: -limit .. limit - 1.
constexpr std::int32_t kGroupBrickLimit = kMaxGroupCell / kBrickEdge;
constexpr std::int32_t kTerrainBrickLimit = kMaxTerrainCell / kBrickEdge;

}  // namespace talus::store
