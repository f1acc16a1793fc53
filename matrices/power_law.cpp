#include "matrices/power_law.hpp"

#include "matrices/random.hpp"
#include "matrices/row_by_row.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

namespace solver::matrices {
namespace {

std::int64_t length_of_rank(std::int64_t rank, std::int64_t n) { return std::min(n, 2 + n / (4 * (rank + 1))); }

}  // namespace

// 1 + 1/2 + ... + 1/n is at most 1 + log n, hence at most the number of bits of n.
std::int64_t power_law_entries(std::int64_t n) { return 3 * n + n * std::bit_width(static_cast<std::uint64_t>(n)) / 4 + 1; }

CsrMatrix<double> power_law(std::int64_t n) {
    Random random(1);
    std::vector<std::int64_t> ranks(static_cast<std::size_t>(n));
    std::iota(ranks.begin(), ranks.end(), 0);
    random.shuffle(ranks);

    CsrMatrix<double> matrix = empty_matrix(n, power_law_entries(n));
    std::vector<RowEntry> row;
    for (std::int64_t i = 0; i < n; ++i) {
        row.clear();
        double diagonal = 1;
        const std::int64_t length = length_of_rank(ranks[static_cast<std::size_t>(i)], n);
        for (std::int64_t k = 0; k < length; ++k) {
            // One column from each of `length` parts of equal size: none comes twice.
            const std::int64_t begin = k * n / length, end = (k + 1) * n / length;
            const std::int64_t column = begin + random.below(end - begin);
            const double value = static_cast<double>(random.below(2'097'151) - 1'048'575) * 0x1p-20;
            if (column == i) continue;
            row.push_back({static_cast<std::int32_t>(column), value});
            diagonal += value < 0 ? -value : value;
        }
        row.push_back({static_cast<std::int32_t>(i), diagonal});
        append_row(matrix, row);
    }
    return matrix;
}

}  // namespace solver::matrices
