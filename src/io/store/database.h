// database.h - SQLite as saves use it: a file, statements, typed columns, errors with a place.
//
// Layer: io/store. Tests: tests/store/
#pragma once

#include "talus/result.h"

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace talus::store {

using Bytes = std::span<const std::uint8_t>;
/// Nothing went wrong: nullopt.
using Failure = std::optional<Error>;

constexpr int kApplicationId = 0x54414C55;  // "TALU"
constexpr int kVersion = 2;

class Database {
 public:
    Database() = default;
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    Failure open(const std::string& path, bool create);
    Failure run(const char* sql);
    /// First column of the first row.
    Result<std::int64_t> number(const char* sql);
    /// What SQLite says of its last call.
    Error error(std::string_view doing) const;
    const std::string& path() const { return path_; }
    sqlite3* handle() const { return db_; }

 private:
    std::string path_;
    sqlite3* db_ = nullptr;
};

/// One prepared statement. The first thing that goes wrong sticks, in failure().
class Statement {
 public:
    Statement(Database& database, const char* table, const std::string& sql);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    // Writing: put each column in order, then write().
    void put(std::int64_t value);
    void put(double value);
    void put(std::string_view text);
    void put(Bytes bytes);  ///< must live until write()
    void put_null();
    bool write();

    // Reading: next(), then take each column in order. Takes of a wrong type fail and give zero.
    bool next();
    std::int64_t take_int(const char* name, std::int64_t lowest, std::int64_t highest);
    std::uint64_t take_bits(const char* name);
    double take_double(const char* name, double lowest, double highest);
    float take_float(const char* name, float lowest, float highest);
    std::optional<double> take_optional(const char* name, double lowest, double highest);
    std::string_view take_text(const char* name, std::size_t longest);
    Bytes take_bytes(const char* name);

    /// Notes a fault of the row at hand: "PATH: table groups, row 7: what".
    void fail(ErrorCode code, std::string_view what);
    bool ok() const { return !failure_; }
    const Failure& failure() const { return failure_; }

 private:
    int column_of(const char* name, int type);
    Database& database_;
    const char* table_;
    sqlite3_stmt* statement_ = nullptr;
    int column_ = 0;
    std::uint64_t row_ = 0;
    Failure failure_;
};

}  // namespace talus::store
