#include "solver/bicgstab.hpp"

#include "cpu/floating_point_guard.hpp"
#include "cpu/solver_backend.hpp"
#include "cuda/solver_backend.hpp"
#include "krylov/run.hpp"
#include "krylov/solve.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>

namespace solver {
namespace {

void check_options(const BicgstabOptions& options) {
    if (!(options.tolerance > 0))
        throw InvalidArgument(fmt::format("bicgstab: the tolerance is {}, but must be positive", options.tolerance));
    if (options.max_iterations < 0)
        throw InvalidArgument(fmt::format("bicgstab: max_iterations is {}, but must not be negative", options.max_iterations));
    if (options.callback_interval < 1)
        throw InvalidArgument(
            fmt::format("bicgstab: callback_interval is {}, but must be positive", options.callback_interval));
}

template <class T>
std::size_t checked_order(const SpmvPlan<T>& a) {
    if (a.rows() != a.columns())
        throw DimensionMismatch(fmt::format("bicgstab: A is {} x {}, but must be square", a.rows(), a.columns()));
    return static_cast<std::size_t>(a.rows());
}

void check_vector(const char* name, std::size_t length, std::size_t n) {
    if (length == n) return;
    throw DimensionMismatch(
        fmt::format("bicgstab: {} has {} elements, A is {} x {}; {} needs {}", name, length, n, n, name, n));
}

template <class T>
void check_shape(const char* name, const DenseMatrix<T>& matrix, std::size_t n, std::int64_t columns) {
    if (matrix.rows == static_cast<std::int64_t>(n) && matrix.columns == columns &&
        std::ssize(matrix.values) == matrix.rows * matrix.columns)
        return;
    throw DimensionMismatch(
        fmt::format("bicgstab: {} is {} x {} with {} values, A is {} x {} and B has {} columns; {} needs {} x {}", name,
                    matrix.rows, matrix.columns, matrix.values.size(), n, n, columns, name, n, columns));
}

template <class Matrix>
auto column_of(Matrix& matrix, std::int64_t column) {
    return std::span(matrix.values)
        .subspan(static_cast<std::size_t>(column * matrix.rows), static_cast<std::size_t>(matrix.rows));
}

/// One right-hand side on its way.
template <class B>
class Column {
public:
    Column(B backend, std::span<const typename B::Wide> initial, const BicgstabOptions& options, const Pauses& pauses,
           std::int64_t number)
        : backend_(std::move(backend)), solve_(backend_, options, pauses, number), task_(solve_.run(initial)) {
        task_.start(stack_);
    }
    Column(const Column&) = delete;  // its parts refer to one another
    Column& operator=(const Column&) = delete;

    /// Goes on to the next product. False once the solve has ended.
    bool advance() {
        if (result_) return false;
        stack_.resume();
        if (stack_.is_done()) result_ = task_.result();
        return !result_;
    }

    SolveResult& result() { return *result_; }
    const typename B::Solution& solution() const { return solve_.solution(); }

private:
    B backend_;
    BicgstabSolve<B> solve_;
    TaskStack stack_;
    Task<SolveResult> task_;
    std::optional<SolveResult> result_;
};

/// Columns advance from product to product; what all wait for is made in one go.
template <class B, class MakeProducts>
std::vector<SolveResult> solve_together(std::deque<Column<B>>& columns, const MakeProducts& make_products) {
    const auto advance_all = [&] {
        bool any = false;
        for (Column<B>& column : columns) any = column.advance() || any;
        return any;
    };
    while (advance_all()) make_products();
    std::vector<SolveResult> results;
    for (Column<B>& column : columns) results.push_back(std::move(column.result()));
    return results;
}

/// As many columns at once as the device's memory can hold.
template <class Value, class Wide>
std::vector<SolveResult> solve_on_device(const SpmvPlan<Wide>& a, const SpmvPlan<Value>& a_in_value,
                                         const Preconditioner<Value>& m, std::span<const Unknown<Wide>> unknowns,
                                         const BicgstabOptions& options, const Pauses& pauses) {
    using Backend = CudaSolverBackend<Value, Wide>;
    using System = CudaSystem<Value, Wide>;
    const int at_once = System::columns_at_once(a.device().index(), a.rows(), std::ssize(unknowns));
    System system(a, a_in_value, m, options.accuracy, at_once);
    std::vector<SolveResult> results;
    while (results.size() < unknowns.size()) {
        const auto first = results.size();
        const auto some = unknowns.subspan(first, std::min<std::size_t>(at_once, unknowns.size() - first));
        std::deque<Column<Backend>> columns;
        for (const Unknown<Wide>& unknown : some) {
            const auto number = std::ssize(columns);
            columns.emplace_back(Backend(system, static_cast<int>(number), unknown.b, !unknown.x_low.empty()), unknown.x,
                                 options, pauses, static_cast<std::int64_t>(first) + number);
        }
        std::ranges::move(solve_together(columns, [&] { system.recursion.run(); }), std::back_inserter(results));
        for (std::size_t i = 0; i < some.size(); ++i) {
            columns[i].solution().x.copy_to(some[i].x, system.stream.get());
            columns[i].solution().low.copy_to(some[i].x_low, system.stream.get());
        }
    }
    return results;
}

void check_rounded(double element, float rounded, std::int64_t column) {
    if (is_finite(element) && !is_finite(rounded))
        throw InvalidArgument(fmt::format(
            "bicgstab: the entry {:g} of A in column {} is beyond the range of single precision; scale A, or work in double",
            element, column + 1));
}

void check_rounded(const DenseView<double>& a, const DenseView<float>& a_single) {
    if (a_single.rows != a.rows || a_single.columns != a.columns)
        throw DimensionMismatch(
            fmt::format("bicgstab: A is {} x {} and A in single precision {} x {}; both must be the same matrix", a.rows,
                        a.columns, a_single.rows, a_single.columns));
    for (std::int64_t j = 0; j < a.columns; ++j)
        for (std::int64_t i = 0; i < a.rows; ++i)
            check_rounded(a.data[i * a.row_stride + j * a.column_stride],
                          a_single.data[i * a_single.row_stride + j * a_single.column_stride], j);
}

void check_rounded(const SpmvPlan<double>& plan, const SpmvPlan<float>& plan_single) {
    if (plan.device().kind() != plan_single.device().kind() || plan.device().index() != plan_single.device().index())
        throw InvalidArgument(
            fmt::format("bicgstab: the plan of A is on {}, that of A in single precision on {}; both must be on "
                        "the same device",
                        to_string(plan.device()), to_string(plan_single.device())));
    if (plan.dense() != nullptr && plan_single.dense() != nullptr) return check_rounded(*plan.dense(), *plan_single.dense());
    const CsrView<double>& a = plan.matrix();
    const CsrView<float>& a_single = plan_single.matrix();
    if (a_single.rows != a.rows || a_single.columns != a.columns || a_single.nonzeros() != a.nonzeros())
        throw DimensionMismatch(fmt::format(
            "bicgstab: A is {} x {} with {} entries and A in single precision {} x {} with {}; both must be the same matrix",
            a.rows, a.columns, a.nonzeros(), a_single.rows, a_single.columns, a_single.nonzeros()));
    for (std::int64_t k = 0; k < a.nonzeros(); ++k) check_rounded(a.values[k], a_single.values[k], a.column_indices[k]);
}

}  // namespace

std::string_view to_string(SolveStatus status) {
    switch (status) {
        case SolveStatus::converged:
            return "converged";
        case SolveStatus::iteration_limit:
            return "iteration limit";
        case SolveStatus::breakdown:
            return "breakdown";
        case SolveStatus::stagnated:
            return "stagnated";
        case SolveStatus::non_finite:
            return "non-finite";
    }
    throw InvalidArgument(fmt::format("bicgstab: there is no status number {}", static_cast<int>(status)));
}

template <class T>
std::vector<SolveResult> run_bicgstab(const SpmvPlan<T>& a, const Preconditioner<T>& m, std::span<const Unknown<T>> unknowns,
                                      const BicgstabOptions& options, const Pauses& pauses) {
    const cpu::FloatingPointGuard guard;
    if (a.on_device()) return solve_on_device<T, T>(a, a, m, unknowns, options, pauses);
    SharedProducts<T> products(a);
    std::deque<Column<CpuSolverBackend<T>>> columns;
    for (const Unknown<T>& unknown : unknowns)
        columns.emplace_back(CpuSolverBackend<T>(products, m, unknown.b, !unknown.x_low.empty(), options.accuracy), unknown.x,
                             options, pauses, std::ssize(columns));
    auto results = solve_together(columns, [&] { products.run(); });
    for (std::size_t i = 0; i < unknowns.size(); ++i) {
        const auto& [x, low] = columns[i].solution();
        std::copy(x.begin(), x.end(), unknowns[i].x.begin());
        std::copy(low.begin(), low.end(), unknowns[i].x_low.begin());
    }
    return results;
}

std::vector<SolveResult> run_bicgstab(const SpmvPlan<double>& a, const SpmvPlan<float>& a_single,
                                      const Preconditioner<float>& m, std::span<const Unknown<double>> unknowns,
                                      const BicgstabOptions& options, const Pauses& pauses) {
    const cpu::FloatingPointGuard guard;
    check_rounded(a, a_single);
    if (a.on_device()) return solve_on_device<float, double>(a, a_single, m, unknowns, options, pauses);
    SharedProducts<double> residuals(a);
    SharedProducts<float> products(a_single);
    std::deque<Column<CpuMixedBackend>> columns;
    for (const Unknown<double>& unknown : unknowns)
        columns.emplace_back(CpuMixedBackend(residuals, products, m, unknown.b, options.accuracy), unknown.x, options, pauses,
                             std::ssize(columns));
    auto results = solve_together(columns, [&] {
        residuals.run();
        products.run();
    });
    for (std::size_t i = 0; i < unknowns.size(); ++i) {
        const std::vector<double>& x = columns[i].solution();
        std::copy(x.begin(), x.end(), unknowns[i].x.begin());
    }
    return results;
}

template <class T>
Unknown<T> checked_unknown(const SpmvPlan<T>& a, std::span<const T> b, std::span<T> x, std::span<T> x_low,
                           const BicgstabOptions& options) {
    const std::size_t n = checked_order(a);
    check_vector("b", b.size(), n);
    check_vector("x", x.size(), n);
    if (!x_low.empty()) check_vector("x_low", x_low.size(), n);
    check_options(options);
    return {b, x, x_low};
}

template <class T>
std::vector<Unknown<T>> checked_unknowns(const SpmvPlan<T>& a, const DenseMatrix<T>& b, DenseMatrix<T>& x,
                                         DenseMatrix<T>* x_low, const BicgstabOptions& options) {
    const std::size_t n = checked_order(a);
    check_shape("B", b, n, b.columns);
    check_shape("X", x, n, b.columns);
    if (x_low != nullptr) check_shape("X_low", *x_low, n, b.columns);
    check_options(options);
    std::vector<Unknown<T>> unknowns;
    for (std::int64_t j = 0; j < b.columns; ++j)
        unknowns.push_back({column_of(b, j), column_of(x, j), x_low != nullptr ? column_of(*x_low, j) : std::span<T>()});
    return unknowns;
}

template <class T>
SolveResult bicgstab(const SpmvPlan<T>& a, const Preconditioner<T>& m, std::span<const T> b, std::span<T> x, std::span<T> x_low,
                     const BicgstabOptions& options) {
    const Unknown<T> unknown = checked_unknown(a, b, x, x_low, options);
    return std::move(run_bicgstab<T>(a, m, std::span(&unknown, 1), options, pauses_of(options)).front());
}

template <class T>
std::vector<SolveResult> bicgstab(const SpmvPlan<T>& a, const Preconditioner<T>& m, const DenseMatrix<T>& b, DenseMatrix<T>& x,
                                  DenseMatrix<T>* x_low, const BicgstabOptions& options) {
    return run_bicgstab<T>(a, m, checked_unknowns(a, b, x, x_low, options), options, pauses_of(options));
}

SolveResult bicgstab(const SpmvPlan<double>& a, const SpmvPlan<float>& a_single, const Preconditioner<float>& m,
                     std::span<const double> b, std::span<double> x, const BicgstabOptions& options) {
    const Unknown<double> unknown = checked_unknown(a, b, x, {}, options);
    return std::move(run_bicgstab(a, a_single, m, std::span(&unknown, 1), options, pauses_of(options)).front());
}

std::vector<SolveResult> bicgstab(const SpmvPlan<double>& a, const SpmvPlan<float>& a_single, const Preconditioner<float>& m,
                                  const DenseMatrix<double>& b, DenseMatrix<double>& x, const BicgstabOptions& options) {
    return run_bicgstab(a, a_single, m, checked_unknowns<double>(a, b, x, nullptr, options), options, pauses_of(options));
}

template Unknown<float> checked_unknown(const SpmvPlan<float>&, std::span<const float>, std::span<float>, std::span<float>,
                                        const BicgstabOptions&);
template Unknown<double> checked_unknown(const SpmvPlan<double>&, std::span<const double>, std::span<double>, std::span<double>,
                                         const BicgstabOptions&);
template std::vector<Unknown<float>> checked_unknowns(const SpmvPlan<float>&, const DenseMatrix<float>&, DenseMatrix<float>&,
                                                      DenseMatrix<float>*, const BicgstabOptions&);
template std::vector<Unknown<double>> checked_unknowns(const SpmvPlan<double>&, const DenseMatrix<double>&,
                                                       DenseMatrix<double>&, DenseMatrix<double>*, const BicgstabOptions&);
template std::vector<SolveResult> run_bicgstab(const SpmvPlan<float>&, const Preconditioner<float>&,
                                               std::span<const Unknown<float>>, const BicgstabOptions&, const Pauses&);
template std::vector<SolveResult> run_bicgstab(const SpmvPlan<double>&, const Preconditioner<double>&,
                                               std::span<const Unknown<double>>, const BicgstabOptions&, const Pauses&);
template SolveResult bicgstab(const SpmvPlan<float>&, const Preconditioner<float>&, std::span<const float>, std::span<float>,
                              std::span<float>, const BicgstabOptions&);
template SolveResult bicgstab(const SpmvPlan<double>&, const Preconditioner<double>&, std::span<const double>,
                              std::span<double>, std::span<double>, const BicgstabOptions&);
template std::vector<SolveResult> bicgstab(const SpmvPlan<float>&, const Preconditioner<float>&, const DenseMatrix<float>&,
                                           DenseMatrix<float>&, DenseMatrix<float>*, const BicgstabOptions&);
template std::vector<SolveResult> bicgstab(const SpmvPlan<double>&, const Preconditioner<double>&, const DenseMatrix<double>&,
                                           DenseMatrix<double>&, DenseMatrix<double>*, const BicgstabOptions&);

}  // namespace solver
