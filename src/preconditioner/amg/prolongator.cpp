#include "preconditioner/amg/prolongator.hpp"

#include "preconditioner/amg/row_accumulator.hpp"
#include "solver/numeric/rounding.hpp"

#include <cstdint>
#include <vector>

namespace solver::amg {
namespace {

template <class V, class T>
class SmoothedRows {
public:
    SmoothedRows(const CsrView<T>& a, const Graph& strong, const Aggregates& aggregates)
        : a_(a), strong_(strong), aggregates_(aggregates), row_(aggregates.count) {}

    void add_row(std::int64_t i, std::vector<std::int32_t>& columns, std::vector<V>& values) {
        if (aggregates_.of[i] == Aggregates::none) return;
        const Filtered filtered = filter(i);
        constexpr double damping = 4.0 / 3;
        const double weight =
            filtered.magnitude > 0 ? div_rn(filtered.is_negative ? -damping : damping, filtered.magnitude) : 0;
        row_.add(aggregates_.of[i], add_rn(1.0, -mul_rn(weight, filtered.diagonal)));
        for_each_entry(i, [&](std::int32_t j, double value, bool is_strong) {
            if (is_strong) row_.add(aggregates_.of[j], -mul_rn(weight, value));
        });
        if (row_.size() > most_aggregates) {
            row_.clear();
            row_.add(aggregates_.of[i], 1);
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
        const auto strong = strong_.of(i);
        std::size_t next = 0;
        for (std::int64_t k = a_.row_offsets[i]; k < a_.row_offsets[i + 1]; ++k) {
            const std::int32_t j = a_.column_indices[k];
            while (next < strong.size() && strong[next] < j) ++next;
            f(j, static_cast<double>(a_.values[k]), next < strong.size() && strong[next] == j);
        }
    }

    CsrView<T> a_;
    const Graph& strong_;
    const Aggregates& aggregates_;
    RowAccumulator row_;
};

}  // namespace

template <class V, class T>
CsrMatrix<V> smoothed_prolongator(const CsrView<T>& a, const Graph& strong, const Aggregates& aggregates,
                                  const Device& device) {
    return make_rows<V>(a.rows, aggregates.count, device, [&] { return SmoothedRows<V, T>(a, strong, aggregates); }).value();
}

template <class V>
CsrMatrix<V> plain_prolongator(const Aggregates& aggregates) {
    CsrMatrix<V> p{std::ssize(aggregates.of), aggregates.count, {0}, {}, {}};
    p.row_offsets.reserve(aggregates.of.size() + 1);
    for (const std::int32_t aggregate : aggregates.of) {
        if (aggregate != Aggregates::none) p.column_indices.push_back(aggregate);
        p.row_offsets.push_back(std::ssize(p.column_indices));
    }
    p.values.assign(p.column_indices.size(), V(1));
    return p;
}

template CsrMatrix<float> plain_prolongator(const Aggregates&);
template CsrMatrix<double> plain_prolongator(const Aggregates&);
template CsrMatrix<float> smoothed_prolongator(const CsrView<float>&, const Graph&, const Aggregates&, const Device&);
template CsrMatrix<float> smoothed_prolongator(const CsrView<double>&, const Graph&, const Aggregates&, const Device&);
template CsrMatrix<double> smoothed_prolongator(const CsrView<double>&, const Graph&, const Aggregates&, const Device&);

}  // namespace solver::amg
