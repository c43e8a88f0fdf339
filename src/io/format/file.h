// file.h - a whole file into memory, up to a limit.
//
// Layer: io/format. Tests: tests/io/model_test.cpp
#pragma once

#include "talus/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace talus {

/// @return not_found, unreadable (a folder, no permission) or too_large on failure; the message begins with
/// `path`
Result<std::vector<std::uint8_t>> read_file(const std::string& path, std::size_t limit);

}  // namespace talus
