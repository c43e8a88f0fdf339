#include "commands.h"
#include "common.h"
#include "json_object.h"

#include "mass/group_mass.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>
#include <memory>

namespace talus {

namespace {

void run_info(const InputOptions& options) {
    const Model model = options.load();
    const auto mass = to_mass_properties(sum_moments(model.grid, 1));
    const double kg = mass ? mass->mass : 0;
    if (options.json) {
        JsonObject out;
        const std::uint64_t size[3] = {std::uint64_t(model.size.x), std::uint64_t(model.size.y),
                                       std::uint64_t(model.size.z)};
        out.add("format", model.format)
            .add("size", size)
            .add("blocks", std::uint64_t(model.grid.block_count()))
            .add("solids", std::uint64_t(model.grid.solid_count()))
            .add("palette", std::uint64_t(model.palette))
            .add("mass_kg", kg);
        if (mass) {
            const double center[3] = {mass->center.x, mass->center.y, mass->center.z};
            out.add("center_of_mass", center);
        } else {
            out.add_null("center_of_mass");  // nothing weighs anything
        }
        out.add("unknown_blocks", model.unknown_blocks);
        std::cout << out.text() << "\n";
        return;
    }
    std::cout << options.file << "\n"
              << "  format          " << model.format << "\n"
              << "  size            " << model.size.x << " x " << model.size.y << " x " << model.size.z
              << " cells (x, y up, z)\n"
              << "  content         " << blocks_text(model.grid) << "\n"
              << "  palette         " << counted(std::uint64_t(model.palette), "entry", "entries") << "\n"
              << "  mass            " << weight_text(kg) << "\n";
    if (mass) {
        char text[96];
        std::snprintf(text, sizeof text, "%.2f, %.2f, %.2f", mass->center.x, mass->center.y, mass->center.z);
        std::cout << "  centre of mass  " << text << "\n";
    }
    for (const auto& [name, count] : model.unknown_blocks)
        std::cout << "  unknown         " << name << ": " << counted(count, "block", "blocks") << "\n";
}

}  // namespace

void add_info(CLI::App& app) {
    CLI::App* command = app.add_subcommand("info", "What is in a file: size, blocks, mass");
    const auto options = std::make_shared<InputOptions>();
    options->add_to(*command);
    command->footer(kExitCodes);
    command->callback([options] { run_info(*options); });
}

}  // namespace talus
