#pragma once

/// What the command line asks for.

#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/preconditioner.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>

namespace solver::command {

/// b = A * ones, so that the solution is known; or every element 1; or uniform in [-1, 1) from the seed; or from a file.
struct RhsOfOnes {};
struct RhsOnes {};
struct RhsRandom {
    std::uint64_t seed;
};
struct RhsFile {
    std::filesystem::path path;
};
using Rhs = std::variant<RhsOfOnes, RhsOnes, RhsRandom, RhsFile>;

/// Of the numbers; mixed: the iteration in single, x and its residual in double.
enum class Precision { double_precision, single_precision, mixed };

/// "double", "single" or "mixed".
std::string_view to_string(Precision precision);

/// Paths are empty where the option was not given.
struct Options {
    std::string command = {};  ///< the command line
    std::string matrix = {};
    Rhs rhs = RhsOfOnes{};
    std::filesystem::path initial;
    Guarantee guarantee = Guarantee::none;  ///< what is to be proven of x
    Accuracy accuracy = Accuracy::exact;
    Precision precision = Precision::double_precision;
    std::optional<PreconditionerKind> preconditioner = {};  ///< nothing: automatic
    std::optional<KrylovMethod> method = {};                ///< nothing: automatic
    CostProfile profile = CostProfile::automatic;           ///< for the automatic choice
    PreconditionerOptions factors = {};
    std::filesystem::path near_null = {};  ///< of multigrid
    std::int64_t block_size = 0;           ///< of ILU(0) and ISAI: rows of a block; 0: all
    bool least_squares = false;            ///< of a square A, too
    double tolerance = 1e-10;
    double absolute_tolerance = 0;
    std::int64_t max_iterations = 10000;
    std::int64_t restart = 30;  ///< of gmres
    Device device = Device::cpu();
    int threads = 0;  ///< for reading, and for solving on a CPU; 0 means all
    SpmvKernel spmv = SpmvKernel::automatic;
    SpmvStorage storage = SpmvStorage::automatic;
    bool compare = false;    ///< all three accuracies
    bool reference = false;  ///< Eigen and a refined direct solution beside ours
    std::filesystem::path plot;
    std::filesystem::path solution;
    std::filesystem::path report;
    std::filesystem::path history;
    bool quiet = false;

    /// Whether the plot is a page of HTML with everything that was found.
    bool wants_page() const { return plot.extension() == ".html"; }
};

/// "auto", or the name of the kind.
std::string_view to_string(const std::optional<PreconditionerKind>& preconditioner);

/// The options of a solve, or the text that --help or --version asked for. Throws cli::UsageError, and what Device throws.
std::variant<Options, std::string> parse_options(int argc, const char* const* argv);

}  // namespace solver::command
