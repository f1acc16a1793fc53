#pragma once

/// What is to be known of a matrix on a device before a solve.

#include "core/row_facts.hpp"
#include "solver/cuda/csr.hpp"

namespace solver::cuda {

struct FactsOnDevice {
    RowFacts rows;
    bool is_sorted = false;             ///< the columns of each row rise
    bool is_symmetric = false;          ///< every a_ij is stored as a_ji too, with an equal value, in rows that are sorted
    bool is_nearly_symmetric = false;   ///< with the value of OwnTranspose::of_rounded_reals
    bool is_complex_symmetric = false;  ///< with the value of OwnTranspose::of_complex_numbers
};

/// Writes norms_i = sum_j |a_ij|, added up in the order of storage: of a symmetric matrix the 1-norms of its columns, added up
/// by rows in order. Waits for the stream.
template <class T>
FactsOnDevice facts_of(const DeviceCsrView<T>& a, T* norms, Stream stream);

/// Writes a_ii. False where a row has not exactly one entry there, other than zero. Waits for the stream.
template <class T>
bool copy_diagonal(const DeviceCsrView<T>& a, T* diagonal, Stream stream);

}  // namespace solver::cuda
