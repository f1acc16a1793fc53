#pragma once

/// Small matrices that break summation algorithms.

#include "solver/csr_matrix.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace solver::blas2 {

/// A matrix and the vectors that belong to it, if any do.
template <class T>
struct Sample {
    CsrMatrix<T> a;
    std::vector<T> x = {};  ///< right factors of adversarial sums
};

/// A kind of matrix, made for either precision: what is hard for one is not for the other.
struct BuiltIn {
    std::string_view name;
    bool is_square;
    Sample<float> (*in_single)();
    Sample<double> (*in_double)();
};

std::span<const BuiltIn> built_in_matrices();

}  // namespace solver::blas2
