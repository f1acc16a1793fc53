#pragma once

/// What is to be done with the rows of a matrix, how their entries are reached, and the last resort for one row.

#include "solver/numeric/error_free.hpp"
#include "solver/numeric/superaccumulator.hpp"
#include "solver/views.hpp"

#include <cstddef>
#include <cstdint>

namespace solver::cpu {

/// y_i = alpha sum_k a_ik (x_k + x_low_k) + beta y_in_i
template <class T>
struct RowTask {
    T alpha = 1;
    const T* x = nullptr;
    const T* x_low = nullptr;  ///< or none
    T beta = 0;
    const T* y_in = nullptr;  ///< read only where beta is not 0; may be y
    T* y = nullptr;
};

/// Hides where a value comes from, so that the compiler addresses several rows by one pointer and their offsets, not by
/// pointers of their own, for which there are too few registers.
template <class T>
inline T opaque(T value) {
#if defined(__GNUC__)
    asm("" : "+r"(value));
#endif
    return value;
}

/// How kernels read stored rows: entry k of the row that starts at start(row) has a value and a column. The one place that
/// knows the storage. entry(k) is the same for the k-th entries of many rows.
template <class T>
class CsrRows {
public:
    explicit CsrRows(const CsrView<T>& a)
        : offsets_(a.row_offsets), columns_(a.column_indices.data()), values_(a.values.data()), nonzeros_(a.nonzeros()) {}

    std::int64_t start(std::int64_t row) const { return offsets_[row]; }
    std::int64_t length(std::int64_t row) const { return offsets_[row + 1] - offsets_[row]; }

    /// Starts and lengths of rows first, first + 1, ..., with one look at the width of the offsets.
    template <std::size_t rows>
    void find(std::int64_t first, std::int64_t (&start)[rows], std::int64_t (&length)[rows]) const {
        if (const auto* const narrow = offsets_.template as<std::int32_t>())
            find(narrow + first, start, length);
        else
            find(offsets_.template as<std::int64_t>() + first, start, length);
    }

    struct Entry {
        const T* values;
        const std::int32_t* columns;
        T value(std::int64_t start) const { return values[start]; }
        std::int64_t column(std::int64_t start) const { return columns[start]; }
    };
    Entry entry(std::int64_t k) const { return {opaque(values_ + k), opaque(columns_ + k)}; }

    /// Whether the entries k, k + 1, ... of a row lie side by side from entry(k).values + start on.
    static constexpr bool is_contiguous() { return true; }

    /// Asks for the memory of the entries from `start` on, a line of it.
    void prefetch(std::int64_t start) const {
        __builtin_prefetch(values_ + start);
        __builtin_prefetch(columns_ + start);
    }

    /// Whether `count` entries from start on may be read, also where they belong to later rows.
    bool may_overrun(std::int64_t start, std::int64_t count) const { return start + count <= nonzeros_; }

private:
    template <class Offset, std::size_t rows>
    static void find(const Offset* offsets, std::int64_t (&start)[rows], std::int64_t (&length)[rows]) {
        for (std::size_t i = 0; i < rows; ++i) start[i] = offsets[i];
        for (std::size_t i = 0; i < rows; ++i) length[i] = std::int64_t{offsets[i + 1]} - std::int64_t{offsets[i]};
    }

    RowOffsetPointer offsets_;
    const std::int32_t* columns_;
    const T* values_;
    std::int64_t nonzeros_;
};

template <class T>
class DenseRows {
public:
    explicit DenseRows(const DenseView<T>& a) : a_(a) {}

    std::int64_t start(std::int64_t row) const { return row * a_.row_stride; }
    std::int64_t length(std::int64_t) const { return a_.columns; }

    template <std::size_t rows>
    void find(std::int64_t first, std::int64_t (&start_of)[rows], std::int64_t (&length_of)[rows]) const {
        for (std::size_t i = 0; i < rows; ++i) start_of[i] = start(first + static_cast<std::int64_t>(i));
        for (std::size_t i = 0; i < rows; ++i) length_of[i] = a_.columns;
    }

    struct Entry {
        const T* values;
        std::int64_t k;
        T value(std::int64_t start) const { return values[start]; }
        std::int64_t column(std::int64_t) const { return k; }
    };
    Entry entry(std::int64_t k) const { return {opaque(a_.data + k * a_.column_stride), k}; }

    bool is_contiguous() const { return a_.column_stride == 1; }
    static constexpr bool may_overrun(std::int64_t, std::int64_t) { return false; }
    static void prefetch(std::int64_t) {}

private:
    DenseView<T> a_;
};

/// Whether every product of entries first..last-1 of a row has an exact two_prod.
template <class Rows, class T>
bool products_are_exact(const Rows& rows, std::int64_t start, std::int64_t first, std::int64_t last, const RowTask<T>& task) {
    for (std::int64_t k = first; k < last; ++k) {
        const T a = rows.entry(k).value(start);
        const auto j = rows.entry(k).column(start);
        if (!product_is_exact(a, task.x[j])) return false;
        if (task.x_low != nullptr && !product_is_exact(a, task.x_low[j])) return false;
    }
    return true;
}

/// RN(alpha sum + beta y_in) of entries first..last-1 of a row, by the superaccumulator.
template <class Rows, class T>
T round_exactly(const Rows& rows, std::int64_t start, std::int64_t first, std::int64_t last, const RowTask<T>& task,
                std::int64_t row) {
    Superaccumulator total;
    for (std::int64_t k = first; k < last; ++k) {
        const T a = rows.entry(k).value(start);
        const auto j = rows.entry(k).column(start);
        total.add_product(a, task.x[j]);
        if (task.x_low != nullptr) total.add_product(a, task.x_low[j]);
    }
    if (task.alpha != T(1)) total.multiply(task.alpha);
    if (task.beta != T(0)) total.add_product(task.beta, task.y_in[row]);
    return total.template result<T>();
}

}  // namespace solver::cpu
