#pragma once

/// Loops over the rows of a sparse matrix that do not depend on one another.

#include "core/thread_pool.hpp"
#include "solver/views.hpp"

#include <algorithm>
#include <cstdint>

namespace solver {

/// Calls body(begin, end) for ranges of rows that together are all, on as many threads as this number of entries is worth.
template <class Body>
void for_each_row_range(std::int64_t rows, std::int64_t entries, int threads, const Body& body) {
    constexpr std::int64_t worth_a_thread = 32768;
    const int parts = static_cast<int>(std::clamp<std::int64_t>(entries / worth_a_thread, 1, threads));
    cpu::parallel_for(parts,
                      [&](int part) { body(cpu::share_begin(rows, part, parts), cpu::share_begin(rows, part + 1, parts)); });
}

template <class T, class Body>
void for_each_row_range(const CsrView<T>& a, int threads, const Body& body) {
    for_each_row_range(a.rows, a.nonzeros(), threads, body);
}

}  // namespace solver
