#pragma once

/// Linear systems with known solutions, and who solves them: the library, Eigen and others.

#include "matrices/find_matrix.hpp"
#include "options.hpp"
#include "peer_solve.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/krylov.hpp"
#include "solver/preconditioner.hpp"
#include "trial.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace solver::bench {

struct Problem {
    CsrMatrix<double> a;
    std::vector<double> b;
    std::string name{};
    bool symmetric = false;  ///< to the bit, with a positive diagonal: what methods for definite matrices may be tried on
};

/// b = A x*, x*_i = 1 + (i mod 8)/8. On one thread: children can be made only where none was started.
Problem problem_of(CsrMatrix<double> a);

/// The matrix of a file or a generator, on one thread; or why it is no test for a solver: dense, a pattern, complex, not
/// square, empty, what is wrong with the file.
std::variant<CsrMatrix<double>, std::string> matrix_to_solve(const matrices::FoundMatrix& found);

/// What a solver gives back: its word and its solution x + x_low.
struct Answer {
    Trial trial;
    std::vector<double> x;
    std::vector<double> x_low{};
};

struct LinearSolver {
    std::string name;
    bool ours;
    bool automatic;
    std::function<Answer(const Problem&, const Options&)> run;
    std::function<void()> prepare{};  ///< what is neither timed nor counted as memory, before the first run
    bool needs_symmetric = false;     ///< see Problem
    bool needs_modes = false;         ///< rigid-body modes
};

/// ||b - A x|| / ||b||, from the exact residual and exact norms.
double true_residual(const Problem& problem, const Answer& answer, const Device& device);

/// What is chosen by hand of a solve by the library.
struct OurChoice {
    std::optional<PreconditionerKind> preconditioner = {};  ///< nothing: automatic
    std::optional<KrylovMethod> method = {};                ///< nothing: automatic
    bool rigid_body_modes = false;                          ///< told to multigrid; of an elasticity2d_N only
};

/// The name of multigrid that is told the rigid-body modes.
inline constexpr std::string_view amg_with_modes = "amg modes";

/// "auto", a preconditioner, a method and a preconditioner ("cg amg"), or "amg modes"; nothing for another name.
std::optional<OurChoice> our_choice(std::string_view name);

/// By the library, as the command `solver` would, on the device of the options.
Answer by_us(const OurChoice& choice, const Problem& problem, const Options& options);

/// N of an elasticity2d_N; nothing of others.
std::optional<std::int64_t> size_of_elasticity(const std::string& problem);

/// By a peer that fills in the task's x and says how that went.
std::function<Answer(const Problem&, const Options&)> by_peer(std::function<PeerSolve(const PeerTask&)> solve);

/// By the library, in the accuracy of the options.
LinearSolver ours(std::string name, const OurChoice& choice);

/// Those of `solvers` that Options::solvers names, or all. Throws InvalidArgument where a name is not known.
std::vector<LinearSolver> chosen(std::vector<LinearSolver> solvers, const Options& options);

/// The trial of a solver in a process of its own. What is over quickly is repeated, and the fastest run counts.
Trial trial_of(const LinearSolver& solver, const Problem& problem, const Options& options);

}  // namespace solver::bench
