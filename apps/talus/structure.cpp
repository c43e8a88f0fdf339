#include "commands.h"
#include "common.h"
#include "json_object.h"
#include "structure_picture.h"
#include "tbb_jobs.h"

#include "talus/structure.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

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
    std::string mode = "load";
    bool no_tension = false, incremental = false;
    int threads = 1, repeat = 1;
    double tolerance = StructureSettings().tolerance;
    int iterations = StructureSettings().max_iterations;
    std::string png;
    bool physical() const { return mode == "physical"; }
};

struct Answer {
    StructureReport report;
    double weight = 0;      ///< kg, of the solids
    double all_ms = 0;      ///< from setting the blocks to the report
    double first_ms = 0;    ///< load: the first round; physical: from setting the blocks to the first balance
    double resolve_ms = 0;  ///< the edits and the solve after them
};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// What a run works with: the build before the edits when they come after a first solve, else with them made.
struct Build {
    std::vector<StructureBlock> blocks, edited;
    std::vector<StructureMaterial> materials;
    std::vector<Cell> removed;  ///< by the edits, solids only
};

Answer judge(const StructureOptions& options, const Build& build, JobSystem* jobs, bool draw) {
    StructureSettings settings;
    settings.mode = options.physical() ? StructureMode::physical : StructureMode::load;
    settings.no_tension = options.no_tension;
    settings.tolerance = options.tolerance;
    settings.max_iterations = options.iterations;
    settings.limit_factor = double(options.strength);
    Answer answer;
    struct First {
        Clock::time_point start;
        double ms = -1;
    } first;
    StructureSolver solver(settings.mode);
    solver.set_materials(build.materials);
    solver.set_jobs(jobs);
    const Clock::time_point start = Clock::now();
    first.start = start;
    solver.set_blocks(options.incremental ? build.blocks : build.edited);
    if (!options.physical()) first.start = Clock::now();
    answer.report = solver.solve(
        settings,
        [](void* context, std::uint32_t) {
            First& f = *static_cast<First*>(context);
            if (f.ms < 0) f.ms = ms_since(f.start);
            return true;
        },
        &first);
    answer.all_ms = ms_since(start);
    answer.first_ms = first.ms < 0 ? 0 : first.ms;
    if (options.incremental) {
        const Clock::time_point again = Clock::now();
        for (const Cell cell : build.removed) solver.remove_block(cell);
        answer.report = solver.solve(settings);
        answer.resolve_ms = ms_since(again);
    }
    for (const StructureBlock& block : build.edited) answer.weight += block.mass;
    if (draw) draw_structure(options.png, build.edited, solver, answer.report, settings.up);
    return answer;
}

const char* name_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::stands:
            return "stands";
        case Verdict::falls:
            return "falls";
        case Verdict::undecided:
            return "undecided";
        case Verdict::unsupported:
            break;
    }
    return "unsupported";
}

std::string percent(double share) {
    char text[32];
    std::snprintf(text, sizeof text, share < 10 ? "%.1f %%" : "%.0f %%", share * 100);
    return text;
}

void explain(const StructureOptions& options, const Model& model, const Answer& answer) {
    const StructureReport& report = answer.report;
    const std::uint64_t solids = model.grid.solid_count(), falling = report.falling();
    std::cout << "  " << blocks_text(model.grid) << ", " << weight_text(answer.weight) << ", on "
              << counted(report.supports, "support", "supports") << "\n";
    if (report.verdict == Verdict::unsupported) {
        std::cout << "UNSUPPORTED: "
                  << (solids ? "no block rests on the ground, so there is nothing to judge."
                             : "there are no solid blocks.")
                  << "\n";
    } else if (report.verdict == Verdict::undecided) {
        std::cout
            << "UNDECIDED: no balance was found within the budget, nor a proof that there is none; a block "
               "is out of balance by "
            << percent(report.imbalance) << " of its weight.\n";
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
    if (!report.settled && falling)
        std::cout << "  The budget was spent before the rest came to rest: more may come down.\n";
    char text[160];
    if (options.physical() && report.verdict != Verdict::unsupported) {
        const auto place = [](Cell c) {
            return std::to_string(c.x) + "," + std::to_string(c.y) + "," + std::to_string(c.z);
        };
        std::cout << "  at first the worst face bears " << percent(report.max_utilisation)
                  << " of its limit (" << place(report.worst_bond.first) << " | "
                  << place(report.worst_bond.second) << "); the ground pushes back with "
                  << weight_text(report.base_reaction) << "\n";
        if (!report.settled && report.most_utilisation < kUnbounded)
            std::cout << "  where it stopped, the worst face would bear between "
                      << percent(report.least_utilisation) << " and " << percent(report.most_utilisation)
                      << " in perfect balance\n";
        std::snprintf(text, sizeof text, "  first balance in %.2f ms (%u iterations), all in %.2f ms\n",
                      answer.first_ms, report.iterations, answer.all_ms);
    } else {
        std::snprintf(text, sizeof text, "  solved in %.2f ms (first round %.2f ms)\n", answer.all_ms,
                      answer.first_ms);
    }
    std::cout << text;
    if (options.incremental) {
        std::snprintf(text, sizeof text, "  solved again after the edits in %.2f ms\n", answer.resolve_ms);
        std::cout << text;
    }
}

void run_structure(const StructureOptions& options) {
    const std::vector<Edit> edits = options.edits.edits();  // bad usage comes before bad input
    Model model = options.input.load();
    int ground_layer = lowest_solid_layer(model.grid);
    Build build;
    const auto take = [&] {
        return structure_blocks(
            model.grid, 1, [](void* layer, Cell cell) { return cell.y == *static_cast<const int*>(layer); },
            &ground_layer, options.strength, &build.materials);
    };
    if (options.incremental) build.blocks = take();
    for (const Edit& edit : edits) {
        if (options.incremental)
            for (const StructureBlock& block : build.blocks)
                if (edit.box.contains(block.cell) && model.grid.has(block.cell))
                    build.removed.push_back(block.cell);
        if (clear_box(model.grid, edit.box) == 0) warn_no_block(edit);
    }
    build.edited = take();

    std::unique_ptr<TbbJobs> jobs;
    if (options.threads > 1) jobs = std::make_unique<TbbJobs>(options.threads);
    Answer answer;
    std::vector<double> all, first, resolve;
    for (int i = 0; i < options.repeat; i++) {
        answer = judge(options, build, jobs.get(), !options.png.empty() && i + 1 == options.repeat);
        all.push_back(answer.all_ms);
        first.push_back(answer.first_ms);
        resolve.push_back(answer.resolve_ms);
    }
    answer.all_ms = median(all);
    answer.first_ms = median(first);
    answer.resolve_ms = median(resolve);
    const StructureReport& report = answer.report;
    if (!options.input.json) {
        std::cout << options.input.file << "\n";
        explain(options, model, answer);
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
        .add("rounds", std::uint64_t(report.rounds));
    if (options.physical())
        out.add("max_utilisation", report.max_utilisation)
            .add("base_reaction_kg", report.base_reaction)
            .add("imbalance", report.imbalance)
            .add("iterations", std::uint64_t(report.iterations))
            .add("solve_ms", answer.first_ms)
            .add("cascade_ms", answer.all_ms);
    else
        out.add("solve_ms", answer.all_ms).add("round_ms", answer.first_ms);
    if (options.incremental) out.add("resolve_ms", answer.resolve_ms);
    if (report.verdict == Verdict::undecided && report.most_utilisation < kUnbounded)
        out.add("least_utilisation", report.least_utilisation)
            .add("most_utilisation", report.most_utilisation);
    out.add("verdict", name_of(report.verdict));
    std::cout << out.text() << "\n";
}

}  // namespace

void add_structure(CLI::App& app) {
    CLI::App* command = app.add_subcommand("structure", "Does it stand? Weighs the build on flat ground");
    const auto options = std::make_shared<StructureOptions>();
    options->input.add_to(*command);
    options->edits.add_to(*command, false);
    command->add_option("--strength", options->strength, "Multiplies every limit (default: 1)")
        ->type_name("FACTOR")
        ->check([](const std::string& text) {
            float value = 0;
            const bool good = CLI::detail::lexical_cast(text, value) && value > 0 && value <= 1e6f;
            return good ? std::string() : "\"" + text + "\" should be a number above 0, at most 1,000,000";
        });
    command
        ->add_option("--mode", options->mode,
                     "How to judge: load, by a rule that hands weight down (the default), or physical, by "
                     "forces in balance")
        ->type_name("load|physical")
        ->check(CLI::IsMember({"load", "physical"}).description(""));
    CLI::Option* dry = command->add_flag("--no-tension", options->no_tension,
                                         "Physical: dry masonry; faces take only compression and friction");
    CLI::Option* tolerance = command
                                 ->add_option("--tolerance", options->tolerance,
                                              "Physical: how far from balance a block may be left, as a "
                                              "share of its weight or strength (default: 0.05)")
                                 ->type_name("SHARE")
                                 ->check(in_range(1e-6, 1));
    CLI::Option* iterations =
        command
            ->add_option("--iterations", options->iterations,
                         std::string("Physical: most iterations for a balance; then the verdict is ") +
                             "\"undecided\", with bounds (default: " + std::to_string(options->iterations) +
                             ")")
            ->type_name("N")
            ->check(in_range(1, 1'000'000));
    command->add_flag("--incremental", options->incremental,
                      "Solve, make the edits, solve again around them, and tell how long that took");
    command->add_option("--threads", options->threads, "Physical: threads to work with (default: 1)")
        ->type_name("N")
        ->check(in_range(1, 64));
    command
        ->add_option("--repeat", options->repeat,
                     "Solve so many times; times told are the median (default: 1)")
        ->type_name("N")
        ->check(in_range(1, 1000));
    command->add_option("--png", options->png, "Draw the build in colours, from idle to breaking")
        ->type_name("FILE");
    command->parse_complete_callback([options, dry, tolerance, iterations] {
        if (!options->physical() && dry->count())
            throw CLI::ValidationError("--no-tension", "needs --mode physical");
        if (!options->physical() && tolerance->count())
            throw CLI::ValidationError("--tolerance", "needs --mode physical");
        if (!options->physical() && iterations->count())
            throw CLI::ValidationError("--iterations", "needs --mode physical");
    });
    command->callback([options] { run_structure(*options); });
}

}  // namespace talus
