// server_http.h - sockets: the page's files over HTTP and one WebSocket at /ws.
//
// Layer: apps. Everything here runs on one thread, that of run(). Only this layer's .cpp includes
// Boost.Beast. Tests: tests/server/
#pragma once

#include "server_sim.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace talus {

struct HttpSettings {
    std::string host = "127.0.0.1";
    std::uint16_t port = 8080;  ///< 0: any free one
    std::filesystem::path page;
};

class HttpServer final : public SimulationSink {
 public:
    /// Listens. Throws std::runtime_error naming the address when it cannot.
    explicit HttpServer(HttpSettings settings);
    ~HttpServer() override;

    std::string address() const;  ///< "http://127.0.0.1:8080/"
    /// Serves until SIGINT or SIGTERM.
    void run(Simulation& simulation);

    void broadcast(SharedBytes message, bool full) override;
    void send(ClientId client, SharedBytes message, bool full) override;

    struct State;

 private:
    std::unique_ptr<State> state_;
};

}  // namespace talus
