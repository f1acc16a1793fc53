#include "core/floating_point_guard.hpp"
#include "guarantee/norms.hpp"
#include "solver/complex.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace solver {
namespace {

struct Interval {
    double below, above;
};

/// Around |a + b i|. Of the computed value four operations are rounded, and the quotient and its square may underflow next to
/// 1: a relative error below 8 u, and where the last product underflows half of the smallest number. A modulus is not below the
/// larger part.
Interval modulus(double a, double b) {
    const double larger = std::max(magnitude(a), magnitude(b)), smaller = std::min(magnitude(a), magnitude(b));
    if (!(larger > 0) || !is_finite(larger)) return {larger, larger};
    const double quotient = smaller / larger;
    const double found = larger * std::sqrt(1 + quotient * quotient);
    return {std::max(larger, found / guarantee::inflation - 2 * smallest_subnormal<double>),
            found * guarantee::inflation + smallest_subnormal<double>};
}

}  // namespace

std::vector<double> bounds_of_moduli(std::span<const double> bounds_of_parts) {
    const cpu::FloatingPointGuard guard;
    std::vector<double> bounds(bounds_of_parts.size() / 2);
    for (std::size_t i = 0; i < bounds.size(); ++i)
        bounds[i] = modulus(bounds_of_parts[2 * i], bounds_of_parts[2 * i + 1]).above;
    return bounds;
}

double complex_error_bound(std::span<const double> bounds_of_parts, std::span<const double> parts) {
    const cpu::FloatingPointGuard guard;
    const std::vector<double> bounds = bounds_of_moduli(bounds_of_parts);
    return guarantee::largest(static_cast<std::int64_t>(bounds.size()), [&](std::int64_t i) {
        if (bounds[i] == 0) return 0.0;
        return bounds[i] / modulus(parts[2 * i], parts[2 * i + 1]).below * guarantee::inflation + smallest_subnormal<double>;
    });
}

}  // namespace solver
