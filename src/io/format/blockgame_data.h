// blockgame_data.h - the text of data/blockgame.json, built into the library.
//
// Layer: io/format. Tests: tests/io/catalog_test.cpp
#pragma once

#include <string_view>

namespace talus {

std::string_view blockgame_json();

}  // namespace talus
