#pragma once

/// Inverses of small matrices by elimination.

#include "solver/numeric/rounding.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace solver::guarantee {

inline double reciprocal(double a) { return 1 / a; }

/// Replaces an n x n matrix, by rows, by its inverse: Gauss and Jordan's elimination with partial pivoting (Higham 2002,
/// section 14.4). A Number is a double or a Pair. Not finite where a pivot vanishes.
template <class Number>
void invert(std::vector<Number>& a, std::size_t n) {
    std::vector<std::size_t> pivots(n);
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t& pivot = pivots[k] = k;
        for (std::size_t i = k + 1; i < n; ++i)
            if (magnitude(a[i * n + k]) > magnitude(a[pivot * n + k])) pivot = i;
        for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
        const Number factor = reciprocal(std::exchange(a[k * n + k], Number{1}));
        for (std::size_t j = 0; j < n; ++j) a[k * n + j] = a[k * n + j] * factor;
        for (std::size_t i = 0; i < n; ++i) {
            if (i == k) continue;
            const Number multiple = std::exchange(a[i * n + k], Number{});
            if (magnitude(multiple) == 0) continue;
            for (std::size_t j = 0; j < n; ++j) a[i * n + j] = a[i * n + j] - multiple * a[k * n + j];
        }
    }
    for (std::size_t k = n; k-- > 0;)
        for (std::size_t i = 0; i < n; ++i) std::swap(a[i * n + k], a[i * n + pivots[k]]);
}

}  // namespace solver::guarantee
