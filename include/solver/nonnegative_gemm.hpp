#pragma once

/// Products of matrices without negative entries in fewer than the 2 m n k operations of the definition: Strassen's algorithm
/// in Winograd's variant, by a schedule that only ever assigns or adds to C (Badin, D'Alberto, Bic, Dillencourt, Nicolau, ICS
/// 2013, table 1).
///
/// The promise is normwise, not that of Accuracy: with |X| = max |x_ij|, d levels of recursion and k products a element,
///   |C - C'| <= f(k, d) u |A| |B| |alpha| + terms of second order,   f(k, d) = 18^d ((k / 2^d)^2 + 6 k / 2^d) - 6 k,
/// Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 23.2.2 (Brent's analysis, with the constants of
/// Winograd's variant). C' itself is of size k |A| |B| where entries are alike, which is why one keeps to non-negative ones:
/// small elements beside large ones still lose digits. beta C adds (2 d + 3) u |beta C|, since an element of C is
/// assigned or added to 2 d + 1 times, and 2 * 8^d k u |A| |B| |alpha| for the additions to it.

#include "solver/device.hpp"
#include "solver/gemm.hpp"

#include <cstdint>

namespace solver {

enum class NonnegativeAlgorithm {
    automatic,      ///< winograd where it pays
    conventional,   ///< by the definition
    outer_product,  ///< C11 = A11 B11 + A12 B21 and so on: sums of 2^depth parts along k, no faster but more accurate
    winograd,
};

struct NonnegativeOptions {
    NonnegativeAlgorithm algorithm = NonnegativeAlgorithm::automatic;
    int depth = -1;                         ///< levels of recursion; below 0 as many as pay
    bool conventional_if_negative = false;  ///< else such inputs are refused
    std::int64_t workspace_limit = 0;       ///< bytes on the device, which limit the depth; with 0 half of what is free
};

/// How the last product was made.
struct NonnegativeReport {
    NonnegativeAlgorithm algorithm = NonnegativeAlgorithm::conventional;
    int depth = 0;
    std::int64_t workspace_bytes = 0;
};

/// f(inner, depth) above.
double nonnegative_error_factor(std::int64_t inner, int depth);

/// C = alpha A B + beta C for A and B >= 0, in the host's memory. Throws what solver::gemm throws; InvalidArgument that names
/// the first entry, by rows, that is negative, infinite or NaN, before C is written; NotSupported on a CPU.
NonnegativeReport dngemm(const GemmTask<double>& task, const Device& device, const NonnegativeOptions& options = {});
NonnegativeReport sngemm(const GemmTask<float>& task, const Device& device, const NonnegativeOptions& options = {});

}  // namespace solver
