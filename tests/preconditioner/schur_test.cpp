#include "matrices/elasticity.hpp"
#include "matrices/generators.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "solver/krylov.hpp"
#include "solver/krylov_solve.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/preconditioner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace solver {
namespace {

using ::testing::HasSubstr;

template <class T>
CsrMatrix<T> stokes(int n) {
    return convert<T, double>(matrices::find_generator("stokes2d_" + std::to_string(n)).value().make());
}

/// The steady heat flow through n x n cells: a flow for each side between two cells with its resistance on the diagonal, a
/// temperature for each cell but the last one, where it is 0.
template <class T>
CsrMatrix<T> heat_flow(std::int32_t n) {
    std::vector<Entry<T>> entries;
    const std::int32_t sides = 2 * n * (n - 1);
    std::int32_t side = 0;
    const auto add_side = [&](std::int32_t from, std::int32_t to) {
        entries.push_back({side, side, T(1) + T(side % 7)});
        for (const auto& [cell, sign] : {std::pair(from, T(-1)), std::pair(to, T(1))})
            if (cell < n * n - 1) entries.insert(entries.end(), {{side, sides + cell, sign}, {sides + cell, side, sign}});
        ++side;
    };
    for (std::int32_t j = 0; j < n; ++j)
        for (std::int32_t i = 0; i + 1 < n; ++i) {
            add_side(j * n + i, j * n + i + 1);
            add_side(i * n + j, (i + 1) * n + j);
        }
    const std::int64_t rows = sides + n * n - 1;
    return csr_from_entries<T>(rows, rows, entries);
}

/// A plate, some of whose displacements are tied to each other by constraints.
CsrMatrix<double> tied_plate(std::int64_t n) {
    const CsrMatrix<double> plate = matrices::elasticity2d(n);
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < plate.rows; ++i)
        for (std::int64_t k = plate.row_offsets[i]; k < plate.row_offsets[i + 1]; ++k)
            entries.push_back({i, plate.column_indices[k], plate.values[k]});
    auto row = static_cast<std::int32_t>(plate.rows);
    for (std::int32_t i = 0; i + 40 < plate.rows; i += 40, ++row)
        for (const auto& [tied, sign] : {std::pair(i, 1.0), std::pair(i + 38, -1.0)})
            entries.insert(entries.end(), {{row, tied, sign}, {tied, row, sign}});
    return csr_from_entries<double>(row, row, entries);
}

template <class T>
std::unique_ptr<Preconditioner<T>> schur_of(const CsrMatrix<T>& a, int threads = 2, const PreconditionerOptions& options = {}) {
    return make_preconditioner<T>(PreconditionerKind::schur, a, Accuracy::exact, Device::cpu(threads), options);
}

/// With x = 1.
template <class T>
SolveResult solved_by_schur(const CsrMatrix<T>& a, double tolerance, const PreconditionerOptions& options = {},
                            KrylovMethod method = KrylovMethod::idr) {
    const SpmvPlan<T> plan(a, Device::cpu(2));
    const std::vector<T> ones(static_cast<std::size_t>(a.rows), T(1));
    std::vector<T> b(ones.size()), x(ones.size());
    plan.multiply(T(1), ones, T(0), b, Accuracy::exact);
    return krylov_solve<T>(method, plan, *schur_of(a, 2, options), b, x, {}, {.tolerance = tolerance});
}

std::string why_schur_refuses(const CsrMatrix<double>& a, const PreconditionerOptions& options = {}) {
    try {
        schur_of(a, 1, options);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "accepted";
}

template <class T>
class Schur : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Schur, ValueTypes);

/// K is diagonal and the complement small enough to be inverted, to single precision.
// Promise: preconditioner.hpp, "block triangular, for saddle points, by the Schur complement"
TYPED_TEST(Schur, EndsAfterTwoStepsWhereBothBlocksAreExact) {
    const SolveResult result = solved_by_schur(heat_flow<TypeParam>(15), 1e-4, {}, KrylovMethod::gmres);
    EXPECT_EQ(result.status, SolveStatus::converged);
    EXPECT_LE(result.iterations, 2);
}

TYPED_TEST(Schur, IterationsHardlyGrowWithTheMatrix) {
    using T = TypeParam;
    const double tolerance = sizeof(T) == 4 ? 1e-4 : 1e-10;
    const auto expect_at_most = [&](std::int64_t most, double growth, const CsrMatrix<T>& coarse, const CsrMatrix<T>& fine) {
        const SolveResult small = solved_by_schur(coarse, tolerance), large = solved_by_schur(fine, tolerance);
        EXPECT_EQ(small.status, SolveStatus::converged);
        EXPECT_EQ(large.status, SolveStatus::converged);
        EXPECT_LE(large.iterations, most);
        EXPECT_LE(large.iterations, growth * static_cast<double>(small.iterations));
    };
    expect_at_most(100, 1.7, stokes<T>(24), stokes<T>(96));
    expect_at_most(60, 1.5, heat_flow<T>(32), heat_flow<T>(128));
}

/// Of pressures: d_ii - sum_j b_ij u_ji / k_jj, which are at most five terms, each rounded, and so is the quotient.
TYPED_TEST(Schur, DividesByTheDiagonalOfTheComplementWhereKIsALaplacian) {
    using T = TypeParam;
    const std::int64_t n = 16, velocities = 2 * n * (n - 1);
    CsrMatrix<T> a = stokes<T>(n);
    for (std::int64_t k = a.row_offsets[velocities]; k < a.row_offsets[a.rows]; ++k)
        if (a.column_indices[k] < velocities) a.values[k] *= 3;  // B is not U^T
    std::vector<T> r(static_cast<std::size_t>(a.rows), T(1)), z(r.size());
    schur_of(a)->apply(r, z, Accuracy::exact);
    std::vector<double> diagonal(r.size());
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            if (a.column_indices[k] == i) diagonal[i] = a.values[k];
    for (std::int64_t i = velocities; i < a.rows; ++i) {
        double s = diagonal[i];
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            if (a.column_indices[k] < velocities) s -= 3 / diagonal[a.column_indices[k]];
        EXPECT_NEAR(z[i] * s, 1, 8 * unit_roundoff<T>) << i;
    }
}

/// Of the velocities: M z = r there, where K is diagonal.
TYPED_TEST(Schur, TakesWhatTheSecondBlockFoundToTheFirst) {
    using T = TypeParam;
    const CsrMatrix<T> a = heat_flow<T>(12);
    const std::int64_t sides = 2 * 12 * 11;
    std::vector<T> r(static_cast<std::size_t>(a.rows), T(1)), z(r.size());
    schur_of(a)->apply(r, z, Accuracy::exact);
    for (std::int64_t i = 0; i < sides; ++i) {
        double sum = 0, size = 1;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            const double term = static_cast<double>(a.values[k]) * static_cast<double>(z[a.column_indices[k]]);
            sum += term;
            size += std::abs(term);
        }
        EXPECT_NEAR(sum, 1, 4 * unit_roundoff<T> * size) << i;
    }
}

/// Rows and columns of A in any order.
TEST(SchurOfDoubles, FindsTheTwoKindsOfRowsWhereverTheyStand) {
    const CsrMatrix<double> a = stokes<double>(30);
    std::vector<std::int32_t> place(static_cast<std::size_t>(a.rows));
    for (std::int32_t i = 0; i < a.rows; ++i) place[i] = static_cast<std::int32_t>((i * std::int64_t{1009}) % a.rows);
    std::vector<Entry<double>> entries;
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            entries.push_back({place[i], place[a.column_indices[k]], a.values[k]});
    const SolveResult result = solved_by_schur(csr_from_entries<double>(a.rows, a.rows, entries), 1e-10);
    EXPECT_EQ(result.status, SolveStatus::converged);
    EXPECT_LE(result.iterations, 100);
}

// Promise: preconditioner.hpp, "The Schur complement is approximated in double, in a fixed"
// Promise: reproducibility.md, "multigrid, Schur complement"
TYPED_TEST(Schur, HasTheBitsOfOneThreadOnAnyNumber) {
    using T = TypeParam;
    for (const CsrMatrix<T>& a : {stokes<T>(40), heat_flow<T>(40)}) {
        std::mt19937_64 random(1);
        std::vector<T> r;
        for (std::int64_t i = 0; i < a.rows; ++i) r.push_back(static_cast<T>(static_cast<double>(random() >> 12)));
        const auto one = schur_of(a, 1);
        std::vector<T> expected(r.size());
        one->apply(r, expected, Accuracy::exact);
        for (const int threads : {2, 3}) {
            const auto m = schur_of(a, threads);
            std::vector<T> z(r.size());
            m->apply(r, z, Accuracy::exact);
            EXPECT_EQ(z, expected);
            EXPECT_EQ(m->factor_hash(), one->factor_hash());
            EXPECT_EQ(m->factor_entries(), one->factor_entries());
        }
    }
}

TEST(SchurOfDoubles, HasTheLevelsOfTheBlockThatIsMultigrid) {
    EXPECT_EQ(schur_of(stokes<double>(40))->levels().front().rows, 2 * 40 * 39) << "of the velocities";
    EXPECT_EQ(schur_of(heat_flow<double>(40))->levels().front().rows, 40 * 40 - 1) << "of the temperatures";
    EXPECT_NE(schur_of(stokes<double>(40))->factor_hash(), schur_of(stokes<double>(41))->factor_hash());
}

TEST(SchurOfDoubles, TellsMultigridOfTheNearNullSpaceThatBelongsToItsRows) {
    const std::int64_t n = 60;
    const CsrMatrix<double> a = tied_plate(n);
    const std::vector<double> modes = matrices::elasticity2d_rigid_body_modes(n);
    const std::int64_t displacements = std::ssize(modes) / 3;
    std::vector<double> with_constraints;
    for (std::int64_t mode = 0; mode < 3; ++mode) {
        const auto first = modes.begin() + mode * displacements;
        with_constraints.insert(with_constraints.end(), first, first + displacements);
        with_constraints.resize(static_cast<std::size_t>((mode + 1) * a.rows), 1e30);  // which nobody reads
    }
    const SolveResult without = solved_by_schur(a, 1e-8, {.amg = {.unknowns_per_node = 2}});
    const SolveResult with = solved_by_schur(a, 1e-8, {.amg = {.unknowns_per_node = 2, .near_null_space = with_constraints}});
    EXPECT_EQ(with.status, SolveStatus::converged);
    EXPECT_LT(with.iterations, without.iterations);
}

// Promise: preconditioner.hpp, "With schur InvalidArgument is thrown where no diagonal entry"
TEST(SchurOfDoubles, SaysWhatItCannotTake) {
    const double inf = std::numeric_limits<double>::infinity();
    const auto matrix = [](std::vector<Entry<double>> entries) { return csr_from_entries<double>(3, 3, entries); };
    EXPECT_THAT(why_schur_refuses(matrix({{0, 0, 2}, {1, 1, 2}, {2, 2, 3}})),
                HasSubstr("every diagonal entry of A is positive"));
    EXPECT_THAT(why_schur_refuses(matrix({{0, 0, -2}, {1, 2, 1}, {2, 1, 1}})), HasSubstr("no diagonal entry of A is positive"));
    EXPECT_THAT(why_schur_refuses(matrix({{0, 0, 2}, {1, 2, 1}, {2, 1, 1}})),
                HasSubstr("the diagonal of the Schur complement is 0 for row 2 of A (counted from 1)"));
    EXPECT_THAT(why_schur_refuses(matrix({{0, 0, 2}, {1, 1, 2}, {0, 2, inf}, {2, 0, inf}})),
                HasSubstr("the diagonal of the Schur complement is -inf for row 3 of A (counted from 1)"));
    EXPECT_THAT(why_schur_refuses(stokes<double>(4), {.complex_numbers = true}), HasSubstr("A is complex"));
    EXPECT_THAT(why_schur_refuses(stokes<double>(4), {.amg = {.smoother_degree = 0}}), HasSubstr("the smoother has degree 0"));
    EXPECT_EQ(why_schur_refuses(CsrMatrix<double>{0, 0, {0}, {}, {}}), "accepted");
}

/// One flow leads to all temperatures.
TEST(SchurOfDoubles, RefusesAComplementThatFillsItself) {
    std::vector<Entry<double>> entries{{0, 0, 1}};
    for (std::int32_t i = 1; i <= 400; ++i) entries.insert(entries.end(), {{i, 0, 1.0}, {0, i, 1.0}, {i, i, -1.0}});
    const CsrMatrix<double> a = csr_from_entries<double>(401, 401, entries);
    EXPECT_THAT([&] { schur_of(a); },
                ::testing::ThrowsMessage<ResourceLimit>(HasSubstr("more than 10 times the 1201 entries of A")));
}

/// The entries of each row in falling order.
TEST(SchurOfDoubles, TakesRowsInAnyOrder) {
    const CsrMatrix<double> a = stokes<double>(20);
    CsrMatrix<double> turned = a;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        std::reverse(turned.column_indices.begin() + a.row_offsets[i], turned.column_indices.begin() + a.row_offsets[i + 1]);
        std::reverse(turned.values.begin() + a.row_offsets[i], turned.values.begin() + a.row_offsets[i + 1]);
    }
    EXPECT_EQ(schur_of(turned)->factor_hash(), schur_of(a)->factor_hash());
}

}  // namespace
}  // namespace solver
