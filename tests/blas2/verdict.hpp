#pragma once

/// What is found about one subject.

#include "experiment.hpp"
#include "histogram.hpp"
#include "solver/accuracy.hpp"
#include "true_element.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace solver::blas2 {

/// The element with the largest error.
struct Worst {
    std::int64_t element = 0;  ///< counted from 0
    std::string name;          ///< "row 91"
    std::int64_t terms = 0;
    double condition = 0;  ///< 2 sum|a_i b_i| / |sum a_i b_i|
    double computed = 0;
    double exact = 0;  ///< rounded
};

/// Errors of one result.
struct Errors {
    Histogram histogram;
    long double largest_ulps = 0;
    std::int64_t worst = -1;  ///< element; -1 where all are correct
    std::int64_t broken = 0;  ///< elements that do not keep the promise
    std::int64_t first_broken = -1;
    std::int64_t overflowed = 0;  ///< Inf or NaN where it should not be, allowed as an intermediate sum may overflow
};

struct Verdict {
    std::string matrix;
    std::int64_t rows = 0, columns = 0, nonzeros = 0;
    Operation operation = Operation::spmv;
    Inputs inputs;
    std::string formula;
    std::string kernel;                ///< "general", "adaptive", or none
    std::string precision;             ///< "single" or "double"
    std::optional<Accuracy> accuracy;  ///< none: somebody else, who promised nothing
    std::string judged = "solver";
    std::string device;

    Histogram histogram;
    long double largest_ulps = 0;
    std::int64_t overflowed = 0;  ///< elements, as in Errors
    std::optional<Worst> worst;
    bool same_bits = true;
    double seconds = 0;  ///< of one call
    double cost = 0;     ///< by fast's; 0 where that is not known
    bool passed = true;
    std::string reason;
};

/// Compares a result with the truth; without an accuracy nothing is promised.
template <class T>
Errors errors_of(std::span<const TrueElement<T>> truth, std::span<const T> found, std::optional<Accuracy> accuracy) {
    Errors errors;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const TrueElement<T>& element = truth[i];
        if (testing::same_bits(found[i], element.rounded)) {
            errors.histogram.add_correct();
            continue;
        }
        const long double ulps = element.ulps(found[i]);
        if (!std::isfinite(ulps))
            errors.histogram.add_non_finite();
        else if (element.no_correct_digit(found[i]))
            errors.histogram.add_wrong_digits();
        else
            errors.histogram.add_ulps(ulps);
        if (errors.worst < 0 || ulps > errors.largest_ulps) {
            errors.worst = static_cast<std::int64_t>(i);
            errors.largest_ulps = ulps;
        }
        if (!accuracy) continue;
        if (element.allows(found[i], *accuracy)) {
            errors.overflowed += std::isfinite(ulps) ? 0 : 1;
            continue;
        }
        if (errors.broken++ == 0) errors.first_broken = static_cast<std::int64_t>(i);
    }
    return errors;
}

/// The promise that an element breaks, in words.
template <class T>
std::string promise_of(const TrueElement<T>& element, Accuracy accuracy) {
    if (accuracy == Accuracy::exact) return fmt::format("exactly {} ({:a})", element.rounded, element.rounded);
    if (element.special) return fmt::format("{}", element.rounded);
    if (accuracy == Accuracy::compensated && element.one_ulp) return "at most 1 ulp off";
    const double bound = accuracy == Accuracy::fast ? element.fast_bound : element.compensated_bound;
    return fmt::format("{} within {:.3g}", element.rounded, bound);
}

}  // namespace solver::blas2
