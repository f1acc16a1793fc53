#include "solver/preparation.hpp"

#include "core/floating_point_guard.hpp"
#include "core/sorted_rows.hpp"
#include "core/thread_pool.hpp"
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
#include <limits>
#include <numeric>
#include <utility>

namespace solver {
namespace {

template <class T>
void require_square(const CsrView<T>& a, const char* operation) {
    if (a.rows != a.columns)
        throw DimensionMismatch(fmt::format("{}: A is {} x {}, but must be square", operation, a.rows, a.columns));
}

template <class T>
void require_finite(const CsrView<T>& a, const char* operation) {
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            if (!is_finite(a.values[k]))
                throw InvalidArgument(fmt::format("{}: entry ({}, {}), counted from 1, is {}; every entry must be finite",
                                                  operation, i + 1, a.column_indices[k] + 1, a.values[k]));
}

/// Calls work with a view of A that has sorted rows.
template <class T, class Work>
auto with_usable(const CsrView<T>& a, const char* operation, const Work& work) {
    const cpu::FloatingPointGuard guard;  // subnormals are not zero
    require_square(a, operation);
    require_finite(a, operation);
    if (has_sorted_rows(a)) return work(a);
    const CsrMatrix<T> sorted = with_sorted_rows(a);
    require_finite(sorted.view(), operation);  // sums may overflow
    return work(sorted.view());
}

/// The nonzeros of a, without weights.
template <class T>
preparation::WeightedGraph graph_of_nonzeros(const CsrView<T>& a) {
    preparation::WeightedGraph graph;
    graph.row_offsets.reserve(static_cast<std::size_t>(a.rows) + 1);
    graph.columns.reserve(a.values.size());
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            if (a.values[k] != 0) graph.columns.push_back(a.column_indices[k]);
        graph.row_offsets.push_back(static_cast<std::int64_t>(graph.columns.size()));
    }
    graph.weights.resize(graph.columns.size());
    return graph;
}

/// Gives the nonzeros of a their logarithms.
template <class T>
void weigh(preparation::WeightedGraph& graph, const CsrView<T>& a, int threads) {
    constexpr std::int64_t worth_a_thread = 8192;
    const auto parts = static_cast<int>(std::clamp<std::int64_t>(a.nonzeros() / worth_a_thread, 1, threads));
    cpu::parallel_for(parts, [&](int part) {
        for (std::int64_t i = cpu::share_begin(a.rows, part, parts); i < cpu::share_begin(a.rows, part + 1, parts); ++i) {
            std::int64_t at = graph.row_offsets[i];
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
                if (a.values[k] != 0) graph.weights[at++] = preparation::log2_magnitude(a.values[k]);
        }
    });
}

template <class T>
Transversal transversal_of_sorted(const CsrView<T>& a, int threads) {
    preparation::WeightedGraph graph = graph_of_nonzeros(a);
    weigh(graph, a, threads);
    return maximum_weight_matching(graph, affordable_steps(graph));
}

/// The fill-reducing order of the matrix whose row j is row row_of_column[j] of a.
template <class T>
preparation::FillOrder fill_order(const CsrView<T>& a, const std::vector<std::int32_t>& row_of_column) {
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

template <class T>
CsrMatrix<T> apply_to_sorted(const CsrView<T>& a, const Preparation& p) {
    std::vector<std::int32_t> place(p.column_order.size());
    for (std::size_t l = 0; l < place.size(); ++l) place[p.column_order[l]] = static_cast<std::int32_t>(l);
    CsrMatrix<T> result;
    result.rows = result.columns = a.rows;
    result.row_offsets.reserve(static_cast<std::size_t>(a.rows) + 1);
    result.column_indices.reserve(a.values.size());
    result.values.reserve(a.values.size());
    std::vector<std::pair<std::int32_t, T>> row;
    for (const std::int32_t i : p.row_order) {
        row.clear();
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            const std::int32_t j = a.column_indices[k];
            row.emplace_back(place[j], preparation::scale(a.values[k], p.row_exponents[i] + p.column_exponents[j]));
        }
        const auto stands_before = [](const auto& x, const auto& y) { return x.first < y.first; };
        if (!std::is_sorted(row.begin(), row.end(), stands_before)) std::sort(row.begin(), row.end(), stands_before);
        for (const auto& [column, value] : row) {
            result.column_indices.push_back(column);
            result.values.push_back(value);
        }
        result.row_offsets.push_back(result.nonzeros());
    }
    return result;
}

void count(Occurrences& occurrences, std::int64_t where) {
    if (occurrences.count++ == 0) occurrences.first = where;
}

/// The structural rank, and the rows that are left over.
template <class T>
void match_rows(const CsrView<T>& a, Diagnosis& result) {
    const preparation::WeightedGraph graph = graph_of_nonzeros(a);
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
    return with_usable(a, "maximum product transversal",
                       [](const CsrView<T>& usable) { return transversal_of_sorted(usable, 1); });
}

template <class T>
Preparation prepare(const CsrView<T>& a, Ordering ordering, const Device& device) {
    return with_usable(a, "prepare", [&](const CsrView<T>& usable) {
        if (!preparation::is_real_form(usable)) return prepare_sorted(usable, ordering, device.threads());
        const CsrMatrix<T> blocks = preparation::block_magnitudes(usable);
        return preparation::in_pairs(prepare_sorted(blocks.view(), ordering, device.threads()), usable);
    });
}

template <class T>
CsrMatrix<T> prepared_matrix(const CsrView<T>& a, const Preparation& p) {
    const auto n = static_cast<std::size_t>(a.rows);
    if (a.rows != a.columns || p.row_order.size() != n || p.column_order.size() != n || p.row_exponents.size() != n ||
        p.column_exponents.size() != n)
        throw DimensionMismatch(
            fmt::format("prepared matrix: A is {} x {}, the preparation was made for {} rows and {} columns", a.rows, a.columns,
                        p.row_order.size(), p.column_order.size()));
    const cpu::FloatingPointGuard guard;
    return has_sorted_rows(a) ? apply_to_sorted(a, p) : apply_to_sorted(with_sorted_rows(a).view(), p);
}

template <class T>
Diagnosis diagnose(const CsrView<T>& a, const Device& device) {
    if (preparation::has_full_diagonal(a, device))
        return {.rows = a.rows,
                .structural_rank = a.rows,
                .unmatched_rows = {},
                .empty_rows = {},
                .empty_columns = {},
                .zero_diagonals = {}};
    return with_usable(a, "diagnose", [](const CsrView<T>& usable) { return diagnose_sorted(usable); });
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
template CsrMatrix<float> prepared_matrix(const CsrView<float>&, const Preparation&);
template CsrMatrix<double> prepared_matrix(const CsrView<double>&, const Preparation&);
template Diagnosis diagnose(const CsrView<float>&, const Device&);
template Diagnosis diagnose(const CsrView<double>&, const Device&);

}  // namespace solver
