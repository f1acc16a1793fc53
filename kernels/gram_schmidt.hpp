#pragma once

/// A pass of Gram-Schmidt on a device, whose numbers the host may fetch later.

#include "solver/cuda/memory.hpp"
#include "solver/cuda/reduce.hpp"

#include <memory>
#include <span>

namespace solver::cuda {

/// ||w|| before and after a pass.
struct NormsOfPass {
    double before;
    double after;
};

/// Has memory for the numbers of one pass: those of a pass that nobody takes are lost when the next one starts.
template <class T>
class GramSchmidtPass {
public:
    explicit GramSchmidtPass(int device);
    GramSchmidtPass(GramSchmidtPass&&) noexcept;
    ~GramSchmidtPass();

    /// On the stream, without waiting: h_k = (x_k, w), w = ((w - h_0 x_0) - h_1 x_1) - ..., and v = (1 / ||w||) w.
    void start(Reducer& reducer, std::span<const T* const> x, const DeviceArray<T>& w, const DeviceArray<T>& v,
               Accuracy accuracy, Stream stream);

    /// Waits for what start has asked for, and for nothing later on the stream. Puts the h_k to h, as many as there were x_k.
    NormsOfPass take(std::span<double> h) const;

private:
    struct Memory;
    std::unique_ptr<Memory> memory_;
};

}  // namespace solver::cuda
