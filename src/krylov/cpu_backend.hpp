#pragma once

/// The backend of the Krylov methods on the processor.

#include "core/huge_pages.hpp"
#include "core/krylov/updates.hpp"
#include "cpu/elementwise.hpp"
#include "cpu/vectors.hpp"
#include "krylov/backend.hpp"
#include "krylov/matrix_products.hpp"
#include "krylov/shared_products.hpp"
#include "krylov/task.hpp"
#include "solver/accuracy.hpp"
#include "solver/numeric/error_free.hpp"
#include "solver/preconditioner.hpp"
#include "solver/reduce.hpp"
#include "solver/spmv.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace solver {

/// Vectors and the operations on them that do not ask how x is held.
template <class T>
class CpuVectors {
public:
    using Value = T;
    using Vector = std::vector<T>;

    CpuVectors(SharedProducts<T>& products, const Preconditioner<T>& m, Accuracy accuracy)
        : accuracy_(accuracy), products_(products), m_(m) {}

    std::int64_t rows() const { return products_.rows(); }
    Vector vector() const { return zeros<T>(rows(), device().threads()); }
    void copy(const Vector& x, Vector& out) const { copy_elements<T>(x, out); }
    void set_zero(Vector& out) const {
        update(out, [](T, std::int64_t) { return T(0); });
    }

    Pause multiply(const Vector& x, Vector& out) const {
        products_.add({.x = x, .y = out}, accuracy_);
        return {};
    }
    Pause multiply_accurately(const Vector& x, Vector& out) const {
        products_.add({.x = x, .y = out}, accuracy_ == Accuracy::exact ? accuracy_ : Accuracy::compensated);
        return {};
    }
    void precondition(const Vector& x, Vector& out) const { m_.apply(x, out, accuracy_); }
    bool has_preconditioner() const { return !m_.is_identity(); }

    const Vector& column_norms() const { return products_.column_norms(); }

    double dot(const Vector& x, const Vector& y) const { return solver::dot(span(x), span(y), accuracy_, device()); }
    double norm2(const Vector& x) const { return solver::norm2(span(x), accuracy_, device()); }

    void dots(std::span<const Vector> xs, const Vector& y, std::span<double> to) const {
        std::ranges::transform(xs, to.begin(), [&](const Vector& x) { return dot(x, y); });
    }
    double dot_uncertainty() const { return solver::dot_uncertainty<T>(accuracy_, rows()); }

    void scale(T alpha, Vector& out) const { cpu::scale(alpha, std::span(out), device()); }
    void scaled(T alpha, const Vector& x, Vector& out) const {
        const T* xs = x.data();
        update(out, [=](T, std::int64_t i) { return mul_rn(alpha, xs[i]); });
    }
    /// By blocks of elements, which stay in the cache.
    void add_combination(std::span<const T> alphas, std::span<const Vector> xs, Vector& out) const {
        constexpr std::int64_t block = 1024;
        cpu::for_each_range(std::ssize(out), device(), [=, to = out.data()](std::int64_t begin, std::int64_t end) {
            for (std::int64_t first = begin; first < end; first += block)
                for (std::size_t k = 0; k < xs.size(); ++k) {
                    const T* x = xs[k].data();
                    for (std::int64_t i = first; i < std::min(end, first + block); ++i) to[i] = added(to[i], alphas[k], x[i]);
                }
        });
    }
    void subtract(T alpha, const Vector& x, Vector& out) const {
        const T* xs = x.data();
        update(out, [=](T element, std::int64_t i) { return subtracted(element, alpha, xs[i]); });
    }
    void multiply_elements(const Vector& x, const Vector& y, Vector& out) const {
        const T* xs = x.data();
        const T* ys = y.data();
        update(out, [=](T, std::int64_t i) { return mul_rn(xs[i], ys[i]); });
    }
    void add(T alpha, const Vector& x, Vector& out) const { cpu::add_scaled(alpha, span(x), std::span(out), device()); }
    void scale_and_add(T alpha, const Vector& x, Vector& out) const {
        cpu::scale_and_add(alpha, span(x), std::span(out), device());
    }
    void add_both(T alpha, const Vector& x, T omega, const Vector& y, Vector& out) const {
        const T* xs = x.data();
        const T* ys = y.data();
        update(out, [=](T element, std::int64_t i) { return added_both(element, alpha, xs[i], omega, ys[i]); });
    }
    void direction(const Vector& r, T beta, T omega, const Vector& v, Vector& out) const {
        const T* rs = r.data();
        const T* vs = v.data();
        update(out, [=](T element, std::int64_t i) { return solver::direction(rs[i], beta, element, omega, vs[i]); });
    }
    /// out = i x of complex numbers, whose parts take turns
    void turn(const Vector& x, Vector& out) const {
        const T* xs = x.data();
        update(out, [=](T, std::int64_t i) { return turned(xs, i); });
    }
    /// The conjugates of complex numbers, whose parts take turns
    void conjugate(const Vector& x, Vector& out) const {
        const T* xs = x.data();
        update(out, [=](T, std::int64_t i) { return conjugated(xs, i); });
    }
    void fill_random(std::uint64_t seed, Vector& out) const {
        update(out, [=](T, std::int64_t i) { return random_element<T>(seed, i); });
    }

protected:
    template <class U>
    static std::span<const U> span(const std::vector<U>& x) {
        return x;
    }

    const Device& device() const { return products_.device(); }

    template <class U, class F>
    void update(std::vector<U>& out, const F& f) const {
        cpu::update(std::span<U>(out), device(), f);
    }
    template <class U>
    void copy_elements(std::span<const U> x, std::span<U> out) const {
        cpu::update(out, device(), [=](U, std::int64_t i) { return x[i]; });
    }

    Accuracy accuracy_;
    SharedProducts<T>& products_;

private:
    const Preconditioner<T>& m_;
};

/// x as one vector, or, as_pair, as the unevaluated sum of two.
template <class T>
class CpuSolverBackend : public CpuVectors<T> {
    using Base = CpuVectors<T>;

public:
    using Vector = typename Base::Vector;
    using Wide = T;
    struct Solution {
        Vector x;
        Vector low;  ///< empty where there is none
    };
    using Residual = Vector;

    CpuSolverBackend(SharedProducts<T>& products, const Preconditioner<T>& m, std::span<const T> b, bool as_pair,
                     Accuracy accuracy)
        : Base(products, m, accuracy), b_(b), as_pair_(as_pair) {}

    using Base::copy;
    using Base::set_zero;

    Solution solution() const { return {this->vector(), as_pair_ ? this->vector() : Vector()}; }
    Residual residual_vector() const { return this->vector(); }
    void load(std::span<const T> source, Solution& x) const { this->template copy_elements<T>(source, x.x); }
    void store(const Solution& x, std::span<T> to, std::span<T> low) const {
        this->template copy_elements<T>(x.x, to);
        this->template copy_elements<T>(x.low, low);
    }
    void read(const Solution& x, std::span<double> to) const { write_sum<T>(x.x, x.low, to); }
    void copy(const Solution& x, Solution& out) const {
        copy(x.x, out.x);
        copy(x.low, out.low);
    }
    void set_zero(Solution& x) const {
        set_zero(x.x);
        set_zero(x.low);
    }

    Pause residual(double scale, const Solution& x, Residual& out) const {
        const T factor = static_cast<T>(scale);
        this->products_.add({.alpha = -factor, .x = x.x, .x_low = x.low, .beta = factor, .y_in = b_, .y = out},
                            Accuracy::exact);
        return {};
    }
    void take(double scale, const Residual& residual, Vector& out) const {
        const T* rs = residual.data();
        const T factor = static_cast<T>(scale);
        this->update(out, [=](T, std::int64_t i) { return mul_rn(factor, rs[i]); });
    }
    double right_hand_side_norm() const { return solver::norm2(b_, Accuracy::exact, this->device()); }
    double true_norm(const Residual& x) const { return solver::norm2(this->span(x), Accuracy::exact, this->device()); }
    bool is_finite(const Solution& x) const {
        return std::isfinite(this->norm2(x.x)) && (x.low.empty() || std::isfinite(this->norm2(x.low)));
    }
    double rounding_terms(const Vector& weights, const Solution& x) const {
        if (as_pair_) return 0;
        Vector terms = this->vector();
        this->multiply_elements(weights, x.x, terms);
        return this->norm2(terms);
    }

    void add_to_solution(double scale, const Vector& z, Solution& x) const {
        const T alpha = static_cast<T>(scale);
        if (!as_pair_) return this->add(alpha, z, x.x);
        const T* zs = z.data();
        T* lows = x.low.data();
        this->update(x.x, [=](T element, std::int64_t i) {
            const Split<T> pair = added_to_pair(element, lows[i], mul_rn(alpha, zs[i]));
            lows[i] = pair.error;
            return pair.value;
        });
    }

private:
    std::span<const T> b_;
    bool as_pair_;
};

/// The recurrence in float, with the matrix rounded to float; x, b and b - A x in double, with A itself.
class CpuMixedBackend : public CpuVectors<float> {
public:
    using Wide = double;
    using Solution = std::vector<double>;
    using Residual = std::vector<double>;

    CpuMixedBackend(SharedProducts<double>& products, SharedProducts<float>& products_in_float, const Preconditioner<float>& m,
                    std::span<const double> b, Accuracy accuracy)
        : CpuVectors<float>(products_in_float, m, accuracy), residuals_(products), b_(b) {}

    using CpuVectors<float>::copy;
    using CpuVectors<float>::set_zero;

    Solution solution() const { return zeros<double>(std::ssize(b_), this->device().threads()); }
    Residual residual_vector() const { return solution(); }
    void load(std::span<const double> source, Solution& x) const { copy_elements<double>(source, x); }
    void store(const Solution& x, std::span<double> to, std::span<double> low) const {
        copy_elements<double>(x, to);
        std::fill(low.begin(), low.end(), 0.0);  // x is a double: there is no more of it
    }
    void read(const Solution& x, std::span<double> to) const { write_sum<double>(x, {}, to); }
    void copy(const Solution& x, Solution& out) const { copy_elements<double>(x, out); }
    void set_zero(Solution& x) const {
        update(x, [](double, std::int64_t) { return 0.0; });
    }

    Pause residual(double scale, const Solution& x, Residual& out) const {
        residuals_.add({.alpha = -scale, .x = x, .beta = scale, .y_in = b_, .y = out}, Accuracy::exact);
        return {};
    }
    void take(double scale, const Residual& residual, Vector& out) const {
        const double* rs = residual.data();
        update(out, [=](float, std::int64_t i) { return static_cast<float>(mul_rn(scale, rs[i])); });
    }
    double right_hand_side_norm() const { return solver::norm2(b_, Accuracy::exact, device()); }
    double true_norm(const Residual& x) const { return solver::norm2(span(x), Accuracy::exact, device()); }
    bool is_finite(const Solution& x) const { return std::isfinite(solver::norm2(span(x), Accuracy::exact, device())); }
    double rounding_terms(const Vector&, const Solution&) const { return 0; }

    void add_to_solution(double scale, const Vector& z, Solution& x) const {
        const float* zs = z.data();
        update(x, [=](double element, std::int64_t i) { return added(element, scale, static_cast<double>(zs[i])); });
    }

private:
    SharedProducts<double>& residuals_;
    std::span<const double> b_;
};

/// What the solves with one matrix share, with whatever preconditioner: the iteration runs in Value, x and b - A x are in Wide.
template <class Value, class Wide>
class CpuSystem {
public:
    using Backend = CpuMixedBackend;

    /// `a` is A in Wide, `in_value` in Value. Both must outlive the system.
    CpuSystem(const SpmvPlan<Wide>& a, const SpmvPlan<Value>& in_value) : residuals_(a), products_(in_value) {}

    Backend backend(const Preconditioner<Value>& m, std::span<const Wide> b, bool, Accuracy accuracy) {
        return {residuals_, products_, m, b, accuracy};
    }
    void make_products() {
        residuals_.run();
        products_.run();
    }
    void drop_products() {
        residuals_.drop();
        products_.drop();
    }

private:
    MatrixProducts<Wide> residuals_;
    MatrixProducts<Value> products_;
};
template <class T>
class CpuSystem<T, T> {
public:
    using Backend = CpuSolverBackend<T>;

    CpuSystem(const SpmvPlan<T>& a, const SpmvPlan<T>&) : products_(a) {}

    Backend backend(const Preconditioner<T>& m, std::span<const T> b, bool as_pair, Accuracy accuracy) {
        return {products_, m, b, as_pair, accuracy};
    }
    void make_products() { products_.run(); }
    void drop_products() { products_.drop(); }

private:
    MatrixProducts<T> products_;
};

}  // namespace solver
