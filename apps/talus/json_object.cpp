#include "json_object.h"

#include <nlohmann/json.hpp>

namespace talus {

using OrderedJson = nlohmann::ordered_json;

struct JsonObject::Data {
    OrderedJson json = OrderedJson::object();
};

JsonObject::JsonObject() : data_(std::make_unique<Data>()) {}
JsonObject::~JsonObject() = default;

JsonObject& JsonObject::add(const char* key, std::string_view value) {
    data_->json[key] = std::string(value);
    return *this;
}
JsonObject& JsonObject::add(const char* key, std::uint64_t value) {
    data_->json[key] = value;
    return *this;
}
JsonObject& JsonObject::add(const char* key, double value) {
    data_->json[key] = value;
    return *this;
}
JsonObject& JsonObject::add(const char* key, std::span<const std::uint64_t> values) {
    OrderedJson& list = data_->json[key] = OrderedJson::array();
    for (const std::uint64_t value : values) list.push_back(value);
    return *this;
}
JsonObject& JsonObject::add(const char* key, std::span<const double> values) {
    OrderedJson& list = data_->json[key] = OrderedJson::array();
    for (const double value : values) list.push_back(value);
    return *this;
}
JsonObject& JsonObject::add(const char* key, const std::map<std::string, std::size_t>& values) {
    OrderedJson& object = data_->json[key] = OrderedJson::object();
    for (const auto& [name, count] : values) object[name] = count;
    return *this;
}
JsonObject& JsonObject::add_null(const char* key) {
    data_->json[key] = nullptr;
    return *this;
}

std::string JsonObject::text() const {
    return data_->json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace talus
