#pragma once

/// What the command line asks for.

#include "contest.hpp"
#include "inputs.hpp"
#include "solver/accuracy.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace solver::bench {

enum class Subject { spmv, dot, sum, norm2, gemm, triangular, solve, bits, read, robustness, scaling };

/// "spmv", "dot", "sum", "norm2", "gemm", "triangular", "solve", "bits", "read", "robustness" or "scaling".
std::string_view to_string(Subject subject);

enum class Vector { random, ones };

/// "random" or "ones".
std::string_view to_string(Vector vector);

/// Whose tables are measured again: see papers/.
enum class Paper { badin2011, badin2013 };

struct Options {
    std::string command = {};  ///< the command line
    Subject subject = Subject::spmv;
    std::optional<int> cuda_device;  ///< nothing: on the processor
    int threads = 1;
    Effort effort;
    bool in_double = true;
    bool in_single = false;
    std::vector<std::string> matrices;  ///< empty: the usual ones
    std::vector<Vector> vectors;
    SpmvKernel kernel = SpmvKernel::automatic;
    SpmvStorage storage = SpmvStorage::csr;
    std::vector<std::int64_t> sizes;
    std::vector<Input> inputs;

    // gemm
    std::vector<Elements> elements;
    double phi = 0.5;         ///< of lognormal elements
    std::int64_t block = 64;  ///< products summed plainly in selective compensation
    std::optional<Paper> paper;
    bool complex_numbers = false;  ///< of dense products
    bool grade = false;

    std::filesystem::path json;  ///< empty: not written

    std::vector<PreconditionerKind> preconditioners;  ///< triangular, bits; empty: the usual ones

    std::filesystem::path record;  ///< of bits: hashes instead of a comparison; empty: not written

    // bits, solve, robustness and scaling
    double tolerance = 1e-10;
    std::int64_t max_iterations = 3000;

    // robustness and scaling
    std::vector<std::string> solvers;  ///< empty: all
    Accuracy accuracy = Accuracy::compensated;
    bool keep_residuals = false;  ///< of solves
};

/// What is measured, G3_circuit besides, where no matrix is named; empty of what takes none or has to be told.
std::vector<std::string> usual_matrices(Subject subject);

/// The files that are to be written.
std::vector<std::filesystem::path> outputs(const Options& options);

/// The options of a run, or the text that --help or --version asked for. Throws InvalidArgument.
std::variant<Options, std::string> parse_options(int argc, const char* const* argv);

}  // namespace solver::bench
