#include "talus/turn.h"

#include <array>
#include <charconv>
#include <string>

namespace talus {

namespace {

struct Direction {
    std::string_view name;
    Cell cell;
};
constexpr Direction kDirections[] = {{"north", {0, 0, -1}}, {"south", {0, 0, 1}}, {"west", {-1, 0, 0}},
                                     {"east", {1, 0, 0}},   {"up", {0, 1, 0}},    {"down", {0, -1, 0}}};

std::optional<Cell> direction_of(std::string_view name) {
    for (const Direction& d : kDirections)
        if (d.name == name) return d.cell;
    return std::nullopt;
}
std::string_view name_of(Cell direction) {
    for (const Direction& d : kDirections)
        if (d.cell == direction) return d.name;
    return {};
}

struct Property {
    std::string key, value;
};
/// "id[key=value,...]" in its parts.
struct State {
    std::string id;
    std::vector<Property> properties;

    std::string* find(std::string_view key) {
        for (Property& p : properties)
            if (p.key == key) return &p.value;
        return nullptr;
    }
};

State parse(std::string_view name) {
    State out;
    const std::size_t open = name.find('[');
    out.id = name.substr(0, open);
    if (open == std::string_view::npos || name.back() != ']') return out;
    std::string_view rest = name.substr(open + 1, name.size() - open - 2);
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        const std::string_view item = rest.substr(0, comma);
        const std::size_t equals = item.find('=');
        Property property{std::string(item.substr(0, equals)), {}};
        if (equals != std::string_view::npos) property.value = item.substr(equals + 1);
        out.properties.push_back(std::move(property));
        rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    }
    return out;
}

std::string to_name(const State& state) {
    std::string out = state.id;
    for (std::size_t i = 0; i < state.properties.size(); i++) {
        out += i == 0 ? '[' : ',';
        out += state.properties[i].key;
        if (state.properties[i].value.empty()) continue;
        out += '=';
        out += state.properties[i].value;
    }
    if (!state.properties.empty()) out += ']';
    return out;
}

/// Each direction in "north_south", "ascending_east", "up_north"; other words stay.
std::string turn_words(std::string_view value, const GridTurn& turn) {
    std::string words[2];
    const std::size_t cut = value.find('_');
    words[0] = value.substr(0, cut);
    if (cut != std::string_view::npos) words[1] = value.substr(cut + 1);
    bool both = true;
    for (std::string& w : words) {
        const auto d = direction_of(w);
        both = both && d && d->y == 0;
        if (d) w = name_of(turn(*d));
    }
    // Of two directions, north or south come first, else east.
    const auto late = [](const std::string& w) {
        return w == "north" || w == "south" ? 0 : w == "east" ? 1 : 2;
    };
    if (both && late(words[1]) < late(words[0])) std::swap(words[0], words[1]);
    if (words[0] == "south" && words[1] == "north") std::swap(words[0], words[1]);
    if (cut == std::string_view::npos) return words[0];
    words[0] += '_';
    words[0] += words[1];
    return words[0];
}

/// Quarter turns about +y that a turn makes; nullopt when it tips.
std::optional<int> quarter_turns(const GridTurn& turn) {
    if (!(turn.y == Cell{0, 1, 0})) return std::nullopt;
    if (turn.x == Cell{1, 0, 0}) return 0;
    if (turn.x == Cell{0, 0, -1}) return 1;
    return turn.x == Cell{-1, 0, 0} ? 2 : 3;
}

}  // namespace

GridTurn nearest_turn(Quat rotation, float* cosine) {
    const Mat3 m = to_matrix(normalized(rotation));
    Cell images[3];
    bool taken[3] = {};
    float least = 1;
    // The two clearest axes, then the third by the right-hand rule.
    int order[3] = {0, 1, 2};
    float best[3];
    for (int j = 0; j < 3; j++) {
        const Vec3 c = m.column(j);
        best[j] = 0;
        for (int k = 0; k < 3; k++) best[j] = std::fabs(c[k]) > best[j] ? std::fabs(c[k]) : best[j];
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (best[order[j]] < best[order[j + 1]]) std::swap(order[j], order[j + 1]);
    for (int n = 0; n < 2; n++) {
        const int j = order[n];
        const Vec3 c = m.column(j);
        int at = taken[0] ? 1 : 0;
        for (int k = at + 1; k < 3; k++)
            if (!taken[k] && std::fabs(c[k]) > std::fabs(c[at])) at = k;
        taken[at] = true;
        const int sign = c[at] < 0 ? -1 : 1;
        images[j] = {at == 0 ? sign : 0, at == 1 ? sign : 0, at == 2 ? sign : 0};
        least = std::fabs(c[at]) < least ? std::fabs(c[at]) : least;
    }
    const int last = order[2];
    const Cell a = images[(last + 1) % 3], b = images[(last + 2) % 3];
    images[last] = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    const Vec3 c = m.column(last);
    const float along =
        c.x * float(images[last].x) + c.y * float(images[last].y) + c.z * float(images[last].z);
    if (cosine) *cosine = along < least ? along : least;
    return {images[0], images[1], images[2]};
}

std::optional<BlockType> turned(const BlockType& type, const GridTurn& turn) {
    if (turn == GridTurn{}) return type;
    State state = parse(type.name);
    const std::optional<int> quarters = quarter_turns(turn);
    if (!quarters) {
        // On its side: only what looks the same from everywhere, or says its axis alone.
        if (!type.material.solid) return std::nullopt;
        for (const Property& p : state.properties)
            if (p.key != "axis") return std::nullopt;
    }
    std::array<std::string, 4> sides;
    std::array<bool, 4> has_side{};
    for (Property& p : state.properties) {
        if (p.key == "facing") {
            if (const auto d = direction_of(p.value)) p.value = name_of(turn(*d));
        } else if (p.key == "axis") {
            const Cell along = turn(p.value == "x"   ? Cell{1, 0, 0}
                                    : p.value == "y" ? Cell{0, 1, 0}
                                                     : Cell{0, 0, 1});
            p.value.assign(1, along.x ? 'x' : along.y ? 'y' : 'z');
        } else if (p.key == "rotation") {
            int value = 0;
            const auto [end, error] = std::from_chars(p.value.data(), p.value.data() + p.value.size(), value);
            if (error == std::errc() && quarters) p.value = std::to_string((value + 16 - 4 * *quarters) & 15);
        } else if (p.key == "shape" || p.key == "orientation") {
            p.value = turn_words(p.value, turn);
        } else {
            for (std::size_t i = 0; i < 4; i++)
                if (p.key == kDirections[i].name) {
                    const Cell to = turn(kDirections[i].cell);
                    for (std::size_t k = 0; k < 4; k++)
                        if (kDirections[k].cell == to) {
                            sides[k] = p.value;
                            has_side[k] = true;
                        }
                }
        }
    }
    for (std::size_t k = 0; k < 4; k++)
        if (std::string* value = has_side[k] ? state.find(kDirections[k].name) : nullptr) *value = sides[k];

    BlockType out = type;
    out.name = to_name(state);
    std::vector<Box> boxes;
    for (const Box& b : type.shape.boxes()) {
        float lo[3], hi[3];
        const Cell rows[3] = {
            {turn.x.x, turn.y.x, turn.z.x}, {turn.x.y, turn.y.y, turn.z.y}, {turn.x.z, turn.y.z, turn.z.z}};
        for (int k = 0; k < 3; k++) {
            const int from = rows[k].x ? 0 : rows[k].y ? 1 : 2;
            const bool flipped = rows[k].x + rows[k].y + rows[k].z < 0;
            lo[k] = flipped ? 1 - b.max[from] : b.min[from];
            hi[k] = flipped ? 1 - b.min[from] : b.max[from];
        }
        boxes.push_back({{lo[0], lo[1], lo[2]}, {hi[0], hi[1], hi[2]}});
    }
    out.shape = BlockShape(boxes);
    return out;
}

Cell fixed_to(const BlockType& type) {
    State state = parse(type.name);
    const std::string* facing = state.find("facing");
    const std::string* face = state.find("face");
    const std::string* hanging = state.find("hanging");
    if (face && *face == "floor") return {0, -1, 0};
    if ((face && *face == "ceiling") || (hanging && *hanging == "true")) return {0, 1, 0};
    if (const auto d = facing ? direction_of(*facing) : std::nullopt) return Cell{} - *d;
    return {0, -1, 0};
}

}  // namespace talus
