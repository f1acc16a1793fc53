#pragma once

/// Products with A and its transpose, as LSMR takes them, and the unit that numbers are divided by.

#include "core/krylov/updates.hpp"
#include "core/sorted_rows.hpp"
#include "cpu/elementwise.hpp"
#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/lsmr.hpp"
#include "solver/reduce.hpp"
#include "solver/spmv.hpp"
#include "solver/views.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// The largest power of two that is not above a norm, as far as T has it and its inverse; 1 where it is 0 or not finite.
template <class T>
double unit_of(double norm) {
    if (!(norm > 0) || !std::isfinite(norm)) return 1;
    constexpr int most = std::numeric_limits<T>::max_exponent - 2;
    return std::ldexp(1.0, std::clamp(std::ilogb(norm), -most, most));
}

/// Products with a matrix and its transpose.
template <class T>
class PlanProducts {
public:
    PlanProducts(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed) : a_(a), transposed_(transposed) {}

    Device processor() const { return a_.device().kind() == Device::Kind::cpu ? a_.device() : Device::cpu(); }
    /// Frobenius's, of A with its repeated entries summed.
    std::optional<double> norm(Accuracy accuracy) const {
        if (const DenseView<T>* const full = a_.dense(); full != nullptr && has_no_gaps(*full))
            return norm2(std::span<const T>(full->data, static_cast<std::size_t>(full->rows * full->columns)), accuracy,
                         processor());
        const CsrView<T>& a = a_.matrix();
        if (has_sorted_rows(a, processor())) return norm2(a.values, accuracy, processor());
        return norm2(with_sorted_rows(a).values, accuracy, processor());
    }

    /// y = alpha A x + beta y for a power of two alpha
    void multiply(T alpha, std::span<const T> x, T beta, std::span<T> y, Accuracy accuracy) {
        multiply_by(a_, alpha, x, beta, y, accuracy);
    }
    void multiply_transposed(T alpha, std::span<const T> x, T beta, std::span<T> y, Accuracy accuracy) {
        multiply_by(transposed_, alpha, x, beta, y, accuracy);
    }
    /// r = b - A x
    void residual(std::span<const T> b, std::span<const T> x, std::span<T> r, Accuracy accuracy) {
        a_.residual(b, x, {}, r, accuracy);
    }

private:
    /// Rows are summed side by side, and packed storage is read, where alpha is 1: x is multiplied in its place if it can be.
    void multiply_by(const SpmvPlan<T>& a, T alpha, std::span<const T> x, T beta, std::span<T> y, Accuracy accuracy) {
        if (alpha == 1 || !scale_without_rounding(alpha, x)) return a.multiply(alpha, x, beta, y, accuracy);
        a.multiply(1, scaled_, beta, y, accuracy);
    }

    /// scaled_ = alpha x. Whether that is so, since nothing left the range of normal numbers.
    bool scale_without_rounding(T alpha, std::span<const T> x) {
        scaled_.resize(x.size());
        std::atomic<bool> is_exact = true;
        cpu::for_each_range(std::ssize(x), processor(), [&](std::int64_t begin, std::int64_t end) {
            bool is_part_exact = true;
            for (std::int64_t i = begin; i < end; ++i) {
                scaled_[i] = mul_rn(alpha, x[i]);
                is_part_exact &= x[i] == 0 || is_normal(scaled_[i]);
            }
            if (!is_part_exact) is_exact = false;
        });
        return is_exact;
    }

    static bool has_no_gaps(const DenseView<T>& a) {
        const auto is_by = [](std::int64_t stride, std::int64_t other_stride, std::int64_t length) {
            return stride == 1 && other_stride == length;
        };
        return is_by(a.column_stride, a.row_stride, a.columns) || is_by(a.row_stride, a.column_stride, a.rows);
    }

    static bool is_normal(T x) {
        return magnitude(x) >= std::numeric_limits<T>::min() && magnitude(x) <= std::numeric_limits<T>::max();
    }

    const SpmvPlan<T>& a_;
    const SpmvPlan<T>& transposed_;
    std::vector<T> scaled_;
};

/// Products by functions, whose results are rounded before anything is added to them.
template <class T>
class FunctionProducts {
public:
    FunctionProducts(const OperatorWithTranspose<T>& a, Device processor)
        : a_(a),
          processor_(std::move(processor)),
          product_(static_cast<std::size_t>(a.rows())),
          of_transposed_(static_cast<std::size_t>(a.columns())) {}

    const Device& processor() const { return processor_; }
    std::optional<double> norm(Accuracy) const { return std::nullopt; }

    void multiply(T alpha, std::span<const T> x, T beta, std::span<T> y, Accuracy) {
        a_.apply(x, product_);
        add(alpha, product_, beta, y);
    }
    void multiply_transposed(T alpha, std::span<const T> x, T beta, std::span<T> y, Accuracy) {
        a_.apply_transposed(x, of_transposed_);
        add(alpha, of_transposed_, beta, y);
    }
    void residual(std::span<const T> b, std::span<const T> x, std::span<T> r, Accuracy) {
        std::copy(b.begin(), b.end(), r.begin());
        multiply(-1, x, 1, r, Accuracy::fast);
    }

private:
    void add(T alpha, const std::vector<T>& product, T beta, std::span<T> y) const {
        const T* const made = product.data();
        cpu::update(y, processor_, [=](T element, std::int64_t i) {
            return beta == 0 ? mul_rn(alpha, made[i]) : added(mul_rn(beta, element), alpha, made[i]);
        });
    }

    const OperatorWithTranspose<T>& a_;
    Device processor_;
    std::vector<T> product_, of_transposed_;
};

}  // namespace solver
