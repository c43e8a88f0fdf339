#include "io/store/database.h"

#include "io/format/fail.h"

#include <cmath>

namespace talus::store {

namespace {

constexpr int kBusyMs = 5000;
constexpr int kMaxValueBytes = 4 << 20;  // of one column
constexpr int kCacheKib = 8192;

ErrorCode code_of(int sqlite) {
    switch (sqlite & 0xff) {
        case SQLITE_NOTADB:
            return ErrorCode::bad_format;
        case SQLITE_CORRUPT:
            return ErrorCode::corrupt;
        case SQLITE_TOOBIG:
        case SQLITE_NOMEM:
        case SQLITE_FULL:
            return ErrorCode::too_large;
        case SQLITE_SCHEMA:
        case SQLITE_ERROR:
            return ErrorCode::corrupt;
        default:
            return ErrorCode::unreadable;
    }
}

}  // namespace

Database::~Database() { sqlite3_close(db_); }

Error Database::error(std::string_view doing) const {
    const int code = db_ ? sqlite3_extended_errcode(db_) : SQLITE_NOMEM;
    std::string what(doing);
    what += ": ";
    what += db_ ? sqlite3_errmsg(db_) : "out of memory";
    return talus::fail(code_of(code), path_, what);
}

Failure Database::open(const std::string& path, bool create) {
    path_ = path;
    const int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
    if (sqlite3_open_v2(path.c_str(), &db_, flags, nullptr) != SQLITE_OK) return error("opening");
    sqlite3_busy_timeout(db_, kBusyMs);
    sqlite3_limit(db_, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
    sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    const std::string cache = "PRAGMA cache_size=-" + std::to_string(kCacheKib);
    for (const char* sql : {cache.c_str(), "PRAGMA cell_size_check=ON", "PRAGMA mmap_size=0"})
        if (Failure f = run(sql)) return f;
    return {};
}

Failure Database::run(const char* sql) {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return error(sql);
    return {};
}

Result<std::int64_t> Database::number(const char* sql) {
    sqlite3_stmt* s = nullptr;
    if (sqlite3_prepare_v2(db_, sql, -1, &s, nullptr) != SQLITE_OK) return error(sql);
    const int code = sqlite3_step(s);
    const std::int64_t value = code == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    std::optional<Error> failed;
    if (code != SQLITE_ROW) failed = error(sql);
    sqlite3_finalize(s);
    if (failed) return *failed;
    return value;
}

Statement::Statement(Database& database, const char* table, const std::string& sql)
    : database_(database), table_(table) {
    if (sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK)
        failure_ = database.error(std::string("table ") + table);
}
Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::fail(ErrorCode code, std::string_view what) {
    if (failure_) return;
    std::string text = std::string("table ") + table_ + ", row " + std::to_string(row_) + ": ";
    text += what;
    failure_ = talus::fail(code, database_.path(), text);
}

void Statement::put(std::int64_t value) { sqlite3_bind_int64(statement_, ++column_, value); }
void Statement::put(double value) {
    if (!std::isfinite(value)) fail(ErrorCode::bad_value, "a number that is not finite");
    sqlite3_bind_double(statement_, ++column_, value);
}
void Statement::put(std::string_view text) {
    sqlite3_bind_text64(statement_, ++column_, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}
void Statement::put(Bytes bytes) {
    static const std::uint8_t kNothing = 0;  // a null pointer would bind NULL
    sqlite3_bind_blob64(statement_, ++column_, bytes.empty() ? &kNothing : bytes.data(), bytes.size(),
                        SQLITE_STATIC);
}
void Statement::put_null() { sqlite3_bind_null(statement_, ++column_); }

bool Statement::write() {
    if (failure_) return false;
    if (sqlite3_step(statement_) != SQLITE_DONE)
        failure_ = database_.error(std::string("table ") + table_ + ", row " + std::to_string(row_));
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
    column_ = 0;
    row_++;
    return !failure_;
}

bool Statement::next() {
    if (failure_) return false;
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) {
        column_ = 0;
        row_++;
        return true;
    }
    if (code != SQLITE_DONE)
        failure_ = database_.error(std::string("table ") + table_ + ", row " + std::to_string(row_ + 1));
    return false;
}

int Statement::column_of(const char* name, int type) {
    const int column = column_++;
    if (failure_) return -1;
    const int is = sqlite3_column_type(statement_, column);
    if (is == type || (type == SQLITE_FLOAT && is == SQLITE_INTEGER)) return column;
    fail(ErrorCode::corrupt, std::string("column ") + name + " is of the wrong type");
    return -1;
}

std::int64_t Statement::take_int(const char* name, std::int64_t lowest, std::int64_t highest) {
    const int column = column_of(name, SQLITE_INTEGER);
    if (column < 0) return lowest;
    const std::int64_t value = sqlite3_column_int64(statement_, column);
    if (value >= lowest && value <= highest) return value;
    fail(ErrorCode::bad_value, std::string("column ") + name + " is out of range");
    return lowest;
}
std::uint64_t Statement::take_bits(const char* name) {
    return std::uint64_t(take_int(name, INT64_MIN, INT64_MAX));
}
double Statement::take_double(const char* name, double lowest, double highest) {
    const int column = column_of(name, SQLITE_FLOAT);
    if (column < 0) return lowest;
    const double value = sqlite3_column_double(statement_, column);
    if (value >= lowest && value <= highest) return value;
    fail(ErrorCode::bad_value,
         std::string("column ") + name + (std::isfinite(value) ? " is out of range" : " is not finite"));
    return lowest;
}
float Statement::take_float(const char* name, float lowest, float highest) {
    return float(take_double(name, double(lowest), double(highest)));
}
std::optional<double> Statement::take_optional(const char* name, double lowest, double highest) {
    if (!failure_ && sqlite3_column_type(statement_, column_) == SQLITE_NULL) {
        column_++;
        return std::nullopt;
    }
    return take_double(name, lowest, highest);
}
std::string_view Statement::take_text(const char* name, std::size_t longest) {
    const int column = column_of(name, SQLITE_TEXT);
    if (column < 0) return {};
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    const auto size = std::size_t(sqlite3_column_bytes(statement_, column));
    if (size <= longest && text) return {text, size};
    fail(ErrorCode::too_large, std::string("column ") + name + " is too long");
    return {};
}
Bytes Statement::take_bytes(const char* name) {
    const int column = column_of(name, SQLITE_BLOB);
    if (column < 0) return {};
    const auto* data = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_, column));
    return {data, data ? std::size_t(sqlite3_column_bytes(statement_, column)) : 0};
}

}  // namespace talus::store
