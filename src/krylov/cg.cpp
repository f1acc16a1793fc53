#include "solver/cg.hpp"

#include "krylov/run.hpp"

#include <utility>

namespace solver {

template <class T>
SolveResult cg(const SpmvPlan<T>& a, const Preconditioner<T>& m, std::span<const T> b, std::span<T> x, std::span<T> x_low,
               const KrylovOptions& options) {
    const Unknown<T> unknown = checked_unknown(a, b, x, x_low, options, "cg");
    return std::move(run_krylov<T>(KrylovMethod::cg, a, m, std::span(&unknown, 1), options, pauses_of(options)).front());
}

template <class T>
std::vector<SolveResult> cg(const SpmvPlan<T>& a, const Preconditioner<T>& m, const DenseMatrix<T>& b, DenseMatrix<T>& x,
                            DenseMatrix<T>* x_low, const KrylovOptions& options) {
    return run_krylov<T>(KrylovMethod::cg, a, m, checked_unknowns(a, b, x, x_low, options, "cg"), options, pauses_of(options));
}

SolveResult cg(const SpmvPlan<double>& a, const SpmvPlan<float>& a_single, const Preconditioner<float>& m,
               std::span<const double> b, std::span<double> x, const KrylovOptions& options) {
    const Unknown<double> unknown = checked_unknown(a, b, x, {}, options, "cg");
    return std::move(run_krylov(KrylovMethod::cg, a, a_single, m, std::span(&unknown, 1), options, pauses_of(options)).front());
}

std::vector<SolveResult> cg(const SpmvPlan<double>& a, const SpmvPlan<float>& a_single, const Preconditioner<float>& m,
                            const DenseMatrix<double>& b, DenseMatrix<double>& x, const KrylovOptions& options) {
    return run_krylov(KrylovMethod::cg, a, a_single, m, checked_unknowns<double>(a, b, x, nullptr, options, "cg"), options,
                      pauses_of(options));
}

template SolveResult cg(const SpmvPlan<float>&, const Preconditioner<float>&, std::span<const float>, std::span<float>,
                        std::span<float>, const KrylovOptions&);
template SolveResult cg(const SpmvPlan<double>&, const Preconditioner<double>&, std::span<const double>, std::span<double>,
                        std::span<double>, const KrylovOptions&);
template std::vector<SolveResult> cg(const SpmvPlan<float>&, const Preconditioner<float>&, const DenseMatrix<float>&,
                                     DenseMatrix<float>&, DenseMatrix<float>*, const KrylovOptions&);
template std::vector<SolveResult> cg(const SpmvPlan<double>&, const Preconditioner<double>&, const DenseMatrix<double>&,
                                     DenseMatrix<double>&, DenseMatrix<double>*, const KrylovOptions&);

}  // namespace solver
