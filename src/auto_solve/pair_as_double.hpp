#pragma once

/// Solutions in single precision held as pairs, as they are written: as doubles.

#include "auto_solve/scaled_residual.hpp"
#include "auto_solve/vector_copy.hpp"
#include "krylov/run.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/solve.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace solver {

/// The low part with which x + low is the double nearest to it. Where |low| <= |x| the difference is what Fast2Sum (Dekker
/// 1971) finds without rounding: low rounded to a multiple of that double's last digit, a float.
inline float low_part_of_double(float x, float low) {
    const double whole = static_cast<double>(x) + static_cast<double>(low);
    return static_cast<float>(whole - static_cast<double>(x));
}

/// Makes x + x_low, in the host's memory or on the device of A, a double in every element, so that what is told and proven of a
/// pair holds for the double that is written for it; where that changes an element, the residual and the status are those of
/// the double.
template <class T>
void round_to_double(const SpmvPlan<T>& a, const Unknown<T>& unknown, const KrylovOptions& options, SolveResult& result) {
    if constexpr (std::is_same_v<T, float>) {
        if (unknown.x_low.empty()) return;
        if (unknown.on_device) {
            const auto here = [&](std::span<const float> x) { return fetched(x, a.device(), true); };
            const std::vector<float> b = here(unknown.b);
            std::vector<float> x = here(unknown.x), low = here(unknown.x_low);
            round_to_double<float>(a, {b, x, low}, options, result);
            return cuda::detail::copy_to_device(a.device().index(), unknown.x_low.data(), low.data(),
                                                static_cast<std::int64_t>(unknown.x_low.size_bytes()), nullptr);
        }
        bool has_changed = false;
        for (std::size_t i = 0; i < unknown.x_low.size(); ++i) {
            const float low = low_part_of_double(unknown.x[i], unknown.x_low[i]);
            has_changed = has_changed || low != unknown.x_low[i];
            unknown.x_low[i] = low;
        }
        if (!has_changed || !is_finite(result.relative_residual)) return;
        const ScaledResidual<float> residual(a, unknown);
        result.relative_residual = residual.relative();
        if (result.status == SolveStatus::converged && !residual.meets_tolerance(options))
            result.status = SolveStatus::stagnated;
    }
}

}  // namespace solver
