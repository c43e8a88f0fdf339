// json_object.h - one JSON object for stdout, keys in the order they are added.
//
// Layer: apps. Keeps nlohmann-json, slow to compile, in one file. Text that is not UTF-8 is mended.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace talus {

class JsonObject {
 public:
    JsonObject();
    ~JsonObject();
    JsonObject& add(const char* key, std::string_view value);
    JsonObject& add(const char* key, const char* value) { return add(key, std::string_view(value)); }
    JsonObject& add(const char* key, std::uint64_t value);
    JsonObject& add(const char* key, double value);  ///< null when not finite
    JsonObject& add(const char* key, std::span<const std::uint64_t> values);
    JsonObject& add(const char* key, std::span<const double> values);
    JsonObject& add(const char* key, const std::map<std::string, std::size_t>& values);
    JsonObject& add_null(const char* key);
    /// On one line.
    std::string text() const;

 private:
    struct Data;
    std::unique_ptr<Data> data_;
};

}  // namespace talus
