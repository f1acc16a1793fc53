#include "options.hpp"

#include "solver/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/page/provenance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <type_traits>

namespace solver::bench {
namespace {

namespace po = cli::po;
using cli::all_given, cli::given, cli::is_given, cli::text, cli::texts;

struct Command {
    Subject subject;
    std::string_view name;
    std::string_view purpose;
    std::string_view detail;
    std::string_view traffic;
};

constexpr std::string_view about_parts =
    "Eigen's is computed by itself (eigen, one thread) and in as many parts as threads (eigen split).\n"
    "Elements not chosen by --size: 2^25, beyond most caches, and 2^15, within; on a CUDA device 2^27, 2^24, 2^20 and 2^16,\n"
    "beside cuBLAS or, for the sum, CUB's DeviceReduce.\n";

constexpr std::array commands{
    Command{
        Subject::spmv, "spmv", "y = A x, A sparse, beside Eigen's row-major SparseMatrix with 32-bit indices (OpenMP)",
        "A matrix from a file stands in huge pages where the system has them, as the library's reader leaves it; Eigen's\n"
        "copy stands where Eigen allocates it. On a CUDA device: beside cuSPARSE's ALG1 and ALG2, preprocessed, and the time\n"
        "that our analysis takes (make the plan).\n",
        "values and column indices of the entries, row offsets (8 bytes a row here, 4 in Eigen), x, y:\n"
        "  nonzeros (s + 4) + (rows + 1) 8 + columns s + rows s bytes, s = 8 (double) or 4 (single)"},
    Command{Subject::dot, "dot", "x'y, beside Eigen's dot", about_parts, "x and y: 2 n s bytes, s = 8 (double) or 4 (single)"},
    Command{Subject::sum, "sum", "sum of x, beside Eigen's sum", about_parts, "x: n s bytes, s = 8 (double) or 4 (single)"},
    Command{Subject::norm2, "norm2", "the 2-norm of x, beside Eigen's square root of squaredNorm", about_parts,
            "x: n s bytes, s = 8 (double) or 4 (single)"},
    Command{
        Subject::gemm, "gemm",
        "C = A B, dense and square, beside Eigen, OpenBLAS where CMake found it, cuBLAS on a CUDA device",
        "fast, compensated, exact, and selective compensation: blocks of products summed plainly, these sums by Kahan's,\n"
        "doubly compensated, pairwise or Dot2 summation. GFLOPS are 2 n^3 by time, 8 n^3 of complex numbers, whatever a mode\n"
        "computes. Errors are of up to 2000 elements chosen at random, against superaccumulators: the largest and the mean\n"
        "from the correctly rounded element, in ulp, and the largest |error| / (|A||B|) from the element without rounding.\n"
        "--grade instead judges everybody's errors on inputs that show which algorithm is at work; --paper measures a paper's\n"
        "tables again, beside what it reports: badin2011, selective compensation in single precision; badin2013,\n"
        "Strassen's algorithm for non-negative matrices, on a CUDA device.\n",
        "GFLOPS are given instead"},
    Command{Subject::triangular, "triangular", "x = L^-1 b and x = U^-1 b with incomplete or complete factors of a matrix",
            "On a CUDA device beside cuSPARSE's SpSV, analysed.\n",
            "values and column indices of the entries, row offsets (8 bytes a row; 4 on a CUDA device), b, x"},
    Command{
        Subject::solve, "solve", "BiCGStab with Jacobi, time of one iteration, beside Eigen's BiCGSTAB",
        "Solves A x = b, b = A ones (formed exactly), from x = 0. The time of an iteration is what a solve takes beyond one\n"
        "of a quarter of its iterations; all in, it is the time of the solve by its iterations. On a CUDA device: beside a\n"
        "textbook loop on cuSPARSE (ALG1, ALG2) and cuBLAS with scalars on the host. The error is the true relative residual,\n"
        "computed exactly. Eigen solves in double only.\n",
        "two products, each as in spmv; row offsets have 4 bytes on a CUDA device"},
    Command{
        Subject::bits, "bits", "whether exact gives the same bits on every device: products, reductions, whole solves",
        "For every square matrix (a folder, files, generators): y = A x and b - A (x + x_low) for random x, A ones, the sum,\n"
        "dot product and norm of random vectors, and for b = A ones BiCGStab with every preconditioner and what solve chooses\n"
        "when it is told nothing (auto): solution, status, history, hash of the factors. What one thread of the processor "
        "gives is compared with what all of its threads give,\n"
        "or, with --device cuda, what the processor gives with what the GPU does. --record FILE writes hashes instead, a line\n"
        "for each matrix, accuracy and computation, for diff to compare with those of another version of the library: on the\n"
        "same machine, for fast and compensated depend on threads and vector instructions.\n",
        ""},
    Command{Subject::read, "read", "Matrix Market files, beside Eigen's loadMarket",
            "Files are uncompressed before and read from the page cache. loadMarket has one thread, does not expand symmetric\n"
            "matrices, gives the entries of a pattern arbitrary values, and is judged by the entries as stored.\n",
            "the bytes of the uncompressed file"},
    Command{
        Subject::robustness, "robustness",
        "who solves what: BiCGStab with every preconditioner, beside Eigen's, on many matrices",
        "Solves A x = b for every square real or integer matrix: b = A x*, x*_i = 1 + (i mod 8)/8, formed exactly and\n"
        "rounded. Each solve has a process of its own, so that neither a hang nor a crash ends the run; what takes less than\n"
        "0.2 s is repeated, and the fastest run counts. Solutions are judged by the exact residual. JSON is written\n"
        "anew after every solve: an interrupted run keeps what it has.\n",
        ""},
    Command{
        Subject::scaling, "scaling",
        "cost by size: the automatic choice and preconditioners by hand, beside hypre, PyAMG, Eigen and SuiteSparse",
        "Solves A x = b as robustness does, each solve in a process of its own, on problems that come in sizes\n"
        "(poisson3d_50 poisson3d_100 ...). Given apart: setup and solve, iterations, the growth of memory at its peak (of the\n"
        "host; peers' copies of A count, the time to make them does not), and the true residual of every solution. A peer\n"
        "that stops at a true residual above the tolerance is run again with a tenth and a hundredth of it, and only the last\n"
        "run counts. Peers for symmetric definite matrices run where A is symmetric to the bit with a positive diagonal. On a\n"
        "CUDA device there are no peers. JSON is written anew after every solve.\n",
        ""},
};

constexpr std::string_view all_subjects = "spmv, dot, sum, norm2, gemm, triangular, solve, bits, read, robustness or scaling";

constexpr const char* overview =
    R"(solver-bench - the library's accuracy modes beside Eigen, or cuSPARSE, cuBLAS and CUB on a GPU, timed in turn and verified

Usage: solver-bench spmv|dot|sum|norm2|gemm|triangular|solve|bits|read|robustness|scaling
                    [options]

)";

constexpr const char* method = R"(
How it is measured: after a warm-up, every repetition gives each competitor a turn, A B C A B C ...: one call that is
not timed, then calls for a millisecond or more. On a CUDA device a turn is a CUDA graph of several calls, launched
twice, the second time between events. Nothing is flushed: data that fit a cache are in it, and each heading
says how large they are. Printed are the median time of a call; +-, half the 95 % confidence interval of that median (none
of fewer than six repetitions); GB/s, compulsory traffic by time; how many times faster than the peer and than fast
(median of the ratios within a repetition, above 1 is faster); and the largest error of any timed result in ulp against
the correctly rounded one.
)";

constexpr const char* exit_status = R"(
Exit status: 0; 1 for bad usage or input; 2 where a result that must be correctly rounded was not, where (bits) bits differ,
where (robustness, scaling) the library claimed convergence falsely, or where (gemm --grade) fast, compensated or exact is
not of grade A.
)";

const Command& command_of(Subject subject) {
    for (const Command& command : commands)
        if (command.subject == subject) return command;
    throw InvalidArgument(fmt::format("there is no benchmark number {}", static_cast<int>(subject)));
}

Subject subject_from_text(std::string_view text) {
    for (const Command& command : commands)
        if (text == command.name) return command.subject;
    throw InvalidArgument(fmt::format("there is no benchmark '{}'; choose {}", text, all_subjects));
}

bool is_reduction(Subject subject) { return subject == Subject::dot || subject == Subject::sum || subject == Subject::norm2; }

bool runs_on_cuda(Subject subject) {
    return is_reduction(subject) || subject == Subject::spmv || subject == Subject::triangular || subject == Subject::solve ||
           subject == Subject::bits || subject == Subject::gemm;
}

bool takes_folders(Subject subject) {
    return subject == Subject::robustness || subject == Subject::scaling || subject == Subject::bits;
}

/// Of robustness and scaling.
void add_trials(po::options_description_easy_init& add, bool scaling) {
    add("matrix", texts("NAME"), "a folder, a file, or a name that solver --matrix knows; may be repeated, --matrix left out");
    if (scaling) {
        add("solver", texts("NAME"),
            "ours: auto, or a preconditioner; or a peer, as in 'hypre pcg'; may be repeated (default: auto, jacobi, ilu0, amg "
            "and all peers that are there)");
        add("device", text("NAME"), "of the library's solves: cpu (default), cuda or cuda:N");
    } else {
        add("solver", texts("NAME"), "eigen none, eigen jacobi, ..., none, jacobi, ...; may be repeated (default: all)");
    }
    add("accuracy", text("MODE"), "of the library's solves: fast, compensated (default) or exact");
    add("tolerance", text("T"), "on ||b - A x|| / ||b|| (default: 1e-10)");
    add("max-iterations", text("N"), scaling ? "for everybody (default: 10000)" : "for everybody (default: 3000)");
    add("time-limit", text("SECONDS"),
        fmt::format("for one solve, repetitions included (default: {})", scaling ? 600 : 120).c_str());
}

void add_bits(po::options_description_easy_init& add) {
    add("matrix", texts("NAME"), "a folder, a file, or a name that solver --matrix knows; may be repeated, --matrix left out");
    add("preconditioner", texts("KIND"),
        "none, jacobi, ilu0, isai, ilut, klu, amg, schur; may be repeated (default: all but schur)");
    add("record", text("FILE"), "compare nothing: write the hashes of what the device gives, in every accuracy");
    add("max-iterations", text("N"), "of every solve with a preconditioner by name (default: 100)");
    add("precision", text("TYPE"), "double, single or both (default)");
}

void add_gemm(po::options_description_easy_init& add) {
    add("size", texts("N"), "rows and columns; may be repeated (default: 2048; on a device 4096 and 8192)");
    add("input", texts("WHICH"),
        "uniform ([0, 1)), signed ([-1, 1)) or lognormal ((U - 0.5) exp(phi N)); may be repeated (default: uniform and "
        "signed)");
    add("phi", text("PHI"), "of lognormal elements (default: 0.5)");
    add("block", text("K"), "products summed plainly in selective compensation (default: 64)");
    add("complex", "matrices of complex numbers, whose errors are those of their parts");
    add("grade", "grade everybody's errors at two sizes or more (default: 64, 128, ..., 1024 and both precisions)");
    add("paper", text("NAME"), "measure the tables and figures of badin2011 or badin2013 (sizes by default as published)");
}

void add_reduction(po::options_description_easy_init& add) {
    add("size", texts("N"), "elements; may be repeated (default: see above)");
    add("input", texts("WHICH"),
        "random, worst (the first filter cannot decide: everything is summed again) or scattered (no filter can: exponents "
        "all over the range); may be repeated (default: random and worst)");
}

/// What is measured.
void add_inputs(po::options_description_easy_init& add, Subject subject) {
    if (const std::vector<std::string> usual = usual_matrices(subject); !usual.empty())
        add("matrix", texts("NAME"),
            fmt::format(
                "a {}file, or a name that solver --matrix knows; may be repeated (default: G3_circuit if it is found, {})",
                subject == Subject::read ? "coordinate " : "", fmt::join(usual, ", "))
                .c_str());
    if (subject == Subject::triangular)
        add("preconditioner", texts("KIND"), "whose factors: ilu0 (default), ilut or klu; may be repeated");
    if (subject == Subject::spmv) {
        add("x", text("WHICH"), "random, ones (rows that cancel) or both (default)");
        add("kernel", text("KERNEL"), "auto (default), general or adaptive");
        add("storage", text("WHAT"), "csr (default), or packed: packed products, and packing, beside those of CSR");
    }
    if (subject == Subject::solve) {
        add("tolerance", text("T"), "on ||b - A x|| / ||b|| (default: 1e-10)");
        add("max-iterations", text("N"), "for everybody (default: 200)");
    }
    if (is_reduction(subject)) add_reduction(add);
    if (subject == Subject::gemm) add_gemm(add);
}

/// How long is measured.
void add_effort(po::options_description_easy_init& add) {
    add("precision", text("TYPE"), "double (default), single or both");
    add("repetitions", text("N"), "how often everybody has a turn (default: until the medians are stable to 1 %)");
    add("time-limit", text("SECONDS"), "for a table of at least three repetitions, if these are not given (default: 5)");
}

po::options_description option_table(Subject subject) {
    constexpr unsigned line_length = 118;
    po::options_description table("Options", line_length);
    auto add = table.add_options();
    add_inputs(add, subject);
    if (runs_on_cuda(subject)) add("device", text("NAME"), "auto (default: a GPU where there is one), cpu, cuda or cuda:N");
    add("threads", text("N"), "threads for everybody (default: all processors)");
    if (subject == Subject::bits)
        add_bits(add);
    else if (subject == Subject::robustness || subject == Subject::scaling)
        add_trials(add, subject == Subject::scaling);
    else
        add_effort(add);
    add("json", text("FILE"),
        "write the results and the machine as JSON, of which tools/bench-pages makes pages, tables and figures");
    add("help", "print this text");
    return table;
}

std::string general_help() {
    std::string text = overview;
    for (const Command& command : commands) text += fmt::format("  {:<10} {}\n", command.name, command.purpose);
    return text + "\nsolver-bench spmv --help shows the options of spmv, and so on; solver-bench --version the version.\n" +
           method + exit_status;
}

std::string help(Subject subject) {
    const Command& command = command_of(subject);
    std::ostringstream text;
    text << fmt::format("solver-bench {} [options]\n\n{}\n{}\n", command.name, command.purpose, command.detail)
         << option_table(subject);
    if (!takes_folders(subject)) text << fmt::format("\nCompulsory traffic: {}\n", command.traffic) << method;
    text << exit_status;
    return text.str();
}

po::variables_map read_command_line(int argc, const char* const* argv, Subject subject) {
    return cli::read({argv + 2, argv + argc}, option_table(subject),
                     {.help = fmt::format("solver-bench {} --help", to_string(subject)),
                      .example = "--json FILE",
                      .positional = takes_folders(subject) ? "matrix" : ""});
}

/// The number that an option has, or nothing.
template <class T>
std::optional<T> number(const po::variables_map& values, const char* name, T least, T most) {
    const auto text = given(values, name);
    return text ? std::optional(cli::number_between<T>(name, *text, least, most)) : std::nullopt;
}

/// Which of two things is asked for, where "both" means both.
struct Either {
    bool first, second;
};

Either either(const po::variables_map& values, const char* name, std::string_view first, std::string_view second,
              std::string_view otherwise) {
    const std::string text = given(values, name).value_or(std::string(otherwise));
    if (text != first && text != second && text != "both")
        throw InvalidArgument(fmt::format("--{} {}: expected {}, {} or both", name, text, first, second));
    return {text != second, text != first};
}

/// The CUDA device that --device means; nothing for the processor.
std::optional<int> cuda_device_of(const po::variables_map& values) {
    const Device device = cli::device_of(values, 0);
    return device.kind() == Device::Kind::cuda ? std::optional(device.index()) : std::nullopt;
}

std::vector<std::int64_t> usual_sizes(Subject subject, bool on_cuda) {
    if (subject == Subject::gemm) return on_cuda ? std::vector<std::int64_t>{4096, 8192} : std::vector<std::int64_t>{2048};
    const auto power = [](int exponent) { return std::int64_t{1} << exponent; };
    return on_cuda ? std::vector{power(27), power(24), power(20), power(16)} : std::vector{power(25), power(15)};
}

std::optional<Paper> paper_of(const po::variables_map& values) {
    const auto name = given(values, "paper");
    if (!name) return std::nullopt;
    if (is_given(values, "grade")) throw InvalidArgument("--paper and --grade are two benchmarks; choose one");
    if (*name == "badin2011") return Paper::badin2011;
    if (*name == "badin2013") return Paper::badin2013;
    throw InvalidArgument(fmt::format("--paper {}: expected badin2011 or badin2013", *name));
}

/// What an option that may be repeated means, the same thing once.
template <class FromText>
auto each_once(const po::variables_map& values, const char* name, const FromText& from_text) {
    std::vector<std::decay_t<decltype(from_text(std::string()))>> meant;
    for (const std::string& text : all_given(values, name))
        if (const auto one = from_text(text); std::ranges::find(meant, one) == meant.end()) meant.push_back(one);
    return meant;
}

std::vector<std::int64_t> sizes_of(const po::variables_map& values, Subject subject, bool on_cuda) {
    const std::int64_t largest = std::int64_t{1} << (subject == Subject::gemm ? 17 : 34);
    const auto sizes = each_once(
        values, "size", [&](const std::string& text) { return cli::number_between<std::int64_t>("size", text, 1, largest); });
    return sizes.empty() ? usual_sizes(subject, on_cuda) : sizes;
}

std::vector<Input> inputs_of(const po::variables_map& values) {
    const auto inputs = each_once(values, "input", input_from_text);
    return inputs.empty() ? std::vector<Input>{Input::random, Input::worst} : inputs;
}

/// Grades and papers have inputs and an effort of their own.
void refuse_ignored(const po::variables_map& values, const char* benchmark, std::initializer_list<const char*> ignored) {
    for (const char* name : ignored)
        if (is_given(values, name))
            throw cli::UsageError(fmt::format("{} does not look at --{}; expected one of them", benchmark, name));
}

void check_grade(const po::variables_map& values, const Options& options) {
    refuse_ignored(values, "--grade", {"input", "phi", "repetitions", "time-limit"});
    if (options.sizes.size() < 2)
        throw cli::UsageError("--grade: grades are of growth with the size; expected two sizes or more, or no --size");
}

void read_gemm(const po::variables_map& values, Options& options) {
    options.complex_numbers = is_given(values, "complex");
    options.grade = is_given(values, "grade");
    options.paper = paper_of(values);
    if (options.complex_numbers && (options.grade || options.paper))
        throw cli::UsageError("--complex: grades and papers are those of real matrices; expected neither --grade nor --paper");
    if (!is_given(values, "size")) {
        if (options.grade) options.sizes = {64, 128, 256, 512, 1024};
        if (options.paper == Paper::badin2011) options.sizes = {1024, 2048, 3072, 4096, 5120, 8192};
        if (options.paper == Paper::badin2013) options.sizes = {1024, 2048, 4096, 8192, 16384};
    }
    if (options.grade) check_grade(values, options);
    if (options.paper) refuse_ignored(values, "--paper", {"input", "phi", "block", "time-limit"});
    if (!is_given(values, "precision") && (options.grade || options.paper == Paper::badin2013)) options.in_single = true;
    options.elements = each_once(values, "input", elements_from_text);
    if (options.elements.empty()) options.elements = {Elements::uniform, Elements::both_signs};
    options.phi = number<double>(values, "phi", 0, 100).value_or(options.phi);
    options.block = number<std::int64_t>(values, "block", 1, 1'000'000'000).value_or(options.block);
}

void read_robustness(const po::variables_map& values, Options& options) {
    if (!is_given(values, "time-limit")) options.effort.time_limit = 120;
    options.solvers = each_once(values, "solver", std::identity());
    if (const auto text = given(values, "accuracy")) options.accuracy = accuracy_from_text(*text);
}

/// The device is not looked at: a process that has used CUDA cannot have children that do.
std::optional<int> untouched_cuda_device(const po::variables_map& values) {
    const std::string name = given(values, "device").value_or("cpu");
    if (name == "cpu") return std::nullopt;
    if (const auto index = cli::cuda_index(name)) return index;
    throw cli::UsageError(fmt::format("--device {}: expected cpu, cuda or cuda:N", name));
}

void read_scaling(const po::variables_map& values, Options& options) {
    read_robustness(values, options);
    if (!is_given(values, "time-limit")) options.effort.time_limit = 600;
    if (!is_given(values, "max-iterations")) options.max_iterations = 10'000;
    options.cuda_device = untouched_cuda_device(values);
}

void check_bits(const po::variables_map& values, const Options& options) {
    if (!options.record.empty() && is_given(values, "json"))
        throw cli::UsageError("--record writes hashes, which are no JSON; expected --record or --json");
    if (options.record.empty() && !options.cuda_device && options.threads == 1)
        throw cli::UsageError("--threads 1: one thread would be compared with itself; expected two or more");
}

Options options_of(const po::variables_map& values, Subject subject) {
    Options options;
    options.subject = subject;
    options.threads = Device::cpu(cli::threads_of(values)).threads();
    if (const auto count = number<int>(values, "repetitions", 1, 1'000'000)) options.effort.repetitions = *count;
    if (const auto seconds = number<double>(values, "time-limit", 0, 1e6)) options.effort.time_limit = *seconds;
    const Either precision = either(values, "precision", "double", "single", subject == Subject::bits ? "both" : "double");
    options.in_double = precision.first;
    options.in_single = precision.second;
    options.matrices = all_given(values, "matrix");
    const Either x = either(values, "x", "random", "ones", "both");
    if (x.first) options.vectors.push_back(Vector::random);
    if (x.second) options.vectors.push_back(Vector::ones);
    if (const auto text = given(values, "kernel")) options.kernel = spmv_kernel_from_text(*text);
    if (const auto text = given(values, "storage")) options.storage = spmv_storage_from_text(*text);
    if (runs_on_cuda(subject)) options.cuda_device = cuda_device_of(values);
    options.sizes = sizes_of(values, subject, options.cuda_device.has_value());
    options.tolerance = number<double>(values, "tolerance", 1e-300, 1).value_or(options.tolerance);
    if (subject == Subject::solve) options.max_iterations = 200;
    if (subject == Subject::bits) options.max_iterations = 100;
    options.record = subject == Subject::bits ? given(values, "record").value_or("") : "";
    options.max_iterations = number<std::int64_t>(values, "max-iterations", 1, 1'000'000'000).value_or(options.max_iterations);
    if (is_reduction(subject)) options.inputs = inputs_of(values);
    if (subject == Subject::gemm) read_gemm(values, options);
    options.json = given(values, "json").value_or("");
    if (takes_folders(subject) && options.matrices.empty())
        throw InvalidArgument(fmt::format("which matrices? solver-bench {} FOLDER, or names of files", to_string(subject)));
    if (subject == Subject::robustness) read_robustness(values, options);
    if (subject == Subject::scaling) read_scaling(values, options);
    if (subject == Subject::bits) check_bits(values, options);
    options.keep_residuals = !options.json.empty();
    options.preconditioners = each_once(values, "preconditioner", preconditioner_from_text);
    return options;
}

}  // namespace

std::vector<std::string> usual_matrices(Subject subject) {
    if (subject == Subject::spmv) return {"stencil27_128", "power_law_2000000", "dc2_like"};
    if (subject == Subject::triangular) return {"poisson3d_64", "dc2_like"};
    if (subject == Subject::solve) return {"stencil27_64", "dc2_like"};
    if (subject == Subject::read) return {"stencil27_64"};
    return {};
}

std::vector<std::filesystem::path> outputs(const Options& options) {
    std::vector<std::filesystem::path> paths{options.json, options.record};
    std::erase(paths, std::filesystem::path());
    return paths;
}

std::string_view to_string(Subject subject) { return command_of(subject).name; }

std::string_view to_string(Vector vector) { return vector == Vector::ones ? "ones" : "random"; }

std::variant<Options, std::string> parse_options(int argc, const char* const* argv) {
    if (argc < 2) throw InvalidArgument(fmt::format("which benchmark? {}; solver-bench --help tells more", all_subjects));
    const std::string_view first = argv[1];
    if (first == "--help" || first == "-h" || first == "help") return general_help();
    if (first == "--version") return fmt::format("solver-bench {}\n", SOLVER_VERSION);
    const Subject subject = subject_from_text(first);
    const po::variables_map values = read_command_line(argc, argv, subject);
    if (is_given(values, "help")) return help(subject);
    Options wanted = options_of(values, subject);
    wanted.command = page::command_line(argc, argv);
    return wanted;
}

}  // namespace solver::bench
