#include "preconditioner/amg/chebyshev.hpp"

#include "core/huge_pages.hpp"
#include "core/krylov/updates.hpp"
#include "cpu/elementwise.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/reduce.hpp"

#include <algorithm>
#include <mutex>

namespace solver::amg {
namespace {

template <class T>
double gershgorin_bound(const CsrView<T>& a, std::span<const double> inverse_diagonal, const Device& device) {
    double bound = 0;
    std::mutex mutex;
    cpu::for_each_range(a.rows, device, [&](std::int64_t begin, std::int64_t end) {
        double mine = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            double sum = 0;
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
                sum = add_rn(sum, magnitude<double>(a.values[k]));
            mine = std::max(mine, mul_rn(sum, magnitude(inverse_diagonal[i])));
        }
        const std::lock_guard lock(mutex);
        bound = std::max(bound, mine);
    });
    return bound;
}

/// y = D^-1 A x / norm, every sum in the order of the row.
template <class T>
void multiply(const CsrView<T>& a, std::span<const double> inverse_diagonal, std::span<const double> x, double norm,
              std::vector<double>& y, const Device& device) {
    cpu::update(std::span(y), device, [&](double, std::int64_t i) {
        double sum = 0;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            sum = add_rn(sum, mul_rn(static_cast<double>(a.values[k]), x[a.column_indices[k]]));
        return div_rn(mul_rn(inverse_diagonal[i], sum), norm);
    });
}

template <class T>
double power_method(const CsrView<T>& a, std::span<const double> inverse_diagonal, const Device& device) {
    constexpr int iterations = 10;
    constexpr std::uint64_t seed = 1;
    std::vector<double> x = zeros<double>(a.rows, device.threads()), y = zeros<double>(a.rows, device.threads());
    cpu::update(std::span(x), device, [](double, std::int64_t i) { return random_element<double>(seed, i); });
    double norm = norm2(x, Accuracy::exact, device), growth = 0;
    for (int k = 0; k < iterations && norm > 0; ++k) {
        multiply(a, inverse_diagonal, x, norm, y, device);
        norm = growth = norm2(y, Accuracy::exact, device);
        std::swap(x, y);
    }
    return growth;
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

template <class T>
double largest_eigenvalue(const CsrView<T>& a, std::span<const double> inverse_diagonal, const Device& device) {
    const double bound = gershgorin_bound(a, inverse_diagonal, device);
    constexpr double worth_knowing_better = 2, safety = 1.1;
    if (bound <= worth_knowing_better) return bound;
    return std::min(bound, mul_rn(safety, std::max(1.0, power_method(a, inverse_diagonal, device))));
}

template std::vector<SmootherStep<float>> chebyshev_steps(int, double, double);
template std::vector<SmootherStep<double>> chebyshev_steps(int, double, double);
template double largest_eigenvalue(const CsrView<float>&, std::span<const double>, const Device&);
template double largest_eigenvalue(const CsrView<double>&, std::span<const double>, const Device&);

}  // namespace solver::amg
