#include "eigen_bicgstab.hpp"

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

#include <chrono>
#include <vector>

namespace solver::bench::eigen {
namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1>;

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Kind>
Solve solve_with(const Matrix& a, std::span<const double> b, std::span<double> x, double tolerance,
                 std::int64_t max_iterations) {
    const Eigen::Map<const Vector> rhs(b.data(), static_cast<Eigen::Index>(b.size()));
    Eigen::Map<Vector> solution(x.data(), static_cast<Eigen::Index>(x.size()));
    Solve result;
    Eigen::BiCGSTAB<Matrix, Kind> solver;
    solver.setTolerance(tolerance);
    solver.setMaxIterations(max_iterations);
    auto start = std::chrono::steady_clock::now();
    solver.compute(a);
    result.setup_seconds = seconds_since(start);
    start = std::chrono::steady_clock::now();
    solution = solver.solve(rhs);
    result.solve_seconds = seconds_since(start);
    result.converged = solver.info() == Eigen::Success;
    result.iterations = solver.iterations();
    return result;
}

}  // namespace

Solve bicgstab(Preconditioner preconditioner, const CsrView<double>& a, std::span<const double> b, std::span<double> x,
               double tolerance, std::int64_t max_iterations, int threads) {
    Eigen::setNbThreads(threads);
    const std::vector<int> row_offsets(a.row_offsets.begin(), a.row_offsets.end());
    const Matrix matrix =
        Eigen::Map<const Matrix>(a.rows, a.columns, a.nonzeros(), row_offsets.data(), a.column_indices.data(), a.values.data());
    switch (preconditioner) {
        case Preconditioner::none:
            return solve_with<Eigen::IdentityPreconditioner>(matrix, b, x, tolerance, max_iterations);
        case Preconditioner::jacobi:
            return solve_with<Eigen::DiagonalPreconditioner<double>>(matrix, b, x, tolerance, max_iterations);
        case Preconditioner::ilut:
            return solve_with<Eigen::IncompleteLUT<double>>(matrix, b, x, tolerance, max_iterations);
    }
    return {};
}

}  // namespace solver::bench::eigen
