#pragma once

/// The recurrence of restarted GMRES and nothing else: the outer loop is in solve.hpp.

#include "core/krylov/stretch.hpp"
#include "krylov/backend.hpp"
#include "krylov/gram_schmidt.hpp"
#include "krylov/hessenberg.hpp"
#include "krylov/orthogonality.hpp"
#include "krylov/task.hpp"
#include "solver/krylov.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// GMRES(m) preconditioned from the right in its flexible form (Saad, SIAM J. Sci. Comput. 14(2), 1993): M^-1 v_k is kept for
/// every k, so that M may be whatever it likes from step to step; without M it is v_k itself. Steps make ||r|| known, and
/// neither r nor z; z is made where it is asked for, and r, the true residual, by the outer loop after each cycle of m steps.
/// Where the backend starts work without waiting for it, a step is started before the numbers of the one before are looked at:
/// they only tell whether one pass of Gram-Schmidt was enough, which mostly is foreseen.
template <StepBackend B>
class GmresRecurrence {
public:
    using Value = typename B::Value;
    using Vector = typename B::Vector;
    using Scalar = ScalarOf<Value>;

    static constexpr bool has_random_starts = false;
    static constexpr bool has_bounded_residuals = true;
    static constexpr bool keeps_directions = false;

    GmresRecurrence(B& backend, const KrylovOptions& options)
        : r(backend.vector()),
          z(backend.vector()),
          backend_(backend),
          restart_(static_cast<std::size_t>(std::min(options.restart, std::max<std::int64_t>(backend.rows(), 1)))),
          measures_(backend.dot_uncertainty() > 0),
          orthogonality_(unit_roundoff<RealOf<Value>>, backend.dot_uncertainty()),
          passes_{Pass(backend), Pass(backend)} {}

    void start(const Vector*) {}
    void reset_drift(double, double) {}
    void continue_from_replaced(double r_norm) { begin(r_norm, 0); }

    void begin(double r_norm, std::uint64_t) {
        first_norm_ = norm_ = r_norm;
        steps_ = started_ = 0;
        small_.begin(r_norm);
        orthogonality_.begin();
        if (basis_.empty()) basis_.push_back(backend_.vector());
        normalise(backend_, r_norm, r, basis_[0]);
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
        const std::vector<Vector>& directions = backend_.has_preconditioner() ? preconditioned_ : basis_;
        backend_.add_combination(y, std::span<const Vector>(directions).first(y.size()), z);
    }

    Vector r;
    Vector z;

private:
    /// A cycle that left more than this of ||r|| has stalled.
    static constexpr double stalled_share = 1 - 0x1p-10;

    using Pass = typename GramSchmidtPassOf<B>::Type;

    Task<StepEnd> step() {
        if (started_ == steps_) co_await start();
        if (runs_ahead(backend_) && steps_ + 1 < restart_ && orthogonality_.expects_one_pass()) co_await start();
        Column column = orthogonalise();
        if (!is_finite(column.w_norm) || !is_finite(column.rest)) co_return StepEnd::non_finite;
        if (!small_.append(std::move(column.h), column.noise)) co_return StepEnd::breakdown;
        ++steps_;
        norm_ = small_.residual();
        if (steps_ < restart_) co_return StepEnd::full;
        co_return norm_ > mul_rn(stalled_share, first_norm_) ? StepEnd::stalled : StepEnd::cycle;
    }

    /// The first step k that has not been started: w = A M^-1 v_k, what one pass of Gram-Schmidt leaves of it, and v_{k+1} from
    /// that. Returns k.
    Task<std::size_t> start() {
        const std::size_t k = started_++;
        make_room(k);
        co_await backend_.multiply(direction(k), w_[k % 2]);
        passes_[k % 2].start(std::span<const Vector>(basis_).first(k + 1), w_[k % 2], basis_[k + 1]);
        co_return k;
    }

    /// Vectors are made when they are first needed: many solves end early.
    void make_room(std::size_t k) {
        if (w_.size() < std::min(k + 1, passes_.size())) w_.push_back(backend_.vector());
        if (basis_.size() < k + 2) basis_.push_back(backend_.vector());
        if (backend_.has_preconditioner() && preconditioned_.size() < k + 1) preconditioned_.push_back(backend_.vector());
    }

    /// M^-1 v_k
    const Vector& direction(std::size_t k) {
        if (!backend_.has_preconditioner()) return basis_[k];
        backend_.precondition(basis_[k], preconditioned_[k]);
        return preconditioned_[k];
    }

    /// What w had of the basis.
    struct Column {
        double w_norm;
        double noise;           ///< what rounding errors may leave of w
        double rest;            ///< the norm of what is left; 0 where that is noise: then the space contains the solution
        std::vector<Scalar> h;  ///< the shares of the basis, then the rest
    };

    /// Takes from w what the first pass may have left there of the basis.
    Column orthogonalise() {
        const std::span<const Vector> basis = std::span<const Vector>(basis_).first(steps_ + 1);
        Pass& pass = passes_[steps_ % 2];
        std::vector<Scalar> h(basis.size()), left(basis.size());
        auto [w_norm, rest] = pass.take(h);
        const double noise = mul_rn(orthogonality_.noise(), w_norm);
        double c = w_norm > 0 ? orthogonality_.of_pass(sizes(h, w_norm), div_rn(rest, w_norm)) : 0;
        const int most_passes = orthogonality_.can_be_tolerated() ? 3 : 2;
        if (measures_ && most_passes > 2 && rest > noise && !orthogonality_.tolerates(c)) c = measure(basis, rest);
        for (int passes = 1; passes < most_passes && rest > noise && !orthogonality_.tolerates(c); ++passes) {
            pass.start(basis, w_[steps_ % 2], basis_[steps_ + 1]);
            started_ = steps_ + 1;  // what has been started since then has begun at another v
            const auto [before, after] = pass.take(left);
            for (std::size_t i = 0; i < h.size(); ++i) h[i] = add_rn(h[i], left[i]);
            c = orthogonality_.of_pass(sizes(left, before), div_rn(after, before));
            rest = after;
        }
        orthogonality_.add(c);
        if (rest <= noise) rest = 0;
        h.push_back(rest);
        return {w_norm, noise, rest, std::move(h)};
    }

    /// c of what the pass has left of w, which has norm `rest`.
    double measure(std::span<const Vector> basis, double rest) {
        std::vector<Scalar> products(basis.size());
        backend_.dots(basis, w_[steps_ % 2], products);
        return orthogonality_.of_products(sizes(products, 1), rest);
    }

    /// |h_i| / norm
    static std::vector<double> sizes(std::span<const Scalar> h, double norm) {
        std::vector<double> all;
        for (const Scalar share : h) all.push_back(div_rn(magnitude(share), norm));
        return all;
    }

    Reason reason_after(StepEnd end, const StepLimits& limits) const {
        if (end == StepEnd::breakdown) return Reason::breakdown;
        if (end == StepEnd::non_finite) return Reason::non_finite;
        if (norm_ <= limits.target) return Reason::claim;
        return end == StepEnd::full ? Reason::none : Reason::cycle;
    }

    B& backend_;
    std::size_t restart_;
    bool measures_;            ///< before a second pass; not in exact, whose bits are those of versions that made it at once
    std::size_t steps_ = 0;    ///< of this cycle
    std::size_t started_ = 0;  ///< at most one more
    double first_norm_ = 0;
    double norm_ = 0;
    HessenbergLeastSquares<Scalar> small_;
    OrthogonalityBound orthogonality_;
    std::array<Pass, 2> passes_;          ///< of steps with even and with odd numbers, as w
    std::vector<Vector> w_;               ///< what is left of A M^-1 v_k
    std::vector<Vector> basis_;           ///< v_0, ..., v_steps
    std::vector<Vector> preconditioned_;  ///< M^-1 v_0, ...; none without M
};

}  // namespace solver
