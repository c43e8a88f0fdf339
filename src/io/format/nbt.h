// nbt.h - named binary tags, big endian: a pull reader over bytes in memory, and a writer.
//
// Layer: io/format. The reader allocates nothing but its path: names, strings and byte arrays are views into
// the bytes, so that a lying length costs nothing. It keeps the first error; every read after that fails.
//
//     NbtReader in(bytes, "file.schem");
//     NbtTag tag;
//     if (in.begin(tag)) {           // the root compound is open
//         while (in.next(tag)) {     // false at its end and on error
//             if (tag.name == "Width") width = in.integer(tag);
//             else if (tag.name == "Palette" && in.enter(tag)) { while (in.next(tag)) ...; }
//             else in.skip(tag);     // each tag is read, entered or skipped exactly once
//         }
//     }
//     if (in.failed()) return in.error();
//
// Source: the NBT format as described on the Minecraft wiki (docs/formats/schem.md has what we use).
// Tests: tests/io/nbt_test.cpp
#pragma once

#include "talus/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace talus {

enum class NbtType : std::uint8_t {
    end,
    int8,
    int16,
    int32,
    int64,
    float32,
    float64,
    byte_array,
    string,
    list,
    compound,
    int_array,
    long_array,
};

struct NbtTag {
    NbtType type = NbtType::end;
    std::string_view name;
};

class NbtReader {
 public:
    NbtReader(std::span<const std::uint8_t> bytes, std::string_view where) : bytes_(bytes), where_(where) {}

    /// Opens the root, which must be a compound.
    bool begin(NbtTag& root);
    /// The next tag of the open compound. False when it ended, which closes it, and on error.
    bool next(NbtTag& tag);
    /// Opens a compound; error when the tag is something else.
    bool enter(const NbtTag& tag);
    void skip(const NbtTag& tag);

    /// A whole number of 8 to 64 bits; error for another type.
    std::int64_t integer(const NbtTag& tag);
    std::string_view string(const NbtTag& tag);
    std::span<const std::uint8_t> byte_array(const NbtTag& tag);

    bool failed() const { return failed_; }
    const Error& error() const { return error_; }
    /// Sets the error, unless there is one, naming the tag being read and the byte.
    void fail_here(ErrorCode code, std::string_view what);
    std::size_t offset() const { return at_; }

 private:
    bool take(std::size_t count, std::span<const std::uint8_t>& out);
    std::uint64_t number(int width);
    void skip_payload(NbtType type, int depth);
    bool expect(const NbtTag& tag, NbtType type, std::string_view what);

    std::span<const std::uint8_t> bytes_;
    std::string where_;
    std::size_t at_ = 0;
    std::vector<std::string_view> path_;  // open compounds
    std::string_view current_;            // tag being read
    bool failed_ = false;
    Error error_;
};

class NbtWriter {
 public:
    /// Everything up to the matching end() goes into this compound.
    void compound(std::string_view name);
    void end();
    void int16(std::string_view name, std::int16_t value);
    void int32(std::string_view name, std::int32_t value);
    void byte_array(std::string_view name, std::span<const std::uint8_t> value);
    const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
    void header(NbtType type, std::string_view name);
    void number(std::uint64_t value, int width);
    std::vector<std::uint8_t> bytes_;
};

}  // namespace talus
