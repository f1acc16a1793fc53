#include "auto_solve/shifted_gram.hpp"

#include "auto_solve/cost_model.hpp"
#include "core/floating_point_guard.hpp"
#include "core/krylov/updates.hpp"
#include "preconditioner/full_lu.hpp"
#include "preconditioner/gram.hpp"
#include "preconditioner/gram_in_pairs.hpp"
#include "preconditioner/klu.hpp"
#include "preconditioner/memory_limit.hpp"
#include "preparation/fill_estimate.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/reduce.hpp"
#include "solver/views.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace solver {
namespace {

constexpr double least_steps = 50;

constexpr double bytes_per_entry = 36;  // of G while it is made

/// D by G's diagonal. Rounding of G and of its factors is far below. Factors in float are those in double, rounded.
template <class T>
constexpr double relative_shift = std::is_same_v<T, float> ? 0x1p-18 : 0x1p-40;

/// D by the largest diagonal entry of G: steps leave the range of A' by unit roundoff / D of their length.
template <class T>
constexpr double common_shift_by_largest = std::is_same_v<T, float> ? 0x1p-12 : 0x1p-36;

template <class T>
Device host_of(const SpmvPlan<T>& a) {
    return a.device().kind() == Device::Kind::cpu ? a.device() : Device::cpu();
}

/// G, of A as it stands or of its transpose.
template <class T>
std::optional<CsrMatrix<double>> gram(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, double scale, double most_entries,
                                      const Device& host) {
    const auto rows = static_cast<double>(a.rows()), n = static_cast<double>(a.columns());
    constexpr double of_an_entry = 8 / bytes_per_entry;  // a number of what a dense G takes on the way (gram.hpp)
    if (const DenseView<T>* const full = a.dense())
        return n * n + of_an_entry * (2 * rows + n) * n > most_entries ? std::nullopt
                                                                       : std::optional(gram_matrix(*full, scale, host));
    return gram_matrix(a.matrix(), transposed.matrix(), scale, static_cast<std::int64_t>(most_entries), host);
}

}  // namespace

template <class T>
GramCosts::GramCosts(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, double most_steps) : most_steps_(most_steps) {
    constexpr double calls = 1000, vector_element = 12, term = 5, term_of_full = 0.1;
    rows_ = static_cast<double>(a.rows());
    columns_ = static_cast<double>(a.columns());
    double entries = rows_ * columns_;
    is_dense_ = a.dense() != nullptr;
    if (is_dense_) {
        gram_of_rows_ = term_of_full * entries * rows_;
        gram_of_columns_ = term_of_full * entries * columns_;
    } else {
        entries = static_cast<double>(a.matrix().nonzeros());
        const auto squares = [](const CsrView<T>& matrix) {
            double sum = 0;
            for (std::int64_t k = 0; k < matrix.rows; ++k) sum += std::pow(static_cast<double>(matrix.row_length(k)), 2);
            return sum;
        };
        gram_of_rows_ = term * squares(transposed.matrix());
        gram_of_columns_ = term * squares(a.matrix());
    }
    step_ = calls + 2 * entries + vector_element * (rows_ + columns_);
}

double GramCosts::most() const { return most_steps_ * step_; }

std::int64_t GramCosts::trial(bool of_rows) const {
    return static_cast<std::int64_t>(std::clamp(gram(of_rows) / std::max(step_, 1.0), least_steps, most_steps_));
}

bool GramCosts::is_cheap(bool of_rows) const {
    constexpr double steps_of_dense = 200;  // random matrices take 20 to 250
    const double n = of_rows ? rows_ : columns_;
    const FillPrediction full{.factor_entries = n * n, .flops = 2 * n * n * n / 3};
    const double factors_of_full = factors(static_cast<std::int64_t>(n * n), is_dense_, full);
    return gram(of_rows) + factors_of_full < (is_dense_ ? steps_of_dense : least_steps) * step_;
}

/// Measured for grids of 10^4 to 10^6 points, and for dense matrices of 300 to 6000 rows, on two x86-64 cores. With the
/// applications to look for lost rank and of some steps.
double GramCosts::factors(std::int64_t entries, bool is_nearly_full, const FillPrediction& fill) {
    constexpr double entry = 90, solved_entry = 10, flop = 1;
    constexpr double solved_entry_of_full = 2;
    constexpr double applications = 8;
    const double stored = fill.factor_entries + static_cast<double>(entries);
    if (is_nearly_full)
        return full_factor_flop * fill.flops + full_factor_entry * stored +
               applications * solved_entry_of_full * fill.factor_entries;
    return flop * fill.flops + entry * stored + applications * solved_entry * fill.factor_entries;
}

double GramCosts::in_pairs(bool of_rows, double flops) const {
    constexpr double by_double = 8;  // what a pair takes
    return by_double * (gram(of_rows) + flops / 2);
}

double GramCosts::multigrid(const MatrixFacts& g) const {
    constexpr double steps = 20;  // as CostModel has them
    return 3 * (CostModel(CostProfile::processor, g, 0).multigrid() + steps * step_);
}

template <class T>
std::optional<ShiftedGram<T>> ShiftedGram<T>::of(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, bool of_rows, Shift shift,
                                                 double unit, const GramCosts& costs, std::int64_t memory_limit) {
    if (costs.gram(of_rows) > costs.most()) return std::nullopt;
    const cpu::FloatingPointGuard guard;
    const double most_entries = std::min(memory_limit_in_bytes(memory_limit) / bytes_per_entry, 0x1p31 - 1);
    const Device host = host_of(a);
    std::optional<CsrMatrix<double>> made =
        of_rows ? gram(transposed, a, 1 / unit, most_entries, host) : gram(a, transposed, 1 / unit, most_entries, host);
    if (!made) return std::nullopt;
    return ShiftedGram(std::move(*made), shift, memory_limit, host);
}

template <class T>
ShiftedGram<T>::ShiftedGram(CsrMatrix<double> gram, Shift shift, std::int64_t memory_limit, Device host)
    : shifted_(std::move(gram)), memory_limit_(memory_limit), host_(std::move(host)) {
    std::vector<double*> places;
    for (std::int64_t i = 0; i < shifted_.rows; ++i) {
        const auto begin = shifted_.column_indices.begin();
        const auto place = std::lower_bound(begin + shifted_.row_offsets[i], begin + shifted_.row_offsets[i + 1], i);
        places.push_back(&shifted_.values[static_cast<std::size_t>(place - begin)]);
        if (*places.back() == 0) *places.back() = 1;  // nothing but zeros, stored or by underflow
        diagonal_.push_back(*places.back());
    }
    if (shift == Shift::common && !diagonal_.empty())
        common_shift_ = common_shift_by_largest<T> * *std::ranges::max_element(diagonal_);
    for (double* const place : places)
        *place = add_rn(*place, shift == Shift::common ? common_shift_ : mul_rn(relative_shift<T>, *place));
}

template <class T>
const Preparation& ShiftedGram<T>::preparation() {
    if (!preparation_) preparation_ = prepare(shifted_.view(), Ordering::amd, host_);
    return *preparation_;
}

template <class T>
double ShiftedGram<T>::cost_of_factors(double most) {
    const CsrView<double> g = shifted_.view();
    const auto cost = [&](const FillPrediction& fill) { return GramCosts::factors(g.nonzeros(), is_nearly_full(g), fill); };
    const std::optional<FillPrediction> least = preparation::least_fill(g);
    return least && cost(*least) > most ? cost(*least) : cost(*preparation().fill);
}

template <class T>
std::unique_ptr<Preconditioner<T>> ShiftedGram<T>::factor() {
    PreconditionerOptions options;
    options.memory_limit = memory_limit_;
    try {
        constexpr double any_pivot = 0;  // as G + D is positive definite
        return make_klu<T>(shifted_.view(), preparation(), options, host_, Elimination::complex, any_pivot);
    } catch (const Error&) {  // no memory, or a pivot of zero
        return nullptr;
    }
}

template <class T>
std::optional<MatrixFacts> ShiftedGram<T>::facts_for_multigrid(const GramCosts& costs) const {
    if constexpr (!std::is_same_v<T, double>) return std::nullopt;
    const CsrView<double> g = shifted_.view();
    const MatrixFacts facts = facts_of(SpmvPlan<double>(g, host_, {.storage = SpmvStorage::csr}));
    if (!facts.suits_multigrid()) return std::nullopt;
    const auto is_cheaper = [&](const FillPrediction& least) {
        return costs.multigrid(facts) < GramCosts::factors(g.nonzeros(), is_nearly_full(g), least);
    };
    return is_cheaper(preparation::estimate_fill(g, is_cheaper)) ? std::optional(facts) : std::nullopt;
}

template <class T>
std::unique_ptr<Preconditioner<T>> ShiftedGram<T>::multigrid(const Device& device) const {
    if constexpr (std::is_same_v<T, double>) {
        try {
            const SpmvPlan<double> plan(shifted_.view(), device, {.storage = SpmvStorage::csr});
            return make_preconditioner(PreconditionerKind::amg, plan, Accuracy::exact, {.memory_limit = memory_limit_});
        } catch (const Error&) {           // no memory, or a diagonal entry that a smoother cannot divide by
        } catch (const std::bad_alloc&) {  // LSMR goes on with factors
        }
    }
    return nullptr;
}

template <class T>
std::unique_ptr<Preconditioner<T>> ShiftedGram<T>::factor_in_pairs(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed,
                                                                   bool of_rows, double unit, const GramCosts& costs) {
    if (costs.in_pairs(of_rows, preparation().fill->flops) > costs.most()) return nullptr;
    const auto make = [&](const SpmvPlan<T>& columns, const SpmvPlan<T>& rows) {
        return make_gram_factors_in_pairs(columns, rows, unit, shifted_.view(), preparation().column_order, memory_limit_,
                                          host_);
    };
    try {
        std::unique_ptr<Preconditioner<T>> factors = of_rows ? make(transposed, a) : make(a, transposed);
        std::vector<T> x;
        // Errors of m^2 2^-106 in sums of m products, and rounded elements of A, which move singular values by u and more, are
        // not to be taken for rank.
        const double least = 4 * unit_roundoff<T> * static_cast<double>(std::max(a.rows(), a.columns()));
        return factors && least_eigenvalue(*factors, x) > least * least ? std::move(factors) : nullptr;
    } catch (const std::bad_alloc&) {  // LSMR goes on without
        return nullptr;
    }
}

template <class T>
double ShiftedGram<T>::least_eigenvalue(const Preconditioner<T>& inverse, std::vector<T>& x) const {
    constexpr int steps = 4;
    const std::size_t n = diagonal_.size();
    std::vector<double> scaled(n);  // D^1/2 times the iterate
    std::vector<T> right(n);
    x.resize(n);
    for (std::size_t i = 0; i < n; ++i) scaled[i] = random_element<double>(1, static_cast<std::int64_t>(i));
    double eigenvalue = 0;
    for (int step = 0; step < steps; ++step) {
        const double before = norm2(std::span<const double>(scaled), Accuracy::exact, host_);
        for (std::size_t i = 0; i < n; ++i) right[i] = static_cast<T>(scaled[i] / before * std::sqrt(diagonal_[i]));
        inverse.apply(right, x, Accuracy::exact);
        for (std::size_t i = 0; i < n; ++i) scaled[i] = static_cast<double>(x[i]) * std::sqrt(diagonal_[i]);
        eigenvalue = 1 / norm2(std::span<const double>(scaled), Accuracy::exact, host_);
    }
    return eigenvalue;
}

template <class T>
Rank ShiftedGram<T>::rank_of(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, double unit,
                             const Preconditioner<T>& inverse) const {
    constexpr int steps = 4;
    constexpr double far_above = 16;
    const std::size_t n = diagonal_.size();
    std::vector<T> x, product(static_cast<std::size_t>(a.rows())), right(n), part(n);
    const double eigenvalue = least_eigenvalue(inverse, x);
    if (eigenvalue > far_above * relative_shift<T>) return Rank::full;
    // x - (G + D)^-1 A'A x, further steps of inverse iteration, in which A x keeps its digits however small it is
    const T by_unit = static_cast<T>(1 / unit);
    for (T& element : x) element = static_cast<T>(static_cast<double>(element) * eigenvalue);
    for (int step = 0; step < steps; ++step) {
        a.multiply(by_unit, x, T(0), product, Accuracy::exact);
        transposed.multiply(by_unit, product, T(0), right, Accuracy::exact);
        inverse.apply(right, part, Accuracy::exact);
        for (std::size_t i = 0; i < n; ++i) x[i] = add_rn(x[i], -part[i]);
    }
    a.multiply(by_unit, x, T(0), product, Accuracy::exact);
    std::vector<double> scaled(n);
    for (std::size_t i = 0; i < n; ++i) scaled[i] = static_cast<double>(x[i]) * std::sqrt(diagonal_[i]);
    const double length = norm2(std::span<const double>(scaled), Accuracy::exact, host_);
    const auto image = static_cast<double>(norm2(std::span<const T>(product), Accuracy::exact, host_));
    constexpr double of_rounding = 4 * unit_roundoff<T>;  // of the elements of x, by a matrix whose norm is at most sqrt(n)
    return image > of_rounding * std::sqrt(static_cast<double>(n)) * length ? Rank::unclear : Rank::lost;
}

template GramCosts::GramCosts(const SpmvPlan<float>&, const SpmvPlan<float>&, double);
template GramCosts::GramCosts(const SpmvPlan<double>&, const SpmvPlan<double>&, double);
template class ShiftedGram<float>;
template class ShiftedGram<double>;

}  // namespace solver
