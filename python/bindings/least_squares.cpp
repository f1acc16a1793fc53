#include "solver/least_squares.hpp"
#include "lock.hpp"
#include "matrix.hpp"
#include "solves.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace samebits {
namespace {

nb::dict least_squares_in_python(const solver::LeastSquaresResult& result) {
    nb::dict made = outcome_in_python(result);
    made["normal_residual"] = result.normal_residual;
    made["matrix_norm"] = result.matrix_norm;
    made["factor_entries"] = result.factor_entries;
    return made;
}

/// Calls solve(options) and returns (what `in_python` makes of that, what was raised).
template <class Solve, class InPython>
nb::tuple solved(const nb::dict& given, const Solve& solve, const InPython& in_python) {
    solver::KrylovOptions options = iteration_of(given);
    Watch watch{nb::none()};
    options.callback = [&](const solver::Iteration& iteration) { return watch.goes_on(iteration); };
    const auto found = [&] {
        const Released released;
        return solve(options);
    }();
    return nb::make_tuple(in_python(found), watch.raised());
}

/// x holds the guess and then the best iterate.
template <class T>
nb::tuple lsmr(const Matrix<T>& a, const Matrix<T>& transposed, const Vector<T>& b, const MutableVector<T>& x,
               const nb::dict& given) {
    return solved(
        given,
        [&](const solver::KrylovOptions& options) {
            return solver::lsmr<T>(a.plan(), transposed.plan(), view<T>(b), view<T>(x), options);
        },
        least_squares_in_python);
}

/// b and x column after column; x holds the guesses and then the best iterates.
template <class T>
nb::tuple least_squares(const Matrix<T>& a, const Matrix<T>& transposed, const Vector<T>& b, const MutableVector<T>& x,
                        std::int64_t columns, const nb::dict& given, std::int64_t memory_limit) {
    const auto of_numbers = [&](std::int64_t rows, std::span<const T> numbers) {
        return solver::DenseMatrix<T>{rows, columns, {numbers.begin(), numbers.end()}};
    };
    return solved(
        given,
        [&](const solver::KrylovOptions& options) {
            const solver::SpmvPlan<T>& plan = a.plan();
            const auto right = of_numbers(plan.rows(), view<T>(b));
            auto solution = of_numbers(plan.columns(), view<T>(x));
            auto results = solver::least_squares<T>(plan, transposed.plan(), right, solution, {options, memory_limit});
            std::ranges::copy(solution.values, view<T>(x).begin());
            return results;
        },
        [](const std::vector<solver::LeastSquaresResult>& results) {
            nb::list made;
            for (const solver::LeastSquaresResult& result : results) made.append(least_squares_in_python(result));
            return made;
        });
}

/// function(x, y) fills y; what it raises goes through the solve to whoever called it.
template <class T>
class PythonFunctions final : public solver::OperatorWithTranspose<T> {
public:
    PythonFunctions(std::int64_t rows, std::int64_t columns, const nb::callable& apply, const nb::callable& apply_transposed)
        : rows_(rows), columns_(columns), apply_(apply), apply_transposed_(apply_transposed) {}

    std::int64_t rows() const override { return rows_; }
    std::int64_t columns() const override { return columns_; }
    void apply(std::span<const T> x, std::span<T> y) const override { call(apply_, x, y); }
    void apply_transposed(std::span<const T> y, std::span<T> x) const override { call(apply_transposed_, y, x); }

private:
    static void call(const nb::callable& function, std::span<const T> from, std::span<T> to) {
        const Acquired acquired;
        ask(function, nb::ndarray<nb::numpy, const T>(from.data(), {from.size()}, nb::none()),
            nb::ndarray<nb::numpy, T>(to.data(), {to.size()}, nb::none()));
    }

    std::int64_t rows_, columns_;
    const nb::callable& apply_;
    const nb::callable& apply_transposed_;
};

nb::tuple lsmr_of_functions(const nb::callable& apply, const nb::callable& apply_transposed, const Vector<double>& b,
                            const MutableVector<double>& x, const nb::dict& given, int threads) {
    const PythonFunctions<double> a(static_cast<std::int64_t>(b.size()), static_cast<std::int64_t>(x.size()), apply,
                                    apply_transposed);
    return solved(
        given,
        [&](const solver::KrylovOptions& options) {
            return solver::lsmr<double>(a, view<double>(b), view<double>(x), options, solver::Device::cpu(threads));
        },
        least_squares_in_python);
}

template <class T>
void bind_lsmr(nb::module_& module) {
    module.def("lsmr", &lsmr<T>, nb::arg("a"), nb::arg("transposed"), nb::arg("b").noconvert(), nb::arg("x").noconvert(),
               nb::arg("options"));
    module.def("least_squares", &least_squares<T>, nb::arg("a"), nb::arg("transposed"), nb::arg("b").noconvert(),
               nb::arg("x").noconvert(), nb::arg("columns"), nb::arg("options"), nb::arg("memory_limit"));
}

}  // namespace

void bind_least_squares(nb::module_& module) {
    bind_lsmr<double>(module);
    bind_lsmr<float>(module);
    module.def("lsmr_of_functions", &lsmr_of_functions, nb::arg("apply"), nb::arg("apply_transposed"), nb::arg("b").noconvert(),
               nb::arg("x").noconvert(), nb::arg("options"), nb::arg("threads"));
}

}  // namespace samebits
