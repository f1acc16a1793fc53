#pragma once

/// Elements of a dense product by themselves: filtered sums, and what no filter decides.

#include "gemm/residue/residue.hpp"

#include <cstdint>

namespace solver::cuda {

/// Most products of one element for which multiply_filtered keeps h <= 1024: chains of L = sqrt(2 k) products, rounded up to
/// 16, and k / L + 1 merges of two additions each.
inline constexpr std::int64_t most_filtered_products = 126'000;

/// C = alpha A B + beta C in compensated or exact: tiles of elements, each in an accumulator of its own. Columns of C are
/// contiguous, words as OpenElements has them. In exact the elements that are marked in `open` stay as they were. At most
/// most_filtered_products.
template <class T>
void multiply_filtered(const GemmTask<T>& task, Accuracy accuracy, const OpenElements& open, Stream stream);

/// Working memory of multiply_open: marked elements one after another, so that all warps have the same work.
struct OpenList {
    static constexpr std::int64_t room = 1 << 20;
    std::int64_t* places;
    unsigned long long* count;
};

/// The elements marked in `open`, rounded correctly, one by one; adds their number to *total.
template <class T>
void multiply_open(const GemmTask<T>& task, const OpenElements& open, const OpenList& list, unsigned long long* total,
                   int multiprocessors, Stream stream);

/// Marks all elements of these columns.
void mark_all(const OpenElements& open, std::int64_t columns, Stream stream);

/// C = beta C, with 0 where beta is 0.
template <class T>
void scale_matrix(const GemmTask<T>& task, Stream stream);

}  // namespace solver::cuda
