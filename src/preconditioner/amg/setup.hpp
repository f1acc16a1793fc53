#pragma once

/// How levels are made one after another, by the steps of the place where matrices lie: HostPlace, cuda::CudaPlace, and the
/// ranks of the plugin for PETSc.

#include "core/row_facts.hpp"
#include "preconditioner/amg/chebyshev.hpp"
#include "preconditioner/amg/dense_inverse.hpp"
#include "preconditioner/amg/hierarchy.hpp"
#include "preconditioner/memory_limit.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/preconditioner.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace solver::amg {

// A level of so few rows is inverted: a product with its inverse costs as much as a matrix of some ten thousand rows.
inline constexpr std::int64_t rows_to_invert = 400;
inline constexpr std::int64_t most_levels = 30;
inline constexpr double least_reduction = 0.8;  // of the number of rows, or coarsening has stagnated

// What the smoother is to damp reaches from the largest eigenvalue of D^-1 A down to this part of it. Measured from 2 to 30 on
// Poisson's equation in two and three dimensions and on 27 points: 4 and 5 need the fewest iterations.
inline constexpr double smoothed_range = 5;

/// Throws InvalidArgument that names the row, whose diagonal entry or entries a smoother cannot use.
[[noreturn]] void refuse_row(std::int64_t row, std::size_t level);

/// Throws InvalidArgument where an option is out of its range.
void check_options(const AmgOptions& options, std::int64_t rows);

/// Throws InvalidArgument if so many numbers are no vectors of so many rows, or too many.
void check_near_null_space(std::int64_t numbers, std::int64_t rows);

/// What leads from one level to the next, and its matrix.
template <class V, class Place>
struct Coarsening {
    typename Place::template Matrix<V> prolongation;
    typename Place::template Matrix<V> restriction;
    typename Place::template Matrix<double> matrix;
    typename Place::Space space;  ///< of the next level
};

/// From one level to the next, by the steps of the place where its matrix of T lies.
template <class V, class T, class Place>
class Coarsener {
public:
    using View = typename Place::template View<T>;

    Coarsener(const View& a, bool is_symmetric, double threshold, const Place& place)
        : a_(a), is_symmetric_(is_symmetric), threshold_(threshold), place_(place) {
        if (!is_symmetric) transposed_ = place.transpose(a);
    }

    /// Nothing where aggregates are not much fewer than nodes. Where the smoothed prolongators would make a matrix of more
    /// entries than A, as on graphs whose distances are short, they are not smoothed.
    std::optional<Coarsening<V, Place>> coarsen(const typename Place::Space& space) {
        const auto strong = strong_nodes(space.unknowns_per_node);
        auto aggregates = place_.aggregate(strong);
        const auto nodes = static_cast<double>(strong.size());
        if (aggregates.count == 0 || static_cast<double>(aggregates.count) > least_reduction * nodes) return std::nullopt;
        auto tentative = place_.tentative(std::move(aggregates), space);
        Coarsening<V, Place> coarse = smoothed(strong, tentative);
        auto matrix = product(coarse, Place::nonzeros(a_));
        if (!matrix) {
            coarse.prolongation = place_.template matrix_of<V>(tentative);
            coarse.restriction = place_.transpose(coarse.prolongation.view());
            matrix = product(coarse, std::numeric_limits<std::int64_t>::max());
        }
        coarse.matrix = std::move(*matrix);
        if (is_symmetric_) place_.mirror_upper_triangle(coarse.matrix);
        coarse.space = tentative.take_coarse_space();
        return coarse;
    }

private:
    auto strong_nodes(int unknowns_per_node) const {
        typename Place::template Matrix<T> symmetric, of_nodes;
        if (!is_symmetric_) symmetric = place_.symmetric_magnitudes(a_, transposed_.view());
        View magnitudes = is_symmetric_ ? a_ : symmetric.view();
        if (unknowns_per_node > 1) {
            of_nodes = place_.magnitudes_of_nodes(magnitudes, unknowns_per_node);
            magnitudes = of_nodes.view();
        }
        return place_.strong_connections(magnitudes, threshold_);
    }

    /// P and R.
    template <class Graph, class Tentative>
    Coarsening<V, Place> smoothed(const Graph& strong, const Tentative& tentative) const {
        const auto prolongator = [&](const View& a) { return place_.template smoothed_prolongator<V>(a, strong, tentative); };
        Coarsening<V, Place> coarse{prolongator(a_), {}, {}, {}};
        coarse.restriction =
            place_.transpose(is_symmetric_ ? coarse.prolongation.view() : prolongator(transposed_.view()).view());
        return coarse;
    }

    auto product(const Coarsening<V, Place>& coarse, std::int64_t most_entries) const {
        return place_.galerkin_product(coarse.restriction.view(), a_, coarse.prolongation.view(), most_entries);
    }

    View a_;
    bool is_symmetric_;
    double threshold_;
    const Place& place_;
    typename Place::template Matrix<T> transposed_;  ///< where A is not symmetric
};

/// How many levels there are above one, and what they take by the bound of the memory.
struct LevelsAbove {
    std::size_t levels = 0;
    double bytes = 0;
};

template <class V, class Place>
class Setup {
public:
    template <class T>
    using View = typename Place::template View<T>;

    Setup(const PreconditionerOptions& options, const Place& place)
        : options_(options),
          place_(place),
          memory_limit_(options.memory_limit > 0 ? options.memory_limit : place.default_memory_limit()) {}

    /// All levels of A, or of its upper triangle and that mirrored where A is symmetric but for rounding.
    template <class T>
    Hierarchy<V, typename Place::Memory> run(const View<T>& a) {
        if (place_.is_symmetric(a, OwnTranspose::of_reals)) return run<T>(a, true);
        if (!place_.is_symmetric(a, OwnTranspose::of_rounded_reals)) return run<T>(a, false);
        bytes_ += bytes(a.rows, Place::nonzeros(a));
        auto mirrored = place_.template rounded<double>(a);
        place_.mirror_upper_triangle(mirrored);
        return run<double>(mirrored.view(), true);
    }

    /// Before the first level; `above` is what another place has made.
    void begin(bool is_symmetric, typename Place::Space space, const LevelsAbove& above = {}) {
        hierarchy_.is_symmetric = is_symmetric;
        space_ = std::move(space);
        above_ = above;
    }

    /// The matrix of the next level, if there is one.
    template <class T>
    std::optional<typename Place::template Matrix<double>> add_level(const View<T>& a) {
        std::int64_t first_failure = 0;
        const auto inverse = place_.template inverse_diagonal<V>(a, first_failure);
        if (first_failure < a.rows) refuse_row(first_failure, above().levels);
        require_memory_for<T>(a);
        // Not in braces: GCC 12 destroys an aggregate in them twice where what comes after it throws.
        hierarchy_.levels.emplace_back().inverse_diagonal = place_.template rounded<V>(inverse);
        hierarchy_.summary.push_back({a.rows, Place::nonzeros(a), space_.unknowns_per_node});
        if (options_.progress) (*options_.progress)(fmt::format("amg, level {}: {} rows", above().levels, a.rows));
        auto coarse = next_level<T>(a, inverse);
        hierarchy_.levels.back().a = place_.template rounded<V>(a);  // last, where least is in memory
        return coarse;
    }

    /// What a level that came now would have above itself, and what the smoother of the last level does not see there.
    LevelsAbove above() const { return {above_.levels + hierarchy_.levels.size(), above_.bytes + bytes_}; }
    const typename Place::Space& space() const { return space_; }

    Hierarchy<V, typename Place::Memory> take() { return std::move(hierarchy_); }

private:
    template <class T>
    Hierarchy<V, typename Place::Memory> run(const View<T>& a, bool is_symmetric) {
        const int given = options_.amg.unknowns_per_node;
        const auto vectors = options_.amg.near_null_space;
        begin(is_symmetric, place_.space(given > 0 ? given : place_.unknowns_per_node(a),
                                         static_cast<int>(std::ssize(vectors) / a.rows), vectors));
        std::optional<typename Place::template Matrix<double>> coarse = add_level<T>(a);
        while (coarse) coarse = add_level<double>(coarse->view());
        return take();
    }

    /// All of the last level but its matrix.
    template <class T, class Vector>
    std::optional<typename Place::template Matrix<double>> next_level(const View<T>& a, const Vector& inverse) {
        auto& level = hierarchy_.levels.back();
        if (a.rows <= rows_to_invert && try_invert<T>(a)) return std::nullopt;
        level.steps = smoother_steps(largest_eigenvalue(a, inverse, place_));
        if (a.rows <= rows_to_invert || above().levels == most_levels) return std::nullopt;
        auto coarse = Coarsener<V, T, Place>(a, hierarchy_.is_symmetric, strength_threshold(), place_).coarsen(space_);
        if (!coarse) return std::nullopt;
        space_ = std::move(coarse->space);
        level.prolongation = std::move(coarse->prolongation);
        level.restriction = std::move(coarse->restriction);
        return std::move(coarse->matrix);
    }

    /// Random jumps of the coefficients ask for 1/2: from 1/4 on, connections between very different coefficients count as
    /// strong, and conjugate gradients took 1.7 to 1.8 times as many iterations on 50^3 points and more. Displacements took a
    /// sixth more with 1/2, and with more than 1/2 the cycle diverged on strong convection.
    double strength_threshold() const {
        const bool is_plain = hierarchy_.is_symmetric && space_.unknowns_per_node == 1;
        return options_.amg.strength_threshold.value_or(is_plain ? 0.5 : 0.25);
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

    /// On the host, wherever the matrix lies: it is small. A place that leaves small levels to another takes none back.
    template <class T>
    bool try_invert(const View<T>& a) {
        if constexpr (requires { place_.from_host(CsrMatrix<V>()); }) {
            const auto inverse = regularized_inverse(convert<double>(place_.to_host(a).view()).view(), hierarchy_.is_symmetric,
                                                     place_.host_threads());
            if (inverse) hierarchy_.coarsest_inverse = place_.from_host(convert<V>(inverse->view()));
            return inverse.has_value();
        }
        return false;
    }

    /// A, P and R take up to twice A, the packed copy of A for the cycle as much as A; the last level more while it is made.
    template <class T>
    void require_memory_for(const View<T>& a) {
        constexpr double transient = 4;
        const double of_level = bytes(a.rows, Place::nonzeros(a));
        require_memory("amg", above().bytes + transient * of_level, memory_limit_, "use jacobi, which needs none");
        bytes_ += 3 * of_level;
    }

    static double bytes(std::int64_t rows, std::int64_t nonzeros) {
        return static_cast<double>(rows) * sizeof(std::int64_t) +
               static_cast<double>(nonzeros) * (sizeof(std::int32_t) + sizeof(V));
    }

    const PreconditionerOptions& options_;
    const Place& place_;
    std::int64_t memory_limit_;
    Hierarchy<V, typename Place::Memory> hierarchy_;
    typename Place::Space space_;
    LevelsAbove above_;
    double bytes_ = 0;  ///< of the levels here
};

}  // namespace solver::amg
