#pragma once

/// What a run of the command found.

#include "solver/dense_matrix.hpp"
#include "solver/preparation.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"
#include "tools/page/ulp_histogram.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace solver::command {

/// How far x is from the solution x* = ones of A x = A * ones. b is A * ones rounded, so even the exact solution of A x = b
/// differs from x*: by ||A^-1 (b - A x*)||, at most about cond(A) u.
struct ForwardError {
    double error;         ///< max_i |x_i - 1|
    double rhs_rounding;  ///< ||b - A * ones||_2 / ||b||_2, the effect of that rounding; 0 where b is exact
    double floor;         ///< rhs_rounding times the amplification ||x - x*|| / ||A (x - x*)|| seen in this solve: an estimate
};

/// One solve in one accuracy.
struct Run {
    Accuracy accuracy = Accuracy::exact;
    SolveReport report;
    bool interrupted = false;                   ///< by Ctrl-C; x is the iterate reached
    std::optional<ForwardError> forward_error;  ///< where the solution is known
    double backward_error = 0;                  ///< of the right-hand side that is worst (guarantee.hpp)
    double setup_seconds = 0;                   ///< choosing and making preconditioners
    double solve_seconds = 0;                   ///< all attempts
    /// Of least squares, of the right-hand side that is worst: the largest |a_j'r| / (||a_j|| ||r||), without a preconditioner
    /// ||A'r|| / (||A||_F ||r||).
    std::optional<double> normal_residual;
    PreconditionerKind of_normal_equations =
        PreconditionerKind::none;     ///< of least squares: klu or amg, of the column with most entries
    std::int64_t factor_entries = 0;  ///< of that
    DenseMatrix<double> solution;     ///< in single precision with a second part, the sum of both
    std::string sha256;               ///< of the bits of the solution

    /// The result of the right-hand side that went worst.
    const SolveResult& worst() const;

    /// Of the right-hand side of which least was proven; null where nothing was asked for.
    const SolutionProof* worst_proof() const;

    /// Whether all that was asked for is proven.
    bool is_proven() const;

    /// Whether nothing was solved, as A was proven singular before.
    bool is_refuted() const;
};

/// Somebody else's solve of the same system.
struct ReferenceRun {
    std::string name;
    std::string claim;  ///< in its own words
    std::int64_t iterations = 0;
    double claimed_residual = 0;
    double true_residual = 0;
    std::optional<double> forward_error;  ///< max_i |x_i - 1| where the solution is known
    double seconds = 0;
    std::vector<double> half_steps;  ///< ||s||_2 / ||b||_2 in the middle of each iteration, where it can be seen
    std::vector<double> solution;
};

/// The errors of one product with the matrix, of every accuracy and of Eigen.
struct ProductErrors {
    std::string x;  ///< HTML
    std::vector<page::UlpRow> ways;
};

struct Outcome {
    std::string matrix;  ///< the path of the file, or the name of the generator
    bool generated = false;
    bool is_complex = false;  ///< then solutions, structure and storage are those of the real form (solver/complex.hpp)
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t nonzeros = 0;
    std::int64_t right_hand_sides = 1;
    Diagnosis structure;
    SpmvKernel spmv = SpmvKernel::automatic;
    SpmvDescription storage;
    double read_seconds = 0;
    double setup_seconds = 0;              ///< the plan of products and b
    std::vector<Run> runs;                 ///< the accuracy asked for first
    std::vector<ReferenceRun> references;  ///< of the first right-hand side
    std::vector<ProductErrors> products;   ///< for the page

    const Run& run() const { return runs.front(); }
};

/// "conjugate gradients", "BiCGStab" and so on; of several, the one that came last.
std::string_view method_name(const Run& run);

/// "converged", or how else it ended: "interrupted", "not solved" where A is singular, or as solve says.
std::string status_text(const Run& run);

}  // namespace solver::command
