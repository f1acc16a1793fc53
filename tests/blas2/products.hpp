#pragma once

/// y = alpha A x + beta y and r = b - A (x + x_low).

#include "enough_bits.hpp"
#include "experiment.hpp"
#include "on_device.hpp"
#include "parallel.hpp"
#include "solver/csr_matrix.hpp"
#include "support/expected.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

namespace solver::blas2 {

/// What products are made of; x_low and b are for residuals.
template <class T>
struct ProductInputs {
    std::string name;
    std::vector<T> x, x_low, y, b;
};

template <class T>
class RowExperiment : public Experiment<T> {
public:
    RowExperiment(const CsrMatrix<T>& a, std::shared_ptr<const ProductInputs<T>> vectors)
        : a_(a.view()), vectors_(std::move(vectors)) {}

    std::int64_t elements() const override { return a_.rows; }
    std::string name_of(std::int64_t element) const override { return fmt::format("row {}", element + 1); }

    std::vector<TrueElement<T>> truth(std::span<const T>, int threads) const override {
        std::vector<TrueElement<T>> rows(static_cast<std::size_t>(a_.rows));
        in_parallel(threads, a_.rows, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t row = begin; row < end; ++row)
                rows[row] = with_enough_bits([&](int bits) { return true_row(row, bits); });
        });
        return rows;
    }

protected:
    /// On a CUDA device the clock runs for data that lie there.
    std::function<double(Accuracy)> clock_of(SpmvKernel kernel, const Device& device, const SpmvTask<T>& task) const {
        if (device.kind() != Device::Kind::cuda) return {};
        return on_device::clock<on_device::Product<T>>(device.index(), [this, kernel, index = device.index(), task] {
            return std::make_unique<on_device::Product<T>>(index, a_, kernel, task);
        });
    }

    virtual TrueElement<T> true_row(std::int64_t row, int bits) const = 0;

    CsrView<T> a_;
    std::shared_ptr<const ProductInputs<T>> vectors_;
};

template <class T>
class SpmvExperiment : public RowExperiment<T> {
public:
    SpmvExperiment(const CsrMatrix<T>& a, std::shared_ptr<const ProductInputs<T>> vectors, T alpha, T beta)
        : RowExperiment<T>(a, std::move(vectors)), alpha_(alpha), beta_(beta) {}

    Inputs inputs() const override { return {this->vectors_->name, double{alpha_}, double{beta_}}; }

    std::string formula() const override {
        return fmt::format("y = {}A x{}", alpha_ == 1 ? "" : fmt::format("{} ", alpha_),
                           beta_ == 0 ? "" : fmt::format(" {} {} y", beta_ < 0 ? '-' : '+', std::abs(beta_)));
    }

    std::int64_t terms_of(std::int64_t element) const override { return this->a_.row_length(element) + (beta_ != 0 ? 1 : 0); }

    const CsrView<T>& matrix() const { return this->a_; }
    std::span<const T> x() const { return this->vectors_->x; }

    Subject<T> subject(SpmvKernel kernel, const Device& device) const override {
        const auto plan = std::make_shared<SpmvPlan<T>>(this->a_, device, kernel);
        return {.compute =
                    [this, plan](Accuracy accuracy, std::span<T> y) {
                        SpmvTask<T> task = task_without_result();
                        task.y = y;
                        plan->multiply(std::span<const SpmvTask<T>>(&task, 1), accuracy);
                    },
                .seconds = this->clock_of(kernel, device, task_without_result())};
    }

private:
    SpmvTask<T> task_without_result() const {
        return {.alpha = alpha_, .x = x(), .beta = beta_, .y_in = this->vectors_->y, .y = {}};
    }

    /// fast's contract: gamma_n for a plain product of n entries, gamma_{n+2} for alpha A x + beta y.
    TrueElement<T> true_row(std::int64_t row, int bits) const override {
        const CsrView<T>& a = this->a_;
        const std::int64_t begin = a.row_offsets[row], end = a.row_offsets[row + 1], n = end - begin;
        testing::ExpectedSum<T> sum(bits);
        for (std::int64_t k = begin; k < end && alpha_ != 0; ++k) sum.add_product(a.values[k], x()[a.column_indices[k]]);
        if (alpha_ == 1 && beta_ == 0) return true_sum(sum, n, underflow_allowance<T>(n));
        const double scale = std::max(1.0, std::abs(double{alpha_}));
        return true_sum(sum.affine(alpha_, beta_, beta_ == 0 ? T(0) : this->vectors_->y[row]), n + 2,
                        scale * underflow_allowance<T>(n + 2));
    }

    T alpha_, beta_;
};

/// x_low is left out where the inputs have none.
template <class T>
class ResidualExperiment : public RowExperiment<T> {
public:
    ResidualExperiment(const CsrMatrix<T>& a, std::shared_ptr<const ProductInputs<T>> vectors, bool with_low_part)
        : RowExperiment<T>(a, std::move(vectors)), with_low_part_(with_low_part) {}

    Inputs inputs() const override { return {this->vectors_->name + (with_low_part_ ? "+low" : ""), -1, 1}; }
    std::string formula() const override { return with_low_part_ ? "r = b - A (x + x_low)" : "r = b - A x"; }
    std::int64_t terms_of(std::int64_t element) const override {
        return (with_low_part_ ? 2 : 1) * this->a_.row_length(element) + 1;
    }

    Subject<T> subject(SpmvKernel kernel, const Device& device) const override {
        const auto plan = std::make_shared<SpmvPlan<T>>(this->a_, device, kernel);
        return {.compute = [this, plan](
                               Accuracy accuracy,
                               std::span<T> r) { plan->residual(this->vectors_->b, this->vectors_->x, x_low(), r, accuracy); },
                .seconds = this->clock_of(
                    kernel, device,
                    {.alpha = -1, .x = this->vectors_->x, .x_low = x_low(), .beta = 1, .y_in = this->vectors_->b, .y = {}})};
    }

private:
    std::span<const T> x_low() const {
        return with_low_part_ ? std::span<const T>(this->vectors_->x_low) : std::span<const T>();
    }

    /// A sum of b and one or two products for each entry; gamma_{n+2} of alpha A x + beta y for these n.
    TrueElement<T> true_row(std::int64_t row, int bits) const override {
        const CsrView<T>& a = this->a_;
        testing::ExpectedSum<T> sum(bits);
        for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
            const std::int32_t j = a.column_indices[k];
            sum.add_product(-a.values[k], this->vectors_->x[j]);
            if (with_low_part_) sum.add_product(-a.values[k], this->vectors_->x_low[j]);
        }
        const std::int64_t n = sum.terms();
        sum.add_product(T(1), this->vectors_->b[row]);
        return true_sum(sum, n + 2, underflow_allowance<T>(n + 2));
    }

    bool with_low_part_;
};

}  // namespace solver::blas2
