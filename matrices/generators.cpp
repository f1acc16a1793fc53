#include "matrices/generators.hpp"

#include "matrices/dc2_like.hpp"
#include "matrices/power_law.hpp"
#include "matrices/stencils.hpp"
#include "matrices/thousandths.hpp"

#include "solver/error.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <array>
#include <charconv>
#include <limits>

namespace solver::matrices {
namespace {

struct Family {
    std::string_view prefix;
    int dimensions;  // N^dimensions columns
    std::int64_t (*entries)(std::int64_t n, std::int64_t rows);
    CsrMatrix<double> (*make)(std::int64_t n);
};

template <int points>
std::int64_t stencil_entries(std::int64_t, std::int64_t rows) {
    return points * rows;
}

constexpr std::array families{
    Family{"poisson2d_random_", 2, stencil_entries<5>, poisson2d_random},
    Family{"poisson3d_random_", 3, stencil_entries<7>, poisson3d_random},
    Family{"stencil27_random_", 3, stencil_entries<27>, stencil27_random},
    Family{"poisson2d_", 2, stencil_entries<5>, poisson2d},
    Family{"poisson3d_", 3, stencil_entries<7>, poisson3d},
    Family{"stencil27_", 3, stencil_entries<27>, stencil27},
    Family{"convection_diffusion_", 2, stencil_entries<5>, convection_diffusion},
    Family{"power_law_", 1, [](std::int64_t n, std::int64_t) { return power_law_entries(n); }, power_law},
    Family{"thousandths_", 1, [](std::int64_t n, std::int64_t) { return n; }, thousandths},
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
    GeneratorKind{"power_law_N.mtx", "N rows, a few of them huge, random columns: balance of work"},
    GeneratorKind{"thousandths_N.mtx", "one row of N entries 0.001: the sum that Kahan's summation is shown with"},
};
static_assert(kinds.size() == families.size() + 1);

std::string_view purpose_of(std::string_view prefix) {
    for (const GeneratorKind& kind : kinds)
        if (kind.pattern.starts_with(prefix)) return kind.purpose;
    return {};
}

std::int64_t memory_of_this_machine() { return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE); }

/// N of a name, within what 32-bit columns can count.
std::int64_t checked_size(std::string_view name, std::string_view digits, int dimensions) {
    constexpr std::int64_t most_rows = std::numeric_limits<std::int32_t>::max();
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    const bool a_number =
        end == digits.data() + digits.size() && (error == std::errc() || error == std::errc::result_out_of_range);
    if (digits.empty() || !a_number || (error == std::errc() && n < 1))
        throw InvalidArgument(fmt::format("matrix '{}': '{}' stands where a size N >= 1 is expected, as in {}100.mtx", name,
                                          digits, name.substr(0, name.size() - digits.size())));
    std::int64_t rows = 1;
    for (int i = 0; i < dimensions; ++i) {
        if (error != std::errc() || n > most_rows / rows)
            throw InvalidArgument(
                fmt::format("matrix '{}': N = {} gives more than {} rows, which is what 32-bit column indices can "
                            "count; choose a smaller N",
                            name, digits, most_rows));
        rows *= n;
    }
    return n;
}

void require_memory(std::string_view name, std::int64_t rows, std::int64_t entries) {
    const std::int64_t needed = rows * 8 + entries * (8 + 4);
    const std::int64_t available = memory_of_this_machine();
    constexpr double gigabyte = 1e9;
    if (needed > available)
        throw InvalidArgument(
            fmt::format("matrix '{}' has about {} entries and takes {:.1f} GB; this machine has {:.1f} GB of memory; "
                        "choose a smaller N",
                        name, entries, static_cast<double>(needed) / gigabyte, static_cast<double>(available) / gigabyte));
}

Generator member_of(const Family& family, std::string_view name) {
    const std::int64_t n = checked_size(name, name.substr(family.prefix.size()), family.dimensions);
    std::int64_t rows = 1;
    for (int i = 0; i < family.dimensions; ++i) rows *= n;
    require_memory(name, rows, family.entries(n, rows));
    return {fmt::format("{}{}.mtx", family.prefix, n), purpose_of(family.prefix), [make = family.make, n] { return make(n); }};
}

}  // namespace

std::span<const GeneratorKind> generator_kinds() { return kinds; }

std::optional<Generator> find_generator(std::string_view name) {
    if (name.ends_with(".mtx")) name.remove_suffix(4);
    if (name == dc2_like_name) return Generator{"dc2_like.mtx", purpose_of(dc2_like_name), dc2_like};
    for (const Family& family : families)
        if (name.starts_with(family.prefix)) return member_of(family, name);
    return std::nullopt;
}

}  // namespace solver::matrices
