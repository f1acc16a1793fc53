#include "preconditioner/amg/prolongator.hpp"

#include "preconditioner/amg/row_accumulator.hpp"
#include "solver/numeric/rounding.hpp"

#include <cstdint>
#include <vector>

namespace solver::amg {
namespace {

/// Rows as unknowns of nodes, and their columns of T.
struct Nodes {
    int unknowns = 1;

    std::int64_t node(std::int64_t row) const { return unknowns == 1 ? row : row / unknowns; }
    std::int64_t columns(const Aggregates& aggregates) const { return std::int64_t{aggregates.count} * unknowns; }
    std::int32_t column(std::int64_t row, const Aggregates& aggregates) const {
        if (unknowns == 1) return aggregates.of[row];
        return aggregates.of[row / unknowns] * unknowns + static_cast<std::int32_t>(row % unknowns);
    }
};

template <class V, class T>
class SmoothedRows {
public:
    SmoothedRows(const CsrView<T>& a, const Graph& strong, const Aggregates& aggregates, const Nodes& nodes)
        : a_(a), strong_(strong), aggregates_(aggregates), nodes_(nodes), row_(nodes.columns(aggregates)) {}

    void add_row(std::int64_t i, std::vector<std::int32_t>& columns, std::vector<V>& values) {
        if (aggregates_.of[nodes_.node(i)] == Aggregates::none) return;
        const Filtered filtered = filter(i);
        constexpr double damping = 4.0 / 3;
        const double weight =
            filtered.magnitude > 0 ? div_rn(filtered.is_negative ? -damping : damping, filtered.magnitude) : 0;
        row_.add(nodes_.column(i, aggregates_), add_rn(1.0, -mul_rn(weight, filtered.diagonal)));
        for_each_entry(i, [&](std::int32_t j, double value, bool is_strong) {
            if (is_strong) row_.add(nodes_.column(j, aggregates_), -mul_rn(weight, value));
        });
        if (row_.size() > most_aggregates) {
            row_.clear();
            row_.add(nodes_.column(i, aggregates_), 1);
        }
        row_.move_to(columns, values);
    }

private:
    static constexpr std::int64_t most_aggregates = 32;

    struct Filtered {
        double diagonal = 0;
        double magnitude = 0;  // of the whole row
        bool is_negative = false;
    };

    Filtered filter(std::int64_t i) const {
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
    void for_each_entry(std::int64_t i, const F& f) const {
        const std::int64_t mine = nodes_.node(i);
        const auto strong = strong_.of(mine);
        std::size_t next = 0;
        for (std::int64_t k = a_.row_offsets[i]; k < a_.row_offsets[i + 1]; ++k) {
            const std::int32_t j = a_.column_indices[k];
            const std::int64_t other = nodes_.node(j);
            while (next < strong.size() && strong[next] < other) ++next;
            const bool is_strong = other == mine ? j != i : next < strong.size() && strong[next] == other;
            f(j, static_cast<double>(a_.values[k]), is_strong);
        }
    }

    CsrView<T> a_;
    const Graph& strong_;
    const Aggregates& aggregates_;
    Nodes nodes_;
    RowAccumulator row_;
};

}  // namespace

template <class V, class T>
CsrMatrix<V> smoothed_prolongator(const CsrView<T>& a, const Graph& strong, const Aggregates& aggregates, int unknowns,
                                  const Device& device) {
    const Nodes nodes{unknowns};
    return make_rows<V>(a.rows, nodes.columns(aggregates), device,
                        [&] { return SmoothedRows<V, T>(a, strong, aggregates, nodes); })
        .value();
}

template <class V>
CsrMatrix<V> plain_prolongator(const Aggregates& aggregates, int unknowns) {
    const Nodes nodes{unknowns};
    const std::int64_t rows = std::ssize(aggregates.of) * unknowns;
    CsrMatrix<V> p{rows, nodes.columns(aggregates), {0}, {}, {}};
    p.row_offsets.reserve(static_cast<std::size_t>(rows) + 1);
    for (std::int64_t i = 0; i < rows; ++i) {
        if (aggregates.of[nodes.node(i)] != Aggregates::none) p.column_indices.push_back(nodes.column(i, aggregates));
        p.row_offsets.push_back(std::ssize(p.column_indices));
    }
    p.values.assign(p.column_indices.size(), V(1));
    return p;
}

template CsrMatrix<float> plain_prolongator(const Aggregates&, int);
template CsrMatrix<double> plain_prolongator(const Aggregates&, int);
template CsrMatrix<float> smoothed_prolongator(const CsrView<float>&, const Graph&, const Aggregates&, int, const Device&);
template CsrMatrix<float> smoothed_prolongator(const CsrView<double>&, const Graph&, const Aggregates&, int, const Device&);
template CsrMatrix<double> smoothed_prolongator(const CsrView<double>&, const Graph&, const Aggregates&, int, const Device&);

}  // namespace solver::amg
