#include "cuda/spmv.hpp"

#include "core/column_norms.hpp"
#include "core/huge_pages.hpp"
#include "core/thread_pool.hpp"
#include "cuda/without_gaps.hpp"
#include "kernels/reach.hpp"
#include "kernels/vectors.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace solver::cuda {
namespace {

/// The elements by rows, in the memory of a device.
template <class T>
DeviceArray<T> uploaded_by_rows(int device, const DenseView<T>& a, Stream stream) {
    constexpr const char* purpose = "the elements of a dense matrix";
    if (a.column_stride == 1) return WithoutGaps<T>(a).upload(device, a.data, purpose, stream);
    constexpr std::int64_t rows_at_once = 64;  // a few lines of memory of each column
    std::vector<T> elements(static_cast<std::size_t>(a.rows * a.columns));
    const int threads = Device::cpu().threads();
    cpu::parallel_for(threads, [&](int part) {
        const std::int64_t last = cpu::share_begin(a.rows, part + 1, threads);
        for (std::int64_t first = cpu::share_begin(a.rows, part, threads); first < last; first += rows_at_once)
            for (std::int64_t j = 0; j < a.columns; ++j)
                for (std::int64_t i = first; i < std::min(first + rows_at_once, last); ++i)
                    elements[static_cast<std::size_t>(i * a.columns + j)] = a.data[i * a.row_stride + j * a.column_stride];
    });
    return {device, elements, purpose, stream};
}

template <class T>
std::vector<T> copied_to_host(int device, const T* from, std::int64_t size, Stream stream) {
    std::vector<T> copy = zeros<T>(size, Device::cpu().threads());
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
SpmvOnDevice<T>::SpmvOnDevice(int device, const CsrView<T>& a, SpmvKernel kernel) : device_(device), stream_(device) {
    Sparse& of = sparse();
    of.copy.emplace(device, a, stream_.get());
    of.matrix = of.copy->view();
    of.products = make_products(of.matrix, kernel, stream_.get());
}

template <class T>
SpmvOnDevice<T>::SpmvOnDevice(const DeviceCsrView<T>& a, SpmvKernel kernel) : device_(a.device), stream_(a.device) {
    sparse().matrix = a;
    sparse().products = make_products(a, kernel, stream_.get());
}

template <class T>
SpmvOnDevice<T>::SpmvOnDevice(int device, const DenseView<T>& a)
    : device_(device), stream_(device), storage_(by_rows(device, a, stream_.get())) {}

template <class T>
auto SpmvOnDevice<T>::by_rows(int device, const DenseView<T>& a, Stream stream) -> Dense {
    DeviceArray<T> elements = uploaded_by_rows(device, a, stream);
    const DeviceDenseRows<T> rows{device, a.rows, a.columns, elements.data()};
    return {std::move(elements), rows, make_products(rows, stream), {}};
}

template <class T>
bool SpmvOnDevice<T>::is_a_copy() const {
    const auto* const sparse = std::get_if<Sparse>(&storage_);
    return sparse == nullptr || sparse->copy.has_value();
}

template <class T>
SpmvKernel SpmvOnDevice<T>::kernel() const {
    const auto* const sparse = std::get_if<Sparse>(&storage_);
    return sparse != nullptr ? sparse->products->kernel() : SpmvKernel::general;
}

template <class T>
std::shared_ptr<const PackedOnDevice<T>> SpmvOnDevice<T>::packed() const {
    const auto* const sparse = std::get_if<Sparse>(&storage_);
    return sparse != nullptr ? sparse->packed : nullptr;
}

template <class T>
const MatrixProducts<T>& SpmvOnDevice<T>::products() const {
    return std::visit([](const auto& storage) -> const MatrixProducts<T>& { return *storage.products; }, storage_);
}

template <class T>
std::unique_ptr<MatrixProducts<T>> SpmvOnDevice<T>::new_products(Stream stream, std::int64_t most_columns) const {
    if (const auto* const dense = std::get_if<Dense>(&storage_)) return make_products(dense->rows, stream, most_columns);
    const Sparse& sparse = std::get<Sparse>(storage_);
    auto products = make_products(sparse.matrix, kernel(), stream, most_columns);
    products->use(sparse.packed, stream);
    return products;
}

template <class T>
const CsrView<T>& SpmvOnDevice<T>::on_host() {
    const std::lock_guard turn(mutex_);
    if (!host_copy_) {
        host_copy_ = copied_to_host(sparse().matrix, stream_.get());
        on_host_ = host_copy_->view();
    }
    return on_host_;
}

template <class T>
const FactsOnDevice& SpmvOnDevice<T>::facts() {
    const std::lock_guard turn(mutex_);
    if (!facts_) {
        row_norms_ = DeviceArray<T>(device_, sparse().matrix.rows, "norms of rows");
        facts_ = facts_of(sparse().matrix, row_norms_.data(), stream_.get());
    }
    return *facts_;
}

template <class T>
std::optional<DeviceArray<T>> SpmvOnDevice<T>::diagonal() {
    const std::lock_guard turn(mutex_);
    DeviceArray<T> found(device_, sparse().matrix.rows, "a diagonal");
    if (!copy_diagonal(sparse().matrix, found.data(), stream_.get())) return std::nullopt;
    return found;
}

template <class T>
bool SpmvOnDevice<T>::has_rows_beyond(std::int64_t steps) {
    const std::lock_guard turn(mutex_);
    return cuda::has_rows_beyond(sparse().matrix, steps, stream_.get());
}

template <class T>
const DeviceArray<T>& SpmvOnDevice<T>::column_norms(const solver::SpmvPlan<T>& a) {
    if (std::holds_alternative<Sparse>(storage_) && facts().is_symmetric) return row_norms_;
    std::unique_lock turn(mutex_);
    if (column_norms_.data() != nullptr) return column_norms_;
    turn.unlock();  // for on_host
    const std::vector<T> norms = one_norms_of_columns(a);
    turn.lock();
    if (column_norms_.data() == nullptr) column_norms_ = DeviceArray<T>(device_, norms, "norms of columns", stream_.get());
    return column_norms_;
}

template <class T>
T SpmvOnDevice<T>::norm_of_terms(const solver::SpmvPlan<T>& a, std::span<const T> x) {
    const DeviceArray<T>& weights = column_norms(a);
    const std::lock_guard turn(mutex_);
    const DeviceArray<T> terms(device_, x, "a vector of weighted elements", stream_.get());
    multiply_elements(weights, terms, terms, stream_.get());
    Reducer reducer(device_);
    return norm2(reducer, terms, Accuracy::exact, DeviceArray<double>(device_, 1, "a norm"), stream_.get());
}

template <class T>
PackedDescription SpmvOnDevice<T>::pack() {
    const std::lock_guard turn(mutex_);
    use(cuda::pack(sparse().matrix, stream_.get()));
    return sparse().packed->describe(stream_.get());
}

template <class T>
void SpmvOnDevice<T>::unpack() {
    const std::lock_guard turn(mutex_);
    sparse().packed.reset();
    sparse().products->use(nullptr, stream_.get());
}

template <class T>
void SpmvOnDevice<T>::use(PackedOnDevice<T> packed) {
    auto shared = std::make_shared<const PackedOnDevice<T>>(std::move(packed));
    sparse().products->use(shared, stream_.get());
    sparse().packed = std::move(shared);
}

template <class T>
void SpmvOnDevice<T>::update_values(std::span<const T> values) {
    const std::lock_guard turn(mutex_);
    Sparse& of = sparse();
    column_norms_ = DeviceArray<T>();
    facts_.reset();
    if (of.packed == nullptr) return of.copy->update_values(values, stream_.get());
    // All that may be refused comes before the matrix changes.
    const DeviceArray<T> uploaded(device_, values, "new values of a matrix", stream_.get());
    DeviceCsrView<T> renewed = of.matrix;
    renewed.values = uploaded.data();
    use(repack(*of.packed, renewed, stream_.get()));
    of.copy->update_values(std::span<const T>(uploaded.data(), values.size()), stream_.get());
}

template <class T>
void SpmvOnDevice<T>::multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) {
    const std::lock_guard turn(mutex_);
    for (const SpmvTask<T>& task : tasks) multiply(task, accuracy);
}

template <class T>
void SpmvOnDevice<T>::multiply_together(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) {
    const std::lock_guard turn(mutex_);
    Dense& a = std::get<Dense>(storage_);
    const SpmvTask<T>& first = tasks.front();
    const std::int64_t rows = a.rows.rows, columns = a.rows.columns, count = std::ssize(tasks);
    const DeviceArray<T> x(device_, columns * count, "X of a product"), y(device_, rows * count, "Y of a product");
    for (std::int64_t j = 0; j < count; ++j) {
        x.part(j * columns, columns).copy_from(tasks[j].x, stream_.get());
        if (first.beta != T(0)) y.part(j * rows, rows).copy_from(tasks[j].y_in, stream_.get());
    }
    if (!a.multiplier) a.multiplier.emplace(device_);
    a.multiplier->gemm({first.alpha,
                        {rows, columns, columns, 1, a.rows.values},
                        {columns, count, 1, columns, x.data()},
                        first.beta,
                        {rows, count, 1, rows, y.data()}},
                       accuracy, {}, stream_.get());
    for (std::int64_t j = 0; j < count; ++j) y.part(j * rows, rows).copy_to(tasks[j].y, stream_.get());
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
    if (y_.data() == nullptr) y_ = DeviceArray<T>(device_, static_cast<std::int64_t>(task.y.size()), "y of a product");
    if (task.beta != T(0)) on_device.y_in = uploaded(y_, task.y_in, "y of a product");
    on_device.y = y_.data();
    products().multiply(on_device, accuracy, stream_.get());
    y_.copy_to(task.y, stream_.get());
}

template class SpmvOnDevice<float>;
template class SpmvOnDevice<double>;

}  // namespace solver::cuda
