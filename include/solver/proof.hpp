#pragma once

/// What may be asked of a solution beyond a small residual, and what was proven of it (docs/guarantees.md).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace solver {

enum class Guarantee {
    none,     ///< nothing beyond the residual
    bound,    ///< a proven bound of the error of every component
    rounded,  ///< every component is that of A^-1 b, rounded once: bits that depend on A and b alone
};

/// "none", "bound" or "rounded".
std::string_view to_string(Guarantee guarantee);

/// The inverse of to_string. Throws InvalidArgument that lists the choices.
Guarantee guarantee_from_text(std::string_view text);

enum class ProofStatus {
    not_asked,
    proven,    ///< A is nonsingular, and what was asked for holds
    singular,  ///< A is proven to be singular: no solution, or many
    unproven,  ///< neither could be proven; the reason is told
};

/// "not asked", "proven", "singular" or "could not prove".
std::string_view to_string(ProofStatus status);

/// What was proven of one solution x of A x = b. A and b are the numbers as they are stored; x* = A^-1 b.
struct SolutionProof {
    ProofStatus status = ProofStatus::not_asked;
    std::string reason;  ///< how it was proven, or why it was not

    /// x solves exactly a system whose entries differ from those of A and b by at most this, relatively (Oettli, Prager, Numer.
    /// Math. 6, 1964). Proven in any case; infinite where no such system exists. Negative where nothing was asked for.
    double backward_error = -1;

    double error_bound = -1;      ///< proven: |x_i - x*_i| <= error_bound |x_i| for all i; 0 where x is proven to be x* itself,
                                  ///< infinite where some x_i is 0 and x*_i may not be; negative where nothing is proven
    double estimated_error = -1;  ///< where nothing is proven, and as an estimate alone: max |x - x*| / max |x|, by one further
                                  ///< solve; negative where something is proven, or that solve failed
    double certified_digits = 0;  ///< -log10 of these bounds, from 0 to 20, in the mean over the x_i other than 0
    std::vector<double> bounds;   ///< of |x_i - x*_i|, one for each component; empty where nothing is proven, and in `rounded`

    std::int64_t rounded = 0;    ///< components decided: x_i is x*_i rounded to nearest, or what the rules say:
    std::int64_t ties = 0;       ///< of these, nearer to a midpoint of two numbers than the rule of ties says: to even
    std::int64_t zeros = 0;      ///< of these, 0 by the structure of A and b, or smaller than the rule of zeros says
    std::int64_t dropped = 0;    ///< of the zeros, those by the rule alone: x*_i is small, and not known to be 0
    std::int64_t undecided = 0;  ///< components that are not proven to be rounded correctly
    std::vector<std::int64_t> first_undecided;  ///< the first ten of them, from 0
    std::int64_t refinements = 0;               ///< corrections that were solved for
    std::int64_t iterations = 0;                ///< of the Krylov method in these
};

/// The rules of `rounded`, for what no bound can ever decide. x*_i within this part of |x*_i| of the midpoint of two adjacent
/// numbers is taken for the midpoint, which is rounded to even.
template <class T>
inline constexpr double tie_width = 0x1p-120;
template <>
inline constexpr double tie_width<float> = 0x1p-60;

/// |x*_i| up to this, times the largest power of two that is not above max |x*|, is taken for 0.
inline constexpr double zero_width = 0x1p-512;

}  // namespace solver
