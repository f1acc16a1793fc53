#include "hypre_peer.hpp"

#include "solver/error.hpp"

#ifdef SOLVER_BENCH_HYPRE
#define OMPI_SKIP_MPICXX 1
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <HYPRE_utilities.h>
#include <mpi.h>
#endif

#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

namespace solver::bench::hypre {

#ifdef SOLVER_BENCH_HYPRE

namespace {

template <class T, auto destroy>
struct Destroy {
    void operator()(T pointer) const { destroy(pointer); }
};

/// What hypre makes and destroys.
template <class T, auto destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, Destroy<T, destroy>>;

using Matrix = Owned<HYPRE_IJMatrix, HYPRE_IJMatrixDestroy>;
using Vector = Owned<HYPRE_IJVector, HYPRE_IJVectorDestroy>;

void require(HYPRE_Int error, const char* what) {
    if (error == 0) return;
    char text[256] = "";
    HYPRE_DescribeError(error, text);
    HYPRE_ClearAllErrors();
    throw InvalidArgument(std::string("hypre: ") + what + ": " + text);
}

std::vector<HYPRE_BigInt> numbers_to(std::int64_t n) {
    std::vector<HYPRE_BigInt> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

Matrix matrix_of(const CsrView<double>& a) {
    const auto n = static_cast<HYPRE_BigInt>(a.rows);
    const std::vector<HYPRE_BigInt> rows = numbers_to(a.rows);
    std::vector<HYPRE_Int> lengths(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < a.rows; ++i) lengths[static_cast<std::size_t>(i)] = static_cast<HYPRE_Int>(a.row_length(i));
    HYPRE_IJMatrix matrix = nullptr;
    require(HYPRE_IJMatrixCreate(MPI_COMM_WORLD, 0, n - 1, 0, n - 1, &matrix), "making the matrix");
    Matrix owner(matrix);
    HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
    HYPRE_IJMatrixSetRowSizes(matrix, lengths.data());
    HYPRE_IJMatrixInitialize(matrix);
    HYPRE_IJMatrixSetValues(matrix, n, lengths.data(), rows.data(), a.column_indices.data(), a.values.data());
    require(HYPRE_IJMatrixAssemble(matrix), "filling the matrix");
    return owner;
}

Vector vector_of(std::span<const double> values) {
    const auto n = static_cast<HYPRE_BigInt>(values.size());
    const std::vector<HYPRE_BigInt> rows = numbers_to(n);
    HYPRE_IJVector vector = nullptr;
    require(HYPRE_IJVectorCreate(MPI_COMM_WORLD, 0, n - 1, &vector), "making a vector");
    Vector owner(vector);
    HYPRE_IJVectorSetObjectType(vector, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(vector);
    HYPRE_IJVectorSetValues(vector, n, rows.data(), values.data());
    require(HYPRE_IJVectorAssemble(vector), "filling a vector");
    return owner;
}

HYPRE_ParVector object_of(const Vector& vector) {
    void* object = nullptr;
    HYPRE_IJVectorGetObject(vector.get(), &object);
    return static_cast<HYPRE_ParVector>(object);
}

HYPRE_ParCSRMatrix object_of(const Matrix& matrix) {
    void* object = nullptr;
    HYPRE_IJMatrixGetObject(matrix.get(), &object);
    return static_cast<HYPRE_ParCSRMatrix>(object);
}

using BoomerAmg = Owned<HYPRE_Solver, HYPRE_BoomerAMGDestroy>;

/// One V-cycle, as a preconditioner.
BoomerAmg cycle_of(const Multigrid& wish) {
    constexpr HYPRE_Int hmis = 10, extended_plus_i = 6, most_entries = 4;
    HYPRE_Solver amg = nullptr;
    require(HYPRE_BoomerAMGCreate(&amg), "making BoomerAMG");
    HYPRE_BoomerAMGSetCoarsenType(amg, hmis);
    HYPRE_BoomerAMGSetInterpType(amg, extended_plus_i);
    HYPRE_BoomerAMGSetPMaxElmts(amg, most_entries);
    HYPRE_BoomerAMGSetStrongThreshold(amg, wish.strong_threshold);
    HYPRE_BoomerAMGSetAggNumLevels(amg, wish.aggressive_levels);
    HYPRE_BoomerAMGSetNumFunctions(amg, wish.unknowns_per_point);
    HYPRE_BoomerAMGSetMaxIter(amg, 1);
    HYPRE_BoomerAMGSetTol(amg, 0);
    HYPRE_BoomerAMGSetPrintLevel(amg, 0);
    return BoomerAmg(amg);
}

/// The calls of a Krylov method: hypre names each apart.
struct Calls {
    HYPRE_Int (*setup)(HYPRE_Solver, HYPRE_ParCSRMatrix, HYPRE_ParVector, HYPRE_ParVector);
    HYPRE_Int (*solve)(HYPRE_Solver, HYPRE_ParCSRMatrix, HYPRE_ParVector, HYPRE_ParVector);
    HYPRE_Int (*iterations)(HYPRE_Solver, HYPRE_Int*);
    HYPRE_Int (*residual)(HYPRE_Solver, HYPRE_Real*);
};

PeerSolve run(const Calls& calls, HYPRE_Solver solver, const PeerTask& task) {
    const Matrix matrix = matrix_of(task.a);
    const Vector rhs = vector_of(task.b), solution = vector_of(task.x);
    PeerSolve result;
    HYPRE_Int error = 0;
    result.setup_seconds =
        seconds_of([&] { error = calls.setup(solver, object_of(matrix), object_of(rhs), object_of(solution)); });
    require(error, "setup");
    result.solve_seconds =
        seconds_of([&] { error = calls.solve(solver, object_of(matrix), object_of(rhs), object_of(solution)); });
    // Not to converge is an error for hypre; here it is a result.
    if (HYPRE_CheckError(error, HYPRE_ERROR_CONV) == 0) require(error, "solve");
    HYPRE_ClearAllErrors();
    HYPRE_Int iterations = 0;
    double residual = 0;
    calls.iterations(solver, &iterations);
    calls.residual(solver, &residual);
    result.iterations = iterations;
    result.converged = residual <= task.tolerance;
    const std::vector<HYPRE_BigInt> rows = numbers_to(task.a.rows);
    require(HYPRE_IJVectorGetValues(solution.get(), static_cast<HYPRE_Int>(rows.size()), rows.data(), task.x.data()),
            "reading x");
    return result;
}

PeerSolve by_pcg(HYPRE_Solver amg, const PeerTask& task) {
    HYPRE_Solver solver = nullptr;
    require(HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solver), "making PCG");
    const Owned<HYPRE_Solver, HYPRE_ParCSRPCGDestroy> owner(solver);
    HYPRE_PCGSetMaxIter(solver, static_cast<HYPRE_Int>(task.max_iterations));
    HYPRE_PCGSetTol(solver, task.tolerance);
    HYPRE_PCGSetTwoNorm(solver, 1);  // ||r||_2, not the energy of r
    HYPRE_ParCSRPCGSetPrecond(solver, HYPRE_BoomerAMGSolve, HYPRE_BoomerAMGSetup, amg);
    return run({HYPRE_ParCSRPCGSetup, HYPRE_ParCSRPCGSolve, HYPRE_PCGGetNumIterations, HYPRE_PCGGetFinalRelativeResidualNorm},
               solver, task);
}

PeerSolve by_bicgstab(HYPRE_Solver amg, const PeerTask& task) {
    HYPRE_Solver solver = nullptr;
    require(HYPRE_ParCSRBiCGSTABCreate(MPI_COMM_WORLD, &solver), "making BiCGSTAB");
    const Owned<HYPRE_Solver, HYPRE_ParCSRBiCGSTABDestroy> owner(solver);
    HYPRE_BiCGSTABSetMaxIter(solver, static_cast<HYPRE_Int>(task.max_iterations));
    HYPRE_BiCGSTABSetTol(solver, task.tolerance);
    HYPRE_ParCSRBiCGSTABSetPrecond(solver, HYPRE_BoomerAMGSolve, HYPRE_BoomerAMGSetup, amg);
    return run({HYPRE_ParCSRBiCGSTABSetup, HYPRE_ParCSRBiCGSTABSolve, HYPRE_BiCGSTABGetNumIterations,
                HYPRE_BiCGSTABGetFinalRelativeResidualNorm},
               solver, task);
}

}  // namespace

bool is_there() { return true; }

std::string description() { return std::string("hypre ") + HYPRE_RELEASE_VERSION; }

void begin(const std::filesystem::path& scratch) {
    // One process needs neither helpers nor shared memory, which would stay behind where it is stopped.
    ::setenv("OMPI_MCA_ess_singleton_isolated", "1", 1);
    ::setenv("OMPI_MCA_btl", "self", 1);
    ::setenv("OMPI_MCA_orte_tmpdir_base", scratch.c_str(), 1);
    MPI_Init(nullptr, nullptr);
    require(HYPRE_Init(), "start");
}

PeerSolve solve(Method method, const Multigrid& multigrid, const PeerTask& task) {
    const BoomerAmg amg = cycle_of(multigrid);
    return method == Method::pcg ? by_pcg(amg.get(), task) : by_bicgstab(amg.get(), task);
}

#else

bool is_there() { return false; }

std::string description() { return "no hypre"; }

void begin(const std::filesystem::path&) {}

PeerSolve solve(Method, const Multigrid&, const PeerTask&) { throw NotSupported("solver-bench was built without hypre"); }

#endif

}  // namespace solver::bench::hypre
