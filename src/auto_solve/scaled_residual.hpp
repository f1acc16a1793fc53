#pragma once

/// The true residual of a solution, whatever the sizes of the numbers are.

#include "cpu/elementwise.hpp"
#include "guarantee/norms.hpp"
#include "krylov/run.hpp"
#include "solver/krylov.hpp"
#include "solver/reduce.hpp"
#include "solver/spmv.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

namespace solver {

/// ||b - A (x + x_low)|| and ||b|| of vectors in the host's memory, divided by a power of two near the largest number of b: the
/// norm of b may be out of range, and a residual below all numbers.
template <class T>
class ScaledResidual {
public:
    ScaledResidual(const SpmvPlan<T>& a, const Unknown<T>& unknown)
        : unit_(unit_of(unknown.b)), size_(norm_in_units(unknown.b, unit_)), rest_(norm_in_units(residual(a, unknown), 0)) {}

    double relative() const { return size_ > 0 ? rest_ / size_ : rest_; }

    bool meets_tolerance(const KrylovOptions& options) const {
        const double goal = std::max(options.tolerance * size_, std::ldexp(options.absolute_tolerance, -unit_));
        return std::isfinite(rest_) && rest_ <= goal;
    }

private:
    static int unit_of(std::span<const T> b) {
        constexpr int most = std::numeric_limits<T>::max_exponent - 4;
        const double largest =
            guarantee::largest(std::ssize(b), [&](std::int64_t i) { return static_cast<double>(magnitude(b[i])); });
        return largest > 0 ? std::clamp(std::ilogb(largest), -most, most) : 0;
    }

    /// 2^-unit (b - A (x + x_low)), rounded only after that is scaled.
    std::vector<T> residual(const SpmvPlan<T>& a, const Unknown<T>& unknown) const {
        std::vector<T> r(unknown.b.size());
        const T factor = static_cast<T>(std::ldexp(1.0, -unit_));
        const SpmvTask<T> task{
            .alpha = -factor, .x = unknown.x, .x_low = unknown.x_low, .beta = factor, .y_in = unknown.b, .y = r};
        a.multiply(std::span(&task, 1), Accuracy::exact);
        return r;
    }

    /// 2^-unit ||v||
    static double norm_in_units(std::span<const T> v, int unit) {
        std::vector<double> scaled(v.size());
        cpu::update(std::span(scaled), Device::cpu(),
                    [&](double, std::int64_t i) { return std::ldexp(static_cast<double>(v[i]), -unit); });
        return norm2(scaled, Accuracy::exact);
    }

    int unit_;
    double size_;
    double rest_;
};

}  // namespace solver
