#include "preconditioner/klu.hpp"

#include "core/floating_point_guard.hpp"
#include "preconditioner/complex_factors.hpp"
#include "preconditioner/factors_within_blocks.hpp"
#include "preconditioner/full_lu.hpp"
#include "preconditioner/klu_factorization.hpp"
#include "preconditioner/memory_limit.hpp"
#include "preparation/blocks.hpp"
#include "solver/complex.hpp"
#include "solver/device.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace solver {
namespace {

using Complex = std::complex<double>;

// At the peak, for an entry of real factors: KLU's own (an index and a double), L, and U twice while it is taken out. Complex
// factors, whose entries make four real ones, stay below that.
constexpr double bytes_per_entry = 24;

constexpr const char* help = "use ilut, which keeps fewer";

template <class V>
void remove_diagonal(CsrMatrix<V>& matrix) {
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
            "{}A is structurally singular: its {} rows have structural rank {}, so no values in these places make it regular{}",
            klu_refuses, n, preparation.structural_rank, instead_where_singular));
}

[[noreturn]] void refuse_singular(std::int64_t pivots, std::int64_t dependent_column, const Preparation& preparation) {
    throw InvalidArgument(fmt::format(
        "{}A is numerically singular: after {} of {} pivots nothing but zeros is left in column {} (counted from 1){}",
        klu_refuses, pivots, preparation.row_order.size(), preparation.column_order[dependent_column] + 1,
        instead_where_singular));
}

/// In the order of A + A^T; where pivots off the diagonal spoil that, in one for pivots from any row. False where the factors
/// have no room in either.
template <class V>
bool factor_nearly_as_predicted(KluFactorization<V>& klu, double predicted_entries, double allowed_entries) {
    constexpr double spoilt = 2, worth_another_order = 4;
    if (klu.try_factor(std::min(spoilt * predicted_entries, allowed_entries))) return true;
    klu.order_for_any_pivot();
    if (klu.try_factor(std::min(worth_another_order * predicted_entries, allowed_entries))) return true;
    klu.order_as_given();
    return false;
}

/// Room for several times the prediction first: it is only reserved, and more would be for nothing on nearly every matrix.
template <class V>
void factor_within_limit(KluFactorization<V>& klu, double predicted_entries, std::int64_t memory_limit) {
    constexpr double bytes = bytes_per_entry * components<V> * components<V>;
    const double allowed_entries = std::min(memory_limit_in_bytes(memory_limit) / bytes, klu.most_entries);
    constexpr double growth = 4, enough_a_row = 16;  // for what KLU wants beside the entries to be little
    const bool may_be_spoilt = predicted_entries > enough_a_row * klu.rows();
    if (may_be_spoilt && factor_nearly_as_predicted(klu, predicted_entries, allowed_entries)) return;
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
void take_out(KluFactorization<double>& klu, IluFactors<T>& factors) {
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
void factor_sparse(CsrMatrix<double> b, double predicted_entries, std::int64_t memory_limit, double tolerance,
                   KluFactors<T>& result) {
    KluFactorization<double> klu(transpose(std::exchange(b, {}).view()), tolerance);
    factor_within_limit(klu, predicted_entries, memory_limit);
    if (klu.is_singular()) refuse_singular(klu.rank(), klu.dependent_column(), result.preparation);
    result.preparation.row_order = composed(result.preparation.row_order, klu.row_order());
    result.preparation.column_order = composed(result.preparation.column_order, klu.column_order());
    take_out(klu, result.factors);
}

/// The complex matrix of which a, prepared, is the real form, but for the order of rows within their pairs; nothing where it is
/// none.
template <class From>
std::optional<CsrMatrix<Complex>> complex_prepared_matrix(const CsrView<From>& a, Preparation& preparation,
                                                          const Device& device) {
    if (!preparation::keeps_pairs(preparation)) return std::nullopt;
    Preparation in_order = preparation;
    for (std::size_t k = 0; k < in_order.row_order.size(); k += 2)
        if (in_order.row_order[k] > in_order.row_order[k + 1]) std::swap(in_order.row_order[k], in_order.row_order[k + 1]);
    const CsrMatrix<double> b = in_double(prepared_matrix(a, in_order, device));
    if (!preparation::is_real_form(b.view())) return std::nullopt;
    preparation = std::move(in_order);
    return complex_form(b.view());
}

/// Half of the order, a quarter of the entries, and in all a fifth of the time that the real form takes.
template <class T>
void factor_complex(CsrMatrix<Complex> b, double predicted_entries, std::int64_t memory_limit, double tolerance,
                    KluFactors<T>& result) {
    KluFactorization<Complex> klu(transpose(std::exchange(b, {}).view()), tolerance);
    factor_within_limit(klu, predicted_entries / 4, memory_limit);
    if (klu.is_singular()) refuse_singular(2 * klu.rank(), 2 * klu.dependent_column(), result.preparation);
    CsrMatrix<Complex> lower = klu.lower_by_columns();
    remove_diagonal(lower);
    lower = transpose(lower.view());
    CsrMatrix<Complex> upper = klu.upper_by_columns();
    const std::vector<int> row_order(klu.row_order().begin(), klu.row_order().end());
    klu.free_numeric();
    upper = transpose(upper.view());
    PairedFactors paired = real_factors(lower, upper);
    result.preparation.row_order = composed(result.preparation.row_order, in_pairs(row_order, paired.first_row));
    result.preparation.column_order = composed(result.preparation.column_order, in_pairs(klu.column_order()));
    result.factors = {rounded<T>(std::move(paired.factors.lower)), rounded<T>(std::move(paired.factors.upper))};
    result.elimination = Elimination::complex;
}

template <class T>
void factor_nearly_full(CsrMatrix<double> b, const Device& device, KluFactors<T>& result) {
    const std::int64_t n = b.rows;
    FullFactors full = factor_full(std::move(b), device);
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
KluFactors<T> factor_klu(const CsrView<From>& a, const Preparation& preparation, std::int64_t memory_limit,
                         Elimination elimination, const Device& device, double tolerance) {
    const cpu::FloatingPointGuard guard;
    require_full_structural_rank(preparation);
    const FactorPrediction predicted = predict_klu(preparation);
    require_memory("klu", predicted.bytes, memory_limit, help);
    KluFactors<T> result;
    result.preparation = preparation;  // GCC 12 destroys members twice where a braced list throws
    if (a.rows == 0) return result;
    CsrMatrix<double> b = in_double(prepared_matrix(a, preparation, device));
    if (is_nearly_full(b.view()))
        factor_nearly_full(std::move(b), device, result);
    else if (auto complex =
                 elimination == Elimination::complex ? complex_prepared_matrix(a, result.preparation, device) : std::nullopt)
        factor_complex(std::move(*complex), predicted.entries, memory_limit, tolerance, result);
    else
        factor_sparse(std::move(b), predicted.entries, memory_limit, tolerance, result);
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
    KluFactorization<double> klu(transpose(b.view()), any_pivot);
    factor_within_limit(klu, fill.factor_entries, memory_limit);
    if (klu.is_singular()) return std::nullopt;
    for (std::int32_t k = 0; k < b.rows; ++k)
        if (klu.row_order()[k] != k || klu.column_order()[k] != k) return std::nullopt;
    take_out(klu, factors);
    return factors;
}

template <class T>
std::unique_ptr<Preconditioner<T>> make_klu_within_blocks(const CsrView<T>& a, const PreconditionerOptions& options,
                                                          const Device& device) {
    auto factors = factors_within_blocks(a, options, [&](const CsrView<T>& block) {
        KluFactors<T> made =
            factor_klu<T>(block, prepare(block, Ordering::amd, device), options.memory_limit, Elimination::complex, device);
        return PreparedFactors<T>{std::move(made.factors), std::move(made.preparation)};
    });
    return with_prepared_factors("klu", std::move(factors), device);
}

template FactorPrediction predict_klu(const CsrView<float>&);
template FactorPrediction predict_klu(const CsrView<double>&);
template KluFactors<float> factor_klu(const CsrView<float>&, const Preparation&, std::int64_t, Elimination, const Device&,
                                      double);
template KluFactors<float> factor_klu(const CsrView<double>&, const Preparation&, std::int64_t, Elimination, const Device&,
                                      double);
template KluFactors<double> factor_klu(const CsrView<double>&, const Preparation&, std::int64_t, Elimination, const Device&,
                                       double);

template std::unique_ptr<Preconditioner<float>> make_klu_within_blocks(const CsrView<float>&, const PreconditionerOptions&,
                                                                       const Device&);
template std::unique_ptr<Preconditioner<double>> make_klu_within_blocks(const CsrView<double>&, const PreconditionerOptions&,
                                                                        const Device&);

}  // namespace solver
