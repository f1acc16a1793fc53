#include "solver/cuda.hpp"
#include "solver/cuda/gemm.hpp"

#include <gtest/gtest.h>

#include "support/adversarial.hpp"
#include "support/expected.hpp"
#include "support/on_cuda.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace solver {
namespace {

using testing::Random;

template <class T>
class CudaGemmResidue : public testing::OnCuda {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaGemmResidue, ValueTypes);

template <class T>
struct Matrix {
    std::int64_t rows, columns;
    bool by_rows;
    std::vector<T> values;
    cuda::DeviceArray<T> on_device;

    Matrix(std::int64_t m, std::int64_t n, bool row_major, const std::function<double(std::int64_t, std::int64_t)>& element)
        : rows(m), columns(n), by_rows(row_major), values(static_cast<std::size_t>(m * n)) {
        for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j) at(i, j) = static_cast<T>(element(i, j));
        on_device = cuda::DeviceArray<T>(0, values, "a matrix");
    }
    T& at(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(by_rows ? i * columns + j : i + j * rows)]; }
    MutableDenseView<T> view() const { return {rows, columns, by_rows ? columns : 1, by_rows ? 1 : rows, on_device.data()}; }
};

/// Large enough for residues to be chosen, and nothing a multiple of a tile.
constexpr std::int64_t m = 771, n = 802, k = 903;

template <class T>
struct Case {
    std::string name;
    std::function<double(std::int64_t, std::int64_t)> a, b;
    T alpha = 1;
    T beta = 0;
    bool by_rows = true;
};

template <class T>
std::vector<Case<T>> cases() {
    static Random random(7);
    const auto uniform = [](std::int64_t, std::int64_t) { return random.number<double>(0) / 2; };
    const auto spread = [](int range) {
        return [range](std::int64_t, std::int64_t) {
            return random.number<double>(static_cast<int>(random.between(-range, range)));
        };
    };
    const auto integer = [](std::int64_t, std::int64_t) { return static_cast<double>(random.between(-99, 99)); };
    // Squares relative to the first entry of a row overflow.
    const auto far_apart = [](std::int64_t, std::int64_t l) {
        constexpr int range = std::is_same_v<T, float> ? 60 : 480;
        return std::ldexp(random.number<double>(0), l % 3 == 0 ? -range : range);
    };
    const auto row_scaled = [](std::int64_t i, std::int64_t) {
        return std::ldexp(random.number<double>(0), static_cast<int>(i % 60) - 30);
    };
    const auto special = [](std::int64_t i, std::int64_t j) {
        if (i == 5 && j == 7) return std::numeric_limits<double>::infinity();
        if (i == 9 && j == 0) return -std::numeric_limits<double>::infinity();
        if (i == 11 && j == 2) return std::numeric_limits<double>::quiet_NaN();
        return i == 13 ? 0.0 : random.number<double>(0);
    };
    const auto special_columns = [special](std::int64_t l, std::int64_t j) { return special(j, l); };
    // Halves of the products cancel the others but for the last bits.
    const auto left = [](std::int64_t i, std::int64_t l) { return std::sin(static_cast<double>(i * 3 + l / 2)); };
    const auto right = [](std::int64_t l, std::int64_t j) {
        return (l % 2 == 0 ? 1 : -1) * std::cos(static_cast<double>(j * 5 + l / 2)) + (l == 4 ? 0x1p-40 : 0);
    };
    // Ties but for a number so small that scaling cuts it off, in some lines; integers in others, which lose nothing.
    const auto near_tie = [uniform](std::int64_t line, std::int64_t l) {
        if (line != 3 && line != 7)
            return line < 15 ? (l < 3 ? 1.0 : static_cast<double>(random.between(-9, 9))) : uniform(0, 0);
        const double small = std::is_same_v<T, float> ? 0x1p-100 : 0x1p-400;
        return l == 0 ? 1.0 : l == 1 ? double{unit_roundoff<T>} : l == 2 ? small : 0.0;
    };
    const auto near_tie_columns = [near_tie](std::int64_t l, std::int64_t j) { return near_tie(j, l); };
    return {{"alike", uniform, uniform},
            {"alike, by columns", uniform, uniform, T(1), T(0), false},
            {"spread", spread(12), spread(12)},
            {"widely spread", spread(30), spread(30)},
            {"integers", integer, integer},
            {"integers and others", integer, uniform},
            {"rows of all sizes", row_scaled, uniform},
            {"cancelled", left, right},
            {"far apart", far_apart, uniform},
            {"far apart, by columns", far_apart, uniform, T(1), T(0), false},
            {"special values", special, uniform},
            {"special values in both", special, special_columns},
            {"special values, alpha and beta", special, special_columns, T(-2.5), T(3.25), false},
            {"alpha and beta", uniform, spread(5), T(-2.5), T(3.25)},
            {"alpha and beta that are not short", uniform, uniform, T(0.3), T(0.7), false},
            {"ties but for what is cut off", near_tie, near_tie_columns}};
}

/// RN(alpha sum + beta c) of an element.
template <class T>
T rounded(Matrix<T>& a, Matrix<T>& b, const Case<T>& given, T c, std::int64_t i, std::int64_t j) {
    testing::ExpectedSum<T> sum;
    for (std::int64_t l = 0; l < k; ++l) sum.add_product(a.at(i, l), b.at(l, j));
    return sum.affine(given.alpha, given.beta, c).rounded();
}

// Promise: cuda/gemm.hpp, "C = alpha A B + beta C of matrices in the device's memory"
// Promise: cuda/gemm.hpp, "Views hold pointers to the device's memory."
// Promise: cuda/gemm.hpp, "integers modulo 8-bit numbers on the matrix units"
TYPED_TEST(CudaGemmResidue, RoundsEveryElementOnce) {
    using T = TypeParam;
    Random random(3);
    for (const Case<T>& given : cases<T>()) {
        SCOPED_TRACE(given.name);
        Matrix<T> a(m, k, given.by_rows, given.a), b(k, n, !given.by_rows, given.b);
        Matrix<T> c(m, n, given.by_rows, [&](std::int64_t, std::int64_t) { return random.number<double>(0); });
        cuda::Multiplier multiplier(0);
        const GemmTask<T> task{given.alpha, a.view(), b.view(), given.beta, c.view()};
        multiplier.gemm(task, Accuracy::exact);
        EXPECT_EQ(multiplier.report().route, cuda::GemmRoute::residues);
        Matrix<T> found(m, n, given.by_rows, [](std::int64_t, std::int64_t) { return 0.0; });
        c.on_device.copy_to(found.values);
        for (int sample = 0; sample < 400; ++sample) {
            // All of the first rows and columns are there, which hold the special values, and where they meet.
            const std::int64_t i = sample < 225 ? sample / 15 : random.between(0, m - 1);
            const std::int64_t j = sample < 225 ? sample % 15 : random.between(0, n - 1);
            const T expected = rounded(a, b, given, c.at(i, j), i, j);
            EXPECT_PRED2(testing::same_bits<T>, found.at(i, j), expected) << "element " << i << ", " << j;
        }
    }
}

// Promise: cuda/gemm.hpp, "Before the first one it is a GemmReport()."
TYPED_TEST(CudaGemmResidue, HasNothingToReportAtFirst) {
    constexpr std::array<unsigned long long, 2> left_in_memory{~0ull, ~0ull};
    { const cuda::DeviceArray<unsigned long long> former(0, left_in_memory, "test"); }
    const cuda::Multiplier multiplier(0);
    const cuda::GemmReport report = multiplier.report();
    EXPECT_EQ(report.route, cuda::GemmRoute::nothing);
    EXPECT_EQ(report.moduli, 0);
    EXPECT_EQ(report.recomputed, 0);
}

/// Sums of residues are formed in parts then.
// Promise: cuda/gemm.hpp, "Of the last product."
TYPED_TEST(CudaGemmResidue, TakesMoreProductsThan32BitSumsHold) {
    using T = TypeParam;
    constexpr std::int64_t rows = 130, columns = 140, inner = 70001;
    Random random(5);
    const auto entry = [&](std::int64_t, std::int64_t) { return random.number<double>(0); };
    Matrix<T> a(rows, inner, true, entry), b(inner, columns, true, entry);
    Matrix<T> c(rows, columns, true, [](std::int64_t, std::int64_t) { return 0.0; });
    cuda::Multiplier multiplier(0);
    multiplier.gemm(GemmTask<T>{T(1), a.view(), b.view(), T(0), c.view()}, Accuracy::exact);
    EXPECT_EQ(multiplier.report().route, cuda::GemmRoute::residues);
    c.on_device.copy_to(c.values);
    for (int sample = 0; sample < 30; ++sample) {
        const std::int64_t i = random.between(0, rows - 1), j = random.between(0, columns - 1);
        testing::ExpectedSum<T> sum;
        for (std::int64_t l = 0; l < inner; ++l) sum.add_product(a.at(i, l), b.at(l, j));
        EXPECT_PRED2(testing::same_bits<T>, c.at(i, j), sum.rounded()) << "element " << i << ", " << j;
    }
}

/// A row of the result takes several blocks.
TYPED_TEST(CudaGemmResidue, TakesResultsOfManyColumns) {
    using T = TypeParam;
    constexpr std::int64_t rows = 300, columns = 2603, inner = 903;
    Random random(6);
    const auto entry = [&](std::int64_t, std::int64_t) { return random.number<double>(0); };
    Matrix<T> a(rows, inner, true, entry), b(inner, columns, false, entry);
    Matrix<T> c(rows, columns, true, [](std::int64_t, std::int64_t) { return std::numeric_limits<double>::quiet_NaN(); });
    cuda::Multiplier multiplier(0);
    multiplier.gemm(GemmTask<T>{T(1), a.view(), b.view(), T(0), c.view()}, Accuracy::exact);
    EXPECT_EQ(multiplier.report().route, cuda::GemmRoute::residues);
    c.on_device.copy_to(c.values);
    for (std::int64_t j = 0; j < columns; j += 13) {
        const std::int64_t i = random.between(0, rows - 1);
        testing::ExpectedSum<T> sum;
        for (std::int64_t l = 0; l < inner; ++l) sum.add_product(a.at(i, l), b.at(l, j));
        EXPECT_PRED2(testing::same_bits<T>, c.at(i, j), sum.rounded()) << "element " << i << ", " << j;
    }
}

/// Ties but for what lies ever lower: a number by itself, and what is left of two that cancel but for the last bit of one, so
/// that scaling cuts that bit off and keeps all others.
TYPED_TEST(CudaGemmResidue, SeesWhatBreaksATieWhereverItLies) {
    using T = TypeParam;
    Random random(8);
    constexpr std::int64_t places = 160;
    const auto left = [&](std::int64_t i, std::int64_t l) {
        const double low = std::ldexp(1.0, -std::numeric_limits<T>::digits - 1 - static_cast<int>(i % places) / 2);
        const double alone[] = {1, unit_roundoff<T>, low, 0};
        const double cancelled[] = {1, unit_roundoff<T>, low * (1 + 2 * double{unit_roundoff<T>}), -low};
        if (i >= 2 * places) return random.number<double>(0);
        return l >= 4 ? 0.0 : i < places ? alone[l] : cancelled[l];
    };
    const auto right = [&](std::int64_t l, std::int64_t) { return l < 4 ? 1.0 : static_cast<double>(random.between(-9, 9)); };
    Matrix<T> a(m, k, true, left), b(k, n, false, right);
    Matrix<T> c(m, n, true, [](std::int64_t, std::int64_t) { return 0.0; });
    cuda::Multiplier multiplier(0);
    multiplier.gemm(GemmTask<T>{T(1), a.view(), b.view(), T(0), c.view()}, Accuracy::exact);
    EXPECT_EQ(multiplier.report().route, cuda::GemmRoute::residues);
    c.on_device.copy_to(c.values);
    for (std::int64_t i = 0; i < 2 * places; ++i)
        for (const std::int64_t j : {std::int64_t{0}, n - 1})
            EXPECT_EQ(c.at(i, j), 1 + 2 * unit_roundoff<T>) << "element " << i << ", " << j;
}

/// Every element cancels by more than three terms hold, and there are more than the list of open elements has room for: what is
/// left of the seven products is the one in the middle.
// Promise: cuda/gemm.hpp, "elements whose bound did not suffice"
TYPED_TEST(CudaGemmResidue, RoundsMoreOpenElementsThanAreListed) {
    using T = TypeParam;
    constexpr std::int64_t rows = 1031, columns = 1033, inner = 7;
    static_assert(rows * columns > 1 << 20);
    constexpr int step = std::is_same_v<T, double> ? 500 : 62;  // of the exponents of what cancels
    Random random(9);
    const auto left = [&](std::int64_t, std::int64_t l) {
        return l >= 4 ? 0.0 : std::ldexp(random.number<T>(), l == 3 ? -step / 2 : step - static_cast<int>(l) * step);
    };
    const auto right = [&](std::int64_t l, std::int64_t) {
        return l >= 4 ? 0.0 : std::ldexp(random.number<T>(), l == 3 ? -step / 2 : step - static_cast<int>(l) * step);
    };
    Matrix<T> a(rows, inner, true, left), b(inner, columns, false, right);
    for (std::int64_t l = 0; l < 3; ++l) {
        for (std::int64_t i = 0; i < rows; ++i) a.at(i, 6 - l) = -a.at(i, l);
        for (std::int64_t j = 0; j < columns; ++j) b.at(6 - l, j) = b.at(l, j);
    }
    a.on_device = cuda::DeviceArray<T>(0, a.values, "a matrix");
    b.on_device = cuda::DeviceArray<T>(0, b.values, "a matrix");
    Matrix<T> c(rows, columns, true, [](std::int64_t, std::int64_t) { return 0.0; });
    cuda::Multiplier multiplier(0);
    multiplier.gemm(GemmTask<T>{T(1), a.view(), b.view(), T(0), c.view()}, Accuracy::exact);
    EXPECT_GT(multiplier.report().recomputed, 1 << 20);
    c.on_device.copy_to(c.values);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) wrong += c.at(i, j) != a.at(i, 3) * b.at(3, j);
    EXPECT_EQ(wrong, 0);
}

/// Integers of few digits need few moduli, and nothing is computed twice; what needs more has more.
// Promise: cuda/gemm.hpp, "chosen from the data, on the route of residues"
TYPED_TEST(CudaGemmResidue, ChoosesTheModuliFromTheData) {
    using T = TypeParam;
    const auto moduli = [](const Case<T>& given) {
        const Matrix<T> a(m, k, true, given.a), b(k, n, false, given.b);
        const Matrix<T> c(m, n, true, [](std::int64_t, std::int64_t) { return 0.0; });
        cuda::Multiplier multiplier(0);
        multiplier.gemm(GemmTask<T>{T(1), a.view(), b.view(), T(0), c.view()}, Accuracy::exact);
        return multiplier.report();
    };
    const auto all = cases<T>();
    const cuda::GemmReport integers = moduli(all[4]), alike = moduli(all[0]), spread = moduli(all[2]);
    EXPECT_LE(integers.moduli, 4);
    EXPECT_EQ(integers.recomputed, 0);
    EXPECT_GT(alike.moduli, integers.moduli);
    EXPECT_GE(spread.moduli, alike.moduli);
    EXPECT_LT(alike.recomputed, m * n / 100);
}

// Promise: cuda/gemm.hpp, "Throws what solver::gemm throws, and ResourceLimit."
TYPED_TEST(CudaGemmResidue, RefusesShapesThatDoNotFit) {
    using T = TypeParam;
    const auto one = [](std::int64_t, std::int64_t) { return 1.0; };
    const Matrix<T> a(3, 4, true, one), b(5, 2, true, one), c(3, 2, true, one);
    for (const Accuracy accuracy : all_accuracies)
        EXPECT_THROW(cuda::Multiplier(0).gemm(GemmTask<T>{T(1), a.view(), b.view(), T(0), c.view()}, accuracy),
                     DimensionMismatch);
}

/// Parts of a product are made one after another where memory is short, with the same bits.
// Promise: cuda/gemm.hpp, "Owns working memory that grows with"
// Promise: cuda/gemm.hpp, "`workspace_limit` in bytes;"
// Promise: cuda/gemm.hpp, "on the device"
TYPED_TEST(CudaGemmResidue, KeepsToItsWorkspace) {
    using T = TypeParam;
    const Case<T> given = cases<T>().front();
    const Matrix<T> a(m, k, true, given.a), b(k, n, false, given.b);
    const auto multiply = [&](std::int64_t limit) {
        const Matrix<T> c(m, n, true, [](std::int64_t, std::int64_t) { return 0.0; });
        cuda::Multiplier multiplier(0, limit);
        multiplier.gemm(GemmTask<T>{T(1), a.view(), b.view(), T(0), c.view()}, Accuracy::exact);
        std::vector<T> values(c.values.size());
        c.on_device.copy_to(values);
        return std::pair(values, multiplier.report().workspace_bytes);
    };
    const auto [whole, large] = multiply(0);
    const auto [parts, small] = multiply(large / 2);
    EXPECT_LT(small, large);
    EXPECT_EQ(testing::differences<T>(parts, whole), "");
}

}  // namespace
}  // namespace solver
