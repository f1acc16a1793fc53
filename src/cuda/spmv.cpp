#include "cuda/spmv.hpp"

#include "core/column_norms.hpp"
#include "kernels/vectors.hpp"

#include <utility>
#include <vector>

namespace solver::cuda {
namespace {

template <class T>
std::vector<T> copied_to_host(int device, const T* from, std::int64_t size, Stream stream) {
    std::vector<T> copy(static_cast<std::size_t>(size));
    detail::copy_to_host(device, copy.data(), from, size * static_cast<std::int64_t>(sizeof(T)), stream);
    return copy;
}

template <class T>
CsrMatrix<T> copied_to_host(const DeviceCsrView<T>& a, Stream stream) {
    CsrMatrix<T> copy;
    copy.rows = a.rows;
    copy.columns = a.columns;
    if (const auto* const wide = a.row_offsets.template as<std::int64_t>()) {
        copy.row_offsets = copied_to_host(a.device, wide, a.rows + 1, stream);
    } else {
        const auto narrow = copied_to_host(a.device, a.row_offsets.template as<std::int32_t>(), a.rows + 1, stream);
        copy.row_offsets.assign(narrow.begin(), narrow.end());
    }
    copy.column_indices = copied_to_host(a.device, a.column_indices, a.nonzeros, stream);
    copy.values = copied_to_host(a.device, a.values, a.nonzeros, stream);
    return copy;
}

}  // namespace

template <class T>
SpmvOnDevice<T>::SpmvOnDevice(int device, const CsrView<T>& a, SpmvKernel kernel)
    : device_(device),
      stream_(device),
      copy_(std::in_place, device, a, stream_.get()),
      matrix_(copy_->view()),
      products_(make_products(matrix_, kernel, stream_.get())) {}

template <class T>
SpmvOnDevice<T>::SpmvOnDevice(const DeviceCsrView<T>& a, SpmvKernel kernel)
    : device_(a.device), stream_(a.device), matrix_(a), products_(make_products(matrix_, kernel, stream_.get())) {}

template <class T>
std::unique_ptr<MatrixProducts<T>> SpmvOnDevice<T>::new_products(Stream stream, std::int64_t most_columns) const {
    auto products = make_products(matrix(), kernel(), stream, most_columns);
    products->use(packed_, stream);
    return products;
}

template <class T>
const CsrView<T>& SpmvOnDevice<T>::on_host() {
    const std::lock_guard turn(mutex_);
    if (!host_copy_) {
        host_copy_ = copied_to_host(matrix_, stream_.get());
        on_host_ = host_copy_->view();
    }
    return on_host_;
}

template <class T>
const DeviceArray<T>& SpmvOnDevice<T>::column_norms(const CsrView<T>& a) {
    const std::lock_guard turn(mutex_);
    if (column_norms_.data() == nullptr) {
        const std::vector<T> norms = one_norms_of_columns(a);
        column_norms_ = DeviceArray<T>(device_, norms, "norms of columns", stream_.get());
    }
    return column_norms_;
}

template <class T>
PackedDescription SpmvOnDevice<T>::pack() {
    const std::lock_guard turn(mutex_);
    use(cuda::pack(matrix(), stream_.get()));
    return packed_->describe(stream_.get());
}

template <class T>
void SpmvOnDevice<T>::unpack() {
    const std::lock_guard turn(mutex_);
    packed_.reset();
    products_->use(nullptr, stream_.get());
}

template <class T>
void SpmvOnDevice<T>::use(PackedOnDevice<T> packed) {
    packed_ = std::make_shared<const PackedOnDevice<T>>(std::move(packed));
    products_->use(packed_, stream_.get());
}

template <class T>
void SpmvOnDevice<T>::update_values(std::span<const T> values) {
    const std::lock_guard turn(mutex_);
    copy_->update_values(values, stream_.get());
    if (packed_ != nullptr) use({packed_->pattern, pack_values(*packed_->pattern, matrix(), stream_.get())});
    column_norms_ = DeviceArray<T>();
}

template <class T>
void SpmvOnDevice<T>::multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) {
    const std::lock_guard turn(mutex_);
    for (const SpmvTask<T>& task : tasks) multiply(task, accuracy);
}

template <class T>
const T* SpmvOnDevice<T>::uploaded(DeviceArray<T>& to, std::span<const T> from, const char* purpose) {
    if (to.data() == nullptr) to = DeviceArray<T>(device_, static_cast<std::int64_t>(from.size()), purpose);
    to.copy_from(from, stream_.get());
    return to.data();
}

template <class T>
void SpmvOnDevice<T>::multiply(const SpmvTask<T>& task, Accuracy accuracy) {
    RowTask<T> on_device{.alpha = task.alpha, .beta = task.beta};
    on_device.x = uploaded(x_, task.x, "x of a product");
    if (!task.x_low.empty()) on_device.x_low = uploaded(x_low_, task.x_low, "x_low of a product");
    if (y_.data() == nullptr) y_ = DeviceArray<T>(device_, matrix().rows, "y of a product");
    if (task.beta != T(0)) on_device.y_in = uploaded(y_, task.y_in, "y of a product");
    on_device.y = y_.data();
    products_->multiply(on_device, accuracy, stream_.get());
    y_.copy_to(task.y, stream_.get());
}

template class SpmvOnDevice<float>;
template class SpmvOnDevice<double>;

}  // namespace solver::cuda
