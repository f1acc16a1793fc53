#pragma once

#include "solver/cuda/csr.hpp"
#include "solver/cuda/memory.hpp"

#include <cstdint>

namespace solver::cuda {

/// A sparse matrix that was made on its device and owns its memory there.
template <class T>
struct DeviceMatrix {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    DeviceArray<std::int64_t> row_offsets;
    DeviceArray<std::int32_t> column_indices;
    DeviceArray<T> values;

    std::int64_t nonzeros() const { return values.size(); }
    DeviceCsrView<T> view() const {
        return {row_offsets.device(),  rows,         columns, nonzeros(), static_cast<const std::int64_t*>(row_offsets.data()),
                column_indices.data(), values.data()};
    }
};

}  // namespace solver::cuda
