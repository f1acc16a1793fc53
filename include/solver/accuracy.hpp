#pragma once

/// How accurate a result is promised to be.

#include <array>
#include <string_view>

namespace solver {

/// A promise about the result s = sum_{i<=n} a_i b_i of an operation, whatever computes it. Bounds hold barring overflow of an
/// intermediate sum. u is the unit roundoff of the value type, eta its smallest subnormal, gamma_n = n u / (1 - n u).
enum class Accuracy {
    /// |error| <= gamma_n sum|a_i b_i| + n eta. The same bits from run to run on the same machine, build and thread count.
    fast,
    /// |error| <= u |s| + gamma_h^2 sum|a_i b_i| + n eta with h <= 1024: as if computed in twice the working precision and
    /// then rounded (Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26(6), 2005; Yamanaka et al., 2008). Same bits as for fast.
    compensated,
    /// The real number, rounded once to nearest even. The same bits on every machine, device, thread count and algorithm.
    exact,
};

inline constexpr std::array all_accuracies{Accuracy::fast, Accuracy::compensated, Accuracy::exact};

/// "fast", "compensated" or "exact".
std::string_view to_string(Accuracy accuracy);

/// The inverse of to_string. Throws InvalidArgument that lists the choices.
Accuracy accuracy_from_text(std::string_view text);

}  // namespace solver
