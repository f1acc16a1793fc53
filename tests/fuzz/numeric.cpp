#include "fuzz/bytes.hpp"
#include "solver/error.hpp"
#include "solver/gemm.hpp"
#include "solver/reduce.hpp"
#include "solver/spmv.hpp"
#include "support/expected.hpp"
#include "support/triangles.hpp"

#include <algorithm>

namespace solver::fuzz {
namespace {

using testing::ExpectedSum;

template <class T>
void expect(const char* operation, T found, const ExpectedSum<T>& expected, Accuracy accuracy) {
    if (expected.allows(found, accuracy)) return;
    char text[200];
    std::snprintf(text, sizeof text, "%s, %s, %s: %a where %a is right", operation, sizeof(T) == 4 ? "float" : "double",
                  std::string(to_string(accuracy)).c_str(), double{found}, double{expected.rounded()});
    fail(text);
}

Device some_threads(Bytes& bytes) { return Device::cpu(1 + bytes.byte() % 16 / 15); }

template <class T>
void reductions_of(Bytes& bytes) {
    const Accuracy accuracy = bytes.accuracy();
    const Device device = some_threads(bytes);
    const int n = bytes.coin() ? bytes.byte() % 32 : bytes.below(700);
    Numbers<T> numbers(bytes);
    const std::vector<T> x = numbers.vector(n), y = numbers.vector(n);
    ExpectedSum<T> sums, dots, squares;
    for (std::size_t i = 0; i < x.size(); ++i) {
        sums.add_product(x[i], T(1));
        dots.add_product(x[i], y[i]);
        squares.add_product(x[i], x[i]);
    }
    expect("sum", sum(x, accuracy, device), sums, accuracy);
    expect("dot", dot(x, y, accuracy, device), dots, accuracy);
    const T norm = norm2(x, accuracy, device);
    if (accuracy == Accuracy::exact)
        require(testing::same_bits(norm, squares.sqrt_rounded()), "norm2 is not the rounded root");
    else
        require(testing::ulp_distance(norm, squares.sqrt_rounded()) <= (accuracy == Accuracy::fast ? 2 + x.size() : 3),
                "norm2");
    const Expansion<T> expansion = dot_expansion(x, y, device);
    require(testing::same_bits(expansion.component[0], dots.rounded()), "an expansion does not begin with the rounded sum");
}

/// alpha sum + beta y; the sum is not looked at where alpha is 0.
template <class T>
ExpectedSum<T> affine(const ExpectedSum<T>& sum, T alpha, T beta, T y) {
    return (alpha == 0 ? ExpectedSum<T>() : sum).affine(alpha, beta, y);
}

/// Half of the time one of those that have a path of their own; finite, since Inf times a sum is not the oracle's business.
template <class T>
T factor(Bytes& bytes, Numbers<T>& numbers) {
    constexpr T common[] = {0, 1, -1, 2};
    const T drawn = bytes.coin() ? common[bytes.byte() % 4] : numbers.next();
    return std::isfinite(drawn) ? drawn : T(1);
}

/// Of any values, or of small multiples of a power of 2, which lie on a grid.
template <class T>
CsrMatrix<T> some_matrix(Bytes& bytes, Numbers<T>& numbers) {
    CsrMatrix<T> a;
    const T unit =
        bytes.coin() ? std::ldexp(T(1), bytes.bits<std::int8_t>() * std::numeric_limits<T>::max_exponent / 128) : T(0);
    a.rows = bytes.byte() % 20;
    a.columns = 1 + bytes.byte() % 40;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (int left = bytes.byte() % 16 == 15 ? bytes.byte() : bytes.byte() % 8; left > 0; --left) {
            a.column_indices.push_back(static_cast<std::int32_t>(bytes.byte() % a.columns));
            a.values.push_back(unit != 0 ? unit * static_cast<T>(bytes.bits<std::int8_t>()) : numbers.next());
        }
        a.row_offsets.push_back(a.nonzeros());
    }
    return a;
}

/// By one of the two kernels of CSR, or packed.
template <class T>
SpmvPlan<T> some_plan(Bytes& bytes, const CsrMatrix<T>& a) {
    const Device device = some_threads(bytes);
    if (bytes.coin()) return SpmvPlan<T>(a, device, SpmvOptions{.storage = SpmvStorage::packed});
    return SpmvPlan<T>(a, device, bytes.coin() ? SpmvKernel::general : SpmvKernel::adaptive);
}

template <class T>
void sparse_products_of(Bytes& bytes) {
    const Accuracy accuracy = bytes.accuracy();
    Numbers<T> numbers(bytes);
    const CsrMatrix<T> a = some_matrix(bytes, numbers);
    const std::vector<T> x = numbers.vector(a.columns), b = numbers.vector(a.rows);
    const std::vector<T> low = bytes.coin() ? numbers.vector(a.columns) : std::vector<T>();
    const T alpha = factor(bytes, numbers), beta = factor(bytes, numbers);
    const SpmvPlan<T> plan = some_plan(bytes, a);
    std::vector<T> y = b, r(b.size());
    plan.multiply(alpha, x, beta, y, accuracy);
    plan.residual(b, x, low, r, accuracy);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        ExpectedSum<T> product, residual;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            product.add_product(a.values[k], x[a.column_indices[k]]);
            residual.add_product(-a.values[k], x[a.column_indices[k]]);
            if (!low.empty()) residual.add_product(-a.values[k], low[a.column_indices[k]]);
        }
        residual.add_product(b[i], T(1));
        expect("spmv", y[i], affine(product, alpha, beta, b[i]), accuracy);
        expect("residual", r[i], residual, accuracy);
    }
}

/// A matrix in memory of its own, by rows or by columns, with room behind each line.
template <class T>
struct Stored {
    Stored(Bytes& bytes, Numbers<T>& numbers, std::int64_t rows, std::int64_t columns) {
        const bool by_rows = bytes.coin();
        const std::int64_t leading = std::max<std::int64_t>(1, by_rows ? columns : rows) + bytes.byte() % 4;
        values = numbers.vector(leading * std::max<std::int64_t>(1, by_rows ? rows : columns));
        view = {rows, columns, by_rows ? leading : 1, by_rows ? 1 : leading, values.data()};
    }
    Stored(const Stored&) = delete;

    T& at(std::int64_t i, std::int64_t j) {
        return values[static_cast<std::size_t>(i * view.row_stride + j * view.column_stride)];
    }

    std::vector<T> values;
    MutableDenseView<T> view;
};

template <class T>
void dense_products_of(Bytes& bytes) {
    const Accuracy accuracy = bytes.accuracy();
    const Device device = some_threads(bytes);
    const int m = bytes.byte() % 9, n = bytes.byte() % 11, inner = bytes.coin() ? bytes.byte() % 12 : bytes.byte() % 90;
    Numbers<T> numbers(bytes);
    const T alpha = factor(bytes, numbers), beta = factor(bytes, numbers);
    Stored<T> a(bytes, numbers, m, inner), b(bytes, numbers, inner, n), c(bytes, numbers, m, n);
    const std::vector<T> before = c.values;
    gemm(alpha, a.view, b.view, beta, c.view, accuracy, device);
    std::vector<T> untouched = c.values;
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            const std::size_t place = static_cast<std::size_t>(i * c.view.row_stride + j * c.view.column_stride);
            ExpectedSum<T> sum;
            for (std::int64_t k = 0; k < inner; ++k) sum.add_product(a.at(i, k), b.at(k, j));
            expect("gemm", c.values[place], affine(sum, alpha, beta, before[place]), accuracy);
            untouched[place] = before[place];
        }
    require(testing::differences<T>(untouched, before).empty(), "gemm wrote beside C");
}

template <class T>
testing::TriangularRows<T> some_triangle(Bytes& bytes, Numbers<T>& numbers) {
    testing::TriangularRows<T> a;
    const int n = bytes.byte() % 24;
    for (std::int32_t i = 0; i < n; ++i) {
        auto& row = a.beside.emplace_back();
        for (std::int32_t j = 0; j < i; ++j)
            if (bytes.byte() % 4 == 0) row.emplace_back(j, numbers.next());
        const T pivot = numbers.next();
        a.pivot.push_back(pivot == 0 ? T(1) : pivot);
    }
    return bytes.coin() ? a.reversed() : a;
}

template <class T>
void triangular_solves_of(Bytes& bytes) {
    const Accuracy accuracy = bytes.accuracy();
    const Device device = some_threads(bytes);
    const Diagonal diagonal = bytes.coin() ? Diagonal::stored : Diagonal::unit;
    Numbers<T> numbers(bytes);
    const testing::TriangularRows<T> rows = some_triangle(bytes, numbers);
    const std::vector<T> b = numbers.vector(rows.size());
    const CsrMatrix<T> a = rows.csr(diagonal);
    std::vector<T> x(b.size());
    TriangularSolvePlan<T>(a, rows.triangle, diagonal, device).solve(b, x, accuracy);
    const std::string broken = testing::broken_promises<T>(rows, diagonal, b, x, accuracy);
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

}  // namespace solver::fuzz
