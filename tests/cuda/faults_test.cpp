// Every request to the CUDA runtime refused once: what was asked for is refused with an error, nothing leaks, and the next call
// works.

#include "cuda/failing_runtime.hpp"
#include "matrices/generators.hpp"
#include "preconditioner/full_lu.hpp"
#include "solver/cuda.hpp"
#include "solver/nonnegative_gemm.hpp"
#include "solver/solver.h"
#include "solver/solver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/expected.hpp"
#include "support/on_cuda.hpp"

namespace solver {
namespace {

using faults::Request;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

using Numbers = std::vector<double>;
using Call = std::function<Numbers()>;

constexpr Accuracy exact = Accuracy::exact;

void append(Numbers& to, const Numbers& what) { to.insert(to.end(), what.begin(), what.end()); }

std::string unlike(const Numbers& found, const Numbers& expected) {
    if (found.size() != expected.size()) return "another number of results";
    return testing::differences<double>(found, expected);
}

/// The text of a refusal says what there was too little of, for what and where.
void expect_a_sentence(Request kind, const Error& refusal) {
    const std::string text = refusal.what();
    if (kind == Request::work)
        EXPECT_THAT(text, AllOf(HasSubstr(" on cuda:0: "), HasSubstr("cudaErrorMemoryAllocation")));
    else
        EXPECT_THAT(text, AllOf(AnyOf(HasSubstr("cuda:0 has too little memory for "),
                                      HasSubstr("the host has too little memory that cuda:0 can reach for ")),
                                HasSubstr(" needed"), HasSubstr("what may help: ")));
    EXPECT_EQ(dynamic_cast<const ResourceLimit*>(&refusal) != nullptr, kind == Request::memory) << text;
}

/// Calls with the n-th request refused: the result, or nothing where it was refused.
std::optional<Numbers> call_refusing(const Call& call, Request kind, std::int64_t n) {
    std::optional<Numbers> result;
    faults::refuse_request(kind, n);
    try {
        result = call();
    } catch (const Error& refusal) {
        expect_a_sentence(kind, refusal);
    }
    faults::refuse_request(kind, 0);
    return result;
}

/// All requests where there are few, else the first forty and some forty others spread over the rest.
std::int64_t next(std::int64_t n, std::int64_t count) { return n < 40 ? n + 1 : n + std::max<std::int64_t>(1, count / 40); }

class CudaFaults : public testing::OnCuda, public ::testing::WithParamInterface<Request> {
protected:
    /// For as long as nothing is wrong. `is_right` judges what a call gave in spite of a refusal.
    void survives(const Call& call, const std::function<bool(const Numbers&)>& is_right) const {
        call();  // what is made once and kept: workspaces, pinned memory
        const Numbers expected = call();
        const std::int64_t held = faults::pieces_held();
        faults::refuse_request(GetParam(), 0);
        ASSERT_EQ(unlike(call(), expected), "") << "without any refusal";
        const std::int64_t count = faults::requests();
        ASSERT_EQ(faults::pieces_held(), held) << "the call itself keeps something";
        ASSERT_GT(count, 0);
        for (std::int64_t n = 1; n <= count && !HasFailure(); n = next(n, count)) {
            SCOPED_TRACE("request " + std::to_string(n) + " of " + std::to_string(count));
            const std::optional<Numbers> found = call_refusing(call, GetParam(), n);
            EXPECT_TRUE(!found || unlike(*found, expected).empty() || is_right(*found)) << "a wrong result";
            EXPECT_EQ(faults::last_error(), "");
            EXPECT_LE(faults::pieces_held(), held) << "something is lost";
            EXPECT_EQ(unlike(call(), expected), "") << "the next call";
            EXPECT_EQ(faults::pieces_held(), held) << "after the next call";
        }
    }
    void survives(const Call& call) const {
        survives(call, [](const Numbers&) { return false; });
    }
};
INSTANTIATE_TEST_SUITE_P(Refusing, CudaFaults, ::testing::Values(Request::memory, Request::work),
                         [](const auto& info) { return std::string(info.param == Request::memory ? "Memory" : "Work"); });

Device cuda0() { return Device::cuda(0); }

Numbers ones(std::int64_t n) { return Numbers(static_cast<std::size_t>(n), 1.0); }

/// Three diagonals, of which two cancel in every third row and leave little, and a long row.
const CsrMatrix<double>& hard_matrix() {
    static const CsrMatrix<double> a = [] {
        constexpr std::int32_t n = 3000;
        std::vector<Entry<double>> entries;
        for (std::int32_t i = 1; i + 1 < n; ++i) {
            const double beside = i % 3 == 0 ? 0x1p80 : 1;
            entries.push_back({i, i - 1, beside});
            entries.push_back({i, i, 1 + 0.001 * i});
            entries.push_back({i, i + 1, -beside});
        }
        for (std::int32_t j = 0; j < n; ++j) entries.push_back({0, j, j % 2 == 0 ? 0.1 : -0.1});
        return csr_from_entries<double>(n, n, entries);
    }();
    return a;
}

const CsrMatrix<double>& poisson() {
    static const CsrMatrix<double> a = matrices::find_generator("poisson2d_12").value().make();
    return a;
}

Numbers products(const SpmvPlan<double>& plan, std::span<const Accuracy> modes) {
    Numbers all;
    const Numbers x = ones(plan.columns()), x_low(x.size(), 0x1p-60);
    for (const Accuracy mode : modes)
        for (const double alpha : {1.0, 0.1}) {
            Numbers y = ones(plan.rows());
            plan.multiply(alpha, x, 3, y, mode);
            append(all, y);
            plan.residual(y, x, x_low, y, mode);
            append(all, y);
        }
    return all;
}

/// Before all others: pinned memory is kept once there is some, and copies do without where there is none.
TEST_P(CudaFaults, OfLargeCopies) {
    const Numbers x(std::size_t{1} << 21, 0.5);
    const auto add_up = [&] { return Numbers{sum(x, exact, cuda0())}; };
    std::int64_t given = 0;
    for (std::int64_t n = 1; given < 2; ++n) {
        const std::optional<Numbers> found = call_refusing(add_up, Request::memory, n);
        if (found) {
            EXPECT_EQ(found->front(), 0x1p20);
        }
        given += found.has_value();
        ASSERT_LT(n, 100);
    }
    if (GetParam() == Request::work) survives(add_up);
}

// Promise: cuda/runtime.hpp, "NotSupported in a library built without CUDA"
TEST_P(CudaFaults, OfReductions) {
    Numbers x(20000, 0.1);
    x[5] = 0x1p90;
    x[19000] = -0x1p90;
    survives([&] {
        Numbers all;
        for (const Accuracy mode : all_accuracies)
            append(all, {sum(x, mode, cuda0()), dot(x, x, mode, cuda0()), norm2(x, mode, cuda0())});
        return all;
    });
    survives([&] {
        const auto expansion = dot_expansion(x, x, cuda0());
        return Numbers(expansion.components().begin(), expansion.components().end());
    });
}

TEST_P(CudaFaults, OfProducts) {
    for (const SpmvKernel kernel : {SpmvKernel::general, SpmvKernel::adaptive})
        survives([&] { return products(SpmvPlan<double>(hard_matrix(), cuda0(), kernel), all_accuracies); });
}

TEST_P(CudaFaults, OfPackedProducts) {
    const SpmvOptions packed{.storage = SpmvStorage::packed};
    survives([&] { return products(SpmvPlan<double>(hard_matrix(), cuda0(), packed), all_accuracies); });
}

/// Where there is no room for a packed copy that nobody asked for by name, there is none.
TEST_P(CudaFaults, OfProductsThatMayBePacked) {
    const CsrMatrix<double> a = matrices::find_generator("poisson2d_400").value().make();
    const SpmvOptions many{.expected_products = 1'000'000};
    ASSERT_EQ(SpmvPlan<double>(a, cuda0(), many).describe().storage, SpmvStorage::packed);
    std::int64_t in_csr = 0;
    survives([&] {
        const SpmvPlan<double> plan(a, cuda0(), many);
        in_csr += plan.describe().storage == SpmvStorage::csr;
        return products(plan, std::array{exact});
    });
    if (GetParam() == Request::memory) {
        EXPECT_GT(in_csr, 0);
    }
}

/// By plans that were made before: they have the old values where the new ones were refused for want of memory.
// Promise: spmv.hpp, "ResourceLimit where a packed matrix cannot"
TEST_P(CudaFaults, OfNewValues) {
    Numbers others = hard_matrix().values;
    for (double& value : others) value *= 3;
    for (const SpmvStorage storage : {SpmvStorage::csr, SpmvStorage::packed}) {
        SpmvPlan<double> plan(hard_matrix(), cuda0(), SpmvOptions{.storage = storage});
        const auto multiply = [&] { return products(plan, all_accuracies); };
        const Numbers before = multiply();
        const Call update = [&] {
            try {
                plan.update_values(others);
            } catch (const ResourceLimit&) {
                EXPECT_EQ(unlike(multiply(), before), "") << "neither the old values nor the new ones";
                throw;
            }
            Numbers all = multiply();
            plan.update_values(hard_matrix().values);
            append(all, multiply());
            return all;
        };
        const Call restored = [&] {
            plan.update_values(hard_matrix().values);
            return update();
        };
        if (storage == SpmvStorage::packed || GetParam() == Request::work) survives(restored);
    }
}

TEST_P(CudaFaults, OfMatricesOnTheDevice) {
    survives([&] {
        const cuda::DeviceCsrMatrix<double> a(0, hard_matrix());
        cuda::check(a.view());
        return products(SpmvPlan<double>(a.view()), std::array{exact});
    });
}

DenseMatrix<double> dense(std::int64_t n) {
    DenseMatrix<double> a{n, n, Numbers(static_cast<std::size_t>(n * n))};
    for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] = static_cast<double>(i * 7919 % 1009) / 16 + 0x1p-40;
    return a;
}

// Promise: cuda/gemm.hpp, "Throws what solver::gemm throws, and ResourceLimit."
TEST_P(CudaFaults, OfDenseProducts) {
    for (const std::int64_t n : {60, 600}) {
        const DenseMatrix<double> a = dense(n);
        for (const Accuracy mode : all_accuracies) {
            SCOPED_TRACE(std::to_string(n) + " " + std::string(to_string(mode)));
            survives([&] {
                DenseMatrix<double> c = a;
                gemm(1.0, a, a, 2.0, c.mutable_view(), mode, cuda0());
                return c.values;
            });
        }
    }
}

// Promise: cuda/nonnegative_gemm.hpp, "Throws what solver::dngemm throws, and ResourceLimit."
TEST_P(CudaFaults, OfDenseProductsOfOtherKinds) {
    const DenseMatrix<double> a = dense(200);
    for (const GemmSummation summation : {GemmSummation::plain, GemmSummation::dot2})
        survives([&] {
            DenseMatrix<double> c = a;
            gemm(1.0, a, a, 0.0, c.mutable_view(), Accuracy::fast, cuda0(), {.summation = summation});
            return c.values;
        });
    survives([&] {
        DenseMatrix<double> c = a;
        dngemm({1.0, a, a, 0.0, c.mutable_view()}, cuda0(), {.algorithm = NonnegativeAlgorithm::winograd, .depth = 1});
        return c.values;
    });
    survives([&] { return products(SpmvPlan<double>(a.view(), cuda0()), std::array{exact}); });
}

TEST_P(CudaFaults, OfTriangularSolves) {
    std::vector<Entry<double>> few, all;
    for (std::int32_t i = 0; i < 600; ++i) {
        few.push_back({i, i, 3});
        if (i >= 300) few.push_back({i, i - 300, 0.1});
        if (i >= 590) few.push_back({i, i - 1, 0.1});
        for (std::int32_t j = 0; j <= i; ++j) all.push_back({i, j, i == j ? 3 : 0.001});
    }
    for (const auto& entries : {few, all}) {
        const CsrMatrix<double> a = csr_from_entries<double>(600, 600, entries);
        survives([&] {
            const TriangularSolvePlan<double> plan(a, Triangle::lower, Diagonal::stored, cuda0());
            Numbers found, x(600);
            for (const Accuracy mode : all_accuracies) {
                plan.solve(ones(600), x, mode);
                append(found, x);
            }
            return found;
        });
    }
}

// Promise: preconditioner.hpp, "Throws ResourceLimit where the device has not enough"
// Promise: bicgstab.hpp, "Throws ResourceLimit where the device"
TEST_P(CudaFaults, OfPreconditioners) {
    using enum PreconditionerKind;
    for (const PreconditionerKind kind : {none, jacobi, ilu0, isai, ilut, klu, amg}) {
        SCOPED_TRACE(to_string(kind));
        survives([&] {
            const auto m = make_preconditioner<double>(kind, poisson(), exact, cuda0());
            Numbers x(static_cast<std::size_t>(poisson().rows));
            bicgstab<double>(SpmvPlan<double>(poisson(), cuda0()), *m, ones(poisson().rows), x, {},
                             {.accuracy = exact, .max_iterations = 6});
            return x;
        });
    }
}

TEST_P(CudaFaults, OfElimination) {
    constexpr std::int32_t n = 70;
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j) entries.push_back({i, j, 1.0 / (1 + (i + j) % n)});
    const CsrMatrix<double> full = csr_from_entries<double>(n, n, entries);
    survives([&] {
        const FullFactors made = factor_full(full, cuda0());
        Numbers values = made.factors.lower.values;
        append(values, made.factors.upper.values);
        return values;
    });
}

// Promise: bicgstab.hpp, "Throws ResourceLimit where the device's memory"
TEST_P(CudaFaults, OfIterations) {
    for (const KrylovMethod method : {KrylovMethod::bicgstab, KrylovMethod::cg})
        for (const bool as_pair : {false, true}) {
            SCOPED_TRACE(std::string(to_string(method)) + (as_pair ? ", x as a pair" : ""));
            survives([&] {
                Numbers x(static_cast<std::size_t>(poisson().rows)), low(as_pair ? x.size() : 0);
                solve<double>(SpmvPlan<double>(poisson(), cuda0()), ones(poisson().rows), x, low,
                              {.iteration = {.accuracy = exact, .tolerance = 1e-12, .keep_history = true},
                               .preconditioner = PreconditionerKind::jacobi,
                               .method = method});
                append(x, low);
                return x;
            });
        }
}

/// The schedule goes on where one of its attempts cannot be made, and says so.
TEST_P(CudaFaults, OfSolvesWithoutAdvice) {
    for (const bool mixed : {false, true}) {
        SolveReport report;
        const Call call = [&] {
            Numbers x(static_cast<std::size_t>(poisson().rows));
            report = solve<double>(SpmvPlan<double>(poisson(), cuda0()), ones(poisson().rows), x, {},
                                   {.iteration = {.accuracy = exact}, .mixed = mixed});
            return x;
        };
        const auto says_so = [](const Attempt& attempt) { return !attempt.refusal.empty(); };
        survives(call, [&](const Numbers&) { return std::ranges::any_of(report.attempts, says_so); });
    }
}

/// What has been made is destroyed, whatever fails.
Numbers solved_by_c() {
    const CsrMatrix<double>& a = poisson();
    solver_csr csr{.size = sizeof(solver_csr),
                   .type = SOLVER_DOUBLE,
                   .offset_bytes = 8,
                   .index_bytes = 4,
                   .borrow = 1,
                   .rows = a.rows,
                   .columns = a.columns,
                   .nonzeros = static_cast<std::int64_t>(a.values.size()),
                   .row_offsets = a.row_offsets.data(),
                   .column_indices = a.column_indices.data(),
                   .values = a.values.data(),
                   .storage = nullptr,
                   .expected_products = 0};
    solver_options options;
    solver_options_init(&options, sizeof options);
    options.accuracy = SOLVER_EXACT;
    solver_matrix* matrix = nullptr;
    solver_preconditioner* m = nullptr;
    Numbers x(static_cast<std::size_t>(a.rows));
    solver_status status = solver_csr_create(&csr, 0, &matrix);
    if (status == SOLVER_OK) status = solver_preconditioner_create(matrix, "ilu0", SOLVER_EXACT, nullptr, &m);
    if (status == SOLVER_OK) status = solver_solve(matrix, m, 1, ones(a.rows).data(), x.data(), nullptr, &options, nullptr);
    solver_preconditioner_destroy(m);
    solver_matrix_destroy(matrix);
    if (status == SOLVER_RESOURCE_LIMIT) throw ResourceLimit(solver_last_error());
    if (status != SOLVER_OK) throw Error(solver_last_error());
    return x;
}

TEST_P(CudaFaults, OfTheCInterface) { survives(solved_by_c); }

}  // namespace
}  // namespace solver
