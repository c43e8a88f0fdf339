// log_lines.h - what a level or a space logs, kept for a test.
#pragma once

#include "talus/jobs.h"

#include <string>
#include <string_view>
#include <vector>

namespace talus {

struct LogLines final : LogSink {
    std::vector<std::string> lines;
    void log(LogLevel, std::string_view text) override { lines.emplace_back(text); }
    bool has(std::string_view part) const {
        for (const std::string& line : lines)
            if (line.find(part) != std::string::npos) return true;
        return false;
    }
};

}  // namespace talus
