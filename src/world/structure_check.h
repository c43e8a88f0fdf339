// structure_check.h - a structural check in the background. Internal.
//
// Layer: world. The job owns a copy of the solids; it touches nothing of the level. Its answer is applied at
// `due_tick`, fixed when it was asked for, waiting for the job if need be: never "when it is ready", so that
// runs agree whatever the machine's speed.
#pragma once

#include "talus/jobs.h"
#include "talus/structure.h"

#include <cstdint>
#include <vector>

namespace talus {

struct StructureCheck {
    std::vector<StructureBlock> blocks;
    std::vector<StructureMaterial> materials;
    StructureSettings settings;
    StructureReport report;
    std::uint64_t due_tick = 0;
    std::uint64_t grid_version = 0;
    JobSystem* jobs = nullptr;
    std::uint64_t job = 0;
    bool running = false;

    void run();
    void finish();
    ~StructureCheck() { finish(); }
};

}  // namespace talus
