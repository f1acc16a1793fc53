#include "ranks/rank_matrix.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace petscsolver {
namespace {

using solver::CsrMatrix;
using solver::CsrView;

std::vector<std::int32_t> others_among(std::span<const std::int32_t> columns, const Layout& layout) {
    std::vector<std::int32_t> others;
    std::copy_if(columns.begin(), columns.end(), std::back_inserter(others),
                 [&](std::int32_t column) { return !layout.owns(column); });
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    return others;
}

/// Rows of several parts one after another, each row from the part that is asked for it.
template <class T>
struct RowsOfOwners {
    std::vector<std::vector<std::int64_t>> lengths;
    std::vector<std::vector<std::int32_t>> columns;
    std::vector<std::vector<T>> values;
};

/// What the ranks have of the rows that were asked of them.
template <class T>
RowsOfOwners<T> answers(const Ranks& ranks, const RankMatrix<T>& a, const std::vector<std::vector<std::int32_t>>& asked) {
    RowsOfOwners<T> mine{ranks.lists<std::int64_t>(), ranks.lists<std::int32_t>(), ranks.lists<T>()};
    const CsrMatrix<T>& own = a.own;
    for (std::size_t r = 0; r < asked.size(); ++r)
        for (const std::int32_t row : asked[r]) {
            const std::int64_t i = row - a.layout.begin(), begin = own.row_offsets[i], end = own.row_offsets[i + 1];
            mine.lengths[r].push_back(end - begin);
            for (std::int64_t k = begin; k < end; ++k) mine.columns[r].push_back(a.halo->global(own.column_indices[k]));
            mine.values[r].insert(mine.values[r].end(), own.values.begin() + begin, own.values.begin() + end);
        }
    return {ranks.exchanged(mine.lengths), ranks.exchanged(mine.columns), ranks.exchanged(mine.values)};
}

template <class T>
void append(CsrMatrix<T>& rows, std::span<const std::int32_t> columns, std::span<const T> values) {
    rows.column_indices.insert(rows.column_indices.end(), columns.begin(), columns.end());
    rows.values.insert(rows.values.end(), values.begin(), values.end());
    rows.row_offsets.push_back(std::ssize(rows.values));
}

template <class T>
void append_own(CsrMatrix<T>& rows, const RankMatrix<T>& a, std::int64_t i) {
    const std::int64_t begin = a.own.row_offsets[i], end = a.own.row_offsets[i + 1];
    for (std::int64_t k = begin; k < end; ++k) rows.column_indices.push_back(a.halo->global(a.own.column_indices[k]));
    rows.values.insert(rows.values.end(), a.own.values.begin() + begin, a.own.values.begin() + end);
    rows.row_offsets.push_back(std::ssize(rows.values));
}

/// An entry of a transpose, with all ranks' numbers.
template <class T>
struct Sent {
    std::int32_t row;
    std::int32_t column;
    T value;
};

/// f(row, column, value) with all ranks' numbers for the entries of the transpose of this rank's rows of A.
template <class T, class F>
void for_each_entry(const RankMatrix<T>& a, const CsrMatrix<T>& part, const F& f) {
    const auto first = static_cast<std::int32_t>(a.layout.begin());
    for (std::int64_t i = 0; i < part.rows; ++i)
        for (std::int64_t k = part.row_offsets[i]; k < part.row_offsets[i + 1]; ++k)
            f(a.halo->global(i), first + part.column_indices[k], part.values[k]);
}

/// This rank's rows of the transpose. Ranks have rising columns of it, so that rows are sorted by taking what comes from them
/// in their order.
template <class T>
CsrMatrix<T> merged(const Ranks& ranks, const RankMatrix<T>& a, const CsrMatrix<T>& part,
                    const std::vector<std::vector<Sent<T>>>& from) {
    const Layout& rows = a.halo->layout();
    const auto for_each = [&](const auto& f) {
        for (int r = 0; r < ranks.size(); ++r) {
            for (const Sent<T>& entry : from[r]) f(entry.row - rows.begin(), entry.column, entry.value);
            if (r != ranks.rank()) continue;
            for_each_entry(a, part, [&](std::int32_t row, std::int32_t column, T value) {
                if (rows.owns(row)) f(row - rows.begin(), column, value);
            });
        }
    };
    CsrMatrix<T> own{rows.own(), a.layout.all(), std::vector<std::int64_t>(static_cast<std::size_t>(rows.own()) + 1), {}, {}};
    for_each([&](std::int64_t row, std::int32_t, T) { ++own.row_offsets[row + 1]; });
    std::inclusive_scan(own.row_offsets.begin(), own.row_offsets.end(), own.row_offsets.begin());
    own.column_indices.resize(static_cast<std::size_t>(own.row_offsets.back()));
    own.values.resize(static_cast<std::size_t>(own.row_offsets.back()));
    std::vector<std::int64_t> next(own.row_offsets.begin(), own.row_offsets.end() - 1);
    for_each([&](std::int64_t row, std::int32_t column, T value) {
        own.column_indices[next[row]] = column;
        own.values[next[row]++] = value;
    });
    return own;
}

}  // namespace

template <class T>
SquareRows<T>::SquareRows(const RankMatrix<T>& a) : a_(a) {
    offsets_.assign(static_cast<std::size_t>(a.halo->first_own()), 0);
    offsets_.insert(offsets_.end(), a.own.row_offsets.begin(), a.own.row_offsets.end());
    offsets_.resize(static_cast<std::size_t>(a.halo->size()) + 1, a.own.nonzeros());
}

template <class T>
std::shared_ptr<const Halo> number_columns(const Ranks& ranks, const Layout& columns, CsrMatrix<T>& rows) {
    auto halo = std::make_shared<const Halo>(ranks, columns, others_among(rows.column_indices, columns));
    for (std::int32_t& column : rows.column_indices) column = halo->local(column);
    rows.columns = halo->size();
    return halo;
}

template <class T>
RankMatrix<T> rank_matrix(const Ranks& ranks, const Layout& rows, const Layout& columns, CsrMatrix<T> own) {
    RankMatrix<T> a{rows.all(), ranks.sum(own.nonzeros()), rows, {}, std::move(own)};
    a.halo = number_columns(ranks, columns, a.own);
    return a;
}

template <class T>
RankMatrix<T> renumbered(const RankMatrix<T>& a, std::shared_ptr<const Halo> halo) {
    RankMatrix<T> result = a;
    std::vector<std::int32_t> number;
    for (const std::int32_t global : a.halo->globals()) number.push_back(halo->local(global));
    for (std::int32_t& column : result.own.column_indices) column = number[column];
    result.own.columns = halo->size();
    result.halo = std::move(halo);
    return result;
}

std::shared_ptr<const Halo> united(const Ranks& ranks, const Halo& one, const Halo& other) {
    std::vector<std::int32_t> others;
    std::set_union(one.others().begin(), one.others().end(), other.others().begin(), other.others().end(),
                   std::back_inserter(others));
    return std::make_shared<const Halo>(ranks, one.layout(), std::move(others));
}

template <class T>
CsrMatrix<T> rows_of(const Ranks& ranks, const RankMatrix<T>& a, std::span<const std::int32_t> rows) {
    auto asked = ranks.lists<std::int32_t>();
    for (const std::int32_t row : rows)
        if (!a.layout.owns(row)) asked[a.layout.owner(row)].push_back(row);
    const RowsOfOwners<T> others = answers(ranks, a, ranks.exchanged(asked));
    std::vector<std::int64_t> rows_taken(asked.size()), entries_taken(asked.size());
    CsrMatrix<T> result{std::ssize(rows), a.halo->layout().all(), {0}, {}, {}};
    std::size_t entries = 0;
    for (const std::int32_t row : rows)
        if (a.layout.owns(row)) entries += static_cast<std::size_t>(a.own.view().row_length(row - a.layout.begin()));
    for (const auto& values : others.values) entries += values.size();
    result.row_offsets.reserve(rows.size() + 1);
    result.column_indices.reserve(entries);
    result.values.reserve(entries);
    for (const std::int32_t row : rows) {
        if (a.layout.owns(row)) {
            append_own(result, a, row - a.layout.begin());
            continue;
        }
        const int owner = a.layout.owner(row);
        const std::int64_t length = others.lengths[owner][rows_taken[owner]++], begin = entries_taken[owner];
        entries_taken[owner] += length;
        append<T>(result, std::span(others.columns[owner]).subspan(begin, length),
                  std::span(others.values[owner]).subspan(begin, length));
    }
    return result;
}

template <class T>
CsrMatrix<T> gathered(const Ranks& ranks, const RankMatrix<T>& a) {
    std::vector<std::int64_t> lengths;
    std::vector<std::int32_t> columns;
    for (std::int64_t i = 0; i < a.own.rows; ++i) lengths.push_back(a.own.row_offsets[i + 1] - a.own.row_offsets[i]);
    for (const std::int32_t column : a.own.column_indices) columns.push_back(a.halo->global(column));
    CsrMatrix<T> all{a.rows, a.halo->layout().all(), {0}, {}, ranks.gathered(std::span<const T>(a.own.values))};
    all.column_indices = ranks.gathered(std::span<const std::int32_t>(columns));
    const std::vector<std::int64_t> all_lengths = ranks.gathered(std::span<const std::int64_t>(lengths));
    std::inclusive_scan(all_lengths.begin(), all_lengths.end(), std::back_inserter(all.row_offsets));
    return all;
}

/// Each rank transposes its rows and sends what belongs to others.
template <class T>
RankMatrix<T> transposed(const Ranks& ranks, const RankMatrix<T>& a) {
    const Halo& halo = *a.halo;
    const CsrMatrix<T> part = solver::transpose(a.own.view());
    std::vector<std::vector<Sent<T>>> to = ranks.lists<Sent<T>>();
    for_each_entry(a, part, [&](std::int32_t row, std::int32_t column, T value) {
        if (!halo.layout().owns(row)) to[halo.layout().owner(row)].push_back({row, column, value});
    });
    return rank_matrix(ranks, halo.layout(), a.layout, merged(ranks, a, part, ranks.exchanged(to)));
}

template class SquareRows<float>;
template class SquareRows<double>;
#define PETSCSOLVER_RANK_MATRICES_OF(T)                                                               \
    template std::shared_ptr<const Halo> number_columns(const Ranks&, const Layout&, CsrMatrix<T>&);  \
    template RankMatrix<T> rank_matrix(const Ranks&, const Layout&, const Layout&, CsrMatrix<T>);     \
    template RankMatrix<T> renumbered(const RankMatrix<T>&, std::shared_ptr<const Halo>);             \
    template CsrMatrix<T> rows_of(const Ranks&, const RankMatrix<T>&, std::span<const std::int32_t>); \
    template CsrMatrix<T> gathered(const Ranks&, const RankMatrix<T>&);                               \
    template RankMatrix<T> transposed(const Ranks&, const RankMatrix<T>&);
PETSCSOLVER_RANK_MATRICES_OF(float)
PETSCSOLVER_RANK_MATRICES_OF(double)

}  // namespace petscsolver
