#pragma once

/// A step of conjugate gradients on a CUDA device: its stages, its vectors, what it does to them and which sums it takes, what
/// follows from those, and the order of it all.

#include "core/krylov/cg_scalars.hpp"
#include "krylov/operation.cuh"

#include <cstdint>

namespace solver::cuda {

template <class T>
struct Steps<CgScalars<T>> {
    /// "rest" is a superaccumulator's, "sign" that of the sums that tell what follows from a product that is not positive.
    enum class Stage : std::int32_t {
        ended,  ///< the host's
        rho,    ///< M^-1 r and rho = (r, M^-1 r)
        rho_rest,
        rho_sign,
        rho_sign_rest,
        first,  ///< the direction, the product, (p, q)
        pq_rest,
        pq_sign,  ///< the product once more, (p, q), ||p|| and ||q||
        pq_sign_rest,
        full,  ///< z and r, its norm and, where M^-1 is a matter of one element, the next rho
        full_rest,
    };

    struct Vectors {
        T *r, *z, *p, *q, *r_hat;  ///< q = A p, r_hat = M^-1 r

        template <class F>
        constexpr void own(const F& f) {
            f(r), f(z), f(p), f(q);
        }
        template <class F>
        constexpr void preconditioned(const F& f) {
            f(r_hat);
        }
        void alias_preconditioned() { r_hat = r; }
    };

    static constexpr Stage start = Stage::rho;

    template <class Chain>
    static std::uint32_t fast_stages(const Chain& chain) {
        const std::uint32_t all = bit(Stage::first) | bit(Stage::full);
        return chain.preconditions_by_elements() ? all : all | bit(Stage::rho);
    }
    template <class Chain>
    static void launch_start(Chain& chain, const StepMemory<CgScalars<T>>& on);
    template <class Chain>
    static void launch_step(Chain& chain, const StepMemory<CgScalars<T>>& on, bool careful);

    template <class Chain>
    static void begin(Chain& chain, int column, double r_norm, std::uint64_t) {
        chain.state[column].scalars.begin(r_norm);
    }
};

namespace cg_steps {

template <class T>
using Memory = StepMemory<CgScalars<T>>;
template <class T>
using State = StepState<CgScalars<T>>;
template <class T>
using Stage = typename Steps<CgScalars<T>>::Stage;

template <class T>
struct Operation : StepOperation<CgScalars<T>> {
    using StepOperation<CgScalars<T>>::StepOperation;
};

/// A new step begins.
template <class T>
__device__ void begin_step(State<T>& s, double rho) {
    if (s.scalars.is_positive(rho)) {
        s.scalars.take_rho(rho);
        s.go_to(Stage<T>::first);
    } else {
        s.doubtful = rho;
        s.go_to(Stage<T>::rho_sign);
    }
}

/// After (p, q), which is positive.
template <class T>
__device__ void take_curvature(const Memory<T>& on, double pq) {
    const StepEnd end = on.state->scalars.take_curvature(pq);
    if (end == StepEnd::none)
        on.state->go_to(Stage<T>::full);
    else
        end_step(on, end);
}

/// rho = (r, r_hat); r_hat itself where M is diagonal.
template <class T>
struct TakeRho : Operation<T> {
    static constexpr const char* name = "rho";
    static constexpr Stage<T> rest = Stage<T>::rho_rest;
    static constexpr int dots = 1;
    using Operation<T>::Operation;

    template <bool update, class Sink>
    __device__ __forceinline__ void visit(const Memory<T>& on, std::int64_t i, Sink& sink) const {
        if (update && on.diagonal != nullptr)
            store_pack(on.r_hat, i, on.n, divided(load_pack(on.r, i, on.n), on.diagonal, i, on.n));
        add_products(sink, on.r, on.r_hat, i, on.n);
    }
    static __device__ void take(const Memory<T>& on, const StepValues& of) { begin_step<T>(*on.state, of.dot); }
};

/// ||r_hat||
template <class T>
struct CheckRho : Operation<T> {
    static constexpr const char* name = "the sign of rho";
    static constexpr Stage<T> rest = Stage<T>::rho_sign_rest;
    static constexpr int norms = 1;
    using Operation<T>::Operation;

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const Memory<T>& on, std::int64_t i, Sink& sink) const {
        add_squares(sink, 0, load_pack(on.r_hat, i, on.n));
    }
    static __device__ void take(const Memory<T>& on, const StepValues& of) {
        State<T>& s = *on.state;
        end_step(on, s.scalars.end_of_not_positive(s.doubtful, s.scalars.r_norm(), of.norm[0]));
    }
};

/// p = r_hat + beta p, in the first step r_hat.
template <class T>
struct Direct : Operation<T> {
    static constexpr const char* name = "direction";
    static constexpr bool begins_chain = true;
    static constexpr bool decides = false;
    T beta;
    bool is_first;

    explicit __device__ Direct(const State<T>& s) : Operation<T>(s), beta(s.scalars.beta()), is_first(s.scalars.is_first()) {}

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const Memory<T>& on, std::int64_t i, Sink&) const {
        Pack<T> next = load_pack(on.r_hat, i, on.n);
        if (!is_first) add_times(next, beta, load_pack(on.p, i, on.n));
        store_pack(on.p, i, on.n, next);
    }
};

/// (p, q)
template <class T>
struct TakeCurvature : Operation<T> {
    static constexpr const char* name = "(p, q)";
    static constexpr Stage<T> rest = Stage<T>::pq_rest;
    static constexpr int dots = 1;
    using Operation<T>::Operation;

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const Memory<T>& on, std::int64_t i, Sink& sink) const {
        add_products(sink, on.p, on.q, i, on.n);
    }
    static __device__ void take(const Memory<T>& on, const StepValues& of) {
        if (on.state->scalars.is_positive(of.dot))
            take_curvature<T>(on, of.dot);
        else
            on.state->go_to(Stage<T>::pq_sign);
    }
};

/// ||p||, ||q|| and (p, q)
template <class T>
struct CheckCurvature : Operation<T> {
    static constexpr const char* name = "the sign of (p, q)";
    static constexpr Stage<T> rest = Stage<T>::pq_sign_rest;
    static constexpr int norms = 2;
    static constexpr int dots = 1;
    using Operation<T>::Operation;

    template <bool, class Sink>
    __device__ __forceinline__ void visit(const Memory<T>& on, std::int64_t i, Sink& sink) const {
        const Pack<T> p = load_pack(on.p, i, on.n);
        const Pack<T> q = load_pack(on.q, i, on.n);
        add_squares(sink, 0, p);
        add_squares(sink, 1, q);
        add_products(sink, p, q);
    }
    static __device__ void take(const Memory<T>& on, const StepValues& of) {
        if (on.state->scalars.is_positive(of.dot))
            take_curvature<T>(on, of.dot);
        else
            end_step(on, on.state->scalars.end_of_not_positive(of.dot, of.norm[0], of.norm[1]));
    }
};

/// z = z + alpha p, r = r - alpha q, ||r|| and, where the drift is watched, ||(w_i z_i)||. `by_elements`: where M^-1 is a
/// matter of one element, r_hat, too, and the next rho = (r, r_hat).
template <class T, bool weighted, bool by_elements>
struct FullStep : Operation<T> {
    static constexpr const char* name = "r";
    static constexpr Stage<T> rest = Stage<T>::full_rest;
    static constexpr int norms = weighted ? 2 : 1;
    static constexpr int dots = by_elements ? 1 : 0;
    T alpha;

    explicit __device__ FullStep(const State<T>& s) : Operation<T>(s), alpha(s.scalars.alpha()) {}

    template <bool update, class Sink>
    __device__ __forceinline__ void visit(const Memory<T>& on, std::int64_t i, Sink& sink) const {
        Pack<T> r = load_pack(on.r, i, on.n);
        Pack<T> z{};
        if (update || weighted) z = load_pack(on.z, i, on.n);
        if constexpr (update) {
            add_times(z, alpha, load_pack(on.p, i, on.n));
            subtract_times(r, alpha, load_pack(on.q, i, on.n));
            store_pack(on.z, i, on.n, z);
            store_pack(on.r, i, on.n, r);
        }
        add_squares(sink, 0, r);
        if constexpr (by_elements) add_products(sink, r, preconditioned<update>(on, r, i));
        if constexpr (weighted) add_squares_of_products(sink, 1, load_pack(on.weights, i, on.n), z);
    }
    static __device__ void take(const Memory<T>& on, const StepValues& of) {
        const StepEnd end = on.state->scalars.take_r_norm(of.norm[0]);
        if (!end_step(on, end, weighted ? of.norm[1] : 0)) return;
        if constexpr (by_elements)
            begin_step<T>(*on.state, of.dot);
        else
            on.state->go_to(Stage<T>::rho);
    }

private:
    template <bool update>
    static __device__ __forceinline__ Pack<T> preconditioned(const Memory<T>& on, const Pack<T>& r, std::int64_t i) {
        if (on.diagonal == nullptr) return r;
        const Pack<T> r_hat = divided(r, on.diagonal, i, on.n);
        if constexpr (update) store_pack(on.r_hat, i, on.n, r_hat);
        return r_hat;
    }
};

}  // namespace cg_steps

/// Where M is applied by kernels of its own, the chain begins with that anyway.
template <class T>
template <class Chain>
void Steps<CgScalars<T>>::launch_start(Chain& chain, const StepMemory<CgScalars<T>>& on) {
    if (chain.preconditions_by_elements()) chain.template launch<cg_steps::TakeRho<T>>(on, Stage::rho);
}

template <class T>
template <class Chain>
void Steps<CgScalars<T>>::launch_step(Chain& chain, const StepMemory<CgScalars<T>>& on, bool careful) {
    using namespace cg_steps;
    const bool by_elements = chain.preconditions_by_elements();
    chain.apply(on.r, on.r_hat, Stage::rho);
    if (careful || !by_elements) chain.template launch_carefully<TakeRho<T>>(on, Stage::rho, careful);
    if (careful) chain.template launch_carefully<CheckRho<T>>(on, Stage::rho_sign, true);
    chain.template launch<Direct<T>>(on, Stage::first);
    chain.multiply(on.p, on.q, Stage::first);
    chain.template launch_carefully<TakeCurvature<T>>(on, Stage::first, careful);
    if (careful) {
        chain.multiply_accurately(on.p, on.q, Stage::pq_sign);
        chain.template launch_carefully<CheckCurvature<T>>(on, Stage::pq_sign, true);
    }
    const bool weighted = on.weights != nullptr;
    if (weighted && by_elements) chain.template launch_carefully<FullStep<T, true, true>>(on, Stage::full, careful);
    if (weighted && !by_elements) chain.template launch_carefully<FullStep<T, true, false>>(on, Stage::full, careful);
    if (!weighted && by_elements) chain.template launch_carefully<FullStep<T, false, true>>(on, Stage::full, careful);
    if (!weighted && !by_elements) chain.template launch_carefully<FullStep<T, false, false>>(on, Stage::full, careful);
}

}  // namespace solver::cuda
