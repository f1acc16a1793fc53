/// What C's functions give has the bits of what the C++ functions give.

#include "solver/solver.h"
#include "solver/solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <new>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace solver {
namespace {

template <class T>
constexpr std::int32_t type_of = std::is_same_v<T, double> ? SOLVER_DOUBLE : SOLVER_FLOAT;
template <class T>
constexpr std::int32_t type_of<std::complex<T>> = type_of<T> + SOLVER_COMPLEX_DOUBLE;

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

// Promise: solver.h, "Promises, error bounds, Inf and NaN"
// Promise: solver.h, "No result of SOLVER_EXACT depends on it."
// Promise: solver.h, "What is promised of a sum"
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

// Promise: solver.h, "The sum, or dot product, itself, without any rounding"
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

// Promise: solver.h, "Promises, error bounds, Inf and NaN"
TYPED_TEST(SameBits, OfDenseProducts) {
    using T = TypeParam;
    const std::int64_t m = 40, k = 30, n = 20;
    std::vector<T> a(this->x_.begin(), this->x_.begin() + m * k), b(this->b_.begin(), this->b_.begin() + k * n);
    std::vector<T> seen(m * n, 1), expected(m * n, 1);
    const solver_dense of_a{sizeof of_a, type_of<T>, 0, m, k, k, 1, a.data(), 0},
        of_b{sizeof of_b, type_of<T>, 0, k, n, 1, k, b.data(), 0}, of_c{sizeof of_c, type_of<T>, 0, m, n, 1, m, seen.data(), 0};
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

// Promise: solver.h, "A complex matrix, whose entries that are zero are none"
TYPED_TEST(SameBits, OfComplexTriangularSolves) {
    using T = TypeParam;
    using C = std::complex<T>;
    std::vector<Entry<C>> entries;
    for (std::int32_t i = 0; i < this->n; ++i)
        for (std::int64_t k = this->a_.row_offsets[i]; k < this->a_.row_offsets[i + 1]; ++k)
            if (this->a_.column_indices[k] >= i)
                entries.push_back({i, this->a_.column_indices[k], C(this->a_.values[k], T(i % 3))});
    const CsrMatrix<C> upper = csr_from_entries<C>(this->n, this->n, entries);
    std::vector<C> b;
    for (std::int32_t i = 0; i < this->n; ++i) b.emplace_back(this->b_[i], this->x_[i]);
    const Handle handle(described(upper));
    const TriangularSolvePlan<C> plan(upper, Triangle::upper, Diagonal::stored);
    for (const Accuracy accuracy : all_accuracies) {
        std::vector<C> seen(b.size()), expected(b.size());
        plan.solve(b, expected, accuracy);
        EXPECT_EQ(solver_triangular_solve(handle.get(), SOLVER_UPPER, SOLVER_STORED_DIAGONAL, b.data(), seen.data(),
                                          static_cast<std::int32_t>(accuracy)),
                  SOLVER_OK);
        EXPECT_TRUE(same_bits(seen, expected));
    }
}

/// In every accuracy, from an initial guess, for a pair; and every iteration.
// Promise: solver.h, "of every product, dot, norm and preconditioner step"
// Promise: solver.h, "||r|| / ||b|| of the updated residual"
// Promise: solver.h, "||b - A x|| / ||b|| where it was computed"
// Promise: solver.h, "1 where r was replaced by the true residual"
// Promise: solver.h, "||b - A x|| / ||b|| of the x returned"
// Promise: solver.h, "what the recursion believed"
// Promise: solver.h, "how often r was replaced"
// Promise: solver.h, "after breakdowns"
TYPED_TEST(SameBits, OfSolves) {
    using T = TypeParam;
    const Handle handle(described(this->a_));
    const SpmvPlan<T> plan(this->a_, Device::cpu());
    for (const Accuracy accuracy : all_accuracies) {
        solver_options given;
        solver_options_init(&given, sizeof given);
        given.tolerance = 1e-6;
        given.accuracy = static_cast<std::int32_t>(accuracy);
        given.keep_history = 1;
        SolveOptions options;
        options.iteration.tolerance = given.tolerance;
        options.iteration.accuracy = accuracy;
        options.iteration.keep_history = true;
        std::vector<T> seen(this->x_), expected(this->x_), low(this->n), expected_low(this->n);
        const SolveReport report = solve<T>(plan, this->b_, expected, expected_low, options);
        solver_result* result = nullptr;
        ASSERT_EQ(solver_solve(handle.get(), nullptr, 1, this->b_.data(), seen.data(), low.data(), &given, &result), SOLVER_OK);
        EXPECT_TRUE(same_bits(seen, expected));
        EXPECT_TRUE(same_bits(low, expected_low));
        solver_outcome outcome{};
        outcome.size = sizeof outcome;
        EXPECT_EQ(solver_result_outcome(result, 0, &outcome), SOLVER_OK);
        EXPECT_EQ(outcome.status, SOLVER_CONVERGED);
        EXPECT_EQ(outcome.iterations, report.result().iterations);
        EXPECT_EQ(outcome.relative_residual, report.result().relative_residual);
        EXPECT_EQ(outcome.recursive_residual, report.result().recursive_residual);
        EXPECT_EQ(outcome.replacements, report.result().replacements);
        EXPECT_EQ(outcome.restarts, report.result().restarts);
        const solver_iteration* history = nullptr;
        std::int64_t count = 0;
        EXPECT_EQ(solver_result_history(result, 0, &history, &count), SOLVER_OK);
        ASSERT_EQ(count, std::ssize(report.result().history));
        for (std::int64_t k = 0; k < count; ++k) {
            const Iteration& iteration = report.result().history[k];
            EXPECT_EQ(history[k].number, iteration.number);
            EXPECT_EQ(history[k].recursive_residual, iteration.recursive_residual);
            EXPECT_EQ(history[k].true_residual, iteration.true_residual);
            EXPECT_EQ(history[k].replaced, iteration.replaced ? 1 : 0);
        }
        solver_result_destroy(result);
    }
}

/// Where rows are shared out by entries, the bits of a long one in fast tell how many threads there were.
// Promise: solver.h, "How many threads of the processor"
// Promise: solver.h, "A matrix made ready for many products, on a device"
TYPED_TEST(SameBits, OfAsManyThreadsAsWereSet) {
    using T = TypeParam;
    constexpr std::int32_t length = 300000;
    const std::vector<T> x(length, 1);
    CsrMatrix<T> a{2, length, {0, length, length + 1}, std::vector<std::int32_t>(length + 1), std::vector<T>(length + 1)};
    for (std::int32_t j = 0; j < length; ++j) {
        a.column_indices[j] = j;
        a.values[j] = T(j % 2 == 0 ? 1 : -1) / T(1 + j % 997);  // sums of rounding errors, nearly
    }
    std::set<T> sums;
    for (const int threads : {1, 2, 3, 4, 5, 6, 7}) {
        ASSERT_EQ(solver_set_threads(threads), SOLVER_OK);
        const Handle handle(described(a));
        solver_set_threads(0);
        std::vector<T> seen(2), expected(2);
        EXPECT_EQ(solver_spmv(handle.get(), 1, x.data(), 0, seen.data(), SOLVER_FAST), SOLVER_OK);
        SpmvPlan<T>(a, Device::cpu(threads)).multiply(1, x, 0, expected, Accuracy::fast);
        EXPECT_TRUE(same_bits(seen, expected)) << threads;
        sums.insert(expected.front());
    }
    EXPECT_GT(sums.size(), 1U) << "no number of threads can be told from another";
    EXPECT_EQ(solver_threads(), Device::cpu().threads());
}

// Promise: solver.h, "Different threads may use one"
TYPED_TEST(SameBits, OfOneHandleInSeveralThreadsAtOnce) {
    using T = TypeParam;
    const Handle handle(described(this->a_));
    std::vector<T> expected(this->n);
    EXPECT_EQ(solver_spmv(handle.get(), 1, this->x_.data(), 0, expected.data(), SOLVER_EXACT), SOLVER_OK);
    std::vector<std::vector<T>> seen(4, std::vector<T>(this->n));
    std::vector<std::thread> threads;
    for (std::vector<T>& y : seen)
        threads.emplace_back([&] {
            for (int repeat = 0; repeat < 20; ++repeat)
                if (solver_spmv(handle.get(), 1, this->x_.data(), 0, y.data(), SOLVER_EXACT) != SOLVER_OK) y.clear();
        });
    for (std::thread& thread : threads) thread.join();
    for (const std::vector<T>& y : seen) EXPECT_TRUE(same_bits(y, expected));
}

// Promise: solver.h, "What went wrong in this thread's last call"
TEST(LastError, IsThatOfEachThread) {
    EXPECT_EQ(solver_set_threads(-1), SOLVER_INVALID_ARGUMENT);
    const std::string here = solver_last_error();
    std::string before, there;
    std::thread([&] {
        before = solver_last_error();
        solver_device_count(nullptr);
        there = solver_last_error();
    }).join();
    EXPECT_EQ(before, "");
    EXPECT_NE(there, here);
    EXPECT_EQ(solver_last_error(), here);
}

// Promise: solver.h, "Fills in the defaults;"
TEST(Defaults, OfFactorsAreThoseOfCpp) {
    solver_factors factors{};
    EXPECT_EQ(solver_factors_init(&factors, sizeof factors), SOLVER_OK);
    const PreconditionerOptions expected;
    EXPECT_EQ(factors.drop_tolerance, expected.drop_tolerance);
    EXPECT_EQ(factors.fill_factor, expected.fill_factor);
    EXPECT_EQ(factors.memory_limit, expected.memory_limit);
    EXPECT_EQ(factors.block_of_row, nullptr);
    EXPECT_EQ(factors.block_of_row_size, 0);
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

// Promise: solver.h, "over all attempts"
// Promise: solver.h, "1: for doubles, the iteration in single"
// Promise: solver.h, "1 where the iteration ran in single precision"
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

// Promise: solver.h, "of the first right-hand side that was left"
// Promise: solver.h, "the most that any of them took"
// Promise: solver.h, "of the first"
// Promise: solver.h, "1 where the next attempt is the same"
// Promise: solver.h, "How many numbers the factors hold"
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

// Promise: solver.h, "ilut: entries below this times"
// Promise: solver.h, "ilut: at most this times"
// Promise: solver.h, "for preconditioners that are made;"
solver_options options_of(const char* preconditioner, const solver_factors* factors) {
    solver_options options;
    solver_options_init(&options, sizeof options);
    options.preconditioner = preconditioner;
    options.factors = factors;
    return options;
}

// Promise: solver.h, "NULL for the defaults"
TEST(SameAttempts, OfIncompleteFactorsOfEveryOption) {
    const CsrMatrix<double> a = band(300, 0.5);
    std::vector<std::int64_t> entries;
    for (const auto& [drop_tolerance, fill_factor] : {std::pair(1e-3, 10.0), std::pair(0.1, 10.0), std::pair(1e-3, 0.6)}) {
        solver_factors factors{};
        solver_factors_init(&factors, sizeof factors);
        factors.drop_tolerance = drop_tolerance;
        factors.fill_factor = fill_factor;
        const solver_options given = options_of("ilut", &factors);
        SolveOptions options{.preconditioner = PreconditionerKind::ilut};
        options.factors.drop_tolerance = drop_tolerance;
        options.factors.fill_factor = fill_factor;
        entries.push_back(expect_same_attempts(a, given, options).front().factor_entries);
    }
    const solver_options given = options_of("ilut", nullptr);
    EXPECT_EQ(expect_same_attempts(a, given, {.preconditioner = PreconditionerKind::ilut}).front().factor_entries, entries[0]);
    EXPECT_LT(entries[1], entries[0]);
    EXPECT_LT(entries[2], entries[0]);
}

// Promise: solver.h, "ilu0, isai, ilut, klu: the block of each row"
TEST(SameAttempts, OfBlocks) {
    const CsrMatrix<double> a = band(300, 0.5);
    std::vector<std::int32_t> block_of_row;
    for (std::int32_t i = 0; i < 300; ++i) block_of_row.push_back(i / 7 % 5);
    solver_factors factors{};
    solver_factors_init(&factors, sizeof factors);
    factors.block_of_row = block_of_row.data();
    factors.block_of_row_size = 300;
    const solver_options given = options_of("ilu0", &factors);
    SolveOptions options{.preconditioner = PreconditionerKind::ilu0};
    options.factors.block_of_row = block_of_row;
    EXPECT_LT(expect_same_attempts(a, given, options).front().factor_entries, a.nonzeros());
}

/// No diagonal for what needs one, and no memory for factors.
// Promise: solver.h, "why it could not be made; empty where it was"
// Promise: solver.h, "for preconditioners that are made;"
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

// Promise: solver.h, ""csr", "packed" (a copy beside it"
// Promise: solver.h, "No bit of SOLVER_EXACT depends on it"
// Promise: solver.h, ""csr", "packed" or "dense""
// Promise: solver.h, "what products read:"
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
// Promise: solver.h, "0 is 1"
// Promise: solver.h, "that one product reads of the matrix"
// Promise: solver.h, "with this matrix;"
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

// Promise: solver.h, "Solves A x = b by a preconditioned Krylov method"
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

/// Both solve and compare what they say is proven. Returns C++'s.
SolutionProof expect_same_proof(const CsrMatrix<double>& a, const std::vector<double>& b, const char* guarantee,
                                std::int64_t memory_limit = 0) {
    const Handle handle(described(a));
    std::vector<double> x(b.size()), of_c(b.size());
    SolveOptions options{.guarantee = guarantee_from_text(guarantee)};
    options.iteration.max_iterations = 500;
    options.factors.memory_limit = memory_limit;
    solver_factors factors{};
    solver_factors_init(&factors, sizeof factors);
    factors.memory_limit = memory_limit;
    solver_options given;
    solver_options_init(&given, sizeof given);
    given.max_iterations = 500;
    given.factors = &factors;
    given.guarantee = guarantee;
    const SolveReport report = solve<double>(SpmvPlan<double>(a, Device::cpu()), b, x, {}, options);
    const SolutionProof& expected = report.proof();
    solver_result* result = nullptr;
    EXPECT_EQ(solver_solve(handle.get(), nullptr, 1, b.data(), of_c.data(), nullptr, &given, &result), SOLVER_OK);
    solver_proof proof{};
    proof.size = sizeof proof;
    EXPECT_EQ(solver_result_proof(result, 0, &proof), SOLVER_OK);
    EXPECT_TRUE(same_bits(of_c, x));
    EXPECT_EQ(proof.status, static_cast<std::int32_t>(expected.status));
    EXPECT_EQ(proof.reason, expected.reason);
    EXPECT_EQ(proof.backward_error, expected.backward_error);
    EXPECT_EQ(proof.error_bound, expected.error_bound);
    EXPECT_EQ(proof.certified_digits, expected.certified_digits);
    EXPECT_EQ(proof.rounded, expected.rounded);
    EXPECT_EQ(proof.ties, expected.ties);
    EXPECT_EQ(proof.zeros, expected.zeros);
    EXPECT_EQ(proof.undecided, expected.undecided);
    EXPECT_EQ(proof.refinements, expected.refinements);
    EXPECT_EQ(proof.iterations, expected.iterations);
    EXPECT_EQ(proof.estimated_error, expected.estimated_error);
    EXPECT_EQ(proof.dropped, expected.dropped);
    EXPECT_EQ(solver_result_obstacle(result), report.obstacle);
    solver_result_destroy(result);
    return expected;
}

// Promise: solver.h, "A is regular, and what was asked for holds"
// Promise: solver.h, "A has no inverse"
// Promise: solver.h, "neither could be proven"
// Promise: solver.h, "how it was proven, or why not; belongs to the result"
// Promise: solver.h, "x solves exactly a system whose entries"
// Promise: solver.h, "|x_i - x*_i| <= error_bound |x_i|, of complex"
// Promise: solver.h, "in the mean over the components"
// Promise: solver.h, "components that are proven to be x* rounded once"
// Promise: solver.h, "of these, ties"
// Promise: solver.h, "of these, zeros"
// Promise: solver.h, "the others"
// Promise: solver.h, "corrections that were solved for, and their iterations"
// Promise: solver.h, "where nothing is proven, and as an estimate alone"
// Promise: solver.h, "What is known to stand in the way"
// Promise: solver.h, "0 where x is proven to be x* itself"
// Promise: solver.h, "of the zeros, those by the rule alone"
TEST(SameProofs, OfBoundsOfRoundingAndOfWhatIsNotProven) {
    const std::vector<double> b = random_vector<double>(300, 5);
    const CsrMatrix<double> regular = band(300, 0.5), singular{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 2, 2, 4}},
                            hidden{3, 3, {0, 2, 4, 6}, {0, 1, 1, 2, 0, 2}, {1e7 + 1, -1, 1, -3, 1e7 + 1, -3}};
    EXPECT_EQ(expect_same_proof(regular, b, "bound").status, ProofStatus::proven);
    const SolutionProof rounded = expect_same_proof(regular, b, "rounded");
    EXPECT_EQ(rounded.rounded, 300);
    EXPECT_GT(rounded.refinements, 0);
    EXPECT_GT(rounded.iterations, 0);
    EXPECT_EQ(expect_same_proof(singular, {1, 2}, "bound").status, ProofStatus::singular);
    EXPECT_EQ(expect_same_proof(hidden, {1, 2, 3}, "bound").status, ProofStatus::unproven);
    const SolutionProof tie = expect_same_proof({2, 2, {0, 1, 3}, {0, 0, 1}, {1, -1, 1}}, {1, 0x1p-53}, "rounded");
    EXPECT_EQ(tie.ties, 1);  // 1 + 2^-53
    const SolutionProof zeros = expect_same_proof({3, 3, {0, 1, 2, 3}, {0, 1, 2}, {1, 1, 1}}, {1, 1e-200, 0}, "rounded");
    EXPECT_EQ(zeros.zeros, 2);
    EXPECT_EQ(zeros.dropped, 1);
    const SolutionProof estimate = expect_same_proof(band(1500, -0.05), random_vector<double>(1500, 5), "bound", 1);
    EXPECT_EQ(estimate.status, ProofStatus::unproven);
    EXPECT_GE(estimate.estimated_error, 0);
    const CsrMatrix<double> wide{4, 4, {0, 1, 2, 3, 4}, {0, 2, 1, 3}, {0x1p-660, 3e-150, 1, 1}};  // two diagonals are 0
    EXPECT_GT(expect_same_proof(wide, {1, 1, 1, 1}, "rounded").undecided, 0);
}

// Promise: solver.h, "|A^-1 r|_i <= reach[i] N(r)"
// Promise: solver.h, "N(r) is the sum"
// Promise: solver.h, "of the Krylov method, a search in vain included"
TEST(SameCertificates, OfTheLargestAndOfTheSum) {
    const CsrMatrix<double> dominant = band(300, 0.5);
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < 10; ++i)
        for (std::int32_t j = 0; j < 10; ++j) entries.push_back({i, j, 1.0 / (2 * i + 3 * j + 1)});
    const CsrMatrix<double> other = csr_from_entries<double>(10, 10, entries);
    for (const CsrMatrix<double>* const a : {&dominant, &other}) {
        const Handle handle(described(*a));
        const Certificate expected = certify(SpmvPlan<double>(*a, Device::cpu()));
        EXPECT_EQ(expected.adds_up, a == &other);
        solver_certificate* certificate = nullptr;
        ASSERT_EQ(solver_certify(handle.get(), nullptr, &certificate), SOLVER_OK);
        solver_certificate_view view{};
        view.size = sizeof view;
        EXPECT_EQ(solver_certificate_look(certificate, &view), SOLVER_OK);
        EXPECT_EQ(view.status, SOLVER_PROVEN);
        EXPECT_EQ(view.reason, expected.reason);
        EXPECT_EQ(view.adds_up, expected.adds_up ? 1 : 0);
        EXPECT_EQ(view.iterations, expected.iterations);
        ASSERT_EQ(view.rows, a->rows);
        EXPECT_EQ(std::vector<double>(view.reach, view.reach + view.rows), expected.reach);
        EXPECT_EQ(std::vector<double>(view.weights, view.weights + view.rows), expected.weights);
        solver_certificate_destroy(certificate);
    }
}

/// Where the caller's functions were called from.
struct Called {
    const CsrMatrix<double>& a;
    std::thread::id thread = std::this_thread::get_id();
    bool elsewhere = false;
    int products = 0, applications = 0, iterations = 0;

    void note(int& count) {
        ++count;
        elsewhere = elsewhere || std::this_thread::get_id() != thread;
    }
};

// Promise: solver.h, "It is called from the thread that solves."
// Promise: solver.h, "Called from the thread that solves."
TEST(CallersFunctions, AreCalledFromTheThreadThatSolves) {
    const CsrMatrix<double> a = band(20000, 1);
    Called called{a};
    const auto n = static_cast<std::size_t>(a.rows);
    const std::vector<double> b = random_vector<double>(n, 5);
    std::vector<double> x(n);
    solver_preconditioner* own = nullptr;
    const solver_apply divide = [](void* context, const void* r, void* z, std::int32_t) {
        auto& of = *static_cast<Called*>(context);
        of.note(of.applications);
        for (std::int32_t i = 0; i < of.a.rows; ++i) static_cast<double*>(z)[i] = static_cast<const double*>(r)[i] / 5;
        return 0;
    };
    const solver_multiply multiply = [](void* context, const void* x_of, void* y_of) {
        auto& of = *static_cast<Called*>(context);
        of.note(of.products);
        SpmvPlan<double>(of.a, Device::cpu(1))
            .multiply(1, {static_cast<const double*>(x_of), static_cast<std::size_t>(of.a.rows)}, 0,
                      {static_cast<double*>(y_of), static_cast<std::size_t>(of.a.rows)}, Accuracy::exact);
        return 0;
    };
    ASSERT_EQ(solver_preconditioner_from(SOLVER_DOUBLE, a.rows, divide, &called, &own), SOLVER_OK);
    solver_options options;
    solver_options_init(&options, sizeof options);
    options.context = &called;
    options.callback = [](void* context, const solver_iteration*) {
        auto& of = *static_cast<Called*>(context);
        of.note(of.iterations);
        return 0;
    };
    ASSERT_EQ(solver_set_threads(3), SOLVER_OK);
    EXPECT_EQ(solver_solve(Handle(described(a)).get(), own, 1, b.data(), x.data(), nullptr, &options, nullptr), SOLVER_OK);
    EXPECT_EQ(solver_solve_operator(SOLVER_DOUBLE, a.rows, multiply, &called, own, b.data(), x.data(), &options, nullptr),
              SOLVER_OK);
    solver_set_threads(0);
    solver_preconditioner_destroy(own);
    EXPECT_GT(called.products, 0);
    EXPECT_GT(called.applications, 0);
    EXPECT_GT(called.iterations, 0);
    EXPECT_FALSE(called.elsewhere);
}

/// What no function of C can do, and one of C++ behind C's interface may.
// Promise: solver.h, "anything else; a mistake in the library"
// Promise: solver.h, "No C++ exception leaves the library."
TEST(CallersFunctions, EndTheCallWithAStatusWhereTheyThrow) {
    const std::vector<double> b{1, 2};
    std::vector<double> x(2);
    const auto solve_with = [&](solver_multiply multiply) {
        return solver_solve_operator(SOLVER_DOUBLE, 2, multiply, nullptr, nullptr, b.data(), x.data(), nullptr, nullptr);
    };
    EXPECT_EQ(solve_with([](void*, const void*, void*) -> std::int32_t { throw std::logic_error("not mine"); }),
              SOLVER_INTERNAL_ERROR);
    EXPECT_STREQ(solver_last_error(), "not mine");
    EXPECT_EQ(solve_with([](void*, const void*, void*) -> std::int32_t { throw 7; }), SOLVER_INTERNAL_ERROR);
    EXPECT_STREQ(solver_last_error(), "an exception without words");
    EXPECT_EQ(solve_with([](void*, const void*, void*) -> std::int32_t { throw std::bad_alloc(); }), SOLVER_RESOURCE_LIMIT);
}

// Promise: solver.h, "the callback's answer counts after every so"
TEST(CallersFunctions, StopAtTheirIntervals) {
    const CsrMatrix<double> a = band(300, 0);
    const std::vector<double> b = random_vector<double>(300, 5);
    const Handle handle(described(a));
    for (const std::int64_t interval : {1, 4}) {
        solver_options options;
        solver_options_init(&options, sizeof options);
        options.preconditioner = "none";
        options.callback_interval = interval;
        options.callback = [](void*, const solver_iteration* iteration) { return iteration->number >= 1 ? 1 : 0; };
        std::vector<double> x(300);
        solver_result* result = nullptr;
        ASSERT_EQ(solver_solve(handle.get(), nullptr, 1, b.data(), x.data(), nullptr, &options, &result), SOLVER_OK);
        solver_outcome outcome{};
        outcome.size = sizeof outcome;
        EXPECT_EQ(solver_result_outcome(result, 0, &outcome), SOLVER_OK);
        EXPECT_EQ(outcome.status, SOLVER_STOPPED);
        EXPECT_EQ(outcome.iterations, interval);
        solver_result_destroy(result);
    }
}

// Promise: solver.h, "of gmres: steps of a cycle;"
// Promise: solver.h, "0 stands for 30"
TEST(Gmres, RestartsAfter30StepsWhere0IsGiven) {
    const CsrMatrix<double> a = band(2000, 0);
    const std::vector<double> b = random_vector<double>(2000, 5);
    const Handle handle(described(a));
    std::vector<std::vector<double>> found;
    for (const std::int64_t restart : {0, 30, 29, 31}) {
        solver_options options;
        solver_options_init(&options, sizeof options);
        options.preconditioner = "none";
        options.method = "gmres";
        options.restart = restart;
        options.max_iterations = 45;
        found.emplace_back(2000);
        EXPECT_EQ(solver_solve(handle.get(), nullptr, 1, b.data(), found.back().data(), nullptr, &options, nullptr), SOLVER_OK);
    }
    EXPECT_EQ(found[0], found[1]);
    EXPECT_NE(found[0], found[2]);
    EXPECT_NE(found[0], found[3]);
}

}  // namespace
}  // namespace solver
