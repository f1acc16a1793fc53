#pragma once

#include "solver/numeric/superaccumulator.hpp"

#include <complex>
#include <span>

namespace solver {

/// RN(sum of the terms), one rounding
template <class T>
T exact_sum(std::span<const T> terms) {
    Superaccumulator sum;
    for (const T term : terms) sum.add(term);
    return sum.result<T>();
}

/// Each component by itself.
template <class T>
std::complex<T> exact_sum(std::span<const std::complex<T>> terms) {
    Superaccumulator re, im;
    for (const std::complex<T>& term : terms) {
        re.add(term.real());
        im.add(term.imag());
    }
    return {re.result<T>(), im.result<T>()};
}

}  // namespace solver
