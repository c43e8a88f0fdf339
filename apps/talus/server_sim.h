// server_sim.h - the world of the server: one thread that ticks a Level 20 times a second.
//
// Layer: apps. Requests are queued from any thread and applied in order between two ticks; what the pages
// have to hear goes out through a SimulationSink, called on the simulation's thread. A model that a page
// uploads is read on a third thread, so that a large file does not hold up the world. Tests: tests/server/
#pragma once

#include "level_options.h"
#include "talus/formats.h"
#include "talus/protocol.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace talus {

class RecordFile;

using ClientId = std::uint64_t;
using SharedBytes = std::shared_ptr<const std::vector<std::uint8_t>>;

class SimulationSink {
 public:
    virtual ~SimulationSink() = default;
    /// For everyone who has the world. `full`: everything, for those too who do not.
    virtual void broadcast(SharedBytes message, bool full) = 0;
    virtual void send(ClientId client, SharedBytes message, bool full) = 0;
};

struct SimulationSettings {
    std::vector<Model> start;  ///< what stands there; none: the demo town
    BlockCatalog catalog;      ///< for uploads
    int threads = 1;
    LevelOptions level{};          ///< of every world it sets up
    RecordFile* record = nullptr;  ///< of the world set up last
};

class Simulation {
 public:
    Simulation(SimulationSettings settings, SimulationSink& sink);
    ~Simulation();  ///< stops
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    void start();
    void stop();
    /// The client wants the whole world: new, or it fell behind.
    void join(ClientId client);
    /// @return false when too much is waiting already
    bool post(ClientId client, ClientRequest request);

    struct State;

 private:
    std::unique_ptr<State> state_;
};

}  // namespace talus
