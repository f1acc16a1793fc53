#include "solver/complex.hpp"

#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "support/broken_matrices.hpp"
#include "support/complex_numbers.hpp"
#include "support/devices.hpp"
#include "support/floating_point_environment.hpp"

namespace solver {
namespace {

using testing::complex_matrix;
using testing::complex_number;
using testing::complex_vector;
using testing::ComplexOracle;
using testing::cuda_devices;
using testing::Random;
using testing::same_bits;

template <class T>
class ComplexProducts : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ComplexProducts, ValueTypes);

template <class T>
using Complex = std::complex<T>;

std::vector<Device> all_devices() {
    std::vector<Device> devices{Device::cpu(1), Device::cpu(3)};
    for (const Device& device : cuda_devices()) devices.push_back(device);
    return devices;
}

template <class T>
std::vector<Complex<T>> multiplied(const CsrMatrix<Complex<T>>& a, Complex<T> alpha, const std::vector<Complex<T>>& x,
                                   Complex<T> beta, std::vector<Complex<T>> y, const Device& device, SpmvStorage storage,
                                   Accuracy accuracy = Accuracy::exact) {
    SpmvPlan<Complex<T>>(a.view(), device, {.storage = storage}).multiply(alpha, x, beta, y, accuracy);
    return y;
}

/// RN of both parts of alpha A x + beta y.
template <class T>
std::vector<Complex<T>> expected_product(const CsrMatrix<Complex<T>>& a, Complex<T> alpha, const std::vector<Complex<T>>& x,
                                         Complex<T> beta, const std::vector<Complex<T>>& y) {
    std::vector<Complex<T>> result;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        ComplexOracle sum;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            sum.add_product(a.values[k], x[a.column_indices[k]]);
        ComplexOracle total = sum.scaled(alpha);
        total.add_product(beta, y[i]);
        result.push_back(total.rounded<T>());
    }
    return result;
}

template <class T>
void expect_same(const std::vector<Complex<T>>& found, const std::vector<Complex<T>>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_TRUE(same_bits(found[i], expected[i])) << i << ": " << found[i] << " instead of " << expected[i];
}

// Promise: complex.hpp, "Each component is a real sum of products"
// Promise: complex.hpp, "A small component beside a large one"
/// Factors that are real, imaginary and both; the range of exponents makes sums cancel, and products underflow in part.
// Promise: complex.hpp, "y = alpha A x + beta y; x has A.columns"
TYPED_TEST(ComplexProducts, RoundBothPartsOnce) {
    using T = TypeParam;
    Random random(1);
    const int wide = std::is_same_v<T, float> ? 30 : 250;
    for (const int exponents : {0, 20, wide})
        for (const Device& device : all_devices())
            for (const SpmvStorage storage : {SpmvStorage::csr, SpmvStorage::packed}) {
                const auto a = complex_matrix<T>(random, 40, 30, 6, exponents);
                const auto x = complex_vector<T>(random, 30, exponents), y = complex_vector<T>(random, 40, exponents);
                const Complex<T> any = complex_number<T>(random, 4), other = complex_number<T>(random, 4);
                for (const Complex<T> alpha : {Complex<T>(1), Complex<T>(-1), Complex<T>(3), Complex<T>(0, 1), any})
                    for (const Complex<T> beta : {Complex<T>(0), Complex<T>(1), Complex<T>(0, -2), other})
                        expect_same(multiplied(a, alpha, x, beta, y, device, storage), expected_product(a, alpha, x, beta, y));
            }
}

// Promise: complex.hpp, "Where alpha or beta has an imaginary part, y is rounded once"
// Promise: complex.hpp, "Each component of y is rounded as a row"
/// A term far below what two numbers of T hold of a row's sum breaks a tie: one of A x, or beta y.
TYPED_TEST(ComplexProducts, WithComplexFactorsSeeTheLastBitOfASum) {
    using T = TypeParam;
    const T u = std::numeric_limits<T>::epsilon() / 2;
    const T far = std::ldexp(T(1), std::is_same_v<T, float> ? -100 : -300);
    for (const T sign : {T(-1), T(0), T(1)}) {
        const CsrMatrix<Complex<T>> a{1, 3, {0, 3}, {0, 1, 2}, {Complex<T>(1), Complex<T>(u), Complex<T>(sign * far)}};
        const std::vector<Complex<T>> ones(3, Complex<T>(1)), y(1);
        const T expected = sign > 0 ? 1 + 2 * u : T(1);
        const CsrMatrix<Complex<T>> tie{1, 2, {0, 2}, {0, 1}, {Complex<T>(1), Complex<T>(u)}};
        const std::vector<Complex<T>> two(2, Complex<T>(1)), breaker(1, Complex<T>(sign * far, -sign * far));
        for (const Device& device : all_devices()) {
            expect_same(multiplied<T>(a, {1, 1}, ones, 0, y, device, SpmvStorage::csr), {Complex<T>(expected, expected)});
            expect_same(multiplied<T>(tie, {1, 1}, two, Complex<T>(0, 1), breaker, device, SpmvStorage::csr),
                        {Complex<T>(expected, expected)});
        }
    }
}

/// Just below the midpoint above an even and an odd number, by less than what two numbers of T leave of the row's real part.
TYPED_TEST(ComplexProducts, WithComplexFactorsAreEnclosedFromBothSides) {
    using T = TypeParam;
    const T u = std::numeric_limits<T>::epsilon() / 2;
    const std::vector<Complex<T>> ones(3, Complex<T>(1)), y(1);
    for (const T first : {T(1), 1 + 2 * u})
        for (const auto& [second, third] : {std::pair(Complex<T>(u), Complex<T>(-u * u * u)),
                                            std::pair(Complex<T>(3 * u / 4, -u / 4), Complex<T>(-3 * u * u / 8, -u * u / 8))}) {
            const CsrMatrix<Complex<T>> a{1, 3, {0, 3}, {0, 1, 2}, {Complex<T>(first), second, third}};
            for (const Device& device : all_devices())
                expect_same(multiplied<T>(a, {1, 1}, ones, 0, y, device, SpmvStorage::csr), {Complex<T>(first, first)});
        }
}

TYPED_TEST(ComplexProducts, NeedNoPlan) {
    using T = TypeParam;
    Random random(9);
    const auto a = complex_matrix<T>(random, 20, 30, 6, 20);
    const auto x = complex_vector<T>(random, 30, 20);
    auto y = complex_vector<T>(random, 20, 20);
    const auto expected = multiplied<T>(a, {2, 1}, x, {0, 1}, y, Device::cpu(1), SpmvStorage::csr);
    spmv({2, 1}, a.view(), x, {0, 1}, y, Accuracy::exact, Device::cpu(1));
    expect_same(y, expected);
}

/// Products with conjugates are conjugates, those with -x are negated, those with i x turned by i; nothing else changes.
TYPED_TEST(ComplexProducts, CommuteWithConjugationAndTurns) {
    using T = TypeParam;
    Random random(2);
    const auto a = complex_matrix<T>(random, 50, 50, 8, 30);
    const auto x = complex_vector<T>(random, 50, 30);
    auto conjugate_a = a;
    auto conjugate_x = x, turned_x = x;
    for (auto& z : conjugate_a.values) z = std::conj(z);
    for (auto& z : conjugate_x) z = std::conj(z);
    for (auto& z : turned_x) z = {-z.imag(), z.real()};
    const std::vector<Complex<T>> y(50);
    const auto product = multiplied<T>(a, 1, x, 0, y, Device::cpu(1), SpmvStorage::csr);
    const auto of_conjugates = multiplied<T>(conjugate_a, 1, conjugate_x, 0, y, Device::cpu(1), SpmvStorage::csr);
    const auto of_turned = multiplied<T>(a, 1, turned_x, 0, y, Device::cpu(1), SpmvStorage::csr);
    for (std::size_t i = 0; i < y.size(); ++i) {
        EXPECT_EQ(of_conjugates[i], std::conj(product[i]));
        EXPECT_EQ(of_turned[i], Complex<T>(-product[i].imag(), product[i].real()));
    }
}

// Promise: complex.hpp, "Parts that are zero are no entries of K"
TYPED_TEST(ComplexProducts, OfRealNumbersAreTheRealOnes) {
    using T = TypeParam;
    Random random(3);
    auto a = complex_matrix<T>(random, 60, 60, 8, 20);
    auto x = complex_vector<T>(random, 60, 20);
    CsrMatrix<T> real{a.rows, a.columns, a.row_offsets, a.column_indices, {}};
    std::vector<T> real_x, real_y(60);
    for (auto& z : a.values) {
        z = z.real();
        real.values.push_back(z.real());
    }
    for (auto& z : x) {
        z = z.real();
        real_x.push_back(z.real());
    }
    const auto y = multiplied<T>(a, 1, x, 0, std::vector<Complex<T>>(60), Device::cpu(1), SpmvStorage::csr);
    SpmvPlan<T>(real.view(), Device::cpu(1)).multiply(T(1), real_x, T(0), real_y, Accuracy::exact);
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_TRUE(same_bits(y[i], Complex<T>(real_y[i], 0)));
}

// Promise: complex.hpp, "Each task as multiply and residual"
// Promise: complex.hpp, "r = b - A (x + x_low)"
TYPED_TEST(ComplexProducts, OfPairsAndSeveralTasksAreThoseOfEach) {
    using T = TypeParam;
    Random random(4);
    const auto a = complex_matrix<T>(random, 30, 30, 5);
    const auto x = complex_vector<T>(random, 30), b = complex_vector<T>(random, 30);
    auto low = complex_vector<T>(random, 30);
    for (auto& z : low) z *= std::numeric_limits<T>::epsilon();
    std::vector<Complex<T>> expected;
    for (std::int64_t i = 0; i < 30; ++i) {
        ComplexOracle sum;
        sum.add_product(Complex<T>(1), b[i]);
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            sum.add_product(-a.values[k], x[a.column_indices[k]]);
            sum.add_product(-a.values[k], low[a.column_indices[k]]);
        }
        expected.push_back(sum.rounded<T>());
    }
    for (const SpmvStorage storage : {SpmvStorage::csr, SpmvStorage::packed}) {
        const SpmvPlan<Complex<T>> plan(a.view(), Device::cpu(2), {.storage = storage});
        std::vector<Complex<T>> r(30), turned(30);
        plan.residual(b, x, low, r, Accuracy::exact);
        expect_same(r, expected);
        const SpmvTask<Complex<T>> tasks[] = {{.alpha = -1, .x = x, .x_low = low, .beta = 1, .y_in = b, .y = r},
                                              {.alpha = {0, 1}, .x = x, .x_low = low, .y = turned}};
        plan.multiply(tasks, Accuracy::exact);
        expect_same(r, expected);
    }
}

TYPED_TEST(ComplexProducts, AreAccurateInEveryMode) {
    using T = TypeParam;
    Random random(5);
    const auto a = complex_matrix<T>(random, 50, 50, 10, 2);
    const auto x = complex_vector<T>(random, 50, 2);
    const std::vector<Complex<T>> y(50);
    const auto expected = expected_product<T>(a, 1, x, 0, y);
    for (const Accuracy accuracy : {Accuracy::fast, Accuracy::compensated})
        for (const SpmvStorage storage : {SpmvStorage::csr, SpmvStorage::packed}) {
            const auto found = multiplied<T>(a, 1, x, 0, y, Device::cpu(1), storage, accuracy);
            for (std::int64_t i = 0; i < 50; ++i) {
                T sizes = 0;  // of the products of a part
                for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
                    const auto u = a.values[k], v = x[a.column_indices[k]];
                    sizes += (std::abs(u.real()) + std::abs(u.imag())) * (std::abs(v.real()) + std::abs(v.imag()));
                }
                const T n = static_cast<T>(2 * (a.row_offsets[i + 1] - a.row_offsets[i]) + 2);
                const T u = std::numeric_limits<T>::epsilon() / 2;
                const T bound = accuracy == Accuracy::fast ? 2 * n * u * sizes : 2 * (n * u) * (n * u) * sizes;
                for (const auto& [one, other] :
                     {std::pair(found[i].real(), expected[i].real()), std::pair(found[i].imag(), expected[i].imag())})
                    EXPECT_LE(std::abs(one - other), bound + 2 * u * std::abs(other));
            }
        }
}

// Promise: complex.hpp, "Each component of y is rounded as a row"
TYPED_TEST(ComplexProducts, DoNotReadWhatAFactorOfZeroLeavesOut) {
    using T = TypeParam;
    const T nan = std::numeric_limits<T>::quiet_NaN();
    const CsrMatrix<Complex<T>> a{1, 1, {0, 1}, {0}, {Complex<T>(1, 1)}};
    const std::vector<Complex<T>> x{Complex<T>(2, 0)}, nothing{Complex<T>(nan, nan)};
    expect_same(multiplied<T>(a, 1, x, 0, nothing, Device::cpu(1), SpmvStorage::csr), {Complex<T>(2, 2)});
    expect_same(multiplied<T>(a, Complex<T>(0, 1), x, 0, nothing, Device::cpu(1), SpmvStorage::csr), {Complex<T>(-2, 2)});
    expect_same(multiplied<T>(a, 0, nothing, Complex<T>(0, 1), x, Device::cpu(1), SpmvStorage::csr), {Complex<T>(0, 2)});
}

// Promise: complex.hpp, "Special values are those of reduce.hpp for each component"
// Promise: complex.hpp, "In a sparse matrix parts that are zero"
// Promise: complex.hpp, "Factors alpha and beta whose imaginary part is zero"
TYPED_TEST(ComplexProducts, HaveTheSpecialValuesOfTheirParts) {
    using T = TypeParam;
    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    const std::vector<Complex<T>> x{Complex<T>(inf, 0)}, one{Complex<T>(1, 0)};
    const std::span<const Complex<T>> xs(x), ones(one);
    for (const Accuracy accuracy : all_accuracies) {
        const Complex<T> dense = dotu(xs, ones, accuracy);
        EXPECT_EQ(dense.real(), inf);
        EXPECT_TRUE(std::isnan(dense.imag()));
        const CsrMatrix<Complex<T>> a{3, 1, {0, 1, 1, 2}, {0, 0}, {Complex<T>(1, 0), Complex<T>(nan, 1)}};
        for (const Device& device : all_devices())
            for (const SpmvStorage storage : {SpmvStorage::csr, SpmvStorage::packed}) {
                const auto y = multiplied<T>(a, 1, x, 0, std::vector<Complex<T>>(3), device, storage, accuracy);
                EXPECT_EQ(y[0], Complex<T>(inf, 0));
                EXPECT_EQ(y[1], Complex<T>(0));
                EXPECT_TRUE(std::isnan(y[2].real()));
            }
    }
}

// Promise: complex.hpp, "Throws DimensionMismatch."
// Promise: complex.hpp, "y = alpha A x + beta y; x has A.columns"
TEST(ComplexPlan, SaysWhatDoesNotFit) {
    const CsrMatrix<Complex<double>> a{2, 1, {0, 1, 1}, {0}, {Complex<double>(1, 1)}};
    const SpmvPlan<Complex<double>> plan(a.view(), Device::cpu(1));
    std::vector<Complex<double>> x(2), y(2);
    try {
        plan.multiply(1, x, 0, y, Accuracy::exact);
        FAIL();
    } catch (const DimensionMismatch& error) {
        EXPECT_STREQ(error.what(), "spmv: x has 2 elements, A is 2 x 1; x needs 1, the columns of A");
    }
}

/// By real factors, which the real form's plan multiplies with, and by others.
TEST(ComplexPlan, RefusesToWriteWhereItReads) {
    const CsrMatrix<Complex<double>> a{1, 1, {0, 1}, {0}, {Complex<double>(1, 1)}};
    const SpmvPlan<Complex<double>> plan(a.view(), Device::cpu(1));
    std::vector<Complex<double>> x(1);
    for (const Complex<double> alpha : {Complex<double>(1), Complex<double>(0, 1)})
        EXPECT_THAT([&] { plan.multiply(alpha, x, 0, x, Accuracy::exact); },
                    ::testing::ThrowsMessage<InvalidArgument>(::testing::HasSubstr("spmv: y overlaps x in memory")));
    const CsrMatrix<Complex<double>> two{2, 2, {0, 1, 2}, {0, 1}, {Complex<double>(1, 1), Complex<double>(1, 1)}};
    std::vector<Complex<double>> three(3), other(2);
    const std::span<Complex<double>> first = std::span(three).first(2), last = std::span(three).last(2);
    const SpmvPlan<Complex<double>> of_two(two.view(), Device::cpu(1));
    EXPECT_THAT([&] { of_two.residual(first, other, {}, last, Accuracy::exact); },
                ::testing::ThrowsMessage<InvalidArgument>(::testing::HasSubstr("y overlaps y_in in memory")));
    of_two.residual(first, other, {}, first, Accuracy::exact);
}

// Promise: views.hpp, "Whatever takes a CsrView calls it, but in"
TEST(ComplexPlan, RefusesBrokenMatrices) {
    using C = Complex<double>;
    testing::expect_broken_matrices_refused<C>([](const CsrView<C>& a) { SpmvPlan<C>(a, Device::cpu()); });
    testing::expect_broken_matrices_refused<C>([](const CsrView<C>& a) { conjugate_transpose(a); });
    testing::expect_broken_matrices_refused<double>([](const CsrView<double>& a) { complex_form(a); });
}

// Promise: complex.hpp, "A move is a copy, which shares the matrix"
TEST(ComplexPlan, IsNeverEmpty) {
    using C = Complex<double>;
    const CsrMatrix<C> a{1, 1, {0, 1}, {0}, {C(0, 1)}};
    SpmvPlan<C> plan(a.view(), Device::cpu(1));
    { const SpmvPlan<C> moved(std::move(plan)); }
    const std::vector<C> x{C(1)};
    std::vector<C> y(1);
    plan.multiply(1, x, 0, y, Accuracy::exact);
    EXPECT_EQ(y[0], C(0, 1));
}

// Promise: complex.hpp, "It keeps a copy of the matrix, as real_form has it"
// Promise: complex.hpp, "The plan of real_form(A): what takes real systems"
// Promise: complex.hpp, "y = alpha A x + beta y for a product or two."
// Promise: complex.hpp, "A complex matrix is multiplied as a real one"
TEST(ComplexPlan, KeepsACopyOfTheMatrix) {
    using C = Complex<double>;
    CsrMatrix<C> a{2, 1, {0, 1, 2}, {0, 0}, {{1, 1}, {0, 2}}};
    const std::vector<C> x{{3, 1}}, ones(2, C(1, 0)), expected{{3, 3}, {1, -1}};
    const C alpha(0, 1), beta(7, 1);
    std::vector<C> y = ones;
    spmv(alpha, a.view(), std::span<const C>(x), beta, std::span<C>(y), Accuracy::exact);
    EXPECT_EQ(y, expected);
    const auto plan = std::make_unique<const SpmvPlan<C>>(a.view(), Device::cpu(1));
    const SpmvPlan<C> copy(*plan);
    a.values.assign(2, C(99, 99));
    for (const SpmvPlan<C>* const one : {plan.get(), &copy}) {
        y = ones;
        one->multiply(alpha, x, beta, y, Accuracy::exact);
        EXPECT_EQ(y, expected);
        one->multiply(1, x, 0, y, Accuracy::exact);
        std::vector<double> parts(4);
        one->real().multiply(1, real_view(std::span<const C>(x)), 0, parts, Accuracy::exact);
        EXPECT_EQ(parts, (std::vector<double>{y[0].real(), y[0].imag(), y[1].real(), y[1].imag()}));
        EXPECT_EQ(y, (std::vector<C>{{2, 4}, {-2, 6}}));
    }
}

// Promise: complex.hpp, "The real matrix K of 2 rows and 2 columns"
// Promise: complex.hpp, "Throws InvalidArgument from 2^30 rows or columns"
// Promise: complex.hpp, "The inverse of real_form"
// Promise: complex.hpp, "Throws InvalidArgument where rows or columns are odd"
TEST(RealForm, HasABlockForEveryEntry) {
    const CsrMatrix<Complex<double>> a{2, 2, {0, 2, 3}, {0, 1, 1}, {{1, 2}, {3, 0}, {0, 4}}};
    const CsrMatrix<double> k = real_form(a.view());
    EXPECT_EQ(k.rows, 4);
    EXPECT_EQ(k.columns, 4);
    EXPECT_THAT(k.row_offsets, ::testing::ElementsAre(0, 3, 6, 7, 8));
    EXPECT_THAT(k.column_indices, ::testing::ElementsAre(0, 1, 2, 0, 1, 3, 3, 2));
    EXPECT_THAT(k.values, ::testing::ElementsAre(1, -2, 3, 2, 1, 3, -4, 4));
    const CsrMatrix<Complex<double>> back = complex_form(k.view());
    EXPECT_EQ(back.rows, 2);
    EXPECT_EQ(back.columns, 2);
    EXPECT_EQ(back.values, a.values);
    EXPECT_EQ(back.column_indices, a.column_indices);
    EXPECT_EQ(back.row_offsets, a.row_offsets);
    EXPECT_THROW(complex_form(CsrMatrix<double>{1, 2, {0, 0}, {}, {}}.view()), InvalidArgument);
    const CsrMatrix<Complex<double>> wide{1, 1 << 30, {0, 0}, {}, {}};
    EXPECT_THROW(real_form(wide.view()), InvalidArgument);
}

// Promise: complex.hpp, "A^H, the transpose of conjugates"
TEST(RealForm, HasSubnormalPartsWhateverTheCallersEnvironment) {
    const double least = std::numeric_limits<double>::denorm_min();
    const CsrMatrix<Complex<double>> a{1, 1, {0, 1}, {0}, {{least, -least}}};
    testing::for_each_hostile_environment([&] { EXPECT_EQ(real_form(a.view()).nonzeros(), 4); });
}

TEST(ConjugateTranspose, TurnsRowsIntoColumnsOfConjugates) {
    const CsrMatrix<Complex<double>> a{1, 2, {0, 2}, {0, 1}, {{1, 2}, {3, -4}}};
    const auto h = conjugate_transpose(a.view());
    EXPECT_EQ(h.rows, 2);
    EXPECT_THAT(h.values, ::testing::ElementsAre(Complex<double>(1, -2), Complex<double>(3, 4)));
}

// Promise: complex.hpp, "C = alpha A B + beta C of complex numbers"
// Promise: complex.hpp, "On the processor one real product of twice the inner dimension"
// Promise: complex.hpp, "Throws as gemm does, and InvalidArgument"
// Promise: gemm.hpp, "Which operands of a complex product"
TYPED_TEST(ComplexProducts, OfDenseMatricesAreRoundedOnceInEveryLayout) {
    using T = TypeParam;
    Random random(6);
    constexpr std::int64_t m = 7, k = 9, n = 5;
    const auto a = complex_vector<T>(random, m * k, 10), b = complex_vector<T>(random, k * n, 10),
               c = complex_vector<T>(random, m * n, 10);
    const auto view = [](auto* data, std::int64_t rows, std::int64_t columns, bool by_rows) {
        return MutableDenseView<std::remove_cvref_t<decltype(*data)>>{rows, columns, by_rows ? columns : 1, by_rows ? 1 : rows,
                                                                      const_cast<std::remove_cvref_t<decltype(*data)>*>(data)};
    };
    for (const Device& device : all_devices())
        for (int layouts = 0; layouts < 8; ++layouts)
            for (const Conjugation conjugation : {Conjugation{}, {true, false}, {false, true}, {true, true}})
                for (const T beta : {T(0), T(2)}) {
                    auto result = c;
                    const auto va = view(a.data(), m, k, (layouts & 1) != 0), vb = view(b.data(), k, n, (layouts & 2) != 0),
                               vc = view(result.data(), m, n, (layouts & 4) != 0);
                    gemm(GemmTask<Complex<T>>{-1, va, vb, beta, vc}, Accuracy::exact, device, conjugation);
                    for (std::int64_t i = 0; i < m; ++i)
                        for (std::int64_t j = 0; j < n; ++j) {
                            const auto at = [](const auto& v, std::int64_t r, std::int64_t s) {
                                return r * v.row_stride + s * v.column_stride;
                            };
                            ComplexOracle sum;
                            for (std::int64_t l = 0; l < k; ++l) {
                                const auto u = a[at(va, i, l)], v = b[at(vb, l, j)];
                                sum.add_product(-(conjugation.a ? std::conj(u) : u), conjugation.b ? std::conj(v) : v);
                            }
                            sum.add_product(Complex<T>(beta), c[at(vc, i, j)]);
                            EXPECT_TRUE(same_bits(result[at(vc, i, j)], sum.template rounded<T>()));
                        }
                }
    auto result = c;
    gemm(GemmTask<Complex<T>>{1, {}, {}, 0, {}}, Accuracy::exact);  // nothing, without strides
    EXPECT_THROW(gemm(
                     GemmTask<Complex<T>>{
                         {0, 1}, view(a.data(), m, k, true), view(b.data(), k, n, true), 0, view(result.data(), m, n, true)},
                     Accuracy::exact),
                 InvalidArgument);
}

/// Of one row, whose row stride may be anything: 1 in a column-major matrix.
TYPED_TEST(ComplexProducts, OfDenseMatricesTakeSingleRowsByColumns) {
    using C = Complex<TypeParam>;
    const DenseMatrix<C> row{1, 3, {C(1, 1), C(0, 2), C(3)}}, column{3, 1, {C(1), C(0, 1), C(2, -1)}};
    for (const Device& device : all_devices()) {
        DenseMatrix<C> one{1, 1, {C(7)}}, square{3, 3, std::vector<C>(9)}, again{1, 3, std::vector<C>(3)};
        gemm(GemmTask<C>{1, row.view(), column.view(), 0, one.mutable_view()}, Accuracy::exact, device);
        EXPECT_EQ(one.values[0], C(5, -2));
        gemm(GemmTask<C>{1, column.view(), row.view(), 0, square.mutable_view()}, Accuracy::exact, device);
        EXPECT_EQ(square.values[1], C(-1, 1));
        gemm(GemmTask<C>{1, one.view(), row.view(), 0, again.mutable_view()}, Accuracy::exact, device);
        EXPECT_EQ(again.values[2], C(15, -6));
    }
}

// Promise: complex.hpp, "x^H y = sum_i"
// Promise: complex.hpp, "x^T y = sum_i"
// Promise: complex.hpp, "sum_i x_i"
// Promise: complex.hpp, "Throws DimensionMismatch if the lengths differ."
// Promise: complex.hpp, "sqrt(sum_i |x_i|^2): that of the 2n components"
TYPED_TEST(ComplexProducts, OfVectorsAreRoundedOnce) {
    using T = TypeParam;
    Random random(7);
    for (const Device& device : all_devices())
        for (const std::int64_t n : {0, 1, 2, 33, 1000}) {
            const auto x = complex_vector<T>(random, n, 20), y = complex_vector<T>(random, n, 20);
            ComplexOracle conjugated, plain, sum;
            testing::Oracle squares;
            for (std::int64_t i = 0; i < n; ++i) {
                conjugated.add_product(std::conj(x[i]), y[i]);
                plain.add_product(x[i], y[i]);
                sum.add_product(Complex<T>(1), x[i]);
                squares.add_product(x[i].real(), x[i].real());
                squares.add_product(x[i].imag(), x[i].imag());
            }
            const std::span<const Complex<T>> xs(x), ys(y);
            EXPECT_TRUE(same_bits(dot(xs, ys, Accuracy::exact, device), conjugated.rounded<T>()));
            EXPECT_TRUE(same_bits(dotu(xs, ys, Accuracy::exact, device), plain.rounded<T>()));
            EXPECT_TRUE(same_bits(solver::sum(xs, Accuracy::exact, device), sum.rounded<T>()));
            EXPECT_EQ(norm2(xs, Accuracy::exact, device), squares.template sqrt_rounded<T>());
        }
    const std::vector<Complex<T>> one(1), two(2);
    EXPECT_THROW(dot(std::span<const Complex<T>>(one), std::span<const Complex<T>>(two), Accuracy::exact), DimensionMismatch);
}

/// The real expansions of both parts' terms, written out.
template <class T>
ComplexExpansion<T> expected_expansion(const std::vector<Complex<T>>& x, const std::vector<Complex<T>>& y) {
    std::vector<T> factors, of_re, of_im;
    for (std::size_t i = 0; i < x.size(); ++i) {
        factors.insert(factors.end(), {x[i].real(), x[i].imag()});
        of_re.insert(of_re.end(), {y[i].real(), -y[i].imag()});
        of_im.insert(of_im.end(), {y[i].imag(), y[i].real()});
    }
    const std::span<const T> xs(factors);
    return {dot_expansion(xs, std::span<const T>(of_re)), dot_expansion(xs, std::span<const T>(of_im))};
}

// Promise: complex.hpp, "The sum, x^H y and x^T y themselves, without any rounding"
// Promise: complex.hpp, "Throw DimensionMismatch if the lengths differ."
TYPED_TEST(ComplexProducts, OfVectorsHaveExpansions) {
    using T = TypeParam;
    Random random(8);
    const int wide = std::is_same_v<T, float> ? 30 : 250;
    for (const Device& device : all_devices())
        for (const std::int64_t n : {0, 1, 2, 33, 1000}) {
            const auto x = complex_vector<T>(random, n, wide), y = complex_vector<T>(random, n, wide);
            auto conjugates = x;
            for (Complex<T>& z : conjugates) z = std::conj(z);
            const std::vector<Complex<T>> ones(x.size(), Complex<T>(1));
            const std::span<const Complex<T>> xs(x), ys(y);
            EXPECT_PRED2(testing::same_expansion<T>, sum_expansion(xs, device), expected_expansion<T>(x, ones));
            EXPECT_PRED2(testing::same_expansion<T>, dot_expansion(xs, ys, device), expected_expansion<T>(conjugates, y));
            EXPECT_PRED2(testing::same_expansion<T>, dotu_expansion(xs, ys, device), expected_expansion<T>(x, y));
            const Complex<T> rounded = dot(xs, ys, Accuracy::exact, device);
            const ComplexExpansion<T> whole = dot_expansion(xs, ys, device);
            EXPECT_TRUE(same_bits(rounded, Complex<T>(whole.re.component[0], whole.im.component[0])));
        }
    const std::vector<Complex<T>> one(1), two(2);
    const std::span<const Complex<T>> shorter(one), longer(two);
    EXPECT_THROW(dot_expansion(shorter, longer), DimensionMismatch);
    EXPECT_THROW(dotu_expansion(shorter, longer), DimensionMismatch);
}

}  // namespace
}  // namespace solver
