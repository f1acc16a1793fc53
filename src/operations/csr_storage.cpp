#include "operations/csr_storage.hpp"

#include "core/thread_pool.hpp"
#include "cpu/spmv.hpp"
#include "operations/row_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace solver {
namespace {

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

}  // namespace

template <class T>
double csr_bytes_a_nonzero(const CsrView<T>& a) {
    const double entries = static_cast<double>(std::max<std::int64_t>(a.nonzeros(), 1));
    return sizeof(T) + sizeof(std::int32_t) + static_cast<double>(a.row_offsets.bytes().size()) / entries;
}

template <class T>
SpmvDescription describe_csr(const CsrView<T>& a, const std::string& reason) {
    const double bytes = csr_bytes_a_nonzero(a);
    return {SpmvStorage::csr, bytes, fmt::format("csr, {}: {:.1f} bytes a nonzero", reason, bytes)};
}

template <class T>
CsrStorage<T>::CsrStorage(const CsrView<T>& a, SpmvKernel kernel, int threads) : a_(a), kernel_(kernel) {
    if (kernel != SpmvKernel::adaptive) boundaries_ = equal_rows(a, threads);
    if (kernel == SpmvKernel::automatic) kernel_ = is_balanced(boundaries_) ? SpmvKernel::general : SpmvKernel::adaptive;
    if (kernel_ == SpmvKernel::adaptive) boundaries_ = equal_work(a, threads);
}

template <class T>
void CsrStorage<T>::multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) const {
    cpu::multiply(a_, boundaries_, row_tasks(tasks), accuracy);
}

template <class T>
std::shared_ptr<const MatrixStorage<T>> CsrStorage<T>::with_values(std::span<const T> values) const {
    auto updated = std::make_shared<CsrStorage>(*this);
    updated->a_.values = values;
    return updated;
}

template double csr_bytes_a_nonzero(const CsrView<float>&);
template double csr_bytes_a_nonzero(const CsrView<double>&);
template SpmvDescription describe_csr(const CsrView<float>&, const std::string&);
template SpmvDescription describe_csr(const CsrView<double>&, const std::string&);
template class CsrStorage<float>;
template class CsrStorage<double>;

}  // namespace solver
