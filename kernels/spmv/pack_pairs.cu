/// What src/packed/pairs.cpp does on the processor: the same rows paired, the same complex entries.

#include "packed.hpp"
#include "packed/pairs.hpp"
#include "runtime/for_each.cuh"
#include "runtime/workspace.cuh"

#include <cub/device/device_scan.cuh>

#include <optional>
#include <utility>

namespace solver::cuda {
namespace {

/// A complex matrix, two numbers an entry.
template <class T>
struct ComplexEntries {
    DeviceArray<std::int32_t> row_offsets;
    DeviceArray<std::int32_t> columns;
    DeviceArray<T> numbers;
    DeviceCsrView<T> view;
};

/// counts[i] = the entries of pair i, and 0 behind the last one; *is_other = 1 where a pair is none, which ends the search.
template <class T>
struct CountEntries {
    PairedRows<T> rows;
    std::int64_t pairs;
    std::int32_t* counts;
    unsigned* is_other;

    __device__ void operator()(std::int64_t i) const {
        if (__ldcg(is_other) != 0) return;
        const std::int64_t count = i < pairs ? rows.entries(i) : 0;
        if (count < 0) *is_other = 1;
        counts[i] = static_cast<std::int32_t>(count);
    }
};

template <class T>
struct WriteEntries {
    PairedRows<T> rows;
    const std::int32_t* row_offsets;
    std::int32_t* columns;
    T* numbers;

    __device__ void operator()(std::int64_t i) const {
        rows.write(i, columns + row_offsets[i], numbers + 2 * std::int64_t{row_offsets[i]});
    }
};

/// Where the complex rows begin, or nothing where some rows are no pairs.
template <class T>
DeviceArray<std::int32_t> find_offsets(int device, const PairedRows<T>& rows, std::int64_t pairs, Stream stream) {
    Workspace workspace(device, 4 * (pairs + 1) + (1 << 16), "finding pairs of rows");
    auto* const counts = workspace.take<std::int32_t>(pairs + 1);
    auto* const is_other = workspace.take<unsigned>(1);
    check(cudaMemsetAsync(is_other, 0, sizeof(unsigned), stream), "cudaMemsetAsync");
    launch_for_each("counting complex entries", pairs + 1, stream, {}, CountEntries<T>{rows, pairs, counts, is_other});
    if (copy_to_host(device, is_other, 1, stream).front() != 0) return {};
    DeviceArray<std::int32_t> offsets(device, pairs + 1, "the rows of a complex matrix");
    with_scratch(workspace, "counting complex entries", [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(scratch, bytes, counts, offsets.data(), pairs + 1, stream);
    });
    synchronize(device, stream);  // the workspace goes
    return offsets;
}

/// As solver::complex_pairs.
template <class T>
std::optional<ComplexEntries<T>> complex_pairs(const DeviceCsrView<T>& a, Stream stream) {
    if (a.rows % 2 != 0 || a.columns % 2 != 0) return std::nullopt;
    const PairedRows<T> rows{a.row_offsets, a.column_indices, a.values};
    const std::int64_t pairs = a.rows / 2;
    ComplexEntries<T> found{find_offsets(a.device, rows, pairs, stream), {}, {}, {}};
    if (found.row_offsets.size() == 0) return std::nullopt;
    const std::int64_t entries = copy_to_host(a.device, found.row_offsets.data() + pairs, 1, stream).front();
    if (entries == 0 || !pairs_pay(a.nonzeros, entries)) return std::nullopt;
    found.columns = DeviceArray<std::int32_t>(a.device, entries, "the columns of a complex matrix");
    found.numbers = DeviceArray<T>(a.device, 2 * entries, "the values of a complex matrix");
    launch_for_each("writing complex entries", pairs, stream, {},
                    WriteEntries<T>{rows, found.row_offsets.data(), found.columns.data(), found.numbers.data()});
    found.view = {a.device,
                  pairs,
                  a.columns / 2,
                  entries,
                  RowOffsetPointer(found.row_offsets.data()),
                  found.columns.data(),
                  found.numbers.data()};
    return found;
}

}  // namespace

template <class T>
PackedOnDevice<T> pack(const DeviceCsrView<T>& a, Stream stream) {
    const CurrentDevice current(a.device);
    const PackedShape shape = packed_shape(a.rows, a.nonzeros);
    if (const auto pairs = complex_pairs(a, stream)) {
        const std::shared_ptr<PackedPatternOnDevice> pattern = pack_pattern(pairs->view, paired(shape), 2, stream);
        pattern->nonzeros = a.nonzeros;
        if (pattern->long_rows == 0) return {pattern, pack_values(*pattern, pairs->view, stream)};
    }
    const std::shared_ptr<PackedPatternOnDevice> pattern = pack_pattern(a, shape, 1, stream);
    return {pattern, pack_values(*pattern, a, stream)};
}

template <class T>
PackedOnDevice<T> repack(const PackedOnDevice<T>& packed, const DeviceCsrView<T>& a, Stream stream) {
    const CurrentDevice current(a.device);
    const PackedPatternOnDevice& pattern = *packed.pattern;
    if (pattern.components == 1) return {packed.pattern, pack_values(pattern, a, stream)};
    if (const auto pairs = complex_pairs(a, stream)) return {packed.pattern, pack_values(pattern, pairs->view, stream)};
    return pack(a, stream);
}

template PackedOnDevice<float> pack(const DeviceCsrView<float>&, Stream);
template PackedOnDevice<double> pack(const DeviceCsrView<double>&, Stream);
template PackedOnDevice<float> repack(const PackedOnDevice<float>&, const DeviceCsrView<float>&, Stream);
template PackedOnDevice<double> repack(const PackedOnDevice<double>&, const DeviceCsrView<double>&, Stream);

}  // namespace solver::cuda
