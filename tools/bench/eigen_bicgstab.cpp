#include "eigen_bicgstab.hpp"

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

#include <vector>

namespace solver::bench::eigen {
namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1>;

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
PeerSolve solve_with(const Matrix& a, const PeerTask& task, std::vector<double>* half_steps = nullptr) {
    const Eigen::Map<const Vector> rhs(task.b.data(), static_cast<Eigen::Index>(task.b.size()));
    Eigen::Map<Vector> solution(task.x.data(), static_cast<Eigen::Index>(task.x.size()));
    PeerSolve result;
    Method solver;
    if constexpr (requires { solver.preconditioner().watch(*half_steps); }) solver.preconditioner().watch(*half_steps);
    solver.setTolerance(task.tolerance);
    solver.setMaxIterations(task.max_iterations);
    result.setup_seconds = seconds_of([&] { solver.compute(a); });
    result.solve_seconds = seconds_of([&] { solution = solver.solve(rhs); });
    result.converged = solver.info() == Eigen::Success;
    const bool is_zero = rhs.squaredNorm() == 0;  // then Eigen is done at once, but BiCGSTAB's count stays at the limit
    result.iterations = is_zero ? 0 : solver.iterations();
    return result;
}

template <class Kind>
PeerSolve watched_or_not(const Matrix& a, const PeerTask& task, std::vector<double>* half_steps) {
    if (half_steps == nullptr) return solve_with<Eigen::BiCGSTAB<Matrix, Kind>>(a, task);
    half_steps->clear();
    const PeerSolve result = solve_with<Eigen::BiCGSTAB<Matrix, Watching<Kind>>>(a, task, half_steps);
    const double b_norm = Eigen::Map<const Vector>(task.b.data(), static_cast<Eigen::Index>(task.b.size())).norm();
    for (double& norm : *half_steps) norm /= b_norm;
    return result;
}

Matrix matrix_of(const CsrView<double>& a) {
    const std::vector<int> row_offsets(a.row_offsets.begin(), a.row_offsets.end());
    return Eigen::Map<const Matrix>(a.rows, a.columns, a.nonzeros(), row_offsets.data(), a.column_indices.data(),
                                    a.values.data());
}

}  // namespace

PeerSolve bicgstab(Preconditioner preconditioner, const PeerTask& task, std::vector<double>* half_steps) {
    Eigen::setNbThreads(task.threads);
    const Matrix matrix = matrix_of(task.a);
    switch (preconditioner) {
        case Preconditioner::none:
            return watched_or_not<Eigen::IdentityPreconditioner>(matrix, task, half_steps);
        case Preconditioner::jacobi:
            return watched_or_not<Eigen::DiagonalPreconditioner<double>>(matrix, task, half_steps);
        case Preconditioner::ilut:
            return watched_or_not<Eigen::IncompleteLUT<double>>(matrix, task, half_steps);
    }
    return {};
}

PeerSolve conjugate_gradients(const PeerTask& task) {
    using Method = Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper, Eigen::DiagonalPreconditioner<double>>;
    Eigen::setNbThreads(task.threads);
    return solve_with<Method>(matrix_of(task.a), task);
}

}  // namespace solver::bench::eigen
