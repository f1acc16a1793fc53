#pragma once

/// What a step of BiCGStab does to its vectors, which sums it takes of them, and what follows from those.

#include "core/krylov/updates.hpp"
#include "krylov/state.cuh"
#include "runtime/pack.cuh"

namespace solver::cuda {

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

/// The products x_i y_i of one pack, for a sink.
template <class Sink, class T>
__device__ __forceinline__ void add_products(Sink& sink, const T* x, const T* y, std::int64_t i, std::int64_t n) {
    const Pack<T> xs = load_pack(x, i, n);
    const Pack<T> ys = load_pack(y, i, n);
#pragma unroll
    for (int j = 0; j < Pack<T>::size; ++j) sink.add_product(xs.element[j], ys.element[j]);
}

/// Their squares.
template <class Sink, class T>
__device__ __forceinline__ void add_squares_of_products(Sink& sink, const T* x, const T* y, std::int64_t i, std::int64_t n) {
    const Pack<T> xs = load_pack(x, i, n);
    const Pack<T> ys = load_pack(y, i, n);
#pragma unroll
    for (int j = 0; j < Pack<T>::size; ++j) sink.add_square(0, mul_rn(xs.element[j], ys.element[j]));
}

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
        add_products(sink, on.shadow, on.r, i, on.n);
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
        add_squares_of_products(sink, on.shadow, on.r, i, on.n);
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
        add_products(sink, on.shadow, on.v, i, on.n);
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
        add_squares_of_products(sink, on.t, on.r, i, on.n);
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

}  // namespace solver::cuda
