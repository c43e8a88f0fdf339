#include "commands.h"
#include "common.h"
#include "server_http.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

namespace talus {

namespace {

namespace fs = std::filesystem;

struct ServeOptions {
    HttpSettings http;
    std::string page, materials;
    std::vector<std::string> files;
    int threads = 0;
    std::string record;
    std::uint64_t record_limit = 256;
};

/// The built page: as given, installed beside the program, or in the source tree it was built from.
fs::path find_page(const std::string& given) {
    std::error_code error;
    std::vector<fs::path> places;
    if (!given.empty()) {
        places.emplace_back(given);
    } else {
        const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
        places = {program / "../share/talus/page", program / "../../../client/dist",
                  TALUS_SOURCE_DIR "/client/dist"};
    }
    for (const fs::path& place : places)
        if (fs::is_regular_file(place / "index.html", error)) return fs::canonical(place, error);
    if (!given.empty()) throw BadInput(given + ": there is no index.html");
    throw BadInput(
        "the page is not built. Build it with\n"
        "    cmake --preset wasm && cmake --build --preset wasm && (cd client && npm ci && npm run build)\n"
        "or name a folder with --page");
}

void run_serve(ServeOptions options) {
    const auto logger = spdlog::stderr_color_mt("talus");
    logger->set_pattern("%H:%M:%S %^%l%$ %v");
    spdlog::set_default_logger(logger);
    auto catalog =
        options.materials.empty() ? BlockCatalog::from_json("{}", "") : BlockCatalog::read(options.materials);
    if (!catalog) throw BadInput(catalog.error().message);
    SimulationSettings settings{
        {}, std::move(*catalog), options.threads, options.record, options.record_limit << 20};
    if (settings.threads == 0) settings.threads = std::max(1, int(std::thread::hardware_concurrency()));
    for (const std::string& file : options.files) {
        auto model = read_model(file, settings.catalog);
        if (!model) throw BadInput(model.error().message);
        settings.start.push_back(std::move(*model));
    }
    options.http.page = find_page(options.page);
    std::unique_ptr<HttpServer> server;
    try {
        server = std::make_unique<HttpServer>(options.http);
    } catch (const std::runtime_error& error) {
        throw BadInput(error.what());
    }
    Simulation simulation(std::move(settings), *server);
    std::cout << "Talus is at " << server->address() << std::endl;
    server->run(simulation);
}

}  // namespace

void add_serve(CLI::App& app) {
    CLI::App* command = app.add_subcommand("serve", "The sandbox: a world in the browser");
    const auto options = std::make_shared<ServeOptions>();
    command->add_option("FILE", options->files,
                        "What stands in the world: .vox or .schem files (default: a small town)");
    command->add_option("--port", options->http.port, "Port to listen on; 0 = any free one")
        ->capture_default_str();
    command->add_option("--host", options->http.host, "Address to listen on")->capture_default_str();
    command->add_option("--page", options->page, "Folder of the built page");
    command->add_option("--materials", options->materials,
                        "JSON file with block properties (docs/formats/materials.md)");
    command->add_option("--threads", options->threads, "Threads of the world; 0 = as many as the machine has")
        ->check(CLI::Range(0, 256));
    command->add_option("--record", options->record, "Write a recording of the world, for talus replay");
    command->add_option("--record-limit", options->record_limit, "Size at which the recording ends, MiB")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
    command->callback([options] { run_serve(*options); });
}

}  // namespace talus
