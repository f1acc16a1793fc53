#pragma once

/// The kernels of a step of BiCGStab. Each updates vectors or not, sums up products or not, and its last block decides how the
/// step goes on.

#include "bicgstab/step.hpp"
#include "bicgstab/updates.hpp"
#include "exact.cuh"
#include "gate.cuh"
#include "pack.cuh"

#include <cstdint>

namespace solver::cuda {

inline constexpr int step_threads = 256;
inline constexpr int most_step_rest_blocks = 528;  // whose digits can be added
inline constexpr int most_step_sums = 3;

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
    StepScalars<T> scalars;
    ResidualDrift drift{unit_roundoff<T>};
    StepLimits limits;
    Stretch stretch;
    std::int64_t steps = 0;
    double doubtful = 0;  ///< the dot product that may be lost

    __device__ void go_to(Stage next) { stage = static_cast<std::int32_t>(next); }
};

/// The exact sum of a block.
struct ExactPart {
    std::int64_t digit[superaccumulator_digits];
    double special;
};

/// Where everything is. p_hat and s_hat are M^-1 p and M^-1 s.
template <class T>
struct StepMemory {
    std::int64_t n;
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
};

/// Ends the loop where none of its kernels is open any more.
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

/// What an operation is unless it says otherwise.
template <class T>
struct StepOperation {
    using Value = T;
    static constexpr bool begins_chain = false;
    static constexpr bool decides = true;        ///< the next stage
    static constexpr Stage rest = Stage::ended;  ///< where a filter is at a loss
    static constexpr int norms = 0;
    static constexpr int dots = 0;

    explicit __device__ StepOperation(const StepState<T>&) {}
};

// Each operation: visit() hands the products of one pack of elements to a sink, after updating the vectors where `update` is
// set; take() gets the sums.

/// rho = (shadow, r)
template <class T>
struct TakeRho : StepOperation<T> {
    static constexpr const char* name = "rho";
    static constexpr Stage rest = Stage::rho_rest;
    static constexpr int dots = 1;
    using StepOperation<T>::StepOperation;

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const StepMemory<T>& on, std::int64_t i, Sink& sink) const {
        const Pack<T> shadow = load_pack(on.shadow, i, on.n);
        const Pack<T> r = load_pack(on.r, i, on.n);
#pragma unroll
        for (int j = 0; j < Pack<T>::size; ++j) sink.add_product(shadow.element[j], r.element[j]);
    }
    static __device__ void take(const StepMemory<T>& on, const StepValues& of) { begin_step(*on.state, of.dot); }
};

/// ||(shadow_i r_i)||
template <class T>
struct CheckRho : StepOperation<T> {
    static constexpr const char* name = "terms of rho";
    static constexpr Stage rest = Stage::rho_terms_rest;
    static constexpr int norms = 1;
    using StepOperation<T>::StepOperation;

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const StepMemory<T>& on, std::int64_t i, Sink& sink) const {
        const Pack<T> shadow = load_pack(on.shadow, i, on.n);
        const Pack<T> r = load_pack(on.r, i, on.n);
#pragma unroll
        for (int j = 0; j < Pack<T>::size; ++j) sink.add_square(0, mul_rn(shadow.element[j], r.element[j]));
    }
    static __device__ void take(const StepMemory<T>& on, const StepValues& of) {
        StepState<T>& s = *on.state;
        if (s.scalars.is_lost(s.doubtful, of.norm[0]))
            end_step(on, s.scalars.end_of_lost(s.doubtful));
        else
            take_rho(s, s.doubtful);
    }
};

/// p = r + beta (p - omega v), in the first step r; p_hat where M is diagonal.
template <class T>
struct Direct : StepOperation<T> {
    static constexpr const char* name = "direction";
    static constexpr bool begins_chain = true;
    static constexpr bool decides = false;
    T beta;
    T omega;
    bool is_first;

    explicit __device__ Direct(const StepState<T>& s)
        : StepOperation<T>(s), beta(s.scalars.beta()), omega(s.scalars.omega()), is_first(s.scalars.is_first()) {}

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const StepMemory<T>& on, std::int64_t i, Sink&) const {
        Pack<T> next = load_pack(on.r, i, on.n);
        if (!is_first) {
            const Pack<T> p = load_pack(on.p, i, on.n);
            const Pack<T> v = load_pack(on.v, i, on.n);
#pragma unroll
            for (int j = 0; j < Pack<T>::size; ++j)
                next.element[j] = direction(next.element[j], beta, p.element[j], omega, v.element[j]);
        }
        store_pack(on.p, i, on.n, next);
        if (on.diagonal == nullptr) return;
        const Pack<T> d = load_pack(on.diagonal, i, on.n);
#pragma unroll
        for (int j = 0; j < Pack<T>::size; ++j) next.element[j] = div_rn(next.element[j], d.element[j]);
        store_pack(on.p_hat, i, on.n, next);
    }
};

/// (shadow, v)
template <class T>
struct TakeV : StepOperation<T> {
    static constexpr const char* name = "(shadow, v)";
    static constexpr Stage rest = Stage::v_rest;
    static constexpr int dots = 1;
    using StepOperation<T>::StepOperation;

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const StepMemory<T>& on, std::int64_t i, Sink& sink) const {
        const Pack<T> shadow = load_pack(on.shadow, i, on.n);
        const Pack<T> v = load_pack(on.v, i, on.n);
#pragma unroll
        for (int j = 0; j < Pack<T>::size; ++j) sink.add_product(shadow.element[j], v.element[j]);
    }
    static __device__ void take(const StepMemory<T>& on, const StepValues& of) {
        const StepEnd end = on.state->scalars.take_shadow_v(of.dot);
        if (end == StepEnd::none)
            on.state->go_to(Stage::half);
        else
            end_step(on, end);
    }
};

/// s = r - alpha v, kept in r, and ||s||; s_hat where M is diagonal.
template <class T>
struct HalfStep : StepOperation<T> {
    static constexpr const char* name = "s";
    static constexpr Stage rest = Stage::s_rest;
    static constexpr int norms = 1;
    T alpha;

    explicit __device__ HalfStep(const StepState<T>& s) : StepOperation<T>(s), alpha(s.scalars.alpha()) {}

    template <bool update, class Sink>
    __device__ __forceinline__ void visit(const StepMemory<T>& on, std::int64_t i, Sink& sink) const {
        Pack<T> r = load_pack(on.r, i, on.n);
        if constexpr (update) {
            const Pack<T> v = load_pack(on.v, i, on.n);
#pragma unroll
            for (int j = 0; j < Pack<T>::size; ++j) r.element[j] = subtracted(r.element[j], alpha, v.element[j]);
            store_pack(on.r, i, on.n, r);
        }
#pragma unroll
        for (int j = 0; j < Pack<T>::size; ++j) sink.add_square(0, r.element[j]);
        if (!update || on.diagonal == nullptr) return;
        const Pack<T> d = load_pack(on.diagonal, i, on.n);
#pragma unroll
        for (int j = 0; j < Pack<T>::size; ++j) r.element[j] = div_rn(r.element[j], d.element[j]);
        store_pack(on.s_hat, i, on.n, r);
    }
    static __device__ void take(const StepMemory<T>& on, const StepValues& of) {
        StepState<T>& s = *on.state;
        const StepEnd end = s.scalars.take_s_norm(of.norm[0], s.limits.target);
        if (end == StepEnd::none)
            s.go_to(Stage::second);
        else if (end == StepEnd::half)
            go_to_second_end(s, end);
        else
            end_step(on, end);
    }
};

/// ||t|| and (t, s)
template <class T>
struct TakeT : StepOperation<T> {
    static constexpr const char* name = "(t, s)";
    static constexpr Stage rest = Stage::t_rest;
    static constexpr int norms = 1;
    static constexpr int dots = 1;
    using StepOperation<T>::StepOperation;

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const StepMemory<T>& on, std::int64_t i, Sink& sink) const {
        const Pack<T> t = load_pack(on.t, i, on.n);
        const Pack<T> s = load_pack(on.r, i, on.n);
#pragma unroll
        for (int j = 0; j < Pack<T>::size; ++j) {
            sink.add_square(0, t.element[j]);
            sink.add_product(t.element[j], s.element[j]);
        }
    }
    static __device__ void take(const StepMemory<T>& on, const StepValues& of) {
        StepState<T>& s = *on.state;
        const StepEnd end = s.scalars.take_t_norm(of.norm[0]);
        if (end != StepEnd::none) return go_to_second_end(s, end);
        if (!s.scalars.ts_may_be_lost(of.dot)) return go_to_second_end(s, s.scalars.take_ts(of.dot));
        s.doubtful = of.dot;
        s.go_to(Stage::t_terms);
    }
};

/// ||(t_i s_i)||
template <class T>
struct CheckT : StepOperation<T> {
    static constexpr const char* name = "terms of (t, s)";
    static constexpr Stage rest = Stage::t_terms_rest;
    static constexpr int norms = 1;
    using StepOperation<T>::StepOperation;

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const StepMemory<T>& on, std::int64_t i, Sink& sink) const {
        const Pack<T> t = load_pack(on.t, i, on.n);
        const Pack<T> s = load_pack(on.r, i, on.n);
#pragma unroll
        for (int j = 0; j < Pack<T>::size; ++j) sink.add_square(0, mul_rn(t.element[j], s.element[j]));
    }
    static __device__ void take(const StepMemory<T>& on, const StepValues& of) {
        StepState<T>& s = *on.state;
        go_to_second_end(
            s, s.scalars.is_lost(s.doubtful, of.norm[0]) ? s.scalars.end_of_lost(s.doubtful) : s.scalars.take_ts(s.doubtful));
    }
};

/// z = z + alpha p_hat + omega s_hat, r = s - omega t, ||r||, the next rho = (shadow, r) and, where the drift is watched,
/// ||(w_i z_i)||.
template <class T, bool weighted>
struct FullStep : StepOperation<T> {
    static constexpr const char* name = "r";
    static constexpr Stage rest = Stage::full_rest;
    static constexpr int norms = weighted ? 2 : 1;
    static constexpr int dots = 1;
    T alpha;
    T omega;

    explicit __device__ FullStep(const StepState<T>& s)
        : StepOperation<T>(s), alpha(s.scalars.alpha()), omega(s.scalars.omega()) {}

    template <bool update, class Sink>
    __device__ __forceinline__ void visit(const StepMemory<T>& on, std::int64_t i, Sink& sink) const {
        Pack<T> r = load_pack(on.r, i, on.n);
        Pack<T> z = load_pack(on.z, i, on.n);
        const Pack<T> shadow = load_pack(on.shadow, i, on.n);
        if constexpr (update) {
            const Pack<T> p_hat = load_pack(on.p_hat, i, on.n);
            const Pack<T> s_hat = load_pack(on.s_hat, i, on.n);
            const Pack<T> t = load_pack(on.t, i, on.n);
#pragma unroll
            for (int j = 0; j < Pack<T>::size; ++j) {
                z.element[j] = added_both(z.element[j], alpha, p_hat.element[j], omega, s_hat.element[j]);
                r.element[j] = subtracted(r.element[j], omega, t.element[j]);
            }
            store_pack(on.z, i, on.n, z);
            store_pack(on.r, i, on.n, r);
        }
#pragma unroll
        for (int j = 0; j < Pack<T>::size; ++j) {
            sink.add_square(0, r.element[j]);
            sink.add_product(shadow.element[j], r.element[j]);
        }
        if constexpr (weighted) {
            const Pack<T> w = load_pack(on.weights, i, on.n);
#pragma unroll
            for (int j = 0; j < Pack<T>::size; ++j) sink.add_square(1, mul_rn(w.element[j], z.element[j]));
        }
    }
    static __device__ void take(const StepMemory<T>& on, const StepValues& of) {
        const StepEnd end = on.state->scalars.take_r_norm(of.norm[0]);
        if (end_step(on, end, weighted ? of.norm[1] : 0)) begin_step(*on.state, of.dot);
    }
};

/// z = z + alpha p_hat
template <class T>
struct EndHalf : StepOperation<T> {
    static constexpr const char* name = "z";
    T alpha;

    explicit __device__ EndHalf(const StepState<T>& s) : StepOperation<T>(s), alpha(s.scalars.alpha()) {}

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const StepMemory<T>& on, std::int64_t i, Sink&) const {
        Pack<T> z = load_pack(on.z, i, on.n);
        const Pack<T> p_hat = load_pack(on.p_hat, i, on.n);
#pragma unroll
        for (int j = 0; j < Pack<T>::size; ++j) z.element[j] = added(z.element[j], alpha, p_hat.element[j]);
        store_pack(on.z, i, on.n, z);
    }
    static __device__ void take(const StepMemory<T>& on, const StepValues&) {
        on.state->scalars.end_half();
        end_step(on, on.state->stretch.end);
    }
};

template <class D, class N>
struct StepAccumulators {
    using Dot = D;
    using Norm = N;
};

/// Squares do not cancel: for a norm in exact a pair is enough, at half the operations of three terms.
template <class T, Accuracy accuracy>
struct StepAccumulatorsOf
    : std::type_identity<
          StepAccumulators<typename AccumulatorOf<T, accuracy>::type, typename AccumulatorOf<T, accuracy>::type>> {};
template <>
struct StepAccumulatorsOf<double, Accuracy::exact>
    : std::type_identity<StepAccumulators<FilteredTriple<double>, FilteredPair<double>>> {};

template <class A, int count>
struct SumsOfAKind {
    A sum[count];

    __device__ __forceinline__ void merge(const SumsOfAKind& other) {
#pragma unroll
        for (int q = 0; q < count; ++q) sum[q].merge(other.sum[q]);
    }
};
template <class A>
struct SumsOfAKind<A, 0> {
    __device__ void merge(const SumsOfAKind&) {}
};

/// The sums of an operation, by filters or plain.
template <class A, class Op>
struct StepSums {
    SumsOfAKind<typename A::Norm, Op::norms> norms;
    SumsOfAKind<typename A::Dot, Op::dots> dots;
    int inexact = 0;  ///< whether a product had no exact two_prod

    template <class T>
    __device__ __forceinline__ void add_product(T a, T b) {
        add(dots.sum[0], a, b);
    }
    template <class T>
    __device__ __forceinline__ void add_square(int q, T a) {
        add(norms.sum[q], a, a);
    }
    __device__ __forceinline__ void merge(const StepSums& other) {
        norms.merge(other.norms);
        dots.merge(other.dots);
        inexact |= other.inexact;
    }

private:
    template <class Sum, class T>
    __device__ __forceinline__ void add(Sum& sum, T a, T b) {
        if constexpr (wants_exact_products<Sum>) {
            const auto p = Sum::product(a, b);
            if (!product_is_exact(a, b, p.value)) inexact = 1;
            sum.add_term(p);
        } else {
            sum.add_product(a, b);
        }
    }
};

/// Room for a block's sums.
inline constexpr std::int64_t largest_part = 160;

/// Whether sqrt(sum of squares) is free of overflow and underflow.
template <class T>
__device__ bool is_safe_square(T sum) {
    constexpr T low = std::is_same_v<T, float> ? T(0x1p-100) : T(0x1p-900);
    constexpr T high = std::is_same_v<T, float> ? T(0x1p+120) : T(0x1p+1000);
    return sum >= low && sum <= high;
}

/// N for n products of which one or more may be inexact.
template <class A>
__device__ double lost_by_underflow(bool inexact, std::int64_t n) {
    return wants_exact_products<A> && inexact ? underflow_bound<double>(n) : 0;
}

/// The rounded sum, or false.
template <class T, class A>
__device__ bool try_dot(const A& sum, bool inexact, std::int64_t n, T& value) {
    if constexpr (!is_filter<A>) {
        value = sum.result();
        return true;
    } else if constexpr (wants_exact_products<A>) {
        return sum.try_result(value, lost_by_underflow<A>(inexact, n));
    } else {
        return sum.try_result(value);
    }
}

/// The rounded root of the sum, or false.
template <class T, class A>
__device__ bool try_norm(const A& sum, bool inexact, std::int64_t n, T& value) {
    if constexpr (!is_filter<A>) {
        const T square = sum.result();
        value = sqrt_rn(square);
        return is_safe_square(square);
    } else if constexpr (wants_exact_products<A>) {
        return sum.try_sqrt(value, lost_by_underflow<A>(inexact, n));
    } else {
        return sum.try_sqrt(value);
    }
}

/// By the first warp, which has the sums of all blocks: a thread for each.
template <class Op, class A, class T>
__device__ void decide(const StepMemory<T>& on, const StepSums<A, Op>& sums) {
    const auto lane = static_cast<int>(threadIdx.x);
    const bool inexact = sums.inexact != 0;
    T value = 0;
    bool decided = true;
    if constexpr (Op::norms > 0) {
        typename A::Norm mine = sums.norms.sum[0];
        if (Op::norms > 1 && lane == 1) mine = sums.norms.sum[Op::norms - 1];
        if (lane < Op::norms) decided = try_norm(mine, inexact, on.n, value);
    }
    if constexpr (Op::dots > 0)
        if (lane == Op::norms) decided = try_dot(sums.dots.sum[0], inexact, on.n, value);
    const bool all_decided = __all_sync(0xFFFFFFFFu, decided);
    StepValues values;
    values.norm[0] = __shfl_sync(0xFFFFFFFFu, value, 0);
    values.norm[1] = __shfl_sync(0xFFFFFFFFu, value, 1);
    values.dot = __shfl_sync(0xFFFFFFFFu, value, Op::norms);
    if (lane != 0) return;
    if (!all_decided)
        on.state->go_to(Op::rest);
    else
        Op::take(on, values);
    end_loop_outside_stages(on, on.state->stage);
}

inline constexpr int step_blocks_per_multiprocessor = 4;

/// Has the state near when the last block decides.
template <class T>
__device__ __forceinline__ void prefetch_state(const StepState<T>* state) {
    constexpr int sector = 32;
    const auto offset = static_cast<std::size_t>(threadIdx.x) * sector;
    if (offset < sizeof(StepState<T>))
        asm volatile("prefetch.global.L1 [%0];" ::"l"(reinterpret_cast<const char*>(state) + offset));
}

/// Puts a block's sums beside the others'. True in the block that comes last: then they are those of all.
template <class Sums, class T>
__device__ bool merge_blocks(const StepMemory<T>& on, Sums& part, Sums* shared) {
    static_assert(sizeof(Sums) <= largest_part);
    auto* const parts = reinterpret_cast<Sums*>(on.parts);
    if (threadIdx.x == 0) parts[blockIdx.x] = part;
    if (!block_comes_last(on.arrived, gridDim.x)) return false;
    part = Sums();
    for (unsigned i = threadIdx.x; i < gridDim.x; i += step_threads) part.merge(load_fresh(parts + i));
    part = merge_block(part, shared);
    return true;
}

template <class Op, class A>
__global__ void __launch_bounds__(step_threads, step_blocks_per_multiprocessor)
    step_kernel(StepMemory<typename Op::Value> on, Gate gate) {
    const bool open = is_open(gate);
    if (Op::begins_chain && blockIdx.x == 0 && threadIdx.x == 0) end_loop_outside_stages(on, *gate.stage);
    if (!open) return;
    let_next_kernel_start();
    const Op operation(*on.state);
    prefetch_state(on.state);
    const std::int64_t packs = (on.n + Pack<typename Op::Value>::size - 1) / Pack<typename Op::Value>::size;
    StepSums<A, Op> part;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * step_threads + threadIdx.x; i < packs;
         i += static_cast<std::int64_t>(gridDim.x) * step_threads)
        operation.template visit<true>(on, i, part);
    if constexpr (Op::decides) {
        __shared__ Shared<StepSums<A, Op>, step_threads / warp_size> shared;
        part = merge_block(part, shared.data());
        if (gridDim.x > 1 && !merge_blocks(on, part, shared.data())) return;
        if (threadIdx.x < warp_size) decide<Op>(on, part);
    }
}

/// One of an operation's sums, by a superaccumulator.
struct ExactStepSum {
    ThreadSuperaccumulator& sum;
    int wanted;  ///< the number of a norm, or -1 for the dot product

    template <class T>
    __device__ void add_product(T a, T b) {
        if (wanted < 0) sum.add_product(a, b);
    }
    template <class T>
    __device__ void add_square(int q, T a) {
        if (wanted == q) sum.add_product(a, a);
    }
};

/// All sums of an operation, its vectors having been updated, by superaccumulators, in every mode.
template <class Op>
__global__ void __launch_bounds__(warp_size) step_rest(StepMemory<typename Op::Value> on, Gate gate) {
    using T = typename Op::Value;
    __shared__ WarpDigits digits;
    if (!is_open(gate)) return;
    const Op operation(*on.state);
    const int thread = static_cast<int>(threadIdx.x);
    const auto blocks = static_cast<std::int64_t>(gridDim.x);
    const std::int64_t packs = (on.n + Pack<T>::size - 1) / Pack<T>::size;
    constexpr int sums = Op::norms + Op::dots;
    for (int q = 0; q < sums; ++q) {
        ThreadSuperaccumulator sum = digits.thread_sum();
        ExactStepSum sink{sum, q < Op::norms ? q : -1};
        for (std::int64_t i = blockIdx.x * std::int64_t{warp_size} + thread; i < packs; i += blocks * warp_size)
            operation.template visit<false>(on, i, sink);
        const ThreadSuperaccumulator block_sum = digits.collected(sum);
        ExactPart& part = on.exact_parts[q * blocks + blockIdx.x];
        for (int k = thread; k < superaccumulator_digits; k += warp_size) part.digit[k] = digits.digit[k * warp_size];
        if (thread == 0) part.special = block_sum.special();
        __syncwarp();
    }
    if (!warp_comes_last(on.arrived + 1, gridDim.x)) return;
    StepValues values;
    for (int q = 0; q < sums; ++q) {
        const ExactPart* parts = on.exact_parts + q * blocks;
        double special = 0;
        for (std::int64_t i = thread; i < blocks; i += warp_size) special = add_rn(special, __ldcg(&parts[i].special));
        for (int mask = warp_size / 2; mask > 0; mask /= 2)
            special = add_rn(special, __shfl_xor_sync(0xFFFFFFFFu, special, mask));
        digits.set_first([&](int k) {
            std::int64_t total = 0;
#pragma unroll 16
            for (std::int64_t i = 0; i < blocks; ++i) total += __ldcg(reinterpret_cast<const long long*>(&parts[i].digit[k]));
            return total;
        });
        if (thread == 0) {
            const ThreadSuperaccumulator all(StridedDigits<warp_size>{digits.digit}, special);
            if (q < Op::norms)
                values.norm[q] = all.template sqrt_result<T>();
            else
                values.dot = all.template result<T>();
        }
        __syncwarp();
    }
    if (thread != 0) return;
    Op::take(on, values);
    end_loop_outside_stages(on, on.state->stage);
}

}  // namespace solver::cuda
