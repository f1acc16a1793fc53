#pragma once

/// Numbers, vectors and sparse matrices that many tests begin with.

#include "solver/csr_matrix.hpp"
#include "support/adversarial.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace solver::testing {

template <class T>
constexpr T nan_value = std::numeric_limits<T>::quiet_NaN();
template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

template <class T>
using Span = std::span<const T>;

/// Numbers between 2^-exponents and 2^(exponents + 1) in magnitude.
template <class T>
std::vector<T> random_vector(Random& random, std::int64_t n, int exponents = 4) {
    std::vector<T> x(static_cast<std::size_t>(n));
    for (T& element : x) element = random.number<T>(static_cast<int>(random.between(-exponents, exponents)));
    return x;
}

/// Rows of the given lengths with any columns, unsorted and repeated.
template <class T>
CsrMatrix<T> random_rows(Random& random, std::int64_t columns, const std::vector<std::int64_t>& lengths, int exponents = 4) {
    CsrMatrix<T> a;
    a.rows = static_cast<std::int64_t>(lengths.size());
    a.columns = columns;
    for (const std::int64_t length : lengths) {
        for (std::int64_t k = 0; k < length; ++k) {
            a.column_indices.push_back(static_cast<std::int32_t>(random.between(0, columns - 1)));
            a.values.push_back(random.number<T>(static_cast<int>(random.between(-exponents, exponents))));
        }
        a.row_offsets.push_back(a.nonzeros());
    }
    return a;
}

}  // namespace solver::testing
