#pragma once

/// Products with a dense matrix by rows: every row is a long one (long_rows.cuh), in as many parts as keep the device busy.
/// Compiled once for each type of its values.

#include "products.hpp"
#include "runtime/check.cuh"
#include "runtime/traits.hpp"
#include "spmv/long_rows.cuh"
#include "spmv/scale.cuh"

#include <algorithm>
#include <string>
#include <vector>

namespace solver::cuda {

/// One row, whose entry k is in column k.
template <class T>
struct DenseRow {
    using Offset = std::int32_t;

    Offset columns;
    const T* values;

    __device__ __forceinline__ Offset begin(Offset) const { return 0; }
    __device__ __forceinline__ Offset end(Offset) const { return columns; }
    __device__ __forceinline__ T value(Offset entry) const { return __ldg(values + entry); }
    __device__ __forceinline__ std::int32_t column(Offset entry) const { return entry; }
};

template <class T>
struct DenseRows {
    using Offset = std::int32_t;

    Offset columns;
    const T* values;

    __device__ __forceinline__ DenseRow<T> of(Offset row) const {
        return {columns, values + static_cast<std::int64_t>(row) * columns};
    }
};

/// How rows are divided among warps.
struct RowParts {
    std::int32_t count;   ///< of each row
    std::int32_t length;  ///< of each part but the last
};
inline RowParts parts_of_rows(std::int64_t rows, std::int64_t columns, int multiprocessors) {
    constexpr std::int64_t warps_a_multiprocessor = 64;
    constexpr std::int64_t least = 512;  // elements: merging parts costs as much as several of them
    const std::int64_t wanted = warps_a_multiprocessor * multiprocessors / std::max<std::int64_t>(rows, 1);
    const std::int64_t count = std::clamp<std::int64_t>(columns / least, 1, std::max<std::int64_t>(wanted, 1));
    const std::int64_t length = (columns + count * warp_size - 1) / (count * warp_size) * warp_size;
    return {static_cast<std::int32_t>(std::max<std::int64_t>((columns + length - 1) / std::max<std::int64_t>(length, 1), 1)),
            static_cast<std::int32_t>(length)};
}

template <class T>
class DenseByRows final : public MatrixProducts<T> {
public:
    DenseByRows(const DeviceDenseRows<T>& a, Stream stream, std::int64_t most_columns)
        : device_(a.device),
          n_(a.rows),
          rows_{static_cast<std::int32_t>(a.columns), a.values},
          traits_(traits_of(a.device)),
          most_columns_(most_columns),
          escalated_(a.device, 1, "what products count") {
        const RowParts parts = parts_of_rows(a.rows, a.columns, traits_.multiprocessors);
        std::vector<Segment<std::int32_t>> segments;
        for (std::int32_t row = 0; row < a.rows; ++row)
            for (std::int32_t i = 0; i < parts.count; ++i)
                segments.push_back(
                    {row, i * parts.length, std::min((i + 1) * parts.length, rows_.columns), row * parts.count, parts.count});
        segments_ = DeviceArray<Segment<std::int32_t>>(device_, segments, "parts of dense rows", stream);
        if (parts.count > 1) {
            arrived_ = DeviceArray<unsigned>(device_, most_columns * segments_.size(), "counters of dense rows");
            partial_ = DeviceArray<LargestRowSum>(device_, arrived_.size(), "partial sums of dense rows");
            arrived_.fill_with_zeros(stream);
        }
        escalated_.fill_with_zeros(stream);
        synchronize(device_, stream);
    }

    using MatrixProducts<T>::multiply;

    void multiply(const RowTask<T>& task, const Columns& columns, Accuracy accuracy, Stream stream, Gate gate) const override {
        require_columns(columns, most_columns_);
        if (n_ == 0) return;
        const CurrentDevice current(device_);
        if (task.alpha == T(0)) {
            for (std::int64_t j = 0; j < columns.count; ++j)
                scale<<<blocks_for(n_, plain_threads), plain_threads, 0, stream>>>(n_, column_of(task, j * columns.stride),
                                                                                   gate_of(gate, columns, j));
            return check_launch("scale");
        }
        with_accumulator<T, RowsOnGpu>(accuracy, traits_.float_sums, [&](auto accumulator) {
            using A = typename decltype(accumulator)::type;
            if (task.x_low == nullptr)
                launch<A, false>(task, columns, stream, gate);
            else
                launch<A, true>(task, columns, stream, gate);
        });
    }

    std::int64_t workspace_bytes() const override {
        return segments_.bytes() + arrived_.bytes() + partial_.bytes() + escalated_.bytes();
    }

    std::int64_t rows_not_certified(Stream stream) const override {
        unsigned count = 0;
        escalated_.copy_to(std::span(&count, 1), stream);
        return count;
    }

private:
    template <Accumulator A, bool paired>
    void launch(const RowTask<T>& task, const Columns& columns, Stream stream, Gate gate) const {
        const LongRows<std::int32_t> parts{segments_.data(), static_cast<std::int32_t>(segments_.size()), arrived_.data(),
                                           partial_.data()};
        const unsigned blocks = blocks_for(segments_.size() * warp_size, long_row_threads);
        multiply_long_rows<A, paired><<<static_cast<unsigned>(columns.count) * blocks, long_row_threads, 0, stream>>>(
            rows_, task, parts, columns, escalated_.data(), gate);
        check_launch("multiply_long_rows");
    }

    int device_;
    std::int64_t n_;
    DenseRows<T> rows_;
    Traits traits_;
    std::int64_t most_columns_;
    DeviceArray<Segment<std::int32_t>> segments_;
    DeviceArray<unsigned> arrived_;  ///< where rows have several parts
    DeviceArray<LargestRowSum> partial_;
    DeviceArray<unsigned> escalated_;
};

template <class T>
std::unique_ptr<MatrixProducts<T>> make_products(const DeviceDenseRows<T>& a, Stream stream, std::int64_t most_columns) {
    if (a.rows > largest_narrow || a.columns > largest_narrow)
        throw NotSupported("a dense matrix of " + std::to_string(a.rows) + " x " + std::to_string(a.columns) +
                           " on a CUDA device: more rows or columns than 32 bits count");
    const CurrentDevice current(a.device);
    return std::make_unique<DenseByRows<T>>(a, stream, most_columns);
}

}  // namespace solver::cuda
