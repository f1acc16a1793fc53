#pragma once

/// Factors of each block that a user names, with a matching and an order of its own, as those of the whole matrix.

#include "preconditioner/lu_factors.hpp"
#include "preconditioner/prepared.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "solver/preconditioner.hpp"
#include "solver/preparation.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace solver {

template <class T>
struct PreparedFactors {
    IluFactors<T> factors;    ///< of the matrix prepared by this:
    Preparation preparation;  ///< permutations and scalings alone
};

/// `name` is for messages and stays the caller's.
template <class T>
std::unique_ptr<Prepared<T>> with_prepared_factors(const char* name, PreparedFactors<T> made, const Device& device) {
    auto inner = std::make_unique<LuPreconditioner<T>>(name, std::move(made.factors), device);
    return std::make_unique<Prepared<T>>(name, made.preparation, std::move(inner), device);
}

/// The rows of each block, rising, blocks in the order of their first rows. Throws DimensionMismatch where there is not a
/// block for each `rows_each` rows.
std::vector<std::vector<std::int32_t>> rows_of_blocks(std::span<const std::int32_t> block_of_row, int rows_each,
                                                      std::int64_t rows);

/// The rows and columns of A that are named, rows rising. `place`, a number for each row of A, is -1 everywhere before and
/// after.
template <class T>
CsrMatrix<T> principal_submatrix(const CsrView<T>& a, std::span<const std::int32_t> rows, std::vector<std::int32_t>& place);

/// A block diagonal matrix of no blocks yet, and of the order n in the end.
template <class T>
PreparedFactors<T> without_blocks(std::int64_t n);

/// The next block, which has these rows of the whole matrix.
template <class T>
void append_block(const PreparedFactors<T>& block, std::span<const std::int32_t> rows, PreparedFactors<T>& all);

[[noreturn]] void refuse_block(std::int32_t block, const InvalidArgument& error);

/// factor(A_b), the PreparedFactors of a matrix, for the matrix A_b of each of options.block_of_row's blocks alone. What it
/// refuses is refused in the name of the block.
template <class T, class Factor>
PreparedFactors<T> factors_within_blocks(const CsrView<T>& a, const PreconditionerOptions& options, const Factor& factor) {
    const int rows_each = options.complex_numbers ? 2 : 1;
    PreparedFactors<T> all = without_blocks<T>(a.rows);
    std::vector<std::int32_t> place(static_cast<std::size_t>(a.rows), -1);
    for (const std::vector<std::int32_t>& rows : rows_of_blocks(options.block_of_row, rows_each, a.rows)) {
        const CsrMatrix<T> block = principal_submatrix<T>(a, rows, place);
        try {
            append_block<T>(factor(block.view()), rows, all);
        } catch (const InvalidArgument& error) {
            refuse_block(options.block_of_row[rows.front() / rows_each], error);
        }
    }
    return all;
}

}  // namespace solver
