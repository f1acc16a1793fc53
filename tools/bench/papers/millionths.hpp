#pragma once

/// Errors as Badin et al. tell them.

#include "tools/page/ulp_error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace solver::bench {

/// Errors of a whole product, in millionths.
struct Errors {
    double average = 0;
    double lowest = 0;
    double highest = 0;
    double relative = 0;  ///< the average of |error| / |c|

    double largest() const { return larger_error(-lowest, highest); }
};

inline Errors errors_of(const std::vector<float>& c, const std::vector<double>& exact) {
    Errors errors;
    for (std::size_t i = 0; i < c.size(); ++i) {
        const double error = 1e6 * (static_cast<double>(c[i]) - exact[i]);
        errors.average += std::abs(error);
        if (error != 0) errors.relative += std::abs(error / exact[i]);
        errors.lowest = -larger_error(-errors.lowest, -error);
        errors.highest = larger_error(errors.highest, error);
    }
    errors.average /= static_cast<double>(c.size());
    errors.relative /= static_cast<double>(c.size());
    return errors;
}

/// To three digits or so.
inline std::string text_of(double millionths) {
    const double size = std::abs(millionths);
    return fmt::format("{:.{}f}", millionths, size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

}  // namespace solver::bench
