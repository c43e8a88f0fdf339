// talus - the command line: what is in a file of blocks, and does it stand?
#include "commands.h"
#include "common.h"

#include <CLI/CLI.hpp>

#include <iostream>

int main(int argc, char** argv) {
    constexpr int kBadInput = 1, kUsage = 2;
    CLI::App app{"Block worlds that break and fall the way buildings do.", "talus"};
    app.set_version_flag("--version", "talus " TALUS_VERSION);
    app.require_subcommand(1);
    app.footer("'talus COMMAND --help' tells more. Exit: 0 done, 1 bad input, 2 bad usage.");
    talus::add_info(app);
    talus::add_structure(app);
    talus::add_collapse(app);
    talus::add_replay(app);
#ifdef TALUS_SERVER
    talus::add_serve(app);
#endif
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& help) {  // --help, --version
        return app.exit(help);
    } catch (const CLI::ParseError& error) {
        std::cerr << "talus: " << error.what() << "\nRun 'talus --help' for how to use it.\n";
        return kUsage;
    } catch (const talus::ExitWith& exit) {
        return exit.code;
    } catch (const talus::BadInput& error) {
        std::cerr << "talus: " << error.what() << "\n";
        return kBadInput;
    } catch (const std::bad_alloc&) {
        std::cerr << "talus: out of memory\n";
        return kBadInput;
    }
    return 0;
}
