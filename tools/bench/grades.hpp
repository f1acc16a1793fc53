#pragma once

/// What the errors of dense products are worth, after Demmel et al. (gemm_grade.cpp).

#include "gemms.hpp"
#include "matrices/random.hpp"
#include "solver/numeric/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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

/// No product of two entries leaves the range of T.
template <class T>
inline constexpr int largest_exponent = std::is_same_v<T, float> ? 30 : 300;

template <class T>
DenseFactors<T> graded_factors(Pattern pattern, std::int64_t n) {
    matrices::Random random(4);
    const auto exponent = [&] { return static_cast<int>(random.below(2 * largest_exponent<T> + 1)) - largest_exponent<T>; };
    std::vector<int> first, second;
    for (std::int64_t i = 0; i < n; ++i) {
        first.push_back(exponent());
        second.push_back(exponent());
    }
    const auto exponent_at = [&](std::int64_t row, std::int64_t column, bool is_a) {
        const auto i = static_cast<std::size_t>(row), j = static_cast<std::size_t>(column);
        if (pattern == Pattern::outside) return is_a ? first[i] : second[j];
        if (pattern == Pattern::inside) return is_a ? first[j] : -first[i];
        if (pattern == Pattern::wide) return exponent();
        const bool off_diagonal = (row < n / 2) != (column < n / 2);
        return pattern == Pattern::blocks && off_diagonal ? -largest_exponent<T> : 0;
    };
    const auto fill = [&](bool is_a) {
        std::vector<T> entries;
        entries.reserve(static_cast<std::size_t>(n * n));
        for (std::int64_t column = 0; column < n; ++column)
            for (std::int64_t row = 0; row < n; ++row) {
                const double u = random.uniform();
                entries.push_back(
                    static_cast<T>(std::ldexp(pattern == Pattern::both ? 2 * u - 1 : u, exponent_at(row, column, is_a))));
            }
        return entries;
    };
    std::vector<T> a = fill(true);
    return {n, std::move(a), fill(false)};
}

/// The largest of some elements' |error|, in units of u times ...
struct ScaledErrors {
    double componentwise = 0;  ///< (|A||B|)_ij
    double linewise = 0;       ///< n times the largest of row i of A times the largest of column j of B
    double normwise = 0;       ///< n times the largest of A times the largest of B
};

/// Of log y = c + slope log x, by least squares, of two points or more. Errors below 1 count as 1: what does not grow has
/// slope 0.
inline double slope_of(const std::map<std::int64_t, double>& points) {
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
        double steepest = -std::numeric_limits<double>::infinity();
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
