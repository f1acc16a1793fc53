#pragma once

/// BiCGStab's backend on the processor.

#include "cpu/elementwise.hpp"
#include "solver/accuracy.hpp"
#include "solver/numeric/error_free.hpp"
#include "solver/preconditioner.hpp"
#include "solver/reduce.hpp"
#include "solver/spmv.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace solver {

template <class T>
class CpuSolverBackend {
public:
    using Value = T;
    using Vector = std::vector<T>;

    CpuSolverBackend(const SpmvPlan<T>& a, const Preconditioner<T>& m, std::span<const T> b, Accuracy accuracy)
        : a_(a),
          m_(m),
          b_(b),
          accuracy_(accuracy),
          true_accuracy_(accuracy == Accuracy::exact ? accuracy : Accuracy::compensated) {}

    Vector vector() const { return Vector(b_.size()); }
    void load(std::span<const T> source, Vector& out) const { std::copy(source.begin(), source.end(), out.begin()); }
    void store(const Vector& x, std::span<T> target) const { std::copy(x.begin(), x.end(), target.begin()); }
    void copy(const Vector& x, Vector& out) const { out = x; }
    void set_zero(Vector& out) const { std::fill(out.begin(), out.end(), T(0)); }

    void multiply(const Vector& x, Vector& out) const { a_.multiply(T(1), x, T(0), out, accuracy_); }
    void precondition(const Vector& x, Vector& out) const { m_.apply(x, out, accuracy_); }
    void residual(const Vector& x, const Vector& x_low, Vector& out) const { a_.residual(b_, x, x_low, out, true_accuracy_); }
    double right_hand_side_norm() const { return solver::norm2(b_, true_accuracy_, a_.device()); }

    Vector column_norms() const {
        const CsrView<T>& a = a_.matrix();
        Vector norms = vector();
        for (std::int64_t k = 0; k < a.nonzeros(); ++k) norms[a.column_indices[k]] += magnitude(a.values[k]);
        return norms;
    }

    double dot(const Vector& x, const Vector& y) const { return solver::dot(span(x), span(y), accuracy_, a_.device()); }
    double norm2(const Vector& x) const { return solver::norm2(span(x), accuracy_, a_.device()); }
    double true_norm(const Vector& x) const { return solver::norm2(span(x), true_accuracy_, a_.device()); }

    void scale(T alpha, Vector& out) const {
        update(out, [=](T element, std::int64_t) { return mul_rn(alpha, element); });
    }
    void subtract(T alpha, const Vector& x, Vector& out) const {
        const T* xs = x.data();
        update(out, [=](T element, std::int64_t i) { return add_rn(element, -mul_rn(alpha, xs[i])); });
    }
    void multiply_elements(const Vector& x, const Vector& y, Vector& out) const {
        const T* xs = x.data();
        const T* ys = y.data();
        update(out, [=](T, std::int64_t i) { return mul_rn(xs[i], ys[i]); });
    }
    void add(T alpha, const Vector& x, Vector& out) const {
        const T* xs = x.data();
        update(out, [=](T element, std::int64_t i) { return add_rn(element, mul_rn(alpha, xs[i])); });
    }
    void add_both(T alpha, const Vector& x, T omega, const Vector& y, Vector& out) const {
        const T* xs = x.data();
        const T* ys = y.data();
        update(out,
               [=](T element, std::int64_t i) { return add_rn(add_rn(element, mul_rn(alpha, xs[i])), mul_rn(omega, ys[i])); });
    }
    void direction(const Vector& r, T beta, T omega, const Vector& v, Vector& out) const {
        const T* rs = r.data();
        const T* vs = v.data();
        update(out,
               [=](T element, std::int64_t i) { return add_rn(rs[i], mul_rn(beta, add_rn(element, -mul_rn(omega, vs[i])))); });
    }
    void add_to_solution(T alpha, const Vector& z, Vector& x, Vector& x_low) const {
        if (x_low.empty()) return add(alpha, z, x);
        const T* zs = z.data();
        T* lows = x_low.data();
        update(x, [=](T element, std::int64_t i) {
            const Split<T> sum = two_sum(element, mul_rn(alpha, zs[i]));
            const Split<T> pair = fast_two_sum(sum.value, add_rn(sum.error, lows[i]));
            lows[i] = pair.error;
            return pair.value;
        });
    }
    void fill_random(std::uint64_t seed, Vector& out) const {
        update(out, [=](T, std::int64_t i) {
            std::uint64_t bits = (seed << 40) + static_cast<std::uint64_t>(i) + 1;
            bits *= 0x9E3779B97F4A7C15u;
            bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
            bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
            const auto odd = static_cast<std::int32_t>((bits >> 48) | 1) - 65536 / 2;
            return static_cast<T>(odd) / T(32768);
        });
    }

private:
    static std::span<const T> span(const Vector& x) { return x; }

    template <class F>
    void update(Vector& out, const F& f) const {
        cpu::update(std::span<T>(out), a_.device(), f);
    }

    const SpmvPlan<T>& a_;
    const Preconditioner<T>& m_;
    std::span<const T> b_;
    Accuracy accuracy_;
    Accuracy true_accuracy_;
};

}  // namespace solver
