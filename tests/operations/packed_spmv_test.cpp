#include "solver/spmv.hpp"

#include "matrices/generators.hpp"
#include "operations/packed_choice.hpp"
#include "solver/complex.hpp"
#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/complex_numbers.hpp"
#include "support/fenced.hpp"
#include "support/products.hpp"
#include "support/targets.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::ExpectedSum;
using testing::for_each_target;
using testing::Random;
using testing::random_pairs;
using testing::random_rows;
using testing::random_vector;
using testing::Terms;

template <class T>
class PackedSpmv : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(PackedSpmv, ValueTypes);

template <class T>
using Span = std::span<const T>;

template <class T>
constexpr T nan_value = std::numeric_limits<T>::quiet_NaN();

/// A copy that starts one element after where memory was allocated, so that no vector is aligned.
template <class T>
class Shifted {
public:
    explicit Shifted(Span<T> values) : memory_(1) { memory_.insert(memory_.end(), values.begin(), values.end()); }

    std::span<T> view() { return std::span<T>(memory_).subspan(1); }

private:
    std::vector<T> memory_;
};

template <class T>
SpmvPlan<T> packed_plan(const CsrView<T>& a, int threads) {
    return SpmvPlan<T>(a, Device::cpu(threads), SpmvOptions{.storage = SpmvStorage::packed});
}

template <class T>
std::vector<T> product(const SpmvPlan<T>& plan, T alpha, Span<T> x, T beta, Span<T> y, Accuracy accuracy) {
    Shifted<T> shifted_x(x);
    Shifted<T> shifted_y(y);
    plan.multiply(alpha, shifted_x.view(), beta, shifted_y.view(), accuracy);
    return {shifted_y.view().begin(), shifted_y.view().end()};
}

template <class T>
std::vector<T> residual(const SpmvPlan<T>& plan, Span<T> b, Span<T> x, Span<T> x_low, bool in_place, Accuracy accuracy) {
    Shifted<T> shifted_b(b);
    Shifted<T> r(std::vector<T>(b.size(), nan_value<T>));
    const std::span<T> target = in_place ? shifted_b.view() : r.view();
    plan.residual(shifted_b.view(), x, x_low, target, accuracy);
    return {target.begin(), target.end()};
}

/// run(plan, accuracy) in every mode, on every target, with 1, 2 and 7 threads, whose bits must agree in every mode.
template <class T, class Run>
void expect_kept(const CsrView<T>& a, const std::vector<ExpectedSum<T>>& rows, const Run& run) {
    const std::vector<T> rounded = testing::rounded(rows);
    const std::vector<SpmvPlan<T>> plans{packed_plan(a, 1), packed_plan(a, 2), packed_plan(a, 7)};
    for_each_target([&] {
        for (const Accuracy accuracy : all_accuracies) {
            const std::vector<T> with_one = run(plans[0], accuracy);
            EXPECT_EQ(testing::broken_promises<T>(with_one, rows, rounded, accuracy), "");
            EXPECT_EQ(testing::differences<T>(run(plans[1], accuracy), with_one), "") << "two threads";
            EXPECT_EQ(testing::differences<T>(run(plans[2], accuracy), with_one), "") << "seven threads";
        }
    });
}

template <class T>
void expect_products_kept(const CsrView<T>& a, Span<T> x) {
    Random random(99);
    const auto sums = testing::expected_rows(a, x);
    const std::vector<T> nothing(sums.size(), nan_value<T>);
    const std::vector<T> y = testing::adversarial_addends(random, sums);
    expect_kept<T>(a, testing::affine<T>(sums, 1, 0, nothing),
                   [&](const SpmvPlan<T>& plan, Accuracy accuracy) { return product<T>(plan, 1, x, 0, nothing, accuracy); });
    expect_kept<T>(a, testing::affine<T>(sums, -1, 3, y),
                   [&](const SpmvPlan<T>& plan, Accuracy accuracy) { return product<T>(plan, -1, x, 3, y, accuracy); });
    std::vector<T> x_low;
    for (const T element : x) x_low.push_back(std::isfinite(element) ? random.number<T>(-25) * element : T(0));
    bool in_place = false;
    expect_kept<T>(a, testing::affine<T>(testing::expected_rows<T>(a, x, x_low), -1, 1, y),
                   [&](const SpmvPlan<T>& plan, Accuracy accuracy) {
                       in_place = !in_place;
                       return residual<T>(plan, y, x, x_low, in_place, accuracy);
                   });
}

TYPED_TEST(PackedSpmv, KeepsItsPromisesForMatricesOfNoRowsNoColumnsOrNoEntries) {
    using T = TypeParam;
    CsrMatrix<T> a;
    a.columns = 5;
    expect_products_kept<T>(a, std::vector<T>(5, T(1)));
    for (const std::size_t rows : {1, 7, 8, 9000}) {
        a.rows = static_cast<std::int64_t>(rows);
        a.row_offsets.assign(rows + 1, 0);
        a.columns = 0;
        expect_products_kept<T>(a, {});
        a.columns = 3;
        expect_products_kept<T>(a, std::vector<T>(3, nan_value<T>));
    }
}

TYPED_TEST(PackedSpmv, KeepsItsPromisesForOneRowOfAnyLengthUpToAllColumns) {
    using T = TypeParam;
    Random random(1);
    for (const std::int64_t length : {0, 1, 2, 8, 16, 17, 255, 256, 257, 4096, 4097, 40000}) {
        SCOPED_TRACE(length);
        expect_products_kept<T>(random_rows<T>(random, 40000, {length}), random_vector<T>(random, 40000));
    }
}

TYPED_TEST(PackedSpmv, KeepsItsPromisesForRowsOfAllLengthsMixed) {
    using T = TypeParam;
    Random random(2);
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < 5000; ++i) lengths.push_back(random.between(0, random.between(1, 70)));
    for (int i = 0; i < 200; ++i)
        lengths.push_back(random.between(0, 3) == 0 ? random.between(200, 300) : random.between(0, 9));
    lengths.push_back(30000);
    lengths.push_back(9000);
    for (const std::int64_t columns : {300, 3000, 100000})
        expect_products_kept<T>(random_rows<T>(random, columns, lengths), random_vector<T>(random, columns));
}

TYPED_TEST(PackedSpmv, KeepsItsPromisesForAnyNumberOfRows) {
    using T = TypeParam;
    Random random(3);
    for (std::size_t rows = 1; rows <= 18; ++rows)
        expect_products_kept<T>(random_rows<T>(random, 11, std::vector<std::int64_t>(rows, 6)), random_vector<T>(random, 11));
}

TYPED_TEST(PackedSpmv, KeepsItsPromisesForStencilsWithTheirZerosAndTies) {
    using T = TypeParam;
    Random random(4);
    for (const char* name : {"stencil27_9", "poisson2d_40", "convection_diffusion_30", "power_law_20000"}) {
        SCOPED_TRACE(name);
        const CsrMatrix<T> a = convert<T, double>(matrices::find_generator(name).value().make());
        expect_products_kept<T>(a, std::vector<T>(static_cast<std::size_t>(a.columns), T(1)));
        expect_products_kept<T>(a, random_vector<T>(random, a.columns));
    }
}

/// Every encoding of values, with rows of every encoding of columns.
TYPED_TEST(PackedSpmv, KeepsItsPromisesInEveryEncoding) {
    using T = TypeParam;
    Random random(5);
    for (const std::int64_t different : {1, 3, 9, 20, 256, 257, 2000, -1, 0}) {  // -1: floats; 0: any
        SCOPED_TRACE(different);
        std::vector<std::int64_t> lengths;
        for (int i = 0; i < 3200; ++i) lengths.push_back(i / 800 == 3 ? 6 : random.between(4, 7));
        CsrMatrix<T> a = random_rows<T>(random, 200000, lengths);
        std::vector<T> values(static_cast<std::size_t>(std::max<std::int64_t>(different, 0)));
        for (T& value : values) value = random.number<T>(static_cast<int>(random.between(-9, 9)));
        for (std::int64_t row = 0; row < a.rows; ++row)
            for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
                const std::int64_t entry = k - a.row_offsets[row];
                const std::int64_t width = std::int64_t{1} << (row < 800 ? 7 : row < 1600 ? 14 : 17);
                const std::int64_t column = row < 2400 ? random.between(0, width) : row + 40 * entry;
                a.column_indices[k] = static_cast<std::int32_t>(column);
                if (different > 0) a.values[k] = values[static_cast<std::size_t>(random.between(0, different - 1))];
                if (different < 0) a.values[k] = static_cast<float>(a.values[k]);
            }
        expect_products_kept<T>(a, random_vector<T>(random, a.columns));
    }
}

// Promise: spmv.hpp, "In fast and compensated its bits do not depend"
TYPED_TEST(PackedSpmv, KeepsItsPromisesForAdversarialRowsInEveryMode) {
    using T = TypeParam;
    Random random(6);
    const auto [a, x] = testing::matrix_of(testing::adversarial_rows<T>(random, 76, 70), random);
    expect_products_kept<T>(a, x);
}

/// What the first four entries tell of a row is wrong in these: they are far smaller than the others, far larger, or nothing;
/// with values that are few small integers, as they are in stencils, and with any.
TYPED_TEST(PackedSpmv, KeepsItsPromisesWhateverTheFirstEntriesOfARowSay) {
    using T = TypeParam;
    Random random(27);
    for (const bool integers : {true, false}) {
        CsrMatrix<T> a;
        a.rows = 320;
        a.columns = 400;
        for (std::int64_t row = 0; row < a.rows; ++row) {
            for (std::int64_t k = 0; k < 9; ++k) {
                const std::int64_t kind = k < 4 ? row % 4 : row / 4 % 4;  // the magnitude of x
                a.column_indices.push_back(static_cast<std::int32_t>(4 * random.between(0, 99) + kind));
                a.values.push_back(integers ? static_cast<T>(random.between(-3, 3)) : random.number<T>());
            }
            a.row_offsets.push_back(a.nonzeros());
        }
        std::vector<T> x;
        for (std::int64_t i = 0; i < a.columns; ++i)
            x.push_back(i % 4 == 0 ? T(0) : random.number<T>(i % 4 == 1 ? -40 : i % 4 == 2 ? 20 : 0));
        expect_products_kept<T>(a, x);
    }
}

TYPED_TEST(PackedSpmv, RoundsHugeAdversarialRowsOnceWhereThreadsShareThem) {
    using T = TypeParam;
    Random random(7);
    const auto [a, x] = testing::matrix_of(testing::huge_adversarial_rows<T>(random), random);
    expect_products_kept<T>(a, x);
}

/// Rows of multiples of a power of 2, whose sums a grid decides, and x and y that lie on finer ones, or nearly tie.
TEST(PackedSpmvOfDoubles, RoundsSumsOnAnyGridOnce) {
    Random random(12);
    for (const int exponent : {-1074, -1000, -30, 0, 20, 900}) {
        SCOPED_TRACE(exponent);
        CsrMatrix<double> a = random_rows<double>(random, 300, std::vector<std::int64_t>(400, 7));
        for (double& value : a.values) value = std::ldexp(static_cast<double>(random.between(-9, 9)), exponent);
        std::vector<double> x(static_cast<std::size_t>(a.columns));
        for (double& element : x) element = random.number<double>();  // many ties
        expect_products_kept<double>(a, x);
        for (std::size_t i = 0; i < x.size(); i += 5) x[i] = std::ldexp(x[i], static_cast<int>(random.between(-60, 0)));
        for (std::size_t i = 0; i < x.size(); i += 50) x[i] = random.coin() ? 0 : std::numeric_limits<double>::denorm_min();
        expect_products_kept<double>(a, x);
        expect_products_kept<double>(a, std::vector<double>(x.size(), 1.0));
    }
}

// Promise: spmv.hpp, "It never changes a bit of an exact result"
/// With any alpha and beta, those included that the CSR matrix serves, the very bits of a plan without packing.
TYPED_TEST(PackedSpmv, HasTheBitsOfCsrInExactForEveryAlphaAndBeta) {
    using T = TypeParam;
    Random random(8);
    const auto [a, x] = testing::matrix_of(testing::adversarial_rows<T>(random, 228, 40), random);
    const auto sums = testing::expected_rows<T>(a, x);
    const std::vector<T> y = testing::adversarial_addends(random, sums);
    const SpmvPlan<T> csr(a, Device::cpu(2), SpmvOptions{.storage = SpmvStorage::csr});
    const SpmvPlan<T> packed = packed_plan<T>(a, 2);
    for (const T alpha : testing::factors<T>())
        for (const T beta : testing::factors<T>()) {
            const std::vector<T> expected = product<T>(csr, alpha, x, beta, y, Accuracy::exact);
            for_each_target([&] {
                EXPECT_EQ(testing::differences<T>(product<T>(packed, alpha, x, beta, y, Accuracy::exact), expected), "")
                    << alpha << ", " << beta;
            });
        }
}

/// Rows that three terms do not decide, among others; times ones, and as a residual, whose b takes part.
TEST(PackedSpmvOfDoubles, RoundsRowsThatCancelBySixtyDigits) {
    const CsrMatrix<double> a = matrices::find_generator("cancelling_3000").value().make();
    const std::vector<double> ones(3000, 1.0);
    const std::vector<double> b = [&] {
        std::vector<double> rounded = testing::rounded(testing::expected_rows<double>(a, ones));
        for (double& element : rounded) element *= 1 + 0x1p-30;
        return rounded;
    }();
    const std::vector<double> expected_products = testing::rounded(testing::expected_rows<double>(a, ones));
    const std::vector<double> expected_residuals =
        testing::rounded(testing::affine<double>(testing::expected_rows<double>(a, ones), -1, 1, b));
    for (const SpmvStorage storage : {SpmvStorage::csr, SpmvStorage::packed}) {
        const SpmvPlan<double> plan(a, Device::cpu(2), SpmvOptions{.storage = storage});
        for_each_target([&] {
            std::vector<double> y(ones.size());
            plan.multiply(1, ones, 0, y, Accuracy::exact);
            EXPECT_EQ(testing::differences<double>(y, expected_products), "");
            plan.residual(b, ones, {}, y, Accuracy::exact);
            EXPECT_EQ(testing::differences<double>(y, expected_residuals), "");
        });
    }
}

/// Idle lanes, those of ended rows and of rows that do not exist, must drop what they find.
TYPED_TEST(PackedSpmv, NeverLetsInfOrNanInToARowThatDoesNotHaveIt) {
    using T = TypeParam;
    constexpr T inf = std::numeric_limits<T>::infinity();
    Random random(9);
    for (const T special : {inf, -inf, nan_value<T>}) {
        std::vector<std::int64_t> lengths;
        for (int i = 0; i < 301; ++i) lengths.push_back(random.between(0, i % 60 < 30 ? 6 : 40));
        CsrMatrix<T> a = random_rows<T>(random, 50, lengths);
        std::vector<T> x = random_vector<T>(random, 51);
        x[0] = x[50] = special;
        for (auto& column : a.column_indices)
            if (column == 0 && random.between(0, 2) != 0) column = 1;
        a.columns = 51;
        for (T& value : a.values)
            if (random.between(0, 99) == 0) value = random.coin() ? special : T(0);
        expect_products_kept<T>(a, x);
        for (T& value : a.values) value = std::isfinite(value) ? T(-2) : special;  // which comes first in the dictionary: idle
        expect_products_kept<T>(a, x);                                             // slots name it, unless it is negative
    }
}

TYPED_TEST(PackedSpmv, NeverReadsBeyondTheEndOfAVector) {
    using T = TypeParam;
    using testing::Fenced;
    Random random(10);
    for (int trial = 0; trial < 30; ++trial) {
        const std::int64_t rows = random.between(1, 40);
        CsrMatrix<T> a = random_rows<T>(random, 40, std::vector<std::int64_t>(static_cast<std::size_t>(rows), 3));
        for (std::int64_t i = 0; i < rows; ++i)
            for (int k = 0; k < 3; ++k)
                a.column_indices[3 * i + k] = static_cast<std::int32_t>(std::min<std::int64_t>(i + k, 39));
        if (trial % 2 == 0) a.values.assign(a.values.size(), T(2));
        const Fenced<T> x(random_vector<T>(random, 40));
        const Fenced<T> y(random_vector<T>(random, a.rows));
        const SpmvPlan<T> plan = packed_plan<T>(a, 1);
        for_each_target([&] {
            for (const Accuracy accuracy : all_accuracies) {
                plan.multiply(1, x.view(), 1, y.view(), accuracy);
                plan.residual(y.view(), x.view(), x.view(), y.view(), accuracy);
            }
        });
    }
}

TYPED_TEST(PackedSpmv, MakesSeveralProductsTogetherWithTheBitsOfSingleOnes) {
    using T = TypeParam;
    Random random(11);
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < 3000; ++i) lengths.push_back(random.between(0, random.between(1, 40)));
    lengths[100] = 10000;
    const CsrMatrix<T> a = random_rows<T>(random, 5000, lengths);
    const SpmvPlan<T> plan = packed_plan<T>(a, 2);
    const T alphas[] = {1, -1, T(0.5), 0, 1};
    std::vector<std::vector<T>> x, y, single;
    for (int i = 0; i < 5; ++i) {
        x.push_back(random_vector<T>(random, a.columns));
        y.push_back(random_vector<T>(random, a.rows));
    }
    for (const Accuracy accuracy : all_accuracies) {
        single = y;
        std::vector<std::vector<T>> together = y;
        std::vector<SpmvTask<T>> tasks;
        for (std::size_t i = 0; i < 5; ++i) {
            plan.multiply(alphas[i], x[i], T(2), single[i], accuracy);
            tasks.push_back({.alpha = alphas[i], .x = x[i], .beta = 2, .y_in = together[i], .y = together[i]});
        }
        plan.multiply(tasks, accuracy);
        for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(testing::differences<T>(together[i], single[i]), "") << "task " << i;
    }
}

// Promise: spmv.hpp, "Other values in the same pattern"
// Promise: spmv.hpp, "Not for a dense matrix, nor for one that was given"
// Promise: spmv.hpp, "Throws DimensionMismatch;"
// Promise: spmv.hpp, "They must outlive the plan unchanged"
TYPED_TEST(PackedSpmv, TakesOtherValuesInTheSamePattern) {
    using T = TypeParam;
    Random random(12);
    CsrMatrix<T> a = random_rows<T>(random, 600, std::vector<std::int64_t>(3000, 7));
    a.values.assign(a.values.size(), T(3));
    const std::vector<T> x = random_vector<T>(random, a.columns);
    std::vector<T> values(a.values.size());
    for (T& value : values) value = random.number<T>();
    for (const SpmvStorage storage : {SpmvStorage::csr, SpmvStorage::packed}) {
        SpmvPlan<T> plan(a, Device::cpu(2), SpmvOptions{.storage = storage});
        const SpmvPlan<T> copy = plan;
        plan.update_values(values);
        EXPECT_EQ(plan.matrix().values.data(), values.data());
        const std::vector<T> y(static_cast<std::size_t>(a.rows));
        CsrMatrix<T> b = a;
        b.values = values;
        const auto rows = testing::expected_rows<T>(b, x);
        EXPECT_EQ(testing::differences<T>(product<T>(plan, 1, x, 0, y, Accuracy::exact), testing::rounded(rows)), "");
        const auto old_rows = testing::expected_rows<T>(a, x);
        EXPECT_EQ(testing::differences<T>(product<T>(copy, 1, x, 0, y, Accuracy::exact), testing::rounded(old_rows)), "");
        EXPECT_THROW(plan.update_values(Span<T>(values).first(3)), DimensionMismatch);
    }
    const std::vector<T> dense(12);
    SpmvPlan<T> dense_plan(DenseView<T>{3, 4, 4, 1, dense.data()}, Device::cpu(1));
    EXPECT_THROW(dense_plan.update_values(dense), InvalidArgument);
}

template <class T>
void expect_pairs_kept(const CsrMatrix<T>& k, Span<T> x) {
    const std::string text = packed_plan<T>(k, 1).describe().text;
    ASSERT_NE(text.find("complex pairs of values"), std::string::npos) << text;
    expect_products_kept<T>(k, x);
}

TYPED_TEST(PackedSpmv, KeepsItsPromisesForPairedRowsOfAnyNumberAndLength) {
    using T = TypeParam;
    Random random(31);
    for (std::size_t rows = 1; rows <= 10; ++rows) {
        const auto k = random_pairs<T>(random, 11, std::vector<std::int64_t>(rows, 6));
        expect_pairs_kept<T>(k, random_vector<T>(random, k.columns));
    }
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < 1500; ++i) lengths.push_back(random.between(0, random.between(1, 60)));
    for (int i = 0; i < 9; ++i) lengths.push_back(128);
    for (const std::int64_t columns : {200, 70000}) {
        const auto k = random_pairs<T>(random, columns, lengths);
        expect_pairs_kept<T>(k, random_vector<T>(random, k.columns));
    }
}

/// Every encoding of values, in slices of every encoding of columns.
TYPED_TEST(PackedSpmv, KeepsItsPromisesForPairedRowsInEveryEncoding) {
    using T = TypeParam;
    Random random(32);
    for (const std::int64_t different : {1, 3, 100, 257, 2000, -1, 0})
        for (const std::int64_t columns : {120, 30000, 100000})
            for (const std::size_t rows : {402, 401}) {  // columns that follow each other, and others
                SCOPED_TRACE(different);
                std::vector<std::int64_t> lengths(rows);
                for (auto& length : lengths) length = rows % 3 != 0 ? random.between(4, 6) : random.between(0, 15) == 0 ? 5 : 6;
                const auto k = random_pairs<T>(random, columns, lengths, different);
                const bool has_runs = packed_plan<T>(k, 1).describe().text.find("by runs") != std::string::npos;
                EXPECT_TRUE(has_runs || rows % 3 != 0);
                expect_pairs_kept<T>(k, random_vector<T>(random, k.columns));
            }
}

/// Sums that cancel and nearly tie: their terms become parts of complex entries, beside others that meet zeros in x.
TYPED_TEST(PackedSpmv, KeepsItsPromisesForAdversarialPairedRows) {
    using T = TypeParam;
    Random random(33);
    auto [k, x] = testing::adversarial_pairs<T>(random);
    expect_pairs_kept<T>(k, x);
    for (std::size_t i = 0; i < x.size(); i += 2) std::swap(x[i], x[i + 1]);
    expect_pairs_kept<T>(k, x);
}

/// A part that is zero is no entry.
TYPED_TEST(PackedSpmv, NeverLetsInfOrNanMeetAPartOfAPairThatIsZero) {
    using T = TypeParam;
    constexpr T inf = std::numeric_limits<T>::infinity();
    Random random(34);
    for (const T special : {inf, -inf, nan_value<T>}) {
        std::vector<std::int64_t> lengths(301);
        for (auto& length : lengths) length = random.between(0, 9);
        CsrMatrix<T> k = random_pairs<T>(random, 50, lengths, 20);
        std::vector<T> x = random_vector<T>(random, k.columns);
        x[6] = x[31] = special;  // a real and an imaginary part
        expect_pairs_kept<T>(k, x);
        const T one = std::abs(k.values[0]);
        for (T& value : k.values)
            if (std::abs(value) == one) value = value > 0 ? inf : -inf;
        expect_pairs_kept<T>(k, x);
    }
}

TYPED_TEST(PackedSpmv, NeverReadsBeyondTheEndOfAVectorForPairedRows) {
    using T = TypeParam;
    using testing::Fenced;
    Random random(35);
    for (const std::size_t rows : {1, 2, 3, 4, 5, 7, 12}) {
        const auto k = random_pairs<T>(random, 13, std::vector<std::int64_t>(rows, 4));
        const Fenced<T> x(random_vector<T>(random, k.columns));
        const Fenced<T> y(random_vector<T>(random, k.rows));
        const SpmvPlan<T> plan = packed_plan<T>(k, 1);
        for_each_target([&] {
            for (const Accuracy accuracy : all_accuracies) {
                plan.multiply(1, x.view(), 1, y.view(), accuracy);
                plan.residual(y.view(), x.view(), x.view(), y.view(), accuracy);
            }
        });
    }
}

TYPED_TEST(PackedSpmv, MakesSeveralProductsOfPairedRowsWithTheBitsOfSingleOnes) {
    using T = TypeParam;
    Random random(36);
    const auto k = random_pairs<T>(random, 500, std::vector<std::int64_t>(3000, 7));
    const SpmvPlan<T> plan = packed_plan<T>(k, 2);
    const auto x = random_vector<T>(random, k.columns), other_x = random_vector<T>(random, k.columns);
    const auto y = random_vector<T>(random, k.rows);
    for (const Accuracy accuracy : all_accuracies) {
        std::vector<T> one(y.size()), two(y.size());
        const SpmvTask<T> tasks[] = {{.alpha = 1, .x = x, .beta = 2, .y_in = y, .y = one},
                                     {.alpha = -1, .x = other_x, .x_low = x, .beta = 1, .y_in = y, .y = two}};
        plan.multiply(tasks, accuracy);
        EXPECT_EQ(testing::differences<T>(one, product<T>(plan, 1, x, 2, y, accuracy)), "");
        EXPECT_EQ(testing::differences<T>(two, residual<T>(plan, y, other_x, x, false, accuracy)), "");
    }
}

/// Values that still are pairs, and others, in any order.
TYPED_TEST(PackedSpmv, TakesOtherValuesForPairedRows) {
    using T = TypeParam;
    Random random(37);
    const auto k = random_pairs<T>(random, 500, std::vector<std::int64_t>(2000, 7));
    const auto x = random_vector<T>(random, k.columns);
    const std::vector<T> y(static_cast<std::size_t>(k.rows));
    auto twice = k, any = k;
    for (T& value : twice.values) value *= 2;
    for (T& value : any.values) value = random.number<T>();
    SpmvPlan<T> plan = packed_plan<T>(k, 2);
    for (const CsrMatrix<T>& other : {twice, any, k}) {
        plan.update_values(other.values);
        EXPECT_EQ(testing::differences<T>(product<T>(plan, 1, x, 0, y, Accuracy::exact),
                                          testing::rounded(testing::expected_rows<T>(other, x))),
                  "");
    }
}

/// The matrix is changed behind the plan's back, so that it shows what is read of the copy and what of the matrix.
// Promise: spmv.hpp, "A packed plan serves alpha = 1 and -1 with any beta"
TYPED_TEST(PackedSpmv, MultipliesByOtherFactorsFromTheMatrixItself) {
    using T = TypeParam;
    constexpr std::int64_t n = 3000;
    Random random(14);
    CsrMatrix<T> a = random_rows<T>(random, 600, std::vector<std::int64_t>(n, 7));
    a.values.assign(a.values.size(), T(1));
    const SpmvPlan<T> plan = packed_plan<T>(a, 2);
    a.values.assign(a.values.size(), T(100));
    const std::vector<T> x(600, T(1)), y(n, T(1));
    const auto expect_all = [](Span<T> found, T expected) {
        EXPECT_EQ(std::vector<T>(found.begin(), found.end()), std::vector<T>(n, expected));
    };
    for (const Accuracy accuracy : all_accuracies) {
        for (const T beta : {T(0), T(1), T(-3), T(5)}) {
            expect_all(product<T>(plan, 1, x, beta, y, accuracy), 7 + beta);
            expect_all(product<T>(plan, -1, x, beta, y, accuracy), -7 + beta);
            expect_all(product<T>(plan, 2, x, beta, y, accuracy), 1400 + beta);
        }
        expect_all(residual<T>(plan, y, x, x, false, accuracy), 1 - 14);
        std::vector<T> one(n), other(n);
        const SpmvTask<T> tasks[] = {{.x = x, .y = one}, {.alpha = -1, .x = x, .beta = 2, .y_in = y, .y = other}};
        plan.multiply(tasks, accuracy);
        expect_all(one, 7);
        expect_all(other, -5);
    }
}

// Promise: spmv.hpp, "packed where the products expected pay"
// Promise: spmv.hpp, "Throws ResourceLimit where `packed`"
// Promise: spmv.hpp, "with this matrix, for `automatic`"
// Promise: spmv.hpp, "bytes for a packed copy;"
// Promise: spmv.hpp, "csr or packed"
// Promise: spmv.hpp, "for people: which encodings, and why"
// Promise: spmv.hpp, "What to expect of one solve"
// Promise: error.hpp, "More memory would be needed than was allowed"
TYPED_TEST(PackedSpmv, IsChosenWhereManyProductsAreExpectedAndMemoryAllowsIt) {
    using T = TypeParam;
    Random random(13);
    const CsrMatrix<T> a = random_rows<T>(random, 600, std::vector<std::int64_t>(9000, 7));
    const auto storage = [&](const SpmvOptions& options) { return SpmvPlan<T>(a, Device::cpu(2), options).describe().storage; };
    EXPECT_EQ(SpmvPlan<T>(a, Device::cpu(2)).describe().storage, SpmvStorage::csr);
    EXPECT_EQ(storage({}), SpmvStorage::csr);
    EXPECT_EQ(storage({.expected_products = products_of_a_solve}), SpmvStorage::packed);
    EXPECT_EQ(storage({.storage = SpmvStorage::csr, .expected_products = 1000}), SpmvStorage::csr);
    EXPECT_EQ(storage({.storage = SpmvStorage::packed}), SpmvStorage::packed);
    EXPECT_EQ(storage({.expected_products = 1000, .memory_limit = 1000}), SpmvStorage::csr);
    EXPECT_THROW(storage({.storage = SpmvStorage::packed, .memory_limit = 1000}), ResourceLimit);
    const SpmvDescription packed = SpmvPlan<T>(a, Device::cpu(2), SpmvOptions{.storage = SpmvStorage::packed}).describe();
    EXPECT_GT(packed.bytes_a_nonzero, 0);
    EXPECT_NE(packed.text.find("as asked for"), std::string::npos) << packed.text;
}

TEST(PackedChoice, LeavesToCsrOnAGpuWhatIsInLongRowsOrReadsNoFewerBytes) {
    const auto reason = [](double bytes, double share) { return why_csr_is_faster({bytes, share, {}}, 13.0); };
    EXPECT_EQ(reason(8.0, 1.0), "");
    EXPECT_EQ(reason(8.0, 0.96), "");
    EXPECT_NE(reason(8.0, 0.78).find("22 % of the nonzeros are in rows too long"), std::string::npos) << reason(8.0, 0.78);
    EXPECT_EQ(reason(11.5, 1.0), "");
    EXPECT_NE(reason(12.5, 1.0).find("12.5 bytes"), std::string::npos) << reason(12.5, 1.0);
}

// Promise: spmv.hpp, ""auto", "csr" or "packed"."
// Promise: spmv.hpp, "Throws InvalidArgument that lists the choices."
// Promise: spmv.hpp, "The inverse of to_string"
TEST(SpmvStorages, HaveNames) {
    for (const SpmvStorage storage : {SpmvStorage::automatic, SpmvStorage::csr, SpmvStorage::packed})
        EXPECT_EQ(spmv_storage_from_text(to_string(storage)), storage);
    EXPECT_THAT([] { spmv_storage_from_text("ell"); },
                ::testing::ThrowsMessage<InvalidArgument>(::testing::HasSubstr("auto, csr or packed")));
}

}  // namespace
}  // namespace solver
