#pragma once

/// The recurrence of IDR(s) and nothing else: the outer loop is in solve.hpp.

#include "krylov/measured_residual.hpp"
#include "krylov/stepwise.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace solver {

/// IDR(s) with bi-orthogonalised directions (van Gijzen, Sonneveld, ACM TOMS 38(1), 2011), s = 4, or the order of A where that
/// is less. s + 1 steps make a cycle: s that take from r what the shadow vectors see of it, by directions u_k with g_k = A u_k,
/// and one along r itself, which leads to the next, smaller space. The shadow vectors come from integers: the same on every
/// machine.
template <StepBackend B>
class IdrRecurrence : public StepwiseRecurrence<B, MeasuredResidual<typename B::Value>, IdrRecurrence<B>> {
    using Base = StepwiseRecurrence<B, MeasuredResidual<typename B::Value>, IdrRecurrence<B>>;
    friend Base;

public:
    using Value = typename B::Value;
    using Vector = typename B::Vector;
    using Scalar = ScalarOf<Value>;
    using Base::r;
    using Base::z;

    explicit IdrRecurrence(B& backend)
        : Base(backend),
          s_(static_cast<std::size_t>(std::min<std::int64_t>(most, backend.rows()))),
          t_(backend.vector()),
          hat_(backend.vector()) {
        for (std::size_t k = 0; k < s_; ++k)
            for (std::vector<Vector>* vectors : {&shadow_, &u_, &g_}) vectors->push_back(backend.vector());
    }

    void begin(double r_norm, std::uint64_t seed) {
        scalars_.begin(r_norm);
        for (std::size_t k = 0; k < s_; ++k) {
            backend_.fill_random(seed * most + k + 1, shadow_[k]);
            backend_.set_zero(u_[k]);
            backend_.set_zero(g_[k]);
            seen_[k] = {};
            seen_[k][k] = 1;
        }
        omega_ = 1;
        begin_cycle();
    }
    void continue_from_replaced(double r_norm) {
        scalars_.continue_from_replaced(r_norm);
        knows_f_ = false;
    }

private:
    using Base::backend_;
    using Base::scalars_;

    static constexpr std::size_t most = 4;

    Vector& scratch() { return t_; }

    void begin_cycle() {
        k_ = 0;
        knows_f_ = false;
    }

    /// One product with A.
    Task<StepEnd> step(double) {
        scalars_.begin_step();
        if (k_ == s_) co_return co_await step_along_r();
        co_return co_await step_along_direction();
    }

    Task<StepEnd> step_along_direction() {
        if (!knows_f_) backend_.dots(from(shadow_), r, std::span(f_).subspan(k_, s_ - k_));
        knows_f_ = true;
        make_direction();
        co_await backend_.multiply(u_[k_], g_[k_]);
        make_biorthogonal();
        std::array<Scalar, most> seen;
        backend_.dots(from(shadow_), g_[k_], std::span(seen).first(s_ - k_));
        for (std::size_t i = k_; i < s_; ++i) seen_[i][k_] = seen[i - k_];
        const Value beta = rounded(div_rn(f_[k_], seen_[k_][k_]));
        if (seen_[k_][k_] == Scalar(0)) co_return StepEnd::breakdown;
        if (!is_finite(Scalar(beta))) co_return is_finite(seen_[k_][k_]) ? StepEnd::breakdown : StepEnd::non_finite;
        backend_.subtract(beta, g_[k_], r);
        backend_.add(beta, u_[k_], z);
        for (std::size_t i = k_ + 1; i < s_; ++i) f_[i] = add_rn(f_[i], -mul_rn(Scalar(beta), seen_[i][k_]));
        ++k_;
        co_return scalars_.take_r_norm(backend_.norm2(r));
    }

    /// u_k = omega M^-1 (r - sum_i c_i g_i) + sum_i c_i u_i over i >= k, for c such that the shadow vectors from k on see
    /// nothing of the bracket.
    void make_direction() {
        std::array<Value, most> c{}, negative{};
        for (std::size_t i = k_; i < s_; ++i) {
            Scalar rest = f_[i];
            for (std::size_t j = k_; j < i; ++j) rest = add_rn(rest, -mul_rn(seen_[i][j], Scalar(c[j])));
            c[i] = rounded(div_rn(rest, seen_[i][i]));
            negative[i] = -c[i];
        }
        backend_.copy(r, t_);
        backend_.add_combination(std::span(negative).subspan(k_, s_ - k_), from(g_), t_);
        backend_.precondition(t_, hat_);
        backend_.scale(c[k_], u_[k_]);
        backend_.add_combination(std::span(c).subspan(k_ + 1, s_ - k_ - 1), from(u_).subspan(1), u_[k_]);
        backend_.add(omega_, hat_, u_[k_]);
    }

    /// The shadow vectors before k see nothing of g_k.
    void make_biorthogonal() {
        for (std::size_t i = 0; i < k_; ++i) {
            const Value alpha = rounded(div_rn(backend_.dot(shadow_[i], g_[k_]), seen_[i][i]));
            backend_.subtract(alpha, g_[i], g_[k_]);
            backend_.subtract(alpha, u_[i], u_[k_]);
        }
    }

    Task<StepEnd> step_along_r() {
        backend_.precondition(r, hat_);
        co_await backend_.multiply(hat_, t_);
        const double t_norm = backend_.norm2(t_);
        if (!is_finite(t_norm)) co_return StepEnd::non_finite;
        omega_ = rounded(omega_of(backend_.dot(t_, r), t_norm));
        if (!is_finite(Scalar(omega_)) || omega_ == Value(0)) co_return StepEnd::breakdown;
        backend_.subtract(omega_, t_, r);
        backend_.add(omega_, hat_, z);
        begin_cycle();
        co_return scalars_.take_r_norm(backend_.norm2(r));
    }

    /// (t, r) / (t, t), made larger where the angle between t and r is wide (Sleijpen, van der Vorst, Numer. Algorithms 10,
    /// 1995).
    Scalar omega_of(Scalar tr, double t_norm) const {
        constexpr double least_cosine = 0.7;
        const Scalar omega = div_rn(div_rn(tr, t_norm), t_norm);
        const double cosine = magnitude(div_rn(div_rn(tr, t_norm), scalars_.r_norm()));
        return cosine < least_cosine ? div_rn(mul_rn(omega, Scalar(least_cosine)), cosine) : omega;
    }

    std::span<const Vector> from(const std::vector<Vector>& vectors) const {
        return std::span<const Vector>(vectors).subspan(k_);
    }
    static Value rounded(Scalar x) { return to_value<Value>(x); }

    std::size_t s_;
    std::size_t k_ = 0;  ///< the next step of the cycle; s_: that along r
    bool knows_f_ = false;
    Value omega_ = 1;
    std::array<Scalar, most> f_{};                       ///< what the shadow vectors from k on see of r
    std::array<std::array<Scalar, most>, most> seen_{};  ///< (shadow_i, g_k), a lower triangle
    Vector t_;
    Vector hat_;
    std::vector<Vector> shadow_;
    std::vector<Vector> u_;
    std::vector<Vector> g_;
};

}  // namespace solver
