#pragma once

/// The working memory of the residue route.

#include "gemm/lines.cuh"
#include "runtime/pinned.cuh"
#include "solver/cuda/memory.hpp"

namespace solver::cuda {

inline constexpr int samples = 32;  ///< rows of A and columns of B that are looked at

/// log2 of the norms that lines are scaled to; 0 where that number of moduli does not do.
struct ScaleTarget {
    double log2_a;
    double log2_b;
};

/// A line of the sample; lost and lost_norm as in LineBounds, for each number of moduli.
struct SampledLine {
    double lost[most_moduli + 1];
    double lost_norm[most_moduli + 1];
    double relative_norm;     ///< ||x|| 2^-exponent
    double relative_largest;  ///< max |x_k| 2^-exponent
    double log2_norm;
    int exponent;  ///< of the largest number
    int usable;    ///< finite and not zero
};

struct Sample {
    SampledLine a[samples];
    SampledLine b[samples];
    double products[samples * samples];
};

/// What the choice of the moduli rests on.
struct Findings {
    Summaries summaries;
    ScaleTarget targets[most_moduli + 1];
    double open[most_moduli + 1];  ///< the share of the elements that so many moduli leave open
};

struct ResidueRoute::Memory {
    LineMemory a, b;
    DeviceArray<Summaries> summaries;
    DeviceArray<Sample> sample;
    Pinned<Findings> findings;                  ///< kernels write to it
    DeviceArray<std::int32_t> moduli;           ///< product_moduli
    DeviceArray<std::int32_t> gaussian_moduli;  ///< product_moduli
    Grown<std::uint8_t> y;
    Grown<std::uint32_t> open;

    explicit Memory(int device)
        : summaries(device, 1, "summaries of A and B"),
          sample(device, 1, "a sample of A, B and C"),
          findings("what is known of a dense product"),
          moduli(device, product_moduli(Ring::integers), "moduli"),
          gaussian_moduli(device, product_moduli(Ring::gaussian), "moduli") {}

    const std::int32_t* moduli_of(Ring ring) const { return (ring == Ring::gaussian ? gaussian_moduli : moduli).data(); }
};

}  // namespace solver::cuda
