// talus - the command line: what is in a file of blocks, does it stand, what comes down?
#include "commands.h"
#include "common.h"

#include <CLI/CLI.hpp>

#include <iostream>

int main(int argc, char** argv) {
    constexpr int kBadInput = 1, kUsage = 2;
    CLI::App app{"Block worlds that break and fall the way buildings do.", "talus"};
    app.set_version_flag("--version", "talus " TALUS_VERSION);
    app.require_subcommand(0, 1);
    app.get_formatter()->label("SUBCOMMAND", "COMMAND");
    app.footer(
        "For example:\n"
        "  talus info house.schem                      what is in it\n"
        "  talus structure house.schem                 does it stand?\n"
        "  talus collapse house.schem --blast 4,1,0,6  what comes down?\n\n"
        "'talus COMMAND --help' tells more. " +
        std::string(talus::kExitCodes));
    talus::add_info(app);
    talus::add_structure(app);
    talus::add_collapse(app);
    talus::add_replay(app);
#ifdef TALUS_SERVER
    talus::add_serve(app);
#endif
    for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) command->group("Commands");
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& help) {  // --help, --version
        return app.exit(help);
    } catch (const CLI::ParseError& error) {
        const auto given = app.get_subcommands();
        if (given.empty() && argc > 1 && argv[1][0] != '-')
            std::cerr << "talus: there is no command \"" << argv[1] << "\"\n";
        else
            std::cerr << "talus: " << error.what() << "\n";
        std::cerr << "Run 'talus" << (given.empty() ? "" : " " + given[0]->get_name())
                  << " --help' for how to use it.\n";
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
    if (!app.get_subcommands().empty()) return 0;
    std::cerr << "talus: a command is missing\n\n" << app.help();
    return kUsage;
}
