#include "commands.h"
#include "common.h"
#include "json_object.h"

#include "talus/structure.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>

namespace talus {

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct StructureOptions {
    InputOptions input;
    EditOptions edits;
    float strength = 1;
};

struct Answer {
    StructureReport report;
    double weight = 0;    ///< kg, of the solids
    double solve_ms = 0;  ///< the whole cascade
    double round_ms = 0;  ///< the first round
};

Answer judge(const Grid& grid, int ground_layer, float strength) {
    const auto blocks = structure_blocks(
        grid, 1, [](void* layer, Cell cell) { return cell.y == *static_cast<const int*>(layer); },
        &ground_layer, strength);
    Answer answer;
    for (const StructureBlock& block : blocks) answer.weight += block.mass;
    struct FirstRound {
        Clock::time_point start;
        double ms = -1;
    } first;
    StructureSolver solver;
    const Clock::time_point start = Clock::now();
    solver.set_blocks(blocks);
    first.start = Clock::now();
    answer.report = solver.solve(
        {},
        [](void* context, std::uint32_t) {
            FirstRound& round = *static_cast<FirstRound*>(context);
            if (round.ms < 0) round.ms = ms_since(round.start);
            return true;
        },
        &first);
    answer.solve_ms = ms_since(start);
    answer.round_ms = first.ms < 0 ? 0 : first.ms;
    return answer;
}

const char* name_of(Verdict verdict) {
    return verdict == Verdict::stands ? "stands" : verdict == Verdict::falls ? "falls" : "unsupported";
}

void explain(const Model& model, const Answer& answer) {
    const StructureReport& report = answer.report;
    const std::uint64_t solids = model.grid.solid_count(), falling = report.falling();
    std::cout << "  " << blocks_text(model.grid) << ", " << weight_text(answer.weight) << ", on "
              << counted(report.supports, "support", "supports") << "\n";
    if (report.verdict == Verdict::unsupported) {
        std::cout << "UNSUPPORTED: "
                  << (solids ? "no block rests on the ground, so there is nothing to judge."
                             : "there are no solid blocks.")
                  << "\n";
    } else if (report.verdict == Verdict::stands) {
        std::cout << "STANDS: the weight of every block finds a way to the ground";
        if (report.broken_bonds.empty())
            std::cout << " and no bond bears more than it can.\n";
        else
            std::cout << ".\n  " << counted(report.broken_bonds.size(), "bond was", "bonds were")
                      << " overloaded and broke; the rest holds without.\n";
    } else {
        std::cout << "FALLS: " << grouped(falling) << " of "
                  << counted(solids, "solid block comes", "solid blocks come") << " down";
        if (report.parts.size() == 1) {
            std::cout << " in one part.\n";
        } else {
            constexpr std::size_t kNamed = 6;
            std::cout << " in " << grouped(report.parts.size()) << " parts (";
            for (std::size_t i = 0; i < report.parts.size() && i < kNamed; i++)
                std::cout << (i ? ", " : "") << grouped(report.parts[i].size());
            std::cout << (report.parts.size() > kNamed ? ", ...).\n" : " blocks).\n");
        }
        if (report.broken_bonds.empty())
            std::cout
                << "  No bond was overloaded: what falls is joined to nothing that reaches the ground.\n";
        else
            std::cout << "  " << counted(report.broken_bonds.size(), "bond", "bonds")
                      << " had to bear more than they can and broke, one after another, in "
                      << counted(report.rounds, "round", "rounds") << ".\n";
    }
    char text[96];
    std::snprintf(text, sizeof text, "  solved in %.2f ms (first round %.2f ms)\n", answer.solve_ms,
                  answer.round_ms);
    std::cout << text;
}

void run_structure(const StructureOptions& options) {
    const std::vector<Edit> edits = options.edits.edits();  // bad usage comes before bad input
    Model model = options.input.load();
    const int ground_layer = lowest_solid_layer(model.grid);
    for (const Edit& edit : edits)
        if (clear_box(model.grid, edit.box) == 0) warn_no_block(edit);
    const Answer answer = judge(model.grid, ground_layer, options.strength);
    const StructureReport& report = answer.report;
    if (!options.input.json) {
        std::cout << options.input.file << "\n";
        explain(model, answer);
        return;
    }
    std::vector<std::uint64_t> parts;
    for (const auto& part : report.parts) parts.push_back(part.size());
    JsonObject out;
    out.add("blocks", std::uint64_t(model.grid.block_count()))
        .add("solids", std::uint64_t(model.grid.solid_count()))
        .add("supports", std::uint64_t(report.supports))
        .add("weight_kg", answer.weight)
        .add("falling", std::uint64_t(report.falling()))
        .add("parts", parts)
        .add("broken_bonds", std::uint64_t(report.broken_bonds.size()))
        .add("rounds", std::uint64_t(report.rounds))
        .add("solve_ms", answer.solve_ms)
        .add("round_ms", answer.round_ms)
        .add("verdict", name_of(report.verdict));
    std::cout << out.text() << "\n";
}

}  // namespace

void add_structure(CLI::App& app) {
    CLI::App* command = app.add_subcommand("structure", "Does it stand? Weighs the build on flat ground");
    const auto options = std::make_shared<StructureOptions>();
    options->input.add_to(*command);
    options->edits.add_to(*command, false);
    command->add_option("--strength", options->strength, "Multiplies the strength of every block")
        ->check([](const std::string& text) {
            float value = 0;
            const bool good = CLI::detail::lexical_cast(text, value) && value > 0 && value <= 1e6f;
            return good ? std::string() : "\"" + text + "\" should be a number above 0, at most 1,000,000";
        });
    command->callback([options] { run_structure(*options); });
}

}  // namespace talus
