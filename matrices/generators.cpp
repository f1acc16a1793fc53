#include "matrices/generators.hpp"

#include "matrices/cancelling.hpp"
#include "matrices/convection.hpp"
#include "matrices/dc2_like.hpp"
#include "matrices/diffusion.hpp"
#include "matrices/elasticity.hpp"
#include "matrices/graph_laplacian.hpp"
#include "matrices/helmholtz.hpp"
#include "matrices/power_law.hpp"
#include "matrices/power_network.hpp"
#include "matrices/stencils.hpp"
#include "matrices/stokes.hpp"
#include "matrices/thousandths.hpp"
#include "matrices/wilson.hpp"

#include "core/machine.hpp"
#include "solver/complex.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace solver::matrices {
namespace {

struct Family {
    std::string_view prefix;
    double (*size)(double n);  // rows or columns, whichever are more; exact up to 2^53
    std::int64_t (*entries)(std::int64_t n, std::int64_t size);
    CsrMatrix<double> (*make)(std::int64_t n);
    CsrMatrix<std::complex<double>> (*make_complex)(std::int64_t n) = nullptr;  // instead
};

double line(double n) { return n; }
double square(double n) { return n * n; }
double cube(double n) { return n * n * n; }

template <int points>
std::int64_t stencil_entries(std::int64_t, std::int64_t rows) {
    return points * rows;
}

constexpr std::array families{
    Family{"poisson2d_random_", square, stencil_entries<5>, poisson2d_random},
    Family{"poisson3d_random_", cube, stencil_entries<7>, poisson3d_random},
    Family{"stencil27_random_", cube, stencil_entries<27>, stencil27_random},
    Family{"poisson2d_", square, stencil_entries<5>, poisson2d},
    Family{"poisson3d_", cube, stencil_entries<7>, poisson3d},
    Family{"stencil27_", cube, stencil_entries<27>, stencil27},
    Family{"convection_diffusion_", square, stencil_entries<5>, convection_diffusion},
    Family{"anisotropic_rotated_", square, stencil_entries<9>, anisotropic_rotated},
    Family{"anisotropic_", square, stencil_entries<5>, anisotropic},
    Family{"jumping_blocks_", cube, stencil_entries<7>, jumping_blocks},
    Family{"jumping_random_", cube, stencil_entries<7>, jumping_random},
    Family{"convection_weak_", cube, stencil_entries<7>, convection_weak},
    Family{"convection_medium_", cube, stencil_entries<7>, convection_medium},
    Family{"convection_strong_", cube, stencil_entries<7>, convection_strong},
    Family{"elasticity2d_", [](double n) { return 2 * n * (n + 1); },
           [](std::int64_t, std::int64_t rows) { return elasticity2d_entries(rows); }, elasticity2d},
    Family{"stokes2d_", [](double n) { return 3 * n * n - 2 * n; },
           [](std::int64_t, std::int64_t rows) { return stokes2d_entries(rows); }, stokes2d},
    Family{"graph_laplacian_", line, [](std::int64_t n, std::int64_t) { return graph_laplacian_entries(n); }, graph_laplacian},
    Family{"power_law_", line, [](std::int64_t n, std::int64_t) { return power_law_entries(n); }, power_law},
    Family{"cancelling_", line, [](std::int64_t n, std::int64_t) { return cancelling_entries(n); }, cancelling},
    Family{"thousandths_", line, [](std::int64_t n, std::int64_t) { return n; }, thousandths},
    Family{"helmholtz_", square, stencil_entries<4 * 5>, nullptr, helmholtz},
    Family{"power_network_", line, stencil_entries<4 * 4>, nullptr, power_network},
};
constexpr std::string_view dc2_like_name = "dc2_like";

constexpr std::array kinds{
    GeneratorKind{"dc2_like.mtx", "a circuit like IBM_EDA/dc2: two huge rows, cancellation that single precision loses"},
    GeneratorKind{"poisson2d_N.mtx", "Laplace operator, N x N points, 5-point stencil: symmetric, easy, short rows"},
    GeneratorKind{"poisson3d_N.mtx", "Laplace operator, N x N x N points, 7-point stencil: symmetric, easy"},
    GeneratorKind{"stencil27_N.mtx", "N x N x N points, 27-point stencil (26, -1): speed of long regular rows"},
    GeneratorKind{"poisson2d_random_N.mtx", "5-point stencil with random entries: unsymmetric, no two entries alike"},
    GeneratorKind{"poisson3d_random_N.mtx", "7-point stencil with random entries"},
    GeneratorKind{"stencil27_random_N.mtx", "27-point stencil with random entries"},
    GeneratorKind{"convection_diffusion_N.mtx", "recirculating wind, N x N points, upwind: unsymmetric"},
    GeneratorKind{"anisotropic_N.mtx", "diffusion 1000 : 1 along the axes of N x N points, 5-point: symmetric"},
    GeneratorKind{"anisotropic_rotated_N.mtx", "the same rotated by 37 degrees, bilinear elements, 9-point: symmetric"},
    GeneratorKind{"jumping_blocks_N.mtx", "diffusion, 1e4 and 1e-4 on a chequerboard of blocks, N x N x N points: symmetric"},
    GeneratorKind{"jumping_random_N.mtx", "diffusion, 1e-4 to 1e4 in random inclusions, N x N x N points: symmetric"},
    GeneratorKind{"convection_weak_N.mtx", "helical wind, N x N x N points, cell Peclet number 1/8, central: unsymmetric"},
    GeneratorKind{"convection_medium_N.mtx", "the same, cell Peclet number 1, central"},
    GeneratorKind{"convection_strong_N.mtx", "the same, cell Peclet number 128, upwind"},
    GeneratorKind{"elasticity2d_N.mtx",
                  "a clamped plate of N x N bilinear elements, 2 N (N + 1) unknowns: symmetric, a system"},
    GeneratorKind{"stokes2d_N.mtx", "slow flow in N x N cells, 3 N^2 - 2 N unknowns: saddle point, zeros on the diagonal"},
    GeneratorKind{"graph_laplacian_N.mtx", "a network of N vertices with a few hubs, one grounded: symmetric"},
    GeneratorKind{"power_law_N.mtx", "N rows, a few of them huge, random columns: balance of work"},
    GeneratorKind{"cancelling_N.mtx", "N rows, one in twenty of condition 1e20 to 1e60 with ones: what no filter decides"},
    GeneratorKind{"thousandths_N.mtx", "one row of N entries 0.001: the sum that Kahan's summation is shown with"},
    GeneratorKind{"helmholtz_N.mtx", "sound in N x N points, ten a wavelength, absorbing edges: complex symmetric, indefinite"},
    GeneratorKind{"power_network_N.mtx", "admittances of a grid of N buses: complex symmetric"},
    GeneratorKind{"wilson_L_T.mtx", "lattice QCD, Wilson's Dirac operator on L^3 x T sites; wilson_8_8_0.165: with this kappa"},
};
static_assert(kinds.size() == families.size() + 2);

std::string_view purpose_of(std::string_view prefix) {
    for (const GeneratorKind& kind : kinds)
        if (kind.pattern.starts_with(prefix)) return kind.purpose;
    return {};
}

/// N of a name, within what 32-bit columns can count.
std::int64_t checked_size(std::string_view name, std::string_view digits, const Family& family) {
    constexpr std::int64_t most_rows = std::numeric_limits<std::int32_t>::max();
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    const bool a_number =
        end == digits.data() + digits.size() && (error == std::errc() || error == std::errc::result_out_of_range);
    if (digits.empty() || !a_number || (error == std::errc() && n < 1))
        throw InvalidArgument(fmt::format("matrix '{}': '{}' stands where a size N >= 1 is expected, as in {}100.mtx", name,
                                          digits, name.substr(0, name.size() - digits.size())));
    if (error != std::errc() || family.size(static_cast<double>(n)) > most_rows)
        throw InvalidArgument(
            fmt::format("matrix '{}': N = {} gives more than {} rows, which is what 32-bit column indices can "
                        "count; choose a smaller N",
                        name, digits, most_rows));
    return n;
}

}  // namespace

void require_memory(std::string_view name, std::int64_t rows, std::int64_t entries) {
    const std::int64_t needed = rows * 8 + entries * (8 + 4);
    const std::int64_t available = available_memory();
    constexpr double gigabyte = 1e9;
    if (needed > available)
        throw InvalidArgument(
            fmt::format("matrix '{}' has about {} entries and takes {:.1f} GB; {:.1f} GB of memory may be used; "
                        "choose a smaller N",
                        name, entries, static_cast<double>(needed) / gigabyte, static_cast<double>(available) / gigabyte));
}

Generator Generator::complex(std::string name, std::string_view purpose,
                             std::function<CsrMatrix<std::complex<double>>()> make) {
    return {std::move(name), purpose, [make] { return real_form(make().view()); }, make};
}

namespace {

Generator member_of(const Family& family, std::string_view name) {
    const std::int64_t n = checked_size(name, name.substr(family.prefix.size()), family);
    const auto size = static_cast<std::int64_t>(family.size(static_cast<double>(n)));
    require_memory(name, size, family.entries(n, size));
    std::string full_name = fmt::format("{}{}.mtx", family.prefix, n);
    if (family.make_complex != nullptr)
        return Generator::complex(std::move(full_name), purpose_of(family.prefix),
                                  [make = family.make_complex, n] { return make(n); });
    return {std::move(full_name), purpose_of(family.prefix), [make = family.make, n] { return make(n); }};
}

}  // namespace

std::span<const GeneratorKind> generator_kinds() { return kinds; }

std::optional<Generator> find_generator(std::string_view name) {
    if (name.ends_with(".mtx")) name.remove_suffix(4);
    if (name == dc2_like_name) return Generator{"dc2_like.mtx", purpose_of(dc2_like_name), dc2_like};
    if (std::optional<Generator> generator = find_wilson(name)) {
        generator->purpose = purpose_of("wilson_");
        return generator;
    }
    for (const Family& family : families)
        if (name.starts_with(family.prefix)) return member_of(family, name);
    return std::nullopt;
}

}  // namespace solver::matrices
