#pragma once

/// The recurrence of restarted GMRES and nothing else: the outer loop is in solve.hpp.

#include "core/krylov/stretch.hpp"
#include "krylov/backend.hpp"
#include "krylov/hessenberg.hpp"
#include "krylov/orthogonality.hpp"
#include "krylov/task.hpp"
#include "solver/krylov.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// GMRES(m) preconditioned from the right in its flexible form (Saad, SIAM J. Sci. Comput. 14(2), 1993): M^-1 v_k is kept for
/// every k, so that M may be whatever it likes from step to step. Steps make ||r|| known, and neither r nor z; z is made where
/// it is asked for, and r, the true residual, by the outer loop after each cycle of m steps.
template <StepBackend B>
class GmresRecurrence {
public:
    using Value = typename B::Value;
    using Vector = typename B::Vector;
    using Scalar = ScalarOf<Value>;

    static constexpr bool has_random_starts = false;
    static constexpr bool keeps_directions = false;

    GmresRecurrence(B& backend, const KrylovOptions& options)
        : r(backend.vector()),
          z(backend.vector()),
          backend_(backend),
          restart_(static_cast<std::size_t>(std::min(options.restart, std::max<std::int64_t>(backend.rows(), 1)))),
          orthogonality_(unit_roundoff<RealOf<Value>>, backend.dot_uncertainty()) {}

    void start(const Vector*) {}
    void reset_drift(double, double) {}
    void continue_from_replaced(double r_norm) { begin(r_norm, 0); }

    void begin(double r_norm, std::uint64_t) {
        first_norm_ = norm_ = r_norm;
        steps_ = 0;
        small_.begin(r_norm);
        orthogonality_.begin();
        if (basis_.empty()) basis_.push_back(backend_.vector());
        backend_.copy(r, basis_[0]);
        normalise(basis_[0], r_norm);
    }

    /// One step, so that each is reported at once.
    Task<Stretch> advance(const StepLimits& limits) {
        const StepEnd end = co_await step();
        co_return Stretch{end, reason_after(end, limits)};
    }

    std::span<const double> norms() const { return {&norm_, 1}; }

    void update_z() {
        std::vector<Value> y;
        for (const Scalar element : small_.solution()) y.push_back(to_value<Value>(element));
        backend_.set_zero(z);
        backend_.add_combination(y, std::span<const Vector>(preconditioned_).first(y.size()), z);
    }

    Vector r;
    Vector z;

private:
    /// A cycle that left more than this of ||r|| has stalled.
    static constexpr double stalled_share = 1 - 0x1p-10;

    static constexpr int most_passes = 3;

    Task<StepEnd> step() {
        make_room();
        Vector& w = basis_[steps_ + 1];
        backend_.precondition(basis_[steps_], preconditioned_[steps_]);
        co_await backend_.multiply(preconditioned_[steps_], w);
        Column column = orthogonalise(w);
        if (!is_finite(column.w_norm) || !is_finite(column.rest)) co_return StepEnd::non_finite;
        if (column.rest > 0) normalise(w, column.rest);
        if (!small_.append(std::move(column.h), column.noise)) co_return StepEnd::breakdown;
        ++steps_;
        norm_ = small_.residual();
        if (steps_ < restart_) co_return StepEnd::full;
        co_return norm_ > mul_rn(stalled_share, first_norm_) ? StepEnd::stalled : StepEnd::cycle;
    }

    /// Vectors are made when they are first needed: many solves end early.
    void make_room() {
        if (basis_.size() < steps_ + 2) basis_.push_back(backend_.vector());
        if (preconditioned_.size() < steps_ + 1) preconditioned_.push_back(backend_.vector());
    }

    /// What w had of the basis.
    struct Column {
        double w_norm;
        double noise;           ///< what rounding errors may leave of w
        double rest;            ///< the norm of what is left; 0 where that is noise: then the space contains the solution
        std::vector<Scalar> h;  ///< the shares of the basis, then the rest
    };

    /// Takes from w what it has of the basis. Its norm comes with the first pass, so that a device need not wait for it before.
    Column orthogonalise(Vector& w) {
        const std::span<const Vector> basis = std::span<const Vector>(basis_).first(steps_ + 1);
        std::vector<Scalar> share(basis.size()), h(basis.size() + 1, Scalar(0));
        std::vector<double> sizes(basis.size());
        double w_norm = 0;
        double after = subtract_projections<B>(backend_, basis, w, share, &w_norm);
        const double noise = mul_rn(orthogonality_.noise(), w_norm);
        double before = w_norm;
        double c = 0;
        for (int pass = 0; pass < most_passes && before > noise; ++pass) {
            if (pass > 0) after = subtract_projections<B>(backend_, basis, w, share, nullptr);
            for (std::size_t i = 0; i < share.size(); ++i) {
                h[i] = add_rn(h[i], share[i]);
                sizes[i] = div_rn(magnitude(share[i]), before);
            }
            c = orthogonality_.of_pass(sizes, div_rn(after, before));
            before = after;
            if (orthogonality_.tolerates(c)) break;
        }
        orthogonality_.add(c);
        const double rest = before <= noise ? 0 : before;
        h.back() = rest;
        return {w_norm, noise, rest, std::move(h)};
    }

    void normalise(Vector& x, double norm) { backend_.scale(to_value<Value>(Scalar(div_rn(1.0, norm))), x); }

    Reason reason_after(StepEnd end, const StepLimits& limits) const {
        if (end == StepEnd::breakdown) return Reason::breakdown;
        if (end == StepEnd::non_finite) return Reason::non_finite;
        if (norm_ <= limits.target) return Reason::claim;
        return end == StepEnd::full ? Reason::none : Reason::cycle;
    }

    B& backend_;
    std::size_t restart_;
    std::size_t steps_ = 0;  ///< of this cycle
    double first_norm_ = 0;
    double norm_ = 0;
    HessenbergLeastSquares<Scalar> small_;
    OrthogonalityBound orthogonality_;
    std::vector<Vector> basis_;           ///< v_0, ..., v_steps
    std::vector<Vector> preconditioned_;  ///< M^-1 v_0, ...
};

}  // namespace solver
