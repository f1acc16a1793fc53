#include "core/check.hpp"
#include "core/machine.hpp"
#include "krylov/run.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace solver {
namespace {

template <class T>
std::size_t checked_order(std::string_view caller, const SpmvPlan<T>& a) {
    if (a.rows() != a.columns())
        throw DimensionMismatch(fmt::format("{}: A is {} x {}, but must be square", caller, a.rows(), a.columns()));
    return static_cast<std::size_t>(a.rows());
}

void check_vector(std::string_view caller, const char* name, std::size_t length, std::size_t n) {
    if (length == n) return;
    throw DimensionMismatch(
        fmt::format("{}: {} has {} elements, A is {} x {}; {} needs {}", caller, name, length, n, n, name, n));
}

template <class T>
void check_shape(std::string_view caller, const char* name, const DenseMatrix<T>& matrix, std::size_t n, std::int64_t columns) {
    if (matrix.rows == static_cast<std::int64_t>(n) && matrix.columns == columns &&
        std::ssize(matrix.values) == matrix.rows * matrix.columns)
        return;
    throw DimensionMismatch(fmt::format("{}: {} is {} x {} with {} values, A is {} x {} and B has {} columns; {} needs {} x {}",
                                        caller, name, matrix.rows, matrix.columns, matrix.values.size(), n, n, columns, name, n,
                                        columns));
}

void check_entry(double element, float rounded, std::int64_t column) {
    if (is_finite(element) && !is_finite(rounded))
        throw InvalidArgument(
            fmt::format("mixed precision: the entry {:g} of A in column {} is beyond the range of single precision; scale A, "
                        "or work in double",
                        element, column + 1));
}

void check_rounded(const DenseView<double>& a, const DenseView<float>& a_single) {
    if (a_single.rows != a.rows || a_single.columns != a.columns)
        throw DimensionMismatch(
            fmt::format("mixed precision: A is {} x {} and A in single precision {} x {}; both must be the same matrix", a.rows,
                        a.columns, a_single.rows, a_single.columns));
    for (std::int64_t j = 0; j < a.columns; ++j)
        for (std::int64_t i = 0; i < a.rows; ++i)
            check_entry(a.data[i * a.row_stride + j * a.column_stride],
                        a_single.data[i * a_single.row_stride + j * a_single.column_stride], j);
}

}  // namespace

template <class T>
void check_apart(std::string_view caller, std::span<const T> b, std::span<const T> x, std::span<const T> x_low) {
    require_apart(caller, "x", x, "b", b);
    require_apart(caller, "x_low", x_low, "b", b);
    require_apart(caller, "x_low", x_low, "x", x);
}

void check_options(std::string_view caller, const KrylovOptions& options) {
    static_cast<void>(to_string(options.accuracy));  // refuses a number that is no mode
    if (!(options.tolerance >= 0 && options.absolute_tolerance >= 0 && options.tolerance + options.absolute_tolerance > 0))
        throw InvalidArgument(
            fmt::format("{}: the tolerance is {} and the absolute tolerance {}; expected one that is positive, "
                        "and none below 0",
                        caller, options.tolerance, options.absolute_tolerance));
    if (options.max_iterations < 0)
        throw InvalidArgument(
            fmt::format("{}: max_iterations is {}, but must not be negative", caller, options.max_iterations));
    if (options.restart < 1)
        throw InvalidArgument(fmt::format("{}: restart is {}, but must be positive", caller, options.restart));
    if (options.callback_interval < 1)
        throw InvalidArgument(
            fmt::format("{}: callback_interval is {}, but must be positive", caller, options.callback_interval));
}

template <class T>
Unknown<T> checked_unknown(std::int64_t rows, std::span<const T> b, std::span<T> x, std::span<T> x_low,
                           const KrylovOptions& options, std::string_view caller) {
    const auto n = static_cast<std::size_t>(rows);
    check_vector(caller, "b", b.size(), n);
    check_vector(caller, "x", x.size(), n);
    if (!x_low.empty()) check_vector(caller, "x_low", x_low.size(), n);
    check_apart<T>(caller, b, x, x_low);
    check_options(caller, options);
    return {b, x, x_low};
}

template <class T>
Unknown<T> checked_unknown(const SpmvPlan<T>& a, std::span<const T> b, std::span<T> x, std::span<T> x_low,
                           const KrylovOptions& options, std::string_view caller) {
    return checked_unknown(static_cast<std::int64_t>(checked_order(caller, a)), b, x, x_low, options, caller);
}

template <class T>
std::vector<Unknown<T>> checked_unknowns(const SpmvPlan<T>& a, const DenseMatrix<T>& b, DenseMatrix<T>& x,
                                         DenseMatrix<T>* x_low, const KrylovOptions& options, std::string_view caller) {
    const std::size_t n = checked_order(caller, a);
    check_shape(caller, "B", b, n, b.columns);
    check_shape(caller, "X", x, n, b.columns);
    if (x_low != nullptr) check_shape(caller, "X_low", *x_low, n, b.columns);
    check_apart<T>(caller, b.values, x.values, x_low != nullptr ? std::span<const T>(x_low->values) : std::span<const T>());
    check_options(caller, options);
    std::vector<Unknown<T>> unknowns;
    for (std::int64_t j = 0; j < b.columns; ++j)
        unknowns.push_back({b.column(j), x.column(j), x_low != nullptr ? x_low->column(j) : std::span<T>()});
    return unknowns;
}

void check_rounded(const SpmvPlan<double>& plan, const SpmvPlan<float>& plan_single) {
    if (plan.device().kind() != plan_single.device().kind() || plan.device().index() != plan_single.device().index())
        throw InvalidArgument(
            fmt::format("mixed precision: the plan of A is on {}, that of A in single precision on {}; both must be on "
                        "the same device",
                        to_string(plan.device()), to_string(plan_single.device())));
    if (plan.dense() != nullptr && plan_single.dense() != nullptr) return check_rounded(*plan.dense(), *plan_single.dense());
    const CsrView<double>& a = plan.matrix();
    const CsrView<float>& a_single = plan_single.matrix();
    if (a_single.rows != a.rows || a_single.columns != a.columns || a_single.nonzeros() != a.nonzeros())
        throw DimensionMismatch(
            fmt::format("mixed precision: A is {} x {} with {} entries and A in single precision {} x {} with {}; both must be "
                        "the same matrix",
                        a.rows, a.columns, a.nonzeros(), a_single.rows, a_single.columns, a_single.nonzeros()));
    for (std::int64_t k = 0; k < a.nonzeros(); ++k) check_entry(a.values[k], a_single.values[k], a.column_indices[k]);
}

void check_memory(KrylovMethod method, const KrylovOptions& options, bool preconditioned, std::int64_t rows,
                  std::size_t bytes_an_element, std::size_t columns) {
    if (method != KrylovMethod::gmres) return;
    const std::int64_t steps = std::min({options.restart, rows, options.max_iterations});
    const std::int64_t vectors = preconditioned ? 2 * steps : steps;
    const double elements = static_cast<double>(vectors) * static_cast<double>(columns) * static_cast<double>(rows);
    const double bytes = elements * static_cast<double>(bytes_an_element);
    const auto available = static_cast<double>(available_memory());
    constexpr double gigabyte = 1e9;
    if (bytes > available)
        throw ResourceLimit(fmt::format(
            "gmres: a cycle of {} steps keeps {} vectors, {:.3g} GB for {} right-hand side(s), and the process may use "
            "{:.3g} GB; what helps: a smaller restart, fewer right-hand sides at once, idr or bicgstab",
            steps, vectors, bytes / gigabyte, columns, available / gigabyte));
}

void check_symmetry(KrylovMethod method, bool m_is_symmetric) {
    if (method == KrylovMethod::minres && !m_is_symmetric)
        throw InvalidArgument(
            "minres: the preconditioner is not known to be symmetric; it needs one that is "
            "symmetric and positive definite, such as none, jacobi where A's diagonal is positive, or amg; gmres, idr and "
            "bicgstab take any");
}

void check_complex_scalars(KrylovMethod method, const KrylovOptions& options, std::int64_t rows) {
    if (options.complex_scalars && rows % 2 != 0)
        throw InvalidArgument(
            fmt::format("{}: complex scalars need a real form, whose order is even; A has {} rows", to_string(method), rows));
}

template Unknown<float> checked_unknown(std::int64_t, std::span<const float>, std::span<float>, std::span<float>,
                                        const KrylovOptions&, std::string_view);
template Unknown<double> checked_unknown(std::int64_t, std::span<const double>, std::span<double>, std::span<double>,
                                         const KrylovOptions&, std::string_view);
template Unknown<float> checked_unknown(const SpmvPlan<float>&, std::span<const float>, std::span<float>, std::span<float>,
                                        const KrylovOptions&, std::string_view);
template Unknown<double> checked_unknown(const SpmvPlan<double>&, std::span<const double>, std::span<double>, std::span<double>,
                                         const KrylovOptions&, std::string_view);
template std::vector<Unknown<float>> checked_unknowns(const SpmvPlan<float>&, const DenseMatrix<float>&, DenseMatrix<float>&,
                                                      DenseMatrix<float>*, const KrylovOptions&, std::string_view);
template std::vector<Unknown<double>> checked_unknowns(const SpmvPlan<double>&, const DenseMatrix<double>&,
                                                       DenseMatrix<double>&, DenseMatrix<double>*, const KrylovOptions&,
                                                       std::string_view);

template void check_apart(std::string_view, std::span<const float>, std::span<const float>, std::span<const float>);
template void check_apart(std::string_view, std::span<const double>, std::span<const double>, std::span<const double>);

}  // namespace solver
