#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/preparation.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace solver {
namespace {

// Promise: preparation.hpp, "Looks for empty rows and columns"
// Promise: preparation.hpp, "How many, and the first of them"
// Promise: preparation.hpp, "Stored zeros count as absent."
// Promise: preparation.hpp, "rows whose diagonal entry is missing or zero"
TEST(Diagnose, CountsWhatIsMissing) {
    CsrMatrix<double> a{4, 4, {0, 2, 2, 4, 5}, {0, 1, 0, 2, 3}, {1, 2, 3, 0, 0}};
    const Diagnosis d = diagnose(a.view());
    EXPECT_EQ(d.rows, 4);
    EXPECT_EQ(d.structural_rank, 2);
    EXPECT_EQ(d.empty_rows.count, 2);  // a row of stored zeros is empty
    EXPECT_EQ(d.empty_rows.first, 1);
    EXPECT_EQ(d.empty_columns.count, 2);
    EXPECT_EQ(d.empty_columns.first, 2);
    EXPECT_EQ(d.zero_diagonals.count, 3);
    EXPECT_EQ(d.zero_diagonals.first, 1);
}

/// Entries that are real, imaginary or both; the matrix of their magnitudes has their places.
// Promise: preparation.hpp, "Of the complex matrix whose real form was diagnosed"
// Promise: preparation.hpp, "A zero on the diagonal is a real part"
TEST(Diagnose, CountsRowsOfComplexMatricesOnce) {
    std::mt19937_64 random(11);
    for (int round = 0; round < 200; ++round) {
        const auto n = static_cast<std::int32_t>(1 + random() % 6);
        std::vector<Entry<double>> real_form, magnitudes;
        std::int64_t real_diagonals = 0;
        for (std::int32_t i = 0; i < n; ++i)
            for (std::int32_t j = 0; j < n; ++j) {
                if (random() % 3 != 0) continue;
                const std::uint64_t parts = 1 + random() % 3;
                const double re = (parts & 1) != 0 ? 2 : 0, im = (parts & 2) != 0 ? 3 : 0;
                magnitudes.push_back({i, j, re + im});
                if (i == j && re != 0) ++real_diagonals;
                for (const Entry<double>& entry : {Entry<double>{2 * i, 2 * j, re},
                                                   {2 * i, 2 * j + 1, -im},
                                                   {2 * i + 1, 2 * j, im},
                                                   {2 * i + 1, 2 * j + 1, re}})
                    real_form.push_back(entry);
            }
        const Diagnosis expected = diagnose(csr_from_entries<double>(n, n, magnitudes).view());
        const Diagnosis found = in_complex_numbers(diagnose(csr_from_entries<double>(2 * n, 2 * n, real_form).view()));
        EXPECT_EQ(found.rows, n);
        EXPECT_EQ(found.structural_rank, expected.structural_rank);
        EXPECT_EQ(found.unmatched_rows.count, expected.unmatched_rows.count);
        EXPECT_EQ(found.empty_rows.count, expected.empty_rows.count);
        EXPECT_EQ(found.empty_rows.first, expected.empty_rows.first);
        EXPECT_EQ(found.empty_columns.count, expected.empty_columns.count);
        EXPECT_EQ(found.empty_columns.first, expected.empty_columns.first);
        EXPECT_EQ(found.zero_diagonals.count, n - real_diagonals);
    }
}

/// Not even where all rows are sorted and the next row has an entry in this column, or the entry is a stored zero.
// Promise: preparation.hpp, "below rows: singular"
TEST(Diagnose, TakesNoOtherEntryForTheDiagonal) {
    const CsrMatrix<double> missing{3, 3, {0, 1, 3, 4}, {1, 0, 1, 2}, {1, 1, 1, 1}};
    EXPECT_EQ(diagnose(missing.view()).zero_diagonals.count, 1);
    EXPECT_EQ(diagnose(missing.view()).zero_diagonals.first, 0);
    const CsrMatrix<double> zeros{2, 2, {0, 2, 3}, {0, 1, 1}, {0, 1, 0}};
    EXPECT_EQ(diagnose(zeros.view()).zero_diagonals.count, 2);
    EXPECT_EQ(diagnose(zeros.view()).structural_rank, 1);
}

/// One row of many is without a diagonal entry, or none is.
// Promise: preparation.hpp, "Where nothing is missing on the diagonal, by the device's threads"
TEST(Diagnose, FindsTheSameByAnyNumberOfThreads) {
    constexpr std::int32_t n = 60'000;
    for (const std::int32_t missing : {-1, 0, 29'999, n - 1}) {
        std::vector<Entry<double>> entries;
        for (std::int32_t i = 0; i < n; ++i) entries.push_back({i, i == missing ? (i + 1) % n : i, 1});
        const auto a = csr_from_entries<double>(n, n, entries);
        for (const int threads : {1, 2, 7}) {
            const Diagnosis d = diagnose(a.view(), Device::cpu(threads));
            EXPECT_EQ(d.zero_diagonals.count, missing < 0 ? 0 : 1) << threads;
            EXPECT_EQ(d.zero_diagonals.first, missing) << threads;
            EXPECT_EQ(d.structural_rank, missing < 0 ? n : n - 1) << threads;
        }
    }
}

// Promise: preparation.hpp, "that no permutation gives a nonzero"
TEST(Diagnose, NamesRowsThatShareTooFewColumns) {
    // rows 1, 2 and 3 live in columns 1 and 2
    const CsrMatrix<double> a{4, 4, {0, 2, 4, 6, 10}, {0, 1, 0, 1, 0, 1, 0, 1, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1}};
    const Diagnosis d = diagnose(a.view());
    EXPECT_EQ(d.structural_rank, 3);
    EXPECT_EQ(d.unmatched_rows.count, 1);
    EXPECT_LT(d.unmatched_rows.first, 3);
    EXPECT_EQ(d.empty_rows.count, 0);
    EXPECT_EQ(d.empty_rows.first, -1);
}

}  // namespace
}  // namespace solver
