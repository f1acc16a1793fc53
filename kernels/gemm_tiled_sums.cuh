#pragma once

/// How a thread adds up the products of its elements: plainly within a block of products, and blocks by the method chosen
/// ("selective compensation": M. Badin, L. Bic, M. Dillencourt, A. Nicolau, Improving accuracy for matrix multiplications on
/// GPUs, Scientific Programming 19(1), 2011; GemmSummation has the bounds).
///
/// Each offers: `partial`, to which products are added; end_block(), which moves it to the total; finish(), after which
/// `partial` holds the result.

#include "solver/numeric/error_free.hpp"
#include "solver/numeric/rounding.hpp"

namespace solver::cuda::tiled {

template <class T, int count>
struct PlainSums {
    static constexpr bool is_plain = true;
    T partial[count] = {};

    __device__ __forceinline__ void end_block() {}
    __device__ __forceinline__ void finish() {}
};

/// Kahan. What an addition to the total lost is where the next block's sum begins: that saves the registers of the
/// compensation and the subtraction. A block's sum begins at most u |total| from 0, a term of second order in the bound.
template <class T, int count>
struct KahanSums {
    static constexpr bool is_plain = false;
    T partial[count] = {};
    T total[count] = {};

    __device__ __forceinline__ void end_block() {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const T sum = add_rn(total[i], partial[i]);
            partial[i] = add_rn(partial[i], -add_rn(sum, -total[i]));
            total[i] = sum;
        }
    }
    __device__ __forceinline__ void finish() {
#pragma unroll
        for (int i = 0; i < count; ++i) partial[i] = add_rn(total[i], partial[i]);
    }
};

/// Doubly compensated (Priest 1992; Higham, Accuracy and Stability, 2nd ed., algorithm 4.3). It assumes terms of falling
/// magnitude, hence the larger of total and partial sum takes the total's part.
template <class T, int count>
struct DoublyCompensatedSums {
    static constexpr bool is_plain = false;
    T partial[count] = {};
    T total[count] = {};
    T correction[count] = {};

    __device__ __forceinline__ void end_block() {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const bool swap = magnitude(partial[i]) > magnitude(total[i]);
            const T larger = swap ? partial[i] : total[i];
            const T smaller = swap ? total[i] : partial[i];
            const T y = add_rn(correction[i], smaller);
            const T u = add_rn(smaller, -add_rn(y, -correction[i]));
            const T t = add_rn(y, larger);
            const T v = add_rn(y, -add_rn(t, -larger));
            const T z = add_rn(u, v);
            total[i] = add_rn(t, z);
            correction[i] = add_rn(z, -add_rn(total[i], -t));
            partial[i] = 0;
        }
    }
    __device__ __forceinline__ void finish() {
        end_block();
#pragma unroll
        for (int i = 0; i < count; ++i) partial[i] = total[i];
    }
};

/// Dot2's sum of the blocks: the errors of the additions are added up apart.
template <class T, int count>
struct TwofoldSums {
    static constexpr bool is_plain = false;
    T partial[count] = {};
    T total[count] = {};
    T errors[count] = {};

    __device__ __forceinline__ void end_block() {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const auto [sum, error] = two_sum(total[i], partial[i]);
            total[i] = sum;
            errors[i] = add_rn(errors[i], error);
            partial[i] = 0;
        }
    }
    __device__ __forceinline__ void finish() {
        end_block();
#pragma unroll
        for (int i = 0; i < count; ++i) partial[i] = add_rn(total[i], errors[i]);
    }
};

/// Dot2 (Ogita, Rump, Oishi 2005): products are split, too.
template <class T, int count>
struct TwofoldProducts : TwofoldSums<T, count> {
    __device__ __forceinline__ void add(int i, T a, T b) {
        const auto [product, rest] = two_prod(a, b);
        const auto [sum, error] = two_sum(this->total[i], product);
        this->total[i] = sum;
        this->errors[i] = add_rn(this->errors[i], add_rn(error, rest));
    }
    __device__ __forceinline__ void finish() {
#pragma unroll
        for (int i = 0; i < count; ++i) this->partial[i] = add_rn(this->total[i], this->errors[i]);
    }
};

/// Pairwise: level l holds the sum of 2^l blocks, wherever bit l of the number of blocks is set. Sums of 2^levels blocks are
/// added up by Kahan's method, which costs two more roundings of the bound. Levels lie in local memory: the l-th is touched
/// once in 2^l blocks.
template <class T, int count>
struct PairwiseSums {
    static constexpr bool is_plain = false;
    static constexpr int levels = 8;
    T partial[count] = {};
    T level[levels + 2][count] = {};  ///< then the total and its compensation
    unsigned blocks = 0;

    __device__ __forceinline__ void end_block() {
        int l = 0;
        for (; l < levels && (blocks >> l) % 2 != 0; ++l) {
#pragma unroll
            for (int i = 0; i < count; ++i) partial[i] = add_rn(level[l][i], partial[i]);
        }
        blocks = (blocks + 1) % (1u << levels);
        if (l == levels) {
            add_to_total();
        } else {
#pragma unroll
            for (int i = 0; i < count; ++i) level[l][i] = partial[i];
        }
#pragma unroll
        for (int i = 0; i < count; ++i) partial[i] = 0;
    }
    __device__ __forceinline__ void finish() {
#pragma unroll 1
        for (int l = 0; l < levels; ++l)
            if ((blocks >> l) % 2 != 0) {
#pragma unroll
                for (int i = 0; i < count; ++i) partial[i] = add_rn(level[l][i], partial[i]);
            }
        add_to_total();
#pragma unroll
        for (int i = 0; i < count; ++i) partial[i] = level[levels][i];
    }

private:
    __device__ __forceinline__ void add_to_total() {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const T term = add_rn(level[levels + 1][i], partial[i]);
            const T sum = add_rn(level[levels][i], term);
            level[levels + 1][i] = add_rn(term, -add_rn(sum, -level[levels][i]));
            level[levels][i] = sum;
        }
    }
};

}  // namespace solver::cuda::tiled
