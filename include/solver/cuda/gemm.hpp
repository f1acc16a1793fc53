#pragma once

/// Products of dense matrices that lie on a CUDA device.

#include "solver/accuracy.hpp"
#include "solver/cuda/runtime.hpp"
#include "solver/gemm.hpp"

#include <complex>
#include <cstdint>
#include <memory>

namespace solver::cuda {

/// Which way a product went.
enum class GemmRoute {
    nothing,   ///< no element, alpha == 0 or no products: C was scaled at most
    tiled,     ///< register-tiled kernels in the type itself, or of floats in double
    residues,  ///< integers modulo 8-bit numbers on the matrix units for INT8, proven element by element (Ozaki scheme II)
    elements,  ///< every element by itself, with filtered accumulators
};

/// How the last product was computed.
struct GemmReport {
    GemmRoute route = GemmRoute::nothing;
    int moduli = 0;                    ///< chosen from the data, on the route of residues
    std::int64_t recomputed = 0;       ///< elements whose bound did not suffice and which were computed again, one by one
    std::int64_t workspace_bytes = 0;  ///< on the device
};

/// C = alpha A B + beta C of matrices in the device's memory; the promises are those of solver::gemm, and in exact the bits
/// too. Owns working memory that grows with the largest product so far, up to a limit: larger products are made in parts. One
/// product at a time.
class Multiplier {
public:
    /// `workspace_limit` in bytes; 0: a third of the device's memory.
    explicit Multiplier(int device, std::int64_t workspace_limit = 0);
    Multiplier(Multiplier&&) noexcept;
    Multiplier& operator=(Multiplier&&) noexcept;
    ~Multiplier();

    /// Views hold pointers to the device's memory. May wait for the stream (the route depends on the data); the product itself
    /// is not waited for. Throws what solver::gemm throws, and ResourceLimit.
    void gemm(const GemmTask<double>& task, Accuracy accuracy, const GemmOptions& options = {}, Stream stream = nullptr);
    void gemm(const GemmTask<float>& task, Accuracy accuracy, const GemmOptions& options = {}, Stream stream = nullptr);

    /// Of complex numbers, with conj(A) and conj(B) where asked for; what solver::gemm promises of them (complex.hpp) and
    /// throws. Beside the working memory B is kept as a real matrix of twice its size, and A where it is conjugated or not
    /// stored by rows.
    void gemm(const GemmTask<std::complex<double>>& task, Accuracy accuracy, Conjugation conjugation = {},
              Stream stream = nullptr);
    void gemm(const GemmTask<std::complex<float>>& task, Accuracy accuracy, Conjugation conjugation = {},
              Stream stream = nullptr);

    /// Of the last product. Before the first one it is a GemmReport(). Waits for the stream.
    GemmReport report(Stream stream = nullptr) const;

private:
    struct Workspace;
    std::unique_ptr<Workspace> workspace_;
};

}  // namespace solver::cuda
