#include "preconditioner/ilut.hpp"

#include "preconditioner/factors_within_blocks.hpp"
#include "preconditioner/memory_limit.hpp"
#include "preconditioner/prepared.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace solver {
namespace {

template <class T>
struct RowEntry {
    std::int32_t column;
    T value;
};

/// The mean magnitude of the entries; divided before they are added, so that it does not overflow.
template <class T>
T mean_magnitude(std::span<const T> values) {
    T mean = 0;
    const T count = static_cast<T>(values.size());
    for (const T value : values) mean = add_rn(mean, div_rn(magnitude(value), count));
    return std::min(mean, std::numeric_limits<T>::max());
}

/// The `most` largest magnitudes, equal ones from the lower columns, sorted by column.
template <class T>
void keep_largest(std::vector<RowEntry<T>>& entries, std::int64_t most) {
    if (std::ssize(entries) > most) {
        std::nth_element(entries.begin(), entries.begin() + most, entries.end(),
                         [](const RowEntry<T>& a, const RowEntry<T>& b) {
                             const T a_size = magnitude(a.value);
                             const T b_size = magnitude(b.value);
                             return a_size != b_size ? a_size > b_size : a.column < b.column;
                         });
        entries.resize(static_cast<std::size_t>(most));
    }
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.column < b.column; });
}

template <class T>
class IlutFactorization {
public:
    IlutFactorization(const CsrView<T>& a, double drop_tolerance, std::int64_t longest_row)
        : a_(a),
          drop_tolerance_(static_cast<T>(std::min(drop_tolerance, static_cast<double>(std::numeric_limits<T>::max())))),
          longest_row_(longest_row),
          work_(static_cast<std::size_t>(a.rows)),
          is_in_row_(static_cast<std::size_t>(a.rows)) {
        for (CsrMatrix<T>* factor : {&factors_.lower, &factors_.upper}) {
            factor->rows = factor->columns = a.rows;
            factor->row_offsets.reserve(static_cast<std::size_t>(a.rows) + 1);
        }
    }

    IluFactors<T> run() {
        for (row_ = 0; row_ < a_.rows; ++row_) add_row();
        return std::move(factors_);
    }

private:
    /// Relative to its row. What is left of a pivot that vanishes is rounding errors of the elimination, some thousand u.
    static constexpr T smallest_pivot = 4096 * unit_roundoff<T>;

    void add_row() {
        load_row();
        eliminate();
        store_lower();
        store_upper();
    }

    void load_row() {
        const std::int64_t begin = a_.row_offsets[row_];
        const std::span<const T> values = a_.values.subspan(begin, a_.row_length(row_));
        norm_ = mean_magnitude(values);
        least_ = mul_rn(drop_tolerance_, norm_);
        touch(static_cast<std::int32_t>(row_));
        for (std::size_t e = 0; e < values.size(); ++e) {
            const std::int32_t column = a_.column_indices[begin + e];
            touch(column);
            work_[column] = add_rn(work_[column], values[e]);
        }
    }

    /// Makes place for a column in the current row.
    void touch(std::int32_t column) {
        if (is_in_row_[column]) return;
        is_in_row_[column] = true;
        work_[column] = 0;
        if (column < row_) {
            left_.push_back(column);
            std::push_heap(left_.begin(), left_.end(), std::greater<>());
        } else if (column > row_) {
            right_.push_back(column);
        }
    }

    std::int32_t pop_leftmost() {
        std::pop_heap(left_.begin(), left_.end(), std::greater<>());
        const std::int32_t column = left_.back();
        left_.pop_back();
        return column;
    }

    /// Subtracts multiples of the rows above, from left to right, until the row has no more entries left of the diagonal.
    void eliminate() {
        kept_.clear();
        while (!left_.empty()) {
            const std::int32_t k = pop_leftmost();
            is_in_row_[k] = false;
            require_finite(k);
            if (work_[k] == 0 || magnitude(work_[k]) < least_) continue;
            const CsrMatrix<T>& u = factors_.upper;
            const std::int64_t begin = u.row_offsets[k];
            const T multiplier = work_[k] = div_rn(work_[k], u.values[begin]);
            require_finite(k);
            if (multiplier == 0) continue;
            kept_.push_back({k, multiplier});
            for (std::int64_t e = begin + 1; e < u.row_offsets[k + 1]; ++e) {
                const std::int32_t j = u.column_indices[e];
                touch(j);
                work_[j] = add_rn(work_[j], -mul_rn(multiplier, u.values[e]));
            }
        }
    }

    void store_lower() {
        keep_largest(kept_, longest_row_);
        for (const RowEntry<T>& entry : kept_) store(factors_.lower, entry);
        factors_.lower.row_offsets.push_back(factors_.lower.nonzeros());
    }

    void store_upper() {
        kept_.clear();
        for (const std::int32_t j : right_) {
            is_in_row_[j] = false;
            require_finite(j);
            if (work_[j] != 0 && magnitude(work_[j]) >= least_) kept_.push_back({j, work_[j]});
        }
        right_.clear();
        keep_largest(kept_, longest_row_);
        store(factors_.upper, {static_cast<std::int32_t>(row_), pivot()});
        for (const RowEntry<T>& entry : kept_) store(factors_.upper, entry);
        factors_.upper.row_offsets.push_back(factors_.upper.nonzeros());
    }

    T pivot() {
        is_in_row_[row_] = false;
        require_finite(row_);
        const T found = work_[row_];
        if (magnitude(found) > mul_rn(smallest_pivot, norm_)) return found;
        const T remedy = norm_ == 0 ? T(1) : mul_rn(add_rn(T(1e-4), drop_tolerance_), norm_);
        const T size = remedy == 0 ? norm_ : std::min(remedy, std::numeric_limits<T>::max());
        return found < 0 ? -size : size;
    }

    static void store(CsrMatrix<T>& factor, const RowEntry<T>& entry) {
        factor.column_indices.push_back(entry.column);
        factor.values.push_back(entry.value);
    }

    void require_finite(std::int64_t column) const {
        if (is_finite(work_[column])) return;
        throw InvalidArgument(fmt::format(
            "preconditioner ilut: row {} (counted from 1) has an entry that is not finite, in column {}; every entry of "
            "A and of its factors must be a number; a larger drop tolerance may help, or use jacobi or none",
            row_ + 1, column + 1));
    }

    CsrView<T> a_;
    T drop_tolerance_;
    std::int64_t longest_row_;
    IluFactors<T> factors_;

    std::int64_t row_ = 0;  // the current row, and what belongs to it:
    T norm_ = 0;
    T least_ = 0;                      // what is smaller is dropped
    std::vector<T> work_;              // its elements, where is_in_row_
    std::vector<char> is_in_row_;      // by column
    std::vector<std::int32_t> left_;   // columns left of the diagonal still to be eliminated: a heap, lowest first
    std::vector<std::int32_t> right_;  // columns right of the diagonal
    std::vector<RowEntry<T>> kept_;
};

template <class T>
void require_ilut_memory(const CsrView<T>& a, std::int64_t longest_row, std::int64_t memory_limit) {
    const auto n = static_cast<double>(a.rows);
    const double longest = static_cast<double>(std::min(longest_row, a.rows));
    const double entries = std::min(n * (2 * longest + 1), n * n);
    const double bytes = entries * (sizeof(T) + sizeof(std::int32_t)) + 2 * n * sizeof(std::int64_t);
    require_memory("ilut", bytes, memory_limit, "choose a smaller fill factor");
}

void require_valid(const PreconditionerOptions& options) {
    if (!(options.drop_tolerance >= 0) || !std::isfinite(options.drop_tolerance))
        throw InvalidArgument(fmt::format(
            "preconditioner ilut: the drop tolerance is {}; it must be 0 or more, for instance 1e-3", options.drop_tolerance));
    if (!(options.fill_factor >= 0) || !std::isfinite(options.fill_factor))
        throw InvalidArgument(fmt::format("preconditioner ilut: the fill factor is {}; it must be 0 or more, for instance 10",
                                          options.fill_factor));
}

}  // namespace

template <class T>
std::int64_t longest_ilut_row(const CsrView<T>& a, double fill_factor) {
    if (a.rows == 0) return 0;
    const double mean = static_cast<double>(a.nonzeros()) / static_cast<double>(a.rows);
    return static_cast<std::int64_t>(std::min(std::ceil(fill_factor * mean), static_cast<double>(a.rows)));
}

template <class T>
IluFactors<T> factor_ilut(const CsrView<T>& a, const PreconditionerOptions& options) {
    require_valid(options);
    const std::int64_t longest_row = longest_ilut_row(a, options.fill_factor);
    require_ilut_memory(a, longest_row, options.memory_limit);
    return IlutFactorization<T>(a, options.drop_tolerance, longest_row).run();
}

template <class T>
std::unique_ptr<Preconditioner<T>> make_ilut(const CsrView<T>& a, const Preparation& preparation,
                                             const PreconditionerOptions& options, const Device& device) {
    return with_prepared_factors<T>("ilut", {factor_ilut(prepared_matrix(a, preparation, device).view(), options), preparation},
                                    device);
}

template <class T>
std::unique_ptr<Preconditioner<T>> make_ilut_within_blocks(const CsrView<T>& a, const PreconditionerOptions& options,
                                                           const Device& device) {
    auto factors = factors_within_blocks(a, options, [&](const CsrView<T>& block) {
        Preparation preparation = prepare(block, Ordering::amd);
        IluFactors<T> of_block = factor_ilut(prepared_matrix(block, preparation).view(), options);
        return PreparedFactors<T>{std::move(of_block), std::move(preparation)};
    });
    return with_prepared_factors("ilut", std::move(factors), device);
}

template std::int64_t longest_ilut_row(const CsrView<float>&, double);
template std::int64_t longest_ilut_row(const CsrView<double>&, double);
template IluFactors<float> factor_ilut(const CsrView<float>&, const PreconditionerOptions&);
template IluFactors<double> factor_ilut(const CsrView<double>&, const PreconditionerOptions&);

template std::unique_ptr<Preconditioner<float>> make_ilut(const CsrView<float>&, const Preparation&,
                                                          const PreconditionerOptions&, const Device&);
template std::unique_ptr<Preconditioner<double>> make_ilut(const CsrView<double>&, const Preparation&,
                                                           const PreconditionerOptions&, const Device&);
template std::unique_ptr<Preconditioner<float>> make_ilut_within_blocks(const CsrView<float>&, const PreconditionerOptions&,
                                                                        const Device&);
template std::unique_ptr<Preconditioner<double>> make_ilut_within_blocks(const CsrView<double>&, const PreconditionerOptions&,
                                                                         const Device&);

}  // namespace solver
