#pragma once

/// LSMR, wherever its vectors lie.

#include "krylov/backend.hpp"
#include "krylov/lsmr_scalars.hpp"
#include "krylov/lsmr_way.hpp"
#include "krylov/pauses.hpp"
#include "krylov/run.hpp"
#include "solver/device.hpp"
#include "solver/lsmr.hpp"
#include "solver/preconditioner.hpp"
#include "solver/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace solver {

/// Where LSMR runs: products with A and its transpose, and vectors, as many as there are rows or columns, that lie there.
/// Updates round as core/krylov/updates.hpp says, so that all backends give the same bits.
template <class B>
concept LsmrBackend = requires(B& backend, typename B::Value a, typename B::Vector& out, const typename B::Vector& x,
                               const Preconditioner<typename B::Value>& inverse, Accuracy accuracy, std::size_t size,
                               std::span<const typename B::Value> source, std::span<typename B::Value> target) {
    { backend.vector(size) } -> std::same_as<typename B::Vector>;  // of zeros
    backend.load(source, out);
    backend.store(x, target);
    { backend.on_host(x) } -> std::convertible_to<std::span<const typename B::Value>>;  // until the next call
    backend.copy(x, out);
    backend.set_zero(out);

    { backend.norm(accuracy) } -> std::same_as<std::optional<double>>;  // ||A||_F, where it is known
    backend.multiply(a, x, a, out, accuracy);                           // out = a A x + a' out, a a power of two
    backend.multiply_transposed(a, x, a, out, accuracy);                // out = a A'x + a' out
    backend.residual(x, x, out, accuracy);                              // out = b - A x
    backend.precondition(inverse, x, out, accuracy);

    { backend.norm2(x, accuracy) } -> std::convertible_to<double>;
    { backend.dot(x, x, accuracy) } -> std::convertible_to<double>;
    backend.scale(a, out);             // out = a out
    backend.add(a, x, out);            // out = out + a x
    backend.scale_and_add(a, x, out);  // out = x + a out
};

/// The iteration within the outer loop: verifies, goes on from the true residual, ends. It works with r and A divided by units,
/// powers of two, so that A'r neither overflows nor underflows.
template <LsmrBackend Backend>
class LsmrSolve : private Iterate {
    using T = typename Backend::Value;
    using Vector = typename Backend::Vector;

public:
    LsmrSolve(Backend& backend, std::span<const T> b, std::span<T> x, const KrylovOptions& options, const LsmrWay<T>& way = {})
        : backend_(backend),
          way_(way),
          best_(x),
          options_(options),
          b_(vector_of(b)),
          x_(vector_of(x)),
          u_(backend.vector(b.size())),
          v_(backend.vector(x.size())),
          h_(backend.vector(x.size())),
          h_bar_(backend.vector(x.size())),
          z_(backend.vector(x.size())),
          in_metric_(backend.vector(way.inverse == nullptr ? 0
                                    : way.of_rows          ? b.size()
                                                           : x.size())) {}

    LeastSquaresResult run() {
        b_norm_ = true_norm(b_);
        if (b_norm_ < smallest_plain<T>) magnify();
        const std::optional<double> norm = backend_.norm(Accuracy::exact);
        is_norm_known_ = norm.has_value();
        result_.matrix_norm = norm.value_or(0);
        if (way_.unit > 0)
            unit_of_a_ = way_.unit;
        else if (is_norm_known_)
            unit_of_a_ = unit_of<T>(result_.matrix_norm);
        // x is looked at itself, since what stands where a column of A is empty is not seen in the residual
        const bool is_x_finite = b_norm_ == 0 || std::ranges::all_of(best_, [](T element) { return std::isfinite(element); });
        if (b_norm_ == 0) backend_.set_zero(x_);
        verify();
        keep_as_best();
        best_may_be_claimed_ = is_good(norms_) || is_left_by_rounding();
        if (!std::isfinite(b_norm_) || !is_finite(norms_) || !std::isfinite(result_.matrix_norm) || !is_x_finite)
            return finish(SolveStatus::non_finite);
        bool wanted = report({0, relative(norms_.residual), relative(norms_.residual), false, 0, this}, options_, result_);
        reference_ = norms_.distance;
        while (true) {
            if (is_done()) return finish(SolveStatus::converged);
            if (!wanted || result_.iterations >= options_.max_iterations) return finish(SolveStatus::iteration_limit);
            if (is_stuck()) return finish(SolveStatus::stagnated);
            begin();
            wanted = iterate();
        }
    }

private:
    static constexpr int most_fruitless = 3;

    struct Norms {
        double residual = 0;  ///< ||r||, in units
        double quotient = 0;  ///< ||A'r|| / (||A|| ||r||), ||A|| being Frobenius's norm, or largest_cosine; 0 where A'r is
        double in_range = 0;  ///< where the way sees it, at least the length of r's part in the range of A, nearly, in units
        double distance = 0;  ///< by which the nearest x is told
    };

    Vector vector_of(std::span<const T> numbers) const {
        Vector result = backend_.vector(numbers.size());
        backend_.load(numbers, result);
        return result;
    }
    Vector copy_of(const Vector& x) const {
        Vector result = backend_.vector(best_.size());
        backend_.copy(x, result);
        return result;
    }

    /// Has b, and so residuals, in another unit from now on.
    void magnify() {
        unit_ = 1 / smallest_plain<T>;
        backend_.scale(static_cast<T>(unit_), b_);
        b_norm_ = true_norm(b_);
    }

    /// u = b - A x in units. As x is multiplied before the product, no function need be told of them.
    void take_residual() {
        if (unit_ == 1) return backend_.residual(b_, x_, u_, Accuracy::exact);
        Vector x = copy_of(x_);
        backend_.scale(static_cast<T>(unit_), x);
        backend_.residual(b_, x, u_, Accuracy::exact);
    }

    /// From the true residual of x_ until the next one is computed. Whether to go on.
    bool iterate() {
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
        backend_.multiply_transposed(inverse(unit_of_a_), left(), 0, v_, options_.accuracy);
        scalars_.begin(beta, normalise_right());
        raise_norm(unit_of_a_ * scalars_.alpha());
        backend_.copy(right(), h_);
        backend_.set_zero(h_bar_);
        backend_.set_zero(z_);
        has_step_ = true;
    }

    void step() {
        const double old_alpha = scalars_.alpha();
        backend_.multiply(inverse(unit_of_a_), right(), static_cast<T>(-old_alpha), u_, options_.accuracy);
        const double beta = normalise_left();
        backend_.multiply_transposed(inverse(unit_of_a_), left(), static_cast<T>(-beta), v_, options_.accuracy);
        scalars_.step(beta, normalise_right());
        raise_norm(unit_of_a_ * length(old_alpha, beta));
        raise_norm(unit_of_a_ * length(beta, scalars_.alpha()));
        backend_.scale_and_add(static_cast<T>(-scalars_.of_h_bar()), h_, h_bar_);
        backend_.add(static_cast<T>(scalars_.of_x()), h_bar_, z_);
        backend_.scale_and_add(static_cast<T>(-scalars_.of_h()), right(), h_);
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
        for (double* const quotient :
             {&norms_.quotient, &norms_.distance, &best_norms_.quotient, &best_norms_.distance, &reference_})
            *quotient *= old_by_new;
        result_.matrix_norm = norm;
    }

    bool has_metric_of_rows() const { return way_.inverse != nullptr && way_.of_rows; }
    bool has_metric_of_columns() const { return way_.inverse != nullptr && !way_.of_rows; }

    /// What A' is multiplied by, and A: u and v, or in a metric what `inverse` makes of them.
    const Vector& left() const { return has_metric_of_rows() ? in_metric_ : u_; }
    const Vector& right() const { return has_metric_of_columns() ? in_metric_ : v_; }

    double normalise_left() { return has_metric_of_rows() ? normalise_in_metric(u_) : normalise(u_); }
    double normalise_right() { return has_metric_of_columns() ? normalise_in_metric(v_) : normalise(v_); }

    /// Divides x by its norm, unless that is zero. Returns it.
    double normalise(Vector& x) const {
        const double norm = backend_.norm2(x, options_.accuracy);
        divide(x, norm);
        return norm;
    }

    /// in_metric_ = M^-1 x, both divided by sqrt(x' M^-1 x). Returns that, and 0 where M^-1 is not definite: what is left then
    /// is left to the next start.
    double normalise_in_metric(Vector& x) {
        backend_.precondition(*way_.inverse, x, in_metric_, options_.accuracy);
        const double square = backend_.dot(x, in_metric_, options_.accuracy);
        if (!(square > 0) || !std::isfinite(square)) return 0;
        const double norm = sqrt_rn(square);
        divide(x, norm);
        divide(in_metric_, norm);
        return norm;
    }

    void divide(Vector& x, double norm) const {
        if (norm > 0) backend_.scale(static_cast<T>(div_rn(1.0, norm)), x);
    }

    /// Adds z to x, in its units; the residuals of that, and whether it was worth it. Returns ||r||.
    double take_step() {
        add_step(x_);
        has_step_ = false;
        verify();
        const double residual = norms_.residual;
        const double left = norms_.distance;
        fruitless_ = left <= reference_ / 2 ? 0 : fruitless_ + 1;
        if (left <= reference_ / 2) reference_ = left;
        ++result_.restarts;
        const bool is_left = is_left_by_rounding(), may_be_claimed = is_good(norms_) || is_left;
        // of two that rounding has left the later one: beside what rounding makes of long rows, short ones are not seen
        const bool is_nearer = left < best_norms_.distance || (is_left && is_left_);
        if (may_be_claimed == best_may_be_claimed_ ? is_nearer : may_be_claimed) {
            keep_as_best();
            best_may_be_claimed_ = may_be_claimed;
        } else {
            backend_.load(best_, x_);
            verify();
        }
        return residual;
    }

    void add_step(Vector& x) const { backend_.add(static_cast<T>(unit_of_r_ / unit_of_a_ / unit_), z_, x); }

    /// u = r = b - A x and v = A'r anew, in their units.
    void verify() {
        take_residual();
        unit_of_r_ = unit_of<T>(true_norm(u_));
        backend_.scale(inverse(unit_of_r_), u_);
        backend_.multiply_transposed(inverse(unit_of_a_), u_, 0, v_, Accuracy::exact);
        const double residual = true_norm(u_), normal = true_norm(v_);
        raise_norm(unit_of_a_ * (normal / residual));
        norms_ = norms_of(residual, normal);
        if (!way_.column_norms.empty() && is_finite(norms_) && residual > 0) {
            const double cosine = largest_cosine(residual);
            cosine_by_quotient_ = norms_.quotient > 0 ? cosine / norms_.quotient : 1;
            norms_.quotient = cosine;
        }
        norms_.distance = way_.sees_range ? unit_of_r_ * length_in_metric(way_.of_rows ? u_ : v_) : normal_residual(norms_);
        norms_.in_range = way_.of_rows ? norms_.residual : norms_.distance;
    }

    /// (x' M^-1 x)^1/2; infinite where M^-1 is not definite.
    double length_in_metric(const Vector& x) {
        backend_.precondition(*way_.inverse, x, in_metric_, Accuracy::exact);
        const double square = backend_.dot(x, in_metric_, Accuracy::exact);
        if (square == 0 && true_norm(x) == 0) return 0;
        return square > 0 ? sqrt_rn(square) : std::numeric_limits<double>::infinity();
    }

    /// Whether the part of r in the range of A is no longer than what rounding x makes it: no x of its precision is sure to be
    /// nearer.
    bool is_left_by_rounding() const {
        constexpr double few = 2;  // x is rounded as often, once in its last step
        return way_.sees_range && norms_.in_range <= few * rounding_of_x() &&
               std::ranges::none_of(way_.column_norms, may_be_lost);
    }

    bool is_stuck() const { return fruitless_ > most_fruitless; }

    /// Where r's part in the range of A is seen, steps are few, and what the tolerance asks for may leave much of x to chance:
    /// then it goes on until rounding is what is left, and by one step more, in which x gains what it can.
    bool is_done() {
        if (!way_.sees_range) return is_good(norms_);
        const bool was_left = is_left_;
        is_left_ = is_left_by_rounding();
        return (norms_.distance == 0 && is_good(norms_)) || (is_left_ && was_left);
    }

    /// Of a column of this norm by the unit: digits of a_j'r, r by its unit, or of ||a_j||^2, of which M is made in double,
    /// below the normal numbers.
    static bool may_be_lost(double norm) {
        constexpr double digits = 0x1p64;
        return norm > 0 && (norm < digits * static_cast<double>(std::numeric_limits<T>::min()) ||
                            norm * norm < digits * std::numeric_limits<double>::min());
    }

    /// Of ||r||, in its unit: to round the elements of the solution by a unit roundoff u each changes r by the sum of a_j u
    /// x_j, which are vectors of all directions.
    double rounding_of_x() const {
        const std::span<const T> x = backend_.on_host(x_);
        std::vector<double> parts(x.size());
        for (std::size_t j = 0; j < x.size(); ++j) parts[j] = mul_rn(way_.column_norms[j], static_cast<double>(x[j]));
        const double length = norm2(std::span<const double>(parts), Accuracy::exact, Device::cpu(1));
        const double change = unit_of_a_ * unit_ * unit_roundoff<T> * length;
        return std::isfinite(change) ? change : 0;
    }

    /// max |a_j'r| / (||a_j|| ||r||) from v = A'r, in units. What v lost below the normal numbers counts as left.
    double largest_cosine(double residual) const {
        double largest = 0;
        const std::span<const T> normal = backend_.on_host(v_);
        for (std::size_t j = 0; j < normal.size(); ++j)
            if (const double norm = way_.column_norms[j]; norm > 0) {
                const double v = std::abs(static_cast<double>(normal[j]));
                const bool may_have_lost = v < static_cast<double>(std::numeric_limits<T>::min());
                const double at_most = add_rn(v, may_have_lost ? static_cast<double>(smallest_subnormal<T>) : 0);
                largest = std::max(largest, std::min(1.0, div_rn(div_rn(at_most, norm), residual)));
            }
        return largest;
    }

    void keep_as_best() {
        backend_.store(x_, best_);
        best_norms_ = norms_;
    }

    /// By what finish() tells, too, so that no claim is finer than its number.
    bool is_good(const Norms& norms) const {
        return relative(norms.residual) <= options_.tolerance || norms.residual <= options_.absolute_tolerance * unit_ ||
               norms.quotient <= options_.tolerance;
    }
    /// What is asked for, or so much that rounding cannot let it be true: the iteration would only lose its way. Where that was
    /// not true, a half of it the next time, then a quarter, as no more than rounding of what was updated may have been in the
    /// way.
    bool claims_much(const Norms& norms) const {
        constexpr double least = 8 * unit_roundoff<T>;
        const double margin = std::ldexp(1.0, fruitless_);
        return (is_good({margin * norms.residual, margin * norms.quotient}) && !way_.sees_range) ||
               relative(norms.residual) <= least || norms.quotient <= least;
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
    double true_norm(const Vector& x) const { return backend_.norm2(x, Accuracy::exact); }

    void copy_to(std::span<double> to) const override {
        Vector now = copy_of(x_);
        if (has_step_) add_step(now);
        write_sum<T>(backend_.on_host(now), {}, to);
    }

    LeastSquaresResult finish(SolveStatus status) {
        result_.status = best_may_be_claimed_ && status != SolveStatus::non_finite ? SolveStatus::converged : status;
        result_.restarts = std::max<std::int64_t>(result_.restarts - 1, 0);
        result_.relative_residual = relative(best_norms_.residual);
        result_.normal_residual = best_norms_.quotient;
        return result_;
    }

    Backend& backend_;
    LsmrWay<T> way_;
    std::span<T> best_;
    const KrylovOptions& options_;
    Vector b_, x_, u_, v_, h_, h_bar_, z_, in_metric_;  ///< b in units
    LsmrScalars scalars_;
    LeastSquaresResult result_;
    Norms norms_, best_norms_;
    double b_norm_ = 0;
    double reference_ = 0;  ///< the distance when it last halved
    double unit_ = 1;       ///< of residuals: a power of two, by which they and their norms are multiplied
    double unit_of_a_ = 1, unit_of_r_ = 1;
    double cosine_by_quotient_ = 1;  ///< when r was last computed, of ||A'r|| / (||A|| ||r||)
    bool is_norm_known_ = false;
    int fruitless_ = 0;
    bool has_step_ = false;  ///< z_ is to be added yet
    bool is_left_ = false;   ///< by rounding, when last looked at
    bool best_may_be_claimed_ = false;
};

}  // namespace solver
