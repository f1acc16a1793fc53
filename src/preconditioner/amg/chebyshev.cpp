#include "preconditioner/amg/chebyshev.hpp"

#include "core/huge_pages.hpp"
#include "core/krylov/updates.hpp"
#include "core/multigrid/scaled_row.hpp"
#include "cpu/elementwise.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/reduce.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace solver::amg {
namespace {

/// Lowers `lowest` to i where that is less.
void lower(std::atomic<std::int64_t>& lowest, std::int64_t i) {
    std::int64_t seen = lowest.load();
    while (i < seen && !lowest.compare_exchange_weak(seen, i)) {
    }
}

}  // namespace

template <class V>
std::vector<SmootherStep<V>> chebyshev_steps(int degree, double lower, double upper) {
    const double center = mul_rn(0.5, add_rn(upper, lower));
    const double radius = mul_rn(0.5, add_rn(upper, -lower));
    const double sigma = div_rn(center, radius);
    double rho = div_rn(1.0, sigma);
    std::vector<SmootherStep<V>> steps{{static_cast<V>(div_rn(1.0, center)), V(0)}};
    for (int k = 1; k < degree; ++k) {
        const double next = div_rn(1.0, add_rn(2 * sigma, -rho));
        steps.push_back({static_cast<V>(div_rn(2 * next, radius)), static_cast<V>(mul_rn(next, rho))});
        rho = next;
    }
    return steps;
}

template <class V, class T>
std::vector<double> inverse_diagonal(const CsrView<T>& a, std::int64_t& first_failure, const Device& device) {
    std::vector<double> inverse = zeros<double>(a.rows, device.threads());
    std::atomic<std::int64_t> first{a.rows};
    cpu::update(std::span(inverse), device, [&](double, std::int64_t i) {
        const DiagonalOfRow diagonal = diagonal_of_row<V>(a, i);
        if (!is_divisor<V>(diagonal)) lower(first, i);
        return div_rn(1.0, diagonal.value);
    });
    first_failure = first;
    return inverse;
}

template <class T>
double gershgorin_bound(const CsrView<T>& a, std::span<const double> inverse_diagonal, const Device& device) {
    double bound = 0;
    std::mutex mutex;
    cpu::for_each_range(a.rows, device, [&](std::int64_t begin, std::int64_t end) {
        double mine = 0;
        for (std::int64_t i = begin; i < end; ++i) mine = std::max(mine, gershgorin_radius(a, i, inverse_diagonal[i]));
        const std::lock_guard lock(mutex);
        bound = std::max(bound, mine);
    });
    return bound;
}

template <class T>
double power_method(const CsrView<T>& a, std::span<const double> inverse_diagonal, int iterations, std::uint64_t seed,
                    const Device& device) {
    std::vector<double> x = zeros<double>(a.rows, device.threads()), y = zeros<double>(a.rows, device.threads());
    cpu::update(std::span(x), device, [=](double, std::int64_t i) { return random_element<double>(seed, i); });
    double norm = norm2(x, Accuracy::exact, device), growth = 0;
    for (int step = 0; step < iterations && norm > 0; ++step) {
        cpu::update(std::span(y), device, [&](double, std::int64_t i) {
            double sum = 0;
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
                sum = add_rn(sum, term_of_product(a, k, x.data()));
            return scaled(sum, inverse_diagonal[i], norm);
        });
        norm = growth = norm2(y, Accuracy::exact, device);
        std::swap(x, y);
    }
    return growth;
}

template std::vector<SmootherStep<float>> chebyshev_steps(int, double, double);
template std::vector<SmootherStep<double>> chebyshev_steps(int, double, double);
template std::vector<double> inverse_diagonal<float>(const CsrView<float>&, std::int64_t&, const Device&);
template std::vector<double> inverse_diagonal<float>(const CsrView<double>&, std::int64_t&, const Device&);
template std::vector<double> inverse_diagonal<double>(const CsrView<double>&, std::int64_t&, const Device&);
template double gershgorin_bound(const CsrView<float>&, std::span<const double>, const Device&);
template double gershgorin_bound(const CsrView<double>&, std::span<const double>, const Device&);
template double power_method(const CsrView<float>&, std::span<const double>, int, std::uint64_t, const Device&);
template double power_method(const CsrView<double>&, std::span<const double>, int, std::uint64_t, const Device&);

}  // namespace solver::amg
