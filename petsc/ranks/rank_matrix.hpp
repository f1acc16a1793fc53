#pragma once

/// Matrices of the levels of multigrid that ranks share out by rows.

#include "ranks/halo.hpp"
#include "ranks/ranks.hpp"
#include "solver/csr_matrix.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace petscsolver {

template <class T>
struct RankMatrix;

/// What the steps of multigrid are given; the matrix must outlive it.
template <class T>
struct RankView {
    std::int64_t rows = 0;
    const RankMatrix<T>* matrix = nullptr;

    const RankMatrix<T>* operator->() const { return matrix; }
};

/// This rank's rows. Columns rise within a row and are numbered by a halo, which has all that this rank owns.
template <class T>
struct RankMatrix {
    std::int64_t rows = 0;  ///< of all ranks
    std::int64_t entries = 0;
    Layout layout;                     ///< of the rows
    std::shared_ptr<const Halo> halo;  ///< of the columns
    solver::CsrMatrix<T> own;

    std::int64_t nonzeros() const { return entries; }
    RankView<T> view() const { return {rows, this}; }
};

/// A square matrix with rows numbered as its columns are. Those of other ranks are empty.
template <class T>
class SquareRows {
public:
    explicit SquareRows(const RankMatrix<T>& a);

    solver::CsrView<T> view() const {
        return {std::ssize(offsets_) - 1, std::ssize(offsets_) - 1, offsets_, a_.own.column_indices, a_.own.values};
    }

private:
    const RankMatrix<T>& a_;
    std::vector<std::int64_t> offsets_;
};

/// The matrix of this rank's rows, whose columns have all ranks' numbers.
template <class T>
RankMatrix<T> rank_matrix(const Ranks& ranks, const Layout& rows, const Layout& columns, solver::CsrMatrix<T> own);

/// Gives columns with all ranks' numbers those of a halo that has them all.
template <class T>
std::shared_ptr<const Halo> number_columns(const Ranks& ranks, const Layout& columns, solver::CsrMatrix<T>& rows);

/// The rows of a matrix with the columns numbered by another halo, which has them all.
template <class T>
RankMatrix<T> renumbered(const RankMatrix<T>& a, std::shared_ptr<const Halo> halo);

/// A halo with the columns of both, of one layout.
std::shared_ptr<const Halo> united(const Ranks& ranks, const Halo& one, const Halo& other);

/// These rows, which rise, from whoever has them; columns have all ranks' numbers.
template <class T>
solver::CsrMatrix<T> rows_of(const Ranks& ranks, const RankMatrix<T>& a, std::span<const std::int32_t> rows);

/// The whole matrix, on every rank.
template <class T>
solver::CsrMatrix<T> gathered(const Ranks& ranks, const RankMatrix<T>& a);

template <class T>
RankMatrix<T> transposed(const Ranks& ranks, const RankMatrix<T>& a);

}  // namespace petscsolver
