#pragma once

/// C = alpha A B + beta C for a dense block of a sparse matrix.

#include "enough_bits.hpp"
#include "experiment.hpp"
#include "on_device.hpp"
#include "parallel.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/gemm.hpp"
#include "support/expected.hpp"
#include "vectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace solver::blas2 {

/// Rows and columns of a matrix, gathered.
template <class T>
struct DenseBlock {
    std::vector<std::int64_t> rows;
    std::vector<std::int32_t> columns;
    DenseMatrix<T> values;
};

/// The `long_rows` longest rows and others evenly from the rest, `most_rows` in all, in their order; and the first
/// `most_columns` columns in which these rows, the longest first, have entries. Repeated entries count as a sum, rounded.
template <class T>
DenseBlock<T> dense_block(const CsrView<T>& a, std::int64_t most_rows, std::int64_t long_rows, std::size_t most_columns) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(a.rows));
    std::iota(order.begin(), order.end(), 0);
    const auto longer = [&](std::int64_t i, std::int64_t j) { return a.row_length(i) > a.row_length(j); };
    std::stable_sort(order.begin(), order.end(), longer);
    DenseBlock<T> block;
    if (a.rows <= most_rows) {
        block.rows = order;
    } else {
        block.rows.assign(order.begin(), order.begin() + long_rows);
        const std::int64_t others = most_rows - long_rows;
        for (std::int64_t i = 0; i < others; ++i) block.rows.push_back(order[long_rows + (a.rows - long_rows) * i / others]);
    }
    std::map<std::int32_t, std::int64_t> place;
    for (const std::int64_t row : block.rows)
        for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1] && place.size() < most_columns; ++k)
            place.try_emplace(a.column_indices[k], 0);
    for (auto& [column, index] : place) {
        index = static_cast<std::int64_t>(block.columns.size());
        block.columns.push_back(column);
    }
    std::sort(block.rows.begin(), block.rows.end());
    block.values.rows = static_cast<std::int64_t>(block.rows.size());
    block.values.columns = static_cast<std::int64_t>(block.columns.size());
    block.values.values.resize(block.rows.size() * block.columns.size());
    for (std::size_t i = 0; i < block.rows.size(); ++i)
        for (std::int64_t k = a.row_offsets[block.rows[i]]; k < a.row_offsets[block.rows[i] + 1]; ++k)
            if (const auto found = place.find(a.column_indices[k]); found != place.end())
                block.values.values[static_cast<std::size_t>(found->second) * block.rows.size() + i] += a.values[k];
    return block;
}

/// B is column by column.
template <class T>
class GemmExperiment : public Experiment<T> {
public:
    GemmExperiment(DenseBlock<T> a, DenseMatrix<T> b, T alpha, T beta)
        : a_(std::move(a)),
          b_(std::move(b)),
          alpha_(alpha),
          beta_(beta),
          c_(random_vector<T>(a_.values.rows * b_.columns, 4)) {}

    Inputs inputs() const override { return {"", double{alpha_}, double{beta_}}; }
    std::string formula() const override {
        return fmt::format("C = {}A B{}, {} x {} x {}", alpha_ == 1 ? "" : fmt::format("{} ", alpha_),
                           beta_ == 0 ? "" : fmt::format(" {} {} C", beta_ < 0 ? '-' : '+', std::abs(beta_)), a_.values.rows,
                           b_.columns, b_.rows);
    }
    std::int64_t elements() const override { return static_cast<std::int64_t>(c_.size()); }
    std::string name_of(std::int64_t element) const override {
        return fmt::format("({}, {})", a_.rows[element % a_.values.rows] + 1, element / a_.values.rows + 1);
    }
    std::int64_t terms_of(std::int64_t) const override { return b_.rows + (beta_ != 0 ? 1 : 0); }

    std::vector<TrueElement<T>> truth(std::span<const T>, int threads) const override {
        std::vector<TrueElement<T>> result(c_.size());
        in_parallel(threads, elements(), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t element = begin; element < end; ++element)
                result[element] = with_enough_bits([&](int bits) { return true_element(element, bits); });
        });
        return result;
    }

    Subject<T> subject(SpmvKernel, const Device& device) const override {
        return {.compute =
                    [this, device](Accuracy accuracy, std::span<T> c) {
                        std::copy(c_.begin(), c_.end(), c.begin());
                        gemm(task_on(c.data()), accuracy, device);
                    },
                .seconds = clock_of(device)};
    }

private:
    GemmTask<T> task_on(T* c) const {
        const std::int64_t m = a_.values.rows;
        return {.alpha = alpha_, .a = a_.values.view(), .b = b_.view(), .beta = beta_, .c = {m, b_.columns, 1, m, c}};
    }

    std::function<double(Accuracy)> clock_of(const Device& device) const {
        if (device.kind() != Device::Kind::cuda) return {};
        return on_device::clock<on_device::DenseProduct<T>>(device.index(), [this, index = device.index()] {
            return std::make_unique<on_device::DenseProduct<T>>(index, task_on(nullptr), std::span<const T>(c_));
        });
    }

    TrueElement<T> true_element(std::int64_t element, int bits) const {
        const std::int64_t m = a_.values.rows, n = b_.rows, row = element % m, column = element / m;
        testing::ExpectedSum<T> sum(bits);
        for (std::int64_t k = 0; k < n && alpha_ != 0; ++k) {
            const T a = a_.values.values[k * m + row], b = b_.values[column * n + k];
            if (a == 0 && std::isfinite(b)) continue;  // adds nothing; most elements are
            sum.add_product(a, b);
        }
        if (alpha_ == 1 && beta_ == 0) return true_sum(sum, n, underflow_allowance<T>(n));
        const double scale = std::max(1.0, std::abs(double{alpha_}));
        return true_sum(sum.affine(alpha_, beta_, beta_ == 0 ? T(0) : c_[element]), n + 2,
                        scale * underflow_allowance<T>(n + 2));
    }

    DenseBlock<T> a_;
    DenseMatrix<T> b_;
    T alpha_, beta_;
    std::vector<T> c_;  ///< what C is before
};

}  // namespace solver::blas2
