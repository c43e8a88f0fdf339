#include "level_options.h"

#include "common.h"

#include "world/archive.h"

#include <CLI/CLI.hpp>

#include <cmath>
#include <optional>
#include <type_traits>

namespace talus {

namespace {

/// What the level of a command has of its own.
bool is_fixed(std::string_view name) { return name == "cell_size" || name == "structure_up"; }

std::string setting_names() {
    std::string names;
    LevelSettings settings;
    each_setting(settings, [&](const char* name, auto&, double, double) {
        if (!is_fixed(name)) names += (names.empty() ? "" : ", ") + std::string(name);
    });
    return names;
}

/// The words for values that have some.
std::optional<double> word_of(std::string_view name, std::string_view text) {
    if (text == "off" || text == "false" || text == (name == "beyond_cap" ? "crumble" : "load")) return 0;
    if (text == "on" || text == "true" || text == (name == "beyond_cap" ? "stay" : "physical")) return 1;
    return std::nullopt;
}

/// @return false when it is no such value
template <class T>
bool read_value(std::string_view name, std::string_view text, double lowest, double highest, T& value) {
    if constexpr (std::is_same_v<T, std::uint64_t>) {
        return parse_number(text, value);
    } else if constexpr (std::is_same_v<T, std::optional<double>>) {
        if (text == "none") {
            value.reset();
            return true;
        }
        return read_value(name, text, lowest, highest, value.emplace());
    } else {
        double x = 0;
        if (!std::is_floating_point_v<T>)
            if (const auto word = word_of(name, text)) {
                x = *word;
                text = {};
            }
        if (!text.empty() && !parse_number(text, x)) return false;
        if (!(x >= lowest && x <= highest) || (!std::is_floating_point_v<T> && x != std::floor(x)))
            return false;
        value = T(x);
        return true;
    }
}

std::string number_text(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", x);
    return text;
}

}  // namespace

void LevelOptions::add_to(CLI::App& command) {
    command
        .add_option("--set", set_,
                    "Change a setting of the level; may be repeated. Names: " + setting_names())
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    command
        .add_option("--protect", protect_,
                    "Nothing breaks in this box of cells, corners included; may be repeated")
        ->type_name("X0,Y0,Z0:X1,Y1,Z1")
        ->allow_extra_args(false);
}

void LevelOptions::apply(LevelSettings& settings) const {
    for (const std::string& text : set_) {
        const std::size_t equals = text.find('=');
        const std::string_view name = std::string_view(text).substr(0, equals);
        bool known = false;
        each_setting(settings, [&](const char* is, auto& value, double lowest, double highest) {
            if (equals == std::string::npos || name != is || is_fixed(name)) return;
            known = true;
            if (!read_value(name, std::string_view(text).substr(equals + 1), lowest, highest, value))
                throw CLI::ValidationError("--set", "\"" + text + "\" should be a number from " +
                                                        number_text(lowest) + " to " + number_text(highest));
        });
        if (!known)
            throw CLI::ValidationError(
                "--set", "\"" + text + "\" should be NAME=VALUE, with a name of " + setting_names());
    }
    for (const std::string& text : protect_) {
        CellBox box;
        if (!parse_box(text, box))
            throw CLI::ValidationError("--protect", "\"" + text + "\" should be X0,Y0,Z0:X1,Y1,Z1");
    }
}

void LevelOptions::protect(Level& level) const {
    for (const std::string& text : protect_) {
        CellBox box;
        parse_box(text, box);
        const double e = level.settings().cell_size;
        level.protect({DVec3{double(box.min.x), double(box.min.y), double(box.min.z)} * e,
                       DVec3{box.max.x + 1.0, box.max.y + 1.0, box.max.z + 1.0} * e});
    }
}

}  // namespace talus
