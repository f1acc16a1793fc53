#include "preconditioner/amg/tentative.hpp"

#include "cpu/elementwise.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace solver::amg {
namespace {

/// The nodes of each aggregate, rising.
class Members {
public:
    explicit Members(const Aggregates& aggregates) : offsets_(static_cast<std::size_t>(aggregates.count) + 1) {
        for (const std::int32_t aggregate : aggregates.of)
            if (aggregate != Aggregates::none) ++offsets_[aggregate + 1];
        std::inclusive_scan(offsets_.begin(), offsets_.end(), offsets_.begin());
        nodes_.resize(static_cast<std::size_t>(offsets_.back()));
        std::vector<std::int64_t> next(offsets_.begin(), offsets_.end() - 1);
        for (std::size_t i = 0; i < aggregates.of.size(); ++i)
            if (aggregates.of[i] != Aggregates::none) nodes_[next[aggregates.of[i]]++] = static_cast<std::int32_t>(i);
    }

    std::span<const std::int32_t> of(std::int64_t aggregate) const {
        return std::span(nodes_).subspan(offsets_[aggregate], offsets_[aggregate + 1] - offsets_[aggregate]);
    }

private:
    std::vector<std::int64_t> offsets_;
    std::vector<std::int32_t> nodes_;
};

/// The rows of one aggregate in the vectors, column by column.
class LocalVectors {
public:
    explicit LocalVectors(int count) : count_(count), columns_(count), r_(static_cast<std::size_t>(count) * count) {}

    void read(std::span<const std::int32_t> nodes, const NearNullSpace& space) {
        const std::int64_t rows = std::ssize(space.vectors) / count_;
        for (int c = 0; c < count_; ++c) {
            columns_[c].clear();
            for (const std::int32_t node : nodes)
                for (int u = 0; u < space.unknowns_per_node; ++u)
                    columns_[c].push_back(space.vectors[c * rows + std::int64_t{node} * space.unknowns_per_node + u]);
        }
    }

    /// Columns become Q's.
    void orthonormalize() {
        std::fill(r_.begin(), r_.end(), 0.0);
        for (int c = 0; c < count_; ++c) {
            const double norm = norm_of(columns_[c]);
            for (int pass = 0; pass < 2; ++pass)
                for (int p = 0; p < c; ++p) remove(p, c);
            normalize(c, norm);
        }
    }

    double q(std::size_t row, int c) const { return columns_[c][row]; }
    double r(int p, int c) const { return r_[static_cast<std::size_t>(p) * count_ + c]; }

private:
    static double dot(std::span<const double> x, std::span<const double> y) {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) sum = add_rn(sum, mul_rn(x[i], y[i]));
        return sum;
    }

    static double norm_of(std::span<const double> x) { return sqrt_rn(dot(x, x)); }

    double& part(int p, int c) { return r_[static_cast<std::size_t>(p) * count_ + c]; }

    void remove(int p, int c) {
        const double removed = dot(columns_[p], columns_[c]);
        part(p, c) = add_rn(part(p, c), removed);
        for (std::size_t i = 0; i < columns_[c].size(); ++i)
            columns_[c][i] = add_rn(columns_[c][i], -mul_rn(removed, columns_[p][i]));
    }

    void normalize(int c, double norm_before) {
        constexpr double dependent = 1e-10;
        const double norm = norm_of(columns_[c]);
        const bool is_new = norm > mul_rn(dependent, norm_before);
        part(c, c) = is_new ? norm : 0;
        for (double& element : columns_[c]) element = is_new ? div_rn(element, norm) : 0;
    }

    int count_;
    std::vector<std::vector<double>> columns_;
    std::vector<double> r_;
};

}  // namespace

TentativeProlongator::TentativeProlongator(Aggregates aggregates, const NearNullSpace& space, const Device& device)
    : aggregates_(std::move(aggregates)),
      unknowns_(space.unknowns_per_node),
      columns_per_aggregate_(space.dimension > 0 ? space.dimension : space.unknowns_per_node),
      coarse_space_{columns_per_aggregate_, space.dimension, {}} {
    if (space.dimension > 0) factor(space, device);
}

void TentativeProlongator::factor(const NearNullSpace& space, const Device& device) {
    const int k = columns_per_aggregate_;
    const Members members(aggregates_);
    q_.resize(static_cast<std::size_t>(rows() * k));
    coarse_space_.vectors.resize(static_cast<std::size_t>(columns() * k));
    cpu::for_each_range(aggregates_.count, device, [&](std::int64_t begin, std::int64_t end) {
        LocalVectors local(k);
        for (std::int64_t aggregate = begin; aggregate < end; ++aggregate) {
            const std::span<const std::int32_t> nodes = members.of(aggregate);
            local.read(nodes, space);
            local.orthonormalize();
            for (int c = 0; c < k; ++c) {
                for (std::size_t i = 0; i < nodes.size(); ++i)
                    for (int u = 0; u < unknowns_; ++u)
                        q_[(std::int64_t{nodes[i]} * unknowns_ + u) * k + c] = local.q(i * unknowns_ + u, c);
                for (int p = 0; p < k; ++p) coarse_space_.vectors[c * columns() + aggregate * k + p] = local.r(p, c);
            }
        }
    });
}

template <class V>
CsrMatrix<V> TentativeProlongator::matrix() const {
    CsrMatrix<V> t{rows(), columns(), {0}, {}, {}};
    t.row_offsets.reserve(static_cast<std::size_t>(rows()) + 1);
    for (std::int64_t i = 0; i < rows(); ++i) {
        if (!is_empty(i))
            for_each_entry(i, [&](std::int32_t column, double value) {
                t.column_indices.push_back(column);
                t.values.push_back(static_cast<V>(value));
            });
        t.row_offsets.push_back(std::ssize(t.values));
    }
    return t;
}

template CsrMatrix<float> TentativeProlongator::matrix() const;
template CsrMatrix<double> TentativeProlongator::matrix() const;

}  // namespace solver::amg
