#include "preconditioner/amg/hierarchy.hpp"

#include "core/hash.hpp"
#include "core/sorted_rows.hpp"
#include "preconditioner/amg/chebyshev.hpp"
#include "preconditioner/amg/dense_inverse.hpp"
#include "preconditioner/amg/host_place.hpp"
#include "preconditioner/memory_limit.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace solver::amg {
namespace {

// A level of so few rows is inverted: a product with its inverse costs as much as a matrix of some ten thousand rows.
constexpr std::int64_t rows_to_invert = 400;
constexpr std::int64_t most_levels = 30;
constexpr double least_reduction = 0.8;  // of the number of rows, or coarsening has stagnated

// What the smoother is to damp reaches from the largest eigenvalue of D^-1 A down to this part of it. Measured from 2 to 30 on
// Poisson's equation in two and three dimensions and on 27 points: 4 and 5 need the fewest iterations.
constexpr double smoothed_range = 5;

[[noreturn]] void refuse_row(std::int64_t row, std::size_t level) {
    if (level > 0)
        throw InvalidArgument(fmt::format(
            "preconditioner amg: on level {} row {} (counted from 1) has a diagonal entry that is zero, or entries that "
            "are not finite: A is too far from definite for aggregation; use ilut or klu",
            level + 1, row + 1));
    throw InvalidArgument(fmt::format(
        "preconditioner amg: row {} (counted from 1) has a diagonal entry that is missing, zero or too small to divide "
        "by, or an entry that is not finite, and its smoother divides by the diagonal; use ilut or klu, which reorder "
        "the rows",
        row + 1));
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

template <class V, class Place>
class Setup {
public:
    Setup(const PreconditionerOptions& options, const Place& place)
        : options_(options),
          place_(place),
          memory_limit_(options.memory_limit > 0 ? options.memory_limit : place.default_memory_limit()) {}

    template <class T>
    Hierarchy<V, typename Place::Memory> run(const typename Place::template View<T>& a) {
        hierarchy_.is_symmetric = place_.is_symmetric(a);
        const int given = options_.amg.unknowns_per_node;
        const auto vectors = options_.amg.near_null_space;
        space_ = place_.space(given > 0 ? given : place_.unknowns_per_node(a), static_cast<int>(std::ssize(vectors) / a.rows),
                              vectors);
        std::optional<typename Place::template Matrix<double>> coarse = add_level<T>(a);
        while (coarse) coarse = add_level<double>(coarse->view());
        return std::move(hierarchy_);
    }

private:
    template <class T>
    using View = typename Place::template View<T>;

    /// The matrix of the next level, if there is one.
    template <class T>
    std::optional<typename Place::template Matrix<double>> add_level(const View<T>& a) {
        std::int64_t first_failure = 0;
        const auto inverse = place_.template inverse_diagonal<V>(a, first_failure);
        if (first_failure < a.rows) refuse_row(first_failure, hierarchy_.levels.size());
        require_memory_for<T>(a);
        hierarchy_.levels.push_back({place_.template rounded<V>(a), place_.template rounded<V>(inverse), {}, {}, {}});
        hierarchy_.summary.push_back({a.rows, Place::nonzeros(a), space_.unknowns_per_node});
        if (options_.progress) (*options_.progress)(fmt::format("amg, level {}: {} rows", hierarchy_.summary.size(), a.rows));
        auto& level = hierarchy_.levels.back();
        if (a.rows <= rows_to_invert && try_invert<T>(a)) return std::nullopt;
        level.steps = smoother_steps(largest_eigenvalue(a, inverse, place_));
        if (a.rows <= rows_to_invert || std::ssize(hierarchy_.levels) == most_levels) return std::nullopt;
        auto coarse =
            Coarsener<V, T, Place>(a, hierarchy_.is_symmetric, options_.amg.strength_threshold, place_).coarsen(space_);
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

    /// On the host, wherever the matrix lies: it is small.
    template <class T>
    bool try_invert(const View<T>& a) {
        const auto inverse = regularized_inverse(convert<double>(place_.to_host(a).view()).view(), hierarchy_.is_symmetric);
        if (inverse) hierarchy_.coarsest_inverse = place_.from_host(convert<V>(inverse->view()));
        return inverse.has_value();
    }

    /// A, P and R take up to twice A, the packed copy of A for the cycle as much as A; the last level more while it is made.
    template <class T>
    void require_memory_for(const View<T>& a) {
        constexpr double transient = 4;
        const double of_level = bytes(a.rows, Place::nonzeros(a));
        require_memory("amg", bytes_ + transient * of_level, memory_limit_, "use jacobi, which needs none");
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
    double bytes_ = 0;
};

}  // namespace

template <class V, class Memory>
std::int64_t Hierarchy<V, Memory>::entries() const {
    std::int64_t entries = this->coarsest_inverse.nonzeros();
    for (const Level<V, Memory>& level : this->levels) entries += level.a.nonzeros() + level.prolongation.nonzeros();
    return this->levels.empty() ? 0 : entries - this->levels.front().a.nonzeros();
}

template <class V, class Memory>
std::uint64_t Hierarchy<V, Memory>::hash(const typename Memory::Place& place) const {
    constexpr std::int64_t rows_a_block = 4096;
    using View = typename Memory::Place::template View<V>;
    std::vector<View> matrices;
    for (const Level<V, Memory>& level : this->levels) {
        matrices.push_back(level.a.view());
        matrices.push_back(level.prolongation.view());
        if (!is_symmetric) matrices.push_back(level.restriction.view());
    }
    const std::vector<std::uint64_t> blocks = place.template hashes_of_blocks<V>(matrices, rows_a_block);
    Hash hash;
    auto next = blocks.begin();
    for (const View& matrix : matrices) {
        hash.add(static_cast<std::uint64_t>(matrix.rows));
        for (std::int64_t row = 0; row < matrix.rows; row += rows_a_block) hash.add(*next++);
    }
    hash.add(place.to_host(this->coarsest_inverse.view()).view());
    return hash.value();
}

template <class V, class T>
Hierarchy<V> make_hierarchy(const CsrView<T>& a, const PreconditionerOptions& options, const Device& device) {
    if (a.rows == 0) return {};
    check_options(options.amg, a.rows);
    const HostPlace place(device);
    if (has_sorted_rows(a, device)) return Setup<V, HostPlace>(options, place).template run<T>(a);
    const CsrMatrix<T> sorted = with_sorted_rows(a);
    return Setup<V, HostPlace>(options, place).template run<T>(sorted.view());
}

template <class V, class T>
DeviceHierarchy<V> make_hierarchy(const cuda::DeviceCsrView<T>& a, const PreconditionerOptions& options) {
    if (a.rows == 0) return {};
    check_options(options.amg, a.rows);
    const cuda::CudaPlace place(a.device);
    return Setup<V, cuda::CudaPlace>(options, place).template run<T>(a);
}

template <class V>
Hierarchy<V> copy_to_host(const DeviceHierarchy<V>& hierarchy, const cuda::CudaPlace& place) {
    Hierarchy<V> copy;
    for (const Level<V, cuda::OnDevice>& level : hierarchy.levels) {
        std::vector<V> diagonal(static_cast<std::size_t>(level.inverse_diagonal.size()));
        level.inverse_diagonal.copy_to(diagonal);
        copy.levels.push_back({place.to_host(level.a.view()), std::move(diagonal), level.steps,
                               place.to_host(level.prolongation.view()), place.to_host(level.restriction.view())});
    }
    copy.coarsest_inverse = place.to_host(hierarchy.coarsest_inverse.view());
    copy.summary = hierarchy.summary;
    copy.is_symmetric = hierarchy.is_symmetric;
    return copy;
}

template struct Hierarchy<float>;
template struct Hierarchy<double>;
template struct Hierarchy<float, cuda::OnDevice>;
template struct Hierarchy<double, cuda::OnDevice>;
template Hierarchy<float> make_hierarchy(const CsrView<float>&, const PreconditionerOptions&, const Device&);
template Hierarchy<float> make_hierarchy(const CsrView<double>&, const PreconditionerOptions&, const Device&);
template Hierarchy<double> make_hierarchy(const CsrView<double>&, const PreconditionerOptions&, const Device&);
template DeviceHierarchy<float> make_hierarchy(const cuda::DeviceCsrView<float>&, const PreconditionerOptions&);
template DeviceHierarchy<float> make_hierarchy(const cuda::DeviceCsrView<double>&, const PreconditionerOptions&);
template DeviceHierarchy<double> make_hierarchy(const cuda::DeviceCsrView<double>&, const PreconditionerOptions&);
template Hierarchy<float> copy_to_host(const DeviceHierarchy<float>&, const cuda::CudaPlace&);
template Hierarchy<double> copy_to_host(const DeviceHierarchy<double>&, const cuda::CudaPlace&);

}  // namespace solver::amg
