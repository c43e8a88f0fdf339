// common.h - what the subcommands share: reading a file, edits given on the command line, words for people.
//
// Layer: apps. Coordinates are those of the file's own grid: minimum corner at 0,0,0, y up.
// Tests: tests/io/cli_test.cpp
#pragma once

#include "talus/formats.h"

#include <charconv>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace talus {

/// The last line of help.
constexpr const char* kExitCodes = "Exit: 0 done (whatever the answer), 1 bad input, 2 bad usage.";

/// Ends the program with exit 1 and this message on stderr.
struct BadInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Ends the program; all is said.
struct ExitWith {
    int code;
};

/// FILE, --materials and --json, which every subcommand that reads a file has.
struct InputOptions {
    std::string file, materials;
    bool json = false;
    void add_to(CLI::App& command);
    /// The catalog: built in, or with the materials file. Throws BadInput.
    BlockCatalog catalog() const;
    /// Reads FILE; says on stderr which block names are unknown. Throws BadInput.
    Model load() const;
};

/// One --remove, --carve or --blast.
struct Edit {
    enum class Kind : std::uint8_t { remove, carve, blast } kind = Kind::remove;
    CellBox box;       ///< remove and blast: one cell
    float power = 0;   ///< blast
    std::string text;  ///< as given
};

/// For options: numbers from lo to hi. The range is told when it is left, not in the list of options.
CLI::Validator in_range(double lo, double hi);

/// The whole text as a number. @return false when it is none
template <class T>
bool parse_number(std::string_view text, T& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size();
}
/// "X0,Y0,Z0:X1,Y1,Z1": any two opposite corners. @return false when it is none
bool parse_box(std::string_view text, CellBox& out);

/// --threads of what runs a level.
void add_threads(CLI::App& command, int& threads);

/// Collects edits in the order of the command line.
class EditOptions {
 public:
    /// Adds --remove and --carve, and --blast when `blasts`.
    void add_to(CLI::App& command, bool blasts);
    /// After parsing. Throws CLI::ValidationError (exit 2) for coordinates that are none.
    std::vector<Edit> edits() const;

 private:
    const CLI::App* command_ = nullptr;
    CLI::Option* remove_ = nullptr;
    CLI::Option* carve_ = nullptr;
    CLI::Option* blast_ = nullptr;
};

/// Clears the cells of a box, whatever its size. @return how many blocks were there
std::size_t clear_box(Grid& grid, const CellBox& box);

/// A remove or carve that names no block is a slip worth telling, not an error.
void warn_no_block(const Edit& edit);

/// y of the lowest layer with a solid block; 0 when there is none.
int lowest_solid_layer(const Grid& grid);

std::string hex(std::uint64_t value);  ///< 16 digits
// For people: 1,234,567; "1 block", "2 blocks"; 775 kg, 12.4 t.
std::string grouped(std::uint64_t n);
std::string counted(std::uint64_t n, std::string_view one, std::string_view many);
std::string blocks_text(const Grid& grid);  ///< "12 blocks, 10 of them solid"
std::string weight_text(double kg);

}  // namespace talus
