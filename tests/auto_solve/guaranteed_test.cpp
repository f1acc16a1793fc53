#include "solver/guarantee.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "matrices/generators.hpp"
#include "solver/solver.hpp"
#include "support/small_system.hpp"

namespace solver {
namespace {

using ::testing::HasSubstr;
using testing::random_rhs;
using testing::random_system;
using testing::Rational;
using testing::SmallSystem;
using testing::solve_in_rationals;

/// What `rounded` promises of a component, by rationals.
template <class T>
double expected_component(const Rational& x) {
    return x.rounded(std::numeric_limits<T>::digits);
}

struct Judged {
    std::int64_t components = 0, proven = 0, unproven = 0, singular = 0;
};

/// A false claim of any kind fails here: a bound that does not hold, a component rounded wrongly, a singular matrix taken for
/// regular or the other way round.
template <class T>
Judged judge_random_systems(std::uint64_t first, std::uint64_t last) {
    Judged judged;
    for (std::uint64_t seed = first; seed < last; ++seed) {
        const SmallSystem<T> system = random_system<T>(seed);
        const std::vector<Rational> solution = system.solution();
        const SpmvPlan<T> plan(system.a, Device::cpu(1));
        for (const Guarantee wanted : {Guarantee::bound, Guarantee::rounded}) {
            std::vector<T> x(system.b.size());
            SolveOptions options{.guarantee = wanted};
            options.iteration.accuracy = Accuracy::exact;
            options.iteration.tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-10;
            options.iteration.max_iterations = 200;
            const SolutionProof proof = solve<T>(plan, system.b, x, {}, options).proof();
            if (proof.status == ProofStatus::singular) {
                EXPECT_TRUE(solution.empty()) << seed;
                ++judged.singular;
            }
            if (proof.status != ProofStatus::proven) ++judged.unproven;
            if (proof.status != ProofStatus::proven && proof.rounded == 0) continue;
            EXPECT_FALSE(solution.empty()) << seed << ": certified, but singular; " << proof.reason;
            if (solution.empty()) continue;
            for (std::size_t i = 0; i < x.size(); ++i) {
                const auto& open = proof.first_undecided;
                if (std::find(open.begin(), open.end(), static_cast<std::int64_t>(i)) != open.end()) continue;
                ++judged.components;
                if (wanted == Guarantee::rounded) {
                    EXPECT_EQ(static_cast<double>(x[i]), expected_component<T>(solution[i])) << seed << ", component " << i;
                } else {
                    Rational error = solution[i];
                    error -= Rational(static_cast<double>(x[i]));
                    EXPECT_TRUE(error.is_within(proof.bounds[i])) << seed << ", component " << i;
                    if (std::isfinite(proof.error_bound)) {
                        EXPECT_LE(abs(error), Rational(proof.error_bound) * abs(Rational(static_cast<double>(x[i])))) << seed;
                    }
                }
            }
            if (proof.status == ProofStatus::proven) ++judged.proven;
        }
    }
    return judged;
}

// Promise: proof.hpp, "A is nonsingular, and what was asked for holds"
// Promise: proof.hpp, "|x_i - x*_i| <= error_bound |x_i|"
// Promise: guarantee.hpp, "|A^-1 r|_i <= reach_i N(r) for every r"
// Promise: proof.hpp, "a proven bound of the error of every component"
// Promise: proof.hpp, "A is proven to be singular"
// Promise: proof.hpp, "of |x_i - x*_i|, one for each component"
// Promise: proof.hpp, "components decided: x_i is"
// Promise: solve.hpp, "With options.guarantee a certificate of A"
// Promise: solver.h, "A is regular, and what was asked for holds"
// Promise: solver.h, "A has no inverse"
// Promise: solver.h, "components that are proven to be x* rounded once"
// Promise: solver.h, "|x_i - x*_i| <= error_bound |x_i|, of complex"
TEST(GuaranteedSolve, NeverClaimsWhatIsFalseInDouble) {
    const Judged judged = judge_random_systems<double>(0, 1500);
    EXPECT_GT(judged.components, 5000);
    EXPECT_GT(judged.proven, 1200);
    EXPECT_GT(judged.singular, 20);
    RecordProperty("components", static_cast<int>(judged.components));
}

// Promise: proof.hpp, "A and b are the numbers as they are stored"
// Promise: solver.h, "What was proven of a solution; the bounds"
TEST(GuaranteedSolve, NeverClaimsWhatIsFalseInSingle) {
    const Judged judged = judge_random_systems<float>(5000, 5700);
    EXPECT_GT(judged.components, 2000);
    EXPECT_GT(judged.proven, 400);
}

/// The classical example: cond_2 = 1.6e13, where a solution in double has three right digits.
// Promise: solve.hpp, "Where all of a column is proven to be"
TEST(GuaranteedSolve, RoundsTheSolutionWithHilbertsMatrix) {
    constexpr std::size_t n = 10;
    std::vector<double> a(n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) a[i * n + j] = 1.0 / static_cast<double>(i + j + 1);
    const SmallSystem<double> system(a, std::vector<double>(n, 1.0));
    const std::vector<Rational> solution = system.solution();
    std::vector<double> x(n), x_low(n, 1.0);
    const SpmvPlan<double> plan(system.a, Device::cpu(1));
    SolveOptions options{.guarantee = Guarantee::rounded};
    options.iteration.tolerance = 1e-30;  // which no numbers meet
    const SolveReport report = solve<double>(plan, system.b, x, x_low, options);
    ASSERT_EQ(report.proof().status, ProofStatus::proven) << report.proof().reason;
    EXPECT_EQ(report.result().status, SolveStatus::converged);
    EXPECT_GT(report.result().relative_residual, 1e-30);
    EXPECT_EQ(x_low, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(x[i], solution[i].rounded());
    EXPECT_TRUE(report.proof().bounds.empty());
}

// Promise: proof.hpp, "The inverse of to_string."
// Promise: proof.hpp, "Throws InvalidArgument that lists the choices."
// Promise: proof.hpp, ""none", "bound" or "rounded"."
// Promise: proof.hpp, ""not asked", "proven", "singular" or "could not prove"."
TEST(Guarantees, HaveNames) {
    for (const Guarantee guarantee : {Guarantee::none, Guarantee::bound, Guarantee::rounded})
        EXPECT_EQ(guarantee_from_text(to_string(guarantee)), guarantee);
    EXPECT_THAT([] { guarantee_from_text("surely"); },
                ::testing::ThrowsMessage<InvalidArgument>(HasSubstr("none, bound or rounded")));
    EXPECT_EQ(to_string(ProofStatus::not_asked), "not asked");
    EXPECT_EQ(to_string(ProofStatus::proven), "proven");
    EXPECT_EQ(to_string(ProofStatus::singular), "singular");
    EXPECT_EQ(to_string(ProofStatus::unproven), "could not prove");
}

CsrMatrix<double> generated(const char* name) { return matrices::find_generator(name)->make(); }

// Promise: solve.hpp, "These bits depend on A and b alone"
// Promise: proof.hpp, "every component is that of A^-1 b, rounded once"
/// The bits of the rounded solution depend on A and b alone.
TEST(GuaranteedSolve, HasTheSameBitsWhateverComputesThem) {
    for (const char* name : {"poisson2d_40", "convection_diffusion_30", "jumping_random_8", "poisson3d_12"}) {
        const CsrMatrix<double> a = generated(name);
        const std::vector<double> b = random_rhs(a.rows);
        std::vector<double> first;
        const auto expect_same_bits = [&](const SolveOptions& options, const Device& device) {
            const SpmvPlan<double> plan(a, device);
            std::vector<double> x(b.size());
            const SolveReport report = solve<double>(plan, b, x, {}, options);
            ASSERT_EQ(report.proof().status, ProofStatus::proven) << name << ": " << report.proof().reason;
            ASSERT_EQ(report.proof().rounded, a.rows);
            if (first.empty()) first = x;
            EXPECT_EQ(x, first) << name << ", " << to_string(options.iteration.accuracy);
        };
        using enum PreconditionerKind;
        for (const PreconditionerKind kind : {none, jacobi, ilu0, ilut, klu, amg})
            for (const Accuracy accuracy : {Accuracy::fast, Accuracy::compensated, Accuracy::exact})
                for (const double tolerance : {1e-6, 1e-12}) {
                    SolveOptions options{.preconditioner = kind, .guarantee = Guarantee::rounded};
                    options.iteration.accuracy = accuracy;
                    options.iteration.tolerance = tolerance;
                    expect_same_bits(options, Device::cpu(1 + static_cast<int>(kind) % 3));
                }
        expect_same_bits({.guarantee = Guarantee::rounded, .mixed = true}, Device::cpu(2));
    }
}

// Promise: guarantee.hpp, "Looks for a certificate of the square matrix A"
// Promise: guarantee.hpp, "how it was proven, or what was tried"
// Promise: proof.hpp, "-log10 of these bounds, from 0 to 20, in the mean"
// Promise: proof.hpp, "how it was proven, or why it was not"
TEST(GuaranteedSolve, ProvesTheBoundOfALargeSystemWithoutFactors) {
    const CsrMatrix<double> a = generated("poisson3d_30");
    const SpmvPlan<double> plan(a, Device::cpu(2));
    const std::vector<double> ones(static_cast<std::size_t>(a.rows), 1.0);
    std::vector<double> b(ones.size()), x(ones.size());
    plan.multiply(1, ones, 0, b, Accuracy::exact);  // without any rounding: the solution is ones
    const SolveReport report = solve<double>(plan, b, x, {}, {.guarantee = Guarantee::bound});
    const SolutionProof& proof = report.proof();
    ASSERT_EQ(proof.status, ProofStatus::proven);
    EXPECT_EQ(proof.reason, "H-matrix");
    EXPECT_LT(proof.error_bound, 1e-5);
    EXPECT_GT(proof.certified_digits, 5);
    EXPECT_GE(proof.backward_error, 0);
    EXPECT_LT(proof.backward_error, 1e-9);
    double digits = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_LE(std::abs(x[i] - 1), proof.bounds[i]);
        digits -= std::log10(proof.bounds[i] / std::abs(x[i])) / static_cast<double>(x.size());
    }
    EXPECT_NEAR(proof.certified_digits, digits, 1e-6);
}

/// With as many iterations as the attempts in single take, those in double have no preconditioner to go on with.
// Promise: proof.hpp, "components that are not proven to be rounded"
TEST(GuaranteedSolve, RoundsWhereMixedPrecisionHasNoIterationsLeft) {
    const CsrMatrix<double> a = generated("poisson2d_14");
    const SpmvPlan<double> plan(a, Device::cpu(1));
    const std::vector<double> b = random_rhs(a.rows);
    std::vector<double> rounded(b.size());
    ASSERT_EQ(solve<double>(plan, b, rounded, {}, {.guarantee = Guarantee::rounded}).proof().status, ProofStatus::proven);
    for (const auto kind :
         {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::ilu0, PreconditionerKind::amg})
        for (const std::int64_t limit : {0, 1, 2, 3}) {
            SolveOptions options{.preconditioner = kind, .guarantee = Guarantee::rounded, .mixed = true};
            options.iteration.tolerance = 1e-28;
            options.iteration.max_iterations = limit;
            std::vector<double> x(b.size());
            const SolutionProof proof = solve<double>(plan, b, x, {}, options).proof();
            EXPECT_EQ(proof.rounded + proof.undecided, a.rows) << to_string(kind) << ' ' << limit;
            if (proof.status == ProofStatus::proven) {
                EXPECT_EQ(x, rounded) << to_string(kind) << ' ' << limit;
            }
        }
}

// Promise: solve.hpp, "What could not be proven is told in `proofs`"
// Promise: proof.hpp, "where nothing is proven, and as an estimate alone"
/// No H-matrix, no memory for factors, and too large for an inverse.
// Promise: proof.hpp, "neither could be proven; the reason is told"
// Promise: proof.hpp, "how it was proven, or why it was not"
// Promise: proof.hpp, "of |x_i - x*_i|, one for each component"
// Promise: proof.hpp, "Proven in any case; infinite where"
// Promise: proof.hpp, "solve; negative where something is proven"
TEST(GuaranteedSolve, EstimatesWhatItCannotProveAndCallsItSo) {
    const CsrMatrix<double> a = generated("anisotropic_rotated_31");
    const SpmvPlan<double> plan(a, Device::cpu(1));
    const std::vector<double> b = random_rhs(a.rows);
    std::vector<double> rounded(b.size()), x(b.size());
    const SolutionProof proven = solve<double>(plan, b, rounded, {}, {.guarantee = Guarantee::rounded}).proof();
    ASSERT_EQ(proven.status, ProofStatus::proven);
    EXPECT_LT(proven.estimated_error, 0);
    SolveOptions options{.preconditioner = PreconditionerKind::jacobi, .guarantee = Guarantee::bound};
    options.factors.memory_limit = 1;
    options.iteration.tolerance = 1e-6;
    const SolveReport report = solve<double>(plan, b, x, {}, options);
    ASSERT_EQ(report.result().status, SolveStatus::converged);
    EXPECT_EQ(report.proof().status, ProofStatus::unproven);
    EXPECT_THAT(report.proof().reason, HasSubstr("the limit is 1e-09 GB"));
    EXPECT_LT(report.proof().error_bound, 0);
    EXPECT_TRUE(report.proof().bounds.empty());
    EXPECT_EQ(report.proof().backward_error, backward_error<double>(plan, b, x));
    EXPECT_EQ(report.proof().undecided, 0) << "nothing was to be rounded";
    double error = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        error = std::max(error, std::abs(x[i] - rounded[i]));
        size = std::max(size, std::abs(x[i]));
    }
    EXPECT_NEAR(report.proof().estimated_error / (error / size), 1, 0.1);
    options.iteration.max_iterations = 5;
    EXPECT_LT(solve<double>(plan, b, x, {}, options).proof().estimated_error, 1) << "of a correction that converged, or none";
    options.iteration.max_iterations = 0;
    EXPECT_LT(solve<double>(plan, b, x, {}, options).proof().estimated_error, 0) << "no iterations, no correction";
}

/// Where nothing is proven of A, nothing is of any component.
// Promise: proof.hpp, "components that are not proven to be rounded"
// Promise: proof.hpp, "the first ten of them, from 0"
TEST(GuaranteedSolve, LeavesAllComponentsOpenWhereNothingIsProven) {
    const CsrMatrix<double> a = generated("anisotropic_rotated_31");
    const std::vector<double> b = random_rhs(a.rows);
    std::vector<double> x(b.size());
    SolveOptions options{.preconditioner = PreconditionerKind::jacobi, .guarantee = Guarantee::rounded};
    options.factors.memory_limit = 1;
    const SolutionProof proof = solve<double>(SpmvPlan<double>(a, Device::cpu(1)), b, x, {}, options).proof();
    ASSERT_EQ(proof.status, ProofStatus::unproven);
    EXPECT_EQ(proof.rounded, 0);
    EXPECT_EQ(proof.undecided, a.rows);
    EXPECT_EQ(proof.first_undecided, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

// Promise: proof.hpp, "nothing beyond the residual"
// Promise: proof.hpp, "Negative where nothing was asked for."
// Promise: solve.hpp, "what is to be proven of x (guarantee.hpp)"
TEST(GuaranteedSolve, ProvesWhatIsAskedForAlone) {
    const SmallSystem<double> system({4, 1, 1, 3}, {1, 2});
    const SpmvPlan<double> plan(system.a, Device::cpu(1));
    std::vector<double> x(2);
    const SolveReport plain = solve<double>(plan, system.b, x);
    EXPECT_TRUE(plain.proofs.empty());
    EXPECT_EQ(plain.guarantee_seconds, 0);
    EXPECT_EQ(plain.certificate_iterations, 0);
    EXPECT_EQ(SolutionProof().status, ProofStatus::not_asked);
    EXPECT_LT(SolutionProof().backward_error, 0);
    EXPECT_EQ(solve<double>(plan, system.b, x, {}, {.guarantee = Guarantee::bound}).proof().bounds.size(), 2U);
    EXPECT_EQ(solve<double>(plan, system.b, x, {}, {.guarantee = Guarantee::rounded}).proof().rounded, 2);
}

// Promise: solve.hpp, "Where A shows at sight that it is singular"
// Promise: proof.hpp, "Proven in any case; infinite where"
// Promise: krylov.hpp, "proven to be singular before any"
TEST(GuaranteedSolve, SolvesNothingWhereASingularMatrixIsSeenAtSight) {
    const SmallSystem<double> system({1, 2, 2, 4}, {1, 2});
    std::vector<double> x{3, -1};
    for (const bool mixed : {false, true}) {
        const SolveReport report = solve<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x, {},
                                                 {.guarantee = Guarantee::rounded, .mixed = mixed});
        EXPECT_EQ(report.proof().status, ProofStatus::singular);
        EXPECT_EQ(report.obstacle, "A is singular: rows 1 and 2 (counted from 1) are multiples of one another");
        EXPECT_EQ(report.result().iterations, 0);
        EXPECT_EQ(report.result().status, SolveStatus::converged) << "the guess is a solution";
        EXPECT_EQ(x, (std::vector<double>{3, -1}));
    }
    x = {1, 1};
    const SolveReport report =
        solve<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x, {}, {.guarantee = Guarantee::bound});
    EXPECT_EQ(report.result().status, SolveStatus::iteration_limit);
    EXPECT_EQ(x, (std::vector<double>{1, 1}));
    EXPECT_NEAR(report.proof().backward_error, 0.5, 1e-9) << "(2, 4) of (4, 8)";
}

/// Which takes an elimination, of few operations.
TEST(GuaranteedSolve, SolvesNothingWhereAFewColumnsAddUpToZero) {
    const SmallSystem<double> system({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 2});
    std::vector<double> x(3);
    const SolveReport report =
        solve<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x, {}, {.guarantee = Guarantee::bound});
    EXPECT_EQ(report.proof().status, ProofStatus::singular);
    EXPECT_THAT(report.obstacle, HasSubstr("3 of its columns, times whole numbers"));
    EXPECT_EQ(report.result().iterations, 0);
    EXPECT_EQ(x, std::vector<double>(3));
}

// Promise: solve.hpp, "one for each right-hand side, where a guarantee"
// Promise: solve.hpp, "that the proof of A took, for all right-hand"
// Promise: solve.hpp, "what they took, all together"
// Promise: guarantee.hpp, "A proof that belongs to A and serves any number"
TEST(GuaranteedSolve, RoundsEveryColumnWithOneCertificate) {
    const CsrMatrix<double> a = generated("poisson2d_20");
    const SpmvPlan<double> plan(a, Device::cpu(1));
    const std::vector<double> one = random_rhs(a.rows);
    DenseMatrix<double> b{a.rows, 2, one}, x{a.rows, 2, std::vector<double>(2 * one.size())};
    b.values.insert(b.values.end(), one.rbegin(), one.rend());
    const auto start = std::chrono::steady_clock::now();
    const SolveReport report = solve<double>(plan, b, x, nullptr, {.guarantee = Guarantee::rounded});
    const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ASSERT_EQ(report.proofs.size(), 2U);
    EXPECT_GT(report.guarantee_seconds, 0);
    double solves = 0;
    for (const Attempt& attempt : report.attempts) solves += attempt.setup_seconds + attempt.solve_seconds;
    EXPECT_LE(report.guarantee_seconds + solves, all);
    EXPECT_EQ(report.certificate_iterations, certify(plan).iterations);
    EXPECT_GT(report.certificate_iterations, 0);
    for (std::size_t j = 0; j < 2; ++j) {
        std::vector<double> alone(one.size());
        const std::span<const double> column = std::span<const double>(b.values).subspan(j * one.size(), one.size());
        solve<double>(plan, column, alone, {}, {.guarantee = Guarantee::rounded});
        EXPECT_TRUE(std::equal(alone.begin(), alone.end(), x.values.begin() + static_cast<std::ptrdiff_t>(j * one.size())));
        EXPECT_EQ(report.proofs[j].status, ProofStatus::proven);
    }
}

/// Zeros that the graph of A tells, and those that a wide range of exponents would hide.
// Promise: proof.hpp, "of these, 0 by the structure of A and b"
TEST(GuaranteedSolve, FindsTheZerosOfTheStructure) {
    const SmallSystem<double> system({2, 0, 0, 1, 3, 0, 5, 1, 7}, {0, 1, 1});
    std::vector<double> x{1e-3, 0, 0};
    const SolveReport report =
        solve<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x, {}, {.guarantee = Guarantee::rounded});
    ASSERT_EQ(report.proof().status, ProofStatus::proven);
    EXPECT_EQ(report.proof().zeros, 1);
    EXPECT_EQ(report.proof().dropped, 0);
    EXPECT_EQ(x[0], 0);
    EXPECT_EQ(x[1], 1.0 / 3);
}

// Promise: proof.hpp, "of the zeros, those by the rule alone"
/// By the rule of zeros components that are not 0 become 0, and x is then no solution to the tolerance, or one all the same.
// Promise: solve.hpp, "Where all of a column is proven to be"
// Promise: solver.h, "of these, zeros"
// Promise: solver.h, "of the zeros, those by the rule alone"
TEST(GuaranteedSolve, TellsWhatTheRuleOfZerosDropped) {
    const SmallSystem<double> lost({1e-300, 0, 0, 0, 1, 0, 0, 0, 1e300}, {1, 1, 1}),
        kept({1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 1e-200, 0});
    std::vector<double> x(3);
    const auto rounded = [&](const SmallSystem<double>& system) {
        return solve<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x, {}, {.guarantee = Guarantee::rounded});
    };
    SolveReport report = rounded(lost);
    EXPECT_EQ(report.proof().status, ProofStatus::proven);
    EXPECT_EQ(report.proof().zeros, 2);
    EXPECT_EQ(report.proof().dropped, 2);
    EXPECT_EQ(x, (std::vector<double>{1 / 1e-300, 0, 0}));
    EXPECT_EQ(report.result().status, SolveStatus::stagnated);
    EXPECT_GT(report.result().relative_residual, 0.8);
    EXPECT_THAT(report.obstacle, HasSubstr("became 0 by the rule of zeros (2 of them)"));
    report = rounded(kept);
    EXPECT_EQ(report.proof().zeros, 2);
    EXPECT_EQ(report.proof().dropped, 1);
    EXPECT_EQ(report.result().status, SolveStatus::converged);
    EXPECT_EQ(report.obstacle, "");
}

/// What is far smaller than the largest component is proven by its own row.
// One part is solved exactly, with a zero that no structure tells of, the other is not: its error is no error of the first.
TEST(GuaranteedSolve, DecidesEachPartOfAMatrixThatFallsApart) {
    const CsrMatrix<double> a{4,
                              4,
                              {0, 2, 4, 6, 8},
                              {0, 2, 1, 3, 0, 2, 1, 3},
                              {2.5365339610578927, 1.4603208556512433, 3, 1, 1.4603208556512433, 2.7466119131975293, 1, 4}};
    const std::vector<double> b{2.5365339610578927, 1, 1.4603208556512433, 2};
    std::vector<double> x(4);
    const SolveReport report =
        solve<double>(SpmvPlan<double>(a.view(), Device::cpu(1)), b, x, {}, {.guarantee = Guarantee::rounded});
    EXPECT_EQ(report.proof().status, ProofStatus::proven) << report.proof().reason;
    EXPECT_THAT(x, ::testing::ElementsAre(1, 2.0 / 11, 0, 5.0 / 11));
}

TEST(GuaranteedSolve, ProvesSmallComponents) {
    const SmallSystem<double> system({3, 0, 0, 1, 7, 0, 0, 0, 11}, {0x1p-200, 1e-40, 1});
    std::vector<double> x(3);
    const SpmvPlan<double> plan(system.a, Device::cpu(1));
    SolveReport report = solve<double>(plan, system.b, x, {}, {.guarantee = Guarantee::bound});
    ASSERT_EQ(report.proof().status, ProofStatus::proven);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(report.proof().bounds[i], 1e-15 * x[i]) << i;
    report = solve<double>(plan, system.b, x, {}, {.guarantee = Guarantee::rounded});
    ASSERT_EQ(report.proof().status, ProofStatus::proven);
    EXPECT_EQ(x[0], 0x1p-200 / 3);
    EXPECT_EQ(x[1], 1e-40 / 7);
    EXPECT_EQ(x[2], 1.0 / 11);
}

/// max |x*| = 1 - 2^-71 is below the power of two to which it rounds, so that 3/4 2^-512 is above what the rule makes 0.
TEST(GuaranteedSolve, DropsNothingByARoundedMaximum) {
    const SmallSystem<double> system({1, 0x1p-70, 0, 0, 2, 0, 0, 0, 1}, {1, 1, 0x1.8p-513});
    std::vector<double> x(3);
    const SolveReport report =
        solve<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x, {}, {.guarantee = Guarantee::rounded});
    EXPECT_EQ(report.proof().dropped, 0);
    EXPECT_EQ(x, (std::vector<double>{1, 0.5, 0x1.8p-513}));
}

// Promise: solve.hpp, "what is known to stand in the way"
TEST(GuaranteedSolve, KnowsOfNothingInTheWayOfWhatWasRounded) {
    const SmallSystem<double> system({1, 2, 3, 4, 5, 6, 7, 8, 10}, {1, 2, 4});
    std::vector<double> x(3);
    SolveOptions options{.preconditioner = PreconditionerKind::klu, .guarantee = Guarantee::rounded};
    options.method = KrylovMethod::cg;
    options.iteration.max_iterations = 0;
    const SolveReport report = solve<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x, {}, options);
    EXPECT_EQ(report.proof().status, ProofStatus::proven);
    EXPECT_EQ(report.result().status, SolveStatus::converged);
    EXPECT_EQ(report.obstacle, "");
}

/// x = (1, 0), which no graph tells: it has no residual at all.
TEST(GuaranteedSolve, KnowsZerosOfAnExactSolutionFromWhatIsDropped) {
    const SmallSystem<double> system({1, 1, 1, -1}, {1, 1});
    std::vector<double> x(2);
    const SolveReport report =
        solve<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x, {}, {.guarantee = Guarantee::rounded});
    EXPECT_EQ(x, (std::vector<double>{1, 0}));
    EXPECT_EQ(report.proof().zeros, 1);
    EXPECT_EQ(report.proof().dropped, 0);
}

/// The rule of zeros would make the last component 0, as its row proves. Nothing is proven of the two in the middle: their
/// diagonals are 0.
TEST(GuaranteedSolve, TakesBackARoundingThatProvesNothingAndLosesTheSolution) {
    const SmallSystem<double> system({0x1p-660, 0, 0, 0, 0, 0, 3e-150, 0, 0, 1, 0, 0, 0, 0, 0, 1}, {1, 1, 1, 1});
    std::vector<double> x(4);
    const SolveReport report =
        solve<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x, {}, {.guarantee = Guarantee::rounded});
    ASSERT_EQ(report.proof().status, ProofStatus::unproven);
    EXPECT_EQ(report.proof().undecided, 4);
    EXPECT_EQ(report.proof().rounded, 0);
    EXPECT_EQ(x, (std::vector<double>{0x1p660, 1, 1 / 3e-150, 1}));
    EXPECT_LE(report.result().relative_residual, 1e-10);
    EXPECT_EQ(report.result().status, SolveStatus::converged);
}

TEST(GuaranteedSolve, ProvesWhatTheCallbackDidNotEnd) {
    const CsrMatrix<double> a = generated("poisson2d_20");
    DenseMatrix<double> b{400, 2, std::vector<double>(800, 1)}, x{400, 2, std::vector<double>(800)};
    b.values[400] = 2;
    SolveOptions options{.preconditioner = PreconditionerKind::jacobi, .guarantee = Guarantee::bound};
    options.iteration.callback = [](const Iteration& it) { return it.column == 1 || it.number < 3; };
    const SolveReport report = solve<double>(SpmvPlan<double>(a, Device::cpu(1)), b, x, nullptr, options);
    EXPECT_EQ(report.proofs[0].reason, "the callback ended the solve");
    EXPECT_EQ(report.results[1].status, SolveStatus::converged);
    EXPECT_EQ(report.proofs[1].status, ProofStatus::proven);
    std::vector<double> alone(400);
    options.iteration.callback = [](const Iteration& it) { return !(it.true_residual >= 0 && it.true_residual <= 1e-10); };
    const SolveReport of_one =
        solve<double>(SpmvPlan<double>(a, Device::cpu(1)), std::vector<double>(400, 1), alone, {}, options);
    EXPECT_EQ(of_one.result().status, SolveStatus::converged);
    EXPECT_EQ(of_one.proof().status, ProofStatus::proven) << "it was asked to stop where it had converged";
}

/// 2.2 x = 1e-323 in doubles, whose residual is a tenth of b and rounds to 0.
TEST(GuaranteedSolve, TellsTheResidualThatIsSmallerThanAllNumbers) {
    const SmallSystem<double> system({2.199275565805469}, {1e-323});
    for (const Accuracy accuracy : all_accuracies) {
        std::vector<double> x(1);
        SolveOptions options{.guarantee = Guarantee::rounded};
        options.iteration.accuracy = accuracy;
        const SolveReport report = solve<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x, {}, options);
        const bool is_proven = report.proof().status == ProofStatus::proven;
        EXPECT_EQ(report.result().status == SolveStatus::converged, is_proven);
        EXPECT_NEAR(report.result().relative_residual, 0.0996378, 1e-6);
    }
}

// Promise: solve.hpp, "Where the callback ended the solve nothing is proven."
TEST(GuaranteedSolve, ProvesNothingWhereTheCallbackEndedTheSolve) {
    const CsrMatrix<double> a = generated("poisson2d_20");
    const std::vector<double> b(400, 1);
    for (const Guarantee guarantee : {Guarantee::bound, Guarantee::rounded}) {
        std::vector<double> x(400);
        SolveOptions options{.preconditioner = PreconditionerKind::jacobi, .guarantee = guarantee};
        int calls = 0;
        options.iteration.callback = [&](const Iteration&) { return ++calls < 3; };
        const SolveReport report = solve<double>(SpmvPlan<double>(a, Device::cpu(1)), b, x, {}, options);
        EXPECT_EQ(calls, 3);
        EXPECT_EQ(report.result().status, SolveStatus::iteration_limit);
        EXPECT_GT(report.result().relative_residual, 1e-3);
        EXPECT_EQ(report.proof().status, ProofStatus::unproven);
        EXPECT_EQ(report.proof().reason, "the callback ended the solve");
        EXPECT_LT(report.proof().estimated_error, 0);
        EXPECT_GT(report.proof().backward_error, 1e-6);
    }
}

/// The solution, 1e310, is no number of this type: an infinite bound is none.
TEST(GuaranteedSolve, DoesNotCallAnInfiniteBoundProven) {
    const SmallSystem<double> system({1e-310, 0, 0, 1e308}, {1, 1});
    for (const Guarantee wanted : {Guarantee::bound, Guarantee::rounded}) {
        std::vector<double> x(2);
        const SolveReport report =
            solve<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x, {}, {.guarantee = wanted});
        EXPECT_EQ(report.proof().status, ProofStatus::unproven);
        EXPECT_FALSE(report.proof().reason.empty());
    }
}

// Promise: proof.hpp, "Proven in any case; infinite where"
TEST(GuaranteedSolve, SaysThatThereAreNoNumbersToProve) {
    const SmallSystem<double> system({4, 1, 1, 3}, {1, std::numeric_limits<double>::quiet_NaN()});
    for (const Guarantee wanted : {Guarantee::bound, Guarantee::rounded}) {
        std::vector<double> x(2);
        const SolveReport report =
            solve<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x, {}, {.guarantee = wanted});
        EXPECT_EQ(report.proof().status, ProofStatus::unproven);
        EXPECT_THAT(report.proof().reason, HasSubstr("b or x has Inf or NaN"));
        EXPECT_EQ(report.proof().backward_error, std::numeric_limits<double>::infinity());
    }
}

// Promise: solve.hpp, "With options.guarantee a certificate of A"
/// A third is no number, so that the solve leaves a second part.
TEST(GuaranteedSolve, LeavesNoSecondPartOfWhatIsRounded) {
    const SmallSystem<double> system({3, 0, 1, 3}, {1, 1});
    const SpmvPlan<double> plan(system.a, Device::cpu(1));
    std::vector<double> x(2), x_low(2);
    SolveOptions options;
    options.iteration.tolerance = 1e-25;
    solve<double>(plan, system.b, x, x_low, options);
    EXPECT_NE(x_low[0], 0);
    x.assign(2, 0);
    x_low.assign(2, 0);
    options.guarantee = Guarantee::rounded;
    EXPECT_EQ(solve<double>(plan, system.b, x, x_low, options).proof().status, ProofStatus::proven);
    EXPECT_EQ(x[0], 1.0 / 3);
    EXPECT_EQ(x_low, std::vector<double>(2));
}

/// x is off by 2^-1300 of itself.
TEST(GuaranteedSolve, BoundsAnErrorThatIsSmallerThanAllNumbers) {
    const SmallSystem<double> system({0x1p300, 0x1p-1000, 0, 0x1p300}, {3 * 0x1p300, 3 * 0x1p300});
    std::vector<double> x(2);
    const SolveReport report =
        solve<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x, {}, {.guarantee = Guarantee::bound});
    EXPECT_EQ(x, std::vector<double>(2, 3));
    EXPECT_EQ(report.proof().status, ProofStatus::proven);
    EXPECT_GT(report.proof().error_bound, 0);
}

/// ||b|| is beyond the range of numbers, ||b - A x|| by ||b|| is not; and nothing is claimed of the guess that is left where
/// nothing could be proven.
TEST(GuaranteedSolve, TellsTheResidualWhereTheNormOfBOverflows) {
    const SmallSystem<double> system({1.1e308, 1e307, 0, 0.9e308}, {1.6e308, 1.5e308});
    std::vector<double> x(2);
    const SpmvPlan<double> plan(system.a, Device::cpu(1));
    const SolveReport report = solve<double>(plan, system.b, x, {}, {.guarantee = Guarantee::rounded});
    EXPECT_EQ(report.proof().status, ProofStatus::proven);
    EXPECT_EQ(report.results.front().status, SolveStatus::converged);
    EXPECT_GT(report.results.front().relative_residual, 0);
    EXPECT_LT(report.results.front().relative_residual, 1e-15);

    const SmallSystem<double> hard({-3e307, 2e307, -1e307, -2e307}, {1.5e308, 1.7e308});
    std::vector<double> guess(2);
    const SolveOptions by_cg{
        .preconditioner = PreconditionerKind::none, .method = KrylovMethod::cg, .guarantee = Guarantee::rounded};
    const SolveReport open = solve<double>(SpmvPlan<double>(hard.a, Device::cpu(1)), hard.b, guess, {}, by_cg);
    if (open.proof().status != ProofStatus::proven) {
        EXPECT_NE(open.results.front().status, SolveStatus::converged);
        EXPECT_NEAR(open.results.front().relative_residual, 1, 1e-15);
    }
}

/// The solution is (1 + 2^-60, -2^-60): a pair of floats can be that, the double that is written for it cannot.
TEST(GuaranteedSolve, ProvesOfAPairWhatHoldsForTheDoubleThatIsWritten) {
    const SmallSystem<float> system({1, 1, 0, 1}, {1, -0x1p-60});
    std::vector<float> x(2), x_low(2);
    SolveOptions options{
        .preconditioner = PreconditionerKind::none, .method = KrylovMethod::gmres, .guarantee = Guarantee::bound};
    options.iteration.tolerance = 1e-30;
    const SolveReport report = solve<float>(SpmvPlan<float>(system.a, Device::cpu(1)), system.b, x, x_low, options);
    const std::vector<Rational> solution = system.solution();
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double written = static_cast<double>(x[i]) + static_cast<double>(x_low[i]);
        EXPECT_LE(abs(Rational(written) - solution[i]), Rational(report.proof().bounds[i]));
    }
    EXPECT_GT(report.proof().backward_error, 0);
}

}  // namespace
}  // namespace solver
