#include "solver/gemm.hpp"

#include "core/dense_check.hpp"
#include "cuda/gemm.hpp"
#include "solver/complex.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace solver {
namespace {

template <class T>
using ComplexGemm = GemmTask<std::complex<T>>;

template <class T>
std::complex<T> element_of(const DenseView<std::complex<T>>& a, std::int64_t i, std::int64_t j) {
    return a.data[i * a.row_stride + j * a.column_stride];
}

template <class T>
bool has_rows(const DenseView<std::complex<T>>& a) {
    return a.column_stride == 1;
}

/// A complex row-major matrix as a real one of twice as many columns. The stride of a single row may be anything.
template <class T>
DenseView<T> real_rows(const DenseView<std::complex<T>>& a) {
    return {a.rows, 2 * a.columns, 2 * std::max(a.row_stride, a.columns), 1, reinterpret_cast<const T*>(a.data)};
}

template <class T>
std::vector<std::complex<T>> copy_of_rows(const DenseView<std::complex<T>>& a) {
    std::vector<std::complex<T>> copy(static_cast<std::size_t>(a.rows * a.columns));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < a.columns; ++j) copy[static_cast<std::size_t>(i * a.columns + j)] = element_of(a, i, j);
    return copy;
}

/// B with each b = re + im i as ( re im ; -im re ), by rows: real_rows(A) times this is real_rows(A B). Where A is to be
/// conjugated, its imaginary parts meet the negated second row.
template <class T>
std::vector<T> partner_of(const DenseView<std::complex<T>>& b, Conjugation conjugation) {
    const T sign = conjugation.a ? T(-1) : T(1);
    std::vector<T> real(static_cast<std::size_t>(4 * b.rows * b.columns));
    for (std::int64_t l = 0; l < b.rows; ++l)
        for (std::int64_t j = 0; j < b.columns; ++j) {
            const std::complex<T> z = conjugation.b ? std::conj(element_of(b, l, j)) : element_of(b, l, j);
            T* const first = real.data() + 4 * l * b.columns + 2 * j;
            T* const second = first + 2 * b.columns;
            first[0] = z.real();
            first[1] = z.imag();
            second[0] = -sign * z.imag();
            second[1] = sign * z.real();
        }
    return real;
}

template <class T>
void multiply_complex(const ComplexGemm<T>& task, Accuracy accuracy, const Device& device, Conjugation conjugation) {
    require_valid(task);
    const auto& [alpha, a, b, beta, c] = task;
    if (c.rows == 0 || c.columns == 0) return;  // its strides may be anything
    if (device.kind() == Device::Kind::cuda) return cuda::multiply(task, accuracy, conjugation, device.index());
    if (!has_rows(DenseView<std::complex<T>>(c)))  // C^T = B^T A^T
        return multiply_complex<T>({alpha, b.transposed(), a.transposed(), beta, c.transposed()}, accuracy, device,
                                   {conjugation.b, conjugation.a});
    const bool in_place = has_rows(a);
    const std::vector<std::complex<T>> copy = in_place ? std::vector<std::complex<T>>() : copy_of_rows(a);
    const DenseView<std::complex<T>> rows =
        in_place ? a : DenseView<std::complex<T>>{a.rows, a.columns, a.columns, 1, copy.data()};
    const std::vector<T> partner = partner_of(b, conjugation);
    gemm(GemmTask<T>{alpha.real(),
                     real_rows(rows),
                     {2 * b.rows, 2 * b.columns, 2 * b.columns, 1, partner.data()},
                     beta.real(),
                     {c.rows, 2 * c.columns, 2 * std::max(c.row_stride, c.columns), 1, reinterpret_cast<T*>(c.data)}},
         accuracy, device);
}

}  // namespace

void gemm(const ComplexGemm<double>& task, Accuracy accuracy, const Device& device, Conjugation conjugation) {
    multiply_complex<double>(task, accuracy, device, conjugation);
}
void gemm(const ComplexGemm<float>& task, Accuracy accuracy, const Device& device, Conjugation conjugation) {
    multiply_complex<float>(task, accuracy, device, conjugation);
}

}  // namespace solver
