#include "solver/spmv.hpp"

#include "matrices/generators.hpp"
#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "support/devices.hpp"
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
using testing::random_rows;
using testing::random_vector;
using testing::same_bits;
using testing::Span;
using testing::Terms;

template <class T>
class Spmv : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Spmv, ValueTypes);

struct Execution {
    Device device;
    SpmvKernel kernel;
    bool in_place;  ///< whether a residual replaces b
};

const std::vector<Execution>& on_processor() {
    static const std::vector<Execution> all = {
        {Device::cpu(1), SpmvKernel::general, false}, {Device::cpu(2), SpmvKernel::general, true},
        {Device::cpu(7), SpmvKernel::general, false}, {Device::cpu(1), SpmvKernel::adaptive, false},
        {Device::cpu(2), SpmvKernel::adaptive, true}, {Device::cpu(7), SpmvKernel::adaptive, false}};
    return all;
}

const std::vector<Execution>& on_cuda() {
    static const std::vector<Execution> all = [] {
        std::vector<Execution> found;
        for (const Device& device : testing::cuda_devices()) {
            found.push_back({device, SpmvKernel::general, true});
            found.push_back({device, SpmvKernel::adaptive, false});
        }
        return found;
    }();
    return all;
}

std::vector<Execution> executions() {
    std::vector<Execution> all = on_processor();
    all.insert(all.end(), on_cuda().begin(), on_cuda().end());
    return all;
}

std::ostream& operator<<(std::ostream& out, const Execution& execution) {
    return out << to_string(execution.device) << ", " << execution.device.threads() << " threads, "
               << to_string(execution.kernel);
}

/// y = alpha A x + beta y in one way of doing it, x and y misaligned.
template <class T>
std::vector<T> product(const Execution& execution, T alpha, const CsrView<T>& a, Span<T> x, T beta, Span<T> y,
                       Accuracy accuracy) {
    Misaligned<T> shifted_x(x);
    Misaligned<T> shifted_y(y);
    const SpmvPlan<T> plan(a, execution.device, execution.kernel);
    plan.multiply(alpha, shifted_x.view(), beta, shifted_y.view(), accuracy);
    return {shifted_y.view().begin(), shifted_y.view().end()};
}

/// r = b - A (x + x_low), r aliasing b or not.
template <class T>
std::vector<T> residual(const Execution& execution, const CsrView<T>& a, Span<T> b, Span<T> x, Span<T> x_low, bool in_place,
                        Accuracy accuracy) {
    Misaligned<T> shifted_b(b);
    Misaligned<T> r(b.size(), nan_value<T>);
    const std::span<T> target = in_place ? shifted_b.view() : r.view();
    SpmvPlan<T>(a, execution.device, execution.kernel).residual(shifted_b.view(), x, x_low, target, accuracy);
    return {target.begin(), target.end()};
}

/// run(execution, accuracy) in every mode, on every target by both kernels and all numbers of threads, on every CUDA device by
/// both kernels, twice.
template <class T, class Run>
void expect_kept(const std::vector<ExpectedSum<T>>& rows, const Run& run) {
    const std::vector<T> rounded = testing::rounded(rows);
    const auto expect_by = [&](const std::vector<Execution>& executions) {
        for (const Execution& execution : executions)
            for (const Accuracy accuracy : all_accuracies) {
                SCOPED_TRACE(::testing::Message() << execution);
                const std::vector<T> found = run(execution, accuracy);
                EXPECT_EQ(testing::broken_promises<T>(found, rows, rounded, accuracy), "");
                if (accuracy == Accuracy::exact) continue;
                EXPECT_EQ(testing::differences<T>(found, run(execution, accuracy)), "") << "of two runs";
            }
    };
    for_each_target([&] { expect_by(on_processor()); });
    expect_by(on_cuda());
}

/// y = A x, y = -x-like factors with and without y, and both residuals.
template <class T>
void expect_products_kept(const CsrView<T>& a, Span<T> x) {
    check(a);
    Random random(99);
    const auto sums = testing::expected_rows(a, x);
    const std::vector<T> nothing(sums.size(), nan_value<T>);
    const std::vector<T> y = testing::adversarial_addends(random, sums);
    expect_kept(testing::affine<T>(sums, 1, 0, nothing), [&](const Execution& execution, Accuracy accuracy) {
        return product<T>(execution, 1, a, x, 0, nothing, accuracy);
    });
    expect_kept(testing::affine<T>(sums, T(0.1), 3, y), [&](const Execution& execution, Accuracy accuracy) {
        return product<T>(execution, T(0.1), a, x, 3, y, accuracy);
    });
    std::vector<T> x_low;
    for (const T element : x) x_low.push_back(std::isfinite(element) ? random.number<T>(-25) * element : T(0));
    expect_kept(testing::affine<T>(testing::expected_rows<T>(a, x, x_low), -1, 1, y),
                [&](const Execution& execution, Accuracy accuracy) {
                    return residual<T>(execution, a, y, x, x_low, execution.in_place, accuracy);
                });
}

TYPED_TEST(Spmv, KeepsItsPromisesForMatricesOfNoRowsNoColumnsOrNoEntries) {
    using T = TypeParam;
    CsrMatrix<T> a;
    a.columns = 5;
    expect_products_kept<T>(a, std::vector<T>(5, T(1)));
    for (const std::size_t rows : {1, 7, 100, 20000}) {
        a.rows = static_cast<std::int64_t>(rows);
        a.row_offsets.assign(rows + 1, 0);
        a.columns = 0;
        expect_products_kept<T>(a, {});
        a.columns = 3;
        expect_products_kept<T>(a, std::vector<T>(3, nan_value<T>));
    }
}

TYPED_TEST(Spmv, KeepsItsPromisesForOneRowOfAnyLength) {
    using T = TypeParam;
    Random random(1);
    for (const std::int64_t length : {1, 2, 7, 8, 9, 63, 255, 256, 257, 2047, 2048, 2049, 4096, 4097, 40000}) {
        SCOPED_TRACE(length);
        const CsrMatrix<T> a = random_rows<T>(random, 1000, {length});
        expect_products_kept<T>(a, random_vector<T>(random, 1000));
    }
}

TYPED_TEST(Spmv, SharesAHugeRowAmongThreads) {
    using T = TypeParam;
    Random random(2);
    std::vector<std::int64_t> lengths{0, 3, 200000, 0, 5, 5, 5, 4097, 30000, 30000};
    expect_products_kept<T>(random_rows<T>(random, 50000, lengths), random_vector<T>(random, 50000));
    expect_products_kept<T>(random_rows<T>(random, 50000, {200000}), random_vector<T>(random, 50000));
}

TYPED_TEST(Spmv, RoundsHugeAdversarialRowsOnceWhereThreadsShareThem) {
    using T = TypeParam;
    Random random(3);
    const auto [a, x] = testing::matrix_of(testing::huge_adversarial_rows<T>(random), random);
    expect_products_kept<T>(a, x);
}

TYPED_TEST(Spmv, KeepsItsPromisesForRowsOfAllLengthsMixed) {
    using T = TypeParam;
    Random random(4);
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < 2500; ++i) lengths.push_back(random.between(0, 70));
    for (std::int64_t length = 0; length <= 70; ++length)
        for (int i = 0; i < 9; ++i) lengths.push_back(length);
    for (int i = 0; i < 100; ++i)
        lengths.push_back(random.between(0, 3) == 0 ? random.between(200, 1100) : random.between(0, 9));
    expect_products_kept<T>(random_rows<T>(random, 3000, lengths), random_vector<T>(random, 3000));
}

TYPED_TEST(Spmv, KeepsItsPromisesForAnyNumberOfRows) {
    using T = TypeParam;
    Random random(5);
    for (std::size_t rows = 1; rows <= 34; ++rows) {
        SCOPED_TRACE(rows);
        expect_products_kept<T>(random_rows<T>(random, 11, std::vector<std::int64_t>(rows, 6)), random_vector<T>(random, 11));
    }
}

template <class T>
CsrMatrix<T> generated(const char* name) {
    return convert<T, double>(matrices::find_generator(name).value().make());
}

TYPED_TEST(Spmv, KeepsItsPromisesForPowerLawRows) {
    using T = TypeParam;
    Random random(6);
    const CsrMatrix<T> a = generated<T>("power_law_20000");
    expect_products_kept<T>(a, random_vector<T>(random, a.columns));
}

TYPED_TEST(Spmv, KeepsItsPromisesForStencilsWithTheirZerosAndTies) {
    using T = TypeParam;
    Random random(7);
    for (const char* name : {"stencil27_9", "poisson2d_40", "convection_diffusion_30"}) {
        SCOPED_TRACE(name);
        const CsrMatrix<T> a = generated<T>(name);
        expect_products_kept<T>(a, std::vector<T>(static_cast<std::size_t>(a.columns), T(1)));
        expect_products_kept<T>(a, random_vector<T>(random, a.columns));
    }
}

TYPED_TEST(Spmv, KeepsItsPromisesForWideAndTallMatrices) {
    using T = TypeParam;
    Random random(8);
    expect_products_kept<T>(random_rows<T>(random, 100000, std::vector<std::int64_t>(40, 90)),
                            random_vector<T>(random, 100000));
    expect_products_kept<T>(random_rows<T>(random, 3, std::vector<std::int64_t>(20000, 2)), random_vector<T>(random, 3));
}

/// More than a million sums over both types: every row with every alpha and beta, each on every target.
TYPED_TEST(Spmv, RoundsEveryAdversarialRowOnceForEveryAlphaAndBeta) {
    using T = TypeParam;
    Random random(9);
    const auto [a, x] = testing::matrix_of(testing::adversarial_rows<T>(random, 608, 30), random);
    const auto sums = testing::expected_rows<T>(a, x);
    const std::vector<T> y = testing::adversarial_addends(random, sums);
    const std::vector<T> unread(y.size(), nan_value<T>);
    CsrMatrix<T> unread_a = a;
    unread_a.values.assign(a.values.size(), nan_value<T>);
    const std::vector<T> unread_x(x.size(), nan_value<T>);
    std::size_t turn = 0;
    std::size_t compared = 0;
    for (const T alpha : testing::factors<T>())
        for (const T beta : testing::factors<T>()) {
            SCOPED_TRACE(::testing::Message() << "alpha " << alpha << ", beta " << beta);
            const std::vector<T>& addend = beta == 0 ? unread : y;
            const auto rows = alpha == 0
                                  ? testing::affine<T>(std::vector<ExpectedSum<T>>(y.size(), ExpectedSum<T>()), 1, beta, addend)
                                  : testing::affine<T>(sums, alpha, beta, addend);
            const std::vector<T> rounded = testing::rounded(rows);
            compared += rounded.size();
            const auto expect_by = [&](const Execution& execution) {
                SCOPED_TRACE(::testing::Message() << execution);
                for (const Accuracy accuracy : all_accuracies) {
                    if (accuracy != Accuracy::exact && turn % 7 != 0) continue;
                    const auto found = alpha == 0 ? product<T>(execution, alpha, unread_a, unread_x, beta, addend, accuracy)
                                                  : product<T>(execution, alpha, a, x, beta, addend, accuracy);
                    EXPECT_EQ(testing::broken_promises<T>(found, rows, rounded, accuracy), "");
                }
            };
            for_each_target([&] { expect_by(on_processor()[turn++ % on_processor().size()]); });
            for (const Execution& execution : on_cuda()) expect_by(execution);
        }
    EXPECT_GT(compared, 500000U);
}

TYPED_TEST(Spmv, KeepsItsPromisesForAdversarialRowsInEveryMode) {
    using T = TypeParam;
    Random random(10);
    const auto [a, x] = testing::matrix_of(testing::adversarial_rows<T>(random, 76, 70), random);
    expect_products_kept<T>(a, x);
}

TYPED_TEST(Spmv, RoundsResidualsOfAdversarialRowsOnce) {
    using T = TypeParam;
    Random random(11);
    const auto [a, x] = testing::matrix_of(testing::adversarial_rows<T>(random, 228, 40), random);
    std::vector<T> x_low;
    for (const T element : x) {
        const int fall = testing::adversarial::digits<T> + static_cast<int>(random.between(0, 3));
        x_low.push_back(!std::isfinite(element) || random.between(0, 3) == 0 ? T(0)
                                                                             : element * std::ldexp(random.number<T>(), -fall));
    }
    for (const bool paired : {false, true}) {
        const auto sums = testing::expected_rows<T>(a, x, paired ? Span<T>(x_low) : Span<T>());
        const std::vector<T> b = testing::adversarial_addends(random, testing::affine<T>(sums, -1, 0, {}));
        const auto rows = testing::affine<T>(sums, -1, 1, b);
        const std::vector<T> rounded = testing::rounded(rows);
        std::size_t turn = 0;
        for_each_target([&] {
            for (const Execution& execution : executions())
                EXPECT_EQ(testing::differences<T>(residual<T>(execution, a, b, x, paired ? Span<T>(x_low) : Span<T>(),
                                                              turn++ % 2 == 0, Accuracy::exact),
                                                  rounded),
                          "");
        });
    }
}

/// Lanes beyond a row's end may read later rows, but must drop what they find.
TYPED_TEST(Spmv, NeverLetsInfOrNanInToARowThatDoesNotHaveIt) {
    using T = TypeParam;
    constexpr T inf = std::numeric_limits<T>::infinity();
    Random random(12);
    for (const T special : {inf, -inf, nan_value<T>}) {
        std::vector<std::int64_t> lengths;
        for (int i = 0; i < 300; ++i) lengths.push_back(random.between(0, i % 60 < 30 ? 6 : 40));
        CsrMatrix<T> a = random_rows<T>(random, 50, lengths);
        std::vector<T> x = random_vector<T>(random, 51);
        x[0] = special;
        for (auto& column : a.column_indices)
            if (column == 0 && random.between(0, 2) != 0) column = 1;
        x[50] = special;  // no entry meets it
        a.columns = 51;
        for (T& value : a.values)
            if (random.between(0, 99) == 0) value = random.coin() ? special : T(0);
        expect_products_kept<T>(a, x);
    }
}

TYPED_TEST(Spmv, NeverReadsBeyondTheEndOfAnArray) {
    using T = TypeParam;
    using testing::Fenced;
    Random random(17);
    for (int trial = 0; trial < 60; ++trial) {
        std::vector<std::int64_t> lengths(static_cast<std::size_t>(random.between(0, 40)));
        for (auto& length : lengths) length = trial % 2 == 0 ? random.between(0, 40) : random.between(5, 7);
        const CsrMatrix<T> a = random_rows<T>(random, 20, lengths);
        const Fenced<std::int64_t> wide(a.row_offsets);
        const Fenced<std::int32_t> narrow(testing::WithNarrowOffsets<T>(a).offsets());
        const RowOffsets offsets = random.coin() ? RowOffsets(wide.view()) : RowOffsets(narrow.view());
        const Fenced<std::int32_t> columns(a.column_indices);
        const Fenced<T> values(a.values);
        const Fenced<T> x(random_vector<T>(random, 20));
        const Fenced<T> x_low(random_vector<T>(random, 20));
        const Fenced<T> y(random_vector<T>(random, a.rows));
        const SpmvPlan<T> plan({a.rows, a.columns, offsets, columns.view(), values.view()}, Device::cpu(1));
        for_each_target([&] {
            for (const Accuracy accuracy : all_accuracies) {
                plan.multiply(1, x.view(), 0, y.view(), accuracy);
                plan.multiply(T(0.5), x.view(), 1, y.view(), accuracy);
                plan.residual(y.view(), x.view(), x_low.view(), y.view(), accuracy);
            }
        });
    }
}

/// With short rows, rows that threads share, and empty ones, in both storages.
TYPED_TEST(Spmv, TakesRowOffsetsOf32BitsWhereTheyAre) {
    using T = TypeParam;
    Random random(18);
    std::vector<std::int64_t> lengths{30000};
    for (int i = 0; i < 3000; ++i) lengths.push_back(i % 7 == 0 ? 0 : random.between(1, 12));
    const CsrMatrix<T> a = random_rows<T>(random, 500, lengths);
    const testing::WithNarrowOffsets<T> narrow(a);
    const std::vector<T> x = random_vector<T>(random, a.columns), y(static_cast<std::size_t>(a.rows), T(1));
    EXPECT_EQ(SpmvPlan<T>(narrow.view(), Device::cpu()).matrix().row_offsets.address(0), narrow.offsets().data());
    for (const Execution& execution : executions())
        for (const Accuracy accuracy : all_accuracies)
            EXPECT_EQ(testing::differences<T>(product<T>(execution, T(1), narrow.view(), x, T(1), y, accuracy),
                                              product<T>(execution, T(1), a, x, T(1), y, accuracy)),
                      "")
                << execution << ", " << to_string(accuracy);
    const SpmvOptions packed{.storage = SpmvStorage::packed};
    std::vector<T> of_narrow(y.size()), of_wide(y.size());
    SpmvPlan<T>(narrow.view(), Device::cpu(2), packed).multiply(T(1), x, T(0), of_narrow, Accuracy::exact);
    SpmvPlan<T>(a, Device::cpu(2), packed).multiply(T(1), x, T(0), of_wide, Accuracy::exact);
    EXPECT_EQ(testing::differences<T>(of_narrow, of_wide), "");
}

TYPED_TEST(Spmv, ReturnsPlusZeroAndTheCanonicalNanWhateverTheFactors) {
    using T = TypeParam;
    const T odd_nan = std::copysign(nan_value<T>, T(-1));
    const std::vector<T> x{T(1), T(-1), odd_nan, T(0)};
    CsrMatrix<T> a;
    a.rows = 30;
    a.columns = 4;
    for (int i = 0; i < 10; ++i) {  // 1 - 1, NaN, -0, thrice each
        a.column_indices.insert(a.column_indices.end(), {0, 1, 2, 3});
        a.values.insert(a.values.end(), {T(1), T(1), T(1), T(-1)});
        a.row_offsets.insert(a.row_offsets.end(), {4 * i + 2, 4 * i + 3, 4 * i + 4});
    }
    for (const T alpha : testing::factors<T>())
        for (const T beta : testing::factors<T>()) {
            const std::vector<T> y(30, beta == 0 ? nan_value<T> : -T(0));
            for_each_target([&] {
                for (const Execution& execution : executions())
                    for (const Accuracy accuracy : all_accuracies) {
                        const std::vector<T> found = product<T>(execution, alpha, a, x, beta, y, accuracy);
                        for (std::size_t i = 0; i < found.size(); ++i)
                            EXPECT_TRUE(same_bits(found[i], i % 3 == 1 && alpha != 0 ? nan_value<T> : T(0)))
                                << found[i] << " in row " << i << ", " << to_string(accuracy) << ", " << alpha << ", " << beta;
                    }
            });
        }
}

TYPED_TEST(Spmv, MultipliesByInfAndNanLikeRealFactors) {
    using T = TypeParam;
    constexpr T inf = std::numeric_limits<T>::infinity();
    CsrMatrix<T> a;
    a.rows = 9;
    a.columns = 1;
    a.row_offsets = {0, 1, 2, 3, 3, 4, 5, 6, 7, 8};
    a.column_indices.assign(8, 0);
    a.values = {T(1), T(-2), T(0), T(1), T(-2), T(0), T(1), T(3)};
    const std::vector<T> x{T(1)};
    const std::vector<T> y(9, T(1));
    const auto expect_by = [&](const Execution& execution) {
        for (const Accuracy accuracy : all_accuracies) {
            const auto times_inf = product<T>(execution, inf, a, x, 1, y, accuracy);
            const auto times_nan = product<T>(execution, nan_value<T>, a, x, 1, y, accuracy);
            const auto plus_inf = product<T>(execution, 1, a, x, -inf, y, accuracy);
            for (int i = 0; i < 9; ++i) {
                const T sum = a.view().row_length(i) == 0 ? T(0) : a.values[a.row_offsets[i]];
                EXPECT_TRUE(same_bits(times_inf[i], sum == 0 ? nan_value<T> : inf * sum))
                    << to_string(accuracy) << i << ' ' << times_inf[i];
                EXPECT_TRUE(same_bits(times_nan[i], nan_value<T>)) << to_string(accuracy) << i;
                EXPECT_TRUE(same_bits(plus_inf[i], -inf)) << to_string(accuracy) << i;
            }
        }
    };
    for_each_target([&] { expect_by(on_processor()[0]); });
    for (const Execution& execution : on_cuda()) expect_by(execution);
}

TYPED_TEST(Spmv, GivesTheSameThroughTheFunctionForOneProduct) {
    using T = TypeParam;
    Random random(13);
    const CsrMatrix<T> a = random_rows<T>(random, 90, std::vector<std::int64_t>(70, 20));
    const std::vector<T> x = random_vector<T>(random, 90);
    std::vector<T> y = random_vector<T>(random, 70);
    const auto expected = testing::rounded(testing::affine<T>(testing::expected_rows<T>(a, x), 2, -1, y));
    spmv(T(2), a.view(), Span<T>(x), T(-1), std::span<T>(y), Accuracy::exact);
    EXPECT_EQ(testing::differences<T>(y, expected), "");
}

/// Short rows, more than one pass of them, and rows that threads share.
template <class T>
CsrMatrix<T> with_long_rows() {
    std::vector<Entry<T>> entries;
    constexpr std::int32_t n = 9000;
    for (std::int32_t i = 0; i < n; ++i) {
        const std::int32_t step = i % 4000 == 17 ? 1 : i % 11 == 0 ? 101 : 3001;
        for (std::int32_t j = i % step; j < n; j += step) entries.push_back({i, j, T(1 + (i * 7 + j * 13) % 17) / T(3)});
    }
    return csr_from_entries<T>(n, n, entries);
}

TYPED_TEST(Spmv, MakesSeveralProductsEachAsIfAlone) {
    using T = TypeParam;
    const CsrMatrix<T> a = with_long_rows<T>();
    const auto n = static_cast<std::size_t>(a.rows);
    Random random(5);
    const auto vector = [&] {
        std::vector<T> x(n);
        for (T& element : x) element = static_cast<T>(random.between(-1000, 1000)) / T(7);
        return x;
    };
    const auto x = vector(), other_x = vector(), low = vector(), y = vector();
    for (const Execution& execution : executions())
        for (const Accuracy accuracy : all_accuracies) {
            const SpmvPlan<T> plan(a, execution.device, execution.kernel);
            std::vector<T> plain(n, nan_value<T>), scaled = y, residual(n), untouched = y;
            const SpmvTask<T> tasks[] = {
                {.x = x, .y = plain},
                {.alpha = T(0.3), .x = other_x, .beta = T(-2), .y_in = scaled, .y = scaled},
                {.alpha = -1, .x = x, .x_low = low, .beta = 1, .y_in = y, .y = residual},
                {.alpha = 0, .x = other_x, .beta = 1, .y_in = untouched, .y = untouched},
            };
            plan.multiply(tasks, accuracy);
            std::vector<T> plain_alone(n), scaled_alone = y, residual_alone(n);
            plan.multiply(T(1), x, T(0), plain_alone, accuracy);
            plan.multiply(T(0.3), other_x, T(-2), scaled_alone, accuracy);
            plan.residual(y, x, low, residual_alone, accuracy);
            EXPECT_EQ(plain, plain_alone);
            EXPECT_EQ(scaled, scaled_alone);
            EXPECT_EQ(residual, residual_alone);
            EXPECT_EQ(untouched, y);
        }
}

TYPED_TEST(Spmv, ServesSeveralThreadsAndCopiesAtOnce) {
    using T = TypeParam;
    const CsrMatrix<T> a = with_long_rows<T>();
    const auto n = static_cast<std::size_t>(a.rows);
    for (const Execution& execution : executions()) {
        SCOPED_TRACE(::testing::Message() << execution);
        const SpmvPlan<T> plan(a, execution.device, execution.kernel);
        std::vector<std::vector<T>> found(4), expected(4);
        std::vector<std::thread> threads;
        const auto multiply = [&, copy = plan](std::size_t i, std::vector<T>& y) {
            const std::vector<T> x(n, static_cast<T>(i) + T(0.1));
            y.resize(n);
            for (int again = 0; again < 3; ++again) copy.multiply(T(1), x, T(0), y, Accuracy::exact);
        };
        for (std::size_t i = 0; i < found.size(); ++i) multiply(i, expected[i]);
        for (std::size_t i = 0; i < found.size(); ++i) threads.emplace_back([&, i] { multiply(i, found[i]); });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(found, expected);
    }
}

TYPED_TEST(Spmv, SaysWhichVectorHasTheWrongLength) {
    using T = TypeParam;
    using ::testing::ThrowsMessage;
    CsrMatrix<T> a;
    a.rows = 2;
    a.columns = 3;
    a.row_offsets = {0, 0, 0};
    const SpmvPlan<T> plan(a);
    std::vector<T> two(2);
    std::vector<T> three(3);
    const auto multiply = [&](Span<T> x, std::span<T> y) {
        return [&plan, x, y] { plan.multiply(1, x, 0, y, Accuracy::fast); };
    };
    EXPECT_THAT(multiply(two, two),
                ThrowsMessage<DimensionMismatch>("spmv: x has 2 elements, A is 2 x 3; x needs 3, the columns of A"));
    EXPECT_THAT(multiply(three, three),
                ThrowsMessage<DimensionMismatch>("spmv: y has 3 elements, A is 2 x 3; y needs 2, the rows of A"));
    const auto residual_of = [&](Span<T> b, Span<T> x, Span<T> low, std::span<T> r) {
        return [&plan, b, x, low, r] { plan.residual(b, x, low, r, Accuracy::exact); };
    };
    EXPECT_THAT(residual_of(two, two, {}, two),
                ThrowsMessage<DimensionMismatch>("residual: x has 2 elements, A is 2 x 3; x needs 3, the columns of A"));
    EXPECT_THAT(
        residual_of(two, three, two, two),
        ThrowsMessage<DimensionMismatch>("residual: x_low has 2 elements, A is 2 x 3; x_low needs 3, the columns of A"));
    EXPECT_THAT(residual_of(three, three, {}, two),
                ThrowsMessage<DimensionMismatch>("residual: b has 3 elements, A is 2 x 3; b needs 2, the rows of A"));
    EXPECT_THAT(residual_of(two, three, {}, three),
                ThrowsMessage<DimensionMismatch>("residual: r has 3 elements, A is 2 x 3; r needs 2, the rows of A"));
}

TYPED_TEST(Spmv, IsDeafToTheCallersFloatingPointEnvironment) {
    using T = TypeParam;
    Random random(14);
    const auto [a, x] = testing::matrix_of(testing::adversarial_rows<T>(random, 76, 30), random);
    const std::vector<T> y = testing::adversarial_addends(random, testing::expected_rows<T>(a, x));
    const T three_eta = 3 * std::numeric_limits<T>::denorm_min();
    const T five_eta = 5 * std::numeric_limits<T>::denorm_min();
    const auto results = [&, &a = a, &x = x] {
        std::vector<std::vector<T>> all;
        for (const Execution& execution : {on_processor()[2], on_processor()[5]})
            for (const Accuracy accuracy : all_accuracies) {
                all.push_back(product<T>(execution, 1, a, x, 0, y, accuracy));
                all.push_back(product<T>(execution, three_eta, a, x, five_eta, y, accuracy));
                all.push_back(product<T>(execution, 0, a, x, T(0.5), y, accuracy));
                all.push_back(residual<T>(execution, a, y, x, x, false, accuracy));
            }
        return all;
    };
    for_each_target([&] {
        const auto expected = results();
        std::vector<std::vector<std::vector<T>>> found;
        testing::for_each_hostile_environment([&] { found.push_back(results()); });
        for (const auto& all : found)
            for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(testing::differences<T>(all[i], expected[i]), "") << i;
    });
}

TEST(SpmvKernelNames, ReadBackWhatTheyWrite) {
    for (const SpmvKernel kernel : {SpmvKernel::automatic, SpmvKernel::general, SpmvKernel::adaptive})
        EXPECT_EQ(spmv_kernel_from_text(to_string(kernel)), kernel);
    EXPECT_THAT([] { spmv_kernel_from_text("fast"); },
                ::testing::ThrowsMessage<InvalidArgument>("SpMV kernel 'fast' is not known; choose auto, general or adaptive"));
}

TEST(SpmvPlan, ChoosesTheKernelByTheBalanceOfEntries) {
    Random random(15);
    std::vector<std::int64_t> lengths(4000, 20);
    const Device device = Device::cpu(7);
    const CsrMatrix<double> even = random_rows<double>(random, 100, lengths);
    EXPECT_EQ(SpmvPlan<double>(even, device).kernel(), SpmvKernel::general);
    lengths[17] = 100000;
    const CsrMatrix<double> uneven = random_rows<double>(random, 100, lengths);
    EXPECT_EQ(SpmvPlan<double>(uneven, device).kernel(), SpmvKernel::adaptive);
}

TEST(SpmvPlan, CoversEveryEntryOnceAndInOrder) {
    Random random(16);
    for (int trial = 0; trial < 60; ++trial) {
        std::vector<std::int64_t> lengths;
        for (int i = 0; i < 40; ++i)
            lengths.push_back(random.between(0, 9) == 0 ? random.between(4000, 60000) : random.between(0, 9));
        const CsrMatrix<float> a = random_rows<float>(random, 9, lengths);
        for (const SpmvKernel kernel : {SpmvKernel::general, SpmvKernel::adaptive}) {
            const SpmvPlan<float> plan(a, Device::cpu(static_cast<int>(random.between(1, 40))), kernel);
            const auto boundaries = plan.boundaries();
            EXPECT_EQ(boundaries.front().row, 0);
            EXPECT_EQ(boundaries.front().entry, 0);
            EXPECT_EQ(boundaries.back().row, a.rows);
            EXPECT_EQ(boundaries.back().entry, a.nonzeros());
            for (std::size_t t = 1; t < boundaries.size(); ++t) {
                EXPECT_LE(boundaries[t - 1].row, boundaries[t].row);
                EXPECT_LE(boundaries[t - 1].entry, boundaries[t].entry);
                if (boundaries[t].row == a.rows) continue;
                EXPECT_GE(boundaries[t].entry, a.row_offsets[boundaries[t].row]);
                EXPECT_LE(boundaries[t].entry, a.row_offsets[boundaries[t].row + 1]);
            }
        }
    }
}

}  // namespace
}  // namespace solver
