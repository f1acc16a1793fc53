#pragma once

#include "solver/numeric/superaccumulator.hpp"

#include <span>

namespace solver {

/// RN(sum of the terms), one rounding
template <class T>
T exact_sum(std::span<const T> terms) {
    Superaccumulator sum;
    for (const T term : terms) sum.add(term);
    return sum.result<T>();
}

}  // namespace solver
