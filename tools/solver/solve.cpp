#include "solve.hpp"

#include "interrupt.hpp"
#include "linear_system.hpp"
#include "solver/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <utility>

namespace solver::command {
namespace {

class Stopwatch {
public:
    /// Seconds since the last call.
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

template <class T>
std::vector<double> as_double(const std::vector<T>& x, const std::vector<T>& x_low) {
    std::vector<double> sum(x.begin(), x.end());
    for (std::size_t i = 0; i < x_low.size(); ++i) sum[i] += static_cast<double>(x_low[i]);
    return sum;
}

double largest_error(const std::vector<double>& x) {
    double largest = 0;
    for (const double value : x) {
        const double error = std::abs(value - 1);
        if (!(error <= largest)) largest = error;  // NaN stays
    }
    return largest;
}

template <class T>
ForwardError forward_error_of(const SpmvPlan<T>& a, const std::vector<T>& b, const std::vector<T>& x,
                              const std::vector<T>& x_low, const std::vector<double>& solution) {
    const std::vector<T> ones(x.size(), T{1});
    std::vector<T> rounding(b.size()), residual(b.size());
    a.residual(b, ones, {}, rounding, Accuracy::exact);
    a.residual(b, x, x_low, residual, Accuracy::exact);
    std::vector<T> image(b.size());  // A (x - x*) = (b - A x*) - (b - A x)
    std::transform(rounding.begin(), rounding.end(), residual.begin(), image.begin(), std::minus<>());
    const auto norm = [&](const std::vector<T>& v) { return static_cast<double>(norm2(v, Accuracy::exact, a.device())); };

    const double error = largest_error(solution);
    const double rounded = norm(rounding);
    if (rounded == 0) return {error, 0, 0};
    const double moved = norm(image);
    return {error, rounded / norm(b), moved > 0 ? error * (rounded / moved) : 0};
}

template <class T>
Outcome solve_in(const Options& options, const matrices::FoundMatrix& found, LiveLine& live) {
    Stopwatch watch;
    live.show(fmt::format("  reading {}", name_of(found)));
    const CsrMatrix<T> matrix = load_square<T>(found, options.threads);
    Seconds seconds{};
    seconds.read = watch.lap();

    live.show("  preparing b and the preconditioner");
    const SpmvPlan<T> a(matrix, options.device, options.spmv);
    const std::vector<T> b = make_rhs(options, a);
    std::vector<T> x = make_initial(options, a);
    // A second part of x is what lets single precision reach small residuals, where the sums are accurate enough to see them.
    const bool as_pair = options.precision == Precision::single_precision && options.accuracy != Accuracy::fast;
    std::vector<T> x_low(as_pair ? x.size() : 0);
    const auto preconditioner = make_preconditioner<T>(options.preconditioner, matrix, options.accuracy, options.device);
    seconds.setup = watch.lap();

    BicgstabOptions method{
        .accuracy = options.accuracy, .tolerance = options.tolerance, .max_iterations = options.max_iterations};
    method.keep_history = !options.history.empty();
    const InterruptGuard interrupt;
    method.callback = [&](const Iteration& iteration) {
        live.show(iteration, options.tolerance);
        return !interrupt.requested();
    };
    SolveResult result = bicgstab<T>(a, *preconditioner, b, x, x_low, method);
    seconds.solve = watch.lap();
    live.clear();

    std::vector<double> solution = as_double(x, x_low);
    std::optional<ForwardError> forward_error;
    if (std::holds_alternative<RhsOfOnes>(options.rhs)) forward_error = forward_error_of(a, b, x, x_low, solution);
    const bool interrupted = interrupt.requested() && result.status == SolveStatus::iteration_limit;
    return {name_of(found),     std::holds_alternative<matrices::Generator>(found.source),
            matrix.rows,        matrix.columns,
            matrix.nonzeros(),  a.kernel(),
            std::move(result),  interrupted,
            forward_error,      seconds,
            std::move(solution)};
}

}  // namespace

std::string status_text(const Outcome& outcome) {
    return outcome.interrupted ? "interrupted" : std::string(to_string(outcome.result.status));
}

Outcome solve(const Options& options, const matrices::FoundMatrix& found, LiveLine& live) {
    return options.precision == Precision::single_precision ? solve_in<float>(options, found, live)
                                                            : solve_in<double>(options, found, live);
}

}  // namespace solver::command
