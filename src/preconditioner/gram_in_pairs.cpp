#include "preconditioner/gram_in_pairs.hpp"

#include "core/pair.hpp"
#include "core/row_ranges.hpp"
#include "cpu/rank_update.hpp"
#include "preconditioner/lu_factors.hpp"
#include "preconditioner/memory_limit.hpp"
#include "preconditioner/prepared.hpp"
#include "solver/numeric/error_free.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/preparation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

namespace solver {
namespace {

constexpr double relative_shift = 0x1p-96;

/// Numbers far below the largest of their column, whose products would not have exact errors, become 0.
double scaled_number(double number, std::int32_t exponent) {
    constexpr double smallest = 0x1p-480;
    const double result = std::ldexp(number, exponent);
    return std::abs(result) < smallest ? 0 : result;
}

/// A dense matrix's, or a sparse one's entries; columns scaled by 2^exponents.
class ScaledRows {
public:
    template <class T>
    ScaledRows(const SpmvPlan<T>& a, const std::vector<std::int32_t>& exponents, const Device& host) {
        if (const DenseView<T>* const full = a.dense()) {
            values_.resize(static_cast<std::size_t>(full->rows * full->columns));
            for_each_row_range(full->rows, std::ssize(values_), host.threads(), [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i)
                    for (std::int64_t j = 0; j < full->columns; ++j) {
                        const T number = full->data[i * full->row_stride + j * full->column_stride];
                        values_[i * full->columns + j] = scaled_number(static_cast<double>(number), exponents[j]);
                    }
            });
            return;
        }
        const CsrView<T>& rows = a.matrix();
        values_.reserve(static_cast<std::size_t>(rows.nonzeros()));
        for (std::int64_t k = 0; k < rows.nonzeros(); ++k)
            values_.push_back(scaled_number(static_cast<double>(rows.values[k]), exponents[rows.column_indices[k]]));
    }

    const double* values() const { return values_.data(); }

private:
    std::vector<double> values_;
};

/// Of each row of A' the power of two that brings its largest number to [1, 2).
template <class T>
std::vector<std::int32_t> exponents_of_columns(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed) {
    std::vector<double> largest(static_cast<std::size_t>(a.columns()));
    const auto raise = [&](std::int64_t j, T number) {
        largest[j] = std::max(largest[j], std::abs(static_cast<double>(number)));
    };
    if (const DenseView<T>* const full = a.dense()) {
        for (std::int64_t i = 0; i < full->rows; ++i)
            for (std::int64_t j = 0; j < full->columns; ++j)
                raise(j, full->data[i * full->row_stride + j * full->column_stride]);
    } else {
        const CsrView<T>& columns = transposed.matrix();
        for (std::int64_t j = 0; j < columns.rows; ++j)
            for (std::int64_t k = columns.row_offsets[j]; k < columns.row_offsets[j + 1]; ++k) raise(j, columns.values[k]);
    }
    std::vector<std::int32_t> exponents;
    for (const double number : largest) exponents.push_back(number > 0 ? -std::ilogb(number) : 0);
    return exponents;
}

/// Rows of A'A in pairs, one after another, each product added as add_products_in_pairs adds it.
template <class T>
class GramRowsInPairs {
public:
    GramRowsInPairs(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, const ScaledRows& scaled,
                    const std::vector<std::int32_t>& exponents)
        : a_(a), transposed_(transposed), values_(scaled.values()), exponents_(exponents) {}

    /// Adds rows begin to end - 1 to high and low, row by row.
    void add_rows(std::int64_t begin, std::int64_t end, double* high, double* low) const {
        if (a_.dense() != nullptr) return add_dense_rows(begin, end, high, low);
        for (std::int64_t i = begin; i < end; ++i)
            add_sparse_row(i, high + (i - begin) * a_.columns(), low + (i - begin) * a_.columns());
    }

private:
    void add_dense_rows(std::int64_t begin, std::int64_t end, double* high, double* low) const {
        constexpr std::int64_t cached_depth = 64;
        const std::int64_t n = a_.columns();
        std::vector<double> column(cached_depth);
        for (std::int64_t k = 0; k < a_.rows(); k += cached_depth) {
            const std::int64_t depth = std::min(cached_depth, a_.rows() - k);
            for (std::int64_t i = begin; i < end; ++i) {
                for (std::int64_t m = 0; m < depth; ++m) column[m] = values_[(k + m) * n + i];
                cpu::add_products_in_pairs(n, depth, column.data(), values_ + k * n, n, high + (i - begin) * n,
                                           low + (i - begin) * n);
            }
        }
    }

    void add_sparse_row(std::int64_t i, double* high, double* low) const {
        const CsrView<T>&rows = a_.matrix(), &columns = transposed_.matrix();
        for (std::int64_t m = columns.row_offsets[i]; m < columns.row_offsets[i + 1]; ++m) {
            const std::int64_t row = columns.column_indices[m];
            const double factor = scaled_number(static_cast<double>(columns.values[m]), exponents_[i]);
            for (std::int64_t k = rows.row_offsets[row]; k < rows.row_offsets[row + 1]; ++k) {
                const std::int32_t j = rows.column_indices[k];
                const Split<double> product = two_prod(factor, values_[k]), sum = two_sum(high[j], product.value);
                high[j] = sum.value;
                low[j] = add_rn(low[j], add_rn(sum.error, product.error));
            }
        }
    }

    const SpmvPlan<T>& a_;
    const SpmvPlan<T>& transposed_;
    const double* values_;
    const std::vector<std::int32_t>& exponents_;
};

/// That a thread has in cache.
template <class T>
std::int64_t rows_at_once(const SpmvPlan<T>& a) {
    return a.dense() != nullptr ? 32 : 1;
}

/// A'A + D, the columns of A scaled by 2^exponents, entry by entry of the pattern. A diagonal of 0 becomes 1.
template <class T>
std::vector<Pair> shifted_gram_matrix(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed,
                                      const std::vector<std::int32_t>& exponents, const CsrView<double>& pattern,
                                      const Device& host) {
    const ScaledRows scaled(a, exponents, host);
    const GramRowsInPairs<T> rows(a, transposed, scaled, exponents);
    const std::int64_t step = rows_at_once(a), n = pattern.columns;
    std::vector<Pair> gram(static_cast<std::size_t>(pattern.nonzeros()));
    for_each_row_range(pattern, host.threads(), [&](std::int64_t part_begin, std::int64_t part_end) {
        std::vector<double> high(static_cast<std::size_t>(step * n)), low(high);
        for (std::int64_t begin = part_begin; begin < part_end; begin += step) {
            const std::int64_t end = std::min(begin + step, part_end);
            rows.add_rows(begin, end, high.data(), low.data());
            for (std::int64_t i = begin; i < end; ++i)
                for (std::int64_t k = pattern.row_offsets[i]; k < pattern.row_offsets[i + 1]; ++k) {
                    const std::int64_t j = pattern.column_indices[k], place = (i - begin) * n + j;
                    gram[k] = normalised(std::exchange(high[place], 0), std::exchange(low[place], 0));
                    if (j != i) continue;
                    if (gram[k].high == 0) gram[k].high = 1;
                    gram[k] = gram[k] + gram[k] * Pair{relative_shift, 0};
                }
        }
    });
    return gram;
}

/// L H L' of a symmetric matrix, of which row k of `pattern` is row order[k].
class SymmetricFactors {
public:
    SymmetricFactors(const CsrView<double>& pattern, const std::vector<std::int32_t>& order)
        : pattern_(pattern),
          order_(order),
          place_(order.size()),
          parent_(order.size(), none),
          seen_in_(order.size(), none),
          counts_(order.size()) {
        for (std::size_t k = 0; k < order.size(); ++k) place_[order[k]] = static_cast<std::int32_t>(k);
        for (std::int32_t k = 0; k < size(); ++k)
            for_each_column_of_row(k, [&](std::int32_t i) {
                if (parent_[i] == none) parent_[i] = k;
                ++counts_[i];
            });
    }

    /// Of L below its diagonal.
    std::int64_t entries() const { return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0}); }

    /// Whether all pivots are positive.
    bool factor(const std::vector<Pair>& values) {
        const std::size_t n = order_.size();
        offsets_.assign(n + 1, 0);
        std::partial_sum(counts_.begin(), counts_.end(), offsets_.begin() + 1);
        ends_.assign(offsets_.begin(), offsets_.end() - 1);
        rows_.resize(static_cast<std::size_t>(offsets_.back()));
        lower_.resize(rows_.size());
        pivots_.resize(n);
        std::fill(seen_in_.begin(), seen_in_.end(), none);
        std::vector<Pair> row(n);
        for (std::int32_t k = 0; k < size(); ++k)
            if (!add_row(k, values, row)) return false;
        return true;
    }

    template <class T>
    IluFactors<T> rounded() const {
        const std::int64_t n = size();
        IluFactors<T> factors{{n, n, std::vector<std::int64_t>(order_.size() + 1), {}, {}},
                              {n, n, std::vector<std::int64_t>(order_.size() + 1), {}, {}}};
        CsrMatrix<T>&lower = factors.lower, &upper = factors.upper;
        for (const std::int32_t row : rows_) ++lower.row_offsets[row + 1];
        std::partial_sum(lower.row_offsets.begin(), lower.row_offsets.end(), lower.row_offsets.begin());
        lower.column_indices.resize(rows_.size());
        lower.values.resize(rows_.size());
        std::vector<std::int64_t> ends(lower.row_offsets.begin(), lower.row_offsets.end() - 1);
        for (std::int32_t j = 0; j < size(); ++j) {
            upper.column_indices.push_back(j);
            upper.values.push_back(static_cast<T>(pivots_[j].high));
            for (std::int64_t k = offsets_[j]; k < offsets_[j + 1]; ++k) {
                const std::int64_t place = ends[rows_[k]]++;
                lower.column_indices[place] = j;
                lower.values[place] = static_cast<T>(lower_[k].high);
                upper.column_indices.push_back(rows_[k]);
                upper.values.push_back(static_cast<T>((pivots_[j] * lower_[k]).high));
            }
            upper.row_offsets[j + 1] = std::ssize(upper.values);
        }
        return factors;
    }

private:
    static constexpr std::int32_t none = -1;

    std::int32_t size() const { return static_cast<std::int32_t>(order_.size()); }

    /// Calls use(i) for the columns i < k of row k of L, each once, along paths of the elimination tree, which `use` may
    /// extend.
    template <class Use>
    void for_each_column_of_row(std::int32_t k, const Use& use) {
        seen_in_[k] = k;
        const std::int32_t row = order_[k];
        for (std::int64_t e = pattern_.row_offsets[row]; e < pattern_.row_offsets[row + 1]; ++e)
            for (std::int32_t i = place_[pattern_.column_indices[e]]; i < k && seen_in_[i] != k; i = parent_[i]) {
                seen_in_[i] = k;
                use(i);
            }
    }

    /// Row k of L, by the rows before, in the order of their numbers: a triangular solve.
    bool add_row(std::int32_t k, const std::vector<Pair>& values, std::vector<Pair>& row) {
        columns_.clear();
        for_each_column_of_row(k, [&](std::int32_t i) { columns_.push_back(i); });
        std::sort(columns_.begin(), columns_.end());
        const std::int32_t from = order_[k];
        for (std::int64_t e = pattern_.row_offsets[from]; e < pattern_.row_offsets[from + 1]; ++e)
            if (const std::int32_t i = place_[pattern_.column_indices[e]]; i <= k) row[i] = values[e];
        Pair pivot = std::exchange(row[k], Pair{});
        for (const std::int32_t i : columns_) {
            const Pair element = std::exchange(row[i], Pair{});
            for (std::int64_t e = offsets_[i]; e < ends_[i]; ++e) row[rows_[e]] = row[rows_[e]] - lower_[e] * element;
            const Pair quotient = element * inverse_pivots_[i];
            pivot = pivot - quotient * element;
            rows_[ends_[i]] = k;
            lower_[ends_[i]++] = quotient;
        }
        pivots_[k] = pivot;
        inverse_pivots_.push_back(reciprocal(pivot));
        return pivot.high > 0 && std::isfinite(inverse_pivots_.back().high);
    }

    CsrView<double> pattern_;
    std::vector<std::int32_t> order_, place_;  ///< inverse to each other
    std::vector<std::int32_t> parent_, seen_in_;
    std::vector<std::int64_t> counts_;          ///< of the columns of L
    std::vector<std::int64_t> offsets_, ends_;  ///< of the columns of L, and where they end so far
    std::vector<std::int32_t> rows_, columns_;  ///< of L; the columns of the row at hand
    std::vector<Pair> lower_, pivots_, inverse_pivots_;
};

/// Of the unscaled matrix, divided by the unit.
Preparation preparation_of(const std::vector<std::int32_t>& order, std::vector<std::int32_t> exponents, double unit) {
    constexpr std::int32_t most = 1000;
    for (std::int32_t& exponent : exponents) exponent = std::clamp(exponent + std::ilogb(unit), -most, most);
    return {exponents, exponents, order, order, std::ssize(order), std::nullopt};
}

}  // namespace

template <class T>
std::unique_ptr<Preconditioner<T>> make_gram_factors_in_pairs(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, double unit,
                                                              const CsrView<double>& pattern,
                                                              const std::vector<std::int32_t>& order, std::int64_t memory_limit,
                                                              const Device& host) {
    constexpr double of_an_entry = sizeof(Pair) + 4 + 2 * (sizeof(T) + 4);  // of L, which in the end stands there twice
    SymmetricFactors factors(pattern, order);
    const auto entries = static_cast<double>(a.dense() != nullptr ? a.rows() * a.columns() : a.matrix().nonzeros());
    const double bytes = of_an_entry * static_cast<double>(factors.entries()) + sizeof(double) * entries +
                         (sizeof(Pair) + 12) * static_cast<double>(pattern.nonzeros()) +
                         sizeof(Pair) * static_cast<double>(rows_at_once(a) * pattern.rows * host.threads());
    if (bytes > memory_limit_in_bytes(memory_limit)) return nullptr;
    const std::vector<std::int32_t> exponents = exponents_of_columns(a, transposed);
    if (!factors.factor(shifted_gram_matrix(a, transposed, exponents, pattern, host))) return nullptr;
    return std::make_unique<Prepared<T>>("klu", preparation_of(order, exponents, unit),
                                         std::make_unique<LuPreconditioner<T>>("klu", factors.template rounded<T>(), host),
                                         host);
}

template std::unique_ptr<Preconditioner<float>> make_gram_factors_in_pairs(const SpmvPlan<float>&, const SpmvPlan<float>&,
                                                                           double, const CsrView<double>&,
                                                                           const std::vector<std::int32_t>&, std::int64_t,
                                                                           const Device&);
template std::unique_ptr<Preconditioner<double>> make_gram_factors_in_pairs(const SpmvPlan<double>&, const SpmvPlan<double>&,
                                                                            double, const CsrView<double>&,
                                                                            const std::vector<std::int32_t>&, std::int64_t,
                                                                            const Device&);

}  // namespace solver
