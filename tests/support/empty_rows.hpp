#pragma once

/// Graphs with points that no edge meets.

#include "solver/csr_matrix.hpp"

#include <cstdint>
#include <vector>

namespace solver::testing {

/// The graph Laplacian of a square grid of side^2 points, plus a multiple of I, with an empty row and column after each so many
/// of them; with none for 0.
template <class T>
CsrMatrix<T> with_points_apart(std::int32_t side, double shift, std::int32_t each) {
    const std::int32_t n = side * side;
    const auto place = [=](std::int32_t i) { return each == 0 ? i : i + i / each; };
    std::vector<Entry<T>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        if (shift != 0) entries.push_back({place(i), place(i), T(shift)});
        for (const std::int32_t step : {1, side}) {
            const std::int32_t j = i + step;
            if ((step == 1 && j % side == 0) || j >= n) continue;
            const std::int32_t p = place(i), q = place(j);
            for (const Entry<T>& entry : {Entry<T>{p, p, T(1)}, {q, q, T(1)}, {p, q, T(-1)}, {q, p, T(-1)}})
                entries.push_back(entry);
        }
    }
    return csr_from_entries<T>(place(n - 1) + 2, place(n - 1) + 2, entries);
}

}  // namespace solver::testing
