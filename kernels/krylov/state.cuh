#pragma once

/// What the kernels of a step share, whichever the method: the stage, the scalars and the vectors, and how a step ends.

#include "core/krylov/stretch.hpp"
#include "reduce/exact.cuh"

#include <cstdint>

namespace solver::cuda {

/// The description of a method for a CUDA device, one specialization for each, named by its scalars (bicgstab.cuh, cg.cuh):
///  - Stage, an enumeration of at most 32 stages of a step; the first, `ended`, is the host's;
///  - Vectors, pointers to the vectors of the first column, r and z among them, with
///      own(f), f(pointer) for those there always are; preconditioned(f), for those that hold M^-1 of something, which with M =
///      I point elsewhere instead: alias_preconditioned();
///  - start, the stage at which a stretch begins;
///  - fast_stages(chain), those for which the fast chain has kernels;
///  - launch_start(chain, on), what the fast chain needs before its first step;
///  - launch_step(chain, on, careful), a step from any stage on to its end;
///  - begin(chain, column, r_norm, seed).
template <class Scalars>
struct Steps;

template <class Stage>
constexpr std::uint32_t bit(Stage stage) {
    return std::uint32_t{1} << static_cast<int>(stage);
}

/// What a stretch of steps knows beside its vectors.
template <class Scalars>
struct StepState {
    using Stage = typename Steps<Scalars>::Stage;
    static_assert(static_cast<int>(Stage::ended) == 0);

    std::int32_t stage = 0;
    bool watches_drift = false;
    Scalars scalars;
    ResidualDrift drift{unit_roundoff<typename Scalars::Value>};
    StepLimits limits;
    Stretch stretch;
    std::int64_t steps = 0;
    double doubtful = 0;  ///< a dot product that may be lost, or is not positive

    __device__ void go_to(Stage next) { stage = static_cast<std::int32_t>(next); }
};

/// Steps in one stretch at most: what is kept of their norms.
inline constexpr std::int64_t most_steps = 1 << 14;

inline constexpr int most_step_rest_blocks = 528;  // whose digits can be added
inline constexpr int most_step_sums = 3;

/// Where everything is. Of several columns, of which each is a solve of its own, the first one's: column() has the others'.
template <class Scalars>
struct StepMemory : Steps<Scalars>::Vectors {
    using T = typename Scalars::Value;

    std::int64_t n;
    std::int64_t stride;        ///< from the vectors of a column to those of the next one
    std::int64_t parts_stride;  ///< from the parts of a column to those of the next one
    const T* weights;           ///< or null
    const T* diagonal;          ///< of M where it is one, or null
    StepState<Scalars>* state;
    double* norms;  ///< ||r|| after each step
    char* parts;
    ExactPart* exact_parts;
    unsigned* arrived;                ///< two counters
    cudaGraphConditionalHandle loop;  ///< or 0
    std::uint32_t loop_stages;        ///< those that keep it going

    __device__ __forceinline__ StepMemory column(unsigned j) const {
        StepMemory of = *this;
        const auto move = [&](T*& vector) { vector += j * stride; };
        of.own(move);
        of.preconditioned(move);
        of.state += j;
        of.norms += j * most_steps;
        of.parts += j * parts_stride;
        of.exact_parts += j * most_step_rest_blocks * most_step_sums;
        of.arrived += j * 2;
        return of;
    }
};

/// Ends the loop where none of its kernels is open any more for this column.
template <class Scalars>
__device__ void end_loop_outside_stages(const StepMemory<Scalars>& on, std::int32_t stage) {
    if (on.loop != 0 && (on.loop_stages >> stage & 1) == 0) cudaGraphSetConditional(on.loop, 0);
}

/// Records the step. True where the next one may follow.
template <class Scalars>
__device__ bool end_step(const StepMemory<Scalars>& on, StepEnd end, double z_terms = 0) {
    StepState<Scalars>& s = *on.state;
    on.norms[s.steps++] = s.scalars.r_norm();
    s.stretch = {end,
                 reason_to_verify(end, s.scalars, s.limits, s.watches_drift ? &s.drift : nullptr, [=] { return z_terms; })};
    s.go_to(StepState<Scalars>::Stage::ended);
    return s.stretch.reason == Reason::none && s.steps < s.limits.max_steps;
}

/// The sums of an operation.
struct StepValues {
    double norm[2];
    double dot;
};

}  // namespace solver::cuda
