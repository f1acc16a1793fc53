#pragma once

/// OpenBLAS, where CMake found it.

#include <cstdint>
#include <span>
#include <string>

namespace solver::bench::openblas {

bool is_there();

/// "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ... (Haswell)", or "no OpenBLAS"
std::string description();

/// Waits until OpenBLAS's threads sleep: after a product they stay awake for some 20 ms, on processors that the next competitor
/// needs.
void rest();

/// C = A B, n x n, column by column. Only where it is there.
template <class T>
void multiply(int threads, std::int64_t n, std::span<const T> a, std::span<const T> b, std::span<T> c);

}  // namespace solver::bench::openblas
