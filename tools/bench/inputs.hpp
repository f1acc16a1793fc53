#pragma once

/// Vectors to sum and to multiply.

#include <cstdint>
#include <string_view>
#include <vector>

namespace solver::bench {

enum class Input {
    random,     ///< uniform in [-1, 1)
    worst,      ///< the first filter cannot decide: everything is summed again, on a processor by the one that sees farther
    scattered,  ///< no filter can: exponents all over the range
};

std::string_view to_string(Input input);

/// The inverse of to_string. Throws InvalidArgument that lists the choices.
Input input_from_text(std::string_view text);

/// n elements whose sum is: for random what comes; else 1 + u, a tie. Every other element has its opposite half the vector
/// away, so partial sums leave rounding errors of rounding errors behind, the bound of a filter that loses any is positive, and
/// an interval of positive width never certifies a tie. True from a thousand elements on.
template <class T>
std::vector<T> vector_to_sum(Input input, std::int64_t n);

/// How the elements of a dense matrix are distributed.
enum class Elements {
    uniform,     ///< in [0, 1)
    both_signs,  ///< in [-1, 1)
    lognormal,   ///< (U - 0.5) exp(phi N), U uniform in [0, 1), N normal: the larger phi, the wider spread
};

/// "uniform", "signed" or "lognormal".
std::string_view to_string(Elements elements);

/// The inverse of to_string. Throws InvalidArgument that lists the choices.
Elements elements_from_text(std::string_view text);

/// `count` elements. The normal numbers are libm's: the last bits may differ between machines.
template <class T>
std::vector<T> random_elements(Elements elements, double phi, std::int64_t count, std::uint64_t seed);

template <class T>
struct Factors {
    std::vector<T> x, y;
};

/// x and y of which sum x_i y_i is taken.
template <class T>
Factors<T> vectors_to_multiply(Input input, std::int64_t n);

}  // namespace solver::bench
