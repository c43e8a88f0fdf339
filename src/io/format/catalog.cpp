// The only file of the library that includes nlohmann-json: it takes long to compile.
#include "io/format/blockgame_data.h"
#include "io/format/fail.h"
#include "io/format/file.h"
#include "talus/formats.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cassert>
#include <charconv>
#include <cmath>

namespace talus {

namespace {

using Json = nlohmann::json;

// A block's density is that of its material class in *real* times 775/2600: stone is exactly 775.
constexpr double kBlockgameScale = 775.0 / 2600.0;
constexpr std::string_view kNamespace = "minecraft:";
// Cutting overlapping boxes apart takes the cube of their number; no known block has more than eight.
constexpr std::size_t kMaxBoxes = 16;
constexpr std::size_t kMaxStates = 65536;

/// A shape of the table: boxes with collision, or ("ghost") without.
struct CatalogShape {
    bool ghost = false;
    std::vector<Box> boxes;
};

struct StateProperty {
    std::string name;
    std::vector<std::string> values;
};

struct CatalogEntry {
    Material material;
    std::vector<StateProperty> properties;
    std::vector<std::uint32_t>
        shapes;  ///< for each state, the last property fastest; one when there are none
    std::size_t default_state = 0;
};

/// Thrown and caught in this file only: a place in the JSON and what is wrong there.
struct BadJson {
    std::string place, what;
};

std::string_view plain_name(std::string_view name) {
    if (name.starts_with(kNamespace)) name.remove_prefix(kNamespace.size());
    return name;
}

bool is_air(std::string_view plain) {
    return plain == "air" || plain == "cave_air" || plain == "void_air" || plain == "structure_void";
}

Material scaled_real(const Material& real) {
    Material material = real;
    material.density = float(double(real.density) * kBlockgameScale);
    return material;
}

}  // namespace

struct BlockCatalog::Data {
    std::vector<CatalogShape> shapes{{false, {{{0, 0, 0}, {1, 1, 1}}}}};  // 0: the full cube
    std::map<std::string, CatalogEntry, std::less<>> blocks;              // without "minecraft:"
    std::array<std::string, 256> palette;                                 // .vox entry to block name, or ""
    std::map<std::string, std::string, std::less<>> vox_materials;
};

/// Lays a materials file over a catalog.
struct CatalogBuilder {
    BlockCatalog::Data& data;
    std::size_t first_shape = 0;  // of this file's "shapes"
    std::size_t file_shapes = 0;

    static BlockCatalog empty() {
        BlockCatalog catalog;
        catalog.data_ = std::make_unique<BlockCatalog::Data>();
        return catalog;
    }
    static BlockCatalog copy_of(const BlockCatalog& other) {
        BlockCatalog catalog;
        catalog.data_ = std::make_unique<BlockCatalog::Data>(*other.data_);
        return catalog;
    }

    static const Json& object(const Json& json, const std::string& place) {
        if (!json.is_object()) throw BadJson{place, "should be an object { }"};
        return json;
    }
    static const Json& array(const Json& json, const std::string& place) {
        if (!json.is_array()) throw BadJson{place, "should be a list [ ]"};
        return json;
    }
    static std::string text(const Json& json, const std::string& place) {
        if (!json.is_string()) throw BadJson{place, "should be a text in quotes"};
        return json.get<std::string>();
    }
    static float number(const Json& json, const std::string& place, double low, double high) {
        if (!json.is_number()) throw BadJson{place, "should be a number"};
        const double value = json.get<double>();
        if (!(value >= low && value <= high)) {
            const auto whole = [](double v) { return std::to_string(std::int64_t(v)); };
            throw BadJson{place,
                          "is " + json.dump() + ", but should lie from " + whole(low) + " to " + whole(high)};
        }
        return float(value);
    }
    static bool boolean(const Json& json, const std::string& place) {
        if (!json.is_boolean()) throw BadJson{place, "should be true or false"};
        return json.get<bool>();
    }
    static std::uint32_t color(const Json& json, const std::string& place) {
        const std::string value = text(json, place);
        std::uint32_t rgb = 0;
        const char* const end = value.data() + value.size();
        if (value.size() == 7 && value[0] == '#') {
            const auto [stop, error] = std::from_chars(value.data() + 1, end, rgb, 16);
            if (error == std::errc() && stop == end) return rgb;
        }
        throw BadJson{place, "should be a colour such as \"#8a8a8a\""};
    }

    static std::vector<Box> boxes(const Json& json, const std::string& place) {
        std::vector<Box> out;
        if (array(json, place).size() > kMaxBoxes)
            throw BadJson{place, "has more than " + std::to_string(kMaxBoxes) + " boxes"};
        for (std::size_t i = 0; i < json.size(); i++) {
            const std::string at = place + "[" + std::to_string(i) + "]";
            if (array(json[i], at).size() != 6)
                throw BadJson{at, "should have six numbers: x0, y0, z0, x1, y1, z1"};
            float v[6];
            for (std::size_t k = 0; k < 6; k++)
                v[k] = number(json[i][k], at + "[" + std::to_string(k) + "]", 0, 1);
            for (std::size_t k = 0; k < 3; k++)
                if (!(v[k] < v[k + 3]))
                    throw BadJson{at, "has no inside: its minimum is not below its maximum"};
            out.push_back({{v[0], v[1], v[2]}, {v[3], v[4], v[5]}});
        }
        return out;
    }
    static CatalogShape shape(const Json& json, const std::string& place) {
        if (!json.is_object()) return {false, boxes(json, place)};
        for (const auto& [key, value] : json.items())
            if (key != "ghost") throw BadJson{place + "." + key, "is not a key of a shape"};
        if (!json.contains("ghost"))
            throw BadJson{place, "should have the key \"ghost\" or be a list of boxes"};
        return {true, boxes(json["ghost"], place + ".ghost")};
    }
    /// Where a shape is used: a number of this file's "shapes", or a shape itself.
    std::uint32_t shape_use(const Json& json, const std::string& place) {
        if (json.is_number()) {
            const float index = number(json, place, 0, double(data.shapes.size()));
            if (!json.is_number_integer() || std::size_t(index) >= file_shapes)
                throw BadJson{place, "is not a number of the list \"shapes\", which has " +
                                         std::to_string(file_shapes) + " entries"};
            return std::uint32_t(first_shape + std::size_t(index));
        }
        data.shapes.push_back(shape(json, place));
        return std::uint32_t(data.shapes.size() - 1);
    }

    void states(const Json& json, const std::string& place, CatalogEntry& entry) {
        for (const char* key : {"states", "state_shapes"})
            if (!json.contains(key)) throw BadJson{place, std::string("misses the key \"") + key + "\""};
        const Json& list = array(json["states"], place + ".states");
        entry.properties.clear();
        std::size_t count = 1;
        for (std::size_t i = 0; i < list.size(); i++) {
            const std::string at = place + ".states[" + std::to_string(i) + "]";
            if (array(list[i], at).size() != 2) throw BadJson{at, "should be [name, [values]]"};
            StateProperty property{text(list[i][0], at + "[0]"), {}};
            const Json& values = array(list[i][1], at + "[1]");
            if (values.empty()) throw BadJson{at + "[1]", "has no values"};
            for (std::size_t k = 0; k < values.size(); k++)
                property.values.push_back(text(values[k], at + "[1][" + std::to_string(k) + "]"));
            count *= values.size();
            if (count > kMaxStates)
                throw BadJson{at, "makes more than " + std::to_string(kMaxStates) + " states"};
            entry.properties.push_back(std::move(property));
        }
        const Json& shapes = array(json["state_shapes"], place + ".state_shapes");
        if (shapes.size() != count)
            throw BadJson{place + ".state_shapes", "has " + std::to_string(shapes.size()) + " entries for " +
                                                       std::to_string(count) + " states"};
        entry.shapes.clear();
        for (std::size_t i = 0; i < count; i++)
            entry.shapes.push_back(shape_use(shapes[i], place + ".state_shapes[" + std::to_string(i) + "]"));
        entry.default_state = 0;
        if (json.contains("default_state"))
            entry.default_state =
                std::size_t(number(json["default_state"], place + ".default_state", 0, double(count - 1)));
    }

    void block(const std::string& name, const Json& json, const std::string& place) {
        const std::string key(plain_name(name));
        if (key.empty() || key.find('[') != std::string::npos || is_air(key))
            throw BadJson{place,
                          "is not a block name that can be given properties (states go into \"states\")"};
        object(json, place);
        CatalogEntry entry;
        if (const auto old = data.blocks.find(key); old != data.blocks.end()) {
            entry = old->second;
        } else {
            entry.material = blockgame_stone();
            entry.shapes = {0};
        }
        if (json.contains("material")) {
            const std::string real_name = text(json["material"], place + ".material");
            const Material* real = find_real_material(real_name);
            if (!real) {
                std::string known;
                for (const Material& m : real_materials()) known += (known.empty() ? "" : ", ") + m.name;
                throw BadJson{place + ".material", "is " + in_quotes(real_name) + ", not one of: " + known};
            }
            entry.material = scaled_real(*real);
        }
        Material& m = entry.material;
        m.name = key;
        for (const auto& [k, value] : json.items()) {
            const std::string at = place + "." + k;
            if (k == "material" || k == "states" || k == "state_shapes" || k == "default_state")
                continue;
            else if (k == "density")
                m.density = number(value, at, 0, 1e6);
            else if (k == "hardness")
                m.hardness = value.is_null() ? -1 : number(value, at, -1, 1e6);
            else if (k == "blast_resistance")
                m.blast_resistance = number(value, at, 0, 1e9);
            else if (k == "friction")
                m.friction = number(value, at, 0, 10);
            else if (k == "stiffness")
                m.stiffness = number(value, at, 1, 1e13);
            else if (k == "tension")
                m.tension = number(value, at, 0, 1e12);
            else if (k == "compression")
                m.compression = number(value, at, 1, 1e12);
            else if (k == "cohesion")
                m.cohesion = number(value, at, 0, 1e12);
            else if (k == "restitution")
                m.restitution = number(value, at, 0, 1);
            else if (k == "flammability")
                m.flammability = number(value, at, 0, 1);
            else if (k == "solid")
                m.solid = boolean(value, at);
            else if (k == "soft")
                m.soft = boolean(value, at);
            else if (k == "floats")
                m.floats = boolean(value, at);
            else if (k == "color")
                m.color = color(value, at);
            else if (k == "shape") {
                entry.properties.clear();
                entry.shapes = {shape_use(value, at)};
                entry.default_state = 0;
            } else
                throw BadJson{at, "is not a key of a block"};
        }
        if (json.contains("states") || json.contains("state_shapes") || json.contains("default_state")) {
            if (json.contains("shape")) throw BadJson{place, "has both \"shape\" and \"states\""};
            states(json, place, entry);
        }
        if (m.solid && !(m.density > 0)) throw BadJson{place + ".density", "is 0, but the block is solid"};
        data.blocks.insert_or_assign(key, std::move(entry));
    }

    /// A block name with or without a state, or air.
    std::string block_name(const Json& json, const std::string& place) {
        const std::string name = text(json, place);
        const std::string_view plain = plain_name(std::string_view(name).substr(0, name.find('[')));
        if (!is_air(plain) && data.blocks.find(plain) == data.blocks.end())
            throw BadJson{place, "is " + in_quotes(name) + ", a block that is not known"};
        return name;
    }

    /// "7" or "7-12".
    void palette(const std::string& key, const Json& json, const std::string& place) {
        const char *at = key.data(), *const end = at + key.size();
        int first = 0, last = 0;
        auto parsed = std::from_chars(at, end, first);
        last = first;
        if (parsed.ec == std::errc() && parsed.ptr != end && *parsed.ptr == '-')
            parsed = std::from_chars(parsed.ptr + 1, end, last);
        if (parsed.ec != std::errc() || parsed.ptr != end || first < 1 || last > 255 || first > last)
            throw BadJson{place, "should be a palette entry from 1 to 255, or a range such as \"7-12\""};
        const std::string name = block_name(json, place);
        for (int i = first; i <= last; i++) data.palette[std::size_t(i)] = name;
    }

    void file(const Json& json) {
        if (json.contains("shapes")) {
            const Json& list = array(json["shapes"], "shapes");
            first_shape = data.shapes.size();
            file_shapes = list.size();
            for (std::size_t i = 0; i < list.size(); i++)
                data.shapes.push_back(shape(list[i], "shapes[" + std::to_string(i) + "]"));
        }
        if (json.contains("blocks"))
            for (const auto& [name, value] : object(json["blocks"], "blocks").items())
                block(name, value, "blocks." + name);
        if (json.contains("palette"))
            for (const auto& [key, value] : object(json["palette"], "palette").items())
                palette(key, value, "palette." + key);
        if (json.contains("vox_materials"))
            for (const auto& [key, value] : object(json["vox_materials"], "vox_materials").items())
                data.vox_materials.insert_or_assign(key, block_name(value, "vox_materials." + key));
        for (const auto& [key, value] : json.items())
            if (key != "about" && key != "base" && key != "shapes" && key != "blocks" && key != "palette" &&
                key != "vox_materials")
                throw BadJson{key, "is not a key of a materials file"};
    }

    static Result<BlockCatalog> build(std::string_view text, std::string_view where) try {
        if (text.size() > kMaxMaterialsBytes)
            return fail(ErrorCode::too_large, where,
                        "larger than the limit of " + std::to_string(kMaxMaterialsBytes) + " bytes");
        const Json json = Json::parse(text);
        if (!json.is_object()) throw BadJson{"the file", "should be an object { }"};
        std::string base = "blockgame";
        if (json.contains("base")) base = CatalogBuilder::text(json["base"], "base");
        if (base != "blockgame" && base != "empty")
            throw BadJson{"base", "is " + in_quotes(base) + ", but should be \"blockgame\" or \"empty\""};
        BlockCatalog catalog = base == "empty" ? empty() : copy_of(BlockCatalog::blockgame());
        CatalogBuilder{*catalog.data_}.file(json);
        return catalog;
    } catch (const BadJson& bad) {
        return fail(ErrorCode::bad_value, where, in_quotes(bad.place) + " " + bad.what);
    } catch (const Json::parse_error& error) {
        std::size_t line = 1;
        const std::size_t byte = error.byte > 0 ? error.byte - 1 : 0;
        for (std::size_t i = 0; i < byte && i < text.size(); i++) line += text[i] == '\n';
        return fail(ErrorCode::bad_format, where,
                    "not valid JSON at byte " + std::to_string(byte) + ", line " + std::to_string(line));
    } catch (const Json::exception& error) {
        return fail(ErrorCode::bad_value, where, error.what());
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::too_large, where, "out of memory");
    }
};

BlockCatalog::BlockCatalog() = default;
BlockCatalog::BlockCatalog(BlockCatalog&&) noexcept = default;
BlockCatalog& BlockCatalog::operator=(BlockCatalog&&) noexcept = default;
BlockCatalog::~BlockCatalog() = default;

const BlockCatalog& BlockCatalog::blockgame() {
    static const BlockCatalog catalog = [] {
        auto built = CatalogBuilder::build(blockgame_json(), "data/blockgame.json");
        assert(built.ok());  // the table is ours: tests/io/catalog_test.cpp reads it
        return std::move(*built);
    }();
    return catalog;
}

Result<BlockCatalog> BlockCatalog::from_json(std::string_view json, std::string_view where) {
    return CatalogBuilder::build(json, where);
}

Result<BlockCatalog> BlockCatalog::read(const std::string& path) {
    const auto bytes = read_file(path, kMaxMaterialsBytes);
    if (!bytes) return bytes.error();
    return from_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, path);
}

std::size_t BlockCatalog::size() const { return data_->blocks.size(); }

BlockCatalog::Found BlockCatalog::find(std::string_view name) const {
    Found found;
    const std::size_t bracket = name.find('[');
    const std::string_view base = name.substr(0, bracket), plain = plain_name(base);
    if (is_air(plain)) {
        found.known = found.air = true;
        return found;
    }
    if (base.find(':') == std::string_view::npos) found.type.name = kNamespace;
    found.type.name += name;
    const auto it = data_->blocks.find(plain);
    if (it == data_->blocks.end()) {
        found.type.material = blockgame_stone();
        return found;
    }
    found.known = true;
    const CatalogEntry& entry = it->second;
    found.type.material = entry.material;

    std::size_t state = entry.default_state;
    if (bracket != std::string_view::npos) {
        std::string_view rest = name.substr(bracket + 1);
        if (rest.ends_with(']')) rest.remove_suffix(1);
        while (!rest.empty()) {
            const std::size_t comma = rest.find(',');
            const std::string_view pair = rest.substr(0, comma);
            rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
            const std::size_t equals = pair.find('=');
            if (equals == std::string_view::npos) continue;
            std::size_t stride = 1;
            for (std::size_t i = entry.properties.size(); i-- > 0;) {
                const StateProperty& property = entry.properties[i];
                const std::size_t n = property.values.size();
                if (property.name == pair.substr(0, equals))
                    for (std::size_t v = 0; v < n; v++)
                        if (property.values[v] == pair.substr(equals + 1))
                            state = state - state / stride % n * stride + v * stride;
                stride *= n;
            }
        }
    }
    const CatalogShape& shape = data_->shapes[entry.shapes[state]];
    found.type.shape = BlockShape(shape.boxes);
    if (shape.ghost || !entry.material.solid) {
        // Drawn and hit by rays, but nothing to touch, and nothing to carry.
        found.type.material.solid = false;
        found.type.material.density = 0;
    }
    return found;
}

BlockCatalog::Found BlockCatalog::palette_entry(int index, std::uint32_t color,
                                                std::string_view vox_material) const {
    std::string_view name;
    if (index >= 0 && index < int(data_->palette.size())) name = data_->palette[std::size_t(index)];
    if (name.empty()) {
        const auto it = data_->vox_materials.find(vox_material);
        if (it != data_->vox_materials.end()) name = it->second;
    }
    Found found;
    if (!name.empty()) {
        found = find(name);
    } else {
        found.known = true;
        found.type = {std::string(kNamespace) + "stone", blockgame_stone(), BlockShape()};
    }
    found.type.material.color = color;
    return found;
}

}  // namespace talus
