// town_bench.h - destruction at scale: a town of a million blocks under 200 blasts. Internal.
#pragma once

#include <string>

namespace talus::bench {

struct TownOptions {
    int threads = 1;
    int rows = 20;  ///< buildings in a row: rows * rows of them
    bool as_json = false;
    bool profile = false;  ///< where each tick's time goes, on stderr
};
/// `talus-bench town`. @return the process's exit code
int run_town(const TownOptions& options);

}  // namespace talus::bench
