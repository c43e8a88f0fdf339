#include "io/format/nbt.h"

#include "io/format/fail.h"
#include "talus/formats.h"

#include <cassert>

namespace talus {

namespace {

const char* type_name(NbtType type) {
    switch (type) {
        case NbtType::end:
            return "an end";
        case NbtType::int8:
            return "a byte";
        case NbtType::int16:
            return "a short";
        case NbtType::int32:
            return "an int";
        case NbtType::int64:
            return "a long";
        case NbtType::float32:
            return "a float";
        case NbtType::float64:
            return "a double";
        case NbtType::byte_array:
            return "a byte array";
        case NbtType::string:
            return "a string";
        case NbtType::list:
            return "a list";
        case NbtType::compound:
            return "a compound";
        case NbtType::int_array:
            return "an int array";
        case NbtType::long_array:
            return "a long array";
    }
    return "of an unknown type";
}

/// Bytes of a payload of fixed size, or 0.
std::size_t fixed_size(NbtType type) {
    switch (type) {
        case NbtType::int8:
            return 1;
        case NbtType::int16:
            return 2;
        case NbtType::int32:
        case NbtType::float32:
            return 4;
        case NbtType::int64:
        case NbtType::float64:
            return 8;
        default:
            return 0;
    }
}

}  // namespace

void NbtReader::fail_here(ErrorCode code, std::string_view what) {
    if (failed_) return;
    failed_ = true;
    std::string text = "tag ";
    std::string path;
    for (const std::string_view part : path_) {
        path += part;
        path += '/';
    }
    path += current_;
    text += path.size() > 80 ? in_quotes(path.substr(path.size() - 60)) + " (end of a long path)"
                             : in_quotes(path);
    text += ": ";
    text += what;
    text += ", at byte " + std::to_string(at_) + " of the (unpacked) data";
    error_ = fail(code, where_, text);
}

bool NbtReader::take(std::size_t count, std::span<const std::uint8_t>& out) {
    if (failed_) return false;
    if (count > bytes_.size() - at_) {
        fail_here(ErrorCode::truncated, "needs " + std::to_string(count) + " bytes where " +
                                            std::to_string(bytes_.size() - at_) + " are left");
        return false;
    }
    out = bytes_.subspan(at_, count);
    at_ += count;
    return true;
}

std::uint64_t NbtReader::number(int width) {
    std::span<const std::uint8_t> raw;
    std::uint64_t value = 0;
    if (take(std::size_t(width), raw))
        for (const std::uint8_t byte : raw) value = value << 8 | byte;
    return value;
}

bool NbtReader::begin(NbtTag& root) {
    const auto type = std::uint8_t(number(1));
    if (failed_) return false;
    if (type != std::uint8_t(NbtType::compound)) {
        at_ = 0;
        fail_here(ErrorCode::bad_format, "not NBT data: the root is not a compound");
        return false;
    }
    std::span<const std::uint8_t> name;
    if (!take(number(2), name)) return false;
    root = {NbtType::compound, {reinterpret_cast<const char*>(name.data()), name.size()}};
    if (!root.name.empty()) path_.push_back(root.name);
    return true;
}

bool NbtReader::next(NbtTag& tag) {
    current_ = {};
    const auto type = std::uint8_t(number(1));
    if (failed_) return false;
    if (type == 0) {
        if (!path_.empty()) path_.pop_back();
        return false;
    }
    if (type > std::uint8_t(NbtType::long_array)) {
        at_--;
        fail_here(ErrorCode::corrupt, "holds a tag of unknown type " + std::to_string(type));
        return false;
    }
    std::span<const std::uint8_t> name;
    if (!take(number(2), name)) return false;
    tag = {NbtType(type), {reinterpret_cast<const char*>(name.data()), name.size()}};
    current_ = tag.name;
    return true;
}

bool NbtReader::enter(const NbtTag& tag) {
    if (!expect(tag, NbtType::compound, "a compound")) return false;
    if (path_.size() >= std::size_t(kMaxNbtDepth)) {
        fail_here(ErrorCode::too_large, "nested too deep");
        return false;
    }
    path_.push_back(tag.name);
    current_ = {};
    return true;
}

bool NbtReader::expect(const NbtTag& tag, NbtType type, std::string_view what) {
    if (failed_) return false;
    if (tag.type == type) return true;
    current_ = tag.name;
    fail_here(ErrorCode::corrupt,
              "should be " + std::string(what) + " but is " + std::string(type_name(tag.type)));
    return false;
}

void NbtReader::skip(const NbtTag& tag) {
    if (!failed_) skip_payload(tag.type, int(path_.size()));
}

void NbtReader::skip_payload(NbtType type, int depth) {
    std::span<const std::uint8_t> ignored;
    if (const std::size_t size = fixed_size(type)) {
        take(size, ignored);
        return;
    }
    if (depth > kMaxNbtDepth) {
        fail_here(ErrorCode::too_large, "nested deeper than " + std::to_string(kMaxNbtDepth));
        return;
    }
    switch (type) {
        case NbtType::string:
            take(number(2), ignored);
            return;
        case NbtType::byte_array:
        case NbtType::int_array:
        case NbtType::long_array: {
            const auto count = std::int32_t(number(4));
            if (failed_) return;
            if (count < 0) {
                fail_here(ErrorCode::corrupt, "array of " + std::to_string(count) + " entries");
                return;
            }
            const std::size_t width = type == NbtType::byte_array ? 1 : type == NbtType::int_array ? 4 : 8;
            take(std::size_t(count) * width, ignored);
            return;
        }
        case NbtType::list: {
            const auto element = std::uint8_t(number(1));
            const auto count = std::int32_t(number(4));
            if (failed_ || count <= 0) return;
            if (element == 0 || element > std::uint8_t(NbtType::long_array)) {
                fail_here(ErrorCode::corrupt,
                          "list of " + std::to_string(count) + " tags of type " + std::to_string(element));
                return;
            }
            if (const std::size_t size = fixed_size(NbtType(element))) {
                take(std::size_t(count) * size, ignored);
                return;
            }
            for (std::int32_t i = 0; i < count && !failed_; i++) skip_payload(NbtType(element), depth + 1);
            return;
        }
        case NbtType::compound:
            for (;;) {
                const auto child = std::uint8_t(number(1));
                if (failed_ || child == 0) return;
                if (child > std::uint8_t(NbtType::long_array)) {
                    at_--;
                    fail_here(ErrorCode::corrupt, "holds a tag of unknown type " + std::to_string(child));
                    return;
                }
                if (!take(number(2), ignored)) return;
                skip_payload(NbtType(child), depth + 1);
            }
        default:
            return;
    }
}

std::int64_t NbtReader::integer(const NbtTag& tag) {
    switch (tag.type) {
        case NbtType::int8:
            return std::int8_t(number(1));
        case NbtType::int16:
            return std::int16_t(number(2));
        case NbtType::int32:
            return std::int32_t(number(4));
        case NbtType::int64:
            return std::int64_t(number(8));
        default:
            expect(tag, NbtType::int32, "a whole number");
            return 0;
    }
}

std::string_view NbtReader::string(const NbtTag& tag) {
    std::span<const std::uint8_t> raw;
    if (!expect(tag, NbtType::string, "a string") || !take(number(2), raw)) return {};
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
}

std::span<const std::uint8_t> NbtReader::byte_array(const NbtTag& tag) {
    if (!expect(tag, NbtType::byte_array, "a byte array")) return {};
    const auto count = std::int32_t(number(4));
    std::span<const std::uint8_t> raw;
    if (count < 0) {
        fail_here(ErrorCode::corrupt, "array of " + std::to_string(count) + " entries");
        return {};
    }
    if (!take(std::size_t(count), raw)) return {};
    return raw;
}

void NbtWriter::number(std::uint64_t value, int width) {
    for (int i = width - 1; i >= 0; i--) bytes_.push_back(std::uint8_t(value >> (8 * i)));
}

void NbtWriter::header(NbtType type, std::string_view name) {
    assert(name.size() <= 65535);
    bytes_.push_back(std::uint8_t(type));
    number(name.size(), 2);
    bytes_.insert(bytes_.end(), name.begin(), name.end());
}

void NbtWriter::compound(std::string_view name) { header(NbtType::compound, name); }
void NbtWriter::end() { bytes_.push_back(0); }
void NbtWriter::int16(std::string_view name, std::int16_t value) {
    header(NbtType::int16, name);
    number(std::uint64_t(value), 2);
}
void NbtWriter::int32(std::string_view name, std::int32_t value) {
    header(NbtType::int32, name);
    number(std::uint64_t(value), 4);
}
void NbtWriter::byte_array(std::string_view name, std::span<const std::uint8_t> value) {
    header(NbtType::byte_array, name);
    number(value.size(), 4);
    bytes_.insert(bytes_.end(), value.begin(), value.end());
}

}  // namespace talus
