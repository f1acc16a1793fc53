#include "preconditioner/klu.hpp"

#include "core/floating_point_guard.hpp"
#include "preconditioner/full_lu.hpp"
#include "preconditioner/memory_limit.hpp"
#include "solver/device.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"

#include <fmt/format.h>
#include <klu.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace solver {
namespace {

// While U is taken out: KLU's own factors (an index and a double an entry), L, and U twice.
constexpr double bytes_per_entry = 24;

// KLU keeps its factors in units of 8 bytes and counts them in 32 bits; an entry takes 1.5 of them.
constexpr double most_entries = std::numeric_limits<std::int32_t>::max() / 1.5 * 0.999;

// The diagonal stays pivot where it is at least this times the largest of its column. Measured on 60 matrices against KLU's own
// 0.001: residuals up to 100 times smaller, the fill the same but for a few (at most 1.6 times); 0.5 costs up to twice the
// fill.
constexpr double pivot_tolerance = 0.1;

constexpr const char* help = "use ilut, which keeps fewer";

/// KLU's state. It takes the matrix by columns.
class KluFactorization {
public:
    KluFactorization(CsrMatrix<double> columns, double tolerance)
        : n_(static_cast<int>(columns.rows)),
          offsets_(columns.row_offsets.begin(), columns.row_offsets.end()),
          rows_(std::move(columns.column_indices)),
          values_(std::move(columns.values)) {
        klu_defaults(&common_);
        common_.btf = 0;
        common_.scale = -1;  // done by the preparation
        common_.tol = tolerance;
        common_.memgrow = 1e30;  // growth is refused (KLU_TOO_LARGE): the capacity asked for is a limit
        common_.initmem_amd = 1;
        symbolic_ = klu_analyze_given(n_, offsets_.data(), rows_.data(), nullptr, nullptr, &common_);
        if (symbolic_ == nullptr) fail();
    }
    ~KluFactorization() {
        free_numeric();
        klu_free_symbolic(&symbolic_, &common_);
    }
    KluFactorization(const KluFactorization&) = delete;
    KluFactorization& operator=(const KluFactorization&) = delete;

    /// Factors with room for so many entries of L and U; false where they are not enough.
    bool try_factor(double capacity) {
        // KLU makes room for Lnz entries and a column each of L and U, and wants room for a full column at every step. Memory
        // not written to costs nothing.
        symbolic_->Lnz[0] = capacity / 2;
        numeric_ = klu_factor(offsets_.data(), rows_.data(), values_.data(), symbolic_, &common_);
        if (common_.status == KLU_TOO_LARGE) return false;
        if (numeric_ == nullptr && common_.status < KLU_OK) fail();
        return true;
    }

    bool is_singular() const { return common_.status == KLU_SINGULAR; }
    int rank() const { return common_.numerical_rank; }
    int dependent_column() const { return common_.singular_col; }
    int lower_entries() const { return numeric_->lnz; }
    int upper_entries() const { return numeric_->unz; }

    /// L with its ones, by columns.
    CsrMatrix<double> lower_by_columns() {
        CsrMatrix<double> l = with_room(numeric_->lnz);
        std::vector<int> offsets(static_cast<std::size_t>(n_) + 1);
        extract(offsets.data(), l.column_indices.data(), l.values.data(), nullptr, nullptr, nullptr);
        l.row_offsets.assign(offsets.begin(), offsets.end());
        return l;
    }

    /// U by columns.
    CsrMatrix<double> upper_by_columns() {
        CsrMatrix<double> u = with_room(numeric_->unz);
        std::vector<int> offsets(static_cast<std::size_t>(n_) + 1);
        extract(nullptr, nullptr, nullptr, offsets.data(), u.column_indices.data(), u.values.data());
        u.row_offsets.assign(offsets.begin(), offsets.end());
        return u;
    }

    /// Which row of the matrix became the k-th row of L, and which column the k-th of U.
    const int* row_order() const { return numeric_->Pnum; }
    const int* column_order() const { return symbolic_->Q; }

    void free_numeric() {
        if (numeric_ != nullptr) klu_free_numeric(&numeric_, &common_);
    }

private:
    CsrMatrix<double> with_room(int entries) const {
        CsrMatrix<double> matrix;
        matrix.rows = matrix.columns = n_;
        matrix.column_indices.resize(static_cast<std::size_t>(entries));
        matrix.values.resize(static_cast<std::size_t>(entries));
        return matrix;
    }

    void extract(int* lp, int* li, double* lx, int* up, int* ui, double* ux) {
        if (klu_extract(numeric_, symbolic_, lp, li, lx, up, ui, ux, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                        nullptr, &common_) == 0)
            fail();
    }

    [[noreturn]] void fail() const {
        if (common_.status == KLU_OUT_OF_MEMORY)
            throw ResourceLimit(fmt::format("preconditioner klu: the system gave no memory for the factors; {}", help));
        throw Error(fmt::format("preconditioner klu: KLU refused a {} x {} matrix (status {})", n_, n_, common_.status));
    }

    int n_;
    std::vector<int> offsets_;
    std::vector<int> rows_;
    std::vector<double> values_;
    klu_common common_;
    klu_symbolic* symbolic_ = nullptr;
    klu_numeric* numeric_ = nullptr;
};

void remove_diagonal(CsrMatrix<double>& matrix) {
    std::int64_t kept = 0;
    std::int64_t begin = 0;
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
        const std::int64_t end = matrix.row_offsets[i + 1];
        for (std::int64_t k = begin; k < end; ++k) {
            if (matrix.column_indices[k] == i) continue;
            matrix.column_indices[kept] = matrix.column_indices[k];
            matrix.values[kept++] = matrix.values[k];
        }
        begin = end;
        matrix.row_offsets[i + 1] = kept;
    }
    matrix.column_indices.resize(static_cast<std::size_t>(kept));
    matrix.values.resize(static_cast<std::size_t>(kept));
}

template <class T>
CsrMatrix<T> rounded(CsrMatrix<double> matrix) {
    if constexpr (std::is_same_v<T, double>)
        return matrix;
    else
        return convert<T>(matrix.view());
}

/// The rows of a factor that came by columns, rounded to T.
template <class T>
CsrMatrix<T> rows_of(CsrMatrix<double> columns) {
    return transpose(rounded<T>(std::move(columns)).view());
}

template <class T>
void require_numbers(const IluFactors<T>& factors) {
    for (const CsrMatrix<T>* const factor : {&factors.lower, &factors.upper})
        for (const T value : factor->values)
            if (!is_finite(value))
                throw InvalidArgument(
                    "preconditioner klu: the factors have an entry that is not finite; A is too close to singular for this "
                    "precision; use double, or ilut");
}

template <class T>
void require_pivots(const CsrMatrix<T>& upper) {
    for (std::int64_t i = 0; i < upper.rows; ++i)
        if (upper.values[upper.row_offsets[i]] == 0)
            throw InvalidArgument(
                fmt::format("preconditioner klu: pivot {} is zero when rounded to single precision: A is too close "
                            "to singular; use double, or ilut",
                            i + 1));
}

void require_full_structural_rank(const Preparation& preparation) {
    const auto n = static_cast<std::int64_t>(preparation.row_order.size());
    if (preparation.structural_rank < n)
        throw InvalidArgument(fmt::format(
            "preconditioner klu: A is structurally singular: its {} rows have structural rank {}, so no values in these "
            "places make it regular; use ilut or none",
            n, preparation.structural_rank));
}

[[noreturn]] void refuse_singular(std::int64_t pivots, std::int64_t dependent_column, const Preparation& preparation) {
    throw InvalidArgument(fmt::format(
        "preconditioner klu: A is numerically singular: after {} of {} pivots nothing but zeros is left in column {} "
        "(counted from 1); use ilut or none",
        pivots, preparation.row_order.size(), preparation.column_order[dependent_column] + 1));
}

/// Room for several times the prediction first: it is only reserved, and more would be for nothing on nearly every matrix.
void factor_within_limit(KluFactorization& klu, double predicted_entries, std::int64_t memory_limit) {
    const double allowed_entries = std::min(memory_limit_in_bytes(memory_limit) / bytes_per_entry, most_entries);
    constexpr double growth = 4;
    double capacity = predicted_entries;
    do {
        capacity = std::min(growth * capacity, allowed_entries);
        if (klu.try_factor(capacity)) return;
    } while (capacity < allowed_entries);
    throw ResourceLimit(fmt::format(
        "preconditioner klu: pivoting fills in more than predicted: {:.3g} entries of L and U were expected, {:.3g} are "
        "allowed and not enough; {}, or raise the memory limit",
        predicted_entries, allowed_entries, help));
}

/// Frees KLU's own before the last copy is made.
template <class T>
void take_out(KluFactorization& klu, IluFactors<T>& factors) {
    CsrMatrix<double> lower = klu.lower_by_columns();
    remove_diagonal(lower);
    factors.lower = rows_of<T>(std::move(lower));
    CsrMatrix<double> upper = klu.upper_by_columns();
    klu.free_numeric();
    factors.upper = rows_of<T>(std::move(upper));
}

CsrMatrix<double> in_double(CsrMatrix<double> matrix) { return matrix; }
CsrMatrix<double> in_double(const CsrMatrix<float>& matrix) { return convert<double>(matrix.view()); }

template <class Order>
std::vector<std::int32_t> composed(const std::vector<std::int32_t>& order, const Order& then) {
    std::vector<std::int32_t> result(order.size());
    for (std::size_t k = 0; k < result.size(); ++k) result[k] = order[then[k]];
    return result;
}

template <class T>
void factor_sparse(CsrMatrix<double> b, double predicted_entries, std::int64_t memory_limit, KluFactors<T>& result) {
    KluFactorization klu(transpose(std::exchange(b, {}).view()), pivot_tolerance);
    factor_within_limit(klu, predicted_entries, memory_limit);
    if (klu.is_singular()) refuse_singular(klu.rank(), klu.dependent_column(), result.preparation);
    result.preparation.row_order = composed(result.preparation.row_order, klu.row_order());
    result.preparation.column_order = composed(result.preparation.column_order, klu.column_order());
    take_out(klu, result.factors);
}

template <class T>
void factor_nearly_full(CsrMatrix<double> b, KluFactors<T>& result) {
    const std::int64_t n = b.rows;
    FullFactors full = factor_full(std::move(b), Device::cpu().threads());
    if (full.pivots < n) refuse_singular(full.pivots, full.pivots, result.preparation);
    result.preparation.row_order = composed(result.preparation.row_order, full.row_order);
    result.factors = {rounded<T>(std::move(full.factors.lower)), rounded<T>(std::move(full.factors.upper))};
}

}  // namespace

FactorPrediction predict_klu(const Preparation& preparation) {
    if (!preparation.fill) throw InvalidArgument("predict klu: the preparation knows no fill; make it with Ordering::amd");
    const double entries = preparation.fill->factor_entries;
    return {entries, preparation.fill->flops, bytes_per_entry * entries};
}

template <class T>
FactorPrediction predict_klu(const CsrView<T>& a) {
    return predict_klu(prepare(a, Ordering::amd));
}

template <class T, class From>
KluFactors<T> factor_klu(const CsrView<From>& a, const Preparation& preparation, std::int64_t memory_limit) {
    const cpu::FloatingPointGuard guard;
    require_full_structural_rank(preparation);
    const FactorPrediction predicted = predict_klu(preparation);
    require_memory("klu", predicted.bytes, memory_limit, help);
    KluFactors<T> result;
    result.preparation = preparation;  // GCC 12 destroys members twice where a braced list throws
    if (a.rows == 0) return result;
    CsrMatrix<double> b = in_double(prepared_matrix(a, preparation));
    if (is_nearly_full(b.view()))
        factor_nearly_full(std::move(b), result);
    else
        factor_sparse(std::move(b), predicted.entries, memory_limit, result);
    require_numbers(result.factors);
    require_pivots(result.factors.upper);
    return result;
}

std::optional<IluFactors<double>> factor_on_diagonal(const CsrMatrix<double>& b, const FillPrediction& fill,
                                                     std::int64_t memory_limit) {
    const cpu::FloatingPointGuard guard;
    require_memory("klu", bytes_per_entry * fill.factor_entries, memory_limit, help);
    IluFactors<double> factors;
    if (b.rows == 0) return factors;
    constexpr double any_pivot = 0;
    KluFactorization klu(transpose(b.view()), any_pivot);
    factor_within_limit(klu, fill.factor_entries, memory_limit);
    if (klu.is_singular()) return std::nullopt;
    for (std::int32_t k = 0; k < b.rows; ++k)
        if (klu.row_order()[k] != k || klu.column_order()[k] != k) return std::nullopt;
    take_out(klu, factors);
    return factors;
}

template FactorPrediction predict_klu(const CsrView<float>&);
template FactorPrediction predict_klu(const CsrView<double>&);
template KluFactors<float> factor_klu(const CsrView<float>&, const Preparation&, std::int64_t);
template KluFactors<float> factor_klu(const CsrView<double>&, const Preparation&, std::int64_t);
template KluFactors<double> factor_klu(const CsrView<double>&, const Preparation&, std::int64_t);

}  // namespace solver
