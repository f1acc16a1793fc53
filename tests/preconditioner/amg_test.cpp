#include "matrices/elasticity.hpp"
#include "matrices/generators.hpp"
#include "solver/bicgstab.hpp"
#include "solver/cg.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "solver/preconditioner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace solver {
namespace {

using ::testing::HasSubstr;

template <class T>
CsrMatrix<T> generated(const std::string& name) {
    return convert<T, double>(matrices::find_generator(name).value().make());
}

template <class T>
std::unique_ptr<Preconditioner<T>> amg_of(const CsrMatrix<T>& a, int threads = 2, const PreconditionerOptions& options = {}) {
    return make_preconditioner<T>(PreconditionerKind::amg, a, Accuracy::exact, Device::cpu(threads), options);
}

template <class T>
std::vector<T> random_vector(std::int64_t n, double scale = 1) {
    std::mt19937_64 random(1);
    std::vector<T> x;
    for (std::int64_t i = 0; i < n; ++i) x.push_back(static_cast<T>(scale * (static_cast<double>(random() >> 40) - 8388608)));
    return x;
}

template <class T>
std::vector<T> applied(const Preconditioner<T>& m, const std::vector<T>& r, Accuracy accuracy = Accuracy::exact) {
    std::vector<T> z(r.size(), T(99));
    m.apply(r, z, accuracy);
    return z;
}

template <class T>
SolveResult solved(const CsrMatrix<T>& a, const std::vector<T>& b, const BicgstabOptions& options,
                   const PreconditionerOptions& amg = {}) {
    const auto m = amg_of(a, 2, amg);
    std::vector<T> x(b.size());
    return bicgstab<T>(SpmvPlan<T>(a, Device::cpu(2)), *m, b, x, {}, options);
}

std::string refusal(const CsrMatrix<double>& a, const PreconditionerOptions& options = {}) {
    try {
        amg_of(a, 1, options);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "accepted";
}

template <class T>
class Amg : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Amg, ValueTypes);

/// What multigrid is for: sixteen times the unknowns, hardly more iterations.
// Promise: preconditioner.hpp, "one V-cycle of smoothed aggregation"
TYPED_TEST(Amg, IterationsHardlyGrowWithTheMatrix) {
    using T = TypeParam;
    const BicgstabOptions options{.tolerance = sizeof(T) == 4 ? 1e-5 : 1e-10, .max_iterations = 100};
    for (const auto& names :
         {std::vector<std::string>{"poisson2d_60", "poisson2d_120", "poisson2d_240"},
          std::vector<std::string>{"poisson3d_16", "poisson3d_32"}, std::vector<std::string>{"stencil27_14", "stencil27_28"}}) {
        std::int64_t first = 0;
        for (const std::string& name : names) {
            const CsrMatrix<T> a = generated<T>(name);
            const SolveResult result = solved(a, random_vector<T>(a.rows), options);
            EXPECT_EQ(result.status, SolveStatus::converged) << name;
            EXPECT_LE(result.iterations, 14) << name;
            if (first == 0) first = result.iterations;
            EXPECT_LE(result.iterations, first + 4) << name;
        }
    }
}

/// Chebyshev's polynomial diverges on these.
TYPED_TEST(Amg, SolvesUnsymmetricProblems) {
    using T = TypeParam;
    const BicgstabOptions options{.tolerance = sizeof(T) == 4 ? 1e-5 : 1e-10, .max_iterations = 100};
    for (const std::string name : {"convection_diffusion_60", "convection_diffusion_200", "poisson3d_random_20"}) {
        const CsrMatrix<T> a = generated<T>(name);
        const SolveResult result = solved(a, random_vector<T>(a.rows), options);
        EXPECT_EQ(result.status, SolveStatus::converged) << name;
        EXPECT_LE(result.iterations, 25) << name;
    }
}

/// Elasticity's operator maps rotations to nothing, which constants do not represent: with the rigid-body modes iterations
/// hardly grow, without they do.
// Promise: preconditioner.hpp, "Vectors that A maps to nearly nothing"
// Promise: preconditioner.hpp, "Rows b k to b k + b - 1 are unknowns of one node"
TYPED_TEST(Amg, RepresentsTheVectorsThatAreGiven) {
    using T = TypeParam;
    const BicgstabOptions options{.tolerance = sizeof(T) == 4 ? 1e-5 : 1e-10, .max_iterations = 400};
    std::int64_t first = 0;
    for (const std::int64_t n : {30, 60, 120}) {
        const CsrMatrix<T> a = convert<T>(matrices::elasticity2d(n).view());
        const std::vector<T> b = random_vector<T>(a.rows);
        const std::vector<double> modes = matrices::elasticity2d_rigid_body_modes(n);
        const SolveResult result = solved(a, b, options, {.amg = {.near_null_space = modes}});
        EXPECT_EQ(result.status, SolveStatus::converged) << n;
        if (first == 0) first = result.iterations;
        EXPECT_LE(result.iterations, first + 4) << n;
        if (n < 120) continue;
        const std::int64_t of_nodes = solved(a, b, options).iterations;
        EXPECT_LT(3 * result.iterations, 2 * of_nodes);
        EXPECT_LT(of_nodes, solved(a, b, options, {.amg = {.unknowns_per_node = 1}}).iterations);
    }
}

// Promise: preconditioner.hpp, "Not owned; read while the preconditioner is made."
TYPED_TEST(Amg, DoesNotReferToTheVectorsAfterwards) {
    using T = TypeParam;
    const CsrMatrix<T> a = convert<T>(matrices::elasticity2d(30).view());
    const std::vector<T> r = random_vector<T>(a.rows);
    std::vector<double> modes = matrices::elasticity2d_rigid_body_modes(30);
    const auto m = amg_of(a, 2, {.amg = {.near_null_space = modes}});
    const std::vector<T> before = applied(*m, r);
    modes.assign(modes.size(), std::nan(""));
    EXPECT_EQ(applied(*m, r), before);
}

// Promise: preconditioner.hpp, "Multigrid is made in double, in a fixed order"
TYPED_TEST(Amg, HasTheSameBitsForEveryNumberOfThreads) {
    using T = TypeParam;
    for (const std::string name : {"poisson3d_45", "convection_diffusion_250"}) {
        const CsrMatrix<T> a = generated<T>(name);
        const std::vector<T> r = random_vector<T>(a.rows);
        const auto one = amg_of(a, 1);
        EXPECT_NE(one->factor_hash(), 0u);
        EXPECT_GT(one->factor_entries(), 0);
        for (const int threads : {2, 7}) {
            const auto m = amg_of(a, threads);
            EXPECT_EQ(m->factor_hash(), one->factor_hash());
            EXPECT_EQ(applied(*m, r), applied(*one, r));
        }
    }
}

// Promise: preconditioner.hpp, "Multigrid is made in double, in a fixed order"
TYPED_TEST(Amg, IsTheSameInEveryAccuracyUpToRounding) {
    using T = TypeParam;
    const CsrMatrix<T> a = generated<T>("poisson2d_80");
    const std::vector<T> r = random_vector<T>(a.rows);
    std::uint64_t hash = 0;
    for (const Accuracy accuracy : all_accuracies) {
        const auto m = make_preconditioner<T>(PreconditionerKind::amg, a, accuracy, Device::cpu(2));
        if (hash == 0) hash = m->factor_hash();
        EXPECT_EQ(m->factor_hash(), hash);
        const std::vector<T> exact = applied(*m, r), z = applied(*m, r, accuracy);
        double difference = 0, size = 0;
        for (std::size_t i = 0; i < z.size(); ++i) {
            difference = std::max(difference, static_cast<double>(std::abs(z[i] - exact[i])));
            size = std::max(size, static_cast<double>(std::abs(exact[i])));
        }
        EXPECT_LE(difference, 1000 * 0x1p-24 * size);  // some hundred roundings of floats, in sums of at most 400
    }
}

TYPED_TEST(Amg, SumsRepeatedEntriesAndSortsRows) {
    using T = TypeParam;
    const CsrMatrix<T> a = generated<T>("poisson2d_40");
    CsrMatrix<T> other{a.rows, a.columns, {0}, {}, {}};
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t k = a.row_offsets[i + 1]; k-- > a.row_offsets[i];)
            for (int half = 0; half < 2; ++half) {
                other.column_indices.push_back(a.column_indices[k]);
                other.values.push_back(a.values[k] / 2);
            }
        other.row_offsets.push_back(other.nonzeros());
    }
    EXPECT_EQ(amg_of(other)->factor_hash(), amg_of(a)->factor_hash());
}

TYPED_TEST(Amg, SolvesSmallMatricesDirectly) {
    using T = TypeParam;
    const CsrMatrix<T> one{1, 1, {0, 1}, {0}, {4}};
    EXPECT_EQ(applied<T>(*amg_of(one), {6}), (std::vector<T>{1.5}));
    const CsrMatrix<T> two{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2, 1, 1, 1}};
    EXPECT_EQ(applied<T>(*amg_of(two), {3, 2}), (std::vector<T>{1, 1}));
    EXPECT_TRUE(applied<T>(*amg_of(CsrMatrix<T>{}), {}).empty());
}

TYPED_TEST(Amg, TakesAnythingThatHasADiagonal) {
    using T = TypeParam;
    const std::int32_t n = 3000;
    std::vector<Entry<T>> diagonal, arrow, two_parts;
    for (std::int32_t i = 0; i < n; ++i) {
        diagonal.push_back({i, i, T(1 + i % 7)});
        arrow.push_back({i, i, T(i == 0 ? 2 * n : 2)});
        if (i > 0) arrow.push_back({0, i, T(-1)}), arrow.push_back({i, 0, T(-1)});
        two_parts.push_back({i, i, T(2.5)});
        if (i + 1 < n && i + 1 != n / 2) two_parts.push_back({i, i + 1, T(-1)}), two_parts.push_back({i + 1, i, T(-1)});
    }
    const BicgstabOptions options{.tolerance = sizeof(T) == 4 ? 1e-5 : 1e-10, .max_iterations = 100};
    for (const auto& entries : {diagonal, arrow, two_parts}) {
        const CsrMatrix<T> a = csr_from_entries<T>(n, n, entries);
        EXPECT_EQ(solved(a, random_vector<T>(n), options).status, SolveStatus::converged);
    }
}

/// A ring: singular, its constants have no meaning. b sums to zero.
TYPED_TEST(Amg, SolvesConsistentSingularSystems) {
    using T = TypeParam;
    const std::int32_t n = 5000;
    std::vector<Entry<T>> ring;
    for (std::int32_t i = 0; i < n; ++i) {
        ring.push_back({i, i, T(2)});
        ring.push_back({i, (i + 1) % n, T(-1)});
        ring.push_back({(i + 1) % n, i, T(-1)});
    }
    std::vector<T> b(static_cast<std::size_t>(n));
    b[0] = 1;
    b[n / 2] = -1;
    const CsrMatrix<T> a = csr_from_entries<T>(n, n, ring);
    const SolveResult result = solved(a, b, {.tolerance = sizeof(T) == 4 ? 1e-3 : 1e-8, .max_iterations = 100});
    EXPECT_EQ(result.status, SolveStatus::converged) << result.relative_residual;
}

TEST(AmgOfDoubles, ScalesWithoutASeam) {
    const CsrMatrix<double> a = generated<double>("poisson2d_60");
    const auto m = amg_of(a);
    const std::vector<double> r = random_vector<double>(a.rows);
    std::vector<double> last(r.size());  // one element alone, behind all others
    last.back() = 1;
    for (const std::vector<double>& vector : {r, last})
        for (const int power : {-900, 900}) {
            std::vector<double> scaled_r = vector, scaled_z = applied(*m, vector);
            for (double& x : scaled_r) x = std::ldexp(x, power);
            for (double& x : scaled_z) x = std::ldexp(x, power);
            EXPECT_EQ(applied(*m, scaled_r), scaled_z);
        }
    EXPECT_EQ(applied(*m, std::vector<double>(r.size())), std::vector<double>(r.size()));
    std::vector<double> with_nan = r;
    with_nan[7] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(applied(*m, with_nan)[7]));
}

/// Beyond the range of floats the cycle runs in double.
// Promise: preconditioner.hpp, "Multigrid is made in double, in a fixed order"
TEST(AmgOfDoubles, TakesEntriesOfAnySize) {
    CsrMatrix<double> a = generated<double>("poisson2d_60");
    for (double& value : a.values) value *= 0x1p300;
    std::vector<double> b = random_vector<double>(a.rows, 0x1p300);
    EXPECT_LE(solved<double>(a, b, {.max_iterations = 50}).iterations, 12);
}

// Promise: preconditioner.hpp, "The levels of multigrid, the finest first; none"
// Promise: preconditioner.hpp, "of the level's matrix"
// Promise: preconditioner.hpp, "The entries of all levels' matrices by those"
// Promise: preconditioner.hpp, "0 where there are no levels."
TEST(AmgOfDoubles, ReportsItsLevels) {
    const CsrMatrix<double> a = generated<double>("poisson2d_100");
    const std::vector<LevelSummary> levels = amg_of(a)->levels();
    ASSERT_GE(levels.size(), 3u);
    EXPECT_EQ(levels[0].rows, a.rows);
    EXPECT_EQ(levels[0].nonzeros, a.nonzeros());
    EXPECT_LE(levels.back().rows, 400);
    double entries = 0;
    for (const LevelSummary& level : levels) entries += static_cast<double>(level.nonzeros);
    EXPECT_EQ(operator_complexity(levels), entries / static_cast<double>(a.nonzeros()));
    EXPECT_EQ(operator_complexity({}), 0);
    EXPECT_TRUE(make_preconditioner<double>(PreconditionerKind::jacobi, a, Accuracy::fast, Device::cpu(1))->levels().empty());
}

// Promise: preconditioner.hpp, "Told, in a few words, what making is about to do"
// Promise: preconditioner.hpp, ""amg, level 3:"
// Promise: preconditioner.hpp, "20412 rows"."
// Promise: preconditioner.hpp, "Not owned; read while the preconditioner is made."
TEST(AmgOfDoubles, TellsWhatLevelsItMakes) {
    std::vector<std::string> told;
    const std::function<void(const std::string&)> progress = [&](const std::string& text) { told.push_back(text); };
    const CsrMatrix<double> a = generated<double>("poisson2d_100");
    const auto m = amg_of(a, 2, {.progress = &progress});
    const std::vector<LevelSummary> levels = m->levels();
    for (std::size_t level = 1; level < levels.size(); ++level)
        EXPECT_THAT(told, ::testing::Contains("amg, level " + std::to_string(level) + ": " +
                                              std::to_string(levels[level - 1].rows) + " rows"));
    told.clear();
    applied(*m, random_vector<double>(a.rows));
    EXPECT_THAT(told, ::testing::IsEmpty());
}

// Promise: preconditioner.hpp, "It throws InvalidArgument that names the row where a diagonal"
TEST(AmgRefusals, NameTheRow) {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const CsrMatrix<double> missing{2, 2, {0, 1, 2}, {0, 0}, {1, 1}};
    EXPECT_THAT(refusal(missing), HasSubstr("row 2 (counted from 1)"));
    const CsrMatrix<double> zero{2, 2, {0, 1, 2}, {0, 1}, {1, 0}};
    EXPECT_THAT(refusal(zero), HasSubstr("row 2 (counted from 1)"));
    const CsrMatrix<double> tiny{2, 2, {0, 1, 2}, {0, 1}, {1, 1e-310}};  // 1 / 1e-310 is Inf
    EXPECT_THAT(refusal(tiny), HasSubstr("row 2 (counted from 1)"));
    for (const double bad : {inf, nan}) {
        const CsrMatrix<double> diagonal{2, 2, {0, 1, 2}, {0, 1}, {1, bad}};
        EXPECT_THAT(refusal(diagonal), HasSubstr("row 2 (counted from 1)"));
        const CsrMatrix<double> beside{2, 2, {0, 2, 3}, {0, 1, 1}, {1, bad, 1}};
        EXPECT_THAT(refusal(beside), HasSubstr("row 1 (counted from 1)"));
    }
    const CsrMatrix<double> wide{1, 2, {0, 1}, {0}, {1}};
    EXPECT_THAT(refusal(wide), HasSubstr("1 x 2"));
}

/// 1000 pairs of rows, each an aggregate; all but the first three are singular with constants, and vanish on the second level.
TEST(AmgRefusals, NameTheLevel) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < 2000; i += 2) {
        const double diagonal = i < 6 ? 2 : 1;
        entries.insert(entries.end(), {{i, i, diagonal}, {i, i + 1, -1}, {i + 1, i, -1}, {i + 1, i + 1, diagonal}});
    }
    EXPECT_THAT(refusal(csr_from_entries<double>(2000, 2000, entries), {.amg = {.unknowns_per_node = 1}}),
                HasSubstr("on level 2 row 4 (counted from 1) has a diagonal entry that is zero"));
}

// Promise: preconditioner.hpp, "Of a connection, by the strongest of its row"
TEST(AmgThreshold, IsAHalfOfSymmetricMatricesOfOneUnknownANodeAndElseAQuarter) {
    const auto hash_of = [](const std::string& name, std::optional<double> threshold) {
        return amg_of(generated<double>(name), 2, {.amg = {.strength_threshold = threshold}})->factor_hash();
    };
    for (const auto& [name, theirs, other] :
         {std::tuple("jumping_random_20", 0.5, 0.25), {"convection_diffusion_60", 0.25, 0.5}, {"elasticity2d_40", 0.25, 0.5}}) {
        EXPECT_EQ(hash_of(name, {}), hash_of(name, theirs)) << name;
        EXPECT_NE(hash_of(name, {}), hash_of(name, other)) << name;
    }
}

TEST(AmgThreshold, KeepsRegionsOfFarCoefficientsApart) {
    const CsrMatrix<double> a = generated<double>("jumping_random_50");
    const SpmvPlan<double> plan(a, Device::cpu(2));
    const std::vector<double> b = random_vector<double>(a.rows);
    std::int64_t iterations[2];
    for (const int k : {0, 1}) {
        const auto m = amg_of(a, 2, {.amg = {.strength_threshold = k == 0 ? std::optional(0.25) : std::nullopt}});
        std::vector<double> x(b.size());
        iterations[k] = cg<double>(plan, *m, b, x, {}, {.tolerance = 1e-10}).iterations;
    }
    EXPECT_LT(4 * iterations[1], 3 * iterations[0]);
}

// Promise: preconditioner.hpp, "One after another, each of as many numbers"
// Promise: preconditioner.hpp, "1 to 100."
// Promise: preconditioner.hpp, "1 to 20"
// Promise: preconditioner.hpp, "Of a connection, by the strongest of its row"
TEST(AmgRefusals, OfOptionsAndOfTooLittleMemory) {
    const CsrMatrix<double> a = generated<double>("poisson2d_60");
    EXPECT_THAT(refusal(a, {.amg = {.strength_threshold = -1}}), HasSubstr("strength threshold"));
    EXPECT_THAT(refusal(a, {.amg = {.strength_threshold = std::nan("")}}), HasSubstr("strength threshold"));
    EXPECT_THAT(refusal(a, {.amg = {.strength_threshold = 1.5}}), HasSubstr("strength threshold"));
    EXPECT_THAT(refusal(a, {.amg = {.smoother_degree = 0}}), HasSubstr("degree 0"));
    EXPECT_THAT(refusal(a, {.amg = {.smoother_degree = 21}}), HasSubstr("degree 21"));
    for (const double threshold : {0.0, 1.0})
        EXPECT_EQ(refusal(a, {.amg = {.strength_threshold = threshold}}), "accepted") << threshold;
    EXPECT_EQ(refusal(a, {.amg = {.smoother_degree = 20}}), "accepted");
    for (const int unknowns : {-1, 7, 101, 120})
        EXPECT_THAT(refusal(a, {.amg = {.unknowns_per_node = unknowns}}), HasSubstr("divides the number of rows"));
    std::vector<double> vectors(3600 * 21, 1);
    const auto refusal_of = [&](std::size_t numbers) {
        return refusal(a, {.amg = {.near_null_space = std::span(vectors).first(numbers)}});
    };
    EXPECT_EQ(refusal(a, {.amg = {.unknowns_per_node = 100}}), "accepted");
    EXPECT_EQ(refusal_of(3600 * 20), "accepted");
    EXPECT_THAT(refusal_of(3601), HasSubstr("3601 numbers"));
    EXPECT_THAT(refusal_of(3600 * 21), HasSubstr("at most 20 vectors"));
    vectors[7] = std::nan("");
    EXPECT_THAT(refusal_of(3600), HasSubstr("not finite"));
    EXPECT_THAT(refusal(a, {.memory_limit = 1000}), HasSubstr("memory limit"));
    EXPECT_THROW(applied<double>(*amg_of(a), {1, 2}), DimensionMismatch);
}

/// The product with the coarse matrices of an indefinite or singular matrix may go wrong, but never silently.
TEST(AmgRefusals, NoNaNComesOutOfAnIndefiniteMatrix) {
    CsrMatrix<double> a = generated<double>("poisson2d_80");
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            if (a.column_indices[k] == i) a.values[k] = i % 2 == 0 ? 0.5 : -0.5;
    try {
        const auto m = amg_of(a);
        for (const double z : applied(*m, random_vector<double>(a.rows))) ASSERT_TRUE(std::isfinite(z));
    } catch (const InvalidArgument& error) {
        EXPECT_THAT(error.what(), HasSubstr("level"));
    }
}

}  // namespace
}  // namespace solver
