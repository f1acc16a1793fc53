#include "options.hpp"

#include "peers.hpp"
#include "solver/error.hpp"
#include "tools/cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>

namespace solver::blas2 {
namespace {

namespace po = cli::po;
using cli::all_given, cli::given, cli::is_given;

constexpr const char* introduction =
    R"(test-blas2 - how many units in the last place each result is away from the truth, and whether promises are kept

Usage: test-blas2 [--path MATRIX]... [options] [GoogleTest's flags]

Judges sums, dot products, norms, sparse products and residuals, triangular solves and dense products, in single and double
precision and every accuracy mode, element by element against MPFR. Every matrix is a test suite and every operation, precision,
kernel and mode a test in it: --gtest_list_tests, --gtest_filter='dc2_like.spmv/single/*'.

)";

constexpr const char* explanation = R"(
Errors are |computed - true| in ulp of the true result, as real numbers. A column counts the elements with at most so many ulp
and more than the column before; "0" are those with the bits of the true result, rounded once, "wrong" those off by half of it
or more, which have no correct digit, "inf" those that are Inf or NaN where they should not be, or are not where they should.
The condition number is 2 sum|a_i b_i| / |sum a_i b_i|. What is asserted, and what fails a test:
  exact        the bits of the true result, signs of zero and NaN included; on the processor the same with 1, 2 and 3 threads,
               on a GPU those of the processor
  compensated  at most 1 ulp where gamma_1024^2 sum|a_i b_i| <= u |true| / 2, else u |true| + gamma_1024^2 sum|a_i b_i|
  fast         gamma_n sum|a_i b_i| for n products, gamma_(n+2) with alpha and beta
  each         the same bits in ten runs; zeros are +0 and NaN is the quiet one
Where sum|a_i b_i| is beyond the range, fast and compensated promise no bound: Inf or NaN for a finite truth is told apart, as
OVERFLOW, and counts neither as kept nor as broken.
Time is the median of a few calls, in turn with those of fast, and cost is time by fast's.

What is computed with the matrix A:
  spmv              alpha A x + beta y for (1, 0) and (0.7, -1.3), or for --alpha and --beta; y cancels every other row
  residual          b - A x and b - A (x + x_low) for b = A x, rounded
  sum, dot, norm2   of the entries of A, of x and of A x
  triangular_solve  with the lower and the upper triangle of a square A (an absent or zero diagonal element counts as 1),
                    row by row, given the elements that were computed before
  gemm              a dense block of up to 200 rows of A, the longest among them, and up to 2000 columns, times the transpose of
                    24 of its rows and 24 random columns

Exit status: 0 if every promise was kept; 1 if one was broken, if nothing was judged, or for bad usage or input, such as a damaged
file in a folder, the rest of which is judged.
)";

po::options_description option_table() {
    constexpr unsigned line_length = 118;
    using cli::text, cli::texts;
    po::options_description table("Options", line_length);
    auto add = table.add_options();
    add("path", texts("MATRIX"),
        "a Matrix Market file (.mtx, .mtx.gz), a folder of them, or a name that solver --matrix knows; may be repeated; "
        "complex files are not judged "
        "(default: small adversarial matrices)");
    add("device", text("NAME"), "auto (default: a GPU where there is one), cpu, cuda or cuda:N");
    add("threads", text("N"), "of the processor (default: all)");
    add("accuracy", texts("MODE"), "fast, compensated, exact or all (default); may be repeated");
    add("compensated", "the same as --accuracy compensated");
    add("exact", "the same as --accuracy exact");
    add("single", "single precision alone");
    add("double", "double precision alone");
    add("alpha", text("A"), "of alpha A x + beta y");
    add("beta", text("B"), "of alpha A x + beta y");
    add("x", texts("WHICH"),
        "ones, random (which is random:1), random:SEED or ill-conditioned (rows cancel as far as their columns permit); may be "
        "repeated (default: random and ones)");
    add("no-zeroes", "leave out entries that are stored but 0");
    add("judge", texts("WHOM"), "eigen or cusparse, whose A x is judged beside ours and nothing asserted; may be repeated");
    add("details", "a line for each verdict, with its histogram (default: for up to 3 matrices; else a line for each matrix)");
    add("json", text("FILE"), "write the verdicts as JSON, after every matrix");
    add("help", "print this text");
    add("version", "print the version");
    return table;
}

std::string help() {
    std::ostringstream text;
    text << introduction << option_table() << explanation;
    return text.str();
}

po::variables_map read_command_line(int argc, const char* const* argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    for (const std::string& argument : arguments)
        if (argument.starts_with("--gtest_"))
            throw InvalidArgument(fmt::format("GoogleTest has no flag {}; expected one like --gtest_filter=PATTERN", argument));
    return cli::read(arguments, option_table(), {.help = "test-blas2 --help", .example = "--path MATRIX", .positional = ""});
}

std::vector<Accuracy> accuracies_of(const po::variables_map& values) {
    std::vector<std::string> names = all_given(values, "accuracy");
    for (const char* name : {"compensated", "exact"})
        if (is_given(values, name)) names.emplace_back(name);
    std::set<Accuracy> wanted;
    for (const std::string& name : names) {
        if (name == "all")
            wanted.insert(all_accuracies.begin(), all_accuracies.end());
        else
            wanted.insert(accuracy_from_text(name));
    }
    if (wanted.empty()) return {all_accuracies.begin(), all_accuracies.end()};
    return {wanted.begin(), wanted.end()};
}

/// What is asked for twice is done once.
template <class Value>
void add_once(std::vector<Value>& values, const Value& value) {
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

VectorWish vector_from(const std::string& text) {
    constexpr std::string_view prefix = "random:";
    if (text == "ones") return {.kind = VectorKind::ones};
    if (text == "random") return {.kind = VectorKind::random};
    if (text == "ill-conditioned") return {.kind = VectorKind::ill_conditioned};
    const auto seed =
        text.starts_with(prefix) ? cli::number_from<std::uint64_t>(std::string_view(text).substr(prefix.size())) : std::nullopt;
    if (!seed) throw InvalidArgument(fmt::format("--x {}: expected ones, random, random:SEED or ill-conditioned", text));
    return {.kind = VectorKind::random, .seed = *seed};
}

Judged judged_from(const std::string& text, const Device& device) {
    if (text != "eigen" && text != "cusparse")
        throw InvalidArgument(fmt::format("--judge {}: expected eigen or cusparse", text));
    const Judged judged = text == "eigen" ? Judged::eigen : Judged::cusparse;
    if (const std::string obstacle = obstacle_to_judging(judged, device); !obstacle.empty())
        throw InvalidArgument(fmt::format("--judge {}: {}", text, obstacle));
    return judged;
}

std::optional<double> factor(const po::variables_map& values, const char* name, bool in_single) {
    const auto text = given(values, name);
    if (!text) return std::nullopt;
    const auto value = cli::number_from<double>(*text);
    const double most = in_single ? double{std::numeric_limits<float>::max()} : std::numeric_limits<double>::max();
    if (!value || !(std::abs(*value) <= most))
        throw InvalidArgument(fmt::format("--{} {}: expected a number, at most {:.3g}", name, *text, most));
    return value;
}

Options options_of(const po::variables_map& values) {
    Options options;
    options.paths = all_given(values, "path");
    options.threads = Device::cpu(cli::threads_of(values)).threads();
    options.device = cli::device_of(values, options.threads);
    options.accuracies = accuracies_of(values);
    if (is_given(values, "single") != is_given(values, "double")) {
        options.in_single = is_given(values, "single");
        options.in_double = !options.in_single;
    }
    options.alpha = factor(values, "alpha", options.in_single);
    options.beta = factor(values, "beta", options.in_single);
    options.keep_zeroes = !is_given(values, "no-zeroes");
    for (const std::string& text : all_given(values, "x")) add_once(options.vectors, vector_from(text));
    if (options.vectors.empty()) options.vectors = {{.kind = VectorKind::random}, {.kind = VectorKind::ones}};
    for (const std::string& text : all_given(values, "judge")) add_once(options.judged, judged_from(text, options.device));
    options.in_detail = is_given(values, "details");
    options.json = given(values, "json").value_or("");
    return options;
}

}  // namespace

std::variant<Options, std::string> parse_options(int argc, const char* const* argv) {
    const po::variables_map values = read_command_line(argc, argv);
    if (is_given(values, "help")) return help();
    if (is_given(values, "version")) return fmt::format("test-blas2 {}\n", SOLVER_VERSION);
    Options options = options_of(values);
    options.command = fmt::format("{}", fmt::join(argv, argv + argc, " "));
    return options;
}

}  // namespace solver::blas2
