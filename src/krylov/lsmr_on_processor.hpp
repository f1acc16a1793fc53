#pragma once

/// LSMR's vectors in the memory of the host, and products with A and its transpose, by plans or by functions.

#include "core/krylov/updates.hpp"
#include "core/sorted_rows.hpp"
#include "cpu/elementwise.hpp"
#include "cpu/vectors.hpp"
#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/lsmr.hpp"
#include "solver/preconditioner.hpp"
#include "solver/reduce.hpp"
#include "solver/spmv.hpp"
#include "solver/views.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// Vectors in the memory of the host.
template <class T>
class LsmrVectors {
public:
    using Value = T;
    using Vector = std::vector<T>;

    explicit LsmrVectors(Device processor) : processor_(std::move(processor)) {}

    const Device& processor() const { return processor_; }

    Vector vector(std::size_t size) const { return Vector(size); }
    void load(std::span<const T> source, Vector& out) const { std::copy(source.begin(), source.end(), out.begin()); }
    void store(const Vector& x, std::span<T> target) const { std::copy(x.begin(), x.end(), target.begin()); }
    std::span<const T> on_host(const Vector& x) const { return x; }
    void copy(const Vector& x, Vector& out) const { std::copy(x.begin(), x.end(), out.begin()); }
    void set_zero(Vector& out) const { std::fill(out.begin(), out.end(), T(0)); }

    void precondition(const Preconditioner<T>& inverse, const Vector& x, Vector& out, Accuracy accuracy) const {
        inverse.apply(x, out, accuracy);
    }

    double norm2(const Vector& x, Accuracy accuracy) const { return solver::norm2(std::span(x), accuracy, processor_); }
    double dot(const Vector& x, const Vector& y, Accuracy accuracy) const {
        return solver::dot(std::span(x), std::span(y), accuracy, processor_);
    }
    void scale(T a, Vector& out) const { cpu::scale(a, std::span(out), processor_); }
    void add(T a, const Vector& x, Vector& out) const { cpu::add_scaled(a, std::span(x), std::span(out), processor_); }
    void scale_and_add(T a, const Vector& x, Vector& out) const {
        cpu::scale_and_add(a, std::span(x), std::span(out), processor_);
    }

private:
    Device processor_;
};

/// Frobenius's, of A with its repeated entries summed.
template <class T>
double frobenius_norm(const SpmvPlan<T>& a, Accuracy accuracy, const Device& processor) {
    const auto is_by = [](std::int64_t stride, std::int64_t other_stride, std::int64_t length) {
        return stride == 1 && other_stride == length;
    };
    if (const DenseView<T>* const full = a.dense();
        full != nullptr && (is_by(full->column_stride, full->row_stride, full->columns) ||
                            is_by(full->row_stride, full->column_stride, full->rows)))
        return norm2(std::span<const T>(full->data, static_cast<std::size_t>(full->rows * full->columns)), accuracy, processor);
    const CsrView<T>& rows = a.matrix();
    if (has_sorted_rows(rows, processor)) return norm2(rows.values, accuracy, processor);
    return norm2(with_sorted_rows(rows).values, accuracy, processor);
}

/// Products with a matrix and its transpose, wherever these lie.
template <class T>
class PlanProducts : public LsmrVectors<T> {
public:
    PlanProducts(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed)
        : LsmrVectors<T>(a.device().kind() == Device::Kind::cpu ? a.device() : Device::cpu()), a_(a), transposed_(transposed) {}

    std::optional<double> norm(Accuracy accuracy) const { return frobenius_norm(a_, accuracy, this->processor()); }

    void multiply(T alpha, const std::vector<T>& x, T beta, std::vector<T>& y, Accuracy accuracy) {
        multiply_by(a_, alpha, x, beta, y, accuracy);
    }
    void multiply_transposed(T alpha, const std::vector<T>& x, T beta, std::vector<T>& y, Accuracy accuracy) {
        multiply_by(transposed_, alpha, x, beta, y, accuracy);
    }
    void residual(const std::vector<T>& b, const std::vector<T>& x, std::vector<T>& r, Accuracy accuracy) const {
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
        cpu::for_each_range(std::ssize(x), this->processor(), [&](std::int64_t begin, std::int64_t end) {
            bool is_part_exact = true;
            for (std::int64_t i = begin; i < end; ++i) {
                scaled_[i] = mul_rn(alpha, x[i]);
                is_part_exact &= is_exact_multiple(x[i], scaled_[i]);
            }
            if (!is_part_exact) is_exact = false;
        });
        return is_exact;
    }

    const SpmvPlan<T>& a_;
    const SpmvPlan<T>& transposed_;
    std::vector<T> scaled_;
};

/// Products by functions, whose results are rounded before anything is added to them.
template <class T>
class FunctionProducts : public LsmrVectors<T> {
public:
    FunctionProducts(const OperatorWithTranspose<T>& a, Device processor)
        : LsmrVectors<T>(std::move(processor)),
          a_(a),
          product_(static_cast<std::size_t>(a.rows())),
          of_transposed_(static_cast<std::size_t>(a.columns())) {}

    std::optional<double> norm(Accuracy) const { return std::nullopt; }

    void multiply(T alpha, const std::vector<T>& x, T beta, std::vector<T>& y, Accuracy) {
        a_.apply(x, product_);
        add_product(alpha, product_, beta, y);
    }
    void multiply_transposed(T alpha, const std::vector<T>& x, T beta, std::vector<T>& y, Accuracy) {
        a_.apply_transposed(x, of_transposed_);
        add_product(alpha, of_transposed_, beta, y);
    }
    void residual(const std::vector<T>& b, const std::vector<T>& x, std::vector<T>& r, Accuracy accuracy) {
        this->copy(b, r);
        multiply(-1, x, 1, r, accuracy);
    }

private:
    void add_product(T alpha, const std::vector<T>& product, T beta, std::vector<T>& y) const {
        const T* const made = product.data();
        cpu::update(std::span(y), this->processor(), [=](T element, std::int64_t i) {
            return beta == 0 ? mul_rn(alpha, made[i]) : added(mul_rn(beta, element), alpha, made[i]);
        });
    }

    const OperatorWithTranspose<T>& a_;
    std::vector<T> product_, of_transposed_;
};

}  // namespace solver
