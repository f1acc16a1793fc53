#pragma once

/// T x = b for the lower or the upper triangle T of a matrix.

#include "enough_bits.hpp"
#include "experiment.hpp"
#include "on_device.hpp"
#include "parallel.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/triangular_solve.hpp"
#include "support/expected.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace solver::blas2 {

/// One triangle of a square matrix with sorted columns; where the diagonal element is absent, 0 or not finite it becomes 1.
template <class T>
CsrMatrix<T> triangle_of(const CsrView<T>& a, Triangle triangle) {
    CsrMatrix<T> t;
    t.rows = t.columns = a.rows;
    const auto add = [&](std::int64_t column, T value) {
        t.column_indices.push_back(static_cast<std::int32_t>(column));
        t.values.push_back(value);
    };
    for (std::int64_t row = 0; row < a.rows; ++row) {
        T pivot = 0;
        for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
            if (a.column_indices[k] == row) pivot = a.values[k];
        if (pivot == 0 || !std::isfinite(pivot)) pivot = 1;
        if (triangle == Triangle::upper) add(row, pivot);
        for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
            if (const std::int64_t column = a.column_indices[k]; triangle == Triangle::lower ? column < row : column > row)
                add(column, a.values[k]);
        if (triangle == Triangle::lower) add(row, pivot);
        t.row_offsets.push_back(t.nonzeros());
    }
    return t;
}

/// Rows are judged one by one, given the elements that were found for those before.
template <class T>
class TriangularExperiment : public Experiment<T> {
public:
    TriangularExperiment(CsrMatrix<T> t, Triangle triangle, std::string b_name, std::vector<T> b)
        : t_(std::move(t)), triangle_(triangle), b_name_(std::move(b_name)), b_(std::move(b)) {}

    Inputs inputs() const override { return {b_name_, 1, 0}; }
    std::string formula() const override { return triangle_ == Triangle::lower ? "L^-1 b" : "U^-1 b"; }
    std::int64_t elements() const override { return t_.rows; }
    std::string name_of(std::int64_t element) const override { return fmt::format("row {}", element + 1); }
    std::int64_t terms_of(std::int64_t element) const override { return t_.view().row_length(element); }
    bool truth_depends_on_result() const override { return true; }

    std::vector<TrueElement<T>> truth(std::span<const T> found, int threads) const override {
        std::vector<TrueElement<T>> rows(static_cast<std::size_t>(t_.rows));
        in_parallel(threads, t_.rows, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t row = begin; row < end; ++row)
                rows[row] = with_enough_bits([&](int bits) { return true_row(row, found, bits); });
        });
        return rows;
    }

    Subject<T> subject(SpmvKernel, const Device& device) const override {
        const auto plan = std::make_shared<TriangularSolvePlan<T>>(t_.view(), triangle_, Diagonal::stored, device);
        return {.compute = [this, plan](Accuracy accuracy, std::span<T> x) { plan->solve(b_, x, accuracy); },
                .seconds = clock_of(device)};
    }

private:
    std::function<double(Accuracy)> clock_of(const Device& device) const {
        if (device.kind() != Device::Kind::cuda) return {};
        return on_device::clock<on_device::Triangular<T>>(device.index(), [this, index = device.index()] {
            return std::make_unique<on_device::Triangular<T>>(index, t_.view(), triangle_, std::span<const T>(b_));
        });
    }

    TrueElement<T> true_row(std::int64_t row, std::span<const T> found, int bits) const {
        testing::ExpectedSum<T> sum(bits);
        T pivot = 1;
        for (std::int64_t k = t_.row_offsets[row]; k < t_.row_offsets[row + 1]; ++k) {
            if (t_.column_indices[k] == row)
                pivot = t_.values[k];
            else
                sum.add_product(-t_.values[k], found[t_.column_indices[k]]);
        }
        const std::int64_t n = sum.terms();
        sum.add_product(T(1), b_[row]);
        return true_quotient(sum, pivot, found[row], n + 2, underflow_allowance<T>(n + 2));
    }

    CsrMatrix<T> t_;
    Triangle triangle_;
    std::string b_name_;
    std::vector<T> b_;
};

}  // namespace solver::blas2
