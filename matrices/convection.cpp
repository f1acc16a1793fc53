#include "matrices/convection.hpp"

#include "matrices/grid.hpp"

#include <array>

namespace solver::matrices {
namespace {

/// How strongly a point feels its neighbours upstream and downstream of a component of the wind that is not negative.
struct Coupling {
    double upstream, downstream;
};

Coupling central(double wind) { return {1 + wind, 1 - wind}; }

Coupling upwind(double wind) { return {1 + 2 * wind, 1}; }

template <class Scheme>
CsrMatrix<double> in_helical_wind(std::int64_t n, double peclet, const Scheme& scheme) {
    const auto coordinate = [n](std::int64_t i) {
        return static_cast<double>(2 * (i + 1) - (n + 1)) / static_cast<double>(n + 1);
    };
    return on_grid(n, n, n, 7, [&](std::int64_t i, std::int64_t j, std::int64_t) {
        const double x = coordinate(i), y = coordinate(j);
        const std::array wind{y * (1 - x * x), -x * (1 - y * y), 0.5};
        std::array<Neighbour, 7> stencil{};  // the last one is the point itself
        for (std::size_t direction = 0; direction < 3; ++direction) {
            const bool forward = wind[direction] >= 0;
            const Coupling coupling = scheme(peclet * (forward ? wind[direction] : -wind[direction]));
            Neighbour& before = stencil[2 * direction];
            Neighbour& after = stencil[2 * direction + 1];
            before.offset[direction] = -1;
            after.offset[direction] = 1;
            before.value = -(forward ? coupling.upstream : coupling.downstream);
            after.value = -(forward ? coupling.downstream : coupling.upstream);
            stencil[6].value += coupling.upstream + coupling.downstream;
        }
        return stencil;
    });
}

}  // namespace

CsrMatrix<double> convection_weak(std::int64_t n) { return in_helical_wind(n, 0.125, central); }

CsrMatrix<double> convection_medium(std::int64_t n) { return in_helical_wind(n, 1, central); }

CsrMatrix<double> convection_strong(std::int64_t n) { return in_helical_wind(n, 128, upwind); }

}  // namespace solver::matrices
