#pragma once

/// The 1-norms of the columns of a matrix.

#include "core/huge_pages.hpp"
#include "core/thread_pool.hpp"
#include "solver/device.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/spmv.hpp"
#include "solver/views.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace solver {
namespace detail {

/// A thread for each part of so many entries that is worth one.
inline int parts_of_entries(std::int64_t entries, const Device& device) {
    constexpr std::int64_t worth_a_thread = 32768;
    return static_cast<int>(std::clamp<std::int64_t>(entries / worth_a_thread, 1, device.threads()));
}

/// Adds up the norms of a range of columns from blocks of rows, of which only those are read that have entries there.
template <class T>
class NormsOfColumns {
public:
    NormsOfColumns(const CsrView<T>& a, const Device& device)
        : a_(a), parts_(parts_of_entries(a.nonzeros(), device)), norms_(zeros<T>(a.columns, parts_)) {
        if (parts_ > 1) find_ranges();
        if (is_scattered()) parts_ = 1;
    }

    std::vector<T> find() {
        cpu::parallel_for(parts_, [&](int part) {
            add(cpu::share_begin(a_.columns, part, parts_), cpu::share_begin(a_.columns, part + 1, parts_));
        });
        return std::move(norms_);
    }

private:
    static constexpr std::int64_t rows_a_block = 1024;

    struct Range {
        std::int32_t first = 0;
        std::int32_t last = -1;
    };

    std::int64_t blocks() const { return (a_.rows + rows_a_block - 1) / rows_a_block; }
    std::int64_t begin_of(std::int64_t block) const { return a_.row_offsets[std::min(block * rows_a_block, a_.rows)]; }

    void find_ranges() {
        ranges_.resize(static_cast<std::size_t>(blocks()));
        cpu::parallel_for(parts_, [&](int part) {
            for (auto b = cpu::share_begin(blocks(), part, parts_); b < cpu::share_begin(blocks(), part + 1, parts_); ++b) {
                const auto columns = a_.column_indices.subspan(begin_of(b), begin_of(b + 1) - begin_of(b));
                if (columns.empty()) continue;
                const auto [first, last] = std::ranges::minmax(columns);
                ranges_[b] = {first, last};
            }
        });
    }

    /// Whether every thread would have to read a good part of the matrix.
    bool is_scattered() const {
        std::int64_t widths = 0;
        for (const Range& range : ranges_) widths += range.last - range.first + 1;
        return 4 * widths > a_.columns * std::ssize(ranges_);
    }

    void add(std::int64_t first, std::int64_t last) {
        for (std::int64_t b = 0; b < blocks(); ++b) {
            const Range range = parts_ == 1 ? Range{0, -1} : ranges_[b];
            if (parts_ == 1 || (range.first >= first && range.last < last))
                add_block(b, [](std::int32_t) { return true; });
            else if (range.first < last && range.last >= first)
                add_block(b, [=](std::int32_t j) { return j >= first && j < last; });
        }
    }

    template <class IsMine>
    void add_block(std::int64_t block, const IsMine& is_mine) {
        for (std::int64_t k = begin_of(block); k < begin_of(block + 1); ++k)
            if (const std::int32_t j = a_.column_indices[k]; is_mine(j)) norms_[j] = add_rn(norms_[j], magnitude(a_.values[k]));
    }

    CsrView<T> a_;
    int parts_;
    std::vector<T> norms_;
    std::vector<Range> ranges_;  ///< the columns of each block
};

}  // namespace detail

/// sum_i |a_ij| for each j, added up by rows in order, so that the bits are the same everywhere.
template <class T>
std::vector<T> one_norms_of_columns(const CsrView<T>& a, const Device& device = Device::cpu(1)) {
    return detail::NormsOfColumns<T>(a, device).find();
}
template <class T>
std::vector<T> one_norms_of_columns(const DenseView<T>& a, const Device& device = Device::cpu(1)) {
    const int parts = detail::parts_of_entries(a.rows * a.columns, device);
    std::vector<T> norms(static_cast<std::size_t>(a.columns));
    cpu::parallel_for(parts, [&](int part) {
        const std::int64_t end = cpu::share_begin(a.columns, part + 1, parts);
        for (std::int64_t i = 0; i < a.rows; ++i)
            for (std::int64_t j = cpu::share_begin(a.columns, part, parts); j < end; ++j)
                norms[j] = add_rn(norms[j], magnitude(a.data[i * a.row_stride + j * a.column_stride]));
    });
    return norms;
}
template <class T>
std::vector<T> one_norms_of_columns(const SpmvPlan<T>& a) {
    return a.dense() != nullptr ? one_norms_of_columns(*a.dense(), a.device()) : one_norms_of_columns(a.matrix(), a.device());
}

}  // namespace solver
