#include "commands.h"
#include "common.h"
#include "level_options.h"
#include "record_file.h"
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
    LevelOptions level;
    int threads = 0;
    std::string record;
    double record_limit = 256;  // MiB
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
    LevelSettings tried;
    options.level.apply(tried);  // bad usage comes before bad input
    const auto logger = spdlog::stderr_color_mt("talus");
    logger->set_pattern("%H:%M:%S %^%l%$ %v");
    spdlog::set_default_logger(logger);
    auto catalog =
        options.materials.empty() ? BlockCatalog::from_json("{}", "") : BlockCatalog::read(options.materials);
    if (!catalog) throw BadInput(catalog.error().message);
    SimulationSettings settings{{}, std::move(*catalog), options.threads};
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
    std::unique_ptr<RecordFile> record;
    if (!options.record.empty())
        record = std::make_unique<RecordFile>(options.record, std::uint64_t(options.record_limit * 1048576));
    settings.record = record.get();
    settings.level = options.level;
    Simulation simulation(std::move(settings), *server);
    std::cout << "Talus is at " << server->address() << std::endl;
    server->run(simulation);
}

}  // namespace

void add_serve(CLI::App& app) {
    CLI::App* command = app.add_subcommand("serve", "The sandbox: a world in the browser");
    const auto options = std::make_shared<ServeOptions>();
    command
        ->add_option("FILE", options->files,
                     "What stands in the world: .vox or .schem files (default: a small town)")
        ->type_name("");
    command->add_option("--port", options->http.port, "Port to listen on; 0: any free one (default: 8080)")
        ->type_name("N");
    command
        ->add_option("--host", options->http.host,
                     "Address to listen on (default: 127.0.0.1, this machine alone)")
        ->type_name("ADDRESS");
    command->add_option("--page", options->page, "Folder of the built page (default: where it was built)")
        ->type_name("FOLDER");
    command
        ->add_option("--materials", options->materials,
                     "Block properties, in JSON (docs/formats/materials.md)")
        ->type_name("FILE");
    command
        ->add_option("--threads", options->threads,
                     "Threads of the world (default: as many as the machine has)")
        ->type_name("N")
        ->check(in_range(0, 256));
    command
        ->add_option("--record", options->record,
                     "Write a recording of the world, to run again with 'talus replay FILE'")
        ->type_name("FILE");
    command
        ->add_option("--record-limit", options->record_limit,
                     "Size at which the recording ends (default: 256)")
        ->type_name("MIB")
        ->check(in_range(0.001, 1 << 20));
    options->level.add_to(*command);
    command->footer("Ends with Ctrl-C. Exit: 0 ended, 1 bad input, 2 bad usage.");
    command->callback([options] { run_serve(*options); });
}

}  // namespace talus
