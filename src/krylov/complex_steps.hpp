#pragma once

/// Steps with complex scalars on vectors whose elements are real and imaginary parts in turn.

#include "core/krylov/complex_scalar.hpp"
#include "krylov/backend.hpp"
#include "solver/krylov.hpp"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace solver {

/// A StepBackend of complex numbers, by the operations of a real one. out + a x is (out + Re a x) + Im a (i x), and without the
/// second addition where Im a is 0, so that real numbers have the bits that they have in real steps.
template <StepBackend B>
class ComplexSteps {
public:
    using Part = typename B::Value;
    using Value = std::complex<Part>;
    using Vector = typename B::Vector;
    using Scalar = std::complex<double>;

    explicit ComplexSteps(B& parts) : parts_(parts), turned_(parts.vector()) {}

    std::int64_t rows() const { return parts_.rows() / 2; }
    Vector vector() const { return parts_.vector(); }
    void copy(const Vector& x, Vector& out) const { parts_.copy(x, out); }
    void set_zero(Vector& out) const { parts_.set_zero(out); }
    auto multiply(const Vector& x, Vector& out) const { return parts_.multiply(x, out); }
    auto multiply_accurately(const Vector& x, Vector& out) const { return parts_.multiply_accurately(x, out); }
    void precondition(const Vector& x, Vector& out) const { parts_.precondition(x, out); }
    bool has_preconditioner() const { return parts_.has_preconditioner(); }
    void fill_random(std::uint64_t seed, Vector& out) const { parts_.fill_random(seed, out); }
    double norm2(const Vector& x) const { return parts_.norm2(x); }
    double dot_uncertainty() const { return parts_.dot_uncertainty(); }

    /// x^H y: the real part is the dot product of all parts, the imaginary one minus that with i y.
    Scalar dot(const Vector& x, const Vector& y) {
        parts_.turn(y, turned_);
        const double re = parts_.dot(x, y);
        return {re, -parts_.dot(x, turned_)};
    }
    void dots(std::span<const Vector> xs, const Vector& y, std::span<Scalar> to) {
        std::vector<double> re(xs.size()), im(xs.size());
        parts_.turn(y, turned_);
        parts_.dots(xs, y, re);
        parts_.dots(xs, turned_, im);
        for (std::size_t k = 0; k < to.size(); ++k) to[k] = {re[k], -im[k]};
    }

    void conjugate(const Vector& x, Vector& out) const { parts_.conjugate(x, out); }

    /// The parts of x times those of y, one by one: for weights.
    void multiply_elements(const Vector& x, const Vector& y, Vector& out) const { parts_.multiply_elements(x, y, out); }

    void scale(Value a, Vector& out) {
        if (a.imag() != Part(0)) parts_.turn(out, turned_);
        parts_.scale(a.real(), out);
        if (a.imag() != Part(0)) parts_.add(a.imag(), turned_, out);
    }
    void scaled(Value a, const Vector& x, Vector& out) {
        parts_.scaled(a.real(), x, out);
        add_turned(a.imag(), x, out);
    }
    void add(Value a, const Vector& x, Vector& out) {
        parts_.add(a.real(), x, out);
        add_turned(a.imag(), x, out);
    }
    void subtract(Value a, const Vector& x, Vector& out) { add(-a, x, out); }
    void add_both(Value a, const Vector& x, Value b, const Vector& y, Vector& out) {
        add(a, x, out);
        add(b, y, out);
    }
    void add_combination(std::span<const Value> as, std::span<const Vector> xs, Vector& out) {
        if constexpr (requires { parts_.add_complex_combination(as, xs, out); })
            parts_.add_complex_combination(as, xs, out);  // by one launch
        else
            for (std::size_t k = 0; k < as.size(); ++k) add(as[k], xs[k], out);
    }
    void scale_and_add(Value a, const Vector& x, Vector& out) {
        if (a.imag() != Part(0)) parts_.turn(out, turned_);
        parts_.scale_and_add(a.real(), x, out);
        if (a.imag() != Part(0)) parts_.add(a.imag(), turned_, out);
    }
    void direction(const Vector& x, Value a, Value b, const Vector& y, Vector& out) {
        subtract(b, y, out);
        scale_and_add(a, x, out);
    }

private:
    void add_turned(Part a, const Vector& x, Vector& out) {
        if (a == Part(0)) return;
        parts_.turn(x, turned_);
        parts_.add(a, turned_, out);
    }

    B& parts_;
    Vector turned_;
};

/// Base classes are made in order: first what R refers to.
template <class B>
struct HasComplexSteps {
    ComplexSteps<B> steps;
};

/// A recurrence on complex steps, as one on their parts: for the outer loop nothing changes.
template <class B, template <class> class R>
class OnComplexSteps : private HasComplexSteps<B>, public R<ComplexSteps<B>> {
    using Recurrence = R<ComplexSteps<B>>;
    static constexpr bool takes_options = std::is_constructible_v<Recurrence, ComplexSteps<B>&, const KrylovOptions&>;

public:
    explicit OnComplexSteps(B& parts) requires(!takes_options)
        : HasComplexSteps<B>{ComplexSteps<B>(parts)}, Recurrence(this->steps) {}
    OnComplexSteps(B& parts, const KrylovOptions& options) requires takes_options : HasComplexSteps<B>{ComplexSteps<B>(parts)},
                                                                                    Recurrence(this->steps, options) {}
};

}  // namespace solver
