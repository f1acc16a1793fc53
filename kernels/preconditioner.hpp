#pragma once

/// The library's own preconditioners on a device, whose kernels take launch predicates.

#include "gate.hpp"
#include "solver/cuda/preconditioner.hpp"

namespace solver::cuda {

template <class T>
class GatedPreconditioner : public DevicePreconditioner<T> {
public:
    virtual void apply_if_open(const T* r, T* z, Accuracy accuracy, Stream stream, Gate gate) = 0;

    void apply(const T* r, T* z, Accuracy accuracy, Stream stream) final { apply_if_open(r, z, accuracy, stream, {}); }
};

/// z = M^-1 r where the gate is open. A preconditioner without kernels that look at it is applied in any case: for r as it is
/// while the gate is closed, z has that value already or is not read before it is written again.
template <class T>
void apply_if_open(DevicePreconditioner<T>& m, const T* r, T* z, Accuracy accuracy, Stream stream, Gate gate) {
    if (auto* const gated = dynamic_cast<GatedPreconditioner<T>*>(&m))
        gated->apply_if_open(r, z, accuracy, stream, gate);
    else
        m.apply(r, z, accuracy, stream);
}

}  // namespace solver::cuda
