#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "solver/cuda.hpp"
#include "solver/cuda/nonnegative_gemm.hpp"
#include "solver/error.hpp"
#include "solver/nonnegative_gemm.hpp"
#include "solver/numeric/rounding.hpp"
#include "support/adversarial.hpp"
#include "support/fenced.hpp"
#include "support/on_cuda.hpp"

#include <array>
#include <cmath>
#include <vector>

namespace solver {
namespace {

using ::testing::HasSubstr;
using testing::Random;
using Algorithm = NonnegativeAlgorithm;

/// With a line stride of its own.
template <class T>
struct Matrix {
    std::int64_t rows, columns, stride;
    bool by_rows;
    std::vector<T> values;

    Matrix(std::int64_t m, std::int64_t n, bool rows_first = true, std::int64_t gap = 0)
        : rows(m),
          columns(n),
          stride((rows_first ? n : m) + gap),
          by_rows(rows_first),
          values(static_cast<std::size_t>((rows_first ? m : n) * stride), T(-7)) {}
    T& operator()(std::int64_t i, std::int64_t j) {
        return values[static_cast<std::size_t>(by_rows ? i * stride + j : j * stride + i)];
    }
    MutableDenseView<T> view() { return {rows, columns, by_rows ? stride : 1, by_rows ? 1 : stride, values.data()}; }
};

template <class T>
Matrix<T> random_matrix(Random& random, std::int64_t m, std::int64_t n, bool by_rows = true, std::int64_t gap = 0) {
    Matrix<T> result(m, n, by_rows, gap);
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) result(i, j) = static_cast<T>(std::ldexp(random.between(0, 1 << 20), -20));
    return result;
}

/// Whole numbers below 16: every sum on the way, which the recursion makes some 4^(2 depth) times as large at most, is exact.
template <class T>
Matrix<T> whole_matrix(Random& random, std::int64_t m, std::int64_t n) {
    Matrix<T> result(m, n);
    for (T& value : result.values) value = static_cast<T>(random.between(0, 15));
    return result;
}

NonnegativeReport multiply(const GemmTask<double>& task, const NonnegativeOptions& options) {
    return dngemm(task, Device::cuda(), options);
}
NonnegativeReport multiply(const GemmTask<float>& task, const NonnegativeOptions& options) {
    return sngemm(task, Device::cuda(), options);
}

template <class T>
class CudaNonnegative : public testing::OnCuda {
protected:
    /// On the device, gaps and all, so that what is written there is seen.
    static NonnegativeReport multiply_on_device(T alpha, Matrix<T>& a, Matrix<T>& b, T beta, Matrix<T>& c,
                                                const NonnegativeOptions& options) {
        const cuda::DeviceArray<T> on_device[] = {{0, a.values, "A"}, {0, b.values, "B"}, {0, c.values, "C"}};
        GemmTask<T> task{alpha, a.view(), b.view(), beta, c.view()};
        task.a.data = on_device[0].data();
        task.b.data = on_device[1].data();
        task.c.data = on_device[2].data();
        const NonnegativeReport report = cuda::NonnegativeMultiplier(0).gemm(task, options);
        on_device[2].copy_to(c.values);
        return report;
    }

    /// Multiplies and compares with sums in long double of every seventh element, by the normwise bound. |A|, |B|, |C| <= 1
    /// and powers of two for alpha, which costs nothing.
    void expect_kept(T alpha, Matrix<T>& a, Matrix<T>& b, T beta, Matrix<T>& c, const NonnegativeOptions& options,
                     Algorithm algorithm, int depth) {
        Matrix<T> found = c;
        const NonnegativeReport report = multiply_on_device(alpha, a, b, beta, found, options);
        EXPECT_EQ(report.algorithm, algorithm);
        EXPECT_EQ(report.depth, depth);
        EXPECT_EQ(report.workspace_bytes > 0, algorithm == Algorithm::winograd);
        const double u = double{unit_roundoff<T>};
        const double of_c = beta == 0 ? 0 : (2 * depth + 3) * std::abs(double{beta});
        const double of_product = nonnegative_error_factor(a.columns, depth) +
                                  (beta == 0 ? 0 : 2 * std::pow(8.0, depth) * static_cast<double>(a.columns));
        const double allowed = u * (of_product * std::abs(double{alpha}) + of_c) * (1 + 1e-3);
        for (std::int64_t place = 0; place < c.rows * c.columns; place += c.rows * c.columns < 1000 ? 1 : 7) {
            const std::int64_t i = place / c.columns, j = place % c.columns;
            long double sum = 0;
            for (std::int64_t k = 0; k < a.columns; ++k) sum += static_cast<long double>(a(i, k)) * b(k, j);
            sum *= alpha;
            if (beta != 0) sum += static_cast<long double>(beta) * c(i, j);
            ASSERT_LE(std::abs(static_cast<double>(found(i, j) - sum)), allowed) << found(i, j) << " at " << i << ", " << j;
        }
        for (std::size_t place = 0; place < c.values.size(); ++place) {
            const auto line = static_cast<std::int64_t>(place) % c.stride;
            ASSERT_TRUE(line < (c.by_rows ? c.columns : c.rows) || found.values[place] == T(-7)) << "written beside C";
        }
    }
};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaNonnegative, ValueTypes);

// Promise: nonnegative_gemm.hpp, "The promise is normwise"
// Promise: nonnegative_gemm.hpp, "C' itself is of size"
// Promise: nonnegative_gemm.hpp, "How the last product was made."
// Promise: cuda/nonnegative_gemm.hpp, "Views hold pointers to the device's memory."
// Promise: nonnegative_gemm.hpp, "C11 = A11 B11 + A12 B21 and so on"
// Promise: nonnegative_gemm.hpp, "by the definition"
TYPED_TEST(CudaNonnegative, KeepsTheNormwiseBoundForAnySizeAndDepth) {
    using T = TypeParam;
    Random random(1);
    struct Shape {
        std::int64_t m, n, k;
    };
    for (const Shape& s : {Shape{64, 64, 64}, Shape{129, 66, 70}, Shape{255, 257, 301}, Shape{32, 500, 64}})
        for (int depth = 0; depth <= 3; ++depth) {
            SCOPED_TRACE(::testing::Message() << s.m << " x " << s.k << " x " << s.n << ", depth " << depth);
            Matrix<T> a = random_matrix<T>(random, s.m, s.k), b = random_matrix<T>(random, s.k, s.n),
                      c = random_matrix<T>(random, s.m, s.n);
            const NonnegativeOptions options{Algorithm::winograd, depth};
            const Algorithm expected = depth == 0 ? Algorithm::conventional : Algorithm::winograd;
            this->expect_kept(1, a, b, 0, c, options, expected, depth);
            this->expect_kept(1, a, b, 1, c, options, expected, depth);
            this->expect_kept(T(-0.5), a, b, T(0.3), c, options, expected, depth);
            this->expect_kept(1, a, b, 0, c, {Algorithm::outer_product, depth},
                              depth == 0 ? Algorithm::conventional : Algorithm::outer_product, depth);
        }
}

TYPED_TEST(CudaNonnegative, TakesAnyLayout) {
    using T = TypeParam;
    Random random(2);
    for (int layouts = 0; layouts < 8; ++layouts)
        for (const std::int64_t gap : {0, 3}) {
            SCOPED_TRACE(::testing::Message() << layouts << ", gap " << gap);
            Matrix<T> a = random_matrix<T>(random, 140, 136, (layouts & 1) != 0, gap);
            Matrix<T> b = random_matrix<T>(random, 136, 130, (layouts & 2) != 0, gap);
            Matrix<T> c = random_matrix<T>(random, 140, 130, (layouts & 4) != 0, gap);
            this->expect_kept(1, a, b, 1, c, {Algorithm::winograd, 2}, Algorithm::winograd, 2);
        }
}

// Promise: nonnegative_gemm.hpp, "C = alpha A B + beta C for A and B"
TYPED_TEST(CudaNonnegative, IsExactForSmallWholeNumbers) {
    using T = TypeParam;
    Random random(5);
    for (const auto& [m, n, k] : {std::array{64, 64, 64}, std::array{129, 66, 70}, std::array{96, 130, 37}})
        for (int depth = 0; depth <= 2; ++depth)
            for (const Algorithm algorithm : {Algorithm::winograd, Algorithm::outer_product}) {
                SCOPED_TRACE(::testing::Message() << m << " x " << k << " x " << n << ", depth " << depth);
                Matrix<T> a = whole_matrix<T>(random, m, k), b = whole_matrix<T>(random, k, n);
                Matrix<T> c = whole_matrix<T>(random, m, n), expected = c;
                for (int i = 0; i < m; ++i)
                    for (int j = 0; j < n; ++j) {
                        T sum = 0;
                        for (int l = 0; l < k; ++l) sum += a(i, l) * b(l, j);
                        expected(i, j) = 2 * sum + 3 * c(i, j);
                    }
                multiply(GemmTask<T>{2, a.view(), b.view(), 3, c.view()}, {algorithm, depth});
                ASSERT_EQ(c.values, expected.values);
            }
}

TYPED_TEST(CudaNonnegative, TouchesNothingBetweenTheColumns) {
    using T = TypeParam;
    Random random(6);
    const testing::FencedColumns<T> a(1, 33), b(1, 9), c(1, 9);
    for (const auto* x : {&a, &b})
        for (std::int64_t j = 0; j < x->view().columns; ++j)
            for (std::int64_t i = 0; i < x->view().rows; ++i) (*x)(i, j) = static_cast<T>(random.between(0, 15));
    GemmTask<T> task{1, a.view(), b.view(), 0, c.view()};
    task.b.rows = task.a.columns;
    multiply(task, {});
    for (std::int64_t j = 0; j < task.c.columns; ++j)
        for (std::int64_t i = 0; i < task.c.rows; ++i) {
            T sum = 0;
            for (std::int64_t l = 0; l < task.inner(); ++l) sum += a(i, l) * b(l, j);
            ASSERT_EQ(c(i, j), sum) << i << ", " << j;
        }
}

// Promise: nonnegative_gemm.hpp, "InvalidArgument that names the first entry"
// Promise: nonnegative_gemm.hpp, "else such inputs are refused"
TYPED_TEST(CudaNonnegative, NamesTheFirstEntryThatIsNotNonnegative) {
    using T = TypeParam;
    Random random(3);
    for (const bool by_rows : {true, false})
        for (const bool c_by_rows : {true, false})
            for (const auto& [row, column] : {std::pair{3, 40}, std::pair{80, 2}, std::pair{99, 0}, std::pair{5, 101}})
                for (const T bad : {T(-1), std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
                    Matrix<T> a = random_matrix<T>(random, 100, 102, by_rows), b = random_matrix<T>(random, 102, 99, by_rows);
                    Matrix<T> c = random_matrix<T>(random, 100, 99, c_by_rows);
                    const std::vector<T> before = c.values;
                    a(row, column) = bad;
                    a(99, 101) = -2;
                    const GemmTask<T> task{1, a.view(), b.view(), 0, c.view()};
                    const std::string name = "A(" + std::to_string(row) + ", " + std::to_string(column) + ")";
                    EXPECT_THAT(
                        [&] {
                            multiply(task, {Algorithm::winograd, 2});
                        },
                        ::testing::ThrowsMessage<InvalidArgument>(HasSubstr(name)));
                    EXPECT_EQ(c.values, before);
                    NonnegativeOptions options{Algorithm::winograd, 2};
                    options.conventional_if_negative = true;
                    EXPECT_EQ(multiply(task, options).algorithm, Algorithm::conventional);
                }
    Matrix<T> a = random_matrix<T>(random, 100, 102), b = random_matrix<T>(random, 102, 99, false), c(100, 99, false);
    b(50, 98) = -1;
    EXPECT_THAT(
        [&] {
            multiply(GemmTask<T>{1, a.view(), b.view(), 0, c.view()}, {Algorithm::winograd, 1});
        },
        ::testing::ThrowsMessage<InvalidArgument>(HasSubstr("B(50, 98)")));
}

// Promise: nonnegative_gemm.hpp, "bytes on the device, which limit the depth;"
TYPED_TEST(CudaNonnegative, LimitsItsMemory) {
    using T = TypeParam;
    Random random(4);
    Matrix<T> a = random_matrix<T>(random, 256, 256), b = random_matrix<T>(random, 256, 256), c(256, 256);
    NonnegativeOptions options{Algorithm::winograd, 3};
    options.workspace_limit = 9 * 128 * 128 * static_cast<std::int64_t>(sizeof(T));
    this->expect_kept(1, a, b, 0, c, options, Algorithm::winograd, 1);
    options.workspace_limit -= 1;
    this->expect_kept(1, a, b, 0, c, options, Algorithm::conventional, 0);
}

// Promise: cuda/nonnegative_gemm.hpp, "Owns working memory that grows with"
// Promise: reproducibility.md, "`dngemm`, `sngemm` (Winograd's variant)"
TYPED_TEST(CudaNonnegative, HasTheSameBitsEveryTimeInMemoryThatGrows) {
    using T = TypeParam;
    Random random(7);
    Matrix<T> a = random_matrix<T>(random, 300, 300), b = random_matrix<T>(random, 300, 300), expected(300, 300);
    const NonnegativeOptions options{Algorithm::winograd, 2};
    const std::int64_t large = this->multiply_on_device(1, a, b, 0, expected, options).workspace_bytes;
    cuda::NonnegativeMultiplier multiplier(0);
    const cuda::DeviceArray<T> of_a(0, a.values, "A"), of_b(0, b.values, "B"), of_c(0, expected.values, "C");
    std::int64_t small = 0;
    for (const std::int64_t n : {64, 300, 64, 300}) {
        GemmTask<T> task{1, {n, n, 300, 1, of_a.data()}, {n, n, 300, 1, of_b.data()}, 0, {n, n, 300, 1, of_c.data()}};
        const std::int64_t now = multiplier.gemm(task, options).workspace_bytes;
        if (n < 300) {
            small = now;
            continue;
        }
        EXPECT_EQ(now, large);
        Matrix<T> found(300, 300);
        of_c.copy_to(found.values);
        EXPECT_EQ(found.values, expected.values);
    }
    EXPECT_LT(small, large);
}

// Promise: nonnegative_gemm.hpp, "Throws what solver::gemm throws;"
// Promise: cuda/nonnegative_gemm.hpp, "Throws what solver::dngemm throws, and ResourceLimit."
TYPED_TEST(CudaNonnegative, RefusesShapesThatDoNotFit) {
    using T = TypeParam;
    Random random(8);
    Matrix<T> a = random_matrix<T>(random, 3, 4), b = random_matrix<T>(random, 5, 2), c(3, 2);
    EXPECT_THROW(multiply(GemmTask<T>{1, a.view(), b.view(), 0, c.view()}, {}), DimensionMismatch);
    EXPECT_THROW(this->multiply_on_device(1, a, b, 0, c, {}), DimensionMismatch);
}

// Promise: nonnegative_gemm.hpp, "winograd where it pays"
// Promise: nonnegative_gemm.hpp, "levels of recursion;"
TYPED_TEST(CudaNonnegative, DoesNotRecurWhereThatDoesNotPay) {
    using T = TypeParam;
    Random random(9);
    Matrix<T> a = random_matrix<T>(random, 256, 256), b = random_matrix<T>(random, 256, 256), c(256, 256);
    this->expect_kept(1, a, b, 0, c, {}, Algorithm::conventional, 0);
    this->expect_kept(1, a, b, 0, c, {Algorithm::winograd, -1}, Algorithm::conventional, 0);
}

// Promise: nonnegative_gemm.hpp, "f(inner, depth) above."
TEST(NonnegativeProduct, HasTheErrorFactorOfItsTheorem) {
    EXPECT_EQ(nonnegative_error_factor(64, 0), 64 * 64);
    EXPECT_EQ(nonnegative_error_factor(64, 1), 18 * (32 * 32 + 6 * 32) - 6 * 64);
    EXPECT_EQ(nonnegative_error_factor(64, 2), 18 * 18 * (16 * 16 + 6 * 16) - 6 * 64);
}

// Promise: nonnegative_gemm.hpp, "NotSupported on a CPU."
TEST(NonnegativeProduct, IsNotThereForAProcessor) {
    const std::vector<float> one{1};
    std::vector<float> c{0};
    const GemmTask<float> task{1, {1, 1, 1, 1, one.data()}, {1, 1, 1, 1, one.data()}, 0, {1, 1, 1, 1, c.data()}};
    EXPECT_THAT([&] { sngemm(task, Device::cpu()); }, ::testing::ThrowsMessage<NotSupported>(HasSubstr("use gemm")));
}

}  // namespace
}  // namespace solver
