#include "scaling_report.hpp"

#include "figure.hpp"
#include "io/atomic_file.hpp"
#include "report.hpp"
#include "result_table.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>

namespace solver::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double megabyte = 1e6;

/// For whom a cell is: numbers are rounded for a person, not for a program.
enum class Reader { person, program };

struct Column {
    Measure measure;
    std::string (*cell)(const ScaledProblem& problem, const Trial& trial, Reader reader);
};

/// Nothing where there is none.
std::string count(std::int64_t value) { return value > 0 ? std::to_string(value) : ""; }

/// What is said behind a status whose claim of convergence is false.
constexpr std::string_view not_reached = ", not reached";

/// Nothing where there is no such number.
std::string number(double value, Reader reader, const char* format = "{:.3g}") {
    if (!std::isfinite(value)) return "";
    return reader == Reader::program ? fmt::format("{}", value) : fmt::format(fmt::runtime(format), value);
}

using P = const ScaledProblem&;
using T = const Trial&;

/// What makes the case.
const std::vector<Column>& columns_of_case() {
    static const std::vector<Column> columns{
        {{"problem", "problem"}, [](P p, T, Reader) { return p.name; }},
        {{"unknowns", "unknowns"}, [](P p, T, Reader) { return std::to_string(p.unknowns); }},
        {{"nonzeros", "nonzeros"}, [](P p, T, Reader) { return std::to_string(p.nonzeros); }},
        {{"tolerance", "tolerance"}, [](P p, T, Reader r) { return number(p.tolerance, r); }},
        {{"whose", "whose"},
         [](P, T t, Reader) {
             return std::string(!t.ours ? "peer" : t.automatic ? "automatic" : "by hand");
         }},
    };
    return columns;
}

/// What came of it.
const std::vector<Column>& columns_of_result() {
    static const std::vector<Column> columns{
        {{"solver", "solver"}, [](P, T t, Reader) { return t.solver; }},
        {{"status", "status"},
         [](P p, T t, Reader) { return t.false_claim(p.tolerance) ? t.status + std::string(not_reached) : t.status; }},
        {{"iterations", "iterations"}, [](P, T t, Reader) { return count(t.iterations); }},
        {{"setup (s)", "setup_seconds"}, [](P, T t, Reader r) { return number(t.seconds() > 0 ? t.setup_seconds : NAN, r); }},
        {{"solve (s)", "solve_seconds"}, [](P, T t, Reader r) { return number(t.seconds() > 0 ? t.solve_seconds : NAN, r); }},
        {{"x best by hand", "seconds_by_best_by_hand"},
         [](P p, T t, Reader r) { return number(by_best_hand_picked(p, t).value_or(NAN), r); }},
        {{"memory (MB)", "memory_megabytes"},
         [](P, T t, Reader r) { return number(t.memory_bytes > 0 ? t.memory_bytes / megabyte : NAN, r); }},
        {{"x CSR of A", "memory_by_matrix"},
         [](P p, T t, Reader r) { return number(t.memory_bytes > 0 ? t.memory_bytes / p.matrix_bytes() : NAN, r); }},
        {{"true residual", "relative_residual"}, [](P, T t, Reader r) { return number(t.residual, r, "{:.1e}"); }},
        {{"reached", "reached"}, [](P p, T t, Reader) { return std::string(t.reached(p.tolerance) ? "yes" : "no"); }},
        {{"remark", "remark"},
         [](P, T t, Reader r) {
             constexpr std::size_t line = 60;
             std::string remark = t.remark;
             std::replace(remark.begin(), remark.end(), '\n', ' ');
             return r == Reader::person && remark.size() > line ? remark.substr(0, line) + " ..." : remark;
         }},
    };
    return columns;
}

std::vector<Column> all_columns() {
    std::vector<Column> columns = columns_of_case();
    columns.insert(columns.end(), columns_of_result().begin(), columns_of_result().end());
    return columns;
}

ResultTable table_of(std::span<const Column> columns, std::span<const ScaledProblem> problems, Reader reader) {
    std::vector<Measure> measures;
    for (const Column& column : columns) measures.push_back(column.measure);
    ResultTable table(std::move(measures));
    for (const ScaledProblem& problem : problems) {
        for (const Trial& trial : problem.trials) {
            std::vector<std::string> row;
            for (const Column& column : columns) row.push_back(column.cell(problem, trial, reader));
            table.add(std::move(row));
        }
    }
    return table;
}

/// "poisson3d" of "poisson3d_100".
std::string family_of(const ScaledProblem& problem) {
    const std::size_t end = problem.name.find_last_not_of("0123456789");
    return problem.name.substr(0, end == std::string::npos || problem.name[end] != '_' ? problem.name.size() : end);
}

const Trial* trial_by(const ScaledProblem& problem, const std::string& solver) {
    const auto trial =
        std::find_if(problem.trials.begin(), problem.trials.end(), [&](const Trial& t) { return t.solver == solver; });
    return trial != problem.trials.end() && trial->reached(problem.tolerance) ? &*trial : nullptr;
}

/// Of the peers whose names begin so.
const Trial* fastest_peer(const ScaledProblem& problem, std::string_view prefix = "") {
    const Trial* best = nullptr;
    for (const Trial& trial : problem.trials)
        if (!trial.ours && trial.solver.starts_with(prefix) && trial.reached(problem.tolerance) &&
            (!best || trial.seconds() < best->seconds()))
            best = &trial;
    return best;
}

/// "median 1.1, worst 1.5 (poisson3d_50), 12 problems" of ratios with their problems.
std::string spread_of(std::vector<std::pair<double, std::string>> ratios) {
    std::sort(ratios.begin(), ratios.end());
    const std::size_t half = ratios.size() / 2;
    const double median = ratios.size() % 2 != 0 ? ratios[half].first : (ratios[half - 1].first + ratios[half].first) / 2;
    return fmt::format("median {:.3g}, worst {:.3g} ({}), {} problem{}", median, ratios.back().first, ratios.back().second,
                       ratios.size(), ratios.size() == 1 ? "" : "s");
}

/// Problems of one family by their size.
using Family = std::vector<const ScaledProblem*>;

std::vector<std::pair<std::string, Family>> families_of(const std::vector<ScaledProblem>& problems) {
    std::vector<std::pair<std::string, Family>> families;
    for (const ScaledProblem& problem : problems) {
        const std::string name = family_of(problem);
        auto place = std::find_if(families.begin(), families.end(), [&](const auto& family) { return family.first == name; });
        if (place == families.end()) place = families.insert(families.end(), {name, {}});
        place->second.push_back(&problem);
    }
    for (auto& [name, family] : families)
        std::stable_sort(family.begin(), family.end(), [](const auto* p, const auto* q) { return p->unknowns < q->unknowns; });
    return families;
}

/// How iterations and time of a solver grow from the smallest problem of a family that it solved to the largest; nothing where
/// it solved one size alone.
std::optional<std::string> growth_of(const Family& family, const std::string& solver) {
    Family solved;
    for (const ScaledProblem* problem : family)
        if (trial_by(*problem, solver) != nullptr) solved.push_back(problem);
    if (solved.empty() || solved.front()->unknowns == solved.back()->unknowns) return std::nullopt;
    const Trial &first = *trial_by(*solved.front(), solver), &last = *trial_by(*solved.back(), solver);
    const double size = static_cast<double>(solved.back()->unknowns) / static_cast<double>(solved.front()->unknowns);
    return fmt::format("{}: iterations {} to {}, time like n^{:.2f} ({} to {} unknowns)", solver, first.iterations,
                       last.iterations, std::log(last.seconds() / first.seconds()) / std::log(size), solved.front()->unknowns,
                       solved.back()->unknowns);
}

std::vector<std::string> solvers_of(const std::vector<ScaledProblem>& problems) {
    std::vector<std::string> names;
    for (const ScaledProblem& problem : problems)
        for (const Trial& trial : problem.trials)
            if (std::find(names.begin(), names.end(), trial.solver) == names.end()) names.push_back(trial.solver);
    return names;
}

/// "hypre", "pyamg", ...: the first words of the peers' names.
std::vector<std::string> packages_of(const std::vector<ScaledProblem>& problems) {
    std::vector<std::string> packages;
    for (const ScaledProblem& problem : problems)
        for (const Trial& trial : problem.trials) {
            const std::string package = trial.solver.substr(0, trial.solver.find(' '));
            if (!trial.ours && std::find(packages.begin(), packages.end(), package) == packages.end())
                packages.push_back(package);
        }
    return packages;
}

/// "pcg: 0.12 s, 9"; "-" where nobody reached the tolerance.
std::string cell_of(const Trial* trial, std::size_t name_from = 0) {
    if (trial == nullptr) return "-";
    const std::string name = trial->automatic ? "" : trial->solver.substr(name_from) + ": ";
    return fmt::format("{}{:.3g} s{}", name, trial->seconds(),
                       trial->iterations > 0 ? fmt::format(", {}", trial->iterations) : "");
}

/// A row for each problem: auto, the best by hand, the best of each package of peers.
ResultTable overview_of(const std::vector<ScaledProblem>& problems) {
    const std::vector<std::string> packages = packages_of(problems);
    std::vector<Measure> titles;
    for (const std::string title : {"problem", "unknowns", "auto", "best by hand", "auto / best"})
        titles.push_back({title, title});
    for (const std::string& package : packages) titles.push_back({package, package});
    ResultTable table(std::move(titles));
    for (const ScaledProblem& problem : problems) {
        const Trial* automatic = automatic_trial(problem.trials);
        if (automatic != nullptr && !automatic->reached(problem.tolerance)) automatic = nullptr;
        const auto ratio = automatic != nullptr ? by_best_hand_picked(problem, *automatic) : std::nullopt;
        std::vector<std::string> row{problem.name, std::to_string(problem.unknowns), cell_of(automatic),
                                     cell_of(best_hand_picked(problem.trials, problem.tolerance)),
                                     ratio ? fmt::format("{:.2f}", *ratio) : "-"};
        for (const std::string& package : packages)
            row.push_back(cell_of(fastest_peer(problem, package + ' '), package.size() + 1));
        table.add(std::move(row));
    }
    return table;
}

std::optional<double> number_in(const json& fields, const char* name) {
    const std::string text = fields.at(name);
    return text.empty() ? std::nullopt : std::optional(std::stod(text));
}

Trial trial_in(const json& fields) {
    std::string status = fields.at("status");
    const bool is_false_claim = status.ends_with(not_reached);
    if (is_false_claim) status.resize(status.size() - not_reached.size());
    Trial trial = failed(status, fields.at("remark"));
    trial.claimed = is_false_claim;
    trial.solver = fields.at("solver");
    trial.ours = fields.at("whose") != "peer";
    trial.automatic = fields.at("whose") == "automatic";
    trial.iterations = static_cast<std::int64_t>(number_in(fields, "iterations").value_or(0));
    trial.setup_seconds = number_in(fields, "setup_seconds").value_or(0);
    trial.solve_seconds = number_in(fields, "solve_seconds").value_or(0);
    trial.residual = number_in(fields, "relative_residual").value_or(NAN);
    trial.memory_bytes = megabyte * number_in(fields, "memory_megabytes").value_or(0);
    return trial;
}

ScaledProblem problem_in(const json& fields) {
    return {.name = fields.at("problem"),
            .unknowns = std::stoll(fields.at("unknowns").get<std::string>()),
            .nonzeros = std::stoll(fields.at("nonzeros").get<std::string>()),
            .tolerance = number_in(fields, "tolerance").value()};
}

std::string machine_text(const json& machine) {
    std::string text = fmt::format("{}, {} of {} processors", machine.value("processor", "?"), machine.value("threads", 0),
                                   machine.value("processors", 0));
    if (machine.contains("device")) text += ", " + machine["device"].get<std::string>();
    return text + "; beside " + machine.value("peer", "nobody");
}

/// A panel for each family, but for those of one size beside others that have several, which have no curve: a quantity of each
/// solver by the number of unknowns, where the tolerance was reached.
std::vector<Panel> panels_of(const std::vector<ScaledProblem>& problems, const std::string& quantity,
                             double (*value)(const ScaledProblem&, const Trial&)) {
    std::vector<Panel> panels;
    const auto families = families_of(problems);
    const auto has_sizes = [](const auto& family) { return family.second.size() > 1; };
    const bool some_have_sizes = std::any_of(families.begin(), families.end(), has_sizes);
    for (const auto& one : families) {
        const auto& [name, family] = one;
        if (some_have_sizes && !has_sizes(one)) continue;
        Panel panel{name, quantity, {}};
        for (const std::string& solver : solvers_of(problems))
            for (const ScaledProblem* problem : family)
                if (const Trial* trial = trial_by(*problem, solver))
                    panel.add(solver, static_cast<double>(problem->unknowns), value(*problem, *trial));
        if (!panel.curves.empty()) panels.push_back(std::move(panel));
    }
    return panels;
}

void draw(const fs::path& plot, const std::vector<ScaledProblem>& problems) {
    const std::vector<fs::path> paths = figures_of_scaling(plot);
    const FigureStyle style{.size = "unknowns", .base = 10, .one_legend = true};
    write_figure(
        paths[0], "Setup and solve, microseconds per unknown",
        panels_of(problems, "us per unknown",
                  [](const ScaledProblem& p, const Trial& t) { return 1e6 * t.seconds() / static_cast<double>(p.unknowns); }),
        style);
    write_figure(paths[1], "Iterations",
                 panels_of(problems, "iterations",
                           [](const ScaledProblem&, const Trial& t) { return static_cast<double>(t.iterations); }),
                 style);
    write_figure(paths[2], "Growth of memory by the CSR of A",
                 panels_of(problems, "x CSR of A",
                           [](const ScaledProblem& p, const Trial& t) { return t.memory_bytes / p.matrix_bytes(); }),
                 style);
}

}  // namespace

std::optional<double> by_best_hand_picked(const ScaledProblem& problem, const Trial& trial) {
    const Trial* best = best_hand_picked(problem.trials, problem.tolerance);
    if (best == nullptr || !trial.reached(problem.tolerance)) return std::nullopt;
    return trial.seconds() / best->seconds();
}

ScalingReport::ScalingReport(const Options& options) : options_(options) {
    if (options.recorded.empty()) machines_.push_back(machine_text(json(machine_facts(options))));
}

void ScalingReport::begin(ScaledProblem problem) {
    fmt::print("\n{}: {} unknowns, {} nonzeros, CSR of {:.3g} MB\n", problem.name, problem.unknowns, problem.nonzeros,
               problem.matrix_bytes() / megabyte);
    std::fflush(stdout);
    problems_.push_back(std::move(problem));
}

void ScalingReport::add(Trial trial) {
    problems_.back().trials.push_back(std::move(trial));
    write(write_draft);
}

void ScalingReport::end() const { table_of(columns_of_result(), std::span(problems_).last(1), Reader::person).print(); }

void ScalingReport::read(const fs::path& path) {
    std::ifstream file(path);
    if (!file) throw FileError(path.string(), 0, "cannot be opened");
    try {
        const json content = json::parse(file);
        if (content.at("benchmark") != "scaling") throw FileError(path.string(), 0, "holds no results of solver-bench scaling");
        const std::string machine = machine_text(content.at("machine"));
        if (std::find(machines_.begin(), machines_.end(), machine) == machines_.end()) machines_.push_back(machine);
        for (const json& fields : content.at("cases")) {
            ScaledProblem problem = problem_in(fields);
            const auto same = [&](const ScaledProblem& p) {
                return p.name == problem.name && p.tolerance == problem.tolerance;
            };
            auto place = std::find_if(problems_.begin(), problems_.end(), same);
            if (place == problems_.end()) place = problems_.insert(problems_.end(), std::move(problem));
            place->trials.push_back(trial_in(fields));
        }
    } catch (const FileError&) {
        throw;
    } catch (const std::exception& error) {
        throw FileError(path.string(), 0, fmt::format("is not what solver-bench scaling --json writes ({})", error.what()));
    }
}

void ScalingReport::finish() const {
    fmt::print("\n");
    for (const std::string& line : summary()) fmt::print("{}\n", line);
    write(write_file);
    if (!options_.plot.empty()) draw(options_.plot, problems_);
}

bool ScalingReport::has_false_claims_of_ours() const {
    for (const ScaledProblem& problem : problems_)
        for (const Trial& trial : problem.trials)
            if (trial.ours && trial.false_claim(problem.tolerance)) return true;
    return false;
}

std::vector<std::string> ScalingReport::summary() const {
    std::vector<std::pair<double, std::string>> of_choice, of_best;
    std::vector<std::string> lines, unsolved;
    for (const ScaledProblem& problem : problems_) {
        const Trial* automatic = automatic_trial(problem.trials);
        const Trial* best = best_hand_picked(problem.trials, problem.tolerance);
        const Trial* peer = fastest_peer(problem);
        if (automatic != nullptr && !automatic->reached(problem.tolerance)) unsolved.push_back(problem.name);
        if (const auto ratio = automatic != nullptr ? by_best_hand_picked(problem, *automatic) : std::nullopt)
            of_choice.emplace_back(*ratio, problem.name);
        if (best != nullptr && peer != nullptr) of_best.emplace_back(best->seconds() / peer->seconds(), problem.name);
    }
    if (!of_choice.empty()) lines.push_back("- auto by the best by hand: " + spread_of(of_choice));
    if (!of_best.empty()) lines.push_back("- the best by hand by the fastest peer: " + spread_of(of_best));
    if (!unsolved.empty()) lines.push_back(fmt::format("- not solved by auto: {}", fmt::join(unsolved, ", ")));
    for (const auto& [name, family] : families_of(problems_))
        for (const std::string& solver : solvers_of(problems_))
            if (const auto growth = growth_of(family, solver)) lines.push_back(fmt::format("- {}, {}", name, *growth));
    return lines;
}

void ScalingReport::write(FileWriter to_file) const {
    table_of(all_columns(), problems_, Reader::program).write(options_, "scaling", to_file);
    if (!options_.markdown.empty()) to_file(options_.markdown, markdown());
}

std::string ScalingReport::markdown() const {
    std::string text = fmt::format(
        "`solver-bench scaling`, solver {}, {}. b = A x*, x*_i = 1 + (i mod 8)/8, formed exactly and rounded. Cells: seconds "
        "of "
        "setup and solve, iterations, of what is fastest among those whose true residual (from the exact residual) meets the "
        "tolerance.\n\n",
        SOLVER_VERSION, fmt::join(machines_, "; "));
    text += overview_of(problems_).markdown();
    return text + fmt::format("\n{}\n", fmt::join(summary(), "\n"));
}

}  // namespace solver::bench
