#include "operations/packed_storage.hpp"

#include "cpu/packed_spmv.hpp"
#include "operations/row_tasks.hpp"

#include <algorithm>
#include <utility>

namespace solver {

template <class T>
PackedStorage<T>::PackedStorage(std::shared_ptr<const MatrixStorage<T>> csr, PackedMatrix<T> packed, int threads)
    : csr_(std::move(csr)), packed_(std::move(packed)), threads_(threads) {}

template <class T>
void PackedStorage<T>::multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) const {
    std::vector<SpmvTask<T>> sorted(tasks.begin(), tasks.end());
    const auto others = std::stable_partition(sorted.begin(), sorted.end(),
                                              [](const auto& task) { return cpu::is_for_packed(row_task(task)); });
    const std::span<const SpmvTask<T>> packed(sorted.begin(), others), rest(others, sorted.end());
    if (!packed.empty())
        cpu::multiply(packed_, matrix(), threads_, std::span<const cpu::RowTask<T>>(row_tasks(packed)), accuracy);
    if (!rest.empty()) csr_->multiply(rest, accuracy);
}

template <class T>
std::shared_ptr<const MatrixStorage<T>> PackedStorage<T>::with_values(std::span<const T> values) const {
    auto csr = csr_->with_values(values);
    PackedMatrix<T> packed = repack(packed_, csr->matrix(), cpu::packed_shape, threads_);
    return std::make_shared<PackedStorage>(std::move(csr), std::move(packed), threads_);
}

template <class T>
SpmvDescription PackedStorage<T>::describe(const std::string& reason) const {
    const PackedDescription packed = packed_.describe();
    return {SpmvStorage::packed, packed.bytes_a_nonzero, "packed, " + reason + ": " + packed.text};
}

template class PackedStorage<float>;
template class PackedStorage<double>;

}  // namespace solver
