#include "solver/solve.hpp"

#include "c/arguments.hpp"
#include "c/matrix.hpp"
#include "c/options.hpp"
#include "c/preconditioner.hpp"
#include "c/result.hpp"
#include "c/status.hpp"
#include "solver/cuda/linear_operator.hpp"
#include "solver/cuda/solve.hpp"
#include "solver/krylov_solve.hpp"
#include "solver/linear_operator.hpp"
#include "solver/solver_cuda.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace solver::c {
namespace {

/// The right-hand sides and what is to become of them.
template <class T>
struct Task {
    const SpmvPlan<T>& a;
    std::int64_t columns;
    std::span<const T> b;
    std::span<T> x;
    std::span<T> x_low;  ///< empty for none
};

template <class T>
Task<T> task_of(const Matrix<T>& matrix, std::int64_t columns, const void* b, void* x, void* x_low, const char* function) {
    if (columns < 0) throw InvalidArgument(fmt::format("{}: there are {} columns; expected 0 or more", function, columns));
    const std::int64_t n = matrix.plan().rows();
    if (matrix.plan().columns() != n)
        throw DimensionMismatch(
            fmt::format("{}: the matrix is {} x {}; expected a square one", function, n, matrix.plan().columns()));
    require(columns <= std::numeric_limits<std::int64_t>::max() / 8 / std::max<std::int64_t>(n, 1), function,
            "there are more right-hand sides than memory can hold");
    return {matrix.plan(), columns, elements<const T>(b, n * columns, function, "b"),
            elements<T>(x, n * columns, function, "x"),
            elements<T>(x_low, x_low == nullptr ? 0 : n * columns, function, "x_low")};
}

template <class T>
DenseMatrix<T> dense(const Task<T>& task, std::span<const T> values) {
    return {task.a.rows(), task.columns, {values.begin(), values.end()}};
}

/// With a preconditioner or an operator of the caller's.
KrylovMethod method_of(const SolveOptions& options) { return options.method.value_or(KrylovMethod::bicgstab); }

/// With the preconditioner given, or without one (null).
template <class T>
SolveReport run(const Task<T>& task, const Preconditioner<T>* m, const SolveOptions& options) {
    SolveReport report;
    if (task.columns == 1) {
        if (m == nullptr) return solve(task.a, task.b, task.x, task.x_low, options);
        report.results = {krylov_solve(method_of(options), task.a, *m, task.b, task.x, task.x_low, options.iteration)};
        return report;
    }
    const DenseMatrix<T> b = dense<T>(task, task.b);
    DenseMatrix<T> x = dense<T>(task, task.x), low = dense<T>(task, task.x_low);
    DenseMatrix<T>* const x_low = task.x_low.empty() ? nullptr : &low;
    if (m == nullptr)
        report = solve(task.a, b, x, x_low, options);
    else
        report.results = krylov_solve(method_of(options), task.a, *m, b, x, x_low, options.iteration);
    std::copy(x.values.begin(), x.values.end(), task.x.begin());
    if (x_low != nullptr) std::copy(low.values.begin(), low.values.end(), task.x_low.begin());
    return report;
}

/// The columns of vectors that lie on the plan's device.
struct OnDevice {
    static constexpr const char* function = "solver_cuda_solve";
    cuda::Stream stream;

    template <class T>
    SolveReport operator()(const Task<T>& task, const Preconditioner<T>* m, const SolveOptions& options) const {
        const cuda::SolveTask<T> columns{task.b.data(), task.x.data(), task.x_low.data(), task.columns};
        if (m == nullptr) return cuda::solve(task.a, columns, options, stream);
        SolveReport report;
        report.results = cuda::krylov_solve(method_of(options), task.a, *m, columns, options.iteration, stream);
        return report;
    }
};

/// Those of the host's.
struct OnHost {
    static constexpr const char* function = "solver_solve";

    template <class T>
    SolveReport operator()(const Task<T>& task, const Preconditioner<T>* m, const SolveOptions& options) const {
        return run(task, m, options);
    }
};

template <class T>
const Preconditioner<T>* preconditioner_of(const solver_preconditioner* given, std::int64_t rows, const char* function) {
    if (given == nullptr) return nullptr;
    const auto* const of = std::get_if<solver_preconditioner_of<T>>(&given->of);
    require(of != nullptr, function, "the preconditioner is of another type than A");
    if (of->rows != rows)
        throw DimensionMismatch(fmt::format("{}: the preconditioner has {} rows, A has {}", function, of->rows, rows));
    return of->apply.get();
}

void check_product(std::int32_t answer) {
    if (answer != 0) throw CallbackFailed(fmt::format("the caller's product with A returned {}; 0 goes on", answer));
}

/// The caller's A.
template <class T>
class Operator final : public LinearOperator<T> {
public:
    Operator(std::int64_t rows, solver_multiply multiply, void* context)
        : rows_(rows), multiply_(multiply), context_(context) {}

    std::int64_t rows() const override { return rows_; }
    void apply(std::span<const T> x, std::span<T> y) const override { check_product(multiply_(context_, x.data(), y.data())); }

private:
    std::int64_t rows_;
    solver_multiply multiply_;
    void* context_;
};

/// The caller's A on a CUDA device.
template <class T>
class OperatorOnDevice final : public cuda::LinearOperator<T> {
public:
    OperatorOnDevice(std::int64_t rows, solver_cuda_multiply multiply, void* context)
        : rows_(rows), multiply_(multiply), context_(context) {}

    std::int64_t rows() const override { return rows_; }
    void apply(const T* x, T* y, cuda::Stream stream) const override { check_product(multiply_(context_, x, y, stream)); }

private:
    std::int64_t rows_;
    solver_cuda_multiply multiply_;
    void* context_;
};

/// What both kinds of operators share; `run_operator` solves by this method with this M (null for none) and these options.
template <class T, class Run>
solver_result solved_by(std::int64_t rows, const solver_preconditioner* preconditioner, const solver_options& given,
                        const char* function, const Run& run_operator) {
    std::vector<bool> stopped(1);
    const SolveOptions options = options_from_c(given, stopped, function);
    require(options.guarantee == Guarantee::none && !options.mixed, function,
            "a guarantee and mixed precision need the entries of A; of an operator there are only products");
    SolveReport report;
    report.results = {
        run_operator(method_of(options), preconditioner_of<T>(preconditioner, rows, function), options.iteration)};
    return to_c(report, stopped);
}

template <class T, class Run>
solver_result solved(const Task<T>& task, bool is_complex, const solver_preconditioner* preconditioner,
                     const solver_options& given, const Run& run_task) {
    std::vector<bool> stopped(static_cast<std::size_t>(task.columns));
    SolveOptions options = options_from_c(given, stopped, Run::function);
    options.iteration.complex_scalars = is_complex;
    const Preconditioner<T>* const m = preconditioner_of<T>(preconditioner, task.a.rows(), Run::function);
    require(m == nullptr || options.guarantee == Guarantee::none, Run::function,
            "a guarantee needs a preconditioner that the library makes; give NULL");
    require(m == nullptr || !options.mixed, Run::function, "mixed precision makes its preconditioner itself; give NULL");
    if (task.columns == 0) return {};
    return to_c(run_task(task, m, options), stopped);
}

/// For vectors of these lengths, wherever they lie: solve(b, x) of the type.
template <class Solve>
solver_status solve_operator_by(const Solve& solve, const char* function, int32_t type, int64_t rows, bool has_multiply,
                                const void* b, void* x, solver_result** result) {
    return guarded([&] {
        if (result != nullptr) *result = nullptr;
        require(has_multiply, function, "multiply is NULL");
        with_type(type, function, [&](auto number) {
            using T = decltype(number);
            solver_result found = solve(elements<const T>(b, rows, function, "b"), elements<T>(x, rows, function, "x"));
            if (result != nullptr) *result = new solver_result(std::move(found));
        });
    });
}

template <class Run>
solver_status solve_by(const Run& run_task, const solver_matrix* matrix, const solver_preconditioner* preconditioner,
                       std::int64_t columns, const void* b, void* x, void* x_low, const solver_options* options,
                       solver_result** result) {
    return guarded([&] {
        if (result != nullptr) *result = nullptr;
        const solver_options given = options_or_default(options, Run::function);
        with_matrix(matrix, Run::function, [&](const auto& of) {
            solver_result found =
                solved(task_of(of, columns, b, x, x_low, Run::function), matrix->is_complex, preconditioner, given, run_task);
            if (result != nullptr) *result = new solver_result(std::move(found));
        });
    });
}

}  // namespace
}  // namespace solver::c

using namespace solver;
using namespace solver::c;

solver_status solver_solve(const solver_matrix* matrix, const solver_preconditioner* preconditioner, int64_t columns,
                           const void* b, void* x, void* x_low, const solver_options* options, solver_result** result) {
    return solve_by(OnHost(), matrix, preconditioner, columns, b, x, x_low, options, result);
}

solver_status solver_cuda_solve(const solver_matrix* matrix, const solver_preconditioner* preconditioner, int64_t columns,
                                const void* b, void* x, void* x_low, const solver_options* options, void* stream,
                                solver_result** result) {
    return solve_by(OnDevice{static_cast<cuda::Stream>(stream)}, matrix, preconditioner, columns, b, x, x_low, options, result);
}

solver_status solver_solve_operator(int32_t type, int64_t rows, solver_multiply multiply, void* context,
                                    const solver_preconditioner* preconditioner, const void* b, void* x,
                                    const solver_options* options, solver_result** result) {
    constexpr const char* function = "solver_solve_operator";
    const auto solve = [&]<class T>(std::span<const T> right, std::span<T> solution) {
        const Operator<T> a(rows, multiply, context);
        return solved_by<T>(rows, preconditioner, options_or_default(options, function), function,
                            [&](KrylovMethod method, const Preconditioner<T>* m, const KrylovOptions& iteration) {
                                return krylov_solve<T>(method, a, m, right, solution, iteration, processor());
                            });
    };
    return solve_operator_by(solve, function, type, rows, multiply != nullptr, b, x, result);
}

solver_status solver_cuda_solve_operator(int32_t type, int64_t rows, solver_cuda_multiply multiply, void* context,
                                         const solver_preconditioner* preconditioner, int32_t device, const void* b, void* x,
                                         const solver_options* options, void* stream, solver_result** result) {
    constexpr const char* function = "solver_cuda_solve_operator";
    const auto solve = [&]<class T>(std::span<const T> right, std::span<T> solution) {
        const OperatorOnDevice<T> a(rows, multiply, context);
        return solved_by<T>(rows, preconditioner, options_or_default(options, function), function,
                            [&](KrylovMethod method, const Preconditioner<T>* m, const KrylovOptions& iteration) {
                                return cuda::krylov_solve<T>(method, a, m, right, solution, iteration, Device::cuda(device),
                                                             static_cast<cuda::Stream>(stream));
                            });
    };
    return solve_operator_by(solve, function, type, rows, multiply != nullptr, b, x, result);
}
