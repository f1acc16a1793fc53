#include "solver/gemv.hpp"

#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fenced.hpp"
#include "support/floating_point_environment.hpp"
#include "support/products.hpp"
#include "support/targets.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::ExpectedSum;
using testing::for_each_target;
using testing::Misaligned;
using testing::nan_value;
using testing::Random;
using testing::random_vector;
using testing::same_bits;
using testing::Span;
using testing::Terms;

template <class T>
class Gemv : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Gemv, ValueTypes);

constexpr int thread_counts[] = {1, 2, 7};

/// Where the elements of a matrix stand. Everything between them is NaN.
enum class Layout { row_major, column_major, padded_rows, padded_columns, both_strided, reversed };
constexpr Layout layouts[] = {Layout::row_major,      Layout::column_major, Layout::padded_rows,
                              Layout::padded_columns, Layout::both_strided, Layout::reversed};

/// A dense matrix in a layout, starting one element after where memory was allocated.
template <class T>
class Stored {
public:
    Stored(std::int64_t rows, std::int64_t columns, Layout layout) : view_{rows, columns, columns, 1, nullptr} {
        std::int64_t first = 1;
        switch (layout) {
            case Layout::row_major:
                break;
            case Layout::column_major:
                view_.row_stride = 1;
                view_.column_stride = rows;
                break;
            case Layout::padded_rows:
                view_.row_stride = columns + 3;
                break;
            case Layout::padded_columns:
                view_.row_stride = 1;
                view_.column_stride = rows + 5;
                break;
            case Layout::both_strided:
                view_.column_stride = 2;
                view_.row_stride = 2 * columns + 1;
                break;
            case Layout::reversed:
                view_.row_stride = -columns;
                view_.column_stride = -1;
                first = std::max<std::int64_t>(rows * columns, 1);
        }
        const std::int64_t reach = (rows + 1) * std::abs(view_.row_stride) + (columns + 1) * std::abs(view_.column_stride) + 2;
        memory_.assign(static_cast<std::size_t>(reach), nan_value<T>);
        view_.data = memory_.data() + first;
    }
    Stored(const Stored&) = delete;
    Stored& operator=(const Stored&) = delete;

    T& at(std::int64_t i, std::int64_t j) {
        return memory_[static_cast<std::size_t>(view_.data - memory_.data() + i * view_.row_stride + j * view_.column_stride)];
    }
    const DenseView<T>& view() const { return view_; }

private:
    std::vector<T> memory_;
    DenseView<T> view_;
};

/// Rows over one x: given by columns of equal length, any row may be NaN or Inf.
template <class T>
struct Dense {
    std::int64_t rows;
    std::int64_t columns;
    std::vector<T> values;  ///< row by row

    void store(Stored<T>& stored) const {
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j) stored.at(i, j) = values[i * columns + j];
    }
};

template <class T>
Dense<T> random_dense(Random& random, std::int64_t rows, std::int64_t columns) {
    return {rows, columns, random_vector<T>(random, rows * columns)};
}

template <class T>
std::vector<ExpectedSum<T>> expected_rows(const Dense<T>& a, Span<T> x, Span<T> x_low = {}) {
    std::vector<ExpectedSum<T>> rows(static_cast<std::size_t>(a.rows));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < a.columns; ++j) {
            rows[i].add_product(a.values[i * a.columns + j], x[j]);
            if (!x_low.empty()) rows[i].add_product(a.values[i * a.columns + j], x_low[j]);
        }
    return rows;
}

template <class T>
std::vector<T> product(T alpha, const DenseView<T>& a, Span<T> x, T beta, Span<T> y, Accuracy accuracy, int threads) {
    Misaligned<T> shifted_x(x);
    Misaligned<T> shifted_y(y);
    gemv(alpha, a, shifted_x.view(), beta, shifted_y.view(), accuracy, Device::cpu(threads));
    return {shifted_y.view().begin(), shifted_y.view().end()};
}

template <class T>
std::vector<T> residual_of(const DenseView<T>& a, Span<T> b, Span<T> x, Span<T> x_low, bool in_place, Accuracy accuracy,
                           int threads) {
    Misaligned<T> shifted_b(b);
    Misaligned<T> r(b.size(), nan_value<T>);
    const std::span<T> target = in_place ? shifted_b.view() : r.view();
    residual(shifted_b.view(), a, x, x_low, target, accuracy, Device::cpu(threads));
    return {target.begin(), target.end()};
}

/// run(view, accuracy, threads) in every layout, on every target, in every mode and with any number of threads, twice.
template <class T, class Run>
void expect_kept(const Dense<T>& a, const std::vector<ExpectedSum<T>>& rows, const Run& run) {
    const std::vector<T> rounded = testing::rounded(rows);
    for (const Layout layout : layouts) {
        Stored<T> stored(a.rows, a.columns, layout);
        a.store(stored);
        for_each_target([&] {
            for (const int threads : thread_counts)
                for (const Accuracy accuracy : all_accuracies) {
                    SCOPED_TRACE(::testing::Message() << threads << " threads, layout " << static_cast<int>(layout));
                    const std::vector<T> found = run(stored.view(), accuracy, threads);
                    EXPECT_EQ(testing::broken_promises<T>(found, rows, rounded, accuracy), "");
                    if (accuracy == Accuracy::exact) continue;
                    EXPECT_EQ(testing::differences<T>(found, run(stored.view(), accuracy, threads)), "") << "of two runs";
                }
        });
    }
}

template <class T>
void expect_products_kept(const Dense<T>& a, Span<T> x) {
    Random random(99);
    const auto sums = expected_rows(a, x);
    const std::vector<T> nothing(sums.size(), nan_value<T>);
    const std::vector<T> y = testing::adversarial_addends(random, sums);
    expect_kept(a, testing::affine<T>(sums, 1, 0, nothing), [&](const DenseView<T>& view, Accuracy accuracy, int threads) {
        return product<T>(1, view, x, 0, nothing, accuracy, threads);
    });
    expect_kept(a, testing::affine<T>(sums, T(0.1), 3, y), [&](const DenseView<T>& view, Accuracy accuracy, int threads) {
        return product<T>(T(0.1), view, x, 3, y, accuracy, threads);
    });
    std::vector<T> x_low;
    for (const T element : x) x_low.push_back(std::isfinite(element) ? random.number<T>(-25) * element : T(0));
    expect_kept(a, testing::affine<T>(expected_rows<T>(a, x, x_low), -1, 1, y),
                [&](const DenseView<T>& view, Accuracy accuracy, int threads) {
                    return residual_of<T>(view, y, x, x_low, threads == 2, accuracy, threads);
                });
}

// Promise: gemv.hpp, "r = b - A (x + x_low) as SpmvPlan::residual has it."
TYPED_TEST(Gemv, KeepsItsPromisesForAnyNumbersOfRowsAndColumns) {
    using T = TypeParam;
    Random random(1);
    const auto check = [&](std::int64_t rows, std::int64_t columns) {
        SCOPED_TRACE(::testing::Message() << rows << " x " << columns);
        const Dense<T> a = random_dense<T>(random, rows, columns);
        expect_products_kept<T>(a, random_vector<T>(random, columns));
    };
    for (const std::int64_t columns : {0, 1, 2, 7, 8, 9, 31, 64, 65}) check(5, columns);
    for (const std::int64_t rows : {0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 33}) check(rows, 11);
    check(1, 2500);
    check(9, 300);
}

TYPED_TEST(Gemv, KeepsItsPromisesWhereThreadsShareTheRows) {
    using T = TypeParam;
    Random random(2);
    const Dense<T> a = random_dense<T>(random, 430, 280);
    expect_products_kept<T>(a, random_vector<T>(random, 280));
    const Dense<T> wide = random_dense<T>(random, 4, 30000);
    expect_products_kept<T>(wide, random_vector<T>(random, 30000));
}

/// Rows of adversarial sums: those whose right factors are 1 may share an x.
template <class T>
Dense<T> adversarial_dense(Random& random, std::int64_t rows, std::int64_t columns) {
    Dense<T> a{rows, columns, {}};
    const auto classes = testing::adversarial_classes<T>();
    for (std::int64_t i = 0; i < rows; ++i) {
        const auto& made = classes[static_cast<std::size_t>(i * 7 / 10) % classes.size()];
        Terms<T> terms = made.make(random, static_cast<std::size_t>(columns));
        terms.a.resize(static_cast<std::size_t>(columns));
        a.values.insert(a.values.end(), terms.a.begin(), terms.a.end());
    }
    return a;
}

TYPED_TEST(Gemv, RoundsAdversarialRowsOnce) {
    using T = TypeParam;
    Random random(3);
    for (const std::int64_t columns : {10, 24, 61}) {
        const Dense<T> a = adversarial_dense<T>(random, 300, columns);
        expect_products_kept<T>(a, std::vector<T>(static_cast<std::size_t>(columns), T(1)));
        expect_products_kept<T>(a, std::vector<T>(static_cast<std::size_t>(columns), T(-0.5)));
        const Terms<T> terms = testing::adversarial::underflowing<T>(random, static_cast<std::size_t>(columns));
        expect_products_kept<T>(a, Span<T>(terms.b).first(static_cast<std::size_t>(columns)));
    }
}

/// The other way round: the rows are multiples of one row, whose products with x are adversarial.
TYPED_TEST(Gemv, RoundsAdversarialDotsOnce) {
    using T = TypeParam;
    Random random(4);
    for (const auto& made : testing::adversarial_classes<T>()) {
        SCOPED_TRACE(made.name);
        const Terms<T> terms = made.make(random, 26);
        const auto columns = static_cast<std::int64_t>(terms.size());
        Dense<T> a{11, columns, {}};
        for (std::int64_t i = 0; i < a.rows; ++i)
            for (const T value : terms.a) a.values.push_back(i % 3 == 0 ? value : (i % 3 == 1 ? -value : value / 2));
        expect_products_kept<T>(a, terms.b);
    }
}

// Promise: gemv.hpp, "y = alpha A x + beta y with the contracts"
TYPED_TEST(Gemv, RoundsOnceForEveryAlphaAndBeta) {
    using T = TypeParam;
    Random random(5);
    const Dense<T> a = adversarial_dense<T>(random, 150, 30);
    const std::vector<T> x = random_vector<T>(random, 30, 1);
    const auto sums = expected_rows<T>(a, x);
    const std::vector<T> y = testing::adversarial_addends(random, sums);
    const std::vector<T> nan_y(y.size(), nan_value<T>);
    const std::vector<T> nan_x(x.size(), nan_value<T>);
    for (const T alpha : testing::factors<T>())
        for (const T beta : testing::factors<T>()) {
            SCOPED_TRACE(::testing::Message() << "alpha " << alpha << ", beta " << beta);
            const std::vector<ExpectedSum<T>> nothing(y.size());
            const auto rows = testing::affine<T>(alpha == 0 ? nothing : sums, alpha == 0 ? T(1) : alpha, beta, y);
            const Span<T> used_x = alpha == 0 ? nan_x : x;
            const Span<T> used_y = beta == 0 ? nan_y : y;
            expect_kept(a, rows, [&](const DenseView<T>& view, Accuracy accuracy, int threads) {
                return product<T>(alpha, view, used_x, beta, used_y, accuracy, threads);
            });
        }
}

// Promise: views.hpp, "Row-major has column_stride 1"
// Promise: views.hpp, "A dense matrix: element (i, j) is"
TYPED_TEST(Gemv, TransposesBySwappedStrides) {
    using T = TypeParam;
    Random random(6);
    const Dense<T> a = random_dense<T>(random, 37, 53);
    Dense<T> transposed{53, 37, std::vector<T>(a.values.size())};
    for (std::int64_t i = 0; i < 37; ++i)
        for (std::int64_t j = 0; j < 53; ++j) transposed.values[j * 37 + i] = a.values[i * 53 + j];
    const std::vector<T> x = random_vector<T>(random, 37);
    const auto expected = testing::rounded(expected_rows<T>(transposed, x));
    const std::vector<T> nothing(53, nan_value<T>);
    for (const Layout layout : layouts) {
        Stored<T> stored(37, 53, layout);
        a.store(stored);
        const DenseView<T> view{53, 37, stored.view().column_stride, stored.view().row_stride, stored.view().data};
        for_each_target(
            [&] { EXPECT_EQ(testing::differences<T>(product<T>(1, view, x, 0, nothing, Accuracy::exact, 1), expected), ""); });
    }
}

TYPED_TEST(Gemv, ReadsOneRowManyTimesThroughAStrideOfZero) {
    using T = TypeParam;
    Random random(7);
    const std::vector<T> row = random_vector<T>(random, 20);
    const std::vector<T> x = random_vector<T>(random, 20);
    const auto expected = testing::rounded(expected_rows<T>({1, 20, row}, x))[0];
    const std::vector<T> y(19, nan_value<T>);
    for (const T found : product<T>(1, {19, 20, 0, 1, row.data()}, x, 0, y, Accuracy::exact, 2))
        EXPECT_TRUE(same_bits(found, expected));
}

TYPED_TEST(Gemv, NeverReadsBeyondTheEndOfAnArray) {
    using T = TypeParam;
    using testing::Fenced;
    Random random(9);
    for (std::int64_t rows = 0; rows < 20; ++rows)
        for (const std::int64_t columns : {0, 1, 6, 8, 33}) {
            const Fenced<T> values(random_vector<T>(random, rows * columns));
            const Fenced<T> x(random_vector<T>(random, columns));
            const Fenced<T> y(random_vector<T>(random, rows));
            for (const bool row_major : {true, false}) {
                const DenseView<T> a{rows, columns, row_major ? columns : 1, row_major ? 1 : rows, values.view().data()};
                for_each_target([&] {
                    for (const Accuracy accuracy : all_accuracies) {
                        gemv(T(1), a, Span<T>(x.view()), T(0), y.view(), accuracy);
                        gemv(T(0.5), a, Span<T>(x.view()), T(1), y.view(), accuracy);
                        residual(Span<T>(y.view()), a, Span<T>(x.view()), Span<T>(x.view()), y.view(), accuracy);
                    }
                });
            }
        }
}

TYPED_TEST(Gemv, SaysWhichVectorHasTheWrongLength) {
    using T = TypeParam;
    using ::testing::ThrowsMessage;
    const std::vector<T> values(6);
    const DenseView<T> a{2, 3, 3, 1, values.data()};
    std::vector<T> two(2);
    std::vector<T> three(3);
    const auto multiply = [&](Span<T> x, std::span<T> y) { return [=] { gemv(T(1), a, x, T(0), y, Accuracy::fast); }; };
    EXPECT_THAT(multiply(two, two),
                ThrowsMessage<DimensionMismatch>("gemv: x has 2 elements, A is 2 x 3; x needs 3, the columns of A"));
    EXPECT_THAT(multiply(three, three),
                ThrowsMessage<DimensionMismatch>("gemv: y has 3 elements, A is 2 x 3; y needs 2, the rows of A"));
    const auto subtract = [&](Span<T> b, Span<T> x, Span<T> low, std::span<T> r) {
        return [=] { residual(b, a, x, low, r, Accuracy::exact); };
    };
    EXPECT_THAT(subtract(two, two, {}, two),
                ThrowsMessage<DimensionMismatch>("residual: x has 2 elements, A is 2 x 3; x needs 3, the columns of A"));
    EXPECT_THAT(
        subtract(two, three, two, two),
        ThrowsMessage<DimensionMismatch>("residual: x_low has 2 elements, A is 2 x 3; x_low needs 3, the columns of A"));
    EXPECT_THAT(subtract(three, three, {}, two),
                ThrowsMessage<DimensionMismatch>("residual: b has 3 elements, A is 2 x 3; b needs 2, the rows of A"));
    EXPECT_THAT(subtract(two, three, {}, three),
                ThrowsMessage<DimensionMismatch>("residual: r has 3 elements, A is 2 x 3; r needs 2, the rows of A"));
}

TYPED_TEST(Gemv, RefusesToWriteWhereItReads) {
    using T = TypeParam;
    using ::testing::HasSubstr;
    using ::testing::ThrowsMessage;
    const std::vector<T> values(4);
    const DenseView<T> a{2, 2, 2, 1, values.data()};
    std::vector<T> three(3), other(2);
    const std::span<T> first = std::span(three).first(2), last = std::span(three).last(2);
    EXPECT_THAT([&] { gemv(T(1), a, Span<T>(first), T(0), last, Accuracy::exact); },
                ThrowsMessage<InvalidArgument>(HasSubstr("gemv: y overlaps x in memory")));
    EXPECT_THAT([&] { residual(Span<T>(other), a, Span<T>(last), {}, first, Accuracy::exact); },
                ThrowsMessage<InvalidArgument>(HasSubstr("residual: r overlaps x in memory")));
    EXPECT_THAT([&] { residual(Span<T>(other), a, Span<T>(other), Span<T>(last), first, Accuracy::exact); },
                ThrowsMessage<InvalidArgument>(HasSubstr("residual: r overlaps x_low in memory")));
    EXPECT_THAT([&] { residual(Span<T>(last), a, Span<T>(other), {}, first, Accuracy::exact); },
                ThrowsMessage<InvalidArgument>(HasSubstr("residual: r overlaps b in memory")));
    EXPECT_NO_THROW(residual(Span<T>(first), a, Span<T>(other), {}, first, Accuracy::exact));
}

TYPED_TEST(Gemv, RefusesWhatIsNoMatrix) {
    using T = TypeParam;
    using ::testing::ThrowsMessage;
    std::vector<T> two(2), three(3);
    const auto multiply = [&](const DenseView<T>& a) {
        return [&, a] { gemv(T(1), a, Span<T>(three), T(0), std::span<T>(two), Accuracy::fast); };
    };
    EXPECT_THAT(multiply({2, 3, 3, 1, nullptr}), ThrowsMessage<InvalidArgument>("gemv: A is 2 x 3 and has no data"));
    EXPECT_THAT(multiply({-2, 3, 3, 1, two.data()}), ThrowsMessage<InvalidArgument>("gemv: A is -2 x 3; sizes are 0 or more"));
    EXPECT_THAT(
        [&] {
            residual(Span<T>(two), DenseView<T>{2, 3, 3, 1, nullptr}, Span<T>(three), {}, std::span<T>(two), Accuracy::exact);
        },
        ThrowsMessage<InvalidArgument>("residual: A is 2 x 3 and has no data"));
}

TYPED_TEST(Gemv, IsDeafToTheCallersFloatingPointEnvironment) {
    using T = TypeParam;
    Random random(8);
    const Dense<T> a = adversarial_dense<T>(random, 1500, 80);
    Stored<T> stored(a.rows, a.columns, Layout::column_major);
    a.store(stored);
    const std::vector<T> x = random_vector<T>(random, 80);
    const std::vector<T> y = random_vector<T>(random, 1500);
    const T three_eta = 3 * std::numeric_limits<T>::denorm_min();
    const auto results = [&] {
        std::vector<std::vector<T>> all;
        for (const Accuracy accuracy : all_accuracies) {
            all.push_back(product<T>(three_eta, stored.view(), x, 1, y, accuracy, 7));
            all.push_back(product<T>(0, stored.view(), x, three_eta, y, accuracy, 7));
            all.push_back(residual_of<T>(stored.view(), y, x, x, false, accuracy, 7));
        }
        return all;
    };
    testing::expect_deaf_to_the_environment<T>(results);
}

}  // namespace
}  // namespace solver
