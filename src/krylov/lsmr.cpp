#include "solver/lsmr.hpp"

#include "core/floating_point_guard.hpp"
#include "krylov/lsmr_on_processor.hpp"
#include "krylov/lsmr_solve.hpp"
#include "krylov/lsmr_way.hpp"
#include "krylov/run.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace solver {

template <class T>
void check_transpose(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed) {
    if (transposed.rows() != a.columns() || transposed.columns() != a.rows())
        throw DimensionMismatch(fmt::format("lsmr: A is {} x {} and its transpose {} x {}; expected {} x {}", a.rows(),
                                            a.columns(), transposed.rows(), transposed.columns(), a.columns(), a.rows()));
}

namespace {

/// Throws where b or x is not as long as A wants it, or they overlap.
template <class T, class Matrix>
void check_vectors(const Matrix& a, std::span<const T> b, std::span<const T> x) {
    const auto check = [&](const char* name, std::size_t length, std::int64_t expected) {
        if (static_cast<std::int64_t>(length) != expected)
            throw DimensionMismatch(fmt::format("lsmr: {} has {} elements, A is {} x {}; {} needs {}", name, length, a.rows(),
                                                a.columns(), name, expected));
    };
    check("b", b.size(), a.rows());
    check("x", x.size(), a.columns());
    check_apart<T>("lsmr", b, x, {});
}

}  // namespace

template <class T>
LeastSquaresResult lsmr_in(const LsmrWay<T>& way, const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, std::span<const T> b,
                           std::span<T> x, const KrylovOptions& options) {
    check_transpose(a, transposed);
    check_vectors<T>(a, b, x);
    check_options("lsmr", options);
    const cpu::FloatingPointGuard guard;
    const auto is_on_cuda = [](const SpmvPlan<T>& plan) { return plan.device().kind() == Device::Kind::cuda; };
    if (is_on_cuda(a) && is_on_cuda(transposed) && a.device().index() == transposed.device().index())
        return lsmr_on_device(way, a, transposed, b, x, options);
    PlanProducts<T> backend(a, transposed);
    return LsmrSolve(backend, b, x, options, way).run();
}

template <class T>
LeastSquaresResult lsmr(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, std::span<const T> b, std::span<T> x,
                        const KrylovOptions& options) {
    return lsmr_in<T>({}, a, transposed, b, x, options);
}

template <class T>
LeastSquaresResult lsmr(const OperatorWithTranspose<T>& a, std::span<const T> b, std::span<T> x, const KrylovOptions& options,
                        const Device& processor) {
    if (processor.kind() != Device::Kind::cpu)
        throw InvalidArgument(fmt::format("lsmr: an operator is applied on the processor, not on {}; expected Device::cpu()",
                                          to_string(processor)));
    check_vectors<T>(a, b, x);
    check_options("lsmr", options);
    const cpu::FloatingPointGuard guard;
    FunctionProducts<T> backend(a, processor);
    return LsmrSolve(backend, b, x, options).run();
}

template LeastSquaresResult lsmr(const SpmvPlan<float>&, const SpmvPlan<float>&, std::span<const float>, std::span<float>,
                                 const KrylovOptions&);
template LeastSquaresResult lsmr(const SpmvPlan<double>&, const SpmvPlan<double>&, std::span<const double>, std::span<double>,
                                 const KrylovOptions&);
template void check_transpose(const SpmvPlan<float>&, const SpmvPlan<float>&);
template void check_transpose(const SpmvPlan<double>&, const SpmvPlan<double>&);
template LeastSquaresResult lsmr_in(const LsmrWay<float>&, const SpmvPlan<float>&, const SpmvPlan<float>&,
                                    std::span<const float>, std::span<float>, const KrylovOptions&);
template LeastSquaresResult lsmr_in(const LsmrWay<double>&, const SpmvPlan<double>&, const SpmvPlan<double>&,
                                    std::span<const double>, std::span<double>, const KrylovOptions&);
template LeastSquaresResult lsmr(const OperatorWithTranspose<float>&, std::span<const float>, std::span<float>,
                                 const KrylovOptions&, const Device&);
template LeastSquaresResult lsmr(const OperatorWithTranspose<double>&, std::span<const double>, std::span<double>,
                                 const KrylovOptions&, const Device&);

}  // namespace solver
