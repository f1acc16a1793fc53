#pragma once

/// The steps by which levels of multigrid are made, on the ranks of a communicator and with the bits of one.

#include "core/multigrid/tentative.hpp"
#include "core/row_facts.hpp"
#include "preconditioner/amg/near_null_space.hpp"
#include "preconditioner/amg/strength.hpp"
#include "ranks/rank_matrix.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace petscsolver {

class RankPlace;

/// Matrices are shared out by rows, vectors alike.
struct OnRanks {
    template <class V>
    using Matrix = RankMatrix<V>;
    template <class V>
    using Vector = std::vector<V>;
    using Place = RankPlace;
};

/// Between nodes that are numbered by a halo: the neighbours of this rank's.
struct RankGraph {
    std::shared_ptr<const Halo> nodes;
    solver::amg::Graph graph;

    std::int64_t size() const { return nodes->layout().all(); }
};

struct RankAggregates {
    std::shared_ptr<const Halo> nodes;
    std::vector<std::int32_t> of;  ///< of each node of the halo, with all ranks' numbers
    Layout layout;                 ///< an aggregate belongs to the rank of its member of the independent set
    std::int32_t count = 0;        ///< of all ranks
};

/// amg::TentativeProlongator for the rows of a halo, of whole nodes.
class RankTentative {
public:
    RankTentative(const Ranks& ranks, RankAggregates aggregates, const solver::amg::NearNullSpace& space);

    const std::shared_ptr<const Halo>& rows() const { return rows_; }
    const std::shared_ptr<const Halo>& columns() const { return columns_; }
    solver::amg::TentativeView view() const {
        return {aggregate_of_.data(), unknowns_, columns_per_aggregate_, q_.empty() ? nullptr : q_.data()};
    }
    solver::amg::NearNullSpace take_coarse_space() { return std::move(coarse_space_); }

private:
    void factor(const Ranks& ranks, const RankAggregates& aggregates, const solver::amg::NearNullSpace& space);

    int unknowns_;
    int columns_per_aggregate_;
    std::shared_ptr<const Halo> rows_;
    std::shared_ptr<const Halo> columns_;
    std::vector<std::int32_t> aggregate_of_;  ///< of each node of the halo, as the columns are numbered
    std::vector<double> q_;                   ///< row by row; empty without vectors
    solver::amg::NearNullSpace coarse_space_;
};

/// The steps that amg::HostPlace has on one machine, where they are explained. Each is row by row, and so it is here: a rank
/// computes what belongs to its own rows from these, their neighbours' elements and, where a step needs them, neighbouring
/// rows. Collective; matrices have rows sorted, and vectors are those of a rank's own rows. All ranks have the same results.
class RankPlace : public OnRanks {
public:
    template <class T>
    using View = RankView<T>;
    using Graph = RankGraph;
    using Space = solver::amg::NearNullSpace;
    using Memory = OnRanks;

    explicit RankPlace(const Ranks& ranks) : ranks_(ranks) {}

    /// Half of the memory that is free on all machines together.
    std::int64_t default_memory_limit() const;

    template <class T>
    static std::int64_t nonzeros(const View<T>& a) {
        return a->entries;
    }
    bool suits_cycle_in_floats(const View<double>& a) const;
    bool is_symmetric(const View<double>& a, solver::OwnTranspose kind) const;
    int unknowns_per_node(const View<double>& a) const;

    /// 1 / a_ii of this rank's rows, and the first row of all that a smoother in V cannot divide by; a.rows if there is none.
    template <class V>
    std::vector<double> inverse_diagonal(const View<double>& a, std::int64_t& first_failure) const;
    template <class V>
    RankMatrix<V> rounded(const View<double>& a) const;
    template <class V>
    std::vector<V> rounded(const std::vector<double>& x) const {
        return {x.begin(), x.end()};
    }

    double gershgorin_bound(const View<double>& a, const std::vector<double>& inverse_diagonal) const;
    double power_method(const View<double>& a, const std::vector<double>& inverse_diagonal, int iterations,
                        std::uint64_t seed) const;

    template <class T>
    RankMatrix<T> transpose(const View<T>& a) const {
        return transposed(ranks_, *a.matrix);
    }
    RankMatrix<double> symmetric_magnitudes(const View<double>& a, const View<double>& transposed) const;
    RankMatrix<double> magnitudes_of_nodes(const View<double>& a, int unknowns) const;
    RankGraph strong_connections(const View<double>& magnitudes, double theta) const;
    RankAggregates aggregate(const RankGraph& graph) const;

    RankTentative tentative(RankAggregates aggregates, const Space& space) const {
        return {ranks_, std::move(aggregates), space};
    }
    template <class V>
    RankMatrix<V> matrix_of(const RankTentative& tentative) const;
    template <class V>
    RankMatrix<V> smoothed_prolongator(const View<double>& a, const RankGraph& strong, const RankTentative& tentative) const;

    template <class V>
    std::optional<RankMatrix<double>> galerkin_product(const View<V>& r, const View<double>& a, const View<V>& p,
                                                       std::int64_t most_entries) const;
    void mirror_upper_triangle(RankMatrix<double>& a) const;

    /// Of blocks of so many rows of each whole matrix, one after another.
    template <class V>
    std::vector<std::uint64_t> hashes_of_blocks(std::span<const View<V>> matrices, std::int64_t rows_a_block) const;

private:
    template <class V>
    std::vector<std::uint64_t> hashes_of_blocks(const View<V>& a, std::int64_t rows_a_block) const;
    template <class V>
    RankMatrix<V> prolongator(const RankTentative& tentative, solver::CsrMatrix<V> own) const;

    const Ranks& ranks_;
};

}  // namespace petscsolver
