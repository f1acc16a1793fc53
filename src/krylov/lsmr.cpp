#include "solver/lsmr.hpp"

#include "core/floating_point_guard.hpp"
#include "core/krylov/updates.hpp"
#include "cpu/elementwise.hpp"
#include "krylov/backend.hpp"
#include "krylov/lsmr_products.hpp"
#include "krylov/lsmr_scalars.hpp"
#include "krylov/lsmr_way.hpp"
#include "krylov/pauses.hpp"
#include "krylov/run.hpp"
#include "solver/error.hpp"
#include "solver/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace solver {
namespace {

/// The iteration within the outer loop: verifies, goes on from the true residual, ends. It works with r and A divided by units,
/// powers of two, so that A'r neither overflows nor underflows.
template <class T, class Products>
class LsmrSolve : private Iterate {
public:
    LsmrSolve(Products products, std::span<const T> b, std::span<T> x, const KrylovOptions& options, const LsmrWay<T>& way = {})
        : products_(std::move(products)),
          way_(way),
          b_(b),
          best_(x),
          options_(options),
          true_accuracy_(options.accuracy == Accuracy::exact ? Accuracy::exact : Accuracy::compensated),
          host_(products_.processor()),
          x_(x.begin(), x.end()),
          u_(b.size()),
          v_(x.size()),
          h_(x.size()),
          h_bar_(x.size()),
          z_(x.size()),
          in_metric_(way.inverse == nullptr ? 0
                     : way.of_rows          ? b.size()
                                            : x.size()) {}

    LeastSquaresResult run() {
        b_norm_ = true_norm(b_);
        if (b_norm_ < smallest_plain<T>) magnify();
        const std::optional<double> norm = products_.norm(true_accuracy_);
        is_norm_known_ = norm.has_value();
        result_.matrix_norm = norm.value_or(0);
        if (way_.unit > 0)
            unit_of_a_ = way_.unit;
        else if (is_norm_known_)
            unit_of_a_ = unit_of<T>(result_.matrix_norm);
        if (b_norm_ == 0) std::fill(x_.begin(), x_.end(), T(0));
        verify();
        keep_as_best();
        // x is looked at itself, since what stands where a column of A is empty is not seen in the residual
        const bool is_x_finite = std::ranges::all_of(x_, [](T element) { return std::isfinite(element); });
        if (!std::isfinite(b_norm_) || !is_finite(norms_) || !std::isfinite(result_.matrix_norm) || !is_x_finite)
            return finish(SolveStatus::non_finite);
        bool wanted = report({0, relative(norms_.residual), relative(norms_.residual), false, 0, this}, options_, result_);
        reference_ = normal_residual(norms_);
        while (true) {
            if (is_good(norms_)) return finish(SolveStatus::converged);
            if (!wanted || result_.iterations >= options_.max_iterations) return finish(SolveStatus::iteration_limit);
            if (fruitless_ > most_fruitless) return finish(SolveStatus::stagnated);
            wanted = iterate();
        }
    }

private:
    static constexpr int most_fruitless = 3;

    struct Norms {
        double residual = 0;  ///< ||r||, in units
        double quotient = 0;  ///< ||A'r|| / (||A|| ||r||), ||A|| being Frobenius's norm, or largest_cosine; 0 where A'r is
    };

    /// Has b, and so residuals, in another unit from now on.
    void magnify() {
        unit_ = 1 / smallest_plain<T>;
        b_norm_ = true_norm(in_units(b_));
    }

    std::vector<T> in_units(std::span<const T> v) const {
        std::vector<T> result(v.begin(), v.end());
        cpu::update(std::span(result), host_,
                    [up = static_cast<T>(unit_)](T element, std::int64_t) { return mul_rn(up, element); });
        return result;
    }

    /// u = b - A x in units. As x is multiplied before the product, no function need be told of them.
    void take_residual() {
        if (unit_ == 1) return products_.residual(b_, x_, u_, true_accuracy_);
        products_.residual(in_units(b_), in_units(x_), u_, Accuracy::exact);
    }

    /// From the true residual of x_ until the next one is computed. Whether to go on.
    bool iterate() {
        begin();
        bool wanted = true;
        while (true) {
            step();
            const Norms now = updated_norms();
            const bool last = !is_usable(now) || claims_much(now) || result_.iterations + 1 == options_.max_iterations;
            Iteration record{++result_.iterations, relative(now.residual), -1, last, 0, this};
            if (last) record.true_residual = relative(take_step());
            wanted = report(record, options_, result_) && wanted;
            if (!last && wanted) continue;
            if (!last) take_step();
            return wanted;
        }
    }

    /// beta u = r, alpha v = A'u, from the u that verify() left.
    void begin() {
        if (!is_norm_known_) unit_of_a_ = unit_of<T>(result_.matrix_norm);  // ||A'r|| / ||r|| may be far below it at first
        const double beta = normalise_left();
        products_.multiply_transposed(inverse(unit_of_a_), left(), 0, v_, options_.accuracy);
        scalars_.begin(beta, normalise_right());
        raise_norm(unit_of_a_ * scalars_.alpha());
        h_.assign(right().begin(), right().end());
        std::fill(h_bar_.begin(), h_bar_.end(), T(0));
        std::fill(z_.begin(), z_.end(), T(0));
        has_step_ = true;
    }

    void step() {
        const double old_alpha = scalars_.alpha();
        products_.multiply(inverse(unit_of_a_), right(), static_cast<T>(-old_alpha), u_, options_.accuracy);
        const double beta = normalise_left();
        products_.multiply_transposed(inverse(unit_of_a_), left(), static_cast<T>(-beta), v_, options_.accuracy);
        scalars_.step(beta, normalise_right());
        raise_norm(unit_of_a_ * length(old_alpha, beta));
        raise_norm(unit_of_a_ * length(beta, scalars_.alpha()));
        const T of_h_bar = static_cast<T>(scalars_.of_h_bar()), of_x = static_cast<T>(scalars_.of_x()),
                of_h = static_cast<T>(scalars_.of_h());
        T *const h = h_.data(), *const h_bar = h_bar_.data();
        const T* const v = right().data();
        cpu::update(std::span(z_), host_, [=](T z, std::int64_t i) {
            h_bar[i] = subtracted(h[i], of_h_bar, h_bar[i]);
            h[i] = subtracted(v[i], of_h, h[i]);
            return added(z, of_x, h_bar[i]);
        });
    }

    /// ||A v||, in units, of the unit vector v whose product is x times one unit vector and y times another at a right angle.
    static double length(double x, double y) {
        double length = sqrt_rn(add_rn(mul_rn(x, x), mul_rn(y, y)));
        if (!std::isfinite(length)) Rotation::of(x, y, length);  // squares leave the range where the unit is far below ||A||
        return length;
    }

    /// To ||A v|| or ||A'u|| of a unit vector, where the norm of A is not known. Frobenius's norm of the bidiagonal matrix
    /// would be larger, but grows beyond A's as rounding lets vectors come again. What was divided by the norm before is from
    /// then on by the new one.
    void raise_norm(double norm) {
        if (is_norm_known_ || !(norm > result_.matrix_norm) || !std::isfinite(norm)) return;
        const double old_by_new = result_.matrix_norm / norm;
        for (double* const quotient : {&norms_.quotient, &best_norms_.quotient, &reference_}) *quotient *= old_by_new;
        result_.matrix_norm = norm;
    }

    bool has_metric_of_rows() const { return way_.inverse != nullptr && way_.of_rows; }
    bool has_metric_of_columns() const { return way_.inverse != nullptr && !way_.of_rows; }

    /// What A' is multiplied by, and A: u and v, or in a metric what `inverse` makes of them.
    std::span<const T> left() const { return has_metric_of_rows() ? in_metric_ : u_; }
    std::span<const T> right() const { return has_metric_of_columns() ? in_metric_ : v_; }

    double normalise_left() { return has_metric_of_rows() ? normalise_in_metric(u_) : normalise(u_); }
    double normalise_right() { return has_metric_of_columns() ? normalise_in_metric(v_) : normalise(v_); }

    /// Divides x by its norm, unless that is zero. Returns it.
    double normalise(std::vector<T>& x) const {
        const double norm = norm2(std::span<const T>(x), options_.accuracy, host_);
        divide(x, norm);
        return norm;
    }

    /// in_metric_ = M^-1 x, both divided by sqrt(x' M^-1 x). Returns that, and 0 where M^-1 is not definite: what is left then
    /// is left to the next start.
    double normalise_in_metric(std::vector<T>& x) {
        way_.inverse->apply(x, in_metric_, options_.accuracy);
        const double square = dot(std::span<const T>(x), std::span<const T>(in_metric_), options_.accuracy, host_);
        if (!(square > 0) || !std::isfinite(square)) return 0;
        const double norm = sqrt_rn(square);
        divide(x, norm);
        divide(in_metric_, norm);
        return norm;
    }

    void divide(std::vector<T>& x, double norm) const {
        if (!(norm > 0)) return;
        const T scale = static_cast<T>(div_rn(1.0, norm));
        cpu::update(std::span(x), host_, [=](T element, std::int64_t) { return mul_rn(scale, element); });
    }

    /// Adds z to x, in its units; the residuals of that, and whether it was worth it. Returns ||r||.
    double take_step() {
        const std::vector<T> before = x_;
        add_step(x_);
        has_step_ = false;
        verify();
        const double residual = norms_.residual;
        const double normal = normal_residual(norms_);
        fruitless_ = normal <= reference_ / 2 ? 0 : fruitless_ + 1;
        if (normal <= reference_ / 2) reference_ = normal;
        ++result_.restarts;
        if (normal < normal_residual(best_norms_) || is_good(norms_)) {
            keep_as_best();
        } else {
            x_.assign(best_.begin(), best_.end());
            verify();
        }
        return residual;
    }

    void add_step(std::vector<T>& x) const {
        const T scale = static_cast<T>(unit_of_r_ / unit_of_a_ / unit_);
        const T* const z = z_.data();
        cpu::update(std::span(x), host_, [=](T element, std::int64_t i) { return added(element, scale, z[i]); });
    }

    /// u = r = b - A x and v = A'r anew, in their units.
    void verify() {
        take_residual();
        unit_of_r_ = unit_of<T>(true_norm(u_));
        cpu::update(std::span(u_), host_, [down = inverse(unit_of_r_)](T r, std::int64_t) { return mul_rn(down, r); });
        products_.multiply_transposed(inverse(unit_of_a_), u_, 0, v_, true_accuracy_);
        const double residual = true_norm(u_), normal = true_norm(v_);
        raise_norm(unit_of_a_ * (normal / residual));
        norms_ = norms_of(residual, normal);
        if (way_.column_norms.empty() || !is_finite(norms_) || residual == 0) return;
        const double cosine = largest_cosine(residual);
        cosine_by_quotient_ = norms_.quotient > 0 ? cosine / norms_.quotient : 1;
        norms_.quotient = cosine;
    }

    /// max |a_j'r| / (||a_j|| ||r||) from v = A'r, in units. What v lost below the normal numbers counts as left.
    double largest_cosine(double residual) const {
        double largest = 0;
        for (std::size_t j = 0; j < v_.size(); ++j)
            if (const double norm = way_.column_norms[j]; norm > 0) {
                const double v = std::abs(static_cast<double>(v_[j]));
                const bool may_have_lost = v < static_cast<double>(std::numeric_limits<T>::min());
                const double at_most = add_rn(v, may_have_lost ? static_cast<double>(smallest_subnormal<T>) : 0);
                largest = std::max(largest, std::min(1.0, div_rn(div_rn(at_most, norm), residual)));
            }
        return largest;
    }

    void keep_as_best() {
        std::copy(x_.begin(), x_.end(), best_.begin());
        best_norms_ = norms_;
    }

    /// By what finish() tells, too, so that no claim is finer than its number.
    bool is_good(const Norms& norms) const {
        return relative(norms.residual) <= options_.tolerance || norms.residual <= options_.absolute_tolerance * unit_ ||
               norms.quotient <= options_.tolerance;
    }
    /// What is asked for, or so much that rounding cannot let it be true: the iteration would only lose its way.
    bool claims_much(const Norms& norms) const {
        constexpr double least = 8 * unit_roundoff<T>;
        return is_good(norms) || relative(norms.residual) <= least || norms.quotient <= least;
    }
    static bool is_finite(const Norms& norms) { return std::isfinite(norms.residual) && std::isfinite(norms.quotient); }
    static bool is_usable(const Norms& norms) { return is_finite(norms) && norms.quotient > 0; }
    double relative(double norm) const { return norm == 0 ? 0 : norm / b_norm_; }
    /// ||A'r|| / (||A|| ||b||)
    double normal_residual(const Norms& norms) const { return norms.quotient * relative(norms.residual); }
    /// Of ||r|| and ||A'r|| in the units.
    Norms norms_of(double residual, double normal) const {
        if (!std::isfinite(residual) || !std::isfinite(result_.matrix_norm))
            return {unit_of_r_ * residual, std::numeric_limits<double>::quiet_NaN()};
        const double quotient = normal == 0 ? 0 : normal / residual / (result_.matrix_norm / unit_of_a_);
        return {unit_of_r_ * residual, quotient};
    }
    /// As the iteration has updated them; the cosine as if A'r had kept its direction. In a metric they are bounds: with A and
    /// M for A and M by the unit,
    /// ||A'r||^2 <= ||M|| (A'r)' M^-1 A'r where M = A'A + D, and ||M|| is hardly more than ||A||_F^2; of rows the same of r.
    Norms updated_norms() const {
        const double residual = scalars_.residual(), normal = scalars_.normal_residual();
        if (way_.inverse == nullptr) {
            Norms norms = norms_of(residual, normal);
            norms.quotient *= cosine_by_quotient_;
            return norms;
        }
        const double size = has_metric_of_rows() ? result_.matrix_norm / unit_of_a_ : 1;
        double quotient = normal == 0 ? 0 : normal / residual;
        if (!way_.column_norms.empty() && fruitless_ > 0) quotient *= std::max(1.0, cosine_by_quotient_);  // it was no bound
        return {unit_of_r_ * (residual * size), quotient};
    }
    static T inverse(double unit) { return static_cast<T>(1 / unit); }
    double true_norm(std::span<const T> x) const { return norm2(x, true_accuracy_, host_); }

    void copy_to(std::span<double> to) const override {
        std::vector<T> now = x_;
        if (has_step_) add_step(now);
        write_sum<T>(now, {}, to);
    }

    LeastSquaresResult finish(SolveStatus status) {
        result_.status = status;
        result_.restarts = std::max<std::int64_t>(result_.restarts - 1, 0);
        result_.relative_residual = relative(best_norms_.residual);
        result_.normal_residual = best_norms_.quotient;
        return result_;
    }

    Products products_;
    LsmrWay<T> way_;
    std::span<const T> b_;
    std::span<T> best_;
    const KrylovOptions& options_;
    Accuracy true_accuracy_;
    Device host_;
    std::vector<T> x_, u_, v_, h_, h_bar_, z_, in_metric_;
    LsmrScalars scalars_;
    LeastSquaresResult result_;
    Norms norms_, best_norms_;
    double b_norm_ = 0;
    double reference_ = 0;  ///< normal_residual when it last halved
    double unit_ = 1;       ///< of residuals: a power of two, by which they and their norms are multiplied
    double unit_of_a_ = 1, unit_of_r_ = 1;
    double cosine_by_quotient_ = 1;  ///< when r was last computed, of ||A'r|| / (||A|| ||r||)
    bool is_norm_known_ = false;
    int fruitless_ = 0;
    bool has_step_ = false;  ///< z_ is to be added yet
};

}  // namespace

template <class T>
void check_transpose(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed) {
    if (transposed.rows() != a.columns() || transposed.columns() != a.rows())
        throw DimensionMismatch(fmt::format("lsmr: A is {} x {} and its transpose {} x {}; expected {} x {}", a.rows(),
                                            a.columns(), transposed.rows(), transposed.columns(), a.columns(), a.rows()));
}

namespace {

/// Throws where b or x is not as long as A wants it, or they overlap.
template <class T, class Matrix>
void check_vectors(const Matrix& a, std::span<const T> b, std::span<const T> x) {
    const auto check = [&](const char* name, std::size_t length, std::int64_t expected) {
        if (static_cast<std::int64_t>(length) != expected)
            throw DimensionMismatch(fmt::format("lsmr: {} has {} elements, A is {} x {}; {} needs {}", name, length, a.rows(),
                                                a.columns(), name, expected));
    };
    check("b", b.size(), a.rows());
    check("x", x.size(), a.columns());
    check_apart<T>("lsmr", b, x, {});
}

}  // namespace

template <class T>
LeastSquaresResult lsmr_in(const LsmrWay<T>& way, const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, std::span<const T> b,
                           std::span<T> x, const KrylovOptions& options) {
    check_transpose(a, transposed);
    check_vectors<T>(a, b, x);
    check_options("lsmr", options);
    const cpu::FloatingPointGuard guard;
    return LsmrSolve(PlanProducts<T>(a, transposed), b, x, options, way).run();
}

template <class T>
LeastSquaresResult lsmr(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, std::span<const T> b, std::span<T> x,
                        const KrylovOptions& options) {
    return lsmr_in<T>({}, a, transposed, b, x, options);
}

template <class T>
LeastSquaresResult lsmr(const OperatorWithTranspose<T>& a, std::span<const T> b, std::span<T> x, const KrylovOptions& options,
                        const Device& processor) {
    if (processor.kind() != Device::Kind::cpu)
        throw InvalidArgument(fmt::format("lsmr: an operator is applied on the processor, not on {}; expected Device::cpu()",
                                          to_string(processor)));
    check_vectors<T>(a, b, x);
    check_options("lsmr", options);
    const cpu::FloatingPointGuard guard;
    return LsmrSolve(FunctionProducts<T>(a, processor), b, x, options).run();
}

template LeastSquaresResult lsmr(const SpmvPlan<float>&, const SpmvPlan<float>&, std::span<const float>, std::span<float>,
                                 const KrylovOptions&);
template LeastSquaresResult lsmr(const SpmvPlan<double>&, const SpmvPlan<double>&, std::span<const double>, std::span<double>,
                                 const KrylovOptions&);
template void check_transpose(const SpmvPlan<float>&, const SpmvPlan<float>&);
template void check_transpose(const SpmvPlan<double>&, const SpmvPlan<double>&);
template LeastSquaresResult lsmr_in(const LsmrWay<float>&, const SpmvPlan<float>&, const SpmvPlan<float>&,
                                    std::span<const float>, std::span<float>, const KrylovOptions&);
template LeastSquaresResult lsmr_in(const LsmrWay<double>&, const SpmvPlan<double>&, const SpmvPlan<double>&,
                                    std::span<const double>, std::span<double>, const KrylovOptions&);
template LeastSquaresResult lsmr(const OperatorWithTranspose<float>&, std::span<const float>, std::span<float>,
                                 const KrylovOptions&, const Device&);
template LeastSquaresResult lsmr(const OperatorWithTranspose<double>&, std::span<const double>, std::span<double>,
                                 const KrylovOptions&, const Device&);

}  // namespace solver
