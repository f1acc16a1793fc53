#pragma once

/// Triangular solves on a device behind launch predicates.

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
    ~TriangularSystem();

    void solve(const T* b, T* x, Accuracy accuracy, Stream stream = nullptr, Gate gate = {}) const;

    std::int64_t bytes() const;

private:
    struct Analysis;
    std::unique_ptr<Analysis> analysis_;
};

}  // namespace solver::cuda
