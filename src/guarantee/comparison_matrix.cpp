#include "guarantee/comparison_matrix.hpp"

#include "core/huge_pages.hpp"
#include "cpu/elementwise.hpp"
#include "guarantee/norms.hpp"
#include "solver/numeric/superaccumulator.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>

namespace solver::guarantee {

template <class T>
double diagonal_below(const CsrView<T>& a, std::int64_t i) {
    int parts = 0;
    double last = 0;
    for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
        if (a.column_indices[k] == i) {
            last = static_cast<double>(a.values[k]);
            ++parts;
        }
    if (parts <= 1) return magnitude(last);
    Superaccumulator sum;
    for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
        if (a.column_indices[k] == i) sum.add(static_cast<double>(a.values[k]));
    return std::max(0.0, below(magnitude(sum.template result<double>())));
}

template <class T>
CsrMatrix<double> comparison_matrix(const CsrView<T>& a) {
    CsrMatrix<double> c = convert<double>(a);
    cpu::for_each_range(a.rows, Device::cpu(), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            double diagonal = diagonal_below(a, i);
            for (std::int64_t k = c.row_offsets[i]; k < c.row_offsets[i + 1]; ++k) {
                const bool is_diagonal = c.column_indices[k] == i;
                c.values[k] = is_diagonal ? diagonal : -magnitude(c.values[k]);
                if (is_diagonal) diagonal = 0;
            }
        }
    });
    return c;
}

template <class T>
bool is_its_comparison_matrix(const CsrView<T>& a) {
    std::atomic<bool> is_so{true};
    cpu::for_each_range(a.rows, Device::cpu(), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end && is_so; ++i) {
            int diagonals = 0;
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
                const bool is_diagonal = a.column_indices[k] == i;
                if (is_diagonal) ++diagonals;
                if (is_diagonal ? !(a.values[k] > 0) : !(a.values[k] <= 0)) is_so = false;
            }
            if (diagonals != 1) is_so = false;
        }
    });
    return is_so;
}

template <class T>
std::vector<double> roots_of_diagonal(const CsrView<T>& a) {
    std::vector<double> roots = zeros<double>(a.rows, Device::cpu().threads());
    cpu::update(std::span(roots), Device::cpu(), [&](double, std::int64_t i) { return sqrt_rn(diagonal_below(a, i)); });
    return roots;
}

Certificate certificate_of(std::vector<double>& v, std::vector<double>& w) {
    const auto serves = [](double value) {
        return value >= std::numeric_limits<double>::min() && value <= std::numeric_limits<double>::max();
    };
    const double failures = largest(std::ssize(v), [&](std::int64_t i) { return serves(v[i]) && serves(w[i]) ? 0.0 : 1.0; });
    Certificate certificate;
    if (failures > 0) return certificate;
    certificate.status = ProofStatus::proven;
    certificate.reason = "H-matrix";
    certificate.reach = std::move(v);
    certificate.weights = std::move(w);
    cpu::update(std::span(certificate.weights), Device::cpu(),
                [](double w, std::int64_t) { return above(above(1 / w)); });  // 1 / (1 - u) and the division
    return certificate;
}

template double diagonal_below(const CsrView<float>&, std::int64_t);
template double diagonal_below(const CsrView<double>&, std::int64_t);
template CsrMatrix<double> comparison_matrix(const CsrView<float>&);
template CsrMatrix<double> comparison_matrix(const CsrView<double>&);
template bool is_its_comparison_matrix(const CsrView<float>&);
template bool is_its_comparison_matrix(const CsrView<double>&);
template std::vector<double> roots_of_diagonal(const CsrView<float>&);
template std::vector<double> roots_of_diagonal(const CsrView<double>&);

}  // namespace solver::guarantee
