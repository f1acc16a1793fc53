#include "preconditioner/amg/strength.hpp"

#include "core/huge_pages.hpp"
#include "cpu/elementwise.hpp"
#include "preconditioner/amg/row_accumulator.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <numeric>

namespace solver::amg {
namespace {

/// s_ij, the same for (i, j) and (j, i).
template <class T>
class Strength {
public:
    Strength(const CsrView<T>& a, const Device& device)
        : a_(a), weight_(zeros<double>(a.rows, device.threads())), largest_(zeros<double>(a.rows, device.threads())) {
        cpu::update(std::span(weight_), device, [&](double, std::int64_t i) {
            const auto row = a.column_indices.subspan(a.row_offsets[i], a.row_length(i));
            const auto place = std::lower_bound(row.begin(), row.end(), i) - row.begin();
            return div_rn(1.0, sqrt_rn(magnitude<double>(a.values[a.row_offsets[i] + place])));
        });
        cpu::update(std::span(largest_), device, [&](double, std::int64_t i) {
            double largest = 0;
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
                if (a.column_indices[k] != i) largest = std::max(largest, of_entry(i, k));
            return largest;
        });
    }

    bool is_strong(std::int64_t i, std::int64_t k, double theta) const {
        const std::int32_t j = a_.column_indices[k];
        const double s = of_entry(i, k);
        return j != i && s > 0 && s >= theta * std::min(largest_[i], largest_[j]);
    }

private:
    double of_entry(std::int64_t i, std::int64_t k) const {
        return mul_rn(magnitude<double>(a_.values[k]), mul_rn(weight_[i], weight_[a_.column_indices[k]]));
    }

    CsrView<T> a_;
    std::vector<double> weight_;
    std::vector<double> largest_;
};

template <class T>
class MagnitudeRows {
public:
    MagnitudeRows(const CsrView<T>& a, const CsrView<T>& transposed) : a_(a), transposed_(transposed) {}

    /// Merges two sorted rows.
    void add_row(std::int64_t i, std::vector<std::int32_t>& columns, std::vector<T>& values) const {
        std::int64_t k = a_.row_offsets[i], l = transposed_.row_offsets[i];
        const std::int64_t end = a_.row_offsets[i + 1], transposed_end = transposed_.row_offsets[i + 1];
        while (k < end || l < transposed_end) {
            const std::int32_t column = l == transposed_end ? a_.column_indices[k]
                                        : k == end          ? transposed_.column_indices[l]
                                                            : std::min(a_.column_indices[k], transposed_.column_indices[l]);
            T value = 0;
            if (k < end && a_.column_indices[k] == column) value = magnitude(a_.values[k++]);
            if (l < transposed_end && transposed_.column_indices[l] == column)
                value = add_rn(value, magnitude(transposed_.values[l++]));
            columns.push_back(column);
            values.push_back(value);
        }
    }

private:
    CsrView<T> a_;
    CsrView<T> transposed_;
};

template <class T>
class NodeRows {
public:
    NodeRows(const CsrView<T>& a, int unknowns) : a_(a), unknowns_(unknowns), row_(a.columns / unknowns) {}

    void add_row(std::int64_t node, std::vector<std::int32_t>& columns, std::vector<T>& values) {
        for (std::int64_t k = a_.row_offsets[node * unknowns_]; k < a_.row_offsets[(node + 1) * unknowns_]; ++k)
            row_.raise(a_.column_indices[k] / unknowns_, magnitude<double>(a_.values[k]));
        row_.move_to(columns, values);
    }

private:
    CsrView<T> a_;
    int unknowns_;
    RowAccumulator row_;
};

}  // namespace

template <class T>
Graph strong_connections(const CsrView<T>& magnitudes, double theta, const Device& device) {
    const Strength<T> strength(magnitudes, device);
    Graph graph;
    graph.offsets = zeros<std::int64_t>(magnitudes.rows + 1, device.threads());
    const auto offsets = std::span(graph.offsets);
    cpu::update(offsets.subspan(1), device, [&](std::int64_t, std::int64_t i) {
        std::int64_t count = 0;
        for (std::int64_t k = magnitudes.row_offsets[i]; k < magnitudes.row_offsets[i + 1]; ++k)
            count += strength.is_strong(i, k, theta) ? 1 : 0;
        return count;
    });
    std::inclusive_scan(offsets.begin(), offsets.end(), offsets.begin());
    graph.neighbours = zeros<std::int32_t>(offsets.back(), device.threads());
    cpu::for_each_range(magnitudes.rows, device, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t next = offsets[begin];
        for (std::int64_t k = magnitudes.row_offsets[begin], i = begin; i < end; ++i)
            for (; k < magnitudes.row_offsets[i + 1]; ++k)
                if (strength.is_strong(i, k, theta)) graph.neighbours[next++] = magnitudes.column_indices[k];
    });
    return graph;
}

template <class T>
CsrMatrix<T> symmetric_magnitudes(const CsrView<T>& a, const CsrView<T>& transposed, const Device& device) {
    return make_rows<T>(a.rows, a.columns, device, [&] { return MagnitudeRows<T>(a, transposed); }).value();
}

template <class T>
CsrMatrix<T> magnitudes_of_nodes(const CsrView<T>& a, int unknowns, const Device& device) {
    return make_rows<T>(a.rows / unknowns, a.columns / unknowns, device, [&] { return NodeRows<T>(a, unknowns); }).value();
}

template CsrMatrix<float> magnitudes_of_nodes(const CsrView<float>&, int, const Device&);
template CsrMatrix<double> magnitudes_of_nodes(const CsrView<double>&, int, const Device&);
template Graph strong_connections(const CsrView<float>&, double, const Device&);
template Graph strong_connections(const CsrView<double>&, double, const Device&);
template CsrMatrix<float> symmetric_magnitudes(const CsrView<float>&, const CsrView<float>&, const Device&);
template CsrMatrix<double> symmetric_magnitudes(const CsrView<double>&, const CsrView<double>&, const Device&);

}  // namespace solver::amg
