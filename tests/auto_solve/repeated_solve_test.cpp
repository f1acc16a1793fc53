#include "auto_solve/repeated_solve.hpp"

#include "matrices/generators.hpp"
#include "solver/device.hpp"
#include "solver/solve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace solver {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

std::vector<double> fractions_of_period(std::int64_t rows, std::int64_t period) {
    std::vector<double> b;
    for (std::int64_t i = 0; i < rows; ++i) b.push_back((i % 3 == 0 ? -1e-3 : 1.0) / (1 + i % period));
    return b;
}

// By Jacobi's preconditioner, multigrid, complete factors at once or after a trial.
TEST(RepeatedSolve, HasTheBitsOfASolveWhateverCameBefore) {
    for (const char* name : {"poisson3d_20", "anisotropic_50", "poisson2d_70", "stokes2d_12", "convection_strong_16"}) {
        const CsrMatrix<double> a = matrices::find_generator(name)->make();
        const SpmvPlan<double> plan(a.view(), Device::cpu(1));
        SolveOptions options;
        options.iteration.accuracy = Accuracy::exact;
        RepeatedSolve repeated(plan, options);
        for (const std::int64_t period : {1000, 7, 1000}) {
            const std::vector<double> b = fractions_of_period(a.rows, period);
            std::vector<double> expected(b.size()), x(b.size());
            const SolveReport alone = solve<double>(plan, b, expected, {}, options);
            const SolveReport report = repeated.solve(b, x);
            EXPECT_EQ(x, expected) << name << " " << period;
            EXPECT_EQ(report.attempts.size(), alone.attempts.size()) << name;
            EXPECT_EQ(report.result().iterations, alone.result().iterations) << name;
            EXPECT_EQ(report.obstacle, alone.obstacle) << name;
        }
    }
}

TEST(RepeatedSolve, MakesNothingTwice) {
    const CsrMatrix<double> a = matrices::find_generator("convection_diffusion_50")->make();
    const SpmvPlan<double> plan(a.view(), Device::cpu(1));
    std::vector<std::string> made;
    const std::function<void(const std::string&)> note = [&](const std::string& what) { made.push_back(what); };
    SolveOptions options;
    options.factors.progress = &note;
    RepeatedSolve repeated(plan, options);
    const std::vector<double> b = fractions_of_period(a.rows, 1000);
    std::vector<double> x(b.size());
    repeated.solve(b, x);
    EXPECT_THAT(made, Contains("klu"));
    made.clear();
    x.assign(b.size(), 0.0);
    repeated.solve(b, x);
    EXPECT_THAT(made, IsEmpty());
}

}  // namespace
}  // namespace solver
