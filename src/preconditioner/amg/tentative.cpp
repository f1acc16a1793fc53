#include "preconditioner/amg/tentative.hpp"

#include "cpu/elementwise.hpp"

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
    cpu::for_each_range(rows(), device, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            for (int c = 0; c < k && !is_empty(i); ++c) q_[i * k + c] = space.vectors[c * rows() + i];
    });
    cpu::for_each_range(aggregates_.count, device, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t aggregate = begin; aggregate < end; ++aggregate) {
            const std::span<const std::int32_t> nodes = members.of(aggregate);
            LocalBasis{nodes.data(), std::ssize(nodes), unknowns_, k, q_.data(), coarse_space_.vectors.data() + aggregate * k,
                       columns()}
                .orthonormalize();
        }
    });
}

template <class V>
CsrMatrix<V> tentative_rows(const TentativeView& tentative, std::int64_t columns, std::int64_t begin, std::int64_t end) {
    CsrMatrix<V> t{end - begin, columns, {0}, {}, {}};
    t.row_offsets.reserve(static_cast<std::size_t>(t.rows) + 1);
    for (std::int64_t i = begin; i < end; ++i) {
        if (!tentative.is_empty(i))
            tentative.for_each_entry(i, [&](std::int32_t column, double value) {
                t.column_indices.push_back(column);
                t.values.push_back(static_cast<V>(value));
            });
        t.row_offsets.push_back(std::ssize(t.values));
    }
    return t;
}

template CsrMatrix<float> tentative_rows(const TentativeView&, std::int64_t, std::int64_t, std::int64_t);
template CsrMatrix<double> tentative_rows(const TentativeView&, std::int64_t, std::int64_t, std::int64_t);

}  // namespace solver::amg
