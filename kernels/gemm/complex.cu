#include "gemm/complex.hpp"

#include "runtime/check.cuh"

#include <algorithm>

namespace solver::cuda {
namespace {

constexpr int threads = 256;

/// A complex matrix, conjugated by sign = -1.
template <class T>
struct Elements {
    const T* data;  ///< re and im in turn
    std::int64_t row_stride, column_stride;
    T sign;

    explicit Elements(const DenseView<std::complex<T>>& a, bool conjugated)
        : data(reinterpret_cast<const T*>(a.data)),
          row_stride(a.row_stride),
          column_stride(a.column_stride),
          sign(conjugated ? T(-1) : T(1)) {}

    __device__ T real(std::int64_t i, std::int64_t j) const { return data[2 * (i * row_stride + j * column_stride)]; }
    __device__ T imaginary(std::int64_t i, std::int64_t j) const {
        return sign * data[2 * (i * row_stride + j * column_stride) + 1];
    }
};

template <class T>
__global__ void __launch_bounds__(threads) copy_rows(Elements<T> a, std::int64_t columns, T* rows) {
    const std::int64_t i = blockIdx.y, j = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (j >= columns) return;
    T* const to = rows + 2 * (i * columns + j);
    to[0] = a.real(i, j);
    to[1] = a.imaginary(i, j);
}

template <class T>
__global__ void __launch_bounds__(threads) make_partner(Elements<T> b, std::int64_t columns, T* partner) {
    const std::int64_t l = blockIdx.y, j = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (j >= columns) return;
    T* const first = partner + 4 * l * columns + 2 * j;
    T* const second = first + 2 * columns;
    const T re = b.real(l, j), im = b.imaginary(l, j);
    first[0] = re;
    first[1] = im;
    second[0] = -im;
    second[1] = re;
}

/// Calls launch(first, grid) for blocks that cover rows first, first + 1, ... of so many columns: grids have at most 65535
/// rows.
template <class Launch>
void for_rows(std::int64_t rows, std::int64_t columns, const Launch& launch) {
    constexpr std::int64_t most = 65535;
    const auto blocks = static_cast<unsigned>((columns + threads - 1) / threads);
    for (std::int64_t first = 0; first < rows; first += most)
        launch(first, dim3(blocks, static_cast<unsigned>(std::min(most, rows - first))));
}

template <class T>
DenseView<std::complex<T>> from_row(const DenseView<std::complex<T>>& a, std::int64_t first) {
    return {a.rows - first, a.columns, a.row_stride, a.column_stride, a.data + first * a.row_stride};
}

}  // namespace

template <class T>
GemmTask<T> RealForm::of(const GemmTask<std::complex<T>>& task, Conjugation conjugation, Stream stream) {
    const auto& [alpha, a, b, beta, c] = task;
    const auto room = [&](Grown<std::uint8_t>& memory, std::int64_t numbers, const char* purpose) {
        return reinterpret_cast<T*>(memory.at_least(device_, numbers * static_cast<std::int64_t>(sizeof(T)), purpose));
    };
    DenseView<T> rows{a.rows, 2 * a.columns, 2 * std::max(a.row_stride, a.columns), 1, reinterpret_cast<const T*>(a.data)};
    if (a.column_stride != 1 || conjugation.a) {
        T* const copy = room(rows_, 2 * a.rows * a.columns, "A of a complex product, by rows");
        for_rows(a.rows, a.columns, [&](std::int64_t first, dim3 grid) {
            copy_rows<<<grid, threads, 0, stream>>>(Elements<T>(from_row(a, first), conjugation.a), a.columns,
                                                    copy + 2 * first * a.columns);
        });
        check_launch("copy_rows");
        rows = {a.rows, 2 * a.columns, 2 * a.columns, 1, copy};
    }
    T* const partner = room(partner_, 4 * b.rows * b.columns, "B of a complex product, as a real matrix");
    for_rows(b.rows, b.columns, [&](std::int64_t first, dim3 grid) {
        make_partner<<<grid, threads, 0, stream>>>(Elements<T>(from_row(b, first), conjugation.b), b.columns,
                                                   partner + 4 * first * b.columns);
    });
    check_launch("make_partner");
    return {alpha.real(), rows, {2 * b.rows, 2 * b.columns, 2 * b.columns, 1, partner}, beta.real(), real_rows(c)};
}

template GemmTask<float> RealForm::of(const GemmTask<std::complex<float>>&, Conjugation, Stream);
template GemmTask<double> RealForm::of(const GemmTask<std::complex<double>>&, Conjugation, Stream);

}  // namespace solver::cuda
