#include "complex.hpp"

#include "core/complex_affine.hpp"
#include "core/complex_check.hpp"
#include "multigrid/steps.cuh"
#include "spmv/rows.cuh"
#include "spmv/scale.cuh"

namespace solver::cuda {
namespace {

/// Vectors by their parts.
template <class T>
struct ComplexRowTask {
    PartFactors<T> re, im;
    const T* x;
    const T* x_low;
    const T* y_in;  ///< null where beta is 0
    T* y;
};

template <class T>
ComplexRowTask<T> by_parts(const RowTask<std::complex<T>>& task) {
    return {factors_of_real_part(task.alpha, task.beta),
            factors_of_imaginary_part(task.alpha, task.beta),
            reinterpret_cast<const T*>(task.x),
            reinterpret_cast<const T*>(task.x_low),
            task.beta == std::complex<T>(0) ? nullptr : reinterpret_cast<const T*>(task.y_in),
            reinterpret_cast<T*>(task.y)};
}

/// Calls visit(a, x) for the group's lane's share of a row's products.
template <class T, class Visit>
__device__ void visit_row(const DeviceCsrView<T>& k, std::int64_t row, const ComplexRowTask<T>& task, const LaneGroup& group,
                          const Visit& visit) {
    const std::int64_t end = k.row_offsets[row + 1];
    for (std::int64_t entry = k.row_offsets[row] + group.lane; entry < end; entry += group.width) {
        const std::int32_t column = k.column_indices[entry];
        visit(double{k.values[entry]}, double{task.x[column]});
        if (task.x_low != nullptr) visit(double{k.values[entry]}, double{task.x_low[column]});
    }
}

__device__ double sign_of(double y) { return is_finite(y) ? static_cast<double>((y > 0) - (y < 0)) : y; }

/// A part of a row with factors of which one is not finite: numbers are as good as their signs.
template <class T>
__device__ T part_of_any(const DeviceCsrView<T>& k, std::int64_t i, const ComplexRowTask<T>& task,
                         const PartFactors<T>& factors, T y_re, T y_im, const LaneGroup& group) {
    double total = 0;
    const auto add = [&](double factor, double number) {
        if (factor != 0) total = add_rn(total, mul_rn(factor, number));
    };
    const auto sign_of_row = [&](std::int64_t row) {
        const DigitwiseSum sum(
            [&](const auto& visit) { visit_row(k, row, task, group, [&](double a, double x) { visit(a, x, 1.0); }); }, group);
        return sum.special() != 0 ? sum.special() : static_cast<double>(sum.sign());
    };
    if (factors.s_re != T(0)) add(factors.s_re, sign_of_row(2 * i));
    if (factors.s_im != T(0)) add(factors.s_im, sign_of_row(2 * i + 1));
    add(factors.y_re, sign_of(y_re));
    add(factors.y_im, sign_of(y_im));
    return canonical(static_cast<T>(total));
}

/// A part of a row without any rounding before the last, by all lanes of the group.
template <class T>
__device__ __noinline__ T part_digitwise(const DeviceCsrView<T>& k, std::int64_t i, const ComplexRowTask<T>& task,
                                         const PartFactors<T>& factors, T y_re, T y_im, const LaneGroup& group) {
    if (!is_finite(factors.s_re) || !is_finite(factors.s_im) || !is_finite(factors.y_re) || !is_finite(factors.y_im))
        return part_of_any(k, i, task, factors, y_re, y_im, group);
    const DigitwiseSum sum(
        [&](const auto& visit) {
            const auto visit_scaled = [&](std::int64_t row, T factor) {
                if (factor != T(0)) visit_row(k, row, task, group, [&](double a, double x) { visit(a, x, double{factor}); });
            };
            visit_scaled(2 * i, factors.s_re);
            visit_scaled(2 * i + 1, factors.s_im);
            if (group.lane != 0) return;
            if (factors.y_re != T(0)) visit(double{factors.y_re}, double{y_re}, 1.0);
            if (factors.y_im != T(0)) visit(double{factors.y_im}, double{y_im}, 1.0);
        },
        group);
    return sum.template result<T>();
}

/// A row by a thread; what that does not prove by its warp. y may be y_in: a row's is written when its warp has read it.
template <class T>
__global__ void __launch_bounds__(plain_threads)
    round_rows(std::int64_t rows, DeviceCsrView<T> k, ComplexRowTask<T> task, RoundedTwice<T> product) {
    const LaneGroup warp(warp_size);
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * plain_threads + threadIdx.x;
    const bool reads_y = task.y_in != nullptr;
    const bool reads_s = task.re.s_re != T(0) || task.re.s_im != T(0);  // else nobody has written it
    const auto part_of_product = [&](std::int64_t row) {
        return reads_s ? TwiceRounded<T>{product.high[row], product.low[row]} : TwiceRounded<T>{};
    };
    T re{}, im{};
    bool proven = true;
    if (i < rows) {
        const TwiceRounded<T> s_re = part_of_product(2 * i), s_im = part_of_product(2 * i + 1);
        const T y_re = reads_y ? task.y_in[2 * i] : T(0), y_im = reads_y ? task.y_in[2 * i + 1] : T(0);
        proven = try_part(task.re, s_re, s_im, y_re, y_im, re) && try_part(task.im, s_re, s_im, y_re, y_im, im);
    }
    for (unsigned open = __ballot_sync(warp.mask, !proven); open != 0; open &= open - 1) {
        const int owner = __ffs(static_cast<int>(open)) - 1;
        const std::int64_t row = i - warp.lane + owner;
        const T y_re = reads_y ? task.y_in[2 * row] : T(0), y_im = reads_y ? task.y_in[2 * row + 1] : T(0);
        const T row_re = part_digitwise(k, row, task, task.re, y_re, y_im, warp);
        const T row_im = part_digitwise(k, row, task, task.im, y_re, y_im, warp);
        if (warp.lane == owner) {
            re = row_re;
            im = row_im;
        }
    }
    if (i >= rows) return;
    task.y[2 * i] = re;
    task.y[2 * i + 1] = im;
}

}  // namespace

template <class T>
DeviceMatrix<T> real_form(const DeviceCsrView<std::complex<T>>& a, Stream stream) {
    require_room_for_real_form(a);
    const CurrentDevice current(a.device);
    const auto* const parts = reinterpret_cast<const T*>(a.values);
    DeviceMatrix<T> real{2 * a.rows, 2 * a.columns, {a.device, 2 * a.rows + 1, "row offsets of a real form"}, {}, {}};
    std::int64_t* const offsets = real.row_offsets.data();
    for_all("lengths of rows", a.rows, stream, [=, from = a.row_offsets] __device__(std::int64_t i) {
        const std::int64_t end = 2 * from[i + 1];
        std::int64_t length = 0;
        for (std::int64_t k = 2 * from[i]; k < end; ++k) length += parts[k] != T(0);
        offsets[2 * i + 1] = length;
        offsets[2 * i + 2] = length;
    });
    const std::int64_t nonzeros = sum_up(real.row_offsets, stream);
    real.column_indices = {a.device, nonzeros, "column indices of a real form"};
    real.values = {a.device, nonzeros, "values of a real form"};
    for_all("rows of a real form", real.rows, stream,
            [=, from = a.row_offsets, of_entry = a.column_indices, columns = real.column_indices.data(),
             values = real.values.data()] __device__(std::int64_t row) {
                const std::int64_t i = row / 2, end = from[i + 1];
                const bool imaginary = row % 2 != 0;
                std::int64_t place = offsets[row];
                const auto append = [&](std::int32_t column, T value) {
                    if (value == T(0)) return;
                    columns[place] = column;
                    values[place++] = value;
                };
                for (std::int64_t k = from[i]; k < end; ++k) {
                    const T re = parts[2 * k], im = parts[2 * k + 1];
                    append(2 * of_entry[k], imaginary ? im : re);
                    append(2 * of_entry[k] + 1, imaginary ? re : -im);
                }
            });
    synchronize(a.device, stream);
    return real;
}

template <class T>
void round_complex_rows(const DeviceCsrView<T>& real_form, const RowTask<std::complex<T>>& task, const RoundedTwice<T>& product,
                        Stream stream) {
    const std::int64_t rows = real_form.rows / 2;
    if (rows == 0) return;
    const CurrentDevice current(real_form.device);
    round_rows<<<blocks_for(rows, plain_threads), plain_threads, 0, stream>>>(rows, real_form, by_parts(task), product);
    check_launch("round_rows");
}

template DeviceMatrix<float> real_form(const DeviceCsrView<std::complex<float>>&, Stream);
template DeviceMatrix<double> real_form(const DeviceCsrView<std::complex<double>>&, Stream);
template void round_complex_rows(const DeviceCsrView<float>&, const RowTask<std::complex<float>>&, const RoundedTwice<float>&,
                                 Stream);
template void round_complex_rows(const DeviceCsrView<double>&, const RowTask<std::complex<double>>&,
                                 const RoundedTwice<double>&, Stream);

}  // namespace solver::cuda
