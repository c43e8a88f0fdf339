// commands.h - the subcommands of the talus program, one function and one file each.
//
// Layer: apps. A new subcommand is: a file NAME.cpp with add_NAME(), a line here, one in main.cpp and one in
// CMakeLists.txt. It throws BadInput (common.h) for exit 1; the option parser's own errors give exit 2.
// Tests: tests/io/cli_test.cpp
#pragma once

namespace CLI {
class App;
}

namespace talus {

/// talus info FILE: what is in a file.
void add_info(CLI::App& app);
/// talus structure FILE: does it stand?
void add_structure(CLI::App& app);
/// talus collapse FILE: what comes down?
void add_collapse(CLI::App& app);
/// talus replay FILE: does a recording still give the same?
void add_replay(CLI::App& app);
/// talus serve [FILE]...: the sandbox. Only in builds with TALUS_SERVER.
void add_serve(CLI::App& app);

}  // namespace talus
