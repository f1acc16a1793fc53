#pragma once

/// A number that stands for all the bits of a matrix, found by several threads.

#include "core/hash.hpp"
#include "core/thread_pool.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace solver {

/// What Hash makes of every so many rows.
template <class T>
void hash_blocks(const CsrView<T>& a, std::int64_t rows_a_block, int threads, std::span<std::uint64_t> of_block) {
    const std::int64_t blocks = std::ssize(of_block);
    const auto parts = static_cast<int>(std::clamp<std::int64_t>(blocks, 1, threads));
    cpu::parallel_for(parts, [&](int part) {
        for (std::int64_t block = cpu::share_begin(blocks, part, parts); block < cpu::share_begin(blocks, part + 1, parts);
             ++block) {
            Hash of_rows;
            of_rows.add(a, block * rows_a_block, std::min((block + 1) * rows_a_block, a.rows));
            of_block[static_cast<std::size_t>(block)] = of_rows.value();
        }
    });
}

/// Of the shape and all entries; never 0.
template <class T>
std::uint64_t hash_of(const CsrView<T>& a) {
    constexpr std::int64_t rows_a_block = 4096;
    std::vector<std::uint64_t> of_block(static_cast<std::size_t>((a.rows + rows_a_block - 1) / rows_a_block));
    hash_blocks(a, rows_a_block, Device::cpu().threads(), std::span(of_block));
    Hash hash;
    hash.add(static_cast<std::uint64_t>(a.rows));
    hash.add(static_cast<std::uint64_t>(a.columns));
    for (const std::uint64_t block : of_block) hash.add(block);
    return std::max<std::uint64_t>(hash.value(), 1);
}

}  // namespace solver
