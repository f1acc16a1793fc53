#include "solver/spmv.hpp"

#include "core/check.hpp"
#include "core/floating_point_guard.hpp"
#include "core/names.hpp"
#include "cpu/packed_spmv.hpp"
#include "operations/csr_storage.hpp"
#include "operations/dense_products.hpp"
#include "operations/device_storage.hpp"
#include "operations/packed_choice.hpp"
#include "operations/packed_storage.hpp"
#include "packed/pairs.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace solver {
namespace {

/// Below this many entries and rows a thread is not worth waking.
constexpr std::int64_t least_work_per_thread = 8192;

template <class T>
void scale(T beta, std::span<const T> y_in, std::span<T> y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = beta == T(0) ? T(0) : canonical(mul_rn(beta, y_in[i]));
}

/// What the messages of require_length say of A.
struct Shape {
    std::int64_t rows;
    std::int64_t columns;
};

template <class T>
void require_valid(const SpmvTask<T>& task, const SpmvPlan<T>& plan) {
    const Shape a{plan.rows(), plan.columns()};
    require_length("spmv", "x", task.x.size(), a.columns, "the columns of A", a);
    if (!task.x_low.empty()) require_length("spmv", "x_low", task.x_low.size(), a.columns, "the columns of A", a);
    if (task.beta != T(0)) require_length("spmv", "y_in", task.y_in.size(), a.rows, "the rows of A", a);
    require_length("spmv", "y", task.y.size(), a.rows, "the rows of A", a);
    require_apart<T>("spmv", "y", task.y, "x", task.x);
    require_apart<T>("spmv", "y", task.y, "x_low", task.x_low);
    if (task.beta != T(0)) require_same_or_apart<T>("spmv", "y", task.y, "y_in", task.y_in);
}

/// Throws InvalidArgument for numbers that are no kernel or no storage.
void refuse_unknown(const SpmvOptions& options) {
    static_cast<void>(to_string(options.kernel));
    static_cast<void>(to_string(options.storage));
}

/// A view that has the sizes of a device's matrix, and nothing that may be read.
template <class T>
CsrView<T> sizes_of(const cuda::DeviceCsrView<T>& a) {
    const auto entries = static_cast<std::size_t>(a.nonzeros);
    CsrView<T> sizes{a.rows, a.columns, {}, {a.column_indices, entries}, {a.values, entries}};
    const auto begins = [&]<class Offset>(const Offset* first) {
        if (first != nullptr) sizes.row_offsets = std::span(first, static_cast<std::size_t>(a.rows) + 1);
    };
    begins(a.row_offsets.template as<std::int32_t>());
    begins(a.row_offsets.template as<std::int64_t>());
    return sizes;
}

/// Packs, where nobody asked for it by name; why that was not worth it or had no room, or nothing.
template <class T>
std::string why_not_packed(cuda::SpmvOnDevice<T>& on_device, const CsrView<T>& a) {
    try {
        return why_csr_is_faster(on_device.pack(), csr_bytes_a_nonzero(a));
    } catch (const ResourceLimit& refusal) {
        return refusal.what();
    }
}

template <class T>
void multiply_once(T alpha, const CsrView<T>& a, std::span<const T> x, T beta, std::span<T> y, Accuracy accuracy,
                   const Device& device) {
    SpmvPlan<T>(a, device).multiply(alpha, x, beta, y, accuracy);
}

constexpr Name<SpmvKernel> spmv_kernel_names[] = {
    {SpmvKernel::automatic, "auto"}, {SpmvKernel::general, "general"}, {SpmvKernel::adaptive, "adaptive"}};

constexpr Name<SpmvStorage> spmv_storage_names[] = {
    {SpmvStorage::automatic, "auto"}, {SpmvStorage::csr, "csr"}, {SpmvStorage::packed, "packed"}};

}  // namespace

std::string_view to_string(SpmvKernel kernel) { return name_of(kernel, spmv_kernel_names, "spmv: there is no kernel"); }

SpmvKernel spmv_kernel_from_text(std::string_view text) { return value_of(text, spmv_kernel_names, "SpMV kernel"); }

std::string_view to_string(SpmvStorage storage) { return name_of(storage, spmv_storage_names, "spmv: there is no storage"); }

SpmvStorage spmv_storage_from_text(std::string_view text) { return value_of(text, spmv_storage_names, "SpMV storage"); }

template <class T>
SpmvPlan<T>::SpmvPlan(const CsrView<T>& a, const Device& device, SpmvKernel kernel)
    : SpmvPlan(a, device, SpmvOptions{.kernel = kernel}) {}

template <class T>
SpmvPlan<T>::SpmvPlan(const CsrView<T>& a, const Device& device, const SpmvOptions& options)
    : device_(device), kernel_(options.kernel) {
    refuse_unknown(options);
    require_array_lengths("SpMV plan", a);
    if (!options.is_checked) check(a, device);
    if (device.kind() == Device::Kind::cuda)
        store_on_device(a, std::make_shared<cuda::SpmvOnDevice<T>>(device.index(), a, options.kernel), options);
    else
        store_here(a, options);
}

template <class T>
SpmvPlan<T>::SpmvPlan(const cuda::DeviceCsrView<T>& a, const SpmvOptions& options)
    : device_(Device::cuda(a.device)), kernel_(options.kernel) {
    refuse_unknown(options);
    cuda::check(a);
    store_on_device(sizes_of(a), std::make_shared<cuda::SpmvOnDevice<T>>(a, options.kernel), options);
}

template <class T>
SpmvPlan<T>::SpmvPlan(const DenseView<T>& a, const Device& device)
    : device_(device), kernel_(SpmvKernel::general), storage_(std::make_shared<DenseProducts<T>>(a, device)) {}

template <class T>
void SpmvPlan<T>::store_here(const CsrView<T>& a, const SpmvOptions& options) {
    const std::int64_t worth = (a.rows + a.nonzeros()) / least_work_per_thread;
    const int threads = static_cast<int>(std::clamp<std::int64_t>(worth, 1, device_.threads()));
    auto csr = std::make_shared<CsrStorage<T>>(a, options.kernel, threads);
    kernel_ = csr->kernel();
    storage_ = csr;
    const StorageChoice choice = choose_storage(a, options, packing_terms_on_cpu(a.rows));
    reason_ = choice.reason;
    if (choice.storage == SpmvStorage::packed)
        storage_ = std::make_shared<PackedStorage<T>>(csr, pack(a, cpu::packed_shape, threads), threads);
}

template <class T>
void SpmvPlan<T>::store_on_device(const CsrView<T>& a, std::shared_ptr<cuda::SpmvOnDevice<T>> on_device,
                                  const SpmvOptions& options) {
    kernel_ = on_device->kernel();
    storage_ = std::make_shared<DeviceStorage<T>>(a, on_device);
    const bool is_paired = on_device->is_a_copy() && starts_with_pair(a);  // what lies on a device cannot be read here
    const StorageChoice choice = choose_storage(a, options, packing_terms_on_cuda(device_.index(), a, is_paired));
    reason_ = choice.reason;
    if (choice.storage != SpmvStorage::packed) return;
    if (options.storage == SpmvStorage::packed) {
        on_device->pack();
        return;
    }
    const std::string why_not = why_not_packed(*on_device, a);
    if (why_not.empty()) return;
    on_device->unpack();
    reason_ = why_not;
}

template <class T>
std::int64_t SpmvPlan<T>::rows() const {
    return storage_->rows();
}

template <class T>
std::int64_t SpmvPlan<T>::columns() const {
    return storage_->columns();
}

template <class T>
const CsrView<T>& SpmvPlan<T>::matrix() const {
    return storage_->matrix();
}

template <class T>
const DenseView<T>* SpmvPlan<T>::dense() const {
    return storage_->dense();
}

template <class T>
std::span<const WorkBoundary> SpmvPlan<T>::boundaries() const {
    return storage_->boundaries();
}

template <class T>
std::shared_ptr<cuda::SpmvOnDevice<T>> SpmvPlan<T>::on_device() const {
    return storage_->on_device();
}

template <class T>
void SpmvPlan<T>::multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) const {
    const cpu::FloatingPointGuard guard;
    static_cast<void>(to_string(accuracy));  // refuses a number that is no mode
    std::vector<SpmvTask<T>> products;
    for (const SpmvTask<T>& task : tasks) require_valid(task, *this);
    for (const SpmvTask<T>& task : tasks) {
        if (task.alpha == T(0))
            scale(task.beta, task.y_in, task.y);
        else
            products.push_back(task);
    }
    if (!products.empty()) storage_->multiply(products, accuracy);
}

template <class T>
void SpmvPlan<T>::update_values(std::span<const T> values) {
    const auto on_a_device = on_device();
    const bool is_read_in_place = dense() != nullptr || (on_a_device != nullptr && !on_a_device->is_a_copy());
    if (!is_read_in_place && values.size() != matrix().values.size())
        throw DimensionMismatch(fmt::format("update_values: there are {} values, and the pattern has {} entries", values.size(),
                                            matrix().values.size()));
    const cpu::FloatingPointGuard guard;
    storage_ = storage_->with_values(values);
}

template <class T>
SpmvDescription SpmvPlan<T>::describe() const {
    return storage_->describe(reason_);
}

template <class T>
void SpmvPlan<T>::multiply(T alpha, std::span<const T> x, T beta, std::span<T> y, Accuracy accuracy) const {
    const SpmvTask<T> task{.alpha = alpha, .x = x, .beta = beta, .y_in = y, .y = y};
    multiply(std::span(&task, 1), accuracy);
}

template <class T>
void SpmvPlan<T>::residual(std::span<const T> b, std::span<const T> x, std::span<const T> x_low, std::span<T> r,
                           Accuracy accuracy) const {
    const Shape a{rows(), columns()};
    require_length("residual", "x", x.size(), a.columns, "the columns of A", a);
    if (!x_low.empty()) require_length("residual", "x_low", x_low.size(), a.columns, "the columns of A", a);
    require_length("residual", "b", b.size(), a.rows, "the rows of A", a);
    require_length("residual", "r", r.size(), a.rows, "the rows of A", a);
    require_apart<T>("residual", "r", r, "x", x);
    require_apart<T>("residual", "r", r, "x_low", x_low);
    require_same_or_apart<T>("residual", "r", r, "b", b);
    const SpmvTask<T> task{.alpha = -1, .x = x, .x_low = x_low, .beta = 1, .y_in = b, .y = r};
    multiply(std::span(&task, 1), accuracy);
}

template class SpmvPlan<float>;
template class SpmvPlan<double>;

void spmv(double alpha, const CsrView<double>& a, std::span<const double> x, double beta, std::span<double> y,
          Accuracy accuracy, const Device& device) {
    multiply_once(alpha, a, x, beta, y, accuracy, device);
}

void spmv(float alpha, const CsrView<float>& a, std::span<const float> x, float beta, std::span<float> y, Accuracy accuracy,
          const Device& device) {
    multiply_once(alpha, a, x, beta, y, accuracy, device);
}

}  // namespace solver
