// What is refused before a solve.

#include "krylov/run.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace solver {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

CsrMatrix<double> identity(std::int32_t n) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) entries.push_back({i, i, 1});
    return csr_from_entries<double>(n, n, entries);
}

DenseMatrix<double> zeros_of(std::int64_t rows, std::int64_t columns) {
    return {rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
}

class CheckedUnknowns : public ::testing::Test {
protected:
    void expect_refusal(const DenseMatrix<double>& b, DenseMatrix<double> x, DenseMatrix<double> x_low,
                        const std::string& text) {
        EXPECT_THAT([&] { checked_unknowns(plan_, b, x, &x_low, {}, "f"); }, ThrowsMessage<DimensionMismatch>(HasSubstr(text)));
    }

    CsrMatrix<double> a_ = identity(3);
    SpmvPlan<double> plan_{a_.view(), Device::cpu(1)};
};

TEST_F(CheckedUnknowns, AreTheColumns) {
    DenseMatrix<double> b{3, 2, {1, 2, 3, 4, 5, 6}}, x = zeros_of(3, 2), x_low = zeros_of(3, 2);
    const auto unknowns = checked_unknowns(plan_, b, x, &x_low, {}, "f");
    ASSERT_EQ(unknowns.size(), 2u);
    for (std::size_t j = 0; j < 2; ++j) {
        EXPECT_EQ(unknowns[j].b.data(), b.values.data() + 3 * j);
        EXPECT_EQ(unknowns[j].x.data(), x.values.data() + 3 * j);
        EXPECT_EQ(unknowns[j].x_low.data(), x_low.values.data() + 3 * j);
        EXPECT_EQ(unknowns[j].b.size(), 3u);
        EXPECT_EQ(unknowns[j].x.size(), 3u);
        EXPECT_EQ(unknowns[j].x_low.size(), 3u);
    }
    for (const auto& unknown : checked_unknowns<double>(plan_, b, x, nullptr, {}, "f")) EXPECT_TRUE(unknown.x_low.empty());
}

// Promise: bicgstab.hpp, "Throws as the solve of one right-hand side"
TEST_F(CheckedUnknowns, HaveTheShapesThatAAndBAskFor) {
    expect_refusal(zeros_of(2, 2), zeros_of(3, 2), zeros_of(3, 2), "f: B is 2 x 2 with 4 values");
    expect_refusal(zeros_of(4, 2), zeros_of(3, 2), zeros_of(3, 2), "f: B is 4 x 2 with 8 values");
    expect_refusal({3, 2, {1, 2, 3, 4, 5}}, zeros_of(3, 2), zeros_of(3, 2), "f: B is 3 x 2 with 5 values");
    expect_refusal(zeros_of(3, 2), zeros_of(2, 2), zeros_of(3, 2), "f: X is 2 x 2 with 4 values");
    expect_refusal(zeros_of(3, 2), zeros_of(3, 1), zeros_of(3, 2), "f: X is 3 x 1 with 3 values");
    expect_refusal(zeros_of(3, 2), zeros_of(3, 2), zeros_of(3, 3), "f: X_low is 3 x 3 with 9 values");
    expect_refusal(zeros_of(3, 2), zeros_of(3, 2), zeros_of(4, 2),
                   "f: X_low is 4 x 2 with 8 values, A is 3 x 3 and B has 2 columns; X_low needs 3 x 2");
}

TEST_F(CheckedUnknowns, AloneHaveTheLengthThatAAsksFor) {
    std::vector<double> three(3), four(4), x(3);
    const auto refusal = [&](const std::vector<double>& b, std::span<double> x, std::span<double> x_low, const char* text) {
        EXPECT_THAT([&] { checked_unknown<double>(plan_, b, x, x_low, {}, "f"); },
                    ThrowsMessage<DimensionMismatch>(HasSubstr(text)));
    };
    refusal(four, x, {}, "f: b has 4 elements, A is 3 x 3; b needs 3");
    refusal(three, four, {}, "f: x has 4 elements");
    refusal(three, x, four, "f: x_low has 4 elements");
    EXPECT_NO_THROW(checked_unknown<double>(plan_, three, x, {}, {}, "f"));
}

TEST_F(CheckedUnknowns, HaveMemoryOfTheirOwn) {
    std::vector<double> v(8);
    const std::span<double> all(v), three = all.first(3);
    const auto refusal = [&](std::span<double> b, std::span<double> x, std::span<double> x_low, const char* text) {
        EXPECT_THAT([&] { checked_unknown<double>(plan_, b, x, x_low, {}, "f"); },
                    ThrowsMessage<InvalidArgument>(HasSubstr(text)));
    };
    std::vector<double> other(3);
    refusal(three, three, {}, "f: x overlaps b in memory");
    refusal(three, all.subspan(2, 3), {}, "f: x overlaps b");
    refusal(other, three, three, "f: x_low overlaps x");
    refusal(three, other, all.subspan(1, 3), "f: x_low overlaps b");
    EXPECT_NO_THROW(checked_unknown<double>(plan_, three, all.subspan(3, 3), {}, {}, "f"));
    DenseMatrix<double> b = zeros_of(3, 2);
    EXPECT_THAT([&] { checked_unknowns<double>(plan_, b, b, nullptr, {}, "f"); },
                ThrowsMessage<InvalidArgument>(HasSubstr("f: x overlaps b")));
}

TEST_F(CheckedUnknowns, AreNotSolvedForInAModeThatThereIsNot) {
    const std::vector<double> b(3);
    std::vector<double> x(3);
    EXPECT_THAT([&] { checked_unknown<double>(plan_, b, x, {}, {.accuracy = static_cast<Accuracy>(3)}, "f"); },
                ThrowsMessage<InvalidArgument>("accuracy: there is no mode number 3"));
}

void expect_too_large(const SpmvPlan<double>& a, const SpmvPlan<float>& rounded, std::int64_t column) {
    EXPECT_THAT([&] { check_rounded(a, rounded); },
                ThrowsMessage<InvalidArgument>(HasSubstr("1e+40 of A in column " + std::to_string(column + 1) + " is beyond")));
}

/// Wherever it stands, by rows and by columns; what is not finite before is none of this.
TEST(CheckRounded, SeesEveryElementThatOverflows) {
    for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t j = 0; j < 3; ++j) {
            std::vector<double> elements(9, 1);
            elements[static_cast<std::size_t>(3 * i + j)] = 1e40;
            elements[static_cast<std::size_t>((3 * i + j + 1) % 9)] = std::numeric_limits<double>::infinity();
            const std::vector<float> rounded(elements.begin(), elements.end());
            const Device device = Device::cpu(1);
            const DenseView<double> a{3, 3, 3, 1, elements.data()};
            const DenseView<float> single{3, 3, 3, 1, rounded.data()};
            expect_too_large(SpmvPlan<double>(a, device), SpmvPlan<float>(single, device), j);
            expect_too_large(SpmvPlan<double>(a.transposed(), device), SpmvPlan<float>(single.transposed(), device), i);
        }
}

TEST(CheckRounded, SeesEveryEntryThatOverflows) {
    for (std::size_t k = 0; k < 3; ++k) {
        CsrMatrix<double> a = identity(3);
        a.values[k] = 1e40;
        const CsrMatrix<float> single{3, 3, a.row_offsets, a.column_indices, {a.values.begin(), a.values.end()}};
        const Device device = Device::cpu(1);
        expect_too_large(SpmvPlan<double>(a.view(), device), SpmvPlan<float>(single.view(), device),
                         static_cast<std::int64_t>(k));
    }
}

TEST(CheckRounded, RefusesAnotherMatrix) {
    const std::vector<double> elements(9, 1);
    const std::vector<float> rounded(9, 1);
    const Device device = Device::cpu(1);
    const SpmvPlan<double> a(DenseView<double>{3, 3, 3, 1, elements.data()}, device);
    EXPECT_NO_THROW(check_rounded(a, SpmvPlan<float>(DenseView<float>{3, 3, 3, 1, rounded.data()}, device)));
    for (const auto& [rows, columns] : {std::pair{3, 2}, std::pair{2, 3}}) {
        const SpmvPlan<float> other(DenseView<float>{rows, columns, 3, 1, rounded.data()}, device);
        EXPECT_THROW(check_rounded(a, other), DimensionMismatch);
    }
}

// Promise: krylov_solve.hpp, "It needs m + 3"
TEST(CheckMemory, RefusesCyclesThatNoMachineHolds) {
    KrylovOptions options;
    options.restart = options.max_iterations = std::int64_t{1} << 40;
    EXPECT_THAT([&] { check_memory(KrylovMethod::gmres, options, true, std::int64_t{1} << 24, sizeof(double), 3); },
                ThrowsMessage<ResourceLimit>(HasSubstr("gmres: a cycle of 16777216 steps keeps 33554432 vectors")));
    EXPECT_THAT([&] { check_memory(KrylovMethod::gmres, options, false, std::int64_t{1} << 24, sizeof(double), 3); },
                ThrowsMessage<ResourceLimit>(HasSubstr("gmres: a cycle of 16777216 steps keeps 16777216 vectors")));
    EXPECT_NO_THROW(check_memory(KrylovMethod::idr, options, true, std::int64_t{1} << 24, sizeof(double), 3));
    EXPECT_NO_THROW(check_memory(KrylovMethod::gmres, options, true, 100, sizeof(double), 3));
    options.max_iterations = 2;
    EXPECT_NO_THROW(check_memory(KrylovMethod::gmres, options, true, std::int64_t{1} << 20, sizeof(double), 1));
}

}  // namespace
}  // namespace solver
