#include "matrices/graph_laplacian.hpp"

#include "matrices/random.hpp"
#include "matrices/row_by_row.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace solver::matrices {
namespace {

constexpr std::int64_t most_joined = 3;

/// The ends of all edges, the later vertex first; to draw one of them is to draw a vertex by its degree.
std::vector<std::int32_t> edges_of_attachment(std::int64_t n) {
    Random random(1);
    std::vector<std::int32_t> ends;
    ends.reserve(static_cast<std::size_t>(2 * most_joined * n));
    std::array<std::int32_t, most_joined> joined{};
    for (std::int64_t vertex = 1; vertex < n; ++vertex) {
        const auto wanted = static_cast<std::size_t>(std::min(vertex, most_joined));
        for (std::size_t count = 0; count < wanted;) {
            const std::int64_t drawn = ends.empty() ? 0 : ends[static_cast<std::size_t>(random.below(std::ssize(ends)))];
            const auto end = joined.begin() + static_cast<std::ptrdiff_t>(count);
            if (std::find(joined.begin(), end, drawn) == end) joined[count++] = static_cast<std::int32_t>(drawn);
        }
        for (const std::int32_t predecessor : std::span(joined).first(wanted))
            ends.insert(ends.end(), {static_cast<std::int32_t>(vertex), predecessor});
    }
    return ends;
}

/// Where the neighbours of each vertex begin in a list of all, and where the last one's end.
std::vector<std::int64_t> begins_of(std::int64_t n, const std::vector<std::int32_t>& ends) {
    std::vector<std::int64_t> begins(static_cast<std::size_t>(n) + 1);
    for (const std::int32_t vertex : ends) ++begins[static_cast<std::size_t>(vertex) + 1];
    for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
    return begins;
}

std::vector<std::int32_t> neighbours_of(const std::vector<std::int32_t>& ends, std::vector<std::int64_t> next) {
    std::vector<std::int32_t> neighbours(ends.size());
    const auto append = [&](std::int32_t vertex, std::int32_t neighbour) {
        neighbours[static_cast<std::size_t>(next[static_cast<std::size_t>(vertex)]++)] = neighbour;
    };
    for (std::size_t i = 0; i < ends.size(); i += 2) {
        append(ends[i], ends[i + 1]);
        append(ends[i + 1], ends[i]);
    }
    return neighbours;
}

}  // namespace

CsrMatrix<double> graph_laplacian(std::int64_t n) {
    std::vector<std::int32_t> ends = edges_of_attachment(n);
    const std::vector<std::int64_t> begins = begins_of(n, ends);
    const std::vector<std::int32_t> neighbours = neighbours_of(ends, begins);
    ends = {};

    CsrMatrix<double> matrix = empty_matrix(n, n + std::ssize(neighbours));
    std::vector<RowEntry> row;
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t begin = begins[static_cast<std::size_t>(i)],
                           degree = begins[static_cast<std::size_t>(i) + 1] - begin;
        row.assign({{static_cast<std::int32_t>(i), static_cast<double>(degree + (i == 0 ? 1 : 0))}});
        for (std::int64_t k = begin; k < begin + degree; ++k) row.push_back({neighbours[static_cast<std::size_t>(k)], -1});
        append_row(matrix, row);
    }
    return matrix;
}

}  // namespace solver::matrices
