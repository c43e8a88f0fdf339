// level_options.h - --set and --protect: any setting of a level, and regions in which nothing breaks.
//
// Layer: apps. The names are those of saves (world/archive.h). Tests: tests/io/collapse_cli_test.cpp,
// tests/server/serve.test.mjs
#pragma once

#include "talus/level.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace talus {

class LevelOptions {
 public:
    void add_to(CLI::App& command);
    /// After parsing. Throws CLI::ValidationError (exit 2) for what is no setting, value or box.
    void apply(LevelSettings& settings) const;
    void protect(Level& level) const;

 private:
    std::vector<std::string> set_, protect_;
};

}  // namespace talus
