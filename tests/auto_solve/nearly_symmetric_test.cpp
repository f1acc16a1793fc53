#include "support/nearly_symmetric.hpp"
#include "auto_solve/matrix_facts.hpp"
#include "matrices/generators.hpp"
#include "preconditioner/amg/galerkin.hpp"
#include "preconditioner/amg/hierarchy.hpp"
#include "preconditioner/amg/host_place.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/solve.hpp"
#include "support/linear_systems.hpp"
#include "support/solved.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace solver {
namespace {

using testing::image_of_ones;
using testing::scaled_from_both_sides;
using testing::solve_by;

CsrMatrix<double> generated(const char* name) { return matrices::find_generator(name).value().make(); }

template <class T>
MatrixFacts facts(const CsrMatrix<T>& a) {
    return facts_of(SpmvPlan<T>(a.view(), Device::cpu(2)));
}

template <class T>
MatrixFacts facts_of_full(const CsrMatrix<T>& a) {
    std::vector<T> elements(static_cast<std::size_t>(a.rows * a.columns));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            elements[i * a.columns + a.column_indices[k]] = a.values[k];
    return facts_of(SpmvPlan<T>(DenseView<T>{a.rows, a.columns, a.columns, 1, elements.data()}, Device::cpu(2)));
}

template <class T>
void expect_seen_but_for_rounding(const CsrMatrix<T>& symmetric) {
    CsrMatrix<T> a = scaled_from_both_sides(symmetric);
    for (const MatrixFacts& found : {facts(a), facts_of_full(a)}) {
        EXPECT_FALSE(found.is_symmetric) << "or this tests nothing";
        EXPECT_TRUE(found.is_nearly_symmetric);
    }
    for (const MatrixFacts& found : {facts(symmetric), facts_of_full(symmetric)})
        EXPECT_TRUE(found.is_symmetric && found.is_nearly_symmetric);
    a.values[1] *= 1 + 130 * unit_roundoff<T>;
    for (const MatrixFacts& found : {facts(a), facts_of_full(a)}) EXPECT_FALSE(found.is_nearly_symmetric);
}

// Promise: solve.hpp, "The method, unless options.method says it"
TEST(NearlySymmetric, IsSeenButForRounding) {
    expect_seen_but_for_rounding(generated("poisson2d_20"));
    expect_seen_but_for_rounding(convert<float>(generated("poisson2d_20").view()));
    EXPECT_FALSE(facts(generated("convection_diffusion_20")).is_nearly_symmetric);
    EXPECT_FALSE(facts(CsrMatrix<double>{2, 2, {0, 2, 3}, {0, 1, 1}, {1, 0x1p-60, 1}}).is_nearly_symmetric) << "not stored";
}

/// The bits of the upper triangle on both sides.
CsrMatrix<double> mirrored(CsrMatrix<double> a) {
    amg::mirror_upper_triangle(a, Device::cpu(1));
    return a;
}

TEST(NearlySymmetric, GivesTheLevelsOfItsUpperTriangle) {
    const CsrMatrix<double> a = scaled_from_both_sides(generated("poisson2d_60"));
    const auto nearly = amg::make_hierarchy<float>(a.view(), {}, Device::cpu(2));
    const auto exactly = amg::make_hierarchy<float>(mirrored(a).view(), {}, Device::cpu(2));
    const amg::HostPlace place(Device::cpu(1));
    EXPECT_TRUE(nearly.is_symmetric);
    EXPECT_GE(nearly.levels.size(), 2u);
    EXPECT_EQ(nearly.hash(place), exactly.hash(place));
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
        const CsrMatrix<double> a = scaled_from_both_sides(generated(name));
        EXPECT_EQ(path(a), path(mirrored(a))) << name;
    }
    EXPECT_EQ(path(scaled_from_both_sides(generated("poisson2d_200"))).back(),
              std::pair(PreconditionerKind::amg, KrylovMethod::cg));
}

}  // namespace
}  // namespace solver
