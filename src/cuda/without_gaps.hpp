#pragma once

/// Dense matrices of the host in the memory of a device.

#include "solver/cuda/memory.hpp"
#include "solver/views.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace solver::cuda {

/// The elements of a matrix without gaps, in the order it has them. What lies between its lines is neither read nor written:
/// it may belong to somebody else.
template <class T>
class WithoutGaps {
public:
    explicit WithoutGaps(const DenseView<T>& a)
        : by_rows_(a.row_stride != 1),
          line_(by_rows_ ? a.columns : a.rows),
          lines_(by_rows_ ? a.rows : a.columns),
          leading_(by_rows_ ? a.row_stride : a.column_stride) {}

    std::int64_t size() const { return line_ * lines_; }

    /// The matrix without gaps, at `data`.
    MutableDenseView<T> view(T* data) const {
        if (by_rows_) return {lines_, line_, line_, 1, data};
        return {line_, lines_, 1, line_, data};
    }

    DeviceArray<T> upload(int device, const T* from, const char* purpose, Stream stream) const {
        if (!has_gaps()) return {device, {from, static_cast<std::size_t>(size())}, purpose, stream};
        std::vector<T> elements(static_cast<std::size_t>(size()));
        for (std::int64_t i = 0; i < lines_; ++i) std::copy_n(from + i * leading_, line_, elements.data() + i * line_);
        return {device, elements, purpose, stream};
    }

    void download(const DeviceArray<T>& from, T* to, Stream stream) const {
        if (!has_gaps()) return from.copy_to({to, static_cast<std::size_t>(size())}, stream);
        std::vector<T> elements(static_cast<std::size_t>(size()));
        from.copy_to(elements, stream);
        for (std::int64_t i = 0; i < lines_; ++i) std::copy_n(elements.data() + i * line_, line_, to + i * leading_);
    }

private:
    bool has_gaps() const { return lines_ > 1 && leading_ > line_; }

    bool by_rows_;
    std::int64_t line_;
    std::int64_t lines_;
    std::int64_t leading_;
};

}  // namespace solver::cuda
