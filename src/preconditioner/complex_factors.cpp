#include "preconditioner/complex_factors.hpp"

#include "solver/numeric/rounding.hpp"

#include <cstddef>
#include <utility>

namespace solver {
namespace {

using Complex = std::complex<double>;

/// What eliminates the first number of the second row of a pair.
struct PairElimination {
    std::int32_t first_row;
    double factor;

    explicit PairElimination(Complex pivot)
        : first_row(magnitude(pivot.imag()) > magnitude(pivot.real()) ? 1 : 0),
          factor(first_row == 0 ? div_rn(pivot.imag(), pivot.real()) : div_rn(pivot.real(), pivot.imag())) {}
};

/// The block (re, -im; im, re) of a number, its rows in the order of `first_row`.
struct Block {
    double element[2][2];

    Block(Complex z, std::int32_t first_row) : element{{z.real(), -z.imag()}, {z.imag(), z.real()}} {
        if (first_row == 1) std::swap(element[0], element[1]);
    }
};

/// first - factor * second
double reduced(double number, double factor, double other) { return add_rn(number, -mul_rn(factor, other)); }

class RowsInPairs {
public:
    explicit RowsInPairs(std::int64_t pairs) : matrix_{2 * pairs, 2 * pairs, {0}, {}, {}} {
        matrix_.row_offsets.reserve(static_cast<std::size_t>(2 * pairs) + 1);
    }
    void append(std::int64_t column, double value) {
        if (value == 0) return;
        matrix_.column_indices.push_back(static_cast<std::int32_t>(column));
        matrix_.values.push_back(value);
    }
    void end_row() { matrix_.row_offsets.push_back(matrix_.nonzeros()); }
    CsrMatrix<double> take() { return std::move(matrix_); }

private:
    CsrMatrix<double> matrix_;
};

/// P L P^T E, E of the blocks (1, 0; factor, 1): its columns of a pair are the first, with `factor` times the second, and the
/// second.
CsrMatrix<double> lower_factor(const CsrMatrix<Complex>& lower, const std::vector<PairElimination>& eliminations) {
    RowsInPairs result(lower.rows);
    for (std::int64_t i = 0; i < lower.rows; ++i)
        for (const int second : {0, 1}) {
            for (std::int64_t k = lower.row_offsets[i]; k < lower.row_offsets[i + 1]; ++k) {
                const std::int64_t column = lower.column_indices[k];
                const PairElimination& of_column = eliminations[column];
                const auto& row = Block(lower.values[k], eliminations[i].first_row).element[second];
                const double first = row[of_column.first_row], other = row[1 - of_column.first_row];
                result.append(2 * column, reduced(first, -of_column.factor, other));
                result.append(2 * column + 1, other);
            }
            if (second == 1) result.append(2 * i, eliminations[i].factor);
            result.end_row();
        }
    return result.take();
}

/// E^-1 P U
CsrMatrix<double> upper_factor(const CsrMatrix<Complex>& upper, const std::vector<PairElimination>& eliminations) {
    RowsInPairs result(upper.rows);
    for (std::int64_t i = 0; i < upper.rows; ++i)
        for (const int second : {0, 1}) {
            for (std::int64_t k = upper.row_offsets[i]; k < upper.row_offsets[i + 1]; ++k) {
                const std::int64_t column = upper.column_indices[k];
                const Block block(upper.values[k], eliminations[i].first_row);
                for (const int c : {0, 1}) {
                    if (second == 0)
                        result.append(2 * column + c, block.element[0][c]);
                    else if (column != i || c == 1)
                        result.append(2 * column + c,
                                      reduced(block.element[1][c], eliminations[i].factor, block.element[0][c]));
                }
            }
            result.end_row();
        }
    return result.take();
}

}  // namespace

PairedFactors real_factors(const CsrMatrix<Complex>& lower, const CsrMatrix<Complex>& upper) {
    std::vector<PairElimination> eliminations;
    eliminations.reserve(static_cast<std::size_t>(upper.rows));
    for (std::int64_t i = 0; i < upper.rows; ++i) eliminations.emplace_back(upper.values[upper.row_offsets[i]]);
    PairedFactors result{{lower_factor(lower, eliminations), upper_factor(upper, eliminations)}, {}};
    for (const PairElimination& elimination : eliminations) result.first_row.push_back(elimination.first_row);
    return result;
}

std::vector<std::int32_t> in_pairs(std::span<const std::int32_t> order, std::span<const std::int32_t> first) {
    std::vector<std::int32_t> result;
    result.reserve(2 * order.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        const std::int32_t even = 2 * order[k], offset = first.empty() ? 0 : first[k];
        result.insert(result.end(), {even + offset, even + 1 - offset});
    }
    return result;
}

}  // namespace solver
