#include "solver/krylov_solve.hpp"

#include "krylov/run.hpp"

#include <utility>

namespace solver {

template <class T>
SolveResult krylov_solve(KrylovMethod method, const SpmvPlan<T>& a, const Preconditioner<T>& m, std::span<const T> b,
                         std::span<T> x, std::span<T> x_low, const KrylovOptions& options) {
    const Unknown<T> unknown = checked_unknown(a, b, x, x_low, options, to_string(method));
    check_symmetry(method, m.is_symmetric());
    return std::move(KrylovSystem(a, a).run(method, m, std::span(&unknown, 1), options, pauses_of(options)).front());
}

template <class T>
std::vector<SolveResult> krylov_solve(KrylovMethod method, const SpmvPlan<T>& a, const Preconditioner<T>& m,
                                      const DenseMatrix<T>& b, DenseMatrix<T>& x, DenseMatrix<T>* x_low,
                                      const KrylovOptions& options) {
    const auto unknowns = checked_unknowns(a, b, x, x_low, options, to_string(method));
    check_symmetry(method, m.is_symmetric());
    return KrylovSystem(a, a).run(method, m, unknowns, options, pauses_of(options));
}

SolveResult krylov_solve(KrylovMethod method, const SpmvPlan<double>& a, const SpmvPlan<float>& a_single,
                         const Preconditioner<float>& m, std::span<const double> b, std::span<double> x,
                         const KrylovOptions& options) {
    const Unknown<double> unknown = checked_unknown(a, b, x, {}, options, to_string(method));
    check_symmetry(method, m.is_symmetric());
    return std::move(KrylovSystem(a, a_single).run(method, m, std::span(&unknown, 1), options, pauses_of(options)).front());
}

std::vector<SolveResult> krylov_solve(KrylovMethod method, const SpmvPlan<double>& a, const SpmvPlan<float>& a_single,
                                      const Preconditioner<float>& m, const DenseMatrix<double>& b, DenseMatrix<double>& x,
                                      const KrylovOptions& options) {
    const auto unknowns = checked_unknowns<double>(a, b, x, nullptr, options, to_string(method));
    check_symmetry(method, m.is_symmetric());
    return KrylovSystem(a, a_single).run(method, m, unknowns, options, pauses_of(options));
}

template SolveResult krylov_solve(KrylovMethod, const SpmvPlan<float>&, const Preconditioner<float>&, std::span<const float>,
                                  std::span<float>, std::span<float>, const KrylovOptions&);
template SolveResult krylov_solve(KrylovMethod, const SpmvPlan<double>&, const Preconditioner<double>&, std::span<const double>,
                                  std::span<double>, std::span<double>, const KrylovOptions&);
template std::vector<SolveResult> krylov_solve(KrylovMethod, const SpmvPlan<float>&, const Preconditioner<float>&,
                                               const DenseMatrix<float>&, DenseMatrix<float>&, DenseMatrix<float>*,
                                               const KrylovOptions&);
template std::vector<SolveResult> krylov_solve(KrylovMethod, const SpmvPlan<double>&, const Preconditioner<double>&,
                                               const DenseMatrix<double>&, DenseMatrix<double>&, DenseMatrix<double>*,
                                               const KrylovOptions&);

}  // namespace solver
