#pragma once

/// The levels of smoothed aggregation.

#include "preconditioner/amg/chebyshev.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/preconditioner.hpp"

#include <cstdint>
#include <vector>

namespace solver::amg {

/// A_l and how the next level is reached. On the last level P and R have no columns and no rows.
template <class V>
struct Level {
    CsrMatrix<V> a;
    std::vector<V> inverse_diagonal;
    std::vector<ChebyshevStep<V>> steps;
    CsrMatrix<V> prolongation;  ///< P: values on the next level to corrections on this one
    CsrMatrix<V> restriction;   ///< R: residuals on this level to right-hand sides on the next one
};

/// Made in double whatever V is, every operation rounded as written and in a fixed order: the same bits on every machine, for
/// every number of threads and in every accuracy.
template <class V>
struct Hierarchy {
    std::vector<Level<V>> levels;
    CsrMatrix<V> coarsest_inverse;  ///< dense; without rows where the last level is only smoothed
    std::vector<LevelSummary> summary;
    bool is_symmetric = false;  ///< A is, to the bit, so the cycle is a symmetric operator

    std::int64_t entries() const;  ///< of all matrices but A
    std::uint64_t hash() const;    ///< of all bits
};

/// Throws InvalidArgument that names the row where a diagonal entry is missing or zero or an entry not finite, and
/// ResourceLimit where the hierarchy would take more than options.memory_limit.
template <class V, class T>
Hierarchy<V> make_hierarchy(const CsrView<T>& a, const PreconditionerOptions& options, const Device& device);

}  // namespace solver::amg
