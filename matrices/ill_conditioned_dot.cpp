#include "matrices/ill_conditioned_dot.hpp"

#include "matrices/random.hpp"

#include "solver/error.hpp"
#include "solver/numeric/superaccumulator.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <numeric>

namespace solver::matrices {
namespace {

int log2_rounded_up(double number) {
    int exponent = 0;
    for (double power = 1; power < number; power *= 2) ++exponent;
    return exponent;
}

IllConditionedDot in_random_order(const IllConditionedDot& dot, Random& random) {
    std::vector<std::size_t> order(dot.x.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    random.shuffle(order);
    IllConditionedDot shuffled = dot;
    for (std::size_t i = 0; i < order.size(); ++i) {
        shuffled.x[i] = dot.x[order[i]];
        shuffled.y[i] = dot.y[order[i]];
    }
    return shuffled;
}

}  // namespace

IllConditionedDot ill_conditioned_dot(std::int64_t n, double condition, std::uint64_t seed) {
    if (!(condition >= 1 && condition <= 1e100))
        throw InvalidArgument(fmt::format("ill-conditioned dot product: condition number {}, expected 1 to 1e100", condition));
    const int exponent_of_condition = log2_rounded_up(condition);
    const int least_n = std::max(6, 2 * (exponent_of_condition / 53 + 2));
    if (n < least_n)
        throw InvalidArgument(
            fmt::format("ill-conditioned dot product: {} elements cannot have condition number {}, {} can: each one in "
                        "the second half cancels 53 bits",
                        n, condition, least_n));

    Random random(seed);
    const int half_exponent = exponent_of_condition / 2;
    const std::int64_t half = n / 2;
    IllConditionedDot dot;
    Superaccumulator sum, magnitudes;
    const auto append = [&](double x, double y) {
        dot.x.push_back(x);
        dot.y.push_back(y);
        sum.add_product(x, y);
        const double product = x * y;
        magnitudes.add(product < 0 ? -product : product);
    };
    for (std::int64_t i = 0; i < half; ++i) {
        // The largest and the smallest exponent come for certain.
        const int exponent = i == 0 ? half_exponent : i == 1 ? 0 : static_cast<int>(random.below(half_exponent + 1));
        const double x = random.signed_uniform(exponent);
        append(x, i == 0 ? 0.75 * Random::power_of_two(exponent) : random.signed_uniform(exponent));
    }
    for (std::int64_t i = half; i < n; ++i) {
        const auto exponent = static_cast<int>(half_exponent * (n - 1 - i) / (n - 1 - half));
        // Away from zero, so that the quotient stays moderate.
        const double x = (0.5 + 0.5 * random.uniform()) * Random::power_of_two(exponent);
        append(x, (random.signed_uniform(exponent) - sum.result<double>()) / x);
    }
    dot.exact = sum.result<double>();
    dot.condition = 2 * magnitudes.result<double>() / (dot.exact < 0 ? -dot.exact : dot.exact);
    return in_random_order(dot, random);
}

}  // namespace solver::matrices
