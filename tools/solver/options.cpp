#include "options.hpp"

#include "option_table.hpp"
#include "solver/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/page/provenance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace solver::command {
namespace {

namespace po = cli::po;

std::string version_text() { return fmt::format("solver {}\nCUDA: {}\n", SOLVER_VERSION, describe_cuda()); }

using cli::given, cli::is_given, cli::UsageError;

template <class T, class Accept>
T number(const po::variables_map& values, const char* name, T otherwise, std::string_view expected, Accept accept) {
    const auto text = given(values, name);
    return text ? cli::number_where<T>(name, *text, expected, accept) : otherwise;
}

/// The value of an option whose choices the library knows.
template <class T>
T choice(const po::variables_map& values, const char* name, T otherwise, T (*from_text)(std::string_view)) {
    const auto text = given(values, name);
    if (!text) return otherwise;
    try {
        return from_text(*text);
    } catch (const InvalidArgument& error) {
        throw UsageError(fmt::format("--{} {}: {}", name, *text, error.what()));
    }
}

Precision precision_from_text(std::string_view text) {
    if (text == "double") return Precision::double_precision;
    if (text == "single") return Precision::single_precision;
    if (text == "mixed") return Precision::mixed;
    throw InvalidArgument("expected double, single or mixed");
}

PreconditionerOptions factors_of(const po::variables_map& values) {
    constexpr double gigabyte = 1e9;
    PreconditionerOptions factors;
    factors.drop_tolerance = number(values, "drop-tolerance", factors.drop_tolerance, "a number from 0 to 1",
                                    [](double t) { return t >= 0 && t <= 1; });
    factors.fill_factor = number(values, "fill-factor", factors.fill_factor, "a number from 0 to 1e6",
                                 [](double f) { return f >= 0 && f <= 1e6; });
    factors.memory_limit =
        static_cast<std::int64_t>(gigabyte * number(values, "memory-limit", 0.0, "gigabytes, a number above 1e-9 and below 1e9",
                                                    [](double g) { return g > 1e-9 && g < 1e9; }));
    factors.amg.unknowns_per_node =
        number(values, "unknowns-per-node", factors.amg.unknowns_per_node, "a whole number from 1 to 100, or 0 to find it",
               [](int n) { return n >= 0 && n <= 100; });
    return factors;
}

Accuracy accuracy_of(const po::variables_map& values) {
    std::vector<Accuracy> wishes;
    if (is_given(values, "accuracy")) wishes.push_back(choice(values, "accuracy", Options{}.accuracy, accuracy_from_text));
    if (is_given(values, "fast")) wishes.push_back(Accuracy::fast);
    if (is_given(values, "compensated")) wishes.push_back(Accuracy::compensated);
    if (is_given(values, "exact")) wishes.push_back(Accuracy::exact);
    if (wishes.empty()) return Options{}.accuracy;
    for (const Accuracy wish : wishes)
        if (wish != wishes.front())
            throw UsageError(
                fmt::format("{} and {} accuracy are both asked for; choose one", to_string(wishes.front()), to_string(wish)));
    return wishes.front();
}

Guarantee guarantee_of(const po::variables_map& values) {
    if (is_given(values, "rounded") && is_given(values, "verify"))
        throw UsageError("--verify and --rounded are both asked for; choose one: what is rounded by proof needs no bound");
    if (is_given(values, "rounded")) return Guarantee::rounded;
    return is_given(values, "verify") ? Guarantee::bound : Guarantee::none;
}

std::string names_of(const std::vector<PreconditionerKind>& kinds) {
    std::vector<std::string_view> names;
    for (const PreconditionerKind kind : kinds) names.push_back(to_string(kind));
    return fmt::format("{}", fmt::join(names, ", "));
}

/// What the preconditioner or the method that is named would not look at.
void refuse_what_has_no_effect(const po::variables_map& values, const Options& options) {
    using enum PreconditionerKind;
    const std::pair<const char*, std::vector<PreconditionerKind>> users[] = {
        {"drop-tolerance", {ilut}},          {"fill-factor", {ilut}},     {"block-size", {ilu0, isai, ilut, klu}},
        {"unknowns-per-node", {amg, schur}}, {"near-null", {amg, schur}}, {"memory-limit", {ilut, klu, amg, schur}},
    };
    for (const auto& [option, kinds] : users)
        if (options.preconditioner && is_given(values, option) &&
            std::ranges::find(kinds, *options.preconditioner) == kinds.end())
            throw UsageError(fmt::format("--{} has no effect with --preconditioner {}, but with {}", option,
                                         to_string(*options.preconditioner), names_of(kinds)));
    if (!options.preconditioner && is_given(values, "block-size"))
        throw UsageError(
            "--block-size has no effect on the automatic choice, which factors all rows; of a square system "
            "name the preconditioner: --preconditioner ilu0, isai, ilut or klu");
    if (options.method && *options.method != KrylovMethod::gmres && is_given(values, "restart"))
        throw UsageError(fmt::format("--restart has no effect with --method {}, but with gmres", to_string(*options.method)));
}

Rhs rhs_of(const po::variables_map& values) {
    const auto text = given(values, "rhs");
    if (!text || *text == "A*ones") return RhsOfOnes{};
    if (*text == "ones") return RhsOnes{};
    if (*text == "random") return RhsRandom{1};
    if (!text->starts_with("random:")) return RhsFile{*text};
    const auto seed = cli::number_from<std::uint64_t>(std::string_view(*text).substr(7));
    if (!seed) throw UsageError(fmt::format("--rhs {}: expected a whole number from 0 to 2^64 - 1 as the seed", *text));
    return RhsRandom{*seed};
}

std::filesystem::path plot_of(const po::variables_map& values) {
    const std::filesystem::path path = given(values, "plot").value_or("");
    if (!path.empty() && path.extension() != ".svg" && path.extension() != ".png" && path.extension() != ".html")
        throw UsageError(fmt::format("--plot {}: expected a name that ends in .svg, .png or .html", path.string()));
    return path;
}

Options options_of(const po::variables_map& values) {
    Options options;
    const auto matrix = given(values, "matrix");
    if (!matrix) throw UsageError("--matrix FILE is missing: which system is to be solved? solver --help shows examples");
    options.matrix = *matrix;
    options.rhs = rhs_of(values);
    options.initial = given(values, "initial").value_or("");
    options.accuracy = accuracy_of(values);
    options.guarantee = guarantee_of(values);
    options.precision = choice(values, "precision", options.precision, precision_from_text);
    options.preconditioner = choice(values, "preconditioner", options.preconditioner, preconditioner_or_auto_from_text);
    options.method = choice(values, "method", options.method, krylov_method_or_auto_from_text);
    options.profile = choice(values, "profile", options.profile, cost_profile_from_text);
    options.factors = factors_of(values);
    options.near_null = given(values, "near-null").value_or("");
    options.block_size =
        number(values, "block-size", options.block_size, "a number of rows, 1 or more", [](std::int64_t n) { return n > 0; });
    options.absolute_tolerance = number(values, "absolute-tolerance", options.absolute_tolerance, "a number, 0 or more",
                                        [](double t) { return t >= 0 && std::isfinite(t); });
    const bool may_be_zero = options.absolute_tolerance > 0;
    options.tolerance = number(values, "tolerance", options.tolerance,
                               "a number above 0, for instance 1e-10, or 0 beside an --absolute-tolerance above 0",
                               [=](double t) { return (t > 0 || (t == 0 && may_be_zero)) && std::isfinite(t); });
    options.max_iterations = number(values, "max-iterations", options.max_iterations, "a whole number, 0 or more",
                                    [](std::int64_t n) { return n >= 0; });
    options.restart =
        number(values, "restart", options.restart, "a whole number above 0", [](std::int64_t n) { return n > 0; });
    options.threads = cli::threads_of(values);
    options.device = cli::device_of(values, options.threads);
    options.spmv = choice(values, "spmv", options.spmv, spmv_kernel_from_text);
    options.storage = choice(values, "storage", options.storage, spmv_storage_from_text);
    options.least_squares = is_given(values, "least-squares");
    options.compare = is_given(values, "compare");
    options.reference = is_given(values, "reference");
    if (options.reference && options.precision == Precision::single_precision)
        throw UsageError("--reference: Eigen and the direct solution work in double; use --precision double or mixed");
    options.plot = plot_of(values);
    options.solution = given(values, "solution").value_or("");
    options.report = given(values, "report").value_or("");
    options.history = given(values, "history").value_or("");
    options.quiet = is_given(values, "quiet");
    refuse_what_has_no_effect(values, options);
    return options;
}

}  // namespace

std::string_view to_string(Precision precision) {
    if (precision == Precision::mixed) return "mixed";
    return precision == Precision::double_precision ? "double" : "single";
}

std::string_view to_string(const std::optional<PreconditionerKind>& preconditioner) {
    return preconditioner ? solver::to_string(*preconditioner) : "auto";
}

std::variant<Options, std::string> parse_options(int argc, const char* const* argv) {
    const po::options_description options = option_table();
    const po::variables_map values =
        cli::read({argv + 1, argv + argc}, options, {.help = "solver --help", .example = "--matrix FILE", .positional = ""});
    if (is_given(values, "help")) return help_text();
    if (is_given(values, "version")) return version_text();
    Options wanted = options_of(values);
    wanted.command = page::command_line(argc, argv);
    return wanted;
}

}  // namespace solver::command
