#pragma once

/// What the kernels of a step of BiCGStab share: the stages, the scalars and the vectors, and how one stage leads to another.

#include "core/krylov/bicgstab_scalars.hpp"
#include "reduce/exact.cuh"

#include <cstdint>

namespace solver::cuda {

/// Whose turn it is. "rest" is a superaccumulator's, "terms" that of the norm that tells whether a dot product is lost.
enum class Stage : std::int32_t {
    ended,  ///< the host's
    rho,
    rho_rest,
    rho_terms,
    rho_terms_rest,
    first,  ///< the direction, the first product, (shadow, v)
    v_rest,
    half,  ///< s and its norm
    s_rest,
    second,  ///< the second product, ||t|| and (t, s)
    t_rest,
    t_terms,
    t_terms_rest,
    full,  ///< z and r, its norm and the next rho
    full_rest,
    end_half,  ///< z where there is no second half
};

constexpr std::uint32_t bit(Stage stage) { return std::uint32_t{1} << static_cast<int>(stage); }

/// Those for which the fast chain has kernels.
inline constexpr std::uint32_t fast_stages = bit(Stage::first) | bit(Stage::half) | bit(Stage::second) | bit(Stage::full);

/// What a stretch of steps knows beside its vectors.
template <class T>
struct StepState {
    std::int32_t stage = 0;
    bool watches_drift = false;
    BicgstabScalars<T> scalars;
    ResidualDrift drift{unit_roundoff<T>};
    StepLimits limits;
    Stretch stretch;
    std::int64_t steps = 0;
    double doubtful = 0;  ///< the dot product that may be lost

    __device__ void go_to(Stage next) { stage = static_cast<std::int32_t>(next); }
};

/// Steps in one stretch at most: what is kept of their norms.
inline constexpr std::int64_t most_steps = 1 << 14;

inline constexpr int most_step_rest_blocks = 528;  // whose digits can be added
inline constexpr int most_step_sums = 3;

/// Where everything is. p_hat and s_hat are M^-1 p and M^-1 s. Of several columns, of which each is a solve of its own, the
/// first one's: column() has the others'.
template <class T>
struct StepMemory {
    std::int64_t n;
    std::int64_t stride;        ///< from the vectors of a column to those of the next one
    std::int64_t parts_stride;  ///< likewise
    T* shadow;
    T* r;
    T* p;
    T* v;
    T* t;
    T* p_hat;
    T* s_hat;
    T* z;
    const T* weights;   ///< or null
    const T* diagonal;  ///< of M where it is one, or null
    StepState<T>* state;
    double* norms;  ///< ||r|| after each step
    char* parts;
    ExactPart* exact_parts;
    unsigned* arrived;                ///< two counters
    cudaGraphConditionalHandle loop;  ///< or 0
    std::uint32_t loop_stages;        ///< those that keep it going

    __device__ __forceinline__ StepMemory column(unsigned j) const {
        StepMemory of = *this;
        for (T** vector : {&of.shadow, &of.r, &of.p, &of.v, &of.t, &of.p_hat, &of.s_hat, &of.z}) *vector += j * stride;
        of.state += j;
        of.norms += j * most_steps;
        of.parts += j * parts_stride;
        of.exact_parts += j * most_step_rest_blocks * most_step_sums;
        of.arrived += j * 2;
        return of;
    }
};

/// Ends the loop where none of its kernels is open any more for this column.
template <class T>
__device__ void end_loop_outside_stages(const StepMemory<T>& on, std::int32_t stage) {
    if (on.loop != 0 && (on.loop_stages >> stage & 1) == 0) cudaGraphSetConditional(on.loop, 0);
}

/// Records the step. True where the next one may follow.
template <class T>
__device__ bool end_step(const StepMemory<T>& on, StepEnd end, double z_terms = 0) {
    StepState<T>& s = *on.state;
    on.norms[s.steps++] = s.scalars.r_norm();
    s.stretch = {end,
                 reason_to_verify(end, s.scalars, s.limits, s.watches_drift ? &s.drift : nullptr, [=] { return z_terms; })};
    s.go_to(Stage::ended);
    return s.stretch.reason == Reason::none && s.steps < s.limits.max_steps;
}

template <class T>
__device__ void take_rho(StepState<T>& s, double rho) {
    s.scalars.take_rho(rho);
    s.go_to(Stage::first);
}

/// A new step begins.
template <class T>
__device__ void begin_step(StepState<T>& s, double rho) {
    if (!s.scalars.rho_may_be_lost(rho)) return take_rho(s, rho);
    s.doubtful = rho;
    s.go_to(Stage::rho_terms);
}

/// After omega.
template <class T>
__device__ void go_to_second_end(StepState<T>& s, StepEnd end) {
    s.stretch.end = end;
    s.go_to(end == StepEnd::none ? Stage::full : Stage::end_half);
}

/// The sums of an operation.
struct StepValues {
    double norm[2];
    double dot;
};

}  // namespace solver::cuda
