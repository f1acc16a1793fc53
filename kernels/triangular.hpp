#pragma once

/// Triangular solves on a device behind launch predicates.

#include "core/paired_triangle.hpp"
#include "gate.hpp"
#include "solver/cuda/triangular_solve.hpp"

#include <cstdint>
#include <memory>

namespace solver::cuda {

/// What TriangularSolvePlan is, with a gate.
template <class T>
class TriangularSystem {
public:
    TriangularSystem(int device, const CsrView<T>& a, Triangle triangle, Diagonal diagonal);
    /// A complex one: b and x are parts in turn.
    TriangularSystem(int device, const PairedTriangle<T>& a);
    ~TriangularSystem();

    void solve(const T* b, T* x, Accuracy accuracy, Stream stream = nullptr, Gate gate = {}) const;

    std::int64_t bytes() const;

private:
    struct Analysis;
    struct Scheduled;
    struct Full;
    std::unique_ptr<Analysis> analysis_;
};

}  // namespace solver::cuda
