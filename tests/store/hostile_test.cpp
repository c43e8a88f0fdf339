// Files that are no saves, or lie.
#include "tests/store/build_level.h"

#include <sqlite3.h>

#include <random>

namespace talus {
namespace {

ErrorCode refused(const std::string& path, const char* words) {
    const auto loaded = load_level(path);
    EXPECT_FALSE(loaded) << "expected: " << words;
    if (loaded) return ErrorCode::bad_value;
    EXPECT_EQ(loaded.error().message.rfind(path, 0), 0u) << loaded.error().message;
    EXPECT_NE(loaded.error().message.find(words), std::string::npos) << loaded.error().message;
    return loaded.error().code;
}

void run_sql(const std::string& path, const std::string& sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << sql << ": " << message;
    sqlite3_close(db);
}

TEST(StoreHostile, NoSave) {
    const TemporaryFolder folder;
    EXPECT_EQ(refused(folder.file("none"), "No such file"), ErrorCode::not_found);
    write_bytes(folder.file("empty"), {});
    EXPECT_EQ(refused(folder.file("empty"), "no SQLite database"), ErrorCode::bad_format);
    write_bytes(folder.file("text"), std::vector<char>(5000, 'x'));
    EXPECT_EQ(refused(folder.file("text"), "no SQLite database"), ErrorCode::bad_format);
    run_sql(folder.file("other"), "CREATE TABLE level(id)");
    EXPECT_EQ(refused(folder.file("other"), "something else"), ErrorCode::bad_format);

    // Nor is any of these written over.
    const Level level;
    for (const char* name : {"text", "other"}) {
        const auto before = read_bytes(folder.file(name));
        const auto saved = save_level(level, folder.file(name));
        ASSERT_FALSE(saved);
        EXPECT_EQ(saved.error().code, ErrorCode::bad_format) << saved.error().message;
        EXPECT_EQ(read_bytes(folder.file(name)), before);
    }
    EXPECT_FALSE(save_level(level, folder.file("no/such/folder")));
}

TEST(StoreHostile, LyingRows) {
    const TemporaryFolder folder;
    const std::string good = folder.file("good"), bad = folder.file("bad");
    ASSERT_TRUE(save_level(*busy_level(), good));
    struct {
        const char* sql;
        ErrorCode code;
        const char* words;
    } const cases[] = {
        {"PRAGMA user_version=77", ErrorCode::unsupported, "version 77, newer"},
        {"PRAGMA user_version=1", ErrorCode::unsupported, "version 1, older"},
        {"PRAGMA user_version=0", ErrorCode::corrupt, "no version"},
        {"PRAGMA application_id=7", ErrorCode::bad_format, "something else"},
        {"DROP TABLE chunks", ErrorCode::corrupt, "lacks a table"},
        {"DROP TABLE blocks; CREATE VIEW blocks AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 "
         "FROM n) "
         "SELECT i FROM n",
         ErrorCode::corrupt, "\"blocks\" is not as in version "},
        {"CREATE TABLE more(x)", ErrorCode::corrupt, "\"more\" is not as"},
        {"DELETE FROM level", ErrorCode::truncated, "table level"},
        {"UPDATE level SET cell_size=0", ErrorCode::bad_value, "cell_size is out of range"},
        {"UPDATE level SET gravity_y=9e999", ErrorCode::bad_value, "gravity_y is not finite"},
        {"UPDATE level SET gravity_y=NULL", ErrorCode::corrupt, "gravity_y is of the wrong type"},
        {"UPDATE level SET ticks_per_second=0", ErrorCode::bad_value, "ticks_per_second"},
        {"UPDATE level SET structure_mode=77", ErrorCode::bad_value, "structure_mode"},
        {"UPDATE blocks SET density='heavy' WHERE id=2", ErrorCode::corrupt, "table blocks, row 2"},
        {"UPDATE blocks SET density=9e999 WHERE id=2", ErrorCode::bad_value, "density is not finite"},
        {"DELETE FROM blocks WHERE id=1", ErrorCode::corrupt, "a block type is missing"},
        {"DELETE FROM blocks WHERE id=3", ErrorCode::corrupt, "there is no block type 3"},
        {"UPDATE blocks SET boxes=zeroblob(25)", ErrorCode::corrupt, "boxes has a wrong length"},
        {"UPDATE blocks SET boxes=zeroblob(24)", ErrorCode::bad_value, "not inside its cell"},
        {"UPDATE blocks SET boxes=zeroblob(3000000)", ErrorCode::corrupt, "boxes has a wrong length"},
        {"UPDATE blocks SET name=hex(zeroblob(1000000))", ErrorCode::too_large, "name is too long"},
        {"UPDATE groups SET motion=zeroblob(64)", ErrorCode::bad_value, "unit quaternion"},
        {"UPDATE groups SET motion=zeroblob(63)", ErrorCode::corrupt, "motion has a wrong length"},
        {"UPDATE groups SET motion=X'000000000000F07F'||substr(motion,9)", ErrorCode::corrupt, "motion"},
        {"UPDATE groups SET motion=CAST(X'000000000000F07F'||substr(motion,9) AS BLOB)", ErrorCode::bad_value,
         "not finite"},
        {"UPDATE groups SET motion=CAST(X'000000000000E07F'||substr(motion,9) AS BLOB)", ErrorCode::bad_value,
         "position out of range"},
        {"UPDATE groups SET id=4000000000 WHERE id=1", ErrorCode::bad_value, "column id"},
        {"UPDATE groups SET id=4000000 WHERE id=1", ErrorCode::corrupt, "no group 1"},
        {"UPDATE groups SET generation=generation+1 WHERE id=1", ErrorCode::corrupt, "another generation"},
        {"UPDATE groups SET asleep=2", ErrorCode::bad_value, "asleep"},
        {"DELETE FROM groups WHERE id=1", ErrorCode::corrupt, "no group 1"},
        {"DELETE FROM chunks WHERE kind=3", ErrorCode::corrupt, "slot"},
        {"DELETE FROM chunks WHERE kind=4", ErrorCode::corrupt, "neither taken nor free"},
        {"UPDATE structures SET mode=7", ErrorCode::bad_value, "mode"},
        {"UPDATE structures SET check_wanted=2", ErrorCode::bad_value, "check_wanted"},
        {"UPDATE structures SET generation=generation+1", ErrorCode::corrupt, "another generation"},
        {"UPDATE structures SET id=4000000000 WHERE id=1", ErrorCode::bad_value, "column id"},
        {"DELETE FROM structures", ErrorCode::corrupt, "no structure"},
        {"INSERT INTO structures SELECT 900,generation,check_wanted,mode,type FROM structures LIMIT 1",
         ErrorCode::corrupt, "structure 900 has no slot"},
        {"DELETE FROM chunks WHERE kind=7", ErrorCode::corrupt, "structure 1 has no blocks"},
        {"DELETE FROM chunks WHERE kind=8", ErrorCode::corrupt, "more free slots than slots"},
        {"DELETE FROM chunks WHERE kind=9", ErrorCode::corrupt, "neither taken nor free"},
        {"UPDATE chunks SET owner=owner+900 WHERE kind=7", ErrorCode::corrupt, "no structure"},
        {"UPDATE chunks SET owner=1 WHERE kind=8", ErrorCode::corrupt, "owner"},
        {"UPDATE level SET last_region=1", ErrorCode::corrupt, "protected regions out of order"},
        {"UPDATE chunks SET kind=99", ErrorCode::bad_value, "kind"},
        {"UPDATE chunks SET data=zeroblob(3000000)", ErrorCode::corrupt, "column data"},
        {"UPDATE chunks SET data=zeroblob(0)", ErrorCode::corrupt, "column data"},
        {"UPDATE chunks SET data=CAST(substr(data,1,length(data)-5) AS BLOB)", ErrorCode::corrupt,
         "column data"},
        {"UPDATE chunks SET owner=0 WHERE kind=2; UPDATE chunks SET owner=1 WHERE kind=3", ErrorCode::corrupt,
         "owner"},
        {"UPDATE chunks SET id=-id", ErrorCode::bad_value, "column id"},
        {"INSERT INTO chunks SELECT id+1000, kind, owner, data FROM chunks", ErrorCode::corrupt,
         "out of order"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.sql);
        std::filesystem::copy_file(good, bad, std::filesystem::copy_options::overwrite_existing);
        run_sql(bad, c.sql);
        EXPECT_EQ(refused(bad, c.words), c.code);
    }
    EXPECT_TRUE(load_level(good));
}

TEST(StoreHostile, ANewerSaveIsNotWrittenOver) {
    const TemporaryFolder folder;
    const Level level;
    ASSERT_TRUE(save_level(level, folder.file("a")));
    run_sql(folder.file("a"), "PRAGMA user_version=77");
    const auto saved = save_level(level, folder.file("a"));
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().code, ErrorCode::unsupported);
}

TEST(StoreHostile, CutShort) {
    const TemporaryFolder folder;
    const std::string good = folder.file("good"), bad = folder.file("bad");
    ASSERT_TRUE(save_level(*busy_level(), good));
    const auto bytes = read_bytes(good);
    for (std::size_t i = 0; i < 64; i++) {
        auto part = bytes;
        part.resize(bytes.size() * i / 64);
        write_bytes(bad, part);
        EXPECT_FALSE(load_level(bad)) << part.size() << " of " << bytes.size();
    }
}

TEST(StoreHostile, DamagedBytes) {
    const TemporaryFolder folder;
    const std::string good = folder.file("good"), bad = folder.file("bad");
    ASSERT_TRUE(save_level(*busy_level(), good));
    const auto bytes = read_bytes(good);
    std::mt19937 random(11);
    int errors = 0;
    for (int i = 0; i < 300; i++) {
        auto part = bytes;
        for (auto n = 1 + random() % 40; n > 0; n--) part[random() % part.size()] = char(random());
        write_bytes(bad, part);
        const auto loaded = load_level(bad);
        if (!loaded) {
            errors++;
            EXPECT_FALSE(loaded.error().message.empty());
            continue;
        }
        (*loaded)->tick();  // damage that is not noticed gives a level that works
        for (GroupId id : (*loaded)->groups()) EXPECT_TRUE(is_finite((*loaded)->group(id)->pose.position));
    }
    EXPECT_GT(errors, 100);
}

}  // namespace
}  // namespace talus
