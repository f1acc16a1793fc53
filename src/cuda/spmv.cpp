#include "cuda/spmv.hpp"

#include "core/column_norms.hpp"
#include "kernels/vectors.hpp"

namespace solver::cuda {

template <class T>
SpmvOnDevice<T>::SpmvOnDevice(int device, const CsrView<T>& a, SpmvKernel kernel)
    : device_(device),
      stream_(device),
      matrix_(device, a, stream_.get()),
      products_(make_products(matrix_.view(), kernel, stream_.get())) {}

template <class T>
std::unique_ptr<MatrixProducts<T>> SpmvOnDevice<T>::new_products(Stream stream, std::int64_t most_columns) const {
    auto products = make_products(matrix(), kernel(), stream, most_columns);
    products->use(packed_, stream);
    return products;
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
    matrix_.update_values(values, stream_.get());
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
