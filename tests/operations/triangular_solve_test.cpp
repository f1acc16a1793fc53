#include "solver/triangular_solve.hpp"

#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/broken_matrices.hpp"
#include "support/devices.hpp"
#include "support/fenced.hpp"
#include "support/floating_point_environment.hpp"
#include "support/products.hpp"
#include "support/targets.hpp"
#include "support/triangles.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace solver {
namespace {

using testing::adversarial_system;
using testing::broken_promises;
using testing::for_each_target;
using testing::nan_value;
using testing::Random;
using testing::random_rows;
using testing::random_vector;
using testing::same_bits;
using testing::Span;
using testing::Terms;
using testing::TriangularRows;
using testing::wide_rows;

template <class T>
class TriangularSolve : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(TriangularSolve, ValueTypes);

// Promise: triangular_solve.hpp, "A matrix that would be gone before the plan is used"
static_assert(std::is_constructible_v<TriangularSolvePlan<double>, CsrMatrix<double>&, Triangle, Diagonal>);
static_assert(!std::is_constructible_v<TriangularSolvePlan<double>, CsrMatrix<double>, Triangle, Diagonal>);
static_assert(!std::is_constructible_v<TriangularSolvePlan<float>, CsrMatrix<float>, Triangle, Diagonal, Device>);

/// solve(b, x, accuracy) on every target, in every mode, in place and not.
template <class T, class Solve>
void expect_solved(const TriangularRows<T>& a, Diagonal diagonal, Span<T> b, const Solve& solve) {
    std::vector<T> exact;
    for_each_target([&] {
        for (const Accuracy accuracy : all_accuracies) {
            std::vector<T> x(b.size(), nan_value<T>);
            solve(b, std::span<T>(x), accuracy);
            if (accuracy != Accuracy::exact || exact.empty())
                EXPECT_EQ(broken_promises<T>(a, diagonal, b, x, accuracy), "");
            else
                EXPECT_EQ(testing::differences<T>(x, exact), "") << "between targets";
            if (accuracy == Accuracy::exact) exact = x;
            std::vector<T> in_place(b.begin(), b.end());
            solve(in_place, std::span<T>(in_place), accuracy);
            EXPECT_EQ(testing::differences<T>(in_place, x), "") << "in place, " << to_string(accuracy);
        }
    });
}

template <class T>
void expect_csr_solved(const TriangularRows<T>& a, Diagonal diagonal, Span<T> b) {
    SCOPED_TRACE(diagonal == Diagonal::unit ? "sparse, unit" : "sparse");
    const CsrMatrix<T> csr = a.csr(diagonal);
    std::vector<Device> devices = testing::cuda_devices();
    devices.push_back(Device::cpu());
    for (const Device& device : devices) {
        SCOPED_TRACE(to_string(device));
        const TriangularSolvePlan<T> plan(csr, a.triangle, diagonal, device);
        expect_solved(a, diagonal, b,
                      [&](Span<T> from, std::span<T> to, Accuracy accuracy) { plan.solve(from, to, accuracy); });
    }
}

template <class T>
void expect_dense_solved(const TriangularRows<T>& a, Diagonal diagonal, Span<T> b) {
    SCOPED_TRACE(diagonal == Diagonal::unit ? "dense, unit" : "dense");
    const std::int64_t n = a.size();
    for (const auto& [row_stride, column_stride] :
         {std::pair<std::int64_t, std::int64_t>{n, 1}, std::pair<std::int64_t, std::int64_t>{1, n + 2}}) {
        const std::vector<T> values = a.dense(diagonal, row_stride, column_stride);
        const DenseView<T> view{n, n, row_stride, column_stride, values.data()};
        expect_solved(a, diagonal, b, [&](Span<T> from, std::span<T> to, Accuracy accuracy) {
            triangular_solve(view, a.triangle, diagonal, from, to, accuracy);
        });
    }
}

/// Lower and, by reversal, upper; stored and unit. Dense only where zeros times x are harmless.
template <class T>
void expect_all_solved(const TriangularRows<T>& a, Span<T> b, bool dense_too) {
    const TriangularRows<T> upper = a.reversed();
    const std::vector<T> upper_b(b.rbegin(), b.rend());
    for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit}) {
        expect_csr_solved(a, diagonal, b);
        expect_csr_solved<T>(upper, diagonal, upper_b);
        if (!dense_too) continue;
        expect_dense_solved(a, diagonal, b);
        expect_dense_solved<T>(upper, diagonal, upper_b);
    }
}

// Promise: triangular_solve.hpp, "unit: the diagonal is 1 and not stored"
TYPED_TEST(TriangularSolve, KeepsItsPromisesForAnyNumberOfRows) {
    using T = TypeParam;
    Random random(1);
    for (const std::int64_t n : {0, 1, 2, 3, 5, 8, 9, 17, 33, 34, 65, 120}) {
        SCOPED_TRACE(n);
        expect_all_solved<T>(random_rows<T>(random, n, n), random_vector<T>(random, n), true);
    }
}

TYPED_TEST(TriangularSolve, KeepsItsPromisesForRowsOfAllLengths) {
    using T = TypeParam;
    Random random(2);
    expect_all_solved<T>(random_rows<T>(random, 900, 70), random_vector<T>(random, 900), false);
    expect_all_solved<T>(random_rows<T>(random, 2500, 5), random_vector<T>(random, 2500), false);
}

TYPED_TEST(TriangularSolve, KeepsItsPromisesForRowsLongerThanAChain) {
    using T = TypeParam;
    Random random(3);
    TriangularRows<T> a = random_rows<T>(random, 5000, 2);
    for (const std::int64_t i : {300, 2047, 2049, 4097, 4999}) {
        a.beside[i].clear();
        for (std::int32_t j = 0; j < i; ++j) a.beside[i].emplace_back(j, random.number<T>(-12));
    }
    expect_all_solved<T>(a, random_vector<T>(random, 5000), false);
}

TYPED_TEST(TriangularSolve, KeepsItsPromisesForWideLevels) {
    using T = TypeParam;
    Random random(10);
    for (const std::int64_t width : {16, 19, 100, 700}) {
        SCOPED_TRACE(width);
        const std::int64_t n = 3 * width + random.between(1, width);
        expect_all_solved<T>(wide_rows<T>(random, n, width, 8), random_vector<T>(random, n), false);
        expect_all_solved<T>(wide_rows<T>(random, n, width, 70), random_vector<T>(random, n), false);
    }
}

TYPED_TEST(TriangularSolve, KeepsItsPromisesForLongRowsInWideLevels) {
    using T = TypeParam;
    Random random(11);
    TriangularRows<T> a = wide_rows<T>(random, 6000, 3000, 6);
    for (const std::int64_t i : {3000, 3100, 3101, 5999}) {
        a.beside[i].clear();
        for (std::int32_t j = 0; j < 3000; ++j) a.beside[i].emplace_back(j, random.number<T>(-12));
    }
    expect_all_solved<T>(a, random_vector<T>(random, 6000), false);
}

// Promise: triangular_solve.hpp, "The bits of a result do not depend on the number of threads"
/// Enough work for all threads; 24000 rows of ones and ties that a first filter cannot prove among them.
// Promise: reproducibility.md, "triangular solves, sparse and dense"
TYPED_TEST(TriangularSolve, GivesTheSameBitsForAnyNumberOfThreads) {
    using T = TypeParam;
    Random random(12);
    TriangularRows<T> a = wide_rows<T>(random, 60000, 12000, 16);
    for (std::int64_t i = 0; i < 24000; ++i) {
        for (auto& [column, value] : a.beside[i]) value = T(1);
        a.pivot[i] = 1;
    }
    const std::vector<T> b = random_vector<T>(random, a.size());
    for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit})
        for (const TriangularRows<T>& rows : {a, a.reversed()}) {
            const CsrMatrix<T> csr = rows.csr(diagonal);
            const auto solve = [&](int threads, Accuracy accuracy) {
                std::vector<T> x(b.size());
                TriangularSolvePlan<T>(csr, rows.triangle, diagonal, Device::cpu(threads)).solve(b, x, accuracy);
                return x;
            };
            for (const Accuracy accuracy : all_accuracies) {
                const std::vector<T> expected = solve(1, accuracy);
                EXPECT_EQ(broken_promises<T>(rows, diagonal, b, expected, accuracy), "");
                for (const int threads : {2, 7}) EXPECT_EQ(testing::differences<T>(solve(threads, accuracy), expected), "");
            }
        }
}

/// Rows that depend on the level before them, where x is 1, and cancel by 2^100, so that the last bits tell how their sums were
/// grouped: chunks of a level have to end where groups of rows do.
TEST(TriangularSolveInCompensated, GivesTheSameBitsWhereRowsCancel) {
    constexpr std::int32_t length = 42, pairs = length / 2 - 1;
    Random random(14);
    const auto cancelling = [&] {
        std::vector<double> row{random.number<double>(0), random.number<double>(0)};
        for (std::int32_t k = 0; k < pairs; ++k)
            row.push_back(random.number<double>(static_cast<int>(random.between(60, 100))));
        for (std::int32_t k = 0; k < pairs; ++k) row.push_back(-row[k + 2]);
        for (std::size_t k = row.size(); k > 1; --k) std::swap(row[k - 1], row[random.between(0, static_cast<int>(k) - 1)]);
        return row;
    };
    for (std::int32_t width = 20001; width <= 20030; ++width) {
        CsrMatrix<double> a{2 * width, 2 * width, {0}, {}, {}};
        for (std::int32_t i = 0; i < 2 * width; ++i) {
            std::int32_t column = i % 7;
            for (const double value : i < width ? std::vector<double>() : cancelling()) {
                a.column_indices.push_back(column);
                a.values.push_back(value);
                column += width / length - 1;
            }
            a.column_indices.push_back(i);
            a.values.push_back(1);
            a.row_offsets.push_back(a.nonzeros());
        }
        const std::vector<double> b(static_cast<std::size_t>(a.rows), 1.0);
        const auto solve = [&](int threads) {
            std::vector<double> x(b.size());
            TriangularSolvePlan<double>(a, Triangle::lower, Diagonal::stored, Device::cpu(threads))
                .solve(b, x, Accuracy::compensated);
            return x;
        };
        ASSERT_EQ(testing::differences<double>(solve(2), solve(1)), "") << width;
    }
}

/// Rows of ones below the diagonal, in levels of `width`, and the solution that they have: row sums solve for ones.
template <class T>
CsrMatrix<T> levels_of_ones(std::int32_t n, std::int32_t width) {
    std::vector<Entry<T>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        if (i >= width) entries.push_back({i, i - width, 1});
        entries.push_back({i, i, 1});
    }
    return csr_from_entries<T>(n, n, entries);
}

/// The matrix is changed behind the plan's back after a first solve, so that it shows what is read of the copy.
// Promise: triangular_solve.hpp, "Keeps a view; the matrix must outlive"
// Promise: triangular_solve.hpp, "In exact, and compensated in double, the first solve sorts"
TYPED_TEST(TriangularSolve, ReadsTheMatrixOrFromTheFirstSolveOnTheCopyInLevels) {
    using T = TypeParam;
    constexpr std::int32_t n = 6000;
    for (const std::int32_t width : {1, 1000})
        for (const Accuracy accuracy : all_accuracies) {
            CsrMatrix<T> a = levels_of_ones<T>(n, width);
            const TriangularSolvePlan<T> plan(a, Triangle::lower, Diagonal::stored, Device::cpu(2));
            EXPECT_EQ(plan.matrix().values.data(), a.values.data());
            std::vector<T> b(n, T(2)), x(n);
            std::fill_n(b.begin(), width, T(1));
            plan.solve(b, x, accuracy);
            EXPECT_EQ(x, std::vector<T>(n, T(1)));
            a.values.assign(a.values.size(), T(2));
            plan.solve(b, x, accuracy);
            const bool in_levels =
                width > 1 && (accuracy == Accuracy::exact || (accuracy == Accuracy::compensated && std::is_same_v<T, double>));
            EXPECT_EQ(x, std::vector<T>(n, in_levels ? T(1) : T(0.5))) << width << ", " << to_string(accuracy);
        }
}

// Promise: triangular_solve.hpp, "A plan is const and may be used by several threads"
// Promise: triangular_solve.hpp, "On a CUDA device the plan keeps a copy of the matrix"
TYPED_TEST(TriangularSolve, OfOnePlanMayRunInSeveralThreadsAtOnce) {
    using T = TypeParam;
    Random random(13);
    const TriangularRows<T> a = wide_rows<T>(random, 60000, 12000, 16);
    const std::vector<T> b = random_vector<T>(random, a.size());
    const CsrMatrix<T> csr = a.csr(Diagonal::stored);
    std::vector<Device> devices = testing::cuda_devices();
    devices.push_back(Device::cpu(2));
    for (const Device& device : devices) {
        const TriangularSolvePlan<T> plan(csr, Triangle::lower, Diagonal::stored, device);
        std::vector<std::vector<T>> found(3, std::vector<T>(b.size()));
        std::vector<std::thread> threads;
        for (auto& x : found)
            threads.emplace_back([&, copy = plan] {
                for (int i = 0; i < 5; ++i) copy.solve(b, x, Accuracy::exact);
            });
        for (std::thread& thread : threads) thread.join();
        for (const auto& x : found) EXPECT_EQ(testing::differences<T>(x, found[0]), "") << to_string(device);
        EXPECT_EQ(broken_promises<T>(a, Diagonal::stored, b, found[0], Accuracy::exact), "") << to_string(device);
    }
}

// Promise: triangular_solve.hpp, "Row by row, given the elements already computed"
TYPED_TEST(TriangularSolve, RoundsAdversarialRowsOnceAndDividesThem) {
    using T = TypeParam;
    Random random(4);
    std::vector<Terms<T>> sums;
    for (const auto& made : testing::adversarial_classes<T>())
        for (int trial = 0; trial < 120; ++trial)
            sums.push_back(made.make(random, static_cast<std::size_t>(random.between(8, 60))));
    const auto [a, b] = adversarial_system(random, sums);
    expect_all_solved<T>(a, b, false);
}

// Promise: triangular_solve.hpp, "Solves T x = b for the triangle T"
TYPED_TEST(TriangularSolve, RoundsAdversarialDenseRowsOnce) {
    using T = TypeParam;
    Random random(5);
    for (const auto& made : testing::finite_adversarial_classes<T>()) {
        SCOPED_TRACE(made.name);
        for (const std::size_t n : {9, 40}) {
            const auto [a, b] = adversarial_system<T>(random, {made.make(random, n)});
            expect_all_solved<T>(a, b, true);
        }
    }
}

TYPED_TEST(TriangularSolve, PassesInfAndNanOnToTheRowsThatDependOnThemAlone) {
    using T = TypeParam;
    Random random(6);
    for (const T special : {std::numeric_limits<T>::infinity(), std::copysign(nan_value<T>, T(-1))}) {
        TriangularRows<T> a = random_rows<T>(random, 300, 40);
        std::vector<T> b = random_vector<T>(random, 300);
        b[150] = special;
        a.beside[60].back().second = special;
        expect_all_solved<T>(a, b, false);
    }
}

TYPED_TEST(TriangularSolve, ReturnsPlusZeroForZeros) {
    using T = TypeParam;
    Random random(7);
    const TriangularRows<T> a = random_rows<T>(random, 50, 9);
    const std::vector<T> b(50, -T(0));
    expect_all_solved<T>(a, b, true);
    const CsrMatrix<T> csr = a.csr(Diagonal::stored);
    std::vector<T> x(50, T(1));
    TriangularSolvePlan<T>(csr, Triangle::lower, Diagonal::stored).solve(b, x, Accuracy::fast);
    for (const T element : x) EXPECT_TRUE(same_bits(element, T(0)));
}

template <class T>
CsrMatrix<T> matrix(std::int64_t rows, std::int64_t columns, std::vector<std::int64_t> offsets,
                    std::vector<std::int32_t> indices, std::vector<T> values) {
    return {rows, columns, std::move(offsets), std::move(indices), std::move(values)};
}

// Promise: triangular_solve.hpp, "Throws InvalidArgument where the matrix is not square"
// Promise: triangular_solve.hpp, "Columns must rise"
// Promise: triangular_solve.hpp, "unit: the diagonal is 1 and not stored"
TYPED_TEST(TriangularSolve, SaysWhatIsWrongWithAMatrix) {
    using T = TypeParam;
    using M = CsrMatrix<T>;
    const auto message = [](const M& a, Triangle triangle, Diagonal diagonal) -> std::string {
        try {
            TriangularSolvePlan<T>(a, triangle, diagonal);
        } catch (const InvalidArgument& error) {
            return error.what();
        }
        return "";
    };
    const auto lower = Triangle::lower, upper = Triangle::upper;
    const auto stored = Diagonal::stored, unit = Diagonal::unit;
    const M wide = matrix<T>(1, 2, {0, 1}, {0}, {1});
    EXPECT_EQ(message(wide, lower, stored), "triangular solve: A is 1 x 2; it must be square");
    const M full = matrix<T>(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 2, 3, 4});
    EXPECT_EQ(message(full, lower, stored), "triangular solve: entry (1, 2) lies beyond the diagonal of a lower triangle");
    EXPECT_EQ(message(full, upper, stored), "triangular solve: entry (2, 1) lies beyond the diagonal of an upper triangle");
    const M lacking = matrix<T>(3, 3, {0, 1, 2, 4}, {0, 0, 0, 2}, {1, 2, 3, 4});
    EXPECT_EQ(message(lacking, lower, stored), "triangular solve: row 2 has no diagonal entry");
    const M empty_row = matrix<T>(2, 2, {0, 1, 1}, {0}, {1});
    EXPECT_EQ(message(empty_row, lower, stored), "triangular solve: row 2 has no diagonal entry");
    EXPECT_EQ(message(empty_row, upper, stored), "triangular solve: row 2 has no diagonal entry");
    EXPECT_EQ(message(empty_row, lower, unit),
              "triangular solve: row 1 stores a diagonal entry, which a unit diagonal has not");
    const M zero = matrix<T>(2, 2, {0, 1, 3}, {0, 0, 1}, {1, 2, -T(0)});
    EXPECT_EQ(message(zero, lower, stored), "triangular solve: the diagonal entry of row 2 is 0");
    const M zero_first = matrix<T>(2, 2, {0, 2, 3}, {0, 1, 1}, {0, 2, 3});
    EXPECT_EQ(message(zero_first, upper, stored), "triangular solve: the diagonal entry of row 1 is 0");
    const M zero_beside = matrix<T>(2, 2, {0, 2, 3}, {0, 1, 1}, {2, 0, 3});
    EXPECT_EQ(message(zero_beside, upper, stored), "");
    const M unsorted = matrix<T>(3, 3, {0, 1, 2, 5}, {0, 1, 1, 0, 2}, {1, 1, 1, 1, 1});
    const std::string advice = " do not rise; sort them, and have each once";
    EXPECT_EQ(message(unsorted, lower, stored), "triangular solve: the columns of row 3" + advice);
    const M repeated = matrix<T>(2, 2, {0, 1, 4}, {0, 0, 1, 1}, {1, 1, 1, 1});
    EXPECT_EQ(message(repeated, lower, stored), "triangular solve: the columns of row 2" + advice);
}

TYPED_TEST(TriangularSolve, RefusesBrokenMatrices) {
    using T = TypeParam;
    for (const Triangle triangle : {Triangle::lower, Triangle::upper})
        testing::expect_broken_matrices_refused<T>(
            [&](const CsrView<T>& a) { TriangularSolvePlan<T>(a, triangle, Diagonal::stored, Device::cpu()); });
}

// Promise: triangular_solve.hpp, "Copies share what was made of the matrix"
TYPED_TEST(TriangularSolve, PlansAreNeverEmpty) {
    using T = TypeParam;
    const CsrMatrix<T> a = matrix<T>(2, 2, {0, 1, 2}, {0, 1}, {2, 4});
    TriangularSolvePlan<T> plan(a, Triangle::lower, Diagonal::stored, Device::cpu(1));
    const TriangularSolvePlan<T> moved(std::move(plan));
    const std::vector<T> b{2, 4}, ones{1, 1};
    for (const TriangularSolvePlan<T>* const each : {static_cast<const TriangularSolvePlan<T>*>(&plan), &moved}) {
        std::vector<T> x(2);
        each->solve(b, x, Accuracy::exact);
        EXPECT_EQ(x, ones);
    }
}

// Promise: triangular_solve.hpp, "Solves A x = b."
TYPED_TEST(TriangularSolve, RefusesVectorsThatOverlapInPart) {
    using T = TypeParam;
    const auto refused = ::testing::ThrowsMessage<InvalidArgument>(
        "triangular solve: x overlaps b in memory, which is still read while x is written; give each memory of its own");
    const CsrMatrix<T> a = matrix<T>(2, 2, {0, 1, 2}, {0, 1}, {1, 1});
    const TriangularSolvePlan<T> plan(a, Triangle::lower, Diagonal::stored, Device::cpu(1));
    const std::vector<T> elements{1, 0, 0, 1};
    const DenseView<T> dense{2, 2, 2, 1, elements.data()};
    std::vector<T> three(3);
    const std::span<T> first = std::span(three).first(2), last = std::span(three).last(2);
    EXPECT_THAT([&] { plan.solve(first, last, Accuracy::exact); }, refused);
    EXPECT_THAT([&] { plan.solve(last, first, Accuracy::exact); }, refused);
    EXPECT_THAT([&] { triangular_solve(dense, Triangle::lower, Diagonal::stored, Span<T>(first), last, Accuracy::exact); },
                refused);
    plan.solve(first, first, Accuracy::exact);
    triangular_solve(dense, Triangle::lower, Diagonal::stored, Span<T>(last), last, Accuracy::exact);
}

// Promise: triangular_solve.hpp, "Throws DimensionMismatch"
TYPED_TEST(TriangularSolve, SaysWhichVectorHasTheWrongLengthAndWhichPivotIsZero) {
    using T = TypeParam;
    using ::testing::ThrowsMessage;
    const CsrMatrix<T> a = matrix<T>(2, 2, {0, 1, 2}, {0, 1}, {1, 1});
    const TriangularSolvePlan<T> plan(a, Triangle::lower, Diagonal::stored);
    CsrMatrix<T> longer = a;
    longer.row_offsets = {0, 1, 9};
    EXPECT_THAT([&] { TriangularSolvePlan<T>(longer, Triangle::lower, Diagonal::stored); },
                ThrowsMessage<DimensionMismatch>(
                    "triangular solve: row_offsets ends with 9, but there are 2 values and 2 column indices"));
    std::vector<T> two(2);
    std::vector<T> three(3);
    EXPECT_THAT([&] { plan.solve(three, two, Accuracy::fast); },
                ThrowsMessage<DimensionMismatch>("triangular solve: b has 3 elements, A is 2 x 2; b needs 2, the rows of A"));
    EXPECT_THAT(
        [&] { plan.solve(two, three, Accuracy::fast); },
        ThrowsMessage<DimensionMismatch>("triangular solve: x has 3 elements, A is 2 x 2; x needs 2, the columns of A"));
    const std::vector<T> values{1, 2, 3, 0};
    const auto solve = [&](const DenseView<T>& view, Span<T> b) {
        return [&two, view, b] {
            triangular_solve(view, Triangle::upper, Diagonal::stored, b, std::span<T>(two), Accuracy::exact);
        };
    };
    EXPECT_THAT(solve({2, 2, 2, 1, values.data()}, two),
                ThrowsMessage<InvalidArgument>("triangular solve: the diagonal entry of row 2 is 0"));
    EXPECT_THAT(solve({2, 2, 2, 1, nullptr}, two),
                ThrowsMessage<InvalidArgument>("triangular solve: A is 2 x 2 and has no data"));
    EXPECT_THAT(solve({1, 2, 2, 1, values.data()}, two),
                ThrowsMessage<InvalidArgument>("triangular solve: A is 1 x 2; it must be square"));
    EXPECT_THAT(solve({1, 1, 2, 1, values.data()}, two),
                ThrowsMessage<DimensionMismatch>("triangular solve: b has 2 elements, A is 1 x 1; b needs 1, the rows of A"));
}

TYPED_TEST(TriangularSolve, NeverReadsBeyondTheEndOfAnArray) {
    using T = TypeParam;
    using testing::Fenced;
    Random random(9);
    for (const std::int64_t n : {1, 5, 33, 80}) {
        const CsrMatrix<T> a = random_rows<T>(random, n, n).csr(Diagonal::stored);
        const Fenced<std::int64_t> offsets(a.row_offsets);
        const Fenced<std::int32_t> columns(a.column_indices);
        const Fenced<T> values(a.values);
        const Fenced<T> dense(random_vector<T>(random, n * n));
        const Fenced<T> x(random_vector<T>(random, n));
        const TriangularSolvePlan<T> plan({n, n, offsets.view(), columns.view(), values.view()}, Triangle::lower,
                                          Diagonal::stored);
        for_each_target([&] {
            for (const Accuracy accuracy : all_accuracies) {
                plan.solve(x.view(), x.view(), accuracy);
                for (const Triangle triangle : {Triangle::lower, Triangle::upper})
                    triangular_solve(DenseView<T>{n, n, n, 1, dense.view().data()}, triangle, Diagonal::unit, Span<T>(x.view()),
                                     x.view(), accuracy);
            }
        });
    }
}

TYPED_TEST(TriangularSolve, IsDeafToTheCallersFloatingPointEnvironment) {
    using T = TypeParam;
    Random random(8);
    TriangularRows<T> a = random_rows<T>(random, 80, 50);
    a.pivot[40] = 5 * std::numeric_limits<T>::denorm_min();  // not 0, whatever the environment
    const std::vector<T> b = random_vector<T>(random, 80);
    const CsrMatrix<T> csr = a.csr(Diagonal::stored);
    const std::vector<T> values = a.dense(Diagonal::stored, 80, 1);
    const auto results = [&] {
        std::vector<std::vector<T>> all;
        for (const Accuracy accuracy : all_accuracies) {
            std::vector<T> x(80);
            TriangularSolvePlan<T>(csr, Triangle::lower, Diagonal::stored).solve(b, x, accuracy);
            all.push_back(x);
            triangular_solve({80, 80, 80, 1, values.data()}, Triangle::lower, Diagonal::stored, Span<T>(b), std::span<T>(x),
                             accuracy);
            all.push_back(x);
        }
        return all;
    };
    testing::expect_deaf_to_the_environment<T>(results);
}

}  // namespace
}  // namespace solver
