#include "support/nearly_symmetric.hpp"
#include "auto_solve/matrix_facts.hpp"
#include "matrices/generators.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/error.hpp"
#include "solver/preconditioner.hpp"
#include "solver/solve.hpp"
#include "support/full_elements.hpp"
#include "support/linear_systems.hpp"
#include "support/solved.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace solver {
namespace {

using testing::image_of_ones;
using testing::scaled_from_both_sides;
using testing::solve_by;

CsrMatrix<double> made_by_name(const char* name) { return matrices::find_generator(name).value().make(); }

template <class T>
MatrixFacts facts_when_sparse(const CsrMatrix<T>& a) {
    return facts_of(SpmvPlan<T>(a.view(), Device::cpu(2)));
}

template <class T>
MatrixFacts facts_when_full(const CsrMatrix<T>& a) {
    const std::vector<T> elements = testing::full_elements(a);
    return facts_of(SpmvPlan<T>(DenseView<T>{a.rows, a.columns, a.columns, 1, elements.data()}, Device::cpu(2)));
}

template <class T>
void expect_seen_but_for_rounding(const CsrMatrix<T>& symmetric) {
    CsrMatrix<T> a = scaled_from_both_sides(symmetric);
    for (const MatrixFacts& found : {facts_when_sparse(a), facts_when_full(a)}) {
        EXPECT_FALSE(found.is_symmetric) << "or this tests nothing";
        EXPECT_TRUE(found.is_nearly_symmetric);
    }
    for (const MatrixFacts& found : {facts_when_sparse(symmetric), facts_when_full(symmetric)})
        EXPECT_TRUE(found.is_symmetric && found.is_nearly_symmetric);
    const T before = a.values[1], size = std::sqrt(a.values[0]) * std::sqrt(a.values[a.row_offsets[1] + 1]);
    for (const int roundoffs : {-150, -110, 110, 150}) {
        a.values[1] = before + roundoffs * unit_roundoff<T> * size;  // a_01, which is less than the diagonal
        for (const MatrixFacts& found : {facts_when_sparse(a), facts_when_full(a)})
            EXPECT_EQ(found.is_nearly_symmetric, std::abs(roundoffs) == 110) << roundoffs;
    }
}

// Promise: solve.hpp, "The method, unless options.method says it"
TEST(NearlySymmetric, IsSeenButForRounding) {
    expect_seen_but_for_rounding(made_by_name("poisson2d_20"));
    expect_seen_but_for_rounding(convert<float>(made_by_name("poisson2d_20").view()));
    EXPECT_FALSE(facts_when_sparse(made_by_name("convection_diffusion_20")).is_nearly_symmetric);
    for (const int roundoffs : {120, 140}) {  // of what is more than the diagonal
        const double other = -1000 * (1 + roundoffs * unit_roundoff<double>);
        EXPECT_EQ(facts_when_sparse(CsrMatrix<double>{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, -1000, other, 2}}).is_nearly_symmetric,
                  roundoffs == 120);
    }
    EXPECT_FALSE(facts_when_sparse(CsrMatrix<double>{2, 2, {0, 2, 3}, {0, 1, 1}, {1, 0x1p-60, 1}}).is_nearly_symmetric)
        << "not stored";
}

/// The bits of the upper triangle on both sides.
CsrMatrix<double> with_upper_triangle_mirrored(CsrMatrix<double> a) {
    const CsrMatrix<double> turned = transpose(a.view());  // its pattern is that of A
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            if (a.column_indices[k] < i) a.values[k] = turned.values[k];
    return a;
}

TEST(NearlySymmetric, GivesTheLevelsOfItsUpperTriangle) {
    const CsrMatrix<double> a = scaled_from_both_sides(made_by_name("poisson2d_60"));
    const auto made = [](const CsrMatrix<double>& of) {
        return make_preconditioner<double>(PreconditionerKind::amg, of.view(), Accuracy::exact, Device::cpu(2));
    };
    const auto nearly = made(a);
    EXPECT_TRUE(nearly->is_symmetric());
    EXPECT_EQ(nearly->factor_hash(), made(with_upper_triangle_mirrored(a))->factor_hash());
    CsrMatrix<double> infinite = a;
    infinite.values[a.row_offsets[17]] = std::numeric_limits<double>::infinity();  // below the diagonal
    EXPECT_THROW(made(infinite), InvalidArgument);
}

// Promise: solve.hpp, "The method, unless options.method says it"
TEST(NearlySymmetric, IsSolvedByWhatSolvesSymmetricSystems) {
    const auto path = [](const CsrMatrix<double>& a) {
        const auto solved = solve_by(a, image_of_ones(a), {});
        EXPECT_EQ(solved.report.result().status, SolveStatus::converged);
        std::vector<std::pair<PreconditionerKind, KrylovMethod>> tried;
        for (const Attempt& attempt : solved.report.attempts) tried.emplace_back(attempt.preconditioner, attempt.method);
        return tried;
    };
    for (const char* name : {"poisson2d_20", "poisson2d_200"}) {
        const CsrMatrix<double> a = scaled_from_both_sides(made_by_name(name));
        EXPECT_EQ(path(a), path(with_upper_triangle_mirrored(a))) << name;
    }
    EXPECT_EQ(path(scaled_from_both_sides(made_by_name("poisson2d_200"))).back(),
              std::pair(PreconditionerKind::amg, KrylovMethod::cg));
}

/// Complete factors are symmetric where A is; where they are not definite MINRES may see that, and goes on without.
TEST(NearlySymmetric, IsSolvedByMinresWithCompleteFactorsWhereDefinite) {
    CsrMatrix<double> a = scaled_from_both_sides(made_by_name("poisson2d_20"));
    const SolveOptions by_minres{.method = KrylovMethod::minres};
    const auto definite = solve_by(a, image_of_ones(a), by_minres);
    EXPECT_EQ(definite.report.result().status, SolveStatus::converged);
    EXPECT_EQ(definite.report.attempts.back().preconditioner, PreconditionerKind::klu);
    EXPECT_LE(definite.report.result().iterations, 3);
    a.values[a.row_offsets[210] + 2] = -1;  // on the diagonal
    const auto indefinite = solve_by(a, image_of_ones(a), by_minres);
    EXPECT_EQ(indefinite.report.result().status, SolveStatus::converged) << "by these factors or without";
}

}  // namespace
}  // namespace solver
