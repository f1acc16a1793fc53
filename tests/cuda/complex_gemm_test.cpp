#include "solver/complex.hpp"
#include "solver/cuda.hpp"
#include "solver/cuda/gemm.hpp"

#include <gtest/gtest.h>

#include "support/adversarial.hpp"
#include "support/expected.hpp"
#include "support/on_cuda.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace solver {
namespace {

using testing::Random;

template <class T>
class CudaComplexGemm : public testing::OnCuda {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaComplexGemm, ValueTypes);

/// One part of an element: by row, column and 0 or 1.
using Entries = std::function<double(std::int64_t, std::int64_t, int)>;

template <class T>
struct Matrix {
    using C = std::complex<T>;
    std::int64_t rows, columns;
    bool by_rows;
    std::vector<C> values;
    cuda::DeviceArray<C> on_device;

    Matrix(std::int64_t m, std::int64_t n, bool row_major, const Entries& entries)
        : rows(m), columns(n), by_rows(row_major), values(static_cast<std::size_t>(m * n)) {
        for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j)
                at(i, j) = {static_cast<T>(entries(i, j, 0)), static_cast<T>(entries(i, j, 1))};
        on_device = cuda::DeviceArray<C>(0, values, "a matrix");
    }
    C& at(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(by_rows ? i * columns + j : i + j * rows)]; }
    MutableDenseView<C> view(C* data) const { return {rows, columns, by_rows ? columns : 1, by_rows ? 1 : rows, data}; }
    MutableDenseView<C> view() const { return view(on_device.data()); }
    std::vector<C> result() const {
        std::vector<C> found(values.size());
        on_device.copy_to(found);
        return found;
    }
};

/// Large enough for residues to be chosen, and nothing a multiple of a tile.
constexpr std::int64_t m = 771, n = 402, k = 451;

struct Case {
    std::string name;
    Entries a, b;
    double alpha = 1;
    double beta = 0;
    bool by_rows = true;
    Conjugation conjugation = {};
};

std::vector<Case> cases() {
    static Random random(17);
    const auto uniform = [](std::int64_t, std::int64_t, int) { return random.number<double>(0) / 2; };
    const auto spread = [](std::int64_t, std::int64_t, int) {
        return random.number<double>(static_cast<int>(random.between(-8, 8)));
    };
    const auto integer = [](std::int64_t, std::int64_t, int) { return static_cast<double>(random.between(-99, 99)); };
    const auto real = [](std::int64_t, std::int64_t, int part) { return part == 0 ? random.number<double>(0) : 0.0; };
    const auto row_scaled = [](std::int64_t i, std::int64_t, int) {
        return std::ldexp(random.number<double>(0), static_cast<int>(i % 60) - 30);
    };
    const auto special = [](std::int64_t i, std::int64_t j, int part) {
        if (i == 5 && j == 7 && part == 0) return std::numeric_limits<double>::infinity();
        if (i == 9 && j == 0 && part == 1) return -std::numeric_limits<double>::infinity();
        if (i == 11 && j == 2 && part == 1) return std::numeric_limits<double>::quiet_NaN();
        return i == 13 ? 0.0 : random.number<double>(0);
    };
    // Halves of the products cancel the others but for the last bits.
    const auto left = [](std::int64_t i, std::int64_t l, int part) {
        return std::sin(static_cast<double>(i * 3 + l / 2 + part));
    };
    const auto right = [](std::int64_t l, std::int64_t j, int part) {
        return (l % 2 == 0 ? 1 : -1) * std::cos(static_cast<double>(j * 5 + l / 2 + part)) + (l == 4 ? 0x1p-40 : 0);
    };
    return {{"alike", uniform, uniform},
            {"alike, by columns", uniform, uniform, 1, 0, false},
            {"conj(A)", uniform, uniform, 1, 0, true, {true, false}},
            {"conj(B), by columns", uniform, uniform, 1, 0, false, {false, true}},
            {"both conjugated, alpha and beta", uniform, spread, -2.5, 3.25, true, {true, true}},
            {"alpha and beta that are not short", uniform, uniform, 0.3, 0.7, false, {true, false}},
            {"spread", spread, spread},
            {"integers", integer, integer},
            {"real numbers", real, real},
            {"rows of all sizes", row_scaled, uniform},
            {"cancelled", left, right},
            {"special values", special, uniform},
            {"special values, alpha and beta", special, uniform, -2.5, 3.25, false}};
}

/// RN(alpha sum + beta c) of one part.
template <class T>
T rounded(Matrix<T>& a, Matrix<T>& b, const Case& given, std::complex<T> c, std::int64_t i, std::int64_t j, int part) {
    testing::ExpectedSum<T> sum;
    const T sign_a = given.conjugation.a ? T(-1) : T(1), sign_b = given.conjugation.b ? T(-1) : T(1);
    for (std::int64_t l = 0; l < a.columns; ++l) {
        const std::complex<T> x = a.at(i, l), y = b.at(l, j);
        const T x_imaginary = sign_a * x.imag(), y_imaginary = sign_b * y.imag();
        if (part == 0) {
            sum.add_product(x.real(), y.real());
            sum.add_product(-x_imaginary, y_imaginary);
        } else {
            sum.add_product(x.real(), y_imaginary);
            sum.add_product(x_imaginary, y.real());
        }
    }
    return sum.affine(static_cast<T>(given.alpha), static_cast<T>(given.beta), part == 0 ? c.real() : c.imag()).rounded();
}

// Promise: cuda/gemm.hpp, "Of complex numbers, with conj(A) and conj(B) where asked for"
// Promise: complex.hpp, "Real and imaginary part of an element are sums of 2 k products each"
// Promise: complex.hpp, "On the processor one real product of twice the inner dimension"
TYPED_TEST(CudaComplexGemm, RoundsEveryPartOnce) {
    using T = TypeParam;
    Random random(3);
    for (const Case& given : cases()) {
        SCOPED_TRACE(given.name);
        Matrix<T> a(m, k, given.by_rows, given.a), b(k, n, !given.by_rows, given.b);
        Matrix<T> c(m, n, given.by_rows, [&](std::int64_t, std::int64_t, int) { return random.number<double>(0); });
        cuda::Multiplier multiplier(0);
        multiplier.gemm(
            GemmTask<std::complex<T>>{static_cast<T>(given.alpha), a.view(), b.view(), static_cast<T>(given.beta), c.view()},
            Accuracy::exact, given.conjugation);
        EXPECT_EQ(multiplier.report().route, cuda::GemmRoute::residues);
        const std::vector<std::complex<T>> found = c.result();
        for (int sample = 0; sample < 400; ++sample) {
            // All of the first rows and columns are there, which hold the special values.
            const std::int64_t i = sample < 225 ? sample / 15 : random.between(0, m - 1);
            const std::int64_t j = sample < 225 ? sample % 15 : random.between(0, n - 1);
            const std::complex<T> z = found[static_cast<std::size_t>(given.by_rows ? i * n + j : i + j * m)];
            for (const int part : {0, 1}) {
                const T expected = rounded(a, b, given, c.at(i, j), i, j, part);
                EXPECT_PRED2(testing::same_bits<T>, part == 0 ? z.real() : z.imag(), expected)
                    << "element " << i << ", " << j << ", part " << part;
            }
        }
    }
}

template <class T>
std::vector<std::complex<T>> product(const Matrix<T>& a, const Matrix<T>& b, Accuracy accuracy, std::int64_t workspace,
                                     cuda::GemmReport* report = nullptr) {
    const Matrix<T> c(a.rows, b.columns, true, [](std::int64_t, std::int64_t, int) { return 0.0; });
    cuda::Multiplier multiplier(0, workspace);
    multiplier.gemm(GemmTask<std::complex<T>>{T(1), a.view(), b.view(), T(0), c.view()}, accuracy);
    if (report != nullptr) *report = multiplier.report();
    return c.result();
}

/// Also where the entries are spread wider than the Gaussian moduli hold, in products too small for them, and in one row.
TYPED_TEST(CudaComplexGemm, HasTheProcessorsBits) {
    using T = TypeParam;
    Random random(5);
    constexpr int range = std::is_same_v<T, float> ? 30 : 200;
    const auto wide = [&](std::int64_t, std::int64_t, int) {
        return random.number<double>(static_cast<int>(random.between(-range, range)));
    };
    for (const auto& [rows, inner, columns] : {std::array<std::int64_t, 3>{211, 330, 199}, {9, 5, 7}, {1, 1000, 1}}) {
        const Matrix<T> a(rows, inner, true, wide), b(inner, columns, false, wide);
        const std::vector<std::complex<T>> found = product(a, b, Accuracy::exact, 0);
        std::vector<std::complex<T>> expected(found.size());
        gemm(GemmTask<std::complex<T>>{T(1),
                                       a.view(const_cast<std::complex<T>*>(a.values.data())),
                                       b.view(const_cast<std::complex<T>*>(b.values.data())),
                                       T(0),
                                       {rows, columns, columns, 1, expected.data()}},
             Accuracy::exact);
        std::int64_t wrong = 0;
        for (std::size_t i = 0; i < found.size(); ++i)
            wrong += !testing::same_bits(found[i].real(), expected[i].real()) ||
                     !testing::same_bits(found[i].imag(), expected[i].imag());
        EXPECT_EQ(wrong, 0) << rows << " x " << inner << " x " << columns;
    }
}

/// Parts of a product are made one after another where memory is short.
TYPED_TEST(CudaComplexGemm, HasTheSameBitsInParts) {
    using T = TypeParam;
    const Case given = cases().front();
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{771, 402}, {402, 771}}) {
        const Matrix<T> a(rows, k, true, given.a), b(k, columns, false, given.b);
        cuda::GemmReport whole, parts;
        const auto expected = product(a, b, Accuracy::exact, 0, &whole);
        EXPECT_EQ(product(a, b, Accuracy::exact, whole.workspace_bytes / 3, &parts), expected);
        EXPECT_EQ(parts.route, cuda::GemmRoute::residues);
        EXPECT_LT(parts.workspace_bytes, whole.workspace_bytes);
    }
}

/// Few digits need few moduli, and nothing is computed twice.
TYPED_TEST(CudaComplexGemm, ChoosesTheModuliFromTheData) {
    using T = TypeParam;
    const auto report_of = [](const Case& given) {
        cuda::GemmReport report;
        product<T>({m, k, true, given.a}, {k, n, false, given.b}, Accuracy::exact, 0, &report);
        return report;
    };
    const auto all = cases();
    const cuda::GemmReport integers = report_of(all[7]), alike = report_of(all[0]);
    EXPECT_LE(integers.moduli, 4);
    EXPECT_EQ(integers.recomputed, 0);
    EXPECT_GT(alike.moduli, integers.moduli);
    EXPECT_LT(alike.recomputed, 2 * m * n / 100);
}

/// |error| <= u |part| + ... of compensated: within an ulp of the exact part here, where nothing cancels much.
TYPED_TEST(CudaComplexGemm, KeepsThePromisesOfTheOtherModes) {
    using T = TypeParam;
    Random random(11);
    const Case given = cases().front();
    Matrix<T> a(m, k, true, given.a), b(k, n, false, given.b);
    const auto compensated = product(a, b, Accuracy::compensated, 0), fast = product(a, b, Accuracy::fast, 0);
    for (int sample = 0; sample < 200; ++sample) {
        const std::int64_t i = random.between(0, m - 1), j = random.between(0, n - 1);
        const auto place = static_cast<std::size_t>(i * n + j);
        double magnitudes = 0;  // of all products of a part, at least
        for (std::int64_t l = 0; l < k; ++l) magnitudes += 2 * double{std::abs(a.at(i, l))} * double{std::abs(b.at(l, j))};
        const double u = unit_roundoff<T>, gamma = 2 * k * u / (1 - 2 * k * u);
        for (const int part : {0, 1}) {
            const auto of = [part](std::complex<T> z) { return double{part == 0 ? z.real() : z.imag()}; };
            const double exact = double{rounded(a, b, given, {}, i, j, part)};
            EXPECT_LE(std::abs(of(compensated[place]) - exact), 2 * u * std::abs(exact) + gamma * gamma * magnitudes);
            EXPECT_LE(std::abs(of(fast[place]) - exact), u * std::abs(exact) + gamma * magnitudes);
        }
    }
}

TYPED_TEST(CudaComplexGemm, RefusesFactorsThatAreNotReal) {
    using T = TypeParam;
    const Matrix<T> a(3, 3, true, [](std::int64_t, std::int64_t, int) { return 1.0; });
    const Matrix<T> c(3, 3, true, [](std::int64_t, std::int64_t, int) { return 1.0; });
    cuda::Multiplier multiplier(0);
    EXPECT_THROW(
        multiplier.gemm(GemmTask<std::complex<T>>{std::complex<T>(1, 1), a.view(), a.view(), T(0), c.view()}, Accuracy::exact),
        InvalidArgument);
    EXPECT_THROW(
        multiplier.gemm(GemmTask<std::complex<T>>{T(1), a.view(), a.view(), std::complex<T>(0, 1), c.view()}, Accuracy::exact),
        InvalidArgument);
}

}  // namespace
}  // namespace solver
