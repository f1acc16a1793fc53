#pragma once

/// How a thread adds up the products of its elements: plainly within a block of products, and blocks by the method chosen
/// ("selective compensation": M. Badin, L. Bic, M. Dillencourt, A. Nicolau, Improving accuracy for matrix multiplications on
/// GPUs, Scientific Programming 19(1), 2011; GemmSummation has the bounds).
///
/// Each offers: `partial`, to which products are added; end_block(), which moves it to the total; finish(), after which
/// `partial` holds the result. They may keep `shared_size` numbers a thread in shared memory.

#include "solver/numeric/error_free.hpp"
#include "solver/numeric/rounding.hpp"

namespace solver::cuda::tiled {

template <class T, int count>
struct PlainSums {
    static constexpr bool is_plain = true;
    static constexpr int shared_size = 0;
    T partial[count] = {};

    __device__ explicit PlainSums(T*) {}
    __device__ __forceinline__ void end_block() {}
    __device__ __forceinline__ void finish() {}
};

/// Numbers of a thread, in registers.
template <class T, int count>
struct RegisterStore {
    static constexpr int shared_size = 0;
    T number[count] = {};

    __device__ explicit RegisterStore(T*) {}
    /// Calls change(i, number i) for each.
    template <class Change>
    __device__ __forceinline__ void for_each(Change&& change) {
#pragma unroll
        for (int i = 0; i < count; ++i) change(i, number[i]);
    }
};

/// In shared memory, 16 bytes at a time, beside those of the next thread. Where they are looked at once in 64 products, this
/// costs less than the halved number of threads that the registers would leave.
template <class T, int count, int threads>
struct SharedStore {
    static constexpr int shared_size = count;
    static constexpr int vector = 16 / sizeof(T);
    struct alignas(16) Vector {
        T element[vector];
    };
    Vector* own;

    __device__ explicit SharedStore(T* shared) : own(reinterpret_cast<Vector*>(shared) + threadIdx.x) {
        for (int i = 0; i < count / vector; ++i) own[i * threads] = Vector{};
    }
    template <class Change>
    __device__ __forceinline__ void for_each(Change&& change) {
        constexpr int at_once = 4;
#pragma unroll
        for (int first = 0; first < count / vector; first += at_once) {
            Vector v[at_once];
#pragma unroll
            for (int i = 0; i < at_once; ++i) v[i] = own[(first + i) * threads];
#pragma unroll
            for (int i = 0; i < at_once * vector; ++i) change(first * vector + i, v[i / vector].element[i % vector]);
#pragma unroll
            for (int i = 0; i < at_once; ++i) own[(first + i) * threads] = v[i];
            asm volatile("" ::: "memory");  // else all are read at once, into registers that there are not
        }
    }
};

/// What an addition to the total loses is where the next block's sum begins. That saves the registers of the compensation and
/// its addition, and changes the bounds by terms of second order: a block's sum begins at most u |total| from 0.
///
/// Kahan's method takes the total for the larger one. Doubly compensated summation (Priest 1992; Higham, Accuracy and
/// Stability, 2nd ed., algorithm 4.3) puts the larger of total and partial sum first; the sum and error of that addition are
/// what TwoSum gives without looking. Its own compensation of y = c + x is left to the block's sum, which begins with c.
template <class T, int count, class Store, bool larger_first>
struct CompensatedSums {
    static constexpr bool is_plain = false;
    static constexpr int shared_size = Store::shared_size;
    T partial[count] = {};
    Store totals;

    __device__ explicit CompensatedSums(T* shared) : totals(shared) {}
    __device__ __forceinline__ void end_block() {
        totals.for_each([&](int i, T& total) {
            const auto [sum, error] = larger_first ? two_sum(total, partial[i]) : fast_two_sum(total, partial[i]);
            total = sum;
            partial[i] = error;
        });
    }
    __device__ __forceinline__ void finish() {
        totals.for_each([&](int i, T& total) { partial[i] = add_rn(total, partial[i]); });
    }
};

/// Dot2's sum of the blocks: the errors of the additions are added up apart.
template <class T, int count>
struct TwofoldSums {
    static constexpr bool is_plain = false;
    static constexpr int shared_size = 0;
    T partial[count] = {};
    T total[count] = {};
    T errors[count] = {};

    __device__ explicit TwofoldSums(T*) {}
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
    using TwofoldSums<T, count>::TwofoldSums;

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
    static constexpr int shared_size = 0;
    static constexpr int levels = 8;
    T partial[count] = {};
    T level[levels + 2][count] = {};  ///< then the total and its compensation
    unsigned blocks = 0;

    __device__ explicit PairwiseSums(T*) {}
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
