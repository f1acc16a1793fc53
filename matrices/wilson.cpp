#include "matrices/wilson.hpp"

#include "solver/error.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace solver::matrices {
namespace {

using Complex = std::complex<double>;

/// By components: the operator of std::complex looks for NaN.
Complex product(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// An odd multiple of 2^-31 in (-1, 1), the i-th of a seed's.
double odd_fraction(std::uint64_t seed, std::uint64_t i) {
    std::uint64_t z = ((seed << 48) + i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return static_cast<double>(static_cast<std::int32_t>((z >> 32) | 1)) * 0x1p-31;
}

using ColourVector = std::array<Complex, 3>;
using ColourMatrix = std::array<ColourVector, 3>;

void normalise(ColourVector& row) {
    double square = 0;
    for (const Complex& z : row) square += z.real() * z.real() + z.imag() * z.imag();
    const double norm = std::sqrt(square);
    for (Complex& z : row) z = {z.real() / norm, z.imag() / norm};
}

void subtract_projection(const ColourVector& onto, ColourVector& row) {
    Complex dot = 0;
    for (int c = 0; c < 3; ++c) dot += product(std::conj(onto[c]), row[c]);
    for (int c = 0; c < 3; ++c) row[c] -= product(dot, onto[c]);
}

/// Makes the first two rows orthonormal, twice for the sake of accuracy, and the third the conjugate of their cross product.
void project_to_su3(ColourMatrix& u) {
    normalise(u[0]);
    for (int twice = 0; twice < 2; ++twice) {
        subtract_projection(u[0], u[1]);
        normalise(u[1]);
    }
    for (int c = 0; c < 3; ++c) {
        const int a = (c + 1) % 3, b = (c + 2) % 3;
        u[2][c] = std::conj(product(u[0][a], u[1][b]) - product(u[0][b], u[1][a]));
    }
}

ColourMatrix adjoint(const ColourMatrix& u) {
    ColourMatrix result;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) result[i][j] = std::conj(u[j][i]);
    return result;
}

ColourMatrix product(const ColourMatrix& a, const ColourMatrix& b) {
    ColourMatrix result;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            Complex sum = 0;
            for (int k = 0; k < 3; ++k) sum += product(a[i][k], b[k][j]);
            result[i][j] = sum;
        }
    return result;
}

constexpr int directions = 4;  // x, y, z, time

/// The sites, x fastest, all directions periodic.
struct Lattice {
    std::int64_t length;
    std::int64_t time;

    std::int64_t sites() const { return length * length * length * time; }
    std::int64_t size(int mu) const { return mu == 3 ? time : length; }
    std::int64_t stride(int mu) const {
        std::int64_t stride = 1;
        for (int m = 0; m < mu; ++m) stride *= length;
        return stride;
    }
    std::int64_t coordinate(std::int64_t site, int mu) const { return site / stride(mu) % size(mu); }
    std::int64_t neighbour(std::int64_t site, int mu, int step) const {
        const std::int64_t from = coordinate(site, mu);
        const std::int64_t to = (from + step + size(mu)) % size(mu);
        return site + (to - from) * stride(mu);
    }
};

/// The links from each site in each direction.
class GaugeField {
public:
    GaugeField(const Lattice& lattice, std::uint64_t seed)
        : lattice_(lattice), links_(static_cast<std::size_t>(lattice.sites() * directions)) {
        for (std::size_t l = 0; l < links_.size(); ++l) {
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) {
                    const std::uint64_t k = (l * 9 + static_cast<std::uint64_t>(3 * i + j)) * 2;
                    links_[l][i][j] = {(i == j ? 1.0 : 0.0) + odd_fraction(seed, k), odd_fraction(seed, k + 1)};
                }
            project_to_su3(links_[l]);
        }
        for (int sweep = 0; sweep < 3; ++sweep) smear();
    }

    const ColourMatrix& link(std::int64_t site, int mu) const {
        return links_[static_cast<std::size_t>(site * directions + mu)];
    }

private:
    void smear() {
        std::vector<ColourMatrix> next = links_;
        for (std::int64_t site = 0; site < lattice_.sites(); ++site)
            for (int mu = 0; mu < directions; ++mu) {
                ColourMatrix& sum = next[static_cast<std::size_t>(site * directions + mu)];
                for (int nu = 0; nu < directions; ++nu)
                    if (nu != mu) add_staples(site, mu, nu, sum);
                project_to_su3(sum);
            }
        links_ = std::move(next);
    }

    /// The two ways around the link in the plane of mu and nu, an eighth of each.
    void add_staples(std::int64_t site, int mu, int nu, ColourMatrix& sum) const {
        const std::int64_t above = lattice_.neighbour(site, nu, 1), right = lattice_.neighbour(site, mu, 1),
                           below = lattice_.neighbour(site, nu, -1), below_right = lattice_.neighbour(below, mu, 1);
        const ColourMatrix upper = product(product(link(site, nu), link(above, mu)), adjoint(link(right, nu)));
        const ColourMatrix lower = product(product(adjoint(link(below, nu)), link(below, mu)), link(below_right, nu));
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) sum[i][j] += 0.125 * (upper[i][j] + lower[i][j]);
    }

    Lattice lattice_;
    std::vector<ColourMatrix> links_;
};

/// Dirac's basis: gamma_k = (0, -i s_k; i s_k, 0) with Pauli's matrices s_k, gamma_4 = diag(1, 1, -1, -1).
Complex gamma(int mu, int a, int b) {
    static constexpr Complex pauli[3][2][2] = {{{0, 1}, {1, 0}}, {{0, {0, -1}}, {{0, 1}, 0}}, {{1, 0}, {0, -1}}};
    if (mu == 3) return a == b ? (a < 2 ? 1 : -1) : 0;
    if ((a < 2) == (b < 2)) return 0;
    const Complex s = pauli[mu][a % 2][b % 2];
    return a < 2 ? Complex(s.imag(), -s.real()) : Complex(-s.imag(), s.real());
}

/// (1 -+ gamma_mu)_ab, a minus sign for a step forward.
Complex projector(int mu, bool forward, int a, int b) {
    const Complex g = gamma(mu, a, b);
    return (a == b ? Complex(1) : Complex(0)) + (forward ? -g : g);
}

constexpr int spins = 4;
constexpr int colours = 3;
constexpr std::int64_t entries_a_row = 41;  // with one more than there are

std::int32_t unknown(std::int64_t site, int spin, int colour) {
    return static_cast<std::int32_t>((site * spins + spin) * colours + colour);
}

/// What a step couples the unknown (site, a, i) to.
void append_step(const Lattice& lattice, const GaugeField& field, double kappa, std::int64_t site, int a, int i, int mu,
                 bool forward, std::vector<Entry<Complex>>& entries) {
    const std::int64_t to = lattice.neighbour(site, mu, forward ? 1 : -1);
    const bool crosses = mu == 3 && lattice.coordinate(site, mu) == (forward ? lattice.time - 1 : 0);
    const double factor = crosses ? kappa : -kappa;
    const ColourMatrix u = forward ? field.link(site, mu) : adjoint(field.link(to, mu));
    for (int b = 0; b < spins; ++b) {
        const Complex spin = projector(mu, forward, a, b);
        if (spin == Complex(0)) continue;
        for (int j = 0; j < colours; ++j) {
            const Complex value = product(spin, u[i][j]);
            entries.push_back({unknown(site, a, i), unknown(to, b, j), {factor * value.real(), factor * value.imag()}});
        }
    }
}

CsrMatrix<Complex> wilson(const Lattice& lattice, double kappa, std::uint64_t seed) {
    const GaugeField field(lattice, seed);
    const std::int64_t rows = lattice.sites() * spins * colours;
    std::vector<Entry<Complex>> entries;
    entries.reserve(static_cast<std::size_t>(rows * entries_a_row));
    for (std::int64_t site = 0; site < lattice.sites(); ++site)
        for (int a = 0; a < spins; ++a)
            for (int i = 0; i < colours; ++i) {
                entries.push_back({unknown(site, a, i), unknown(site, a, i), 1});
                for (int mu = 0; mu < directions; ++mu)
                    for (const bool forward : {true, false})
                        append_step(lattice, field, kappa, site, a, i, mu, forward, entries);
            }
    return csr_from_entries<Complex>(rows, rows, entries);
}

[[noreturn]] void refuse(std::string_view name, std::string_view why) {
    throw InvalidArgument(
        fmt::format("matrix '{}': {}; expected wilson_L_T, wilson_L_T_KAPPA or wilson_L_T_KAPPA_SEED, as in "
                    "wilson_8_8_0.165, for L^3 x T sites",
                    name, why));
}

/// The text up to the next underline, which is cut off.
std::string_view next_part(std::string_view& rest) {
    const std::size_t end = rest.find('_');
    const std::string_view part = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    return part;
}

template <class Number>
Number number_of(std::string_view name, std::string_view part, Number least, Number most) {
    Number number{};
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size() || !(number >= least && number <= most))
        refuse(name, fmt::format("'{}' stands where a number within {}..{} is expected", part, least, most));
    return number;
}

}  // namespace

std::optional<Generator> find_wilson(std::string_view name) {
    constexpr std::string_view prefix = "wilson_";
    if (!name.starts_with(prefix)) return std::nullopt;
    std::string_view rest = name.substr(prefix.size());
    constexpr std::int64_t most = 256;
    const auto length = number_of<std::int64_t>(name, next_part(rest), 1, most);
    const auto time = number_of<std::int64_t>(name, next_part(rest), 1, most);
    const double kappa = rest.empty() ? 0.17 : number_of<double>(name, next_part(rest), 0, 1);
    const auto seed = rest.empty() ? 1 : number_of<std::uint64_t>(name, next_part(rest), 0, 65535);
    const Lattice lattice{length, time};
    const std::int64_t rows = lattice.sites() * spins * colours;
    if (!rest.empty()) refuse(name, fmt::format("'{}' follows the seed", rest));
    if (rows > std::numeric_limits<std::int32_t>::max() / 2) refuse(name, fmt::format("{} rows are too many", rows));
    require_memory(name, rows, rows * entries_a_row * 3);
    return Generator::complex(fmt::format("{}.mtx", name), "", [=] { return wilson(lattice, kappa, seed); });
}

}  // namespace solver::matrices
