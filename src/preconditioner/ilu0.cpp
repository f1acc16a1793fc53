#include "preconditioner/ilu0.hpp"

#include "core/sorted_rows.hpp"
#include "solver/numeric/escalation.hpp"
#include "solver/numeric/superaccumulator.hpp"
#include "solver/numeric/tracked_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace solver {
namespace {

/// s_ij. In compensated three terms in double, whose bound holds for chains of any length.
template <class T, Accuracy accuracy>
class EntrySum {
public:
    explicit EntrySum(T a) { tracked_.sum.add(a); }
    void subtract_product(T l, T u) { tracked_.add_product(-l, u); }

    /// Of so many products at most; nothing where exact's filter does not certify the rounding.
    std::optional<T> result(std::int64_t products) const {
        if constexpr (has_three_terms) return canonical(add_rn(sum().s(), add_rn(sum().c(), sum().d())));
        T value;
        return tracked_.try_result(value, underflow_bound<T>(products)) ? std::optional(value) : std::nullopt;
    }

private:
    static constexpr bool has_three_terms = accuracy == Accuracy::compensated && std::is_same_v<T, double>;
    static constexpr Accuracy summation = has_three_terms ? Accuracy::exact : accuracy;

    const auto& sum() const { return tracked_.sum; }

    TrackedSum<typename AccumulatorOf<T, summation>::type> tracked_;
};

/// A stored row: sorted columns and their values.
template <class T>
struct SparseRow {
    std::span<const std::int32_t> columns;
    std::span<const T> values;
};

/// Makes the factors of a matrix with sorted rows, row by row.
template <class T, Accuracy accuracy>
class Ilu0Factorization {
public:
    explicit Ilu0Factorization(const CsrView<T>& a) : a_(a), place_(static_cast<std::size_t>(a.columns), absent) {
        for (CsrMatrix<T>* factor : {&factors_.lower, &factors_.upper}) {
            factor->rows = factor->columns = a.rows;
            factor->row_offsets.reserve(static_cast<std::size_t>(a.rows) + 1);
        }
    }

    IluFactors<T> run() {
        for (std::int64_t i = 0; i < a_.rows; ++i) add_row(i);
        return std::move(factors_);
    }

private:
    static constexpr std::int64_t absent = -1;

    void add_row(std::int64_t i) {
        columns_ = a_.column_indices.subspan(a_.row_offsets[i], a_.row_length(i));
        const std::span<const T> values = a_.values.subspan(a_.row_offsets[i], a_.row_length(i));
        diagonal_ = std::lower_bound(columns_.begin(), columns_.end(), i) - columns_.begin();
        if (diagonal_ == std::ssize(columns_) || columns_[diagonal_] != i) throw UnusableRow(i, "no diagonal entry");
        sums_.clear();
        for (const T value : values) sums_.emplace_back(value);
        values_.resize(columns_.size());
        for (std::size_t e = 0; e < columns_.size(); ++e) place_[columns_[e]] = static_cast<std::int64_t>(e);
        for (std::int64_t e = 0; e < std::ssize(columns_); ++e) finish_entry(i, e);
        for (const std::int32_t column : columns_) place_[column] = absent;
        store(factors_.lower, 0, diagonal_);
        store(factors_.upper, diagonal_, std::ssize(columns_));
    }

    /// Entry e of row i has all its products: round it, and, left of the diagonal, subtract its multiple of a row of U.
    void finish_entry(std::int64_t i, std::int64_t e) {
        const std::optional<T> sum = sums_[e].result(std::min(e, diagonal_));
        values_[e] = sum ? *sum : exact_sum(i, e);
        const std::int32_t column = columns_[e];
        if (e < diagonal_) values_[e] = div_rn(values_[e], factors_.upper.values[factors_.upper.row_offsets[column]]);
        if (!is_finite(values_[e])) throw UnusableRow(i, "an entry that is not finite");
        if (e == diagonal_ && values_[e] == 0) throw UnusableRow(i, "a pivot of zero");
        if (e < diagonal_) subtract_multiple_of_row(e, row_above_diagonal(column));
    }

    /// Entries e+1.. of this row lose l times the entries of U's row in the same columns; the shorter of the two is walked.
    void subtract_multiple_of_row(std::int64_t e, SparseRow<T> u) {
        const auto rest = static_cast<std::size_t>(std::ssize(columns_) - e - 1);
        if (u.columns.size() <= search_cost * rest)
            subtract_walking_u(values_[e], u);
        else
            subtract_searching_u(e, u);
    }

    void subtract_walking_u(T l, SparseRow<T> u) {
        for (std::size_t k = 0; k < u.columns.size(); ++k)
            if (const std::int64_t place = place_[u.columns[k]]; place != absent) sums_[place].subtract_product(l, u.values[k]);
    }

    void subtract_searching_u(std::int64_t e, SparseRow<T> u) {
        auto from = u.columns.begin();
        for (std::int64_t f = e + 1; f < std::ssize(columns_); ++f) {
            from = std::lower_bound(from, u.columns.end(), columns_[f]);
            if (from == u.columns.end()) return;
            if (*from == columns_[f]) sums_[f].subtract_product(values_[e], u.values[from - u.columns.begin()]);
        }
    }

    /// RN(s_ij) where the filter could not tell.
    T exact_sum(std::int64_t i, std::int64_t e) const {
        Superaccumulator sum;
        sum.add(a_.values[a_.row_offsets[i] + e]);
        for (std::int64_t k = 0; k < std::min(e, diagonal_); ++k) {
            const SparseRow<T> u = row_above_diagonal(columns_[k]);
            const auto found = std::lower_bound(u.columns.begin(), u.columns.end(), columns_[e]);
            if (found != u.columns.end() && *found == columns_[e])
                sum.add_product(-values_[k], u.values[found - u.columns.begin()]);
        }
        return sum.template result<T>();
    }

    SparseRow<T> row_above_diagonal(std::int64_t row) const {
        const CsrMatrix<T>& u = factors_.upper;
        const std::int64_t begin = u.row_offsets[row] + 1;
        const auto size = static_cast<std::size_t>(u.row_offsets[row + 1] - begin);
        return {{u.column_indices.data() + begin, size}, {u.values.data() + begin, size}};
    }

    void store(CsrMatrix<T>& factor, std::int64_t begin, std::int64_t end) {
        factor.column_indices.insert(factor.column_indices.end(), columns_.begin() + begin, columns_.begin() + end);
        factor.values.insert(factor.values.end(), values_.begin() + begin, values_.begin() + end);
        factor.row_offsets.push_back(factor.nonzeros());
    }

    static constexpr std::size_t search_cost = 8;  // steps of a walk that cost as much as a search

    CsrView<T> a_;
    IluFactors<T> factors_;
    std::vector<std::int64_t> place_;  // of each column in the current row
    std::span<const std::int32_t> columns_;
    std::vector<EntrySum<T, accuracy>> sums_;
    std::vector<T> values_;
    std::int64_t diagonal_ = 0;
};

}  // namespace

UnusableRow::UnusableRow(std::int64_t row, const std::string& seen, const std::string& preconditioner)
    : InvalidArgument(
          fmt::format("preconditioner {}: row {} (counted from 1) has {}; every pivot must be a number other than zero; "
                      "reorder the rows so that the diagonal has no zeros, or use jacobi or none",
                      preconditioner, row + 1, seen)),
      row_(row),
      seen_(seen),
      preconditioner_(preconditioner) {}

template <class T>
IluFactors<T> factor_ilu0(const CsrView<T>& a, Accuracy accuracy) {
    if (!has_sorted_rows(a)) return factor_ilu0(with_sorted_rows(a).view(), accuracy);
    return with_accuracy(accuracy, [&](auto mode) { return Ilu0Factorization<T, mode.value>(a).run(); });
}

template IluFactors<float> factor_ilu0(const CsrView<float>&, Accuracy);
template IluFactors<double> factor_ilu0(const CsrView<double>&, Accuracy);

}  // namespace solver
