/// What C's functions give has the bits of what the C++ functions give.

#include "solver/solver.h"
#include "solver/solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace solver {
namespace {

template <class T>
constexpr std::int32_t type_of = std::is_same_v<T, double> ? SOLVER_DOUBLE : SOLVER_FLOAT;

template <class T>
std::vector<T> random_vector(std::size_t n, unsigned seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> mantissa(-1, 1);
    std::uniform_int_distribution<int> exponent(-20, 20);
    std::vector<T> x(n);
    for (T& element : x) element = static_cast<T>(std::ldexp(mantissa(random), exponent(random)));
    return x;
}

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

/// n rows, tridiagonal with a dominant diagonal, and further entries in each row.
template <class T>
CsrMatrix<T> made_matrix(std::int32_t n) {
    std::vector<Entry<T>> entries;
    const std::vector<T> values = random_vector<T>(static_cast<std::size_t>(4 * n), 7);
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, T(1 << 23) + values[4 * i]});
        if (i > 0) entries.push_back({i, i - 1, values[4 * i + 1]});
        entries.push_back({i, (i * 31 + 17) % n, values[4 * i + 2]});
    }
    return csr_from_entries<T>(n, n, entries);
}

class Handle {
public:
    explicit Handle(const solver_csr& csr) { EXPECT_EQ(solver_csr_create(&csr, SOLVER_PROCESSOR, &matrix_), SOLVER_OK); }
    Handle(const Handle&) = delete;
    ~Handle() { solver_matrix_destroy(matrix_); }
    solver_matrix* get() const { return matrix_; }

private:
    solver_matrix* matrix_ = nullptr;
};

template <class T>
solver_csr described(const CsrMatrix<T>& a) {
    solver_csr csr{};
    csr.size = sizeof csr;
    csr.type = type_of<T>;
    csr.offset_bytes = 8;
    csr.index_bytes = 4;
    csr.rows = a.rows;
    csr.columns = a.columns;
    csr.nonzeros = a.nonzeros();
    csr.row_offsets = a.row_offsets.data();
    csr.column_indices = a.column_indices.data();
    csr.values = a.values.data();
    return csr;
}

template <class T>
class SameBits : public ::testing::Test {
protected:
    static constexpr std::int32_t n = 5000;
    const CsrMatrix<T> a_ = made_matrix<T>(n);
    const std::vector<T> x_ = random_vector<T>(n, 1), b_ = random_vector<T>(n, 2);
};
using Types = ::testing::Types<double, float>;
TYPED_TEST_SUITE(SameBits, Types);

TYPED_TEST(SameBits, OfReductions) {
    using T = TypeParam;
    for (const Accuracy accuracy : all_accuracies)
        for (const int threads : {1, 2, 7}) {
            const auto mode = static_cast<std::int32_t>(accuracy);
            std::vector<T> seen(3),
                expected{sum(this->x_, accuracy), dot(this->x_, this->b_, accuracy), norm2(this->x_, accuracy)};
            ASSERT_EQ(solver_set_threads(threads), SOLVER_OK);
            EXPECT_EQ(solver_sum(type_of<T>, this->n, this->x_.data(), mode, &seen[0]), SOLVER_OK);
            EXPECT_EQ(solver_dot(type_of<T>, this->n, this->x_.data(), this->b_.data(), mode, &seen[1]), SOLVER_OK);
            EXPECT_EQ(solver_norm2(type_of<T>, this->n, this->x_.data(), mode, &seen[2]), SOLVER_OK);
            EXPECT_TRUE(same_bits(seen, expected));
        }
    solver_set_threads(0);
}

TYPED_TEST(SameBits, OfExpansions) {
    using T = TypeParam;
    const Expansion<T> expected = dot_expansion(this->x_, this->b_);
    T components[Expansion<T>::capacity] = {};
    std::int32_t count = 0, is_exact = 0;
    EXPECT_EQ(solver_dot_expansion(type_of<T>, this->n, this->x_.data(), this->b_.data(), components, &count, &is_exact),
              SOLVER_OK);
    EXPECT_EQ(count, expected.size);
    EXPECT_EQ(is_exact, expected.is_exact ? 1 : 0);
    EXPECT_EQ(std::memcmp(components, expected.component, sizeof components), 0);
}

TYPED_TEST(SameBits, OfProductsAndResiduals) {
    using T = TypeParam;
    const Handle handle(described(this->a_));
    const SpmvPlan<T> plan(this->a_, Device::cpu());
    for (const Accuracy accuracy : all_accuracies) {
        const auto mode = static_cast<std::int32_t>(accuracy);
        std::vector<T> seen = this->b_, expected = this->b_;
        plan.multiply(T(0.5), this->x_, T(-2), expected, accuracy);
        EXPECT_EQ(solver_spmv(handle.get(), 0.5, this->x_.data(), -2, seen.data(), mode), SOLVER_OK);
        EXPECT_TRUE(same_bits(seen, expected));
        plan.residual(this->b_, this->x_, this->b_, expected, accuracy);
        EXPECT_EQ(solver_residual(handle.get(), this->b_.data(), this->x_.data(), this->b_.data(), seen.data(), mode),
                  SOLVER_OK);
        EXPECT_TRUE(same_bits(seen, expected));
    }
}

TYPED_TEST(SameBits, OfDenseProducts) {
    using T = TypeParam;
    const std::int64_t m = 40, k = 30, n = 20;
    std::vector<T> a(this->x_.begin(), this->x_.begin() + m * k), b(this->b_.begin(), this->b_.begin() + k * n);
    std::vector<T> seen(m * n, 1), expected(m * n, 1);
    const solver_dense of_a{sizeof of_a, type_of<T>, 0, m, k, k, 1, a.data()},
        of_b{sizeof of_b, type_of<T>, 0, k, n, 1, k, b.data()}, of_c{sizeof of_c, type_of<T>, 0, m, n, 1, m, seen.data()};
    for (const Accuracy accuracy : all_accuracies) {
        gemm(GemmTask<T>{2, {m, k, k, 1, a.data()}, {k, n, 1, k, b.data()}, 1, {m, n, 1, m, expected.data()}}, accuracy);
        EXPECT_EQ(solver_gemm(2, &of_a, &of_b, 1, &of_c, static_cast<std::int32_t>(accuracy), SOLVER_PROCESSOR), SOLVER_OK);
        EXPECT_TRUE(same_bits(seen, expected));
    }
}

TYPED_TEST(SameBits, OfTriangularSolves) {
    using T = TypeParam;
    std::vector<Entry<T>> entries;
    for (std::int32_t i = 0; i < this->n; ++i)
        for (std::int64_t k = this->a_.row_offsets[i]; k < this->a_.row_offsets[i + 1]; ++k)
            if (this->a_.column_indices[k] <= i) entries.push_back({i, this->a_.column_indices[k], this->a_.values[k]});
    const CsrMatrix<T> lower = csr_from_entries<T>(this->n, this->n, entries);
    const Handle handle(described(lower));
    const TriangularSolvePlan<T> plan(lower, Triangle::lower, Diagonal::stored, Device::cpu());
    for (const Accuracy accuracy : all_accuracies) {
        std::vector<T> seen(this->n), expected(this->n);
        plan.solve(this->b_, expected, accuracy);
        EXPECT_EQ(solver_triangular_solve(handle.get(), SOLVER_LOWER, SOLVER_STORED_DIAGONAL, this->b_.data(), seen.data(),
                                          static_cast<std::int32_t>(accuracy)),
                  SOLVER_OK);
        EXPECT_TRUE(same_bits(seen, expected));
    }
}

TYPED_TEST(SameBits, OfSolves) {
    using T = TypeParam;
    const Handle handle(described(this->a_));
    const SpmvPlan<T> plan(this->a_, Device::cpu());
    solver_options given;
    solver_options_init(&given, sizeof given);
    given.tolerance = 1e-6;
    given.accuracy = SOLVER_EXACT;
    SolveOptions options;
    options.iteration.tolerance = given.tolerance;
    options.iteration.accuracy = Accuracy::exact;
    std::vector<T> seen(this->n), expected(this->n);
    const SolveReport report = solve<T>(plan, this->b_, expected, {}, options);
    solver_result* result = nullptr;
    ASSERT_EQ(solver_solve(handle.get(), nullptr, 1, this->b_.data(), seen.data(), nullptr, &given, &result), SOLVER_OK);
    solver_outcome outcome{};
    outcome.size = sizeof outcome;
    EXPECT_EQ(solver_result_outcome(result, 0, &outcome), SOLVER_OK);
    solver_result_destroy(result);
    EXPECT_TRUE(same_bits(seen, expected));
    EXPECT_EQ(outcome.status, SOLVER_CONVERGED);
    EXPECT_EQ(outcome.iterations, report.result().iterations);
    EXPECT_EQ(outcome.relative_residual, report.result().relative_residual);
}

/// All but the seconds, which no two solves share.
void expect_same(const solver_attempt& seen, const Attempt& expected) {
    EXPECT_STREQ(seen.preconditioner, std::string(to_string(expected.preconditioner)).c_str());
    EXPECT_EQ(seen.refusal, expected.refusal);
    EXPECT_EQ(seen.mixed, expected.mixed ? 1 : 0);
    EXPECT_STREQ(seen.method, std::string(to_string(expected.method)).c_str());
    EXPECT_EQ(seen.repeated, expected.repeated ? 1 : 0);
    EXPECT_EQ(seen.factor_entries, expected.factor_entries);
    EXPECT_EQ(seen.factor_hash, expected.factor_hash);
    if (expected.results.empty()) return;
    EXPECT_EQ(seen.status, static_cast<std::int32_t>(expected.results.front().status));
    EXPECT_EQ(seen.relative_residual, expected.results.front().relative_residual);
    std::int64_t most = 0;
    for (const SolveResult& result : expected.results) most = std::max(most, result.iterations);
    EXPECT_EQ(seen.iterations, most);
}

/// Solves with two right-hand sides by both and compares the attempts. Returns C++'s.
std::vector<Attempt> expect_same_attempts(const CsrMatrix<double>& a, solver_options given, const SolveOptions& options) {
    const Handle handle(described(a));
    DenseMatrix<double> b{a.rows, 2, random_vector<double>(static_cast<std::size_t>(2 * a.rows), 3)};
    for (std::int64_t i = 0; i < a.rows; ++i) b.values[i] = i == 0 ? 1 : 0;  // the easier one
    DenseMatrix<double> x{a.rows, 2, std::vector<double>(b.values.size())};
    std::vector<double> of_c(b.values.size());
    const SolveReport report = solve<double>(SpmvPlan<double>(a, Device::cpu()), b, x, nullptr, options);
    solver_result* result = nullptr;
    EXPECT_EQ(solver_solve(handle.get(), nullptr, 2, b.values.data(), of_c.data(), nullptr, &given, &result), SOLVER_OK);
    EXPECT_TRUE(same_bits(of_c, x.values));
    std::int64_t count = 0;
    EXPECT_EQ(solver_result_attempts(result, &count), SOLVER_OK);
    EXPECT_EQ(count, std::ssize(report.attempts));
    for (std::int64_t k = 0; k < count; ++k) {
        SCOPED_TRACE(k);
        solver_attempt attempt{};
        attempt.size = sizeof attempt;
        EXPECT_EQ(solver_result_attempt(result, k, &attempt), SOLVER_OK);
        expect_same(attempt, report.attempts[k]);
        if (report.attempts[k].preconditioner == PreconditionerKind::none) {  // is made in no time
            EXPECT_GT(attempt.solve_seconds, attempt.setup_seconds);
        }
    }
    solver_result_destroy(result);
    return report.attempts;
}

/// Diffusion on a band of 17 points, indefinite for shifts below 0.
CsrMatrix<double> band(std::int32_t n, double shift) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, 4 + shift});
        for (const std::int32_t j : {i - 17, i - 1, i + 1, i + 17})
            if (j >= 0 && j < n) entries.push_back({i, j, -1});
    }
    return csr_from_entries<double>(n, n, entries);
}

TEST(SameAttempts, OfMixedPrecision) {
    solver_options given;
    solver_options_init(&given, sizeof given);
    SolveOptions options{.preconditioner = PreconditionerKind::none, .mixed = true};
    options.iteration.max_iterations = 101;  // too few
    given.preconditioner = "none";
    given.mixed = 1;
    given.max_iterations = 101;
    const std::vector<Attempt> attempts = expect_same_attempts(band(2000, 0), given, options);
    ASSERT_GE(attempts.size(), 2U);
    EXPECT_TRUE(attempts.front().mixed);
    EXPECT_FALSE(attempts.back().mixed);
}

TEST(SameAttempts, OfWhatIsRepeatedAndOfFactors) {
    solver_options given;
    solver_options_init(&given, sizeof given);
    given.preconditioner = "jacobi";
    const CsrMatrix<double> a = band(300, -0.5);
    std::vector<Attempt> attempts = expect_same_attempts(a, given, {.preconditioner = PreconditionerKind::jacobi});
    ASSERT_EQ(attempts.size(), 2U);
    EXPECT_TRUE(attempts.front().repeated);
    given.preconditioner = "ilu0";
    attempts = expect_same_attempts(a, given, {.preconditioner = PreconditionerKind::ilu0});
    EXPECT_GT(attempts.front().factor_entries, 0);
    EXPECT_NE(attempts.front().factor_hash, 0U);
    EXPECT_NE(attempts.front().results.front().iterations, attempts.front().results.back().iterations);
}

/// No diagonal for what needs one, and no memory for factors.
TEST(SameAttempts, OfWhatIsRefused) {
    CsrMatrix<double> a = band(400, 0);
    a.values[0] = 0;
    solver_options given;
    solver_options_init(&given, sizeof given);
    solver_factors factors;
    solver_factors_init(&factors, sizeof factors);
    factors.memory_limit = 1;
    given.factors = &factors;
    SolveOptions options;
    options.factors.memory_limit = 1;
    const std::vector<Attempt> attempts = expect_same_attempts(a, given, options);
    EXPECT_TRUE(std::any_of(attempts.begin(), attempts.end(), [](const Attempt& attempt) { return !attempt.refusal.empty(); }));
}

TYPED_TEST(SameBits, OfEveryStorage) {
    using T = TypeParam;
    std::vector<T> expected(this->n), seen(this->n);
    SpmvPlan<T>(this->a_, Device::cpu()).multiply(1, this->x_, 0, expected, Accuracy::exact);
    for (const char* const storage : {"csr", "packed", "auto"}) {
        solver_csr csr = described(this->a_);
        csr.storage = storage;
        csr.expected_products = 100000;
        const Handle handle(csr);
        solver_shape shape{};
        shape.size = sizeof shape;
        EXPECT_EQ(solver_matrix_shape(handle.get(), &shape), SOLVER_OK);
        if (storage != std::string_view("auto")) {
            EXPECT_STREQ(shape.storage, storage);
        }
        EXPECT_EQ(solver_spmv(handle.get(), 1, this->x_.data(), 0, seen.data(), SOLVER_EXACT), SOLVER_OK);
        EXPECT_TRUE(same_bits(seen, expected)) << storage;
    }
}

/// Packing costs tens of products: expected_products decides, and 0 of them is 1.
TYPED_TEST(SameBits, TheStorageIsChosenByTheExpectedProducts) {
    using T = TypeParam;
    const CsrMatrix<T> a = made_matrix<T>(10000);
    for (const std::int64_t products : {0, 1, 100000}) {
        const SpmvPlan<T> plan(
            a, Device::cpu(),
            SpmvOptions{.storage = SpmvStorage::automatic, .expected_products = std::max<std::int64_t>(products, 1)});
        solver_csr csr = described(a);
        csr.expected_products = products;
        const Handle handle(csr);
        solver_shape shape{};
        shape.size = sizeof shape;
        EXPECT_EQ(solver_matrix_shape(handle.get(), &shape), SOLVER_OK);
        EXPECT_EQ(shape.storage, to_string(plan.describe().storage)) << products;
        EXPECT_EQ(shape.bytes_a_nonzero, plan.describe().bytes_a_nonzero) << products;
    }
}

TYPED_TEST(SameBits, OfSeveralRightHandSides) {
    using T = TypeParam;
    const Handle handle(described(this->a_));
    solver_options given;
    solver_options_init(&given, sizeof given);
    given.tolerance = 1e-6;
    given.accuracy = SOLVER_EXACT;
    std::vector<T> b = this->b_, together(2 * this->n), alone(2 * this->n);
    b.insert(b.end(), this->x_.begin(), this->x_.end());
    solver_preconditioner* jacobi = nullptr;
    ASSERT_EQ(solver_preconditioner_create(handle.get(), "jacobi", SOLVER_EXACT, nullptr, &jacobi), SOLVER_OK);
    EXPECT_EQ(solver_solve(handle.get(), jacobi, 2, b.data(), together.data(), nullptr, &given, nullptr), SOLVER_OK);
    for (const int column : {0, 1})
        EXPECT_EQ(solver_solve(handle.get(), jacobi, 1, b.data() + column * this->n, alone.data() + column * this->n, nullptr,
                               &given, nullptr),
                  SOLVER_OK);
    solver_preconditioner_destroy(jacobi);
    EXPECT_TRUE(same_bits(together, alone));
}

}  // namespace
}  // namespace solver
