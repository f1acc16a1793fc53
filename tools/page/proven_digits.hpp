#pragma once

/// Where a solution lost digits.

#include <span>
#include <string>
#include <string_view>

namespace solver::page {

/// HTML: a picture of -log10(bounds_i / |x_i|), the digits of x_i that are proven to be right, over the index i. Indices that
/// share a place are a line from their least to their largest. Where x_i is 0 or has no bound nothing is drawn; what was left
/// out is counted below. The id is one that nothing else on the page begins with.
std::string proven_digits(std::span<const double> x, std::span<const double> bounds, std::string_view id);

}  // namespace solver::page
