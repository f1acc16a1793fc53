#pragma once

/// The working memory of the residue route.

#include "gemm_lines.cuh"

namespace solver::cuda {

inline constexpr int samples = 32;  ///< rows of A and columns of B that are looked at

/// log2 of the norm that lines are scaled to, for each number of moduli; 0 where it does not do.
struct ScaleTargets {
    double log2_norm[most_moduli + 1];
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

/// What the choice of the moduli rests on.
struct Sample {
    SampledLine a[samples];
    SampledLine b[samples];
    double products[samples * samples];
};
struct ResidueRoute::Memory {
    LineMemory a, b;
    Grown<Summaries> summaries;
    Grown<Sample> sample;
    Grown<std::uint8_t> y;
    Grown<std::int32_t> moduli;
    Grown<std::uint32_t> open;
};

}  // namespace solver::cuda
