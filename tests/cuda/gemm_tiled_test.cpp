#include "kernels/gemm.hpp"

#include <gtest/gtest.h>

#include "solver/cuda.hpp"
#include "support/adversarial.hpp"
#include "support/expected.hpp"
#include "support/on_cuda.hpp"

#include <cmath>
#include <vector>

namespace solver {
namespace {

using testing::ExpectedSum;
using testing::Random;

struct Layout {
    bool by_rows = true;
    std::int64_t gap = 0;    ///< elements after every line
    std::int64_t shift = 0;  ///< elements before the first
};

/// A matrix with its elements where a layout wants them; whatever lies between is NaN.
template <class T>
struct Matrix {
    std::int64_t rows, columns;
    Layout layout;
    std::vector<T> values;

    Matrix(std::int64_t m, std::int64_t n, Layout l) : rows(m), columns(n), layout(l) {
        values.assign(static_cast<std::size_t>(l.shift + (l.by_rows ? m : n) * stride() + 1), std::nan(""));
    }
    std::int64_t stride() const { return std::max<std::int64_t>(1, layout.by_rows ? columns : rows) + layout.gap; }
    std::size_t place(std::int64_t i, std::int64_t j) const {
        return static_cast<std::size_t>(layout.shift + (layout.by_rows ? i * stride() + j : j * stride() + i));
    }
    T& operator()(std::int64_t i, std::int64_t j) { return values[place(i, j)]; }
    T operator()(std::int64_t i, std::int64_t j) const { return values[place(i, j)]; }
    MutableDenseView<T> view(T* memory) const {
        return {rows, columns, layout.by_rows ? stride() : 1, layout.by_rows ? 1 : stride(), memory + layout.shift};
    }
};

template <class T, class Make>
Matrix<T> made(std::int64_t rows, std::int64_t columns, Layout layout, Make&& make) {
    Matrix<T> result(rows, columns, layout);
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) result(i, j) = make(i, j);
    return result;
}

template <class T>
Matrix<T> random_matrix(Random& random, std::int64_t rows, std::int64_t columns, Layout layout = {}) {
    return made<T>(rows, columns, layout,
                   [&](auto, auto) { return random.number<T>(static_cast<int>(random.between(-3, 3))); });
}

enum class Arithmetic { own, in_double };

/// alpha A B + beta C by the device.
template <class T>
Matrix<T> product(T alpha, const Matrix<T>& a, const Matrix<T>& b, T beta, const Matrix<T>& c, const GemmOptions& options = {},
                  Arithmetic arithmetic = Arithmetic::own) {
    const cuda::DeviceArray<T> on_device_a(0, std::span<const T>(a.values), "test");
    const cuda::DeviceArray<T> on_device_b(0, std::span<const T>(b.values), "test");
    cuda::DeviceArray<T> on_device_c(0, std::span<const T>(c.values), "test");
    const GemmTask<T> task{alpha, a.view(const_cast<T*>(on_device_a.data())), b.view(const_cast<T*>(on_device_b.data())), beta,
                           c.view(on_device_c.data())};
    if constexpr (std::is_same_v<T, float>) {
        if (arithmetic == Arithmetic::in_double)
            cuda::multiply_tiled_in_double(task, 0, nullptr);
        else
            cuda::multiply_tiled(task, options, 0, nullptr);
    } else {
        cuda::multiply_tiled(task, options, 0, nullptr);
    }
    Matrix<T> result = c;
    on_device_c.copy_to(std::span(result.values));
    return result;
}

template <class T>
ExpectedSum<T> expected(const Matrix<T>& a, const Matrix<T>& b, std::int64_t i, std::int64_t j) {
    ExpectedSum<T> sum(500);
    for (std::int64_t k = 0; k < a.columns; ++k) sum.add_product(a(i, k), b(k, j));
    return sum;
}

/// Calls look(i, j) for the corners, the edges of tiles and some places between.
template <class Look>
void at_some_places(std::int64_t rows, std::int64_t columns, Look&& look) {
    const auto some = [](std::int64_t n) {
        std::vector<std::int64_t> result;
        for (std::int64_t i = 0; i < n; i += i < 3 || n - i < 4 ? 1 : std::min<std::int64_t>(13, n - i - 3))
            result.push_back(i);
        return result;
    };
    for (const std::int64_t i : some(rows))
        for (const std::int64_t j : some(columns)) look(i, j);
}

template <class T>
void expect_kept(const Matrix<T>& found, T alpha, const Matrix<T>& a, const Matrix<T>& b, T beta, const Matrix<T>& c,
                 Accuracy accuracy = Accuracy::fast) {
    at_some_places(found.rows, found.columns, [&](std::int64_t i, std::int64_t j) {
        const ExpectedSum<T> right = expected(a, b, i, j).affine(alpha, beta, c(i, j));
        EXPECT_TRUE(right.allows(found(i, j), accuracy))
            << found(i, j) << " instead of " << right.rounded() << " at " << i << ", " << j;
    });
    std::vector<bool> is_element(c.values.size());
    for (std::int64_t i = 0; i < c.rows; ++i)
        for (std::int64_t j = 0; j < c.columns; ++j) is_element[c.place(i, j)] = true;
    for (std::size_t place = 0; place < c.values.size(); ++place)
        EXPECT_TRUE(is_element[place] || std::isnan(found.values[place])) << "written beside the elements, at " << place;
}

template <class T>
class CudaGemmTiled : public testing::OnCuda {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaGemmTiled, ValueTypes);

const std::vector<GemmOptions>& all_options() {
    static const std::vector<GemmOptions> options = [] {
        std::vector<GemmOptions> result{{GemmSummation::automatic, 64}};
        for (const GemmSummation summation : all_gemm_summations)
            for (const std::int64_t block : {1, 7, 16, 64, 1000}) result.push_back({summation, block});
        return result;
    }();
    return options;
}

TYPED_TEST(CudaGemmTiled, KeepsThePromiseForAnyShape) {
    using T = TypeParam;
    Random random(1);
    struct Shape {
        std::int64_t m, n, k;
    };
    std::vector<Shape> shapes{{1, 1, 1},      {1, 1, 1000},   {1, 300, 5},    {300, 1, 17},  {2, 3, 0},     {128, 128, 16},
                              {127, 129, 15}, {129, 127, 33}, {257, 65, 100}, {64, 255, 47}, {130, 514, 31}};
    for (const Shape& shape : shapes)
        for (const Arithmetic arithmetic : {Arithmetic::own, Arithmetic::in_double}) {
            SCOPED_TRACE(::testing::Message() << shape.m << " x " << shape.k << " x " << shape.n);
            const Matrix<T> a = random_matrix<T>(random, shape.m, shape.k);
            const Matrix<T> b = random_matrix<T>(random, shape.k, shape.n);
            const Matrix<T> c = random_matrix<T>(random, shape.m, shape.n);
            expect_kept<T>(
                product<T>(1, a, b, 0, c, {}, arithmetic), 1, a, b, 0, c,
                arithmetic == Arithmetic::in_double && std::is_same_v<T, float> ? Accuracy::compensated : Accuracy::fast);
        }
}

TYPED_TEST(CudaGemmTiled, TakesAnyLayoutAndLeadingDimension) {
    using T = TypeParam;
    Random random(2);
    for (int layouts = 0; layouts < 8; ++layouts)
        for (const auto& [gap, shift] : {std::pair{0, 0}, std::pair{4, 4}, std::pair{1, 0}, std::pair{0, 1}, std::pair{5, 3}}) {
            SCOPED_TRACE(::testing::Message() << layouts << ", gap " << gap << ", shift " << shift);
            const Matrix<T> a = random_matrix<T>(random, 136, 40, {(layouts & 1) != 0, gap, shift});
            const Matrix<T> b = random_matrix<T>(random, 40, 140, {(layouts & 2) != 0, gap, shift});
            const Matrix<T> c = random_matrix<T>(random, 136, 140, {(layouts & 4) != 0, gap, shift});
            expect_kept<T>(product<T>(2, a, b, -3, c), 2, a, b, -3, c);
            expect_kept<T>(product<T>(2, a, b, -3, c, {GemmSummation::kahan, 32}), 2, a, b, -3, c);
            expect_kept<T>(product<T>(2, a, b, -3, c, {GemmSummation::dot2, 1}), 2, a, b, -3, c);
            expect_kept<T>(product<T>(2, a, b, -3, c, {}, Arithmetic::in_double), 2, a, b, -3, c);
        }
}

TYPED_TEST(CudaGemmTiled, ScalesAsBlasDoes) {
    using T = TypeParam;
    Random random(3);
    const Matrix<T> a = random_matrix<T>(random, 65, 70);
    const Matrix<T> b = random_matrix<T>(random, 70, 66);
    const Matrix<T> c = random_matrix<T>(random, 65, 66);
    const Matrix<T> not_read = made<T>(65, 66, {}, [](auto, auto) { return std::nan(""); });
    for (const GemmOptions& options : all_options())
        for (const T alpha : {T(1), T(-0.3)}) {
            for (const T beta : {T(1), T(0.7)}) expect_kept<T>(product<T>(alpha, a, b, beta, c, options), alpha, a, b, beta, c);
            expect_kept<T>(product<T>(alpha, a, b, 0, not_read, options), alpha, a, b, 0, not_read);
        }
}

/// The bounds of GemmSummation. Errors of second order are far below one more u.
template <class T>
double units_allowed(const GemmOptions& options, std::int64_t n) {
    const double b = static_cast<double>(std::min(options.block, n));
    switch (options.summation) {
        case GemmSummation::kahan:
        case GemmSummation::doubly_compensated:
            return b + 3;
        case GemmSummation::pairwise:
            return b + std::ceil(std::log2(static_cast<double>(n) / b)) + 3;
        case GemmSummation::dot2:
            return options.block == 1 ? 1.001 : b + 2;
        default:
            return static_cast<double>(n);
    }
}

TYPED_TEST(CudaGemmTiled, CompensatedSumsKeepTheirBounds) {
    using T = TypeParam;
    Random random(4);
    const std::int64_t k = 6000;
    const auto positive = [&](auto, auto) { return std::abs(random.number<T>()); };
    for (const bool signs : {false, true}) {
        const Matrix<T> a = signs ? random_matrix<T>(random, 70, k) : made<T>(70, k, {}, positive);
        const Matrix<T> b = signs ? random_matrix<T>(random, k, 35) : made<T>(k, 35, {}, positive);
        const Matrix<T> c(70, 35, {});
        std::vector<ExpectedSum<T>> right;
        at_some_places(70, 35, [&](std::int64_t i, std::int64_t j) { right.push_back(expected(a, b, i, j)); });
        for (const GemmOptions& options : all_options()) {
            SCOPED_TRACE(::testing::Message() << static_cast<int>(options.summation) << ", block " << options.block);
            const Matrix<T> found = product<T>(1, a, b, 0, c, options);
            std::size_t place = 0;
            at_some_places(70, 35, [&](std::int64_t i, std::int64_t j) {
                const ExpectedSum<T>& sum = right[place++];
                const double u = double{unit_roundoff<T>};
                EXPECT_TRUE(sum.exact().within(found(i, j), units_allowed<T>(options, k) * u * sum.magnitudes()))
                    << found(i, j) << " instead of " << sum.rounded() << " at " << i << ", " << j;
            });
        }
    }
}

TYPED_TEST(CudaGemmTiled, MakesTheSameBitsEveryTime) {
    using T = TypeParam;
    Random random(5);
    const Matrix<T> a = random_matrix<T>(random, 300, 500);
    const Matrix<T> b = random_matrix<T>(random, 500, 200);
    const Matrix<T> c(300, 200, {});
    for (const GemmOptions& options : all_options())
        EXPECT_EQ(testing::differences<T>(product<T>(1, a, b, 0, c, options).values, product<T>(1, a, b, 0, c, options).values),
                  "");
}

TYPED_TEST(CudaGemmTiled, SpecialValuesAreThoseOfADotProduct) {
    using T = TypeParam;
    Random random(6);
    constexpr T inf = std::numeric_limits<T>::infinity();
    Matrix<T> a = random_matrix<T>(random, 40, 300);
    Matrix<T> b = random_matrix<T>(random, 300, 140);
    a(0, 5) = -std::nan("");
    a(1, 7) = inf;
    a(2, 8) = inf;
    a(2, 200) = -inf;
    b(9, 3) = -inf;
    b(7, 4) = 0;
    for (std::int64_t k = 0; k < 300; ++k) a(39, k) = 0;
    Matrix<T> c = random_matrix<T>(random, 40, 140);
    c(5, 6) = inf;
    c(6, 7) = -std::nan("");
    for (std::int64_t j = 0; j < 140; ++j) c(39, j) = T(-0.0);
    for (const GemmOptions& options : all_options())
        for (const Arithmetic arithmetic : {Arithmetic::own, Arithmetic::in_double})
            for (const T beta : {T(0), T(1)}) {
                SCOPED_TRACE(::testing::Message() << static_cast<int>(options.summation) << ", block " << options.block);
                const Matrix<T> found = product<T>(1, a, b, beta, c, options, arithmetic);
                for (std::int64_t i : {0, 1, 2, 3, 5, 6, 39})
                    for (std::int64_t j = 0; j < 12; ++j) {
                        const ExpectedSum<T> right = expected(a, b, i, j).affine(1, beta, c(i, j));
                        EXPECT_TRUE(right.allows(found(i, j), Accuracy::fast))
                            << found(i, j) << " instead of " << right.rounded() << " at " << i << ", " << j;
                        EXPECT_FALSE(right.rounded() == 0 && std::signbit(found(i, j)));
                    }
            }
}

TYPED_TEST(CudaGemmTiled, DoesNothingToAnEmptyResult) {
    using T = TypeParam;
    const GemmTask<T> task{1, {0, 5, 5, 1, nullptr}, {5, 3, 3, 1, nullptr}, 0, {0, 3, 3, 1, nullptr}};
    cuda::multiply_tiled(task, {}, 0, nullptr);
    cuda::synchronize(0, nullptr);
}

}  // namespace
}  // namespace solver
