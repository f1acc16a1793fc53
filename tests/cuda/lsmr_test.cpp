#include "solver/lsmr.hpp"

#include "solver/csr_matrix.hpp"
#include "solver/least_squares.hpp"
#include "support/gradients.hpp"
#include "support/linear_systems.hpp"
#include "support/on_cuda.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace solver {
namespace {

using namespace testing;

class CudaLsmr : public testing::OnCuda {};

/// What a solve tells and how it came there: iterates after every fifth step, residuals after each.
template <class T>
struct Course {
    SolveStatus status;
    std::int64_t iterations, restarts, factor_entries;
    double relative_residual, normal_residual, matrix_norm;
    std::vector<T> x;
    std::vector<double> residuals;
    std::vector<std::vector<double>> iterates;

    bool operator==(const Course&) const = default;
};

template <class T>
KrylovOptions watched(KrylovOptions options, std::size_t columns, Course<T>& course) {
    options.callback = [&course, columns](const Iteration& step) {
        course.residuals.push_back(step.recursive_residual);
        if (step.number % 5 != 0) return true;
        course.iterates.emplace_back(columns);
        step.iterate->copy_to(course.iterates.back());
        return true;
    };
    return options;
}

/// Another number in the place of each NaN, which is not equal to itself.
template <class T>
void replace_nans(std::vector<T>& v) {
    std::ranges::replace_if(
        v, [](T element) { return std::isnan(element); }, T(-12345));
}

template <class T>
Course<T> told(const LeastSquaresResult& result, Course<T> course) {
    replace_nans(course.x);
    replace_nans(course.residuals);
    for (std::vector<double>& iterate : course.iterates) replace_nans(iterate);
    course.status = result.status;
    course.iterations = result.iterations;
    course.restarts = result.restarts;
    course.factor_entries = result.factor_entries;
    course.relative_residual = result.relative_residual;
    course.normal_residual = result.normal_residual;
    course.matrix_norm = result.matrix_norm;
    return course;
}

template <class T>
Course<T> by_lsmr(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, const std::vector<T>& b, const KrylovOptions& options,
                  std::vector<T> guess = {}) {
    Course<T> course{};
    const auto columns = static_cast<std::size_t>(a.columns());
    course.x = guess.empty() ? std::vector<T>(columns) : std::move(guess);
    const LeastSquaresResult result = lsmr<T>(a, transposed, b, course.x, watched(options, columns, course));
    return told(result, std::move(course));
}

/// The first rows of a grid, all numbers times a power of two.
template <class T>
CsrMatrix<T> rows_of_grid(std::int64_t side, std::int64_t rows, int exponent) {
    CsrMatrix<T> a = convection_diffusion<T>(side, T(0.3)).a;
    a.rows = rows;
    a.row_offsets.resize(static_cast<std::size_t>(rows + 1));
    a.column_indices.resize(static_cast<std::size_t>(a.row_offsets.back()));
    a.values.resize(a.column_indices.size());
    for (T& value : a.values) value = std::ldexp(value, exponent);
    return a;
}

KrylovOptions exactly(double tolerance, std::int64_t most) {
    KrylovOptions options = with(Accuracy::exact, tolerance);
    options.max_iterations = most;
    return options;
}

/// In units so small or large that products with vectors leave the range of normal numbers or need a unit of their own, too.
// Promise: lsmr.hpp, "In exact the bits of x, the number of iterations"
// Promise: lsmr.hpp, "Where both plans are on one CUDA device"
TEST_F(CudaLsmr, HasTheProcessorsBits) {
    const auto expect_equal = []<class T>(std::vector<int> exponents, T) {
        for (const int exponent : exponents)
            for (const int of_b : exponents)
                for (const std::int64_t rows : {400, 250}) {
                    SCOPED_TRACE("A times 2^" + std::to_string(exponent) + ", b times 2^" + std::to_string(of_b) + ", " +
                                 std::to_string(rows) + " rows");
                    const CsrMatrix<T> a = rows_of_grid<T>(20, rows, exponent), t = transpose(a.view());
                    std::vector<T> b = random_vector<T>(static_cast<std::size_t>(rows), 3);
                    for (T& element : b) element = std::ldexp(element, of_b);
                    const KrylovOptions options = exactly(sizeof(T) == 4 ? 1e-5 : 1e-10, 150);
                    const Course<T> expected =
                        by_lsmr(SpmvPlan<T>(a, Device::cpu(1)), SpmvPlan<T>(t, Device::cpu(1)), b, options);
                    EXPECT_EQ(by_lsmr(SpmvPlan<T>(a, Device::cuda()), SpmvPlan<T>(t, Device::cuda()), b, options), expected);
                }
    };
    expect_equal({0, 3, -500, 480, -1040}, double());
    expect_equal({0, 3, -60, 50, -130}, float());
}

TEST_F(CudaLsmr, HasTheProcessorsBitsFromAGuessAndWhereOnePlanIsOnTheProcessor) {
    const CsrMatrix<double> a = rows_of_grid<double>(60, 3000, 0), t = transpose(a.view());
    const auto b = random_vector<double>(3000, 3), guess = random_vector<double>(3600, 4);
    const KrylovOptions options = exactly(1e-8, 60);
    const SpmvPlan<double> on_processor(a, Device::cpu()), on_device(a, Device::cuda());
    const SpmvPlan<double> its_transpose(t, Device::cpu()), transpose_on_device(t, Device::cuda());
    const auto expected = by_lsmr(on_processor, its_transpose, b, options, guess);
    EXPECT_EQ(by_lsmr(on_device, transpose_on_device, b, options, guess), expected);
    EXPECT_EQ(by_lsmr(on_device, its_transpose, b, options, guess), expected);
    EXPECT_EQ(by_lsmr(on_processor, transpose_on_device, b, options, guess), expected);
}

TEST_F(CudaLsmr, HasTheProcessorsBitsOfADenseMatrix) {
    const auto elements = random_vector<double>(90 * 40, 5), b = random_vector<double>(90, 6);
    const DenseView<double> view{90, 40, 40, 1, elements.data()};
    const auto found_on = [&](const Device& device) {
        return by_lsmr(SpmvPlan<double>(view, device), SpmvPlan<double>(view.transposed(), device), b, exactly(1e-12, 100));
    };
    EXPECT_EQ(found_on(Device::cuda()), found_on(Device::cpu(1)));
    EXPECT_EQ(found_on(Device::cuda()).status, SolveStatus::converged);
}

TEST_F(CudaLsmr, TakesWhatIsDegenerate) {
    const CsrMatrix<double> a = rows_of_grid<double>(5, 20, 0), t = transpose(a.view());
    const SpmvPlan<double> plan(a, Device::cuda()), transposed(t, Device::cuda());
    const auto of_zero = by_lsmr(plan, transposed, std::vector<double>(20), exactly(1e-10, 9), std::vector<double>(25, 2));
    EXPECT_EQ(of_zero.status, SolveStatus::converged);
    EXPECT_EQ(of_zero.x, std::vector<double>(25));
    for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
        EXPECT_EQ(by_lsmr(plan, transposed, std::vector<double>(20, bad), exactly(1e-10, 9)).status, SolveStatus::non_finite);
        const auto from_bad =
            by_lsmr(plan, transposed, std::vector<double>(20, 1), exactly(1e-10, 9), std::vector<double>(25, bad));
        EXPECT_EQ(from_bad.status, SolveStatus::non_finite);
    }
}

/// Steps alone, and with factors of the normal equations of columns and of rows, and multigrid of these.
TEST_F(CudaLsmr, HasTheProcessorsBitsWithAPreconditioner) {
    const auto expect_equal = [](const CsrMatrix<double>& a, PreconditionerKind kind) {
        const CsrMatrix<double> t = transpose(a.view());
        const auto b = random_vector<double>(static_cast<std::size_t>(a.rows), 3);
        const auto found_on = [&](const Device& device) {
            Course<double> course{};
            course.x.resize(static_cast<std::size_t>(a.columns));
            const LeastSquaresOptions options{watched(exactly(1e-10, 20'000), a.columns, course)};
            const SpmvPlan<double> plan(a, device), transposed(t, device);
            const LeastSquaresResult result = least_squares<double>(plan, transposed, b, course.x, options);
            EXPECT_EQ(result.preconditioner, kind);
            return told(result, std::move(course));
        };
        const auto expected = found_on(Device::cpu());
        EXPECT_GT(expected.factor_entries, 0);
        EXPECT_EQ(expected.status, SolveStatus::converged);
        EXPECT_EQ(found_on(Device::cuda()), expected);
    };
    for (const std::int64_t rows : {8100, 6000}) expect_equal(rows_of_grid<double>(90, rows, 1), PreconditionerKind::klu);
    expect_equal(gradients(250), PreconditionerKind::amg);
    expect_equal(transpose(gradients(250).view()), PreconditionerKind::amg);
}

}  // namespace
}  // namespace solver
