#pragma once

/// Matrices that were put together wrongly, whose arrays have the right lengths.

#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace solver::testing {

template <class T>
struct BrokenMatrix {
    CsrMatrix<T> matrix;
    std::string message;
};

/// Of 4 rows and columns: columns counted from 1, or that are no columns at all, and offsets that fall, from far behind the
/// arrays or to far before them.
template <class T>
std::vector<BrokenMatrix<T>> broken_matrices() {
    constexpr std::int64_t far = 1000000, farthest = std::numeric_limits<std::int64_t>::max();
    const CsrMatrix<T> whole{4, 4, {0, 1, 2, 3, 4}, {0, 1, 2, 3}, {T(1), T(2), T(3), T(4)}};
    std::vector<BrokenMatrix<T>> broken;
    const auto with_columns = [&](std::vector<std::int32_t> columns, const std::string& seen) {
        broken.push_back({whole, "check CSR matrix: entry " + seen + ", counted from 0; the matrix has 4 columns"});
        broken.back().matrix.column_indices = std::move(columns);
    };
    const auto with_offsets = [&](std::vector<std::int64_t> offsets, const std::string& seen) {
        broken.push_back({whole, "check CSR matrix: row_offsets falls from " + seen + "; it must not fall"});
        broken.back().matrix.row_offsets = std::move(offsets);
    };
    with_columns({1, 2, 3, 4}, "3 is in column 4");
    with_columns({0, -1, 2, 3}, "1 is in column -1");
    with_columns({0, 1, std::numeric_limits<std::int32_t>::min(), 3}, "2 is in column -2147483648");
    with_columns({std::numeric_limits<std::int32_t>::max(), 1, 2, 3}, "0 is in column 2147483647");
    with_offsets({0, 1, far, 3, 4}, "1000000 to 3 behind row 2");
    with_offsets({0, -far, 2, 3, 4}, "0 to -1000000 behind row 0");
    with_offsets({0, 2, 1, 3, 4}, "2 to 1 behind row 1");
    with_offsets({0, farthest, -farthest, 3, 4}, "9223372036854775807 to -9223372036854775807 behind row 1");
    return broken;
}

/// make(view) of every broken matrix says what is wrong with it.
template <class T, class Make>
void expect_broken_matrices_refused(const Make& make) {
    for (const BrokenMatrix<T>& broken : broken_matrices<T>())
        EXPECT_THAT([&] { make(broken.matrix.view()); }, ::testing::ThrowsMessage<InvalidArgument>(broken.message));
}

}  // namespace solver::testing
