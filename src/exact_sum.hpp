#pragma once

#include "solver/numeric/filtered.hpp"

#include <span>
#include <type_traits>

namespace solver {

/// RN(sum of the terms)
template <class T>
T exact_sum(std::span<const T> terms) {
    std::conditional_t<std::is_same_v<T, float>, FilteredFloat, FilteredTriple<T>> filter;
    for (const T term : terms) filter.add(term);
    T sum{};
    filter.try_result(sum);
    return sum;
}

}  // namespace solver
