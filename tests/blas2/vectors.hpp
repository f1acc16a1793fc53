#pragma once

/// The vectors that a matrix is multiplied by. They are inputs: nothing depends on how they were computed.

#include "matrices/random.hpp"
#include "products.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/numeric/superaccumulator.hpp"
#include "solver/spmv.hpp"
#include "wishes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace solver::blas2 {

using matrices::random_vector;

/// For every long row, which comes last when rows are made to cancel, two columns that no other row may change: those with the
/// fewest entries.
template <class T>
std::vector<char> columns_of_long_rows(const CsrView<T>& a, std::int64_t long_row) {
    std::vector<std::int64_t> entries(static_cast<std::size_t>(a.columns), 0);
    for (const std::int32_t column : a.column_indices) ++entries[column];
    std::vector<char> is_reserved(entries.size(), 0);
    for (std::int64_t row = 0; row < a.rows; ++row) {
        if (a.row_length(row) < long_row) continue;
        const auto columns = a.column_indices.subspan(a.row_offsets[row], a.row_length(row));
        for (int i = 0; i < 2; ++i) {
            const auto fewer = [&](std::int32_t j, std::int32_t k) {
                return std::pair(is_reserved[j], entries[j]) < std::pair(is_reserved[k], entries[k]);
            };
            is_reserved[*std::min_element(columns.begin(), columns.end(), fewer)] = 1;
        }
    }
    return is_reserved;
}

/// Makes rows cancel, short ones first: in a random x, the elements at up to two columns that no row before it has are set so
/// that what the others sum up to goes away, first all but rounding errors, then these too.
template <class T>
std::vector<T> ill_conditioned_vector(const CsrView<T>& a) {
    constexpr std::int64_t long_row = 64;
    std::vector<T> x = random_vector<T>(a.columns, 1);
    const std::vector<char> is_reserved = columns_of_long_rows(a, long_row);
    std::vector<char> is_taken(x.size(), 0);
    std::vector<std::int64_t> order(static_cast<std::size_t>(a.rows));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t i, std::int64_t j) { return a.row_length(i) < a.row_length(j); });
    for (const std::int64_t row : order) {
        const std::int64_t begin = a.row_offsets[row], end = a.row_offsets[row + 1];
        const bool is_long = end - begin >= long_row;
        int changes = 0;
        for (std::int64_t k = begin; k < end && changes < 2; ++k) {
            const std::int32_t column = a.column_indices[k];
            if (is_long ? !is_reserved[column] : is_taken[column] || is_reserved[column]) continue;
            if (a.values[k] == 0 || !std::isfinite(a.values[k])) continue;
            Superaccumulator rest;
            for (std::int64_t l = begin; l < end; ++l)
                if (l != k) rest.add_product(a.values[l], x[a.column_indices[l]]);
            const T wanted = -rest.template result<T>() / a.values[k];
            if (!std::isfinite(wanted)) continue;
            x[column] = wanted;
            ++changes;
        }
        for (std::int64_t k = begin; k < end; ++k) is_taken[a.column_indices[k]] = 1;
    }
    return x;
}

template <class T>
std::vector<T> make_x(const VectorWish& wish, const CsrView<T>& a) {
    switch (wish.kind) {
        case VectorKind::ones:
            return std::vector<T>(static_cast<std::size_t>(a.columns), T(1));
        case VectorKind::random:
            return random_vector<T>(a.columns, wish.seed);
        case VectorKind::ill_conditioned:
            break;
    }
    return ill_conditioned_vector(a);
}

/// b = RN(A x), so that residuals cancel as they do near a solution. y is random in every other row, and cancels
/// alpha A x in the others as far as its precision allows.
template <class T>
ProductInputs<T> product_inputs(const CsrView<T>& a, std::string name, std::vector<T> x, T alpha, T beta) {
    ProductInputs<T> inputs{.name = std::move(name), .x = std::move(x), .x_low = {}, .y = {}, .b = {}};
    inputs.x_low = random_vector<T>(a.columns, 2);
    for (std::size_t j = 0; j < inputs.x.size(); ++j)
        inputs.x_low[j] *= std::isfinite(inputs.x[j]) ? std::abs(inputs.x[j]) * unit_roundoff<T> : T(0);
    inputs.b.resize(static_cast<std::size_t>(a.rows));
    spmv(T(1), a, inputs.x, T(0), inputs.b, Accuracy::exact);
    inputs.y = random_vector<T>(a.rows, 3);
    for (std::size_t i = 0; i < inputs.y.size(); i += 2)
        if (const T cancelling = -alpha * inputs.b[i] / beta; std::isfinite(cancelling)) inputs.y[i] = cancelling;
    return inputs;
}

}  // namespace solver::blas2
