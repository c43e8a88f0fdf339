#include "io/store/columns.h"

#include <algorithm>
#include <array>

namespace talus::store {

std::span<const Table> tables() {
    static const std::array<Table, kTables> all = [] {
        const LevelSettings settings;
        const Material material;
        const GroupRecord group;
        const StructureRecord structure;
        struct {
            LevelRandom random;
            std::uint64_t tick = 0, destroyed = 0, fallen_out = 0, drops = 0;
            std::uint32_t last_region = 0;
        } const counters;
        std::array<Table, kTables> out{
            {{"level", "CREATE TABLE level(id INTEGER PRIMARY KEY", 0},
             {"blocks", "CREATE TABLE blocks(id INTEGER PRIMARY KEY, name TEXT", 0},
             {"groups", "CREATE TABLE groups(id INTEGER PRIMARY KEY, motion BLOB", 0},
             {"structures", "CREATE TABLE structures(id INTEGER PRIMARY KEY", 0},
             {"chunks",
              "CREATE TABLE chunks(id INTEGER PRIMARY KEY, kind INTEGER, owner INTEGER, "
              "data BLOB",
              0}}};
        each_setting(settings, DeclareColumn{out[kLevelTable].create});
        each_counter(counters, DeclareColumn{out[kLevelTable].create});
        each_property(material, DeclareColumn{out[kBlocksTable].create});
        out[kBlocksTable].create += ", boxes BLOB";
        each_group_column(group, DeclareColumn{out[kGroupsTable].create});
        each_structure_column(structure, DeclareColumn{out[kStructuresTable].create});
        for (Table& t : out) {
            t.create += ")";
            t.columns = 1 + int(std::count(t.create.begin(), t.create.end(), ','));
        }
        return out;
    }();
    return all;
}

std::string insert_into(const Table& table) {
    std::string sql = std::string("INSERT INTO ") + table.name + " VALUES(?";
    for (int i = 1; i < table.columns; i++) sql += ",?";
    return sql + ")";
}

}  // namespace talus::store
