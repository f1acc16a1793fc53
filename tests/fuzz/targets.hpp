#pragma once

/// What a fuzzer calls with any bytes: each returns, or ends the process with a message where the library is wrong.

#include <cstdint>
#include <span>
#include <string>

namespace solver::fuzz {

using Input = std::span<const std::uint8_t>;

/// The text of a Matrix Market file: refused with a FileError, or a matrix that is one, and is the same after it was written.
void matrix_market(Input input);

/// A compressed file, cut or changed where the first bytes say: what is read is what was written, or refused.
void matrix_market_gzip(Input input);

/// A decimal: the nearest float and double, by glibc.
void decimal(Input input);

/// Any offsets and columns: refused by check(), or fit for products.
void csr_view(Input input);

/// Command lines of solver, solver-bench and test-blas2, and names of generators: refused with a sentence, or understood.
void options(Input input);

/// Sums, dot products and norms of any bits beside MPFR, in every mode.
void reductions(Input input);

/// Sparse products and residuals beside MPFR.
void sparse_products(Input input);

/// Dense products of any layout beside MPFR.
void dense_products(Input input);

/// Sparse triangular solves, row by row beside MPFR.
void triangular_solves(Input input);

/// Reductions, products and triangular solves of complex numbers, the parts of each result beside MPFR one by one.
void complex_reductions(Input input);
void complex_sparse_products(Input input);
void complex_dense_products(Input input);
void complex_triangular_solves(Input input);

/// Solutions with a proven bound, or rounded, of small systems: every claim is held against rational numbers.
void guarantees(Input input);

/// What is proven of matrices, bounds of errors and backward errors of any x, beside rational numbers.
void certificates(Input input);

/// Solves by the automatic choice, and by every method and preconditioner: what is called converged is, by rational numbers.
void solves(Input input);

/// Least squares: what is called converged is.
void least_squares(Input input);

struct Target {
    const char* name;  ///< also of the folder of its corpus
    void (*run)(Input input);
};

inline constexpr Target targets[] = {{"matrix_market", matrix_market},
                                     {"matrix_market_gzip", matrix_market_gzip},
                                     {"decimal", decimal},
                                     {"csr_view", csr_view},
                                     {"options", options},
                                     {"reductions", reductions},
                                     {"sparse_products", sparse_products},
                                     {"dense_products", dense_products},
                                     {"triangular_solves", triangular_solves},
                                     {"complex_reductions", complex_reductions},
                                     {"complex_sparse_products", complex_sparse_products},
                                     {"complex_dense_products", complex_dense_products},
                                     {"complex_triangular_solves", complex_triangular_solves},
                                     {"guarantees", guarantees},
                                     {"certificates", certificates},
                                     {"solves", solves},
                                     {"least_squares", least_squares}};

/// Ends the process: the library broke a promise.
[[noreturn]] void fail(const std::string& what);

inline void require(bool kept, const std::string& what) {
    if (!kept) fail(what);
}

}  // namespace solver::fuzz
