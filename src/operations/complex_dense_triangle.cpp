#include "core/complex_quotient.hpp"
#include "core/triangle_check.hpp"
#include "cpu/spmv.hpp"
#include "solver/complex.hpp"

#include <complex>
#include <cstdint>
#include <vector>

namespace solver {
namespace {

/// The rows of a dense matrix by their parts in turn: where they lie, or copied one at a time.
template <class T>
class RowsByParts {
public:
    explicit RowsByParts(const DenseView<std::complex<T>>& a) : a_(a) {
        if (!lie_by_rows()) copy_.resize(static_cast<std::size_t>(a.columns));
    }

    /// Elements first..last-1 of a row, for the real part of their products or the imaginary one: it is the other factor that
    /// differs.
    DenseView<T> operator()(std::int64_t row, std::int64_t first, std::int64_t last) {
        const std::complex<T>* from = a_.data + row * a_.row_stride + first * a_.column_stride;
        const std::int64_t count = last - first;
        if (!lie_by_rows()) {
            for (std::int64_t j = 0; j < count; ++j) copy_[static_cast<std::size_t>(j)] = from[j * a_.column_stride];
            from = copy_.data();
        }
        return {1, 2 * count, 2 * count, 1, reinterpret_cast<const T*>(from)};
    }

private:
    bool lie_by_rows() const { return a_.column_stride == 1; }

    DenseView<std::complex<T>> a_;
    std::vector<std::complex<T>> copy_;
};

/// The elements known so far as what a row by its parts is multiplied with.
template <class T>
struct Factors {
    std::vector<T> for_re;  ///< re, -im, ...
    std::vector<T> for_im;  ///< im, re, ...

    explicit Factors(std::int64_t n) : for_re(static_cast<std::size_t>(2 * n)), for_im(for_re.size()) {}

    void set(std::int64_t j, std::complex<T> x) {
        T* const re = for_re.data() + 2 * j;
        T* const im = for_im.data() + 2 * j;
        re[0] = im[1] = x.real();
        re[1] = -x.imag();
        im[0] = x.imag();
    }
};

/// b - row x, rounded as the accuracy says.
template <class T>
T numerator(const DenseView<T>& row, const T* x, T b, Accuracy accuracy) {
    T result;
    cpu::multiply(row, 1, cpu::RowTask<T>{.alpha = -1, .x = x, .beta = 1, .y_in = &b, .y = &result}, accuracy);
    return result;
}

template <class T>
std::complex<T> divided(std::complex<T> a, std::complex<T> b) {
    const T numerators[] = {a.real(), a.imag()}, pivot[] = {b.real(), b.imag()};
    return {canonical(quotient_part(numerators, pivot, 0)), canonical(quotient_part(numerators, pivot, 1))};
}

template <class T>
void solve_complex_dense(const DenseView<std::complex<T>>& a, Triangle triangle, Diagonal diagonal,
                         std::span<const std::complex<T>> b, std::span<std::complex<T>> x, Accuracy accuracy,
                         const Device& device) {
    require_dense_triangle<std::complex<T>>(a, diagonal, b, x, device);
    const cpu::FloatingPointGuard guard;
    RowsByParts<T> rows(a);
    Factors<T> known(a.rows);
    for (std::int64_t step = 0; step < a.rows; ++step) {
        const std::int64_t i = triangle == Triangle::lower ? step : a.rows - 1 - step;
        const std::int64_t first = triangle == Triangle::lower ? 0 : i + 1;
        const DenseView<T> row = rows(i, first, first + step);
        const std::complex<T> right = b[static_cast<std::size_t>(i)];
        std::complex<T> result(numerator(row, known.for_re.data() + 2 * first, right.real(), accuracy),
                               numerator(row, known.for_im.data() + 2 * first, right.imag(), accuracy));
        if (diagonal == Diagonal::stored) result = divided(result, a.data[i * (a.row_stride + a.column_stride)]);
        known.set(i, result);
        x[static_cast<std::size_t>(i)] = result;
    }
}

}  // namespace

void triangular_solve(const DenseView<std::complex<double>>& a, Triangle triangle, Diagonal diagonal,
                      std::span<const std::complex<double>> b, std::span<std::complex<double>> x, Accuracy accuracy,
                      const Device& device) {
    solve_complex_dense(a, triangle, diagonal, b, x, accuracy, device);
}
void triangular_solve(const DenseView<std::complex<float>>& a, Triangle triangle, Diagonal diagonal,
                      std::span<const std::complex<float>> b, std::span<std::complex<float>> x, Accuracy accuracy,
                      const Device& device) {
    solve_complex_dense(a, triangle, diagonal, b, x, accuracy, device);
}

}  // namespace solver
