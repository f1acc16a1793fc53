#include "solver/preparation.hpp"

#include "core/floating_point_guard.hpp"
#include "core/huge_pages.hpp"
#include "core/row_ranges.hpp"
#include "core/sorted_rows.hpp"
#include "preparation/blocks.hpp"
#include "preparation/exponents.hpp"
#include "preparation/fill_order.hpp"
#include "preparation/full_diagonal.hpp"
#include "preparation/log2.hpp"
#include "preparation/matching.hpp"
#include "solver/device.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace solver {
namespace {

template <class T>
void require_square(const CsrView<T>& a, const char* operation) {
    if (a.rows != a.columns)
        throw DimensionMismatch(fmt::format("{}: A is {} x {}, but must be square", operation, a.rows, a.columns));
}

template <class T>
void require_finite(const CsrView<T>& a, int threads, const char* operation) {
    std::atomic<bool> all_are_finite{true};
    for_each_row_range(a, threads, [&](std::int64_t begin, std::int64_t end) {
        const auto values = a.values.begin();
        if (!std::all_of(values + a.row_offsets[begin], values + a.row_offsets[end], [](T value) { return is_finite(value); }))
            all_are_finite = false;
    });
    for (std::int64_t i = 0; i < a.rows && !all_are_finite; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            if (!is_finite(a.values[k]))
                throw InvalidArgument(fmt::format("{}: entry ({}, {}), counted from 1, is {}; every entry must be finite",
                                                  operation, i + 1, a.column_indices[k] + 1, a.values[k]));
}

/// Calls work with a view of A that has sorted rows.
template <class T, class Work>
auto with_usable(const CsrView<T>& a, int threads, const char* operation, const Work& work) {
    const cpu::FloatingPointGuard guard;  // subnormals are not zero
    require_square(a, operation);
    require_finite(a, threads, operation);
    if (has_sorted_rows(a, Device::cpu(threads))) return work(a);
    const CsrMatrix<T> sorted = with_sorted_rows(a);
    require_finite(sorted.view(), threads, operation);  // sums may overflow
    return work(sorted.view());
}

/// The nonzeros of a, without weights.
template <class T>
preparation::WeightedGraph graph_of_nonzeros(const CsrView<T>& a, int threads) {
    preparation::WeightedGraph graph;
    graph.row_offsets.resize(static_cast<std::size_t>(a.rows) + 1);
    for_each_row_range(a, threads, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            graph.row_offsets[i + 1] = a.row_length(i) - std::count(a.values.begin() + a.row_offsets[i],
                                                                    a.values.begin() + a.row_offsets[i + 1], T(0));
    });
    std::partial_sum(graph.row_offsets.begin(), graph.row_offsets.end(), graph.row_offsets.begin());
    resize_in_huge_pages(graph.columns, graph.row_offsets.back(), threads);
    resize_in_huge_pages(graph.weights, graph.row_offsets.back(), threads);
    for_each_row_range(a, threads, [&](std::int64_t begin, std::int64_t end) {
        auto to = graph.columns.begin() + graph.row_offsets[begin];
        for (std::int64_t k = a.row_offsets[begin]; k < a.row_offsets[end]; ++k)
            if (a.values[k] != 0) *to++ = a.column_indices[k];
    });
    return graph;
}

/// Gives the nonzeros of a their logarithms.
template <class T>
void weigh(preparation::WeightedGraph& graph, const CsrView<T>& a, int threads) {
    for_each_row_range(a, threads, [&](std::int64_t begin, std::int64_t end) {
        const auto values = a.values.subspan(a.row_offsets[begin], a.row_offsets[end] - a.row_offsets[begin]);
        std::int32_t* to = graph.weights.data() + graph.row_offsets[begin];
        if (graph.row_offsets[end] - graph.row_offsets[begin] == std::ssize(values))
            return preparation::log2_magnitudes(values, to);
        for (const T value : values)
            if (value != 0) *to++ = preparation::log2_magnitude(value);
    });
}

template <class T>
Transversal transversal_of_sorted(const CsrView<T>& a, int threads) {
    preparation::WeightedGraph graph = graph_of_nonzeros(a, threads);
    weigh(graph, a, threads);
    return maximum_weight_matching(graph, affordable_steps(graph));
}

/// The fill-reducing order of the matrix whose row j is row row_of_column[j] of a.
template <class T>
preparation::FillOrder fill_order(const CsrView<T>& a, const std::vector<std::int32_t>& row_of_column) {
    if (preparation::has_only_long_rows(a)) return preparation::natural_order(a.rows);
    if (a.nonzeros() > std::numeric_limits<std::int32_t>::max())
        throw NotSupported(fmt::format("prepare: A has {} entries; AMD takes up to {}; use the natural order", a.nonzeros(),
                                       std::numeric_limits<std::int32_t>::max()));
    std::vector<std::int32_t> offsets{0}, columns;
    offsets.reserve(static_cast<std::size_t>(a.rows) + 1);
    columns.reserve(a.values.size());
    for (const std::int32_t i : row_of_column) {
        columns.insert(columns.end(), a.column_indices.begin() + a.row_offsets[i],
                       a.column_indices.begin() + a.row_offsets[i + 1]);
        offsets.push_back(static_cast<std::int32_t>(columns.size()));
    }
    return preparation::approximate_minimum_degree(offsets, columns);
}

template <class T>
Preparation prepare_sorted(const CsrView<T>& a, Ordering ordering, int threads) {
    Transversal transversal = transversal_of_sorted(a, threads);
    Preparation result;
    result.structural_rank = transversal.structural_rank;
    preparation::set_exponents(result, a, transversal);
    if (ordering == Ordering::natural) {
        result.row_order = std::move(transversal.row_of_column);
        result.column_order.resize(result.row_order.size());
        std::iota(result.column_order.begin(), result.column_order.end(), 0);
        return result;
    }
    preparation::FillOrder fill = fill_order(a, transversal.row_of_column);
    result.fill = fill.fill;
    result.column_order = std::move(fill.order);
    for (const std::int32_t column : result.column_order) result.row_order.push_back(transversal.row_of_column[column]);
    return result;
}

/// Puts the entries of a row in the order of their columns.
template <class T>
void sort_entries(std::span<std::int32_t> columns, std::span<T> values, std::vector<std::pair<std::int32_t, T>>& room) {
    if (std::is_sorted(columns.begin(), columns.end())) return;
    room.clear();
    for (std::size_t k = 0; k < columns.size(); ++k) room.emplace_back(columns[k], values[k]);
    std::sort(room.begin(), room.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    for (std::size_t k = 0; k < columns.size(); ++k) std::tie(columns[k], values[k]) = room[k];
}

template <class T>
CsrMatrix<T> apply_to_sorted(const CsrView<T>& a, const Preparation& p, int threads) {
    std::vector<std::int32_t> place(p.column_order.size());
    for (std::size_t l = 0; l < place.size(); ++l) place[p.column_order[l]] = static_cast<std::int32_t>(l);
    CsrMatrix<T> result{a.rows, a.rows, {0}, {}, {}};
    result.row_offsets.reserve(static_cast<std::size_t>(a.rows) + 1);
    for (const std::int32_t i : p.row_order) result.row_offsets.push_back(result.row_offsets.back() + a.row_length(i));
    resize_in_huge_pages(result.column_indices, result.row_offsets.back(), threads);
    resize_in_huge_pages(result.values, result.row_offsets.back(), threads);
    for_each_row_range(a, threads, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::pair<std::int32_t, T>> room;
        for (std::int64_t to = begin; to < end; ++to) {
            const std::int32_t i = p.row_order[to];
            const std::int64_t length = a.row_length(i);
            const std::span columns(result.column_indices.data() + result.row_offsets[to], static_cast<std::size_t>(length));
            const std::span values(result.values.data() + result.row_offsets[to], static_cast<std::size_t>(length));
            for (std::int64_t k = 0; k < length; ++k) {
                const std::int32_t j = a.column_indices[a.row_offsets[i] + k];
                columns[k] = place[j];
                values[k] = preparation::scale(a.values[a.row_offsets[i] + k], p.row_exponents[i] + p.column_exponents[j]);
            }
            sort_entries(columns, values, room);
        }
    });
    return result;
}

void count(Occurrences& occurrences, std::int64_t where) {
    if (occurrences.count++ == 0) occurrences.first = where;
}

/// The structural rank, and the rows that are left over.
template <class T>
void match_rows(const CsrView<T>& a, Diagnosis& result) {
    const preparation::WeightedGraph graph = graph_of_nonzeros(a, 1);
    const Transversal matching = maximum_weight_matching(graph, preparation::no_steps);
    result.structural_rank = matching.structural_rank;
    if (result.structural_rank == result.rows) return;
    std::vector<std::int32_t> column_of_row(static_cast<std::size_t>(result.rows));
    for (std::size_t j = 0; j < column_of_row.size(); ++j)
        column_of_row[matching.row_of_column[j]] = static_cast<std::int32_t>(j);
    for (std::int64_t i = 0; i < result.rows; ++i) {
        const auto begin = graph.columns.begin() + graph.row_offsets[i];
        const auto end = graph.columns.begin() + graph.row_offsets[i + 1];
        if (!std::binary_search(begin, end, column_of_row[i])) count(result.unmatched_rows, i);
    }
}

template <class T>
Diagnosis diagnose_sorted(const CsrView<T>& a) {
    Diagnosis result;
    result.rows = result.structural_rank = a.rows;
    std::vector<bool> column_seen(static_cast<std::size_t>(a.columns));
    for (std::int64_t i = 0; i < a.rows; ++i) {
        bool row_seen = false, diagonal_seen = false;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            if (a.values[k] == 0) continue;
            row_seen = column_seen[a.column_indices[k]] = true;
            diagonal_seen = diagonal_seen || a.column_indices[k] == i;
        }
        if (!row_seen) count(result.empty_rows, i);
        if (!diagonal_seen) count(result.zero_diagonals, i);
    }
    for (std::int64_t j = 0; j < a.columns; ++j)
        if (!column_seen[j]) count(result.empty_columns, j);
    if (result.zero_diagonals.count > 0) match_rows(a, result);  // a full diagonal is a matching itself
    return result;
}

}  // namespace

template <class T>
Transversal maximum_product_transversal(const CsrView<T>& a) {
    check(a);
    return with_usable(a, 1, "maximum product transversal",
                       [](const CsrView<T>& usable) { return transversal_of_sorted(usable, 1); });
}

template <class T>
Preparation prepare(const CsrView<T>& a, Ordering ordering, const Device& device) {
    check(a, device);
    return with_usable(a, device.threads(), "prepare", [&](const CsrView<T>& usable) {
        if (!preparation::is_real_form(usable)) return prepare_sorted(usable, ordering, device.threads());
        const CsrMatrix<T> blocks = preparation::block_magnitudes(usable);
        return preparation::in_pairs(prepare_sorted(blocks.view(), ordering, device.threads()), usable);
    });
}

template <class T>
CsrMatrix<T> prepared_matrix(const CsrView<T>& a, const Preparation& p, const Device& device) {
    const auto n = static_cast<std::size_t>(a.rows);
    if (a.rows != a.columns || p.row_order.size() != n || p.column_order.size() != n || p.row_exponents.size() != n ||
        p.column_exponents.size() != n)
        throw DimensionMismatch(
            fmt::format("prepared matrix: A is {} x {}, the preparation was made for {} rows and {} columns", a.rows, a.columns,
                        p.row_order.size(), p.column_order.size()));
    check(a, device);
    const cpu::FloatingPointGuard guard;
    return has_sorted_rows(a, device) ? apply_to_sorted(a, p, device.threads())
                                      : apply_to_sorted(with_sorted_rows(a).view(), p, device.threads());
}

template <class T>
Diagnosis diagnose(const CsrView<T>& a, const Device& device) {
    check(a, device);
    if (preparation::has_full_diagonal(a, device))
        return {.rows = a.rows,
                .structural_rank = a.rows,
                .unmatched_rows = {},
                .empty_rows = {},
                .empty_columns = {},
                .zero_diagonals = {}};
    return with_usable(a, device.threads(), "diagnose", [](const CsrView<T>& usable) { return diagnose_sorted(usable); });
}

/// A cover of the complex entries by c rows and columns gives one of the real form by 2c, a matching of c of them one of 2c:
/// by König's theorem the structural rank of the real form is twice that of the matrix.
Diagnosis in_complex_numbers(const Diagnosis& real_form) {
    const auto halved = [](const Occurrences& found) {
        return Occurrences{found.count / 2, found.count > 0 ? found.first / 2 : -1};
    };
    return {.rows = real_form.rows / 2,
            .structural_rank = real_form.structural_rank / 2,
            .unmatched_rows = halved(real_form.unmatched_rows),
            .empty_rows = halved(real_form.empty_rows),
            .empty_columns = halved(real_form.empty_columns),
            .zero_diagonals = halved(real_form.zero_diagonals)};
}

template Transversal maximum_product_transversal(const CsrView<float>&);
template Transversal maximum_product_transversal(const CsrView<double>&);
template Preparation prepare(const CsrView<float>&, Ordering, const Device&);
template Preparation prepare(const CsrView<double>&, Ordering, const Device&);
template CsrMatrix<float> prepared_matrix(const CsrView<float>&, const Preparation&, const Device&);
template CsrMatrix<double> prepared_matrix(const CsrView<double>&, const Preparation&, const Device&);
template Diagnosis diagnose(const CsrView<float>&, const Device&);
template Diagnosis diagnose(const CsrView<double>&, const Device&);

}  // namespace solver
