#include "preconditioner/amg/strength.hpp"

#include "core/huge_pages.hpp"
#include "core/multigrid/strength.hpp"
#include "cpu/elementwise.hpp"
#include "preconditioner/amg/row_accumulator.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <numeric>

namespace solver::amg {
namespace {

/// Strength with what it needs of each row.
template <class T>
class StrengthOfRows {
public:
    StrengthOfRows(const CsrView<T>& a, const Device& device)
        : weight_(zeros<double>(a.rows, device.threads())),
          largest_(zeros<double>(a.rows, device.threads())),
          of_{a, weight_.data(), largest_.data()} {
        cpu::update(std::span(weight_), device, [&](double, std::int64_t i) { return of_.weight_of_row(a, i); });
        cpu::update(std::span(largest_), device, [&](double, std::int64_t i) { return of_.largest_of_row(i); });
    }

    const Strength<CsrView<T>>& operator*() const { return of_; }

private:
    std::vector<double> weight_;
    std::vector<double> largest_;
    Strength<CsrView<T>> of_;
};

template <class T>
class MagnitudeRows {
public:
    MagnitudeRows(const CsrView<T>& a, const CsrView<T>& transposed) : a_(a), transposed_(transposed) {}

    void add_row(std::int64_t i, std::vector<std::int32_t>& columns, std::vector<T>& values) const {
        for_each_magnitude(a_, transposed_, i, [&](std::int32_t column, T value) {
            columns.push_back(column);
            values.push_back(value);
        });
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
    const StrengthOfRows<T> of_rows(magnitudes, device);
    const auto& strength = *of_rows;
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
