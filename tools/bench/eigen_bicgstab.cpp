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

/// A preconditioner that sees the residuals of Eigen's iteration: of the two vectors an iteration passes to it, the second is
/// s.
template <class Kind>
class Watching : public Kind {
public:
    void watch(std::vector<double>& norms) { norms_ = &norms; }

    Vector solve(const Vector& r) const {
        if (is_second_) norms_->push_back(r.norm());
        is_second_ = !is_second_;
        return Kind::solve(r);
    }

private:
    std::vector<double>* norms_ = nullptr;
    mutable bool is_second_ = false;
};

template <class Method>
Solve solve_with(const Matrix& a, std::span<const double> b, std::span<double> x, double tolerance, std::int64_t max_iterations,
                 std::vector<double>* half_steps = nullptr) {
    const Eigen::Map<const Vector> rhs(b.data(), static_cast<Eigen::Index>(b.size()));
    Eigen::Map<Vector> solution(x.data(), static_cast<Eigen::Index>(x.size()));
    Solve result;
    Method solver;
    if constexpr (requires { solver.preconditioner().watch(*half_steps); }) solver.preconditioner().watch(*half_steps);
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

template <class Kind>
Solve watched_or_not(const Matrix& a, std::span<const double> b, std::span<double> x, double tolerance,
                     std::int64_t max_iterations, std::vector<double>* half_steps) {
    if (half_steps == nullptr) return solve_with<Eigen::BiCGSTAB<Matrix, Kind>>(a, b, x, tolerance, max_iterations);
    half_steps->clear();
    const Solve result = solve_with<Eigen::BiCGSTAB<Matrix, Watching<Kind>>>(a, b, x, tolerance, max_iterations, half_steps);
    const double b_norm = Eigen::Map<const Vector>(b.data(), static_cast<Eigen::Index>(b.size())).norm();
    for (double& norm : *half_steps) norm /= b_norm;
    return result;
}

Matrix matrix_of(const CsrView<double>& a) {
    const std::vector<int> row_offsets(a.row_offsets.begin(), a.row_offsets.end());
    return Eigen::Map<const Matrix>(a.rows, a.columns, a.nonzeros(), row_offsets.data(), a.column_indices.data(),
                                    a.values.data());
}

}  // namespace

Solve bicgstab(Preconditioner preconditioner, const CsrView<double>& a, std::span<const double> b, std::span<double> x,
               double tolerance, std::int64_t max_iterations, int threads, std::vector<double>* half_steps) {
    Eigen::setNbThreads(threads);
    const Matrix matrix = matrix_of(a);
    switch (preconditioner) {
        case Preconditioner::none:
            return watched_or_not<Eigen::IdentityPreconditioner>(matrix, b, x, tolerance, max_iterations, half_steps);
        case Preconditioner::jacobi:
            return watched_or_not<Eigen::DiagonalPreconditioner<double>>(matrix, b, x, tolerance, max_iterations, half_steps);
        case Preconditioner::ilut:
            return watched_or_not<Eigen::IncompleteLUT<double>>(matrix, b, x, tolerance, max_iterations, half_steps);
    }
    return {};
}

Solve conjugate_gradients(const CsrView<double>& a, std::span<const double> b, std::span<double> x, double tolerance,
                          std::int64_t max_iterations, int threads) {
    using Method = Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper, Eigen::DiagonalPreconditioner<double>>;
    Eigen::setNbThreads(threads);
    return solve_with<Method>(matrix_of(a), b, x, tolerance, max_iterations);
}

}  // namespace solver::bench::eigen
