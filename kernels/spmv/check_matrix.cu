#include "runtime/check.cuh"
#include "solver/cuda/csr.hpp"

#include <algorithm>
#include <complex>
#include <limits>

namespace solver::cuda {
namespace {

constexpr int check_threads = 256;
constexpr unsigned long long none = std::numeric_limits<unsigned long long>::max();

/// The first row and the first entry that cannot be; `none` where all are well.
struct Offenders {
    unsigned long long row;
    unsigned long long entry;
};

template <class T>
__global__ void find_bad_rows(DeviceCsrView<T> a, Offenders* first) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * check_threads;
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * check_threads + threadIdx.x; row < a.rows; row += step) {
        const std::int64_t begin = a.row_offsets[row];
        const std::int64_t end = a.row_offsets[row + 1];
        const bool well = begin <= end && (row > 0 || begin == 0) && (row + 1 < a.rows || end == a.nonzeros);
        if (!well) atomicMin(&first->row, static_cast<unsigned long long>(row));
    }
}

template <class T>
__global__ void find_bad_columns(DeviceCsrView<T> a, Offenders* first) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * check_threads;
    for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * check_threads + threadIdx.x; k < a.nonzeros; k += step)
        if (a.column_indices[k] < 0 || a.column_indices[k] >= a.columns)
            atomicMin(&first->entry, static_cast<unsigned long long>(k));
}

unsigned blocks_for(std::int64_t items) {
    return static_cast<unsigned>(std::clamp<std::int64_t>((items + check_threads - 1) / check_threads, 1, 1 << 16));
}

/// One element at a place in the device's memory.
template <class Element>
Element fetch(int device, const Element* from, Stream stream) {
    Element element{};
    detail::copy_to_host(device, &element, from, sizeof element, stream);
    return element;
}

std::int64_t fetch(int device, RowOffsetPointer offsets, unsigned long long i, Stream stream) {
    if (const auto* const narrow = offsets.as<std::int32_t>()) return fetch(device, narrow + i, stream);
    return fetch(device, offsets.as<std::int64_t>() + i, stream);
}

}  // namespace

template <class T>
void check(const DeviceCsrView<T>& a, Stream stream) {
    const CurrentDevice current(a.device);
    const std::string shape =
        "matrix of " + std::to_string(a.rows) + " x " + std::to_string(a.columns) + " on cuda:" + std::to_string(a.device);
    if (a.rows < 0 || a.columns < 0 || a.nonzeros < 0 || (a.rows == 0 && a.nonzeros > 0))
        throw InvalidArgument(shape + ": " + std::to_string(a.nonzeros) + " entries cannot be");
    DeviceArray<Offenders> found(a.device, 1, "the check of a matrix");
    const Offenders nobody{none, none};
    found.copy_from(std::span(&nobody, 1), stream);
    find_bad_rows<<<blocks_for(a.rows), check_threads, 0, stream>>>(a, found.data());
    check_launch("find_bad_rows");
    find_bad_columns<<<blocks_for(a.nonzeros), check_threads, 0, stream>>>(a, found.data());
    check_launch("find_bad_columns");
    const Offenders first = fetch(a.device, found.data(), stream);
    if (first.row != none)
        throw InvalidArgument(shape + ": row " + std::to_string(first.row) + " has offsets from " +
                              std::to_string(fetch(a.device, a.row_offsets, first.row, stream)) + " to " +
                              std::to_string(fetch(a.device, a.row_offsets, first.row + 1, stream)) +
                              "; they must rise from 0 to the number of entries, " + std::to_string(a.nonzeros));
    if (first.entry != none)
        throw InvalidArgument(shape + ": entry " + std::to_string(first.entry) + " stands in column " +
                              std::to_string(fetch(a.device, a.column_indices + first.entry, stream)) +
                              "; columns are counted from 0");
}

template void check(const DeviceCsrView<float>&, Stream);
template void check(const DeviceCsrView<double>&, Stream);
template void check(const DeviceCsrView<std::complex<float>>&, Stream);
template void check(const DeviceCsrView<std::complex<double>>&, Stream);

}  // namespace solver::cuda
