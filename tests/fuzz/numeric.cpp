#include "fuzz/bytes.hpp"
#include "solver/complex.hpp"
#include "solver/gemm.hpp"
#include "solver/reduce.hpp"
#include "solver/spmv.hpp"
#include "support/complex_triangles.hpp"
#include "support/expected_complex.hpp"

#include <algorithm>
#include <complex>
#include <cstdio>
#include <span>
#include <string>

namespace solver::fuzz {
namespace {

using testing::Expected;
using testing::ExpectedSum;

template <class T>
std::string text_of(T x) {
    char text[40];
    std::snprintf(text, sizeof text, "%a", double{x});
    return text;
}
template <class T>
std::string text_of(std::complex<T> z) {
    return text_of(z.real()) + " + i " + text_of(z.imag());
}

template <class S>
void expect(const char* operation, S found, const Expected<S>& expected, Accuracy accuracy) {
    if (expected.allows(found, accuracy)) return;
    fail(std::string(operation) + (sizeof(RealOf<S>) == 4 ? ", float, " : ", double, ") + std::string(to_string(accuracy)) +
         ": " + text_of(found) + " where " + text_of(expected.rounded()) + " is right");
}

template <class T>
void expect_norm(std::span<const T> parts, T norm, Accuracy accuracy) {
    ExpectedSum<T> squares;
    for (const T part : parts) squares.add_product(part, part);
    if (accuracy == Accuracy::exact)
        require(testing::same_bits(norm, squares.sqrt_rounded()), "norm2 is not the rounded root");
    else
        require(testing::ulp_distance(norm, squares.sqrt_rounded()) <= (accuracy == Accuracy::fast ? 2 + parts.size() : 3),
                "norm2");
}

template <class T>
T leading(const Expansion<T>& expansion) {
    return expansion.component[0];
}
template <class T>
std::complex<T> leading(const ComplexExpansion<T>& expansion) {
    return {leading(expansion.re), leading(expansion.im)};
}

template <class S>
void reductions_of(Bytes& bytes) {
    const Accuracy accuracy = bytes.accuracy();
    const Device device = some_threads(bytes);
    const int n = bytes.coin() ? bytes.byte() % 32 : bytes.below(700);
    Numbers<S> numbers(bytes);
    const std::vector<S> x = numbers.vector(n), y = numbers.vector(n);
    Expected<S> sums, dots, dots_without_conjugation;
    for (std::size_t i = 0; i < x.size(); ++i) {
        sums.add(x[i]);
        dots.add_product(conjugate(x[i]), y[i]);
        dots_without_conjugation.add_product(x[i], y[i]);
    }
    expect("sum", sum(x, accuracy, device), sums, accuracy);
    expect("dot", dot(x, y, accuracy, device), dots, accuracy);
    expect_norm<RealOf<S>>(real_view(std::span<const S>(x)), norm2(x, accuracy, device), accuracy);
    expect("the first number of a dot product's expansion", leading(dot_expansion(x, y, device)), dots, Accuracy::exact);
    if constexpr (is_complex<S>) {
        expect("dotu", dotu(x, y, accuracy, device), dots_without_conjugation, accuracy);
        expect("the first number of dotu's expansion", leading(dotu_expansion(x, y, device)), dots_without_conjugation,
               Accuracy::exact);
        expect("the first number of a sum's expansion", leading(sum_expansion(x, device)), sums, Accuracy::exact);
    }
}

/// alpha sum + beta y; the sum is not looked at where alpha is 0.
template <class S>
Expected<S> affine(const Expected<S>& sum, S alpha, S beta, S y) {
    return (alpha == S(0) ? Expected<S>() : sum).affine(alpha, beta, y);
}

/// Half of the time one of those that have a path of their own; finite, since Inf times a sum is not the oracle's business.
template <class T>
T factor(Bytes& bytes, Numbers<T>& numbers) {
    constexpr T common[] = {0, 1, -1, 2};
    const T drawn = bytes.coin() ? common[bytes.byte() % 4] : numbers.next();
    return std::isfinite(drawn) ? drawn : T(1);
}
/// Half of them real.
template <class T>
std::complex<T> factor(Bytes& bytes, Numbers<std::complex<T>>&) {
    Numbers<T> numbers(bytes);
    const T re = factor(bytes, numbers);
    return {re, bytes.coin() ? factor(bytes, numbers) : T(0)};
}

template <class S>
S small_whole(Bytes& bytes) {
    using T = RealOf<S>;
    const T re = static_cast<T>(bytes.bits<std::int8_t>());
    if constexpr (is_complex<S>)
        return {re, static_cast<T>(bytes.bits<std::int8_t>())};
    else
        return re;
}

/// Of any values, or of small multiples of a power of 2, which lie on a grid.
template <class S>
CsrMatrix<S> some_matrix(Bytes& bytes, Numbers<S>& numbers) {
    using T = RealOf<S>;
    CsrMatrix<S> a;
    const T unit =
        bytes.coin() ? std::ldexp(T(1), bytes.bits<std::int8_t>() * std::numeric_limits<T>::max_exponent / 128) : T(0);
    a.rows = bytes.byte() % 20;
    a.columns = 1 + bytes.byte() % 40;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (int left = bytes.byte() % 16 == 15 ? bytes.byte() : bytes.byte() % 8; left > 0; --left) {
            a.column_indices.push_back(static_cast<std::int32_t>(bytes.byte() % a.columns));
            a.values.push_back(unit != 0 ? unit * small_whole<S>(bytes) : numbers.next());
        }
        a.row_offsets.push_back(a.nonzeros());
    }
    return a;
}

/// By one of the two kernels of CSR, or packed.
template <class S>
SpmvPlan<S> some_plan(Bytes& bytes, const CsrMatrix<S>& a) {
    const Device device = some_threads(bytes);
    if (bytes.coin()) return SpmvPlan<S>(a.view(), device, SpmvOptions{.storage = SpmvStorage::packed});
    return SpmvPlan<S>(a.view(), device, bytes.coin() ? SpmvKernel::general : SpmvKernel::adaptive);
}

/// Products with factors that have imaginary parts are exact in every mode.
template <class S>
Accuracy accuracy_of_product(Accuracy accuracy, S alpha, S beta) {
    return conjugate(alpha) == alpha && conjugate(beta) == beta ? accuracy : Accuracy::exact;
}

template <class S>
void sparse_products_of(Bytes& bytes) {
    const Accuracy accuracy = bytes.accuracy();
    Numbers<S> numbers(bytes);
    const CsrMatrix<S> a = some_matrix(bytes, numbers);
    const std::vector<S> x = numbers.vector(a.columns), b = numbers.vector(a.rows);
    const std::vector<S> low = bytes.coin() ? numbers.vector(a.columns) : std::vector<S>();
    const S alpha = factor(bytes, numbers), beta = factor(bytes, numbers);
    const SpmvPlan<S> plan = some_plan(bytes, a);
    std::vector<S> y = b, r(b.size());
    plan.multiply(alpha, x, beta, y, accuracy);
    plan.residual(b, x, low, r, accuracy);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        Expected<S> product, residual;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            testing::add_entry(product, a.values[k], x[a.column_indices[k]]);
            testing::add_entry(residual, -a.values[k], x[a.column_indices[k]]);
            if (!low.empty()) testing::add_entry(residual, -a.values[k], low[a.column_indices[k]]);
        }
        residual.add(b[i]);
        expect("spmv", y[i], affine<S>(product, alpha, beta, b[i]), accuracy_of_product(accuracy, alpha, beta));
        expect("residual", r[i], residual, accuracy);
    }
}

/// A matrix in memory of its own, by rows or by columns, with room behind each line.
template <class S>
struct Stored {
    Stored(Bytes& bytes, Numbers<S>& numbers, std::int64_t rows, std::int64_t columns) {
        const bool by_rows = bytes.coin();
        const std::int64_t leading = std::max<std::int64_t>(1, by_rows ? columns : rows) + bytes.byte() % 4;
        values = numbers.vector(leading * std::max<std::int64_t>(1, by_rows ? rows : columns));
        view = {rows, columns, by_rows ? leading : 1, by_rows ? 1 : leading, values.data()};
    }
    Stored(const Stored&) = delete;

    S& at(std::int64_t i, std::int64_t j) {
        return values[static_cast<std::size_t>(i * view.row_stride + j * view.column_stride)];
    }

    std::vector<S> values;
    MutableDenseView<S> view;
};

template <class T>
void multiply(const GemmTask<T>& task, Accuracy accuracy, const Device& device, Conjugation) {
    gemm(task, accuracy, device);
}
template <class T>
void multiply(const GemmTask<std::complex<T>>& task, Accuracy accuracy, const Device& device, Conjugation conjugation) {
    gemm(task, accuracy, device, conjugation);
}

template <class S>
bool same_numbers(const std::vector<S>& one, const std::vector<S>& other) {
    return testing::differences<RealOf<S>>(real_view(std::span(one)), real_view(std::span(other))).empty();
}

template <class S>
void dense_products_of(Bytes& bytes) {
    const Accuracy accuracy = bytes.accuracy();
    const Device device = some_threads(bytes);
    const int m = bytes.byte() % 9, n = bytes.byte() % 11, inner = bytes.coin() ? bytes.byte() % 12 : bytes.byte() % 90;
    Numbers<S> numbers(bytes);
    const S alpha = S(std::real(factor(bytes, numbers))), beta = S(std::real(factor(bytes, numbers)));
    const Conjugation conjugation{is_complex<S> && bytes.coin(), is_complex<S> && bytes.coin()};
    Stored<S> a(bytes, numbers, m, inner), b(bytes, numbers, inner, n), c(bytes, numbers, m, n);
    const std::vector<S> before = c.values;
    multiply<RealOf<S>>(GemmTask<S>{alpha, a.view, b.view, beta, c.view}, accuracy, device, conjugation);
    std::vector<S> untouched = c.values;
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            const std::size_t place = static_cast<std::size_t>(i * c.view.row_stride + j * c.view.column_stride);
            Expected<S> sum;
            for (std::int64_t k = 0; k < inner; ++k)
                sum.add_product(conjugation.a ? conjugate(a.at(i, k)) : a.at(i, k),
                                conjugation.b ? conjugate(b.at(k, j)) : b.at(k, j));
            expect("gemm", c.values[place], affine<S>(sum, alpha, beta, before[place]), accuracy);
            untouched[place] = before[place];
        }
    require(same_numbers(untouched, before), "gemm wrote beside C");
}

template <class S>
testing::TriangularRows<S> some_triangle(Bytes& bytes, Numbers<S>& numbers) {
    testing::TriangularRows<S> a;
    const int n = bytes.byte() % 24;
    for (std::int32_t i = 0; i < n; ++i) {
        auto& row = a.beside.emplace_back();
        for (std::int32_t j = 0; j < i; ++j)
            if (bytes.byte() % 4 == 0) row.emplace_back(j, numbers.next());
        const S pivot = numbers.next();
        a.pivot.push_back(pivot == S(0) ? S(1) : pivot);
    }
    return bytes.coin() ? a.reversed() : a;
}

template <class S>
void triangular_solves_of(Bytes& bytes) {
    const Accuracy accuracy = bytes.accuracy();
    const Device device = some_threads(bytes);
    const Diagonal diagonal = bytes.coin() ? Diagonal::stored : Diagonal::unit;
    Numbers<S> numbers(bytes);
    const testing::TriangularRows<S> rows = some_triangle(bytes, numbers);
    const std::vector<S> b = numbers.vector(rows.size());
    const CsrMatrix<S> a = rows.csr(diagonal);
    std::vector<S> x(b.size());
    TriangularSolvePlan<S>(a.view(), rows.triangle, diagonal, device).solve(b, x, accuracy);
    const std::string broken = testing::broken_promises<S>(rows, diagonal, b, x, accuracy);
    require(broken.empty(), "triangular solve, " + broken);
}

}  // namespace

void reductions(Input input) {
    Bytes bytes(input);
    bytes.coin() ? reductions_of<float>(bytes) : reductions_of<double>(bytes);
}

void sparse_products(Input input) {
    Bytes bytes(input);
    bytes.coin() ? sparse_products_of<float>(bytes) : sparse_products_of<double>(bytes);
}

void dense_products(Input input) {
    Bytes bytes(input);
    bytes.coin() ? dense_products_of<float>(bytes) : dense_products_of<double>(bytes);
}

void triangular_solves(Input input) {
    Bytes bytes(input);
    bytes.coin() ? triangular_solves_of<float>(bytes) : triangular_solves_of<double>(bytes);
}

void complex_reductions(Input input) {
    Bytes bytes(input);
    bytes.coin() ? reductions_of<std::complex<float>>(bytes) : reductions_of<std::complex<double>>(bytes);
}

void complex_sparse_products(Input input) {
    Bytes bytes(input);
    bytes.coin() ? sparse_products_of<std::complex<float>>(bytes) : sparse_products_of<std::complex<double>>(bytes);
}

void complex_dense_products(Input input) {
    Bytes bytes(input);
    bytes.coin() ? dense_products_of<std::complex<float>>(bytes) : dense_products_of<std::complex<double>>(bytes);
}

void complex_triangular_solves(Input input) {
    Bytes bytes(input);
    bytes.coin() ? triangular_solves_of<std::complex<float>>(bytes) : triangular_solves_of<std::complex<double>>(bytes);
}

}  // namespace solver::fuzz
