#include "options.hpp"

#include "matrices/closest_names.hpp"
#include "option_table.hpp"
#include "solver/error.hpp"
#include "tools/page/provenance.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <charconv>
#include <cmath>
#include <optional>

namespace solver::command {
namespace {

namespace po = boost::program_options;

std::string version_text() { return fmt::format("solver {}\nCUDA: {}\n", SOLVER_VERSION, describe_cuda()); }

[[noreturn]] void refuse_unknown(const std::string& token, const po::options_description& options) {
    const std::string name = token.substr(0, token.find('='));
    std::string hint = "solver --help lists all";
    std::size_t least = name.size() / 3 + 1;
    for (const auto& option : options.options()) {
        const std::string candidate = "--" + option->long_name();
        const std::size_t distance = matrices::edit_distance(name, candidate);
        if (distance >= least) continue;
        least = distance;
        hint = fmt::format("did you mean {}?", candidate);
    }
    throw UsageError(fmt::format("there is no option {}; {}", token, hint));
}

po::variables_map read_command_line(int argc, const char* const* argv, const po::options_description& options) {
    using namespace po::command_line_style;
    po::variables_map values;
    try {
        const po::positional_options_description none;
        po::store(
            po::command_line_parser(argc, argv).options(options).positional(none).style(unix_style & ~allow_guessing).run(),
            values);
        return values;
    } catch (const po::unknown_option& error) {
        refuse_unknown(error.get_option_name(), options);
    } catch (const po::too_many_positional_options_error&) {
        throw UsageError("every argument belongs to an option, as in --matrix FILE; solver --help lists all");
    } catch (const po::error& error) {
        throw UsageError(error.what());
    }
}

std::optional<std::string> given(const po::variables_map& values, const char* name) {
    if (!values.count(name)) return std::nullopt;
    auto value = values[name].as<std::string>();
    if (value.empty()) throw UsageError(fmt::format("--{} needs a value", name));
    return value;
}

template <class T>
std::optional<T> number_from(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

template <class T, class Accept>
T number(const po::variables_map& values, const char* name, T otherwise, std::string_view expected, Accept accept) {
    const auto text = given(values, name);
    if (!text) return otherwise;
    const auto value = number_from<T>(*text);
    if (!value || !accept(*value)) throw UsageError(fmt::format("--{} {}: expected {}", name, *text, expected));
    return *value;
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

std::optional<PreconditionerKind> automatic_or_kind(std::string_view text) {
    if (text == "auto") return std::nullopt;
    try {
        return preconditioner_from_text(text);
    } catch (const InvalidArgument&) {
        throw InvalidArgument("expected auto, none, jacobi, ilu0, isai, ilut, klu or amg");
    }
}

std::optional<KrylovMethod> automatic_or_method(std::string_view text) {
    if (text == "auto") return std::nullopt;
    try {
        return krylov_method_from_text(text);
    } catch (const InvalidArgument&) {
        throw InvalidArgument("expected auto, bicgstab or cg");
    }
}

PreconditionerOptions factors_of(const po::variables_map& values) {
    constexpr double gigabyte = 1e9;
    PreconditionerOptions factors;
    factors.drop_tolerance = number(values, "drop-tolerance", factors.drop_tolerance, "a number from 0 to 1",
                                    [](double t) { return t >= 0 && t <= 1; });
    factors.fill_factor = number(values, "fill-factor", factors.fill_factor, "a number from 0 to 1e6",
                                 [](double f) { return f >= 0 && f <= 1e6; });
    factors.memory_limit =
        static_cast<std::int64_t>(gigabyte * number(values, "memory-limit", 0.0, "gigabytes, a number above 0",
                                                    [](double g) { return g > 1e-9 && g < 1e9; }));
    return factors;
}

Accuracy accuracy_of(const po::variables_map& values) {
    std::vector<Accuracy> wishes;
    if (values.count("accuracy")) wishes.push_back(choice(values, "accuracy", Accuracy::fast, accuracy_from_text));
    if (values.count("compensated")) wishes.push_back(Accuracy::compensated);
    if (values.count("exact")) wishes.push_back(Accuracy::exact);
    if (wishes.empty()) return Options{}.accuracy;
    for (const Accuracy wish : wishes)
        if (wish != wishes.front())
            throw UsageError(
                fmt::format("{} and {} accuracy are both asked for; choose one", to_string(wishes.front()), to_string(wish)));
    return wishes.front();
}

Rhs rhs_of(const po::variables_map& values) {
    const auto text = given(values, "rhs");
    if (!text || *text == "A*ones") return RhsOfOnes{};
    if (*text == "ones") return RhsOnes{};
    if (*text == "random") return RhsRandom{1};
    if (!text->starts_with("random:")) return RhsFile{*text};
    const auto seed = number_from<std::uint64_t>(std::string_view(*text).substr(7));
    if (!seed) throw UsageError(fmt::format("--rhs {}: expected a whole number from 0 to 2^64 - 1 as the seed", *text));
    return RhsRandom{*seed};
}

Device cuda_device(int index) {
    try {
        return Device::cuda(index);
    } catch (const NotSupported& error) {
        throw UsageError(fmt::format("{}; --device auto takes the best there is", error.what()));
    }
}

Device device_of(const po::variables_map& values, int threads) {
    const std::string text = given(values, "device").value_or("auto");
    if (text == "cpu") return Device::cpu(threads);
    if (text == "cuda") return cuda_device(0);
    if (text.starts_with("cuda:")) {
        if (const auto index = number_from<int>(std::string_view(text).substr(5)); index && *index >= 0)
            return cuda_device(*index);
    } else if (text == "auto") {
        const Device best = Device::best();
        return best.kind() == Device::Kind::cpu ? Device::cpu(threads) : best;
    }
    throw UsageError(fmt::format("--device {}: expected auto, cpu, cuda or cuda:N", text));
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
    options.precision = choice(values, "precision", options.precision, precision_from_text);
    options.preconditioner = choice(values, "preconditioner", options.preconditioner, automatic_or_kind);
    options.method = choice(values, "method", options.method, automatic_or_method);
    options.profile = choice(values, "profile", options.profile, cost_profile_from_text);
    options.factors = factors_of(values);
    options.tolerance = number(values, "tolerance", options.tolerance, "a number above 0, for instance 1e-10",
                               [](double t) { return t > 0 && std::isfinite(t); });
    options.absolute_tolerance = number(values, "absolute-tolerance", options.absolute_tolerance, "a number, 0 or more",
                                        [](double t) { return t >= 0 && std::isfinite(t); });
    options.max_iterations = number(values, "max-iterations", options.max_iterations, "a whole number, 0 or more",
                                    [](std::int64_t n) { return n >= 0; });
    options.threads =
        number(values, "threads", options.threads, "a whole number from 1 to 4096", [](int n) { return n >= 1 && n <= 4096; });
    options.device = device_of(values, options.threads);
    options.spmv = choice(values, "spmv", options.spmv, spmv_kernel_from_text);
    options.storage = choice(values, "storage", options.storage, spmv_storage_from_text);
    options.compare = values.count("compare") > 0;
    options.reference = values.count("reference") > 0;
    if (options.reference && options.precision == Precision::single_precision)
        throw UsageError("--reference: Eigen and the direct solution work in double; use --precision double or mixed");
    options.plot = plot_of(values);
    options.solution = given(values, "solution").value_or("");
    options.report = given(values, "report").value_or("");
    options.history = given(values, "history").value_or("");
    options.quiet = values.count("quiet") > 0;
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
    const po::variables_map values = read_command_line(argc, argv, options);
    if (values.count("help")) return help_text();
    if (values.count("version")) return version_text();
    Options wanted = options_of(values);
    wanted.command = page::command_line(argc, argv);
    return wanted;
}

}  // namespace solver::command
