#pragma once

/// Dense products by residues: rows of A and columns of B scaled to integers, multiplied exactly modulo coprime 8-bit numbers
/// on the matrix units, put together by the Chinese remainder theorem and rounded with a proof for each element. Ozaki scheme
/// II (Ozaki, Uchino, Imamura, arXiv 2504.08009, 2025); the bounds from what was cut off and the proof for each element are
/// ours.

#include "gemm.hpp"
#include "gemm/residue/residue_system.hpp"
#include "solver/cuda/memory.hpp"

#include <cstdint>
#include <memory>

namespace solver::cuda {

/// Working memory that grows.
template <class T>
class Grown {
public:
    T* at_least(int device, std::int64_t size, const char* purpose) {
        if (size > array_.size()) {
            array_ = {};
            array_ = DeviceArray<T>(device, size, purpose);
        }
        return array_.data();
    }
    T* data() const { return array_.data(); }
    std::int64_t bytes() const { return array_.bytes(); }

private:
    DeviceArray<T> array_;
};

/// Elements of C that a route could not prove: bit (j / 4) % 32 of word (i column_blocks + j / 128) 4 + j % 4.
struct OpenElements {
    std::uint32_t* words;
    std::int64_t rows;
    std::int64_t column_blocks;  ///< of 128 columns
};

/// C = A B
template <class T>
bool is_plain(const GemmTask<T>& task) {
    return task.alpha == T(1) && task.beta == T(0);
}

/// How a product is to be made.
struct ResidueChoice {
    int moduli = 0;          ///< 0: another route is better
    double log2_a = 0;       ///< rows of A are scaled to norms of at most 2^log2_a
    double log2_b = 0;       ///< columns of B
    std::int64_t bytes = 0;  ///< of working memory
};

struct Findings;

/// The task is of real numbers. With Ring::gaussian it stands for complex ones, as gemm/complex.hpp makes them real.
///
/// Of the working memory, what all types share.
class ResidueRoute {
public:
    explicit ResidueRoute(int device);
    ResidueRoute(ResidueRoute&&) noexcept;
    ~ResidueRoute();

    /// Looks at A and B, which have at least one row, column and product each and of whose C the columns are contiguous, unless
    /// another route, which takes that many seconds, is faster anyway. Waits for the stream.
    template <class T>
    ResidueChoice choose(const GemmTask<T>& task, Ring ring, Accuracy accuracy, double seconds_elsewhere, Stream stream);

    /// Right after choose(): the product, but for the elements that are marked in the result, of which C is as it was.
    template <class T>
    OpenElements multiply(const GemmTask<T>& task, Ring ring, Accuracy accuracy, const ResidueChoice& choice, Stream stream);

    std::int64_t workspace_bytes() const;

private:
    struct Memory;
    /// Looks at A and B. Waits for the stream.
    template <class T>
    const Findings& find_out(const GemmTask<T>& task, Ring ring, Accuracy accuracy, Stream stream);

    int device_;
    std::unique_ptr<Memory> memory_;
};

/// Most products of one element on this route: what 64-bit sums of squares of a line hold (scaling.cuh), and far less than
/// grids can count.
inline constexpr std::int64_t most_residue_products = 1 << 20;

}  // namespace solver::cuda
