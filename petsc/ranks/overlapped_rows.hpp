#pragma once

/// Products of a rank's rows that run while what other ranks send is on its way.

#include "local_rows.hpp"
#include "place.hpp"
#include "ranks/rank_matrix.hpp"
#include "solver/accuracy.hpp"
#include "solver/csr_matrix.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace petscsolver {

/// The longest run of rows that look at no other rank's elements is multiplied first, the others when these are there.
template <class V>
class OverlappedRows {
public:
    /// The matrix must outlive it unchanged.
    OverlappedRows(const RankMatrix<V>& a, const Place& place, std::int64_t expected_products = 1) : halo_(*a.halo) {
        const auto [begin, end] = longest_inner_run(a);
        const std::int64_t shortest = place.on_device() ? 1 << 16 : 256;  // a run is a kernel, or a plan, of its own
        const std::int64_t rows = a.own.rows;
        const bool is_split = end - begin >= shortest && end - begin < rows;
        if (is_split) inner_.emplace_back(a.own, begin, end, place, expected_products);
        if (!is_split || begin > 0) outer_.emplace_back(a.own, 0, is_split ? begin : rows, place, expected_products);
        if (is_split && end < rows) outer_.emplace_back(a.own, end, rows, place, expected_products);
    }

    /// y = alpha A x + beta z, where x gets the others' elements meanwhile. Collective.
    void fill_and_multiply(const Place& place, V alpha, HaloArray<V>& x, V beta, const V* z, V* y, solver::Accuracy accuracy) {
        halo_.begin_to_fill(place, x);
        multiply(inner_, place, alpha, x.data(), beta, z, y, accuracy);
        halo_.end_filling(x);
        multiply(outer_, place, alpha, x.data(), beta, z, y, accuracy);
    }

    /// Of an x that is complete.
    void multiply(const Place& place, V alpha, const V* x, V beta, const V* z, V* y, solver::Accuracy accuracy) {
        multiply(inner_, place, alpha, x, beta, z, y, accuracy);
        multiply(outer_, place, alpha, x, beta, z, y, accuracy);
    }

private:
    struct Run {
        Run(const solver::CsrMatrix<V>& a, std::int64_t begin, std::int64_t end, const Place& place,
            std::int64_t expected_products)
            : first(begin), offsets(a.row_offsets.begin() + begin, a.row_offsets.begin() + end + 1) {
            const std::int64_t before = offsets.front(), entries = offsets.back() - before;
            for (std::int64_t& offset : offsets) offset -= before;
            const solver::CsrView<V> view{end - begin, a.columns, offsets, std::span(a.column_indices).subspan(before, entries),
                                          std::span(a.values).subspan(before, entries)};
            rows = std::make_unique<LocalRows<V>>(view, place, expected_products);
        }

        std::int64_t first;
        std::vector<std::int64_t> offsets;
        std::unique_ptr<LocalRows<V>> rows;
    };

    struct Range {
        std::int64_t begin = 0, end = 0;
    };

    static Range longest_inner_run(const RankMatrix<V>& a) {
        const std::int64_t first_own = a.halo->first_own(), end_own = first_own + a.halo->own();
        Range longest, now;
        for (std::int64_t i = 0; i < a.own.rows; ++i) {
            const std::int64_t begin = a.own.row_offsets[i], end = a.own.row_offsets[i + 1];
            // columns rise
            const bool is_inner =
                begin == end || (a.own.column_indices[begin] >= first_own && a.own.column_indices[end - 1] < end_own);
            now = is_inner ? Range{now.begin, i + 1} : Range{i + 1, i + 1};
            if (now.end - now.begin > longest.end - longest.begin) longest = now;
        }
        return longest;
    }

    static void multiply(std::vector<Run>& runs, const Place& place, V alpha, const V* x, V beta, const V* z, V* y,
                         solver::Accuracy accuracy) {
        for (Run& run : runs) run.rows->multiply(place, alpha, x, beta, z + run.first, y + run.first, accuracy);
    }

    const Halo& halo_;
    std::vector<Run> inner_, outer_;
};

}  // namespace petscsolver
