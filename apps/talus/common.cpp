#include "common.h"

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>

namespace talus {

namespace {

/// Splits at a character; empty parts are kept.
std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

bool parse_cell(std::span<const std::string_view> parts, Cell& out) {
    return parts.size() == 3 && parse_number(parts[0], out.x) && parse_number(parts[1], out.y) &&
           parse_number(parts[2], out.z);
}

[[noreturn]] void bad_edit(const char* option, const std::string& text, const char* form) {
    throw CLI::ValidationError(option, "\"" + text + "\" should be " + form + ", whole numbers of cells");
}

Edit parse_remove(const std::string& text) {
    Edit edit{Edit::Kind::remove, {}, 0, "--remove " + text};
    if (!parse_cell(split(text, ','), edit.box.min)) bad_edit("--remove", text, "X,Y,Z");
    edit.box.max = edit.box.min;
    return edit;
}

Edit parse_carve(const std::string& text) {
    Edit edit{Edit::Kind::carve, {}, 0, "--carve " + text};
    if (!parse_box(text, edit.box)) bad_edit("--carve", text, "X0,Y0,Z0:X1,Y1,Z1");
    return edit;
}

Edit parse_blast(const std::string& text) {
    Edit edit{Edit::Kind::blast, {}, 0, "--blast " + text};
    const auto parts = split(text, ',');
    if (parts.size() != 4 || !parse_cell(std::span(parts).first(3), edit.box.min) ||
        !parse_number(parts[3], edit.power) || !std::isfinite(edit.power) || edit.power <= 0)
        throw CLI::ValidationError("--blast",
                                   "\"" + text + "\" should be X,Y,Z,POWER: whole cells, a power above 0");
    edit.box.max = edit.box.min;
    return edit;
}

}  // namespace

bool parse_box(std::string_view text, CellBox& out) {
    const auto corners = split(text, ':');
    Cell a, b;
    if (corners.size() != 2 || !parse_cell(split(corners[0], ','), a) ||
        !parse_cell(split(corners[1], ','), b))
        return false;
    out.min = {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)};
    out.max = {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)};
    return true;
}

CLI::Validator in_range(double lo, double hi) { return CLI::Range(lo, hi).description(""); }

void add_threads(CLI::App& command, int& threads) {
    command
        .add_option("--threads", threads,
                    "Threads to use (default: 1); the result is the same for any number")
        ->type_name("N")
        ->check(in_range(1, 256));
}

void InputOptions::add_to(CLI::App& command) {
    command.add_option("FILE", file, "A MagicaVoxel .vox or Sponge .schem file")->required()->type_name("");
    command.add_option("--materials", materials, "Block properties, in JSON (docs/formats/materials.md)")
        ->type_name("FILE");
    command.add_flag("--json", json, "Answer with one line of JSON, for programs");
}

BlockCatalog InputOptions::catalog() const {
    auto read = materials.empty() ? BlockCatalog::from_json("{}", "") : BlockCatalog::read(materials);
    if (!read) throw BadInput(read.error().message);
    return std::move(*read);
}

Model InputOptions::load() const {
    const BlockCatalog blocks = catalog();
    auto read = read_model(file, blocks);
    if (!read) throw BadInput(read.error().message);
    if (!read->unknown_blocks.empty()) {
        constexpr std::size_t kNamed = 5;
        std::size_t cells = 0, named = 0;
        std::string names;
        for (const auto& [name, count] : read->unknown_blocks) {
            cells += count;
            if (named++ < kNamed) names += (names.empty() ? "" : ", ") + name;
        }
        if (named > kNamed) names += ", ...";
        std::cerr << "talus: " << counted(cells, "block has a name", "blocks have names")
                  << " without known properties and count as stone (" << names << ")\n";
    }
    return std::move(*read);
}

void EditOptions::add_to(CLI::App& command, bool blasts) {
    command_ = &command;
    auto repeatable = [&](const char* name, const char* form, const char* what) {
        return command.add_option(name)->description(what)->type_name(form)->expected(1)->multi_option_policy(
            CLI::MultiOptionPolicy::TakeAll);
    };
    remove_ = repeatable("--remove", "X,Y,Z", "Take away the block in this cell");
    carve_ = repeatable("--carve", "X0,Y0,Z0:X1,Y1,Z1", "Take away all blocks in this box, corners included");
    command.footer(std::string(blasts ? "--remove, --carve and --blast" : "--remove and --carve") +
                   " may be repeated and are done in the order given.\n"
                   "X,Y,Z are cells of FILE, y up: 0,0,0 is its lowest corner, and 'talus info FILE'\n"
                   "tells its size." +
                   (blasts ? " Those of a scene are metres, with its ground at y = 0.\n" : "\n") +
                   kExitCodes);
    if (blasts)
        blast_ = repeatable("--blast", "X,Y,Z,POWER", "Blast at the middle of this cell; TNT has power 4");
}

std::vector<Edit> EditOptions::edits() const {
    std::vector<Edit> edits;
    std::map<const CLI::Option*, std::size_t> next;
    for (const CLI::Option* option : command_->parse_order()) {
        if (option != remove_ && option != carve_ && option != blast_) continue;
        const std::string& text = option->results().at(next[option]++);
        edits.push_back(option == remove_  ? parse_remove(text)
                        : option == carve_ ? parse_carve(text)
                                           : parse_blast(text));
    }
    return edits;
}

std::size_t clear_box(Grid& grid, const CellBox& box) {
    const CellBox bounds = grid.bounds();
    const Cell low{std::max(box.min.x, bounds.min.x), std::max(box.min.y, bounds.min.y),
                   std::max(box.min.z, bounds.min.z)};
    const Cell high{std::min(box.max.x, bounds.max.x), std::min(box.max.y, bounds.max.y),
                    std::min(box.max.z, bounds.max.z)};
    std::size_t cleared = 0;
    for (int y = low.y; y <= high.y; y++)
        for (int z = low.z; z <= high.z; z++)
            for (int x = low.x; x <= high.x; x++) cleared += grid.clear({x, y, z}) != kAir;
    return cleared;
}

void warn_no_block(const Edit& edit) {
    std::cerr << "talus: " << edit.text << " meets no block; coordinates begin at 0,0,0 with y up\n";
}

int lowest_solid_layer(const Grid& grid) {
    bool any = false;
    int lowest = 0;
    grid.for_each([&](Cell cell, BlockId id) {
        if (!grid.table().flags(id).solid || (any && cell.y >= lowest)) return;
        any = true;
        lowest = cell.y;
    });
    return lowest;
}

std::string hex(std::uint64_t value) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

std::string grouped(std::uint64_t n) {
    const std::string digits = std::to_string(n);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); i++) {
        if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
        text += digits[i];
    }
    return text;
}

std::string counted(std::uint64_t n, std::string_view one, std::string_view many) {
    return grouped(n) + " " + std::string(n == 1 ? one : many);
}

std::string blocks_text(const Grid& grid) {
    const std::size_t blocks = grid.block_count(), solids = grid.solid_count();
    return counted(blocks, "block", "blocks") +
           (solids == blocks ? ", all solid" : ", " + grouped(solids) + " of them solid");
}

std::string weight_text(double kg) {
    char text[32];
    if (kg < 10'000) {
        std::snprintf(text, sizeof text, kg < 100 ? "%.1f kg" : "%.0f kg", kg);
        return text;
    }
    if (kg < 100'000) {
        std::snprintf(text, sizeof text, "%.1f t", kg / 1000);
        return text;
    }
    return grouped(std::uint64_t(std::llround(kg / 1000))) + " t";
}

}  // namespace talus
