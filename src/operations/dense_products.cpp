#include "operations/dense_products.hpp"

#include "core/dense_check.hpp"
#include "core/nonzero_elements.hpp"
#include "cpu/gemm/gemm.hpp"
#include "cpu/spmv.hpp"
#include "cuda/spmv.hpp"
#include "operations/row_tasks.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/error.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace solver {
namespace {

template <class T>
MutableDenseView<T> column_view(std::span<T> x) {
    const auto rows = std::ssize(x);
    return {rows, 1, 1, rows, x.data()};
}
template <class T>
DenseView<T> column_view(std::span<const T> x) {
    const auto rows = std::ssize(x);
    return {rows, 1, 1, rows, x.data()};
}

template <class T>
bool fit_one_gemm(const SpmvTask<T>& one, const SpmvTask<T>& other) {
    return one.x_low.empty() && other.x_low.empty() && one.alpha == other.alpha && one.beta == other.beta;
}

/// A gemm packs A, which takes as long as several products of contiguous rows with one vector. One Zen 4 core, n = 2000,
/// double, milliseconds for 1, 4, 8, 16 columns, in brackets as a sparse matrix: fast 2.1 (3.6), 4.9 (8.3), 4.8 (14.8), 6.3
/// (27.1); compensated 2.7 (3.9), 6.4 (10.1), 8.9 (20.3), 11.3 (33.4); exact 3.9 (4.9), 6.0 (15.7), 9.8 (31.6), 11.2 (62.9).
constexpr std::size_t least_columns_of_gemm = 4;

}  // namespace

template <class T>
DenseProducts<T>::DenseProducts(const DenseView<T>& a, const Device& device) : a_(a), device_(device) {
    require_lines("spmv", "the dense A", a);
    if (device.kind() == Device::Kind::cuda) on_device_ = std::make_shared<cuda::SpmvOnDevice<T>>(device.index(), a);
}

template <class T>
void DenseProducts<T>::multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) const {
    if (a_.rows == 0) return;
    std::vector<SpmvTask<T>> left(tasks.begin(), tasks.end());
    while (!left.empty()) {
        const SpmvTask<T> first = left.front();
        auto others =
            std::stable_partition(left.begin(), left.end(), [&](const SpmvTask<T>& task) { return fit_one_gemm(first, task); });
        if (others == left.begin()) ++others;  // a pair
        const std::span<const SpmvTask<T>> some(left.begin(), others);
        const bool contiguous = on_device_ != nullptr || a_.column_stride == 1;
        const bool by_rows = (contiguous && some.size() < least_columns_of_gemm) || a_.columns == 0;
        if (by_rows || !first.x_low.empty())
            for (const SpmvTask<T>& task : some) multiply_rows(task, accuracy);
        else
            multiply_together(some, accuracy);
        left.erase(left.begin(), others);
    }
}

template <class T>
void DenseProducts<T>::multiply_together(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) const {
    if (on_device_) return on_device_->multiply_together(tasks, accuracy);
    const SpmvTask<T>& first = tasks.front();
    const auto multiply = [&](const DenseView<T>& x, const MutableDenseView<T>& y) {
        cpu::multiply(GemmTask<T>{first.alpha, a_, x, first.beta, y}, accuracy, {}, device_.threads());
    };
    const auto load = [&](const SpmvTask<T>& task, T* y) {
        if (task.beta != T(0) && task.y_in.data() != y) std::copy(task.y_in.begin(), task.y_in.end(), y);
    };
    if (tasks.size() == 1) {
        load(first, first.y.data());
        return multiply(column_view(first.x), column_view(first.y));
    }
    const auto count = static_cast<std::int64_t>(tasks.size());
    DenseMatrix<T> x{a_.columns, count, {}};
    DenseMatrix<T> y{a_.rows, count, std::vector<T>(static_cast<std::size_t>(a_.rows * count))};
    x.values.reserve(static_cast<std::size_t>(a_.columns * count));
    for (std::int64_t j = 0; j < count; ++j) {
        x.values.insert(x.values.end(), tasks[j].x.begin(), tasks[j].x.end());
        load(tasks[j], y.values.data() + j * a_.rows);
    }
    multiply(x, y.mutable_view());
    for (std::int64_t j = 0; j < count; ++j) std::copy_n(y.values.begin() + j * a_.rows, a_.rows, tasks[j].y.begin());
}

template <class T>
void DenseProducts<T>::multiply_rows(const SpmvTask<T>& task, Accuracy accuracy) const {
    if (on_device_) return on_device_->multiply(std::span(&task, 1), accuracy);
    constexpr std::int64_t least_elements_per_thread = 16384;
    const std::int64_t worth = a_.rows * a_.columns / least_elements_per_thread;
    cpu::multiply(a_, static_cast<int>(std::clamp<std::int64_t>(worth, 1, device_.threads())), row_task(task), accuracy);
}

template <class T>
const CsrView<T>& DenseProducts<T>::matrix() const {
    std::call_once(sparse_is_made_, [&] {
        sparse_ = nonzero_elements(a_, device_.threads());
        sparse_view_ = sparse_;
    });
    return sparse_view_;
}

template <class T>
std::shared_ptr<const MatrixStorage<T>> DenseProducts<T>::with_values(std::span<const T>) const {
    throw InvalidArgument("update_values: the plan is that of a dense matrix, which is read where it is; change it there");
}

template class DenseProducts<float>;
template class DenseProducts<double>;

}  // namespace solver
