#include "matrices/diffusion.hpp"

#include "matrices/grid.hpp"
#include "matrices/random.hpp"

#include <algorithm>
#include <array>

namespace solver::matrices {
namespace {

template <std::size_t points>
CsrMatrix<double> constant_on_square(std::int64_t n, const std::array<Neighbour, points>& stencil) {
    return on_grid(
        n, n, 1, points, [&](std::int64_t, std::int64_t, std::int64_t) -> const auto& { return stencil; });
}

/// 2 / (1/a + 1/b), with equal bits whichever comes first, and a itself where both are equal.
double harmonic_mean(double a, double b) {
    const auto [low, high] = std::minmax(a, b);
    return low * (2 * high / (low + high));
}

/// Finite volumes around the points of a cube.
template <class Coefficient>
CsrMatrix<double> finite_volumes(std::int64_t n, const Coefficient& coefficient) {
    constexpr std::array<std::array<int, 3>, 6> directions{
        {{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    const auto inside = [&](std::int64_t i) { return 0 <= i && i < n; };
    return on_grid(n, n, n, 7, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
        const double here = coefficient(x, y, z);
        std::array<Neighbour, 7> stencil{};  // the last one is the point itself
        for (std::size_t i = 0; i < directions.size(); ++i) {
            const std::int64_t u = x + directions[i][0], v = y + directions[i][1], w = z + directions[i][2];
            const bool is_point = inside(u) && inside(v) && inside(w);
            const double coupling = is_point ? harmonic_mean(here, coefficient(u, v, w)) : here;
            stencil[i] = {directions[i], -coupling};
            stencil[6].value += coupling;
        }
        return stencil;
    });
}

}  // namespace

CsrMatrix<double> anisotropic(std::int64_t n) {
    return constant_on_square<5>(
        n, {{{{0, -1, 0}, -1}, {{-1, 0, 0}, -1000}, {{0, 0, 0}, 2002}, {{1, 0, 0}, -1000}, {{0, 1, 0}, -1}}});
}

CsrMatrix<double> anisotropic_rotated(std::int64_t n) {
    // 25 K for the directions (4, 3)/5 and (-3, 4)/5.
    constexpr double xx = 1000 * 16 + 9, yy = 1000 * 9 + 16, xy = (1000 - 1) * 12;
    // 6 times what bilinear elements make of it.
    constexpr double corner = -(xx + yy), along_x = 2 * yy - 4 * xx, along_y = 2 * xx - 4 * yy;
    return constant_on_square<9>(n, {{{{-1, -1, 0}, corner - 3 * xy},
                                      {{0, -1, 0}, along_y},
                                      {{1, -1, 0}, corner + 3 * xy},
                                      {{-1, 0, 0}, along_x},
                                      {{0, 0, 0}, 8 * (xx + yy)},
                                      {{1, 0, 0}, along_x},
                                      {{-1, 1, 0}, corner + 3 * xy},
                                      {{0, 1, 0}, along_y},
                                      {{1, 1, 0}, corner - 3 * xy}}});
}

CsrMatrix<double> jumping_blocks(std::int64_t n) {
    return finite_volumes(n, [n](std::int64_t x, std::int64_t y, std::int64_t z) {
        const std::int64_t block = 8 * x / n + 8 * y / n + 8 * z / n;
        return block % 2 == 0 ? 1e4 : 1e-4;
    });
}

CsrMatrix<double> jumping_random(std::int64_t n) {
    constexpr std::array powers{1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4};
    return finite_volumes(n, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
        // The first numbers of a generator whose seed is the block: a hash of its place.
        Random random(static_cast<std::uint64_t>(((z / 4) << 42) + ((y / 4) << 21) + x / 4));
        return random.coin() ? 1.0 : powers[static_cast<std::size_t>(random.below(powers.size()))];
    });
}

}  // namespace solver::matrices
