#include "matrices/elasticity.hpp"

#include "matrices/row_by_row.hpp"

#include <vector>

namespace solver::matrices {
namespace {

/// A node of an element, seen from the element's centre: each is -1 or 1, the signs of its shape function's slopes.
struct Corner {
    int x, y;
};

/// 18 (1 - nu^2)/E times the integral over an element that couples displacement `c` at node a with displacement `d` at b,
/// where the shape functions' integrals are 1/3 or 1/6 of a product of values, +-1 of one of slopes, +-1/4 of a mixed one.
double stiffness(Corner a, int c, Corner b, int d) {
    if (c != d) return 1.5 * (a.x * b.y + a.y * b.x);
    const int by_x = a.x * b.x * (a.y == b.y ? 2 : 1), by_y = a.y * b.y * (a.x == b.x ? 2 : 1);
    return c == 0 ? 3 * by_x + by_y : by_x + 3 * by_y;
}

/// What displacement c at a node feels of displacement d at the node (dx, dy) away: the sum over the elements they share.
double coupling(std::int64_t n, std::int64_t i, std::int64_t j, int c, int dx, int dy, int d) {
    double sum = 0;
    for (const int y : {-1, 1}) {
        for (const int x : {-1, 1}) {
            // The element to the side (x, y) of the node, which is its corner (-x, -y).
            const bool exists = i + (x - 1) / 2 < n && 0 <= j + (y - 1) / 2 && j + (y - 1) / 2 < n;
            const bool shared = dx * x >= 0 && dy * y >= 0;
            if (exists && shared) sum += stiffness({-x, -y}, c, {dx == 0 ? -x : x, dy == 0 ? -y : y}, d);
        }
    }
    return sum;
}

}  // namespace

CsrMatrix<double> elasticity2d(std::int64_t n) {
    const std::int64_t rows = 2 * n * (n + 1);
    CsrMatrix<double> matrix = empty_matrix(rows, elasticity2d_entries(rows));
    std::vector<RowEntry> row;
    const auto append = [&](std::int64_t i, std::int64_t j, int c) {
        row.clear();
        for (int dy = -1; dy <= 1; ++dy) {
            for (int dx = -1; dx <= 1; ++dx) {
                if (i + dx < 1 || i + dx > n || j + dy < 0 || j + dy > n) continue;
                for (const int d : {0, 1}) {
                    const double value = coupling(n, i, j, c, dx, dy, d);
                    const std::int64_t column = 2 * ((j + dy) * n + i + dx - 1) + d;
                    if (value != 0) row.push_back({static_cast<std::int32_t>(column), value});
                }
            }
        }
        append_row(matrix, row);
    };
    for (std::int64_t j = 0; j <= n; ++j)
        for (std::int64_t i = 1; i <= n; ++i)
            for (const int c : {0, 1}) append(i, j, c);
    return matrix;
}

std::vector<double> elasticity2d_rigid_body_modes(std::int64_t n) {
    const std::int64_t rows = 2 * n * (n + 1);
    std::vector<double> modes(static_cast<std::size_t>(3 * rows));
    for (std::int64_t node = 0; node < rows / 2; ++node) {
        modes[2 * node] = 1;
        modes[rows + 2 * node + 1] = 1;
        modes[2 * rows + 2 * node] = -static_cast<double>(node / n);
        modes[2 * rows + 2 * node + 1] = static_cast<double>(node % n + 1);
    }
    return modes;
}

}  // namespace solver::matrices
