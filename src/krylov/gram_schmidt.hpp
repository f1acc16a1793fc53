#pragma once

/// A pass of classical Gram-Schmidt, on every backend.

#include "krylov/backend.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

namespace solver {

/// out = (1 / norm) x
template <StepBackend B>
void normalise(B& backend, double norm, const typename B::Vector& x, typename B::Vector& out) {
    backend.scaled(to_value<typename B::Value>(ScalarOf<typename B::Value>(div_rn(1.0, norm))), x, out);
}

/// One pass, at once.
template <StepBackend B>
class ImmediateGramSchmidtPass {
public:
    using Vector = typename B::Vector;
    using Scalar = ScalarOf<typename B::Value>;

    explicit ImmediateGramSchmidtPass(B& backend) : backend_(backend) {}

    /// h_k = (x_k, w), w = ((w - h_0 x_0) - h_1 x_1) - ..., and v = (1 / ||w||) w.
    void start(std::span<const Vector> xs, Vector& w, Vector& v) {
        h_.resize(xs.size());
        norms_.before = backend_.norm2(w);
        backend_.dots(xs, w, h_);
        std::vector<typename B::Value> negative;
        for (const Scalar& share : h_) negative.push_back(to_value<typename B::Value>(-share));
        backend_.add_combination(negative, xs, w);
        norms_.after = backend_.norm2(w);
        normalise(backend_, norms_.after, w, v);
    }

    /// ||w|| before and after the pass that was started last, and the h_k to h.
    auto take(std::span<Scalar> h) const {
        std::ranges::copy(h_, h.begin());
        return norms_;
    }

private:
    struct Norms {
        double before = 0;
        double after = 0;
    };

    B& backend_;
    std::vector<Scalar> h_;
    Norms norms_;
};

/// That of a backend which has one of its own: such a one starts, and is waited for where its numbers are taken.
template <class B>
struct GramSchmidtPassOf {
    using Type = ImmediateGramSchmidtPass<B>;
};
template <class B>
requires requires { typename B::GramSchmidtPass; }
struct GramSchmidtPassOf<B> {
    using Type = typename B::GramSchmidtPass;
};

/// Whether work on the next step may be started before the numbers of a pass are known: where nothing that is started waits.
template <StepBackend B>
bool runs_ahead(const B& backend) {
    if constexpr (requires { backend.launches_all(); })
        return backend.launches_all();
    else
        return false;
}

}  // namespace solver
