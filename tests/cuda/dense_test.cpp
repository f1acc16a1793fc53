#include "kernels/products.hpp"
#include "solver/bicgstab.hpp"
#include "solver/cg.hpp"
#include "solver/complex.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/gemm.hpp"
#include "solver/numeric/bounds.hpp"
#include "solver/preconditioner.hpp"

#include <gtest/gtest.h>

#include "support/dense_systems.hpp"
#include "support/expected.hpp"
#include "support/linear_systems.hpp"
#include "support/on_cuda.hpp"
#include "support/products.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <span>
#include <utility>
#include <vector>

namespace solver {
namespace {

using testing::difference;
using testing::random_values;
using testing::Tasks;

template <class T>
class CudaDense : public testing::OnCuda {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaDense, ValueTypes);

template <class T>
void expect_bits_of_cpu(const DenseView<T>& a, int count) {
    SCOPED_TRACE(::testing::Message() << a.rows << " x " << a.columns << ", " << count << " tasks, strides " << a.row_stride
                                      << ", " << a.column_stride);
    const Tasks<T> tasks(a.rows, a.columns, count, true);
    const auto expected = tasks.made_by(SpmvPlan<T>(a, Device::cpu(1)), Accuracy::exact);
    const auto found = tasks.made_by(SpmvPlan<T>(a, Device::cuda()), Accuracy::exact);
    for (int i = 0; i < count; ++i) EXPECT_EQ(testing::differences<T>(found[i], expected[i]), "") << i;
}

/// 40 000 elements are several parts of a row, 1200 rows several blocks.
TYPED_TEST(CudaDense, GivesTheBitsOfTheCpuInEveryLayout) {
    using T = TypeParam;
    using Shape = std::pair<std::int64_t, std::int64_t>;
    for (const auto& [rows, columns] :
         {Shape{37, 53}, {1, 1}, {0, 4}, {3, 0}, {130, 9}, {2, 40'000}, {33, 1025}, {1200, 511}}) {
        const auto values = random_values<T>(static_cast<std::size_t>(rows * columns), 1, true);
        const DenseMatrix<T> a{rows, columns, values}, transposed{columns, rows, values};
        const auto with_gaps = random_values<T>(static_cast<std::size_t>(rows * (columns + 3)), 2, true);
        for (const DenseView<T>& view :
             {a.view(), transposed.view().transposed(), DenseView<T>{rows, columns, columns + 3, 1, with_gaps.data()}})
            for (const int count : {1, 3, 14}) expect_bits_of_cpu<T>(view, count);
    }
}

/// A dense matrix with a row for each of some sums that filters cannot decide, and zeros beside them.
template <class T>
struct HardRows {
    DenseMatrix<T> a;
    std::vector<T> x;

    explicit HardRows(std::size_t length) {
        testing::Random random(7);
        std::vector<testing::Terms<T>> rows;
        for (const auto& made : testing::adversarial_classes<T>()) {
            testing::Terms<T> terms = made.make(random, length);
            const auto finite = [](T value) { return std::isfinite(value); };
            if (std::all_of(terms.b.begin(), terms.b.end(), finite)) rows.push_back(std::move(terms));
        }
        const auto [sparse, factors] = testing::matrix_of(rows, random);
        x = factors;
        a = {sparse.rows, sparse.columns, std::vector<T>(static_cast<std::size_t>(sparse.rows * sparse.columns))};
        for (std::int64_t i = 0; i < sparse.rows; ++i)
            for (std::int64_t k = sparse.row_offsets[i]; k < sparse.row_offsets[i + 1]; ++k)
                a.values[static_cast<std::size_t>(sparse.column_indices[k] * sparse.rows + i)] = sparse.values[k];
    }
};

TYPED_TEST(CudaDense, RoundsRowsThatNoFilterDecides) {
    using T = TypeParam;
    for (const std::size_t length : {20, 300}) {
        const HardRows<T> hard(length);
        for (const T alpha : {T(1), T(-1), T(0.7)}) {
            std::vector<T> found(static_cast<std::size_t>(hard.a.rows), T(3)), expected = found;
            SpmvPlan<T>(hard.a.view(), Device::cuda()).multiply(alpha, hard.x, T(2), found, Accuracy::exact);
            SpmvPlan<T>(hard.a.view(), Device::cpu(1)).multiply(alpha, hard.x, T(2), expected, Accuracy::exact);
            EXPECT_EQ(testing::differences<T>(found, expected), "") << "alpha " << alpha;
        }
    }
}

TYPED_TEST(CudaDense, KeepsThePromisesOfTheOtherModes) {
    using T = TypeParam;
    constexpr std::int64_t n = 700;
    const DenseMatrix<T> a{n, n, random_values<T>(n * n, 2, false)};
    const SpmvPlan<T> plan(a.view(), Device::cuda());
    for (const int count : {1, 8}) {
        const Tasks<T> vectors(n, n, count, false);
        const auto products = [&](Accuracy accuracy) {
            std::vector<std::vector<T>> out(static_cast<std::size_t>(count), std::vector<T>(n));
            std::vector<SpmvTask<T>> tasks;
            for (int i = 0; i < count; ++i) tasks.push_back({.x = vectors.x[i], .y = out[i]});
            plan.multiply(tasks, accuracy);
            return out;
        };
        const auto fast = products(Accuracy::fast), compensated = products(Accuracy::compensated);
        const auto exact = products(Accuracy::exact);
        const double u = unit_roundoff<T>;
        const double gamma = (n + 1) * u / (1 - (n + 1) * u);  // one more for the rounding of `exact`
        for (int i = 0; i < count; ++i)
            for (std::int64_t row = 0; row < n; ++row) {
                const double truth = exact[i][row];
                EXPECT_LE(std::abs(fast[i][row] - truth), gamma * truth);
                EXPECT_LE(std::abs(compensated[i][row] - truth), 2.01 * u * truth);
            }
    }
}

/// Columns of vectors that lie `stride` apart, each behind a gate of its own, of which one is closed.
TYPED_TEST(CudaDense, MultipliesSeveralColumnsEachAsIfAlone) {
    using T = TypeParam;
    constexpr std::int64_t rows = 45, columns = 2100, stride = 2200, count = 5, closed = 2;
    const std::vector<T> by_rows = random_values<T>(rows * columns, 1, true), x = random_values<T>(count * stride, 2, true),
                         y = random_values<T>(count * stride, 3, true);
    const cuda::DeviceArray<T> elements(0, by_rows, "test"), on_device_x(0, x, "test");
    std::vector<std::int32_t> stage_of(4 * count, 1);
    stage_of[4 * closed] = 2;
    const cuda::DeviceArray<std::int32_t> stages(0, stage_of, "test");
    const auto products =
        cuda::make_products(cuda::DeviceDenseRows<T>{0, rows, columns, elements.data()}, cuda::Stream(), count);
    for (const Accuracy accuracy : all_accuracies)
        for (const auto& [alpha, beta] : {std::pair<T, T>{1, 0}, {-1, 1}, {0, 3}}) {
            const cuda::DeviceArray<T> together(0, y, "test"), alone(0, y, "test");
            const auto task = [&](const cuda::DeviceArray<T>& out, std::int64_t offset) {
                return cuda::RowTask<T>{.alpha = alpha,
                                        .x = on_device_x.data() + offset,
                                        .beta = beta,
                                        .y_in = out.data() + offset,
                                        .y = out.data() + offset};
            };
            products->multiply(task(together, 0), {count, stride, 4}, accuracy, nullptr, {stages.data(), 1u << 1});
            for (std::int64_t j = 0; j < count; ++j)
                if (j != closed) products->multiply(task(alone, j * stride), accuracy);
            std::vector<T> found(y.size()), expected(y.size());
            together.copy_to(found);
            alone.copy_to(expected);
            EXPECT_EQ(testing::differences<T>(found, expected), "") << to_string(accuracy) << ", alpha " << alpha;
        }
    EXPECT_THROW(products->multiply({}, {count + 1, stride, 4}, Accuracy::exact, nullptr, {}), InvalidArgument);
}

/// `symmetric`: what conjugate gradients are for.
template <class T>
DenseMatrix<T> system_for(KrylovMethod method, std::int64_t n) {
    DenseMatrix<T> a = testing::system_matrix<T>(n);
    if (method == KrylovMethod::cg)
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < i; ++j) a.values[i * n + j] = a.values[j * n + i];
    return a;
}

/// As Python's arrays of a device are.
TYPED_TEST(CudaDense, MultipliesVectorsInTheMemoryOfTheDevice) {
    using T = TypeParam;
    constexpr std::int64_t rows = 40, columns = 60, count = 9;
    const DenseMatrix<T> a{rows, columns, random_values<T>(rows * columns, 1, true)};
    const std::vector<T> x = random_values<T>(columns * count, 2, true), y = random_values<T>(rows * count, 3, true);
    std::vector<T> expected = y, found(y.size());
    const cuda::DeviceArray<T> x_there(0, x, "x"), y_there(0, y, "y");
    std::vector<SpmvTask<T>> here, there;
    for (std::int64_t j = 0; j < count; ++j) {
        const std::span<T> of_here(expected.data() + j * rows, rows), of_there(y_there.data() + j * rows, rows);
        here.push_back({.x = {x.data() + j * columns, columns}, .beta = T(2), .y_in = of_here, .y = of_here});
        there.push_back({.x = {x_there.data() + j * columns, columns}, .beta = T(2), .y_in = of_there, .y = of_there});
    }
    SpmvPlan<T>(a.view(), Device::cpu(1)).multiply(here, Accuracy::exact);
    SpmvPlan<T>(a.view(), Device::cuda(0)).multiply(there, Accuracy::exact);
    y_there.copy_to(found);
    EXPECT_EQ(testing::differences<T>(found, expected), "");
}

TYPED_TEST(CudaDense, ProductsOfNothingAreZerosInTheMemoryOfTheDevice) {
    using T = TypeParam;
    const std::vector<T> ones(6, T(1));
    const cuda::DeviceArray<T> c(0, ones, "C");
    gemm(GemmTask<T>{1, {2, 0, 1, 2, nullptr}, {0, 3, 3, 1, nullptr}, 0, {2, 3, 1, 2, c.data()}}, Accuracy::exact,
         Device::cuda(0));
    std::vector<T> found(6);
    c.copy_to(found);
    EXPECT_EQ(found, std::vector<T>(6));
    using C = std::complex<T>;
    const std::vector<C> complex_ones(6, C(1, 1));
    const cuda::DeviceArray<C> complex_c(0, complex_ones, "C");
    gemm(GemmTask<C>{1, {2, 0, 1, 2, nullptr}, {0, 3, 3, 1, nullptr}, 0, {2, 3, 1, 2, complex_c.data()}}, Accuracy::exact,
         Device::cuda(0));
    std::vector<C> complex_found(6);
    complex_c.copy_to(complex_found);
    EXPECT_EQ(complex_found, std::vector<C>(6));
}

TYPED_TEST(CudaDense, SolvesWithTheBitsOfTheCpuInExact) {
    using T = TypeParam;
    constexpr std::int64_t n = 300;
    for (const KrylovMethod method : {KrylovMethod::bicgstab, KrylovMethod::cg})
        for (const PreconditionerKind kind : {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::klu})
            for (const std::int64_t columns : {1, 6}) {
                SCOPED_TRACE(::testing::Message() << to_string(kind) << ", " << columns << " columns");
                const DenseMatrix<T> a = system_for<T>(method, n);
                const DenseMatrix<T> b = testing::right_hand_sides<T>(n, columns);
                const KrylovOptions options{
                    .accuracy = Accuracy::exact, .tolerance = 1e-12, .max_iterations = 60, .keep_history = true};
                const auto solve_by = [&](const Device& device, DenseMatrix<T>& x) {
                    const SpmvPlan<T> plan(a.view(), device);
                    const auto m = make_preconditioner<T>(kind, plan.matrix(), Accuracy::exact, Device::cpu());
                    return method == KrylovMethod::cg ? cg<T>(plan, *m, b, x, nullptr, options)
                                                      : bicgstab<T>(plan, *m, b, x, nullptr, options);
                };
                DenseMatrix<T> found{n, columns, std::vector<T>(b.values.size())}, expected = found;
                const auto results = solve_by(Device::cuda(), found), right = solve_by(Device::cpu(2), expected);
                EXPECT_EQ(testing::differences<T>(found.values, expected.values), "");
                for (std::int64_t j = 0; j < columns; ++j) EXPECT_EQ(difference(results[j], right[j]), "") << j;
            }
}

}  // namespace
}  // namespace solver
