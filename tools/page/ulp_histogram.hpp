#pragma once

/// How many elements of a result are how wrong.

#include "html.hpp"
#include "solver/row_offsets.hpp"
#include "ulp_error.hpp"

#include <cmath>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace solver::page {

/// The element with the largest error.
struct WorstElement {
    std::int64_t row = 0;     ///< counted from 1
    std::int64_t length = 0;  ///< entries of the row; 0: not known
    std::string computed, truth;
};

/// Errors in units in the last place of the true result.
struct UlpHistogram {
    std::int64_t elements = 0;
    std::map<double, std::int64_t> within;  ///< key k, 0, 1/2, 1, 2, 4, ...: errors up to k and above the key before
    std::int64_t wrong_digits = 0;  ///< off by more than an ulp and by half of the true result or more: no digit is right
    std::int64_t non_finite = 0;    ///< Inf or NaN where the true result is not, or the other way round
    double largest = 0;
    std::optional<WorstElement> worst;  ///< nothing where all are correctly rounded
};

/// Counts an error in ulp of a true result that is so many ulp large.
void count(UlpHistogram& histogram, double ulps, double magnitude);

/// Of elements beside the correctly rounded ones. `offsets` are those of the rows they belong to.
template <std::floating_point T>
UlpHistogram ulp_histogram(std::span<const T> computed, std::span<const T> truth, const RowOffsets& offsets);

/// A row of a table of histograms.
struct UlpRow {
    std::string name;
    std::vector<Cell> before;  ///< what else is to be said, before the histogram
    std::optional<UlpHistogram> histogram;
};

/// HTML: histograms as a table whose numbers stand under bars, and beside it the worst elements. The caption is HTML.
std::string ulp_histograms(const std::string& caption, const std::vector<Cell>& before, const std::vector<UlpRow>& rows);

/// HTML: what the columns of these tables mean.
extern const std::string_view about_ulp_histograms;

/// HTML: what truth exact_product is.
extern const std::string_view about_exact_products;

}  // namespace solver::page
