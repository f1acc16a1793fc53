#include "kernels/triangular/schedule.hpp"

#include <gtest/gtest.h>

#include "support/triangles.hpp"

#include <algorithm>
#include <vector>

namespace solver {
namespace {

using testing::nan_value;
using testing::Random;
using testing::random_rows;
using testing::TriangularRows;
using testing::wide_rows;

/// A system with small integers, solved without rounding.
TriangularRows<double> with_integers(TriangularRows<double> a, Random& random) {
    for (auto& row : a.beside)
        for (auto& [column, value] : row) value = static_cast<double>(random.between(-1, 1));
    for (double& pivot : a.pivot) pivot = random.coin() ? 1 : -1;
    return a;
}

std::vector<double> substituted(const TriangularRows<double>& a, Diagonal diagonal, const std::vector<double>& b) {
    std::vector<double> x = b;
    for (std::int64_t step = 0; step < a.size(); ++step) {
        const std::int64_t i = a.triangle == Triangle::lower ? step : a.size() - 1 - step;
        for (const auto& [column, value] : a.beside[i]) x[i] -= value * x[column];
        if (diagonal == Diagonal::stored) x[i] /= a.pivot[i];
        if (std::abs(x[i]) > 1e6) x[i] = std::fmod(x[i], 1e6);
    }
    return x;
}

/// Of a row of a chunk, by the elements that are known.
struct WalkedRow {
    double sum = 0;
    std::vector<double> values, elements;

    double quotient(bool imaginary) const {
        const double re = elements.at(0), im = elements.at(1), p = values.at(0), q = values.at(1);
        return (imaginary ? im * p - re * q : re * p + im * q) / (p * p + q * q);
    }
};

/// Chunk by chunk in the order of the schedule, where what is not solved yet is NaN. Counts how often each row is solved.
std::vector<double> walked(const cuda::TriangleSchedule<double>& schedule, const std::vector<double>& b,
                           std::vector<int>& solved, bool is_complex = false) {
    std::vector<double> by_place(schedule.rows.size(), nan_value<double>), x(b.size(), nan_value<double>);
    double long_row = 0;
    for (const cuda::TriangleItem& item : schedule.items)
        for (std::int32_t c = item.first_chunk; c < item.last_chunk; ++c) {
            const cuda::TriangleChunk& chunk = schedule.chunks[c];
            std::vector<WalkedRow> found(static_cast<std::size_t>(chunk.rows));
            for (std::int32_t i = 0; i < chunk.rows; ++i) {
                const auto add = [&](std::int64_t k) {
                    const std::int32_t column = schedule.columns[k];
                    if (column == item.places) return;
                    found[i].values.push_back(schedule.values[k]);
                    found[i].elements.push_back(by_place[column >= 0 ? item.first_place + column : ~column]);
                    found[i].sum += found[i].values.back() * found[i].elements.back();
                };
                for (std::int32_t e = 0; e < chunk.depth; ++e)
                    for (std::int32_t lane = 0; lane < 1 << chunk.log2_width; ++lane)
                        add(chunk.first_entry + e * chunk.lanes() + (i << chunk.log2_width) + lane);
                for (std::int32_t e = 0; e < chunk.late(); ++e) add(chunk.first_late() + e * chunk.rows + i);
            }
            if (chunk.segments > 0) long_row = (chunk.segment == 0 ? 0 : long_row) + found[0].sum;
            if (chunk.segments > 0 && chunk.segment + 1 < chunk.segments) continue;
            for (std::int32_t i = 0; i < chunk.rows; ++i) {
                const std::int32_t place = chunk.first_place + i;
                const std::int32_t row = schedule.rows[place];
                double value = b[row] + (chunk.segments > 0 ? long_row : found[i].sum);
                if (!schedule.pivots.empty()) value /= schedule.pivots[place];
                if (chunk.is_quotients) value = found[i].quotient(row % 2 == 1);
                if (std::abs(value) > 1e6) value = std::fmod(value, 1e6);
                by_place[place] = value;
                if (is_complex && !chunk.is_quotients) continue;
                x[row] = value;
                ++solved[row];
            }
        }
    return x;
}

void expect_right_schedule(const TriangularRows<double>& a, const cuda::TriangleScheduleOptions& options) {
    std::vector<double> b;
    for (std::int64_t i = 0; i < a.size(); ++i) b.push_back(static_cast<double>(i % 7));
    for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit}) {
        const CsrMatrix<double> csr = a.csr(diagonal);
        const auto schedule = cuda::schedule_triangle<double>(csr, a.triangle, diagonal, options);
        std::vector<int> solved(b.size());
        EXPECT_EQ(testing::differences<double>(walked(schedule, b, solved), substituted(a, diagonal, b)), "");
        EXPECT_EQ(std::count(solved.begin(), solved.end(), 1), a.size());
        for (const cuda::TriangleItem& item : schedule.items) {
            EXPECT_LE(item.places, options.rows_an_item);
            EXPECT_LE(item.places, schedule.largest_item);
        }
    }
}

TEST(TriangleSchedule, PutsEveryRowAfterThoseThatItNeeds) {
    Random random(1);
    for (const bool by_levels : {false, true})
        for (const std::int64_t rows_an_item : {1, 40, 100'000})
            for (const std::int64_t entries_a_segment : {16, 1024}) {
                const cuda::TriangleScheduleOptions options{by_levels, rows_an_item, 600, 3, entries_a_segment};
                for (const std::int64_t n : {0, 1, 2, 33, 500}) {
                    const auto a = with_integers(random_rows<double>(random, n, std::min<std::int64_t>(n, 60)), random);
                    expect_right_schedule(a, options);
                    expect_right_schedule(a.reversed(), options);
                }
                const auto wide = with_integers(wide_rows<double>(random, 3000, 700, 20), random);
                expect_right_schedule(wide, options);
                expect_right_schedule(wide.reversed(), options);
            }
}

/// Pairs of rows of equal length, entries -1, 0 and 1, divided by 1, -1, i or -i.
struct ComplexTriangle {
    CsrMatrix<double> beside;
    std::vector<double> pivots;

    ComplexTriangle(const TriangularRows<double>& a, Random& random) {
        beside = {2 * a.size(), 2 * a.size(), {0}, {}, {}};
        for (std::int64_t i = 0; i < a.size(); ++i) {
            for (const int part : {0, 1}) append_row(a.beside[i], part);
            const double p = static_cast<double>(random.between(-1, 1));
            pivots.insert(pivots.end(), {p, p == 0 ? (random.coin() ? 1.0 : -1.0) : 0.0});
        }
    }

    std::vector<double> substituted(Triangle triangle, const std::vector<double>& b) const {
        std::vector<double> x = b;
        const std::int64_t n = beside.rows / 2;
        for (std::int64_t step = 0; step < n; ++step) {
            const std::int64_t i = triangle == Triangle::lower ? step : n - 1 - step;
            for (const std::int64_t row : {2 * i, 2 * i + 1}) {
                for (std::int64_t k = beside.row_offsets[row]; k < beside.row_offsets[row + 1]; ++k)
                    x[row] -= beside.values[k] * x[beside.column_indices[k]];
                if (std::abs(x[row]) > 1e6) x[row] = std::fmod(x[row], 1e6);
            }
            const double re = x[2 * i], im = x[2 * i + 1], p = pivots[2 * i], q = pivots[2 * i + 1];
            x[2 * i] = re * p + im * q;
            x[2 * i + 1] = im * p - re * q;
        }
        return x;
    }

private:
    void append_row(const std::vector<std::pair<std::int32_t, double>>& row, int part) {
        for (const auto& [column, value] : row) {
            beside.column_indices.push_back(2 * column + (column + part) % 2);
            beside.values.push_back(value);
        }
        beside.row_offsets.push_back(beside.nonzeros());
    }
};

TEST(TriangleSchedule, PutsQuotientsBetweenTheNumeratorsThatTheyNeedAndThoseThatNeedThem) {
    Random random(2);
    for (const std::int64_t rows_an_item : {1, 40, 100'000})
        for (const std::int64_t n : {0, 1, 2, 33, 500, 3000})
            for (const bool upper : {false, true}) {
                const auto lower = n < 3000 ? random_rows<double>(random, n, std::min<std::int64_t>(n, 60))
                                            : wide_rows<double>(random, n, 700, 20);
                const auto rows = with_integers(upper ? lower.reversed() : lower, random);
                const ComplexTriangle a(rows, random);
                std::vector<double> b;
                for (std::int64_t i = 0; i < 2 * n; ++i) b.push_back(static_cast<double>(i % 7));
                cuda::TriangleScheduleOptions options;
                options.rows_an_item = rows_an_item;
                options.entries_a_segment = 16;
                const auto schedule = cuda::schedule_pairs<double>({a.beside.view(), rows.triangle, a.pivots}, options);
                std::vector<int> solved(b.size());
                EXPECT_EQ(testing::differences<double>(walked(schedule, b, solved, true), a.substituted(rows.triangle, b)), "");
                EXPECT_EQ(std::count(solved.begin(), solved.end(), 1), 2 * n);
            }
}

}  // namespace
}  // namespace solver
