#pragma once

/// What the errors of dense products are worth, after Demmel et al. (gemm_grade.cpp).

#include "solver/numeric/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

namespace solver::bench {

/// Entries are uniform in [0, 1), times powers of two.
enum class Pattern {
    plain,    ///< as they are
    both,     ///< and of both signs
    outside,  ///< D A, B E: rows of A and columns of B differ in scale
    inside,   ///< A D, D^-1 B: the terms of a sum are alike, the entries of a row are not
    wide,     ///< every entry has a scale of its own
    blocks,   ///< the blocks off the diagonal are small, and no scaling of rows and columns changes that
};
inline constexpr std::array patterns{Pattern::plain,  Pattern::both, Pattern::outside,
                                     Pattern::inside, Pattern::wide, Pattern::blocks};

/// The largest of some elements' |error|, in units of u times ...
struct ScaledErrors {
    double componentwise = 0;  ///< (|A||B|)_ij
    double linewise = 0;       ///< n times the largest of row i of A times the largest of column j of B
    double normwise = 0;       ///< n times the largest of A times the largest of B
};

/// Of log y = c + slope log x, by least squares. Errors below 1 count as 1: what does not grow has slope 0.
inline double slope_of(const std::map<std::int64_t, double>& points) {
    if (points.size() < 2) return 0;
    double mean_x = 0, mean_y = 0, xy = 0, xx = 0;
    const auto count = static_cast<double>(points.size());
    const auto log_of = [](double y) { return std::log(std::max(y, 1.0)); };
    for (const auto& [x, y] : points) {
        mean_x += std::log(static_cast<double>(x)) / count;
        mean_y += log_of(y) / count;
    }
    for (const auto& [x, y] : points) {
        const double dx = std::log(static_cast<double>(x)) - mean_x;
        xy += dx * (log_of(y) - mean_y);
        xx += dx * dx;
    }
    return xy / xx;
}

/// One way's errors on all inputs.
struct GradedErrors {
    std::map<Pattern, std::map<std::int64_t, ScaledErrors>> errors;

    std::string text(Pattern pattern, std::int64_t n) const {
        const auto by_size = errors.find(pattern);
        return by_size == errors.end() ? "-" : fmt::format("{:.2g}", by_size->second.at(n).componentwise);
    }

    /// Of the componentwise errors on entries of one scale, the worse of both.
    double slope() const {
        double steepest = 0;
        for (const auto& [pattern, by_size] : errors) {
            if (pattern != Pattern::plain && pattern != Pattern::both) continue;
            std::map<std::int64_t, double> points;
            for (const auto& [n, error] : by_size) points[n] = error.componentwise;
            steepest = std::max(steepest, slope_of(points));
        }
        return steepest;
    }

    template <class T>
    std::string grade() const {
        const auto within = [&](double ScaledErrors::*kind) {
            for (const auto& [pattern, by_size] : errors)
                for (const auto& [n, error] : by_size)
                    if (!(error.*kind <= gamma<T>(n) / double{unit_roundoff<T>})) return false;
            return true;
        };
        if (within(&ScaledErrors::componentwise) && slope() <= 1) return "A";
        if (within(&ScaledErrors::linewise)) return "B";
        return within(&ScaledErrors::normwise) ? "C" : "unsafe";
    }
};

}  // namespace solver::bench
