#pragma once

/// The tentative prolongator T and the rows of the smoothed one, on host and device.

#include "core/multigrid/graph.hpp"
#include "solver/numeric/rounding.hpp"

#include <cstdint>

namespace solver::amg {

/// T: each row has the columns of its node's aggregate, none where the node has no aggregate.
struct TentativeView {
    const std::int32_t* aggregate_of = nullptr;  ///< of each node
    int unknowns = 1;                            ///< rows of a node
    int columns_per_aggregate = 1;
    const double* q = nullptr;  ///< row by row; null: a column of ones for each unknown of a node

    SOLVER_HD std::int64_t node(std::int64_t row) const { return unknowns == 1 ? row : row / unknowns; }
    SOLVER_HD bool is_empty(std::int64_t row) const { return aggregate_of[node(row)] == no_aggregate; }

    /// f(column, t) for the entries of a row that is not empty.
    template <class F>
    SOLVER_HD void for_each_entry(std::int64_t row, const F& f) const {
        const std::int32_t first = aggregate_of[node(row)] * columns_per_aggregate;
        if (q == nullptr) return f(unknowns == 1 ? first : first + static_cast<std::int32_t>(row % unknowns), 1.0);
        for (int c = 0; c < columns_per_aggregate; ++c)
            if (const double t = q[row * columns_per_aggregate + c]; t != 0) f(first + c, t);
    }
};

/// The rows of one aggregate in Q, k columns: Gram and Schmidt's process done twice turns vectors B into Q with B = Q R.
struct LocalBasis {
    const std::int32_t* nodes;  ///< of the aggregate, rising
    std::int64_t node_count;
    int unknowns;
    int k;
    double* q;  ///< row by row, of all aggregates
    double* r;  ///< R_pc at r[c * stride_of_r + p], zero before
    std::int64_t stride_of_r;

    /// A vector that depends on those before it, up to 1e-10 of its norm, becomes zero.
    SOLVER_HD void orthonormalize() const {
        for (int c = 0; c < k; ++c) {
            const double norm = norm_of(c);
            for (int pass = 0; pass < 2; ++pass)
                for (int p = 0; p < c; ++p) remove(p, c);
            normalize(c, norm);
        }
    }

private:
    /// f(the k elements of a row), in the order of the rows.
    template <class F>
    SOLVER_HD void for_each_row(const F& f) const {
        for (std::int64_t n = 0; n < node_count; ++n)
            for (int u = 0; u < unknowns; ++u) f(q + (std::int64_t{nodes[n]} * unknowns + u) * k);
    }

    SOLVER_HD double dot(int c, int d) const {
        double sum = 0;
        for_each_row([&](const double* row) { sum = add_rn(sum, mul_rn(row[c], row[d])); });
        return sum;
    }

    SOLVER_HD double norm_of(int c) const { return sqrt_rn(dot(c, c)); }

    SOLVER_HD double& part(int p, int c) const { return r[c * stride_of_r + p]; }

    SOLVER_HD void remove(int p, int c) const {
        const double removed = dot(p, c);
        part(p, c) = add_rn(part(p, c), removed);
        for_each_row([&](double* row) { row[c] = add_rn(row[c], -mul_rn(removed, row[p])); });
    }

    SOLVER_HD void normalize(int c, double norm_before) const {
        constexpr double dependent = 1e-10;
        const double norm = norm_of(c);
        const bool is_new = norm > mul_rn(dependent, norm_before);
        part(c, c) = is_new ? norm : 0;
        for_each_row([&](double* row) { row[c] = is_new ? div_rn(row[c], norm) : 0; });
    }
};

/// Rows of (I - W F) as multiples of rows of T: prolongator.hpp says what F and W are.
template <class Matrix>
struct SmoothedRow {
    Matrix a;
    GraphView strong;
    TentativeView tentative;

    /// f(row of T, factor), in the order in which the terms are added; none of an empty row.
    template <class F>
    SOLVER_HD void for_each_term(std::int64_t i, const F& f) const {
        if (tentative.is_empty(i)) return;
        const Filtered filtered = filter(i);
        constexpr double damping = 4.0 / 3;
        const double weight =
            filtered.magnitude > 0 ? div_rn(filtered.is_negative ? -damping : damping, filtered.magnitude) : 0;
        f(static_cast<std::int32_t>(i), add_rn(1.0, -mul_rn(weight, filtered.diagonal)));
        for_each_entry(i, [&](std::int32_t j, double value, bool is_strong) {
            if (is_strong && !tentative.is_empty(j)) f(j, -mul_rn(weight, value));
        });
    }

    SOLVER_HD std::int64_t count_terms(std::int64_t i) const {
        if (tentative.is_empty(i)) return 0;
        std::int64_t count = 1;
        for_each_entry(i,
                       [&](std::int32_t j, double, bool is_strong) { count += is_strong && !tentative.is_empty(j) ? 1 : 0; });
        return count;
    }

private:
    struct Filtered {
        double diagonal = 0;
        double magnitude = 0;  // of the whole row
        bool is_negative = false;
    };

    SOLVER_HD Filtered filter(std::int64_t i) const {
        Filtered filtered;
        for_each_entry(i, [&](std::int32_t j, double value, bool is_strong) {
            if (is_strong)
                filtered.magnitude = add_rn(filtered.magnitude, magnitude(value));
            else
                filtered.diagonal = add_rn(filtered.diagonal, value);
            if (j == i) filtered.is_negative = value < 0;
        });
        filtered.magnitude = add_rn(filtered.magnitude, magnitude(filtered.diagonal));
        return filtered;
    }

    template <class F>
    SOLVER_HD void for_each_entry(std::int64_t i, const F& f) const {
        const std::int64_t mine = tentative.node(i);
        std::int64_t next = strong.begin(mine);
        const std::int64_t end = strong.end(mine);
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            const std::int32_t j = a.column_indices[k];
            const std::int64_t other = tentative.node(j);
            while (next < end && strong.neighbours[next] < other) ++next;
            const bool is_strong =
                other == mine ? j != i : tentative.q != nullptr || (next < end && strong.neighbours[next] == other);
            f(j, static_cast<double>(a.values[k]), is_strong);
        }
    }
};

/// A row of P that would reach more aggregates stays T's.
inline constexpr std::int64_t most_aggregates_of_a_row = 32;

}  // namespace solver::amg
