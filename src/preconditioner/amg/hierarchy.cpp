#include "preconditioner/amg/hierarchy.hpp"

#include "core/huge_pages.hpp"
#include "core/sorted_rows.hpp"
#include "cpu/elementwise.hpp"
#include "cpu/symmetry.hpp"
#include "preconditioner/amg/aggregates.hpp"
#include "preconditioner/amg/chebyshev.hpp"
#include "preconditioner/amg/dense_inverse.hpp"
#include "preconditioner/amg/galerkin.hpp"
#include "preconditioner/amg/near_null_space.hpp"
#include "preconditioner/amg/nodes.hpp"
#include "preconditioner/amg/prolongator.hpp"
#include "preconditioner/amg/row_accumulator.hpp"
#include "preconditioner/amg/strength.hpp"
#include "preconditioner/amg/tentative.hpp"
#include "preconditioner/factor_hash.hpp"
#include "preconditioner/memory_limit.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

namespace solver::amg {
namespace {

// A level of so few rows is inverted: a product with its inverse costs as much as a matrix of some ten thousand rows.
constexpr std::int64_t rows_to_invert = 400;
constexpr std::int64_t most_levels = 30;
constexpr double least_reduction = 0.8;  // of the number of rows, or coarsening has stagnated

// What the smoother is to damp reaches from the largest eigenvalue of D^-1 A down to this part of it. Measured from 2 to 30 on
// Poisson's equation in two and three dimensions and on 27 points: 4 and 5 need the fewest iterations.
constexpr double smoothed_range = 5;

/// 1 / a_ii. Entries must be finite in V, too.
template <class V, class T>
std::vector<double> inverse_diagonal(const CsrView<T>& a, std::size_t level, const Device& device) {
    std::vector<double> inverse = zeros<double>(a.rows, device.threads());
    std::atomic<std::int64_t> first_failure{a.rows};
    cpu::update(std::span(inverse), device, [&](double, std::int64_t i) {
        double diagonal = 0;
        bool finite = true;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            if (a.column_indices[k] == i) diagonal = a.values[k];
            finite = finite && is_finite(static_cast<V>(a.values[k]));
        }
        const double result = div_rn(1.0, diagonal);
        if (!finite || diagonal == 0 || !is_finite(static_cast<V>(result))) {
            std::int64_t lowest = first_failure.load();
            while (i < lowest && !first_failure.compare_exchange_weak(lowest, i)) {
            }
        }
        return result;
    });
    if (first_failure == a.rows) return inverse;
    if (level > 0)
        throw InvalidArgument(fmt::format(
            "preconditioner amg: on level {} row {} (counted from 1) has a diagonal entry that is zero, or entries that "
            "are not finite: A is too far from definite for aggregation; use ilut or klu",
            level + 1, first_failure + 1));
    throw InvalidArgument(fmt::format(
        "preconditioner amg: row {} (counted from 1) has a diagonal entry that is missing, zero or too small to divide "
        "by, or an entry that is not finite, and its smoother divides by the diagonal; use ilut or klu, which reorder "
        "the rows",
        first_failure + 1));
}

/// By several threads.
template <class V, std::ranges::sized_range Values>
std::vector<V> rounded(const Values& values, const Device& device) {
    std::vector<V> result = zeros<V>(std::ssize(values), device.threads());
    cpu::update(std::span(result), device, [=](V, std::int64_t i) { return static_cast<V>(values[i]); });
    return result;
}

/// convert<V> by several threads.
template <class V, class T>
CsrMatrix<V> rounded(const CsrView<T>& a, const Device& device) {
    return {a.rows, a.columns, rounded<std::int64_t>(a.row_offsets, device), rounded<std::int32_t>(a.column_indices, device),
            rounded<V>(a.values, device)};
}

void check_options(const AmgOptions& options, std::int64_t rows) {
    if (!(options.strength_threshold >= 0 && options.strength_threshold <= 1))
        throw InvalidArgument(fmt::format("preconditioner amg: the strength threshold is {}, but must be a number from 0 to 1",
                                          options.strength_threshold));
    constexpr int highest_degree = 20;
    if (options.smoother_degree < 1 || options.smoother_degree > highest_degree)
        throw InvalidArgument(fmt::format("preconditioner amg: the smoother has degree {}, but must have one from 1 to {}",
                                          options.smoother_degree, highest_degree));
    constexpr int most_unknowns = 100;
    const int unknowns = options.unknowns_per_node;
    if (unknowns < 0 || unknowns > most_unknowns || (unknowns > 0 && rows % unknowns != 0))
        throw InvalidArgument(
            fmt::format("preconditioner amg: nodes have {} unknowns, and A has {} rows; expected a number from 1 to "
                        "{} that divides the number of rows, or 0, for the number to be found",
                        unknowns, rows, most_unknowns));
    constexpr int most_vectors = 20;
    const std::int64_t numbers = std::ssize(options.near_null_space);
    if (numbers % rows != 0 || numbers / rows > most_vectors)
        throw InvalidArgument(fmt::format(
            "preconditioner amg: the near-null space has {} numbers, and A has {} rows; expected at most {} vectors, "
            "one after another, of as many numbers as A has rows",
            numbers, rows, most_vectors));
    if (!std::all_of(options.near_null_space.begin(), options.near_null_space.end(), is_finite<double>))
        throw InvalidArgument("preconditioner amg: the near-null space has a number that is not finite");
}

template <class T>
NearNullSpace near_null_space(const CsrView<T>& a, const AmgOptions& options, const Device& device) {
    const int unknowns = options.unknowns_per_node > 0 ? options.unknowns_per_node : unknowns_per_node(a, device);
    const auto given = options.near_null_space;
    return {unknowns, static_cast<int>(std::ssize(given) / a.rows), {given.begin(), given.end()}};
}

/// What leads from one level to the next, and its matrix.
template <class V>
struct Coarsening {
    CsrMatrix<V> prolongation;
    CsrMatrix<V> restriction;
    CsrMatrix<double> matrix;
    NearNullSpace space;  ///< of the next level
};

/// Of A, whose transpose is read where A is not symmetric.
template <class T>
Graph strong_nodes(const CsrView<T>& a, const CsrView<T>& transposed, bool is_symmetric, int unknowns_per_node,
                   double threshold, const Device& device) {
    CsrMatrix<T> symmetric, of_nodes;
    if (!is_symmetric) symmetric = symmetric_magnitudes(a, transposed, device);
    CsrView<T> magnitudes = is_symmetric ? a : symmetric.view();
    if (unknowns_per_node > 1) {
        of_nodes = magnitudes_of_nodes(magnitudes, unknowns_per_node, device);
        magnitudes = of_nodes.view();
    }
    return strong_connections(magnitudes, threshold, device);
}

/// T, P and R; the matrix is not made yet. Nothing where aggregates are not much fewer than nodes.
template <class V, class T>
std::optional<std::pair<TentativeProlongator, Coarsening<V>>> make_transfer(const CsrView<T>& a, bool is_symmetric,
                                                                            const NearNullSpace& space, double threshold,
                                                                            const Device& device) {
    CsrMatrix<T> transposed;
    if (!is_symmetric) transposed = transpose(a, device);
    const Graph strong = strong_nodes(a, transposed.view(), is_symmetric, space.unknowns_per_node, threshold, device);
    Aggregates aggregates = aggregate(strong, device);
    const double nodes = static_cast<double>(aggregates.of.size());
    if (aggregates.count == 0 || static_cast<double>(aggregates.count) > least_reduction * nodes) return std::nullopt;
    TentativeProlongator tentative(std::move(aggregates), space, device);
    const auto smoothed = [&](const CsrView<T>& matrix) { return smoothed_prolongator<V>(matrix, strong, tentative, device); };
    Coarsening<V> coarse{smoothed(a), {}, {}, tentative.coarse_space()};
    coarse.restriction = transpose(is_symmetric ? coarse.prolongation.view() : smoothed(transposed.view()).view(), device);
    return std::pair(std::move(tentative), std::move(coarse));
}

/// The next level. Where the smoothed prolongators would make a matrix of more entries than A, as on graphs whose distances
/// are short, they are not smoothed.
template <class V, class T>
std::optional<Coarsening<V>> coarsen(const CsrView<T>& a, bool is_symmetric, const NearNullSpace& space, double threshold,
                                     const Device& device) {
    auto transfer = make_transfer<V>(a, is_symmetric, space, threshold, device);
    if (!transfer) return std::nullopt;
    TentativeProlongator& tentative = transfer->first;
    Coarsening<V>& coarse = transfer->second;
    const auto product = [&](std::int64_t most_entries) {
        return galerkin_product<V>(coarse.restriction.view(), a, coarse.prolongation.view(), device, most_entries);
    };
    std::optional<CsrMatrix<double>> matrix = product(a.nonzeros());
    if (!matrix) {
        coarse.prolongation = tentative.template matrix<V>();
        coarse.restriction = transpose(coarse.prolongation.view(), device);
        matrix = product(no_limit);
    }
    coarse.matrix = std::move(*matrix);
    if (is_symmetric) mirror_upper_triangle(coarse.matrix, device);
    return std::move(coarse);
}

/// Adds the hashes of blocks of rows, which several threads find.
template <class V>
void add_in_blocks(Hash& hash, const CsrView<V>& a, const Device& device) {
    constexpr std::int64_t rows_a_block = 4096;
    const auto begin_of = [&](std::int64_t block) { return std::min(block * rows_a_block, a.rows); };
    std::vector<std::uint64_t> of_block(static_cast<std::size_t>((a.rows + rows_a_block - 1) / rows_a_block));
    const auto blocks = static_cast<int>(of_block.size());
    const int parts = std::clamp(blocks, 1, device.threads());
    cpu::parallel_for(parts, [&](int part) {
        for (std::int64_t block = cpu::share_begin(blocks, part, parts); block < cpu::share_begin(blocks, part + 1, parts);
             ++block) {
            Hash of_rows;
            of_rows.add(a, begin_of(block), begin_of(block + 1));
            of_block[block] = of_rows.value();
        }
    });
    hash.add(static_cast<std::uint64_t>(a.rows));
    for (const std::uint64_t value : of_block) hash.add(value);
}

template <class V>
class Setup {
public:
    Setup(const PreconditionerOptions& options, const Device& device) : options_(options), device_(device) {}

    template <class T>
    Hierarchy<V> run(const CsrView<T>& a) {
        hierarchy_.is_symmetric = cpu::is_symmetric(a, device_);
        space_ = near_null_space(a, options_.amg, device_);
        std::optional<CsrMatrix<double>> coarse = add_level(a);
        while (coarse) coarse = add_level(coarse->view());
        return std::move(hierarchy_);
    }

private:
    /// The matrix of the next level, if there is one.
    template <class T>
    std::optional<CsrMatrix<double>> add_level(const CsrView<T>& a) {
        const std::vector<double> inverse = inverse_diagonal<V>(a, hierarchy_.levels.size(), device_);
        require_memory_for(a);
        hierarchy_.levels.push_back({rounded<V>(a, device_), rounded<V>(std::span(inverse), device_), {}, {}, {}});
        hierarchy_.summary.push_back({a.rows, a.nonzeros(), space_.unknowns_per_node});
        if (options_.progress) (*options_.progress)(fmt::format("amg, level {}: {} rows", hierarchy_.summary.size(), a.rows));
        Level<V>& level = hierarchy_.levels.back();
        if (a.rows <= rows_to_invert && try_invert(a)) return std::nullopt;
        level.steps = smoother_steps(largest_eigenvalue(a, inverse, device_));
        if (a.rows <= rows_to_invert || std::ssize(hierarchy_.levels) == most_levels) return std::nullopt;
        auto coarse = coarsen<V>(a, hierarchy_.is_symmetric, space_, options_.amg.strength_threshold, device_);
        if (!coarse) return std::nullopt;
        space_ = std::move(coarse->space);
        level.prolongation = std::move(coarse->prolongation);
        level.restriction = std::move(coarse->restriction);
        return std::move(coarse->matrix);
    }

    /// Chebyshev's polynomial where the eigenvalues of D^-1 A are real. Else steps of Jacobi's iteration, damped: eigenvalues
    /// that lie in Gershgorin's disc around 1, where Chebyshev's polynomial can be larger than 1, are damped by any factor up
    /// to 1.
    std::vector<SmootherStep<V>> smoother_steps(double largest) const {
        const int degree = options_.amg.smoother_degree;
        if (hierarchy_.is_symmetric) return chebyshev_steps<V>(degree, div_rn(largest, smoothed_range), largest);
        constexpr double damping = 4.0 / 3;
        return std::vector<SmootherStep<V>>(static_cast<std::size_t>(degree), {static_cast<V>(div_rn(damping, largest)), V(0)});
    }

    template <class T>
    bool try_invert(const CsrView<T>& a) {
        const auto inverse = regularized_inverse(convert<double>(a), hierarchy_.is_symmetric);
        if (inverse) hierarchy_.coarsest_inverse = convert<V>(inverse->view());
        return inverse.has_value();
    }

    /// A, P and R take up to twice A, the packed copy of A for the cycle as much as A; the last level more while it is made.
    template <class T>
    void require_memory_for(const CsrView<T>& a) {
        constexpr double transient = 4;
        const double needed = bytes_ + transient * bytes(a.rows, a.nonzeros());
        require_memory("amg", needed, options_.memory_limit, "use jacobi, which needs none");
        bytes_ += 3 * bytes(a.rows, a.nonzeros());
    }

    static double bytes(std::int64_t rows, std::int64_t nonzeros) {
        return static_cast<double>(rows) * sizeof(std::int64_t) +
               static_cast<double>(nonzeros) * (sizeof(std::int32_t) + sizeof(V));
    }

    const PreconditionerOptions& options_;
    const Device& device_;
    NearNullSpace space_;  ///< of the last level
    Hierarchy<V> hierarchy_;
    double bytes_ = 0;
};

}  // namespace

template <class V>
std::int64_t Hierarchy<V>::entries() const {
    std::int64_t entries = this->coarsest_inverse.nonzeros();
    for (const Level<V>& level : this->levels) entries += level.a.nonzeros() + level.prolongation.nonzeros();
    return this->levels.empty() ? 0 : entries - this->levels.front().a.nonzeros();
}

template <class V>
std::uint64_t Hierarchy<V>::hash(const Device& device) const {
    Hash hash;
    for (const Level<V>& level : this->levels) {
        add_in_blocks(hash, level.a.view(), device);
        add_in_blocks(hash, level.prolongation.view(), device);
        if (!is_symmetric) add_in_blocks(hash, level.restriction.view(), device);
    }
    hash.add(this->coarsest_inverse.view());
    return hash.value();
}

template <class V, class T>
Hierarchy<V> make_hierarchy(const CsrView<T>& a, const PreconditionerOptions& options, const Device& device) {
    if (a.rows == 0) return {};
    check_options(options.amg, a.rows);
    if (has_sorted_rows(a, device)) return Setup<V>(options, device).run(a);
    const CsrMatrix<T> sorted = with_sorted_rows(a);
    return Setup<V>(options, device).run(sorted.view());
}

template struct Hierarchy<float>;
template struct Hierarchy<double>;
template Hierarchy<float> make_hierarchy(const CsrView<float>&, const PreconditionerOptions&, const Device&);
template Hierarchy<float> make_hierarchy(const CsrView<double>&, const PreconditionerOptions&, const Device&);
template Hierarchy<double> make_hierarchy(const CsrView<double>&, const PreconditionerOptions&, const Device&);

}  // namespace solver::amg
