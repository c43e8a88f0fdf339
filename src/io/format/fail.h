// fail.h - error messages of the readers, all of one form: "WHERE: what".
//
// Layer: io/format. Tests: those of the readers
#pragma once

#include "talus/result.h"

#include <string>
#include <string_view>

namespace talus {

inline Error fail(ErrorCode code, std::string_view where, std::string_view what) {
    std::string message(where);
    message += ": ";
    message += what;
    return {code, std::move(message)};
}

/// A name from a file, fit for a message: printable ASCII, cut when long.
inline std::string in_quotes(std::string_view text) {
    constexpr std::size_t kLongest = 60;
    std::string out = "\"";
    for (const char c : text.substr(0, kLongest)) out += c < 0x20 || c >= 0x7f ? '?' : c;
    out += text.size() > kLongest ? "...\"" : "\"";
    return out;
}

}  // namespace talus
