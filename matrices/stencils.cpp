#include "matrices/stencils.hpp"

#include "matrices/grid.hpp"
#include "matrices/random.hpp"

#include <array>
#include <vector>

namespace solver::matrices {
namespace {

/// The center and its neighbours that differ in at most `directions` directions of the first `dimensions`.
std::vector<Neighbour> neighbours(int dimensions, int directions) {
    std::vector<Neighbour> stencil;
    for (int z = dimensions == 3 ? -1 : 0; z <= (dimensions == 3 ? 1 : 0); ++z)
        for (int y = -1; y <= 1; ++y)
            for (int x = -1; x <= 1; ++x)
                if (x * x + y * y + z * z <= directions) stencil.push_back({{x, y, z}, -1.0});
    for (Neighbour& point : stencil)
        if (point.offset == std::array<int, 3>{}) point.value = static_cast<double>(stencil.size() - 1);
    return stencil;
}

CsrMatrix<double> constant_stencil(std::int64_t n, int dimensions, int directions) {
    const std::vector<Neighbour> stencil = neighbours(dimensions, directions);
    return on_grid(n, n, dimensions == 3 ? n : 1, static_cast<std::int64_t>(stencil.size()),
                   [&](std::int64_t, std::int64_t, std::int64_t) -> const std::vector<Neighbour>& { return stencil; });
}

CsrMatrix<double> random_stencil(std::int64_t n, int dimensions, int directions) {
    std::vector<Neighbour> stencil = neighbours(dimensions, directions);
    Neighbour& center = stencil[stencil.size() / 2];
    Random random(1);
    return on_grid(n, n, dimensions == 3 ? n : 1, static_cast<std::int64_t>(stencil.size()),
                   [&](std::int64_t, std::int64_t, std::int64_t) -> const std::vector<Neighbour>& {
                       double sum = 0;
                       for (Neighbour& point : stencil)
                           if (&point != &center) sum -= point.value = random.uniform() - 1;
                       center.value = sum;
                       return stencil;
                   });
}

}  // namespace

CsrMatrix<double> poisson2d(std::int64_t n) { return constant_stencil(n, 2, 1); }

CsrMatrix<double> poisson3d(std::int64_t n) { return constant_stencil(n, 3, 1); }

CsrMatrix<double> stencil27(std::int64_t n) { return constant_stencil(n, 3, 3); }

CsrMatrix<double> poisson2d_random(std::int64_t n) { return random_stencil(n, 2, 1); }

CsrMatrix<double> poisson3d_random(std::int64_t n) { return random_stencil(n, 3, 1); }

CsrMatrix<double> stencil27_random(std::int64_t n) { return random_stencil(n, 3, 3); }

CsrMatrix<double> convection_diffusion(std::int64_t n) {
    const double h = 2.0 / static_cast<double>(n + 1);
    const auto coordinate = [&](std::int64_t i) { return static_cast<double>(i + 1) * h - 1; };
    return on_grid(n, n, 1, 5, [&](std::int64_t i, std::int64_t j, std::int64_t) {
        const double x = coordinate(i), y = coordinate(j);
        const double wind_x = 200 * h * (2 * y * (1 - x * x));
        const double wind_y = -200 * h * (2 * x * (1 - y * y));
        const double west = 1 + (wind_x > 0 ? wind_x : 0), east = 1 - (wind_x < 0 ? wind_x : 0);
        const double south = 1 + (wind_y > 0 ? wind_y : 0), north = 1 - (wind_y < 0 ? wind_y : 0);
        return std::array<Neighbour, 5>{{{{0, -1, 0}, -south},
                                         {{-1, 0, 0}, -west},
                                         {{0, 0, 0}, west + east + south + north},
                                         {{1, 0, 0}, -east},
                                         {{0, 1, 0}, -north}}};
    });
}

}  // namespace solver::matrices
