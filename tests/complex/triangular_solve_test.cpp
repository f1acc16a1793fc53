#include "solver/complex.hpp"

#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/broken_matrices.hpp"
#include "support/complex_numbers.hpp"
#include "support/complex_triangles.hpp"
#include "support/devices.hpp"
#include "support/floating_point_environment.hpp"
#include "support/targets.hpp"

#include <algorithm>
#include <complex>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

namespace solver {
namespace {

using testing::complex_number;
using testing::complex_vector;
using testing::expected_numerator;
using testing::expected_quotient;
using testing::Random;
using testing::same_bits;
using testing::TriangularRows;

template <class T>
class ComplexTriangularSolve : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ComplexTriangularSolve, ValueTypes);

template <class T>
using ComplexRows = TriangularRows<std::complex<T>>;
template <class T>
using ComplexVector = std::vector<std::complex<T>>;

template <class T>
ComplexVector<T> solved(const ComplexRows<T>& a, Diagonal diagonal, const ComplexVector<T>& b, Accuracy accuracy,
                        const Device& device = Device::cpu(1)) {
    ComplexVector<T> x(b.size());
    TriangularSolvePlan<std::complex<T>>(a.csr(diagonal).view(), a.triangle, diagonal, device).solve(b, x, accuracy);
    return x;
}

/// Element by element, given the others as they were found.
template <class T>
void expect_exact(const ComplexRows<T>& a, Diagonal diagonal, const ComplexVector<T>& b, const ComplexVector<T>& x) {
    for (std::int64_t i = 0; i < a.size(); ++i) {
        const std::complex<T> numerator = expected_numerator<T>(a, i, b, x).rounded();
        const std::complex<T> expected = diagonal == Diagonal::unit ? numerator : expected_quotient(numerator, a.pivot[i]);
        ASSERT_TRUE(same_bits(x[i], expected)) << "row " << i << ": " << x[i] << " instead of " << expected;
    }
}

template <class T>
void expect_same(const ComplexVector<T>& found, const ComplexVector<T>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_TRUE(same_bits(found[i], expected[i])) << i << ": " << found[i] << " instead of " << expected[i];
}

/// Exact on the device, in place too, with the bits of `first` where there are some; which are these from then on.
template <class T>
void expect_exact_on(const Device& device, const ComplexRows<T>& a, Diagonal diagonal, const ComplexVector<T>& b,
                     std::optional<ComplexVector<T>>& first) {
    SCOPED_TRACE(to_string(device));
    const TriangularSolvePlan<std::complex<T>> plan(a.csr(diagonal).view(), a.triangle, diagonal, device);
    ComplexVector<T> x(b.size()), in_place = b;
    plan.solve(b, x, Accuracy::exact);
    plan.solve(in_place, in_place, Accuracy::exact);
    expect_same<T>(in_place, x);
    if (first) return expect_same<T>(x, *first);
    expect_exact<T>(a, diagonal, b, x);
    first = x;
}

/// Lower and upper, stored and unit, on every target and device.
template <class T>
void expect_all_exact(const ComplexRows<T>& a, const ComplexVector<T>& b) {
    for (const bool upper : {false, true})
        for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit}) {
            SCOPED_TRACE(std::string(upper ? "upper" : "lower") + (diagonal == Diagonal::unit ? ", unit" : ""));
            const ComplexRows<T> rows = upper ? a.reversed() : a;
            const ComplexVector<T> right = upper ? ComplexVector<T>(b.rbegin(), b.rend()) : b;
            std::optional<ComplexVector<T>> first;
            testing::for_each_target([&] { expect_exact_on<T>(Device::cpu(), rows, diagonal, right, first); });
            for (const Device& device : testing::cuda_devices()) expect_exact_on<T>(device, rows, diagonal, right, first);
        }
}

/// A dense matrix's triangle, by rows and by columns, lower and upper, stored and unit, in place too: each with the sparse
/// one's bits in exact. Zeros are multiplied, so that what is not finite has no rows after it.
template <class T>
void expect_dense_exact(const ComplexRows<T>& lower, const ComplexVector<T>& lower_b) {
    const std::int64_t n = lower.size();
    for (const bool upper : {false, true})
        for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit})
            for (const bool by_rows : {true, false}) {
                SCOPED_TRACE(::testing::Message() << n << (upper ? " upper" : " lower") << (by_rows ? " rows" : " columns")
                                                  << (diagonal == Diagonal::unit ? ", unit" : ""));
                const ComplexRows<T> a = upper ? lower.reversed() : lower;
                const ComplexVector<T> b = upper ? ComplexVector<T>(lower_b.rbegin(), lower_b.rend()) : lower_b;
                const std::int64_t row_stride = by_rows ? n + 3 : 1, column_stride = by_rows ? 1 : n + 1;
                const ComplexVector<T> values = a.dense(diagonal, row_stride, column_stride);
                const DenseView<std::complex<T>> view{n, n, row_stride, column_stride, values.data()};
                testing::for_each_target([&] {
                    ComplexVector<T> x(b.size()), in_place = b;
                    triangular_solve(view, a.triangle, diagonal, std::span<const std::complex<T>>(b), std::span(x),
                                     Accuracy::exact);
                    triangular_solve(view, a.triangle, diagonal, std::span<const std::complex<T>>(in_place),
                                     std::span(in_place), Accuracy::exact);
                    expect_exact<T>(a, diagonal, b, x);
                    expect_same<T>(in_place, x);
                });
            }
}

template <class T>
std::complex<T> any_pivot(Random& random, int exponents) {
    const std::complex<T> pivot = complex_number<T>(random, exponents);
    return pivot == std::complex<T>(0) ? std::complex<T>(1) : pivot;
}

/// Rows that depend on rows of earlier blocks of `width` rows alone; parts of entries and pivots that are zero among them.
template <class T>
ComplexRows<T> rows_in_levels(Random& random, std::int64_t n, std::int64_t width, std::int64_t longest) {
    const TriangularRows<T> re = testing::wide_rows<T>(random, n, width, longest);
    ComplexRows<T> a;
    for (const auto& row : re.beside) {
        auto& made = a.beside.emplace_back();
        for (const auto& [column, value] : row) {
            const std::complex<T> turn = complex_number<T>(random, 0);
            made.emplace_back(column, std::complex<T>(value * turn.real(), value * turn.imag()));
        }
        a.pivot.push_back(any_pivot<T>(random, 1));
    }
    return a;
}

/// Levels of one row, solved in natural order, and wide ones.
// Promise: complex.hpp, "Each part of the numerator is rounded as the accuracy asks"
// Promise: complex.hpp, "A sparse complex triangular matrix made ready"
// Promise: complex.hpp, "Solves A x = b. x may be b"
TYPED_TEST(ComplexTriangularSolve, RoundsNumeratorsAndQuotientsOncePerPart) {
    using T = TypeParam;
    Random random(1);
    for (const std::int64_t n : {0, 1, 2, 3, 9, 60, 200})
        for (const std::int64_t width : {1, 40}) {
            SCOPED_TRACE(::testing::Message() << n << " rows in levels of " << width);
            expect_all_exact<T>(rows_in_levels<T>(random, n, width, 50), complex_vector<T>(random, n, 3));
        }
}

/// Sums that cancel, tie or underflow, as the real part of some rows and the imaginary part of others, times anything.
TYPED_TEST(ComplexTriangularSolve, RoundsAdversarialRowsOnce) {
    using T = TypeParam;
    Random random(2);
    std::vector<testing::Terms<T>> sums;
    for (const auto& made : testing::finite_adversarial_classes<T>())
        for (int trial = 0; trial < 20; ++trial)
            sums.push_back(made.make(random, static_cast<std::size_t>(random.between(8, 40))));
    const auto [real, real_b] = testing::adversarial_system(random, sums);
    ComplexRows<T> a;
    ComplexVector<T> b;
    const int wide = std::is_same_v<T, float> ? 60 : 400;
    for (std::int64_t i = 0; i < real.size(); ++i) {
        const bool imaginary = random.coin(), is_factor = real.beside[i].empty();
        auto& row = a.beside.emplace_back();
        for (const auto& [j, value] : real.beside[i]) {
            const T other = random.coin() ? random.number<T>() : T(0);
            row.emplace_back(j, imaginary ? std::complex<T>(other, value) : std::complex<T>(value, other));
        }
        a.pivot.push_back(is_factor ? std::complex<T>(1) : any_pivot<T>(random, wide));
        b.push_back(imaginary && !is_factor ? std::complex<T>(0, real_b[i]) : std::complex<T>(real_b[i]));
    }
    expect_all_exact<T>(a, b);
}

/// Quotients that tie, overflow and underflow: (1 + i) 2^k halves sums, and exponents reach from end to end.
TYPED_TEST(ComplexTriangularSolve, DividesByPivotsOfAnySize) {
    using T = TypeParam;
    Random random(3);
    const int all = std::numeric_limits<T>::max_exponent - 2;
    ComplexRows<T> a;
    ComplexVector<T> b;
    for (int i = 0; i < 600; ++i) {
        a.beside.emplace_back();
        const T power = std::ldexp(T(1), static_cast<int>(random.between(-all, all)));
        a.pivot.push_back(i % 2 == 0 ? std::complex<T>(power, random.coin() ? power : -power) : any_pivot<T>(random, all));
        b.push_back(complex_number<T>(random, i % 3 == 0 ? all : 1));
    }
    a.pivot[0] = std::numeric_limits<T>::denorm_min();
    a.pivot[1] = {0, std::numeric_limits<T>::denorm_min()};
    expect_all_exact<T>(a, b);
}

template <class T>
void expect_bounds_kept(const ComplexRows<T>& a, Diagonal diagonal, const ComplexVector<T>& b, const ComplexVector<T>& x,
                        Accuracy accuracy) {
    EXPECT_EQ(testing::broken_promises<std::complex<T>>(a, diagonal, b, x, accuracy), "");
}

// Promise: complex.hpp, "Each part of the numerator is rounded as the accuracy asks"
TYPED_TEST(ComplexTriangularSolve, KeepsTheBoundsOfFasterModesInBothParts) {
    using T = TypeParam;
    Random random(4);
    for (const std::int64_t width : {1, 40})
        for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit}) {
            const ComplexRows<T> a = rows_in_levels<T>(random, 200, width, 60);
            const ComplexVector<T> b = complex_vector<T>(random, 200);
            for (const Accuracy accuracy : {Accuracy::fast, Accuracy::compensated}) {
                testing::for_each_target(
                    [&] { expect_bounds_kept<T>(a, diagonal, b, solved<T>(a, diagonal, b, accuracy), accuracy); });
                for (const Device& device : testing::cuda_devices())
                    expect_bounds_kept<T>(a, diagonal, b, solved<T>(a, diagonal, b, accuracy, device), accuracy);
            }
        }
}

// Promise: complex.hpp, "In exact the conjugates of A and b"
TYPED_TEST(ComplexTriangularSolve, CommutesWithConjugation) {
    using T = TypeParam;
    Random random(5);
    ComplexRows<T> a = rows_in_levels<T>(random, 400, 40, 50);
    ComplexVector<T> b = complex_vector<T>(random, 400);
    ComplexVector<T> x = solved<T>(a, Diagonal::stored, b, Accuracy::exact);
    for (auto& row : a.beside)
        for (auto& entry : row) entry.second = std::conj(entry.second);
    for (std::complex<T>& pivot : a.pivot) pivot = std::conj(pivot);
    for (std::complex<T>& element : b) element = std::conj(element);
    for (std::complex<T>& element : x) element = {element.real(), T(0) - element.imag()};  // which has no -0
    expect_same<T>(solved<T>(a, Diagonal::stored, b, Accuracy::exact), x);
}

/// Narrow levels are solved in natural order by both, with the same sums but in fast, where few lanes share a pair of rows.
// Promise: complex.hpp, "In exact the conjugates of A and b"
TYPED_TEST(ComplexTriangularSolve, WithoutImaginaryPartsIsTheRealSolve) {
    using T = TypeParam;
    Random random(6);
    for (const std::int64_t width : {1, 100})
        for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit}) {
            const TriangularRows<T> real = testing::wide_rows<T>(random, 1000, width, 40);
            std::vector<T> b = testing::random_vector<T>(random, 1000);
            b[0] = -T(0);
            b[3] = std::numeric_limits<T>::infinity();
            ComplexRows<T> a;
            for (const auto& row : real.beside) {
                auto& made = a.beside.emplace_back();
                for (const auto& [column, value] : row) made.emplace_back(column, std::complex<T>(value));
            }
            a.pivot.assign(real.pivot.begin(), real.pivot.end());
            const CsrMatrix<T> csr = real.csr(diagonal);
            for (const Accuracy accuracy : all_accuracies) {
                if (accuracy == Accuracy::fast || (accuracy != Accuracy::exact && width > 1)) continue;
                std::vector<T> x(b.size());
                TriangularSolvePlan<T>(csr, real.triangle, diagonal, Device::cpu(1)).solve(b, x, accuracy);
                expect_same<T>(solved<T>(a, diagonal, {b.begin(), b.end()}, accuracy), {x.begin(), x.end()});
            }
        }
}

// Promise: complex.hpp, "The bits do not depend on the number of threads"
TYPED_TEST(ComplexTriangularSolve, GivesTheSameBitsWithAnyNumberOfThreads) {
    using T = TypeParam;
    Random random(7);
    const ComplexRows<T> lower = rows_in_levels<T>(random, 40000, 8000, 12);
    for (const ComplexRows<T>& a : {lower, lower.reversed()}) {
        const ComplexVector<T> b = complex_vector<T>(random, a.size());
        for (const Accuracy accuracy : all_accuracies) {
            const ComplexVector<T> x = solved<T>(a, Diagonal::stored, b, accuracy);
            for (const int threads : {2, 7})
                expect_same<T>(solved<T>(a, Diagonal::stored, b, accuracy, Device::cpu(threads)), x);
            if (accuracy == Accuracy::exact) expect_exact<T>(a, Diagonal::stored, b, x);
        }
    }
}

// Promise: complex.hpp, "The plan keeps a copy of the matrix, in real form"
TYPED_TEST(ComplexTriangularSolve, NeedsTheMatrixNoLongerAndRunsInSeveralThreadsAtOnce) {
    using T = TypeParam;
    Random random(8);
    const ComplexRows<T> a = rows_in_levels<T>(random, 3000, 600, 12);
    const ComplexVector<T> b = complex_vector<T>(random, a.size());
    std::optional<CsrMatrix<std::complex<T>>> matrix(a.csr(Diagonal::stored));
    const TriangularSolvePlan<std::complex<T>> plan(matrix->view(), Triangle::lower, Diagonal::stored, Device::cpu(2));
    matrix.reset();
    std::vector<ComplexVector<T>> found(3, ComplexVector<T>(b.size()));
    std::vector<std::thread> threads;
    for (auto& x : found) threads.emplace_back([&, copy = plan] { copy.solve(b, x, Accuracy::exact); });
    for (std::thread& thread : threads) thread.join();
    for (const auto& x : found) expect_exact<T>(a, Diagonal::stored, b, x);
    EXPECT_EQ(plan.rows(), 3000);
    EXPECT_EQ(plan.columns(), 3000);
    EXPECT_EQ(plan.triangle(), Triangle::lower);
    EXPECT_EQ(plan.diagonal(), Diagonal::stored);
}

// Promise: complex.hpp, "For A^H x = b there is conjugate_transpose"
TYPED_TEST(ComplexTriangularSolve, OfTheConjugateTransposeIsOnTheOtherSide) {
    using T = TypeParam;
    Random random(9);
    const ComplexRows<T> a = rows_in_levels<T>(random, 50, 10, 9);
    const ComplexVector<T> b = complex_vector<T>(random, a.size());
    ComplexRows<T> adjoint;
    adjoint.triangle = Triangle::upper;
    adjoint.beside.resize(a.beside.size());
    for (std::int32_t i = 0; i < 50; ++i) {
        for (const auto& [j, value] : a.beside[i]) adjoint.beside[j].emplace_back(i, std::conj(value));
        adjoint.pivot.push_back(std::conj(a.pivot[i]));
    }
    ComplexVector<T> x(b.size());
    const auto transposed = conjugate_transpose(a.csr(Diagonal::stored).view());
    TriangularSolvePlan<std::complex<T>>(transposed.view(), Triangle::upper, Diagonal::stored).solve(b, x, Accuracy::exact);
    expect_exact<T>(adjoint, Diagonal::stored, b, x);
}

// Promise: complex.hpp, "The quotient of x + i y by p + i q"
TYPED_TEST(ComplexTriangularSolve, PassesInfAndNanOnToTheRowsThatDependOnThemAlone) {
    using T = TypeParam;
    Random random(10);
    const T inf = std::numeric_limits<T>::infinity();
    for (const std::complex<T> special :
         {std::complex<T>(inf, 1), std::complex<T>(2, -inf), std::complex<T>(testing::nan_value<T>, 0)}) {
        ComplexRows<T> a = rows_in_levels<T>(random, 300, 40, 30);
        ComplexVector<T> b = complex_vector<T>(random, 300);
        b[150] = special;
        a.beside[90].emplace_back(70, special);
        a.beside[90].erase(a.beside[90].begin(), a.beside[90].end() - 1);
        a.pivot[7] = special;
        expect_all_exact<T>(a, b);
    }
}

TYPED_TEST(ComplexTriangularSolve, IsDeafToTheCallersFloatingPointEnvironment) {
    using T = TypeParam;
    Random random(11);
    ComplexRows<T> a = rows_in_levels<T>(random, 80, 1, 30);
    a.pivot[40] = {0, 5 * std::numeric_limits<T>::denorm_min()};  // not 0, whatever the environment
    const ComplexVector<T> b = complex_vector<T>(random, 80);
    testing::expect_deaf_to_the_environment<T>([&] {
        std::vector<std::vector<T>> all;
        for (const Accuracy accuracy : all_accuracies) {
            const ComplexVector<T> x = solved<T>(a, Diagonal::stored, b, accuracy);
            const auto parts = real_view(std::span<const std::complex<T>>(x));
            all.emplace_back(parts.begin(), parts.end());
        }
        return all;
    });
}

// Promise: complex.hpp, "Throws as the plan of a real matrix does"
// Promise: complex.hpp, "Throws DimensionMismatch, InvalidArgument where"
TYPED_TEST(ComplexTriangularSolve, RefusesBrokenMatricesAndVectorsThatOverlapInPart) {
    using T = TypeParam;
    using C = std::complex<T>;
    testing::expect_broken_matrices_refused<C>(
        [](const CsrView<C>& a) { TriangularSolvePlan<C>(a, Triangle::lower, Diagonal::stored); });
    const auto refused = ::testing::ThrowsMessage<InvalidArgument>(::testing::HasSubstr("triangular solve: x overlaps b"));
    const CsrMatrix<C> a{2, 2, {0, 1, 2}, {0, 1}, {C(1), C(1)}};
    const TriangularSolvePlan<C> plan(a.view(), Triangle::lower, Diagonal::stored, Device::cpu(1));
    const std::vector<C> elements{C(1), C(0), C(0), C(1)};
    const DenseView<C> dense{2, 2, 2, 1, elements.data()};
    std::vector<C> three(3);
    const std::span<C> first = std::span(three).first(2), last = std::span(three).last(2);
    EXPECT_THAT([&] { plan.solve(first, last, Accuracy::exact); }, refused);
    EXPECT_THAT(
        [&] { triangular_solve(dense, Triangle::lower, Diagonal::stored, std::span<const C>(first), last, Accuracy::exact); },
        refused);
    plan.solve(first, first, Accuracy::exact);
}

// Promise: complex.hpp, "A move is a copy, which shares the triangle"
TYPED_TEST(ComplexTriangularSolve, PlansAreNeverEmpty) {
    using C = std::complex<TypeParam>;
    const CsrMatrix<C> a{1, 1, {0, 1}, {0}, {C(0, 1)}};
    TriangularSolvePlan<C> plan(a.view(), Triangle::lower, Diagonal::stored, Device::cpu(1));
    const auto moved = std::make_unique<const TriangularSolvePlan<C>>(std::move(plan));
    std::vector<C> x{C(1)};
    plan.solve(x, x, Accuracy::exact);
    EXPECT_EQ(x[0], C(0, -1));
    moved->solve(x, x, Accuracy::exact);
    EXPECT_EQ(x[0], C(-1, 0));
}

// Promise: complex.hpp, "Throws as the plan of a real matrix does"
TYPED_TEST(ComplexTriangularSolve, SaysWhatIsWrong) {
    using T = TypeParam;
    using C = std::complex<T>;
    using M = CsrMatrix<C>;
    using ::testing::ThrowsMessage;
    const auto making = [](const M& a, Triangle triangle, Diagonal diagonal) {
        return [=] { TriangularSolvePlan<C>(a.view(), triangle, diagonal); };
    };
    const C i(0, 1);
    const auto lower = Triangle::lower;
    const auto stored = Diagonal::stored, unit = Diagonal::unit;
    EXPECT_THAT(making(M{1, 2, {0, 1}, {0}, {i}}, lower, stored),
                ThrowsMessage<InvalidArgument>("triangular solve: A is 1 x 2; it must be square"));
    const M full{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {i, i, i, i}};
    EXPECT_THAT(making(full, lower, stored), ThrowsMessage<InvalidArgument>("triangular solve: entry (1, 2) lies beyond the "
                                                                            "diagonal of a lower triangle"));
    EXPECT_THAT(making(M{2, 2, {0, 1, 2}, {0, 0}, {i, i}}, lower, stored),
                ThrowsMessage<InvalidArgument>("triangular solve: row 2 has no diagonal entry"));
    EXPECT_THAT(making(M{2, 2, {0, 1, 3}, {0, 0, 1}, {i, i, C(0, -T(0))}}, lower, stored),
                ThrowsMessage<InvalidArgument>("triangular solve: the diagonal entry of row 2 is 0"));
    EXPECT_THAT(
        making(M{1, 1, {0, 1}, {0}, {i}}, lower, unit),
        ThrowsMessage<InvalidArgument>("triangular solve: row 1 stores a diagonal entry, which a unit diagonal has not"));
    const M one{1, 1, {0, 1}, {0}, {i}};
    const TriangularSolvePlan<C> plan(one.view(), lower, stored);
    std::vector<C> x(1), two(2);
    EXPECT_THAT([&] { plan.solve(two, x, Accuracy::exact); },
                ThrowsMessage<DimensionMismatch>("triangular solve: b has 2 elements, A is 1 x 1; b needs 1, the rows of A"));
    EXPECT_THAT(
        [&] { plan.solve(x, two, Accuracy::exact); },
        ThrowsMessage<DimensionMismatch>("triangular solve: x has 2 elements, A is 1 x 1; x needs 1, the columns of A"));
}

// Promise: complex.hpp, "Solves T x = b for the triangle T of a dense complex matrix"
TYPED_TEST(ComplexTriangularSolve, OfDenseMatricesRoundsNumeratorsAndQuotientsOncePerPart) {
    using T = TypeParam;
    Random random(10);
    for (const std::int64_t n : {0, 1, 2, 3, 9, 60, 130})
        expect_dense_exact<T>(rows_in_levels<T>(random, n, 3, 50), complex_vector<T>(random, n, 3));
    ComplexRows<T> cancelling = rows_in_levels<T>(random, 40, 20, 19);
    for (std::int64_t i = 20; i < 40; ++i) {  // times equal elements
        auto& row = cancelling.beside[i];
        row = {{0, {std::ldexp(T(1), 40), 1}}, {1, {-std::ldexp(T(1), 40), 0}}, {2, complex_number<T>(random, 60)}};
    }
    ComplexVector<T> b = complex_vector<T>(random, 40, 3);
    b[1] = b[0];
    cancelling.pivot[1] = cancelling.pivot[0];
    expect_dense_exact<T>(cancelling, b);
}

TYPED_TEST(ComplexTriangularSolve, OfDenseMatricesKeepsTheBoundsOfFasterModes) {
    using T = TypeParam;
    Random random(11);
    ComplexRows<T> a = rows_in_levels<T>(random, 150, 5, 60);
    for (std::complex<T>& pivot : a.pivot) pivot = random.coin() ? std::complex<T>(2) : std::complex<T>(0, -2);
    const ComplexVector<T> b = complex_vector<T>(random, 150);
    for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit}) {
        const ComplexVector<T> values = a.dense(diagonal, 150, 1);
        for (const Accuracy accuracy : {Accuracy::fast, Accuracy::compensated})
            testing::for_each_target([&] {
                ComplexVector<T> x(b.size());
                triangular_solve({150, 150, 150, 1, values.data()}, a.triangle, diagonal, std::span<const std::complex<T>>(b),
                                 std::span(x), accuracy);
                expect_bounds_kept<T>(a, diagonal, b, x, accuracy);
            });
    }
}

// Promise: complex.hpp, "Unlike a sparse matrix's, parts that are zero"
TYPED_TEST(ComplexTriangularSolve, OfDenseMatricesMultipliesZerosByInf) {
    using T = TypeParam;
    using C = std::complex<T>;
    const T inf = std::numeric_limits<T>::infinity(), nan = testing::nan_value<T>;
    const std::vector<C> values{1, 0, 0, 1}, b{C(inf, 0), 0};
    std::vector<C> x(2);
    triangular_solve({2, 2, 2, 1, values.data()}, Triangle::lower, Diagonal::stored, std::span<const C>(b), std::span(x),
                     Accuracy::exact);
    expect_same<T>(x, {C(inf, 0), C(nan, nan)});
}

// Promise: complex.hpp, "Throws InvalidArgument where T is not square"
TYPED_TEST(ComplexTriangularSolve, OfDenseMatricesSaysWhatDoesNotFit) {
    using ::testing::ThrowsMessage;
    using C = std::complex<TypeParam>;
    const std::vector<C> values{1, 2, 3, 0};
    std::vector<C> two(2);
    const auto solve = [&](const DenseView<C>& view, std::size_t b, const Device& device = Device::cpu()) {
        return [&two, view, b, device] {
            triangular_solve(view, Triangle::upper, Diagonal::stored, std::span<const C>(two).first(b), std::span(two),
                             Accuracy::exact, device);
        };
    };
    EXPECT_THAT(solve({2, 2, 2, 1, values.data()}, 2),
                ThrowsMessage<InvalidArgument>("triangular solve: the diagonal entry of row 2 is 0"));
    EXPECT_THAT(solve({2, 2, 2, 1, nullptr}, 2),
                ThrowsMessage<InvalidArgument>("triangular solve: A is 2 x 2 and has no data"));
    EXPECT_THAT(solve({1, 2, 2, 1, values.data()}, 2),
                ThrowsMessage<InvalidArgument>("triangular solve: A is 1 x 2; it must be square"));
    EXPECT_THAT(solve({1, 1, 2, 1, values.data()}, 2),
                ThrowsMessage<DimensionMismatch>("triangular solve: b has 2 elements, A is 1 x 1; b needs 1, the rows of A"));
    EXPECT_THAT(
        solve({1, 1, 2, 1, values.data()}, 1),
        ThrowsMessage<DimensionMismatch>("triangular solve: x has 2 elements, A is 1 x 1; x needs 1, the columns of A"));
    for (const Device& device : testing::cuda_devices())
        EXPECT_THROW(solve({1, 1, 2, 1, values.data()}, 2, device)(), NotSupported);
}

}  // namespace
}  // namespace solver
