#include "solver/nonnegative_gemm.hpp"

#include "cuda/without_gaps.hpp"
#include "kernels/gemm.hpp"
#include "operations/nonnegative_gemm.hpp"
#include "solver/cuda/nonnegative_gemm.hpp"
#include "solver/error.hpp"

#include <cmath>
#include <functional>
#include <string>

namespace solver {
namespace {

template <class T>
void check_sizes(const GemmTask<T>& task) {
    if (task.a.columns == task.b.rows && task.c.rows == task.a.rows && task.c.columns == task.b.columns) return;
    const auto size = [](std::int64_t rows, std::int64_t columns) {
        return std::to_string(rows) + " x " + std::to_string(columns);
    };
    throw DimensionMismatch("non-negative product: A is " + size(task.a.rows, task.a.columns) + ", B is " +
                            size(task.b.rows, task.b.columns) + " and C is " + size(task.c.rows, task.c.columns) +
                            "; expected m x k, k x n and m x n");
}

template <class T>
void check_strides(const DenseView<T>& x, const char* name) {
    if (x.rows == 0 || x.columns == 0) return;
    const bool by_rows = x.column_stride == 1 && (x.row_stride >= x.columns || x.rows == 1);
    const bool by_columns = x.row_stride == 1 && (x.column_stride >= x.rows || x.columns == 1);
    if (by_rows || by_columns) return;
    throw InvalidArgument(std::string("non-negative product: ") + name + ", " + std::to_string(x.rows) + " x " +
                          std::to_string(x.columns) + ", has the strides " + std::to_string(x.row_stride) + " and " +
                          std::to_string(x.column_stride) +
                          "; expected one of them to be 1 and the other at least the length of a row or column");
}

/// The elements of memory that a view spans.
template <class T>
std::int64_t extent(const DenseView<T>& x) {
    return x.rows == 0 || x.columns == 0 ? 0 : (x.rows - 1) * x.row_stride + (x.columns - 1) * x.column_stride + 1;
}

template <class T>
void check_apart(const DenseView<T>& c, const DenseView<T>& x, const char* name) {
    const std::less<const T*> before;
    if (extent(c) == 0 || extent(x) == 0) return;
    if (before(c.data, x.data + extent(x)) && before(x.data, c.data + extent(c)))
        throw InvalidArgument(std::string("non-negative product: C overlaps ") + name + "; expected memory of its own");
}

}  // namespace

template <class T>
void check_nonnegative_task(const GemmTask<T>& task) {
    check_sizes(task);
    check_strides(task.a, "A");
    check_strides(task.b, "B");
    check_strides<T>(task.c, "C");
    check_apart<T>(task.c, task.a, "A");
    check_apart<T>(task.c, task.b, "B");
}

template void check_nonnegative_task(const GemmTask<double>&);
template void check_nonnegative_task(const GemmTask<float>&);

namespace {

template <class T>
NonnegativeReport multiply_on_host(const GemmTask<T>& task, const Device& device, const NonnegativeOptions& options) {
    check_nonnegative_task(task);
    if (device.kind() == Device::Kind::cpu)
        throw NotSupported(
            "non-negative product on a CPU: there is none that would be faster than gemm; use gemm, or a CUDA device");
    if (task.c.rows == 0 || task.c.columns == 0) return {};
    const cuda::WithoutGaps<T> a_layout(task.a);
    const cuda::WithoutGaps<T> b_layout(task.b);
    const cuda::WithoutGaps<T> c_layout(task.c);
    const auto a = a_layout.upload(device.index(), task.a.data, "A of a non-negative product", nullptr);
    const auto b = b_layout.upload(device.index(), task.b.data, "B of a non-negative product", nullptr);
    const auto c = task.beta == T(0) ? cuda::DeviceArray<T>(device.index(), c_layout.size(), "C of a non-negative product")
                                     : c_layout.upload(device.index(), task.c.data, "C of a non-negative product", nullptr);
    const NonnegativeReport report =
        cuda::NonnegativeMultiplier(device.index())
            .gemm({task.alpha, a_layout.view(a.data()), b_layout.view(b.data()), task.beta, c_layout.view(c.data())}, options);
    c_layout.download(c, task.c.data, nullptr);
    return report;
}

}  // namespace

double nonnegative_error_factor(std::int64_t inner, int depth) {
    const double k = static_cast<double>(inner);
    const double leaf = k / std::exp2(depth);
    return std::pow(18.0, depth) * (leaf * leaf + 6 * leaf) - 6 * k;
}

NonnegativeReport dngemm(const GemmTask<double>& task, const Device& device, const NonnegativeOptions& options) {
    return multiply_on_host(task, device, options);
}
NonnegativeReport sngemm(const GemmTask<float>& task, const Device& device, const NonnegativeOptions& options) {
    return multiply_on_host(task, device, options);
}

}  // namespace solver
