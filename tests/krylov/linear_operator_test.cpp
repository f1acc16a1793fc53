#include "solver/linear_operator.hpp"

#include "solver/error.hpp"
#include "solver/krylov_solve.hpp"
#include "support/linear_systems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace solver {
namespace {

using namespace testing;

/// The five-point Laplace operator on a square with wind, as a function. Sums of small multiples, in one order.
template <class T>
class Stencil : public LinearOperator<T> {
public:
    Stencil(std::int64_t side, T wind) : side_(side), wind_(wind) {}

    std::int64_t rows() const override { return side_ * side_; }

    void apply(std::span<const T> x, std::span<T> y) const override {
        for (std::int64_t i = 0; i < rows(); ++i) {
            T sum = T(4) * x[i];
            if (i % side_ > 0) sum -= (T(1) + wind_) * x[i - 1];
            if (i % side_ < side_ - 1) sum -= (T(1) - wind_) * x[i + 1];
            if (i >= side_) sum -= x[i - side_];
            if (i < rows() - side_) sum -= x[i + side_];
            y[i] = sum;
        }
    }

private:
    std::int64_t side_;
    T wind_;
};

template <class T>
Solve<T> solve_operator(KrylovMethod method, const LinearOperator<T>& a, const std::vector<T>& b, const KrylovOptions& options,
                        const Preconditioner<T>* m = nullptr, int threads = 1) {
    Solve<T> solve{{}, std::vector<T>(b.size()), {}};
    solve.result = krylov_solve<T>(method, a, m, b, solve.x, options, Device::cpu(threads));
    return solve;
}

// Promise: linear_operator.hpp, "Solves A x = b by a Krylov method"
// Promise: linear_operator.hpp, "A square A by its products."
// Promise: linear_operator.hpp, "Derive from it to bring your own."
// Promise: linear_operator.hpp, "y = A x, vectors of rows() elements"
TEST(LinearOperator, IsSolvedByEveryMethod) {
    for (const KrylovMethod method : all_krylov_methods)
        for (const Accuracy accuracy : all_accuracies) {
            SCOPED_TRACE(std::string(to_string(method)) + " " + std::string(to_string(accuracy)));
            const bool symmetric = method == KrylovMethod::cg || method == KrylovMethod::minres || method == KrylovMethod::cocg;
            const double wind = symmetric ? 0 : 0.25;
            const auto problem = convection_diffusion<double>(30, wind);
            const Stencil<double> a(30, wind);
            const auto m = make_preconditioner<double>(PreconditionerKind::jacobi, problem.a, accuracy, Device::cpu(1));
            for (const Preconditioner<double>* preconditioner :
                 std::array<const Preconditioner<double>*, 2>{nullptr, m.get()}) {
                const auto solved = solve_operator<double>(method, a, problem.b, with(accuracy), preconditioner);
                EXPECT_EQ(solved.result.status, SolveStatus::converged);
                EXPECT_LE(true_residual(problem, solved), 1.001e-10);
            }
            const auto in_float = convection_diffusion<float>(30, static_cast<float>(wind));
            const auto single =
                solve_operator<float>(method, Stencil<float>(30, static_cast<float>(wind)), in_float.b, with(accuracy, 1e-5));
            EXPECT_EQ(single.result.status, SolveStatus::converged);
        }
}

// Wherever every product is exact, as with a diagonal of powers of two, a matrix and its function are one.
class PowersOfTwo : public LinearOperator<double> {
public:
    std::int64_t rows() const override { return 40; }
    void apply(std::span<const double> x, std::span<double> y) const override {
        for (std::size_t i = 0; i < x.size(); ++i) y[i] = std::ldexp(x[i], static_cast<int>(i % 7));
    }
};

TEST(LinearOperator, HasTheBitsOfTheMatrixWhereItsProductsHave) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < 40; ++i) entries.push_back({i, i, std::ldexp(1.0, i % 7)});
    const auto a = csr_from_entries<double>(40, 40, entries);
    const auto b = random_vector<double>(40, 3);
    const auto none = make_preconditioner<double>(PreconditionerKind::none, a, Accuracy::exact, Device::cpu(1));
    for (const KrylovMethod method : all_krylov_methods) {
        std::vector<double> x(40);
        const SolveResult expected = krylov_solve<double>(method, SpmvPlan<double>(a, Device::cpu(1)), *none, b, x);
        const auto found = solve_operator<double>(method, PowersOfTwo(), b, {});
        EXPECT_EQ(found.x, x) << to_string(method);
        EXPECT_EQ(found.result.iterations, expected.iterations);
    }
}

class Tenth : public LinearOperator<double> {
public:
    std::int64_t rows() const override { return 1; }
    void apply(std::span<const double> x, std::span<double> y) const override { y[0] = 0.1 * x[0]; }
};

// Promise: linear_operator.hpp, "What depends on entries of A is different: a true residual is b minus"
/// 0.1 times 3 is rounded to another number than 0.3, and without that rounding the residual is half as large.
// Promise: solver.h, "A true residual is as good as the products are."
TEST(LinearOperator, HasTheResidualOfItsOwnProducts) {
    const std::vector<double> b{0.3};
    for (const KrylovMethod method : all_krylov_methods) {
        std::vector<double> x{3};
        const SolveResult result = krylov_solve<double>(method, Tenth(), nullptr, b, x, with(Accuracy::exact), Device::cpu(1));
        EXPECT_EQ(result.iterations, 0);
        EXPECT_EQ(result.relative_residual, std::abs(0.3 - 0.1 * x[0]) / 0.3) << to_string(method);
    }
}

// Promise: linear_operator.hpp, "In exact all but the products"
TEST(LinearOperator, GivesTheSameBitsForEveryThreadCount) {
    const Stencil<double> a(150, 0.25);
    const auto b = random_vector<double>(22500, 3);
    KrylovOptions options = with(Accuracy::exact, 1e-5);
    options.max_iterations = 40;
    for (const KrylovMethod method : {KrylovMethod::gmres, KrylovMethod::idr, KrylovMethod::bicgstab})
        EXPECT_EQ(solve_operator<double>(method, a, b, options, nullptr, 3).x, solve_operator<double>(method, a, b, options).x);
}

class Throws : public LinearOperator<double> {
public:
    std::int64_t rows() const override { return 3; }
    void apply(std::span<const double>, std::span<double>) const override { throw std::runtime_error("no product"); }
};

class NotFinite : public LinearOperator<double> {
public:
    std::int64_t rows() const override { return 3; }
    void apply(std::span<const double>, std::span<double> y) const override {
        y[0] = y[1] = y[2] = std::numeric_limits<double>::quiet_NaN();
    }
};

// Promise: linear_operator.hpp, "What it throws goes through the solve"
TEST(LinearOperator, HandsOnWhatItThrowsAndSaysWhatIsNotFinite) {
    const std::vector<double> b{1, 2, 3};
    for (const KrylovMethod method : all_krylov_methods) {
        EXPECT_THROW(solve_operator<double>(method, Throws(), b, {}), std::runtime_error);
        EXPECT_EQ(solve_operator<double>(method, NotFinite(), b, {}).result.status, SolveStatus::non_finite);
    }
}

/// A stencil that counts its products.
class Counted : public Stencil<double> {
public:
    using Stencil<double>::Stencil;

    void apply(std::span<const double> x, std::span<double> y) const override {
        ++products;
        Stencil<double>::apply(x, y);
    }

    mutable std::int64_t products = 0;
};

// Promise: krylov.hpp, "0 is the initial guess; each further one costs two products"
// Promise: krylov_solve.hpp, "An iteration makes one product with A and three in turn."
// Promise: cg.hpp, "A step costs one product with A and one application of M"
// Promise: krylov.hpp, "and three in turn in bicgstab2, else one"
TEST(LinearOperator, IsAppliedAsOftenAsAMethodsStepsAsk) {
    for (const KrylovMethod method : all_krylov_methods) {
        const auto products_after = [&](std::int64_t steps) {
            const Counted a(30, 0);
            KrylovOptions options = with(Accuracy::exact);
            options.max_iterations = steps;
            options.keep_history = true;
            const auto solved = solve_operator<double>(method, a, random_vector<double>(900, 3), options);
            EXPECT_EQ(solved.result.iterations, steps) << to_string(method);
            for (const Iteration& step : solved.result.history) a.products -= step.number > 0 && step.true_residual >= 0;
            return a.products;
        };
        const std::int64_t products = products_after(12) - products_after(6);
        EXPECT_EQ(products, method == KrylovMethod::bicgstab || method == KrylovMethod::bicgstab2 ? 12 : 6)
            << to_string(method);
    }
}

TEST(LinearOperator, RefusesWhatCannotBeMeant) {
    const Stencil<double> a(3, 0);
    std::vector<double> b(9, 1), x(9), other(4);
    EXPECT_THAT([&] { krylov_solve<double>(KrylovMethod::gmres, a, nullptr, other, x); },
                ::testing::ThrowsMessage<DimensionMismatch>(::testing::StartsWith("gmres: b has 4 elements, A is 9 x 9")));
    EXPECT_THAT([&] { krylov_solve<double>(KrylovMethod::gmres, a, nullptr, b, x, with(Accuracy::fast, 0)); },
                ::testing::ThrowsMessage<InvalidArgument>(::testing::StartsWith("gmres: the tolerance is 0")));
    const auto problem = convection_diffusion<double>(3, 0);
    const auto ilu = make_preconditioner<double>(PreconditionerKind::ilu0, problem.a, Accuracy::fast, Device::cpu(1));
    EXPECT_THROW(krylov_solve<double>(KrylovMethod::minres, a, ilu.get(), b, x), InvalidArgument);
}

}  // namespace
}  // namespace solver
