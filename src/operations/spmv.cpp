#include "solver/spmv.hpp"

#include "core/check.hpp"
#include "core/thread_pool.hpp"
#include "cpu/packed_spmv.hpp"
#include "cpu/spmv.hpp"
#include "cuda/spmv.hpp"
#include "operations/dense_products.hpp"
#include "operations/packed_choice.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace solver {
namespace {

/// Below this many entries and rows a thread is not worth waking.
constexpr std::int64_t least_work_per_thread = 8192;

/// Rows up to this length are not shared.
constexpr std::int64_t longest_whole_row = 4096;

/// `general` counts as balanced, for `automatic`, while no thread has more than this times its fair share of entries.
constexpr double tolerated_imbalance = 1.1;

template <class T>
std::vector<WorkBoundary> equal_rows(const CsrView<T>& a, int threads) {
    std::vector<WorkBoundary> boundaries;
    for (int t = 0; t <= threads; ++t) {
        const std::int64_t row = cpu::share_begin(a.rows, t, threads);
        boundaries.push_back({row, a.row_offsets[row]});
    }
    return boundaries;
}

/// The merge path of Merrill and Garland (SC 2016): rows and entries count as one unit of work each, so that empty rows are
/// shared out too.
template <class T>
std::vector<WorkBoundary> equal_work(const CsrView<T>& a, int threads) {
    std::vector<WorkBoundary> boundaries;
    for (int t = 0; t <= threads; ++t) {
        const std::int64_t work = cpu::share_begin(a.rows + a.nonzeros(), t, threads);
        // The last row whose start, rows before it included, is not beyond `work`.
        std::int64_t low = 0;
        std::int64_t high = a.rows;
        while (low < high) {
            const std::int64_t middle = (low + high + 1) / 2;
            if (a.row_offsets[middle] + middle <= work)
                low = middle;
            else
                high = middle - 1;
        }
        const bool shared = low < a.rows && a.row_length(low) > longest_whole_row;
        const std::int64_t entry = shared ? std::min(work - low, a.row_offsets[low + 1]) : a.row_offsets[low];
        boundaries.push_back(shared && entry == a.row_offsets[low + 1] ? WorkBoundary{low + 1, entry}
                                                                       : WorkBoundary{low, entry});
    }
    return boundaries;
}

bool is_balanced(const std::vector<WorkBoundary>& boundaries) {
    const auto threads = static_cast<std::int64_t>(boundaries.size()) - 1;
    std::int64_t largest = 0;
    for (std::int64_t t = 0; t < threads; ++t) largest = std::max(largest, boundaries[t + 1].entry - boundaries[t].entry);
    return static_cast<double>(largest * threads) <= tolerated_imbalance * static_cast<double>(boundaries.back().entry);
}

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
void require_lengths(const SpmvTask<T>& task, const SpmvPlan<T>& plan) {
    const Shape a{plan.rows(), plan.columns()};
    require_length("spmv", "x", task.x.size(), a.columns, "the columns of A", a);
    if (!task.x_low.empty()) require_length("spmv", "x_low", task.x_low.size(), a.columns, "the columns of A", a);
    if (task.beta != T(0)) require_length("spmv", "y_in", task.y_in.size(), a.rows, "the rows of A", a);
    require_length("spmv", "y", task.y.size(), a.rows, "the rows of A", a);
}

template <class T>
std::vector<cpu::RowTask<T>> row_tasks(std::span<const SpmvTask<T>> tasks) {
    std::vector<cpu::RowTask<T>> rows;
    for (const SpmvTask<T>& task : tasks)
        rows.push_back({.alpha = task.alpha,
                        .x = task.x.data(),
                        .x_low = task.x_low.empty() ? nullptr : task.x_low.data(),
                        .beta = task.beta,
                        .y_in = task.y_in.data(),
                        .y = task.y.data()});
    return rows;
}

template <class T>
double csr_bytes_a_nonzero(const CsrView<T>& a) {
    const double entries = static_cast<double>(std::max<std::int64_t>(a.nonzeros(), 1));
    return sizeof(T) + sizeof(std::int32_t) + static_cast<double>(a.row_offsets.bytes().size()) / entries;
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

template <class T>
void multiply_once(T alpha, const CsrView<T>& a, std::span<const T> x, T beta, std::span<T> y, Accuracy accuracy,
                   const Device& device) {
    SpmvPlan<T>(a, device).multiply(alpha, x, beta, y, accuracy);
}

}  // namespace

std::string_view to_string(SpmvKernel kernel) {
    switch (kernel) {
        case SpmvKernel::automatic:
            return "auto";
        case SpmvKernel::general:
            return "general";
        case SpmvKernel::adaptive:
            return "adaptive";
    }
    throw InvalidArgument(fmt::format("spmv: there is no kernel number {}", static_cast<int>(kernel)));
}

SpmvKernel spmv_kernel_from_text(std::string_view text) {
    for (const SpmvKernel kernel : {SpmvKernel::automatic, SpmvKernel::general, SpmvKernel::adaptive})
        if (text == to_string(kernel)) return kernel;
    throw InvalidArgument(fmt::format("SpMV kernel '{}' is not known; choose auto, general or adaptive", text));
}

std::string_view to_string(SpmvStorage storage) {
    switch (storage) {
        case SpmvStorage::automatic:
            return "auto";
        case SpmvStorage::csr:
            return "csr";
        case SpmvStorage::packed:
            return "packed";
    }
    throw InvalidArgument(fmt::format("spmv: there is no storage number {}", static_cast<int>(storage)));
}

SpmvStorage spmv_storage_from_text(std::string_view text) {
    for (const SpmvStorage storage : {SpmvStorage::automatic, SpmvStorage::csr, SpmvStorage::packed})
        if (text == to_string(storage)) return storage;
    throw InvalidArgument(fmt::format("SpMV storage '{}' is not known; choose auto, csr or packed", text));
}

template <class T>
SpmvPlan<T>::SpmvPlan(const CsrView<T>& a, const Device& device, SpmvKernel kernel)
    : SpmvPlan(a, device, SpmvOptions{.kernel = kernel}) {}

template <class T>
SpmvPlan<T>::SpmvPlan(const CsrView<T>& a, const Device& device, const SpmvOptions& options)
    : a_(a), device_(device), kernel_(options.kernel) {
    const SpmvKernel kernel = options.kernel;
    if (device.kind() == Device::Kind::cuda) {
        on_device_ = std::make_shared<cuda::SpmvOnDevice<T>>(device.index(), a, kernel);
        kernel_ = on_device_->kernel();
        pack_for_device(options);
        return;
    }
    const std::int64_t worth = (a.rows + a.nonzeros()) / least_work_per_thread;
    const int threads = static_cast<int>(std::clamp<std::int64_t>(worth, 1, device.threads()));
    threads_ = threads;
    if (kernel != SpmvKernel::adaptive) boundaries_ = equal_rows(a, threads);
    if (kernel == SpmvKernel::automatic) kernel_ = is_balanced(boundaries_) ? SpmvKernel::general : SpmvKernel::adaptive;
    if (kernel_ == SpmvKernel::adaptive) boundaries_ = equal_work(a, threads);
    const StorageChoice choice = choose_storage(a, options, packing_terms_on_cpu(a.rows));
    reason_ = choice.reason;
    if (choice.storage == SpmvStorage::packed)
        packed_ = std::make_shared<const PackedMatrix<T>>(pack(a, cpu::packed_shape, threads));
}

template <class T>
SpmvPlan<T>::SpmvPlan(const cuda::DeviceCsrView<T>& a, const SpmvOptions& options)
    : a_(sizes_of(a)), device_(Device::cuda(a.device)), kernel_(options.kernel) {
    cuda::check(a);
    on_device_ = std::make_shared<cuda::SpmvOnDevice<T>>(a, options.kernel);
    kernel_ = on_device_->kernel();
    pack_for_device(options);
}

template <class T>
void SpmvPlan<T>::pack_for_device(const SpmvOptions& options) {
    const StorageChoice choice = choose_storage(a_, options, packing_terms_on_cuda(device_.index(), a_));
    reason_ = choice.reason;
    if (choice.storage != SpmvStorage::packed) return;
    const PackedDescription packed = on_device_->pack();
    if (options.storage == SpmvStorage::packed) return;
    const std::string why_not = why_csr_is_faster(packed, csr_bytes_a_nonzero(a_));
    if (why_not.empty()) return;
    on_device_->unpack();
    reason_ = why_not;
}

template <class T>
SpmvPlan<T>::SpmvPlan(const DenseView<T>& a, const Device& device)
    : device_(device), kernel_(SpmvKernel::general), dense_(std::make_shared<DenseProducts<T>>(a, device)) {
    if (device.kind() == Device::Kind::cpu) return;
    on_device_ = std::make_shared<cuda::SpmvOnDevice<T>>(device.index(), matrix(), SpmvKernel::automatic);
    kernel_ = on_device_->kernel();
}

template <class T>
std::int64_t SpmvPlan<T>::rows() const {
    return dense_ ? dense_->matrix().rows : a_.rows;
}

template <class T>
std::int64_t SpmvPlan<T>::columns() const {
    return dense_ ? dense_->matrix().columns : a_.columns;
}

template <class T>
const CsrView<T>& SpmvPlan<T>::matrix() const {
    if (dense_) return dense_->sparse();
    return on_device_ && !on_device_->is_a_copy() ? on_device_->on_host() : a_;
}

template <class T>
const DenseView<T>* SpmvPlan<T>::dense() const {
    return dense_ ? &dense_->matrix() : nullptr;
}

template <class T>
void SpmvPlan<T>::multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) const {
    const cpu::FloatingPointGuard guard;
    std::vector<SpmvTask<T>> products;
    for (const SpmvTask<T>& task : tasks) require_lengths(task, *this);
    for (const SpmvTask<T>& task : tasks) {
        if (task.alpha == T(0))
            scale(task.beta, task.y_in, task.y);
        else
            products.push_back(task);
    }
    if (products.empty()) return;
    if (on_device_)
        on_device_->multiply(products, accuracy);
    else if (dense_)
        dense_->multiply(products, accuracy);
    else
        multiply_sparse(row_tasks<T>(products), accuracy);
}

template <class T>
void SpmvPlan<T>::multiply_sparse(std::vector<cpu::RowTask<T>> tasks, Accuracy accuracy) const {
    std::size_t from_csr = tasks.size();
    if (packed_) {
        const auto others = std::stable_partition(tasks.begin(), tasks.end(), cpu::is_for_packed<T>);
        const auto packed = static_cast<std::size_t>(others - tasks.begin());
        from_csr -= packed;
        if (packed > 0) cpu::multiply(*packed_, a_, threads_, std::span<const cpu::RowTask<T>>(tasks).first(packed), accuracy);
    }
    if (from_csr > 0) cpu::multiply(a_, boundaries_, std::span<const cpu::RowTask<T>>(tasks).last(from_csr), accuracy);
}

template <class T>
void SpmvPlan<T>::update_values(std::span<const T> values) {
    if (dense_)
        throw InvalidArgument("update_values: the plan is that of a dense matrix, which is read where it is; change it there");
    if (on_device_ && !on_device_->is_a_copy())
        throw InvalidArgument(
            "update_values: the matrix is read where it was given, on a CUDA device; change it there and make a new plan");
    if (values.size() != a_.values.size())
        throw DimensionMismatch(
            fmt::format("update_values: there are {} values, and the pattern has {} entries", values.size(), a_.values.size()));
    const cpu::FloatingPointGuard guard;
    a_.values = values;
    if (packed_) {
        auto updated = std::make_shared<PackedMatrix<T>>(PackedMatrix<T>{packed_->pattern, {}});
        updated->values = pack_values(*packed_->pattern, a_, threads_);
        packed_ = std::move(updated);
    }
    if (on_device_) on_device_->update_values(values);
}

template <class T>
SpmvDescription SpmvPlan<T>::describe() const {
    if (dense_) return {SpmvStorage::csr, sizeof(T), "dense, as it is"};
    if (packed_ || (on_device_ && on_device_->packed())) {
        const PackedDescription packed = packed_ ? packed_->describe() : on_device_->packed()->describe(nullptr);
        return {SpmvStorage::packed, packed.bytes_a_nonzero, "packed, " + reason_ + ": " + packed.text};
    }
    const double bytes = csr_bytes_a_nonzero(a_);
    return {SpmvStorage::csr, bytes, fmt::format("csr, {}: {:.1f} bytes a nonzero", reason_, bytes)};
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
