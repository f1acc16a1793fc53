#pragma once

/// From the values of aggregates to values of unknowns, before smoothing.

#include "core/multigrid/tentative.hpp"
#include "preconditioner/amg/aggregates.hpp"
#include "preconditioner/amg/near_null_space.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace solver::amg {

/// Rows begin to end - 1 of T, of so many columns.
template <class V>
CsrMatrix<V> tentative_rows(const TentativeView& tentative, std::int64_t columns, std::int64_t begin, std::int64_t end);

/// T: each row has the columns of its node's aggregate, none where the node has no aggregate.
///
/// Without vectors, an aggregate has a column of ones for each unknown of a node. With k vectors B, it has k columns, and
/// T = Q of the QR factorisation of its rows of B, so that B = T R, and R are the vectors of the next level (Vanek, Mandel,
/// Brezina, Computing 56, 1996, section 4). By Gram and Schmidt's process done twice, in double and in the order of the rows;
/// a vector that depends on those before it, up to 1e-10 of its norm, has a column of zeros, which T leaves out.
class TentativeProlongator {
public:
    TentativeProlongator(Aggregates aggregates, const NearNullSpace& space, const Device& device);

    std::int64_t rows() const { return std::ssize(aggregates_.of) * unknowns_; }
    std::int64_t columns() const { return std::int64_t{aggregates_.count} * columns_per_aggregate_; }
    int columns_per_aggregate() const { return columns_per_aggregate_; }
    bool has_vectors() const { return !q_.empty(); }
    const NearNullSpace& coarse_space() const { return coarse_space_; }
    NearNullSpace take_coarse_space() { return std::move(coarse_space_); }

    TentativeView view() const {
        return {aggregates_.of.data(), unknowns_, columns_per_aggregate_, has_vectors() ? q_.data() : nullptr};
    }
    std::int64_t node(std::int64_t row) const { return view().node(row); }
    bool is_empty(std::int64_t row) const { return view().is_empty(row); }

    /// f(column, t) for the entries of a row that is not empty.
    template <class F>
    void for_each_entry(std::int64_t row, const F& f) const {
        view().for_each_entry(row, f);
    }

    /// T itself, whose products R A T have no more entries than A where there are no vectors.
    template <class V>
    CsrMatrix<V> matrix() const {
        return tentative_rows<V>(view(), columns(), 0, rows());
    }

private:
    void factor(const NearNullSpace& space, const Device& device);

    Aggregates aggregates_;
    int unknowns_;
    int columns_per_aggregate_;
    std::vector<double> q_;  ///< row by row; empty without vectors
    NearNullSpace coarse_space_;
};

}  // namespace solver::amg
