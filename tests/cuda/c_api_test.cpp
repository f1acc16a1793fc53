/// solver_cuda.h: what it gives has the bits of the processor in exact.

#include "solver/cuda.hpp"
#include "solver/solver.hpp"
#include "solver/solver_cuda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/on_cuda.hpp"
#include "support/products.hpp"

namespace solver {
namespace {

using ::testing::HasSubstr;

/// [4 1 0; 1 4 1; 0 1 4]
const CsrMatrix<double> small{3, 3, {0, 2, 5, 7}, {0, 1, 0, 1, 2, 1, 2}, {4, 1, 1, 4, 1, 1, 4}};

solver_csr described(const RowOffsetPointer& offsets, const std::int32_t* columns, const double* values) {
    const std::int32_t bytes = offsets.as<std::int32_t>() != nullptr ? 4 : 8;
    return {sizeof(solver_csr), SOLVER_DOUBLE, bytes, 4, 1, 3, 3, 7, offsets.address(0), columns, values, nullptr, 0};
}

/// (2i 1; 0 4)
const CsrMatrix<std::complex<double>> complex_upper{2, 2, {0, 2, 3}, {0, 1, 1}, {{0, 2}, {1, 0}, {4, 0}}};

solver_csr complex_described(const void* offsets, const std::int32_t* columns, const void* values) {
    return {sizeof(solver_csr), SOLVER_COMPLEX_DOUBLE, 8, 4, 0, 2, 2, 3, offsets, columns, values, nullptr, 0};
}
solver_csr complex_described(const CsrMatrix<std::complex<double>>& a) {
    return complex_described(a.row_offsets.data(), a.column_indices.data(), a.values.data());
}
solver_csr complex_described(const cuda::DeviceCsrView<std::complex<double>>& a) {
    return complex_described(a.row_offsets.address(0), a.column_indices, a.values);
}

std::vector<double> on_host(const cuda::DeviceArray<double>& array) {
    std::vector<double> values(static_cast<std::size_t>(array.size()));
    array.copy_to(values);
    return values;
}

class CudaFromC : public testing::OnCuda {};

// Promise: solver_cuda.h, "SOLVER_NOT_SUPPORTED in a library built"
TEST(CudaFromCWithoutADevice, IsRefusedWithTheReason) {
    if (cuda::device_count() > 0) GTEST_SKIP() << "there is a CUDA device";
    const solver_csr csr = described(small.row_offsets.data(), small.column_indices.data(), small.values.data());
    solver_cuda_matrix* matrix = nullptr;
    solver_cuda_workspace* workspace = nullptr;
    EXPECT_EQ(solver_cuda_matrix_create(&csr, 0, nullptr, &matrix), SOLVER_NOT_SUPPORTED);
    EXPECT_THAT(solver_last_error(), HasSubstr("device cuda:0: "));
    EXPECT_EQ(solver_cuda_workspace_create(0, &workspace), SOLVER_NOT_SUPPORTED);
    solver_matrix* on_device = nullptr;
    EXPECT_EQ(solver_cuda_csr_create(&csr, 0, nullptr, &on_device), SOLVER_NOT_SUPPORTED);
    EXPECT_EQ(solver_cuda_spmv(nullptr, 1, nullptr, 0, nullptr, SOLVER_EXACT, nullptr), SOLVER_INVALID_ARGUMENT);
    const solver_csr numbers = complex_described(complex_upper);
    solver_matrix* here = nullptr;
    solver_cuda_triangle* triangle = nullptr;
    EXPECT_EQ(solver_cuda_matrix_create(&numbers, 0, nullptr, &matrix), SOLVER_NOT_SUPPORTED);
    EXPECT_THAT(solver_last_error(), HasSubstr("device cuda:0: "));
    EXPECT_EQ(solver_cuda_csr_create(&numbers, 0, nullptr, &on_device), SOLVER_NOT_SUPPORTED);
    ASSERT_EQ(solver_csr_create(&numbers, SOLVER_PROCESSOR, &here), SOLVER_OK);
    EXPECT_EQ(solver_cuda_triangle_create(here, SOLVER_UPPER, SOLVER_STORED_DIAGONAL, 0, &triangle), SOLVER_NOT_SUPPORTED);
    EXPECT_THAT(solver_last_error(), HasSubstr("device cuda:0: "));
    solver_matrix_destroy(here);
    solver_cuda_matrix_destroy(nullptr);
    solver_cuda_workspace_destroy(nullptr);
    solver_cuda_triangle_destroy(nullptr);
}

class CudaFromCWithOffsets : public CudaFromC, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(OfBytes, CudaFromCWithOffsets, ::testing::Values(4, 8));

// Promise: solver.h, "The CUDA devices that can be used;"
TEST(CudaFromCOnTheProcessor, CountsTheDevices) {
    std::int32_t count = -1;
    EXPECT_EQ(solver_device_count(&count), SOLVER_OK);
    EXPECT_EQ(count, cuda::device_count());
}

// Promise: solver_cuda.h, "SOLVER_INVALID_ARGUMENT where the matrix was made"
TEST(CudaFromCOnTheProcessor, DoesNotSolveForVectorsOfADevice) {
    solver_csr csr = described(small.view().row_offsets, small.column_indices.data(), small.values.data());
    csr.borrow = 1;
    solver_matrix* matrix = nullptr;
    solver_result* result = nullptr;
    ASSERT_EQ(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_OK) << solver_last_error();
    double x[3] = {};
    EXPECT_EQ(solver_cuda_solve(matrix, nullptr, 1, x, x, nullptr, nullptr, nullptr, &result), SOLVER_INVALID_ARGUMENT);
    EXPECT_THAT(solver_last_error(), HasSubstr("the plan of A was made for"));
    EXPECT_EQ(result, nullptr);
    EXPECT_EQ(solver_cuda_solve(matrix, nullptr, -1, x, x, nullptr, nullptr, nullptr, &result), SOLVER_INVALID_ARGUMENT);
    EXPECT_THAT(solver_last_error(), HasSubstr("solver_cuda_solve: there are -1 columns"));
    solver_matrix_destroy(matrix);
}

// Promise: solver_cuda.h, "solver_solve for vectors, real or complex"
TEST_F(CudaFromC, SolvesForVectorsOnTheDevice) {
    const solver_csr csr = described(small.view().row_offsets, small.column_indices.data(), small.values.data());
    const std::vector<double> b_twice{6, 12, 14, -6, -12, -14}, zeros(6);
    const cuda::DeviceArray<double> b(0, b_twice, "b"), x(0, zeros, "x");
    solver_matrix* matrix = nullptr;
    solver_preconditioner* jacobi = nullptr;
    ASSERT_EQ(solver_csr_create(&csr, 0, &matrix), SOLVER_OK) << solver_last_error();
    ASSERT_EQ(solver_preconditioner_create(matrix, "jacobi", SOLVER_EXACT, nullptr, &jacobi), SOLVER_OK);
    solver_options options;
    solver_options_init(&options, sizeof options);
    options.accuracy = SOLVER_EXACT;
    options.tolerance = 1e-15;
    for (const solver_preconditioner* m :
         {static_cast<const solver_preconditioner*>(nullptr), static_cast<const solver_preconditioner*>(jacobi)}) {
        std::vector<double> on_processor(6);
        solver_result* result = nullptr;
        ASSERT_EQ(solver_solve(matrix, m, 2, b_twice.data(), on_processor.data(), nullptr, &options, nullptr), SOLVER_OK);
        x.fill_with_zeros();
        ASSERT_EQ(solver_cuda_solve(matrix, m, 2, b.data(), x.data(), nullptr, &options, nullptr, &result), SOLVER_OK)
            << solver_last_error();
        EXPECT_EQ(on_host(x), on_processor);
        solver_outcome outcome{};
        outcome.size = sizeof outcome;
        EXPECT_EQ(solver_result_outcome(result, 1, &outcome), SOLVER_OK);
        EXPECT_EQ(outcome.status, SOLVER_CONVERGED);
        solver_result_destroy(result);
    }
    solver_preconditioner_destroy(jacobi);
    solver_matrix_destroy(matrix);
}

struct SeenByCallbacks {
    const solver_matrix* matrix;
    std::thread::id thread;
    int iterates = 0, products = 0;
};
std::int32_t look(void* context, const solver_iteration* iteration) {
    auto& seen = *static_cast<SeenByCallbacks*>(context);
    double x[3] = {NAN, NAN, NAN};
    EXPECT_EQ(solver_iteration_x(iteration, 3, x), SOLVER_OK) << solver_last_error();
    EXPECT_FALSE(std::isnan(x[0] + x[1] + x[2]));
    EXPECT_EQ(std::this_thread::get_id(), seen.thread);
    ++seen.iterates;
    return 0;
}
std::int32_t halve(void* context, const void* r, void* z, std::int32_t) {
    auto& seen = *static_cast<SeenByCallbacks*>(context);
    for (int i = 0; i < 3; ++i) static_cast<double*>(z)[i] = static_cast<const double*>(r)[i] / 2;
    EXPECT_EQ(std::this_thread::get_id(), seen.thread);
    ++seen.products;
    return 0;
}

// Promise: solver_cuda.h, "Callbacks, solver_iteration_x and preconditioners of"
TEST_F(CudaFromC, ShowsCallbacksTheHostsMemory) {
    solver_matrix* matrix = nullptr;
    const solver_csr csr = described(small.view().row_offsets, small.column_indices.data(), small.values.data());
    ASSERT_EQ(solver_csr_create(&csr, 0, &matrix), SOLVER_OK) << solver_last_error();
    SeenByCallbacks seen{matrix, std::this_thread::get_id()};
    solver_preconditioner* m = nullptr;
    ASSERT_EQ(solver_preconditioner_from(SOLVER_DOUBLE, 3, halve, &seen, &m), SOLVER_OK);
    const std::vector<double> right{0.1, 0.2, 0.7}, zeros(3);
    const cuda::DeviceArray<double> b(0, right, "b"), x(0, zeros, "x");
    solver_options options;
    solver_options_init(&options, sizeof options);
    options.callback = look;
    options.context = &seen;
    ASSERT_EQ(solver_cuda_solve(matrix, m, 1, b.data(), x.data(), nullptr, &options, nullptr, nullptr), SOLVER_OK)
        << solver_last_error();
    EXPECT_GT(seen.iterates, 1);
    EXPECT_GT(seen.products, 1);
    solver_preconditioner_destroy(m);
    solver_matrix_destroy(matrix);
}

// Promise: solver_cuda.h, "Looks at the arrays of `csr`, which lie on the device"
// Promise: solver_cuda.h, "y = alpha A x + beta y; they must not overlap"
// Promise: solver_cuda.h, "r = b - A (x + x_low); x_low may be NULL"
// Promise: solver_cuda.h, "They are checked there."
TEST_P(CudaFromCWithOffsets, MultipliesAndSubtracts) {
    const testing::WithNarrowOffsets<double> narrow(small);
    const cuda::DeviceCsrMatrix<double> a(0, GetParam() == 4 ? narrow.view() : small.view());
    const solver_csr csr = described(a.view().row_offsets, a.view().column_indices, a.view().values);
    const std::vector<double> one_two_three{1, 2, 3};
    const cuda::DeviceArray<double> x(0, one_two_three, "x"), y(0, 3, "y"), r(0, 3, "r");
    solver_cuda_matrix* matrix = nullptr;
    ASSERT_EQ(solver_cuda_matrix_create(&csr, 0, nullptr, &matrix), SOLVER_OK) << solver_last_error();
    EXPECT_EQ(solver_cuda_spmv(matrix, 1, x.data(), 0, y.data(), SOLVER_EXACT, nullptr), SOLVER_OK);
    EXPECT_EQ(on_host(y), (std::vector<double>{6, 12, 14}));
    EXPECT_EQ(solver_cuda_spmv(matrix, 3, x.data(), -1, y.data(), SOLVER_EXACT, nullptr), SOLVER_OK);
    EXPECT_EQ(on_host(y), (std::vector<double>{12, 24, 28}));
    EXPECT_EQ(solver_cuda_residual(matrix, x.data(), x.data(), nullptr, r.data(), SOLVER_EXACT, nullptr), SOLVER_OK);
    EXPECT_EQ(on_host(r), (std::vector<double>{-5, -10, -11}));
    solver_cuda_matrix_destroy(matrix);
    solver_csr narrower = csr;
    narrower.columns = 2;
    solver_matrix* of_any_use = nullptr;
    EXPECT_EQ(solver_cuda_matrix_create(&narrower, 0, nullptr, &matrix), SOLVER_INVALID_ARGUMENT);
    EXPECT_THAT(solver_last_error(), HasSubstr("entry 4 stands in column 2"));
    EXPECT_EQ(solver_cuda_csr_create(&narrower, 0, nullptr, &of_any_use), SOLVER_INVALID_ARGUMENT);
    EXPECT_THAT(solver_last_error(), HasSubstr("entry 4 stands in column 2"));
}

// Promise: solver_cuda.h, "solver_csr_create for arrays that lie on the device"
// Promise: solver_cuda.h, "A copy in the host's memory is made"
// Promise: solver_cuda.h, "SOLVER_INVALID_ARGUMENT from solver_matrix_update"
TEST_P(CudaFromCWithOffsets, SolvesWithAMatrixThatLiesOnTheDevice) {
    const testing::WithNarrowOffsets<double> narrow(small);
    const cuda::DeviceCsrMatrix<double> a(0, GetParam() == 4 ? narrow.view() : small.view());
    const solver_csr csr = described(a.view().row_offsets, a.view().column_indices, a.view().values);
    const std::vector<double> right{6, 12, 14};
    const cuda::DeviceArray<double> b(0, right, "b"), x(0, 3, "x");
    x.fill_with_zeros();
    solver_matrix* matrix = nullptr;
    ASSERT_EQ(solver_cuda_csr_create(&csr, 0, nullptr, &matrix), SOLVER_OK) << solver_last_error();
    ASSERT_EQ(solver_cuda_solve(matrix, nullptr, 1, b.data(), x.data(), nullptr, nullptr, nullptr, nullptr), SOLVER_OK)
        << solver_last_error();
    const std::vector<double> one_two_three{1, 2, 3};
    EXPECT_THAT(on_host(x), ::testing::Pointwise(::testing::DoubleNear(1e-9), one_two_three));
    std::vector<double> y(3);
    EXPECT_EQ(solver_spmv(matrix, 1, one_two_three.data(), 0, y.data(), SOLVER_EXACT), SOLVER_OK);
    EXPECT_EQ(y, right);
    solver_csr on_the_host{};
    on_the_host.size = sizeof on_the_host;
    ASSERT_EQ(solver_matrix_csr(matrix, &on_the_host), SOLVER_OK);
    EXPECT_EQ(static_cast<const double*>(on_the_host.values)[1], 1);
    EXPECT_EQ(solver_matrix_update(matrix, right.data()), SOLVER_INVALID_ARGUMENT);
    EXPECT_THAT(solver_last_error(), HasSubstr("change it there and create it anew"));
    solver_matrix_destroy(matrix);
}

/// A matrix for products in exact by a function: with A on the device, or on the processor.
solver_matrix* processors_small() {
    const solver_csr csr = described(small.row_offsets.data(), small.column_indices.data(), small.values.data());
    solver_matrix* matrix = nullptr;
    EXPECT_EQ(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_OK) << solver_last_error();
    return matrix;
}
std::int32_t multiply_here(void* context, const void* x, void* y) {
    return solver_spmv(static_cast<const solver_matrix*>(context), 1, x, 0, y, SOLVER_EXACT);
}
std::int32_t multiply_there(void* context, const void* x, void* y, void* stream) {
    return solver_cuda_spmv(static_cast<const solver_cuda_matrix*>(context), 1, x, 0, y, SOLVER_EXACT, stream);
}
std::int32_t apply_here(void* context, const void* r, void* z, std::int32_t) { return multiply_here(context, r, z); }
std::int32_t apply_there(void* context, const void* r, void* z, std::int32_t, void* stream) {
    return multiply_there(context, r, z, stream);
}
std::int32_t fail_there(void*, const void*, void*, void*) { return 7; }

// Promise: solver_cuda.h, "Anything else ends the solve, which returns"
// Promise: solver_cuda.h, "solver_solve_operator on a device, for an A that works there"
// Promise: solver_cuda.h, "The bits in SOLVER_EXACT are those of solver_solve_operator"
// Promise: solver_cuda.h, "A preconditioner of solver_preconditioner_from sees the host's memory"
// Promise: solver_cuda.h, "y = A x of as many elements as A has rows"
TEST_F(CudaFromC, SolvesWithOperators) {
    const cuda::DeviceCsrMatrix<double> on_device(0, small.view());
    const solver_csr csr = described(on_device.view().row_offsets, on_device.view().column_indices, on_device.view().values);
    solver_cuda_matrix* there = nullptr;
    ASSERT_EQ(solver_cuda_matrix_create(&csr, 0, nullptr, &there), SOLVER_OK) << solver_last_error();
    solver_matrix* const here = processors_small();
    solver_preconditioner *of_host = nullptr, *of_device = nullptr;
    ASSERT_EQ(solver_preconditioner_from(SOLVER_DOUBLE, 3, apply_here, here, &of_host), SOLVER_OK);
    ASSERT_EQ(solver_cuda_preconditioner_from(SOLVER_DOUBLE, 3, apply_there, there, &of_device), SOLVER_OK);
    const std::vector<double> right{0.1, 0.2, 0.7}, zeros(3);
    const cuda::DeviceArray<double> b(0, right, "b"), x(0, zeros, "x");
    solver_options options;
    solver_options_init(&options, sizeof options);
    const solver_preconditioner* const none = nullptr;
    for (const char* method : {"bicgstab", "gmres", "idr", "bicgstab2", "cg", "minres"})
        for (const solver_preconditioner* m :
             {none, static_cast<const solver_preconditioner*>(of_host), static_cast<const solver_preconditioner*>(of_device)}) {
            if (m != none && (method == std::string("cg") || method == std::string("minres"))) continue;
            options.method = method;
            std::vector<double> expected(3), host_x(3);
            ASSERT_EQ(solver_solve_operator(SOLVER_DOUBLE, 3, multiply_here, here, m == none ? none : of_host, right.data(),
                                            expected.data(), &options, nullptr),
                      SOLVER_OK)
                << solver_last_error();
            x.fill_with_zeros();
            ASSERT_EQ(solver_cuda_solve_operator(SOLVER_DOUBLE, 3, multiply_there, there, m, 0, b.data(), x.data(), &options,
                                                 nullptr, nullptr),
                      SOLVER_OK)
                << solver_last_error();
            EXPECT_EQ(on_host(x), expected) << method;
            ASSERT_EQ(solver_cuda_solve_operator(SOLVER_DOUBLE, 3, multiply_there, there, m, 0, right.data(), host_x.data(),
                                                 &options, nullptr, nullptr),
                      SOLVER_OK);
            EXPECT_EQ(host_x, expected) << method;
        }
    EXPECT_EQ(solver_cuda_solve_operator(SOLVER_DOUBLE, 3, fail_there, nullptr, nullptr, 0, b.data(), x.data(), nullptr,
                                         nullptr, nullptr),
              SOLVER_CALLBACK_FAILED);
    EXPECT_THAT(solver_last_error(), HasSubstr("product with A returned 7"));
    solver_preconditioner_destroy(of_host);
    solver_preconditioner_destroy(of_device);
    solver_matrix_destroy(here);
    solver_cuda_matrix_destroy(there);
}

/// (2 i, 1; 0, 4) (1, i) = (3 i, 4 i).
// Promise: solver_cuda.h, "solver_complex_spmv on the device;"
TEST_F(CudaFromC, MultipliesByComplexFactors) {
    const cuda::DeviceCsrMatrix<std::complex<double>> on_device(0, complex_upper.view());
    const solver_csr csr = complex_described(on_device.view());
    solver_cuda_matrix *matrix = nullptr, *real = nullptr;
    ASSERT_EQ(solver_cuda_matrix_create(&csr, 0, nullptr, &matrix), SOLVER_OK) << solver_last_error();
    const std::vector<double> numbers{1, 0, 0, 1};
    const cuda::DeviceArray<double> x(0, numbers, "x"), y(0, numbers, "y");
    const double alpha[] = {0, 1}, beta[] = {2, -1};
    EXPECT_EQ(solver_cuda_complex_spmv(matrix, alpha, x.data(), beta, y.data(), SOLVER_EXACT, nullptr), SOLVER_OK)
        << solver_last_error();
    EXPECT_EQ(on_host(y), (std::vector<double>{-1, -1, -3, 2}));
    solver_cuda_matrix_destroy(matrix);
    const cuda::DeviceCsrMatrix<double> of_real(0, small.view());
    const solver_csr described_real =
        described(of_real.view().row_offsets, of_real.view().column_indices, of_real.view().values);
    ASSERT_EQ(solver_cuda_matrix_create(&described_real, 0, nullptr, &real), SOLVER_OK) << solver_last_error();
    EXPECT_EQ(solver_cuda_complex_spmv(real, alpha, x.data(), beta, y.data(), SOLVER_EXACT, nullptr), SOLVER_INVALID_ARGUMENT);
    EXPECT_THAT(solver_last_error(), HasSubstr("the matrix is real"));
    solver_cuda_matrix_destroy(real);
}

struct OfOneThread {
    const solver_cuda_matrix* matrix;
    std::thread::id thread;
};
std::int32_t multiply_on_this_thread(void* context, const void* x, void* y, void* stream) {
    const auto& given = *static_cast<const OfOneThread*>(context);
    EXPECT_EQ(std::this_thread::get_id(), given.thread);
    const cuda::DeviceArray<double> copy(0, 3, "x");
    cuda::synchronize(0, static_cast<cuda::Stream>(stream));
    return solver_cuda_spmv(given.matrix, 1, x, 0, y, SOLVER_EXACT, stream);
}

// Promise: solver_cuda.h, "It is called from the thread that solves, and may wait"
TEST_F(CudaFromC, CallsOperatorsFromTheThreadThatSolves) {
    const cuda::DeviceCsrMatrix<double> on_device(0, small.view());
    const solver_csr csr = described(on_device.view().row_offsets, on_device.view().column_indices, on_device.view().values);
    solver_cuda_matrix* there = nullptr;
    ASSERT_EQ(solver_cuda_matrix_create(&csr, 0, nullptr, &there), SOLVER_OK) << solver_last_error();
    OfOneThread context{there, std::this_thread::get_id()};
    const std::vector<double> right{0.1, 0.2, 0.7};
    std::vector<double> x(3), expected(3);
    EXPECT_EQ(solver_cuda_solve_operator(SOLVER_DOUBLE, 3, multiply_on_this_thread, &context, nullptr, 0, right.data(),
                                         x.data(), nullptr, nullptr, nullptr),
              SOLVER_OK)
        << solver_last_error();
    EXPECT_EQ(solver_cuda_solve_operator(SOLVER_DOUBLE, 3, multiply_there, there, nullptr, 0, right.data(), expected.data(),
                                         nullptr, nullptr, nullptr),
              SOLVER_OK);
    EXPECT_EQ(x, expected);
    solver_cuda_matrix_destroy(there);
}

// Promise: solver_cuda.h, "A preconditioner of the caller's that works on the device:"
// Promise: solver_cuda.h, "`apply` computes z = M^-1 r, both of `rows` elements of `type`"
// Promise: solver_cuda.h, "In solver_cuda_solve it only launches kernels"
TEST_F(CudaFromC, SolvesWithAPreconditionerOfTheCallersOnTheDevice) {
    const cuda::DeviceCsrMatrix<double> on_device(0, small.view());
    const solver_csr csr = described(on_device.view().row_offsets, on_device.view().column_indices, on_device.view().values);
    solver_cuda_matrix* there = nullptr;
    solver_matrix *matrix = nullptr, *here = processors_small();
    solver_preconditioner *of_host = nullptr, *of_device = nullptr;
    ASSERT_EQ(solver_cuda_matrix_create(&csr, 0, nullptr, &there), SOLVER_OK) << solver_last_error();
    ASSERT_EQ(solver_cuda_csr_create(&csr, 0, nullptr, &matrix), SOLVER_OK) << solver_last_error();
    ASSERT_EQ(solver_preconditioner_from(SOLVER_DOUBLE, 3, apply_here, here, &of_host), SOLVER_OK);
    ASSERT_EQ(solver_cuda_preconditioner_from(SOLVER_DOUBLE, 3, apply_there, there, &of_device), SOLVER_OK);
    const std::vector<double> right{0.1, 0.2, 0.7};
    solver_options options;
    solver_options_init(&options, sizeof options);
    for (const char* method : {"bicgstab", "cg", "gmres"}) {
        options.method = method;
        std::vector<double> expected(3), found(3);
        ASSERT_EQ(solver_solve(here, of_host, 1, right.data(), expected.data(), nullptr, &options, nullptr), SOLVER_OK);
        ASSERT_EQ(solver_solve(matrix, of_device, 1, right.data(), found.data(), nullptr, &options, nullptr), SOLVER_OK)
            << solver_last_error();
        EXPECT_EQ(found, expected) << method;
    }
    solver_preconditioner_destroy(of_host);
    solver_preconditioner_destroy(of_device);
    solver_matrix_destroy(matrix);
    solver_matrix_destroy(here);
    solver_cuda_matrix_destroy(there);
}

// Promise: solver_cuda.h, "Elsewhere it is SOLVER_NOT_SUPPORTED."
TEST(CudaFromCOnTheProcessor, RefusesOperatorsThatCannotBe) {
    solver_preconditioner* m = nullptr;
    double x[3] = {};
    EXPECT_EQ(solver_cuda_preconditioner_from(SOLVER_DOUBLE, 3, nullptr, nullptr, &m), SOLVER_INVALID_ARGUMENT);
    EXPECT_THAT(solver_last_error(), HasSubstr("apply is NULL"));
    ASSERT_EQ(solver_cuda_preconditioner_from(SOLVER_DOUBLE, 3, apply_there, nullptr, &m), SOLVER_OK);
    EXPECT_EQ(solver_preconditioner_apply(m, x, x, SOLVER_EXACT), SOLVER_NOT_SUPPORTED);
    EXPECT_THAT(solver_last_error(), HasSubstr("in the memory of a CUDA device"));
    solver_preconditioner_destroy(m);
    EXPECT_EQ(solver_cuda_solve_operator(SOLVER_DOUBLE, 3, nullptr, nullptr, nullptr, 0, x, x, nullptr, nullptr, nullptr),
              SOLVER_INVALID_ARGUMENT);
    EXPECT_THAT(solver_last_error(), HasSubstr("multiply is NULL"));
    EXPECT_EQ(solver_cuda_solve_operator(SOLVER_DOUBLE, 3, fail_there, nullptr, nullptr, 63, x, x, nullptr, nullptr, nullptr),
              SOLVER_NOT_SUPPORTED);
    EXPECT_THAT(solver_last_error(), HasSubstr("device cuda:63: "));
}

// Promise: solver_cuda.h, "*result, on the device, is one number of the type, of"
// Promise: solver_cuda.h, "Pointers are to the device's memory"
// Promise: solver_cuda.h, "Working memory for sums, dot products"
TEST_F(CudaFromC, Reduces) {
    const std::vector<double> values{1e308, 1e308, -1e308, 1, -1e308};
    const cuda::DeviceArray<double> x(0, values, "x"), result(0, 1, "a sum");
    solver_cuda_workspace* workspace = nullptr;
    ASSERT_EQ(solver_cuda_workspace_create(0, &workspace), SOLVER_OK) << solver_last_error();
    EXPECT_EQ(solver_cuda_sum(workspace, SOLVER_DOUBLE, 5, x.data(), SOLVER_EXACT, result.data(), nullptr), SOLVER_OK);
    EXPECT_EQ(on_host(result)[0], 1);
    EXPECT_EQ(solver_cuda_dot(workspace, SOLVER_DOUBLE, 1, x.data() + 3, x.data() + 3, SOLVER_EXACT, result.data(), nullptr),
              SOLVER_OK);
    EXPECT_EQ(on_host(result)[0], 1);
    EXPECT_EQ(solver_cuda_norm2(workspace, SOLVER_DOUBLE, 1, x.data() + 2, SOLVER_EXACT, result.data(), nullptr), SOLVER_OK);
    EXPECT_EQ(on_host(result)[0], 1e308);
    solver_cuda_workspace_destroy(workspace);
}

// Promise: solver_cuda.h, "Of complex numbers solver_cuda_dot conjugates x"
TEST_F(CudaFromC, ReducesComplexNumbers) {
    const std::vector<double> values{1, 2, 0, 1}, others{3, -1, 2, 0};  // (1 + 2i, i), (3 - i, 2)
    const cuda::DeviceArray<double> x(0, values, "x"), y(0, others, "y"), result(0, 2, "a number");
    const auto found = [&] { return on_host(result); };
    const std::int32_t type = SOLVER_COMPLEX_DOUBLE;
    solver_cuda_workspace* workspace = nullptr;
    ASSERT_EQ(solver_cuda_workspace_create(0, &workspace), SOLVER_OK) << solver_last_error();
    EXPECT_EQ(solver_cuda_sum(workspace, type, 2, x.data(), SOLVER_EXACT, result.data(), nullptr), SOLVER_OK);
    EXPECT_EQ(found(), (std::vector<double>{1, 3}));
    EXPECT_EQ(solver_cuda_dot(workspace, type, 2, x.data(), y.data(), SOLVER_EXACT, result.data(), nullptr), SOLVER_OK);
    EXPECT_EQ(found(), (std::vector<double>{1, -9}));
    EXPECT_EQ(solver_cuda_dotu(workspace, type, 2, x.data(), y.data(), SOLVER_EXACT, result.data(), nullptr), SOLVER_OK);
    EXPECT_EQ(found(), (std::vector<double>{5, 7}));
    EXPECT_EQ(solver_cuda_dotu(workspace, SOLVER_DOUBLE, 4, x.data(), y.data(), SOLVER_EXACT, result.data(), nullptr),
              SOLVER_OK);
    EXPECT_EQ(found()[0], 1);
    EXPECT_EQ(solver_cuda_norm2(workspace, type, 1, y.data(), SOLVER_EXACT, result.data(), nullptr), SOLVER_OK);
    EXPECT_EQ(found()[0], std::sqrt(10.0));
    EXPECT_EQ(solver_cuda_norm2(workspace, type, -1, y.data(), SOLVER_EXACT, result.data(), nullptr), SOLVER_INVALID_ARGUMENT);
    solver_cuda_workspace_destroy(workspace);
}

// Promise: solver_cuda.h, "C = alpha A B + beta C, real or complex."
TEST_F(CudaFromC, MultipliesDenseMatrices) {
    const std::vector<double> values{1, 2, 3, 4};
    const cuda::DeviceArray<double> a(0, values, "A"), c(0, 4, "C");
    const solver_dense of_a{sizeof of_a, SOLVER_DOUBLE, 0, 2, 2, 1, 2, a.data(), 0},
        of_c{sizeof of_c, SOLVER_DOUBLE, 0, 2, 2, 1, 2, c.data(), 0};
    solver_cuda_workspace* workspace = nullptr;
    ASSERT_EQ(solver_cuda_workspace_create(0, &workspace), SOLVER_OK) << solver_last_error();
    EXPECT_EQ(solver_cuda_gemm(workspace, 1, &of_a, &of_a, 0, &of_c, SOLVER_EXACT, nullptr), SOLVER_OK) << solver_last_error();
    EXPECT_EQ(on_host(c), (std::vector<double>{7, 10, 15, 22}));
    EXPECT_EQ(solver_cuda_gemm(workspace, 3, &of_a, &of_a, -1, &of_c, SOLVER_EXACT, nullptr), SOLVER_OK);
    EXPECT_EQ(on_host(c), (std::vector<double>{14, 20, 30, 44}));
    // (1 - 2i, 3 - 4i) (1 + 2i, 3 + 4i)^T
    const solver_dense row{sizeof row, SOLVER_COMPLEX_DOUBLE, 0, 1, 2, 1, 1, a.data(), 1},
        column{sizeof column, SOLVER_COMPLEX_DOUBLE, 0, 2, 1, 1, 2, a.data(), 0},
        one{sizeof one, SOLVER_COMPLEX_DOUBLE, 0, 1, 1, 1, 1, c.data(), 0};
    EXPECT_EQ(solver_cuda_gemm(workspace, 1, &row, &column, 0, &one, SOLVER_EXACT, nullptr), SOLVER_OK) << solver_last_error();
    EXPECT_EQ(on_host(c), (std::vector<double>{30, 0, 30, 44}));
    solver_cuda_workspace_destroy(workspace);
}

/// [1 2 3; 4 5 6] [1 2; 3 4; 5 6] = [22 28; 49 64], each factor as it is or transposed, in a larger array.
// Promise: solver.h, "As BLAS's sgemm and dgemm, column-major"
TEST_F(CudaFromC, MultipliesMatricesWithoutNegativeEntriesAsBlasDoes) {
    constexpr double gap = 9;
    const std::vector<double> a{1, 4, gap, 2, 5, gap, 3, 6, gap}, a_transposed{1, 2, 3, gap, 4, 5, 6, gap},
        b{1, 3, 5, gap, 2, 4, 6, gap}, b_transposed{1, 2, gap, 3, 4, gap, 5, 6, gap};
    const std::vector<float> a_single(a.begin(), a.end()), b_single(b.begin(), b.end());
    for (const char transa : {'N', 'n', 'T', 't', 'C', 'c'})
        for (const char transb : {'N', 'n', 'T', 't', 'C', 'c'}) {
            const bool a_is_turned = transa != 'N' && transa != 'n', b_is_turned = transb != 'N' && transb != 'n';
            std::vector<double> c{1, 2, gap, 3, 4, gap};
            ASSERT_EQ(
                solver_dngemm(transa, transb, 2, 2, 3, 2, a_is_turned ? a_transposed.data() : a.data(), a_is_turned ? 4 : 3,
                              b_is_turned ? b_transposed.data() : b.data(), b_is_turned ? 3 : 4, 1, c.data(), 3),
                SOLVER_OK)
                << solver_last_error();
            EXPECT_EQ(c, (std::vector<double>{45, 100, gap, 59, 132, gap})) << transa << transb;
        }
    std::vector<float> single{1, 2, 9, 3, 4, 9};
    ASSERT_EQ(solver_sngemm('N', 'N', 2, 2, 3, 2, a_single.data(), 3, b_single.data(), 4, 1, single.data(), 3), SOLVER_OK);
    EXPECT_EQ(single, (std::vector<float>{45, 100, 9, 59, 132, 9}));
    const cuda::DeviceArray<double> of_a(0, a, "A"), of_b(0, b, "B"), of_c(0, std::vector<double>{1, 2, gap, 3, 4, gap}, "C");
    ASSERT_EQ(solver_dngemm('N', 'N', 2, 2, 3, 2, of_a.data(), 3, of_b.data(), 4, 1, of_c.data(), 3), SOLVER_OK)
        << solver_last_error();
    EXPECT_EQ(on_host(of_c), (std::vector<double>{45, 100, gap, 59, 132, gap}));
}

TEST_F(CudaFromC, RefusesSizesBelowZero) {
    solver_csr csr = described(small.view().row_offsets, small.column_indices.data(), small.values.data());
    solver_cuda_matrix* matrix = nullptr;
    csr.columns = -1;
    EXPECT_EQ(solver_cuda_matrix_create(&csr, 0, nullptr, &matrix), SOLVER_INVALID_ARGUMENT);
    EXPECT_THAT(solver_last_error(), HasSubstr("the matrix is 3 x -1"));
}

// Promise: solver_cuda.h, "`matrix` is a sparse one in the host's memory"
// Promise: solver_cuda.h, "Solves A x = b, vectors of the matrix's type"
// Promise: cuda/triangular_solve.hpp, "Does not refer to the matrix afterwards."
// Promise: solver_cuda.h, "A triangle, real or complex, made ready"
TEST_F(CudaFromC, SolvesTriangles) {
    const CsrMatrix<double> lower{3, 3, {0, 1, 3, 5}, {0, 0, 1, 1, 2}, {2, 1, 4, 1, 5}};
    const solver_csr csr{
        sizeof csr,          SOLVER_DOUBLE, 8, 4, 0, 3, 3, 5, lower.row_offsets.data(), lower.column_indices.data(),
        lower.values.data(), nullptr,       0};
    const std::vector<double> right{2, 9, 12};
    const cuda::DeviceArray<double> b(0, right, "b"), x(0, 3, "x");
    solver_matrix* matrix = nullptr;
    solver_cuda_triangle* triangle = nullptr;
    ASSERT_EQ(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_OK);
    ASSERT_EQ(solver_cuda_triangle_create(matrix, SOLVER_LOWER, SOLVER_STORED_DIAGONAL, 0, &triangle), SOLVER_OK)
        << solver_last_error();
    solver_matrix_destroy(matrix);
    EXPECT_EQ(solver_cuda_triangular_solve(triangle, b.data(), x.data(), SOLVER_EXACT, nullptr), SOLVER_OK);
    EXPECT_EQ(on_host(x), (std::vector<double>{1, 2, 2}));
    EXPECT_EQ(solver_cuda_triangular_solve(triangle, b.data(), b.data(), SOLVER_EXACT, nullptr), SOLVER_OK);
    EXPECT_EQ(on_host(b), (std::vector<double>{1, 2, 2}));
    solver_cuda_triangle_destroy(triangle);
}

/// Vectors are real and imaginary parts in turn, as C has them.
// Promise: solver_cuda.h, "Of complex numbers the real form (complex.hpp) is made on the device"
// Promise: solver_cuda.h, "y = alpha A x + beta y; they must not overlap"
TEST_F(CudaFromC, MultipliesComplexVectorsAndSubtracts) {
    std::optional<cuda::DeviceCsrMatrix<std::complex<double>>> a(std::in_place, 0, complex_upper.view());
    const solver_csr csr = complex_described(a->view());
    const std::vector<double> of_x{1, 2, 0, 1};
    const cuda::DeviceArray<double> x(0, of_x, "x"), y(0, 4, "y"), r(0, 4, "r");
    solver_cuda_matrix* matrix = nullptr;
    ASSERT_EQ(solver_cuda_matrix_create(&csr, 0, nullptr, &matrix), SOLVER_OK) << solver_last_error();
    a.reset();
    EXPECT_EQ(solver_cuda_spmv(matrix, 1, x.data(), 0, y.data(), SOLVER_EXACT, nullptr), SOLVER_OK);
    EXPECT_EQ(on_host(y), (std::vector<double>{-4, 3, 0, 4}));
    EXPECT_EQ(solver_cuda_spmv(matrix, 2, x.data(), -1, y.data(), SOLVER_EXACT, nullptr), SOLVER_OK);
    EXPECT_EQ(on_host(y), (std::vector<double>{-4, 3, 0, 4}));
    EXPECT_EQ(solver_cuda_residual(matrix, x.data(), x.data(), x.data(), r.data(), SOLVER_EXACT, nullptr), SOLVER_OK);
    EXPECT_EQ(on_host(r), (std::vector<double>{9, -4, 0, -7}));  // x - 2 A x
    solver_cuda_matrix_destroy(matrix);
}

// Promise: solver_cuda.h, "Of complex numbers the real form (complex.hpp) is made there"
// Promise: solver_cuda.h, "solver_solve for vectors, real or complex"
TEST_F(CudaFromC, SolvesWithAComplexMatrixThatLiesOnTheDevice) {
    std::optional<cuda::DeviceCsrMatrix<std::complex<double>>> a(std::in_place, 0, complex_upper.view());
    const solver_csr csr = complex_described(a->view());
    const std::vector<double> right{-4, 3, 0, 4}, expected{1, 2, 0, 1};
    const cuda::DeviceArray<double> b(0, right, "b"), x(0, 4, "x");
    x.fill_with_zeros();
    solver_matrix* matrix = nullptr;
    ASSERT_EQ(solver_cuda_csr_create(&csr, 0, nullptr, &matrix), SOLVER_OK) << solver_last_error();
    a.reset();
    ASSERT_EQ(solver_cuda_solve(matrix, nullptr, 1, b.data(), x.data(), nullptr, nullptr, nullptr, nullptr), SOLVER_OK)
        << solver_last_error();
    EXPECT_THAT(on_host(x), ::testing::Pointwise(::testing::DoubleNear(1e-9), expected));
    solver_shape shape{};
    shape.size = sizeof shape;
    ASSERT_EQ(solver_matrix_shape(matrix, &shape), SOLVER_OK);
    EXPECT_EQ(shape.type, SOLVER_COMPLEX_DOUBLE);
    EXPECT_EQ(shape.rows, 2);
    EXPECT_EQ(shape.nonzeros, 3);
    std::vector<double> y(4);
    EXPECT_EQ(solver_spmv(matrix, 1, expected.data(), 0, y.data(), SOLVER_EXACT), SOLVER_OK);
    EXPECT_EQ(y, right);
    solver_matrix_destroy(matrix);
}

// Promise: solver_cuda.h, "A triangle, real or complex, made ready for many solves"
// Promise: solver_cuda.h, "Solves A x = b, vectors of the matrix's type; x may be b."
TEST_F(CudaFromC, SolvesComplexTriangles) {
    const solver_csr csr = complex_described(complex_upper);
    const std::vector<double> right{1, 2, 0, 1}, expected{0.875, -0.5, 0, 0.25};  // (1 + 1.75i) / 2i, i / 4
    const cuda::DeviceArray<double> b(0, right, "b"), x(0, 4, "x");
    solver_matrix* matrix = nullptr;
    solver_cuda_triangle* triangle = nullptr;
    ASSERT_EQ(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix), SOLVER_OK);
    EXPECT_EQ(solver_cuda_triangle_create(matrix, SOLVER_LOWER, SOLVER_STORED_DIAGONAL, 0, &triangle), SOLVER_INVALID_ARGUMENT);
    EXPECT_THAT(solver_last_error(), HasSubstr("beyond the diagonal"));
    ASSERT_EQ(solver_cuda_triangle_create(matrix, SOLVER_UPPER, SOLVER_STORED_DIAGONAL, 0, &triangle), SOLVER_OK)
        << solver_last_error();
    solver_matrix_destroy(matrix);
    EXPECT_EQ(solver_cuda_triangular_solve(triangle, b.data(), x.data(), SOLVER_EXACT, nullptr), SOLVER_OK);
    EXPECT_EQ(on_host(x), expected);
    EXPECT_EQ(solver_cuda_triangular_solve(triangle, b.data(), b.data(), SOLVER_EXACT, nullptr), SOLVER_OK);
    EXPECT_EQ(on_host(b), expected);
    solver_cuda_triangle_destroy(triangle);
}

}  // namespace
}  // namespace solver
