#pragma once

/// The truth beside which products are judged.

#include "solver/numeric/superaccumulator.hpp"
#include "solver/views.hpp"

#include <cstdint>
#include <thread>
#include <vector>

namespace solver {

/// RN(A x), row by row in a superaccumulator.
template <class T>
std::vector<T> exact_product(const CsrView<T>& a, const std::vector<T>& x, int threads) {
    std::vector<T> y(static_cast<std::size_t>(a.rows));
    const auto make_rows = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            Superaccumulator sum;
            for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
                sum.add_product(a.values[k], x[a.column_indices[k]]);
            y[row] = sum.result<T>();
        }
    };
    std::vector<std::jthread> others;
    for (int part = 1; part < threads; ++part)
        others.emplace_back(make_rows, a.rows * part / threads, a.rows * (part + 1) / threads);
    make_rows(0, a.rows / threads);
    return y;
}

}  // namespace solver
