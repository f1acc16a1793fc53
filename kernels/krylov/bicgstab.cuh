#pragma once

/// A step of BiCGStab on a CUDA device: its stages, its vectors, what it does to them and which sums it takes, what follows
/// from those, and the order of it all.

#include "core/krylov/bicgstab_scalars.hpp"
#include "krylov/operation.cuh"
#include "vectors.hpp"

#include <cstdint>

namespace solver::cuda {

template <class T>
struct Steps<BicgstabScalars<T>> {
    /// "rest" is a superaccumulator's, "terms" that of the norm that tells whether a dot product is lost.
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

    /// p_hat and s_hat are M^-1 p and M^-1 s; s is kept in r.
    struct Vectors {
        T *shadow, *r, *p, *v, *t, *z, *p_hat, *s_hat;

        template <class F>
        constexpr void own(const F& f) {
            f(shadow), f(r), f(p), f(v), f(t), f(z);
        }
        template <class F>
        constexpr void preconditioned(const F& f) {
            f(p_hat), f(s_hat);
        }
        void alias_preconditioned() {
            p_hat = p;
            s_hat = r;
        }
    };

    static constexpr Stage start = Stage::rho;

    template <class Chain>
    static std::uint32_t fast_stages(const Chain&) {
        return bit(Stage::first) | bit(Stage::half) | bit(Stage::second) | bit(Stage::full);
    }
    template <class Chain>
    static void launch_start(Chain& chain, const StepMemory<BicgstabScalars<T>>& on);
    template <class Chain>
    static void launch_step(Chain& chain, const StepMemory<BicgstabScalars<T>>& on, bool careful);
    template <class Chain>
    static void begin(Chain& chain, int column, double r_norm, std::uint64_t seed);
};

namespace bicgstab_steps {

template <class T>
using Memory = StepMemory<BicgstabScalars<T>>;
template <class T>
using State = StepState<BicgstabScalars<T>>;
template <class T>
using Stage = typename Steps<BicgstabScalars<T>>::Stage;

template <class T>
struct Operation : StepOperation<BicgstabScalars<T>> {
    using StepOperation<BicgstabScalars<T>>::StepOperation;
};

template <class T>
__device__ void take_rho(State<T>& s, double rho) {
    s.scalars.take_rho(rho);
    s.go_to(Stage<T>::first);
}

/// A new step begins.
template <class T>
__device__ void begin_step(State<T>& s, double rho) {
    if (!s.scalars.rho_may_be_lost(rho)) return take_rho<T>(s, rho);
    s.doubtful = rho;
    s.go_to(Stage<T>::rho_terms);
}

/// After omega.
template <class T>
__device__ void go_to_second_end(State<T>& s, StepEnd end) {
    s.stretch.end = end;
    s.go_to(end == StepEnd::none ? Stage<T>::full : Stage<T>::end_half);
}

/// rho = (shadow, r)
template <class T>
struct TakeRho : Operation<T> {
    static constexpr const char* name = "rho";
    static constexpr Stage<T> rest = Stage<T>::rho_rest;
    static constexpr int dots = 1;
    using Operation<T>::Operation;

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const Memory<T>& on, std::int64_t i, Sink& sink) const {
        add_products(sink, on.shadow, on.r, i, on.n);
    }
    static __device__ void take(const Memory<T>& on, const StepValues& of) { begin_step<T>(*on.state, of.dot); }
};

/// ||(shadow_i r_i)||
template <class T>
struct CheckRho : Operation<T> {
    static constexpr const char* name = "terms of rho";
    static constexpr Stage<T> rest = Stage<T>::rho_terms_rest;
    static constexpr int norms = 1;
    using Operation<T>::Operation;

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const Memory<T>& on, std::int64_t i, Sink& sink) const {
        add_squares_of_products(sink, on.shadow, on.r, i, on.n);
    }
    static __device__ void take(const Memory<T>& on, const StepValues& of) {
        State<T>& s = *on.state;
        if (s.scalars.is_lost(s.doubtful, of.norm[0]))
            end_step(on, s.scalars.end_of_lost(s.doubtful));
        else
            take_rho<T>(s, s.doubtful);
    }
};

/// p = r + beta (p - omega v), in the first step r; p_hat where M is diagonal.
template <class T>
struct Direct : Operation<T> {
    static constexpr const char* name = "direction";
    static constexpr bool begins_chain = true;
    static constexpr bool decides = false;
    T beta;
    T omega;
    bool is_first;

    explicit __device__ Direct(const State<T>& s)
        : Operation<T>(s), beta(s.scalars.beta()), omega(s.scalars.omega()), is_first(s.scalars.is_first()) {}

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const Memory<T>& on, std::int64_t i, Sink&) const {
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
        store_pack(on.p_hat, i, on.n, divided(next, on.diagonal, i, on.n));
    }
};

/// (shadow, v)
template <class T>
struct TakeV : Operation<T> {
    static constexpr const char* name = "(shadow, v)";
    static constexpr Stage<T> rest = Stage<T>::v_rest;
    static constexpr int dots = 1;
    using Operation<T>::Operation;

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const Memory<T>& on, std::int64_t i, Sink& sink) const {
        add_products(sink, on.shadow, on.v, i, on.n);
    }
    static __device__ void take(const Memory<T>& on, const StepValues& of) {
        const StepEnd end = on.state->scalars.take_shadow_v(of.dot);
        if (end == StepEnd::none)
            on.state->go_to(Stage<T>::half);
        else
            end_step(on, end);
    }
};

/// s = r - alpha v, kept in r, and ||s||; s_hat where M is diagonal.
template <class T>
struct HalfStep : Operation<T> {
    static constexpr const char* name = "s";
    static constexpr Stage<T> rest = Stage<T>::s_rest;
    static constexpr int norms = 1;
    T alpha;

    explicit __device__ HalfStep(const State<T>& s) : Operation<T>(s), alpha(s.scalars.alpha()) {}

    template <bool update, class Sink>
    __device__ __forceinline__ void visit(const Memory<T>& on, std::int64_t i, Sink& sink) const {
        Pack<T> r = load_pack(on.r, i, on.n);
        if constexpr (update) {
            subtract_times(r, alpha, load_pack(on.v, i, on.n));
            store_pack(on.r, i, on.n, r);
        }
        add_squares(sink, 0, r);
        if (!update || on.diagonal == nullptr) return;
        store_pack(on.s_hat, i, on.n, divided(r, on.diagonal, i, on.n));
    }
    static __device__ void take(const Memory<T>& on, const StepValues& of) {
        State<T>& s = *on.state;
        const StepEnd end = s.scalars.take_s_norm(of.norm[0], s.limits.target);
        if (end == StepEnd::none)
            s.go_to(Stage<T>::second);
        else if (end == StepEnd::half)
            go_to_second_end<T>(s, end);
        else
            end_step(on, end);
    }
};

/// ||t|| and (t, s)
template <class T>
struct TakeT : Operation<T> {
    static constexpr const char* name = "(t, s)";
    static constexpr Stage<T> rest = Stage<T>::t_rest;
    static constexpr int norms = 1;
    static constexpr int dots = 1;
    using Operation<T>::Operation;

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const Memory<T>& on, std::int64_t i, Sink& sink) const {
        const Pack<T> t = load_pack(on.t, i, on.n);
        const Pack<T> s = load_pack(on.r, i, on.n);
        add_squares(sink, 0, t);
        add_products(sink, t, s);
    }
    static __device__ void take(const Memory<T>& on, const StepValues& of) {
        State<T>& s = *on.state;
        const StepEnd end = s.scalars.take_t_norm(of.norm[0]);
        if (end != StepEnd::none) return go_to_second_end<T>(s, end);
        if (!s.scalars.ts_may_be_lost(of.dot)) return go_to_second_end<T>(s, s.scalars.take_ts(of.dot));
        s.doubtful = of.dot;
        s.go_to(Stage<T>::t_terms);
    }
};

/// ||(t_i s_i)||
template <class T>
struct CheckT : Operation<T> {
    static constexpr const char* name = "terms of (t, s)";
    static constexpr Stage<T> rest = Stage<T>::t_terms_rest;
    static constexpr int norms = 1;
    using Operation<T>::Operation;

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const Memory<T>& on, std::int64_t i, Sink& sink) const {
        add_squares_of_products(sink, on.t, on.r, i, on.n);
    }
    static __device__ void take(const Memory<T>& on, const StepValues& of) {
        State<T>& s = *on.state;
        go_to_second_end<T>(
            s, s.scalars.is_lost(s.doubtful, of.norm[0]) ? s.scalars.end_of_lost(s.doubtful) : s.scalars.take_ts(s.doubtful));
    }
};

/// z = z + alpha p_hat + omega s_hat, r = s - omega t, ||r||, the next rho = (shadow, r) and, where the drift is watched,
/// ||(w_i z_i)||.
template <class T, bool weighted>
struct FullStep : Operation<T> {
    static constexpr const char* name = "r";
    static constexpr Stage<T> rest = Stage<T>::full_rest;
    static constexpr int norms = weighted ? 2 : 1;
    static constexpr int dots = 1;
    T alpha;
    T omega;

    explicit __device__ FullStep(const State<T>& s) : Operation<T>(s), alpha(s.scalars.alpha()), omega(s.scalars.omega()) {}

    template <bool update, class Sink>
    __device__ __forceinline__ void visit(const Memory<T>& on, std::int64_t i, Sink& sink) const {
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
        add_squares(sink, 0, r);
        add_products(sink, shadow, r);
        if constexpr (weighted) add_squares_of_products(sink, 1, load_pack(on.weights, i, on.n), z);
    }
    static __device__ void take(const Memory<T>& on, const StepValues& of) {
        const StepEnd end = on.state->scalars.take_r_norm(of.norm[0]);
        if (end_step(on, end, weighted ? of.norm[1] : 0)) begin_step<T>(*on.state, of.dot);
    }
};

/// z = z + alpha p_hat
template <class T>
struct EndHalf : Operation<T> {
    static constexpr const char* name = "z";
    T alpha;

    explicit __device__ EndHalf(const State<T>& s) : Operation<T>(s), alpha(s.scalars.alpha()) {}

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const Memory<T>& on, std::int64_t i, Sink&) const {
        Pack<T> z = load_pack(on.z, i, on.n);
        add_times(z, alpha, load_pack(on.p_hat, i, on.n));
        store_pack(on.z, i, on.n, z);
    }
    static __device__ void take(const Memory<T>& on, const StepValues&) {
        on.state->scalars.end_half();
        end_step(on, on.state->stretch.end);
    }
};

}  // namespace bicgstab_steps

template <class T>
template <class Chain>
void Steps<BicgstabScalars<T>>::launch_start(Chain& chain, const StepMemory<BicgstabScalars<T>>& on) {
    chain.template launch<bicgstab_steps::TakeRho<T>>(on, Stage::rho);
}

template <class T>
template <class Chain>
void Steps<BicgstabScalars<T>>::launch_step(Chain& chain, const StepMemory<BicgstabScalars<T>>& on, bool careful) {
    using namespace bicgstab_steps;
    if (careful) {
        chain.template launch_carefully<TakeRho<T>>(on, Stage::rho, true);
        chain.template launch_carefully<CheckRho<T>>(on, Stage::rho_terms, true);
    }
    chain.template launch<Direct<T>>(on, Stage::first);
    chain.apply(on.p, on.p_hat, Stage::first);
    chain.multiply(on.p_hat, on.v, Stage::first);
    chain.template launch_carefully<TakeV<T>>(on, Stage::first, careful);
    chain.template launch_carefully<HalfStep<T>>(on, Stage::half, careful);
    chain.apply(on.r, on.s_hat, Stage::second);
    chain.multiply(on.s_hat, on.t, Stage::second);
    chain.template launch_carefully<TakeT<T>>(on, Stage::second, careful);
    if (careful) chain.template launch_carefully<CheckT<T>>(on, Stage::t_terms, true);
    if (on.weights != nullptr)
        chain.template launch_carefully<FullStep<T, true>>(on, Stage::full, careful);
    else
        chain.template launch_carefully<FullStep<T, false>>(on, Stage::full, careful);
    if (careful) chain.template launch<EndHalf<T>>(on, Stage::end_half);
}

/// The shadow residual is r itself (seed 0) or a random vector.
template <class T>
template <class Chain>
void Steps<BicgstabScalars<T>>::begin(Chain& chain, int column, double r_norm, std::uint64_t seed) {
    const DeviceArray<T> shadow = chain.array(chain.vectors.shadow, column);
    double shadow_norm = r_norm;
    if (seed == 0) {
        copy(chain.array(chain.vectors.r, column), shadow, chain.stream);
    } else {
        fill_random(seed, shadow, chain.stream);
        Reducer reducer(chain.device);
        const DeviceArray<double> place(chain.device, 1, "a norm");
        shadow_norm = norm2(reducer, shadow, chain.accuracy, place, chain.stream);
    }
    chain.state[column].scalars.begin(r_norm, shadow_norm);
}

}  // namespace solver::cuda
